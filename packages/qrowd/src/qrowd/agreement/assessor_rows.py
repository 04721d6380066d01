"""Judgments row by row with the others' judgments of the same documents, for statistics of each assessor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ScaleError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.counts import value_counts
from qrowd.kernels.disagreement import NOMINAL, RATIO, Difference, Level, mid_ranks, to_the_others
from qrowd.model.gold import AgainstGold
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.scales import Scale

CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class Rows:
    """At most one judgment of each assessor and document, document by document; arrays are (rows,).

    starts : (documents + 1,) first row of every document.
    place : from 0, the assessor's first judgment, to 1, the last, by the order of judging; nan if not recorded.
    order_from : the column that recorded the order, "order" or "time"; "" if none did.
    gold : the gold grade of the document; nan if there is none.
    difference : severity of the single judgment; nan if no other assessor judged the document.
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
    def of(cls, judgments: Judgments, scale: Scale, repeats: Repeats, with_gold: AgainstGold | None) -> Rows:
        one = judgments.single(repeats=repeats)
        number = {name: i for i, name in enumerate(judgments.assessors)}
        who = np.array([number[name] for name in one.assessors], np.int64)[one.assessor]
        judged = np.flatnonzero(one.value >= 0)
        order, order_from = order_of_judging(one)
        place = _places(order, who, judged)
        pairs = one.pair_numbers
        rows = judged[np.argsort(pairs[judged], kind="stable")]
        pair, value = pairs[rows], one.value[rows]
        begins = np.flatnonzero(np.append(True, pair[1:] != pair[:-1]))
        starts = np.append(begins, pair.size).astype(np.int64)
        size = np.repeat(np.diff(starts), np.diff(starts))
        if scale.kind == "magnitude" and (value == 0).any():
            raise ScaleError("a magnitude of 0 has no logarithm; recode it or leave it out")
        rescaled = _rescaled(value, scale)
        total = np.repeat(np.add.reduceat(rescaled, begins), np.diff(starts))
        with np.errstate(invalid="ignore", divide="ignore"):
            difference = np.where(size > 1, (total - rescaled) / (size - 1) - rescaled, np.nan)
        gold = np.full(rows.size, np.nan) if with_gold is None else with_gold.grades_of(one.topics, one.documents)(pair)
        topic = one.topic[rows].astype(np.int64)
        return cls(
            judgments.assessors, scale, starts, who[rows], topic, value, place[rows], order_from, gold, difference
        )

    def rescaled(self, value: Floats) -> Floats:
        """Values over the scale's maximum, or logarithms of magnitudes."""
        return _rescaled(value, self.scale)

    def number(self, mask: NDArray[np.bool_]) -> Ints:
        """(assessors,) number of rows where the mask is True."""
        return np.bincount(self.who[mask], minlength=len(self.assessors))

    def sum(self, x: Floats) -> Floats:
        """(assessors,) sum of the values that are not nan."""
        defined = ~np.isnan(x)
        return np.asarray(np.bincount(self.who[defined], x[defined], minlength=len(self.assessors)), np.float64)

    def mean(self, x: Floats) -> tuple[Floats, Floats]:
        """(assessors,) mean of the values that are not nan, and its standard error."""
        n = self.number(~np.isnan(x))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = self.sum(x) / n
            error = np.sqrt(self.sum((x - mean[self.who]) ** 2) / (n - 1) / n)
        return mean, np.where(n > 1, error, np.nan)

    def slope(self, y: Floats) -> tuple[Floats, Floats]:
        """(assessors,) slope of the line of y over place, and the two-sided p of its t-test; nan below three places.

        Topics differ, and an assessor often judges one after the other, so the standard error is the jackknife over
        topics (topics - 1 degrees of freedom). With one topic it is the usual one.
        """
        from scipy.special import stdtr

        used = ~np.isnan(y) & ~np.isnan(self.place)
        x, y = self.place[used], y[used]
        topic = np.unique(self.topic[used], return_inverse=True)[1]
        shape = len(self.assessors), int(topic.max(initial=-1)) + 1
        cell = self.who[used] * shape[1] + topic
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
            yy = np.bincount(self.who[used], y * y, minlength=shape[0]) - whole[2, :, 0] ** 2 / n
            xx = whole[3, :, 0] - whole[1, :, 0] ** 2 / n
            alone = np.maximum(yy - slope**2 * xx, 0.0) / (n - 2) / xx
            error = np.sqrt(np.where(n_topics > 1, by_topic, alone))
            # No test is possible if leaving out a topic leaves no line, or if all points are on a line.
            is_lost = (np.isnan(without) & there).any(axis=1) & (n_topics > 1)
            testable = (n > 2) & ~is_lost & (error > 1e-9 * np.sqrt(yy / xx))
            freedom = np.maximum(np.where(n_topics > 1, n_topics - 1, n - 2), 1)
            p = np.where(testable, 2 * stdtr(freedom, -np.abs(slope / error)), np.nan)
        return np.where(n > 2, slope, np.nan), p


class BeyondChance:
    """Agreement of each assessor beyond chance, with the others and with gold, at a level of measurement."""

    def __init__(self, rows: Rows, level: Level) -> None:
        self.rows = rows
        values = np.unique(np.concatenate([rows.value, rows.gold[~np.isnan(rows.gold)]]))
        self.values, self.code = values, np.searchsorted(values, rows.value)
        self.size = np.diff(rows.starts)
        self.counts = value_counts(rows.starts, self.code.astype(np.int32), values.size)
        totals = np.bincount(self.code, minlength=values.size).astype(np.float64)
        self.x = mid_ranks(totals) if level == "ordinal" else values
        self.difference = Difference(self.x, "interval" if level == "ordinal" else level)
        others = np.repeat(self.size, self.size) - 1
        self.weight = np.divide(1.0, others, out=np.zeros(others.size), where=others > 0)

    def with_others(self) -> tuple[Floats, Floats]:
        """(assessors,) agreement and its standard error."""
        out = np.empty(self.rows.who.size)
        to_the_others(self.rows.starts, self.x[self.code], np.ones(out.size), self.difference.code, out)
        shared = self.weight > 0
        own = self._table(np.where(shared, 1.0, 0.0), self.code)
        return self._beyond_chance(out, own, self._others())

    def with_gold(self) -> tuple[Floats, Floats]:
        """(assessors,) agreement and its standard error; nan without gold."""
        has_gold = ~np.isnan(self.rows.gold)
        gold = np.searchsorted(self.values, np.where(has_gold, self.rows.gold, self.values[0]))
        a, b = self.x[self.code], self.x[gold]
        if self.difference.code == NOMINAL:
            squared = (a != b).astype(np.float64)
        elif self.difference.code == RATIO:
            squared = np.divide(a - b, a + b, out=np.zeros(a.size), where=a + b > 0) ** 2
        else:
            squared = (a - b) ** 2
        ones = has_gold.astype(np.float64)
        return self._beyond_chance(
            np.where(has_gold, squared, np.nan), self._table(ones, self.code), self._table(ones, gold)
        )

    def share_of_others(self, grades: Floats) -> Floats:
        """(assessors, grades) how often the others gave each grade to the documents that the assessor judged."""
        if not grades.size:
            return np.zeros((len(self.rows.assessors), 0))
        table = self._others().toarray()[:, np.searchsorted(self.values, grades)]
        with np.errstate(invalid="ignore"):
            return np.asarray(table / table.sum(axis=1, keepdims=True))

    def _others(self) -> Any:
        """(assessors, values) how often others gave each value to an assessor's documents, of weight 1 each."""
        from scipy.sparse import csr_array

        document = np.repeat(np.arange(self.size.size), self.size)
        shape = (len(self.rows.assessors), self.size.size)
        mine = csr_array((self.weight, (self.rows.who, document)), shape=shape)
        return csr_array(mine @ csr_array(self.counts)) - self._table(self.weight, self.code)

    def _table(self, weight: Floats, code: NDArray[np.integer]) -> Any:
        """(assessors, values) sparse sums of weights by assessor and value."""
        from scipy.sparse import csr_array

        return csr_array((weight, (self.rows.who, code)), shape=(len(self.rows.assessors), self.values.size))

    def _beyond_chance(self, squared: Floats, own: Any, others: Any) -> tuple[Floats, Floats]:
        observed, standard_error = self.rows.mean(squared)
        n = self.rows.number(~np.isnan(squared))
        expected = np.empty(n.size)
        step = max(1, CELLS_AT_ONCE // self.values.size)
        for a in range(0, n.size, step):
            here = slice(a, a + step)
            expected[here] = self.difference.between(own[here].toarray(), others[here].toarray())
        with np.errstate(invalid="ignore", divide="ignore"):
            expected = expected / n.astype(np.float64) ** 2
            varies = expected > 0
            agreement = np.where(varies, 1 - observed / expected, np.nan)
            return agreement, np.where(varies, standard_error / expected, np.nan)


def order_of_judging(judgments: Judgments) -> tuple[Floats, str]:
    """(rows,) the order of judging, nan where unknown, and the column it is from, "order" or "time".

    The lines of a file are not an order of judging: qrels are sorted by topic and document. Times are numbers or
    ISO 8601.
    """
    if judgments.order is not None:
        return judgments.order, "order"
    unknown = np.full(len(judgments), np.nan)
    if judgments.time is None:
        return unknown, ""
    seconds = np.array([_seconds(time) for time in judgments.time])
    return (unknown, "") if np.isnan(seconds).all() else (seconds, "time")


def _seconds(time: object) -> float:
    """Seconds since 1970, or since any other origin of numbers; nan for a text that is not a time."""
    try:
        return float(str(time))
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(str(time).strip())
    except ValueError:
        return np.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _rescaled(value: Floats, scale: Scale) -> Floats:
    return np.log(value) if scale.kind == "magnitude" else value / scale.maximum


def _places(order: Floats, who: Ints, judged: Ints) -> Floats:
    """(rows,) place of each judgment among those of its assessor, from 0 to 1; nan if its order is unknown."""
    place = np.full(order.size, np.nan)
    ordered = judged[~np.isnan(order[judged])]
    by_who = ordered[np.lexsort((order[ordered], who[ordered]))]
    count = np.bincount(who[ordered])
    turn = np.arange(by_who.size) - np.repeat(np.cumsum(count) - count, count)
    place[by_who] = turn / np.maximum(np.repeat(count, count) - 1, 1)
    return place


def _slope(sums: Floats) -> Floats:
    """Slope of the least-squares line from the sums (5, ...) of 1, x, y, x x and x y; nan if x does not vary."""
    n, x, y, xx, xy = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        variation = xx - x * x / n
        return np.where(variation > 1e-12, (xy - x * y / n) / variation, np.nan)
