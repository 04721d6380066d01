"""Coverage of intervals of alpha and p(R|i) that draw topics, beside those that draw documents."""

import numpy as np
import pytest

from qrowd.reports.document import render
from qrowd_papers import topic_intervals as study


@pytest.mark.nightly
def test_where_topics_differ_drawing_topics_covers_and_drawing_documents_does_not():
    found = study.topic_intervals((1.0,), (40,), (60,), n_simulations=30, n_resamples=100, rng=1)
    by = {name: found.coverage[found["resample"] == name] for name in study.RESAMPLE}
    assert by["topics"].mean() > 0.88
    assert by["topics"].min() > 0.8
    assert by["documents"].max() < 0.88
    assert by["documents"].mean() < 0.7


@pytest.mark.nightly
def test_where_documents_are_independent_both_cover_alike():
    found = study.topic_intervals((0.0,), (40,), (20,), n_simulations=30, n_resamples=100, rng=2)
    topics, documents = (found["resample"] == name for name in study.RESAMPLE)
    assert found.coverage[topics].mean() > 0.88
    assert found.coverage[documents].mean() > 0.88
    assert np.median(found.width[topics].to_numpy() / found.width[documents].to_numpy()) < 1.15


def test_one_seed_one_table(monkeypatch):
    monkeypatch.setattr(study, "TRUTH_TOPICS", 400)
    one, two = (study.topic_intervals((1.0,), (5,), (10,), n_simulations=3, n_resamples=20, rng=3) for _ in range(2))
    assert np.array_equal(one.width, two.width)
    assert one["estimate"].tolist() == ["alpha", "p(R|0)", "p(R|1)", "p(R|2)", "p(R|3)"] * 2


def test_the_page_says_how_often_the_truth_is_held(monkeypatch):
    monkeypatch.setattr(study, "N_DOCUMENTS", (20,))
    monkeypatch.setattr(study, "TRUTH_TOPICS", 400)
    told, whole = [], study.topic_intervals

    def few(*cells, n_simulations, n_resamples, **options):
        assert (n_simulations, n_resamples) == (50, 200)
        return whole(*cells, n_simulations=5, n_resamples=20, **options)

    monkeypatch.setattr(study, "topic_intervals", few)
    page = study.topic_intervals_page(quick=True, rng=1, progress=lambda *what: told.append(what))
    assert told[-1][1] == told[-1][2]
    assert page.sentence.startswith("Where people agree unequally on topics, intervals that draw topics hold")
    assert len(page.tables) == 2
    assert b"clustering 1" in render(page, "page.md")
