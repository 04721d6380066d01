"""A design: which documents people are asked to judge, in what order, and with what probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.model.chance import Seed
from qrowd.model.labels import plural
from qrowd.model.result import Result
from qrowd.model.scales import Scale, parse_scale
from qrowd.sequential.draws import Draws

LONG = 80  # letters of a question in a message


@dataclass(frozen=True, eq=False)
class Design(Result):
    """The documents drawn so far for a question, with the probability of each; it is stored with its batches.

    scale : of the people, which says what they may still answer. topics, documents : labels of the documents that can
    change the answer. known : (documents,) those judged before the first draw, which are never drawn. draws : in order.
    """

    question: str
    measure: str
    scale: str
    topics: tuple[str, ...] = field(repr=False)
    documents: tuple[str, ...] = field(repr=False)
    known: NDArray[np.bool_] = field(repr=False)
    draws: Draws = field(repr=False)
    seed: Seed = 1

    @property
    def sentence(self) -> str:
        """How many documents were drawn, and for which question."""
        drawn, batches = plural(len(self.draws), "document"), len(self.draws.sizes)
        return f"{drawn} of {len(self.documents):,} drawn for the question {self.question!r} (batches: {batches})."

    def _sentence(self) -> str:
        return self.sentence

    def _columns(self) -> dict[str, Any]:
        numbers = self.draws.document
        return {
            "topic": [self.topics[i] for i in numbers],
            "document": [self.documents[i] for i in numbers],
            "batch": self.draws.batch + 1,
            "order": np.arange(numbers.size) + 1,
            "probability": self.draws.probabilities() if numbers.size else np.zeros(0),
        }

    def check(
        self, *, question: str, measure: str, scale: Scale | None, topics: tuple[str, ...], documents: tuple[str, ...]
    ) -> None:
        """Refuse the design where it is of something else.

        Raises
        ------
        ArgumentError
            Another question, measure or scale; other runs.
        """
        asked: dict[str, tuple[str, str]] = {
            "question": (self.question, question),
            "measure": (self.measure, measure),
            "scale": (self.scale, self.scale if scale is None else str(scale)),
        }
        for what, (own, other) in asked.items():
            if own != other:
                raise ArgumentError(
                    f"design: it is for the {what} {_short(own)!r}, not for {_short(other)!r}; start a new design "
                    "under another name"
                )
        if (self.topics, self.documents) != (topics, documents):
            raise ArgumentError(
                f"design: it is of other runs: {_missing(self, topics, documents)}; give the runs it was made of, or "
                "start a new design"
            )

    @property
    def people_scale(self) -> Scale:
        """The scale of the people."""
        return parse_scale(self.scale)


def _short(text: str) -> str:
    return text if len(text) <= LONG else f"{text[:LONG]} ..."


def _missing(design: Design, topics: tuple[str, ...], documents: tuple[str, ...]) -> str:
    """What tells the documents of a design from others."""
    own, others = set(zip(design.topics, design.documents, strict=True)), set(zip(topics, documents, strict=True))
    for pairs, where in ((own - others, "not in these runs"), (others - own, "not in the design")):
        if pairs:
            topic, document = min(pairs)
            return f"{document} of topic {topic} is {where}"
    return "its documents stand in another order"
