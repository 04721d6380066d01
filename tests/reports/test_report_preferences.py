"""The report on preferences: scores and agreement are those of their modules, and what needs grades is named."""

import json
import re
from html import unescape

import numpy as np
import pytest

import qrowd
from qrowd.comparison import rank_systems
from qrowd.errors import ArgumentError, MeasureError
from qrowd.preferences import from_grades
from qrowd.reports.document import RENDERERS
from qrowd.reports.preferences import preference_document
from qrowd.reports.report import report as report_of
from qrowd.reports.report_page import report_page
from qrowd.simulation import simulate_demo

OPTIONS = {"n_resamples": 200, "rng": 1, "random_assessors": 2}


def summary_of(runs, preferences, *arguments, **options):
    return report_of(runs, preferences, *arguments, **OPTIONS | options)


@pytest.fixture(scope="module")
def panel():
    """Preferences that follow from grades, of the documents that a few systems have first."""
    runs, judgments, _ = simulate_demo()
    chosen = judgments.select(assessors=["ann", "bob", "sven"], topics=list(judgments.topics[:6]))
    return runs, from_grades(chosen)


@pytest.fixture(scope="module")
def report(panel):
    return summary_of(*panel)


@pytest.fixture(scope="module")
def page(report):
    return unescape(report_page(report)).replace("<wbr>", "")


def test_systems_are_ranked_by_a_measure_of_preferences(panel, report):
    own = rank_systems(qrowd.evaluate(*panel, "ppref@10"))
    assert report.measure == "ppref@10"
    assert {row.system: (row.mean, row.rank) for row in report.systems} == {
        system: (mean, rank) for system, mean, rank in zip(own.systems, own.mean, own.rank, strict=True)
    }
    assert report.answer.first == own.systems[int(np.argmax(own.mean))]
    several = summary_of(*panel, ["wpref", "compatibility"])
    assert [one.name for one in several.by_measure.rankings] == ["wpref", "compatibility"]


def test_the_agreement_is_that_of_qrowd_prefer_agree(panel, report, page):
    document = preference_document(panel[1])
    assert report.preferences.sentence == document.sentence
    assert [one.rows for one in report.preferences.tables] == [one.rows for one in document.tables]
    assert document.sentence in page
    for one in document.tables[1:]:
        assert one.title in page
    rows = {row.assessor: row for row in report.assessors.rows}
    assert {name: row.n_judgments for name, row in rows.items()} == dict(
        zip(panel[1].assessors, np.bincount(panel[1].assessor).tolist(), strict=True)
    )
    assert [row.n_assessors for row in report.topics.rows] == [3] * 6


def test_what_needs_grades_is_named_and_no_number_is_made_up(report, page):
    assert "How few judgments would reverse it" not in report.influence.short
    for said in (
        "how few judgments would reverse it, is not shown: grades are needed, and preferences have none.",
        "Agreement by topic, and the documents on which assessors disagree, need grades; preferences have none.",
        "AWARE is left out: grades are needed, and preferences have none.",
        f"{report.facts['judgments']:,} preferences of ",
    ):
        assert said in page
    assert "Caution" not in page
    assert "nan" not in re.sub(r"base64,[\w+/=]*", "", page.partition("<script")[0]).lower()
    assert '<th scope="col" title="with the others, beyond chance' not in page


def test_tables_and_data_have_it_too(report):
    content = json.loads(RENDERERS[".json"](report.to_document()))
    assert content["preferences"]["sentence"] == report.preferences.sentence
    assert [row["assessor"] for row in content["preferences"]["tables"]["consistency of the assessors"]]
    assert "consistency of the assessors" in RENDERERS[".md"](report.to_document()).decode()


def test_a_reference_can_be_one_of_the_assessors(panel):
    found = summary_of(*panel, reference="ann")
    assert [row.assessor for row in found.assessors.rows] == ["bob", "sven"]
    assert "ann" in found.answer.verdict
    assert [one.name for one in found.methods.rankings] == ["mean of assessors", "ann"]
    with pytest.raises(ArgumentError, match="ann"):
        summary_of(panel[0], panel[1].select(assessors=["ann"]), reference="ann")


def test_a_measure_of_grades_is_refused(panel):
    with pytest.raises(MeasureError, match=r"nDCG@10: needs grades"):
        summary_of(*panel, "nDCG@10")
