"""Which documents are judged for a topic: the first of each run, and the two that check everybody."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from qrowd.errors import ArgumentError
from qrowd.model.chance import Chance
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs

Lists = dict[str, dict[str, tuple[str, ...]]]


def lists_of(runs: Runs, topics: Collection[str]) -> Lists:
    """{topic: {system: documents, best first}} for these topics; ties broken as everywhere (`Runs.ranked`)."""
    ranked = runs.ranked()
    lists: Lists = {topic: {} for topic in topics}
    for t, topic in enumerate(runs.topics):
        if topic not in lists:
            continue
        for s, system in enumerate(runs.systems):
            start = int(ranked.starts[s, t])
            length = int(ranked.lengths[s, t])
            if length:
                ranking = ranked.document[start : start + length].tolist()
                lists[topic][system] = tuple(runs.documents[d] for d in ranking)
    return lists


def pool_of(lists: Mapping[str, Sequence[str]], depth: int) -> tuple[str, ...]:
    """The union of the first `depth` documents of every list, in order of label.

    >>> pool_of({"a": ["d2", "d1"], "b": ["d3", "d2"]}, depth=1)
    ('d2', 'd3')

    Raises
    ------
    ArgumentError
        A depth below 1.
    """
    n: Any = depth
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ArgumentError("give how many documents of every run are judged, from 1", "depth", depth)
    return tuple(sorted({document for ranking in lists.values() for document in ranking[:depth]}))


def checks_from_gold(gold: Judgments, pools: Mapping[str, Sequence[str]], seed: int) -> dict[str, tuple[str, str]]:
    """For each topic two documents of its pool: one of the highest gold grade there, one of the lowest.

    Several that could serve are drawn from; the same seed draws the same.

    Raises
    ------
    ArgumentError
        A topic in whose pool no two documents have different gold grades.
    """
    grades: dict[str, dict[str, float]] = {topic: {} for topic in pools}
    for t, d, value in zip(gold.topic.tolist(), gold.document.tolist(), gold.value.tolist(), strict=True):
        if (topic := gold.topics[t]) in grades:
            grades[topic][gold.documents[d]] = value
    chance = Chance.of(seed)
    checks = {}
    for topic, pool in pools.items():
        of_topic = {document: grades[topic][document] for document in sorted(pool) if document in grades[topic]}
        highest = max(of_topic.values(), default=0.0)
        lowest = min(of_topic.values(), default=0.0)
        if highest == lowest:
            raise ArgumentError(
                f"topic {topic!r}: no two documents of the pool have different gold grades, so none can check the "
                "others; name two of each topic in a table with the columns topic, high and low"
            )
        rng = chance.stream(f"checks {topic}")
        high = [document for document, grade in of_topic.items() if grade == highest]
        low = [document for document, grade in of_topic.items() if grade == lowest]
        checks[topic] = (high[int(rng.integers(len(high)))], low[int(rng.integers(len(low)))])
    return checks
