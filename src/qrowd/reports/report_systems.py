"""The report's first half: who leads and how surely, where every system stands, which differences would last."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import isnan, nan

import numpy as np

from qrowd.comparison.corrections import holm
from qrowd.comparison.differences import Difference, all_differences, difference
from qrowd.comparison.interval_widths import half_widths, recommended
from qrowd.comparison.labelled import Named
from qrowd.comparison.resampling import panel_of
from qrowd.comparison.standings import settled, standings
from qrowd.errors import NoOverlapError
from qrowd.model.scores import Floats, known_mean
from qrowd.reports.advice import advice as advice_on
from qrowd.reports.comparison import Choices, MeasureComparison

LEADING = 10  # systems whose every pair is looked at


@dataclass(frozen=True)
class Answer:
    """The first screen.

    verdict : the answer as a headline; sentence : the same with its uncertainty; advice : what would make it surer.
    first, second : the leader, and the system it is held against: the baseline, else the best that is not its equal.
    equals : systems whose every score is the leader's. may_be_best : systems that no other is surely ahead of, the
        leader included.
    difference, low, high, p : first minus second, over topics and assessors; nan where too little is shared.
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
    the yardstick (the baseline, else the leader); p_holm : p among all systems against the yardstick.
    rank_low, rank_high : ranks it may hold, all systems together. groups : letters shared by systems that Tukey's test
    does not tell apart. top_set : whether topics do not tell it from the best. first_for : assessors who have it first.
    best_rank, worst_rank : over assessors.
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
    p_holm: float
    rank_low: int
    rank_high: int
    top_set: bool
    groups: str
    first_for: int
    best_rank: int
    worst_rank: int


@dataclass(frozen=True)
class PairRow:
    """Two of the leading systems, the one ahead first.

    p_holm : among all pairs listed. survives : p_holm is below the level. ahead_for : of n_ranking assessors.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    survives: bool
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
    places = standings(array)
    one, other = names.index(first), names.index(second)
    equals = tuple(names[s] for s in equals_of(array, one))
    tied = part.ranks.may_be_best if part.ranks else ()
    may_be_best = tuple(names[s] for s in system_order(part) if names[s] in {first, *equals, *tied})
    sure = part.certainty[0] if part.certainty else None
    return Answer(
        verdict=_verdict(first, equals, may_be_best, len(names), known=part.ranks is not None),
        sentence=_sentence(part, sure, first, second),
        advice=advice_on(sure) if sure else "",
        first=first,
        second=second,
        equals=equals,
        may_be_best=may_be_best,
        difference=float(pair.difference[0]),
        low=sure.low if sure else nan,
        high=sure.high if sure else nan,
        p=sure.p if sure else nan,
        another_panel=sure.another_panel() if sure else nan,
        ahead_for=places.above(one, other),
        n_ranking=int(places.ranking.sum()),
        n_systems=len(names),
        method=sure.method if sure else "",
        confidence=1 - choices.alpha,
    )


def system_rows(part: MeasureComparison, array: Floats, yardstick: str, choices: Choices) -> tuple[SystemRow, ...]:
    """All systems, best first."""
    names, places = part.top.systems, standings(array)
    low, high = _mean_intervals(array, choices)
    gap = _gaps(array, names.index(yardstick), choices)
    letters = dict.fromkeys(names, "")
    if part.systems is not None:
        letters |= dict(zip(part.systems.tukey.levels, part.systems.tukey.letters, strict=True))
    ranked = places.rank_by_assessor[places.ranking]
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
                **{name: float(column[s]) for name, column in gap.items()},
                rank_low=int(part.ranks.low[s]) if part.ranks else 0,
                rank_high=int(part.ranks.high[s]) if part.ranks else 0,
                top_set=bool(part.top.member[s]),
                groups=letters[names[s]],
                first_for=int((held == 1).sum()),
                best_rank=int(held.min(initial=len(names))) if held.size else 0,
                worst_rank=int(held.max(initial=0)),
            )
        )
    return tuple(rows)


def pair_rows(part: MeasureComparison, array: Floats, choices: Choices, also: str | None = None) -> tuple[PairRow, ...]:
    """Every two of the leading systems and `also`, in the order of their means; of equal systems only the first."""
    names, places, order = part.top.systems, standings(array), system_order(part)
    distinct = [s for s in order if not any(order.index(e) < order.index(s) for e in equals_of(array, s))]
    chosen = distinct[:LEADING] + [s for s in distinct[LEADING:] if names[s] == also]
    labelled = Named(array, {"assessor": part.correlations.assessors, "topic": _numbers(array), "system": names})
    found: list[tuple[int, int, Difference]] = []
    for i, j in combinations(chosen, 2):
        try:
            one = difference(labelled, names[i], names[j], confidence=1 - choices.alpha)
        except NoOverlapError:
            continue
        found.append((i, j, one))
    adjusted = holm(np.array([one.p for _, _, one in found]))
    n = int(places.ranking.sum())
    return tuple(
        PairRow(
            names[i], names[j], one.difference, one.low, one.high, one.p, float(p), bool(p < choices.alpha),
            places.above(i, j), n, one.another_panel(),
        )
        for (i, j, one), p in zip(found, adjusted, strict=True)
    )  # fmt: skip


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


def _gaps(array: Floats, yardstick: int, choices: Choices) -> dict[str, Floats]:
    """(systems,) every system minus the yardstick; nan where unknown, and for the yardstick itself."""
    n = array.shape[2]
    gap, low, high, p = np.full((4, n), nan)
    others = np.flatnonzero(np.arange(n) != yardstick)
    try:
        found = all_differences(array, confidence=1 - choices.alpha)
    except NoOverlapError:
        return {"gap": gap, "gap_low": low, "gap_high": high, "p": p, "p_holm": p}
    ahead, behind = found.second == yardstick, found.first == yardstick
    for at, whose, sign in ((ahead, found.first, 1), (behind, found.second, -1)):
        s = whose[at]
        bounds = np.sort([sign * found.low[at], sign * found.high[at]], axis=0)
        gap[s], low[s], high[s] = sign * found.difference[at] + 0.0, *(bounds + 0.0)  # no -0
        p[s] = found.p[at]
    adjusted = np.full(n, nan)
    adjusted[others] = holm(p[others])
    return {"gap": gap, "gap_low": low, "gap_high": high, "p": p, "p_holm": adjusted}


def _numbers(array: Floats) -> tuple[str, ...]:
    return tuple(map(str, range(array.shape[1])))


# ---------------------------------------------------------------------- in words


def _verdict(first: str, equals: tuple[str, ...], may_be_best: tuple[str, ...], n: int, *, known: bool) -> str:
    who, verb = first, "leads"
    if equals:
        others = [*equals] if len(equals) < 3 else [f"{len(equals)} systems equal to it"]
        who, verb = f"{', '.join([first, *others[:-1]])} and {others[-1]}", "lead"
    if not known:
        return f"{who} {verb}"
    if len(may_be_best) > 1 + len(equals):
        return f"{who} {verb}, but {len(may_be_best)} of {n} systems may be the best"
    return f"{who} {'are' if equals else 'is'} the best of {n} systems"


def _sentence(part: MeasureComparison, sure: Difference | None, first: str, second: str) -> str:
    if sure is None or isnan(sure.difference):
        return f"By {part.measure}, {first} is ahead of {second}; too little is shared to say how surely."
    told = sure.sentence()
    if sure.another_panel() < 1:  # rounded, it must not sound certain
        told = told.replace("with probability 1.00", "with probability above 0.99")
    return f"By {part.measure}, {told}."
