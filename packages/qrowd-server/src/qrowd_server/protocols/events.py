"""What happened, and what somebody wants to happen.

An action is what an assessor asks for. A protocol answers with events, which are facts and never change; its state is
what the events add up to. Nothing else is kept, so any state can be worked out again from the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le, MaxLen

from qrowd.errors import QrowdError
from qrowd_server.translatable import Message

Side = Literal["left", "right"]
Choice = Literal["left", "right", "duplicates"]
MAX_TEXT, MAX_REASON = 200, 2000  # characters
MAX_SECONDS = 1e7
Index = Annotated[int, Ge(0), Le(10**9 - 1)]
Rating = Annotated[int, Ge(1), Le(5)]
Text = Annotated[str, MaxLen(MAX_TEXT)]
Reason = Annotated[str, MaxLen(MAX_REASON)]
Seconds = Annotated[float, Ge(0), Le(MAX_SECONDS)]


@dataclass(frozen=True)
class Event:
    """A fact, as it goes into the log.

    kind : what happened, such as "judged" or "stepped_back".
    data : whatever is needed to know it exactly, as JSON values.
    """

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)


class Refusal(QrowdError):
    """An action that cannot be taken; nothing happened.

    code : one word for programs, such as "number" or "stale". message : in English; a page says it in its language.
    field : the input it is about, "" for the action as a whole.
    """

    def __init__(self, code: str, message: str, field: str = "") -> None:
        self.code, self.field = code, field
        self.message = message if isinstance(message, Message) else Message(message)
        super().__init__(message)


# ---- what an assessor can ask for


@dataclass(frozen=True)
class Consent:
    """To take part, or not."""

    agreed: bool


@dataclass(frozen=True)
class JudgeLine:
    """The number for a practice line; `line` counts from 0 in the order shown, `text` is as typed."""

    line: Index
    text: Text


@dataclass(frozen=True)
class GoOn:
    """Past a page that only tells something: the practice's feedback, a failed check, an end with another topic."""


@dataclass(frozen=True)
class Reply:
    """To the question about the topic; `option` counts from 0 in the order shown."""

    option: Index


@dataclass(frozen=True)
class Judge:
    """A magnitude or a grade for one document.

    position : from 0, in the order shown. text : as typed or chosen. reason : why, in the assessor's words.
    active : seconds during which the page was in front, as the browser says; None where it does not.
    """

    position: Index
    text: Text
    reason: Reason = ""
    active: Seconds | None = None


@dataclass(frozen=True)
class Postpone:
    """Judge this document later."""

    position: Index


@dataclass(frozen=True)
class CannotTell:
    """No judgment of this document is possible, and why."""

    position: Index
    reason: Reason = ""
    active: Seconds | None = None


@dataclass(frozen=True)
class GoTo:
    """Look at another document of the unit; one step back is `GoTo(position - 1)`."""

    position: Index


@dataclass(frozen=True)
class Prefer:
    """Which document of a pair is better; `pair` is the number the page showed."""

    pair: Index
    choice: Choice
    definitely: bool = False
    active: Seconds | None = None


@dataclass(frozen=True)
class MarkBad:
    """Remove one document of the pair from all further pairs."""

    pair: Index
    side: Side
    active: Seconds | None = None


@dataclass(frozen=True)
class Undo:
    """Take the last judgment or Bad mark back; `pair` is the number of the pair now shown."""

    pair: Index


@dataclass(frozen=True)
class LookUp:
    """Open the stored context of the topic."""


@dataclass(frozen=True)
class Rate:
    """Afterwards: how sure, and how well the topic was understood, 1 to 5 each."""

    confidence: Rating
    understanding: Rating
    comment: Reason = ""


@dataclass(frozen=True)
class AskOrganisers:
    """Ask the organisers about the document or the pair that is shown."""

    message: Reason


@dataclass(frozen=True)
class ReadReply:
    """The reply to a question was read and need not be shown any more; `number` counts the assessor's from 0."""

    number: Index


Action = (
    Consent
    | JudgeLine
    | GoOn
    | Reply
    | Judge
    | Postpone
    | CannotTell
    | GoTo
    | Prefer
    | MarkBad
    | Undo
    | LookUp
    | Rate
    | AskOrganisers
    | ReadReply
)
ACTIONS: dict[str, type] = {  # by the name that forms and programs use
    "consent": Consent,
    "line": JudgeLine,
    "go_on": GoOn,
    "reply": Reply,
    "judge": Judge,
    "postpone": Postpone,
    "cannot_tell": CannotTell,
    "go_to": GoTo,
    "prefer": Prefer,
    "bad": MarkBad,
    "undo": Undo,
    "look_up": LookUp,
    "rate": Rate,
    "ask_organisers": AskOrganisers,
    "read_reply": ReadReply,
}


# ---- what events hold

_PAIR = {"pair": Index, "left": int, "right": int}
_GOLD = {"gold": (Index | None, None)}  # which gold question the pair is, if it is one
_TIMES = {"seconds": float, "active": float | None}
_ENDED = Literal["completed", "failed", "screened_out"]
_NOTHING: dict[str, Any] = {}

#: The keys of the data of each kind of event, with their types; a key that may be missing also has its default.
EVENT_DATA: dict[str, dict[str, Any]] = {
    # of a campaign
    "paused": _NOTHING,
    "resumed": _NOTHING,
    "changed": {"lines": tuple[str, ...]},  # topics, documents and assessors added, texts corrected
    "drawn": {"documents": tuple[Index, ...], "sizes": tuple[float, ...]},  # a batch of a question, by its design
    "looked": {"n_judged": Index, "looked": dict[str, Any]},
    "decided": {"n_judged": Index, "sentence": str},
    "undecided": {"n_judged": Index, "sentence": str},
    "adjudicated": {  # the final answer for a document; a text of "" takes it back
        "item": tuple[str, str],
        "arm": Text,
        "text": Text,
        "value": float | None,
        "reason": Reason,
    },
    # of an assessor
    "arrived": {
        "name": str,
        "provider": str,
        "external_id": str,
        "seed": int,
        "about": dict[str, Any],
        "pseudonym": (str, ""),
    },
    "consented": _NOTHING,
    "declined": _NOTHING,
    "line_judged": {"line": Index, "text": str, "value": float},
    "practised": {"passed": bool},
    "practice_again": _NOTHING,
    "practice_restarted": _NOTHING,
    "practice_passed": _NOTHING,
    "practice_failed": _NOTHING,
    "assigned": {"slot": int, "topic": int, "seed": int, "gold_every": (Index, 0), "gold_first": (Index, 0)},
    "unit_ended": {"outcome": _ENDED, "early": bool},
    "taken_up": _NOTHING,  # a unit that was given back
    "unit_left": _NOTHING,
    # of a campaign, by its owners
    "member": {"account": Text, "role": Literal["owner", "viewer", "none"]},  # an account's new role
    "invited": {"n": Index},
    "sign_up_opened": {"most": Index, "expires": float},
    "sign_up_closed": {"n": Index},
    "excluded": {"reason": str, "gold": (dict[str, Any] | None, None)},
    "reinstated": _NOTHING,
    "person_deleted": {
        "answers": Literal["kept", "withdrawn"],
        "by": Literal["owner", "assessor", "retention"],
        "n_events": Index,
        "n_texts": Index,
        "texts": Literal["removed", "kept"],
    },
    "names_exported": {"what": Text, "format": Text},  # a file with names and ids of platforms left the campaign
    "reset": _NOTHING,
    "reopened": {"position": Index, "reason": Reason},  # an answer, for its author
    "reconsidered": {"position": Index, "changed": bool},  # "revised" has what it was changed to
    "message_sent": {"number": Index, "place": Index, "documents": tuple[str, ...], "text": Reason},
    "message_answered": {"number": Index, "text": Reason},
    "message_read": {"number": Index},
    # of an assignment
    "slots_closed": {"slots": tuple[int, ...]},  # free ones of its unit, in which nothing is left to judge
    "revised": {"position": Index, "text": str, "value": float | None, "reason": str, "active": float | None},
    "replied": {"shown": Index, "option": Index, "correct": bool},
    "judged": {"position": Index, "text": str, "value": float, "reason": str, "active": float | None},
    "cannot_tell": {"position": Index, "reason": str, "active": float | None},
    "postponed": {"position": Index},
    "stepped_back": {"from": Index, "position": Index},
    "stepped_forward": {"from": Index, "position": Index},
    "submitted": {"position": (Index, 0)},
    "checked": {"passed": bool, "ordered": bool, "unhurried": bool},
    "looked_again": _NOTHING,
    "feedback_read": _NOTHING,
    "offered": _PAIR | _GOLD | {"new": Literal["left", "right", "both"], "at_most": int, "removed": bool},
    "preferred": _PAIR | _TIMES | _GOLD | {"choice": Choice, "strength": Literal[1, 2]},
    "marked_bad": _PAIR | _TIMES | _GOLD | {"side": Side, "document": int},
    "undone": _PAIR | _GOLD | {"choice": Literal["left", "right", "duplicates", "bad-left", "bad-right"]},
    "looked_up": {"place": Index | None},
    "withdrawn": {"pair": Index, "document": int},
    "stopped": _NOTHING,  # a campaign too
    "finished": _NOTHING,
    "all_bad": _NOTHING,
    "waiting": _NOTHING,
    "rated": {"confidence": Rating, "understanding": Rating, "comment": str},
    "completed": _NOTHING,
    "failed": _NOTHING,
    "screened_out": _NOTHING,
    "unanswered": {"place": Index | None, "status": Text, "detail": Text},  # by a model; never a judgment
    "given_back": _NOTHING,
    "lease_expired": _NOTHING,
    "assignment_withdrawn": _NOTHING,
    "assignment_restored": {"status": Literal["completed", "open"]},
}


def check_event(event: Event) -> None:
    """Check the data of an event that did not come from a protocol."""
    from qrowd_server.protocols.setting_fields import SchemaError, read

    if event.kind not in EVENT_DATA:
        raise SchemaError(("kind",), f"there is no event {event.kind[:40]!r}")
    try:
        read(_data_type(event.kind), event.data)
    except SchemaError as error:
        raise SchemaError(("data", *error.where), error.problem, error.code) from None


@cache
def _data_type(kind: str) -> Any:
    from pydantic import create_model

    types: dict[str, Any] = {key: of if isinstance(of, tuple) else (of, ...) for key, of in EVENT_DATA[kind].items()}
    return create_model(kind, **types)
