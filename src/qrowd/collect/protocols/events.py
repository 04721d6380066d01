"""What happened, and what somebody wants to happen.

An action is what an assessor asks for. A protocol answers with events, which are facts and never change; its state is
what the events add up to. Nothing else is kept, so any state can be worked out again from the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le, MaxLen

from qrowd.errors import QrowdError

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

    code : one word for programs, such as "number" or "stale".
    field : the input it is about, "" for the action as a whole.
    """

    def __init__(self, code: str, message: str, field: str = "") -> None:
        self.code, self.message, self.field = code, message, field
        super().__init__(message)

    def __reduce__(self) -> tuple[type[Refusal], tuple[str, str, str]]:
        return type(self), (self.code, self.message, self.field)


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


Action = (
    Consent | JudgeLine | GoOn | Reply | Judge | Postpone | CannotTell | GoTo | Prefer | MarkBad | Undo | LookUp | Rate
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
}
