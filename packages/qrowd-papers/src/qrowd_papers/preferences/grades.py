"""How many grades do the order by utility and the stop save? Section 5.3: one to two fewer per query.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 5.3.
Bounds and utilities of grades: Carterette, Allan & Sitaraman (2006), Minimal Test Collections for Retrieval Evaluation.
SIGIR, 268-275.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.evaluation import measure
from qrowd.kernels.arrays import Floats, Ints
from qrowd.measures.measure_kinds import linear_parts
from qrowd.model.chance import Chance, Rng
from qrowd.model.scales import parse_scale
from qrowd.preferences.scheduling import Systems
from qrowd.preferences.scheduling.bounds import Bounds
from qrowd.preferences.scheduling.utility import summed_differences
from qrowd.reports.document import Table
from qrowd.reports.phrases import number
from qrowd_papers.preferences.claims import GRADED, LABELS
from qrowd_papers.preferences.replays import Answers, Topic

SHARES = (0.20, 0.28, 0.25, 0.25, 0.02)  # of Bad, Fair, Good, Excellent and Perfect, as printed in section 3.2
PRINTED = "1-2"  # judgments fewer per query


def rank_coefficients(systems: Systems, discounts: Floats) -> Floats:
    """(systems, documents) what one unit of gain of each document adds to each system's score.

    discounts : by rank, from rank 1; ranks beyond weigh nothing. Of `systems` only the ranks count.

    >>> rank_coefficients(Systems.of([[0, 1], [2]], 3), np.array([1.0, 0.5])).tolist()
    [[1.0, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """
    weights = np.append(np.asarray(discounts, np.float64), 0.0)
    ranked = systems.ranks < systems.limits[:, None]
    return np.where(ranked, weights[np.minimum(systems.ranks - 1, weights.size - 1)], 0.0)


def grade_bounds(gains: Floats, coefficients: Floats, *, lowest: float = 0.0, highest: float = 1.0) -> Bounds:
    """Exact bounds on the difference of every two systems under a measure that is linear in gains.

        E_e - E_f = sum over documents of (c_e - c_f) gain

    gains : (documents,) of what was judged, nan where it was not. A measure that divides this by a number all systems
        share (nDCG, by the ideal) has the same sign.
    coefficients : (systems, documents) what one unit of gain of each document adds to each system's score; 0 where a
        system does not rank it.
    lowest, highest : gains that an unjudged document may turn out to have; 0 and 1 for binary judgments.

    Source: Carterette, Allan & Sitaraman (2006), Minimal Test Collections for Retrieval Evaluation. SIGIR, 268-275.

    >>> bounds = grade_bounds(np.array([1, np.nan]), np.array([[1, 0.5], [0, 0.8]]))
    >>> print(f"{bounds.low[0, 1]:.1f} to {bounds.high[0, 1]:.1f}")
    0.7 to 1.0
    """
    values, weights = _checked(gains, coefficients)
    if not lowest <= highest or (values[~np.isnan(values)] < lowest).any() or (values > highest).any():
        raise ArgumentError(f"lowest={lowest:g}, highest={highest:g}: every gain must lie between them")
    left = np.isnan(values)
    gap = weights[:, None, :] - weights[None, :, :]
    certain = gap[..., ~left] @ values[~left]
    one, two = gap[..., left] * lowest, gap[..., left] * highest
    return Bounds(certain + np.minimum(one, two).sum(axis=-1), certain + np.maximum(one, two).sum(axis=-1))


def grade_utility(coefficients: Floats) -> Floats:
    """(documents,) how much of all bounds' width a grade takes away, per unit of gain, whatever was judged before.

        U(d) = sum over pairs of systems e, f of |c_e(d) - c_f(d)|

    coefficients : as in `grade_bounds`.

    >>> grade_utility(np.array([[1, 0.5, 0.4], [0, 0.8, 0.4]])).round(1).tolist()
    [1.0, 0.3, 0.0]
    """
    weights = np.asarray(coefficients, np.float64)
    _, weights = _checked(np.zeros(weights.shape[-1]), weights)
    return summed_differences(weights.T)


def order_documents(coefficients: Floats, sequence: Sequence[int] | None = None) -> Ints:
    """(documents,) their numbers, those of the greatest `grade_utility` first.

    sequence : all documents; of those with equal utility, the first along it. None: as they are numbered.

    >>> order_documents(np.array([[1, 0.5, 0.4], [0, 0.8, 0.4]]), [2, 1, 0]).tolist()
    [0, 1, 2]
    """
    utility = grade_utility(coefficients)
    numbers = np.arange(utility.size) if sequence is None else np.asarray(sequence, np.int64)
    if not np.array_equal(np.sort(numbers), np.arange(utility.size)):
        raise ArgumentError(f"sequence: give each of the {utility.size} documents once, as numbers from 0")
    return np.asarray(numbers[np.argsort(-utility[numbers].round(12), kind="stable")])


def _checked(gains: Floats, coefficients: Floats) -> tuple[Floats, Floats]:
    values = np.asarray(gains, np.float64)
    weights = np.asarray(coefficients, np.float64)
    if values.ndim != 1 or weights.ndim != 2 or weights.shape[1] != values.size or weights.shape[0] < 2:
        raise ArgumentError(
            f"coefficients: expected 2 or more systems x {values.size} documents, found shape {weights.shape}"
        )
    return values, weights


def gains_of_answers(answers: Answers, shares: Sequence[float], gains: Floats) -> Floats:
    """(documents,) gains along the order of the answers: the document that wins fewest pairs has the lowest grade.

    shares : of documents with each grade, the lowest first. gains : by grade.

    >>> gains_of_answers(Answers.of_order([2, 0, 1]), [1 / 3, 2 / 3], np.array([0, 1])).tolist()
    [1, 0, 1]
    """
    place = np.argsort(np.argsort(answers.wins.sum(axis=1), kind="stable"))
    ends = np.cumsum(shares)[:-1] * place.size
    return np.asarray(gains[np.searchsorted(ends.round(9), place, side="right")])


def graded_until_settled(gains: Floats, coefficients: Floats, highest: float, sequence: Iterable[int]) -> int:
    """How many documents of the sequence are graded until no further grade can change the order of the systems.

    gains : (documents,) that they will get. coefficients, highest : as in `grade_bounds`.
    """
    graded = np.full(gains.size, np.nan)
    for n_graded, document in enumerate(sequence, 1):
        graded[document] = gains[document]
        if grade_bounds(graded, coefficients, highest=highest).settled:
            return n_graded
    return gains.size


def grades_needed(topics: Sequence[Topic], *, rng: Rng) -> Floats:
    """(topics, 3) documents; grades until the order of the systems by DCG@5 is settled, at random and by utility."""
    discounts, gains = linear_parts(measure(GRADED["DCG"]), parse_scale(f"0-{len(LABELS) - 1}"), 5)
    needed = []
    for i, topic in enumerate(topics):
        by_document = gains_of_answers(topic.answers, SHARES, gains)
        coefficients = rank_coefficients(topic.systems, discounts)
        chance = Chance.of(Chance.of(rng).stream("topic", i))
        at_random = chance.stream("sequence").permutation(by_document.size).tolist()
        by_utility = order_documents(coefficients, at_random)
        stops = [graded_until_settled(by_document, coefficients, gains.max(), one) for one in (at_random, by_utility)]
        needed.append([by_document.size, *stops])
    return np.array(needed, float)


def savings_table(needed: Mapping[str, Floats]) -> Table:
    """Mean judgments of a topic, and how many fewer they are than documents; beside what is printed."""
    rows = []
    for topics, counts in needed.items():
        everything, by_chance, by_utility = counts.mean(axis=0)
        cells = (everything, by_chance, by_utility, everything - by_utility)
        rows.append([topics, *(number(cell, 2) for cell in cells), PRINTED])
    header = ["grades", "all documents", "random, stop", "utility, stop", "fewer", "fewer, printed"]
    return Table("section 5.3: grades that a topic takes", header, rows)
