"""One table of systems for `qrowd evaluate`, `compare` and `report`: means, ranks, and which may be the best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite, nan
from typing import Any

import numpy as np

from qrowd.comparison.bounded import bounds_of_difference, cut
from qrowd.comparison.interval_widths import half_widths, recommended
from qrowd.comparison.rank_intervals import DifferencesTo, RankIntervals, rank_intervals
from qrowd.comparison.resampling import Over, panel_of
from qrowd.comparison.system_ranking import against_baseline, rank_systems
from qrowd.comparison.top_set import TopSet
from qrowd.errors import NoOverlapError
from qrowd.evaluation import bounds_of
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Seed
from qrowd.model.scores import Scores
from qrowd.reports.document import Note, Table
from qrowd.reports.phrases import interval, listed, number, percent, probability, signed, span


@dataclass(frozen=True, kw_only=True)
class SystemRow:
    """One system by one measure; None: not asked for; nan, or 0 for a rank: not known.

    mean, standard_error : over topics, of the panel's mean scores (the reference's scores, where there is one).
    low, high : interval of the mean over topics and assessors.
    lowest, highest : of the assessors' own means. rank : by the mean. best_rank, worst_rank : of the assessors' own
        rankings. first_for : number of assessors who have the system first, alone or tied.
    difference, difference_low, difference_high : the system minus the one all are compared with; the interval holds
        for all pairs of systems together. p : of the difference, adjusted for all pairs of systems. significant :
        whether p is below 1 - confidence.
    wins, ties, losses : topics on which the system's mean over assessors is higher, equal, lower.
    rank_low, rank_high : ranks that the system may hold, for all systems together. may_be_best : whether no other
        system is significantly better.
    top_set : whether it is in the Wilcoxon top set; top_set_for : number of assessors whose top set has it.
    """

    system: str
    rank: int
    mean: float
    standard_error: float
    low: float | None = None
    high: float | None = None
    lowest: float
    highest: float
    best_rank: int
    worst_rank: int
    first_for: int
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    p: float | None = None
    significant: bool | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    may_be_best: bool | None = None
    top_set: bool | None = None
    top_set_for: int | None = None


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
    panel, each = rank_systems(scores), rank_systems(scores if own is None else own)
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
        pairs, against = against_baseline(scores, baseline), differences_to(ranks, baseline, scores)
        columns |= {name: getattr(pairs, name) for name in ("wins", "ties", "losses")}
        columns["difference"] = pairs.difference if ranks is None else against.difference
        columns |= {"difference_low": against.low, "difference_high": against.high, "p": against.p}
        columns["significant"] = against.p < round(1 - confidence, 12)
    lists = [column[order].tolist() for column in columns.values()]
    return tuple(SystemRow(**dict(zip(columns, values, strict=True))) for values in zip(*lists, strict=True))


def with_top_sets(rows: Sequence[SystemRow], top: TopSet, tops: Sequence[TopSet]) -> tuple[SystemRow, ...]:
    """The rows with their places in the top set and in those of the assessors."""
    members, times = set(top.members), Counter(name for other in tops for name in other.members)
    return tuple(replace(row, top_set=row.system in members, top_set_for=times[row.system]) for row in rows)


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
        mean, half = squares.mean, half_widths(squares, recommended(len(panel.assessors)), confidence)
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
    if not isfinite(ranks.critical):
        return replace(against, low=unknown, high=unknown)
    low, high = cut(against.low, against.high, bounds_of_difference(bounds_of(scores.measures[0])))
    return replace(against, low=low, high=high)


# ---------------------------------------------------------------------- as tables


COLUMNS: dict[str, Callable[[SystemRow], str]] = {
    "system": lambda row: row.system,
    "rank": lambda row: str(row.rank or "-"),
    "mean": lambda row: number(row.mean),
    "standard error": lambda row: number(row.standard_error),
    "interval": lambda row: interval(_known(row.low), _known(row.high)),
    "range over assessors": lambda row: span(row.lowest, row.highest, digits=4),
    "ranks by assessor": lambda row: span(row.best_rank, row.worst_rank) if row.best_rank else "-",
    "first for": lambda row: str(row.first_for),
    "difference": lambda row: signed(_known(row.difference)),
    "interval of difference": lambda row: interval(_known(row.difference_low), _known(row.difference_high)),
    "wins/ties/losses": lambda row: f"{row.wins}/{row.ties}/{row.losses}",
    "p": lambda row: probability(_known(row.p)),
    "rank interval": lambda row: span(row.rank_low, row.rank_high or 0) if row.rank_low else "-",
    "may be the best": lambda row: "yes" if row.may_be_best else "",
    "top set": lambda row: "yes" if row.top_set else "",
    "in top sets": lambda row: str(row.top_set_for),
}
OF_DIFFERENCES = ("difference", "interval of difference", "wins/ties/losses", "p")


def system_table(
    title: str, rows: Sequence[SystemRow], names: Sequence[str], *, baseline: str | None = None, noun: str = "assessor"
) -> Table:
    """Some of `COLUMNS`; the baseline is not compared with itself. noun : what the assessors are called."""
    cells = [
        ["" if row.system == baseline and name in OF_DIFFERENCES else COLUMNS[name](row) for name in names]
        for row in rows
    ]
    return Table(title, [name.replace("assessor", noun) for name in names], cells)


def system_columns(rows: Sequence[SystemRow]) -> dict[str, list[Any]]:
    """The rows as columns, without those that were not asked for."""
    columns = {field.name: [getattr(row, field.name) for row in rows] for field in fields(SystemRow)}
    return {name: column for name, column in columns.items() if any(value is not None for value in column)}


def system_records(rows: Sequence[SystemRow]) -> list[dict[str, Any]]:
    """The rows as dictionaries, without the columns that were not asked for."""
    columns = system_columns(rows)
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _known(value: float | None) -> float:
    return nan if value is None else value


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
    best, n = ranks.may_be_best, len(ranks.systems)
    over = "topics and assessors" if ranks.over == "both" else "topics"
    few = "; with 2 assessors it may be too small" if ranks.too_few_assessors else ""
    level = f"({percent(ranks.confidence)} simultaneous confidence set over {over}{few})"
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
        f"{columns} come from one test of {pairs} by the largest |t|, "
        f"{percent(ranks.confidence)} for all together; {ranks.n_resamples:,} resamples with {method}{reason}; in "
        f"simulations all true ranks were held in 98 % or more where systems differ; seed: {ranks.seed}",
    )
