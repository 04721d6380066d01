"""Ratios of gold levels within units, and the units that follow gold most."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import magnitude as oracle
from qrowd.errors import ArgumentError
from qrowd.magnitude import check_documents, gain_profile, level_tests, normalise
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd_papers.magnitude.level_ratios import FIGURE_15, LevelPair, level_ratios
from qrowd_papers.magnitude.selection import select_units_by_agreement
from qrowd_papers.magnitude.unit_counts import unit_widths

approx = pytest.approx

fewer = settings(max_examples=settings.default.max_examples * 4 // 5)


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


def test_gold_is_a_name_or_judgments_or_a_mapping(crowd, gold):
    some_topics = gold.topics[:4]
    crowd, gold = crowd.select(topics=some_topics), gold.select(topics=some_topics)
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


# ---- the units that agree most (section 7.2)


@fewer
@given(graded_crowds(), st.booleans(), st.randoms())
def test_the_chosen_units_are_those_found_one_by_one(drawn, choosy, random):
    rows, gold = drawn
    judgments = judgments_of(rows)
    preferred = np.array([not choosy or random.random() < 0.5 for _ in oracle.units(rows)])
    wanted = {unit for unit, wish in zip(oracle.units(rows), preferred, strict=True) if wish}
    found = select_units_by_agreement(judgments, gold_of(gold), preferred=preferred if choosy else None)
    expected = [rows[i] for i in oracle.agreeing_rows(rows, gold, 3, False, wanted)]
    frame = found.judgments.to_frame()
    columns = [frame[name] for name in ("topic", "document", "assessor", "unit", "value")]
    assert list(zip(*columns, strict=True)) == expected
    for unit, (agreed, pairs) in enumerate(oracle.agreement(some, gold, False) for some in oracle.units(rows).values()):
        assert found.n_pairs[unit] == pairs
        assert found.agreement[unit] == approx(agreed / pairs)
    by_pair = {}
    for row in rows:
        by_pair.setdefault(row[:2], set()).add(oracle.unit_of(row))
    assert found.n_outside == sum(not judged & wanted for judged in by_pair.values())


def test_units_of_equal_agreement_go_by_fewest_unjudged_documents():
    rows = [("t1", d, "ann", "u1", v) for d, v in (("H", 9.0), ("N", 1.0), ("x", 2.0))]
    rows += [("t1", d, "bob", "u2", v) for d, v in (("H", 8.0), ("N", 1.0), ("a", 4.0))]
    rows += [("t1", d, "cid", "u3", v) for d, v in (("H", 1.0), ("N", 8.0), ("a", 4.0))]
    rows += [("t1", d, "dan", "u4", v) for d, v in (("H", 8.0), ("N", 1.0), ("a", 4.0))]
    rows += [("t1", d, "eve", "u5", v) for d, v in (("H", 8.0), ("N", 1.0), ("x", 2.0))]
    gold = {("t1", "H"): 3, ("t1", "N"): 0, ("t1", "a"): 1}
    found = select_units_by_agreement(judgments_of(rows), gold_of(gold))
    assert found.agreement.tolist() == [1, 1, 0, 1, 1]
    chosen = found.judgments.to_frame()
    assert chosen.loc[chosen["document"] == "H", "assessor"].tolist() == ["ann", "bob", "dan"]


def test_a_unit_without_two_grades_has_no_agreement_and_comes_last():
    rows = [("t1", "x", "ann", "u1", 3.0), ("t1", "a", "ann", "u1", 3.0)]
    rows += [("t1", d, who, who, v) for who in ("bob", "cid", "dan") for d, v in (("a", 8.0), ("b", 1.0))]
    found = select_units_by_agreement(judgments_of(rows), gold_of({("t1", "a"): 0, ("t1", "b"): 3}))
    assert np.isnan(found.agreement[0])
    assert (found.agreement[1:] == 0).all()
    chosen = found.judgments.to_frame()
    assert chosen.loc[chosen["document"] == "a", "assessor"].tolist() == ["bob", "cid", "dan"]
    assert chosen.loc[chosen["document"] == "x", "assessor"].tolist() == ["ann"]


def test_every_document_keeps_three_units_and_wide_ones_where_it_has_any(crowd, gold, checks):
    found = select_units_by_agreement(normalise(crowd), gold)
    frame = found.judgments.to_frame()
    assert (frame.groupby(["topic", "document"]).size() == 3).all()
    assert len(frame) == 3 * 4269
    assert found.n_outside == 0
    wide = unit_widths(crowd, checks).wide
    choosy = select_units_by_agreement(normalise(crowd), gold, preferred=wide)
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
    "no upper level": (
        lambda: level_ratios(SMALL, GOLD, pairs={"x": LevelPair((), (0,))}),
        ArgumentError,
        "pairs: 'x' needs an upper and a lower level with no grade in both",
    ),
    "no lower level": (
        lambda: level_ratios(SMALL, GOLD, pairs={"x": LevelPair((3,), ())}),
        ArgumentError,
        "pairs: 'x' needs an upper and a lower level with no grade in both",
    ),
    "one level": (
        lambda: level_ratios(SMALL, gold_of({("t1", "H"): 3})),
        ArgumentError,
        "gold: all judged documents have grade 3, so there are no two levels",
    ),
}


def test_by_default_the_levels_that_occur_are_compared():
    found = level_ratios(SMALL, GOLD)
    assert (list(found.pairs), found.ratio.tolist()) == (["3:0"], [2.0])


@pytest.mark.parametrize(("call", "error", "line"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_compared_is_named_in_one_line(call, error, line):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == line
