"""What the pages say: what happened, what is safe, what to do next. Texts that several pages need."""

from __future__ import annotations

from time import time
from typing import Final

from qrowd.collect.campaigns.pages import Page
from qrowd.collect.protocols.views import (
    ConsentView,
    DocumentView,
    EndView,
    ExcludedView,
    FeedbackView,
    LinesView,
    LineView,
    LostView,
    NoneLeftView,
    Outcome,
    PairView,
    PausedView,
    QuestionView,
    RatingView,
    RevisionView,
    View,
)

ERRORS: Final[dict[int, tuple[str, str]]] = {
    400: ("The request could not be read", "Nothing was saved. Go back and try once more."),
    401: ("Please sign in again", "You were signed out. Everything you saved is safe. Open the link you were given."),
    403: (
        "This page is not open to you",
        "You may have been signed out, or the page was left open too long. Everything you saved is safe. "
        "Open the link you were given once more.",
    ),
    404: ("There is nothing here", "The address may be incomplete. Open the link you were given once more."),
    405: ("This address takes no such request", "Go back to your task; everything you saved is safe."),
    409: (
        "Your task has moved on",
        "This page was sent from an earlier state, perhaps from another tab. What was saved stays saved. "
        "Go to where you are now.",
    ),
    413: ("That is too long", "Nothing was saved. Go back, shorten what you typed, and send it again."),
    422: ("Something is missing", "Nothing was saved. Go back and look at what you entered."),
    429: (
        "A little slower, please",
        "More answers came in than one person can give. Nothing is lost. Wait a moment and send it again.",
    ),
    500: (
        "Something went wrong on our side",
        "Everything saved before is safe. Go back and try once more; if it happens again, tell us the reference.",
    ),
    503: (
        "This answer may not have been saved",
        "Everything saved before is safe. Go back, where your answer still is, and send it again in a moment. It "
        "counts once.",
    ),
}

OUTCOMES: Final[dict[Outcome, tuple[str, str]]] = {
    "completed": ("Thank you", "This set is complete. All your answers are saved."),
    "failed": (
        "Thank you for your time",
        "We cannot use this set of answers, so it ends here. Your work so far is on record.",
    ),
    "screened_out": (
        "Thank you",
        "Your answer to the question did not fit the topic, so another assessor gets this topic.",
    ),
    "practice_failed": (
        "Thank you for trying",
        "Your numbers did not follow the lengths of the lines.",
    ),
    "declined": ("That is fine", "You chose not to take part, and no answer was recorded."),
}
EARLY: Final = "No further judgments of these documents are needed. All your answers are saved."
ANOTHER: Final = "You may go on with another topic."
AGAIN: Final = "You may begin again from the start, with other lines."
OVER: Final = "Your task ends here."
RETURN: Final = "If you came from a platform, please return the task there."
PAUSED: Final = "The same link brings you back later. If you came from a platform, you may also return the task there."

CONFIDENCE: Final = ("Guessing", "Rather unsure", "Somewhat sure", "Sure", "Very sure")
UNDERSTANDING: Final = ("Not at all", "A little", "Partly", "Well", "Completely")


def heading(view: View) -> str:
    """What the browser's tab says."""
    match view:
        case ConsentView():
            return "Before we begin"
        case LineView(line=line, of=of):
            return f"Practice: line {line + 1} of {of}"
        case LinesView():
            return "Your practice"
        case QuestionView():
            return "A question about the topic"
        case DocumentView(position=position, of=of):
            return f"Document {position + 1} of {of}"
        case RevisionView():
            return "Please look once more"
        case FeedbackView(right=right):
            return "Right" if right else "Not quite"
        case PairView(pair=pair):
            return f"Pair {pair + 1}"
        case RatingView():
            return "Two last questions"
        case EndView(outcome=outcome):
            return OUTCOMES[outcome][0]
        case NoneLeftView() if is_ready(view):
            return "Ready when you are"
        case NoneLeftView(finished=finished):
            return "All done for now" if finished else "Nothing to judge right now"
        case LostView():
            return "Welcome back"
        case PausedView(stopped=stopped):
            return "The campaign has ended" if stopped else "The campaign is paused"
        case ExcludedView():
            return "Thank you"


def is_ready(view: NoneLeftView) -> bool:
    """Whether a set can be had at once: the time it may come back at is no time to come."""
    return view.until is not None and view.until <= time()


def consent(name: str, named: bool) -> str:
    """What is asked before the first answer, where the campaign has no text of its own.

    name, named : as of a page.
    """
    storage = (
        f"under the name {name}, which shows that they are yours"
        if named
        else f"under {_identifier(name)}; you are not asked for your name"
    )
    return (
        f"You will read documents and say how well they fit a topic. Your answers and their times are kept {storage}. "
        "Whoever runs this campaign can see them. You may stop at any time; what you have saved until then is kept."
    )


def declined(name: str, named: bool) -> str:
    """What is kept of somebody who does not agree: the log has the arrival and the refusal, and no answer."""
    who = f"your name ({name})" if named else _identifier(name)
    return f"What is kept: {who}, when you came, and that you declined."


def _identifier(name: str) -> str:
    return "the identifier in the link that brought you here" + (f" ({name})" if name else "")


def farewell(view: EndView, page: Page, has_exit: bool) -> str:
    """How a unit, or all of it, came to its end, and what to do now.

    page : with that view. has_exit : it has a button that leads back to a platform.
    """
    if view.outcome == "completed" and view.early:
        return EARLY
    text = OUTCOMES[view.outcome][1]
    if view.outcome == "declined":
        return f"{text} {declined(page.name, page.named)}"
    if view.outcome in ("failed", "screened_out", "practice_failed") and view.another:
        return f"{text} {AGAIN if view.outcome == 'practice_failed' else ANOTHER}"
    if view.outcome == "practice_failed":
        text = f"{text} {OVER}"
    return f"{text} {RETURN}" if view.outcome in ("screened_out", "practice_failed") and not has_exit else text


def announcement(view: View) -> str:
    """What a screen reader says after an answer was saved and this view came."""
    match view:
        case PairView(new="both"):
            return "Saved. Two new documents."
        case PairView(new=side):
            return f"Saved. New document on the {side}."
        case _:
            return f"Saved. {heading(view)}."


def platform(link: str) -> str:
    """What the button says that leads back to where the assessor came from."""
    host = link.split("/")[2].rsplit(":", 1)[0] if link.count("/") >= 2 else ""
    if host == "app.prolific.com":
        return "Finish on Prolific"
    return "Submit HIT" if host in MTURK_HOSTS else "Finish"


MTURK_HOSTS: Final = ("www.mturk.com", "workersandbox.mturk.com")
