"""The first half of the report: which system leads, how certain that is, and which differences are significant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan, nan
from typing import Annotated, Any

from qrowd.comparison.differences import Difference, chance
from qrowd.comparison.rank_intervals import RankIntervals
from qrowd.comparison.system_ranking import first_systems, rank_systems, settled
from qrowd.model.scores import Scores, known_mean
from qrowd.reports.comparison import MeasureComparison
from qrowd.reports.difference_tables import advice
from qrowd.reports.document import Section
from qrowd.reports.notes import cautions
from qrowd.reports.phrases import count, interval, is_or_are, lead, mean_of, percent, probability, signed
from qrowd.reports.system_tables import differences_to, may_be_best, system_order
from qrowd.reports.table import Column, table_of

LEADING = 10  # systems of which each pair is compared
COLUMNS = ("system", "mean", "low", "difference", "difference_low", "p", "rank_low", "may_be_best", "first_for")


@dataclass(frozen=True)
class Answer:
    """The first screen.

    verdict : the answer as a headline; sentence : the same with its uncertainty; caution : where scores are too low;
    advice : what would make it more certain.
    first, second : the leader, and the system it is compared with: the baseline, else the best that is not its equal.
    may_be_best : the confidence set of the best systems; empty where too little is shared.
    difference, low, high, p : first minus second, allowing for all pairs of systems; nan where too little is shared.
    another_panel : probability that as many other assessors see the same system ahead; nan where it is not known.
    ahead_for : of the n_ranking assessors with a ranking, those who see the first ahead of the second.
    """

    verdict: str
    sentence: str
    caution: str
    advice: str
    first: str
    second: str
    may_be_best: tuple[str, ...]
    difference: float
    low: float
    high: float
    p: float
    another_panel: float
    ahead_for: int
    n_ranking: int
    n_assessors: int
    measure: str
    confidence: float

    def key_numbers(self) -> list[tuple[str, str]]:
        """The few numbers of the first screen: (number, what it is)."""
        numbers = [(signed(self.difference, 3), f"{self.measure} ahead of {self.second}")]
        if not isnan(self.low):
            level = f"{percent(self.confidence)} interval over topics and assessors, for all pairs of systems together"
            numbers.append((interval(self.low, self.high), level))
        if not isnan(self.another_panel):
            n = self.n_assessors
            panel = f"another panel of {n}" if n > 1 else "another assessor"
            numbers.append((chance(self.another_panel), f"probability that {panel} of this kind would agree"))
        numbers.append((f"{self.ahead_for} of {self.n_ranking}", f"assessors who see {self.first} ahead"))
        return numbers


@dataclass(frozen=True)
class PairRow:
    """Two of the leading systems, the one ahead first.

    low, high, p : allowing for all pairs of systems. significant : p is below 1 - confidence. ahead_for : of n_ranking
    assessors.
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
    significant: Annotated[bool, Column("significant", lambda value: "yes" if value else "no")]
    ahead_for: Annotated[
        int, Column("assessors who agree", "{} of {}".format, "who see the same system ahead", also=("n_ranking",))
    ]
    n_ranking: int


def leading_pair(scores: Scores, baseline: str | None = None) -> tuple[str, str]:
    """The leader, and the baseline or else the best system whose mean is lower, if there is one."""
    means = settled(known_mean(known_mean(scores.values[0], axis=0), axis=0))
    order = system_order(means)
    leader = scores.systems[order[0]]
    if baseline is not None and baseline != leader:
        return leader, baseline
    second = next((s for s in order if means[s] < means[order[0]]), order[1])
    return leader, scores.systems[second]


def answer_of(part: MeasureComparison, scores: Scores, confidence: float, reference: Scores | None = None) -> Answer:
    """From a comparison of the leader and its rival as a pair. reference : the scores by the reference, if any."""
    pair, names = part.pair, scores.systems
    assert pair is not None
    first, second = pair.first, pair.second
    ranking = rank_systems(scores)
    best = part.ranks.may_be_best if part.ranks else ()
    one = _of_all_pairs(part, scores, part.intervals[0]) if part.intervals else None
    by_reference = "" if reference is None else _by_reference(reference, first)
    return Answer(
        verdict=_verdict(first_systems(names, ranking.rank), best, len(names)) + by_reference,
        sentence=_sentence(part.measure, one, first, second),
        caution=cautions(scores).strip(),
        advice=advice(one) if one else "",
        first=first,
        second=second,
        may_be_best=best,
        difference=one.difference if one else float(pair.difference[0]),
        low=one.low if one else nan,
        high=one.high if one else nan,
        p=one.p if one else nan,
        another_panel=one.p_panel_agrees() if one else nan,
        ahead_for=ranking.n_above(first, second),
        n_ranking=int(ranking.has_ranking.sum()),
        n_assessors=len(scores.assessors),
        measure=part.measure,
        confidence=confidence,
    )


def _of_all_pairs(part: MeasureComparison, scores: Scores, one: Difference) -> Difference:
    """The same with the interval and the p that allow for all pairs of systems."""
    if part.ranks is None:
        return one
    return replace(one, **_against(part.ranks, one.first, one.second, scores))


def _against(ranks: RankIntervals | None, first: str, second: str, scores: Scores) -> dict[str, Any]:
    """The difference of the first system from the second, with the interval and the p of all pairs of systems."""
    against = differences_to(ranks, second, scores)
    place = scores.systems.index(first)
    return {name: float(column[place]) for name, column in vars(against).items()}


def pair_rows(part: MeasureComparison, scores: Scores, confidence: float, baseline: str | None) -> list[PairRow]:
    """Each pair of the leading systems and the baseline, best first; none where too little is shared."""
    names = [row.system for row in part.rows]
    shown = names[:LEADING] + [name for name in names[LEADING:] if name == baseline]
    ranking = rank_systems(scores)
    rows = []
    for first, second in combinations(shown if part.ranks else [], 2):
        numbers = _against(part.ranks, first, second, scores)
        rows.append(
            PairRow(
                first,
                second,
                **numbers,
                significant=numbers["p"] < round(1 - confidence, 12),
                ahead_for=ranking.n_above(first, second),
                n_ranking=int(ranking.has_ranking.sum()),
            )
        )
    return rows


# ---------------------------------------------------------------------- in words


def _verdict(leaders: Sequence[str], best: Sequence[str], n: int) -> str:
    """The leaders and how sure that is."""
    text = lead(leaders)
    if best and set(best) != set(leaders):
        return f"{text}, but {len(best)} of {n} systems may be the best"
    if best and len(best) < n:
        return f"{text} and {is_or_are(len(leaders))} significantly better than every other system"
    return text


def _by_reference(reference: Scores, first: str) -> str:
    """Where the reference has the leader, and which system it has first."""
    ranking = rank_systems(reference)
    name = f"{reference.assessors[0]}, the reference outside the panel"
    ranks = dict(zip(reference.systems, ranking.rank.tolist(), strict=True))
    if not ranking.has_ranking[0]:
        return f"; by {name}, no system is ahead of another"
    if not ranks.get(first):
        return f"; {name}, has no score of {first}"
    own = f"{first} has rank {ranks[first]} of {sum(ranking.rank > 0)} and " if ranks[first] > 1 else ""
    return f"; by {name}, {own}{lead(first_systems(reference.systems, ranking.rank))}"


def _sentence(measure: str, one: Difference | None, first: str, second: str) -> str:
    if one is None or isnan(one.low):
        return f"By {measure}, {first} is ahead of {second}; too little is shared to say how certain that is."
    return f"By {measure}, {one.sentence()}."


# ---------------------------------------------------------------------- sections


def systems_section(part: MeasureComparison, answer: Answer) -> Section:
    """All systems: how many differ significantly from the one they are compared with, and which may be the best."""
    n = sum(bool(row.significant) for row in part.rows)
    others = len(part.rows) - 1
    level = percent(answer.confidence)
    sentence = "The systems share too few topics to say which of them differ."
    if part.ranks is not None:
        sentence = (
            f"{n} of {count(others, 'other system')} {'differs' if n == 1 else 'differ'} significantly from "
            f"{part.baseline} (p < {1 - answer.confidence:.3g}, adjusted for all pairs of systems); "
            f"{may_be_best(part.ranks)}."
        )
    table = table_of(
        f"Systems by {mean_of(part.measure)}, compared with {part.baseline}",
        part.rows,
        COLUMNS,
        headings={"mean": part.measure},
        meanings={
            "low": f"{level}, over topics and assessors; it ends where the measure does",
            "difference": f"mean minus that of {part.baseline}",
            "difference_low": f"{level} for all pairs of systems together",
            "rank_low": f"ranks that the system may hold, {level} for all systems together",
        },
    )
    return Section("systems", "All systems", sentence, {"systems": table})


def pairs_section(rows: Sequence[PairRow], answer: Answer) -> Section:
    """Which differences of the leading systems are significant."""
    title = "Which differences are significant"
    if not rows:
        return Section("pairs", title, "The leading systems share too little to be compared.")
    significant = sum(row.significant for row in rows)
    sentence = (
        f"Of {count(len(rows), 'difference')} among the leading systems, {significant} {is_or_are(significant)} "
        "significant over topics and assessors."
    )
    meanings = {"difference": f"of {mean_of(answer.measure)}", "significant": f"p below {1 - answer.confidence:.3g}"}
    table = table_of("Each pair of the leading systems", rows, meanings=meanings)
    return Section("pairs", title, sentence, {"pairs": table})
