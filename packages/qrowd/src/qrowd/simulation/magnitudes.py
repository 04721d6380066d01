"""A crowd that judges by magnitude estimation, in units with two check documents.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.simulation.behaviours import CAMPAIGN_SECONDS, seconds_spent
from qrowd.simulation.truth import Truth, count, numbered, share

FIRST_DAY = np.datetime64("2024-01-08T08:00:00", "ms")
WORDS = (
    ("off topic", "wrong subject", "mentions the words only", "does not help"),
    ("related, but no answer", "some background", "answers a part of it", "useful as a start"),
    ("answers it", "exactly what was asked", "complete and to the point", "clear and detailed"),
)


@dataclass(frozen=True)
class MagnitudeCrowd:
    """How the assessors of a simulated crowd turn relevance into numbers.

    multiplier, exponent : median, and standard deviation of the logarithm, of what each assessor's scale has of both.
        An assessor's magnitude of a document of relevance r is multiplier * exp(exponent * r).
    noise : standard deviation of the logarithm of an answer.
    round_numbers : share of answers that are 1, 2 or 5 times a power of ten; the others have two digits.

    The default has numbers with about the paper's mean, 10, and standard deviation, 20.
    """

    multiplier: tuple[float, float] = (4.0, 0.65)
    exponent: tuple[float, float] = (0.7, 0.25)
    noise: float = 0.4
    round_numbers: float = 0.6

    def __post_init__(self) -> None:
        share("round_numbers", self.round_numbers)

    def answers(
        self,
        truth: Truth,
        pair: Ints,
        who: Ints,
        n_assessors: int,
        chance: Chance,
        *,
        rng: np.random.Generator,
    ) -> Floats:
        """(units, documents) what is said of each pair. pair : (units, documents); who : (units,) the assessors."""
        logs = self.logs(who, n_assessors, chance, truth.relevance[pair])
        return written(logs + self.noise * rng.standard_normal(pair.shape), self.round_numbers, rng)

    def logs(self, who: Ints, n_assessors: int, chance: Chance, seen: Floats) -> Floats:
        """(units, documents) logarithms without noise, of what is seen of relevance, on each assessor's scale."""
        people = chance.stream("people")
        multiplier, exponent = (
            median * np.exp(sd * people.standard_normal(n_assessors)) for median, sd in (self.multiplier, self.exponent)
        )
        return np.asarray(np.log(multiplier[who])[:, None] + exponent[who][:, None] * seen)


def simulate_magnitudes(
    truth: Truth,
    n_assessors: int,
    *,
    crowd: MagnitudeCrowd = MagnitudeCrowd(),
    unit_size: int = 8,
    redundancy: int = 10,
    checked: bool = True,
    rng: Rng,
) -> Judgments:
    """Magnitudes of a crowd, collected in units of eight documents of one topic.

    Every topic has two check documents, `check_documents(truth)`: H of its highest grade, N of its lowest. A unit holds
    both and unit_size - 2 others in random order. A topic of n documents has ceil(redundancy (n - 2) / (unit_size - 2))
    units; each of its other documents is judged `redundancy` times, those that fill up the last unit once more.

    Everyone has a scale of their own (`crowd`). Participation follows a power law; nobody judges a topic twice, nor
    spends less than 20 seconds on a document (check d).

    Parameters
    ----------
    n_assessors : who may take part; at least as many as the largest topic has units. Those whom no unit reaches do
        not appear.
    crowd : how the assessors turn relevance into numbers.
    checked : whoever gives H no more than N revises the two, as only units that pass the check (c) are kept: the
        numbers change places, and where they are equal H is doubled. False leaves what was said first.

    Returns rows in the order of `order` (1, 2, ...), with unit, seconds, time and comment.

    Raises
    ------
    ArgumentError
        A topic with fewer than unit_size documents or with a single grade; too few assessors.

    >>> from qrowd.simulation import simulate_pool
    >>> simulate_magnitudes(simulate_pool(3, 20, rng=1), 30, rng=1)
    Judgments(720 judgments: 3 topics, 60 documents, 30 assessors)
    """
    count("unit_size", unit_size, 3)
    count("redundancy", redundancy)
    high, low = check_documents(truth)
    chance = Chance.of(rng)
    random = chance.stream("units")
    activity = 1 / np.arange(1, n_assessors + 1)

    units, workers, labels = [], [], []
    for t, topic in enumerate(truth.pool.topics):
        rows = np.arange(truth.pool.starts[t], truth.pool.starts[t + 1])
        if rows.size < unit_size:
            raise ArgumentError(f"topic {topic}: {rows.size} documents do not fill a unit of {unit_size}")
        others = _deal(rows[(rows != high[t]) & (rows != low[t])], unit_size - 2, redundancy, random)
        n = len(others)
        if n > n_assessors:
            raise ArgumentError(
                f"n_assessors={n_assessors}: topic {topic} has {n} units and nobody judges a topic twice; "
                f"at least {n} needed"
            )
        checks = np.tile([high[t], low[t]], (n, 1))
        units.append(random.permuted(np.hstack([checks, others]), axis=1))
        workers.append(random.choice(n_assessors, n, replace=False, p=activity / activity.sum()))
        labels += [f"{topic}-u{i + 1:04d}" for i in range(n)]
    pair, who = np.concatenate(units), np.concatenate(workers)

    value = crowd.answers(truth, pair, who, n_assessors, chance, rng=random)
    if checked:
        _revise(value, pair == high[truth.topic[pair]], pair == low[truth.topic[pair]])
    spent = seconds_spent(pair.size, random, least=20.0).reshape(pair.shape)
    elapsed = _shifts(who, spent.sum(axis=1), n_assessors, random)[:, None] + np.cumsum(spent, axis=1)

    came = np.argsort(elapsed, axis=None, kind="stable")
    pair_of = pair.ravel()[came]
    who_of = np.repeat(who, unit_size)[came]
    return Judgments.from_codes(
        truth.pool.topics,
        truth.pool.documents,
        numbered("worker-", n_assessors),
        truth.topic[pair_of],
        truth.pool.document[pair_of],
        who_of.astype(np.int32),
        value.ravel()[came],
        scales={"*": "magnitude"},
        order=np.arange(1.0, came.size + 1),
        unit=np.repeat(np.array(labels, object), unit_size)[came],
        seconds=spent.ravel()[came],
        time=clock(elapsed.ravel()[came]),
        comment=comments(truth.grade[pair_of] / (truth.n_grades - 1), random),
    ).select()  # leaves out the names of workers without a unit


def check_documents(truth: Truth) -> tuple[Ints, Ints]:
    """(topics,) rows of the check documents H and N: the first of the topic's highest and of its lowest grade.

    Raises
    ------
    ArgumentError
        A topic whose documents all have the same grade.
    """
    high = np.empty(len(truth.pool.topics), np.int64)
    low = high.copy()
    for t, topic in enumerate(truth.pool.topics):
        grades = truth.grade[truth.pool.rows(t)]
        high[t], low[t] = grades.argmax() + truth.pool.starts[t], grades.argmin() + truth.pool.starts[t]
        if grades.min() == grades.max():
            raise ArgumentError(f"topic {topic}: all documents have grade {grades[0]}, so there is no pair to check by")
    return high, low


def _deal(documents: Ints, size: int, redundancy: int, random: np.random.Generator) -> Ints:
    """(units, size) documents dealt round after round in random order, no document twice in a unit."""
    n_units = ceil(redundancy * documents.size / size)
    documents_dealt = np.empty(0, np.int64)
    while documents_dealt.size < n_units * size:
        open_unit = documents_dealt[documents_dealt.size // size * size :]
        fresh = random.permutation(documents)
        if open_unit.size:
            head = fresh[~np.isin(fresh, open_unit)][: size - open_unit.size]
            fresh = np.append(head, random.permutation(fresh[~np.isin(fresh, head)]))
        documents_dealt = np.append(documents_dealt, fresh)
    return documents_dealt[: n_units * size].reshape(n_units, size)


def _revise(value: Floats, is_high: Bools, is_low: Bools) -> None:
    """Make H's value in every unit larger than N's, in place."""
    high, low = value[is_high], value[is_low]  # one of each in every row, so these stand unit by unit
    value[is_high] = np.where(high == low, 2 * high, np.maximum(high, low))
    value[is_low] = np.minimum(high, low)


def _shifts(who: Ints, length: Floats, n_assessors: int, random: np.random.Generator) -> Floats:
    """(units,) when each unit begins: everyone turns up once and then works without a break, topics in random order."""
    turn = np.lexsort((random.random(who.size), who))
    ends = np.cumsum(length[turn])
    begins = ends - length[turn]
    first = np.searchsorted(who[turn], who[turn])
    start = np.empty(who.size)
    start[turn] = begins - begins[first] + random.uniform(0, CAMPAIGN_SECONDS, n_assessors)[who[turn]]
    return start


def clock(elapsed: Floats) -> NDArray[np.object_]:
    """(n,) ISO 8601 times, UTC, of so many seconds after the campaign began."""
    when = FIRST_DAY + np.round(1000 * elapsed).astype("timedelta64[ms]")
    return np.char.add(np.datetime_as_string(when), "Z").astype(object)


def comments(level: Floats, random: np.random.Generator) -> NDArray[np.object_]:
    """(n,) a few words that fit the level, from 0 (not relevant) to 1."""
    words = np.array(WORDS, object)
    kind = np.digitize(level, [0.25, 0.75])
    return np.asarray(words[kind, random.integers(words.shape[1], size=level.size)], object)


def written(logs: Floats, round_numbers: float | Floats, rng: np.random.Generator) -> Floats:
    """exp(logs) as people write numbers: a share is 1, 2 or 5 times a power of ten, the rest has two digits."""
    power = np.floor(logs / np.log(10))
    digits = np.exp(logs - power * np.log(10)) * 10  # from 10 to 100
    # Halfway between neighbours on the log scale.
    rounder = np.array([10, 20, 50, 100])[np.searchsorted(10 * np.sqrt([2, 10, 50]), digits)]
    digits = np.where(rng.random(logs.shape) < round_numbers, rounder, np.round(digits))
    # Dividing by a power of ten, not multiplying by its reciprocal, gives the double that the decimal text reads as.
    up = np.power(10.0, np.maximum(power - 1, 0))
    down = np.power(10.0, np.maximum(1 - power, 0))
    return np.asarray(digits * up / down, np.float64)
