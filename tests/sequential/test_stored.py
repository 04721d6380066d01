"""Designs and batches as files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrowd.errors import ArgumentError, FileError
from qrowd.sequential.batches import batch_content, check_batch_file, write_batch
from qrowd.sequential.design import Design, Draws, read_design, write_design
from qrowd.sequential.next_judgments import NextJudgments, next_judgments

RUNS = {"a": {"q1": {f"d{i}": 9.0 - i for i in range(8)}}, "b": {"q1": {f"d{i}": float(i) for i in range(8)}}}


def batch() -> NextJudgments:
    return next_judgments(RUNS, None, question="a > b", scale="0-3", n_documents=3)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.integers(0, 1000), st.lists(st.integers(1, 3), max_size=4), st.text(max_size=8))
def test_a_design_is_read_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, seed: int, sizes: list[int], name: str
) -> None:
    rng = np.random.default_rng(seed)
    draws = Draws.none(9)
    for n in sizes:
        draws = draws.draw(rng.uniform(0.1, 1, 9), n, rng)
    labels = tuple(f"{name}{i}" for i in range(9))
    design = Design("a > b", "nDCG@10", "0-3", labels, labels, rng.random(9) < 0.5, draws, seed=(1, seed))
    path = tmp_path_factory.mktemp("design") / "next.json"
    write_design(path, design)
    stored = read_design(path)
    assert replace(stored, known=design.known, draws=draws).to_frame().equals(design.to_frame())
    assert (stored.documents, stored.seed, stored.scale) == (design.documents, design.seed, "0-3")
    np.testing.assert_array_equal(stored.known, design.known)
    np.testing.assert_array_equal(stored.draws.sizes, draws.sizes)
    np.testing.assert_array_equal(stored.draws.document, draws.document)


def test_a_design_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "next.json"
    write_design(path, batch().design)
    before = path.read_text()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(FileError, match="cannot be written: no space left"):
        write_design(path, batch().design)
    assert path.read_text() == before
    assert [file.name for file in tmp_path.iterdir()] == ["next.json"]


def test_a_changed_design_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "next.json"
    write_design(path, batch().design)
    content = json.loads(path.read_text())
    content["batches"][0]["drawn"][1] = content["batches"][0]["drawn"][0]
    path.write_text(json.dumps(content))
    with pytest.raises(FileError, match=r"is no design of qrowd next \(document: a document was drawn twice\)"):
        read_design(path)


def test_a_batch_is_a_table_or_tasks_with_the_texts_that_there_are(tmp_path: Path) -> None:
    one = batch()
    assert batch_content(one, ".csv").splitlines()[0] == "topic,document,order,probability"
    topics, documents = {"q1": {"title": "bees, in a city"}}, {f"d{i}": {"title": "", "text": "é"} for i in range(8)}
    (path,) = write_batch(tmp_path / "batch.jsonl", one, topics=topics, documents=documents)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["document"] for row in rows] == list(one.documents)
    assert {(row["query"], row["text"]) for row in rows} == {("bees, in a city", "é")}
    tasks = json.loads(batch_content(one, ".json", topics=topics))
    assert [task["data"]["query"] for task in tasks] == ["bees, in a city"] * 3


def test_a_document_without_text_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"documents: 'd.' and 2 others of the batch"):
        write_batch(tmp_path / "batch", batch(), topics={"q1": {"title": "x"}}, documents={})
    assert not (tmp_path / "batch").exists()


@pytest.mark.parametrize(("name", "said"), [("x.txt", "expected .csv or .jsonl"), ("x", "give topics and documents")])
def test_another_file_is_refused(name: str, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        check_batch_file(name, topics=False, documents=True)
