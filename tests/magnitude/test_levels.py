"""What gold levels are worth, whether magnitudes follow them, and which units do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from oracles import magnitude as oracle
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.magnitude import (
    FIGURE_15,
    LevelPair,
    check_documents,
    gain_profile,
    level_ratios,
    level_tests,
    normalise,
    select_units_by_agreement,
    unit_widths,
)
from qrowd.model.judgments import Judgments, concatenate_judgments

approx = pytest.approx

fewer = settings(max_examples=40)
CHECKS = {"t1": ("H", "N"), "t2": ("H", "N")}


@st.composite
def graded_crowds(draw):
    """Rows (topic, document, assessor, unit, value), every unit with H and N, and gold {(topic, document): grade}."""
    rows, gold = [], {}
    for topic in draw(st.sampled_from([["t1"], ["t1", "t2"]])):
        gold |= {(topic, "H"): 3, (topic, "N"): 0}
        gold |= {(topic, d): g for d in "abcd" if (g := draw(st.sampled_from([None, 0, 1, 2, 3]))) is not None}
        for number in range(draw(st.integers(1, 5))):
            for document in ["H", "N", *draw(st.lists(st.sampled_from("abcd"), max_size=4, unique=True))]:
                value = draw(st.sampled_from([1.0, 2.0, 3.0, 5.0, 10.0]))
                rows.append((topic, document, f"w{number}", f"{topic}-u{number}", value))
    return draw(st.permutations(rows)), gold


def judgments_of(rows):
    columns = dict(zip(("topic", "document", "assessor", "unit", "value"), zip(*rows, strict=True), strict=True))
    return Judgments.from_frame(columns, scales={"*": "magnitude"})


def gold_of(gold):
    return Judgments.from_rows([(*pair, "gold", grade) for pair, grade in gold.items()], scales={"gold": "0-3"})


# ---- gains (Figure 14)


@fewer
@given(graded_crowds())
def test_gains_are_magnitudes_over_that_of_the_low_check_document(drawn):
    rows, gold = drawn
    found = gain_profile(judgments_of(rows), gold_of(gold), checks=CHECKS)
    expected = oracle.gains(rows, gold, CHECKS)
    assert found.levels.tolist() == sorted(expected)
    for i, level in enumerate(found.levels.tolist()):
        gains = expected[level]
        assert sorted(found.gain[found.level == level]) == approx(sorted(gains))
        assert found.gains.n[i] == len(gains)
        assert found.gains.median[i] == approx(np.median(gains))
        assert found.gains.mean[i] == approx(np.mean(gains))
        assert found.gains.geometric_mean[i] == approx(stats.gmean(gains))
        assert found.gains.lower_quartile[i] == approx(np.quantile(gains, 0.25))
        assert found.gains.upper_quartile[i] == approx(np.quantile(gains, 0.75))
    assert found.n_without_gold == sum(row[:2] not in gold for row in rows)


def test_people_whose_gain_is_linear_are_found_to_be_so():
    gold = {("t1", document): grade for grade, document in enumerate(("N", "a", "b", "H"))}
    linear = [("t1", d, "ann", "u", 7.0 * (gold["t1", d] + 1)) for d in ("N", "a", "b", "H")]
    found = gain_profile(judgments_of(linear), gold_of(gold))
    assert found.gains.median.tolist() == approx([1, 2, 3, 4])
    assert found.linear.tolist() == [1, 2, 3, 4]
    assert found.exponential.tolist() == [2, 4, 8, 16]
    assert found.linear_error == approx(0, abs=1e-12)
    assert found.exponential_error == approx(np.sqrt(np.mean(np.log([2, 2, 8 / 3, 4]) ** 2)))


def test_the_low_check_document_itself_can_be_left_out(crowd, gold, checks):
    whole, without = (gain_profile(crowd, gold, checks=checks, low_checks=keep) for keep in (True, False))
    assert whole.gains.n[0] - without.gains.n[0] == 7059
    assert (whole.gains.n[1:] == without.gains.n[1:]).all()
    assert whole.gains.n.sum() == len(crowd)
    assert whole.to_frame(what="points").shape == (len(crowd), 6)


def test_a_crowds_gains_rise_from_level_to_level_and_the_plots_limit_is_counted(crowd, gold):
    found = gain_profile(crowd, gold, limit=10)
    assert (np.diff(found.gains.median) > 0).all()
    assert found.gains.n_beyond.tolist() == [int((found.gain[found.level == g] > 10).sum()) for g in found.levels]
    assert gain_profile(normalise(crowd), gold).gains.median == approx(found.gains.median)
    frame = found.to_frame()
    assert frame["level"].tolist() == [0, 1, 2, 3]
    assert frame["linear"].tolist() == [1, 2, 3, 4]


def test_gold_is_a_name_or_judgments_or_a_mapping(crowd, gold):
    frame = gold.to_frame()
    mapping = dict(zip(zip(frame["topic"], frame["document"], strict=True), frame["value"], strict=True))
    together = concatenate_judgments([gold, crowd])
    for some, said in ((crowd, mapping), (together, "gold")):
        assert gain_profile(some, said).to_frame().equals(gain_profile(crowd, gold).to_frame())
        assert level_ratios(some, said).to_frame().equals(level_ratios(crowd, gold).to_frame())
        assert level_tests(some, said).to_frame().equals(level_tests(crowd, gold).to_frame())
        chosen = select_units_by_agreement(some, said).judgments.to_frame()
        assert chosen["value"].tolist() == select_units_by_agreement(crowd, gold).judgments.value.tolist()
        assert check_documents(some, said) == check_documents(crowd, gold)


# ---- ratios (Figure 15)


@fewer
@given(graded_crowds())
def test_ratios_are_those_of_all_two_documents_of_a_unit(drawn):
    rows, gold = drawn
    found = level_ratios(judgments_of(rows), gold_of(gold), pairs=FIGURE_15)
    for p, pair in enumerate(FIGURE_15.values()):
        expected = oracle.level_ratios(rows, gold, pair.upper, pair.lower, pair.required)
        assert sorted(found.ratio[found.pair == p]) == approx(sorted(expected))
        assert found.ratios.n[p] == len(expected)
        if expected:
            assert found.ratios.median[p] == approx(np.median(expected))
        else:
            assert np.isnan(found.ratios.median[p])


def test_adjacent_levels_are_compared_unless_others_are_named(crowd, gold):
    found = level_ratios(crowd, gold)
    assert list(found.pairs) == ["1:0", "2:1", "3:2"]
    assert (found.ratios.median > 1).all()
    points = found.to_frame(what="points")
    assert points.columns.tolist() == ["levels", "topic", "assessor", "unit", "upper", "lower", "ratio"]
    assert len(points) == found.ratios.n.sum()
    one = points.iloc[0]
    of_unit = crowd.to_frame().query("unit == @one.unit").set_index("document")["value"]
    assert one.ratio == approx(of_unit[one.upper] / of_unit[one.lower])


def test_a_ratio_at_the_limit_of_the_plot_is_not_beyond_it():
    for high, beyond in ((2.1, [0]), (2.2, [1])):  # 2.1 / 0.6 is 3.5000000000000004 in doubles
        rows = [("t1", "H", "ann", "u", high), ("t1", "N", "ann", "u", 0.6)]
        found = level_ratios(judgments_of(rows), {("t1", "H"): 3, ("t1", "N"): 0})
        assert (found.ratios.n_beyond.tolist(), found.limit) == (beyond, 3.5)
        found = gain_profile(judgments_of(rows), {("t1", "H"): 3, ("t1", "N"): 0})
        assert (found.gains.n_beyond.tolist(), found.limit) == ([0, 0], 20)


# ---- tests and exceptions (Figures 3 and 4)


@pytest.mark.parametrize("variances", ["unequal", "equal"])
@pytest.mark.parametrize("values", ["logs", "magnitudes"])
def test_adjacent_levels_are_tested_as_scipy_tests_them(crowd, gold, values, variances):
    found = level_tests(crowd, gold, values=values, variances=variances)
    said = np.log(found.magnitude) if values == "logs" else found.magnitude
    for i in range(3):
        low, high = (said[found.level == level] for level in (i, i + 1))
        expected = stats.ttest_ind(high, low, equal_var=variances == "equal")
        assert (found.t[i], found.p[i], found.df[i]) == approx((expected.statistic, expected.pvalue, expected.df))


@fewer
@given(graded_crowds())
def test_a_documents_magnitude_is_the_median_of_what_was_said_of_it(drawn):
    rows, gold = drawn
    points = level_tests(judgments_of(rows), gold_of(gold)).to_frame(what="points")
    assert len(points) == len({row[:2] for row in rows})
    for point in points.itertuples():
        pair = (point.topic, point.document)
        assert point.magnitude == np.median([row[-1] for row in rows if row[:2] == pair])
        assert point.level == gold[pair] if pair in gold else np.isnan(point.level)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("adjacent", [False, True])
@fewer
@given(graded_crowds())
def test_exceptions_are_the_topics_where_a_higher_level_has_a_lower_median(adjacent, strict, drawn):
    rows, gold = drawn
    found = level_tests(judgments_of(rows), gold_of(gold))
    points, levels = found.to_frame(what="points"), found.levels.tolist()
    expected, possible = set(), 0
    for topic in {row[0] for row in rows}:
        here = points[points["topic"] == topic]
        median = {level: here["magnitude"][here["level"] == level].median() for level in levels}
        for low in levels:
            for high in levels[levels.index(low) + 1 :]:
                if (adjacent and levels.index(high) > levels.index(low) + 1) or np.isnan(median[low] + median[high]):
                    continue
                possible += 1
                if median[high] < median[low] or (strict and median[high] == median[low]):
                    expected.add((topic, low, high))
    frame = found.exceptions(adjacent=adjacent, strict=strict)
    assert set(zip(frame["topic"], frame["lower"], frame["upper"], strict=True)) == expected
    assert len(frame) == len(expected)
    assert found.comparable(adjacent=adjacent) == possible


def test_18_topics_have_72_adjacent_and_126_possible_exceptions():
    """Section 5: three, or six, for four levels and one for two, in each topic."""
    pairs = [(f"t{t}", f"d{grade}") for t in range(18) for grade in range(4)]
    merged = Judgments.from_rows([(*pair, "median", 2.0 + 3 * int(pair[1][1])) for pair in pairs])
    four, two = (
        level_tests(merged, Judgments.from_rows([(*pair, "gold", grade(int(pair[1][1]))) for pair in pairs]))
        for grade in (int, lambda g: int(g > 0))
    )
    assert four.comparable(adjacent=True) + two.comparable(adjacent=True) == 72
    assert four.comparable() + two.comparable() == 126
    assert len(four.exceptions()) == 0
    assert np.isnan(four.p).all()  # all documents of a level have the same magnitude: nothing varies


def test_the_levels_of_a_crowd_differ_and_its_topics_hold_few_exceptions(crowd, gold):
    found = level_tests(normalise(crowd), gold)
    assert (found.p < 0.002).all()
    assert (np.diff(found.medians) > 0).all()
    assert len(found.exceptions()) <= 0.05 * found.comparable()
    assert found.to_frame()["n_lower"].tolist() == found.n_documents[:-1].tolist()
    assert found.n_documents.sum() == 4269


# ---- the units that agree most (section 7.2)


@fewer
@given(graded_crowds(), st.integers(1, 4), st.booleans(), st.booleans(), st.randoms())
def test_the_chosen_units_are_those_found_one_by_one(drawn, n, strict, choosy, random):
    rows, gold = drawn
    judgments = judgments_of(rows)
    preferred = np.array([not choosy or random.random() < 0.5 for _ in oracle.units(rows)])
    wanted = {unit for unit, wish in zip(oracle.units(rows), preferred, strict=True) if wish}
    found = select_units_by_agreement(
        judgments, gold_of(gold), n_units=n, strict=strict, preferred=preferred if choosy else None
    )
    expected = [rows[i] for i in oracle.agreeing_rows(rows, gold, n, strict, wanted)]
    frame = found.judgments.to_frame()
    columns = [frame[name] for name in ("topic", "document", "assessor", "unit", "value")]
    assert list(zip(*columns, strict=True)) == expected
    for unit, (agreed, pairs) in enumerate(
        oracle.agreement(some, gold, strict) for some in oracle.units(rows).values()
    ):
        assert found.n_pairs[unit] == pairs
        assert found.agreement[unit] == approx(agreed / pairs)
    by_pair = {}
    for row in rows:
        by_pair.setdefault(row[:2], set()).add(oracle.unit_of(row))
    assert found.n_documents == len(by_pair)
    assert found.n_short == sum(len(judged & wanted or judged) < n for judged in by_pair.values())
    assert found.n_outside == sum(not judged & wanted for judged in by_pair.values())


def test_units_of_equal_agreement_go_by_fewest_unjudged_documents():
    rows = [("t1", d, "ann", "u1", v) for d, v in (("H", 9.0), ("N", 1.0), ("x", 2.0))]
    rows += [("t1", d, "bob", "u2", v) for d, v in (("H", 8.0), ("N", 1.0), ("a", 4.0))]
    rows += [("t1", d, "cid", "u3", v) for d, v in (("H", 1.0), ("N", 8.0), ("a", 4.0))]
    gold = {("t1", "H"): 3, ("t1", "N"): 0, ("t1", "a"): 1}
    found = select_units_by_agreement(judgments_of(rows), gold_of(gold), n_units=1)
    assert found.agreement.tolist() == [1, 1, 0]
    assert found.n_without_gold.tolist() == [1, 0, 0]
    chosen = found.judgments.to_frame().set_index("document")["assessor"]
    assert chosen.to_dict() == {"H": "bob", "N": "bob", "a": "bob", "x": "ann"}


def test_a_unit_without_two_grades_comes_last():
    rows = [("t1", "x", "ann", "u1", 3.0), ("t1", "a", "ann", "u1", 3.0)]
    rows += [("t1", d, "bob", "u2", v) for d, v in (("a", 8.0), ("b", 1.0))]
    found = select_units_by_agreement(judgments_of(rows), gold_of({("t1", "a"): 0, ("t1", "b"): 3}), n_units=1)
    assert np.isnan(found.agreement[0])
    assert found.agreement[1] == 0
    assert found.judgments.to_frame().set_index("document")["assessor"].to_dict() == {
        "x": "ann",
        "a": "bob",
        "b": "bob",
    }


def test_every_document_keeps_three_units_and_wide_ones_where_it_has_any(crowd, gold, checks):
    found = select_units_by_agreement(normalise(crowd), gold)
    frame = found.judgments.to_frame()
    assert (frame.groupby(["topic", "document"]).size() == 3).all()
    assert (found.n_documents, found.n_short, found.n_outside) == (4269, 0, 0)
    wide = unit_widths(crowd, checks).wide
    choosy = select_units_by_agreement(normalise(crowd), gold, preferred=wide)
    assert choosy.n_documents == 4269
    assert 0 < choosy.n_outside < 0.1 * 4269
    mean = {
        name: some.agreement[np.isin(found.units.labels, some.judgments.unit.astype(str))].mean()
        for name, some in (("all", found), ("wide", choosy))
    }
    assert mean["all"] > found.agreement.mean()
    assert mean["wide"] > found.agreement.mean()


SMALL = judgments_of([("t1", "H", "ann", "u", 4.0), ("t1", "N", "ann", "u", 2.0)])
GOLD = gold_of({("t1", "H"): 3, ("t1", "N"): 0})
REFUSED = {
    "no units": (
        lambda: select_units_by_agreement(SMALL, GOLD, n_units=0),
        ArgumentError,
        "n_units=0: expected 1 unit or more",
    ),
    "nobody's gold": (
        lambda: select_units_by_agreement(SMALL, "anne"),
        ArgumentError,
        "gold='anne': no assessor has this name; did you mean 'ann'?",
    ),
    "a mask of another length": (
        lambda: select_units_by_agreement(SMALL, GOLD, preferred=np.array([True, False])),
        ArgumentError,
        "preferred: expected one True or False for each of 1 units",
    ),
    "levels that overlap": (
        lambda: level_ratios(SMALL, GOLD, pairs={"x": LevelPair((3,), (0, 3))}),
        ArgumentError,
        "pairs: 'x' needs an upper and a lower level with no grade in both",
    ),
    "one level": (
        lambda: level_ratios(SMALL, gold_of({("t1", "H"): 3})),
        ArgumentError,
        "gold: all judged documents have grade 3, so there are no two levels",
    ),
    "one level to test": (
        lambda: level_tests(SMALL, gold_of({("t1", "H"): 3})),
        ArgumentError,
        "gold: all judged documents have grade 3, so there are no two levels",
    ),
    "values": (
        lambda: level_tests(SMALL, GOLD, values="x"),
        ArgumentError,
        "values='x': choose one of logs, magnitudes",
    ),
    "variances": (
        lambda: level_tests(SMALL, GOLD, variances="x"),
        ArgumentError,
        "variances='x': choose one of unequal, equal",
    ),
    "only the low check document": (
        lambda: gain_profile(SMALL, gold_of({("t1", "N"): 0}), checks=CHECKS, low_checks=False),
        ArgumentError,
        "low_checks=False: only N has a gold grade",
    ),
    "gold of other topics": (
        lambda: gain_profile(SMALL, gold_of({("t9", "N"): 0}), checks=CHECKS),
        NoOverlapError,
        "gold 'gold' has no grade for any document that the others judged; check that both are of the same collection",
    ),
}


@pytest.mark.parametrize(("call", "error", "line"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_compared_is_named_in_one_line(call, error, line):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == line
