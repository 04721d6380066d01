"""Questions without an answer, by system: do models fail on the documents of some systems more than by chance?

Models refuse, cut off and misread by content. A document whose question failed is unjudged, so a system that retrieves
such documents loses score for a reason that is not relevance.

The test permutes what became of the questions among those of the same topic: if failures do not depend on which systems
retrieve a document, each order is equally likely. All questions on the same documents (other models, samples, orders)
move together. The statistic is the sum over systems of n (share - mean)^2, n the number of a system's questions, by
which the mean of the shares is weighted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any

from qrowd.judge.exchange import Status
from qrowd.judge.outcome import Statuses
from qrowd.model.chance import Chance, Rng
from qrowd.model.result import Result

BLOCK = 100  # permutations at a time


@dataclass(frozen=True, eq=False)
class SystemFailures(Result):
    """Questions without an answer, by system.

    counts : {system: {status: questions}}. p : probability that shares differ as much where failures do not depend on
    the systems; nan where it is not known. depth : of the ranks whose documents count. n_resamples : permutations.
    """

    counts: dict[str, dict[Status, int]]
    p: float
    depth: int
    n_resamples: int

    @property
    def shares(self) -> dict[str, float]:
        """{system: share of its questions without an answer}."""
        return {system: 1 - row["ok"] / sum(row.values()) for system, row in self.counts.items()}

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        return {"systems": self._columns}

    def _columns(self) -> dict[str, Any]:
        totals = [sum(row.values()) for row in self.counts.values()]
        columns: dict[str, Any] = {"system": list(self.counts), "questions": totals}
        columns["unanswered"] = list(self.shares.values())
        for status in next(iter(self.counts.values()), {}):
            columns[status] = [row[status] / n for row, n in zip(self.counts.values(), totals, strict=True)]
        return columns


def system_failures(statuses: Statuses, *, n_resamples: int = 1000, rng: Rng = None) -> SystemFailures:
    """The shares of all models together, and whether they differ between systems by more than chance.

    statuses : with runs. n_resamples : permutations; 0: no test. A system without a question is left out.
    """
    counts = totals(statuses, "system")
    p = _p(statuses, list(counts), n_resamples, rng) if n_resamples and len(counts) > 1 else nan
    return SystemFailures(counts, p, statuses.depth, n_resamples)


def totals(statuses: Statuses, by: str) -> dict[str, dict[Status, int]]:
    """{topic or system: {status: questions}} of all models together, in the order of their names."""
    counts: dict[str, dict[Status, int]] = {}
    for key, row in sorted(statuses.counts(by=by).items(), key=lambda one: one[0][-1]):
        total = counts.setdefault(key[-1], dict.fromkeys(row, 0))
        for status, n in row.items():
            total[status] += n
    return counts


def _p(statuses: Statuses, systems: list[str], n_resamples: int, rng: Rng) -> float:
    import numpy as np
    from scipy.sparse import csr_array

    items: dict[tuple[str, frozenset[str]], list[int]] = defaultdict(lambda: [0, 0])
    retrieved: dict[tuple[str, frozenset[str]], list[str]] = {}
    for outcome in statuses.outcomes:
        item = outcome.question.topic, frozenset(outcome.question.documents)
        items[item][0] += outcome.status != "ok"
        items[item][1] += 1
        retrieved.setdefault(item, statuses.systems_of(outcome))
    order = sorted((item for item in items if retrieved[item]), key=lambda item: (item[0], sorted(item[1])))
    number = {system: s for s, system in enumerate(systems)}
    pairs = [(number[system], i) for i, item in enumerate(order) for system in retrieved[item]]
    rows, columns = np.array(pairs).T
    incidence = csr_array((np.ones(len(pairs)), (rows, columns)), shape=(len(systems), len(order)))
    values = np.array([items[item] for item in order], float)  # (items, failed and all)
    topics = np.unique([item[0] for item in order], return_inverse=True)[1]

    def statistic(places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """places : (items, permutations)."""
        failed, n = incidence @ values[places, 0], incidence @ values[places, 1]
        mean = failed.sum(axis=0) / n.sum(axis=0)
        return np.asarray(((failed - n * mean) ** 2 / n).sum(axis=0))

    if values[:, 0].sum() in (0, values[:, 1].sum()):
        return nan
    generator = Chance.of(rng).stream("failures")
    observed = statistic(np.arange(len(order))[:, None])[0]
    as_large = 0
    for start in range(0, n_resamples, BLOCK):
        size = min(BLOCK, n_resamples - start)
        keys = generator.random((size, len(order)))
        places = np.array([np.lexsort((key, topics)) for key in keys]).T
        as_large += int((statistic(places) >= observed * (1 - 1e-9) - 1e-12).sum())
    return (1 + as_large) / (1 + n_resamples)
