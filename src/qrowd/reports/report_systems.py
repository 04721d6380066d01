"""The report's first half: who leads and how surely, where every system stands, which differences would last."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import isfinite, isnan, nan

import numpy as np

from qrowd.comparison.bounded import bounds_of_difference, cut
from qrowd.comparison.differences import Difference, difference
from qrowd.comparison.interval_widths import half_widths, recommended
from qrowd.comparison.rank_intervals import Against
from qrowd.comparison.resampling import panel_of
from qrowd.comparison.system_ranking import rank_systems, settled
from qrowd.errors import NoOverlapError
from qrowd.evaluation import bounds_of
from qrowd.model.scores import Floats, Scores, known_mean
from qrowd.reports.advice import advice as advice_on
from qrowd.reports.best_set import may_be_best
from qrowd.reports.comparison import Choices, MeasureComparison
from qrowd.reports.phrases import count

LEADING = 10  # systems whose every pair is looked at


@dataclass(frozen=True)
class Answer:
    """The first screen.

    verdict : the answer as a headline; sentence : the same with its uncertainty; advice : what would make it surer.
    first, second : the leader, and the system it is held against: the baseline, else the best that is not its equal.
    equals : systems whose every score is the leader's. may_be_best : the confidence set of the best systems, and
        best_set the same in words; both empty where too little is shared.
    difference, low, high, p : first minus second, allowing for all pairs of systems; nan where too little is shared.
    another_panel : chance that as many other assessors see the same system ahead; nan where that cannot be told.
    ahead_for : of the n_ranking assessors with a ranking, those who see the first ahead of the second.
    """

    verdict: str
    sentence: str
    advice: str
    first: str
    second: str
    equals: tuple[str, ...]
    may_be_best: tuple[str, ...]
    best_set: str
    difference: float
    low: float
    high: float
    p: float
    another_panel: float
    ahead_for: int
    n_ranking: int
    n_systems: int
    method: str
    confidence: float


@dataclass(frozen=True)
class SystemRow:
    """One system; nan, or 0 for a rank, where nothing is known.

    mean, low, high : score, and its interval over topics and assessors. gap, gap_low, gap_high, p : the system minus
    the one all are compared with (the baseline, else the leader), allowing for all pairs of systems. significant :
    whether p is below the level. rank_low, rank_high : ranks it may hold, all systems together. may_be_best : whether
    no other is significantly ahead. first_for : assessors who have it first. best_rank, worst_rank : over assessors.
    """

    system: str
    rank: int
    mean: float
    low: float
    high: float
    gap: float
    gap_low: float
    gap_high: float
    p: float
    significant: bool
    rank_low: int
    rank_high: int
    may_be_best: bool
    first_for: int
    best_rank: int
    worst_rank: int


@dataclass(frozen=True)
class PairRow:
    """Two of the leading systems, the one ahead first.

    low, high, p : allowing for all pairs of systems. significant : p is below the level. ahead_for : of n_ranking
    assessors.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    significant: bool
    ahead_for: int
    n_ranking: int
    another_panel: float


def system_order(part: MeasureComparison) -> list[int]:
    """System numbers, best mean first; without a mean last."""
    return [int(s) for s in np.argsort(-settled(part.top.mean), kind="stable")]


def equals_of(array: Floats, system: int) -> list[int]:
    """The other systems with the very same (assessor, topic) scores."""
    own = array[:, :, system]
    same = ((array == own[:, :, None]) | (np.isnan(array) & np.isnan(own[:, :, None]))).all(axis=(0, 1))
    return [int(s) for s in np.flatnonzero(same) if s != system]


def pair_to_ask_about(array: Floats, names: tuple[str, ...], baseline: str | None) -> tuple[str, str]:
    """The leader and what it is held against."""
    means = settled(known_mean(known_mean(array, axis=0), axis=0))
    order = [int(s) for s in np.argsort(-means, kind="stable")]
    leader = order[0]
    if baseline is not None and baseline != names[leader]:
        return names[leader], baseline
    equal = equals_of(array, leader)
    return names[leader], names[next((s for s in order[1:] if s not in equal), order[1])]


def answer_of(part: MeasureComparison, array: Floats, choices: Choices) -> Answer:
    """From a comparison that looked at the leader and its rival as a pair."""
    pair, names = part.pair, part.top.systems
    assert pair is not None
    first, second = pair.first, pair.second
    places = rank_systems(array)
    one, other = names.index(first), names.index(second)
    equals = tuple(names[s] for s in equals_of(array, one))
    best = part.ranks.may_be_best if part.ranks else ()
    sure = _together(part, part.certainty[0]) if part.certainty else None
    return Answer(
        verdict=_verdict(first, equals, best, len(names)),
        sentence=_sentence(part, sure, first, second),
        advice=advice_on(sure) if sure else "",
        first=first,
        second=second,
        equals=equals,
        may_be_best=best,
        best_set=may_be_best(part.ranks) if part.ranks else "",
        difference=sure.difference if sure else float(pair.difference[0]),
        low=sure.low if sure else nan,
        high=sure.high if sure else nan,
        p=sure.p if sure else nan,
        another_panel=sure.another_panel() if sure else nan,
        ahead_for=places.above(one, other),
        n_ranking=int(places.has_ranking.sum()),
        n_systems=len(names),
        method=sure.method if sure else "",
        confidence=1 - choices.alpha,
    )


def system_rows(part: MeasureComparison, array: Floats, compared_with: str, choices: Choices) -> tuple[SystemRow, ...]:
    """All systems, best first."""
    names, places = part.top.systems, rank_systems(array)
    low, high = cut(*_mean_intervals(array, choices), bounds_of(part.measure))
    gap = _against(part, compared_with)
    ranked = places.rank_by_assessor[places.has_ranking]
    rows = []
    for s in system_order(part):
        held = ranked[:, s][ranked[:, s] > 0]
        rows.append(
            SystemRow(
                system=names[s],
                rank=int(places.rank[s]),
                mean=float(part.top.mean[s]),
                low=float(low[s]),
                high=float(high[s]),
                gap=float(gap.difference[s]),
                gap_low=float(gap.low[s]),
                gap_high=float(gap.high[s]),
                p=float(gap.p[s]),
                significant=bool(gap.p[s] < choices.alpha),
                rank_low=int(part.ranks.rank_low[s]) if part.ranks else 0,
                rank_high=int(part.ranks.rank_high[s]) if part.ranks else 0,
                may_be_best=part.ranks is not None and bool(part.ranks.rank_low[s] == 1),
                first_for=int((held == 1).sum()),
                best_rank=int(held.min(initial=len(names))) if held.size else 0,
                worst_rank=int(held.max(initial=0)),
            )
        )
    return tuple(rows)


def pair_rows(part: MeasureComparison, array: Floats, choices: Choices, also: str | None = None) -> tuple[PairRow, ...]:
    """Each pair of the leading systems and `also`, in the order of their means; of equal systems only the first."""
    names, places, order = part.top.systems, rank_systems(array), system_order(part)
    distinct = [s for s in order if not any(order.index(e) < order.index(s) for e in equals_of(array, s))]
    chosen = distinct[:LEADING] + [s for s in distinct[LEADING:] if names[s] == also]
    labelled = Scores.from_array(array, assessors=part.correlations.assessors, systems=names)
    n = int(places.has_ranking.sum())
    rows = []
    for i, j in combinations(chosen, 2):
        try:
            one = _together(part, difference(labelled, names[i], names[j], confidence=1 - choices.alpha))
        except NoOverlapError:
            continue
        rows.append(
            PairRow(
                names[i], names[j], one.difference, one.low, one.high, one.p, bool(one.p < choices.alpha),
                places.above(i, j), n, one.another_panel(),
            )
        )  # fmt: skip
    return tuple(rows)


# ---------------------------------------------------------------------- intervals


def _mean_intervals(array: Floats, choices: Choices) -> tuple[Floats, Floats]:
    """(systems,) each system's mean as other topics and other assessors might have had it; nan where unknown."""
    from scipy.special import stdtrit

    unknown = np.full(array.shape[2], nan)
    try:
        panel = panel_of(array)
    except NoOverlapError:
        return unknown, unknown
    if panel.components_known:
        squares = panel.squares(panel.values)
        mean, half = squares.mean, half_widths(squares, recommended(len(panel.assessors)), 1 - choices.alpha)
    else:
        by_topic = panel.by_topic(panel.values)
        n = by_topic.shape[0]
        mean = by_topic.mean(axis=0)
        half = stdtrit(n - 1, 1 - choices.alpha / 2) * by_topic.std(axis=0, ddof=1) / np.sqrt(n)
    return mean - half, mean + half


def _together(part: MeasureComparison, one: Difference) -> Difference:
    """The same with the interval and the p that allow for all pairs of systems."""
    if part.ranks is None:
        return one
    gap = _against(part, one.second)
    of_first = {name: float(getattr(gap, name)[part.ranks.systems.index(one.first)]) for name in vars(gap)}
    return replace(one, **of_first)  # type: ignore[arg-type]


def _against(part: MeasureComparison, system: str) -> Against:
    """All systems minus this one; nan where nothing is known, as with 2 topics, whose intervals have no end."""
    unknown = np.full(len(part.top.systems), nan)
    if part.ranks is None:
        return Against(unknown, unknown, unknown, unknown)
    gap = part.ranks.against(system)
    if not isfinite(part.ranks.critical):
        return replace(gap, low=unknown, high=unknown)
    low, high = cut(gap.low, gap.high, bounds_of_difference(bounds_of(part.measure)))
    return replace(gap, low=low, high=high)


def _numbers(array: Floats) -> tuple[str, ...]:
    return tuple(map(str, range(array.shape[1])))


# ---------------------------------------------------------------------- in words


def _verdict(first: str, equals: tuple[str, ...], best: tuple[str, ...], n: int) -> str:
    who, verb = first, "leads"
    if equals:
        others = [*equals] if len(equals) < 3 else [f"{len(equals)} systems equal to it"]
        who, verb = f"{', '.join([first, *others[:-1]])} and {others[-1]}", "lead"
    if not best:
        return f"{who} {verb}"
    if set(best) == {first, *equals}:
        rest = n - len(best)
        ahead = f" and {'are' if equals else 'is'} significantly better than the other {count(rest, 'system')}"
        return f"{who} {verb}{ahead if rest else ''}"
    return f"{who} {verb}, but {len(best)} of {n} systems may be the best"


def _sentence(part: MeasureComparison, sure: Difference | None, first: str, second: str) -> str:
    if sure is None or isnan(sure.low):
        return f"By {part.measure}, {first} is ahead of {second}; too little is shared to say how surely."
    told = sure.sentence()
    if sure.another_panel() < 1:  # rounded, it must not sound certain
        told = told.replace("with probability 1.00", "with probability above 0.99")
    return f"By {part.measure}, {told}."
