"""The report's first half: which system leads and how certain that is, and which differences are significant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import isnan, nan
from typing import Annotated, Any

import numpy as np

from qrowd.comparison.differences import Difference, difference_among
from qrowd.comparison.shrinkage import Spreads
from qrowd.comparison.system_ranking import rank_systems, settled
from qrowd.errors import NoOverlapError
from qrowd.model.scores import Scores, known_mean
from qrowd.reports.comparison import MeasureComparison
from qrowd.reports.differences import advice
from qrowd.reports.notes import coverage_warning
from qrowd.reports.phrases import count, interval, listed, number, probability, signed
from qrowd.reports.systems import differences_to, may_be_best, system_order
from qrowd.reports.table import Column

LEADING = 10  # systems of which each pair is compared
ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
)


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


@dataclass(frozen=True)
class Answer:
    """The first screen.

    verdict : the answer as a headline; sentence : the same with its uncertainty; advice : what would make it more
        certain.
    first, second : the leader, and the system it is compared with: the baseline, else the best that is not its equal.
    equals : the other systems with the highest mean, as those whose every score is the leader's.
    reference_ranks : of the leader and its equals by the reference, those it has a score of; empty without one.
    may_be_best : the confidence set of the best systems, and best_set the same in words; both empty where too little
        is shared.
    difference, low, high, p : first minus second, allowing for all pairs of systems; nan where too little is shared.
    another_panel : probability that as many other assessors see the same system ahead; nan where it is not known.
    ahead_for : of the n_ranking assessors with a ranking, those who see the first ahead of the second.
    """

    verdict: str
    sentence: str
    advice: str
    first: str
    second: str
    equals: tuple[str, ...]
    reference_ranks: tuple[int, ...]
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
class PairRow:
    """Two of the leading systems, the one ahead first.

    low, high, p : allowing for all pairs of systems. significant : p is below 1 - confidence. ahead_for : of n_ranking
    assessors. another_panel : probability that as many other assessors see the same system ahead.
    """

    first: Annotated[str, Column("system")]
    second: Annotated[str, Column("ahead of")]
    difference: Annotated[float, Column("difference", signed)]
    low: Annotated[
        float,
        Column("interval", interval, "over topics and assessors, for all pairs of systems together", also=("high",)),
    ]
    high: float
    p: Annotated[float, Column("p", probability, "adjusted for all pairs of systems")]
    significant: Annotated[bool, Column("significant", _yes_or_no)]
    ahead_for: Annotated[
        int, Column("assessors who agree", "{} of {}".format, "who see the same system ahead", also=("n_ranking",))
    ]
    n_ranking: int
    another_panel: Annotated[
        float,
        Column(
            "another panel",
            partial(number, digits=2),
            "probability that as many other assessors see the same system ahead on these topics",
        ),
    ]


def equals_of(scores: Scores, system: str) -> tuple[str, ...]:
    """The other systems with the very same (assessor, topic) scores."""
    array = scores.values[0]
    own = array[:, :, [scores.systems.index(system)]]
    same = ((array == own) | (np.isnan(array) & np.isnan(own))).all(axis=(0, 1))
    return tuple(name for name, equal in zip(scores.systems, same, strict=True) if equal and name != system)


def leading_pair(scores: Scores, baseline: str | None = None) -> tuple[str, str]:
    """The leader, and the baseline or else the best system that is not the leader's equal."""
    means = settled(known_mean(known_mean(scores.values[0], axis=0), axis=0))
    names = [scores.systems[s] for s in system_order(means)]
    if baseline is not None and baseline != names[0]:
        return names[0], baseline
    equals = equals_of(scores, names[0])
    return names[0], next((name for name in names[1:] if name not in equals), names[1])


def answer_of(part: MeasureComparison, scores: Scores, confidence: float, reference: Scores | None = None) -> Answer:
    """From a comparison of the leader and its rival as a pair. reference : the scores by the reference, if any."""
    pair, names = part.pair, scores.systems
    assert pair is not None
    first, second = pair.first, pair.second
    ranking = rank_systems(scores)
    equals = tuple(name for name, rank in zip(names, ranking.rank, strict=True) if rank == 1 and name != first)
    by_reference = None if reference is None else _by_reference(reference, scores, (first, *equals))
    best = part.ranks.may_be_best if part.ranks else ()
    one = _of_all_pairs(part, scores, part.intervals[0]) if part.intervals else None
    return Answer(
        verdict=_verdict((first, *equals), best, len(names), by_reference),
        sentence="".join(
            [
                by_reference.sentence if by_reference else "",
                _sentence(part, one, first, second),
                coverage_warning(scores) if scores.attributes.get("scales") else "",  # it is about grades
            ]
        ),
        advice=advice(one) if one else "",
        first=first,
        second=second,
        equals=equals,
        reference_ranks=by_reference.ranks if by_reference else (),
        may_be_best=best,
        best_set=may_be_best(part.ranks) if part.ranks else "",
        difference=one.difference if one else float(pair.difference[0]),
        low=one.low if one else nan,
        high=one.high if one else nan,
        p=one.p if one else nan,
        another_panel=one.p_panel_agrees() if one else nan,
        ahead_for=ranking.n_above(first, second),
        n_ranking=int(ranking.has_ranking.sum()),
        n_systems=len(names),
        method=one.method if one else "",
        confidence=confidence,
    )


def pair_rows(
    part: MeasureComparison, scores: Scores, confidence: float, also: str | None = None
) -> tuple[PairRow, ...]:
    """Each pair of the leading systems and `also`, in the order of their means; of equal systems only the first."""
    names = [row.system for row in part.rows]
    distinct = [name for i, name in enumerate(names) if not any(e in names[:i] for e in equals_of(scores, name))]
    names_shown = distinct[:LEADING] + [name for name in distinct[LEADING:] if name == also]
    ranking = rank_systems(scores)
    n, alpha = int(ranking.has_ranking.sum()), round(1 - confidence, 12)
    spreads, rows = Spreads(scores), []
    for first, second in combinations(names_shown, 2):
        try:
            one = difference_among(spreads, scores, first, second, confidence=confidence)
            one = _of_all_pairs(part, scores, one)
        except NoOverlapError:
            continue
        ahead = ranking.n_above(first, second)
        values = (one.difference, one.low, one.high, one.p, bool(one.p < alpha), ahead, n, one.p_panel_agrees())
        rows.append(PairRow(first, second, *values))
    return tuple(rows)


def _of_all_pairs(part: MeasureComparison, scores: Scores, one: Difference) -> Difference:
    """The same with the interval and the p that allow for all pairs of systems."""
    if part.ranks is None:
        return one
    against = differences_to(part.ranks, one.second, scores)
    place = part.ranks.systems.index(one.first)
    changes: dict[str, Any] = {name: float(column[place]) for name, column in vars(against).items()}
    return replace(one, **changes)


# ---------------------------------------------------------------------- in words


@dataclass(frozen=True)
class _ByReference:
    """Where the reference has the leaders. n_joint : other systems with the same mean, where all leaders share a rank.

    ranks : of the leaders it has a score of; empty where there is none.
    """

    name: str
    ranks: tuple[int, ...]
    n_joint: int
    sentence: str

    @property
    def places(self) -> str:
        """In words: first, joint tenth, tenth to twelfth, at rank 13."""
        low, high = min(self.ranks), max(self.ranks)
        if high > len(ORDINALS):
            return f"at rank {low}" if low == high else f"at ranks {low} to {high}"
        if low < high:
            return f"{ORDINALS[low - 1]} to {ORDINALS[high - 1]}"
        return f"{'joint ' if self.n_joint else ''}{ORDINALS[low - 1]}"


def _verdict(leaders: tuple[str, ...], best: tuple[str, ...], n: int, by_reference: _ByReference | None) -> str:
    """The leaders and how sure that is, and first of all where the reference has them."""
    several = len(leaders) > 1
    names = listed(leaders if len(leaders) < 4 else [leaders[0], f"{len(leaders) - 1} systems equal to it"])
    lead = f"{names} {'lead' if several else 'leads'}"
    others = count(n - len(best), "system")
    if not best or (set(best) == set(leaders) and n == len(best)):
        certain, doubt = "", ""
    elif set(best) == set(leaders):
        certain, doubt = f"{'are' if several else 'is'} significantly better than the other {others}", ""
    else:
        certain, doubt = "", f"{len(best)} of {n} systems may be the best"
    lead += f" and {certain}" if certain else f", but {doubt}" if doubt else ""
    if by_reference is None or not by_reference.ranks:
        return lead
    name = by_reference.name
    if set(by_reference.ranks) != {1}:
        return f"The panel puts first what {name} puts {by_reference.places}: {lead}"
    joint = f" ({name} with {count(by_reference.n_joint, 'other')})" if by_reference.n_joint else ""
    both = f"The panel and {name} put {names} first{joint}"
    subject = "they" if several else "it"
    return both + (f"; by the panel {subject} {certain}" if certain else f", but by the panel {doubt}" if doubt else "")


def _by_reference(reference: Scores, scores: Scores, leaders: tuple[str, ...]) -> _ByReference:
    """Where the reference has the leaders, and which system it has first."""
    ranking, name = rank_systems(reference), reference.assessors[0]
    rank_of = dict(zip(reference.systems, ranking.rank.tolist(), strict=True))
    first, ranks = leaders[0], tuple(rank_of[system] for system in leaders if rank_of.get(system))
    if not ranking.has_ranking[0]:
        return _ByReference(name, (), 0, f"By {name}, the reference, no system is ahead of another. ")
    if not rank_of.get(first):
        return _ByReference(name, (), 0, f"{name}, the reference, has no score of {first}. ")
    alike = sum(rank == ranks[0] for system, rank in rank_of.items() if system not in leaders)
    n_joint = alike if len(set(ranks)) == 1 else 0
    topics, of_panel = (int((~np.isnan(one.values[0])).any(axis=(0, 2)).sum()) for one in (reference, scores))
    over = f" on {count(topics, 'topic')} (the panel: {of_panel})" if topics != of_panel else ""
    joint = f", as {count(n_joint, 'other system has', 'other systems have')}" if n_joint else ""
    if ranks[0] == 1 and len(set(ranks)) == 1:
        same = f"{name}, the reference, has the same system{'s' if len(ranks) > 1 else ''} first as the panel"
        return _ByReference(name, ranks, n_joint, f"{same}{over}{joint}. ")
    best = listed([system for system, rank in rank_of.items() if rank == 1], 3)
    n_ranked = sum(rank > 0 for rank in rank_of.values())
    where = f"{first} has rank {rank_of[first]} of {n_ranked}{joint}"
    return _ByReference(name, ranks, n_joint, f"By {name}, the reference{over}, {where}; {best} is first. ")


def _sentence(part: MeasureComparison, one: Difference | None, first: str, second: str) -> str:
    if one is None or isnan(one.low):
        return f"By {part.measure}, {first} is ahead of {second}; too little is shared to say how certain that is."
    text = one.sentence()
    if one.p_panel_agrees() < 1:  # rounded, it must not sound certain
        text = text.replace("with probability 1.00", "with probability above 0.99")
    return f"By {part.measure}, {text}."
