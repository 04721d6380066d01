"""The result of every aggregator: one merged assessor, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.aggregation.coded import Coded
from qrowd.errors import ArgumentError
from qrowd.model.chance import Chance, Rng, Seed
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments
from qrowd.model.panel import Panel, Pool
from qrowd.model.scales import Scale

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TopicFit:
    """What was fitted to one topic alone, or to all of them together.

    topic : None where topics are pooled.
    prior : (grades,) how frequent each grade is.
    assessors, confusion : who judged the topic, and (assessors, given, true) the probability that each gives a grade to
        a document of another.
    iterations, converged, log_likelihood, objective : as of `Aggregate`, for this fit.
    """

    topic: str | None
    prior: Floats
    assessors: tuple[str, ...]
    confusion: Floats
    iterations: int
    converged: bool
    log_likelihood: float
    objective: Floats


@dataclass(frozen=True, eq=False)
class Aggregate:
    """What assessors say together.

    name, method : of the aggregator; and the same with the options in force.
    judgments : of one merged assessor called `name`, ready for evaluate.
    pool : the (topic, document) pairs that were judged, in the order of every `pairs` axis.
    grades : (grades,) the values that were given, rising; empty where values were averaged.
    posterior : (pairs, grades) probability of each grade; a column each; empty where values were averaged.
    assessors : names. confusion : (assessors, given, true) probability that the assessor gives a grade to a document of
        another, nan for who judged nothing; competence : (assessors,) probability of not guessing; prior : (grades,)
        how frequent each grade is. None where the method has none, or one for every topic: see `fits`.
    n_judgments, n_repeats, n_ties : judgments merged; those that repeated one of the same assessor; pairs where grades
        had equal claims.
    iterations, converged, log_likelihood : summed over topics where each is fitted alone, converged if all did; None
        where nothing is iterated. The likelihood is that of the judgments given what was fitted.
    objective : (iterations,) what was maximised, after each iteration; empty where nothing is, or topics stand alone.
    fits : of dawid_skene, one for every topic that is fitted alone, or one for all.
    seed : give it as `rng` to see the same result again; None where chance did not come in.
    """

    name: str
    method: str
    judgments: Judgments
    pool: Pool
    grades: Floats
    posterior: Floats
    assessors: tuple[str, ...]
    scale: Scale
    n_judgments: int
    n_repeats: int
    n_ties: int = 0
    confusion: Floats | None = None
    competence: Floats | None = None
    prior: Floats | None = None
    iterations: int | None = None
    converged: bool | None = None
    log_likelihood: float | None = None
    objective: Floats = field(default_factory=lambda: np.empty(0))
    fits: tuple[TopicFit, ...] = ()
    seed: Seed | None = None

    def expected(self) -> Judgments:
        """The mean of each pair's posterior as a fractional judgment: its expected grade.

        Raises
        ------
        ArgumentError
            An aggregate of averaged values, which has no posterior.
        """
        self._need_posterior()
        scale = Scale("fractions", self.scale.maximum, True, self.scale.lowest_relevant)
        return merged(self.pool, self.posterior @ self.grades, f"{self.name} expected", scale)

    def sample(self, n: int, rng: Rng) -> PosteriorSamples:
        """n assessors drawn from the posterior, each document for itself; for uncertainty downstream."""
        self._need_posterior()
        if n < 1:
            raise ArgumentError(f"sample({n}): at least one assessor is needed")
        return PosteriorSamples(self, n, rng)

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per pair: topic, document, value, and the probability of each grade."""
        topic = np.repeat(np.arange(len(self.pool.topics)), np.diff(self.pool.starts))
        columns: dict[str, NDArray[Any]] = {
            "topic": np.array(self.pool.topics, object)[topic],
            "document": np.array(self.pool.documents, object)[self.pool.document],
            "value": self.judgments.value,
        }
        columns |= {f"p_{grade:g}": p for grade, p in zip(self.grades, self.posterior.T, strict=True)}
        return make_frame(columns, backend)

    def confusion_frame(self, backend: str = "pandas") -> Any:
        """One row per assessor and true grade: how often the assessor gives each grade instead.

        Where each topic was fitted alone, rows stand topic by topic, and a column names it.
        """
        if not self.fits:
            raise ArgumentError(f"{self.name} tells no assessor's confusion; dawid_skene does")
        true = [np.tile(self.grades, len(fit.assessors)) for fit in self.fits]
        who = [np.repeat(np.array(fit.assessors, object), self.grades.size) for fit in self.fits]
        columns: dict[str, NDArray[Any]] = {"assessor": np.concatenate(who), "true": np.concatenate(true)}
        if self.fits[0].topic is not None:
            topic = [np.full(part.size, fit.topic, object) for fit, part in zip(self.fits, true, strict=True)]
            columns = {"topic": np.concatenate(topic), **columns}
        given = np.concatenate([fit.confusion.transpose(0, 2, 1).reshape(-1, self.grades.size) for fit in self.fits])
        columns |= {f"gives_{grade:g}": share for grade, share in zip(self.grades, given.T, strict=True)}
        return make_frame(columns, backend)

    def _need_posterior(self) -> None:
        if not self.grades.size:
            raise ArgumentError(f"{self.name} averages values and knows no probabilities; majority_vote and others do")


class PosteriorSamples:
    """Assessors drawn from a posterior; a `Blocks` (qrowd.model.panel), again and again the same.

    What an assessor says depends on `rng` and the assessor's number, not on how many there are.
    """

    BLOCK = 512

    def __init__(self, aggregate: Aggregate, n: int, rng: Rng) -> None:
        self.assessors = tuple(f"{aggregate.name} {i}" for i in range(1, n + 1))
        self._aggregate = aggregate
        self._chance = Chance.of(rng)

    def __len__(self) -> int:
        return len(self.assessors)

    def __iter__(self) -> Iterator[Panel]:
        known = self._aggregate
        edges = np.cumsum(known.posterior, axis=1)[:, :-1]
        for begin in range(0, len(self), self.BLOCK):
            names = self.assessors[begin : begin + self.BLOCK]
            random = self._chance.stream("posterior", begin // self.BLOCK)
            lots = random.random((len(names), known.posterior.shape[0])).T  # one assessor's after the other's
            code = np.zeros(lots.shape, np.int16)
            for edge in edges.T:
                code += lots >= edge[:, None]
            yield Panel(known.pool, names, (known.scale,) * len(names), known.grades[code])


def merged(pool: Pool, value: Floats, name: str, scale: Scale) -> Judgments:
    """One judgment per pair, by one assessor."""
    topic = np.repeat(np.arange(len(pool.topics), dtype=np.int32), np.diff(pool.starts))
    who = np.zeros(value.size, np.int32)
    return Judgments(pool.topics, pool.documents, (name,), topic, pool.document, who, value, (scale,))


def aggregate_of(
    data: Coded, name: str, method: str, value: Floats, posterior: Floats | None = None, **how: Any
) -> Aggregate:
    """An `Aggregate` of these values; averaged ones without a posterior."""
    whole = posterior is not None and not (value % 1 != 0).any()
    scale = data.scale if whole or data.scale.kind in ("fractions", "magnitude") else fractional(data.scale)
    return Aggregate(
        name,
        method,
        merged(data.pool, value, name, scale),
        data.pool,
        data.grades if posterior is not None else np.empty(0),
        posterior if posterior is not None else np.empty((data.n_pairs, 0)),
        data.assessors,
        data.scale,
        int(data.value.size),
        data.n_repeats,
        **how,
    )


def fractional(scale: Scale) -> Scale:
    """The scale of values between its grades: they end where it ends, and what was relevant stays relevant."""
    return Scale("fractions", scale.maximum, True, scale.lowest_relevant)
