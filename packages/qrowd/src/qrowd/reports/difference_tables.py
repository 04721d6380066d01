"""Two systems in words and tables: how certain their difference is, and whether topics or assessors would help more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from qrowd.comparison.differences import Difference, difference
from qrowd.comparison.head_to_head import HeadToHead
from qrowd.comparison.interval_widths import bounds_of_difference, cut
from qrowd.comparison.power import SAME, SURE, EqualCost, equal_cost, topics_for_an_assessor
from qrowd.comparison.version_change import VersionChange
from qrowd.errors import NoOverlapError
from qrowd.evaluation import bounds_of
from qrowd.model.scores import Scores
from qrowd.reports.document import Note, Table
from qrowd.reports.phrases import count, listed, percent, probability, signed
from qrowd.reports.table import Columns

ADVICE_NOTE = Note(
    "helps",
    f"lowers the standard error of the difference; about as much: the standard errors differ by at most "
    f"{percent(SAME)}; at least as much: the standard error is at most {percent(SAME)} larger; stated where its "
    f"probability is {SURE:g} or more",
)


def intervals(scores: Scores, first: str, second: str, *, confidence: float) -> tuple[Difference, ...]:
    """Intervals of a difference by each method, the recommended one first; none where too little is shared.

    scores : of one measure, where whose bounds intervals end.
    """
    by_method: dict[str, Difference] = {}
    bounds = bounds_of_difference(bounds_of(scores.measures[0]))
    for method in ("recommended", "satterthwaite", "topics"):
        try:
            one = difference(scores, first, second, method=method, confidence=confidence)
        except NoOverlapError:
            return ()
        low, high = cut(np.array(one.low), np.array(one.high), bounds)
        by_method.setdefault(one.method, replace(one, low=float(low), high=float(high)))
    return tuple(by_method.values())


def interval_table(title: str, differences: Sequence[Difference]) -> Table:
    """One row per method; the recommended one first, which alone gives p, topics alone last."""
    columns: Columns = {
        "method": [one.method for one in differences],
        "difference": [signed(one.difference) for one in differences],
        "interval": [(one.low, one.high) for one in differences],
        "p": [probability(one.p) if one is differences[0] else "" for one in differences],
        "P(ahead again)": [probability(one.p_better) for one in differences],
    }
    return Table.of(title, columns)


def interval_notes(differences: Sequence[Difference]) -> Iterator[Note]:
    """What the intervals assume."""
    if not differences:
        return
    first = differences[0]
    facts = [f"{first.method} is the recommended method ({first.reason})"]
    if first.negative:
        facts.append(f"{', '.join(first.negative)} is estimated below 0 and set to 0")
    if first.n_left_out:
        facts.append(f"{count(first.n_left_out, 'cell')} without a score of both systems left out")
    yield Note(
        "intervals",
        f"{percent(first.confidence)}, over {count(first.n_topics, first.sampled)} and "
        f"{count(first.n_assessors, 'assessor')} ({first.design}); {'; '.join(facts)}; the method topics treats the "
        "assessors as the only possible ones; all are of this pair alone, where the table of systems and qrowd report "
        "allow for all pairs",
    )
    yield Note(
        "P(ahead again)",
        "probability that the same system is ahead with as many new topics and new assessors (method topics: new "
        "topics alone); here and for another panel, the difference is shrunk by the variance of "
        f"{first.n_systems} systems; another panel is of the same kind of assessors: where these are prompts or "
        "models, it says nothing of people",
    )
    if advice(first):
        yield ADVICE_NOTE


def pair_sentence(pair: HeadToHead, differences: Sequence[Difference]) -> str:
    """Which of two systems is ahead for the panel, how certain that is, and for which assessors it is not so."""
    lead = float(pair.difference[0])
    if np.isnan(lead):
        return f"{pair.first} and {pair.second} share no topic with a score"
    (ahead, behind), names = (pair.ahead, pair.behind), (pair.first, pair.second)
    if lead < 0:
        (ahead, behind), names = (behind, ahead), names[::-1]
    n = int((~np.isnan(pair.difference[1:])).sum())
    if pair.wins[0] == pair.losses[0] == 0:
        equal = f"{names[0]} and {names[1]} are equal for the panel"
        return f"{equal}; {names[0]} is ahead for {len(ahead)}, {names[1]} for {len(behind)} of {n} assessors"
    against = f", not for {listed(behind)}" if behind else ""
    n_equal = n - len(ahead) - len(behind)
    equal = f", equal for {n_equal}" if n_equal else ""
    assessors = f"for {len(ahead)} of {n} assessors{against}{equal}" if n > 1 else "for the only assessor"
    if not differences:
        return f"{names[0]} is ahead of {names[1]} by {abs(lead):.4f}, {assessors}"
    more = advice(differences[0])
    return f"{differences[0].sentence()}; {assessors}" + (f"; {more}" if more else "")


def versions_sentence(measure: str, versions: VersionChange) -> str:
    """By how much a score changed from the old versions to the new ones, and what of it is whose."""
    change, system, judge = versions.parts().values()
    (new, old), (new_judge, old_judge) = versions.systems, versions.assessors
    by = [f"{signed(part.difference, 3)} [{part.low:.3f}, {part.high:.3f}]" for part in (system, judge)]
    return (
        f"From {old} by {old_judge} to {new} by {new_judge}, {measure} changes by {signed(change.difference, 3)}: "
        f"{by[0]} by the system and {by[1]} by the judge"
    )


def versions_table(measure: str, versions: VersionChange) -> Table:
    """One row for the change and each of its parts."""
    parts = versions.parts()
    columns: Columns = {
        "changed": list(parts),
        "difference": [signed(one.difference) for one in parts.values()],
        "interval": [(one.low, one.high) for one in parts.values()],
        "p": [probability(one.p) for one in parts.values()],
        "topics": [one.n_topics for one in parts.values()],
    }
    return Table.of(f"{measure}: what the system changed, and what the judge changed", columns)


# ---------------------------------------------------------------------- more topics or more assessors


def advice(one: Difference) -> str:
    """More topics or one more assessor, at equal cost; empty where the answer is clear, or where nothing is known."""
    equal = topics_or_assessor(one)
    return "" if equal is None else advice_of(equal, one.sampled)


def topics_or_assessor(one: Difference, **costs: float) -> EqualCost | None:
    """One more assessor compared with the topics that cost as much.

    None where the interval excludes 0, or where the components of variance are not known. costs : as in
    `topics_for_an_assessor`.
    """
    if one.excludes_zero or not any(one.mean_squares):
        return None
    per_topic = one.mean_squares_per[0]
    n_cells = per_topic * (one.n_topics - 1) + one.n_assessors
    topics = topics_for_an_assessor(one.n_topics, n_cells / one.n_topics, **costs)
    return equal_cost(
        one.mean_squares, one.mean_squares_df, one.n_topics, one.n_assessors, topics, per=one.mean_squares_per
    )


def advice_of(equal: EqualCost, noun: str = "topic") -> str:
    """In words; empty where an assessor costs less than half a topic. noun : what is counted as topics."""
    n = round(equal.topics)
    if n == 0:
        return ""
    about = "" if abs(equal.topics - n) < 1e-9 else "about "
    topics = f"judging {about}{count(n, f'more {noun}')}"
    assessor = f"one more assessor for all {noun}s"
    if equal.answer == "assessor":
        return f"{assessor} costs as much as {topics} and helps at least as much"
    cost = f"{topics} costs as much as {assessor}"
    if equal.answer == "unknown":
        return f"{cost}; {equal.n_assessors} assessors are too few to say which helps more"
    return f"{cost} and helps {'about' if equal.answer == 'same' else 'at least'} as much"
