"""Disagreements as the folder of a campaign, and the verdicts as one more assessor."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import qrowd
from qrowd.errors import ArgumentError
from qrowd.influence import write_adjudication
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.simulation import simulate_demo
from qrowd_server.campaigns.plan.folder import read_folder

RUNS, DEMO, _ = simulate_demo()
PANEL = DEMO.select(assessors=["ann", "bob", "sven"])
FOUND = qrowd.disagreements(RUNS, PANEL, systems=["rerank-llm", "hybrid"])
TOPICS = {topic: {"title": f"query {topic}"} for topic in PANEL.topics}
DOCUMENTS = {document: {"title": "", "text": f"text of {document}"} for document in PANEL.documents}


def test_the_first_documents_are_a_campaign_that_shows_no_grades(tmp_path):
    files = write_adjudication(tmp_path / "verdicts", FOUND, topics=TOPICS, documents=DOCUMENTS, n_documents=7)
    plan = read_folder(tmp_path / "verdicts")
    assert plan.name == "verdicts"
    pool = [tuple(line.split()) for line in (tmp_path / "verdicts" / "pool.txt").read_text().splitlines()]
    assert pool == list(zip(FOUND.topics, FOUND.documents, strict=True))[:7]
    assert 'scale = "0-3"' in (tmp_path / "verdicts" / "campaign.toml").read_text()
    shown = [json.loads(line) for line in (tmp_path / "verdicts" / "documents.jsonl").read_text().splitlines()]
    assert {key for row in shown for key in row} == {"docid", "text"}
    assert {Path(file).name for file in files} == {"campaign.toml", "documents.jsonl", "pool.txt", "topics.jsonl"}


def test_verdicts_are_one_more_assessor_of_the_panel():
    pairs = list(zip(FOUND.topics, FOUND.documents, strict=True))[:20]
    verdicts = Judgments.from_rows([(t, d, "verdict", 3) for t, d in pairs], scales={"verdict": "0-3"})
    after = qrowd.disagreements(RUNS, concatenate_judgments([PANEL, verdicts]), systems=["rerank-llm", "hybrid"])
    grades = dict(zip(zip(after.topics, after.documents, strict=True), after.grades, strict=True))
    assert all(grades[pair].endswith("verdict 3") for pair in pairs)
    assert np.isfinite(after.product).all()


def test_what_cannot_be_adjudicated_is_refused_and_nothing_is_written(tmp_path):
    agreed = qrowd.disagreements(RUNS, PANEL.recode(0).recode({1: 1}), "P@5")
    rescaled = qrowd.disagreements(RUNS, PANEL, conventions=qrowd.Conventions(grades="rescaled"))
    for found, options, message in (
        (agreed, {}, "there are none"),
        (FOUND, {"n_documents": 0}, "^n_documents=0"),
        (FOUND, {"documents": {}}, "no text"),
        (rescaled, {}, "collects grades"),
    ):
        with pytest.raises(ArgumentError, match=message):
            write_adjudication(tmp_path / "verdicts", found, **{"topics": TOPICS, "documents": DOCUMENTS, **options})
    assert not (tmp_path / "verdicts").exists()
