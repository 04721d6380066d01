"""What every protocol is: a machine that turns actions into events, and events into a state.

Nothing here knows of a database, a page or a clock: time is a number that comes in, chance is the task's seed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Generic, Literal, TypeVar

from qrowd_server.protocols.events import MAX_REASON, Action, Event, Rate, Refusal
from qrowd_server.protocols.gold_checks import NO_GOLD, Gold, GoldTask, gold_task
from qrowd_server.protocols.setting_fields import HALVES
from qrowd_server.protocols.views import QuestionView, View
from qrowd_server.translatable import N_, Message

Status = Literal["open", "completed", "failed", "screened_out"]


@dataclass(frozen=True)
class Question:
    """A question about a topic, to see whether it was understood. correct : which option, from 0."""

    text: str
    options: tuple[str, ...]
    correct: int


@dataclass(frozen=True)
class Material:
    """What a unit is made of, before it is somebody's.

    documents : their numbers. high, low : the check documents, among them; None where there are none.
    systems : for each system its documents, best first (for schedulers). n_snippets : of stored context.
    gold : the gold questions of the topic, none of whose documents is among `documents`.
    """

    documents: tuple[int, ...]
    high: int | None = None
    low: int | None = None
    question: Question | None = None
    systems: tuple[tuple[int, ...], ...] = ()
    n_snippets: int = 0
    gold: tuple[Gold, ...] = ()

    def rankings(self) -> list[list[int]]:
        """Each system's documents by their place in `documents`; those that are not among them are left out."""
        places = {document: place for place, document in enumerate(self.documents)}
        return [[places[d] for d in ranking if d in places] for ranking in self.systems]


@dataclass(frozen=True)
class Task:
    """A unit as one assessor gets it: everything that chance decides has been decided by `seed`.

    documents : as shown. options : the question's options as shown, by their place in `material.question.options`.
    snippets : the order of the stored context. gold : the gold questions that may come.
    """

    material: Material
    settings: Any  # the protocol's own
    seed: int
    documents: tuple[int, ...]
    options: tuple[int, ...] = ()
    snippets: tuple[int, ...] = ()
    gold: GoldTask = NO_GOLD


@dataclass(frozen=True)
class JudgmentRow:
    """What was said of one document; `value` is None for "cannot tell"."""

    position: int
    document_id: int
    value: float | None
    raw: str
    reason: str
    seconds: float
    active: float | None
    visits: int
    revisions: int
    time: float


@dataclass(frozen=True)
class PreferenceRow:
    """What was said of one pair; strength is 2 for "definitely"."""

    number: int
    left_id: int
    right_id: int
    choice: Literal["left", "right", "duplicates"]
    strength: int
    seconds: float
    active: float | None
    time: float


@dataclass(frozen=True)
class BadRow:
    """A document that was removed from all further pairs, at pair `number`."""

    document_id: int
    number: int
    seconds: float
    time: float


@dataclass(frozen=True)
class GoldRow:
    """What was said to a gold question, which is no judgment.

    number : the position of its document, or the number of the pair. document_id, other_id : the document, or the
    better and the worse one. is_right : None for "cannot tell". chance : the probability that a guess is right.
    raw : the grade, or "better", "worse" or "duplicates" for the document of the pair that was chosen. choices : those
    that were right: grades, or the side of the pair. is_entry : whether the question belongs to the entry test.
    """

    number: int
    document_id: int
    other_id: int | None
    is_right: bool | None
    chance: float
    choices: str
    is_entry: bool
    raw: str
    reason: str
    seconds: float
    active: float | None
    time: float


Row = JudgmentRow | PreferenceRow | BadRow | GoldRow
Rows = tuple[Row, ...]  # all that a state says; answers to gold questions do not count


@dataclass(frozen=True)
class CheckResult:
    """The results of the checks of a whole unit.

    ordered : H has the higher magnitude (check c). unhurried : every document took its time (check d).
    Either is True where it was not asked.
    """

    ordered: bool
    unhurried: bool

    @property
    def passed(self) -> bool:
        return self.ordered and self.unhurried


S = TypeVar("S")


class Protocol(ABC, Generic[S]):
    """How judgments of one kind are collected. One value each; found by name in `PROTOCOLS`.

    checked : whether judgments count only once the whole unit has passed its checks.
    """

    name: str
    checked: bool

    @abstractmethod
    def new(self, task: Task, at: float) -> S:
        """The state of a unit that was assigned at this time, before anything happened."""

    @abstractmethod
    def evolve(self, task: Task, state: S, event: Event, at: float) -> S:
        """The state after an event. Never refuses: what is in the log has happened."""

    @abstractmethod
    def decide(self, task: Task, state: S, action: Action, at: float, board: Any = None) -> tuple[Event, ...]:
        """What an action leads to.

        board : what is known of the topic from everybody; only preference judging asks for it.

        Raises
        ------
        Refusal
            The action is not possible now, or what was typed cannot be used. Nothing happened.
        """

    @abstractmethod
    def view(self, task: Task, state: S) -> View:
        """What the assessor sees."""

    @abstractmethod
    def status(self, state: S) -> Status:
        """Whether the unit goes on, and how it ended."""

    @abstractmethod
    def rows(self, task: Task, state: S) -> Rows:
        """What has been said, as far as it stands now."""

    @abstractmethod
    def to_json(self, state: S) -> dict[str, Any]:
        """The state as JSON values."""

    @abstractmethod
    def from_json(self, data: Mapping[str, Any]) -> S:
        """The state again."""

    def resume(self, task: Task, state: S, board: Any, at: float, removed: int | None = None) -> tuple[Event, ...]:
        """What follows by itself once a unit is assigned, or once somebody else removed a document from the board."""
        return ()

    def leaves_nothing(self, task: Task, board: Any) -> bool:
        """Whether nobody who came to a unit would have anything to judge, also if all who have it open left it."""
        return False

    def offered(self, state: S) -> tuple[int, int] | None:
        """The documents of the pair that is on the page, where pages show pairs."""
        return None

    def task(
        self,
        settings: Any,
        material: Material,
        seed: int,
        *,
        gold_every: int = 0,
        gold_first: int = 0,
        feedback: bool = False,
    ) -> Task:
        """The unit as one assessor gets it; the same seed gives the same task, for ever.

        gold_every : one of so many documents or pairs is a gold question; 0 for none. gold_first : so many gold
        questions come first. feedback : on these.
        """
        import numpy as np

        rng = np.random.default_rng(seed)
        documents = tuple(material.documents[i] for i in rng.permutation(len(material.documents)))
        n_options = len(material.question.options) if material.question is not None else 0
        options = tuple(int(i) for i in rng.permutation(n_options))
        snippets = tuple(int(i) for i in rng.permutation(material.n_snippets))
        gold = gold_task(material.gold, gold_every, seed, feedback=feedback, first=gold_first)
        task = Task(material, settings, seed, documents, options, snippets, gold)
        return replace(task, documents=self.sequence(task))

    def sequence(self, task: Task) -> tuple[int, ...]:
        """The documents of a task in the order in which they are shown; in the order of the seed unless it is said."""
        return task.documents


STALE = N_("You have left this page, perhaps in another tab. Reload it to see the current one.")


def question_view(task: Task, wrong: int) -> QuestionView:
    """The question as this assessor gets it. wrong : answers so far that were."""
    question = task.material.question
    assert question is not None  # or the unit would not begin with it
    options = tuple(question.options[i] for i in task.options)
    return QuestionView(question.text, options, wrong > 0, task.settings.attempts - wrong)


def reply_events(task: Task, wrong: int, option: int) -> tuple[Event, ...]:
    """What an answer leads to; the last attempt that is wrong, too, ends the unit.

    Raises
    ------
    Refusal
        There is no such option.
    """
    question = task.material.question
    assert question is not None
    if not 0 <= option < len(task.options):
        raise Refusal("option", "Choose one of the answers.", "option")
    number = task.options[option]
    correct = number == question.correct
    event = Event("replied", {"shown": option, "option": number, "correct": correct})
    out = not correct and wrong + 1 >= task.settings.attempts
    return (event, Event("screened_out")) if out else (event,)


def look_up_events(task: Task, place: int | None) -> tuple[Event, ...]:
    """The stored context was opened. place : number of the pair or position of the document on the page, if any.

    Raises
    ------
    Refusal
        The topic has no context.
    """
    if not task.material.n_snippets:
        raise Refusal("context", "There is no further context for this topic.")
    return (Event("looked_up", {"place": place}),)


def rating_events(action: Rate) -> tuple[Event, ...]:
    """Confidence and understanding, which complete the unit.

    Raises
    ------
    Refusal
        A number that is not 1 to 5, or a comment that cannot be kept.
    """
    for field in ("confidence", "understanding"):
        if getattr(action, field) not in range(1, 6):
            raise Refusal("rating", "Choose a number from 1 to 5 for both.", field)
    check_text(action.comment, "comment")
    data = {"confidence": action.confidence, "understanding": action.understanding, "comment": action.comment}
    return Event("rated", data), Event("completed")


def seconds_of(active: float | None) -> float | None:
    """The seconds that a browser reports; None where no clock can show them."""
    return None if active is None or not isfinite(active) or active < 0 else float(active)


def check_text(text: str, field: str, *, longest: int = MAX_REASON, required: bool = False) -> None:
    """Whether words that somebody wrote can be kept.

    Raises
    ------
    Refusal
        Its code is `field`: blank where something is required, too long, or holding what no database keeps.
    """
    if required and not text.strip():
        raise Refusal(field, "Give a reason in a few words, for example what the document says about the topic.", field)
    if len(text) > longest:
        counts = {"longest": longest, "n": len(text)}
        raise Refusal(field, Message("Use at most %(longest)s characters; these are %(n)s.", **counts), field)
    if not storable(text):
        raise Refusal(field, "The text holds a character that cannot be stored. Please type it again.", field)


def storable(text: str) -> bool:
    """Whether every database keeps the text: no NUL, no half of a character."""
    return "\0" not in text and not HALVES.search(text)
