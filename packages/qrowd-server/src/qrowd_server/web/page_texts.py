"""What the pages say: what happened, what is safe, what to do next. Texts that several pages, or the script, need.

All are English texts for the catalogues (`N_`, `Message`); a page says them in its own language.
"""

from __future__ import annotations

from time import time
from typing import Final

from qrowd_server.protocols.views import (
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
    PauseView,
    QuestionView,
    RatingView,
    RevisionView,
    View,
)
from qrowd_server.translatable import N_, Message

ERRORS: Final[dict[int, tuple[str, str]]] = {
    400: (N_("The request could not be read"), N_("Nothing was saved. Go back and try once more.")),
    401: (
        N_("Please sign in again"),
        N_("You were signed out. Everything you saved is safe. Open the link you were given."),
    ),
    403: (
        N_("This page is not open to you"),
        N_(
            "You may have been signed out, or the page was left open too long. Everything you saved is safe. "
            "Open the link you were given once more."
        ),
    ),
    404: (N_("There is nothing here"), N_("The address may be incomplete. Open the link you were given once more.")),
    405: (N_("This address takes no such request"), N_("Go back to your task; everything you saved is safe.")),
    409: (
        N_("Your task has moved on"),
        N_(
            "This page was sent from an earlier state, perhaps from another tab. What was saved stays saved. "
            "Go to where you are now."
        ),
    ),
    413: (N_("That is too long"), N_("Nothing was saved. Go back, shorten what you typed, and send it again.")),
    422: (N_("Something is missing"), N_("Nothing was saved. Go back and look at what you entered.")),
    429: (
        N_("A little slower, please"),
        N_("More answers came in than one person can give. Nothing is lost. Wait a moment and send it again."),
    ),
    500: (
        N_("Something went wrong on our side"),
        N_("Everything saved before is safe. Go back and try once more; if it happens again, tell us the reference."),
    ),
    503: (
        N_("This answer may not have been saved"),
        N_(
            "Everything saved before is safe. Go back, where your answer still is, and send it again in a moment. It "
            "counts once."
        ),
    ),
}

GUIDELINES: Final = N_("Guidelines")
TABLE: Final = N_("Table")

OUTCOMES: Final[dict[Outcome, str]] = {
    "completed": N_("Thank you"),
    "failed": N_("Thank you for your time"),
    "screened_out": N_("Thank you"),
    "practice_failed": N_("Thank you for trying"),
    "declined": N_("That is fine"),
}

CONFIDENCE: Final = (N_("Guessing"), N_("Rather unsure"), N_("Somewhat sure"), N_("Sure"), N_("Very sure"))
UNDERSTANDING: Final = (N_("Not at all"), N_("A little"), N_("Partly"), N_("Well"), N_("Completely"))
JUDGING: Final = N_("Judging")

# What campaigns have where their owner wrote nothing, in `protocols.settings`: shown in the language of the page.
ASKS: Final = frozenset({N_("How relevant is this document to the topic?"), N_("Which document is better?")})
LABEL_SETS: Final = frozenset(
    {
        (N_("not relevant"), N_("relevant")),
        (N_("not relevant"), N_("marginally relevant"), N_("relevant"), N_("highly relevant")),
        (N_("bad"), N_("fair"), N_("good"), N_("excellent"), N_("perfect")),
    }
)
LABELS: Final = frozenset(label for labels in LABEL_SETS for label in labels)

SCRIPT: Final[dict[str, str]] = {  # by the names that judge.js has for them
    "draft_saved": N_("Draft saved %(time)s"),
    "saved": N_("Saved ✓ %(time)s"),
    "saving": N_("Saving…"),
    "not_sent": N_("Not sent yet"),
    "try_again": N_("Try again"),
    "offline": N_("No connection. Your answer is kept on this page and will be sent when you are back online."),
    "slower": N_("A little slower, please. Your answer is kept and will be sent in a moment."),
    "not_saved": N_("We could not save this answer. It is still here."),
    "not_saved_reference": N_("We could not save this answer. It is still here. Reference %(reference)s"),
    "moved_on": N_("Your task has moved on, perhaps in another tab."),
    "go_there": N_("Go to where you are"),
    "signed_out": N_("You were signed out. Open the link you were given once more; what was saved is safe."),
    "not_used": N_("This answer could not be used. It is still here."),
    "removed_left": N_("The left document was removed."),
    "removed_right": N_("The right document was removed."),
    "undo": N_("Undo"),
    "undo_key": N_("Z takes it back."),
    "copied": N_("Copied ✓"),
    "found": N_("found %(n)s"),
}


def heading(view: View) -> Message:
    """What the browser's tab says."""
    match view:
        case ConsentView():
            return Message("Before we begin")
        case LineView(line=line, of=of):
            return Message("Practice: line %(n)s of %(of)s", n=line + 1, of=of)
        case LinesView():
            return Message("Your practice")
        case QuestionView():
            return Message("A question about the topic")
        case DocumentView(position=position, of=of):
            return Message("Document %(n)s of %(of)s", n=position + 1, of=of)
        case RevisionView():
            return Message("Please look once more")
        case FeedbackView(right=right):
            return Message("Right, thank you") if right else Message("Not quite")
        case PairView(number=number):
            return Message("Pair %(n)s", n=number)
        case RatingView():
            return Message("Two last questions")
        case EndView(outcome=outcome):
            return Message(OUTCOMES[outcome])
        case NoneLeftView(decided=True):
            return Message("Thank you")
        case NoneLeftView() if is_ready(view):
            return Message("Ready when you are")
        case NoneLeftView(finished=finished):
            return Message("All done for now") if finished else Message("Nothing to judge right now")
        case LostView():
            return Message("Welcome back")
        case PauseView():
            return Message("You can go on later")
        case PausedView(stopped=stopped):
            return Message("The campaign has ended") if stopped else Message("The campaign is paused")
        case ExcludedView():
            return Message("Thank you")


def is_ready(view: NoneLeftView) -> bool:
    """Whether a set can be had at once: the time it may come back at is no time to come."""
    return view.until is not None and view.until <= time()


def consent(name: str, named: bool) -> Message:
    """What is asked before the first answer, where the campaign has no text of its own.

    name, named : as of a page.
    """
    if named:
        return Message(
            "You will read documents and say how well they fit a topic. Your answers and their times are kept under "
            "the name %(name)s, so whoever runs this campaign sees that they are yours. You may stop at any time; what "
            "you have saved until then is kept.",
            name=name,
        )
    return Message(
        "You will read documents and say how well they fit a topic. Your answers and their times are kept under "
        "the identifier in the link that brought you here (%(name)s); you are not asked for your name. Whoever "
        "runs this campaign can see them. You may stop at any time; what you have saved until then is kept.",
        name=name,
    )


def announcement(view: View) -> Message:
    """What a screen reader says after an answer was saved and this view came."""
    match view:
        case PairView(new="both"):
            return Message("Saved. Two new documents.")
        case PairView(new="left"):
            return Message("Saved. New document on the left.")
        case PairView(new="right"):
            return Message("Saved. New document on the right.")
        case _:
            return Message("Saved. %(page)s.", page=heading(view))
