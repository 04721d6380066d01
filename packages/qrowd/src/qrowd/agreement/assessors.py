"""One row per assessor: judgments, severity, agreement with the other assessors, with gold and with themselves.

These are descriptions: none of them says which assessor is right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from qrowd.agreement.assessor_rows import BeyondChance, Rows
from qrowd.agreement.document_counts import LEVEL_OF, unlike_at
from qrowd.errors import ArgumentError, NoOverlapError, check_choice
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.disagreement import Level
from qrowd.model.gold import AgainstGold, Gold, against
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments, Repeats, concatenate_judgments
from qrowd.model.labels import distinct_values, first_of, plural
from qrowd.model.one_scale import Combined, CombineScales, combined_how, on_one_scale
from qrowd.model.result import Result
from qrowd.model.scales import Scale

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
        one grade throughout has 0.
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
        who = (
            f"{first_of(outlying, 5)} {'stands' if len(outlying) == 1 else 'stand'} out"
            if outlying
            else "none stands out"
        )
        return f"{plural(len(self.assessors), 'assessor')} on the scale {self.scale}: {who}."

    @cached_property
    def reasons(self) -> tuple[tuple[str, ...], ...]:
        """(assessors,) why an assessor is outlying, in words; empty for an assessor who is not.

        A statistic is outlying if its distance from the panel's median is more than `threshold` times the square root
        of (its standard error)^2 + (the panel's standard deviation)^2, the latter being 1.4826 times the median
        absolute deviation. Only assessors with at least `min_documents` documents behind the statistic are tested and
        enter the median. Two reasons need no panel: a drift whose p-value, corrected for the number of assessors, is
        below .05; and one grade throughout, if giving grades as often as the others did to the same documents would
        lead to it with probability below .001.
        """
        reasons: list[list[str]] = [[] for _ in self.assessors]
        sides = (-1, 1)
        unit = "in logarithms" if self.scale.kind == "magnitude" else "of the scale"

        def judged(than: str) -> Callable[[float, float, int], str]:
            def text(value: float, median: float, n: int) -> str:
                word = "severe" if value > median else "lenient"
                of_panel = f"panel median {0.0 - median:+.2f}, {n:,} documents"
                return f"{word}: {-value:+.2f} {unit} relative to {than} ({of_panel})"

            return text

        def agreeing(whom: str) -> Callable[[float, float, int], str]:
            return lambda value, median, n: (
                f"low agreement with {whom}: {value:.2f} (panel median {median:.2f}, {n:,} documents)"
            )

        n_shared, n_gold, n_repeated = self.n_shared, self.n_gold, self.n_repeated
        often = n_repeated >= self.min_documents
        typical = np.nanmedian(self.consistency[often]) if often.any() else np.nan
        binomial_error = np.sqrt(typical * (1 - typical) / np.maximum(n_repeated, 1))
        for n, value, standard_error, on_sides, text in (
            (n_shared, self.severity, self.severity_standard_error, sides, judged("the others")),
            (n_shared, self.agreement, self.agreement_standard_error, (-1,), agreeing("the others")),
            (n_gold, self.gold_agreement, self.gold_agreement_standard_error, (-1,), agreeing("gold")),
            (n_gold, self.gold_severity, self.gold_severity_standard_error, sides, judged("gold")),
            (n_repeated, self.consistency, binomial_error, (-1,), _inconsistent),
            (n_shared, np.log(self.seconds), self.log_seconds_standard_error, (-1,), _fast),
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
    return f"fast: {np.exp(value):.1f} s per judgment (panel median {np.exp(median):.1f} s)"


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
    n_shared, n_gold = rows.number(~np.isnan(rows.difference)), rows.number(~np.isnan(rows.gold))
    return AssessorProfiles(
        assessors=rows.assessors,
        scale=scale,
        level=level,
        n_judgments=rows.number(np.ones(rows.who.size, bool)),
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
    key, value = key[order], judgments.value[judged][order]
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
    median, error = np.full(n, np.nan), np.full(n, np.nan)
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
