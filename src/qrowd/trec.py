"""TREC's text formats, to and from the model: runs and qrels, whatever blanks stand between the fields.

Parsing goes twice over a file only if it must: compiled kernels turn clean text into columns, and where they stumble a
plain loop finds every mistake and says so line by line. Nothing is guessed, nothing is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, FileError
from qrowd.model.judgments import Judgments
from qrowd.model.labels import Vocabulary, closest, number_in
from qrowd.model.runs import Runs, first_duplicate
from qrowd.model.scales import Scale

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BLANK = r"[ \t-\r]"


@dataclass(frozen=True)
class Format:
    """A line format.

    line : the words for its fields.
    number : which field must be a finite number.
    wanted : the fields that are read; the rank among them, where a line has one.
    key : the fields that no two lines may share.
    noun : what such lines make up.
    """

    line: str
    number: int
    wanted: tuple[int, ...]
    key: tuple[int, ...]
    noun: str
    rank: int | None = None

    @property
    def n_fields(self) -> int:
        return len(self.line.split())


RUN = Format("topic Q0 document rank score tag", number=4, wanted=(0, 2, 3, 4), key=(0, 2), noun="a run", rank=3)
QRELS = Format("topic iteration document grade", number=3, wanted=(0, 1, 2, 3), key=(), noun="qrels")


@dataclass(frozen=True, eq=False)
class Parsed:
    """The fields of one file, not yet numbered: bytes, where the wanted fields stand, and the numbers among them."""

    name: str
    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    number: NDArray[np.float64]
    rank: NDArray[np.float64] | None

    def encode(self, column: int, vocabulary: Vocabulary) -> NDArray[np.int32]:
        starts, ends = (np.ascontiguousarray(side[:, column]) for side in (self.starts, self.ends))
        return vocabulary.encode(self.text, starts, ends)


def parse(text: bytes, name: str, form: Format) -> Parsed:
    """Split a file's text and read its numbers. Safe to call for many files in threads.

    Raises
    ------
    FileError
        The first mistake of the file: what stands where, and what was expected.
    """
    from qrowd.kernels.text import parse_decimals, split_fields

    if not text.endswith(b"\n"):
        text += b"\n"
    characters = np.frombuffer(bytearray(text.removeprefix(BYTE_ORDER_MARK)), np.uint8)
    n_lines = text.count(b"\n")
    starts, ends = np.empty((2, n_lines, len(form.wanted)), np.int64)
    wanted = np.array(form.wanted, np.int64)
    n_rows, bad_line = split_fields(characters, form.n_fields, wanted, starts, ends)
    if bad_line:
        raise next(mistakes(text, name, form))
    if n_rows == 0:
        raise FileError(name, f"holds no line of {form.noun}; expected {form.line!r}")
    starts, ends = starts[:n_rows], ends[:n_rows]

    def numbers(field: int) -> NDArray[np.float64]:
        column = form.wanted.index(field)
        first, last = np.ascontiguousarray(starts[:, column]), np.ascontiguousarray(ends[:, column])
        values = np.empty(n_rows)
        if parse_decimals(characters, first, last, values):
            for row in np.flatnonzero(np.isnan(values)).tolist():
                values[row] = number_in(characters[first[row] : last[row]].tobytes())
        return values

    number = numbers(form.number)
    if not np.isfinite(number).all():
        raise next(mistakes(text, name, form))
    rank = None if form.rank is None else numbers(form.rank)
    return Parsed(name, characters, starts, ends, number, rank)


def mistakes(text: bytes, name: str, form: Format) -> Iterator[FileError]:
    """Every mistake in a file's text, line by line: the slow, plain reading that writes the messages."""
    if b"\0" in text:
        yield FileError(name, "is not plain text: it holds zero bytes, as UTF-16 and binary files do")
        return
    seen: dict[tuple[bytes, ...], int] = {}
    number_word = form.line.split()[form.number]
    for number, line in enumerate(text.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1):
        fields = line.split()
        if not fields or line.startswith(b"#"):
            continue
        if len(fields) != form.n_fields:
            yield FileError(name, f"expected {form.line!r}, found {_counted(len(fields), form)}", number)
            continue
        value = fields[form.number]
        if not isfinite(number_in(value)):
            yield FileError(name, f"expected a finite number as {number_word}, found {_shown(value)!r}", number)
        if form.key:
            first = seen.setdefault(tuple(fields[i] for i in form.key), number)
            if first != number:
                topic, document = (_shown(fields[i]) for i in form.key)
                again = f"document {document} is in the list of topic {topic} twice (first in line {first})"
                yield FileError(name, f"{again}; keep one of them", number)


def _counted(n_fields: int, form: Format) -> str:
    """How many fields a line has, and which other format has as many."""
    other = QRELS if form is RUN else RUN
    swapped = f", like {other.noun}; were runs and judgments swapped?" if n_fields == other.n_fields else ""
    return f"{n_fields} field{'' if n_fields == 1 else 's'}{swapped}"


def _shown(field: bytes) -> str:
    """A field as one can print it."""
    text = field.decode(errors="replace")
    return text if len(text) <= 60 else f"{text[:60]}..."


def runs_from(parsed: Iterable[tuple[str, Parsed]]) -> Runs:
    """One system per (name, file)."""
    topics, documents = Vocabulary(), Vocabulary()
    topic, document, score, rank, names = [], [], [], [], []
    for name, part in parsed:
        topic.append(part.encode(0, topics))
        document.append(part.encode(1, documents))
        if first_duplicate(topic[-1], document[-1]):
            raise next(mistakes(part.text.tobytes(), part.name, RUN))
        score.append(part.number)
        rank.append(np.full(part.number.size, np.nan) if part.rank is None else part.rank)
        names.append(name)
    return Runs(
        tuple(names),
        topics.labels(),
        documents.labels(),
        np.repeat(np.arange(len(names), dtype=np.int32), [codes.size for codes in topic]),
        np.concatenate(topic),
        np.concatenate(document),
        np.concatenate(score),
        np.concatenate(rank),
    )


def judgments_from(
    parsed: Iterable[tuple[str, Parsed]],
    *,
    assessor_in_column: bool = False,
    scales: Mapping[str, Scale | str] | None = None,
) -> Judgments:
    """One assessor per (name, file); or the assessors that column 2 names (trec_eval's judgment groups)."""
    topics, documents, groups = Vocabulary(), Vocabulary(), Vocabulary()
    topic, document, assessor, value, names = [], [], [], [], []
    for i, (name, part) in enumerate(parsed):
        topic.append(part.encode(0, topics))
        document.append(part.encode(2, documents))
        who = part.encode(1, groups) if assessor_in_column else np.full(part.number.size, i, np.int32)
        assessor.append(who)
        value.append(part.number)
        names.append(name)
    return Judgments.from_codes(
        topics.labels(),
        documents.labels(),
        groups.labels() if assessor_in_column else tuple(names),
        np.concatenate(topic),
        np.concatenate(document),
        np.concatenate(assessor),
        np.concatenate(value),
        scales=scales,
    )


def format_run(runs: Runs, system: str) -> str:
    """One system's lists as a TREC run, best first; scores in full so that reading them back gives the same doubles.

    Raises
    ------
    ArgumentError
        A system that is not among the runs; a label that TREC's format cannot hold.
    """
    if system not in runs.systems:
        raise ArgumentError(f"no system is called {system!r}; {closest(system, runs.systems, 'system')}")
    rows = np.flatnonzero(runs.system == runs.systems.index(system))
    topic, document, score = runs.topic[rows], runs.document[rows], runs.score[rows]
    ranked = Runs((system,), runs.topics, runs.documents, np.zeros_like(topic), topic, document, score).ranked()
    falling = score[np.lexsort((-score, topic))].tolist()
    lines = []
    for t, (start, length) in enumerate(zip(ranked.starts[0].tolist(), ranked.lengths[0].tolist(), strict=True)):
        for rank, row in enumerate(range(start, start + length), start=1):
            fields = _field(runs.topics[t], first=True), "Q0", _field(runs.documents[ranked.document[row]])
            lines.append(f"{' '.join(fields)} {rank} {falling[row]!r} {_field(system)}\n")
    return "".join(lines)


def format_qrels(judgments: Judgments, *, assessor_in_column: bool = False) -> str:
    """Judgments as qrels lines in their own order; column 2 is 0, or the assessor.

    Raises
    ------
    ArgumentError
        A label that TREC's format cannot hold.
    """
    topics = [_field(label, first=True) for label in judgments.topics]
    documents = [_field(label) for label in judgments.documents]
    assessors = [_field(label) if assessor_in_column else "0" for label in judgments.assessors]
    columns = (judgments.topic, judgments.assessor, judgments.document, judgments.value)
    return "".join(
        f"{topics[t]} {assessors[a]} {documents[d]} {int(v) if v.is_integer() else repr(v)}\n"
        for t, a, d, v in zip(*(column.tolist() for column in columns), strict=True)
    )


def _field(label: str, *, first: bool = False) -> str:
    """A label as it may stand between blanks, or first in a line."""
    if not label or re.search(BLANK, label) or (first and label.startswith("#")):
        problem = "is empty" if not label else "holds a blank" if re.search(BLANK, label) else "starts a comment"
        raise ArgumentError(f"label {label!r} {problem}, so TREC's formats cannot hold it; write a table instead")
    return label
