"""The report: its numbers are those of the rooms they come from, and the page shows them whatever was judged."""

import csv
import io
import json
import re
from base64 import b64decode
from dataclasses import replace
from hashlib import sha256
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest

from qrowd.agreement import ease_correlation, krippendorff_alpha
from qrowd.cli.report import input_files
from qrowd.comparison import difference, rank_intervals, rank_systems
from qrowd.errors import ArgumentError, FileError, QrowdError
from qrowd.evaluation import evaluate
from qrowd.methods import evaluate_methods
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.reports import report_page as page_module
from qrowd.reports.document import RENDERERS
from qrowd.reports.report_document import report as report_of
from qrowd.reports.report_page import Provenance, report_page, systems_chart
from qrowd.reports.system_tables import SystemRow
from qrowd.simulation import simulate_demo

OPTIONS = {"n_resamples": 500, "rng": 1}
FEW = 5  # random assessors: enough for what is tested


def summary_of(runs, judgments, **options):
    return report_of(runs, judgments, **OPTIONS | {"random_assessors": FEW} | options)


def rows_of(report, name):
    """The rows of a table of the report."""
    return [SimpleNamespace(**record) for record in report.tables[name].records]


def ranks_by(report, name):
    """{method: {system: rank}}, in the order of the table."""
    ranks = {}
    for row in rows_of(report, f"{name}s"):
        ranks.setdefault(vars(row)[name], {})[row.system] = row.rank
    return ranks


@pytest.fixture(scope="module")
def panel():
    runs, judgments, _ = simulate_demo()
    return runs, judgments


@pytest.fixture(scope="module")
def scores(panel):
    return evaluate(*panel, ["nDCG@10"])


@pytest.fixture(scope="module")
def ranks(scores):
    return rank_intervals(scores, **OPTIONS)


@pytest.fixture(scope="module")
def report(panel):
    return summary_of(*panel, provenance=Provenance("qrowd report", (), "2026-01-01"))


@pytest.fixture(scope="module")
def page(report):
    return report_page(report)


def small(**grades):
    """Runs of two systems on two topics, in opposite orders, and judgments: ann="31 20" gives q1's documents 3 and 1,
    q2's 2 and 0; * is not judged. Everybody has a scale of their own."""
    order = {"up": (2.0, 1.0), "down": (1.0, 2.0)}
    runs = Runs.from_dict(
        {system: {q: dict(zip(("d1", "d2"), s, strict=True)) for q in ("q1", "q2")} for system, s in order.items()}
    )
    files = {
        who: {
            topic: {d: float(grade) for d, grade in zip(("d1", "d2"), row, strict=True) if grade != "*"}
            for topic, row in zip(("q1", "q2"), said.split(), strict=True)
        }
        for who, said in grades.items()
    }
    return runs, Judgments.from_dict(files)


# ---------------------------------------------------------------------- numbers


def test_the_interval_of_a_mean_ends_where_the_measure_does():
    """Three topics on which a perfect list is nearly the rule: Student's interval alone would go beyond 1."""
    rows = [(f"t{t}", f"d{d}", who, float(d < 3)) for t in range(3) for d in range(6) for who in ("ann", "bob", "cyd")]
    order = {"s1": [0, 1, 2, 3, 4, 5], "s2": [0, 1, 3, 2, 4, 5], "s3": [5, 0, 4, 1, 3, 2]}
    lists = {
        name: {f"t{t}": {f"d{d}": 9.0 - r for r, d in enumerate(ranked if t else ranked[::-1])} for t in range(3)}
        for name, ranked in order.items()
    }
    report = summary_of(Runs.from_dict(lists), Judgments.from_rows(rows))
    assert all(0 <= row.low <= row.mean <= row.high <= 1 for row in report.systems)
    assert report.systems[0].high == 1
    assert all(-1 <= pair.low <= pair.high <= 1 for pair in rows_of(report, "pairs"))


def test_the_answer_is_the_interval_of_the_leader_and_the_next_for_all_pairs_together(report, scores, ranks):
    first, second = (scores.systems.index(name) for name in (report.answer.first, report.answer.second))
    gap = ranks.against(report.answer.second)
    assert (report.answer.low, report.answer.high, report.answer.p) == pytest.approx(
        (gap.low[first], gap.high[first], gap.p[first])
    )
    one = difference(scores, report.answer.first, report.answer.second)
    assert report.answer.another_panel == pytest.approx(one.p_panel_agrees())
    assert report.answer.difference == pytest.approx(one.difference, abs=1e-12)
    # One pair alone has a narrower interval, which would not allow for having been chosen by the scores.
    assert report.answer.low < one.low < one.high < report.answer.high
    means = rank_systems(scores).mean
    assert np.argsort(-means)[:2].tolist() == [first, second]
    assert f"{one.difference:.3f} [{report.answer.low:.3f}, {report.answer.high:.3f}]" in report.answer.sentence


def test_an_interval_with_zero_in_it_is_no_win(report, ranks):
    assert report.answer.low < 0 < report.answer.high
    assert " is ahead of " in report.answer.sentence
    assert "beats" not in report.answer.sentence
    assert report.answer.may_be_best == ranks.may_be_best
    n = len(ranks.may_be_best)
    assert n > 1
    assert report.answer.verdict == f"rerank-large leads, but {n} of 12 systems may be the best"


def test_each_system_has_the_rank_of_rank_systems_and_is_compared_with_the_leader(report, scores, ranks):
    names = scores.systems
    places, gap = rank_systems(scores), ranks.against(report.compared_with)
    for row in report.systems:
        s = names.index(row.system)
        assert row.mean == pytest.approx(places.mean[s], abs=1e-12)
        assert row.rank == places.rank[s]
        assert row.first_for == places.leads()[s]
        assert (row.rank_low, row.rank_high) == (ranks.rank_low[s], ranks.rank_high[s])
        assert (row.difference, row.difference_low, row.difference_high, row.p) == pytest.approx(
            (gap.difference[s], gap.low[s], gap.high[s], gap.p[s]), nan_ok=True
        )
        # A filled dot, an interval without 0 and an adjusted p below the level are one statement.
        assert row.significant == (row.p < 0.05) == (row.difference_low > 0 or row.difference_high < 0)
        assert row.may_be_best == (row.system in report.answer.may_be_best)
    means = [row.mean for row in report.systems]
    assert means == sorted(means, reverse=True)


def test_the_interval_of_a_mean_is_that_of_its_difference_to_a_system_that_scores_nothing(report, scores):
    array = scores.values[0]
    with_zero = np.concatenate([array, np.where(np.isnan(array[:, :, :1]), np.nan, 0.0)], axis=2)
    with_zero = Scores.from_array(with_zero, systems=(*scores.systems, "nothing"))
    for row in report.systems[::4]:
        one = difference(with_zero, row.system, "nothing")
        assert (row.low, row.high) == pytest.approx((one.low, one.high), abs=1e-12)


def test_pairs_are_all_of_the_leading_ten_adjusted_for_all_pairs(report, scores, ranks):
    names = scores.systems
    leading = [row.system for row in report.systems[:10]]
    assert {(row.first, row.second) for row in rows_of(report, "pairs")} == {
        (a, b) for i, a in enumerate(leading) for b in leading[i + 1 :]
    }
    at = [(names.index(row.first), names.index(row.second)) for row in rows_of(report, "pairs")]
    assert [row.p for row in rows_of(report, "pairs")] == pytest.approx([ranks.p[i, j] for i, j in at])
    assert [row.significant for row in rows_of(report, "pairs")] == [bool(ranks.better[i, j]) for i, j in at]
    row = rows_of(report, "pairs")[7]
    assert row.difference == pytest.approx(difference(scores, row.first, row.second).difference)
    assert row.ahead_for == rank_systems(scores.sel(measure="nDCG@10")).n_above(row.first, row.second)


def test_assessors_and_topics_come_from_agreement_on_one_scale(report, panel, scores):
    _, judgments = panel
    unit = judgments.rescaled()  # the demo's scales differ
    assert report.section("assessors").values["alpha"] == krippendorff_alpha(unit).item().value
    assert "divided by its scale's maximum" in report.section("assessors").notes[0]
    by_topic = krippendorff_alpha(unit, by="topic")
    assert [row.alpha for row in rows_of(report, "topics")] == by_topic.value.tolist()
    ease = ease_correlation(scores.to_xarray(), by_topic, bins=())
    assert report.section("topics").values["r"] == pytest.approx(ease.correlations[0][0].r)
    assert [row.ease for row in rows_of(report, "topics")] == pytest.approx(ease.ease.tolist())
    spammer = next(row for row in rows_of(report, "assessors") if row.assessor == "crowd-3")
    assert spammer.outlying
    assert spammer.agreement == min(row.agreement for row in rows_of(report, "assessors"))


def test_rankings_are_those_of_the_approaches_by_name():
    runs, judgments = small(ann="31 20", bob="01 10", cyd="30 01")
    report = summary_of(runs, judgments)
    own = rank_systems(evaluate_methods(runs, judgments, ["nDCG@10"], methods=["majority"]))
    rows = {row.system: (row.mean, row.rank) for row in rows_of(report, "methods") if row.method == "majority"}
    assert rows == {name: (own.mean[s], own.rank[s]) for s, name in enumerate(own.systems)}
    assert list(ranks_by(report, "method"))[:2] == ["mean of assessors", "majority"]


def test_labels_on_different_scales_are_merged_as_relevant_or_not_and_that_is_said(report):
    assert list(ranks_by(report, "method")) == [
        "mean of assessors",
        "majority",
        "Dawid-Skene",
        "AWARE",
        "predicted relevance",
    ]
    assert any("counts as relevant or not" in note for note in report.section("methods").notes)


def test_magnitudes_are_merged_by_their_median_and_geometric_mean_and_what_cannot_be_is_named():
    runs, judgments = small(ann="31 21", bob="12 19", cyd="21 13")
    report = summary_of(runs, judgments.with_scales({"*": "magnitude"}))
    assert list(ranks_by(report, "method")) == ["mean of assessors", "median", "geometric mean"]
    left_out = [note.partition(" is left out: ")[0] for note in report.section("methods").notes if "left out" in note]
    assert left_out == ["majority", "Dawid-Skene", "AWARE", "predicted relevance"]


def test_equal_systems_share_the_lead_and_the_answer_is_about_the_next_one():
    _, judgments = small(ann="31 20", bob="31 10")
    twin = {s: {q: {"d1": 2.0, "d2": 1.0} for q in ("q1", "q2")} for s in ("up", "twin")}
    low = {"down": {q: {"d1": 1.0, "d2": 2.0} for q in ("q1", "q2")}}
    found = summary_of(Runs.from_dict(twin | low), judgments)
    assert (found.answer.first, found.answer.second) == ("up", "down")
    assert found.answer.verdict.startswith("up and twin share the lead")


def test_all_are_compared_with_a_baseline(panel):
    found = summary_of(*panel, baseline="bm25")
    assert (found.compared_with, found.answer.first, found.answer.second) == ("bm25", "rerank-large", "bm25")
    assert "rerank-large beats bm25 by " in found.answer.sentence
    assert next(row for row in found.systems if row.system == "rerank-large").difference > 0


def test_a_reference_is_left_out_of_the_panel_and_everyone_is_held_against_it(panel):
    runs, judgments = panel
    found = summary_of(runs, judgments, reference="ann")
    assert [row.assessor for row in rows_of(found, "assessors")] == [
        name for name in judgments.assessors if name != "ann"
    ]
    ranks = ranks_by(found, "method")
    assert list(ranks)[-1] == "ann"
    alone = evaluate(runs, judgments.select(assessors="ann"), ["nDCG@10"])
    own = dict(zip(alone.systems, rank_systems(alone).rank.tolist(), strict=True))
    assert ranks["ann"] == own
    assert 0 < rows_of(found, "assessors")[0].tau_b < 1


@pytest.mark.parametrize(("reference", "other"), [("ann", "ann"), (None, "the other assessors together")])
def test_the_page_says_whose_ranking_each_is_compared_with_and_notes_name_only_what_is_on_it(panel, reference, other):
    found = summary_of(*panel, reference=reference)
    tip = found.tables["assessors"].meanings["tau-b"]
    assert tip == f"of the ranking of systems with that of {other}, over the topics where both have a score"
    kinds = {note.kind for note in found.section("coverage").notes}
    assert {"test of all pairs", "scale", "coverage"} <= kinds
    assert not kinds & {"agreement of rankings", "AP correlation", "AP-b", "same sign", "intervals", "pair"}


def test_the_same_seed_gives_the_same_page(panel, page):
    again = summary_of(*panel, provenance=Provenance("qrowd report", (), "2026-01-01"))
    assert report_page(again) == page


def test_four_assessors_never_make_another_panel_certain(panel):
    runs, judgments = panel
    experts = judgments.select(assessors=["ann", "bob", "lena", "sven"])
    found = summary_of(runs, experts, baseline="tf-idf")
    assert 0.995 < found.answer.another_panel < 1
    assert found.answer.sentence.endswith(", with probability above 0.95.")
    assert ("above 0.95", "probability that another panel of 4 of this kind would agree") in found.answer.key_numbers()
    (label,) = (label for number, label in found.answer.key_numbers() if "interval" in label)
    assert label.endswith(" interval over topics and assessors, for all pairs of systems together")


# ---------------------------------------------------------------------- whatever was judged


@pytest.mark.parametrize(
    ("grades", "scale"),
    [
        ({"ann": "31 20"}, None),  # one assessor: nobody to agree with
        ({"ann": "31 **", "bob": "** 12"}, None),  # everyone a topic of their own
        ({"ann": "31 20", "bob": "00 00"}, None),  # nothing is relevant to bob
        ({"ann": "31 21", "bob": "12 19"}, "magnitude"),
        ({"ann": "11 11", "bob": "11 11"}, None),  # all systems are equal
        ({"ann": "31 **", "bob": "13 **"}, None),  # one topic: no interval
    ],
)
def test_what_cannot_be_said_is_left_out_and_the_page_stands(grades, scale):
    runs, judgments = small(**grades)
    found = summary_of(runs, judgments.with_scales({"*": scale}) if scale else judgments)
    text = report_page(found)
    assert found.answer.verdict in unescape(text)
    assert "nan" not in re.sub(r"base64,[\w+/=]*", "", text.partition("<script")[0]).lower().replace("dominant", "")
    json.loads(RENDERERS[".json"](found.to_document()))


def test_names_cannot_break_the_page():
    nasty = '<script>alert("x")</script>&\'"'
    runs = Runs.from_dict({f"{nasty}{i}": {nasty: {nasty: 1.0, "d": 1.0 + i}} for i in (0, 0.5)})
    rows = [(nasty, nasty, f"{nasty}a", 1.0), (nasty, "d", f"{nasty}a", 0.0), (nasty, nasty, f"{nasty}b", 0.0)]
    found = summary_of(runs, Judgments.from_rows(rows), provenance=Provenance(nasty))
    text = report_page(found)
    assert "<script>alert" not in text
    assert text.count("<script>") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"baseline": "bm52"}, "did you mean"),
        ({"reference": "anne"}, "did you mean"),
        ({"measures": "nDGC@10"}, "did you mean"),
    ],
)
def test_a_wrong_name_is_refused_with_the_nearest(panel, options, said):
    with pytest.raises(QrowdError, match=said):
        summary_of(*panel, **options)


def test_one_system_is_no_comparison():
    runs, judgments = small(ann="31 20")
    with pytest.raises(ArgumentError, match="only system"):
        summary_of(runs.select(systems="up"), judgments)


# ---------------------------------------------------------------------- the page and the tables


def test_the_page_asks_for_nothing_from_anywhere(page):
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#|data:)""", page)
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page


def test_every_chart_has_a_table_tooltips_and_its_numbers_to_take_along(page, report):
    for name, rows in (
        ("systems.csv", report.systems),
        ("pairs.csv", rows_of(report, "pairs")),
        ("assessors.csv", rows_of(report, "assessors")),
        ("topics.csv", rows_of(report, "topics")),
    ):
        (encoded,) = re.findall(rf'base64,([\w+/=]*)" download="{name}"', page)
        read = list(csv.DictReader(io.StringIO(b64decode(encoded).decode())))
        assert len(read) == len(rows)
        assert list(read[0]) == [name for name, value in vars(rows[0]).items() if value is not None]
    assert page.count("<svg ") == 1
    assert page.count("<table data-sorts") == len(report.tables)
    for svg in re.findall(r"<svg .*?</svg>", page, re.DOTALL):
        assert "<title>" in svg
        assert "aria-label=" in svg


def test_documents_hold_all_numbers(report):
    document = report.to_document()
    read = list(csv.DictReader(io.StringIO(RENDERERS[".csv"](document).decode())))
    assert [row["system"] for row in read] == [row.system for row in report.systems]
    assert float(read[3]["mean"]) == report.systems[3].mean
    content = json.loads(RENDERERS[".json"](document))
    assert content["answer"]["low"] == report.answer.low
    assert content["tables"]["systems"][0]["difference"] is None
    latex = RENDERERS[".tex"](document).decode()
    assert latex.count(r"\begin{table}") == len(report.tables) + latex.count("(2 of 2)}")


def test_input_files_are_named_with_their_hash(tmp_path):
    (tmp_path / "a.run").write_bytes(b"text")
    found = input_files("runs", [str(tmp_path), f"name={tmp_path / 'a.run'}"])
    assert [file.path for file in found] == [str(tmp_path / "a.run")] * 2
    assert found[0].sha256 == sha256(b"text").hexdigest()
    assert (found[0].role, found[0].n_bytes) == ("runs", 4)
    with pytest.raises(FileError):
        input_files("runs", [str(tmp_path / "b.run")])


def test_without_jinja_the_extra_is_named(report, monkeypatch):
    monkeypatch.setattr(page_module, "find_spec", lambda name: None)
    with pytest.raises(QrowdError, match=r"qrowd\[report\]"):
        report_page(report)


def test_the_bars_of_a_chart_end_where_the_measure_does():
    """The interval of a difference, drawn from a mean near 1, would go beyond it."""
    same = {"rank": 1, "standard_error": 0.1, "lowest": 0.9, "highest": 1.0, "best_rank": 1, "worst_rank": 2}
    best = SystemRow(system="best", mean=0.97, first_for=1, **same)
    other = replace(best, system="other", mean=0.9, difference=-0.07, difference_low=-0.2, difference_high=0.08)
    drawing = systems_chart([best, other], "best", "nDCG@10")
    (end,) = [float(x) for x in re.findall(r'x2="([\d.]+)" y2="[\d.]+" class="bar"', drawing)]
    (one,) = [float(x) for x in re.findall(r'<text x="([\d.]+)"[^>]*class="tick">1</text>', drawing)]
    assert end == pytest.approx(one, abs=0.1)
    assert "[-0.200, 0.080]" in drawing.replace("\N{MINUS SIGN}", "-")  # of the difference, unchanged
