"""Documents counted by pattern: how often each value was given. Patterns of several parts are added.

Agreement of any number of assessors needs no more of a document than its pattern and its topic. A crowd's five labels
of three grades take 21 patterns, however many documents there are, so a partitioned collection is counted part after
part, and what is added are whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.agreement.document_counts import (
    By,
    DocumentCounts,
    Documents,
    check_counting,
    counts_on_one_scale,
    document_counts,
    no_document,
    unlike_at,
)
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.counts import FEW_VALUES, Counts, alike
from qrowd.kernels.disagreement import Level
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import CombineScales, parts_on_one_scale
from qrowd.model.scales import Scale

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Patterns:
    """The documents of one group, those with the same counts of values as one pattern.

    values : (values,) ascending; a group need not use them all.
    counts : (patterns, values) how many assessors gave each value to a document of the pattern.
    topics : numbers of the topics, ascending.
    topic, pattern, n : (entries,) so many documents of the topic, a place in `topics`, have the pattern.
    n_left_out : documents that too few assessors judged.
    """

    values: Floats
    counts: Counts
    topics: tuple[int, ...]
    topic: Ints
    pattern: Ints
    n: Ints
    n_left_out: int

    @cached_property
    def multiplicity(self) -> Ints:
        """(patterns,) documents of each."""
        return np.bincount(self.pattern, self.n, minlength=self.counts.shape[0]).astype(np.int64)

    @property
    def of_topic(self) -> csr_array:
        """(topics, patterns) documents of each."""
        from scipy.sparse import csr_array

        shape = (len(self.topics), self.counts.shape[0])
        return csr_array((self.n.astype(np.float64), (self.topic, self.pattern)), shape=shape)


@dataclass(frozen=True, eq=False)
class PatternCounts:
    """Patterns in groups; fields as in `DocumentCounts`."""

    by: str
    labels: tuple[str, ...]
    groups: tuple[Patterns, ...]
    level: Level
    scale: Scale
    n_repeats: int
    repeats: str


def patterns_of(documents: Documents, data: DocumentCounts) -> Patterns:
    """The patterns of documents."""
    counts, kind = documents.alike
    topics, topic = np.unique(documents.pair // max(len(data.documents), 1), return_inverse=True)
    ones = np.ones(kind.size, np.int64)
    return Patterns(documents.values, counts, tuple(topics.tolist()), topic, kind, ones, documents.left_out.size)


def pattern_counts(judgments: Judgments, *, by: By, combine_scales: CombineScales, **options: Any) -> PatternCounts:
    """As `document_counts`; judgments of a partitioned collection are read part after part, if topics stay whole.

    Raises
    ------
    NoOverlapError, ScaleError, ArgumentError
        As `document_counts`.
    """
    parts = parts_of(judgments) if by is None or isinstance(by, str) else None
    if parts is None:
        data = document_counts(judgments, by=by, combine_scales=combine_scales, **options)
        return _as_patterns(data, [patterns_of(documents, data) for documents in data.groups])
    from scipy.sparse import coo_array

    check_counting(judgments, options["level"], options["min_judgments"])
    number = {label: i for i, label in enumerate(judgments.topics)}
    by_label: dict[str, list[Patterns]] = {label: [] for label in (("all",) if by is None else judgments.topics)}
    n_repeats, last = 0, None
    for part in parts_on_one_scale(parts, judgments, combine_scales, unlike_at(options["level"])):
        last = data = counts_on_one_scale(part, by=by, **options)
        n_repeats += data.n_repeats
        for label, documents in zip(data.labels, data.groups, strict=True):
            own = patterns_of(documents, data)
            topics = tuple(number[data.topics[t]] for t in own.topics)
            # One entry for each topic and pattern.
            entries = coo_array(own.of_topic)
            topic, pattern = entries.coords
            n = entries.data.astype(np.int64)
            by_label[label].append(Patterns(own.values, own.counts, topics, topic, pattern, n, own.n_left_out))
    assert last is not None
    every = [own.values[np.asarray(own.counts.sum(axis=0)).ravel() > 0] for all_ in by_label.values() for own in all_]
    values = np.unique(np.concatenate(every))
    if not values.size:
        raise no_document(options["min_judgments"])
    whole = _as_patterns(last, [_joined(own, values) for own in by_label.values()])
    return PatternCounts(whole.by, tuple(by_label), whole.groups, whole.level, whole.scale, n_repeats, whole.repeats)


def parts_of(judgments: Judgments) -> Callable[[], Iterator[Judgments]] | None:
    """Reads the judgments of a partitioned collection part after part; None where they are in memory."""
    collection: Any = getattr(judgments, "collection", None)
    if collection is None or "value" in vars(judgments):
        return None
    numbers = [number for number, (judged, _) in enumerate(collection.topics_by_part) if judged]
    return lambda: map(collection.read_judgments, numbers)


def _as_patterns(data: DocumentCounts, groups: Sequence[Patterns]) -> PatternCounts:
    return PatternCounts(data.by, data.labels, tuple(groups), data.level, data.scale, data.n_repeats, data.repeats)


def _joined(parts: Sequence[Patterns], values: Floats) -> Patterns:
    """The patterns of several parts, which have no topic in common. values : of all groups."""
    from scipy.sparse import coo_array, csr_array, vstack

    dense = values.size <= FEW_VALUES
    rows = []
    for part in parts:
        used = np.flatnonzero(np.asarray(part.counts.sum(axis=0)).ravel() > 0)
        place = np.searchsorted(values, part.values[used])
        entries = coo_array(part.counts)
        kept = np.full(part.values.size, -1)
        kept[used] = place
        row, column = entries.coords
        wide = csr_array((entries.data, (row, kept[column])), shape=(part.counts.shape[0], values.size))
        rows.append(wide.toarray() if dense else wide)
    stacked = np.concatenate(rows) if dense else csr_array(vstack(rows))
    first = np.cumsum([0, *(part.counts.shape[0] for part in parts)])
    pattern = np.concatenate([part.pattern + start for part, start in zip(parts, first[:-1], strict=True)])
    topics = sorted({topic for part in parts for topic in part.topics})
    topic = np.concatenate([np.searchsorted(topics, np.array(part.topics, np.int64))[part.topic] for part in parts])
    if dense:
        stacked, kind = alike(stacked)
        pattern = kind[pattern]
    n_left_out = sum(part.n_left_out for part in parts)
    return Patterns(
        values, stacked, tuple(topics), topic, pattern, np.concatenate([part.n for part in parts]), n_left_out
    )
