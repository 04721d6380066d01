"""One row per assessor: how much they judged, how severely, how far they agree with the others, gold and themselves.

Nothing here says who is right. What marks an assessor as outlying, and why, is in `outlying`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.agreement.beyond_chance import BeyondChance
from qrowd.agreement.outlying import Outlying, outlying
from qrowd.agreement.reference import Held, Reference, hold, pair_numbers
from qrowd.agreement.reliability import LEVEL_OF, unlike_at
from qrowd.agreement.rows import Rows
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.disagreement import Level
from qrowd.model.frames import make_frame
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments, Repeats, concatenate_judgments
from qrowd.model.one_scale import Combined, CombineScales, combined_how, on_one_scale
from qrowd.model.scales import Scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_GRADES = 11  # that get a column each


@dataclass(frozen=True, eq=False)
class AssessorProfiles:
    """What is known of every assessor; every array is (assessors,) unless said otherwise, nan where nothing is known.

    n_judgments : documents judged, repeats aside; n_topics; n_shared : of the documents, judged by someone else too.
    scale : the one that values are compared on.
    grades, share : (grades,) and (assessors, grades) how often each was given, in each assessor's own units; both empty
        where values are too many.
    severity : mean over shared documents of what the others gave on average, minus what this assessor gave, over the
        scale's maximum; above 0 severe, below 0 lenient. Magnitudes: of natural logarithms. severity_error : standard
        error, over documents.
    agreement : with the others, beyond chance: 1 - observed / expected, observed the mean squared difference (of
        `level`) between this assessor's judgment and another's of the same document, documents weighing the same;
        expected the same between any judgment of theirs and any of the others', of these documents. 0 for one grade
        throughout. agreement_error : standard error, expected held fixed.
    n_repeated : documents judged more than once; consistency : share of these that got the same value every time.
    drift : change of leniency (minus severity) from the first judgment to the last, by a straight line; drift_p : of
        its t-test, leaving out topics in turn. Only where an order of judging was recorded; order_from : "order" or
        "time", the column that did, or "".
    seconds : median a judgment.
    gold : its name; n_gold : documents judged that have gold; gold_share : of these, given exactly the gold grade (on
        unlike scales: relevant where gold is, not relevant where gold is not);
        gold_agreement, gold_severity : as with the others, gold in their place.
    outlying : who stands out, and why.
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
    severity_error: Floats
    agreement: Floats
    agreement_error: Floats
    n_repeated: Ints
    consistency: Floats
    drift: Floats
    drift_p: Floats
    order_from: str
    seconds: Floats
    gold: str | None
    n_gold: Ints
    gold_share: Floats
    gold_agreement: Floats
    gold_severity: Floats
    outlying: Outlying

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """(assessors,) in words; empty for whom nothing stands out."""
        return tuple("; ".join(found) for found in self.outlying.reasons)

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per assessor; columns on drift, gold and seconds only where there are any."""
        columns: dict[str, NDArray[Any]] = {
            "assessor": np.array(self.assessors, object),
            "n_judgments": self.n_judgments,
            "n_topics": self.n_topics,
            "n_shared": self.n_shared,
        }
        columns |= {f"share_{grade:g}": share for grade, share in zip(self.grades, self.share.T, strict=True)}
        names = ["severity", "severity_error", "agreement", "agreement_error", "n_repeated", "consistency"]
        if self.order_from:
            names += ["drift", "drift_p"]
        if not np.isnan(self.seconds).all():
            names.append("seconds")
        if self.gold is not None:
            names += ["n_gold", "gold_share", "gold_agreement", "gold_severity"]
        columns |= {name: getattr(self, name) for name in names}
        columns["outlying"] = np.array([bool(found) for found in self.reasons])
        columns["reasons"] = np.array(self.reasons, object)
        return make_frame(columns, backend)


def assessor_profiles(
    judgments: Judgments,
    gold: Reference | None = None,
    *,
    level: Level | None = None,
    threshold: float = 3.0,
    least: int = 10,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
) -> AssessorProfiles:
    """One row per assessor; see `AssessorProfiles` for what each figure means.

    Parameters
    ----------
    gold : the name of an assessor (who then gets no row), the judgments of one, or {(topic, document): grade} on the
        assessors' scale.
    level : of measurement, for agreement; by default what the assessors' scale allows.
    threshold, least : what makes an assessor outlying; see `outlying`.
    repeats : which of an assessor's judgments of the same document counts.
    combine_scales : what becomes of unlike scales, for severity and agreement; "auto" divides values by their scale's
        maximum (level "nominal": relevant or not).

    Raises
    ------
    ScaleError
        Magnitudes beside another scale; "as-is" of scales that cannot be one; a magnitude of 0.
    NoOverlapError
        No judgment at all; gold for nothing that was judged.
    """
    if level is not None and level not in get_args(Level):
        raise ArgumentError(f"level={level!r}: choose one of {', '.join(get_args(Level))}")
    held = None if gold is None else hold(judgments, gold, "gold", repeats)
    everything = judgments if held is None else held.judgments
    if not (everything.value >= 0).any():
        raise NoOverlapError("there are no judgments, so there is nobody to describe")
    both = everything if held is None else concatenate_judgments([everything, held.own])
    how = combined_how(both.scales, combine_scales, unlike_at(level))
    scale = on_one_scale(both, how, how).shared_scale()
    level = level or LEVEL_OF[scale.kind]
    rows = _rows(everything, held, how, scale, repeats)
    own = rows if how == "as-is" else _rows(everything, held, "as-is", scale, repeats)
    # Of values divided by unlike maxima none equals another, so that equal grades are looked for in relevance.
    by_shares = how == "unit" and not alike(both.scales)
    categories = _rows(everything, held, "relevant", scale, repeats) if by_shares else own
    n = len(rows.assessors)
    measured = BeyondChance(rows, level)
    agreement, agreement_error = measured.with_others()
    gold_agreement, gold_error = measured.with_gold()
    severity, severity_error = rows.mean(rows.difference)
    gold_severity, gold_severity_error = rows.mean(rows.unit(rows.gold) - rows.unit(rows.value))
    gold_share, _ = rows.mean(np.where(np.isnan(rows.gold), np.nan, categories.gold == categories.value))
    drift, drift_p = rows.slope(-rows.difference)
    n_repeated, consistency = _with_themselves(everything)
    grades, share = _shares(own)
    counted, share_of_each = _shares(categories)
    seconds, spread = _speed(everything)
    n_shared, n_gold = rows.number(~np.isnan(rows.difference)), rows.number(~np.isnan(rows.gold))
    found = outlying(
        n_assessors=n,
        threshold=threshold,
        least=least,
        n_shared=n_shared,
        severity=(severity, severity_error),
        logs=scale.kind == "magnitude",
        agreement=(agreement, agreement_error),
        n_gold=n_gold,
        gold_agreement=(gold_agreement, gold_error),
        gold_severity=(gold_severity, gold_severity_error),
        n_repeated=n_repeated,
        consistency=consistency,
        drift=(drift, drift_p),
        seconds=(seconds, spread),
        grades=("0 (not relevant)", "1 (relevant)") if by_shares else tuple(f"{grade:g}" for grade in counted),
        share=share_of_each,
        share_of_others=BeyondChance(categories, level).share_of_others(counted),
    )
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
        severity_error=severity_error,
        agreement=agreement,
        agreement_error=agreement_error,
        n_repeated=n_repeated,
        consistency=consistency,
        drift=drift,
        drift_p=drift_p,
        order_from=rows.order_from,
        seconds=seconds,
        gold=None if held is None else held.name,
        n_gold=n_gold,
        gold_share=gold_share,
        gold_agreement=gold_agreement,
        gold_severity=gold_severity,
        outlying=found,
    )


def _rows(everything: Judgments, held: Held | None, how: Combined, scale: Scale, repeats: Repeats) -> Rows:
    """The judgments, and gold's beside them, brought onto one scale."""
    if how != "as-is":
        everything = on_one_scale(everything, how, how)
        held = None if held is None else replace(held, judgments=everything, own=on_one_scale(held.own, how, how))
    return Rows.of(everything, scale, repeats, held)


def _with_themselves(judgments: Judgments) -> tuple[Ints, Floats]:
    """(assessors,) documents judged more than once, and the share of them that got one value throughout."""
    n = len(judgments.assessors)
    said = np.flatnonzero(judgments.value >= 0)
    key = pair_numbers(judgments)[said] * n + judgments.assessor[said]
    order = np.argsort(key, kind="stable")
    key, value = key[order], judgments.value[said][order]
    begins = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    again = np.diff(np.append(begins, key.size)) > 1
    same = np.maximum.reduceat(value, begins) == np.minimum.reduceat(value, begins)
    who = (key[begins] % n).astype(np.int64)
    repeated = np.bincount(who[again], minlength=n)
    with np.errstate(invalid="ignore"):
        return repeated, np.bincount(who[again], same[again], minlength=n) / np.where(repeated, repeated, np.nan)


def _shares(rows: Rows) -> tuple[Floats, Floats]:
    """(grades,) and (assessors, grades) share of each; empty where there are too many."""
    grades, code = np.unique(rows.value, return_inverse=True)
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
    known = (judgments.seconds > 0) & (judgments.value >= 0)
    for a in range(n):
        seconds = judgments.seconds[known & (judgments.assessor == a)]
        if seconds.size:
            median[a] = np.median(seconds)
        if seconds.size > 1:
            # 1.2533 = sqrt(pi / 2): the median of normal numbers varies that much more than their mean.
            error[a] = 1.2533 * np.log(seconds).std(ddof=1) / np.sqrt(seconds.size)
    return median, error
