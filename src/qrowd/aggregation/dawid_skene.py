"""Dawid-Skene: the true grades and every assessor's confusions, each found from the other.

Dawid & Skene (1979), Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm. Applied Statistics
28(1), 20-28; as used by Ferrante, Ferro & Maistro (2017), AWARE. ACM TOIS 36(2), section 2.3.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Literal, get_args

import numpy as np

from qrowd.aggregation.aggregate import Aggregate, aggregate_of
from qrowd.aggregation.coded import Coded, Floats, coded, need_whole_grades
from qrowd.aggregation.vote import Ties, one_of, winning
from qrowd.errors import ArgumentError
from qrowd.model.chance import Rng
from qrowd.model.judgments import Judgments, Repeats

Start = Literal["majority", "shares", "honest"]
Per = Literal["topic", "all"]

FLOOR = 1e-10  # no probability is lower, so that nothing that was said is impossible
HONEST = 0.9  # what an honest assessor is right of, before anything is known


def dawid_skene(
    judgments: Judgments,
    *,
    start: Start = "majority",
    per: Per = "topic",
    smoothing: float = 0.0,
    tol: float = 1e-3,
    max_iterations: int = 1000,
    ties: Ties = "coin",
    rng: Rng = None,
    repeats: Repeats = "first",
) -> Aggregate:
    """The most probable grades, weighing every assessor by the confusions this implies.

    posterior[d, g] ~ prior[g] * product over the judgments h of d by assessors a of confusion[a, h, g], and
    confusion[a, h, g] ~ sum over the pairs that a gave h of posterior[d, g], in turn until both agree.

    Parameters
    ----------
    start : "majority" from the vote (ties by coin; EM-MV of the paper), "shares" from how many gave each grade
        (crowd-kit), "honest" from assessors who are right 9 times of 10 and frequencies all equal (EM-NEU).
    per : "topic" fits each topic alone (the paper), "all" pools them, so that an assessor has one confusion.
    smoothing : added to every count of confusions; 0 leaves the likelihood as it is.
    tol, max_iterations : stop when no probability changes by tol, or after so many iterations (with a warning).
    ties, rng : of the majority start; see `majority_vote`.

    The merged grade is the most probable one, the lower of two equally probable (p = .5 is not relevant).

    Raises
    ------
    ScaleError
        Fractions or magnitudes; scales that cannot be one.
    """
    if start not in get_args(Start) or per not in get_args(Per):
        raise ArgumentError(f"start={start!r}, per={per!r}: choose from {get_args(Start)} and {get_args(Per)}")
    if smoothing < 0 or tol <= 0 or max_iterations < 1:
        raise ArgumentError(
            f"smoothing={smoothing}, tol={tol}, max_iterations={max_iterations}: "
            "0 or more, above 0 and 1 or more were expected"
        )
    data = coded(judgments, repeats)
    need_whole_grades(data, "dawid_skene")
    posterior = starting_posterior(data, start, ties, rng)
    pieces = data.pool.starts if per == "topic" else np.array([0, data.n_pairs])
    fits = [
        fit(data, slice(int(a), int(b)), posterior, smoothing, tol, max_iterations)
        for a, b in pairwise(pieces)
        if b > a
    ]
    converged = all(done for _, _, done, _ in fits)
    if not converged:
        late = sum(not done for _, _, done, _ in fits)
        warnings.warn(
            f"dawid_skene did not converge within {max_iterations} iterations ({late} of {len(fits)} fits); "
            "raise max_iterations or tol",
            stacklevel=2,
        )
    options = f"start={start!r}, per={per!r}, smoothing={smoothing:g}, tol={tol:g}"
    return aggregate_of(
        data,
        "dawid-skene",
        f"dawid_skene({options})",
        data.grades[most_probable(posterior)],
        posterior,
        confusion=fits[0][3] if per == "all" else None,
        iterations=sum(iterations for iterations, _, _, _ in fits),
        converged=converged,
        log_likelihood=float(sum(trace[0][-1] for _, trace, _, _ in fits)),
        objective=fits[0][1][1] if per == "all" else np.empty(0),
    )


def most_probable(posterior: Floats) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """(pairs,) the most probable grade, the lowest of those that are equal but for rounding."""
    return np.asarray((posterior >= posterior.max(axis=1, keepdims=True) - 1e-12).argmax(axis=1))


def starting_posterior(data: Coded, start: Start, ties: Ties, rng: Rng) -> Floats:
    """(pairs, grades) what is believed before the first confusions are."""
    if start == "shares":
        counts = data.counts()
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))
    if start == "majority":
        winners = winning(data)
        if ties == "fractional":
            return np.asarray(winners / winners.sum(axis=1, keepdims=True))
        posterior = np.zeros_like(winners)
        posterior[np.arange(data.n_pairs), one_of(winners, ties, data, rng)] = 1.0
        return posterior
    n_grades = data.grades.size
    wrong = (1 - HONEST) / max(n_grades - 1, 1)
    logs = data.counts() @ np.log(np.where(np.eye(n_grades) > 0, HONEST, wrong))
    likely = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(likely / likely.sum(axis=1, keepdims=True))


def fit(
    data: Coded, pairs: slice, posterior: Floats, smoothing: float, tol: float, max_iterations: int
) -> tuple[int, tuple[Floats, Floats], bool, Floats]:
    """Fit some pairs, changing their posterior: iterations, traces (likelihood, objective), converged, confusion."""
    from qrowd.kernels.confusion import alternate

    rows = slice(int(data.starts[pairs.start]), int(data.starts[pairs.stop]))
    starts = data.starts[pairs.start : pairs.stop + 1] - rows.start
    used, assessor = np.unique(data.assessor[rows], return_inverse=True)
    mine = np.ascontiguousarray(posterior[pairs])
    confusion = np.empty((used.size, data.grades.size, data.grades.size))
    prior = np.empty(data.grades.size)
    traces = np.empty(max_iterations), np.empty(max_iterations)
    said = np.ascontiguousarray(data.said[rows])
    done, change = alternate(
        starts, assessor.astype(np.int32), said, smoothing, FLOOR, tol, mine, confusion, prior, *traces
    )
    posterior[pairs] = mine
    everyone = np.full((len(data.assessors), *confusion.shape[1:]), np.nan)
    everyone[used] = confusion
    return done, (traces[0][:done], traces[1][:done]), bool(change < tol), everyone
