"""Gold judgments: whose grades count as true, and the gold grade of each judged document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.labels import closest
from qrowd.model.scales import Scale

Gold = str | Judgments | Mapping[tuple[str, str], float]
"""The name of the assessor whose grades are gold, the judgments of one assessor, or {(topic, document): grade}."""


@dataclass(frozen=True, eq=False)
class AgainstGold:
    """Judgments, and the gold judgments that they are compared with.

    judgments : without those of gold.
    gold : of one assessor, at most one per (topic, document).
    """

    judgments: Judgments
    gold: Judgments

    @property
    def name(self) -> str:
        """The gold assessor's name."""
        return self.gold.assessors[0]

    @property
    def scale(self) -> Scale:
        """The gold assessor's scale."""
        return self.gold.scales[0]

    def grades(self) -> Floats:
        """(judgments,) the gold grade of the document of each row; nan where gold has none."""
        return self.grades_of(self.judgments.topics, self.judgments.documents)(self.judgments.pair_numbers)

    def grades_of(self, topics: tuple[str, ...], documents: tuple[str, ...]) -> Callable[[Ints], Floats]:
        """A function from pair numbers, topic * len(documents) + document, to gold grades."""
        topic = _places(self.gold.topics, topics)
        document = _places(self.gold.documents, documents)
        topic = topic[self.gold.topic]
        document = document[self.gold.document]
        graded = (topic >= 0) & (document >= 0) & (self.gold.value >= 0)
        pairs = topic[graded] * len(documents) + document[graded]
        values = self.gold.value[graded]
        order = np.argsort(pairs)
        # One more at the end, so that there is always something to look at.
        pairs = np.append(pairs[order], -1)
        values = np.append(values[order], np.nan)

        def grades(numbers: Ints) -> Floats:
            at = np.searchsorted(pairs[:-1], numbers)
            return np.where(pairs[at] == numbers, values[at], np.nan)

        return grades


def against(judgments: Judgments, gold: Gold, *, noun: str = "gold", repeats: Repeats = "first") -> AgainstGold:
    """Set judgments against gold; `noun` is what messages call it, "gold" or "reference".

    Raises
    ------
    ArgumentError
        A name that no assessor has; gold of several assessors.
    InputError
        Repeated gold judgments, where repeats="error".
    NoOverlapError
        Gold has no grade for any judged document.
    """
    if isinstance(gold, str):
        if gold not in judgments.assessors:
            problem = f"{noun}={gold!r}: no assessor has this name"
            raise ArgumentError(f"{problem}; {closest(gold, judgments.assessors, 'assessor')}")
        own = judgments.select(assessors=lambda name: name == gold)
        judgments = judgments.select(assessors=lambda name: name != gold)
    elif isinstance(gold, Judgments):
        own = gold
    else:
        own = Judgments.from_rows((topic, document, noun, grade) for (topic, document), grade in gold.items())
        shared = judgments.scales[0] if judgments.scales and alike(judgments.scales) else None
        if shared is not None and shared.kind != "magnitude" and shared.problem(own.value) is None:
            own = replace(own, scales=(shared,))  # bare grades are on the scale of the judgments
    if len(own.assessors) != 1:
        examples = ", ".join(own.assessors[:3])
        raise ArgumentError(
            f"{noun}: one assessor was expected, found {len(own.assessors)}{f' ({examples} ...)' if examples else ''}; "
            "select one, or merge them first"
        )
    pair = AgainstGold(judgments, own.single(repeats=repeats))
    if np.isnan(pair.grades()).all():
        raise NoOverlapError(
            f"{noun} {pair.name!r} has no grade for any document that the others judged; "
            "check that both are of the same collection"
        )
    return pair


def _places(labels: tuple[str, ...], among: tuple[str, ...]) -> Ints:
    """(labels,) the place of each label among others; -1 where it is not there."""
    place = {label: i for i, label in enumerate(among)}
    return np.array([place.get(label, -1) for label in labels], np.int64)
