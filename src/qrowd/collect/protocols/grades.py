"""Judging by grades: documents one after another, each on a binary scale or a scale of whole grades."""

from __future__ import annotations

from functools import lru_cache

from qrowd.collect.protocols.events import Refusal
from qrowd.collect.protocols.protocol import Task
from qrowd.collect.protocols.sequence import Sequence, SequenceState
from qrowd.collect.protocols.settings import GradesSettings
from qrowd.collect.protocols.views import Grade


class GradesProtocol(Sequence):
    """Grades of a batch of documents; each counts as soon as it is given.

    A document may be put off until the others are done, and "I can't tell" is an answer, for a share of the batch.
    """

    name = "grades"
    checked = False

    def value(self, task: Task, text: str) -> float:
        settings: GradesSettings = task.settings
        return parse_grade(text, settings.labels)

    def grades(self, task: Task) -> tuple[Grade, ...]:
        return _scale(task.settings)

    def may_postpone(self, task: Task, state: SequenceState) -> bool:
        settings: GradesSettings = task.settings
        unanswered = sum(place.answer == "" for place in state.places)
        return settings.postpone and state.places[state.position].answer == "" and unanswered > 1

    def may_not_tell(self, task: Task, state: SequenceState) -> bool:
        settings: GradesSettings = task.settings
        others = state.places[: state.position] + state.places[state.position + 1 :]
        n_others = sum(place.answer == "cannot_tell" for place in others)
        return settings.cannot_tell and n_others + 1 <= settings.max_cannot_tell * len(state.places) + 1e-9


@lru_cache(maxsize=256)
def _scale(settings: GradesSettings) -> tuple[Grade, ...]:
    guidelines = settings.guidelines or ("",) * len(settings.labels)
    return tuple(Grade(g, *words) for g, words in enumerate(zip(settings.labels, guidelines, strict=True)))


def parse_grade(text: str, labels: tuple[str, ...]) -> float:
    """The grade that somebody chose, from 0 to the last of `labels`.

    Raises
    ------
    Refusal
        Code "grade": none of them.
    """
    grade = text.strip()
    if not (grade.isascii() and grade.isdigit() and len(grade) <= 4 and int(grade) < len(labels)):
        choices = ", ".join(str(g) if label == str(g) else f"{g} ({label})" for g, label in enumerate(labels))
        raise Refusal("grade", f"Choose one of the grades: {choices}.", "text")
    return float(int(grade))
