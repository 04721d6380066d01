"""Dawid-Skene: true grades and a confusion matrix of each assessor, estimated together by EM.

Dawid & Skene (1979), Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm. Applied Statistics
28(1), 20-28; as used by Ferrante, Ferro & Maistro (2017), AWARE. ACM TOIS 36(2), section 2.3.
"""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.aggregation.aggregate import Aggregate, Coded, Repeated, TopicFit, aggregate_of, coded_grades
from qrowd.aggregation.vote import Ties, one_of, winning
from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng, Seed
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import CombineScales

Start = Literal["majority", "shares", "honest"]
Per = Literal["topic", "all"]
Unsupported = Literal["floor", "uniform"]

FLOOR = 1e-10  # lowest probability, so that no judgment is impossible
HONEST = 0.9  # initial accuracy of an honest assessor
EQUAL = 1e-9  # probabilities that differ by less differ by rounding only


def dawid_skene(
    judgments: Judgments,
    *,
    start: Start = "majority",
    per: Per = "topic",
    smoothing: float = 0.0,
    unsupported: Unsupported = "floor",
    tol: float = 1e-3,
    max_iterations: int = 1000,
    ties: Ties = "coin",
    rng: Rng = 1,
    repeats: Repeated = "first",
    combine_scales: CombineScales = "auto",
) -> Aggregate:
    """The most probable true grades under a model with a confusion matrix of each assessor.

    posterior[d, g] ~ prior[g] * product over the judgments h of d by assessors a of confusion[a, h, g], and
    confusion[a, h, g] ~ sum over the pairs that a gave h of posterior[d, g], in turn until convergence.

    Parameters
    ----------
    start : "majority" starts from the majority vote (EM-MV of the paper), "shares" from the share of assessors who gave
        each grade (crowd-kit), "honest" from assessors who are right 9 times out of 10 and equal frequencies (EM-NEU).
    per : "topic" fits each topic alone (as the paper does), "all" pools them, so that an assessor has one confusion
        matrix.
    smoothing : added to every count of confusions; 0 maximises the likelihood.
    unsupported : probabilities given a true grade that none of an assessor's documents is expected to have: "floor"
        sets all to 1e-10, so that documents rarely get this grade; "uniform" makes all grades equally probable, which
        has a higher likelihood and is what crowd-kit does.
    tol, max_iterations : stop when no probability changes by tol, or after so many iterations (with a warning).
    ties, rng : of the majority start. repeats, combine_scales : as of `majority_vote`.

    The merged grade is the most probable one, the lowest of equally probable ones (p = .5 is not relevant).

    Raises
    ------
    ScaleError
        Fractions or magnitudes on one scale; magnitudes beside another; "as-is" of scales that cannot be one.
    """
    check_choice("ties", ties, Ties)
    check_choice("start", start, Start)
    check_choice("per", per, Per)
    check_choice("unsupported", unsupported, Unsupported)
    if not (smoothing >= 0 and tol > 0 and max_iterations >= 1):
        raise ArgumentError(
            f"smoothing={smoothing}, tol={tol}, max_iterations={max_iterations}: "
            "expected 0 or more, above 0, and 1 or more"
        )
    data = coded_grades(judgments, repeats, combine_scales, "dawid-skene")
    seed, posterior = starting_posterior(data, start, ties, rng)
    share = 1 / data.grades.size if unsupported == "uniform" else 0.0
    pieces = list(enumerate(data.pool.topics)) if per == "topic" else [(0, None)]
    fits = []
    for number, topic in pieces:
        pairs = slice(0, data.n_pairs) if topic is None else data.pool.rows(number)
        fits.append(fit(data, topic, pairs, posterior, smoothing, share, tol, max_iterations))
    n_unconverged = sum(not one.converged for one in fits)
    if n_unconverged:
        warnings.warn(
            f"dawid_skene did not converge within {max_iterations} iterations ({n_unconverged} of {len(fits)} fits); "
            "raise max_iterations or tol",
            stacklevel=2,
        )
    options = f"start={start!r}, per={per!r}, smoothing={smoothing:g}, unsupported={unsupported!r}, tol={tol:g}"
    options += f", max_iterations={max_iterations}" + (f", ties={ties!r}" if start == "majority" else "")
    grade, n_ties = most_probable(posterior)
    return aggregate_of(
        data,
        "dawid-skene",
        f"dawid_skene({options}, repeats={repeats!r})",
        data.grades[grade],
        posterior,
        n_ties=n_ties,
        confusion=of_all_assessors(data, fits[0]) if per == "all" else None,
        iterations=sum(one.iterations for one in fits),
        converged=n_unconverged == 0,
        log_likelihood=sum(one.log_likelihood for one in fits),
        objective=fits[0].objective if per == "all" else np.empty(0),
        fits=tuple(fits),
        seed=seed,
    )


def most_probable(posterior: Floats) -> tuple[NDArray[np.intp], int]:
    """(pairs,) the most probable grade, the lowest of those that are equal up to rounding; and the number of ties."""
    equal = posterior >= posterior.max(axis=1, keepdims=True) - EQUAL
    return equal.argmax(axis=1), int((equal.sum(axis=1) > 1).sum())


def starting_posterior(data: Coded, start: Start, ties: Ties, rng: Rng) -> tuple[Seed | None, Floats]:
    """The seed, if chance was used, and (pairs, grades) the initial probabilities."""
    if start == "shares":
        counts = data.counts()
        return None, np.asarray(counts / counts.sum(axis=1, keepdims=True))
    if start == "majority":
        winners = winning(data)
        if ties == "fractional":
            return None, np.asarray(winners / winners.sum(axis=1, keepdims=True))
        return one_of(winners, ties, data, rng)
    n_grades = data.grades.size
    wrong = (1 - HONEST) / max(n_grades - 1, 1)
    logs = data.counts() @ np.log(np.where(np.eye(n_grades) > 0, HONEST, wrong))
    likely = np.exp(logs - logs.max(axis=1, keepdims=True))
    return None, np.asarray(likely / likely.sum(axis=1, keepdims=True))


def fit(
    data: Coded,
    topic: str | None,
    pairs: slice,
    posterior: Floats,
    smoothing: float,
    unsupported: float,
    tol: float,
    max_iterations: int,
) -> TopicFit:
    """Fit some pairs; their posterior is overwritten."""
    from qrowd.kernels.confusion import Rows, alternate

    part = slice(int(data.starts[pairs.start]), int(data.starts[pairs.stop]))
    used, assessor = np.unique(data.assessor[part], return_inverse=True)
    starts = data.starts[pairs.start : pairs.stop + 1] - part.start
    rows = Rows(starts, assessor.astype(np.int32), data.code[part])
    confusion, prior, log_likelihood, objective, change = alternate(
        rows, used.size, smoothing, unsupported, FLOOR, tol, max_iterations, posterior[pairs]
    )
    return TopicFit(
        topic,
        prior,
        tuple(data.assessors[a] for a in used),
        confusion,
        objective.size,
        bool(change < tol),
        log_likelihood,
        objective,
    )


def of_all_assessors(data: Coded, pooled: TopicFit) -> Floats:
    """(assessors, given, true) confusions of all assessors; nan for an assessor without judgments."""
    confusion = np.full((len(data.assessors), *pooled.confusion.shape[1:]), np.nan)
    confusion[np.isin(data.assessors, pooled.assessors)] = pooled.confusion
    return confusion
