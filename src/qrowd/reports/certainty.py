"""How sure a comparison is, in words and tables: intervals over topics and assessors, ranks, what to judge next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from qrowd.comparison.bounded import Bounds, bounds_of_difference, cut
from qrowd.comparison.differences import Difference, difference
from qrowd.errors import NoOverlapError
from qrowd.model.chance import Seed
from qrowd.model.scores import Scores
from qrowd.reports.advice import ADVICE_NOTE, advice
from qrowd.reports.document import Table
from qrowd.reports.phrases import probability


def intervals(
    scores: Scores, first: str, second: str, *, bounds: Bounds, confidence: float, replicates: int, seed: Seed
) -> tuple[Difference, ...]:
    """The recommended interval of a difference first, then the others; none where too little is shared.

    bounds : of the measure.
    """
    found: dict[str, Difference] = {}
    for method in ("recommended", "satterthwaite", "pigeonhole", "topics"):
        try:
            one = difference(
                scores, first, second, method=method, confidence=confidence, n_resamples=replicates, rng=seed
            )  # fmt: skip
        except NoOverlapError:
            return ()
        low, high = cut(np.array(one.low), np.array(one.high), bounds_of_difference(bounds))
        found.setdefault(one.method, replace(one, low=float(low), high=float(high)))
    return tuple(found.values())


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


def certainty_notes(found: Sequence[Difference]) -> Iterator[str]:
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
        if advice(first):
            yield ADVICE_NOTE
