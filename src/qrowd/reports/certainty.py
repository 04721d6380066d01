"""How sure a comparison is, in words and tables: intervals over topics and assessors, ranks, what to judge next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from qrowd.comparison.differences import Difference, difference
from qrowd.comparison.labelled import Named
from qrowd.comparison.rank_intervals import RankIntervals, rank_intervals
from qrowd.errors import NoOverlapError
from qrowd.model.chance import Seed
from qrowd.reports.document import Table, probability

MORE_TOPICS = 20  # that are held against one more assessor


def intervals(
    scores: Named, first: str, second: str, *, confidence: float, replicates: int, seed: Seed
) -> tuple[Difference, ...]:
    """The recommended interval of a difference first, then the others; none where too little is shared."""
    found: dict[str, Difference] = {}
    for method in ("recommended", "satterthwaite", "pigeonhole", "topics"):
        try:
            one = difference(
                scores, first, second, method=method, confidence=confidence, n=replicates, rng=seed
            )  # fmt: skip
        except NoOverlapError:
            return ()
        found.setdefault(one.method, one)
    return tuple(found.values())


def ranks(scores: Named, *, confidence: float, replicates: int, seed: Seed) -> RankIntervals | None:
    """Rank intervals of all systems together; None where they share fewer than two topics."""
    try:
        return rank_intervals(scores, confidence=confidence, n=replicates, rng=seed)
    except NoOverlapError:
        return None


def advice(found: Difference) -> str:
    """What would make the difference surer: more topics, or another assessor; empty where that cannot be told."""
    if isnan(found.v_topic) or found.v_topic + found.v_assessor + found.v_error == 0:
        return ""
    t, a = found.n_topics, found.n_assessors
    topics, assessor = found.variance(t + MORE_TOPICS, a), found.variance(t, a + 1)
    better, worse = f"judging {MORE_TOPICS} more topics", "another assessor"
    return f"{better} helps more than {worse}" if topics < assessor else f"{worse} helps more than {better}"


def certainty_table(title: str, found: Sequence[Difference]) -> Table:
    """One row per method; the recommended one first, which alone gives p, topics alone last."""
    rows = [
        [
            one.method,
            f"{one.difference:+.4f}",
            f"{one.low:+.4f} to {one.high:+.4f}",
            probability(one.p) if one is found[0] else "",
            probability(one.p_better),
        ]
        for one in found
    ]
    return Table(title, ["method", "difference", "interval", "p", "P(ahead again)"], rows)


def certainty_notes(found: Sequence[Difference], placed: RankIntervals | None) -> Iterator[str]:
    """What the intervals take for granted."""
    if found:
        first = found[0]
        told = [f"{first.method} is the one to go by ({first.reason})"]
        if first.negative:
            told.append(f"{', '.join(first.negative)} came out negative and counts as 0")
        if first.n_left_out:
            told.append(f"{first.n_left_out} cells without a score of both left out")
        yield (
            f"intervals: {100 * first.confidence:g} %, over {first.n_topics} topics and {first.n_assessors} assessors "
            f"({first.design}); {'; '.join(told)}; topics takes the assessors for the only ones there could be"
        )
        yield (
            "P(ahead again): with as many new topics and new assessors (under topics: new topics alone), and another "
            f"panel: of the difference a part is expected to last, by the spread of {first.n_systems} systems"
        )
    if placed is not None:
        yield (
            f"rank intervals: {100 * placed.confidence:g} % for all systems together, {placed.n:,} replicates over "
            f"{placed.over}"
            f"{'' if placed.reason == 'asked for' else f' ({placed.reason})'}; seed: {placed.seed}; "
            f"{len(placed.tied_at_the_top)} systems may be the best"
        )
