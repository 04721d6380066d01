"""The same for grades: which document to grade next, and what is certain about systems whatever the rest will get.

Carterette, Allan & Sitaraman (2006), Minimal Test Collections for Retrieval Evaluation. SIGIR, 268-275.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels import scheduling
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.preferences.scheduling.answers import Topic
from qrowd.preferences.scheduling.bounds import Bounds, Decision, Goal, check_goal, decision_of_samples
from qrowd.preferences.scheduling.replay import Curves, curves_of, error_and_regret
from qrowd.preferences.scheduling.systems import Systems

GradeOrder = Literal["random", "utility"]


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
    utility = np.empty(weights.shape[1])
    scheduling.summed_differences(np.ascontiguousarray(weights.T), np.ones(weights.shape[0]), utility)
    return utility


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


def grades_may_stop(
    gains: Floats,
    coefficients: Floats,
    levels: Floats,
    *,
    goal: Goal = "ranking",
    n_best: int = 1,
    stop_probability: float = 1.0,
    n_completions: int = 400,
    rng: Rng = None,
) -> Decision:
    """Whether enough documents were graded to say which system is better; `may_stop` for grades.

    gains, coefficients : as in `grade_bounds`. levels : (m,) the gains that a document can have.
    goal, n_best, stop_probability, n_completions, rng : as in `may_stop`. In a completion each unjudged document draws
        a level: with a probability proportional to one more than the number of documents that have it already.

    >>> coefficients = np.array([[1, 0.5, 0], [0, 0.5, 0.2]])
    >>> grades_may_stop(np.array([1, np.nan, np.nan]), coefficients, np.array([0, 1])).stop
    True
    """
    values, weights = _checked(gains, coefficients)
    possible = np.unique(np.asarray(levels, np.float64))
    check_goal(weights.shape[0], goal, n_best, stop_probability)
    if not possible.size or not np.isfinite(possible).all():
        raise ArgumentError("give the gains that a document can have, one or more numbers", "levels", levels)
    bounds = grade_bounds(values, weights, lowest=float(possible[0]), highest=float(possible[-1]))
    proven = np.where(np.isnan(bounds.sign), np.nan, 1.0)
    if stop_probability == 1 or bounds.settled(goal, n_best):
        return Decision(bounds.settled(goal, n_best), bounds.sign, proven)
    if n_completions < 1:
        raise ArgumentError("sample 1 or more", "n_completions", n_completions)
    left = np.isnan(values)
    counts = 1 + (values[~left][:, None] == possible).sum(axis=0)
    drawn = Chance.of(rng).stream("grades").choice(possible, (n_completions, int(left.sum())), p=counts / counts.sum())
    sampled = drawn @ weights[:, left].T + weights[:, ~left] @ values[~left]
    return decision_of_samples(bounds.sign, sampled, goal, n_best, stop_probability)


# ---------------------------------------------------------------------- replays


@dataclass(frozen=True, eq=False)
class GradedTopic:
    """A topic to replay: gains that its documents will get.

    gains : (documents,). coefficients : (systems, documents), as in `grade_bounds`. levels : (m,) gains that a document
    could have had.
    """

    gains: Floats
    coefficients: Floats
    levels: Floats

    @property
    def n_documents(self) -> int:
        return int(self.gains.size)

    @classmethod
    def of(cls, topic: Topic, *, shares: Sequence[float], gains: Floats, discounts: Floats) -> GradedTopic:
        """A topic of preferences as its documents would be graded along the same order.

        shares : of documents with each grade, the lowest grade first; the document that wins fewest pairs gets the
            lowest grade. gains : by grade. discounts : by rank, from 1.

        >>> from qrowd.preferences.scheduling import Answers
        >>> topic = Topic(Answers.of_order([2, 0, 1]), Systems.of([[0, 1], [2, 1]], 3))
        >>> GradedTopic.of(topic, shares=[1 / 3, 2 / 3], gains=np.array([0, 1]), discounts=np.ones(2)).gains.tolist()
        [1, 0, 1]
        """
        if len(shares) != len(gains) or not np.isclose(sum(shares), 1) or min(shares) < 0:
            raise ArgumentError(f"give one share from 0 for each of {len(gains)} grades, 1 in all", "shares", shares)
        place = np.argsort(np.argsort(topic.answers.wins.sum(axis=1), kind="stable"))
        ends = np.cumsum(shares)[:-1] * place.size
        grade = np.searchsorted(ends.round(9), place, side="right")
        return cls(gains[grade], rank_coefficients(topic.systems, discounts), gains)


@dataclass(frozen=True, eq=False)
class GradeReplay:
    """What happened when the documents of a topic were graded in an order.

    order : (documents,) their numbers. n_judged : the first of them that were graded. decision : by then, None without
    a stop. error, regret : as in `Replay`.
    """

    order: Ints
    n_judged: int
    decision: Decision | None
    error: float
    regret: float


def replay_grades(
    topic: GradedTopic,
    order: GradeOrder = "utility",
    *,
    stop: bool = True,
    goal: Goal = "ranking",
    n_best: int = 1,
    stop_probability: float = 1.0,
    rng: Rng = None,
) -> GradeReplay:
    """Grade the documents in an order, and stop as soon as it may be; one document at least is graded.

    order : "utility", as by `order_documents`, or "random".
    goal, n_best, stop_probability : as in `grades_may_stop`.
    """
    check_choice("order", order, GradeOrder)
    chance = Chance.of(rng)
    sequence = chance.stream("sequence").permutation(topic.n_documents)
    if order == "utility":
        sequence = order_documents(topic.coefficients, sequence.tolist())
    gains, decision, n_judged = np.full(topic.n_documents, np.nan), None, 0
    for n_judged, document in enumerate(sequence.tolist(), start=1):
        gains[document] = topic.gains[document]
        if stop:
            decision = grades_may_stop(
                gains,
                topic.coefficients,
                topic.levels,
                goal=goal,
                n_best=n_best,
                stop_probability=stop_probability,
                rng=chance.stream("stop", n_judged),
            )
            if decision.stop:
                break
    scores = topic.coefficients @ np.nan_to_num(gains)
    error, regret = error_and_regret(scores, topic.coefficients @ topic.gains, decision)
    return GradeReplay(sequence, n_judged, decision, error, regret)


def grades_needed(
    topics: Iterable[GradedTopic],
    *,
    goal: Goal = "ranking",
    n_best: int = 1,
    stop_probability: float = 1.0,
    rng: Rng = None,
) -> Curves:
    """How many documents are graded without a stop, and with it in random order and by utility.

    goal, n_best, stop_probability : as in `grades_may_stop`.

    Source: Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR,
    section 5.3.
    """
    seed = seed_of(rng)
    chance = Chance.of(seed)
    conditions: tuple[tuple[str, GradeOrder, bool], ...] = (
        ("grades, all documents", "random", False),
        ("grades, random, stop", "random", True),
        ("grades, utility, stop", "utility", True),
    )
    results: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
    for number, topic in enumerate(topics):
        for name, order, stop in conditions:
            one = replay_grades(
                topic,
                order,
                stop=stop,
                goal=goal,
                n_best=n_best,
                stop_probability=stop_probability,
                rng=chance.stream("topic", number),
            )
            results.setdefault((name, topic.n_documents), []).append((one.n_judged, one.error, one.regret))
    return curves_of(results, [name for name, _, _ in conditions], seed)


def _checked(gains: Floats, coefficients: Floats) -> tuple[Floats, Floats]:
    values, weights = np.asarray(gains, np.float64), np.asarray(coefficients, np.float64)
    if values.ndim != 1 or weights.ndim != 2 or weights.shape[1] != values.size or weights.shape[0] < 2:
        raise ArgumentError(
            f"coefficients: expected 2 or more systems x {values.size} documents, found shape {weights.shape}"
        )
    return values, weights
