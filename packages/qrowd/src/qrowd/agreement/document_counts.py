"""Judgments as counts of values by document, group by group: the table that agreement is computed from.

It is the values-by-units matrix of Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, step 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError, ScaleError, check_choice
from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.kernels.counts import Counts, alike, value_counts
from qrowd.kernels.disagreement import Level
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.labels import closest, distinct_values, factorize
from qrowd.model.one_scale import Combined, CombineScales, on_one_scale
from qrowd.model.scales import Scale

Groups = str | Mapping[Any, object] | Sequence[object] | NDArray[Any]
"""How judgments are grouped: see `grouped`."""
By = Groups | None

LEVEL_OF: dict[str, Level] = {
    "binary": "nominal",
    "graded": "ordinal",
    "fractions": "interval",
    "magnitude": "ratio",
}


@dataclass(frozen=True, eq=False)
class Documents:
    """The documents of one group that enough assessors judged.

    values : (values,) ascending; a group need not use them all.
    counts : (documents, values) how many assessors gave the document each value.
    pair : (documents,) number of each (topic, document).
    left_out : numbers of the documents that too few assessors judged.
    """

    values: Floats
    counts: Counts
    pair: Ints
    left_out: Ints

    @cached_property
    def size(self) -> Ints:
        """(documents,) judgments of each."""
        return np.asarray(self.counts.sum(axis=1), np.int64).ravel()

    @cached_property
    def alike(self) -> tuple[Counts, Ints]:
        """The distinct rows of `counts`, and (documents,) the row of each document."""
        if isinstance(self.counts, np.ndarray):
            return alike(self.counts)
        return self.counts, np.arange(self.pair.size)

    def select(self, condition: Callable[[Ints], Bools]) -> Documents:
        """The documents whose numbers meet a condition."""
        rows = np.flatnonzero(condition(self.pair))
        return Documents(self.values, self.counts[rows], self.pair[rows], self.left_out[condition(self.left_out)])


@dataclass(frozen=True, eq=False)
class DocumentCounts:
    """How many assessors gave each document each value, in groups of documents.

    by : what the groups are, "" for a single one. labels : one per group.
    level : of measurement. scale : the one scale that holds all values.
    n_repeats : judgments that repeat an earlier one of the same assessor. repeats : how repeats were treated.
    topics, documents : labels; the number of a (topic, document) is topic * len(documents) + document.
    """

    by: str
    labels: tuple[str, ...]
    topics: tuple[str, ...]
    documents: tuple[str, ...]
    groups: tuple[Documents, ...]
    level: Level
    scale: Scale
    n_repeats: int
    repeats: str


def document_counts(
    judgments: Judgments,
    *,
    level: Level | None,
    by: By = None,
    repeats: Repeats = "first",
    slots: int | None = None,
    min_judgments: int = 2,
    logs: bool = False,
    combine_scales: CombineScales = "auto",
) -> DocumentCounts:
    """Count the values of every document; the options are those of `krippendorff_alpha`.

    Raises
    ------
    NoOverlapError
        No document was judged often enough.
    ScaleError
        Magnitudes beside another scale; logarithms of zero.
    ArgumentError
        An unknown level or grouping; `min_judgments` below 2.
    """
    if level is not None:
        check_choice("level", level, Level)
    if min_judgments < 2:
        raise ArgumentError("agreement needs at least 2 judgments of a document", "min_judgments", min_judgments)
    need_two_assessors(judgments)
    judgments = on_one_scale(judgments, combine_scales, unlike_at(level))
    scale = judgments.shared_scale()
    split, name, labels, group_of_topic = grouped(judgments, by)
    single = split.single(repeats=repeats) if slots is None else split.slots(slots)
    used = (single.value >= 0) & (group_of_topic[single.topic] >= 0)
    pair = single.pair_numbers[used]
    group = group_of_topic[single.topic[used]]
    value = single.value[used]
    if logs:
        if (value == 0).any():
            raise ScaleError("logs=True: there are values of 0, which have no logarithm; leave logs out or recode 0")
        value = np.log(value)
    order = np.lexsort((pair, group))
    pair, group, value = pair[order], group[order], value[order]
    begins = np.flatnonzero(np.append(True, pair[1:] != pair[:-1])) if pair.size else np.zeros(0, np.int64)
    size = np.diff(np.append(begins, pair.size))
    enough = size >= min_judgments
    sufficient = np.repeat(enough, size)
    n_groups = len(labels)
    values, code = distinct_values(value[sufficient])
    starts = np.append(0, np.cumsum(size[enough]))
    counts = value_counts(starts, code.astype(np.int32), values.size)
    pairs = pair[begins[enough]]
    few = pair[begins[~enough]]
    edges, few_edges = (
        np.searchsorted(group[begins[which]], np.arange(n_groups + 1)).tolist() for which in (enough, ~enough)
    )
    groups = tuple(
        Documents(values, counts[a:b], pairs[a:b], few[c:d])
        for (a, b), (c, d) in zip(pairwise(edges), pairwise(few_edges), strict=True)
    )
    if not enough.any():
        raise NoOverlapError(
            f"no document was judged {min_judgments} times or more, so there is nothing to agree on; "
            "let a second assessor judge some of the same documents; qrowd assessors shows how many each judged"
        )
    n_repeats = 0 if slots is not None else split.n_repeats()
    how = repeats if slots is None else f"first {slots} judgments of a document"
    level = level or LEVEL_OF[scale.kind]
    return DocumentCounts(name, labels, single.topics, single.documents, groups, level, scale, n_repeats, how)


def unlike_at(level: Level | None) -> Combined:
    """What "auto" compares on unlike scales: relevant or not at level "nominal", else values over the maximum."""
    return "relevant" if level == "nominal" else "rescaled"


def need_two_assessors(judgments: Judgments) -> None:
    """Raise NoOverlapError for judgments of fewer than two assessors."""
    if len(judgments.assessors) < 2:
        reason = f"there is only {judgments.assessors[0]!r}" if judgments.assessors else "there are no judgments"
        raise NoOverlapError(f"agreement needs at least two assessors; {reason}")


def grouped(judgments: Judgments, by: By) -> tuple[Judgments, str, tuple[str, ...], Ints]:
    """Divide judgments into groups so that each topic belongs to one group.

    Returns the judgments, the name of the grouping, the labels of the groups, and (topics,) the group of each topic.

    by : None for one group, "topic", or {topic: group}, {assessor: group}, {(topic, document): group} (judgments that
        the mapping does not name are left out), or one group per judgment (None leaves a judgment out). A topic whose
        judgments belong to several groups is divided into one topic per group.
    """
    n_topics = len(judgments.topics)
    if by is None:
        return judgments, "", ("all",), np.zeros(n_topics, np.int64)
    if isinstance(by, str):
        if by != "topic":
            raise ArgumentError(
                f"by={by!r}: expected 'topic', a mapping of topics, assessors or (topic, document) to groups, "
                "or one group per judgment"
            )
        return judgments, "topic", judgments.topics, np.arange(n_topics)
    if isinstance(by, Mapping):
        by = _by_row(judgments, by)
    if len(by) != len(judgments):
        raise ArgumentError(f"by: {len(by)} groups for {len(judgments)} judgments; one for each is needed")
    groups = [None if group is None else str(group) for group in by]
    code, labels = factorize(group for group in groups if group is not None)
    if not labels:
        raise ArgumentError("by: no judgment belongs to any group")
    group = np.full(len(judgments), -1, np.int64)
    group[[g is not None for g in groups]] = code
    n = len(labels) + 1
    parts, topic = np.unique(judgments.topic.astype(np.int64) * n + group + 1, return_inverse=True)
    of_part = parts % n - 1
    topics = tuple(f"{judgments.topics[part // n]} ({part % n})" for part in parts)
    return replace(judgments, topics=topics, topic=topic.astype(np.int32)), "group", labels, of_part


def _by_row(judgments: Judgments, by: Mapping[Any, object]) -> list[object]:
    """One group per judgment from a mapping whose keys name topics, assessors or (topic, document) pairs."""
    if by and all(isinstance(key, tuple) for key in by):
        named = [
            (judgments.topics[t], judgments.documents[d])
            for t, d in zip(judgments.topic, judgments.document, strict=True)
        ]
        return [by.get(pair) for pair in named]
    keys = {str(key): group for key, group in by.items()}
    for labels, codes in ((judgments.topics, judgments.topic), (judgments.assessors, judgments.assessor)):
        if keys and keys.keys() <= set(labels):
            groups = [keys.get(label) for label in labels]
            return [groups[code] for code in codes]
    unknown = next((key for key in keys if key not in judgments.topics), "")
    raise ArgumentError(
        f"by={{{unknown!r}: ...}}: keys must all be topics, all assessors or all (topic, document); "
        + closest(unknown, judgments.topics, "topic")
    )
