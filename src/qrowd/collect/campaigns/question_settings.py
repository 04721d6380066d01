"""The question that a campaign carries: its settings, and the documents that can change its answer.

A campaign with a question judges these documents alone. Each is a unit of its own, so that the server draws the next
one when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge, Gt, Le

from qrowd.collect.protocols.schema import SchemaError, Where, check
from qrowd.collect.protocols.settings import GradesSettings, Settings, protocol_of
from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats

if TYPE_CHECKING:
    from qrowd.sequential.problems import Preparation

Problems = Iterator[tuple[Where, str]]
WHERE = ("question",)


@dataclass(frozen=True)
class QuestionSettings:
    """The table `question` of a plan.

    text, measure : as for `qrowd next`. confidence : of the answer, at all times at
    once. tolerance : differences of up to this much count as none. target : the topics of the runs, or new topics like
    them. disagreement : whether all people like those who judge are meant. stop : whether the campaign hands out no
    more documents once the question is decided. wait_minutes : after which a document that somebody has and nobody
    judged is also given to the next assessor, because what was drawn after it does not count before it is judged.
    content : the documents that can change the answer, what each weighs, and what models said of it; qrowd writes it
    from the files of the runs.
    """

    text: str
    measure: str = "nDCG@10"
    confidence: float = 0.95
    tolerance: Annotated[float, Ge(0)] = 0.0
    target: Literal["these topics", "new topics"] = "these topics"
    disagreement: bool = False
    stop: bool = True
    wait_minutes: Annotated[float, Gt(0), Le(100_000)] = 3.0
    content: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        check(self)
        if not 0 < self.confidence < 1:
            raise SchemaError(
                ("confidence",), f"{self.confidence:g} cannot be used; give a number between 0 and 1, such as 0.95"
            )

    def preparation(self) -> Preparation:
        """The question made ready.

        Raises
        ------
        SchemaError
            The content is missing, or not of this question.
        """
        if not self.content:
            raise SchemaError((*WHERE, "content"), "is missing; create the campaign from a folder with its runs")
        return preparation_of(self.content)

    def short(self) -> dict[str, Any]:
        """The settings without the content."""
        return {key: value for key, value in asdict(replace(self, content={})).items() if key != "content"}


def preparation_of(content: Mapping[str, Any]) -> Preparation:
    """The preparation that the store holds.

    Raises
    ------
    SchemaError
        Content of something else.
    """
    from qrowd.sequential.problems import Preparation  # slow to import, and needed with a question alone

    try:
        return Preparation.from_table(content)
    except ArgumentError as error:
        raise SchemaError((*WHERE, "content"), str(error)) from None


def first_sizes(question: QuestionSettings) -> Floats:
    """Sizes for the first draws, before anybody judged."""
    from qrowd.sequential.draws import Draws

    preparation = question.preparation()
    problem = preparation.problem()
    look = problem.look(
        preparation.gains(None),
        Draws.none(len(preparation.pairs)),
        confidence=question.confidence,
        tolerance=question.tolerance,
        target=question.target,
    )
    return look.sizes


def settings_with_question(settings: Settings | Mapping[str, Settings]) -> Settings | Mapping[str, Settings]:
    """The settings as a question needs them: one document at a time, a grade for each, and no rating after each."""
    if not isinstance(settings, GradesSettings):
        return settings
    return replace(settings, postpone=False, cannot_tell=False, rating=False)


def question_problems(
    question: QuestionSettings, arms: Mapping[str, Settings], pools: Mapping[str, tuple[str, ...]], *, asks: bool
) -> Problems:
    """What a campaign cannot do beside a question.

    pools : {topic: documents}. asks : whether assessors are asked about topics.
    """
    if len(arms) > 1:
        yield ("arms",), "a question needs the grades of one protocol; remove the arms, or the question"
        return
    settings = next(iter(arms.values()))
    if not isinstance(settings, GradesSettings):
        name = protocol_of(settings)
        problem = f"{name} judgments cannot decide a question, which needs the gain of each document; use [grades]"
        yield WHERE, f"{problem}, or remove [question]"
        return
    if settings.compares:
        setting = "stop" if settings.stop else "order"
        yield ("grades", setting), "has no effect with a question, which decides what is judged; leave it out"
    if asks:
        yield ("campaign", "questions"), "assessors judge one document at a time; remove the questions about topics"
    preparation = question.preparation()
    if str(preparation.scale) != settings.scale:
        yield WHERE, f"it was made for the scale {preparation.scale}, not for {settings.scale}; create it anew"
    for topic, document in (*preparation.pairs, *preparation.further_pairs):
        if document not in pools.get(topic, ()):
            yield WHERE, f"document {document!r} of topic {topic!r} can change the answer, but is not in the pool"
            return
    n = len(preparation.pairs) + len(preparation.further_pairs)
    if sum(map(len, pools.values())) > n:
        yield WHERE, f"the pools hold more than the {n} documents that the question needs; leave pool and depth out"
