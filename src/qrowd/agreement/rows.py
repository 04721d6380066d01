"""Judgments row by row, beside what others said of the same documents, for what is computed assessor by assessor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from qrowd.agreement.reference import Held, pair_numbers
from qrowd.errors import ScaleError
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.scales import Scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """At most one judgment of each assessor and document, document by document; arrays are (rows,).

    starts : (documents + 1,); place : from 0, the assessor's first judgment, to 1, their last, by the order of judging;
        nan where that was not recorded. order_from : what recorded it, "order" or "time"; "" where nothing did.
    difference : severity of the single judgment; nan where nobody else judged the document.
    """

    assessors: tuple[str, ...]
    scale: Scale
    starts: Ints
    who: Ints
    topic: Ints
    value: Floats
    place: Floats
    order_from: str
    gold: Floats
    difference: Floats

    @classmethod
    def of(cls, judgments: Judgments, scale: Scale, repeats: Repeats, held: Held | None) -> Rows:
        one = judgments.single(repeats)
        number = {name: i for i, name in enumerate(judgments.assessors)}
        who = np.array([number[name] for name in one.assessors], np.int64)[one.assessor]
        said = np.flatnonzero(one.value >= 0)
        order, order_from = order_of_judging(one)
        place = _places(order, who, said)
        pairs = pair_numbers(one)
        rows = said[np.argsort(pairs[said], kind="stable")]
        pair, value = pairs[rows], one.value[rows]
        begins = np.flatnonzero(np.append(True, pair[1:] != pair[:-1]))
        starts = np.append(begins, pair.size).astype(np.int64)
        size = np.repeat(np.diff(starts), np.diff(starts))
        if scale.kind == "magnitude" and (value == 0).any():
            raise ScaleError(
                "a magnitude of 0 has no logarithm; a magnitude must be above 0, so recode or leave it out"
            )
        unit = np.log(value) if scale.kind == "magnitude" else value / scale.maximum
        total = np.repeat(np.add.reduceat(unit, begins), np.diff(starts))
        with np.errstate(invalid="ignore", divide="ignore"):
            difference = np.where(size > 1, (total - unit) / (size - 1) - unit, np.nan)
        gold = np.full(rows.size, np.nan) if held is None else held.grades_of(one.topics, one.documents)(pair)
        topic = one.topic[rows].astype(np.int64)
        return cls(
            judgments.assessors, scale, starts, who[rows], topic, value, place[rows], order_from, gold, difference
        )

    def unit(self, value: Floats) -> Floats:
        """Values over the scale's maximum, or logarithms of magnitudes."""
        return np.log(value) if self.scale.kind == "magnitude" else value / self.scale.maximum

    def number(self, which: NDArray[np.bool_]) -> Ints:
        """(assessors,) rows of which that holds."""
        return np.bincount(self.who[which], minlength=len(self.assessors))

    def sum(self, x: Floats) -> Floats:
        """(assessors,) sum of what is not nan."""
        known = ~np.isnan(x)
        return np.asarray(np.bincount(self.who[known], x[known], minlength=len(self.assessors)), np.float64)

    def mean(self, x: Floats) -> tuple[Floats, Floats]:
        """(assessors,) mean of what is not nan, and its standard error."""
        n = self.number(~np.isnan(x))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = self.sum(x) / n
            error = np.sqrt(self.sum((x - mean[self.who]) ** 2) / (n - 1) / n)
        return mean, np.where(n > 1, error, np.nan)

    def slope(self, y: Floats) -> tuple[Floats, Floats]:
        """(assessors,) of the line of y over place, and the two-sided p of its t-test; nan below three places.

        Topics differ, and an assessor often works through one after the other, so the standard error is that of leaving
        out one topic at a time (topics - 1 degrees of freedom). With one topic it is the usual one.
        """
        from scipy.special import stdtr

        known = ~np.isnan(y) & ~np.isnan(self.place)
        x, y = self.place[known], y[known]
        topic = np.unique(self.topic[known], return_inverse=True)[1]
        shape = len(self.assessors), int(topic.max(initial=-1)) + 1
        cell = self.who[known] * shape[1] + topic
        parts = np.array(
            [np.bincount(cell, of, minlength=shape[0] * shape[1]).reshape(shape) for of in (x**0, x, y, x * x, x * y)]
        )
        whole = parts.sum(axis=2, keepdims=True)
        there = parts[0] > 0
        n, n_topics = whole[0, :, 0], there.sum(axis=1)
        slope = _slope(whole)[:, 0]
        without = np.where(there, _slope(whole - parts), np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.nansum(without, axis=1) / n_topics
            by_topic = (n_topics - 1) / n_topics * np.nansum((without - mean[:, None]) ** 2, axis=1)
            yy = np.bincount(self.who[known], y * y, minlength=shape[0]) - whole[2, :, 0] ** 2 / n
            xx = whole[3, :, 0] - whole[1, :, 0] ** 2 / n
            alone = np.maximum(yy - slope**2 * xx, 0.0) / (n - 2) / xx
            error = np.sqrt(np.where(n_topics > 1, by_topic, alone))
            # Where a topic left out leaves no line, or all are on an exact line, there is nothing to test with.
            lost = (np.isnan(without) & there).any(axis=1) & (n_topics > 1)
            testable = (n > 2) & ~lost & (error > 1e-9 * np.sqrt(yy / xx))
            freedom = np.maximum(np.where(n_topics > 1, n_topics - 1, n - 2), 1)
            p = np.where(testable, 2 * stdtr(freedom, -np.abs(slope / error)), np.nan)
        return np.where(n > 2, slope, np.nan), p


def order_of_judging(judgments: Judgments) -> tuple[Floats, str]:
    """(rows,) what rises as an assessor goes on, nan where unknown; and the column it is from, "order" or "time".

    Lines of a file are in no order of judging: qrels are sorted by topic and document. Times are numbers or ISO 8601.
    """
    if judgments.order is not None:
        return judgments.order, "order"
    unknown = np.full(len(judgments), np.nan)
    if judgments.time is None:
        return unknown, ""
    seconds = np.array([_seconds(time) for time in judgments.time])
    return (unknown, "") if np.isnan(seconds).all() else (seconds, "time")


def _seconds(time: object) -> float:
    """Since 1970, or whatever a number counts from; nan for what is no time."""
    try:
        return float(str(time))
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(str(time).strip())
    except ValueError:
        return np.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _places(order: Floats, who: Ints, said: Ints) -> Floats:
    """(rows,) each judgment's place among those of its assessor, from 0 to 1; nan where its order is unknown."""
    place = np.full(order.size, np.nan)
    known = said[~np.isnan(order[said])]
    by_who = known[np.lexsort((order[known], who[known]))]
    count = np.bincount(who[known])
    turn = np.arange(by_who.size) - np.repeat(np.cumsum(count) - count, count)
    place[by_who] = turn / np.maximum(np.repeat(count, count) - 1, 1)
    return place


def _slope(sums: Floats) -> Floats:
    """Of the least-squares line, from the sums (5, ...) of 1, x, y, x x and x y; nan where x does not vary."""
    n, x, y, xx, xy = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = xx - x * x / n
        return np.where(spread > 1e-12, (xy - x * y / n) / spread, np.nan)
