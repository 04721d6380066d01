"""Measures of a user's effort: how far documents are from where the ideal ranking has them."""

from __future__ import annotations

import numpy as np

from qrowd.kernels.arrays import Floats, Ints
from qrowd.measures.measure_kinds import JUDGED_ONLY, Scored, TopicView, reach
from qrowd.model.measure import Measure


class Twist(Scored):
    """Twist: the effort that a user avoids; 1 for the ideal ranking, 0 where nothing relevant is found.

        Twist@k = (rho + 2 f b / (f + b)) / 2

    A document is too low by its distance to the last rank that its grade has in the ideal ranking of k documents, and
    too high by its distance to the first. f is 1 - the sum of all distances of documents that are too low, divided by
    that of the reversed ideal ranking, and not below 0; b likewise of documents that are too high. rho is
    R / max(R, r) with R relevant documents and r the rank after which the sum of distances so far first changes its
    sign; without a change rho is 1 for the ideal ranking and else 0, so that a better document further up can lower the
    score. Unjudged documents and ranks below the list have grade 0.

    Source: Ferro, Silvello, Keskustalo, Pirkola & Järvelin (2016), The Twist Measure for IR Evaluation: Taking User's
    Effort into Account. JASIST 67(3); details as in the authors' MATTERS toolkit (twist.m).
    """

    name = "Twist"
    cutoff = "required"
    parameters = (JUDGED_ONLY,)

    def score(self, measure: Measure, view: TopicView, out: Floats) -> None:
        grades = view.grades()
        n = reach(measure)
        first, last = view.remember(("ideal ranks", n), lambda: np.array(ideal_ranks(grades, n)))
        n_relevant = self.n_relevant(measure, view)
        outside = len(grades)
        worst = _distances(_ideal_ranking(grades, n)[::-1], first, last)
        for s, row in enumerate(view.rows[:, :n]):
            documents = np.full((n, 1), outside)
            documents[: row.size, 0] = np.where(row >= 0, row, outside)
            distances = _distances(documents, first, last)
            sums = np.cumsum(distances, axis=0)
            turns = (sums[1:] > 0) != (sums[:-1] > 0)
            recovered_at = np.where(turns.any(axis=0), turns.argmax(axis=0) + 1, np.inf) if n > 1 else np.inf
            never_apart = (sums == 0).all(axis=0)
            recovery = np.where(np.isinf(recovered_at), never_apart, n_relevant / np.maximum(n_relevant, recovered_at))
            late = _space_ratio(np.maximum(distances, 0.0), np.maximum(worst, 0.0))
            early = _space_ratio(np.maximum(-distances, 0.0), np.maximum(-worst, 0.0))
            space = np.divide(2.0 * late * early, late + early, out=np.zeros_like(late), where=late + early > 0)
            finds = (grades[row[row >= 0]] > 0).any(axis=0)
            out[s] = np.where(finds, (recovery + space) / 2.0, 0.0)

    def n_relevant(self, measure: Measure, view: TopicView) -> Floats:
        return np.asarray((view.grades() > 0).sum(axis=0), np.float64)


def ideal_ranks(grades: Floats, n: int) -> tuple[Floats, Floats]:
    """(documents + 1, assessors) first and last rank of each document's grade in the ideal ranking; last row: grade 0.

    The ideal ranking has n ranks: the documents by decreasing grade, then documents of grade 0. A grade that it has no
    place for is at distance 0 at every rank: ranks 1 to n.
    """
    n_documents, n_assessors = grades.shape
    first = np.empty((n_documents + 1, n_assessors))
    last = np.empty((n_documents + 1, n_assessors))
    for a in range(n_assessors):
        ascending = np.sort(grades[:, a])
        values = np.append(grades[:, a], 0.0)
        first[:, a] = n_documents - np.searchsorted(ascending, values, side="right") + 1
        last[:, a] = n_documents - np.searchsorted(ascending, values, side="left")
        last[values == 0.0, a] = n  # as many documents of grade 0 as there are ranks
    outside = first > n
    return np.where(outside, 1.0, first), np.where(outside, n, np.minimum(last, n))


def _ideal_ranking(grades: Floats, n: int) -> Ints:
    """(n, assessors) the document at each rank of the ideal ranking, one more than the last for those of grade 0."""
    n_documents, n_assessors = grades.shape
    ranking = np.full((n, n_assessors), n_documents)
    best = np.argsort(-grades, axis=0)[:n]
    ranking[: len(best)] = np.where(np.take_along_axis(grades, best, axis=0) > 0, best, n_documents)
    return ranking


def _distances(documents: Ints, first: Floats, last: Floats) -> Floats:
    """(ranks, assessors) how far the document at each rank is too low, above 0, or too high, below 0.

    documents : (ranks, assessors), or (ranks, 1) for one ranking. first, last : as of `ideal_ranks`.
    """
    ranks = np.arange(1, len(documents) + 1)[:, None]
    columns = np.arange(first.shape[1])
    too_low = np.maximum(ranks - last[documents, columns], 0.0)
    return np.asarray(too_low + np.minimum(ranks - first[documents, columns], 0.0))


def _space_ratio(distances: Floats, worst: Floats) -> Floats:
    """(assessors,) 1 - sum of distances / sum of the worst ones, not below 0; 1 where the latter is 0."""
    most = worst.sum(axis=0)
    share = np.divide(distances.sum(axis=0), most, out=np.zeros_like(most), where=most > 0)
    return np.asarray(np.maximum(0.0, 1.0 - share))


MEASURES: tuple[Scored, ...] = (Twist(),)
