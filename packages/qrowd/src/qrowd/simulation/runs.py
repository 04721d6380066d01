"""Systems of known quality."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.model.chance import Chance, Rng
from qrowd.model.runs import Runs
from qrowd.simulation.arguments import count, numbered, share
from qrowd.simulation.truth import Truth, outside_labels


def simulate_runs(
    truth: Truth,
    n_systems: int,
    *,
    depth: int = 20,
    quality: Sequence[float] = (0.3, 1.5),
    appeal: Sequence[float] | float = 0.0,
    names: Sequence[str] | None = None,
    unjudged_share: float = 0.0,
    tie_share: float = 0.0,
    rng: Rng,
) -> Runs:
    """Ranked lists of systems whose true order is known: a document's score is quality x relevance + appeal + noise.

    Parameters
    ----------
    depth : longest list; no list is longer than its topic's pool.
    quality : (lowest, highest), spread evenly, so that the systems stand in the result from worst to best; or one per
        system. The noise has standard deviation 1: quality 0 ranks by chance, 1.5 puts mostly relevant ones first.
    appeal : how far the systems follow `truth.appeal`, which has nothing to do with relevance; one per system or one
        for all.
    names : of the systems, else sys1, sys2, ...
    unjudged_share : expected share of retrieved documents from outside the pool, at any rank.
    tie_share : expected share of retrieved documents that have the score of the one above.

    >>> from qrowd.simulation import simulate_pool
    >>> simulate_runs(simulate_pool(10, 40, rng=1), 5, rng=1)
    Runs(5 systems, 10 topics, 1,000 retrieved documents)
    """
    count("n_systems", n_systems)
    count("depth", depth)
    share("unjudged_share", unjudged_share)
    share("tie_share", tie_share)
    if len(quality) not in (2, n_systems):
        raise ArgumentError(f"lowest and highest, or one for each of {n_systems} systems", "quality", quality)
    steps = np.array(quality) if len(quality) == n_systems else np.linspace(quality[0], quality[1], n_systems)
    appeals = (
        np.broadcast_to(np.asarray(appeal, np.float64), (n_systems,)) if np.size(appeal) in (1, n_systems) else None
    )
    if appeals is None:
        raise ArgumentError(f"one number, or one for each of {n_systems} systems", "appeal", appeal)
    systems = numbered("sys", n_systems) if names is None else tuple(names)
    if len(set(systems)) != n_systems:
        raise ArgumentError(f"{n_systems} different ones needed", "names", names)

    random = Chance.of(rng).stream("runs")
    pool, labels = truth.pool, list(truth.pool.documents)
    columns: list[tuple[NDArray[Any], ...]] = []
    for t, topic in enumerate(pool.topics):
        rows = pool.rows(t)
        relevance, looks = truth.relevance[rows], truth.appeal[rows]
        score = np.outer(steps, relevance) + np.outer(appeals, looks)
        score += random.standard_normal(score.shape)
        n = min(depth, relevance.size)
        best = np.argsort(-score, axis=1)[:, :n]
        ladder = np.take_along_axis(score, best, axis=1)
        retrieved = pool.document[rows][best].astype(np.int64)
        outside = random.random(best.shape) < unjudged_share
        if outside.any():
            strange = random.permuted(np.tile(np.arange(relevance.size), (n_systems, 1)), axis=1) + len(labels)
            labels += outside_labels(topic, relevance.size)
            retrieved = _interleave(outside, strange, retrieved)
        tied = random.random(best.shape) < tie_share
        step = np.maximum.accumulate(np.where(tied, 0, np.arange(n)), axis=1)
        ladder = np.take_along_axis(ladder, step, axis=1)
        owner = np.repeat(np.arange(n_systems), n)
        columns.append((owner, np.full(owner.size, t), retrieved.ravel(), ladder.ravel()))
    system, in_topic, document, scores = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    by_system = np.argsort(system, kind="stable")
    used, codes = np.unique(document, return_inverse=True)
    return Runs(
        systems,
        pool.topics,
        tuple(labels[i] for i in used.tolist()),
        system[by_system].astype(np.int32),
        in_topic[by_system].astype(np.int32),
        codes[by_system].astype(np.int32),
        scores[by_system],
    )


def _interleave(where: NDArray[np.bool_], theirs: NDArray[np.int64], ours: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row by row, the next of `theirs` where `where` is true and the next of `ours` elsewhere."""
    next_theirs = np.maximum(np.cumsum(where, axis=1) - 1, 0)
    next_ours = np.maximum(np.cumsum(~where, axis=1) - 1, 0)
    return np.where(where, np.take_along_axis(theirs, next_theirs, axis=1), np.take_along_axis(ours, next_ours, axis=1))
