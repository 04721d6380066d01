"""The alternative annotator test at the boundary of its hypothesis."""

import csv
from pathlib import Path

import numpy as np
import pytest

from qrowd.model.judgments import Judgments
from qrowd.replacement import alternative_annotator_test
from qrowd.reports.document import render
from qrowd.reports.replacement import FEW_TOPICS, replacement_report
from qrowd_papers import annotator_test as study
from qrowd_papers.annotator_test import EPS, annotator_errors, annotator_test_page, simulate

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.nightly
def test_with_topics_as_clusters_the_level_is_held_and_with_documents_it_is_not():
    designs = [(10, 40, "two kinds of topics", "equal"), (50, 40, "fails on some topics", "equal"),
               (10, 40, "alike", "equal")]  # fmt: skip
    found = annotator_errors(designs, n_panels=400, rng=1)
    assert (found.by_topics - 2 * found.by_topics_error <= 0.05).all()
    assert (found.any_by_topics <= 0.06).all()
    assert (found.by_documents[:2] > 0.2).all()
    assert found.by_documents[2] == pytest.approx(0.05, abs=3 * found.by_documents_error[2])


@pytest.mark.parametrize(
    "model",
    [
        "two kinds of topics",
        *(pytest.param(one, marks=pytest.mark.nightly) for one in ("alike", "fails on some topics")),
    ],
)
def test_the_simulated_model_is_exactly_at_eps(model):
    n, total, squares = simulate(80, (40, 20, model, "unequal"), np.random.default_rng(1))
    by_panel = total.sum(axis=(1, 2)) / n.sum(axis=(1, 2))
    assert by_panel.mean() == pytest.approx(EPS, abs=4 * by_panel.std() / 80**0.5)
    assert (np.abs(total) <= squares).all()
    assert (squares <= n).all()


def test_what_is_simulated_is_what_the_test_makes_of_such_judgments():
    shape, random = (6, 30), np.random.default_rng(3)
    held = simulate(1, (*shape, "two kinds of topics", "equal"), np.random.default_rng(3))
    accuracy = study._accuracy("two kinds of topics", (1, 6), random)  # the same draws in the same order
    right = random.random((*shape, study.N_PEOPLE)) < study.RIGHT
    model = random.random(shape) < accuracy[0][:, None]
    rows = []
    for t, d in np.ndindex(shape):
        truth = (t + d) % 2
        said = {f"h{j}": right[t, d, j] for j in range(study.N_PEOPLE)} | {"llm": model[t, d]}
        rows += [(f"t{t}", f"d{t}-{d}", who, float(truth if correct else 1 - truth)) for who, correct in said.items()]
    found = alternative_annotator_test(Judgments.from_rows(rows), "llm", eps=EPS)
    assert found.difference == pytest.approx(held[1][0].sum(axis=1) / 180)
    assert found.p == pytest.approx(study.topics_t(*held, EPS)[1][0])


def test_the_note_on_few_topics_says_what_the_page_of_the_study_shows():
    table = DOCS / "papers" / "annotator_test" / "people-replaced-at-p-05-none-of-whom-should-be.csv"
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    worst = max(float(row[6]) for row in rows if int(row[0]) < FEW_TOPICS)
    said = [
        (f"t{t}", f"d{t}-{d}", who, float((t + d + i) % 3 > 0))
        for t, d in np.ndindex(6, 10)
        for i, who in enumerate(("ann", "bob", "cyd", "llm"))
    ]
    document = replacement_report(Judgments.from_rows(said), "llm").to_document()
    (note,) = [str(note) for note in document.notes if str(note).startswith("few topics: ")]
    assert f"up to {100 * worst:.0f} % of assessors were replaced wrongly" in note


def test_one_seed_one_table():
    design = [(5, 10, "alike", "unequal")]
    one, two, other = (annotator_errors(design, n_panels=120, rng=rng) for rng in (4, 4, 5))
    assert one.by_topics.tolist() == two.by_topics.tolist()
    assert one.by_documents_error.tolist() != other.by_documents_error.tolist()


def test_the_page_has_a_row_per_design(monkeypatch):
    designs = [(10, 10, "alike", "equal"), (10, 10, "two kinds of topics", "equal")]
    monkeypatch.setattr(study, "annotator_errors", lambda **options: annotator_errors(designs, n_panels=20, rng=1))
    page = annotator_test_page(quick=True)
    assert "Where a model fails on whole topics" in page.sentence
    assert [row[:4] for row in page.tables[0].rows] == [
        [str(t), str(d), sizes, model] for t, d, model, sizes in designs
    ]
    assert len(page.frame()) == 2
    assert b"none of whom should be" in render(page, "page.md")
