"""The truth behind a simulation: a pool whose documents have a known relevance, and systems of known quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.model.panel import Pool
from qrowd.model.runs import Runs


@dataclass(frozen=True, eq=False)
class Truth:
    """What is true of every pooled document.

    pool : the documents of every topic.
    relevance : (pairs,) on a scale without ends, roughly standard normal.
    appeal : (pairs,) standard normal, independent of relevance: what makes a document look good without making it
        relevant. A ranker and an assessor drawn to it err alike, as a language model's grades favour the rankings of
        a language model.
    cuts : (grades - 1,) increasing; the grade of a document is how many of them its relevance reaches.
    """

    pool: Pool
    relevance: Floats
    appeal: Floats
    cuts: Floats

    @property
    def n_grades(self) -> int:
        return self.cuts.size + 1

    @cached_property
    def grade(self) -> Ints:
        """(pairs,) from 0 (not relevant) to n_grades - 1."""
        return np.searchsorted(self.cuts, self.relevance, side="right")

    @cached_property
    def topic(self) -> Codes:
        """(pairs,) number of the topic."""
        return np.repeat(np.arange(len(self.pool.topics), dtype=np.int32), np.diff(self.pool.starts))

    def judgments(self, *, binary: bool = False, name: str = "gold") -> Judgments:
        """The truth as the judgments of one assessor: its grades, or 1 for any grade above 0."""
        value = (self.grade > 0) if binary else self.grade
        return Judgments.from_codes(
            self.pool.topics,
            self.pool.documents,
            (name,),
            self.topic,
            self.pool.document,
            np.zeros(value.size, np.int32),
            value.astype(np.float64),
            scales={name: "binary" if binary else f"0-{self.n_grades - 1}"},
        )


def simulate_pool(
    n_topics: int,
    n_documents: int | Sequence[int],
    *,
    n_grades: int = 4,
    prevalence: float | Sequence[float] = 0.4,
    topic_variance: float = 0.3,
    rng: Rng,
) -> Truth:
    """A pool whose documents' relevance is known.

    Parameters
    ----------
    n_documents : for every topic, or one number per topic.
    n_grades : 2 for relevant or not, 4 for 0-3.
    prevalence : expected share of relevant documents (grade 1 or more; every further grade is half as frequent as the
        one below), or the expected share of every grade, not relevant first.
    topic_variance : from 0 to 1; the share of relevance's variance that is due to the topic. At 0 all topics expect the
        same share of relevant documents.

    A topic may turn out to have no relevant document, as real ones do.

    >>> truth = simulate_pool(10, 40, rng=1)
    >>> truth.n_grades, len(truth.grade)
    (4, 400)
    """
    count("n_topics", n_topics)
    count("n_grades", n_grades, 2)
    share("topic_variance", topic_variance)
    sizes = np.full(n_topics, n_documents) if np.ndim(n_documents) == 0 else np.array(n_documents)
    if sizes.shape != (n_topics,) or (sizes < 1).any():
        raise ArgumentError(f"one number above 0, or one for each of {n_topics} topics", "n_documents", n_documents)
    cuts = _cuts(n_grades, prevalence)

    random = Chance.of(rng).stream("pool")
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    topics = numbered("q", n_topics)
    labels = tuple(
        label for topic, size in zip(topics, sizes.tolist(), strict=True) for label in inside_labels(topic, size)
    )
    of_topic = np.repeat(random.standard_normal(n_topics), sizes)
    of_document = random.standard_normal(starts[-1])
    return Truth(
        Pool(topics, labels, starts, np.arange(starts[-1], dtype=np.int32)),
        np.sqrt(topic_variance) * of_topic + np.sqrt(1 - topic_variance) * of_document,
        random.standard_normal(starts[-1]),
        cuts,
    )


def inside_labels(topic: str, n: int) -> list[str]:
    """Labels of n pooled documents: even numbers, so that ties broken by label favour neither side of the pool."""
    return [f"{topic}-{2 * i:05d}" for i in range(n)]


def outside_labels(topic: str, n: int) -> list[str]:
    """Labels of n documents outside the pool: the odd numbers."""
    return [f"{topic}-{2 * i + 1:05d}" for i in range(n)]


def _cuts(n_grades: int, prevalence: float | Sequence[float]) -> Floats:
    """Where a standard normal must be cut to give every grade its share."""
    if not isinstance(prevalence, float | int):
        shares = np.array(prevalence, np.float64)
        if shares.shape != (n_grades,) or (shares < 0).any() or not np.isclose(shares.sum(), 1):
            raise ArgumentError(f"one share for each of {n_grades} grades, summing to 1", "prevalence", prevalence)
    else:
        halving = 0.5 ** np.arange(n_grades - 1)
        shares = np.append(1 - share("prevalence", prevalence), prevalence * halving / halving.sum())
    below = np.cumsum(shares)[:-1]
    normal = NormalDist()
    return np.array([-np.inf if b <= 0 else np.inf if b >= 1 else normal.inv_cdf(b) for b in below.tolist()])


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
    pool = truth.pool
    labels = list(truth.pool.documents)
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


def _interleave(where: Bools, theirs: Ints, ours: Ints) -> Ints:
    """Row by row, the next of `theirs` where `where` is true and the next of `ours` elsewhere."""
    next_theirs = np.maximum(np.cumsum(where, axis=1) - 1, 0)
    next_ours = np.maximum(np.cumsum(~where, axis=1) - 1, 0)
    return np.where(where, np.take_along_axis(theirs, next_theirs, axis=1), np.take_along_axis(ours, next_ours, axis=1))


def share(name: str, value: float) -> float:
    """`value`, if it lies from 0 to 1."""
    if not 0 <= value <= 1:
        raise ArgumentError("a share lies from 0 to 1", name, value)
    return float(value)


def count(name: str, value: int, least: int = 1) -> int:
    """`value`, if it is at least `least`."""
    if value < least:
        raise ArgumentError(f"at least {least} needed", name, value)
    return int(value)


def numbered(stem: str, n: int) -> tuple[str, ...]:
    """n labels of equal width: sys01 ... sys12."""
    width = len(str(n))
    return tuple(f"{stem}{i:0{width}d}" for i in range(1, n + 1))
