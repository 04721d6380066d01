"""Who mistakes what for what: the passes over all judgments that Dawid-Skene and MACE repeat until they agree.

Both read the same layout, one row per judgment, so that a crowd of thousands costs no more than what it said:

starts : (pairs + 1,) int64; the judgments of pair d are the rows starts[d] to starts[d + 1].
assessor, said : (rows,) int32, who judged and which grade, both numbered from 0.
posterior : (pairs, grades) float64, the probability of every grade of every pair.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.kernels.compiled import kernel

Codes = NDArray[np.int32]
Offsets = NDArray[np.int64]


@kernel
def count_confusions(starts: Offsets, assessor: Codes, said: Codes, posterior: Floats, out: Floats) -> None:
    """out[a, h, g] = sum over the pairs that assessor a gave grade h of their probability of grade g."""
    out[:] = 0.0
    n_grades = posterior.shape[1]
    for d in range(posterior.shape[0]):
        likely = posterior[d]
        for row in range(starts[d], starts[d + 1]):
            cell = out[assessor[row], said[row]]
            for g in range(n_grades):
                cell[g] += likely[g]


@kernel
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


@kernel
def expect(
    starts: Offsets, assessor: Codes, said: Codes, log_prior: Floats, log_confusion: Floats, posterior: Floats
) -> tuple[float, float]:
    """posterior[d, g] ~ prior[g] * product over the judgments of d of confusion[assessor, said, g]; overwritten.

    Returns the log-likelihood of all judgments and the largest change of any probability.
    """
    n_grades = posterior.shape[1]
    new = np.empty(n_grades)
    log_likelihood, change = 0.0, 0.0
    for d in range(posterior.shape[0]):
        for g in range(n_grades):
            new[g] = log_prior[g]
        for row in range(starts[d], starts[d + 1]):
            cell = log_confusion[assessor[row], said[row]]
            for g in range(n_grades):
                new[g] += cell[g]
        highest = new[0]
        for g in range(1, n_grades):
            highest = max(highest, new[g])
        total = 0.0
        for g in range(n_grades):
            new[g] = np.exp(new[g] - highest)
            total += new[g]
        log_likelihood += highest + np.log(total)
        for g in range(n_grades):
            likely = new[g] / total
            change = max(change, abs(likely - posterior[d, g]))
            posterior[d, g] = likely
    return log_likelihood, change


@kernel
def alternate(
    starts: Offsets,
    assessor: Codes,
    said: Codes,
    smoothing: float,
    unsupported: float,
    floor: float,
    tol: float,
    posterior: Floats,
    confusion: Floats,
    prior: Floats,
    log_likelihood: Floats,
    objective: Floats,
) -> tuple[int, float]:
    """Maximise and expect in turn until no probability changes by `tol` or the room for traces is used up.

    posterior : where to start; overwritten by what the last confusions and prior imply.
    confusion, prior : overwritten; see `maximise`.
    log_likelihood, objective : (iterations at most,) after each iteration; the objective adds
        smoothing * sum of log confusion, the penalty under which smoothed counts are best.

    Returns the number of iterations and the last change.
    """
    counts = np.empty_like(confusion)
    change = np.inf
    done = 0
    while done < objective.size and not change < tol:
        count_confusions(starts, assessor, said, posterior, counts)
        maximise(counts, posterior, smoothing, unsupported, floor, confusion, prior)
        log_confusion = np.log(confusion)
        log_likelihood[done], change = expect(starts, assessor, said, np.log(prior), log_confusion, posterior)
        objective[done] = log_likelihood[done] + (smoothing * log_confusion.sum() if smoothing > 0 else 0.0)
        done += 1
    return done, change


@kernel
def expect_knowing(
    starts: Offsets,
    assessor: Codes,
    said: Codes,
    log_prior: Floats,
    knows: Floats,
    guesses: Floats,
    posterior: Floats,
    knowing: Floats,
) -> tuple[float, float]:
    """One pass of MACE: who probably knew, and what is probably true. Everything but the first six is overwritten.

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
        highest = new.max()
        total = 0.0
        for g in range(n_grades):
            new[g] = np.exp(new[g] - highest)
            total += new[g]
        log_likelihood += base + highest + np.log(total)
        for g in range(n_grades):
            new[g] /= total
            change = max(change, abs(new[g] - posterior[d, g]))
            posterior[d, g] = new[g]
        for row in range(starts[d], starts[d + 1]):
            knowing[assessor[row], said[row]] += new[said[row]] * chance[assessor[row], said[row]]
    return log_likelihood, change
