"""Judging by grades: documents one after another, each on a binary scale or a scale of whole grades."""

from __future__ import annotations

from functools import lru_cache

from qrowd_server.protocols.events import Refusal
from qrowd_server.protocols.protocol import Task
from qrowd_server.protocols.sequence import Sequence, SequenceState
from qrowd_server.protocols.settings import GradesSettings
from qrowd_server.protocols.views import Grade
from qrowd_server.translatable import Message


class GradesProtocol(Sequence):
    """Grades of a batch of documents; each counts as soon as it is given.

    A document may be put off until the others are done, and "I can't tell" is an answer, for a share of the batch.
    """

    name = "grades"
    checked = False

    def value(self, task: Task, text: str) -> float:
        return parse_grade(text, task.settings.labels)

    def sequence(self, task: Task) -> tuple[int, ...]:
        return task.gold.mixed(task.documents)

    def grades(self, task: Task) -> tuple[Grade, ...]:
        return _scale(task.settings)

    def may_postpone(self, task: Task, state: SequenceState) -> bool:
        settings: GradesSettings = task.settings
        unanswered = sum(place.answer == "" for place in state.places)
        return settings.postpone and state.places[state.position].answer == "" and unanswered > 1

    def may_not_tell(self, task: Task, state: SequenceState) -> bool:
        settings: GradesSettings = task.settings
        n_entry = min(task.gold.first, len(task.gold.questions))
        # Of the entry test alone, or a unit's share would cover it.
        places = state.places[:n_entry] if state.position < n_entry else state.places
        others = places[: state.position] + places[state.position + 1 :]
        n_others = sum(place.answer == "cannot_tell" for place in others)
        return settings.cannot_tell and n_others + 1 <= settings.max_cannot_tell * len(places) + 1e-9


@lru_cache(maxsize=256)
def _scale(settings: GradesSettings) -> tuple[Grade, ...]:
    guidelines = settings.guidelines or ("",) * len(settings.labels)
    return tuple(Grade(g, *words) for g, words in enumerate(zip(settings.labels, guidelines, strict=True)))


def parse_grade(text: str, labels: tuple[str, ...]) -> float:
    """The grade that somebody chose, from 0 to the last of `labels`."""
    grade = text.strip()
    if not (grade.isascii() and grade.isdigit() and len(grade) <= 4 and int(grade) < len(labels)):
        choices = ", ".join(str(g) if label == str(g) else f"{g} ({label})" for g, label in enumerate(labels))
        raise Refusal("grade", Message("Choose one of the grades: %(choices)s.", choices=choices), "text")
    return float(int(grade))
