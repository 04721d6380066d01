"""What every protocol is: a machine that turns actions into events, and events into a state.

Nothing here knows of a database, a page or a clock: time is a number that comes in, chance is the task's seed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from qrowd_server.protocols.events import Action, Event
from qrowd_server.protocols.gold import NO_GOLD, Gold, GoldTask, gold_task
from qrowd_server.protocols.views import View

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

    def rows_that_changed(self, task: Task, before: S, now: S) -> tuple[Rows, Rows]:
        """Rows of both states; those that are the same in both may be missing from both."""
        return self.rows(task, before), self.rows(task, now)

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
        return Task(material, settings, seed, documents, options, snippets, gold)
