"""The document of `qrowd next`."""

import re

import numpy as np
import pytest

import qrowd
from qrowd.reports.next_judgment_tables import NextJudgmentsReport
from qrowd.simulation import simulate_demo

RUNS, JUDGMENTS, TRUTH = simulate_demo()
RUNS = RUNS.select(topics=list(RUNS.topics[:6]))
MODELS = JUDGMENTS.select(assessors=["sven"], topics=RUNS.topics)


@pytest.fixture(autouse=True)
def few_paths(monkeypatch):
    """Of the judgments until the question is decided only the sentence matters."""
    monkeypatch.setattr("qrowd.sequential.expectation.N_PATHS", 5)


def asked(question, judgments=None, **settings):
    return qrowd.next_judgments(RUNS, judgments, question=question, models=MODELS, scale="0-3", **settings)


@pytest.mark.parametrize(
    "question",
    [
        "best",
        "bm25 > hybrid",
        *(pytest.param(one, marks=pytest.mark.nightly) for one in ("ranking", "bm25 among best 3")),
    ],
)
def test_the_table_holds_open_differences_and_counts_the_others(question):
    result = asked(question)
    report = NextJudgmentsReport(result)
    (table,) = report.to_document().tables
    assert 1 <= len(table.rows) <= 20
    one = result.statement
    assert not one.decided
    n = sum(low <= 0 <= high for low, high in zip(one.low, one.high, strict=True))
    assert f"(20 of {n}, the smallest)" in table.title or n == len(table.rows)
    estimates = [abs(float(row[2])) for row in table.rows]
    assert estimates == sorted(estimates)
    # documents, which several people may judge each
    assert re.search(r" (About [\d,]+ more|Even the [\d,]+) documents? ", report.sentence)


def test_the_frames_are_the_batch_the_differences_and_the_design():
    report = NextJudgmentsReport(asked("best", n_documents=7))
    assert report.to_frame().columns.tolist() == ["topic", "document", "order", "probability"]
    assert report.to_frame()["order"].tolist() == list(range(1, 8))
    assert len(report.to_frame(what="differences")) == 66
    assert report.to_frame(what="design")["document"].tolist() == report.to_frame()["document"].tolist()


def test_systems_that_return_the_same_documents_are_said_to_be_undecidable():
    one = {"q1": {f"d{i}": 10.0 - i for i in range(5)}}
    runs = {"a": one, "b": one}
    result = qrowd.next_judgments(runs, None, question="best", scale="0-3", measure="DCG@5")
    assert result.topics == ()
    sentence = NextJudgmentsReport(result).sentence
    assert "No judgment can decide it: the systems that remain return the same documents" in sentence


def test_what_the_normaliser_leaves_open_is_said_when_all_is_judged():
    result = asked("dense-small > dense-large")
    design = result.design
    grades = TRUTH.judgments().to_dict()
    (truth,) = grades.values()
    people: dict[str, dict[str, float]] = {}
    for topic, document in zip(design.topics, design.documents, strict=True):
        people.setdefault(topic, {})[document] = truth[topic].get(document, 0.0)
    last = asked("dense-small > dense-large", {"ann": people})
    report = NextJudgmentsReport(last)
    assert last.topics == ()
    assert last.statement.decided or "the normaliser of the measure" in report.sentence
    assert np.isfinite(last.statement.estimate).all()


def test_topics_that_no_model_judged_are_left_out_and_counted():
    some = MODELS.select(topics=list(MODELS.topics[:4]))
    result = qrowd.next_judgments(RUNS, None, question="best", models=some, scale="0-3")
    assert result.n_topics == 4
    notes = "\n".join(map(str, NextJudgmentsReport(result).to_document().notes))
    assert "on these 4 topics" in notes
    assert "2 others of the runs, which no model judged" in notes
