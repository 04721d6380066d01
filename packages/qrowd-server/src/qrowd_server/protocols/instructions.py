"""Instructions that a campaign of magnitudes shows where its owner wrote none.

They follow Appendix A of Maddalena, Mizzaro, Scholer, Turpin (2017), ACM TOIS 35(3), in other words: what magnitude
estimation is, the practice with lines, the documents, and how the work is checked. Not said: to read a document
completely, that its relevance may depend on a small part of it, and that failed units are not paid.
"""

from __future__ import annotations

from functools import lru_cache

from qrowd_server.protocols.settings import ASK_DOCUMENT, JourneySettings, MagnitudeSettings
from qrowd_server.translatable import Block, Instructions, Message

FREELY = Message(
    "Choose the numbers as you like: whole numbers, fractions or decimals. Every number must be above zero."
)
NO_LIMIT = Message("There is no top and no bottom: any number can still be doubled or halved, so keep none in reserve.")

PRACTICE = Instructions(
    (
        Block(
            (
                Message(
                    "In this task your answers are numbers: the stronger your impression of something, the higher the "
                    "number. The method is called magnitude estimation. You try it first on three lines, which you see "
                    "one after another."
                ),
            )
        ),
        Block(
            (
                Message(
                    "Give each line a number for how long it looks. Do not measure it, and do not think of centimetres "
                    "or inches."
                ),
                FREELY,
                Message(
                    "Compare each line with the line before it: if it looks three times as long, give it three times "
                    "the number."
                ),
                NO_LIMIT,
            ),
            is_list=True,
        ),
        Block(
            (
                Message(
                    "The practice is passed if longer lines have higher numbers. These numbers are no part of the "
                    "result."
                ),
            )
        ),
    )
)


@lru_cache(maxsize=256)
def magnitude_instructions(
    settings: MagnitudeSettings, journey: JourneySettings, *, question: bool, checks: bool
) -> Instructions:
    """What to do with the documents, as the campaign's settings have it.

    question : whether a question about each topic is asked. checks : whether units hold check documents.
    """
    quality = _quality(settings, journey, question, checks)
    blocks = [
        Block(_task(settings, question)),
        Block(_imagine(settings)),
        Block(_rules(settings), is_list=True),
        *([Block(quality)] if quality else []),
    ]
    return Instructions(tuple(blocks))


def as_written(text: str, settings: MagnitudeSettings, journey: JourneySettings) -> str:
    """A text as it was stored; where it is one of ours, in blocks, so that it can be shown in another language."""
    if text == PRACTICE:
        return PRACTICE
    for question in (True, False):
        for checks in (True, False):
            own = magnitude_instructions(settings, journey, question=question, checks=checks)
            if own == text:
                return own
    return text


def _task(settings: MagnitudeSettings, question: bool) -> tuple[Message, ...]:
    asked = Message("A question shows whether the topic is clear to you.")
    return (
        Message("You read a topic: what somebody wants to find."),
        *([asked] if question else []),
        Message("Then you see %(k)s documents that search systems returned for it, one at a time.", k=settings.k),
        Message('Of each document you are asked: "%(ask)s" Your answer is a number.', ask=Message(settings.ask)),
    )


def _imagine(settings: MagnitudeSettings) -> tuple[Message, ...]:
    if settings.ask == ASK_DOCUMENT:
        three = Message(
            "Before you begin, imagine three documents: one that is highly relevant to the topic, one that has little "
            "to do with it, and one in between."
        )
    else:
        three = Message(
            "Before you begin, imagine three documents: one for which your answer would be very high, one for which it "
            "would be low, and one in between."
        )
    return (
        three,
        Message("Then think of three numbers: a large one, a small one, and one in between."),
        Message(
            "Choose numbers for the documents so that the two match: the number is as large as your impression is "
            "strong."
        ),
    )


def _rules(settings: MagnitudeSettings) -> tuple[Message, ...]:
    if settings.ask == ASK_DOCUMENT:
        first = Message(
            "The more relevant a document, the larger its number. Ratios matter: a document half as relevant gets half "
            "the number."
        )
    else:
        first = Message(
            "The stronger the impression of a document, the larger its number. Ratios matter: a document half as "
            "strong gets half the number."
        )
    rules = [
        first,
        FREELY,
        NO_LIMIT,
        Message("Judge each document in comparison with the one before it."),
        Message(
            "The documents come in no particular order: there may be many good ones, many bad ones, or any mixture. Do "
            "not guess what comes next."
        ),
        Message("Decide while the document is in front of you. Go back only to fix a mistake."),
    ]
    if settings.reason == "required":
        rules.append(Message("Say in a sentence why you chose the number."))
    return tuple(rules)


BEFORE = {  # by whether there is a practice, and a question
    (True, True): Message("You can only go on after the practice and the question about the topic went well."),
    (True, False): Message("You can only go on after the practice went well."),
    (False, True): Message("You can only go on after the question about the topic went well."),
}
AFTER = {  # by whether time counts, and the check documents
    (True, True): Message(
        "After the last document we check whether you took time to read each document and whether your numbers fit the "
        "topic."
    ),
    (True, False): Message("After the last document we check whether you took time to read each document."),
    (False, True): Message("After the last document we check whether your numbers fit the topic."),
}


def _quality(
    settings: MagnitudeSettings, journey: JourneySettings, question: bool, checks: bool
) -> tuple[Message, ...]:
    """How the quality of the work is checked, without what would help to get round it."""
    first = BEFORE.get((journey.practice, question))
    last = AFTER.get((settings.min_seconds > 0, checks))
    sentences = [one for one in (first, last) if one is not None]
    if last is not None and settings.revisions:
        sentences.append(Message("If not, you can look at your numbers again and change them."))
    if sentences:
        sentences.append(Message("Only a set of documents that passes these checks is used."))
    return (Message("The quality of the work is checked."), *sentences) if sentences else ()
