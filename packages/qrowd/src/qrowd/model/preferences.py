"""Preferences: who said that which of two documents is the better one. No row is ever dropped or merged by itself.

Contradictions, repeats and cycles are data. A document may also be marked as Bad: nobody would prefer it to anything.
What such marks and chains of preferences imply is worked out on request, never added silently.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.display import Display, Displayed
from qrowd.errors import ArgumentError, InputError, RowError, check_choice
from qrowd.model.labels import (
    Codes,
    Selection,
    compact,
    factorize,
    matching,
    merge_codes,
    or_missing,
    plural,
    read_only,
    renumbered,
)
from qrowd.model.panel import Pool
from qrowd.model.previews import preferences_display, sizes

if TYPE_CHECKING:
    from qrowd.model.cells import IncompleteRows
    from qrowd.model.frames import Frame
    from qrowd.model.headers import Names

Repeats = Literal["first", "last", "error"]
Mark = tuple[str, str, str]  # topic, document, assessor


def _no_codes() -> Codes:
    return np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class TopicPreferences:
    """What assessors said of one topic, as kernels take it.

    n_documents : in the topic's pool; documents are places in it from here on.
    starts : (assessors + 1,) int64; the preferences of assessor a are the rows starts[a]:starts[a + 1] of
    pairs : (rows, 2) int32, preferred and other; weight : (rows,) float64; strength : (rows,) int64.
    bad_starts : (assessors + 1,) int64; the marks of assessor a are bad[bad_starts[a]:bad_starts[a + 1]].
    bad : (marks,) int32.
    rows : (rows,) int64, where each preference stands in the `Preferences`; empty where they were inferred.
    """

    n_documents: int
    starts: NDArray[np.int64]
    pairs: NDArray[np.int32]
    weight: NDArray[np.float64]
    strength: NDArray[np.int64]
    bad_starts: NDArray[np.int64]
    bad: NDArray[np.int32]
    rows: NDArray[np.int64]

    @property
    def n_assessors(self) -> int:
        return int(self.starts.size - 1)

    def of(self, assessor: int) -> TopicPreferences:
        """One assessor's part, as views."""
        here = slice(int(self.starts[assessor]), int(self.starts[assessor + 1]))
        marks = slice(int(self.bad_starts[assessor]), int(self.bad_starts[assessor + 1]))
        return TopicPreferences(
            self.n_documents,
            np.array([0, here.stop - here.start], np.int64),
            self.pairs[here],
            self.weight[here],
            self.strength[here],
            np.array([0, marks.stop - marks.start], np.int64),
            self.bad[marks],
            self.rows[here],
        )

    def judged(self) -> NDArray[np.bool_]:
        """(documents, assessors) whether the assessor compared or marked the document."""
        is_bad = np.zeros((self.n_documents, self.n_assessors), bool)
        assessor = np.repeat(np.arange(self.n_assessors), np.diff(self.starts))
        is_bad[self.pairs[:, 0], assessor] = True
        is_bad[self.pairs[:, 1], assessor] = True
        is_bad[self.bad, np.repeat(np.arange(self.n_assessors), np.diff(self.bad_starts))] = True
        return is_bad


@dataclass(frozen=True, eq=False)
class Preferences(Displayed):
    """Preferences of any number of assessors, one row each, in the order they were read.

    topics, documents, assessors : labels; topic, preferred, other, assessor : (n,) int32, numbers into them.
    strength : (n,) 1, or 2 for "definitely better".
    bad_topic, bad_document, bad_assessor : (marks,) int32, the documents marked as Bad, and by whom.
    weight : (n,) how much of a preference a row is, or None for 1 each; a tie counted half in both directions has .5.
    first : (n,) 1 where the preferred document was shown first (left), 0 where second, nan where nobody knows.
    group, bad_group : (n,) and (marks,) which of an assessor's statements belong together (trec_eval's judgment
        groups); None where all that an assessor said of a topic does.
    order, seconds, time : (n,) each, or None where nobody recorded it. `order` is any increasing number, `seconds` is
        time spent, `time` is when.
    notes : what was noticed while they were read, such as rows that were left out.
    """

    topics: tuple[str, ...]
    documents: tuple[str, ...]
    assessors: tuple[str, ...]
    topic: Codes
    preferred: Codes
    other: Codes
    assessor: Codes
    strength: NDArray[np.int64]
    bad_topic: Codes = field(default_factory=_no_codes)
    bad_document: Codes = field(default_factory=_no_codes)
    bad_assessor: Codes = field(default_factory=_no_codes)
    weight: NDArray[np.float64] | None = None
    first: NDArray[np.float64] | None = None
    group: NDArray[np.object_] | None = None
    bad_group: NDArray[np.object_] | None = None
    order: NDArray[np.float64] | None = None
    seconds: NDArray[np.float64] | None = None
    time: NDArray[np.object_] | None = None
    notes: tuple[str, ...] = ()

    OPTIONAL = ("weight", "first", "group", "order", "seconds", "time")
    CODES = ("topic", "preferred", "other", "assessor", "strength")
    MARKS = ("bad_topic", "bad_document", "bad_assessor")

    def __post_init__(self) -> None:
        for name in (*self.CODES, *self.MARKS, *self.OPTIONAL, "bad_group"):
            if (column := getattr(self, name)) is not None:
                object.__setattr__(self, name, read_only(column))
        self._refuse(self.preferred == self.other, "a document cannot be preferred to itself")
        self._refuse(~np.isin(self.strength, (1, 2)), "the strength must be 1, or 2 for definitely better")
        if self.weight is not None:
            self._refuse(~(np.isfinite(self.weight) & (self.weight > 0)), "the weight must be a finite number above 0")
        if self.first is not None:
            unknown = np.isnan(self.first)
            self._refuse(~(unknown | np.isin(self.first, (0, 1))), "first must be 1, 0 or missing")
        if (self.group is None) != (self.bad_group is None) and self.bad_topic.size and len(self):
            raise ArgumentError("group and bad_group: give both, or neither")

    def _refuse(self, wrong: NDArray[np.bool_], problem: str) -> None:
        if wrong.any():
            row = int(wrong.argmax())
            raise RowError(row + 1, f"{self.describe(row)}: {problem}")

    # ------------------------------------------------------------------ making them

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[Any, ...]], *, bad: Iterable[Mark] = ()) -> Preferences:
        """From (topic, preferred, other, assessor) tuples, a strength after them where it was recorded.

        bad : (topic, document, assessor) of the documents marked as Bad.

        >>> Preferences.from_rows([("q1", "d1", "d2", "ann"), ("q1", "d2", "d3", "ann", 2)], bad=[("q1", "d4", "ann")])
        Preferences(2 preferences, 1 Bad mark: 1 topic, 4 documents, 1 assessor)
        """
        preferences, marks = list(rows), list(bad)
        for number, row in enumerate(preferences, start=1):
            if len(row) not in (4, 5):
                raise RowError(number, f"expected (topic, preferred, other, assessor[, strength]), found {row!r}")
        topic, preferred, other, assessor = ([row[i] for row in preferences] for i in range(4))
        bad_topic, bad_document, bad_assessor = ([mark[i] for mark in marks] for i in range(3))
        return cls._from_codes(
            factorize([*topic, *bad_topic]),
            factorize([*preferred, *other, *bad_document]),
            factorize([*assessor, *bad_assessor]),
            strength=np.array([row[4] if len(row) == 5 else 1 for row in preferences], np.float64),
        )

    @classmethod
    def _from_codes(
        cls,
        topics: tuple[Codes, Sequence[str]],
        documents: tuple[Codes, Sequence[str]],
        assessors: tuple[Codes, Sequence[str]],
        *,
        strength: NDArray[np.float64],
        **optional: Any,
    ) -> Preferences:
        """From codes and labels: those of the preferred documents, the others and the marked ones together."""
        n = strength.size
        if (wrong := ~np.isin(strength, (1, 2))).any():
            row = int(wrong.argmax())
            raise RowError(row + 1, f"strength is {strength[row]:g}; it must be 1, or 2 for definitely better")
        return cls(
            tuple(topics[1]),
            tuple(documents[1]),
            tuple(assessors[1]),
            topics[0][:n],
            documents[0][:n],
            documents[0][n : 2 * n],
            assessors[0][:n],
            strength.astype(np.int64),
            topics[0][n:],
            documents[0][2 * n :],
            assessors[0][n:],
            **optional,
        )

    @classmethod
    def from_frame(
        cls,
        frame: Frame,
        *,
        assessor: str = "preferences",
        columns: Names | None = None,
        incomplete_rows: IncompleteRows = "refuse",
    ) -> Preferences:
        """From a pandas, Polars, PyArrow ... data frame or {column: cells}, one row per preference.

        Either `preferred` and `other`, or the two documents `a` and `b` and the `preferred` one of them (`a` was shown
        first). A row without a preferred document marks the other one as Bad. Columns are found by their usual names
        (`qrowd.model.headers.PREFERENCE_COLUMNS`); `columns={"preferred": "my_winner"}` names others. A frame without
        an assessor column belongs to the one assessor named by `assessor`. Rows without another required cell are
        refused, or left out by `incomplete_rows="drop"`.
        """
        from qrowd.model.frames import TableOptions, preference_columns

        options = TableOptions(columns, None, incomplete_rows)
        columns_of_frame = preference_columns(frame, options, assessor)
        is_preference, is_mark = np.flatnonzero(~columns_of_frame.marks), np.flatnonzero(columns_of_frame.marks)
        optional = dict(columns_of_frame.optional)
        strength = optional.pop("strength", np.full(columns_of_frame.marks.size, np.nan))[is_preference]
        of_preferences: dict[str, Any] = {name: column[is_preference] for name, column in optional.items()}
        for name in ("first", "order", "seconds", "weight"):
            if name in of_preferences and np.isnan(of_preferences[name]).all():
                del of_preferences[name]
        if "weight" in of_preferences:
            of_preferences["weight"] = np.where(np.isnan(of_preferences["weight"]), 1.0, of_preferences["weight"])
        if "group" in optional:
            of_preferences["bad_group"] = optional["group"][is_mark]
        topic, preferred, other, who = (columns_of_frame.labels[x] for x in ("topic", "preferred", "other", "assessor"))
        parts = (
            (topic[1], ((topic[0], is_preference), (topic[0], is_mark))),
            (other[1], ((preferred[0], is_preference), (other[0], is_preference), (other[0], is_mark))),
            (who[1], ((who[0], is_preference), (who[0], is_mark))),
        )
        coded = [renumbered(np.concatenate([codes[rows] for codes, rows in part]), words) for words, part in parts]
        try:
            return cls._from_codes(
                *coded,
                strength=np.where(np.isnan(strength), 1.0, strength),
                notes=columns_of_frame.notes,
                **of_preferences,
            )
        except RowError as error:  # its rows are those of the preferences alone
            raise RowError(int(columns_of_frame.rows[int(is_preference[error.row - 1])]), error.problem) from None

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per preference as a data frame: topic, preferred, other, assessor, strength and what was recorded.

        Marks come last, as rows without a preferred document.
        """
        from qrowd.model.frames import make_frame

        m = self.bad_topic.size

        def text(labels: tuple[str, ...], *codes: Codes) -> NDArray[Any]:
            return np.array(labels, object)[np.concatenate(codes)]

        def below(column: NDArray[Any], numeric: bool) -> NDArray[Any]:
            return np.concatenate([column, np.full(m, np.nan if numeric else None, np.float64 if numeric else object)])

        columns = {
            "topic": text(self.topics, self.topic, self.bad_topic),
            "preferred": below(text(self.documents, self.preferred), numeric=False),
            "other": text(self.documents, self.other, self.bad_document),
            "assessor": text(self.assessors, self.assessor, self.bad_assessor),
            "strength": below(self.strength.astype(np.float64), numeric=True) if m else self.strength,
        }
        for name in self.OPTIONAL:
            if (column := getattr(self, name)) is not None:
                columns[name] = below(column, numeric=name not in ("group", "time"))
        if self.bad_group is not None:
            columns["group"] = np.concatenate([or_missing(self.group, len(self), numeric=False), self.bad_group])
        return make_frame(columns, backend)

    def to_rows(self) -> list[tuple[str, str, str, str, int]]:
        """(topic, preferred, other, assessor, strength) of every preference."""
        columns = (
            [labels[i] for i in codes.tolist()]
            for labels, codes in (
                (self.topics, self.topic),
                (self.documents, self.preferred),
                (self.documents, self.other),
                (self.assessors, self.assessor),
            )
        )
        return list(zip(*columns, self.strength.tolist(), strict=True))

    # ------------------------------------------------------------------ looking at them

    def __len__(self) -> int:
        return int(self.topic.size)

    def __repr__(self) -> str:
        marks = f", {plural(self.bad_topic.size, 'Bad mark')}" if self.bad_topic.size else ""
        return f"Preferences({sizes(self, 'preference', marks)})"

    def _display(self) -> Display:
        return preferences_display(self)

    def describe(self, row: int) -> str:
        """A row in words, for messages."""
        return (
            f"assessor {self.assessors[self.assessor[row]]}, topic {self.topics[self.topic[row]]}, "
            f"{self.documents[self.preferred[row]]} over {self.documents[self.other[row]]}"
        )

    @property
    def bad(self) -> tuple[Mark, ...]:
        """(topic, document, assessor) of every mark."""
        codes = zip(self.bad_topic.tolist(), self.bad_document.tolist(), self.bad_assessor.tolist(), strict=True)
        return tuple((self.topics[t], self.documents[d], self.assessors[a]) for t, d, a in codes)

    @cached_property
    def _pairs(self) -> NDArray[np.int64]:
        """(n,) one number per (topic, two documents, assessor), whichever of the two is preferred."""
        low, high = np.minimum(self.preferred, self.other), np.maximum(self.preferred, self.other)
        return self._numbered(low, high)

    def _numbered(self, one: Codes, two: Codes) -> NDArray[np.int64]:
        pair = one.astype(np.int64) * len(self.documents) + two
        _, row = np.unique(pair, return_inverse=True)
        return np.asarray((row.astype(np.int64) * len(self.topics) + self.topic) * len(self.assessors) + self.assessor)

    def n_repeats(self) -> int:
        """How many rows repeat an earlier preference of the same assessor for the same document over the same other."""
        return len(self) - int(np.unique(self._numbered(self.preferred, self.other)).size)

    def n_contradictions(self) -> int:
        """How many pairs of documents an assessor ordered both ways (ties, two halves of a preference, aside)."""
        whole = np.ones(len(self), bool) if self.weight is None else self.weight != 0.5
        both = np.unique(np.stack([self._pairs, self.preferred > self.other])[:, whole], axis=1)
        return int(both.shape[1] - np.unique(both[0]).size)

    # ------------------------------------------------------------------ what kernels take

    @cached_property
    def pool(self) -> Pool:
        """The documents of every topic that anyone compared or marked, in the order of `documents`."""
        return self._placed[0]

    @cached_property
    def _placed(self) -> tuple[Pool, NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """The pool, and (n,), (n,), (marks,) places in it of preferred, other and marked documents."""
        width, n, m = max(len(self.documents), 1), len(self), self.bad_topic.size
        topic = np.concatenate([self.topic, self.topic, self.bad_topic])
        document = np.concatenate([self.preferred, self.other, self.bad_document])
        pairs, row = np.unique(topic.astype(np.int64) * width + document, return_inverse=True)
        starts = np.searchsorted(pairs, np.arange(len(self.topics) + 1, dtype=np.int64) * width).astype(np.int64)
        pool = Pool(self.topics, self.documents, starts, (pairs % width).astype(np.int32))
        place = (row - starts[topic]).astype(np.int32)
        return pool, place[:n], place[n : 2 * n], place[2 * n : 2 * n + m]

    @cached_property
    def _by_topic(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Rows by (topic, assessor) as they came, where each such cell starts; the same of the marks."""
        cells = len(self.topics) * len(self.assessors)

        def sorted_by(topic: Codes, assessor: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            cell = topic.astype(np.int64) * len(self.assessors) + assessor
            starts = np.append(0, np.cumsum(np.bincount(cell, minlength=cells)))
            return np.argsort(cell, kind="stable"), starts.astype(np.int64)

        return *sorted_by(self.topic, self.assessor), *sorted_by(self.bad_topic, self.bad_assessor)

    def topic_view(self, topic: int) -> TopicPreferences:
        """Everything said of one topic, assessor by assessor, as arrays of places in the topic's pool."""
        pool, preferred, other, marked = self._placed
        order, starts, bad_order, bad_starts = self._by_topic
        cells = slice(topic * len(self.assessors), (topic + 1) * len(self.assessors) + 1)
        starts, bad_starts = starts[cells], bad_starts[cells]
        rows = order[starts[0] : starts[-1]]
        bad_rows = bad_order[bad_starts[0] : bad_starts[-1]]
        return TopicPreferences(
            int(pool.starts[topic + 1] - pool.starts[topic]),
            starts - starts[0],
            np.stack([preferred[rows], other[rows]], axis=1),
            np.ones(rows.size) if self.weight is None else self.weight[rows],
            self.strength[rows],
            bad_starts - bad_starts[0],
            marked[bad_rows],
            rows,
        )

    def view(self, topic: int, assessor: int) -> TopicPreferences:
        """What one assessor said of one topic: `topic_view` with this assessor alone."""
        return self.topic_view(topic).of(assessor)

    # ------------------------------------------------------------------ new preferences from these

    def select(
        self,
        *,
        topics: Selection | None = None,
        documents: Selection | None = None,
        assessors: Selection | None = None,
    ) -> Preferences:
        """Only these topics, assessors, and pairs of these documents, each by name, shell pattern, list or function."""
        keep, keep_bad = np.ones(len(self), bool), np.ones(self.bad_topic.size, bool)
        for selection, labels, noun, columns, bad in (
            (topics, self.topics, "topic", (self.topic,), self.bad_topic),
            (documents, self.documents, "document", (self.preferred, self.other), self.bad_document),
            (assessors, self.assessors, "assessor", (self.assessor,), self.bad_assessor),
        ):
            if selection is not None:
                matches = matching(labels, selection, noun)
                for column in columns:
                    keep &= matches[column]
                keep_bad &= matches[bad]
        return self._take(np.flatnonzero(keep), np.flatnonzero(keep_bad))

    def single(self, *, repeats: Repeats = "first") -> Preferences:
        """At most one preference per topic, pair of documents and assessor.

        repeats : which one stays, by the order column (else by place): "first" or "last"; "error" refuses pairs that
            were judged more than once.
        """
        check_choice("repeats", repeats, Repeats)
        rows = np.lexsort((self._pairs,) if self.order is None else (self.order, self._pairs))
        again = np.append(False, self._pairs[rows][1:] == self._pairs[rows][:-1])[: rows.size]
        if repeats == "error" and again.any():
            raise InputError(
                f"{self.describe(int(rows[again.argmax()]))}: the pair was judged before ({int(again.sum())} such rows "
                "in all); choose repeats='first' or 'last'"
            )
        ends = np.append(~again[1:], True)[: rows.size] if repeats == "last" else ~again
        return self._take(np.sort(rows[ends]), np.arange(self.bad_topic.size))

    def pooled(self, *, name: str = "everyone") -> Preferences:
        """As if one assessor had said it all, in one judgment group per assessor (and group of theirs).

        trec_eval's formats write such an assessor.
        """
        group, bad_group = (
            np.array(
                [
                    self.assessors[a] if g is None else f"{self.assessors[a]}/{g}"
                    for a, g in zip(who.tolist(), or_missing(part, who.size, numeric=False).tolist(), strict=True)
                ],
                object,
            )
            for who, part in ((self.assessor, self.group), (self.bad_assessor, self.bad_group))
        )
        return replace(
            self,
            assessors=(name,),
            assessor=np.zeros_like(self.assessor),
            bad_assessor=np.zeros_like(self.bad_assessor),
            group=group,
            bad_group=bad_group,
        )

    def _take(self, rows: NDArray[np.int64], marks: NDArray[np.int64]) -> Preferences:
        """These rows and marks, with labels that neither uses left out."""
        n = rows.size
        topics, topic = compact(self.topics, np.concatenate([self.topic[rows], self.bad_topic[marks]]))
        documents, document = compact(
            self.documents, np.concatenate([self.preferred[rows], self.other[rows], self.bad_document[marks]])
        )
        assessors, assessor = compact(self.assessors, np.concatenate([self.assessor[rows], self.bad_assessor[marks]]))
        optional = {name: None if getattr(self, name) is None else getattr(self, name)[rows] for name in self.OPTIONAL}
        return Preferences(
            topics,
            documents,
            assessors,
            topic[:n],
            document[:n],
            document[n : 2 * n],
            assessor[:n],
            self.strength[rows],
            topic[n:],
            document[2 * n :],
            assessor[n:],
            bad_group=None if self.bad_group is None else self.bad_group[marks],
            notes=self.notes,
            **optional,
        )


def concatenate_preferences(parts: Sequence[Preferences]) -> Preferences:
    """All rows and marks of all parts, one after the other; the same assessor name is the same assessor."""
    if len(parts) == 1:
        return parts[0]

    def joined(labels: str, *columns: str) -> tuple[tuple[str, ...], list[Codes]]:
        """One vocabulary, and each of the columns over it."""
        pieces = [getattr(part, name) for name in columns for part in parts]
        words, codes = merge_codes([getattr(part, labels) for part in parts] * len(columns), pieces)
        sizes = [sum(getattr(part, name).size for part in parts) for name in columns]
        return words, np.split(codes, np.cumsum(sizes)[:-1])

    topics, (topic, bad_topic) = joined("topics", "topic", "bad_topic")
    documents, (preferred, other, bad_document) = joined("documents", "preferred", "other", "bad_document")
    assessors, (assessor, bad_assessor) = joined("assessors", "assessor", "bad_assessor")
    optional: dict[str, Any] = {}
    for name in Preferences.OPTIONAL:
        if any(getattr(part, name) is not None for part in parts):
            columns = [or_missing(getattr(part, name), len(part), name not in ("group", "time")) for part in parts]
            optional[name] = np.concatenate(columns)
    if "weight" in optional:
        optional["weight"] = np.where(np.isnan(optional["weight"]), 1.0, optional["weight"])
    if any(part.bad_group is not None for part in parts):
        optional["bad_group"] = np.concatenate(
            [or_missing(part.bad_group, part.bad_topic.size, numeric=False) for part in parts]
        )
    return Preferences(
        topics,
        documents,
        assessors,
        topic,
        preferred,
        other,
        assessor,
        np.concatenate([part.strength for part in parts]),
        bad_topic,
        bad_document,
        bad_assessor,
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        **optional,
    )
