"""What judgments cost: by who judges, and by the document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.judgments import Judgments
from qrowd.model.labels import matching

CostTable = Mapping[str, Sequence[Any]]
"""A data frame or {column: cells}: `cost`, with `topic`, `document` or both."""


@dataclass(frozen=True)
class DocumentCosts:
    """Costs of judging a document, in those of a usual one.

    by_pair, by_document, by_topic : the first that has the document counts; without any it costs 1.
    """

    by_pair: Mapping[tuple[str, str], float]
    by_document: Mapping[str, float]
    by_topic: Mapping[str, float]

    @classmethod
    def of(cls, table: CostTable) -> DocumentCosts:
        """Costs of a table with the column `cost`, and `topic`, `document` or both, where a cell may be empty.

        Raises
        ------
        ArgumentError
            Other columns; a cost that is no number above 0; a document that stands twice.
        """
        names = list(table.keys())
        if "cost" not in names or not {"topic", "document"} & set(names):
            raise ArgumentError(
                f"document_costs: columns {', '.join(map(str, names)) or 'none'}; cost was expected, with topic, "
                "document or both"
            )
        n = len(table["cost"])
        topics, documents = (_labels(table[name]) if name in names else [""] * n for name in ("topic", "document"))
        costs = cls({}, {}, {})
        for row, (topic, document, cell) in enumerate(zip(topics, documents, table["cost"], strict=True), 1):
            where: Any = costs.by_pair if topic and document else costs.by_document if document else costs.by_topic
            key: Any = (topic, document) if topic and document else document or topic
            name = " of topic ".join(filter(None, (document, topic)))
            if not key:
                raise ArgumentError(f"document_costs: row {row} has neither a topic nor a document")
            if key in where:
                raise ArgumentError(f"document_costs: {name} stands twice; give it one row")
            where[key] = _cost(cell, f"document_costs: {name}")
        return costs

    def array(self, topics: Sequence[str], documents: Sequence[str]) -> Floats:
        """(documents,) cost of each; nan where none is given."""
        nan = float("nan")
        return np.array(
            [
                self.by_pair.get((topic, document), self.by_document.get(document, self.by_topic.get(topic, nan)))
                for topic, document in zip(topics, documents, strict=True)
            ],
            np.float64,
        )


@dataclass(frozen=True)
class JudgmentCost:
    """Cost of one judgment: the mean over the people who judge, and of each; 0: costs are not known.

    assessors, costs : of each who has a cost of their own. by_judgments : whether the mean counts each by the judgments
    so far; else all alike.
    """

    mean: float = 0.0
    assessors: tuple[str, ...] = ()
    costs: tuple[float, ...] = ()
    by_judgments: bool = False

    @classmethod
    def of(cls, cost: float | Mapping[str, float], people: Judgments | None = None) -> JudgmentCost:
        """One cost for all, or {assessor or pattern: cost}; who judged so far is expected to go on in proportion.

        Raises
        ------
        ArgumentError
            A cost that is no number; an assessor who judged and has no cost; a pattern that matches nobody.
        """
        if not isinstance(cost, Mapping):
            if cost == 0:
                return cls()
            return cls(_cost(cost, "judgment_cost"))
        values = {name: _cost(value, f"judgment_cost: {name}") for name, value in cost.items()}
        if not values:
            return cls()
        if people is None:
            return cls(float(np.mean(list(values.values()))), tuple(values), tuple(values.values()))
        own: dict[str, float] = {}
        for name, value in values.items():
            if name in people.assessors:
                own[name] = value
            elif any(letter in name for letter in "*?["):
                chosen = matching(people.assessors, [name], "assessor")
                own |= {one: value for one, yes in zip(people.assessors, chosen, strict=True) if yes and one not in own}
            else:
                own[name] = value  # who has not judged yet
        missing = [name for name in people.assessors if name not in own]
        if missing:
            raise ArgumentError(f"judgment_cost: there is no cost of {missing[0]!r}, who judged; give one, as in '*=1'")
        counts = np.bincount(people.assessor, people.value >= 0, len(people.assessors))
        shares = {name: float(n) for name, n in zip(people.assessors, counts, strict=True)}
        weights = np.array([shares.get(name, 0.0) for name in own])
        return cls(
            float(np.average(list(own.values()), weights=weights if weights.any() else None)),
            tuple(own),
            tuple(own.values()),
            bool(weights.any()),
        )


def _labels(cells: Sequence[Any]) -> list[str]:
    return ["" if cell is None or cell != cell else str(cell) for cell in cells]


def _cost(cell: object, what: str) -> float:
    try:
        cost = float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        cost = float("nan")
    if not 0 < cost < float("inf"):
        raise ArgumentError(f"{what}: the cost is {cell!r}; a number above 0 was expected")
    return cost
