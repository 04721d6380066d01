"""Which documents are judged together: the units of a topic, and how many assessors each of them gets.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 3.2.4 and Table I.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.model.chance import Rng
from qrowd_server.protocols.settings import GradesSettings, MagnitudeSettings, Settings


def units_of_topic(
    documents: Sequence[int], checks: tuple[int, int] | None, settings: Settings, rng: Rng = None
) -> list[tuple[int, ...]]:
    """The units of a topic; each names its documents in the order in which `documents` has them.

    Magnitudes: ceil(redundancy (n - 2) / (k - 2)) units of k. Both check documents are in each; every other one is in
    `redundancy` of them or one more, never twice in one. Who meets whom is drawn at random. Without check documents
    both twos are zeros; a topic with no more than k documents has `redundancy` units of them all.
    Grades: each document once, in as few units of at most k as possible, of nearly equal size.
    Preferences: one unit.

    Parameters
    ----------
    documents : of the topic, check documents included.
    checks : (H, N), or None.
    """
    own = set(documents)
    if len(own) < len(documents):
        raise ArgumentError("documents: one of them is named twice; name each document of a topic once")
    least = 1 if isinstance(settings, GradesSettings) else 2
    if len(own) < least:
        raise ArgumentError(f"documents: {len(own)} of them; this protocol needs at least {least} in every topic")
    if checks is not None and (checks[0] == checks[1] or not own.issuperset(checks)):
        raise ArgumentError("name two different documents of the topic, the better one first", "checks", checks)
    chance = np.random.default_rng(rng)
    if isinstance(settings, MagnitudeSettings):
        units = _with_checks(list(documents), checks or (), settings, chance)
    elif isinstance(settings, GradesSettings):
        n = -(-len(documents) // settings.k)
        units = [set(batch.tolist()) for batch in np.array_split(chance.permutation(documents), n)]
    else:
        units = [own]
    return [tuple(document for document in documents if document in unit) for unit in units]


def slots_of(settings: Settings) -> int:
    """How many assessors judge each unit: one for magnitudes, whose units overlap instead; else `redundancy`."""
    return 1 if isinstance(settings, MagnitudeSettings) else settings.redundancy


def _with_checks(
    documents: list[int], checks: tuple[int, ...], settings: MagnitudeSettings, chance: np.random.Generator
) -> list[set[int]]:
    """Deals the others out in random order, round after round, so that nobody is two units ahead of anybody."""
    from qrowd.magnitude.planning import units_needed  # slow to import

    others = [document for document in documents if document not in checks]
    if len(documents) <= settings.k:
        return [set(documents)] * settings.redundancy
    n_units = units_needed(len(documents), redundancy=settings.redundancy, unit_size=settings.k, n_checks=len(checks))
    units = []
    waiting: list[int] = []
    for _ in range(n_units):
        unit = set(checks)
        while len(unit) < settings.k:
            if not waiting:
                waiting = [others[i] for i in chance.permutation(len(others)).tolist()]
                # Who is in this unit already waits until the others of the new round have been dealt.
                waiting.sort(key=lambda document: document not in unit)
            unit.add(waiting.pop())
        units.append(unit)
    return units
