"""Preferences: two documents of a topic side by side, and which one is better.

    question -> pairs -> rating -> completed        (or: question -> screened_out)

Which pair comes next, and when it is enough, is decided on a `Board`: what this assessor found out, or what all
assessors of the topic did together.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, sections 3.1
and 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from qrowd.preferences.scheduling import Order, State, Systems, make_order, may_stop
from qrowd.preferences.scheduling.orders import KeepPreferred
from qrowd_server.protocols.board import Board, Pair
from qrowd_server.protocols.events import Action, Event, GoOn, LookUp, MarkBad, Prefer, Rate, Refusal, Reply, Undo
from qrowd_server.protocols.gold_checks import Gold
from qrowd_server.protocols.protocol import (
    STALE,
    BadRow,
    GoldRow,
    Material,
    PreferenceRow,
    Protocol,
    Row,
    Rows,
    Status,
    Task,
    look_up_events,
    question_view,
    rating_events,
    reply_events,
    seconds_of,
)
from qrowd_server.protocols.settings import PreferenceSettings
from qrowd_server.protocols.views import EndView, FeedbackView, NoneLeftView, PairView, RatingView, View
from qrowd_server.translatable import N_

Phase = Literal["question", "arriving", "pairs", "rating", "completed", "screened_out"]


@dataclass(frozen=True, slots=True)
class CurrentPair:
    """The pair on the page.

    pair : its number. new, at_most, removed : as in `PairView`.
    since : when it came up. gold : which of the gold questions it is; None for a pair to be judged.
    """

    pair: int
    left: int
    right: int
    new: Literal["left", "right", "both"]
    at_most: int
    removed: bool
    since: float
    gold: int | None = None


class PairAnswer(NamedTuple):
    """A judgment or mark that stands. choice : "bad-left" and "bad-right" are marks. gold : as of `CurrentPair`."""

    pair: int
    left: int
    right: int
    choice: Literal["left", "right", "duplicates", "bad-left", "bad-right"]
    strength: int
    seconds: float
    active: float | None
    time: float
    gold: int | None = None


@dataclass(frozen=True, slots=True)
class PreferenceState:
    """How far an assessor is with a topic.

    current : the pair on the page, or the last one. answers : what stands, oldest first. n_pairs : shown so far.
    wrong : answers to the question. ending : why the pairs ended.
    n_gold : gold questions shown so far. feedback : whether the assessor is being told about the last answer.
    """

    phase: Phase
    current: CurrentPair | None = None
    answers: tuple[PairAnswer, ...] = ()
    n_pairs: int = 0
    wrong: int = 0
    ending: Literal["", "stopped", "finished", "all_bad", "waiting"] = ""
    confidence: int | None = None
    understanding: int | None = None
    comment: str = ""
    n_gold: int = 0
    feedback: bool = False

    @property
    def n_gold_answers(self) -> int:
        """How many gold questions have an answer: the first ones, because only the last answer is taken back."""
        return sum(one.gold is not None for one in self.answers)


# ---- gold questions


def of_gold(gold: int | None) -> dict[str, int]:
    """What an event says of a pair that is a gold question; nothing of any other."""
    return {} if gold is None else {"gold": gold}


def may_undo(task: Task, state: PreferenceState) -> bool:
    """Whether there is an answer to take back; one that the assessor was told about stays."""
    return bool(state.answers) and not (task.gold.feedback and state.answers[-1].gold is not None)


def chosen_document(gold: Gold, answer: PairAnswer) -> Literal["better", "worse", "duplicates"]:
    """Which document of a gold question was chosen; the other one where one was marked as Bad."""
    if answer.choice == "duplicates":
        return "duplicates"
    chosen = answer.left if answer.choice in ("left", "bad-right") else answer.right
    return "better" if chosen == gold.documents[0] else "worse"


def gold_row(number: int, task: Task, answer: PairAnswer) -> GoldRow:
    """The answer to a gold question. number : of the pair among the answers."""
    assert answer.gold is not None
    gold, is_entry = task.gold.questions[answer.gold], answer.gold < task.gold.first
    chosen = chosen_document(gold, answer)
    times = answer.seconds, answer.active, answer.time
    better, worse = gold.documents
    side = "left" if answer.left == better else "right"
    return GoldRow(number, better, worse, chosen == "better", gold.chance(2), side, is_entry, chosen, "", *times)


def feedback_view(task: Task, answer: PairAnswer) -> FeedbackView:
    """What the assessor is told after a gold question."""
    assert answer.gold is not None  # there is feedback on nothing else
    gold = task.gold.questions[answer.gold]
    chosen = chosen_document(gold, answer)
    side = "left" if answer.left == gold.documents[0] else "right"
    other = "right" if side == "left" else "left"
    shown = {"better": side, "worse": other, "duplicates": "same"}[chosen]
    return FeedbackView(chosen == "better", True, shown, (side,), gold.reason)


UNBOUNDED = 10**9  # what an undone answer makes of the bound on pairs: as many can come again as before it
OVER = N_("This topic is finished; nothing in it can be changed any more.")


class PreferenceProtocol(Protocol[PreferenceState]):
    """Two documents at a time.

    Before the first pair, and where a document on the page was removed by somebody else, `resume` says what comes next.
    """

    name = "preference"
    checked = False

    def new(self, task: Task, at: float) -> PreferenceState:
        return PreferenceState("question" if task.material.question is not None else "arriving")

    def decide(
        self, task: Task, state: PreferenceState, action: Action, at: float, board: Board | None = None
    ) -> tuple[Event, ...]:
        """What an action leads to: what happened, then the next pair ("offered") or why there is none.

        board : as it is before the action, for this assignment (`Board.for_assignment`). An assessor who judges alone
            needs none: the state has it all.
        """
        if self.status(state) != "open":
            raise Refusal("over", OVER)
        if state.feedback:
            if not isinstance(action, GoOn):
                raise Refusal("stale", STALE)
            return (Event("feedback_read"),)
        match state.phase, action:
            case "question", Reply(option):
                events = reply_events(task, state.wrong, option)
                if not events[0].data["correct"]:
                    return events
                answered = self.evolve(task, state, events[0], at)
                return (*events, *self._next(task, answered, at, _board(task, state, board)))
            case "question" | "pairs", LookUp():
                return look_up_events(task, state.current.pair if state.current else None)
            case "pairs", Prefer() | MarkBad() | Undo():
                if state.current is None or action.pair != state.current.pair:
                    raise Refusal("stale", STALE, "pair")
                now = _board(task, state, board)
                if isinstance(action, Undo):
                    return self._undo(task, state, at, now)
                make = _preference_event if isinstance(action, Prefer) else _mark_event
                event = make(task, state.current, action, at)
                after = now.after(now.me, event, at)
                return (event, *self._next(task, self.evolve(task, state, event, at), at, after))
            case "rating", Rate():
                return rating_events(action)
        raise Refusal("stale", STALE)

    def resume(
        self, task: Task, state: PreferenceState, board: Board | None, at: float, removed: int | None = None
    ) -> tuple[Event, ...]:
        """The first pair of an assignment, or another one where a document on its page is Bad by now; else nothing.

        board : as it is now, at this assignment's turn. removed : the document, if somebody else just removed it.
        """
        if state.phase == "arriving":
            return self._next(task, state, at, _board(task, state, board))
        if state.phase != "pairs" or state.current is None or state.current.gold is not None:
            return ()
        now = _board(task, state, board)
        documents = (state.current.left, state.current.right)
        bad = [d for d in documents if d == removed or now.state.bad[now.places[d]]]
        if not bad:
            return ()
        event = Event("withdrawn", {"pair": state.current.pair, "document": bad[0]})
        return (event, *self._next(task, state, at, now.after(now.me, event, at), removed=True))

    def leaves_nothing(self, task: Task, board: Board) -> bool:
        new = board.for_assignment(0)  # no assignment has this number
        return _over(task, new) is not None or self._chosen(task, new) == "finished"

    def offered(self, state: PreferenceState) -> tuple[int, int] | None:
        return None if state.phase != "pairs" or state.current is None else (state.current.left, state.current.right)

    def evolve(self, task: Task, state: PreferenceState, event: Event, at: float) -> PreferenceState:
        data = event.data
        match event.kind:
            case "replied":
                return replace(state, phase="arriving") if data["correct"] else replace(state, wrong=state.wrong + 1)
            case "offered":
                current = CurrentPair(**data, since=at)
                n_gold = state.n_gold if current.gold is None else max(state.n_gold, current.gold + 1)
                return replace(state, phase="pairs", current=current, n_pairs=data["pair"] + 1, n_gold=n_gold)
            case "preferred" | "marked_bad":
                choice: Any = data["choice"] if event.kind == "preferred" else f"bad-{data['side']}"
                shared = {key: data[key] for key in ("pair", "left", "right", "seconds", "active")}
                gold = data.get("gold")
                answer = PairAnswer(choice=choice, strength=data.get("strength", 1), time=at, gold=gold, **shared)
                told = gold is not None and task.gold.feedback
                return replace(state, answers=(*state.answers, answer), feedback=told)
            case "feedback_read":
                return replace(state, current=state.current and replace(state.current, since=at), feedback=False)
            case "undone":
                shown = state.current and replace(state.current, at_most=UNBOUNDED)
                return replace(state, current=shown, answers=state.answers[:-1])
            case "stopped" | "finished" | "all_bad" | "waiting":
                return replace(state, phase="rating", ending=event.kind)
            case "rated":
                return replace(state, **{key: data[key] for key in ("confidence", "understanding", "comment")})
            case "completed" | "screened_out":
                return replace(state, phase=event.kind)
        return state

    def view(self, task: Task, state: PreferenceState) -> View:
        settings: PreferenceSettings = task.settings
        if state.feedback and self.status(state) == "open":
            return feedback_view(task, state.answers[-1])
        match state.phase:
            case "question":
                return question_view(task, state.wrong)
            case "arriving":
                return NoneLeftView(None, False)
            case "pairs":
                current = state.current
                assert current is not None  # a pair was offered
                return PairView(
                    current.pair,
                    len(state.answers) + 1,
                    current.left,
                    current.right,
                    current.new,
                    current.at_most,
                    may_undo=may_undo(task, state),
                    definitely=settings.definitely,
                    duplicates=settings.duplicates,
                    may_mark_bad=settings.bad,
                    has_context=task.material.n_snippets > 0,
                    removed=current.removed,
                )
            case "rating":
                return RatingView()
            case outcome:
                return EndView(outcome, early=state.ending == "stopped")

    def status(self, state: PreferenceState) -> Status:
        return state.phase if state.phase in ("completed", "screened_out") else "open"

    def rows(self, task: Task, state: PreferenceState) -> Rows:
        rows: list[Row] = []
        for number, one in enumerate(state.answers):
            if one.gold is not None:
                rows.append(gold_row(number, task, one))
            elif one.choice in ("left", "right", "duplicates"):
                times = one.seconds, one.active, one.time
                rows.append(PreferenceRow(number, one.left, one.right, one.choice, one.strength, *times))
            else:
                document = one.left if one.choice == "bad-left" else one.right
                rows.append(BadRow(document, number, one.seconds, one.time))
        return tuple(rows)

    def to_json(self, state: PreferenceState) -> dict[str, Any]:
        data = {name: getattr(state, name) for name in PreferenceState.__slots__}
        return data | {"current": None if state.current is None else asdict(state.current)}

    def from_json(self, data: Mapping[str, Any]) -> PreferenceState:
        current = None if data["current"] is None else CurrentPair(**data["current"])
        answers = tuple(PairAnswer(*one) for one in data["answers"])
        return PreferenceState(**{**data, "current": current, "answers": answers})

    # ---- what comes next

    def _next(
        self, task: Task, state: PreferenceState, at: float, board: Board, *, removed: bool = False
    ) -> tuple[Event, ...]:
        """The next pair, or the end of the pairs. board : with everything that happened so far."""
        ending: str | None = _over(task, board)
        if ending is None:
            last = _last_preferred(state.answers)
            pair = self._chosen(task, board, -1 if last is None else board.places[last])
            if not isinstance(pair, str):
                n_asked = state.n_gold_answers
                if task.gold.comes(state.n_pairs, n_asked):  # only now, so that it takes as long as any other
                    return (_offer_gold(task, state, board, n_asked, removed),)
                left, right = _sides(task, state, (board.documents[pair[0]], board.documents[pair[1]]))
                return (_offer(task, state, board, left, right, removed),)
            ending = pair
        asks = task.settings.rating and state.answers
        return (Event(ending),) if asks else (Event(ending), Event("completed"))

    def _chosen(self, task: Task, board: Board, kept: int = -1) -> Pair | Literal["waiting", "finished"]:
        return board.choose(_order_of(task), kept, enough=lambda known: _settled(task, board, known))

    def _undo(self, task: Task, state: PreferenceState, at: float, board: Board) -> tuple[Event, ...]:
        """The last judgment or mark of this assessor is taken back, and its pair is asked again if it is open."""
        if not may_undo(task, state):
            raise Refusal("undo", "There is nothing to take back.")
        last = state.answers[-1]
        event = Event(
            "undone",
            {"pair": last.pair, "left": last.left, "right": last.right, "choice": last.choice} | of_gold(last.gold),
        )
        after, now = self.evolve(task, state, event, at), board.after(board.me, event, at)
        if last.gold is not None:
            return (event, _offer_gold(task, after, now, last.gold, False))
        if now.may_ask((now.places[last.left], now.places[last.right])):
            return (event, _offer(task, after, now, last.left, last.right, False))
        return (event, *self._next(task, after, at, now))


# ---- what an action has to be, and what it then says


def _preference_event(task: Task, current: CurrentPair, action: Any, at: float) -> Event:
    return Event("preferred", _said(task.settings, action) | _context(current, action.active, at))


def _said(settings: PreferenceSettings, action: Prefer) -> dict[str, Any]:
    """Which document is better, and whether definitely."""
    if action.choice not in ("left", "right", *(("duplicates",) if settings.duplicates else ())):
        raise Refusal("choice", "Choose the left or the right document.", "choice")
    if action.definitely and (not settings.definitely or action.choice == "duplicates"):
        raise Refusal("definitely", "Choose one document, without saying how much better it is.", "definitely")
    return {"choice": action.choice, "strength": 2 if action.definitely else 1}


def _mark_event(task: Task, current: CurrentPair, action: Any, at: float) -> Event:
    if not task.settings.bad or action.side not in ("left", "right"):
        raise Refusal("bad", "This document cannot be removed; choose the better one of the two.", "side")
    document = current.left if action.side == "left" else current.right
    return Event("marked_bad", {"side": action.side, "document": document} | _context(current, action.active, at))


def _context(current: CurrentPair, active: float | None, at: float) -> dict[str, Any]:
    """Of which pair it was said, and how long that took by both clocks."""
    times = {"seconds": max(at - current.since, 0.0), "active": seconds_of(active)}
    return {"pair": current.pair, "left": current.left, "right": current.right, **times} | of_gold(current.gold)


# ---- what comes next


def _board(task: Task, state: PreferenceState, board: Board | None) -> Board:
    """The board; of somebody who judges alone also without one."""
    if board is not None:
        return board
    events = [
        Event("marked_bad", {"left": one.left, "right": one.right, "side": one.choice[4:]})
        if one.choice.startswith("bad")
        else Event("preferred", {"left": one.left, "right": one.right, "choice": one.choice})
        for one in state.answers
        if one.gold is None
    ]
    return Board.of(task.material.documents, [(0, event, 0.0) for event in events], infer=task.settings.infer)


def _over(task: Task, board: Board) -> Literal["stopped", "all_bad"] | None:
    """Why no pair is needed any more, if so: documents are Bad one and all, or how systems compare is settled for good.

    With several systems every two of them must be settled. What others are being asked may still come out any way.
    """
    n_bad = int(board.state.bad.sum())
    if n_bad and n_bad >= len(board.documents) - 1 and not board.state.n_preferences:
        return "all_bad"  # the last one has nobody to meet, and nobody liked it
    return "stopped" if _settled(task, board, board.state) else None


def _settled(task: Task, board: Board, state: State) -> bool:
    """Whether a state of this board settles how the systems compare, whatever others answer to what they are asked."""
    settings: PreferenceSettings = task.settings
    systems = _systems(task.material, settings.measure) if settings.stop else None
    if systems is None:
        return False
    others = [offer.pair for one, offer in board.offered.items() if one != board.me]
    return may_stop(state.beside(others), systems, later_bad="any" if settings.bad else "none").stop


def _offer(
    task: Task, state: PreferenceState, board: Board, left: int, right: int, removed: bool, gold: int | None = None
) -> Event:
    before = state.current
    same = (False, False) if before is None else (before.left == left, before.right == right)
    most = _at_most(board)
    most += task.gold.at_most(most, state.n_gold_answers) + (gold is not None and gold < state.n_gold)
    data = {
        "pair": state.n_pairs,
        "left": left,
        "right": right,
        "new": {(True, False): "right", (False, True): "left"}.get(same, "both"),
        "at_most": max(1, most if before is None else min(most, before.at_most)),
        "removed": removed,
    }
    return Event("offered", data | of_gold(gold))


def _at_most(board: Board) -> int:
    """How many pairs can still come: each one closes at least itself."""
    open_now = board.state.open
    n_open = int(open_now.sum()) // 2
    if board.pair_redundancy > 1:
        mine = {frozenset((f.first, f.second)) for f in board.facts if f.assignment == board.me and f.kind != "bad"}
        n_open -= sum(bool(open_now[tuple(pair)]) for pair in mine)
    return n_open


def _offer_gold(task: Task, state: PreferenceState, board: Board, gold: int, removed: bool) -> Event:
    """A gold question, each document on a side by the seed, and with nothing that another pair would not have."""
    better, worse = task.gold.questions[gold].documents
    sides = (better, worse) if np.random.default_rng([task.seed, state.n_pairs]).integers(2) else (worse, better)
    return _offer(task, state, board, *sides, removed, gold)


def _last_preferred(answers: Sequence[PairAnswer]) -> int | None:
    """The document that stays: the preferred one, or the other one where one was removed. Of two duplicates the one
    that had stayed before does, else the left one."""
    last: int | None = None
    for one in answers:
        if one.gold is not None:
            continue
        if one.choice in ("left", "bad-right"):
            last = one.left
        elif one.choice in ("right", "bad-left"):
            last = one.right
        elif last not in (one.left, one.right):
            last = one.left
    return last


def _sides(task: Task, state: PreferenceState, pair: Pair) -> Pair:
    """Left and right: a kept document stays on its side, everything else is a coin's choice, tossed by the seed."""
    one, two = pair
    current, last = state.current, _last_preferred(state.answers)
    if _keeps(task) and current is not None and last in pair:
        other = two if last == one else one
        if last == current.left:
            return last, other
        if last == current.right:
            return other, last
    return pair if np.random.default_rng([task.seed, state.n_pairs]).integers(2) else (two, one)


def _order_of(task: Task) -> Order:
    """Each assessor has an order by chance; those who sort or play a tournament together must do so by the same."""
    if _keeps(task):
        return _kept_order(task.material.documents, task.documents)
    together = task.settings.sharing == "shared"
    return _order(task.material, task.settings, tuple(sorted(task.material.documents)) if together else task.seed)


def _keeps(task: Task) -> bool:
    """Whether the preferred document stays: if that is asked for, for all pairs, and without systems to compare."""
    settings: PreferenceSettings = task.settings
    compares = settings.order in ("utility", "settled", "printed")
    return settings.order in ("keep-preferred", "kept", "all") or (compares and len(task.material.systems) < 2)


@lru_cache(maxsize=256)
def _kept_order(documents: tuple[int, ...], sequence: tuple[int, ...]) -> Order:
    places = {document: place for place, document in enumerate(documents)}
    return KeepPreferred([places[document] for document in sequence])


@lru_cache(maxsize=256)
def _order(material: Material, settings: PreferenceSettings, seed: int | tuple[int, ...]) -> Order:
    systems = _systems(material, settings.measure)
    return make_order(settings.order, len(material.documents), systems, rng=seed)


@lru_cache(maxsize=8)  # up to 40 MB each, for 200 documents and 63 systems
def _systems(material: Material, measure: str) -> Systems | None:
    """The rankings to compare; None where there are fewer than two. Documents outside the topic's are left out."""
    if len(material.systems) < 2:
        return None
    return Systems.of(material.rankings(), len(material.documents), weight="lower" if measure == "wpref" else "none")
