"""Calibration of a model: what its grades mean in the grades of the assessors.

The grades of a model are recoded to the mean grade that the assessors give to its documents, by least squares with
ordered means (isotonic regression): a higher grade of the model never means a lower one. How well that does is measured
on topics that the means do not come from. Barlow, Bartholomew, Bremner & Brunk (1972), Statistical Inference under
Order Restrictions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.interval_widths import UNBOUNDED, Bounds, check_confidence, cut
from qrowd.errors import NoOverlapError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.one_scale import on_one_scale
from qrowd.model.result import Result
from qrowd.model.scales import Scale
from qrowd.model.scores import known_mean
from qrowd.replacement.assessor_bias import selected_assessors

if TYPE_CHECKING:
    from qrowd.model.labels import Selection

MOST_ROWS = 10  # of the table; more values of the model are put together
MOST_LEVELS = 200  # of the recoding


@dataclass(frozen=True, eq=False)
class Calibration(Result):
    """What the grades of a model mean in the grades of the assessors; arrays are (grades,).

    model, assessors : who is compared; of several assessors, the mean grade of each document counts.
    grade : of the model, ascending; where it has more than ten, the means of ten groups of documents.
    n_documents : with that grade of the model and a grade of the assessors.
    mean, low, high : of the assessors' grades of these documents, with an interval over topics.
    relevant : share of these documents that the assessors call relevant; nan on a scale that does not say.
    calibrated : the grade that the model's is recoded to.
    maximum : of the assessors' scale, in which everything but `grade` is.
    difference, difference_low, difference_high : mean of the model's grade minus the assessors': leniency (above 0) or
        severity. Unlike scales are compared over their maximum; nan for magnitudes.
    calibration_error, rmse : root of the mean squared difference of the two by grade, and by document.
    calibration_error_after, rmse_after : the same after recoding, in topics that the recoding did not see.
    n_topics : with documents of both. confidence : of the intervals.
    """

    model: str
    assessors: tuple[str, ...]
    grade: Floats
    n_documents: Ints
    mean: Floats
    low: Floats
    high: Floats
    relevant: Floats
    calibrated: Floats
    maximum: float
    difference: float
    difference_low: float
    difference_high: float
    calibration_error: float
    calibration_error_after: float
    rmse: float
    rmse_after: float
    n_topics: int
    confidence: float

    _COLUMNS = ("grade", "n_documents", "mean", "low", "high", "relevant", "calibrated")

    def _sentence(self) -> str:
        return (
            f"A recoding of {self.model} to the grades of {', '.join(self.assessors)} changes the root mean squared "
            f"error from {self.rmse:.3f} to {self.rmse_after:.3f} in topics that it did not see."
        )


def calibration(
    judgments: Judgments,
    model: str,
    *,
    assessors: Selection | None = None,
    confidence: float = 0.95,
    repeats: Repeats = "first",
) -> Calibration:
    """What each grade of the model means in the assessors' grades, and the error before and after recoding.

    assessors : by name, shell pattern or list of those; default: all but the model. Of several, the mean grade of each
        document counts; unlike scales are divided by their maximum.
    confidence : of the intervals over topics, with the standard error of leaving out one topic at a time.

    Raises
    ------
    NoOverlapError
        Model and assessors judged no document in common.

    >>> grades = {"ann": "0011223", "gpt": "0111233"}
    >>> rows = [(f"q{d}", d, who, int(v)) for who, row in grades.items() for d, v in zip("abcdefg", row)]
    >>> calibration(Judgments.from_rows(rows), "gpt").calibrated.round(2).tolist()
    [0.0, 0.67, 2.0, 2.5]
    """
    check_confidence(confidence)
    pair = _pair(judgments, model, assessors, repeats)
    level, topic = pair.level[pair.judged], pair.topic[pair.judged]
    own, other = pair.value[pair.judged], pair.other[pair.judged]
    after = pair.calibrated()[pair.judged]
    everywhere = _recoding(*pair.sums())
    row, n_rows = _rows(own)
    n_topics = int(pair.topic.max()) + 1

    def by_row(values: Floats) -> Floats:
        return np.asarray(np.bincount(row, values, n_rows) / size)

    def by_topic(values: Floats) -> Floats:
        """(rows, topics) sums."""
        sums = np.bincount(row * n_topics + topic, values, n_rows * n_topics)
        return np.asarray(sums.reshape(n_rows, n_topics), np.float64)

    size = np.bincount(row, minlength=n_rows)
    n = by_topic(np.ones(own.size))
    bounds = (0.0, pair.scale.maximum)
    mean, low, high = jackknife_mean(by_topic(other), n, confidence, bounds=bounds)
    expressed = own * pair.factor
    limits = (-pair.scale.maximum, pair.scale.maximum)
    by_document = expressed - other
    middle, least, most = jackknife_mean(by_topic(by_document).sum(axis=0), n.sum(axis=0), confidence, bounds=limits)
    return Calibration(
        model,
        pair.assessors,
        by_row(own),
        size,
        mean,
        low,
        high,
        by_row(pair.relevant[pair.judged]),
        by_row(everywhere[level]),
        pair.scale.maximum,
        difference=float(middle),
        difference_low=float(least),
        difference_high=float(most),
        calibration_error=float(np.sqrt(np.average(by_row(by_document) ** 2, weights=size))),
        calibration_error_after=float(np.sqrt(np.average((by_row(after) - mean) ** 2, weights=size))),
        rmse=float(np.sqrt((by_document**2).mean())),
        rmse_after=float(np.sqrt(((after - other) ** 2).mean())),
        n_topics=int(np.unique(topic).size),
        confidence=confidence,
    )


def calibrated_judgments(
    judgments: Judgments, model: str, *, assessors: Selection | None = None, repeats: Repeats = "first"
) -> Judgments:
    """The model's judgments, each recoded to the assessors' grades by the topics other than its own.

    A topic is recoded as `calibration` recodes, from all other topics that the assessors judged: what is computed from
    the result did not see the assessors' grades of the topic. A grade that the other topics lack gets a value between
    those of its neighbours. Arguments as of `calibration`.
    """
    pair = _pair(judgments, model, assessors, repeats)
    return replace(pair.judgments, value=pair.calibrated(), scales=(pair.scale,))


# ---------------------------------------------------------------------- how it is computed


class _Pair(NamedTuple):
    """A model's judgments, one row each, and the assessors' of the same documents.

    judgments : of the model alone, at most one of each document. assessors : names of the others.
    value, level : the model's grades, and their numbers, ascending. other, relevant : mean over assessors of grade, and
    of relevant or not; nan where nobody else judged. factor : by which a value of the model is multiplied to be on the
    assessors' scale; nan where that means nothing. topic : number of each row's topic.
    """

    judgments: Judgments
    assessors: tuple[str, ...]
    scale: Scale
    factor: float
    value: Floats
    level: Ints
    topic: Ints
    other: Floats
    relevant: Floats

    @property
    def judged(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.other)

    def sums(self) -> tuple[Floats, Floats]:
        """(levels,) number of documents and sum of the assessors' grades."""
        n, total = self.by_topic()
        return n.sum(axis=0), total.sum(axis=0)

    def by_topic(self) -> tuple[Floats, Floats]:
        """(topics, levels) number of documents and sum of the assessors' grades."""
        shape = int(self.topic.max()) + 1, int(self.level.max()) + 1
        cell = (self.topic * shape[1] + self.level)[self.judged]
        weights = (np.ones(cell.size), self.other[self.judged])
        n, total = (np.bincount(cell, weight, shape[0] * shape[1]).reshape(shape) for weight in weights)
        return n.astype(np.float64), total.astype(np.float64)

    def calibrated(self) -> Floats:
        """(rows,) the model's grades, each topic recoded by the others; by itself where there are no others."""
        n, total = self.by_topic()
        n_without, total_without = n.sum(axis=0) - n, total.sum(axis=0) - total
        alone = np.flatnonzero(n_without.sum(axis=1) == 0)
        n_without[alone], total_without[alone] = n[alone], total[alone]
        judged = n.any(axis=1)
        recodings = np.empty(n.shape)
        recodings[~judged] = _recoding(n.sum(axis=0), total.sum(axis=0))
        for t in np.flatnonzero(judged):
            recodings[t] = _recoding(n_without[t], total_without[t])
        return recodings[self.topic, self.level]


def _pair(judgments: Judgments, model: str, assessors: Selection | None, repeats: Repeats) -> _Pair:
    names = selected_assessors(judgments.assessors, model, assessors, "judgments")
    own = judgments.select(assessors=lambda name: name == model).single(repeats=repeats)
    own = own._take(np.flatnonzero(own.value >= 0))
    people = on_one_scale(judgments.select(assessors=lambda name: name in names), "auto", "rescaled")
    scale = people.scales[0]
    together = people.panel(repeats=repeats)
    topic_number = {name: t for t, name in enumerate(together.pool.topics)}
    document_number = {name: d for d, name in enumerate(together.pool.documents)}
    width = len(document_number)
    topic = np.array([topic_number.get(name, -1) for name in own.topics], np.int64)[own.topic]
    document = np.array([document_number.get(name, -1) for name in own.documents], np.int64)[own.document]
    starts = together.pool.starts
    pairs = np.repeat(np.arange(starts.size - 1), np.diff(starts)) * width + together.pool.document
    numbers = np.where((topic >= 0) & (document >= 0), topic * width + document, -1)
    place = np.minimum(np.searchsorted(pairs, numbers), pairs.size - 1)
    shared = pairs[place] == numbers
    grades = together.values[place]
    other = np.where(shared, known_mean(grades, axis=1), np.nan)
    if np.isnan(other).all():
        raise NoOverlapError(
            f"model {model!r} and {', '.join(names[:3])}{' ...' if names[3:] else ''} judged no document in common; "
            "check that both are of the same collection"
        )
    relevant = np.full(other.size, np.nan)
    if scale.rel is not None:
        relevant = known_mean(np.where(np.isnan(grades), np.nan, grades >= scale.rel), axis=1)
    level, _ = _grouped(own.value, MOST_LEVELS)
    values = (own.value, level, own.topic.astype(np.int64), other, relevant)
    return _Pair(own, names, _of_means(scale), _factor(own.scales[0], scale), *values)


def _of_means(scale: Scale) -> Scale:
    """The scale of mean grades: any value up to the maximum, relevant from the same value on."""
    if scale.kind == "magnitude":
        return scale
    return Scale("fractions", scale.maximum, scale.declared, scale.rel)


def _factor(own: Scale, scale: Scale) -> float:
    if alike((own, scale)):
        return 1.0
    return np.nan if "magnitude" in (own.kind, scale.kind) else scale.maximum / own.maximum


def _grouped(values: Floats, most: int) -> tuple[Ints, int]:
    """Number of the group of each value, ascending, and how many groups there are.

    A group is a distinct value; where there are more than `most`, about as many documents with neighbouring values.
    """
    distinct, code, counts = np.unique(values, return_inverse=True, return_counts=True)
    if distinct.size <= most:
        return code, distinct.size
    middle = np.cumsum(counts) - counts / 2
    group, number = np.unique((middle * most / values.size).astype(np.int64), return_inverse=True)
    return number[code], group.size


def _rows(values: Floats) -> tuple[Ints, int]:
    return _grouped(values, MOST_ROWS)


def _recoding(n: Floats, total: Floats) -> Floats:
    """(levels,) mean of the assessors' grades of each level, ordered; between neighbours where a level has none."""
    from scipy.optimize import isotonic_regression

    used = np.flatnonzero(n)
    ordered = isotonic_regression(total[used] / n[used], weights=n[used]).x
    return np.asarray(np.interp(np.arange(n.size), used, ordered))


def jackknife_interval(
    value: Floats, without: Floats, n: Floats, confidence: float, *, bounds: Bounds = UNBOUNDED
) -> tuple[Floats, Floats]:
    """Low and high end of Student's interval with the standard error of leaving out one topic at a time.

    value : (...). without : (..., topics) the same without each topic; nan where nothing is left. n : (..., topics)
    documents of each topic; a topic without documents is none.

    The degrees of freedom are (sum n)^2 / sum n^2 - 1, as for `topics_t`: the number of topics less one where all are
    of equal size. nan where there are fewer than two topics, or where the statistic needs one of them.
    """
    from scipy.special import stdtrit

    there = n > 0
    n_topics = there.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.where(there, without, 0.0).sum(axis=-1) / n_topics
        squares = (np.where(there, without - centre[..., None], 0.0) ** 2).sum(axis=-1)
        standard_error = np.sqrt((n_topics - 1) / n_topics * squares)
        freedom = n.sum(axis=-1) ** 2 / (n**2).sum(axis=-1) - 1
        half = np.where(freedom > 0, stdtrit(np.maximum(freedom, 1e-9), (1 + confidence) / 2), np.nan) * standard_error
    return cut(value - half, value + half, bounds)


def jackknife_mean(
    total: Floats, n: Floats, confidence: float, *, bounds: Bounds = UNBOUNDED
) -> tuple[Floats, Floats, Floats]:
    """Mean over documents, and its interval; total, n : (..., topics) sum of the values and number of documents."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total.sum(axis=-1) / n.sum(axis=-1)
        without = (total.sum(axis=-1, keepdims=True) - total) / (n.sum(axis=-1, keepdims=True) - n)
    return mean, *jackknife_interval(mean, without, n, confidence, bounds=bounds)
