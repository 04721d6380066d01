"""The question that a campaign carries: its settings, and what `next_judgments` needs from the files of a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Le

from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd_server.protocols.setting_fields import SchemaError, Where, check
from qrowd_server.protocols.settings import GradesSettings, Settings, protocol_of

if TYPE_CHECKING:
    from qrowd.sequential.next_judgments import NextJudgments

Problems = Iterator[tuple[Where, str]]
WHERE = ("question",)
NUMBERS = ("system", "topic", "document", "score")  # columns of runs


@dataclass(frozen=True)
class QuestionSettings:
    """The table `question` of a plan.

    text, measure, confidence, tolerance, target : as for `qrowd next`.
    batch : documents that are drawn at once; the next batch is drawn when half of one is judged.
    content : the runs, the judgments of models and the design with its first batch; qrowd writes it from the files.
    """

    text: str
    measure: str = "nDCG@10"
    confidence: float = 0.95
    tolerance: Annotated[float, Ge(0)] = 0.0
    target: Literal["these topics", "new topics"] = "these topics"
    batch: Annotated[int, Ge(2), Le(10_000)] = 20
    content: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        check(self)
        if not 0 < self.confidence < 1:
            raise SchemaError(
                ("confidence",), f"{self.confidence:g} cannot be used; give a number between 0 and 1, such as 0.95"
            )

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """(topic, document) of each document that can change the answer."""
        try:
            return [(str(topic), str(document)) for topic, document in self.content["design"]["documents"]]
        except (KeyError, TypeError, ValueError):
            problem = "is missing; create the campaign from a folder with its runs"
            raise SchemaError((*WHERE, "content"), problem) from None

    def short(self) -> dict[str, Any]:
        """The settings without the content."""
        return {key: value for key, value in asdict(replace(self, content={})).items() if key != "content"}

    def next_judgments(self, judgments: Judgments | None, **options: Any) -> NextJudgments:
        """What can be said by these judgments, and the next batch.

        options : `design`, or `scale` and `rng` at first.
        """
        from qrowd.sequential.next_judgments import next_judgments  # slow to import, and needed with a question alone

        return next_judgments(runs_of_table(self.content["runs"]), judgments, **self.options(**options))

    def options(self, **further: Any) -> dict[str, Any]:
        """The options of `next_judgments`, which are the settings, and further ones."""
        return {
            "question": self.text,
            "models": _judgments_of(self.content["models"]),
            "measure": self.measure,
            "n_documents": self.batch,
            "confidence": self.confidence,
            "tolerance": self.tolerance,
            "target": self.target,
            **further,
        }


def settings_with_question(settings: Settings | Mapping[str, Settings]) -> Settings | Mapping[str, Settings]:
    """The settings as a question needs them: a grade for each document, and no rating after each small unit."""
    return replace(settings, cannot_tell=False, rating=False) if isinstance(settings, GradesSettings) else settings


def question_problems(
    question: QuestionSettings, arms: Mapping[str, Settings], pools: Mapping[str, tuple[str, ...]]
) -> Problems:
    """What a campaign cannot do beside a question. pools : {topic: documents}."""
    if len(arms) > 1:
        yield ("arms",), "a question needs the grades of one protocol; remove the arms, or the question"
        return
    settings = next(iter(arms.values()))
    if not isinstance(settings, GradesSettings):
        name = protocol_of(settings)
        problem = f"{name} judgments cannot decide a question, which needs the gain of each document; use [grades]"
        yield WHERE, f"{problem}, or remove [question]"
        return
    pairs = question.pairs
    if (scale := question.content["design"]["scale"]) != settings.scale:
        yield WHERE, f"it was made for the scale {scale}, not for {settings.scale}; create it anew"
    if {(topic, document) for topic, pool in pools.items() for document in pool} != set(pairs):
        problem = f"the pools are not the {len(pairs)} documents that can change the answer"
        yield WHERE, f"{problem}; leave pool and depth out"


def runs_of_table(table: Mapping[str, Any]) -> Runs:
    """The runs of the content of a question."""
    systems, topics, documents = (tuple(table[name]) for name in ("systems", "topics", "documents"))
    system, topic, document = (np.array(table[name], np.int32) for name in NUMBERS[:3])
    return Runs(systems, topics, documents, system, topic, document, np.array(table["score"], np.float64))


def _judgments_of(table: Mapping[str, Any] | None) -> Judgments | None:
    return None if table is None else Judgments.from_rows(map(tuple, table["rows"]), scales=table["scales"])
