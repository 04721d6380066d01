"""The report by several measures, and with the texts of topics and documents."""

import json
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

import qrowd
from qrowd.comparison import rank_systems
from qrowd.model.runs import Runs
from qrowd.reports.document import RENDERERS
from qrowd.reports.report import report as report_of
from qrowd.reports.report_documents import FOLDED, START, start_of
from qrowd.reports.report_page import report_page
from qrowd.reports.report_text import on_measures
from qrowd.simulation import simulate_demo

OPTIONS = {"n_resamples": 200, "rng": 1, "random_assessors": 2}
MEASURES = ["nDCG@10", "AP(rel=2)", "P@5"]


def summary_of(runs, judgments, *arguments, **options):
    return report_of(runs, judgments, *arguments, **OPTIONS | options)


@pytest.fixture(scope="module")
def people():
    """Three assessors on the scale 0-3, one of whom comments."""
    runs, judgments, _ = simulate_demo()
    chosen = judgments.select(assessors=["ann", "bob", "sven"])
    comments = np.array(["<b>clear</b>" if a == 0 else "" for a in chosen.assessor], object)
    return runs, replace(chosen, comment=comments)


@pytest.fixture(scope="module")
def report(people):
    runs, judgments = people
    topics = {topic: {"title": f"about {topic}", "description": f"what {topic} is"} for topic in runs.topics}
    documents = {document: f"{document} begins. " + "word " * 80 for document in runs.documents}
    return summary_of(runs, judgments, MEASURES, topics=topics, documents=documents)


@pytest.fixture(scope="module")
def page(report):
    return unescape(report_page(report)).replace("<wbr>", "")


# ---------------------------------------------------------------------- several measures


def test_the_ranks_by_each_measure_are_those_of_rank_systems(people, report):
    scores = qrowd.evaluate(*people, MEASURES)
    assert [one.name for one in report.by_measure.rankings] == MEASURES
    for one in report.by_measure.rankings:
        own = rank_systems(scores.sel(measure=one.name))
        order = [own.systems.index(name) for name in report.by_measure.systems]
        assert one.means == tuple(own.mean[order])
        assert one.ranks == tuple(own.rank[order])
    assert report.by_measure.rankings[0].tau_b == 1
    assert report.measure == "nDCG@10"
    assert len(report.to_frame(what="measures")) == 3 * 12


def test_a_sentence_says_where_the_leader_stands_by_each_measure(report, page):
    sentence = on_measures(report)
    assert sentence in page
    for one in report.by_measure.rankings:
        assert one.name in sentence or "each of the 3 measures" in sentence


@pytest.mark.parametrize(
    ("measures", "expected"),
    [
        (["P@1", "P@2"], "a leads by P@1; by P@2 it is level with b."),
        (["P@1", "RR"], "a leads by each of the 2 measures."),
        (["P@1", "P@3"], "a leads by P@1; by P@3 b is first, and it has rank 2 of 2."),
    ],
)
def test_the_leader_by_one_measure_may_be_level_or_behind_by_another(measures, expected):
    lists = {"a": ["r1", "n1", "n2"], "b": ["n1", "r1", "r2"]}
    runs = {name: {t: {d: -float(i) for i, d in enumerate(order)} for t in "tu"} for name, order in lists.items()}
    judgments = {who: {t: {"r1": 1, "r2": 1, "n1": 0, "n2": 0} for t in "tu"} for who in ("ann", "bob")}
    found = summary_of(Runs.from_dict(runs), judgments, measures)
    assert on_measures(found) == expected


def test_one_measure_has_no_section_and_the_same_one_twice_counts_once(people):
    for measures in ("nDCG@10", ["nDCG@10"], ["nDCG@10", "ndcg_cut_10"]):
        found = summary_of(*people, measures)
        assert found.by_measure is None
        assert "By other measures" not in report_page(found)


# ---------------------------------------------------------------------- texts


def test_texts_and_comments_stand_with_the_documents_that_are_shown(report, page):
    for row in (*report.influence.documents, *report.influence.disagreements, *report.topics.splits):
        assert f"{row.document} begins." in page
        assert f"about {row.topic} what {row.topic} is" in page
        assert [one.assessor for one in report.texts.comments_on(row.topic, row.document)] == ["ann"]
    assert set(report.texts.documents) == {document for _, document in report.documents_shown}
    assert "<b>ann</b> wrote: <b>clear</b>" in page
    assert "&lt;b&gt;clear&lt;/b&gt;" in report_page(report)


def test_a_long_text_is_folded_behind_its_first_words(page):
    assert page.count('<details class="text">') > 0
    text = "a word " * 60
    assert start_of("a word " * (FOLDED // 7)) == ""
    assert start_of(text).removesuffix(" …") == text[: len(start_of(text)) - 2]
    assert len(start_of(text)) <= START + 2
    assert start_of("x" * 500) == "x" * START + " …"


def test_the_table_of_topics_has_their_texts(report):
    text = RENDERERS[".md"](report.to_document()).decode()
    assert "| topic | text |" in text
    assert "about q01 what q01 is" in text
    content = json.loads(RENDERERS[".json"](report.to_document()))
    assert content["texts"]["topics"]["q01"] == "about q01 what q01 is"


def test_topics_and_documents_without_text_are_shown_without(people):
    found = summary_of(*people, topics={"q01": ""}, documents={"nothing": {"title": "", "text": ""}})
    assert found.texts.topics == found.texts.documents == {}
    assert "Document:" not in report_page(found)
