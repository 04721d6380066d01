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
from qrowd.errors import InputError, RowError, check_choice
from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.model.labels import (
    Selection,
    compact,
    factorize,
    joined_notes,
    make_read_only,
    matching,
    merge_codes,
    or_missing,
    plural,
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
    starts: Ints
    pairs: Codes
    weight: Floats
    strength: Ints
    bad_starts: Ints
    bad: Codes
    rows: Ints

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

    def judged(self) -> Bools:
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
    strength: Ints
    bad_topic: Codes = field(default_factory=_no_codes)
    bad_document: Codes = field(default_factory=_no_codes)
    bad_assessor: Codes = field(default_factory=_no_codes)
    weight: Floats | None = None
    first: Floats | None = None
    order: Floats | None = None
    seconds: Floats | None = None
    time: NDArray[np.object_] | None = None
    notes: tuple[str, ...] = ()

    OPTIONAL = ("weight", "first", "order", "seconds", "time")
    CODES = ("topic", "preferred", "other", "assessor", "strength")
    MARKS = ("bad_topic", "bad_document", "bad_assessor")

    def __post_init__(self) -> None:
        self._refuse(self.preferred == self.other, "a document cannot be preferred to itself")
        self._refuse(~np.isin(self.strength, (1, 2)), "the strength must be 1, or 2 for definitely better")
        if self.weight is not None:
            self._refuse(~(np.isfinite(self.weight) & (self.weight > 0)), "the weight must be a finite number above 0")
        if self.first is not None:
            self._refuse(~(np.isnan(self.first) | np.isin(self.first, (0, 1))), "first must be 1, 0 or missing")
        object.__setattr__(self, "strength", self.strength.astype(np.int64))
        make_read_only(self, (*self.CODES, *self.MARKS, *self.OPTIONAL))

    def _refuse(self, wrong: Bools, problem: str) -> None:
        if wrong.any():
            row = int(wrong.argmax())
            raise RowError(row + 1, f"{self.describe(row)}: {problem}")

    # ------------------------------------------------------------------ making them

    @classmethod
    def from_codes(
        cls,
        topics: tuple[str, ...],
        documents: tuple[str, ...],
        assessors: tuple[str, ...],
        *,
        topic: Codes,
        preferred: Codes,
        other: Codes,
        assessor: Codes,
        strength: NDArray[Any],
        notes: tuple[str, ...] = (),
        **optional: Any,
    ) -> Preferences:
        """From columns in which a row with a negative `preferred` marks `other` as Bad.

        optional : weight, first, order, seconds, time of every row; columns of numbers may be nan throughout.

        Raises
        ------
        RowError
            A row that is no preference.
        """
        rows = np.flatnonzero(preferred >= 0)
        marks = np.flatnonzero(preferred < 0)
        recorded = {name: column[rows] for name, column in optional.items()}
        for name in ("weight", "first", "order", "seconds"):
            if name in recorded and np.isnan(recorded[name]).all():
                del recorded[name]
        if "weight" in recorded:
            recorded["weight"] = np.where(np.isnan(recorded["weight"]), 1.0, recorded["weight"])
        try:
            return cls(
                topics,
                documents,
                assessors,
                topic[rows],
                preferred[rows],
                other[rows],
                assessor[rows],
                strength[rows],
                topic[marks],
                other[marks],
                assessor[marks],
                notes=notes,
                **recorded,
            )
        except RowError as error:  # its rows are those of the preferences alone
            raise RowError(int(rows[error.row - 1]) + 1, error.problem) from None

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
        n, m = len(preferences), len(marks)
        topic, topics = factorize([row[0] for row in (*preferences, *marks)])
        assessor, assessors = factorize([row[3] for row in preferences] + [mark[2] for mark in marks])
        names = [[row[column] for row in preferences] for column in (1, 2)]
        document, documents = factorize([*names[0], *names[1], *(mark[1] for mark in marks)])
        return cls.from_codes(
            topics,
            documents,
            assessors,
            topic=topic,
            preferred=np.append(document[:n], np.full(m, -1, np.int32)),
            other=document[n:],
            assessor=assessor,
            strength=np.array([row[4] if len(row) == 5 else 1 for row in preferences] + [1] * m, np.float64),
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

        table = preference_columns(frame, TableOptions(columns, None, incomplete_rows), assessor)
        (preferred, labels), (other, _) = table.labels["preferred"], table.labels["other"]
        order = np.argsort(preferred < 0, kind="stable")  # marks come last
        preferred, other, n = preferred[order], other[order], int((preferred >= 0).sum())
        document, documents = renumbered(np.append(preferred[:n], other), labels)
        (topic, topics), (who, assessors) = (
            renumbered(codes[order], words) for codes, words in (table.labels["topic"], table.labels["assessor"])
        )
        strength = table.numbers.get("strength", np.ones(order.size))[order]
        try:
            return cls.from_codes(
                tuple(topics),
                tuple(documents),
                tuple(assessors),
                topic=topic,
                preferred=np.append(document[:n], preferred[n:]),
                other=document[n:],
                assessor=who,
                strength=np.where(np.isnan(strength), 1.0, strength),
                notes=table.notes,
                **{name: column[order] for name, column in table.optional.items()},
            )
        except RowError as error:  # its rows are those that were read
            raise RowError(int(table.rows[order[error.row - 1]]), error.problem) from None

    def _columns(self) -> dict[str, Any]:
        """The columns of all preferences and, below them, marks, as `from_codes` takes them."""
        m = self.bad_topic.size
        columns = {
            "topic": np.append(self.topic, self.bad_topic),
            "preferred": np.append(self.preferred, np.full(m, -1, np.int32)),
            "other": np.append(self.other, self.bad_document),
            "assessor": np.append(self.assessor, self.bad_assessor),
            "strength": np.append(self.strength, np.ones(m, np.int64)),
        }
        for name in self.OPTIONAL:
            if (column := getattr(self, name)) is not None:
                columns[name] = np.append(column, or_missing(None, m, name != "time"))
        return columns

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per preference as a data frame: topic, preferred, other, assessor, strength and what was recorded.

        Marks come last, as rows without a preferred document.
        """
        from qrowd.model.frames import make_frame

        columns = self._columns()
        if self.bad_topic.size:
            columns["strength"] = np.where(columns["preferred"] < 0, np.nan, columns["strength"])
        columns["topic"] = np.array(self.topics, object)[columns["topic"]]
        columns["preferred"] = np.array([*self.documents, None], object)[columns["preferred"]]  # a mark is -1
        columns["other"] = np.array(self.documents, object)[columns["other"]]
        columns["assessor"] = np.array(self.assessors, object)[columns["assessor"]]
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
    def _pairs(self) -> Ints:
        """(n,) one number per (topic, two documents, assessor), whichever of the two is preferred."""
        low = np.minimum(self.preferred, self.other)
        high = np.maximum(self.preferred, self.other)
        return self._numbered(low, high)

    def _numbered(self, one: Codes, two: Codes) -> Ints:
        pair = one.astype(np.int64) * len(self.documents) + two
        _, row = np.unique(pair, return_inverse=True)
        return np.asarray((row.astype(np.int64) * len(self.topics) + self.topic) * len(self.assessors) + self.assessor)

    def n_repeats(self) -> int:
        """How many rows repeat an earlier preference of the same assessor for the same document over the same other."""
        return len(self) - int(np.unique(self._numbered(self.preferred, self.other)).size)

    # ------------------------------------------------------------------ what kernels take

    @cached_property
    def pool(self) -> Pool:
        """The documents of every topic that anyone compared or marked, in the order of `documents`."""
        return self._placed[0]

    @cached_property
    def _placed(self) -> tuple[Pool, Codes, Codes, Codes]:
        """The pool, and (n,), (n,), (marks,) places in it of preferred, other and marked documents."""
        width = max(len(self.documents), 1)
        n = len(self)
        m = self.bad_topic.size
        topic = np.concatenate([self.topic, self.topic, self.bad_topic])
        document = np.concatenate([self.preferred, self.other, self.bad_document])
        pairs, row = np.unique(topic.astype(np.int64) * width + document, return_inverse=True)
        starts = np.searchsorted(pairs, np.arange(len(self.topics) + 1, dtype=np.int64) * width).astype(np.int64)
        pool = Pool(self.topics, self.documents, starts, (pairs % width).astype(np.int32))
        place = (row - starts[topic]).astype(np.int32)
        return pool, place[:n], place[n : 2 * n], place[2 * n : 2 * n + m]

    @cached_property
    def _by_topic(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Rows by (topic, assessor) as they came, where each such cell starts; the same of the marks."""
        cells = len(self.topics) * len(self.assessors)

        def sorted_by(topic: Codes, assessor: Codes) -> tuple[Ints, Ints]:
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

    # ------------------------------------------------------------------ new preferences from these

    def select(
        self,
        *,
        topics: Selection | None = None,
        documents: Selection | None = None,
        assessors: Selection | None = None,
    ) -> Preferences:
        """Only these topics, assessors, and pairs of these documents, each by name, shell pattern, list or function."""
        columns = self._columns()
        keep = np.ones(columns["topic"].size, bool)
        for selection, labels, noun, names in (
            (topics, self.topics, "topic", ("topic",)),
            (documents, self.documents, "document", ("preferred", "other")),
            (assessors, self.assessors, "assessor", ("assessor",)),
        ):
            if selection is not None:
                matches = np.append(matching(labels, selection, noun), True)  # the last: no preferred document
                for name in names:
                    keep &= matches[columns[name]]
        return self._take(np.flatnonzero(keep))

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
                "in all); choose first or last as repeats"
            )
        ends = np.append(~again[1:], True)[: rows.size] if repeats == "last" else ~again
        return self._take(np.append(np.sort(rows[ends]), np.arange(len(self), len(self) + self.bad_topic.size)))

    def pooled(self, *, name: str = "everyone") -> Preferences:
        """As if one assessor had said it all."""
        return replace(
            self,
            assessors=(name,),
            assessor=np.zeros_like(self.assessor),
            bad_assessor=np.zeros_like(self.bad_assessor),
        )

    def _take(self, rows: Ints) -> Preferences:
        """These rows, where marks stand below preferences, with labels that none uses left out."""
        columns = {name: column[rows] for name, column in self._columns().items()}
        is_mark = columns["preferred"] < 0
        topics, columns["topic"] = compact(self.topics, columns["topic"])
        assessors, columns["assessor"] = compact(self.assessors, columns["assessor"])
        preferred = np.where(is_mark, columns["other"], columns["preferred"])
        documents, document = compact(self.documents, np.append(preferred, columns["other"]))
        preferred, columns["other"] = np.split(document, 2)
        columns["preferred"] = np.where(is_mark, np.int32(-1), preferred)
        return Preferences.from_codes(topics, documents, assessors, **columns, notes=self.notes)


def concatenate_preferences(parts: Sequence[Preferences]) -> Preferences:
    """All rows and marks of all parts, one after the other; the same assessor name is the same assessor."""
    if len(parts) == 1:
        return parts[0]
    columns = [part._columns() for part in parts]
    topics, topic = merge_codes([part.topics for part in parts], [each["topic"] for each in columns])
    assessors, assessor = merge_codes([part.assessors for part in parts], [each["assessor"] for each in columns])
    labels = [part.documents for part in parts]
    documents, other = merge_codes(labels, [each["other"] for each in columns])
    is_mark = np.concatenate([each["preferred"] for each in columns]) < 0
    _, preferred = merge_codes(labels, [np.maximum(each["preferred"], 0) for each in columns])
    optional: dict[str, Any] = {}
    for name in Preferences.OPTIONAL:
        if any(name in each for each in columns):
            numeric = name != "time"
            pieces = [or_missing(each.get(name), each["topic"].size, numeric) for each in columns]
            optional[name] = np.concatenate(pieces)
    return Preferences.from_codes(
        topics,
        documents,
        assessors,
        topic=topic,
        preferred=np.where(is_mark, np.int32(-1), preferred),
        other=other,
        assessor=assessor,
        strength=np.concatenate([each["strength"] for each in columns]),
        notes=joined_notes(parts),
        **optional,
    )
