"""TREC's text formats, to and from the model: runs, qrels and preferences, whatever blanks stand between the fields.

Parsing goes twice over a file only if it must: compiled kernels turn clean text into columns, and where they stumble a
plain loop finds every mistake and says so line by line. Nothing is guessed, nothing is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, FileError, check_choice
from qrowd.model.inferred_scales import joined_sources
from qrowd.model.judgments import Judgments
from qrowd.model.labels import Vocabulary, closest, number_in, plural
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs, first_duplicate
from qrowd.model.scales import Scale

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BLANK = r"[ \t-\r]"
PreferenceFormat = Literal["auto", "pairs", "winner", "prefs", "qrels_prefs"]


@dataclass(frozen=True)
class Format:
    """A line format.

    line : the words for its fields.
    number : which field must be a finite number, if any.
    wanted : the fields that are read; the rank among them, where a line has one.
    key : the fields that no two lines may share.
    noun : what such lines make up.
    problem : what is wrong with the fields of one line beside that, or None.
    """

    line: str
    number: int | None
    wanted: tuple[int, ...]
    key: tuple[int, ...]
    noun: str
    rank: int | None = None
    problem: Callable[[list[bytes]], str | None] | None = None

    @property
    def n_fields(self) -> int:
        return len(self.line.split())


RUN = Format("topic Q0 document rank score tag", number=4, wanted=(0, 2, 3, 4), key=(0, 2), noun="a run", rank=3)
TAGGED_RUN = Format(RUN.line, number=4, wanted=(0, 2, 3, 4, 5), key=(0, 2, 5), noun="a run", rank=3)
QRELS = Format("topic iteration document grade", number=3, wanted=(0, 1, 2, 3), key=(), noun="qrels")


def _wrong_pair(fields: list[bytes]) -> str | None:
    return f"document {_shown(fields[1])} cannot be preferred to itself" if fields[1] == fields[2] else None


def _wrong_winner(fields: list[bytes]) -> str | None:
    if fields[3] in fields[1:3]:
        return _wrong_pair(fields)
    _, a, b, chosen = map(_shown, fields)
    hint = "levels by group are read with format='qrels_prefs'"
    return f"the preferred document {chosen!r} is neither {a!r} nor {b!r}; {hint}"


def _wrong_level(fields: list[bytes]) -> str | None:
    below = number_in(fields[-1]) < 0
    return f"expected a level of 0 or more, found {_shown(fields[-1])!r}" if below else None


PREFERENCES: dict[str, Format] = {
    "pairs": Format("topic preferred other", None, (0, 1, 2), (), "preferences", problem=_wrong_pair),
    "winner": Format("topic a b preferred", None, (0, 1, 2, 3), (), "preferences", problem=_wrong_winner),
    "prefs": Format("topic group subgroup document level", 4, (0, 1, 2, 3, 4), (), "preferences", problem=_wrong_level),
    "qrels_prefs": Format("topic group document level", 3, (0, 1, 2, 3), (), "preferences", problem=_wrong_level),
}


@dataclass(frozen=True, eq=False)
class Parsed:
    """The fields of one file, not yet numbered: bytes, where the wanted fields stand, and the numbers among them."""

    name: str
    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    number: NDArray[np.float64]
    rank: NDArray[np.float64] | None
    format: Format

    @property
    def n_rows(self) -> int:
        return int(self.starts.shape[0])

    def encode(self, column: int, vocabulary: Vocabulary) -> NDArray[np.int32]:
        starts, ends = (np.ascontiguousarray(side[:, column]) for side in (self.starts, self.ends))
        return vocabulary.encode(self.text, starts, ends)


def parse(text: bytes, name: str, format: Format) -> Parsed:
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
    starts, ends = np.empty((2, n_lines, len(format.wanted)), np.int64)
    wanted = np.array(format.wanted, np.int64)
    n_rows, bad_line = split_fields(characters, format.n_fields, wanted, starts, ends)
    if bad_line:
        raise next(mistakes(text, name, format))
    if n_rows == 0:
        raise FileError(name, f"holds no line of {format.noun}; expected {format.line!r}")
    starts, ends = starts[:n_rows], ends[:n_rows]

    def numbers(field: int) -> NDArray[np.float64]:
        column = format.wanted.index(field)
        first, last = np.ascontiguousarray(starts[:, column]), np.ascontiguousarray(ends[:, column])
        values = np.empty(n_rows)
        if parse_decimals(characters, first, last, values):
            for row in np.flatnonzero(np.isnan(values)).tolist():
                values[row] = number_in(characters[first[row] : last[row]].tobytes())
        return values

    number = np.empty(0) if format.number is None else numbers(format.number)
    if not np.isfinite(number).all():
        raise next(mistakes(text, name, format))
    rank = None if format.rank is None else numbers(format.rank)
    return Parsed(name, characters, starts, ends, number, rank, format)


def mistakes(text: bytes, name: str, format: Format) -> Iterator[FileError]:
    """Every mistake in a file's text, line by line: the slow, plain reading that writes the messages."""
    if b"\0" in text:
        yield FileError(name, "is not plain text: it holds zero bytes, as UTF-16 and binary files do")
        return
    seen: dict[tuple[bytes, ...], tuple[int, bytes]] = {}
    number_word = "" if format.number is None else format.line.split()[format.number]
    levels: dict[tuple[bytes, ...], tuple[float, int]] = {}
    for number, line in enumerate(text.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1):
        fields = line.split()
        if not fields or line.startswith(b"#"):
            continue
        if len(fields) != format.n_fields:
            yield FileError(name, f"expected {format.line!r}, found {_counted(len(fields), format)}", number)
            continue
        if format.number is not None and not isfinite(number_in(fields[format.number])):
            found = _shown(fields[format.number])
            yield FileError(name, f"expected a finite number as {number_word}, found {found!r}", number)
        elif format.problem and (problem := format.problem(fields) or _clash(format, fields, number, levels)):
            yield FileError(name, problem, number)
        if format.key:
            first, tag = seen.setdefault(tuple(fields[i] for i in format.key), (number, fields[-1]))
            if first != number:
                topic, document, *_ = (_shown(fields[i]) for i in format.key)
                again = f"document {document} is in the list of topic {topic} twice (first in line {first})"
                two = f"the tags are {_shown(tag)!r} and {_shown(fields[-1])!r}: system='column' reads them as systems"
                yield FileError(name, f"{again}; {two if tag != fields[-1] else 'keep one of them'}", number)


def _clash(
    format: Format, fields: list[bytes], line: int, levels: dict[tuple[bytes, ...], tuple[float, int]]
) -> str | None:
    """Why a level contradicts an earlier one of the same document and group; `levels` remembers them and their lines.

    Within a subgroup a document has one level; within a group it is Bad (level 0) everywhere or nowhere.
    """
    if format.number is None:
        return None
    *groups, document, _ = fields
    level = number_in(fields[format.number])
    before, first = levels.setdefault((*groups, document), (level, line))
    if before != level:
        again = f"document {_shown(document)} has level {level:g} here and {before:g} in line {first}"
        return f"{again}, of the same topic and group"
    before, first = levels.setdefault((*groups[:2], b"", document), (level, line))
    if (before == 0) != (level == 0):
        again = f"document {_shown(document)} has level {level:g} here and {before:g} in line {first}"
        return f"{again}; level 0, which means Bad, holds in a whole group or not at all"
    return None


def _counted(n_fields: int, format: Format) -> str:
    """How many fields a line has, and which other format has as many."""
    if format in PREFERENCES.values():
        like = next((other.line for other in PREFERENCES.values() if other.n_fields == n_fields), None)
        hint = f", like {like!r}; choose with format=..." if like else ""
    else:
        other = QRELS if format.noun == RUN.noun else RUN
        hint = f", like {other.noun}; were runs and judgments swapped?" if n_fields == other.n_fields else ""
    return f"{plural(n_fields, 'field')}{hint}"


def _shown(field: bytes) -> str:
    """A field as one can print it."""
    text = field.decode(errors="replace")
    return text if len(text) <= 60 else f"{text[:60]}..."


def runs_from(parsed: Iterable[tuple[str, Parsed]]) -> Runs:
    """One system per (name, file); or, where the tags were read, one per tag."""
    topics, documents, tags = Vocabulary(), Vocabulary(), Vocabulary()
    system, topic, document, score, rank, names = [], [], [], [], [], []
    for i, (name, part) in enumerate(parsed):
        topic.append(part.encode(0, topics))
        document.append(part.encode(1, documents))
        in_column = part.format is TAGGED_RUN
        system.append(part.encode(4, tags) if in_column else np.full(part.n_rows, i, np.int32))
        if first_duplicate(system[-1], topic[-1], document[-1]):
            raise next(mistakes(part.text.tobytes(), part.name, part.format))
        score.append(part.number)
        rank.append(np.full(part.number.size, np.nan) if part.rank is None else part.rank)
        names.append(name)
    return Runs(
        tags.labels() if len(tags) else tuple(names),
        topics.labels(),
        documents.labels(),
        np.concatenate(system),
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
    """One assessor per (name, file); or the assessors that column 2 names (trec_eval's judgment groups).

    Each file has a scale of its own, which the assessors that its column 2 names share.
    """
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
        sources=joined_sources([np.unique(who) for who in assessor], len(groups)) if assessor_in_column else None,
    )


def preference_format(text: bytes, name: str, format: PreferenceFormat = "auto") -> Format:
    """The format named, or under "auto" the one that the first line's number of fields tells: 3, 4 or 5.

    Levels by group (`qrels_prefs`) have four fields, as `topic a b preferred` has, and must be asked for.
    """
    check_choice("format", format, PreferenceFormat)
    if format != "auto":
        return PREFERENCES[format]
    lines = enumerate(text.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1)
    number, fields = next(((i, line.split()) for i, line in lines if line.strip() and line[:1] != b"#"), (1, []))
    kind = {3: "pairs", 4: "winner", 5: "prefs"}.get(len(fields))
    if kind is None:
        choices = ", ".join(repr(known.line) for known in PREFERENCES.values())
        raise FileError(name, f"expected a line of preferences ({choices}), found {len(fields)} fields", number)
    return PREFERENCES[kind]


def preferences_from(parsed: Iterable[tuple[str, Parsed]], *, assessor_in_column: bool = False) -> Preferences:
    """One assessor per (name, file); or, where the format has judgment groups, one per group."""
    topics, documents, groups = Vocabulary(), Vocabulary(), Vocabulary()
    parts, names = [], []
    for i, (name, part) in enumerate(parsed):
        names.append(name)
        if part.format.number is None:
            rows = _rows_of_pairs(part, topics, documents)
        else:
            rows = _rows_of_levels(part, topics, documents, groups)
        parts.append((i, *rows))
    words = np.array(groups.labels(), object)
    grouped = any(part[5] is not None for part in parts) and not assessor_in_column

    def labelled(codes: NDArray[np.int32] | None, n: int) -> NDArray[np.object_]:
        return np.full(n, None, object) if codes is None else words[codes]

    who: list[NDArray[np.int32]] = []
    bad_who: list[NDArray[np.int32]] = []
    for i, topic, _, _, _, group, bad_topic, _, bad_group in parts:
        for codes, those, groups_of in ((who, topic, group), (bad_who, bad_topic, bad_group)):
            in_column = assessor_in_column and groups_of is not None
            codes.append(len(names) + np.asarray(groups_of) if in_column else np.full(those.size, i, np.int32))
    everyone = (*names, *words.tolist())
    used, assessor = np.unique(np.concatenate([*who, *bad_who]), return_inverse=True)
    n = sum(codes.size for codes in who)
    topic, preferred, other, bad_topic, bad_document = (
        np.concatenate([part[column] for part in parts]) for column in (1, 2, 3, 6, 7)
    )
    first = np.concatenate([np.full(part[1].size, np.nan) if part[4] is None else part[4] for part in parts])
    return Preferences(
        topics.labels(),
        documents.labels(),
        tuple(everyone[i] for i in used.tolist()),
        topic,
        preferred,
        other,
        assessor[:n].astype(np.int32),
        np.ones(n, np.int64),
        bad_topic,
        bad_document,
        assessor[n:].astype(np.int32),
        first=None if np.isnan(first).all() else first,
        group=np.concatenate([labelled(part[5], part[1].size) for part in parts]) if grouped else None,
        bad_group=np.concatenate([labelled(part[8], part[6].size) for part in parts]) if grouped else None,
    )


Codes = NDArray[np.int32]
PreferenceRows = tuple[Codes, Codes, Codes, NDArray[np.float64] | None, Codes | None, Codes, Codes, Codes | None]
"""topic, preferred, other, first, group; topic, document, group of the marks."""


def _rows_of_pairs(part: Parsed, topics: Vocabulary, documents: Vocabulary) -> PreferenceRows:
    topic, a, b = part.encode(0, topics), part.encode(1, documents), part.encode(2, documents)
    nobody = np.empty(0, np.int32)
    if part.format.n_fields == 3:
        if (a == b).any():
            raise next(mistakes(part.text.tobytes(), part.name, part.format))
        return topic, a, b, None, None, nobody, nobody, None
    chosen = part.encode(3, documents)
    first = chosen == a
    if (a == b).any() or not (first | (chosen == b)).all():
        raise next(mistakes(part.text.tobytes(), part.name, part.format))
    return topic, chosen, np.where(first, b, a), first.astype(np.float64), None, nobody, nobody, None


def _rows_of_levels(part: Parsed, topics: Vocabulary, documents: Vocabulary, groups: Vocabulary) -> PreferenceRows:
    from qrowd.kernels.preference import pairs_by_value

    document_field = part.format.n_fields - 2
    topic, group = part.encode(0, topics), part.encode(1, groups)
    document, level = part.encode(document_field, documents), part.number
    subgroup = part.encode(2, Vocabulary()) if document_field == 3 else np.zeros_like(topic)
    _, in_group = np.unique(np.stack([topic, group]), axis=1, return_inverse=True)
    _, cell = np.unique(np.stack([in_group.ravel(), subgroup]), axis=1, return_inverse=True)
    distinct = [np.unique(np.stack([cell.ravel(), document]), axis=1).shape[1]]
    distinct.append(np.unique(np.stack([cell.ravel(), document, level]), axis=1).shape[1])
    by_group = [np.unique(np.stack([in_group.ravel(), document]), axis=1).shape[1]]
    by_group.append(np.unique(np.stack([in_group.ravel(), document, level == 0]), axis=1).shape[1])
    if (level < 0).any() or distinct[0] != distinct[1] or by_group[0] != by_group[1]:
        raise next(mistakes(part.text.tobytes(), part.name, part.format))
    order = np.argsort(cell.ravel(), kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(cell.ravel()))).astype(np.int64)
    pairs, _ = pairs_by_value(starts, level[order], False)
    better, worse = order[pairs[:, 0]], order[pairs[:, 1]]
    zero = np.flatnonzero(level == 0)
    _, once = np.unique(np.stack([in_group.ravel()[zero], document[zero]]), axis=1, return_index=True)
    marks = zero[np.sort(once)]
    preferred, other, marked = document[better], document[worse], document[marks]
    return topic[better], preferred, other, None, group[better], topic[marks], marked, group[marks]


def format_preferences(preferences: Preferences, *, format: Literal["pairs", "winner", "prefs"] = "pairs") -> str:
    """Preferences as lines of text in their own order.

    format : "pairs" (`topic preferred other`), "winner" (`topic a b preferred`, a being the document shown first, or
        where nobody knows the one with the lower id), "prefs" (trec_eval's, one subgroup per preference, the group
        being that of the preference, else its assessor; levels 2 and 1, 0 for what is Bad).

    Raises
    ------
    ArgumentError
        What the format cannot hold: several assessors, marks, strong preferences, weights, certain labels.
    """
    check_choice("format", format, ("pairs", "winner", "prefs"))
    for there, what in (
        ((preferences.strength == 2).any(), "strong preferences (strength 2)"),
        (preferences.weight is not None and (preferences.weight != 1).any(), "weights"),
        (format != "prefs" and preferences.bad_topic.size > 0, "Bad marks"),
        (format != "prefs" and len(preferences.assessors) > 1, "several assessors; select one"),
    ):
        if there:
            raise ArgumentError(f"format={format!r} cannot hold {what}; write a table (to_frame) instead")
    topics = [checked_label(label, first=True) for label in preferences.topics]
    documents = [checked_label(label) for label in preferences.documents]
    columns = preferences.topic, preferences.preferred, preferences.other
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    if format == "pairs":
        return "".join(f"{topics[t]} {documents[p]} {documents[o]}\n" for t, p, o in rows)
    if format == "winner":
        firsts = np.full(len(rows), np.nan) if preferences.first is None else preferences.first
        lines = []
        for (t, p, o), first in zip(rows, firsts.tolist(), strict=True):
            leads = documents[p] < documents[o] if np.isnan(first) else first == 1
            a, b = (p, o) if leads else (o, p)
            lines.append(f"{topics[t]} {documents[a]} {documents[b]} {documents[p]}\n")
        return "".join(lines)
    grouped = preferences.pooled() if len(preferences.assessors) > 1 or preferences.group is None else preferences
    assert grouped.group is not None
    groups, marks = (
        [] if labels is None else [checked_label(str(label)) for label in labels.tolist()]
        for labels in (grouped.group, grouped.bad_group)
    )
    bad = set(zip(grouped.bad_topic.tolist(), grouped.bad_document.tolist(), marks, strict=True))
    lines = []
    for number, ((t, p, o), group) in enumerate(zip(rows, groups, strict=True), start=1):
        if (t, p, group) in bad:
            row = grouped.describe(number - 1)
            raise ArgumentError(f"{row}: prefs cannot hold a preference for a Bad document; write a table instead")
        lines.append(f"{topics[t]} {group} {number} {documents[p]} 2\n")
        lines.append(f"{topics[t]} {group} {number} {documents[o]} {0 if (t, o, group) in bad else 1}\n")
    for number, (t, d, group) in enumerate(sorted(bad), start=len(rows) + 1):
        lines.append(f"{topics[t]} {group} {number} {documents[d]} 0\n")
    return "".join(lines)


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
            fields = (
                checked_label(runs.topics[t], first=True),
                "Q0",
                checked_label(runs.documents[ranked.document[row]]),
            )
            lines.append(f"{' '.join(fields)} {rank} {falling[row]!r} {checked_label(system)}\n")
    return "".join(lines)


def format_qrels(judgments: Judgments, *, assessor_in_column: bool = False) -> str:
    """Judgments as qrels lines in their own order; column 2 is 0, or the assessor.

    Raises
    ------
    ArgumentError
        A label that TREC's format cannot hold.
    """
    topics = [checked_label(label, first=True) for label in judgments.topics]
    documents = [checked_label(label) for label in judgments.documents]
    assessors = [checked_label(label) if assessor_in_column else "0" for label in judgments.assessors]
    columns = (judgments.topic, judgments.assessor, judgments.document, judgments.value)
    return "".join(
        qrels_line(topics[t], assessors[a], documents[d], v)
        for t, a, d, v in zip(*(column.tolist() for column in columns), strict=True)
    )


def qrels_line(topic: str, second: str, document: str, value: float) -> str:
    """A line of qrels, of labels that `checked_label` accepts; `second` is the second column."""
    return f"{topic} {second} {document} {int(value) if value == int(value) else repr(value)}\n"


def checked_label(label: str, *, first: bool = False) -> str:
    """The label, which TREC's formats can hold between blanks, or first in a line.

    Raises
    ------
    ArgumentError
        An empty label, one with a blank, or one that starts a comment.
    """
    if not label or re.search(BLANK, label) or (first and label.startswith("#")):
        problem = "is empty" if not label else "holds a blank" if re.search(BLANK, label) else "starts a comment"
        raise ArgumentError(f"label {label!r} {problem}, so TREC's formats cannot hold it; write a table instead")
    return label
