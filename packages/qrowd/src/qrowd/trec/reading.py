"""Runs and judgments from TREC's lines, whatever blanks stand between the fields.

A text is read twice only if it must be: compiled kernels turn clean text into columns, and where they stumble a plain
loop finds every mistake and says so line by line. Nothing is guessed, nothing is skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import FileError
from qrowd.kernels.arrays import Codes, Floats, Ints
from qrowd.model.inferred_scales import joined_sources
from qrowd.model.judgments import Judgments
from qrowd.model.labels import Vocabulary, Words, joined_codes, number_in, repeated_rows
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.trec.formats import BYTE_ORDER_MARK, RUN, TAGGED_RUN, Format, mistakes, with_short_tags


@dataclass(frozen=True, eq=False)
class Fields:
    """The fields of one file's lines: where its labels stand in the text, and its numbers.

    starts, ends : (labels, rows). numbers : (numbers, rows), the format's number before its rank.
    """

    name: str
    format: Format
    text: bytes
    characters: NDArray[np.uint8]
    starts: Ints
    ends: Ints
    numbers: Floats


@dataclass(frozen=True, eq=False)
class Parsed:
    """The fields of one file: codes of the labels, the numbers, and the ranks where the format has them.

    vocabularies, codes : one for each of the format's labels. text : of preferences, whose mistakes may show only when
    their lines are put together.
    """

    name: str
    format: Format
    vocabularies: tuple[Vocabulary, ...]
    codes: tuple[Codes, ...]
    number: Floats
    rank: NDArray[Any] | None
    text: bytes

    @property
    def n_rows(self) -> int:
        return int(self.codes[0].size)


def parse(text: bytes, name: str, format: Format, words: Words | None = None) -> Parsed:
    """Split a file's text, number its labels and read its numbers.

    words : as in `number_labels`; default: new ones.

    Raises
    ------
    FileError
        The first mistake of the file: what stands where, and what was expected.
    """
    return number_labels(split(text, name, format), Words() if words is None else words)


def split(text: bytes, name: str, format: Format) -> Fields:
    """The fields of a file's lines. Safe to call for many files in threads.

    Raises
    ------
    FileError
        As `parse`, but for what shows only once labels are numbered.
    """
    from qrowd.kernels.text import split_fields

    lines = text if text.endswith(b"\n") else text + b"\n"
    characters = np.frombuffer(lines, np.uint8)
    begin = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    fields = [field for field in (format.number, format.rank) if field is not None]
    kinds = np.zeros(format.n_fields, np.int64)
    kinds[list(format.labels)] = np.arange(1, len(format.labels) + 1)
    kinds[fields] = -np.arange(1, len(fields) + 1)
    room = len(lines) // (2 * format.n_fields) + 1  # a row has so many bytes at least; memory not written costs nothing
    starts, ends = np.empty((2, len(format.labels), room), np.int64)
    numbers = np.empty((len(fields), room))
    n_rows, undecided, bad_line = split_fields(characters, begin, kinds, starts, ends, numbers)
    if bad_line and format is RUN and (shorter := with_short_tags(text)) != text.removeprefix(BYTE_ORDER_MARK):
        return split(shorter, name, format)
    if bad_line:
        raise next(mistakes(text, name, format))
    if n_rows == 0:
        raise FileError(name, f"holds no line of {format.noun}; expected {format.line!r}")
    starts = starts[:, :n_rows]
    ends = ends[:, :n_rows]
    numbers = numbers[:, :n_rows]
    if undecided:
        _decide(numbers, characters, begin, kinds)
    if format.number is not None and not np.isfinite(numbers[0]).all():
        raise next(mistakes(text, name, format))
    return Fields(name, format, text, characters, starts, ends, numbers)


def number_labels(fields: Fields, words: Words) -> Parsed:
    """The fields with their labels as numbers.

    words : the vocabularies that the labels go to, the same for all files that are put together; one thread at a time.

    Raises
    ------
    FileError
        A document twice in a list.
    """
    format = fields.format
    vocabularies = tuple(words[role] for role in format.roles)
    codes = tuple(
        vocabulary.encode(fields.characters, fields.starts[i], fields.ends[i])
        for i, vocabulary in enumerate(vocabularies)
    )
    if format.key:
        topic, document, tag = (*codes, np.zeros_like(codes[0]))[:3]
        if repeated_rows(topic, document, tag, len(vocabularies[1]), len(vocabularies[-1]))[1].any():
            raise next(mistakes(fields.text, fields.name, format))
    return Parsed(
        fields.name,
        format,
        vocabularies,
        codes,
        np.empty(0) if format.number is None else fields.numbers[0].copy(),  # not a part of something larger
        None if format.rank is None else narrow(fields.numbers[-1]),
        fields.text if format.problem else b"",
    )


def _decide(numbers: Floats, characters: NDArray[np.uint8], begin: int, kinds: Ints) -> None:
    """Replace the nan among the numbers by what Python reads there."""
    from qrowd.kernels.text import split_fields

    starts, ends = np.empty((2, *numbers.shape), np.int64)
    split_fields(characters, begin, np.where(kinds < 0, -kinds, 0), starts, ends, numbers[:0])
    for i, row in np.argwhere(np.isnan(numbers)).tolist():
        numbers[i, row] = number_in(characters[starts[i, row] : ends[i, row]].tobytes())


def narrow(rank: Floats) -> NDArray[Any]:
    """Ranks as integers of 16 or 32 bits where these hold them exactly."""
    for dtype in (np.int16, np.int32):
        with np.errstate(invalid="ignore"):
            whole = rank.astype(dtype)
        if (whole == rank).all():
            return whole
    return rank.copy()


def runs_from(parsed: Iterable[tuple[str, Parsed]]) -> Runs:
    """One system per (name, file); or, where the tags were read, one per tag. The files share their vocabularies."""
    parts = list(parsed)
    if parts and parts[0][1].format is TAGGED_RUN:
        systems, system = _column(parts, 2)
    else:
        systems = tuple(name for name, _ in parts)
        system = np.repeat(np.arange(len(parts), dtype=np.int32), [part.n_rows for _, part in parts])
    topics, topic = _column(parts, 0)
    documents, document = _column(parts, 1)
    ranks = [np.full(part.n_rows, np.nan) if part.rank is None else part.rank for _, part in parts]
    score = np.concatenate([part.number for _, part in parts])
    rank = np.concatenate(ranks)
    return Runs(systems, topics, documents, system, topic, document, score, rank)


def judgments_from(
    parsed: Iterable[tuple[str, Parsed]],
    *,
    assessor_in_column: bool = False,
    scales: Mapping[str, Scale | str] | None = None,
) -> Judgments:
    """One assessor per (name, file); or the assessors that column 2 names (trec_eval's judgment groups).

    The files share their vocabularies. Each has a scale of its own, which the assessors that its column 2 names share.
    """
    parts = list(parsed)
    sources = None
    if assessor_in_column:
        assessors, assessor = _column(parts, 1)
        ends = np.cumsum([part.n_rows for _, part in parts])
        sources = joined_sources([np.unique(who) for who in np.split(assessor, ends[:-1])], len(assessors))
    else:
        assessors = tuple(name for name, _ in parts)
        assessor = np.repeat(np.arange(len(parts), dtype=np.int32), [part.n_rows for _, part in parts])
    topics, topic = _column(parts, 0)
    documents, document = _column(parts, 2)
    value = np.concatenate([part.number for _, part in parts])
    return Judgments.from_codes(
        topics, documents, assessors, topic, document, assessor, value, scales=scales, sources=sources
    )


def _column(parts: Sequence[tuple[str, Parsed]], label: int) -> tuple[tuple[str, ...], Codes]:
    """The labels of one field of all files, and the codes into them."""
    return joined_codes(parts[0][1].vocabularies[label], [part.codes[label] for _, part in parts])
