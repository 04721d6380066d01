"""Judging by magnitude estimation: any number above 0, and checks on the whole unit after its last document.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 3.2.2 to 3.2.5.
"""

from __future__ import annotations

import re
from unicodedata import decimal

from qrowd_server.protocols.events import Refusal
from qrowd_server.protocols.protocol import CheckResult, Task
from qrowd_server.protocols.sequence import Sequence, SequenceState
from qrowd_server.protocols.settings import MagnitudeSettings
from qrowd_server.translatable import N_, Message

LONGEST = 100  # characters of a number
SMALLEST, LARGEST = 1e-300, 1e300
UNSEEN = "\u200b\u200e\u200f\u2060\ufeff"  # marks without width that come along when text is pasted

ABOVE_0 = N_("Enter a number greater than 0, for example 0.5, 10 or 250.")
TOO_LARGE = N_("This number is too large to keep. Enter a smaller one, for example 250 or 1e6.")
TOO_SMALL = N_("This number is too close to 0 to keep. Enter a larger one, for example 0.5 or 1e-6.")

_NUMBER = re.compile(r"\+?((\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?: *[/\u2044] *0*([1-9]\d*))?")
_EITHER = re.compile(r"\+?[1-9]\d{0,2},\d{3}")


def parse_magnitude(text: str) -> float:
    """The number above 0 that somebody typed, with a point or a comma before the decimals, or as a fraction.

    Spaces of any width around it do not matter, and neither does in which script's digits it is written.

    >>> [parse_magnitude(text) for text in ("40", ".5", "0,5", "1e3", "1/2")]
    [40.0, 0.5, 0.5, 1000.0, 0.5]
    """
    typed = text.strip().strip(UNSEEN).strip()
    number = _latin(typed)
    if _EITHER.fullmatch(number):
        thousands, decimals = number.lstrip("+").split(",")
        raise _refusal(
            Message(
                "%(typed)s can be read in two ways. Write %(large)s for a large number, or %(small)s for a small one.",
                typed=typed,
                large=f"{thousands}{decimals}",
                small=f"{thousands}.{decimals}",
            )
        )
    if number.count(",") == 1 and "." not in number:
        number = number.replace(",", ".")
    read = _NUMBER.fullmatch(number)
    if read is None or len(typed) > LONGEST or float(read[2]) == 0:
        raise _refusal(ABOVE_0)
    value = float(read[1]) / float(read[3] or 1)
    if value < SMALLEST:
        raise _refusal(TOO_SMALL)
    if value > LARGEST:
        raise _refusal(TOO_LARGE)
    return value


def _latin(text: str) -> str:
    """The digits of any script as 0 to 9, and the decimal separator of Arabic and Persian keyboards as a point."""
    return "".join("." if c == "\u066b" else str(decimal(c)) if c.isdecimal() else c for c in text)


def _refusal(message: str) -> Refusal:
    return Refusal("number", message, "text")


class MagnitudeProtocol(Sequence):
    """Magnitudes of a unit's documents. They count once H stands above N and no document was rushed (checks c and d).

    A unit that fails may be looked at again and submitted once more, or as often as the settings say.
    """

    name = "magnitude"
    checked = True

    def value(self, task: Task, text: str) -> float:
        return parse_magnitude(text)

    def check(self, task: Task, state: SequenceState) -> CheckResult:
        settings: MagnitudeSettings = task.settings
        material = task.material
        ordered = True
        if material.high is not None and material.low is not None:
            high, low = (
                state.places[task.documents.index(document)].value or 0.0 for document in (material.high, material.low)
            )
            ordered = high > low
        return CheckResult(ordered, min(place.seconds for place in state.places) >= settings.min_seconds)

    def revisions(self, task: Task) -> int:
        settings: MagnitudeSettings = task.settings
        return settings.revisions
