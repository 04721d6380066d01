"""Judgments as aggregators read them, sorted by document with grades numbered from 0, and the result of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError, ScaleError, check_choice
from qrowd.kernels.arrays import Codes, Floats, Ints
from qrowd.model.chance import Seed
from qrowd.model.judgments import Judgments
from qrowd.model.labels import compact, distinct_values
from qrowd.model.one_scale import Combined, CombineScales, on_one_scale
from qrowd.model.panel import Pool
from qrowd.model.result import Result, Tables
from qrowd.model.scales import Scale

Repeated = Literal["first", "last", "all", "error"]
"""Which of an assessor's repeated judgments counts as a vote; with "all" each is a vote of its own."""
RepeatedValues = Literal["first", "last", "mean", "all", "error"]
"""The same for values, which can also be averaged."""


@dataclass(frozen=True, eq=False)
class Coded:
    """Judgments as columns of integers; at most one per assessor and document, unless every repeat counts.

    pool : the judged (topic, document) pairs, without unused labels.
    starts : (pairs + 1,); the judgments of pair d are the rows starts[d] to starts[d + 1].
    assessor, value : (rows,) number of the assessor, and value.
    grades, code : the distinct values, ascending, and (rows,) number of the value.
    assessors, scale : names of all assessors, and the scale of all values.
    combine_scales : how values were brought onto one scale.
    n_repeats : judgments that repeated one of the same assessor.
    """

    pool: Pool
    starts: Ints
    assessor: Codes
    value: Floats
    grades: Floats
    code: Codes
    assessors: tuple[str, ...]
    scale: Scale
    combine_scales: CombineScales
    n_repeats: int

    @property
    def n_pairs(self) -> int:
        return int(self.pool.document.size)

    @property
    def pair(self) -> Ints:
        """(rows,) number of the pair."""
        return np.repeat(np.arange(self.n_pairs), np.diff(self.starts))

    def counts(self) -> Floats:
        """(pairs, grades) number of assessors who gave each grade."""
        cells = self.pair * self.grades.size + self.code
        counts = np.bincount(cells, minlength=self.n_pairs * self.grades.size)
        return counts.reshape(self.n_pairs, self.grades.size).astype(np.float64)


def coded(
    judgments: Judgments, repeats: RepeatedValues, combine_scales: CombineScales = "auto", unlike: Combined = "rescaled"
) -> Coded:
    """Sort and number judgments; "not judged" (negative values) are left out.

    unlike : how combine_scales="auto" combines values on unlike scales.
    """
    check_choice("repeats", repeats, RepeatedValues)
    judgments = on_one_scale(judgments, combine_scales, unlike)
    scale = judgments.shared_scale()
    one = judgments if repeats == "all" else judgments.single(repeats=repeats)
    judged = np.flatnonzero(one.value >= 0)
    if not judged.size:
        raise NoOverlapError("there are no judgments to merge")
    topics, topic = compact(one.topics, one.topic[judged])
    documents, document = compact(one.documents, one.document[judged])
    pairs = topic.astype(np.int64) * len(documents) + document
    number = {name: i for i, name in enumerate(judgments.assessors)}
    who = np.array([number[name] for name in one.assessors], np.int32)[one.assessor]
    order = np.lexsort((who[judged], pairs))
    ascending = pairs[order]
    rows = judged[order]
    begins = np.flatnonzero(np.append(True, ascending[1:] > ascending[:-1]))
    distinct = ascending[begins]
    pool = Pool(
        topics,
        documents,
        np.searchsorted(distinct // len(documents), np.arange(len(topics) + 1)).astype(np.int64),
        (distinct % len(documents)).astype(np.int32),
    )
    value = one.value[rows]
    grades, code = distinct_values(value)
    return Coded(
        pool,
        np.append(begins, rows.size).astype(np.int64),
        who[rows],
        value,
        grades,
        code.astype(np.int32),
        judgments.assessors,
        scale,
        combine_scales,
        judgments.n_repeats(),
    )


def coded_grades(judgments: Judgments, repeats: RepeatedValues, combine_scales: CombineScales, method: str) -> Coded:
    """Judgments for methods that count whole grades; on unlike scales "auto" counts relevant or not."""
    if repeats not in get_args(Repeated):
        reason = ", and means are not grades" if repeats == "mean" else ""
        raise ArgumentError(
            f"{method} counts whole grades{reason}; choose one of {', '.join(get_args(Repeated))}", "repeats", repeats
        )
    data = coded(judgments, repeats, combine_scales, "relevant")
    if data.scale.kind in ("fractions", "magnitude"):
        raise ScaleError(
            f"{method} counts whole grades, and these are {data.scale.kind} ({data.scale}); "
            "recode them into grades, or merge them by mean, median or geometric-mean"
        )
    fractions = np.flatnonzero(data.value % 1 != 0)  # such as repeats averaged beforehand
    if fractions.size:
        raise ScaleError(
            f"{method} counts whole grades, and assessor {data.assessors[data.assessor[fractions[0]]]} gave "
            f"{data.value[fractions[0]]:g}; recode it, or merge by mean or median"
        )
    return data


@dataclass(frozen=True, eq=False)
class TopicFit:
    """Parameters fitted to one topic alone, or to all topics together.

    topic : None if topics are pooled.
    prior : (grades,) frequency of each true grade.
    assessors : who judged the topic. confusion : (assessors, given, true) probability that each gives a grade to a
        document of a true grade.
    iterations, converged, log_likelihood, objective : as in `Aggregate`, for this fit.
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
class Aggregate(Result):
    """Judgments of several assessors merged into those of one.

    name : of the aggregator. method : its call with all options in force.
    judgments : of one merged assessor called `name`, ready for `evaluate`.
    pool : the judged (topic, document) pairs, in the order of every `pairs` axis.
    grades : (grades,) the distinct values, ascending; empty if values were averaged.
    posterior : (pairs, grades) probability of each grade; empty if values were averaged.
    assessors : names of the merged assessors. scale : of their values.
    confusion : (assessors, given, true) probability that the assessor gives a grade to a document of a true grade; nan
        for an assessor without judgments. competence : (assessors,) probability of not guessing. prior : (grades,)
        frequency of each true grade. All three are None if the method has none, or has one for each topic (see `fits`).
    n_judgments, n_repeats, n_ties : merged judgments; those that repeated one of the same assessor; pairs in which the
        most probable grades are tied.
    iterations, converged, log_likelihood : if each topic is fitted alone, the sums over topics, and whether all
        converged; None without iterations. The likelihood is that of the judgments given the fitted parameters.
    objective : (iterations,) the maximised function after each iteration; empty without one, or if topics are fitted
        alone.
    fits : of dawid_skene, one for each topic, or one for all.
    seed : pass it as `rng` to get the same result again; None if chance was not used.

    `to_frame(what="confusion")` has one row per assessor and true grade (and topic, if topics were fitted alone).
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
        """The expected grade of each pair, the mean of its posterior, as a fractional judgment.

        Raises
        ------
        ArgumentError
            The values were averaged, so there is no posterior.
        """
        self._need_posterior()
        scale = Scale("fractions", self.scale.maximum, True, self.scale.rel)
        return merged(self.pool, self.posterior @ self.grades, f"{self.name} expected", scale)

    def _tables(self) -> Tables:
        return {"judgments": self._judgments, "confusion": self._confusions}

    def _judgments(self) -> dict[str, Any]:
        posterior = {f"p_{grade:g}": p for grade, p in zip(self.grades, self.posterior.T, strict=True)}
        return {**self.pool.labels(), "value": self.judgments.value, **posterior}

    def _confusions(self) -> dict[str, Any]:
        if not self.fits:
            raise ArgumentError(f"{self.name} has no confusions of assessors; use dawid_skene")
        true = [np.tile(self.grades, len(fit.assessors)) for fit in self.fits]
        who = [np.repeat(np.array(fit.assessors, object), self.grades.size) for fit in self.fits]
        columns: dict[str, NDArray[Any]] = {"assessor": np.concatenate(who), "true": np.concatenate(true)}
        if self.fits[0].topic is not None:
            topic = [np.full(part.size, fit.topic, object) for fit, part in zip(self.fits, true, strict=True)]
            columns = {"topic": np.concatenate(topic), **columns}
        probability = np.concatenate(
            [fit.confusion.transpose(0, 2, 1).reshape(-1, self.grades.size) for fit in self.fits]
        )
        columns |= {f"gives_{grade:g}": share for grade, share in zip(self.grades, probability.T, strict=True)}
        return columns

    def _need_posterior(self) -> None:
        if not self.grades.size:
            raise ArgumentError(
                f"{self.name} averages values and has no probabilities; use majority_vote, dawid_skene or mace"
            )


def merged(pool: Pool, value: Floats, name: str, scale: Scale) -> Judgments:
    """One judgment per pair, by one assessor."""
    topic = np.repeat(np.arange(len(pool.topics), dtype=np.int32), np.diff(pool.starts))
    who = np.zeros(value.size, np.int32)
    return Judgments(pool.topics, pool.documents, (name,), topic, pool.document, who, value, (scale,))


def aggregate_of(
    data: Coded, name: str, method: str, value: Floats, posterior: Floats | None = None, **fields: Any
) -> Aggregate:
    """An `Aggregate` of these values; averaged values have no posterior."""
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
        **fields,
    )


def fractional(scale: Scale) -> Scale:
    """The scale of values between the grades of a scale, with the same maximum and threshold of relevance."""
    return Scale("fractions", scale.maximum, True, scale.rel)
