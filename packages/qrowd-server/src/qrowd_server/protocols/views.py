"""What an assessor may see, one value per page. Nothing that is not here can reach a page.

No view holds a check document's name, an expected answer, a rank, a system, another's judgment or a completion code:
documents are numbers that stand for themselves, and what they say is looked up by whoever draws the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["completed", "failed", "screened_out", "practice_failed", "declined"]


@dataclass(frozen=True)
class ConsentView:
    """May we begin?"""


@dataclass(frozen=True)
class LineView:
    """A practice line to give a number to.

    line, of : which one, from 0, of how many. length : of the line, as a share of the longest possible one.
    retry : whether an earlier attempt failed.
    """

    line: int
    of: int
    length: float
    retry: bool = False


@dataclass(frozen=True)
class LinesView:
    """The practice's feedback: the lines with their numbers, as typed.

    passed : longer lines got higher numbers. left : attempts that remain where not.
    """

    lengths: tuple[float, ...]
    numbers: tuple[str, ...]
    passed: bool
    left: int


@dataclass(frozen=True)
class QuestionView:
    """The topic and a question about it. retry : an earlier answer was wrong. left : attempts that remain."""

    text: str
    options: tuple[str, ...]
    retry: bool
    left: int


@dataclass(frozen=True)
class Answer:
    """An earlier answer: its text as typed or chosen, and the reason. cannot_tell : instead of a text."""

    text: str
    reason: str = ""
    cannot_tell: bool = False


@dataclass(frozen=True)
class Grade:
    """One grade of the scale: its value, its name, and when to give it."""

    value: int
    label: str
    guideline: str = ""


@dataclass(frozen=True)
class DocumentView:
    """A document to judge.

    position, of : which one, from 0, of how many. document : its number. answer : the earlier one, if any.
    done : for each position whether it has an answer. postponed : for each position whether it waits for later.
    grades : the scale's, lowest first; empty for magnitudes. reason : whether one is "required", "optional" or "none".
    may_postpone, may_not_tell : whether these are offered (now).
    revising : the unit is being looked at again after a check failed. has_context : there are stored snippets.
    reopened : why an owner asks the assessor to consider the answer again; "" where nobody does.
    """

    position: int
    of: int
    document: int
    answer: Answer | None
    done: tuple[bool, ...]
    postponed: tuple[bool, ...]
    grades: tuple[Grade, ...]
    reason: Literal["required", "optional", "none"]
    may_postpone: bool = False
    may_not_tell: bool = False
    revising: bool = False
    has_context: bool = False
    reopened: str = ""


@dataclass(frozen=True)
class FeedbackView:
    """After a gold question, where assessors are told: whether the answer was right.

    pair : whether it was about a pair. chosen : the grade's name, or the side that was preferred ("left", "right",
    "same"). expected : names of the grades that are right, or the side of the better document. reason : the owner's.
    """

    right: bool
    pair: bool
    chosen: str
    expected: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class RevisionView:
    """A check failed, and the unit may be looked at again. It does not say which check, nor which document.

    of : how many documents. left : how often it may be submitted once more; -1 for any number.
    """

    of: int
    left: int


@dataclass(frozen=True)
class PairView:
    """Two documents, side by side.

    pair : its number, from 0, for the form. number : the place among the answers that stand, from 1, for people.
    left, right : their numbers. new : which side changed since the last pair.
    at_most : upper bound on the pairs still to come, this one included; only an undone answer makes it rise.
    removed : a document of the pair shown before was removed by somebody else meanwhile.
    """

    pair: int
    number: int
    left: int
    right: int
    new: Literal["left", "right", "both"]
    at_most: int
    may_undo: bool
    definitely: bool
    duplicates: bool
    may_mark_bad: bool
    has_context: bool
    removed: bool = False


@dataclass(frozen=True)
class RatingView:
    """Afterwards: confidence and understanding."""


@dataclass(frozen=True)
class EndView:
    """The end of a unit, or of the whole task.

    outcome : how. early : a rule found that enough was compared. another : whether another topic may be judged now.
    """

    outcome: Outcome
    early: bool = False
    another: bool = False


# ---- what the campaign, not the protocol, has to say


@dataclass(frozen=True)
class NoneLeftView:
    """All units are being judged right now. until : when the next may come back, in seconds since 1970; None: never.

    finished : this assessor has done at least one unit. decided : the campaign's question is.
    """

    until: float | None
    finished: bool
    decided: bool = False


@dataclass(frozen=True)
class LostView:
    """The unit went to somebody else after `minutes` away, or was taken back (None); saved answers are kept."""

    minutes: int | None


@dataclass(frozen=True)
class PausedView:
    """The campaign waits. stopped : for good."""

    stopped: bool = False


@dataclass(frozen=True)
class PauseView:
    """The assessor makes a pause. until : when others may get the unit, in seconds since 1970."""

    until: float


@dataclass(frozen=True)
class ExcludedView:
    """The assessor takes no further part."""


View = (
    ConsentView
    | LineView
    | LinesView
    | QuestionView
    | DocumentView
    | FeedbackView
    | RevisionView
    | PairView
    | RatingView
    | EndView
    | NoneLeftView
    | LostView
    | PausedView
    | PauseView
    | ExcludedView
)
