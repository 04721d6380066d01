"""What others are held against: the judgments of one assessor, by topic and document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.labels import closest
from qrowd.model.scales import Scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Reference = str | Judgments | Mapping[tuple[str, str], float]
"""The name of an assessor, the judgments of one assessor, or {(topic, document): grade}."""


@dataclass(frozen=True, eq=False)
class Held:
    """Judgments, and the reference that they are held against.

    judgments : without the reference's own.
    own : the reference's, at most one per (topic, document).
    """

    judgments: Judgments
    own: Judgments

    @property
    def name(self) -> str:
        return self.own.assessors[0]

    @property
    def scale(self) -> Scale:
        return self.own.scales[0]

    def grade(self) -> Floats:
        """(judgments,) the reference's value for the document of each row; nan where it has none."""
        return self.grades_of(self.judgments.topics, self.judgments.documents)(pair_numbers(self.judgments))

    def grades_of(self, topics: tuple[str, ...], documents: tuple[str, ...]) -> Callable[[Ints], Floats]:
        """A function from numbers of pairs, topic * len(documents) + document, to the reference's values."""
        topic, document = _translated(self.own.topics, topics), _translated(self.own.documents, documents)
        topic, document = topic[self.own.topic], document[self.own.document]
        known = (topic >= 0) & (document >= 0) & (self.own.value >= 0)
        pairs, values = topic[known] * len(documents) + document[known], self.own.value[known]
        order = np.argsort(pairs)
        # One more at the end, so that there is always something to look at.
        pairs, values = np.append(pairs[order], -1), np.append(values[order], np.nan)

        def grade(wanted: Ints) -> Floats:
            at = np.searchsorted(pairs[:-1], wanted)
            return np.where(pairs[at] == wanted, values[at], np.nan)

        return grade


def hold(judgments: Judgments, reference: Reference, noun: str, repeats: Repeats = "first") -> Held:
    """Hold judgments against a reference; noun is what messages call it, "gold" or "reference".

    Raises
    ------
    ArgumentError
        A name that nobody has; a reference of several assessors.
    NoOverlapError
        The reference and the others share no document.
    """
    if isinstance(reference, str):
        if reference not in judgments.assessors:
            problem = f"{noun}={reference!r}: no assessor has this name"
            raise ArgumentError(f"{problem}; {closest(reference, judgments.assessors, 'assessor')}")
        own = judgments.select(assessors=lambda name: name == reference)
        judgments = judgments.select(assessors=lambda name: name != reference)
    elif isinstance(reference, Judgments):
        own = reference
    else:
        own = Judgments.from_rows((topic, document, noun, value) for (topic, document), value in reference.items())
        if judgments.scales and alike(judgments.scales) and judgments.scales[0].problem(own.value) is None:
            own = replace(own, scales=(judgments.scales[0],))  # grades of nobody in particular are on their scale
    if len(own.assessors) != 1:
        shown = ", ".join(own.assessors[:3])
        raise ArgumentError(
            f"{noun}: one assessor was expected, found {len(own.assessors)}{f' ({shown} ...)' if shown else ''}; "
            "select one, or merge them first"
        )
    held = Held(judgments, own.single(repeats))
    if np.isnan(held.grade()).all():
        raise NoOverlapError(
            f"{noun} {held.name!r} has no grade for any document that the others judged; "
            "check that both are of the same collection"
        )
    return held


def pair_numbers(judgments: Judgments) -> Ints:
    """(judgments,) one number per (topic, document)."""
    return judgments.topic.astype(np.int64) * len(judgments.documents) + judgments.document


def _translated(labels: tuple[str, ...], into: tuple[str, ...]) -> Ints:
    """(labels,) the number of each label among others; -1 where it is not there."""
    number = {label: i for i, label in enumerate(into)}
    return np.array([number.get(label, -1) for label in labels], np.int64)
