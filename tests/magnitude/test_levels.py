"""What gold levels are worth, whether magnitudes follow them, and which units do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from oracles import magnitude as oracle
from qrowd.errors import ArgumentError, InputError, NoOverlapError
from qrowd.magnitude import gain_profile, level_tests, normalise
from qrowd.model.judgments import Judgments

approx = pytest.approx

fewer = settings(max_examples=settings.default.max_examples * 2 // 5)
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


def test_a_crowds_gains_rise_from_level_to_level(crowd, gold):
    found = gain_profile(crowd, gold)
    assert (np.diff(found.gains.median) > 0).all()
    assert gain_profile(normalise(crowd), gold).gains.median == approx(found.gains.median)
    frame = found.to_frame()
    assert frame["level"].tolist() == [0, 1, 2, 3]
    assert frame["linear"].tolist() == [1, 2, 3, 4]


# ---- tests and exceptions (Figures 3 and 4)


def test_adjacent_levels_are_tested_as_scipy_tests_them(crowd, gold):
    found = level_tests(crowd, gold)
    said = np.log(found.magnitude)
    for i in range(3):
        low, high = (said[found.level == level] for level in (i, i + 1))
        expected = stats.ttest_ind(high, low, equal_var=False)
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


@fewer
@given(graded_crowds(), st.booleans())
def test_exceptions_are_the_topics_where_a_higher_level_has_a_lower_median(drawn, adjacent):
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
                if median[high] < median[low]:
                    expected.add((topic, low, high))
    frame = found.exceptions(adjacent=adjacent)
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


SMALL = judgments_of([("t1", "H", "ann", "u", 4.0), ("t1", "N", "ann", "u", 2.0)])
GOLD = gold_of({("t1", "H"): 3, ("t1", "N"): 0})
REFUSED = {
    "one level to test": (
        lambda: level_tests(SMALL, gold_of({("t1", "H"): 3})),
        ArgumentError,
        "gold: all judged documents have grade 3, so there are no two levels",
    ),
    "a magnitude of 0": (
        lambda: level_tests(Judgments.from_rows([("t1", "H", "ann", 4), ("t1", "N", "ann", 0)]), GOLD),
        InputError,
        "assessor ann, topic t1, document N: magnitude 0; a magnitude is above 0; leave out unjudged documents",
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
