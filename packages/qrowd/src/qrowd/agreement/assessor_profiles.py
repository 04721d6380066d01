"""One row per assessor: judgments, severity, agreement with the other assessors, with gold and with themselves.

These are descriptions: none of them says which assessor is right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.agreement.document_counts import LEVEL_OF, unlike_at
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError, check_choice
from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.kernels.counts import value_counts
from qrowd.kernels.disagreement import NOMINAL, RATIO, Difference, Level, mid_ranks, to_the_others
from qrowd.model.gold import AgainstGold, Gold, against
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments, Repeats, concatenate_judgments
from qrowd.model.labels import distinct_values, first_of, plural
from qrowd.model.one_scale import Combined, CombineScales, combined_how, on_one_scale
from qrowd.model.result import Result
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
        pair = pairs[rows]
        value = one.value[rows]
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

    def number(self, mask: Bools) -> Ints:
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
        x = self.place[used]
        y = y[used]
        topic = np.unique(self.topic[used], return_inverse=True)[1]
        shape = len(self.assessors), int(topic.max(initial=-1)) + 1
        cell = self.who[used] * shape[1] + topic
        parts = np.array(
            [np.bincount(cell, of, minlength=shape[0] * shape[1]).reshape(shape) for of in (x**0, x, y, x * x, x * y)]
        )
        whole = parts.sum(axis=2, keepdims=True)
        there = parts[0] > 0
        n = whole[0, :, 0]
        n_topics = there.sum(axis=1)
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
        self.values = values
        self.code = np.searchsorted(values, rows.value)
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
        a = self.x[self.code]
        b = self.x[gold]
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
            expected = expected / n**2.0
            varies = (expected > 0) & (n > 1)
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


MOST_GRADES = 11  # that get a column each
MAD_TO_SD = 1.4826  # turns a median absolute deviation into a standard deviation, for normal numbers


@dataclass(frozen=True, eq=False)
class AssessorProfiles(Result):
    """Statistics of each assessor; every array is (assessors,) unless said otherwise, nan where undefined.

    n_judgments : documents judged, repeats aside. n_topics : their topics. n_shared : documents that another assessor
        judged too.
    scale : the one on which values are compared. level : of measurement.
    grades, share : (grades,) and (assessors, grades) how often each grade was given, on each assessor's own scale; both
        empty if there are too many values.
    severity : mean over shared documents of the others' mean value minus the assessor's value, over the scale's
        maximum; positive is severe, negative is lenient. Magnitudes: of natural logarithms.
    agreement : with the others, beyond chance: 1 - observed / expected. Observed is the mean squared difference (of
        `level`) between the assessor's judgment and another's of the same document, documents weighing the same;
        expected is that between any judgment of theirs and any of the others' of these documents. An assessor who gives
        one grade throughout has 0; of a single document it is undefined, since observed and expected are the same.
    severity_standard_error, agreement_standard_error : over documents; of agreement with expected held fixed.
    n_repeated : documents judged more than once. consistency : share of them that got the same value every time.
    drift : change of leniency (minus severity) from the first judgment to the last, by a straight line.
    drift_p : of its t-test, leaving out topics in turn. Both need a recorded order of judging.
    order_from : the column that recorded the order, "order" or "time"; "" if none did.
    seconds : median per judgment.
    gold : its name. n_gold : judged documents with a gold grade.
    gold_share : share of these that got exactly the gold grade (on unlike scales: the same relevance as in gold).
    gold_agreement, gold_severity : as with the others, with gold in their place.
    gold_agreement_standard_error, gold_severity_standard_error, log_seconds_standard_error : of these and of the
        logarithm of `seconds`.
    constant : for assessors who gave one grade throughout, why that is not by chance; else "".
    threshold, min_documents : the options of the rule for `reasons`.
    """

    assessors: tuple[str, ...]
    scale: Scale
    level: Level
    n_judgments: Ints
    n_topics: Ints
    n_shared: Ints
    grades: Floats
    share: Floats
    severity: Floats
    severity_standard_error: Floats
    agreement: Floats
    agreement_standard_error: Floats
    n_repeated: Ints
    consistency: Floats
    drift: Floats
    drift_p: Floats
    order_from: str
    seconds: Floats
    log_seconds_standard_error: Floats
    gold: str | None
    n_gold: Ints
    gold_share: Floats
    gold_agreement: Floats
    gold_agreement_standard_error: Floats
    gold_severity: Floats
    gold_severity_standard_error: Floats
    constant: tuple[str, ...]
    threshold: float
    min_documents: int

    def _sentence(self) -> str:
        outlying = [name for name, why in zip(self.assessors, self.reasons, strict=True) if why]
        who = "none stands out"
        if outlying:
            who = f"{first_of(outlying, 5)} {'stands' if len(outlying) == 1 else 'stand'} out"
        return f"{plural(len(self.assessors), 'assessor')} on the scale {self.scale}: {who}."

    @cached_property
    def reasons(self) -> tuple[tuple[str, ...], ...]:
        """(assessors,) why an assessor is outlying, in words; empty for an assessor who is not.

        A statistic is outlying if its distance from the panel's median is more than `threshold` times the square root
        of (its standard error)^2 + (the panel's standard deviation)^2, the latter being 1.4826 times the median
        absolute deviation; fast is nobody who takes half the median time or longer. Only assessors with at least
        `min_documents` documents behind the statistic are tested and enter the median. Two reasons need no panel: a
        drift whose p-value, corrected for the number of assessors, is below .05; and one grade throughout, if giving
        grades as often as the others did to the same documents would lead to it with probability below .001.
        """
        reasons: list[list[str]] = [[] for _ in self.assessors]
        sides = (-1, 1)
        unit = "in logarithms" if self.scale.kind == "magnitude" else "of the scale"

        def judged(than: str) -> Callable[[float, float, int], str]:
            def text(value: float, median: float, n: int) -> str:
                return (
                    f"{'severe' if value > median else 'lenient'}: {-value:+.2f} {unit} relative to {than} "
                    f"(panel median {0.0 - median:+.2f}, {n:,} documents)"
                )

            return text

        def agreeing(whom: str) -> Callable[[float, float, int], str]:
            return lambda value, median, n: (
                f"low agreement with {whom}: {value:.2f} (panel median {median:.2f}, {n:,} documents)"
            )

        n_shared = self.n_shared
        often = self.n_repeated >= self.min_documents
        typical = np.nanmedian(self.consistency[often]) if often.any() else np.nan
        binomial_error = np.sqrt(typical * (1 - typical) / np.maximum(self.n_repeated, 1))
        speed_error = np.fmax(self.log_seconds_standard_error, np.log(2) / self.threshold)
        for n, value, standard_error, on_sides, text in (
            (n_shared, self.severity, self.severity_standard_error, sides, judged("the others")),
            (n_shared, self.agreement, self.agreement_standard_error, (-1,), agreeing("the others")),
            (self.n_gold, self.gold_agreement, self.gold_agreement_standard_error, (-1,), agreeing("gold")),
            (self.n_gold, self.gold_severity, self.gold_severity_standard_error, sides, judged("gold")),
            (self.n_repeated, self.consistency, binomial_error, (-1,), _inconsistent),
            (n_shared, np.log(self.seconds), speed_error, (-1,), _fast),
        ):
            for a, median in self._outliers(n, value, standard_error, on_sides):
                reasons[a].append(text(float(value[a]), median, int(n[a])))
        drifting = (n_shared >= self.min_documents) & (self.drift_p * len(self.assessors) < 0.05)
        for a in np.flatnonzero(drifting).tolist():
            way = "lenient" if self.drift[a] > 0 else "severe"
            amount = f"{abs(self.drift[a]):.2f} more {way} at the last judgment than at the first"
            reasons[a].append(f"drift: {amount} (p = {self.drift_p[a]:.1g})")
        for a, reason in enumerate(self.constant):
            if reason:
                reasons[a].append(reason)
        return tuple(map(tuple, reasons))

    def _outliers(
        self, n: Ints, value: Floats, standard_error: Floats, sides: tuple[int, ...]
    ) -> list[tuple[int, float]]:
        """Numbers of the assessors whose statistic is outlying on one of the sides, each with the panel's median."""
        tested = (n >= self.min_documents) & ~np.isnan(value)
        if tested.sum() < 3:  # of two assessors, neither can be called the outlier
            return []
        median = float(np.median(value[tested]))
        distance = value - median
        sd = MAD_TO_SD * float(np.median(np.abs(distance[tested])))
        limit = self.threshold * np.sqrt(np.nan_to_num(standard_error) ** 2 + sd**2)
        outside = tested & (np.abs(distance) > limit + 1e-9) & np.isin(np.sign(distance), sides)
        return [(int(a), median) for a in np.flatnonzero(outside)]

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "assessor": self.assessors,
            "n_judgments": self.n_judgments,
            "n_topics": self.n_topics,
            "n_shared": self.n_shared,
        }
        columns |= {f"share_{grade:g}": share for grade, share in zip(self.grades, self.share.T, strict=True)}
        names = ["severity", "severity_standard_error", "agreement", "agreement_standard_error"]
        names += ["n_repeated", "consistency"]
        if self.order_from:
            names += ["drift", "drift_p"]
        if not np.isnan(self.seconds).all():
            names.append("seconds")
        if self.gold is not None:
            names += ["n_gold", "gold_share", "gold_agreement", "gold_severity"]
        columns |= {name: getattr(self, name) for name in names}
        columns["outlying"] = np.array([bool(reasons) for reasons in self.reasons])
        columns["reasons"] = ["; ".join(reasons) for reasons in self.reasons]
        return columns


def _inconsistent(value: float, median: float, n: int) -> str:
    return f"inconsistent: same grade for {value:.0%} of {n:,} documents judged again (panel median {median:.0%})"


def _fast(value: float, median: float, n: int) -> str:
    return f"fast: {np.exp(value):.3g} s per judgment (panel median {np.exp(median):.3g} s)"


def assessor_profiles(
    judgments: Judgments,
    *,
    gold: Gold | None = None,
    level: Level | None = None,
    threshold: float = 3.0,
    min_documents: int = 10,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
) -> AssessorProfiles:
    """Statistics of each assessor; `AssessorProfiles` defines them.

    Parameters
    ----------
    gold : the name of an assessor of the judgments (who then has no row), the judgments of one assessor, or
        {(topic, document): grade} on the assessors' scale.
    level : of measurement, for agreement (default: what the assessors' scale allows).
    threshold, min_documents : when an assessor is outlying; see `AssessorProfiles.reasons`.
    repeats : which of an assessor's judgments of the same document counts.
    combine_scales : how values on unlike scales are combined for severity and agreement; "auto" divides values by their
        scale's maximum (level "nominal": relevant or not).

    Raises
    ------
    ScaleError
        Magnitudes beside another scale; "as-is" of scales that cannot be one; a magnitude of 0.
    NoOverlapError
        There are no judgments; gold has no grade for any judged document.
    """
    if level is not None:
        check_choice("level", level, Level)
    if threshold <= 0 or min_documents < 2:
        raise ArgumentError(f"threshold={threshold}, min_documents={min_documents}: expected above 0, and 2 or more")
    with_gold = None if gold is None else against(judgments, gold, repeats=repeats)
    everything = judgments if with_gold is None else with_gold.judgments
    if not (everything.value >= 0).any():
        raise NoOverlapError("there are no judgments, so there are no assessors to describe")
    both = everything if with_gold is None else concatenate_judgments([everything, with_gold.gold])
    how = combined_how(both.scales, combine_scales, unlike_at(level))
    scale = on_one_scale(both, how, how).shared_scale()
    level = level or LEVEL_OF[scale.kind]
    rows = _rows(everything, with_gold, how, scale, repeats)
    own = rows if how == "as-is" else _rows(everything, with_gold, "as-is", scale, repeats)
    # Values divided by different maxima are never equal, so relevance is compared instead of grades.
    by_shares = how == "rescaled" and not alike(both.scales)
    categories = _rows(everything, with_gold, "relevant", scale, repeats) if by_shares else own
    n = len(rows.assessors)
    beyond_chance = BeyondChance(rows, level)
    agreement, agreement_standard_error = beyond_chance.with_others()
    gold_agreement, gold_agreement_standard_error = beyond_chance.with_gold()
    severity, severity_standard_error = rows.mean(rows.difference)
    gold_severity, gold_severity_standard_error = rows.mean(rows.rescaled(rows.gold) - rows.rescaled(rows.value))
    gold_share, _ = rows.mean(np.where(np.isnan(rows.gold), np.nan, categories.gold == categories.value))
    drift, drift_p = rows.slope(-rows.difference)
    n_repeated, consistency = _with_themselves(everything)
    grades, share = _shares(own)
    seconds, log_seconds_standard_error = _speed(everything)
    n_shared = rows.number(~np.isnan(rows.difference))
    n_gold = rows.number(~np.isnan(rows.gold))
    return AssessorProfiles(
        assessors=rows.assessors,
        scale=scale,
        level=level,
        n_judgments=rows.number(rows.value >= 0),
        n_topics=np.array([np.unique(rows.topic[rows.who == a]).size for a in range(n)]),
        n_shared=n_shared,
        grades=grades,
        share=share,
        severity=severity,
        severity_standard_error=severity_standard_error,
        agreement=agreement,
        agreement_standard_error=agreement_standard_error,
        n_repeated=n_repeated,
        consistency=consistency,
        drift=drift,
        drift_p=drift_p,
        order_from=rows.order_from,
        seconds=seconds,
        log_seconds_standard_error=log_seconds_standard_error,
        gold=None if with_gold is None else with_gold.name,
        n_gold=n_gold,
        gold_share=gold_share,
        gold_agreement=gold_agreement,
        gold_agreement_standard_error=gold_agreement_standard_error,
        gold_severity=gold_severity,
        gold_severity_standard_error=gold_severity_standard_error,
        constant=_constant(categories, level, n_shared, min_documents, by_shares),
        threshold=threshold,
        min_documents=min_documents,
    )


def _rows(everything: Judgments, with_gold: AgainstGold | None, how: Combined, scale: Scale, repeats: Repeats) -> Rows:
    """The judgments with the gold grades, brought onto one scale."""
    if how != "as-is":
        everything = on_one_scale(everything, how, how)
        if with_gold is not None:
            with_gold = replace(with_gold, judgments=everything, gold=on_one_scale(with_gold.gold, how, how))
    return Rows.of(everything, scale, repeats, with_gold)


def _constant(rows: Rows, level: Level, n_shared: Ints, min_documents: int, relevance: bool) -> tuple[str, ...]:
    """(assessors,) the reason why one grade throughout is unlikely to be chance; "" for the other assessors."""
    grades, share = _shares(rows)
    names = ("0 (not relevant)", "1 (relevant)") if relevance else tuple(f"{grade:g}" for grade in grades)
    share_of_others = BeyondChance(rows, level).share_of_others(grades)
    reasons = [""] * len(rows.assessors)
    for a, g in np.argwhere(share == 1):
        if n_shared[a] >= min_documents and share_of_others[a, g] ** int(n_shared[a]) < 0.001:
            reasons[a] = f"always grade {names[g]}: others gave it to {share_of_others[a, g]:.0%} of the same documents"
    return tuple(reasons)


def _with_themselves(judgments: Judgments) -> tuple[Ints, Floats]:
    """(assessors,) documents judged more than once, and the share of them that got the same value every time."""
    n = len(judgments.assessors)
    judged = np.flatnonzero(judgments.value >= 0)
    key = judgments.pair_numbers[judged] * n + judgments.assessor[judged]
    order = np.argsort(key, kind="stable")
    key = key[order]
    value = judgments.value[judged][order]
    begins = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    again = np.diff(np.append(begins, key.size)) > 1
    same = np.maximum.reduceat(value, begins) == np.minimum.reduceat(value, begins)
    who = (key[begins] % n).astype(np.int64)
    repeated = np.bincount(who[again], minlength=n)
    with np.errstate(invalid="ignore"):
        return repeated, np.bincount(who[again], same[again], minlength=n) / np.where(repeated, repeated, np.nan)


def _shares(rows: Rows) -> tuple[Floats, Floats]:
    """(grades,) and (assessors, grades) share of each; empty if there are too many."""
    grades, code = distinct_values(rows.value)
    n = len(rows.assessors)
    if grades.size > MOST_GRADES:
        return np.empty(0), np.empty((n, 0))
    counts = np.bincount(rows.who * grades.size + code, minlength=n * grades.size).reshape(n, grades.size)
    with np.errstate(invalid="ignore"):
        return grades, np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _speed(judgments: Judgments) -> tuple[Floats, Floats]:
    """(assessors,) median seconds, and the standard error of its logarithm."""
    n = len(judgments.assessors)
    median = np.full(n, np.nan)
    error = np.full(n, np.nan)
    if judgments.seconds is None:
        return median, error
    timed = (judgments.seconds > 0) & (judgments.value >= 0)
    for a in range(n):
        seconds = judgments.seconds[timed & (judgments.assessor == a)]
        if seconds.size:
            median[a] = np.median(seconds)
        if seconds.size > 1:
            # The standard error of the median of normal numbers is sqrt(pi / 2) = 1.2533 times that of their mean.
            error[a] = 1.2533 * np.log(seconds).std(ddof=1) / np.sqrt(seconds.size)
    return median, error
