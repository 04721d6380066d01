"""The assessor's way through a campaign, before and after units.

    consent -> lines -> feedback -> working -> working with some units done, or lines before each unit
            -> declined         -> lines again | practice_failed -> lines from the beginning, where settings allow it

The practice is that of Maddalena, Mizzaro, Scholer, Turpin (2017), ACM TOIS 35(3), section 3.2.1: numbers for three
lines, which pass where longer lines have higher numbers. Like a protocol it is a pure machine. An owner and the server
add events too: `unit_ended` {outcome, early}, `excluded` {reason, gold}, `reinstated`, and
`reset`, which leads back to the first page as if nothing had been done (an exclusion stays).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from qrowd.model.chance import Chance
from qrowd_server.protocols.events import Action, Consent, Event, GoOn, JudgeLine, Refusal
from qrowd_server.protocols.magnitude_protocol import parse_magnitude
from qrowd_server.protocols.protocol import STALE
from qrowd_server.protocols.settings import JourneySettings
from qrowd_server.protocols.views import (
    ConsentView,
    EndView,
    ExcludedView,
    LinesView,
    LineView,
    NoneLeftView,
    View,
)
from qrowd_server.translatable import N_

AssessorState = Literal[
    "invited", "reading", "judging", "idle", "finished", "stopped", "declined", "excluded", "deleted"
]
Stage = Literal["consent", "lines", "feedback", "working", "declined", "practice_failed"]
Ended = Literal["completed", "failed", "screened_out"]

OVER = N_("This task is finished; there is nothing left to do here.")


@dataclass(frozen=True, slots=True)
class Reopened:
    """An answer that its author is asked to consider again. assignment : its number. reason : the owner's."""

    assignment: int
    position: int
    reason: str


@dataclass(frozen=True, slots=True)
class Journey:
    """How far an assessor has come.

    seed : what chance decides here. lines : whether this campaign's protocol has a practice with lines.
    drawing : which drawing of lines is shown. texts, values : their numbers, as typed and as read.
    attempts : at the current practice that failed. practised : whether it was passed, or is not asked for.
    practices : sets of lines that were judged.
    completed, failed, screened_out : units that ended so. last : how the last one did; early : and by a rule.
    excluded : takes no further part. reinstated : by the owner, after
    which no rule excludes them again. reopened : answers to consider again, first come. n_messages : sent to the
    organisers.
    """

    stage: Stage
    seed: int
    lines: bool
    drawing: int = 0
    texts: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    attempts: int = 0
    practised: bool = False
    completed: int = 0
    failed: int = 0
    screened_out: int = 0
    last: Ended | None = None
    early: bool = False
    excluded: bool = False
    practices: int = 0
    reinstated: bool = False
    reopened: tuple[Reopened, ...] = ()
    n_messages: int = 0

    @property
    def n_units(self) -> int:
        """Units that came to an end, however they did."""
        return self.completed + self.failed + self.screened_out


def new(settings: JourneySettings, *, lines: bool, seed: int) -> Journey:
    """The journey of somebody who has just arrived; the same seed gives the same lines, for ever.

    lines : whether there is a practice with lines, for magnitudes.
    """
    journey = Journey("consent", seed, lines=lines)
    return journey if settings.consent else _after_consent(settings, journey)


def decide(settings: JourneySettings, journey: Journey, action: Action) -> tuple[Event, ...]:
    """What an action leads to."""
    if (
        journey.excluded
        or journey.stage == "declined"
        or (journey.stage == "practice_failed" and not settings.practice_restart)
    ):
        raise Refusal("over", OVER)
    match journey.stage, action:
        case "consent", Consent(agreed):
            return (Event("consented" if agreed else "declined"),)
        case "lines", JudgeLine(line, text):
            if line != len(journey.texts):
                raise Refusal("stale", STALE, "line")
            return _line_events(settings, journey, text)
        case "feedback", GoOn():
            return (Event("practice_passed" if journey.practised else "practice_again"),)
        case "practice_failed", GoOn():
            return (Event("practice_restarted"),)
        case "working", _ if not may_work(settings, journey):
            raise Refusal("over", OVER)
    raise Refusal("stale", STALE)


def evolve(settings: JourneySettings, journey: Journey, event: Event, assignment: int | None = None) -> Journey:
    """The journey after an event. Never refuses: what is in the log has happened.

    assignment : which the event is about, of those that are about one.
    """
    data = event.data
    match event.kind:
        case "consented":
            return _after_consent(settings, journey)
        case "declined":
            return replace(journey, stage="declined")
        case "line_judged":
            return replace(journey, texts=(*journey.texts, data["text"]), values=(*journey.values, data["value"]))
        case "practised":
            passed = bool(data["passed"])
            attempts, practices = journey.attempts + (not passed), journey.practices + 1
            return replace(journey, stage="feedback", practised=passed, attempts=attempts, practices=practices)
        case "practice_again":
            return _with_new_lines(journey)
        case "practice_restarted":
            return replace(_with_new_lines(journey), attempts=0, practised=False)
        case "practice_passed":
            return replace(journey, stage="working")
        case "practice_failed":
            return replace(journey, stage="practice_failed")
        case "unit_ended" if data["outcome"] in ("completed", "failed", "screened_out"):
            outcome: Ended = data["outcome"]
            counts: dict[str, Any] = {outcome: getattr(journey, outcome) + 1}
            return replace(journey, last=outcome, early=bool(data.get("early", False)), **counts)
        case "excluded":
            return replace(journey, excluded=True)
        case "reinstated":
            return replace(journey, excluded=False, reinstated=True)
        case "reset":
            again = new(settings, lines=journey.lines, seed=journey.seed)
            kept = {name: getattr(journey, name) for name in ("excluded", "reinstated", "reopened", "n_messages")}
            return replace(again, drawing=journey.drawing + 1, **kept)
        case "reopened" if assignment is not None:
            others = without(journey.reopened, assignment, data["position"])
            return replace(journey, reopened=(*others, Reopened(assignment, data["position"], data["reason"])))
        case "reconsidered" if assignment is not None:
            return replace(journey, reopened=without(journey.reopened, assignment, data["position"]))
        case "message_sent":
            return replace(journey, n_messages=journey.n_messages + 1)
    return journey


def without(reopened: tuple[Reopened, ...], assignment: int, position: int) -> tuple[Reopened, ...]:
    """The others."""
    return tuple(one for one in reopened if (one.assignment, one.position) != (assignment, position))


def view(settings: JourneySettings, journey: Journey) -> View:
    """What the assessor sees where no unit has anything to show."""
    if journey.excluded:
        return ExcludedView()
    match journey.stage:
        case "consent":
            return ConsentView()
        case "lines":
            line, lengths = len(journey.texts), draw_lines(journey.seed, journey.drawing)
            return LineView(line, len(lengths), lengths[line], journey.attempts > 0)
        case "feedback":
            left = settings.practice_attempts - journey.attempts
            return LinesView(draw_lines(journey.seed, journey.drawing), journey.texts, journey.practised, left)
        case "declined":
            return EndView("declined")
        case "practice_failed":
            return EndView("practice_failed", another=settings.practice_restart)
    if journey.last is None:
        return NoneLeftView(None, False)
    return EndView(journey.last, journey.early, may_work(settings, journey))


def may_work(settings: JourneySettings, journey: Journey) -> bool:
    """Whether a unit may be had, the first or a further one.

    After a completed unit that depends on `another`, after any other on `restart`; `max_units` ends it in any case.
    """
    if journey.excluded or journey.stage != "working":
        return False
    if settings.max_units and journey.n_units >= settings.max_units:
        return False
    if journey.last is None:
        return True
    return settings.another if journey.last == "completed" else settings.restart


def before_next_unit(settings: JourneySettings, journey: Journey) -> tuple[Event, ...]:
    """What follows once a unit is left for another: the practice, where it comes before each unit."""
    again = settings.practice and settings.practice_each_unit and journey.lines
    return (Event("practice_restarted"),) if again else ()


def state_of(
    settings: JourneySettings, journey: Journey, is_begun: bool, has_unit: bool, is_more: bool
) -> AssessorState:
    """What an owner is told of an assessor who came.

    reading : before the first unit. judging : in a unit, or in the practice before another. idle : in no unit, though
    there is another. finished : nothing is left to do.
    is_begun, has_unit : whether a unit was theirs last, and is reserved for them. is_more : whether there is a unit
    that they may have, now or once another assessor gives it back.
    """
    if journey.excluded:
        return "excluded"
    if journey.stage == "declined":
        return "declined"
    is_over = journey.stage == "practice_failed" and not settings.practice_restart
    if not has_unit and (is_over or (journey.stage == "working" and not is_more)):
        return "finished"
    if not (has_unit or is_begun or journey.n_units):
        return "reading"
    return "judging" if has_unit or journey.stage != "working" else "idle"


def state_of_model(journey: Journey, has_unit: bool, is_more: bool) -> AssessorState:
    """The same of a model, which judges while it is asked. is_more : whether there is a topic that it never had."""
    if journey.excluded:
        return "excluded"
    return "judging" if has_unit else "stopped" if is_more else "finished"


def to_json(journey: Journey) -> dict[str, Any]:
    """The journey as JSON values."""
    values = {name: getattr(journey, name) for name in Journey.__slots__}
    reopened = [[one.assignment, one.position, one.reason] for one in journey.reopened]
    return values | {"texts": list(journey.texts), "values": list(journey.values), "reopened": reopened}


def from_json(data: Mapping[str, Any]) -> Journey:
    """The journey again."""
    reopened = tuple(Reopened(*one) for one in data.get("reopened", ()))
    return Journey(**{**data, "texts": tuple(data["texts"]), "values": tuple(data["values"]), "reopened": reopened})


# ---- the practice


def draw_lines(seed: int, drawing: int = 0) -> tuple[float, ...]:
    """Three lengths for the practice: the longest 0.8 to 1, each of the others 0.4 to 0.6 times the next longer one.

    They come in random order, though not from the shortest to the longest or back, which would tell.
    """
    chance = Chance((seed,)).stream("lines", drawing)
    long, middle, short = chance.uniform((0.8, 0.4, 0.4), (1.0, 0.6, 0.6)).cumprod().tolist()
    orders = ((middle, long, short), (middle, short, long), (long, short, middle), (short, long, middle))
    first, second, third = orders[chance.integers(len(orders))]
    return round(first, 3), round(second, 3), round(third, 3)


def in_order(lengths: tuple[float, ...], values: tuple[float, ...]) -> bool:
    """Whether longer lines have higher numbers; equal numbers do not pass."""
    ascending = [value for _, value in sorted(zip(lengths, values, strict=True))]
    return all(low < high for low, high in pairwise(ascending))


def _with_new_lines(journey: Journey) -> Journey:
    return replace(journey, stage="lines", drawing=journey.drawing + 1, texts=(), values=())


def _after_consent(settings: JourneySettings, journey: Journey) -> Journey:
    practice = settings.practice and journey.lines
    return replace(journey, stage="lines" if practice else "working", practised=not practice)


def _line_events(settings: JourneySettings, journey: Journey, text: str) -> tuple[Event, ...]:
    value = parse_magnitude(text)
    event = Event("line_judged", {"line": len(journey.texts), "text": text, "value": value})
    lengths = draw_lines(journey.seed, journey.drawing)
    if len(journey.texts) + 1 < len(lengths):
        return (event,)
    passed = in_order(lengths, (*journey.values, value))
    practice = Event("practised", {"passed": passed})
    out = not passed and journey.attempts + 1 >= settings.practice_attempts
    return (event, practice, Event("practice_failed")) if out else (event, practice)
