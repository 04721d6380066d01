"""What the report says a difference rests on: the numbers of `qrowd.influence`, and the key fact of a reference."""

from html import unescape

import pytest

import qrowd
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.reports.report import report as report_of
from qrowd.reports.report_page import report_page
from qrowd.simulation import simulate_demo

OPTIONS = {"n_resamples": 200, "rng": 1, "random_assessors": 2}


def summary_of(runs, judgments, *arguments, **options):
    return report_of(runs, judgments, *arguments, **OPTIONS | options)


@pytest.fixture(scope="module")
def panel():
    runs, judgments, _ = simulate_demo()
    return runs, judgments


@pytest.fixture(scope="module")
def people(panel):
    """Three assessors on the scale 0-3."""
    runs, judgments = panel
    return runs, judgments.select(assessors=["ann", "bob", "sven"])


@pytest.fixture(scope="module")
def report(people):
    return summary_of(*people)


# ---------------------------------------------------------------------- what the difference rests on


@pytest.mark.parametrize("which", ["panel", "people"])
def test_documents_have_the_parts_of_the_decomposed_difference(request, which):
    runs, judgments = request.getfixturevalue(which)
    found = summary_of(runs, judgments)
    one = found.influence
    parts = qrowd.decompose_difference(runs, judgments, one.first, one.second)
    expected = parts.to_frame(what="documents")
    assert [row.part for row in one.documents] == pytest.approx(expected["part"][:10].tolist(), abs=1e-12)
    rows = {(row.topic, row.document): row.part for row in one.documents}
    part_of = dict(zip(zip(expected["topic"], expected["document"], strict=True), expected["part"], strict=True))
    assert rows == pytest.approx({pair: part_of[pair] for pair in rows})
    assert one.n_documents == (expected["part"].abs() > 1e-12).sum()
    assert found.answer.difference == pytest.approx(parts.difference, abs=1e-12)
    assert f"{one.n_documents} judged documents add to the difference" in one.sentence


def test_documents_stand_with_their_ranks_and_every_grade(people, report):
    runs, judgments = people
    lists, table = runs.to_dict(), judgments.to_frame()[["topic", "document", "assessor", "value"]]
    grades = {(topic, document, assessor): value for topic, document, assessor, value in table.to_numpy()}
    one = report.influence
    assert one.documents
    for row in (*one.documents, *one.disagreements):
        for system, rank in ((one.first, row.rank_first), (one.second, row.rank_second)):
            ranked = sorted(lists[system][row.topic].items(), key=lambda pair: -pair[1])
            places = [place for place, (document, _) in enumerate(ranked, 1) if document == row.document]
            assert [rank] == (places or [0])
        assert {grade.assessor: grade.value for grade in row.grades} == {
            a: v for (t, d, a), v in grades.items() if (t, d) == (row.topic, row.document)
        }


def test_the_number_of_changes_is_that_of_fragility(people, report):
    one = report.influence
    counted = qrowd.fragility(*people, systems=[one.first, one.second])
    low, high = int(counted.n_changes_low[0]), int(counted.n_changes_high[0])
    assert low == high
    assert one.short == (
        f"It would take {high} changes by one grade in {counted.n_judgments:,} judgments to put {one.second} ahead."
    )
    assert len(one.changes) == high
    assert [row.difference > 0 for row in one.changes] == [True] * (high - 1) + [False]
    assert all(abs(row.after - row.before) == 1 for row in one.changes)
    assert one.short in report.sentence
    assert one.short in unescape(report_page(report)).replace("<wbr>", "")


def test_disagreements_are_those_of_the_two_systems_most_first(people, report):
    one = report.influence
    found = qrowd.disagreements(*people, systems=[one.first, one.second])
    assert [(row.topic, row.document) for row in one.disagreements] == list(
        zip(found.topics, found.documents, strict=True)
    )[:10]
    sign = 1 if found.systems[0] == one.first else -1
    for row, low, high in zip(one.disagreements, found.difference_lowest, found.difference_highest, strict=False):
        assert (row.difference_lowest, row.difference_highest) == pytest.approx((sign * low, sign * high))


def test_three_documents_that_decide_the_winner_are_the_first_of_the_list():
    """Ten documents per topic in nearly the same order; one system has three documents first that the other lacks."""
    topics = [f"t{t:02d}" for t in range(12)]
    planted = {"t02": "x2", "t05": "x5", "t09": "x9"}
    lists, rows = {"careful": {}, "lucky": {}}, []
    for topic in topics:
        documents = [f"d{d}" for d in range(10)]
        swapped = [*documents[:3], documents[4], documents[3], *documents[5:]]  # a little better: d4 is relevant
        lists["careful"][topic] = {d: -float(r) for r, d in enumerate(swapped)}
        own = [planted[topic], *documents[:9]] if topic in planted else documents
        lists["lucky"][topic] = {d: -float(r) for r, d in enumerate(own)}
        grades = {d: float(d in ("d1", "d4", "d7")) for d in documents} | {d: 3.0 for d in own if d[0] == "x"}
        rows += [(topic, d, who, g) for who in ("ann", "bob") for d, g in grades.items()]
    runs, judgments = Runs.from_dict(lists), Judgments.from_rows(rows)
    found = summary_of(runs, judgments)
    assert found.answer.first == "lucky"
    assert [(row.topic, row.document) for row in found.influence.documents[:3]] == list(planted.items())
    without = judgments.select(topics=[topic for topic in topics if topic not in planted])
    assert summary_of(runs, without).answer.first == "careful"


def test_what_is_not_counted_is_said_with_its_reason(panel, people):
    cases = {
        "llm-a judged on the scale 0..1; whole grades are needed": summary_of(*panel),
        "ties='expected' is not supported": summary_of(*people, conventions=qrowd.Conventions(ties="expected")),
    }
    for why, found in cases.items():
        assert why in found.influence.sentence
        assert found.influence.short == ""
        assert why in unescape(report_page(found)).replace("<wbr>", "")


@pytest.mark.parametrize("measure", ["AP", "ERR@10"])
def test_a_measure_that_is_no_sum_has_the_bounds_of_fragility_and_no_parts(people, measure):
    found = summary_of(*people, measure)
    one = found.influence
    bounds = qrowd.fragility(*people, measure, systems=[one.first, one.second])
    assert f" {int(bounds.n_changes_high[0])} changes by one grade in {bounds.n_judgments:,} judgments" in one.short
    assert one.documents == one.disagreements == ()
    assert "no document has a part of it" in unescape(report_page(found)).replace("<wbr>", "")


def test_a_judgment_that_decides_alone_needs_no_bounds_with_a_fixed_normaliser():
    runs = Runs.from_dict({"a": {"t": {"d1": 2.0}, "u": {"d1": 1.0}}, "b": {"t": {"d2": 2.0}, "u": {"d1": 1.0}}})
    judgments = Judgments.from_dict({"ann": {"t": {"d1": 1.0, "d2": 0.0}, "u": {"d1": 1.0}}})
    found = summary_of(runs, judgments, "P@1").influence
    assert found.short == "It would take 2 changes by one grade in 3 judgments to put b ahead."
    assert [(row.document, row.before, row.after) for row in found.changes] == [("d1", 1, 0), ("d2", 0, 1)]


def test_one_judgment_that_is_enough_is_said_in_the_singular(panel):
    runs, judgments = panel
    found = summary_of(runs, judgments.select(assessors=["crowd-1", "crowd-2", "crowd-3"])).influence
    n = found.fragility.n_judgments
    assert found.fragility.n_changes_low == found.fragility.n_changes_high == len(found.changes) == 1
    assert found.short == f"1 change by one grade in {n:,} judgments would put {found.second} ahead."
    assert f"1 change by one grade in {n:,} judgments of documents" in found.sentence


def test_systems_that_are_level_have_nothing_to_reverse():
    runs = Runs.from_dict({"a": {"t": {"d1": 1.0}, "u": {"d1": 1.0}}, "b": {"t": {"d2": 1.0}, "u": {"d2": 1.0}}})
    judgments = Judgments.from_dict({"ann": {"t": {"d1": 1.0, "d2": 0.0}, "u": {"d1": 0.0, "d2": 1.0}}})
    found = summary_of(runs, judgments, "P@1")
    assert found.answer.verdict.startswith("a and b lead")
    assert found.influence.short == ""
    assert "are level, so that no change reverses" in found.influence.sentence


# ---------------------------------------------------------------------- the key fact of a reference


def by_grades(panel, reference, **options):
    """Systems that each have one document of their own first; grades by the panel and by nist decide the ranking."""
    runs = Runs.from_dict({f"s{i:02d}": {t: {f"d{i}": 1.0} for t in ("t", "u", "v")} for i in range(len(panel))})
    given = {"ann": panel, "bob": panel, "nist": reference}
    files = {
        who: {t: {f"d{i}": float(g) for i, g in enumerate(grades) if g is not None} for t in ("t", "u", "v")}
        for who, grades in given.items()
    }
    return summary_of(runs, Judgments.from_dict(files).with_scales({"*": "0-20"}), "DCG@1", reference="nist", **options)


@pytest.mark.parametrize(
    ("grades", "places"),
    [
        ([9, 10, 5, 4], "second"),
        ([1, *range(2, 11)], "tenth"),
        ([1, *range(2, 13)], "twelfth"),
        ([1, *range(2, 14)], "at rank 13"),
        ([4, 9, 8, 4], "joint third"),
    ],
)
def test_the_headline_says_where_the_reference_has_the_panel_s_first(grades, places):
    found = by_grades([20, *range(18, 19 - len(grades), -1)], grades)
    assert found.answer.verdict.startswith(f"The panel puts first what nist puts {places}: s00 leads")
    rank = found.answer.reference_ranks[0]
    assert f"By nist, the reference, s00 has rank {rank} of {len(grades)}" in found.answer.sentence
    assert f"what nist puts {places}: " in unescape(report_page(found)).replace("<wbr>", "")


def test_a_reference_with_the_same_first_system_agrees_in_the_headline():
    found = by_grades([20, 10, 5], [9, 3, 1])
    assert found.answer.verdict.startswith("The panel and nist put s00 first")
    assert "has the same system first as the panel" in found.answer.sentence
    shared = by_grades([20, 10, 5], [9, 9, 1])
    assert shared.answer.verdict.startswith("The panel and nist put s00 first (nist with 1 other)")


def test_leaders_that_are_level_are_placed_together():
    found = by_grades([20, 20, 5, 4], [3, 1, 9, 2])
    assert found.answer.verdict.startswith("The panel puts first what nist puts second to fourth: s00 and s01 lead")
    assert found.answer.equals == ("s01",)
    together = by_grades([20, 20, 5, 4], [9, 9, 3, 1])
    assert together.answer.verdict.startswith("The panel and nist put s00 and s01 first")


def test_a_reference_without_an_order_or_a_score_makes_no_headline():
    level = by_grades([20, 10, 5], [4, 4, 4])
    assert level.answer.verdict.startswith("s00 leads")
    assert level.answer.sentence.startswith("By nist, the reference, no system is ahead of another. ")
