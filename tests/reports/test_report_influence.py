"""What the report says a difference rests on: the numbers of `qrowd.influence`, and the key fact of a reference."""

from html import unescape
from types import SimpleNamespace

import pytest

import qrowd
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.reports.report_document import report as report_of
from qrowd.reports.report_page import report_page
from qrowd.simulation import simulate_demo

OPTIONS = {"n_resamples": 200, "rng": 1, "random_assessors": 2}


def summary_of(runs, judgments, *arguments, **options):
    return report_of(runs, judgments, *arguments, **OPTIONS | options)


def rows_of(report, name):
    """The rows of a table of the report."""
    return [SimpleNamespace(**record) for record in report.tables[name].records] if name in report.tables else []


def headline(report):
    return report.section("evidence").headline


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
    documents, n = rows_of(found, "documents"), found.section("evidence").values["n_documents"]
    parts = qrowd.decompose_difference(runs, judgments, found.answer.first, found.answer.second)
    expected = parts.to_frame(what="documents")
    assert [row.part for row in documents] == pytest.approx(expected["part"][:10].tolist(), abs=1e-12)
    rows = {(row.topic, row.document): row.part for row in documents}
    part_of = dict(zip(zip(expected["topic"], expected["document"], strict=True), expected["part"], strict=True))
    assert rows == pytest.approx({pair: part_of[pair] for pair in rows})
    assert n == (expected["part"].abs() > 1e-12).sum()
    assert found.answer.difference == pytest.approx(parts.difference, abs=1e-12)
    assert f"{n} judged documents add to the difference" in found.section("evidence").sentence


def test_the_number_of_changes_is_that_of_fragility(people, report):
    first, second = report.answer.first, report.answer.second
    counted = qrowd.fragility(*people, systems=[first, second])
    low, high = int(counted.n_changes_low[0]), int(counted.n_changes_high[0])
    assert low == high
    said = f"It would take {high} changes by one grade in {counted.n_judgments:,} judgments to put {second} ahead."
    assert headline(report) == said
    rows = rows_of(report, "changes")
    assert len(rows) == high
    assert [row.difference > 0 for row in rows] == [True] * (high - 1) + [False]
    assert all(abs(row.after - row.before) == 1 for row in rows)
    assert said in report.sentence
    assert said in unescape(report_page(report)).replace("<wbr>", "")


def test_disagreements_are_those_of_the_two_systems_most_first(people, report):
    pair = report.answer.first, report.answer.second
    found = qrowd.disagreements(*people, systems=pair)
    expected = list(zip(found.topics, found.documents, found.grades, strict=True))[:10]
    rows = rows_of(report, "disagreements")
    assert [(row.topic, row.document, row.grades) for row in rows] == expected
    assert all(row.lowest[0] == "+" for row in rows)  # the leader is ahead
    assert any(f"the difference, {' minus '.join(pair)}," in str(note) for note in report.section("evidence").notes)
    assert people[0].systems.index(pair[0]) > people[0].systems.index(pair[1])  # runs have another order


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
    assert [(row.topic, row.document) for row in rows_of(found, "documents")[:3]] == list(planted.items())
    without = judgments.select(topics=[topic for topic in topics if topic not in planted])
    assert summary_of(runs, without).answer.first == "careful"


def test_what_is_not_counted_is_said_with_its_reason(panel, people):
    cases = {
        "llm-a judged on the scale 0..1; whole grades are needed": summary_of(*panel),
        "ties='expected' is not supported": summary_of(*people, conventions=qrowd.Conventions(ties="expected")),
    }
    for why, found in cases.items():
        assert why in found.section("evidence").sentence
        assert headline(found) == ""
        assert why in unescape(report_page(found)).replace("<wbr>", "")


@pytest.mark.parametrize("measure", ["ERR@10", pytest.param("AP", marks=pytest.mark.nightly)])
def test_a_measure_that_is_no_sum_has_the_bounds_of_fragility_and_no_parts(people, measure):
    found = summary_of(*people, measure)
    systems = [found.answer.first, found.answer.second]
    bounds = qrowd.fragility(*people, measure, systems=systems)
    low, high = int(bounds.n_changes_low[0]), int(bounds.n_changes_high[0])
    number = f"{low}" if low == high else f"{low}-{high}"
    assert f" {number} changes by one grade in {bounds.n_judgments:,} judgments" in headline(found)
    assert "documents" not in found.tables
    assert "disagreements" not in found.tables
    assert "no document has a part of it" in unescape(report_page(found)).replace("<wbr>", "")


def test_a_judgment_that_decides_alone_needs_no_bounds_with_a_fixed_normaliser():
    runs = Runs.from_dict({"a": {"t": {"d1": 2.0}, "u": {"d1": 1.0}}, "b": {"t": {"d2": 2.0}, "u": {"d1": 1.0}}})
    judgments = Judgments.from_dict({"ann": {"t": {"d1": 1.0, "d2": 0.0}, "u": {"d1": 1.0}}})
    found = summary_of(runs, judgments, "P@1")
    assert headline(found) == (
        "It would take 2 changes by one grade in 3 judgments to put b ahead; between yes and no, a whole scale: 2 of "
        "the 2 listed."
    )
    changes = [(row.document, row.before, row.after) for row in rows_of(found, "changes")]
    assert changes == [("d1", 1, 0), ("d2", 0, 1)]


ORDERS = {"a": ["d1", "d2", "d3"], "b": ["d3", "d2", "d1"]}


def report_of_scales(scales, measure="DCG@2"):
    """On two runs of three documents, of which each assessor gives the first a 1."""
    runs = {s: {t: {d: 3.0 - i for i, d in enumerate(ds)} for t in "tu"} for s, ds in ORDERS.items()}
    rows = [(t, d, name, int(d == "d1")) for name in scales for t in "tu" for d in ORDERS["a"]]
    return summary_of(Runs.from_dict(runs), Judgments.from_rows(rows, scales=scales), measure)


def test_the_report_counts_the_changes_that_take_a_whole_scale():
    said = "It would take 3 changes by one grade in 6 judgments to put b ahead"
    assert headline(report_of_scales({"ann": "0-3"})) == f"{said}."
    binary = headline(report_of_scales({"ann": "binary"}))
    assert binary == f"{said}; between yes and no, a whole scale: 3 of the 3 listed."
    mixed = report_of_scales({"ann": "0-3", "bob": "binary"})
    rows = rows_of(mixed, "changes")
    n = sum(row.assessor == "bob" for row in rows)
    assert 0 < n < len(rows)
    assert headline(mixed).endswith(
        f" to put b ahead; between yes and no, a whole scale: {n} of the {len(rows)} listed."
    )


def test_changes_that_were_not_found_are_not_said_to_be_impossible():
    runs = {"a": {"t": {"d1": 2, "d2": 1}}, "b": {"t": {"d2": 2, "d1": 1}}}
    judgments = Judgments.from_rows([("t", "d1", "ann", 3)], scales={"ann": "0-3"})
    found = summary_of(Runs.from_dict(runs), judgments, "nDCG@2")
    said = "No changes by one grade in 1 judgment were found that put b ahead; at least 3 are needed."
    assert headline(found) == said
    found = summary_of(Runs.from_dict({"a": runs["a"], "b": {"t": {"d2": 2}}}), judgments, "DCG@2")
    assert headline(found) == "No changes by one grade each would put b ahead."
    assert "changes" not in found.tables


def test_one_judgment_that_is_enough_is_said_in_the_singular(panel):
    runs, judgments = panel
    found = summary_of(runs, judgments.select(assessors=["crowd-1", "crowd-2", "crowd-3"]))
    assert len(rows_of(found, "changes")) == 1
    assert headline(found).startswith("It would take 1 change by one grade in ")


def test_systems_that_are_level_have_nothing_to_reverse():
    runs = Runs.from_dict({"a": {"t": {"d1": 1.0}, "u": {"d1": 1.0}}, "b": {"t": {"d2": 1.0}, "u": {"d2": 1.0}}})
    judgments = Judgments.from_dict({"ann": {"t": {"d1": 1.0, "d2": 0.0}, "u": {"d1": 0.0, "d2": 1.0}}})
    found = summary_of(runs, judgments, "P@1")
    assert found.answer.verdict.startswith("a and b share the lead")
    assert headline(found) == ""
    assert "are level, so that no change reverses" in found.section("evidence").sentence


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


def test_the_headline_says_where_the_reference_has_the_panel_s_first():
    for grades in ([9, 10, 5, 4], [1, *range(2, 14)], [4, 9, 8, 4]):
        found = by_grades([20, *range(18, 19 - len(grades), -1)], grades)
        rank, best = sorted(grades, reverse=True).index(grades[0]) + 1, grades.index(max(grades))
        place = f"by nist, the reference outside the panel, s00 has rank {rank} of {len(grades)} and s{best:02d} leads"
        assert found.answer.verdict.startswith("s00 leads")
        assert found.answer.verdict.endswith(f"; {place}")
        assert place in unescape(report_page(found)).replace("<wbr>", "")


def test_a_reference_with_the_same_first_system_agrees_in_the_headline():
    found = by_grades([20, 10, 5], [9, 3, 1])
    assert found.answer.verdict.endswith("; by nist, the reference outside the panel, s00 leads")
    shared = by_grades([20, 10, 5], [9, 9, 1])
    assert shared.answer.verdict.endswith("; by nist, the reference outside the panel, s00 and s01 share the lead")


def test_leaders_that_are_level_are_named_together():
    found = by_grades([20, 20, 5, 4], [3, 1, 9, 2])
    assert found.answer.verdict.startswith("s00 and s01 share the lead")


def test_a_reference_without_an_order_or_a_score_has_no_rank_in_the_headline():
    level = by_grades([20, 10, 5], [4, 4, 4])
    assert level.answer.verdict.endswith("; by nist, the reference outside the panel, no system is ahead of another")
