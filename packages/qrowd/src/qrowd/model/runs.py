"""Runs: what every system returned for every topic, and the one rule that turns scores into ranks.

The rank column of a run file is ignored, as in trec_eval: documents stand by score, highest first, and equal scores by
document id, highest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.display import Display, Displayed
from qrowd.errors import InputError, RowError, check_choice
from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.model.conventions import ScoreDtype as ScoreDtype
from qrowd.model.labels import (
    Nested,
    Selection,
    coded_rows,
    compact,
    distinct_pairs,
    joined_labels,
    joined_notes,
    make_read_only,
    merge_codes,
    nested_of,
    nested_rows,
    number_of,
    plural,
    repeated_rows,
    selected,
)

if TYPE_CHECKING:
    from qrowd.model.cells import IncompleteRows
    from qrowd.model.frames import Frame
    from qrowd.model.headers import Names


@dataclass(frozen=True, eq=False)
class Runs(Displayed):
    """Retrieved documents with their scores, one row each.

    systems, topics, documents : labels; system, topic, document : (n,) int32, numbers into them.
    score : (n,) float64.
    rank : (n,) the rank the file stated, an integer or a double, or None; never used to rank, only to warn where it
        contradicts the scores.
    notes : what was noticed while they were read, such as rows that were left out.
    criteria, criterion : of answers, whose rows are not documents but units, and whose scores are the units' weights:
        the labels of criteria, and (n,) which each unit is of; None for ranked documents.
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    documents: tuple[str, ...]
    system: Codes
    topic: Codes
    document: Codes
    score: Floats
    rank: NDArray[Any] | None = None
    notes: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    criterion: Codes | None = None

    def __post_init__(self) -> None:
        bad = np.flatnonzero(~np.isfinite(self.score))
        if bad.size:
            raise InputError(f"{self.describe(int(bad[0]))}: the score is not a finite number")
        repeated, again = repeated_rows(self.system, self.topic, self.document, len(self.topics), len(self.documents))
        if again.any():
            row = int(repeated[again].min())
            raise RowError(row + 1, f"{self.describe(row)}: the document is in the list twice")
        make_read_only(self, ("system", "topic", "document", "score", "rank", "criterion"))

    @classmethod
    def from_dict(cls, nested: Nested) -> Runs:
        """From {system: {topic: {document: score}}}: one pytrec_eval run dictionary per system.

        One such dictionary alone is of the system "run".
        """
        topics, documents, systems, topic, document, system, score = coded_rows(nested_rows(nested, "system", "run"))
        return cls(systems, topics, documents, system, topic, document, score)

    @classmethod
    def from_frame(
        cls,
        frame: Frame,
        *,
        system: str = "run",
        columns: Names | None = None,
        incomplete_rows: IncompleteRows = "refuse",
    ) -> Runs:
        """From a pandas, Polars, PyArrow ... data frame or {column: cells}, one row per retrieved document.

        Columns are found by their usual names (`qrowd.model.headers.RUN_COLUMNS`); `columns={"score": "my_score"}`
        names others. `system` names the one system of a frame without a system column. Without a score column, the
        rank gives the order. The other options are those of `qrowd.model.frames.TableOptions`.
        """
        from qrowd.model.frames import TableOptions, run_columns

        table = run_columns(frame, TableOptions(columns, None, incomplete_rows), system)
        (who, systems), (topic, topics), (document, documents) = (
            table.labels[name] for name in ("system", "topic", "document")
        )
        score = table.numbers["score"]
        rank = table.numbers.get("rank")
        criterion, criteria = table.labels.get("criterion", (None, ()))
        read = systems, topics, documents, who, topic, document, score
        try:
            if criterion is not None:
                return cls._of_units(*read, table.notes, criteria, criterion)
            return cls(*read, rank, table.notes)
        except RowError as error:  # its rows are those that were read
            raise RowError(int(table.rows[error.row - 1]), error.problem) from None

    @classmethod
    def _of_units(
        cls,
        systems: tuple[str, ...],
        topics: tuple[str, ...],
        documents: tuple[str, ...],
        system: Codes,
        topic: Codes,
        document: Codes,
        weight: Floats,
        notes: tuple[str, ...],
        criteria: tuple[str, ...],
        criterion: Codes,
    ) -> Runs:
        """Answers from rows that may repeat a unit, as each of its judgments does.

        Raises
        ------
        RowError
            A unit with two weights.
        """
        _, unit = distinct_pairs(topic, document, len(documents))
        first = np.unique(unit, return_index=True)[1]
        for row in np.flatnonzero(weight != weight[first][unit])[:1].tolist():
            where = f"topic {topics[topic[row]]}, {documents[document[row]]}"
            problem = f"the weight is {weight[row]:g}, and {weight[first[unit[row]]]:g} in an earlier row"
            raise RowError(row + 1, f"{where}: {problem}; give a unit one weight, or two names")
        first.sort()
        columns = (system[first], topic[first], document[first], weight[first], None, notes, criteria, criterion[first])
        return cls(systems, topics, documents, *columns)

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per retrieved document as a data frame: system, topic, document, score and, where known, rank."""
        from qrowd.model.frames import make_frame

        return make_frame(
            {
                "system": np.array(self.systems, object)[self.system],
                "topic": np.array(self.topics, object)[self.topic],
                "document": np.array(self.documents, object)[self.document],
                "score": self.score,
                **({} if self.rank is None else {"rank": self.rank}),
            },
            backend,
        )

    def to_dict(self, *, system: str | None = None) -> dict[str, Any]:
        """{system: {topic: {document: score}}}, or that of one system alone, as pytrec_eval and ranx.Run take it."""
        codes = (self.system, self.topic, self.document)
        nested = nested_of(self.systems, self.topics, self.documents, codes, self.score)
        return nested if system is None else nested[self.systems[number_of(system, self.systems, "system")]]

    def select(self, *, systems: Selection | None = None, topics: Selection | None = None) -> Runs:
        """Only these systems and topics, each by name, shell pattern, list of those, or function."""
        rows = selected(self, systems=systems, topics=topics)
        (who, system), (topic_labels, topic), (labels, document) = (
            compact(names, codes[rows])
            for names, codes in (
                (self.systems, self.system), (self.topics, self.topic), (self.documents, self.document),
            )
        )  # fmt: skip
        rank, criterion = (None if column is None else column[rows] for column in (self.rank, self.criterion))
        score = self.score[rows]
        return Runs(
            who, topic_labels, labels, system, topic, document, score, rank, self.notes, self.criteria, criterion
        )

    def __len__(self) -> int:
        return int(self.score.size)

    def __repr__(self) -> str:
        counts = ((len(self.systems), "system"), (len(self.topics), "topic"), (len(self), "retrieved document"))
        return f"Runs({', '.join(plural(n, noun) for n, noun in counts)})"

    def _display(self) -> Display:
        from qrowd.model.previews import runs_display

        return runs_display(self)

    def describe(self, row: int) -> str:
        """A row in words, for messages."""
        return (
            f"system {self.systems[self.system[row]]}, topic {self.topics[self.topic[row]]}, "
            f"document {self.documents[self.document[row]]}"
        )

    def ranked(self, *, score_dtype: ScoreDtype = "float64") -> Rankings:
        """Every list in rank order.

        score_dtype : "float64" (trec_eval 10.0), or "float32", which ties scores that agree in single precision, as
            trec_eval up to 9.0.8 and everything built on it does.
        """
        check_choice("score_dtype", score_dtype, ScoreDtype)
        if score_dtype not in self._rankings:
            self._rankings[score_dtype] = self._rank(score_dtype)
        return self._rankings[score_dtype]

    @cached_property
    def _rankings(self) -> dict[ScoreDtype, Rankings]:
        """Rankings made so far: of frozen lists there is only one each."""
        return {}

    @cached_property
    def document_number(self) -> dict[str, int]:
        """Number of each document label."""
        return {label: i for i, label in enumerate(self.documents)}

    def _rank(self, score_dtype: ScoreDtype) -> Rankings:
        # To the nearest single-precision number, overflowing to infinity as a C cast does.
        with np.errstate(over="ignore"):
            score = self.score if score_dtype == "float64" else self.score.astype(np.float32)
        lists = self._lists
        rows = np.argsort(lists, kind="stable")
        lists, ordered = lists[rows], score[rows]
        same = lists[1:] == lists[:-1]
        rising = same & (ordered[1:] > ordered[:-1])
        if rising.any():
            places = np.flatnonzero(np.isin(lists, lists[1:][rising]))  # of the lists that are not written best first
            rows[places] = rows[places[np.lexsort((-ordered[places], lists[places]))]]
            ordered = score[rows]
        tied = np.append(np.zeros(min(rows.size, 1), bool), same & (ordered[1:] == ordered[:-1]))
        if tied.any():
            self._break_ties(rows, tied)
        shape = (len(self.systems), len(self.topics))
        lengths = np.bincount(lists, minlength=shape[0] * shape[1])
        starts = np.cumsum(lengths) - lengths
        return Rankings(starts.reshape(shape), lengths.reshape(shape), rows, self.document[rows], tied)

    def _break_ties(self, rows: Ints, tied: Bools) -> None:
        """Put every group of equal scores into descending order of document id, in place: by bytes, as C's strcmp."""
        places = np.flatnonzero(tied | np.append(tied[1:], False))
        documents, number = np.unique(self.document[rows[places]], return_inverse=True)
        labels = [self.documents[d].encode("utf-8", "surrogateescape") for d in documents.tolist()]
        position = np.empty(documents.size, np.int64)
        position[sorted(range(documents.size), key=labels.__getitem__, reverse=True)] = np.arange(documents.size)
        rows[places] = rows[places[np.lexsort((position[number], np.cumsum(~tied)[places]))]]

    @property
    def _lists(self) -> Ints:
        """(n,) one number per (system, topic)."""
        return self.system.astype(np.int64) * len(self.topics) + self.topic

    @cached_property
    def rank_contradictions(self) -> int:
        """How many lists state ranks that put a lower score above a higher one."""
        if self.rank is None or not len(self):
            return 0
        lists, rank, score = self._lists, self.rank, self.score
        next_list = lists[1:]
        same = next_list == lists[:-1]
        falling = (rank[1:] > rank[:-1]) & (score[1:] <= score[:-1])
        # Most lists are written in one piece down their ranks, with falling scores.
        suspicious = np.bincount(lists[np.append(True, ~same)]) > 1
        suspicious[next_list[same & ~falling]] = True
        rows = np.flatnonzero(suspicious[lists] & ~np.isnan(rank))
        rows = rows[np.lexsort((-score[rows], rank[rows], lists[rows]))]
        lists, score = lists[rows], score[rows]
        next_list = lists[1:]
        rising = (next_list == lists[:-1]) & (score[1:] > score[:-1])
        return int(np.count_nonzero(np.bincount(next_list[rising])))


@dataclass(frozen=True, eq=False)
class Rankings:
    """Ranked lists, one after the other.

    starts, lengths : (systems, topics); the list of system s for topic t is
        document[starts[s, t] : starts[s, t] + lengths[s, t]], best first; length 0 where the system has none.
    row : (n,) rows of the runs. document : (n,) numbers into their documents.
    tied : (n,) True where a document has the score of the one above it.
    """

    starts: Ints
    lengths: Ints
    row: Ints
    document: Codes
    tied: Bools

    def tied_lists(self) -> Bools:
        """(systems, topics) which lists hold at least one tie."""
        n_before = np.append(0, np.cumsum(self.tied))
        return np.asarray(n_before[self.starts + self.lengths] > n_before[self.starts])


def concatenate_runs(parts: Sequence[Runs]) -> Runs:
    """All lists of all parts.

    Raises
    ------
    InputError
        A document twice in the list of one system and topic: two parts that hold the same system.
    """
    if len(parts) == 1:
        return parts[0]
    (systems, system), (topics, topic), (documents, document) = joined_labels(parts, "system", "topic", "document")
    score = np.concatenate([part.score for part in parts])
    rank = np.concatenate([np.full(len(part), np.nan) if part.rank is None else part.rank for part in parts])
    columns = systems, topics, documents, system, topic, document, score
    notes = joined_notes(parts)
    of_units = [part.criterion for part in parts if part.criterion is not None]
    try:
        if len(of_units) == len(parts):
            return Runs._of_units(*columns, notes, *merge_codes([part.criteria for part in parts], of_units))
        if of_units:
            raise InputError("some files hold answers and others ranked documents; evaluate them one by one")
        return Runs(*columns, rank, notes)
    except RowError as error:
        if of_units:
            raise InputError(error.problem) from None
        raise InputError(f"{error.problem}: two parts hold this list; rename a system or leave one out") from None
