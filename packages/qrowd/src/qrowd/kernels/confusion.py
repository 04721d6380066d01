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


def count_confusions(starts: Ints, assessor: Codes, said: Codes, posterior: Floats, out: Floats) -> None:
    """out[a, h, g] = sum over the pairs that assessor a gave grade h of their probability of grade g."""
    out[:] = 0.0
    n_grades = posterior.shape[1]
    for d in range(posterior.shape[0]):
        for row in range(starts[d], starts[d + 1]):
            a = int(assessor[row])
            h = int(said[row])
            for g in range(n_grades):
                out[a, h, g] += posterior[d, g]


def maximise(
    counts: Floats,
    posterior: Floats,
    smoothing: float,
    unsupported: float,
    floor: float,
    confusion: Floats,
    prior: Floats,
) -> None:
    """What makes the counts most likely: every assessor's confusion, and how frequent the grades are.

    counts, confusion : (assessors, said, true); confusion[a, :, g] sums to 1 over what a says of grade g.
    prior : (grades,) mean posterior.

    A grade that at most `floor` of an assessor's pairs are expected to have is `unsupported`: that is every share of
    its row. No probability is below `floor`.
    """
    n_assessors, n_grades, _ = counts.shape
    for a in range(n_assessors):
        for g in range(n_grades):
            total = 0.0
            for h in range(n_grades):
                total += counts[a, h, g] + smoothing
            for h in range(n_grades):
                share = (counts[a, h, g] + smoothing) / total if total > floor else unsupported
                confusion[a, h, g] = max(share, floor)
    for g in range(n_grades):
        total = 0.0
        for d in range(posterior.shape[0]):
            total += posterior[d, g]
        prior[g] = max(total / posterior.shape[0], floor)


def _normalise(logs: Floats, d: int, posterior: Floats) -> tuple[float, float, float]:
    """posterior[d, g] ~ exp(logs[g]), summing to 1; two parts of the logarithm of the sum, and the largest change."""
    highest = -np.inf
    for g in range(logs.size):
        highest = max(highest, logs[g])
    total = 0.0
    for g in range(logs.size):
        logs[g] = np.exp(logs[g] - highest)
        total += logs[g]
    change = 0.0
    for g in range(logs.size):
        likely = logs[g] / total
        change = max(change, abs(likely - posterior[d, g]))
        posterior[d, g] = likely
    return highest, np.log(total), change


def expect(
    starts: Ints, assessor: Codes, said: Codes, prior: Floats, log_confusion: Floats, posterior: Floats
) -> tuple[float, float]:
    """posterior[d, g] ~ prior[g] * product over the judgments of d of confusion[assessor, said, g]; overwritten.

    Returns the log-likelihood of all judgments and the largest change of any probability.
    """
    n_grades = prior.size
    log_prior = np.empty(n_grades)
    for g in range(n_grades):
        log_prior[g] = np.log(prior[g])
    new = np.empty(n_grades)
    log_likelihood = 0.0
    change = 0.0
    for d in range(posterior.shape[0]):
        for g in range(n_grades):
            new[g] = log_prior[g]
        for row in range(starts[d], starts[d + 1]):
            a = int(assessor[row])
            h = int(said[row])
            for g in range(n_grades):
                new[g] += log_confusion[a, h, g]
        highest, log_total, largest = _normalise(new, d, posterior)
        log_likelihood += highest + log_total
        change = max(change, largest)
    return log_likelihood, change


def _logs(values: Floats, out: Floats) -> float:
    """Fill in the logarithms; their sum."""
    total = 0.0
    for a in range(values.shape[0]):
        for h in range(values.shape[1]):
            for g in range(values.shape[2]):
                out[a, h, g] = np.log(values[a, h, g])
                total += out[a, h, g]
    return total


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
    """Maximise, then expect: the log-likelihood, the sum of log confusion, and the largest change of a probability."""
    count_confusions(starts, assessor, said, posterior, counts)
    maximise(counts, posterior, smoothing, unsupported, floor, confusion, prior)
    log_sum = _logs(confusion, log_confusion)
    log_likelihood, change = expect(starts, assessor, said, prior, log_confusion, posterior)
    return log_likelihood, log_sum, change


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

    Returns confusion and prior (see `maximise`), the log-likelihood, (iterations,) objectives and the last change. The
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
    n_grades = posterior.shape[1]
    # Against guessing, only the grade that was said gains by a judgment.
    log_guess, gain = np.log(guesses), np.empty_like(guesses)
    chance = np.empty_like(guesses)
    for a in range(guesses.shape[0]):
        for g in range(n_grades):
            chance[a, g] = knows[a] / (guesses[a, g] + knows[a])
            gain[a, g] = np.log1p(knows[a] / guesses[a, g])
    knowing[:] = 0.0
    new = np.empty(n_grades)
    log_likelihood, change = 0.0, 0.0
    for d in range(posterior.shape[0]):
        for g in range(n_grades):
            new[g] = log_prior[g]
        base = 0.0
        for row in range(starts[d], starts[d + 1]):
            base += log_guess[assessor[row], said[row]]
            new[said[row]] += gain[assessor[row], said[row]]
        highest, log_total, largest = _normalise(new, d, posterior)
        log_likelihood += base + highest + log_total
        change = max(change, largest)
        for row in range(starts[d], starts[d + 1]):
            knowing[assessor[row], said[row]] += posterior[d, said[row]] * chance[assessor[row], said[row]]
    return log_likelihood, change
