"""A difference as a sum, and its parts left out: every reduced input is scored again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrowd
from qrowd.errors import ArgumentError, MeasureError, QrowdError
from qrowd.model.judgments import Judgments
from qrowd.simulation import simulate_demo

MEASURES = ("nDCG@3", "nDCG(dcg='exp-log2')@2", "DCG@2", "P(rel=2)@2", "R@2", "RBP(p=0.8)")
LEVELS = ("topics", "documents", "assessors", "judgments")
RUNS, DEMO, _ = simulate_demo()
PANEL = DEMO.select(assessors=["ann", "bob", "sven"])


def difference(runs, judgments, measure, first, second, conventions):
    """By scoring, and loops: the mean over topics of the means over the assessors who have a score."""
    scores = qrowd.evaluate(runs, judgments, measure, conventions=conventions)
    i, j = scores.systems.index(first), scores.systems.index(second)
    means = []
    for t in range(len(scores.topics)):
        by_assessor = scores.values[0, :, t, i] - scores.values[0, :, t, j]
        if not np.isnan(by_assessor).all():
            means.append(np.nanmean(by_assessor))
    return float(np.mean(means)) if means else np.nan


def random_judgments(seed):
    """Three assessors who judge parts of three topics; some rows say that a document was shown and not judged."""
    rng = np.random.default_rng(seed)
    rows = [
        (t, d, a, int(rng.integers(-1, 4)))
        for t in ("t1", "t2", "t3")
        for a in ("ann", "bob", "cleo")
        for d in rng.permutation(["d1", "d2", "d3", "d4", "d5"])[: rng.integers(5)]
    ]
    runs = {
        s: {
            t: {d: 9.0 - r for r, d in enumerate(rng.permutation(["d1", "d2", "d3", "d4", "x"])[:4])}
            for t in ("t1", "t2")
        }
        for s in ("a", "b", "c")
    }
    return runs, rows


def made(rows):
    return Judgments.from_rows(rows, scales={"*": "0-3"})


@settings(deadline=None, max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 100_000), st.sampled_from(MEASURES), st.sampled_from([0.0, 0.1, 0.5, 0.8]))
def test_parts_sum_to_the_difference_and_leaving_out_equals_scoring_again(seed, measure, min_coverage):
    runs, rows = random_judgments(seed)
    conventions = qrowd.Conventions(min_coverage=min_coverage)

    def scored(kept):
        try:
            return difference(runs, made(kept), measure, "b", "a", conventions)
        except QrowdError:  # nothing is left, or no topic of the runs
            return np.nan

    try:
        result = qrowd.decompose_difference(runs, made(rows), "b", "a", measure, conventions=conventions)
    except QrowdError:
        assert np.isnan(scored(rows))
        return
    whole = scored(rows)
    if np.isnan(whole):
        assert result.n_topics == 0
        return
    assert result.difference == pytest.approx(whole, abs=1e-12)
    for level in LEVELS:
        assert getattr(result, level).part.sum() == pytest.approx(whole, abs=1e-12)
    for topic, without in zip(result.topics.topics, result.topics.difference_without, strict=True):
        check(without, scored([row for row in rows if row[0] != topic]), runs, rows, lambda row, t=topic: row[0] != t)
    for assessor, without in zip(result.assessors.assessors, result.assessors.difference_without, strict=True):
        check(without, scored([r for r in rows if r[2] != assessor]), runs, rows, lambda row, a=assessor: row[2] != a)


SCORED = ("AP", "AP(rel=2)@2", "RR", "ERR@3", "Rprec", "Bpref", "nDCG(judged_only=True)@3")


@settings(deadline=None, max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 100_000), st.sampled_from(SCORED), st.sampled_from([0.0, 0.1, 0.5, 0.8]))
def test_other_measures_are_sums_over_topics_and_assessors_and_leaving_out_equals_scoring_again(
    seed, measure, min_coverage
):
    runs, rows = random_judgments(seed)
    rows += [("t1", "d1", a, 1) for a in ("ann", "bob", "cleo")]  # everybody has a name
    rows = list({row[:3]: row for row in rows}.values())
    conventions = qrowd.Conventions(min_coverage=min_coverage)

    def check_without(without, keep):
        kept = [row for row in rows if keep(row)]
        again = np.nan
        if any(row[0] != "t3" for row in kept):
            again = difference(runs, made(kept), measure, "b", "a", conventions)
        check(without, again, runs, rows, keep)

    whole = difference(runs, made(rows), measure, "b", "a", conventions)
    result = qrowd.decompose_difference(runs, made(rows), "b", "a", measure, conventions=conventions)
    if np.isnan(whole):
        assert result.n_topics == 0
        return
    for level in (result.topics, result.assessors):
        assert level.part.sum() == pytest.approx(whole, abs=1e-12)
    for topic, without in zip(result.topics.topics, result.topics.difference_without, strict=True):
        check_without(without, lambda row, t=topic: row[0] != t)
    for assessor, without in zip(result.assessors.assessors, result.assessors.difference_without, strict=True):
        check_without(without, lambda row, a=assessor: row[2] != a)
    assert result.documents is result.judgments is None


def check(without, scored, runs, rows, keep):
    """Equal, unless what is left shares no topic with the runs, which scoring refuses."""
    if np.isnan(scored) and not any(keep(row) and row[0] != "t3" for row in rows):
        return
    assert without == pytest.approx(scored, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("measure", ["nDCG@10", "P@5"])
def test_the_demo_sums_and_leaves_out_as_scoring_does(measure):
    names = ("rerank-large", "rerank-llm")
    result = qrowd.decompose_difference(RUNS, PANEL, *names, measure)
    by_scoring = difference(RUNS, PANEL, measure, *names, qrowd.Conventions())
    assert result.difference == pytest.approx(by_scoring, abs=1e-12)
    for level in LEVELS:
        parts = getattr(result, level)
        assert parts.part.sum() == pytest.approx(by_scoring, abs=1e-12)
        assert (np.diff(np.abs(parts.part)) <= 0).all()
    assert result.topics.n_judgments.sum() == result.n_judgments == len(PANEL)
    for assessor, without in zip(result.assessors.assessors, result.assessors.difference_without, strict=True):
        left = PANEL.select(assessors=lambda name, out=assessor: name != out)
        assert without == pytest.approx(difference(RUNS, left, measure, *names, qrowd.Conventions()), abs=1e-12)
    for topic, without in list(zip(result.topics.topics, result.topics.difference_without, strict=True))[:3]:
        left = PANEL.select(topics=lambda name, out=topic: name != out)
        assert without == pytest.approx(difference(RUNS, left, measure, *names, qrowd.Conventions()), abs=1e-12)


def test_the_other_direction_has_the_same_parts_with_the_other_sign():
    one = qrowd.decompose_difference(RUNS, PANEL, "bm25", "rerank-llm")
    other = qrowd.decompose_difference(RUNS, PANEL, "rerank-llm", "bm25")
    assert one.difference == -other.difference
    np.testing.assert_array_equal(one.judgments.part, -other.judgments.part)


def test_only_judgments_of_documents_with_different_weights_have_a_part():
    runs = {"a": {"t": {"d1": 3, "d2": 2, "d3": 1}}, "b": {"t": {"d1": 3, "d3": 2, "d2": 1}}}
    rows = [("t", "d1", "ann", 3), ("t", "d2", "ann", 2), ("t", "d3", "ann", 0), ("t", "unranked", "ann", 3)]
    result = qrowd.decompose_difference(runs, made(rows), "a", "b", "nDCG@3")
    assert result.judgments.to_frame()[["document", "value"]].values.tolist() == [["d2", 2.0]]
    assert result.to_frame(what="judgments").equals(result.judgments.to_frame())
    unranked = result.documents.documents.index("unranked")
    assert result.documents.part[unranked] == 0


def test_fractions_and_assessors_on_several_scales_are_decomposed():
    rows = [("t", "d1", "ann", 1), ("t", "d2", "ann", 0), ("t", "d1", "bob", 3), ("t", "d2", "bob", 1)]
    judgments = Judgments.from_rows(
        [*rows, ("t", "d1", "model", 0.25), ("t", "d2", "model", 0.75)],
        scales={"ann": "binary", "bob": "0-3", "model": "0..1"},
    )
    runs = {"a": {"t": {"d1": 2, "d2": 1}}, "b": {"t": {"d2": 2, "d1": 1}}}
    result = qrowd.decompose_difference(runs, judgments, "a", "b", "DCG@1")
    assert result.assessors.to_frame()[["assessor", "part"]].values.tolist() == [
        ["bob", pytest.approx(2 / 3)],
        ["ann", pytest.approx(1 / 3)],
        ["model", pytest.approx(-0.5 / 3)],
    ]


@pytest.mark.parametrize(
    ("first", "second", "measure", "error", "message"),
    [
        ("bm25", "bm25", "P@5", ArgumentError, "are the same; name two"),
        ("bm25", "nobody", "P@5", ArgumentError, "nobody"),
        ("bm25", "rerank-llm", "ppref", MeasureError, r"^ppref: is a measure of preferences"),
    ],
)
def test_what_cannot_be_decomposed_is_refused_in_one_line(first, second, measure, error, message):
    with pytest.raises(error, match=message) as caught:
        qrowd.decompose_difference(RUNS, PANEL, first, second, measure)
    assert "\n" not in str(caught.value)
