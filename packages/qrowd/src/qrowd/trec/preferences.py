"""Preferences from TREC's lines: pairs, winners, and levels by group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import FileError, check_choice
from qrowd.model.labels import Codes, joined_codes
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
    """One assessor per (name, file); or, where the format has judgment groups, one per group.

    The files share their vocabularies.
    """
    names, files = (list(column) for column in zip(*parsed, strict=True))
    (topics, topic_of), (documents, documents_of), (groups, group_of) = (
        _codes_by_file(files, role) for role in ("topic", "document", "group")
    )
    parts = [
        (i, *_rows_of_pairs(file, topic_of[i][0], *documents_of[i]))
        if file.format.number is None
        else (i, *_rows_of_levels(file, topic_of[i][0], group_of[i][0], documents_of[i][0]))
        for i, file in enumerate(files)
    ]
    words = np.array(groups, object)
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
        topics,
        documents,
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


PreferenceRows = tuple[Codes, Codes, Codes, NDArray[np.float64] | None, Codes | None, Codes, Codes, Codes | None]
"""topic, preferred, other, first, group; topic, document, group of the marks."""


def _rows_of_pairs(part: Parsed, topic: Codes, a: Codes, b: Codes, chosen: Codes | None = None) -> PreferenceRows:
    nobody = np.empty(0, np.int32)
    if chosen is None:
        if (a == b).any():
            raise next(mistakes(part.text, part.name, part.format))
        return topic, a, b, None, None, nobody, nobody, None
    first = chosen == a
    if (a == b).any() or not (first | (chosen == b)).all():
        raise next(mistakes(part.text, part.name, part.format))
    return topic, chosen, np.where(first, b, a), first.astype(np.float64), None, nobody, nobody, None


def _rows_of_levels(part: Parsed, topic: Codes, group: Codes, document: Codes) -> PreferenceRows:
    from qrowd.kernels.preference import pairs_by_value

    level = part.number
    subgroup = part.codes[2] if part.format.n_fields == 5 else np.zeros_like(topic)
    _, in_group = np.unique(np.stack([topic, group]), axis=1, return_inverse=True)
    _, cell = np.unique(np.stack([in_group.ravel(), subgroup]), axis=1, return_inverse=True)
    distinct = [np.unique(np.stack([cell.ravel(), document]), axis=1).shape[1]]
    distinct.append(np.unique(np.stack([cell.ravel(), document, level]), axis=1).shape[1])
    by_group = [np.unique(np.stack([in_group.ravel(), document]), axis=1).shape[1]]
    by_group.append(np.unique(np.stack([in_group.ravel(), document, level == 0]), axis=1).shape[1])
    if (level < 0).any() or distinct[0] != distinct[1] or by_group[0] != by_group[1]:
        raise next(mistakes(part.text, part.name, part.format))
    order = np.argsort(cell.ravel(), kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(cell.ravel()))).astype(np.int64)
    pairs, _ = pairs_by_value(starts, level[order])
    better, worse = order[pairs[:, 0]], order[pairs[:, 1]]
    zero = np.flatnonzero(level == 0)
    _, once = np.unique(np.stack([in_group.ravel()[zero], document[zero]]), axis=1, return_index=True)
    marks = zero[np.sort(once)]
    preferred, other, marked = document[better], document[worse], document[marks]
    return topic[better], preferred, other, None, group[better], topic[marks], marked, group[marks]
