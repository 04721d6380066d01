"""Who mistakes what for what: the passes over all judgments that Dawid-Skene and MACE repeat until they agree.

Both read the same rows, one per judgment, so that a crowd of thousands costs no more than what it said, and overwrite
posterior : (pairs, grades) float64, the probability of every grade of every pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qrowd.kernels.arrays import Codes, Floats, Ints
from qrowd.kernels.compiled import kernel


class Rows(NamedTuple):
    """Judgments, those of pair d being the rows starts[d] to starts[d + 1]; assessors and grades numbered from 0."""

    starts: Ints
    assessor: Codes
    said: Codes


def _sums(index: Ints, weights: Floats, shape: tuple[int, int]) -> Floats:
    """(rows, columns): each of the weights (n, columns) is added to its row."""
    rows, columns = shape
    return np.stack([np.bincount(index, weights[:, g], rows) for g in range(columns)], axis=1)


def _normalised(logs: Floats, posterior: Floats) -> tuple[float, float]:
    """posterior ~ exp(logs), each row summing to 1; the sum of the logarithms of the sums, and the largest change."""
    highest = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - highest)
    total = weights.sum(axis=1, keepdims=True)
    new = weights / total
    change = float(np.abs(new - posterior).max(initial=0.0))
    posterior[:] = new
    return float((highest + np.log(total)).sum()), change


@kernel(
    "int64[:], int32[:], int32[:], float, float, float, float64[:,:], float64[:,:,:], float64[:,:,:], float64[:], "
    "float64[:,:,:]",
    numbers="float, float, float",
)
def _iterate(
    starts: Ints,
    assessor: Codes,
    said: Codes,
    smoothing: float,
    unsupported: float,
    floor: float,
    posterior: Floats,
    counts: Floats,
    confusion: Floats,
    prior: Floats,
    log_confusion: Floats,
) -> tuple[float, float, float]:
    """Maximise, then expect: the log-likelihood, the sum of log confusion, and the largest change of a probability.

    counts, confusion : (assessors, said, true), of the posterior as it comes in: counts[a, h, g] is the sum over the
        pairs that assessor a gave grade h of their probability of grade g, confusion[a, :, g] its shares of what a says
        of grade g.
    prior : (grades,) mean posterior.
    posterior[d, g] ~ prior[g] * product over the judgments of d of confusion[assessor, said, g].

    A grade that at most `floor` of an assessor's pairs are expected to have is `unsupported`: that is every share of
    its row. No probability is below `floor`.
    """
    n_assessors, n_grades, _ = counts.shape
    pair = np.repeat(np.arange(len(posterior)), np.diff(starts))
    cell = assessor * np.int64(n_grades) + said
    counts[:] = _sums(cell, posterior[pair], (n_assessors * n_grades, n_grades)).reshape(counts.shape)
    total = (counts + smoothing).sum(axis=1, keepdims=True)
    shares = np.full(counts.shape, unsupported)
    np.divide(counts + smoothing, total, out=shares, where=total > floor)
    confusion[:] = np.maximum(shares, floor)
    prior[:] = np.maximum(posterior.mean(axis=0), floor)
    log_confusion[:] = np.log(confusion)
    logs = np.log(prior) + _sums(pair, log_confusion[assessor, said], posterior.shape)
    log_likelihood, change = _normalised(logs, posterior)
    return log_likelihood, float(log_confusion.sum()), change


def alternate(
    rows: Rows,
    n_assessors: int,
    smoothing: float,
    unsupported: float,
    floor: float,
    tol: float,
    max_iterations: int,
    posterior: Floats,
) -> tuple[Floats, Floats, float, Floats, float]:
    """Maximise and expect in turn until no probability changes by `tol`; posterior : where to start.

    Returns confusion and prior (see `_iterate`), the log-likelihood, (iterations,) objectives and the last change. The
    objective adds smoothing * sum of log confusion, the penalty under which smoothed counts are best.
    """
    n_grades = posterior.shape[1]
    counts, confusion, log_confusion = np.empty((3, n_assessors, n_grades, n_grades))
    prior, log_likelihood, change = np.empty(n_grades), 0.0, np.inf
    objectives: list[float] = []
    while len(objectives) < max_iterations and not change < tol:
        log_likelihood, log_sum, change = _iterate(
            *rows, smoothing, unsupported, floor, posterior, counts, confusion, prior, log_confusion
        )
        objectives.append(log_likelihood + (smoothing * log_sum if smoothing > 0 else 0.0))
    return confusion, prior, log_likelihood, np.array(objectives), change


@kernel(
    "int64[:], int32[:], int32[:], float64[:], float64[:], float64[:,:], float64[:,:], float64[:,:]",
    numbers="float, float",
)
def expect_knowing(
    starts: Ints,
    assessor: Codes,
    said: Codes,
    log_prior: Floats,
    knows: Floats,
    guesses: Floats,
    posterior: Floats,
    knowing: Floats,
) -> tuple[float, float]:
    """One pass of MACE: who probably knew, and what is probably true. posterior and knowing are overwritten.

    log_prior : (grades,) logarithm of each grade's weight before anyone judges.
    knows : (assessors,) weight of knowing; guesses : (assessors, grades) weight of guessing, and guessing that grade.
        No weights need to sum to 1.
    posterior[d, g] ~ prior[g] * product over the judgments of d of
        guesses[assessor, said] + knows[assessor] * [said = g]
    knowing : (assessors, grades), expected number of judgments of that grade that the assessor knew.

    Returns the log-likelihood of all judgments and the largest change of any probability.
    """
    pair = np.repeat(np.arange(len(posterior)), np.diff(starts))
    cell = assessor * np.int64(guesses.shape[1]) + said
    # Against guessing, only the grade that was said gains by a judgment.
    gain = np.log1p(knows[:, None] / guesses).ravel()[cell]
    log_guess = np.log(guesses).ravel()[cell]
    of_grade = pair * posterior.shape[1] + said
    logs = log_prior + np.bincount(of_grade, gain, posterior.size).reshape(posterior.shape)
    log_likelihood, change = _normalised(logs, posterior)
    knew = (knows[:, None] / (guesses + knows[:, None])).ravel()[cell] * posterior.ravel()[of_grade]
    knowing[:] = np.bincount(cell, knew, knowing.size).reshape(knowing.shape)
    return log_likelihood + float(log_guess.sum()), change
