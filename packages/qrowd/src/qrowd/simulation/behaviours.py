"""How assessors behave, from what is true to what they say, and the judgments of a panel of them.

A behaviour is any object with a `scale(truth)` and a `judge(truth, rng)`; these are the ones the literature worries
about. Those that look at a document see its relevance, not its grade, and err as people do: mostly near a boundary.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.model.scales import Scale, parse_scale
from qrowd.simulation.truth import Truth, share

CAMPAIGN_SECONDS = 5 * 24 * 3600.0
Recorded = Literal["order", "seconds"]


class Behaviour(Protocol):
    """What an assessor does."""

    def scale(self, truth: Truth) -> Scale:
        """The scale of everything `judge` says."""
        ...

    def judge(self, truth: Truth, *, rng: np.random.Generator) -> Floats:
        """(pairs,) one value for every pooled document; nan where the assessor does not judge."""
        ...


# ------------------------------------------------------------------ those who look


@dataclass(frozen=True)
class Lenient:
    """Grades what they see, relevance + shift + appeal + noise, by the true cuts.

    shift : in standard deviations of relevance; above 0 lenient, below 0 severe, 0 fair.
    noise : standard deviation of what they see.
    appeal : how far they take `truth.appeal` for relevance.
    """

    shift: float = 0.0
    noise: float = 0.0
    appeal: float = 0.0

    def scale(self, truth: Truth) -> Scale:
        return _grades(truth.n_grades)

    def judge(self, truth: Truth, *, rng: np.random.Generator) -> Floats:
        return np.searchsorted(truth.cuts, _seen(truth, self, rng), side="right").astype(np.float64)


@dataclass(frozen=True)
class Confident:
    """Says how relevant, from 0 to 1 in hundredths, and seldom anything between: the habit of language models.

    The value is 1 / (1 + exp(-sharpness (seen - first cut))), what is seen being as for `Lenient`.
    """

    shift: float = 0.0
    noise: float = 0.0
    appeal: float = 0.0
    sharpness: float = 8.0

    def scale(self, truth: Truth) -> Scale:
        return parse_scale("0..1")

    def judge(self, truth: Truth, *, rng: np.random.Generator) -> Floats:
        surplus = self.sharpness * (_seen(truth, self, rng) - truth.cuts[0])
        likely: Floats = np.round(0.5 + 0.5 * np.tanh(surplus / 2), 2)
        return likely


# ------------------------------------------------------------------ those who err at random


@dataclass(frozen=True)
class Confused:
    """Says column k to a document of grade g with probability confusion[g][k], whatever else is true of it.

    confusion : (grades, what they may say), each row summing to 1. With two rows the second is for every relevant
        document, whatever its grade.
    """

    confusion: Sequence[Sequence[float]]

    def __post_init__(self) -> None:
        matrix = np.array(self.confusion, np.float64)
        if matrix.ndim != 2 or matrix.shape[1] < 2 or (matrix < 0).any() or not np.allclose(matrix.sum(axis=1), 1):
            raise ArgumentError("rows of at least two shares, each summing to 1, needed", "confusion", self.confusion)
        object.__setattr__(self, "confusion", tuple(map(tuple, matrix.tolist())))

    @classmethod
    def of_accuracy(cls, accuracy: float, *, n_grades: int = 2) -> Confused:
        """Right with probability `accuracy`, else any wrong grade alike.

        >>> Confused.of_accuracy(0.75)
        Confused(confusion=((0.75, 0.25), (0.25, 0.75)))
        """
        wrong = (1 - share("accuracy", accuracy)) / (n_grades - 1)
        return cls(tuple(tuple(accuracy if g == k else wrong for k in range(n_grades)) for g in range(n_grades)))

    def scale(self, truth: Truth) -> Scale:
        return _grades(len(self.confusion[0]))

    def judge(self, truth: Truth, *, rng: np.random.Generator) -> Floats:
        matrix = np.array(self.confusion)
        if len(matrix) not in (2, truth.n_grades):
            raise ArgumentError(f"a confusion of {len(matrix)} rows does not fit a truth of {truth.n_grades} grades")
        row = truth.grade if len(matrix) == truth.n_grades else np.minimum(truth.grade, 1)
        upper = np.cumsum(matrix, axis=1)[:, :-1]
        reached = rng.random(row.size)[:, None] >= upper[row]
        return np.asarray(reached.sum(axis=1), np.float64)


@dataclass(frozen=True)
class Random:
    """Calls every document relevant with probability p: the random assessor of level p (Ferrante et al. 2017)."""

    p: float = 0.5

    def __post_init__(self) -> None:
        share("p", self.p)

    def scale(self, truth: Truth) -> Scale:
        return _grades(2)

    def judge(self, truth: Truth, *, rng: np.random.Generator) -> Floats:
        return (rng.random(truth.relevance.size) < self.p).astype(np.float64)


# ------------------------------------------------------------------ those who do not look


@dataclass(frozen=True)
class Spammer:
    """Gives every document the same grade, or, without one, any grade alike."""

    grade: int | None = None

    def scale(self, truth: Truth) -> Scale:
        return _grades(truth.n_grades)

    def judge(self, truth: Truth, *, rng: np.random.Generator) -> Floats:
        if self.grade is None:
            return rng.integers(truth.n_grades, size=truth.relevance.size).astype(np.float64)
        if not 0 <= self.grade < truth.n_grades:
            raise ArgumentError(f"Spammer({self.grade}): the truth has grades 0 to {truth.n_grades - 1}")
        return np.full(truth.relevance.size, float(self.grade))


@dataclass(frozen=True)
class Lazy:
    """Marks one relevant document of every topic, drawn at random, and nothing else; none where there is none."""

    def scale(self, truth: Truth) -> Scale:
        return _grades(2)

    def judge(self, truth: Truth, *, rng: np.random.Generator) -> Floats:
        lots = np.where(truth.grade > 0, rng.random(truth.grade.size), -1.0)
        best = np.maximum.reduceat(lots, truth.pool.starts[:-1])[truth.topic]
        return np.asarray((lots == best) & (lots >= 0), np.float64)


@dataclass(frozen=True)
class Inverted:
    """Turns another behaviour upside down: the highest grade for the lowest."""

    of: Behaviour

    def scale(self, truth: Truth) -> Scale:
        return self.of.scale(truth)

    def judge(self, truth: Truth, *, rng: np.random.Generator) -> Floats:
        return self.of.scale(truth).maximum - self.of.judge(truth, rng=rng)


# ------------------------------------------------------------------ what they share


def _seen(truth: Truth, who: Lenient | Confident, rng: np.random.Generator) -> Floats:
    return (
        truth.relevance + who.shift + who.appeal * truth.appeal + who.noise * rng.standard_normal(truth.relevance.size)
    )


def _grades(n: int) -> Scale:
    return parse_scale(f"0-{n - 1}")


# ------------------------------------------------------------------ the judgments of a panel


def simulate_judgments(
    truth: Truth,
    assessors: Mapping[str, Behaviour],
    *,
    coverage: float | Mapping[str, float] = 1.0,
    record: Collection[Recorded] = (),
    rng: Rng,
) -> Judgments:
    """The judgments of assessors whose behaviour is known, on the scale each behaviour declares.

    Parameters
    ----------
    assessors : {name: behaviour}. Each draws from a stream of their own, found by name: nobody's judgments depend on
        who else takes part or in what order.
    coverage : share of every topic's pool that an assessor judges, drawn at random, at least one document; for
        everyone, or by name (whoever is not named judges all). A behaviour's own gaps come on top.
    record : any of "order" (1, 2, ... over all assessors, as the judgments came in) and "seconds". An assessor works
        through the topics, and through each topic's documents, in random order.

    Rows stand assessor by assessor, in the order each worked.

    >>> from qrowd.simulation import Lenient, Spammer, simulate_pool
    >>> truth = simulate_pool(10, 40, rng=1)
    >>> simulate_judgments(truth, {"ann": Lenient(noise=0.2), "bob": Spammer(0)}, coverage={"bob": 0.5}, rng=1)
    Judgments(600 judgments: 10 topics, 400 documents, 2 assessors)
    """
    for recorded in record:
        check_choice("record", recorded, Recorded)
    coverage_of = _by_name(coverage, assessors)
    chance = Chance.of(rng)
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in ("pair", "who", "value", "elapsed", "seconds")}
    scales = {name: behaviour.scale(truth) for name, behaviour in assessors.items()}
    for number, (name, behaviour) in enumerate(assessors.items()):
        # A stream for each purpose, so that a coverage or records do not change the values.
        look, work = chance.stream(name, 0), chance.stream(name, 2)
        value = behaviour.judge(truth, rng=look)
        pair = _covered(truth, coverage_of[name], work)
        pair = pair[~np.isnan(value[pair])]
        spent = seconds_spent(pair.size, work)
        parts["pair"].append(pair)
        parts["who"].append(np.full(pair.size, number, np.int32))
        parts["value"].append(value[pair])
        parts["seconds"].append(spent)
        parts["elapsed"].append(work.uniform(0, CAMPAIGN_SECONDS) + np.cumsum(spent))
    if not assessors:
        raise ArgumentError("assessors={}: at least one needed")
    column = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    optional: dict[str, Any] = {"seconds": column["seconds"]} if "seconds" in record else {}
    if "order" in record:
        place = np.empty(column["elapsed"].size)
        place[np.argsort(column["elapsed"], kind="stable")] = np.arange(1, place.size + 1)
        optional["order"] = place
    return Judgments.from_codes(
        truth.pool.topics,
        truth.pool.documents,
        tuple(assessors),
        truth.topic[column["pair"]],
        truth.pool.document[column["pair"]],
        column["who"],
        column["value"],
        scales=scales,
        **optional,
    ).select()  # leaves out the labels of documents that nobody judged


def _by_name(coverage: float | Mapping[str, float], assessors: Collection[str]) -> dict[str, float]:
    """{assessor: share} from one share for all, or from shares by name."""
    if not isinstance(coverage, Mapping):
        return dict.fromkeys(assessors, share("coverage", coverage))
    for name in coverage:
        if name not in assessors:
            raise ArgumentError(f"coverage={{{name!r}: ...}}: the assessors are {', '.join(assessors)}")
    return {name: share("coverage", coverage.get(name, 1.0)) for name in assessors}


def _covered(truth: Truth, coverage: float, random: np.random.Generator) -> Ints:
    """Pairs an assessor judges, in the order of work: topic after topic, each in random order."""
    lots = random.random(truth.topic.size)
    turn = random.permutation(len(truth.pool.topics))[truth.topic]
    shuffled = np.lexsort((lots, turn))
    sizes = np.diff(truth.pool.starts)
    sizes_judged = np.maximum(np.round(coverage * sizes), 1) if coverage else np.zeros(sizes.size)
    topic = truth.topic[shuffled]
    begins = np.flatnonzero(np.append(True, topic[1:] != topic[:-1]))
    place = np.arange(topic.size) - np.repeat(begins, np.diff(np.append(begins, topic.size)))
    return shuffled[place < sizes_judged[topic]]


def seconds_spent(n: int, random: np.random.Generator, *, least: float = 2.0) -> Floats:
    """(n,) seconds per document in tenths: log-normal above `least`, 15 in the median beyond it."""
    return np.round(least + 15.0 * np.exp(0.6 * random.standard_normal(n)), 1)
