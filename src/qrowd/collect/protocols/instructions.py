"""Instructions that a campaign of magnitudes shows where its owner wrote none.

They have the content of Appendix A of Maddalena, Mizzaro, Scholer, Turpin (2017), ACM TOIS 35(3), in other words: what
magnitude estimation is, the practice with lines, the documents, and how the work is checked.
"""

from __future__ import annotations

from qrowd.collect.protocols.settings import ASK_DOCUMENT, JourneySettings, MagnitudeSettings

FREELY = "Choose the numbers as you like: whole numbers, fractions or decimals. Every number must be above zero."
NO_LIMIT = "There is no top and no bottom: any number can still be doubled or halved, so keep none in reserve."

PRACTICE = f"""\
In this task your answers are numbers: the stronger your impression of something, the higher the number. The method is \
called magnitude estimation. You try it first on three lines, which you see one after another.

- Give each line a number for how long it looks. Do not measure it, and do not think of centimetres or inches.
- {FREELY}
- Compare each line with the line before it: if it looks three times as long, give it three times the number.
- {NO_LIMIT}

The practice is passed if longer lines have higher numbers. These numbers are no part of the result."""


def magnitude_instructions(
    settings: MagnitudeSettings, journey: JourneySettings, *, question: bool, checks: bool
) -> str:
    """What to do with the documents, as the campaign's settings have it.

    question : whether a question about each topic is asked. checks : whether units hold check documents.
    """
    parts = [
        _task(settings, question),
        _imagine(settings),
        _rules(settings),
        _quality(settings, journey, question, checks),
    ]
    return "\n\n".join(part for part in parts if part)


def _task(settings: MagnitudeSettings, question: bool) -> str:
    asked = " A question shows whether the topic is clear to you." if question else ""
    return (
        f"You read a topic: what somebody wants to find.{asked} Then you see {settings.k} documents that search "
        "systems returned for it, one at a time. "
        f'Of each document you are asked: "{settings.ask}" Your answer is a number.'
    )


def _imagine(settings: MagnitudeSettings) -> str:
    if settings.ask == ASK_DOCUMENT:
        high, low = "one that is highly relevant to the topic", "one that has little to do with it"
    else:
        high, low = "one for which your answer would be very high", "one for which it would be low"
    return (
        f"Before you begin, imagine three documents: {high}, {low}, and one in between. Then think of three numbers: a "
        "large one, a small one, and one in between. Choose numbers for the documents so that the two match: the "
        "number is as large as your impression is strong."
    )


def _rules(settings: MagnitudeSettings) -> str:
    more, half = (
        ("The more relevant a document", "relevant")
        if settings.ask == ASK_DOCUMENT
        else ("The stronger the impression of a document", "strong")
    )
    rules = [
        f"{more}, the larger its number. Ratios matter: a document half as {half} gets half the number.",
        FREELY,
        NO_LIMIT,
        "Judge each document in comparison with the one before it.",
        "The documents come in no particular order: there may be many good ones, many bad ones, or any mixture. Do not "
        "guess what comes next.",
        "Decide while the document is in front of you. Go back only to fix a mistake.",
    ]
    if settings.reason == "required":
        rules.append("Say in a sentence why you chose the number.")
    return "\n".join(f"- {rule}" for rule in rules)


def _quality(settings: MagnitudeSettings, journey: JourneySettings, question: bool, checks: bool) -> str:
    """How the quality of the work is checked, without what would help to get round it."""
    before = [
        name
        for name, asked in (("the practice", journey.practice), ("the question about the topic", question))
        if asked
    ]
    first = f"You can only go on after {' and '.join(before)} went well." if before else ""
    matters = [
        matter
        for matter, counts in (
            ("whether you took time to read each document", settings.min_seconds > 0),
            ("whether your numbers fit the topic", checks),
        )
        if counts
    ]
    last = f"After the last document we check {' and '.join(matters)}." if matters else ""
    again = "If not, you can look at your numbers again and change them." if matters and settings.revisions else ""
    unpaid = "Only a set of documents that passes these checks is used." if before or matters else ""
    sentences = [sentence for sentence in (first, last, again, unpaid) if sentence]
    return f"The quality of the work is checked. {' '.join(sentences)}" if sentences else ""
