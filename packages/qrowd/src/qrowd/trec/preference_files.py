"""Preferences from TREC's lines: pairs, winners, and levels by group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import FileError, check_choice
from qrowd.kernels.arrays import Codes, Floats, Ints
from qrowd.model.labels import compact, joined_codes
from qrowd.model.preferences import Preferences
from qrowd.trec.formats import BYTE_ORDER_MARK, PREFERENCES, Format, mistakes
from qrowd.trec.reading import Parsed

PreferenceFormat = Literal["auto", "pairs", "winner", "prefs", "qrels_prefs"]


def preference_format(text: bytes, name: str, format: PreferenceFormat = "auto") -> Format:
    """The format named, or under "auto" the one that the first line's number of fields tells: 3, 4 or 5.

    Levels by group (`qrels_prefs`) have four fields, as `topic a b preferred` has, and must be asked for.
    """
    check_choice("format", format, PreferenceFormat)
    if format != "auto":
        return PREFERENCES[format]
    lines = enumerate(BytesIO(text.removeprefix(BYTE_ORDER_MARK)), start=1)
    number, fields = next(((i, line.split()) for i, line in lines if line.strip() and line[:1] != b"#"), (1, []))
    kind = {3: "pairs", 4: "winner", 5: "prefs"}.get(len(fields))
    if kind is None:
        choices = ", ".join(repr(known.line) for known in PREFERENCES.values())
        raise FileError(name, f"expected a line of preferences ({choices}), found {len(fields)} fields", number)
    return PREFERENCES[kind]


def preferences_from(parsed: Iterable[tuple[str, Parsed]], *, assessor_in_column: bool = False) -> Preferences:
    """One assessor per (name, file); with `assessor_in_column`, one per judgment group where the format has them.

    The files share their vocabularies.
    """
    names, files = (list(column) for column in zip(*parsed, strict=True))
    (topics, topic_of), (documents, documents_of), (groups, group_of) = (
        _codes_by_file(files, role) for role in ("topic", "document", "group")
    )
    rows = [
        _rows_of_pairs(file, topic_of[i][0], *documents_of[i])
        if file.format.number is None
        else _rows_of_levels(file, topic_of[i][0], group_of[i][0], documents_of[i][0])
        for i, file in enumerate(files)
    ]
    topic, preferred, other, first, group = (np.concatenate(column) for column in zip(*rows, strict=True))
    who = np.repeat(np.arange(len(names), dtype=np.int32), [part[0].size for part in rows])
    if assessor_in_column:
        who = np.where(group >= 0, np.int32(len(names)) + group, who)
    assessors, assessor = compact((*names, *groups), who)
    return Preferences.from_codes(
        topics,
        documents,
        assessors,
        topic=topic,
        preferred=preferred,
        other=other,
        assessor=assessor,
        strength=np.ones(topic.size),
        first=first,
    )


def _codes_by_file(files: Sequence[Parsed], role: str) -> tuple[tuple[str, ...], list[list[Codes]]]:
    """The labels that name this in all files, and for each file the codes of its fields."""
    fields = [[i for i, name in enumerate(file.format.roles) if name == role] for file in files]
    columns = [file.codes[i] for file, own in zip(files, fields, strict=True) for i in own]
    if not columns:
        return (), [[] for _ in files]
    vocabulary = next(file.vocabularies[own[0]] for file, own in zip(files, fields, strict=True) if own)
    labels, joined = joined_codes(vocabulary, columns)
    ends = np.cumsum([codes.size for codes in columns], dtype=np.int64)
    pieces = iter(np.split(joined, ends[:-1]))
    return labels, [[next(pieces) for _ in own] for own in fields]


PreferenceRows = tuple[Codes, Codes, Codes, Floats, Codes]
"""topic, preferred (-1 in marks), other, first (nan if not said), group (-1 if there is none)."""


def _rows_of_pairs(part: Parsed, topic: Codes, a: Codes, b: Codes, chosen: Codes | None = None) -> PreferenceRows:
    first = np.full(topic.size, np.nan)
    valid = a != b
    if chosen is not None:
        is_first = chosen == a
        valid &= is_first | (chosen == b)
        first = is_first.astype(np.float64)
        a, b = chosen, np.where(is_first, b, a)
    if not valid.all():
        raise next(mistakes(part.text, part.name, part.format))
    return topic, a, b, first, np.full(topic.size, -1, np.int32)


def _rows_of_levels(part: Parsed, topic: Codes, group: Codes, document: Codes) -> PreferenceRows:
    from qrowd.kernels.preference import pairs_by_value

    level = part.number
    subgroup = part.codes[2] if part.format.n_fields == 5 else np.zeros_like(topic)
    in_group = _cells(topic, group)
    cell = _cells(in_group, subgroup)
    one_level = _cells(cell, document).max() == _cells(cell, document, level).max()
    bad_or_not = _cells(in_group, document).max() == _cells(in_group, document, level == 0).max()
    if (level < 0).any() or not one_level or not bad_or_not:
        raise next(mistakes(part.text, part.name, part.format))
    order = np.argsort(cell, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(cell))).astype(np.int64)
    pairs, _ = pairs_by_value(starts, level[order])
    zero = np.flatnonzero(level == 0)
    _, once = np.unique(_cells(in_group, document)[zero], return_index=True)
    marks = zero[np.sort(once)]
    preferred = np.append(document[order[pairs[:, 0]]], np.full(marks.size, -1, np.int32))
    rows = np.append(order[pairs[:, 1]], marks)
    return topic[rows], preferred, document[rows], np.full(rows.size, np.nan), group[rows]


def _cells(*columns: NDArray[Any]) -> Ints:
    """(n,) one number, from 0, for each distinct combination of what the columns hold."""
    return np.unique(np.stack(columns), axis=1, return_inverse=True)[1].ravel()
