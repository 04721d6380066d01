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
from qrowd.reports.report_document import report as report_of
from qrowd.reports.report_page import report_page
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
    frame = report.to_frame(what="measures")
    assert len(frame) == 3 * 12
    assert list(dict.fromkeys(frame["measure"])) == MEASURES
    for name, rows in frame.set_index("system").groupby("measure"):
        own = rank_systems(scores.sel(measure=name))
        assert rows["mean"][list(own.systems)].tolist() == own.mean.tolist()
        assert rows["rank"][list(own.systems)].tolist() == own.rank.tolist()
    assert report.answer.measure == "nDCG@10"


def test_a_sentence_says_which_rank_the_leader_has_by_each_measure(page):
    lists = {"a": ["r1", "n1", "n2"], "b": ["n1", "r1", "r2"]}
    runs = {name: {t: {d: -float(i) for i, d in enumerate(order)} for t in "tu"} for name, order in lists.items()}
    judgments = {who: {t: {"r1": 1, "r2": 1, "n1": 0, "n2": 0} for t in "tu"} for who in ("ann", "bob")}
    for measures, expected in (
        (["P@1", "RR"], "a has rank 1 by each of the 2 measures."),
        (["P@1", "P@3"], "a has rank 1 by P@1; rank 2 by P@3."),
    ):
        found = summary_of(Runs.from_dict(runs), judgments, measures)
        assert found.section("measures").sentence == expected


def test_one_measure_has_no_section_and_the_same_one_twice_counts_once(people):
    for measures in ("nDCG@10", ["nDCG@10", "ndcg_cut_10"]):
        found = summary_of(*people, measures)
        assert "measures" not in found.tables
        assert "By other measures" not in report_page(found)


# ---------------------------------------------------------------------- texts


def test_texts_and_comments_stand_with_the_documents_that_a_reader_can_look_at(report, page):
    for row in report.tables["documents"].records:
        assert row["text"].startswith(f"{row['document']} begins. word word")
        assert row["text"][:290].rpartition(" ")[0] in page
    for row in report.data.documents:
        assert row["text"].startswith(f"{row['label']} begins. word word")
        assert row["comments"] in ({}, {"ann": "<b>clear</b>"})
    assert sum(bool(row["comments"]) for row in report.data.documents) > 100


def test_the_table_of_topics_has_their_texts(report):
    text = RENDERERS[".md"](report.to_document()).decode()
    assert "| topic | text |" in text
    assert "about q01 what q01 is" in text
    content = json.loads(RENDERERS[".json"](report.to_document()))
    assert content["tables"]["topics"][0]["text"] == "about q01 what q01 is"


def test_topics_and_documents_without_text_are_shown_without(people):
    found = summary_of(*people, topics={"q01": ""}, documents={"nothing": {"title": "", "text": ""}})
    assert "text" not in found.tables["topics"].header
