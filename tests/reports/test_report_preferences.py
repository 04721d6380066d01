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
from qrowd.reports.preference_tables import preference_document
from qrowd.reports.report_document import report as report_of
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
    assert report.answer.measure == "ppref@10"
    assert {row.system: (row.mean, row.rank) for row in report.systems} == {
        system: (mean, rank) for system, mean, rank in zip(own.systems, own.mean, own.rank, strict=True)
    }
    assert report.answer.first == own.systems[int(np.argmax(own.mean))]
    several = summary_of(*panel, ["wpref", "compatibility"])
    assert several.tables["measures"].header == ["system", "wpref", "compatibility"]


def test_the_agreement_is_that_of_qrowd_prefer_agree(panel, report, page):
    document = preference_document(panel[1])
    section = report.section("assessors")
    assert section.sentence == document.sentence
    assert [one.rows for one in section.tables.values()] == [one.rows for one in document.tables]
    assert document.sentence in page
    for one in document.tables:
        assert one.title in page


def test_what_needs_grades_is_left_out_and_no_number_is_made_up(report, page):
    assert [one.name for one in report.sections] == ["systems", "pairs", "assessors", "coverage"]
    assert f"{len(report.data.scores[0].assessors)} assessors" in report.section("coverage").sentence
    assert " preferences by " in report.section("coverage").sentence
    assert report.answer.caution == ""
    assert "nan" not in re.sub(r"base64,[\w+/=]*", "", page.partition("<script")[0]).lower()


def test_tables_and_data_have_it_too(report):
    content = json.loads(RENDERERS[".json"](report.to_document()))
    assert content["sections"]["assessors"]["sentence"] == report.section("assessors").sentence


def test_a_reference_can_be_one_of_the_assessors(panel):
    found = summary_of(*panel, reference="ann")
    assert found.data.scores[0].assessors == ("bob", "sven")
    assert "ann" in found.answer.verdict
    with pytest.raises(ArgumentError, match="ann"):
        summary_of(panel[0], panel[1].select(assessors=["ann"]), reference="ann")


def test_a_measure_of_grades_is_refused(panel):
    with pytest.raises(MeasureError, match=r"nDCG@10: needs grades"):
        summary_of(*panel, "nDCG@10")
