"""Documents one after another: what judging by magnitudes and judging by grades have in common.

    question -> documents -> (revision -> documents ...) -> rating -> completed | failed | screened_out

Positions stand for documents as they are shown, from 0, and never change. The page moves on by itself to the first
position without an answer, then to those that were put off; it may be sent back to any that was seen.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from qrowd_server.protocols.events import (
    Action,
    CannotTell,
    Event,
    GoOn,
    GoTo,
    Judge,
    LookUp,
    Postpone,
    Rate,
    Refusal,
    Reply,
)
from qrowd_server.protocols.gold_checks import is_right
from qrowd_server.protocols.protocol import (
    STALE,
    CheckResult,
    GoldRow,
    JudgmentRow,
    Protocol,
    Row,
    Rows,
    Status,
    Task,
    check_text,
    look_up_events,
    question_view,
    rating_events,
    reply_events,
    seconds_of,
)
from qrowd_server.protocols.views import (
    Answer,
    DocumentView,
    EndView,
    FeedbackView,
    Grade,
    RatingView,
    RevisionView,
    View,
)
from qrowd_server.translatable import N_, Message

Phase = Literal["question", "documents", "revision", "rating", "completed", "failed", "screened_out"]

OVER = N_("This set of documents is finished; nothing in it can be changed any more.")
CHECKED = N_("The answer to this document has been checked and cannot be changed any more.")
NOT_YET = N_("This document has not been reached yet. Judge the one that is shown first.")
NO_DOCUMENT = N_("There is no such document; they go from 1 to %(n)s.")


class Place(NamedTuple):
    """What is known of one position.

    answer : "" while there is none. text : as typed or chosen. value : what it stands for; None for "cannot tell".
    seconds : by the server's clock, all visits together. active : by the browser's, where it told.
    visits : how often the page was shown. revisions : how often the answer was changed. time : of the last change.
    """

    answer: Literal["", "judged", "cannot_tell"] = ""
    text: str = ""
    reason: str = ""
    value: float | None = None
    seconds: float = 0.0
    active: float | None = None
    visits: int = 0
    revisions: int = 0
    time: float = 0.0


class SequenceState(NamedTuple):
    """How far a unit has come.

    places : (n,) one per position. position : the one now shown, while there are documents to judge.
    resume : the position left by stepping back, where the page returns to; None where it was not left.
    postponed : positions put off, longest first. since : when the page now shown came up.
    wrong : answers to the question. backs : steps to an earlier position. fails : submissions that failed a check.
    feedback : the position whose answer the assessor is being told about; None for none.
    """

    phase: Phase
    places: tuple[Place, ...]
    since: float
    position: int = 0
    resume: int | None = None
    postponed: tuple[int, ...] = ()
    wrong: int = 0
    backs: int = 0
    fails: int = 0
    confidence: int | None = None
    understanding: int | None = None
    comment: str = ""
    feedback: int | None = None

    @property
    def revising(self) -> bool:
        """Whether the documents are looked at again after a failed check."""
        return self.fails > 0


_answer_fields = attrgetter("value", "text", "reason", "seconds", "active", "visits", "revisions", "time")


class Sequence(Protocol[SequenceState]):
    """A protocol for documents one after another; what differs is how an answer is read, and the checks."""

    # ---- what differs

    @abstractmethod
    def value(self, task: Task, text: str) -> float:
        """What an answer stands for; refuses those that stand for nothing."""

    def grades(self, task: Task) -> tuple[Grade, ...]:
        """The scale that the page offers, lowest grade first."""
        return ()

    def check(self, task: Task, state: SequenceState) -> CheckResult | None:
        """What the checks say of a unit that is all answered; None where there are none."""
        return None

    def revisions(self, task: Task) -> int:
        """How often a unit that failed may be submitted again; -1 for any number."""
        return 0

    def may_postpone(self, task: Task, state: SequenceState) -> bool:
        """Whether the document now shown may be judged later."""
        return False

    def may_not_tell(self, task: Task, state: SequenceState) -> bool:
        """Whether "I can't tell" is an answer to the document now shown."""
        return False

    # ---- what is the same

    def new(self, task: Task, at: float) -> SequenceState:
        state = SequenceState("question", (Place(),) * len(task.documents), at)
        return state if task.material.question is not None else _show(state._replace(phase="documents"), 0)

    def decide(
        self, task: Task, state: SequenceState, action: Action, at: float, board: Any = None
    ) -> tuple[Event, ...]:
        if self.status(state) != "open":
            raise Refusal("over", OVER)
        if state.feedback is not None:
            if not isinstance(action, GoOn):
                raise Refusal("stale", STALE)
            return (Event("feedback_read"),)
        match state.phase, action:
            case "question", Reply(option):
                return reply_events(task, state.wrong, option)
            case "question" | "documents", LookUp():
                return look_up_events(task, state.position if state.phase == "documents" else None)
            case "documents", Judge() | CannotTell():
                return self._answer_events(task, state, action, at)
            case "documents", Postpone(position):
                _now_shown(state, position)
                if not self.may_postpone(task, state):
                    raise Refusal(
                        "postpone", "This document cannot be put off: it is the last one, or all are due now."
                    )
                return (Event("postponed", {"position": position}),)
            case "documents", GoTo(position):
                return _step_events(state, position)
            case "documents", GoOn() if state.revising:
                submitted = Event("submitted", {"position": state.position})
                return (submitted, *self._submission_events(task, self.evolve(task, state, submitted, at)))
            case "revision", GoOn():
                return (Event("looked_again"),)
            case "rating", Rate():
                return rating_events(action)
        raise Refusal("stale", STALE)

    def _answer_events(
        self, task: Task, state: SequenceState, action: Judge | CannotTell, at: float
    ) -> tuple[Event, ...]:
        _now_shown(state, action.position)
        if task.gold.feedback and _is_gold(task, action.position) and state.places[action.position].answer == "judged":
            raise Refusal("checked", CHECKED)
        active = seconds_of(action.active)
        data: dict[str, Any] = {"position": action.position, "reason": action.reason, "active": active}
        if isinstance(action, Judge):
            event = Event("judged", data | {"text": action.text, "value": self.value(task, action.text)})
        else:
            if not self.may_not_tell(task, state):
                raise Refusal("cannot_tell", "You cannot say so again in this set: give a judgment.")
            event = Event("cannot_tell", data)
        _check_reason(task, action)
        ends = _target(_answer(state, event, at), action.position) in (None, state.position)
        return (event, *self._submission_events(task, self.evolve(task, state, event, at))) if ends else (event,)

    def revise(self, task: Task, state: SequenceState, action: Judge | CannotTell) -> Event | None:
        """The event of another answer to a document that was opened again; None where it is the same answer."""
        place = state.places[action.position]
        value: float | None = None
        if isinstance(action, Judge):
            value = self.value(task, action.text)
        elif not self.may_not_tell(task, state._replace(position=action.position)):
            raise Refusal("cannot_tell", "You cannot say so again in this set: give a judgment.")
        _check_reason(task, action)
        text = action.text if isinstance(action, Judge) else ""
        if (place.text, place.value, place.reason) == (text, value, action.reason):
            return None
        data = {"position": action.position, "text": text, "value": value, "reason": action.reason}
        return Event("revised", data | {"active": seconds_of(action.active)})

    def reopened_view(self, task: Task, state: SequenceState, position: int, reason: str) -> DocumentView:
        """The document of an answer that was opened again. reason : why, for the assessor."""
        there = state._replace(position=position, phase="documents", feedback=None, fails=0)
        view = self.view(task, there)
        assert isinstance(view, DocumentView)
        return replace(view, may_postpone=False, has_context=False, reopened=reason)

    def reopenable(self, task: Task, state: SequenceState) -> frozenset[int]:
        """The positions of answers that can be opened again."""
        return frozenset(row.position for row in self.rows(task, state) if isinstance(row, JudgmentRow))

    def _submission_events(self, task: Task, state: SequenceState) -> tuple[Event, ...]:
        """What becomes of a unit in which every position has its answer."""
        result = self.check(task, state)
        if result is None or result.passed:
            first = Event("finished") if result is None else _check_event(result)
            return (first,) if task.settings.rating else (first, Event("completed"))
        revisions = self.revisions(task)
        out_of_tries = revisions != -1 and state.fails >= revisions
        return (_check_event(result), Event("failed")) if out_of_tries else (_check_event(result),)

    def evolve(self, task: Task, state: SequenceState, event: Event, at: float) -> SequenceState:
        data = event.data
        match event.kind:
            case "judged" | "cannot_tell":
                told = task.gold.feedback and event.kind == "judged" and _is_gold(task, data["position"])
                after = _move_on(_answer(_add_time(state, at, data["active"]), event, at), data["position"])
                return after._replace(feedback=data["position"]) if told else after
            case "revised":
                return _revise(state, event, at)
            case "feedback_read":
                return state._replace(feedback=None, since=at)
            case "stepped_back" | "stepped_forward":
                state = state._replace(backs=state.backs + (event.kind == "stepped_back"))
                return _step(_add_time(state, at), data["position"])
            case "postponed":
                position = data["position"]
                queue = (*(p for p in state.postponed if p != position), position)
                return _move_on(_add_time(state, at)._replace(postponed=queue, resume=None), position)
            case "submitted":
                return _add_time(state, at)._replace(resume=None)
            case "checked":
                if data["passed"]:
                    return state._replace(phase="rating", since=at)
                return state._replace(phase="revision", fails=state.fails + 1, since=at)
            case "looked_again":
                return _show(state._replace(phase="documents", since=at), 0)
            case "finished":
                return state._replace(phase="rating", since=at)
            case "replied":
                if not data["correct"]:
                    return state._replace(wrong=state.wrong + 1, since=at)
                return _show(state._replace(phase="documents", since=at), 0)
            case "rated":
                ratings = {key: data[key] for key in ("confidence", "understanding", "comment")}
                return state._replace(since=at, **ratings)
            case "completed" | "failed" | "screened_out":
                return state._replace(phase=event.kind, since=at)
        return state

    def view(self, task: Task, state: SequenceState) -> View:
        if state.feedback is not None and self.status(state) == "open":
            return self._feedback(task, state, state.feedback)
        match state.phase:
            case "documents":
                place = state.places[state.position]
                return DocumentView(
                    state.position,
                    len(state.places),
                    task.documents[state.position],
                    Answer(place.text, place.reason, place.answer == "cannot_tell") if place.answer else None,
                    tuple(place.answer != "" for place in state.places),
                    tuple(p in state.postponed for p in range(len(state.places))),
                    self.grades(task),
                    task.settings.reason,
                    self.may_postpone(task, state),
                    self.may_not_tell(task, state),
                    state.revising,
                    task.material.n_snippets > 0,
                )
            case "revision":
                left = self.revisions(task)
                return RevisionView(len(state.places), left if left == -1 else left - state.fails + 1)
            case "rating":
                return RatingView()
            case "completed" | "failed" | "screened_out":
                return EndView(state.phase)
        return question_view(task, state.wrong)

    def _feedback(self, task: Task, state: SequenceState, position: int) -> View:
        gold = task.gold.questions[task.gold.of_document[task.documents[position]]]
        labels = [grade.label for grade in self.grades(task)]
        value = state.places[position].value
        chosen = "" if value is None else labels[int(value)]
        expected = tuple(labels[grade] for grade in gold.accepted)
        return FeedbackView(bool(is_right(gold, value)), False, chosen, expected, gold.reason)

    def status(self, state: SequenceState) -> Status:
        match state.phase:
            case "completed" | "failed" | "screened_out":
                return state.phase
        return "open"

    def rows(self, task: Task, state: SequenceState) -> Rows:
        rows: list[Row] = []
        for position, place in enumerate(state.places):
            document = task.documents[position]
            if place.answer and document in task.gold.of_document:
                rows.append(self._gold_row(task, position, document, place))
            elif place.answer:
                rows.append(JudgmentRow(position, document, *_answer_fields(place)))
        return tuple(rows)

    def _gold_row(self, task: Task, position: int, document: int, place: Place) -> GoldRow:
        number = task.gold.of_document[document]
        gold = task.gold.questions[number]
        right, chance = is_right(gold, place.value), gold.chance(len(self.grades(task)))
        question = document, None, right, chance, " ".join(map(str, gold.accepted)), number < task.gold.first
        return GoldRow(position, *question, place.text, place.reason, place.seconds, place.active, place.time)

    def to_json(self, state: SequenceState) -> dict[str, Any]:
        return state._asdict()

    def from_json(self, data: Mapping[str, Any]) -> SequenceState:
        places = tuple(Place(*place) for place in data["places"])
        return SequenceState(**{**data, "places": places, "postponed": tuple(data["postponed"])})


# ---- what an action has to be, and what it then says


def _is_gold(task: Task, position: int) -> bool:
    return task.documents[position] in task.gold.of_document


def _check_reason(task: Task, action: Judge | CannotTell) -> None:
    rule, reason = task.settings.reason, action.reason
    if isinstance(action, CannotTell):
        if not reason.strip():
            raise Refusal("reason", "Write in a few words why you can't tell, such as: the text is cut off.", "reason")
    elif rule == "none" and reason:
        raise Refusal("reason", "No reason is asked for here.", "reason")
    check_text(reason, "reason", required=rule == "required")


def _check_place(state: SequenceState, position: int) -> None:
    if not 0 <= position < len(state.places):
        raise Refusal("position", Message(NO_DOCUMENT, n=len(state.places)), "position")


def _now_shown(state: SequenceState, position: int) -> None:
    _check_place(state, position)
    if position != state.position:
        raise Refusal("stale", STALE, "position")


def _step_events(state: SequenceState, position: int) -> tuple[Event, ...]:
    _check_place(state, position)
    if position == state.position:
        raise Refusal("position", "This is the document that is shown.", "position")
    if not (state.places[position].answer or position in state.postponed or position == _frontier(state)):
        raise Refusal("position", NOT_YET, "position")
    kind = "stepped_back" if position < state.position else "stepped_forward"
    return (Event(kind, {"from": state.position, "position": position}),)


def _check_event(result: CheckResult) -> Event:
    return Event("checked", {"passed": result.passed, "ordered": result.ordered, "unhurried": result.unhurried})


# ---- what an event does


def _frontier(state: SequenceState) -> int | None:
    """The position whose turn it is: the first without an answer, those put off last; None where all have one."""
    for position, place in enumerate(state.places):
        if not place.answer and position not in state.postponed:
            return position
    return state.postponed[0] if state.postponed else None


def _show(state: SequenceState, position: int, **changes: Any) -> SequenceState:
    place = state.places[position]._replace(visits=state.places[position].visits + 1)
    return _put(state, position, place, position=position, **changes)


def _put(state: SequenceState, at: int, place: Place, **changes: Any) -> SequenceState:
    return state._replace(places=(*state.places[:at], place, *state.places[at + 1 :]), **changes)


def _add_time(state: SequenceState, at: float, active: float | None = None) -> SequenceState:
    """The time since the page came up goes to the document it showed."""
    place, seconds = state.places[state.position], max(at - state.since, 0.0)
    place = place._replace(
        seconds=place.seconds + seconds, active=place.active if active is None else (place.active or 0.0) + active
    )
    return _put(state, state.position, place, since=at)


def _revise(state: SequenceState, event: Event, at: float) -> SequenceState:
    """Another answer to a document that was opened again: the page stays where it is, whether the unit goes on or not.

    Its seconds are those of the browser, since nothing tells the server when the page came up.
    """
    position, active = event.data["position"], event.data["active"]
    kind: Literal["judged", "cannot_tell"] = "cannot_tell" if event.data["value"] is None else "judged"
    after = _answer(state, Event(kind, event.data), at)
    place, seconds = after.places[position], active or 0.0
    place = place._replace(
        visits=place.visits + 1,
        seconds=place.seconds + seconds,
        active=place.active if active is None else (place.active or 0.0) + active,
    )
    return _put(after, position, place)


def _answer(state: SequenceState, event: Event, at: float) -> SequenceState:
    old = state.places[position := event.data["position"]]
    content = {
        "answer": event.kind,
        "text": event.data.get("text", ""),
        "reason": event.data["reason"],
        "value": event.data.get("value"),
    }
    if old.answer and all(getattr(old, key) == content[key] for key in content):
        return state
    new = old._replace(**content, revisions=old.revisions + (old.answer != ""), time=at)
    queue = tuple(p for p in state.postponed if p != position)
    return _put(state, position, new, postponed=queue)


def _move_on(state: SequenceState, position: int) -> SequenceState:
    """To where the assessor was, or else to whose turn it is; nowhere where all is said and the last was shown."""
    target = _target(state, position)
    return state if target is None else _show(state, target, resume=None)


def _target(state: SequenceState, position: int) -> int | None:
    """The position after the one that was just answered; None where there is none."""
    if state.resume is None and state.revising:
        return position + 1 if position + 1 < len(state.places) else None
    return _frontier(state) if state.resume is None else state.resume


def _step(state: SequenceState, position: int) -> SequenceState:
    """To another document, keeping in mind where the assessor was."""
    was = state.position if state.resume is None else state.resume
    ahead = position >= was if state.revising else not state.places[position].answer
    return _show(state, position, resume=None if ahead else was)
