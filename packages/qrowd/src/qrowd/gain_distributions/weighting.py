"""Weights of assessors: one for all topics, or one for each topic, as AWARE's accuracies are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest, matching

if TYPE_CHECKING:
    import xarray

    Weights = Mapping[str, float | Mapping[str, float]] | Floats | xarray.DataArray


def weights_of(judgments: Judgments, weights: Weights) -> Floats:
    """(assessors, topics) weights, 0 or more, in the order of the judgments' labels.

    weights : {assessor or shell pattern: weight}, the first pattern that fits an assessor counts, or {assessor:
        {topic: weight}}; a DataArray (assessor) or (assessor, topic) with labels; or an array of either shape.
    """
    if isinstance(weights, Mapping):
        table = _named(judgments, weights)
    elif hasattr(weights, "dims"):
        table = _labelled(judgments, weights)
    else:
        table = _plain(judgments, np.asarray(weights, np.float64))
    bad = np.argwhere(~(np.isfinite(table) & (table >= 0)))
    if bad.size:
        a, t = bad[0]
        raise ArgumentError(
            f"weights: {table[a, t]:g} for assessor {judgments.assessors[a]}, topic {judgments.topics[t]}; a weight is "
            "a finite number from 0 (0 leaves the assessor out)"
        )
    nobody = np.flatnonzero(~(table > 0).any(axis=0))
    if nobody.size == table.shape[1]:
        raise ArgumentError("weights: all are 0; give at least one assessor a weight above 0")
    if nobody.size:
        raise ArgumentError(
            f"weights: all are 0 on topic {judgments.topics[nobody[0]]}; leave the topic out, or give all assessors "
            "the same weight there"
        )
    return table


def _labelled(judgments: Judgments, weights: Any) -> Floats:
    if set(weights.dims) not in ({"assessor"}, {"assessor", "topic"}):
        raise ArgumentError(
            f"weights: dimensions {', '.join(map(str, weights.dims))}; assessor, or assessor and topic, were expected"
        )
    names = [str(name) for name in weights["assessor"].values]
    for name in names:
        if name not in judgments.assessors:
            raise ArgumentError(f"weights: no assessor {name!r}; {closest(name, judgments.assessors, 'assessor')}")
    rows = [_place(names, name, "assessor") for name in judgments.assessors]
    if "topic" not in weights.dims:
        return np.repeat(np.asarray(weights.values, np.float64)[rows][:, None], len(judgments.topics), axis=1)
    topics = [str(name) for name in weights["topic"].values]
    columns = [_place(topics, name, "topic") for name in judgments.topics]
    return np.asarray(weights.transpose("assessor", "topic").values, np.float64)[np.ix_(rows, columns)]


def _named(judgments: Judgments, weights: Mapping[str, float | Mapping[str, float]]) -> Floats:
    table = np.empty((len(judgments.assessors), len(judgments.topics)))
    unnamed = np.ones(len(judgments.assessors), bool)
    for pattern, weight in weights.items():
        rows = matching(judgments.assessors, str(pattern), "assessor") & unnamed
        unnamed &= ~rows
        if isinstance(weight, Mapping):
            topics = [str(topic) for topic in weight]
            values = np.array([_number(one, pattern) for one in weight.values()])
            table[rows] = values[[_place(topics, topic, "topic", pattern) for topic in judgments.topics]]
        else:
            table[rows] = _number(weight, pattern)
    if unnamed.any():
        raise ArgumentError(
            f"weights: none for assessor {judgments.assessors[int(unnamed.argmax())]}; give one for each, 0 to leave "
            "an assessor out ('*' names all others)"
        )
    return table


def _plain(judgments: Judgments, weights: Floats) -> Floats:
    shape = (len(judgments.assessors), len(judgments.topics))
    if weights.shape == shape[:1]:
        return np.repeat(weights[:, None], shape[1], axis=1)
    if weights.shape != shape:
        raise ArgumentError(
            f"weights: an array of shape {weights.shape}; {shape[0]} assessors, or {shape[0]} assessors x {shape[1]} "
            "topics, were expected"
        )
    return weights


def _number(weight: object, of: str) -> float:
    try:
        return float(weight)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ArgumentError(f"weights: {weight!r} for {of}; a number, or one for each topic, was expected") from None


def _place(labels: list[str], name: str, noun: str, of: str = "") -> int:
    if name not in labels:
        raise ArgumentError(f"weights{f' of {of}' if of else ''}: none for {noun} {name}; give one for each {noun}")
    return labels.index(name)
