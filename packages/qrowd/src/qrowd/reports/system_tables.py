"""One table of systems for `qrowd evaluate`, `compare` and `report`: means, ranks, and which may be the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite, nan
from typing import Annotated, Any

import numpy as np

from qrowd.comparison.interval_widths import bounds_of_difference, cut, half_widths, recommended
from qrowd.comparison.mean_squares import Over, panel_of
from qrowd.comparison.rank_intervals import DifferencesTo, RankIntervals, rank_intervals
from qrowd.comparison.system_ranking import against_baseline, rank_systems
from qrowd.errors import NoOverlapError
from qrowd.evaluation import bounds_of
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Seed
from qrowd.model.scores import Scores
from qrowd.reports.document import Note
from qrowd.reports.phrases import interval, listed, number, or_dash, percent, probability, signed, span, yes
from qrowd.reports.table import Column, Table, columns_of_tables, table_of


def _ranks(low: int, high: int) -> str:
    return span(low, high) if low and low == low else "-"


@dataclass(frozen=True, kw_only=True)
class SystemRow:
    """One system by one measure; None: not asked for; nan, or 0 for a rank: not known.

    standard_error : over topics, of the panel's mean scores (the reference's scores, where there is one).
    first_for : assessors who have the system first, alone or tied. significant : whether p is below 1 - confidence.
    """

    system: Annotated[str, Column("system", meaning="best mean first")]
    rank: Annotated[int, Column("rank", or_dash)]
    mean: Annotated[float, Column("mean", number, "mean over topics of the panel's mean")]
    standard_error: Annotated[float, Column("standard error", number)]
    low: Annotated[
        float | None,
        Column("interval", interval, "over topics and assessors; it ends where the measure does", also=("high",)),
    ] = None
    high: float | None = None
    lowest: Annotated[float, Column("range over assessors", partial(span, digits=4), also=("highest",))]
    highest: float
    best_rank: Annotated[int, Column("ranks by assessor", _ranks, also=("worst_rank",))]
    worst_rank: int
    first_for: Annotated[int, Column("first for", meaning="number of assessors by whose judgments the system is first")]
    difference: Annotated[
        float | None, Column("difference", signed, "from the mean of the system it is compared with")
    ] = None
    difference_low: Annotated[
        float | None,
        Column("interval of difference", interval, "for all pairs of systems together", also=("difference_high",)),
    ] = None
    difference_high: float | None = None
    wins: Annotated[int | None, Column("wins/ties/losses", "{}/{}/{}".format, also=("ties", "losses"))] = None
    ties: int | None = None
    losses: int | None = None
    p: Annotated[float | None, Column("p", probability, "of the difference, adjusted for all pairs of systems")] = None
    significant: bool | None = None
    rank_low: Annotated[
        int | None,
        Column("rank interval", _ranks, "ranks that it may hold, for all systems together", also=("rank_high",)),
    ] = None
    rank_high: int | None = None
    may_be_best: Annotated[bool | None, Column("may be the best", yes, "no other system is significantly better")] = (
        None
    )


def system_rows(
    scores: Scores,
    *,
    own: Scores | None = None,
    ranks: RankIntervals | None = None,
    baseline: str | None = None,
    confidence: float = 0.95,
    intervals: bool = False,
) -> tuple[SystemRow, ...]:
    """The systems of one measure, best mean first.

    scores : whose mean over assessors is shown. own : of the assessors whose own rankings are counted; default: the
    same. baseline : the system all others are compared with. intervals : whether means get an interval.
    """
    systems = scores.systems
    panel = rank_systems(scores)
    each = rank_systems(scores if own is None else own)
    order = system_order(panel.mean)
    rankings = np.where(each.rank_by_assessor == 0, np.nan, each.rank_by_assessor)
    columns: dict[str, Any] = {
        "system": np.array(systems, object),
        "rank": panel.rank,
        "mean": panel.mean,
        "standard_error": panel.standard_error,
        "lowest": np.fmin.reduce(each.by_assessor),
        "highest": np.fmax.reduce(each.by_assessor),
        "best_rank": np.nan_to_num(np.fmin.reduce(rankings)).astype(int),
        "worst_rank": np.nan_to_num(np.fmax.reduce(rankings)).astype(int),
        "first_for": each.leads(),
    }
    if intervals:
        columns["low"], columns["high"] = mean_intervals(scores, confidence)
    if ranks is not None:
        columns |= {"rank_low": ranks.rank_low, "rank_high": ranks.rank_high, "may_be_best": ranks.rank_low == 1}
    elif intervals:
        columns |= {"rank_low": np.zeros(len(systems), int), "rank_high": np.zeros(len(systems), int)}
        columns["may_be_best"] = np.zeros(len(systems), bool)
    if baseline is not None:
        pairs = against_baseline(scores, baseline)
        against = differences_to(ranks, baseline, scores)
        columns |= {name: getattr(pairs, name) for name in ("wins", "ties", "losses")}
        columns["difference"] = pairs.difference if ranks is None else against.difference
        columns |= {"difference_low": against.low, "difference_high": against.high, "p": against.p}
        columns["significant"] = against.p < round(1 - confidence, 12)
    lists = [column[order].tolist() for column in columns.values()]
    return tuple(SystemRow(**dict(zip(columns, values, strict=True))) for values in zip(*lists, strict=True))


def system_order(means: Floats) -> list[int]:
    """Numbers of the systems, best mean first; those without a mean last."""
    return [int(s) for s in np.argsort(-means, kind="stable")]


def mean_intervals(scores: Scores, confidence: float) -> tuple[Floats, Floats]:
    """(systems,) interval of each system's mean over topics and assessors; nan where too little is shared."""
    from scipy.special import stdtrit

    try:
        panel = panel_of(scores)
    except NoOverlapError:
        unknown = np.full(len(scores.systems), nan)
        return unknown, unknown
    if panel.components_known:
        squares = panel.squares(panel.values)
        mean = squares.mean
        half = half_widths(squares, recommended(len(panel.assessors)), confidence)
    else:
        by_topic = panel.by_topic(panel.values)
        n = by_topic.shape[0]
        mean = by_topic.mean(axis=0)
        half = stdtrit(n - 1, (1 + confidence) / 2) * by_topic.std(axis=0, ddof=1) / np.sqrt(n)
    return cut(mean - half, mean + half, bounds_of(scores.measures[0]))


def differences_to(ranks: RankIntervals | None, system: str, scores: Scores) -> DifferencesTo:
    """All systems minus this one, with intervals that end where the measure does.

    nan where nothing is known, and for intervals without an end, as of 2 topics.
    """
    unknown = np.full(len(scores.systems), nan)
    if ranks is None:
        return DifferencesTo(unknown, unknown, unknown, unknown)
    against = ranks.against(system)
    if not isfinite(ranks.critical[0]):
        return replace(against, low=unknown, high=unknown)
    low, high = cut(against.low, against.high, bounds_of_difference(bounds_of(scores.measures[0])))
    return replace(against, low=low, high=high)


# ---------------------------------------------------------------------- as tables


OF_DIFFERENCES = ("difference", "difference_low", "difference_high", "wins", "ties", "losses", "p")


def system_table(
    title: str, rows: Sequence[SystemRow], names: Sequence[str], *, baseline: str | None = None, noun: str = "assessor"
) -> Table:
    """Some columns of the systems; the baseline is not compared with itself. noun : what the assessors are called."""
    table = table_of(title, rows, names)
    headings = {columns_of_tables(SystemRow)[name].heading for name in OF_DIFFERENCES if name in names}
    compared = [heading in headings for heading in table.header]
    cells = [
        ["" if row.system == baseline and blank else cell for cell, blank in zip(line, compared, strict=True)]
        for row, line in zip(rows, table.rows, strict=True)
    ]
    return Table(title, [heading.replace("assessor", noun) for heading in table.header], cells)


# ---------------------------------------------------------------------- which may be the best


def ranks_of(
    scores: Scores, *, confidence: float, n_resamples: int, seed: Seed, over: Over = "both"
) -> RankIntervals | None:
    """Rank intervals of all systems together; None for one system, or where they share fewer than two topics."""
    if len(scores.systems) < 2:
        return None
    try:
        return rank_intervals(scores, over=over, confidence=confidence, n_resamples=n_resamples, rng=seed)
    except NoOverlapError:
        return None


def may_be_best(ranks: RankIntervals) -> str:
    """How many systems may be the best, by which test, and which they are; without a full stop."""
    best = ranks.may_be_best
    n = len(ranks.systems)
    over = "topics and assessors" if ranks.over == "both" else "topics"
    level = f"({percent(ranks.confidence)} simultaneous confidence set over {over}{ranks.caution})"
    if len(best) == 1:
        return f"{best[0]} alone may be the best of {n} systems {level}"
    return f"{len(best)} of {n} systems may be the best {level}: {listed(best)}"


def ranks_note(ranks: RankIntervals, columns: str = "rank intervals, p and systems that may be the best") -> Note:
    """How the adjusted p-values and the set of the best were obtained. columns : those of them that are shown."""
    method = "random signs of topics and normal assessors" if ranks.over == "both" else "random signs of topics"
    reason = "" if ranks.reason == "asked for" else f" ({ranks.reason.removeprefix('asked for; ')})"
    n = len(ranks.systems)
    pairs = f"all {n * (n - 1) // 2:,} pairs of systems" if n > 2 else "the two systems"
    return Note(
        "test of all pairs",
        f"{columns} come from one test of {pairs} by the largest |t|, as it is and corrected for "
        f"skewness (of mean differences, root mean square: {ranks.skewness_of_all:.2f}), "
        f"{percent(ranks.confidence)} for all together; {ranks.n_resamples:,} resamples with {method}{reason}; in "
        "simulations all true ranks were held in 98 % or more where systems differ; a system that does not differ from "
        f"the leader may be worse than another; seed: {ranks.seed}",
    )
