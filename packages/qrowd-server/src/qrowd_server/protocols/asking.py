"""What every protocol asks beside its judgments: the question about the topic, a reason, and how it went afterwards."""

from __future__ import annotations

import re
from math import isfinite

from qrowd_server.protocols.events import Event, Rate, Refusal
from qrowd_server.protocols.protocol import Question, Task
from qrowd_server.protocols.views import QuestionView
from qrowd_server.translatable import N_, Message

_HALVES = re.compile("[\ud800-\udfff]")
STALE = N_("You have left this page, perhaps in another tab. Reload it to see the current one.")


def question_view(task: Task, wrong: int) -> QuestionView:
    """The question as this assessor gets it. wrong : answers so far that were."""
    question = task.material.question or Question("", (), 0)
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
    if question is None or not 0 <= option < len(task.options):
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


def rating_events(action: Rate, longest: int) -> tuple[Event, ...]:
    """Confidence and understanding, which complete the unit. longest : characters of the comment.

    Raises
    ------
    Refusal
        A number that is not 1 to 5, or a comment that cannot be kept.
    """
    for field in ("confidence", "understanding"):
        if getattr(action, field) not in range(1, 6):
            raise Refusal("rating", "Choose a number from 1 to 5 for both.", field)
    check_text(action.comment, "comment", longest)
    data = {"confidence": action.confidence, "understanding": action.understanding, "comment": action.comment}
    return Event("rated", data), Event("completed")


def seconds_of(active: float | None) -> float | None:
    """The seconds that a browser reports; None where no clock can show them."""
    return None if active is None or not isfinite(active) or active < 0 else float(active)


def check_text(text: str, field: str, longest: int, *, required: bool = False) -> None:
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
    return "\0" not in text and not _HALVES.search(text)
