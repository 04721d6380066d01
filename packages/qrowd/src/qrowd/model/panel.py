"""Judgments as one dense array, ready for kernels: the pooled documents of every topic x the assessors.

A panel is what evaluation reads. `Judgments.panel()` makes one from what people said; simulations make panels of
thousands of assessors block by block, all over one `Pool`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Codes, Floats, Ints
from qrowd.model.conventions import Duplicates
from qrowd.model.labels import blocks_of, combined
from qrowd.model.scales import Scale

MOST_LEVELS = 16  # kernels compare codes with levels one after the other


@dataclass(frozen=True, eq=False)
class Pool:
    """The documents that anyone judged, topic by topic.

    topics, documents : labels.
    starts : (topics + 1,); the documents of topic t are document[starts[t]:starts[t + 1]].
    document : (pairs,) numbers into `documents`.
    duplicates : {topic number: {label of a document: place in the topic of the document that it counts as}}.
    """

    topics: tuple[str, ...]
    documents: tuple[str, ...]
    starts: Ints
    document: Codes
    duplicates: Mapping[int, Mapping[str, int]] = field(default_factory=dict)

    @property
    def topic(self) -> Ints:
        """(pairs,) numbers into `topics`."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.starts))

    def labels(self) -> dict[str, Any]:
        """(pairs,) topic and document of each pair, as columns."""
        return {
            "topic": np.array(self.topics, object)[self.topic],
            "document": np.array(self.documents, object)[self.document],
        }

    def rows(self, topic: int) -> slice:
        """Where the documents of a topic stand."""
        return slice(int(self.starts[topic]), int(self.starts[topic + 1]))

    def merged(self, duplicates: Duplicates) -> tuple[Pool, Ints]:
        """The pool with one document for each group of duplicates, and (pairs,) the new row of each old one."""
        row_of = np.arange(self.document.size)
        topic_number = {label: t for t, label in enumerate(self.topics)}
        members: dict[int, dict[str, int]] = {}  # {topic: {label: old row}}
        for topic, labels in duplicates.groups:
            t = topic_number.get(topic, -1)
            if t < 0:
                continue
            rows = self.rows(t)
            place = {self.documents[d]: rows.start + i for i, d in enumerate(self.document[rows].tolist())}
            judged = [place[label] for label in labels if label in place]
            if judged:
                row_of[judged] = min(judged)
                members.setdefault(t, {}).update(dict.fromkeys(labels, min(judged)))
        stays = row_of == np.arange(row_of.size)
        new_row = (np.cumsum(stays) - 1)[row_of]
        starts = np.append(0, np.cumsum(stays))[self.starts]
        places = {
            t: {label: int(new_row[row] - starts[t]) for label, row in by_label.items()}
            for t, by_label in members.items()
        }
        return Pool(self.topics, self.documents, starts, self.document[stays], places), new_row


@dataclass(frozen=True, eq=False)
class Coded:
    """Values that few distinct numbers make up, a byte each.

    codes : (pairs, assessors) uint8, numbers into levels.
    levels : (256 or fewer,) float64, nan for not judged.
    """

    codes: NDArray[np.uint8]
    levels: Floats


def panel_values(
    value: Floats, row: NDArray[np.integer], column: NDArray[np.integer], shape: tuple[int, int]
) -> Floats | Coded:
    """(pairs, assessors) values that stand at these rows and columns; nan elsewhere and for negative ones.

    Grades 0, 1, 2, ... are stored as codes, which takes an eighth of the memory and is faster to score.
    """
    highest = value.max(initial=0.0)
    is_coded = highest < MOST_LEVELS and bool((np.trunc(value) == value).all())
    no_value = highest + 1 if is_coded else np.nan
    table = np.full(shape, no_value, np.uint8 if is_coded else np.float64)
    for rows in blocks_of(value.size):
        values = np.where(value[rows] < 0, no_value, value[rows]).astype(table.dtype)
        table.reshape(-1)[combined(row[rows], column[rows], shape[1])] = values
    return Coded(table, np.append(np.arange(highest + 1), np.nan)) if is_coded else table


@dataclass(frozen=True, eq=False)
class Panel:
    """One value per pooled document and assessor.

    stored : (pairs, assessors) float64, nan where the assessor has not judged; or the same as codes.
    scales : one per assessor.
    """

    pool: Pool
    assessors: tuple[str, ...]
    scales: tuple[Scale, ...]
    stored: Floats | Coded

    @property
    def coded(self) -> Coded | None:
        """The values as codes, where they are stored so."""
        return self.stored if isinstance(self.stored, Coded) else None

    @cached_property
    def values(self) -> Floats:
        """(pairs, assessors) float64, nan where the assessor has not judged."""
        return self.stored.levels[self.stored.codes] if isinstance(self.stored, Coded) else self.stored

    @cached_property
    def maximum(self) -> Floats:
        """(assessors,) the highest value of each scale; inf for magnitudes."""
        return np.array([scale.maximum for scale in self.scales])

    @cached_property
    def rel(self) -> Floats:
        """(assessors,) from which value on each scale calls a document relevant; nan where it does not say."""
        lowest = [scale.rel for scale in self.scales]
        return np.array([np.nan if value is None else value for value in lowest])

    def part(self, columns: slice) -> Panel:
        """Some of the assessors, as views."""
        stored = self.stored
        some = Coded(stored.codes[:, columns], stored.levels) if isinstance(stored, Coded) else stored[:, columns]
        return Panel(self.pool, self.assessors[columns], self.scales[columns], some)

    def merged(self, pool: Pool, new_row: Ints) -> Panel:
        """On a pool with duplicates merged, where the highest value of a group counts; arguments of `Pool.merged`."""
        values = np.full((pool.document.size, len(self.assessors)), np.nan)
        np.fmax.at(values, new_row, self.values)
        return Panel(pool, self.assessors, self.scales, values)

    def topic(self, topic: int) -> Floats:
        """(documents, assessors) values of one topic."""
        return self.values[self.pool.rows(topic)]

    def coverage(self) -> Floats:
        """(assessors, topics) share of the topic's pool that the assessor judged."""
        coded = self.coded
        judged = ~np.isnan(self.values) if coded is None else ~np.isnan(coded.levels)[coded.codes]
        counts = np.add.reduceat(judged, self.pool.starts[:-1], axis=0, dtype=np.int64)
        return np.asarray((counts / np.diff(self.pool.starts)[:, None]).T)


@runtime_checkable
class Blocks(Protocol):
    """Assessors too many to hold at once: their names, and panels that together cover them in order."""

    @property
    def assessors(self) -> Sequence[str]: ...

    def __iter__(self) -> Iterator[Panel]: ...
