"""Simulated runs."""

import numpy as np
from numpy.typing import NDArray

from qrowd.model.runs import Runs
from qrowd.simulation import Truth, simulate_pool, simulate_runs
from simulated import near


def precision(runs: Runs, truth: Truth, cut: int = 10) -> NDArray[np.float64]:
    """(systems, topics) share of truly relevant documents among the first ten, in obvious loops."""
    pool, ranked = truth.pool, runs.ranked()
    relevant = {pool.documents[pool.document[i]] for i in np.flatnonzero(truth.grade > 0)}
    scores = np.zeros(ranked.starts.shape)
    for s, t in np.ndindex(scores.shape):
        first = ranked.document[ranked.starts[s, t] : ranked.starts[s, t] + min(cut, ranked.lengths[s, t])]
        scores[s, t] = sum(runs.documents[d] in relevant for d in first) / cut
    return scores


def test_the_true_order_of_systems_is_recovered_by_precision_over_enough_topics() -> None:
    truth = simulate_pool(400, 60, rng=2)
    runs = simulate_runs(truth, 6, depth=10, rng=2)
    assert runs.systems == ("sys1", "sys2", "sys3", "sys4", "sys5", "sys6")
    assert (np.diff(precision(runs, truth).mean(axis=1)) > 0).all()


def test_a_quality_for_every_system_is_kept_in_the_order_given() -> None:
    truth = simulate_pool(400, 60, rng=2)
    runs = simulate_runs(truth, 3, depth=10, quality=(1.0, 0.0, 2.0), names=("b", "c", "a"), rng=2)
    b, c, a = precision(runs, truth).mean(axis=1)
    assert runs.systems == ("b", "c", "a")
    assert a > b > c
    assert near(c, (truth.grade > 0).mean(), 4000)


def test_a_system_that_follows_appeal_ranks_appealing_documents_first(truth: Truth) -> None:
    runs = simulate_runs(truth, 2, depth=10, quality=(1, 1), appeal=(0, 1), rng=3)
    appeal = dict(zip(truth.pool.documents, truth.appeal, strict=True))
    plain, drawn = (np.mean([appeal[runs.documents[d]] for d in runs.document[runs.system == s]]) for s in (0, 1))
    assert abs(plain) < 0.2
    assert drawn > 0.8


def test_the_share_of_unjudged_documents_is_as_asked_at_the_top_as_at_the_end(truth: Truth) -> None:
    runs = simulate_runs(truth, 20, depth=30, unjudged_share=0.2, rng=3)
    ranked, pooled = runs.ranked(), set(truth.pool.documents)
    outside = np.array([runs.documents[d] not in pooled for d in ranked.document]).reshape(-1, 30)
    assert (ranked.lengths == 30).all()
    assert near(outside[:, :5].mean(), 0.2, outside[:, :5].size)
    assert near(outside[:, 25:].mean(), 0.2, outside[:, 25:].size)


def test_the_share_of_ties_is_as_asked_and_without_it_there_are_none(truth: Truth) -> None:
    tied = simulate_runs(truth, 20, depth=30, tie_share=0.1, rng=3).ranked().tied
    assert near(tied.reshape(-1, 30)[:, 1:].mean(), 0.1, 20 * 50 * 29)
    assert not simulate_runs(truth, 20, depth=30, rng=3).ranked().tied.any()


def test_breaking_ties_by_label_favours_neither_side_of_the_pool(truth: Truth) -> None:
    runs = simulate_runs(truth, 10, depth=30, unjudged_share=0.5, tie_share=1, rng=3)
    pooled = set(truth.pool.documents)
    first = np.array([runs.documents[d] in pooled for d in runs.ranked().document]).reshape(-1, 30)[:, :10]
    assert near(first.mean(), 0.5, first.size)


def test_no_list_is_longer_than_its_pool() -> None:
    runs = simulate_runs(simulate_pool(2, (3, 8), rng=1), 2, depth=5, rng=1)
    assert runs.ranked().lengths.tolist() == [[3, 5], [3, 5]]
