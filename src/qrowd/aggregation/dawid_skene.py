"""Dawid-Skene: the true grades and every assessor's confusions, each found from the other.

Dawid & Skene (1979), Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm. Applied Statistics
28(1), 20-28; as used by Ferrante, Ferro & Maistro (2017), AWARE. ACM TOIS 36(2), section 2.3.
"""

from __future__ import annotations

import warnings
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.aggregation.aggregate import Aggregate, TopicFit, aggregate_of
from qrowd.aggregation.coded import Coded, Floats, Repeated, coded_grades
from qrowd.aggregation.vote import Ties, check_ties, one_of, winning
from qrowd.errors import ArgumentError
from qrowd.model.chance import Rng, Seed
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import CombineScales

Start = Literal["majority", "shares", "honest"]
Per = Literal["topic", "all"]
Unsupported = Literal["floor", "uniform"]

FLOOR = 1e-10  # no probability is lower, so that nothing that was said is impossible
HONEST = 0.9  # what an honest assessor is right of, before anything is known
EQUAL = 1e-9  # probabilities closer than that differ by rounding


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
    rng: Rng = None,
    repeats: Repeated = "first",
    combine_scales: CombineScales = "auto",
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
    unsupported : what an assessor says of a grade that none of his or her documents seems to have: "floor" makes
        everything 1e-10, so that they hardly ever come to have it; "uniform" any grade alike, which is likelier and
        what crowd-kit comes to.
    tol, max_iterations : stop when no probability changes by tol, or after so many iterations (with a warning).
    ties, rng : of the majority start; see `majority_vote`.
    repeats : which of an assessor's repeated judgments counts: "first", "last", "all" of them, or "error".
    combine_scales : what becomes of unlike scales: "auto" counts each judgment as relevant or not, by its assessor's
        own scale; "as-is", "unit" and "relevant" do one of these in any case.

    The merged grade is the most probable one, the lowest of equally probable ones (p = .5 is not relevant).

    Raises
    ------
    ScaleError
        Fractions or magnitudes on one scale; magnitudes beside another; "as-is" of scales that cannot be one.
    """
    check_ties(ties)
    for name, given, choices in (("start", start, Start), ("per", per, Per), ("unsupported", unsupported, Unsupported)):
        if given not in get_args(choices):
            raise ArgumentError(f"{name}={given!r}: choose one of {', '.join(get_args(choices))}")
    if not (smoothing >= 0 and tol > 0 and max_iterations >= 1):
        raise ArgumentError(
            f"smoothing={smoothing}, tol={tol}, max_iterations={max_iterations}: "
            "0 or more, above 0 and 1 or more were expected"
        )
    data = coded_grades(judgments, repeats, combine_scales, "dawid_skene")
    seed, posterior = starting_posterior(data, start, ties, rng)
    share = 1 / data.grades.size if unsupported == "uniform" else 0.0
    pieces = list(enumerate(data.pool.topics)) if per == "topic" else [(0, None)]
    fits = []
    for number, topic in pieces:
        pairs = slice(0, data.n_pairs) if topic is None else data.pool.rows(number)
        fits.append(fit(data, topic, pairs, posterior, smoothing, share, tol, max_iterations))
    late = sum(not one.converged for one in fits)
    if late:
        warnings.warn(
            f"dawid_skene did not converge within {max_iterations} iterations ({late} of {len(fits)} fits); "
            "raise max_iterations or tol",
            stacklevel=2,
        )
    options = f"start={start!r}, per={per!r}, smoothing={smoothing:g}, unsupported={unsupported!r}, tol={tol:g}"
    options += f", max_iterations={max_iterations}" + (f", ties={ties!r}" if start == "majority" else "")
    chosen, n_ties = most_probable(posterior)
    return aggregate_of(
        data,
        "dawid-skene",
        f"dawid_skene({options}, repeats={repeats!r})",
        data.grades[chosen],
        posterior,
        n_ties=n_ties,
        confusion=for_everyone(data, fits[0]) if per == "all" else None,
        iterations=sum(one.iterations for one in fits),
        converged=late == 0,
        log_likelihood=sum(one.log_likelihood for one in fits),
        objective=fits[0].objective if per == "all" else np.empty(0),
        fits=tuple(fits),
        seed=seed,
    )


def most_probable(posterior: Floats) -> tuple[NDArray[np.intp], int]:
    """(pairs,) the most probable grade, the lowest of those that are equal but for rounding; and how many pairs tie."""
    equal = posterior >= posterior.max(axis=1, keepdims=True) - EQUAL
    return equal.argmax(axis=1), int((equal.sum(axis=1) > 1).sum())


def starting_posterior(data: Coded, start: Start, ties: Ties, rng: Rng) -> tuple[Seed | None, Floats]:
    """The seed, if chance came in, and (pairs, grades) what is believed before the first confusions are."""
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
    """Fit some pairs, changing their posterior."""
    from qrowd.kernels.confusion import alternate

    rows = slice(int(data.starts[pairs.start]), int(data.starts[pairs.stop]))
    starts = data.starts[pairs.start : pairs.stop + 1] - rows.start
    used, assessor = np.unique(data.assessor[rows], return_inverse=True)
    mine = posterior[pairs]  # a view: what the kernel finds stays there
    confusion = np.empty((used.size, data.grades.size, data.grades.size))
    prior = np.empty(data.grades.size)
    log_likelihood, objective = np.empty(max_iterations), np.empty(max_iterations)
    done, change = alternate(
        starts,
        assessor.astype(np.int32),
        data.said[rows],
        smoothing,
        unsupported,
        FLOOR,
        tol,
        mine,
        confusion,
        prior,
        log_likelihood,
        objective,
    )
    return TopicFit(
        topic,
        prior,
        tuple(data.assessors[a] for a in used),
        confusion,
        done,
        bool(change < tol),
        float(log_likelihood[done - 1]),
        objective[:done].copy(),
    )


def for_everyone(data: Coded, pooled: TopicFit) -> Floats:
    """(assessors, given, true) confusions of all assessors, nan for who judged nothing."""
    everyone = np.full((len(data.assessors), *pooled.confusion.shape[1:]), np.nan)
    everyone[np.isin(data.assessors, pooled.assessors)] = pooled.confusion
    return everyone
