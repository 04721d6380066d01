"""Scales of assessors who did not declare one: those of one table share a scale, those of separate files do not.

A crowd worker who never gave the highest grade is not on another scale than the workers beside him. A judge in a file
of his own may be. Nobody can tell from values alone, so what was inferred is stated with every result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ScaleError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.scales import Kind, Scale, infer_scale

Sources = tuple[int, ...]
"""(assessors,) number of the table each comes from."""


def joined_sources(tables: Sequence[NDArray[np.integer]], n: int) -> Sources:
    """One number per assessor: those of one table get the same, and so do two tables that share an assessor.

    tables : the numbers of each one's assessors; n : assessors in all.

    >>> joined_sources([np.array([0, 1]), np.array([2]), np.array([1, 3])], 4)
    (0, 0, 2, 0)
    """
    source = np.arange(n)
    for assessors in tables:
        if assessors.size > 1:
            together = np.isin(source, source[assessors])
            source[together] = source[together].min()
    return tuple(source.tolist())


def inferred_scales(
    values: Sequence[Floats], declared: Sequence[Scale | None], sources: Sources | None
) -> tuple[Scale, ...]:
    """(assessors,) the declared scale, or the one inferred for the assessor's table.

    values : of each assessor; declared : None where the scale is to be inferred; sources : None where each assessor
    comes from a file of their own.
    """
    scales = [infer_scale(value) if scale is None else scale for value, scale in zip(values, declared, strict=True)]
    tables: dict[int, list[int]] = {}
    for a, source in enumerate(sources or ()):
        tables.setdefault(source, []).append(a)
    for table in tables.values():
        inferred = [a for a in table if declared[a] is None]
        if len(table) > 1 and inferred:
            stated = {(one.kind, one.maximum): one for a in table if (one := declared[a]) is not None}
            own = [scales[a] for a in inferred]
            shared = _shared([values[a] for a in inferred], own, list(stated.values()))
            for a, scale in zip(inferred, shared, strict=True):
                scales[a] = scale
    return tuple(scales)


Part = tuple[tuple[str, ...], tuple[Scale, ...], Sources | None]
"""Of some judgments: the names of the assessors, their scales and sources."""


def scales_of_parts(
    parts: Sequence[Part], assessors: Sequence[str], values: Sequence[Floats]
) -> tuple[tuple[Scale, ...], Sources]:
    """Scales and sources of the assessors of all parts; two tables with an assessor in common are one.

    A scale that the parts agree on stays, unless it was inferred and its table has become a larger one; and so does a
    declared one that holds all values.

    Raises
    ------
    ScaleError
        An assessor who has two declared scales.
    """
    number = {name: i for i, name in enumerate(assessors)}
    tables: list[Ints] = []
    stated: list[set[Scale]] = [set() for _ in assessors]
    for names, scales, sources in parts:
        here = np.array([number[name] for name in names], np.int64)
        source = np.arange(here.size) if sources is None else np.array(sources)
        tables += [here[source == one] for one in np.unique(source)]
        for a, scale in zip(here.tolist(), scales, strict=True):
            stated[a].add(scale)
    together = joined_sources(tables, len(assessors))
    size = np.bincount(together, minlength=1)
    grown = {together[int(table[0])] for table in tables if table.size < size[together[int(table[0])]]}
    fixed: list[Scale | None] = []
    for a, candidates in enumerate(stated):
        declared = sorted((scale for scale in candidates if scale.declared), key=str)
        if not alike(declared):
            problem = f"scale {declared[0]} in one table and {declared[1]} in another"
            raise ScaleError(f"assessor {assessors[a]}: {problem}; give them two names")
        (agreed, *others) = declared if len(candidates) > 1 and declared else candidates
        outdated = agreed.problem(values[a]) if agreed.declared else together[a] in grown
        fixed.append(None if others or outdated else agreed)
    return inferred_scales(values, fixed, together), together


def _shared(values: list[Floats], own: list[Scale], declared: list[Scale]) -> list[Scale]:
    """Scales of the assessors of one table who declared none. own : what each of them would have alone.

    That of those who declared, if they agree on one that holds all values; else the simplest that holds all values. If
    there is none, because grades stand beside fractions or magnitudes, whole grades share one.
    """
    everything = np.concatenate(values)
    if len(declared) == 1 and declared[0].problem(everything) is None:
        return [replace(declared[0], declared=False)] * len(values)
    shared = common_scale(values, own)
    if shared is not None:
        return [shared] * len(values)
    whole = [a for a, scale in enumerate(own) if scale.kind in ("binary", "graded")]
    if whole:
        grades = infer_scale(np.concatenate([values[a] for a in whole]))
        own = [grades if a in set(whole) else scale for a, scale in enumerate(own)]
    return own


def alike(scales: Sequence[Scale]) -> bool:
    """Whether all are one scale: of one kind, with one maximum."""
    return len({(scale.kind, scale.maximum) for scale in scales}) <= 1


def settled(scales: Sequence[Scale], sources: Sources) -> list[Scale | None]:
    """(assessors,) None where the scale is to be inferred again: undeclared ones of a table that are not alike."""
    apart = {
        source
        for source in set(sources)
        if not alike([s for s, of in zip(scales, sources, strict=True) if of == source and not s.declared])
    }
    return [
        None if source in apart and not scale.declared else scale for scale, source in zip(scales, sources, strict=True)
    ]


def two_unlike(assessors: Sequence[str], scales: Sequence[Scale]) -> str:
    """Two assessors on different scales, for messages: the one on the widest, and the first on another."""
    kinds = get_args(Kind)
    widest = max(range(len(scales)), key=lambda a: (kinds.index(scales[a].kind), scales[a].maximum))
    other = next(a for a, scale in enumerate(scales) if not alike([scale, scales[widest]]))
    return " and ".join(f"{assessors[a]} ({scales[a]})" for a in (widest, other))


def common_scale(values: Sequence[Floats], scales: Sequence[Scale]) -> Scale | None:
    """The one scale of which all of these may be parts; None where there cannot be one.

    All may be parts of the widest, unless fractions end at another maximum than the highest, or a 0 stands beside
    magnitudes.
    """
    kinds = get_args(Kind)
    widest = max(scales, key=lambda scale: (kinds.index(scale.kind), scale.maximum))
    for own_values, scale in zip(values, scales, strict=True):
        if widest.kind == "magnitude":
            apart = widest.problem(own_values) is not None
        else:
            apart = scale.maximum > widest.maximum or (scale.kind == "fractions" and scale.maximum < widest.maximum)
        if apart:
            return None
    return widest
