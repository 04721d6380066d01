"""Judging by grades: documents one after another, each on a binary scale or a scale of whole grades."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from qrowd.kernels.arrays import Floats
from qrowd.measures import DEFINITIONS
from qrowd.measures.scoring import linear_parts
from qrowd.model.measure import parse_measure
from qrowd.model.scales import parse_scale
from qrowd.preferences.scheduling import Systems, grades_may_stop, order_documents, rank_coefficients
from qrowd_server.protocols.events import Refusal
from qrowd_server.protocols.protocol import Material, Task
from qrowd_server.protocols.sequence import Sequence, SequenceState
from qrowd_server.protocols.settings import GradesSettings
from qrowd_server.protocols.views import Grade
from qrowd_server.translatable import Message


class GradesProtocol(Sequence):
    """Grades of a batch of documents; each counts as soon as it is given.

    A document may be put off until the others are done, and "I can't tell" is an answer, for a share of the batch.
    Where the topic's systems are compared, the documents that decide the comparison soonest may come first, and the
    batch may end once no further grade could change it.
    """

    name = "grades"
    checked = False

    def value(self, task: Task, text: str) -> float:
        settings: GradesSettings = task.settings
        return parse_grade(text, settings.labels)

    def task(
        self,
        settings: GradesSettings,
        material: Material,
        seed: int,
        *,
        gold_every: int = 0,
        gold_first: int = 0,
        feedback: bool = False,
    ) -> Task:
        task = super().task(settings, material, seed, gold_every=gold_every, gold_first=gold_first, feedback=feedback)
        documents = task.documents
        if settings.order == "utility":
            places = {document: place for place, document in enumerate(material.documents)}
            order = order_documents(_comparison(material, settings)[0], [places[document] for document in documents])
            documents = tuple(material.documents[place] for place in order.tolist())
        return replace(task, documents=task.gold.mixed(documents))

    def stops(self, task: Task) -> bool:
        settings: GradesSettings = task.settings
        return settings.stop

    def enough(self, task: Task, state: SequenceState) -> bool:
        settings: GradesSettings = task.settings
        if not settings.stop:
            return False
        coefficients, gain_of = _comparison(task.material, settings)
        gains, own = dict.fromkeys(task.documents, np.nan), set(task.material.documents)
        for document, place in zip(task.documents, state.places, strict=True):
            if place.answer and document in own:  # "cannot tell" gains nothing, as in every measure
                gains[document] = 0.0 if place.value is None else gain_of[int(place.value)]
        n_answers = sum(place.answer != "" for place in state.places)
        decision = grades_may_stop(
            np.array([gains[document] for document in task.material.documents]),
            coefficients,
            np.append(gain_of, 0.0) if settings.cannot_tell else gain_of,
            goal=settings.goal,
            n_best=settings.n_best,
            stop_probability=settings.stop_probability,
            rng=[task.seed, n_answers],
        )
        return decision.stop

    def grades(self, task: Task) -> tuple[Grade, ...]:
        return _scale(task.settings)

    def may_postpone(self, task: Task, state: SequenceState) -> bool:
        settings: GradesSettings = task.settings
        unanswered = sum(place.answer == "" for place in state.places)
        return settings.postpone and state.places[state.position].answer == "" and unanswered > 1

    def may_not_tell(self, task: Task, state: SequenceState) -> bool:
        settings: GradesSettings = task.settings
        n_entry = min(task.gold.first, len(task.gold.questions))
        places = (
            state.places[:n_entry] if state.position < n_entry else state.places
        )  # or a unit's share would cover it
        others = places[: state.position] + places[state.position + 1 :]
        n_others = sum(place.answer == "cannot_tell" for place in others)
        return settings.cannot_tell and n_others + 1 <= settings.max_cannot_tell * len(places) + 1e-9


@lru_cache(maxsize=64)
def _comparison(material: Material, settings: GradesSettings) -> tuple[Floats, Floats]:
    """(systems, documents) coefficients, documents as the material has them, and (grades,) gains."""
    systems = Systems.of(material.rankings(), len(material.documents))
    discounts, gains = linear_parts(
        parse_measure(settings.measure, DEFINITIONS), parse_scale(settings.scale), len(material.documents)
    )
    return rank_coefficients(systems, discounts), gains


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
        raise Refusal("grade", Message("Choose one of the grades: %(choices)s.", choices=choices), "text")
    return float(int(grade))
