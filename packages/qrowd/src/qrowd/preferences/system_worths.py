"""Log-worths of systems from battles: preferences between the answers of two systems, on any topic, by any assessor.

Davidson (1970), On Extending the Bradley-Terry Model to Accommodate Ties. JASA 65(329), 317-328.
Jaeckel (1972), The Infinitesimal Jackknife. Bell Laboratories Memorandum, for the pseudo-values.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from qrowd.errors import ArgumentError, NoOverlapError, check_choice
from qrowd.kernels import worths as kernels
from qrowd.kernels.arrays import Floats
from qrowd.model.preferences import Preferences
from qrowd.model.result import Result
from qrowd.model.scores import Scores
from qrowd.preferences.bradley_terry import MOST_STEPS, SHRINKAGE, TOL, Ties, bradley_terry, chains, comparisons

RIDGE = 1e-6  # keeps the system of equations regular, and changes no digit that is shown
MOST_NUMBERS = 50_000_000  # of topics, assessors and systems


@dataclass(frozen=True, eq=False)
class SystemWorths(Result):
    """Log-worths of systems over all topics and assessors; arrays are (systems,).

    log_worth : in log-odds, with a sum of 0: ties apart, i wins against j with probability sigmoid(s_i - s_j); nan for
        systems that won, or lost, all battles against those that have a log-worth, or met none of them.
    wins, ties, losses : numbers of battles. nu : of ties; 0 where none was estimated.
    scores : pseudo-values of the systems that have log-worths, which are their means: log_worth + number of cells x
        what the battles of this topic and assessor change in it. Functions of scores give intervals over topics and
        assessors, as `qrowd.comparison.rank_intervals`.
    """

    systems: tuple[str, ...]
    log_worth: Floats
    wins: Floats
    ties: Floats
    losses: Floats
    nu: float
    scores: Scores = field(repr=False)

    _COLUMNS = ("systems", "log_worth", "wins", "ties", "losses")


def system_worths(battles: Preferences, *, ties: Ties = "davidson") -> SystemWorths:
    """The most probable log-worths of systems, by all battles together, each counting the same.

    P(i) : P(j) : P(tie) = exp(eta / 2) : exp(-eta / 2) : nu,   eta = s_i - s_j

    Systems have log-worths where each of them beats, over some chain, each other one; a tie is a chain both ways, if
    any two systems beat each other without ties. The largest such group gets them.

    ties : as a third outcome ("davidson"), or half a battle won each way ("half").

    Raises
    ------
    NoOverlapError
        No two systems have log-worths.
    ArgumentError
        More topics and assessors than pseudo-values can be computed of.
    """
    check_choice("ties", ties, Ties)
    data = comparisons(battles, ties="davidson", strong=1.0, sides=False)
    system, topic, assessor = data.pool.document, data.pool.topic[data.rows.first], data.rows.assessor
    rows = data.rows._replace(
        first=system[data.rows.first], second=system[data.rows.second], assessor=np.zeros_like(assessor)
    )
    counts = (rows.won, rows.lost), (rows.tied, rows.tied), (rows.lost, rows.won)
    if ties == "half":
        half = rows.tied / 2
        rows = rows._replace(won=rows.won + half, lost=rows.lost + half, tied=np.zeros_like(half))
    n, n_topics, n_assessors = len(battles.documents), len(battles.topics), len(battles.assessors)
    group = chains(rows, n)
    inside = group == np.bincount(group).argmax()
    without_ties = chains(rows._replace(tied=np.zeros_like(rows.tied)), n)
    if inside.sum() < 2 or (rows.tied.any() and np.bincount(without_ties[inside]).max() < 2):
        raise NoOverlapError(
            f"no two of the {n} systems beat each other, also over others, so log-worths have no bounds; add battles "
            "between the same systems or, where some are ties, count these as halves (--ties half)"
        )
    if n_topics * n_assessors * n > MOST_NUMBERS:
        raise ArgumentError(
            f"{n_assessors:,} assessors on {n_topics:,} topics are too many for intervals over both; resample topics "
            "alone (--resample topics)"
        )
    used = np.flatnonzero(inside[rows.first] & inside[rows.second])
    log_worth, nu, change = _fitted(rows.at(used), n)
    values = np.tile(log_worth, (n_assessors, n_topics, 1))
    np.add.at(values, (assessor[used], topic[used]), n_topics * n_assessors * change)
    values = values[:, :, inside] - values[:, :, inside].mean(axis=2, keepdims=True)
    systems = np.concatenate([rows.first, rows.second])
    wins, tied, losses = (np.bincount(systems, np.concatenate(of_sides), n).astype(np.float64) for of_sides in counts)
    return SystemWorths(
        battles.documents,
        np.where(inside, log_worth - log_worth[inside].mean(), np.nan),
        wins,
        tied,
        losses,
        nu,
        Scores.from_array(
            values,
            assessors=battles.assessors,
            topics=battles.topics,
            systems=[name for name, has_worth in zip(battles.documents, inside, strict=True) if has_worth],
        ),
    )


def _fitted(rows: kernels.Rows, n: int) -> tuple[Floats, float, Floats]:
    """Log-worths, nu, and (rows, systems) how the weight of each row changes the log-worths.

    The change is the inverse of the second derivatives of all rows times the derivatives of the row.
    """
    moving = np.array([True, False, False, rows.tied.any()])
    start = kernels.Parameters(np.zeros(n), np.ones(1), np.zeros(1), np.array([0.0 if moving[3] else -np.inf]))
    fit = kernels.fit(rows, start, RIDGE, SHRINKAGE, np.ones(1), moving, TOL, MOST_STEPS)
    s, nu = fit.parameters.log_worth, float(np.exp(fit.parameters.theta[0]))
    objective = kernels.Objective(rows, n, RIDGE, SHRINKAGE, np.ones(1), moving)
    second = objective.differentiate(np.concatenate(fit.parameters)).product
    inverse = np.linalg.pinv(np.array([second(unit) for unit in np.eye(n + 3)]), hermitian=True)[:, :n]
    p, q, _ = kernels.outcomes(s[rows.first] - s[rows.second], nu)
    total = rows.won + rows.lost + rows.tied
    by_eta = 0.5 * (rows.won - rows.lost - total * (p - q))
    by_theta = rows.tied - total * (1 - p - q)
    change = by_eta[:, None] * (inverse[rows.first] - inverse[rows.second]) + by_theta[:, None] * inverse[-1]
    return s, nu, change


def worths_by_assessor(battles: Preferences) -> Scores:
    """(assessors, one topic, systems) log-worths by the battles of each assessor alone, ties as halves, ridge .1.

    nan for systems that the assessor did not compare, so that their rankings can be compared with one another.
    """
    by_assessor = replace(battles, topics=battles.assessors, topic=battles.assessor, bad_topic=battles.bad_assessor)
    fitted = bradley_terry(by_assessor)
    values = np.full((len(battles.assessors), 1, len(battles.documents)), np.nan)
    values[fitted.pool.topic, 0, fitted.pool.document] = fitted.log_worth
    return Scores.from_array(values, assessors=battles.assessors, topics=["all"], systems=battles.documents)
