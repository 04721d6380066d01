"""Labels become integers once, at the door: vocabularies of topics, documents, assessors and systems.

What is a number is decided here too, for text files, frames and nested dictionaries, as pytrec_eval and ranx take them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import compress
from math import isfinite, nan
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, InputError
from qrowd.kernels.arrays import Bools, Codes, Floats, Ints

AT_ONCE = 1 << 16  # rows whose numbers stay in the fast caches
Selection = str | Iterable[str] | Callable[[str], bool]
"""Labels by name, by shell pattern, several of those, or a function that says which."""
Clusters = str | Mapping[str, str] | Sequence[str]
"""The cluster of each topic: {topic: cluster}, in the order of topics, or a pattern whose first group it is."""


Rule = TypeVar("Rule")
Label = TypeVar("Label")


def joined_notes(parts: Iterable[Any]) -> tuple[str, ...]:
    """The notes of all parts, each once."""
    return tuple(dict.fromkeys(note for part in parts for note in part.notes))


def make_read_only(data: object, names: Iterable[str]) -> None:
    """Replace the columns of these names, where there are any, by views through which nobody can overwrite them."""
    for name in names:
        if (column := getattr(data, name)) is not None:
            view = column.view()
            view.flags.writeable = False
            object.__setattr__(data, name, view)


def factorize(labels: Iterable[object]) -> tuple[Codes, tuple[str, ...]]:
    """Number labels in order of appearance: the codes, and the distinct labels as text by code."""
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(label if isinstance(label, str) else str(label), len(numbers)) for label in labels]
    return np.array(codes, np.int32), tuple(numbers)


def renumbered(codes: NDArray[np.integer], labels: Sequence[Label]) -> tuple[Codes, Sequence[Label]]:
    """Labels in use in order of appearance, and codes into them."""
    first = np.full(len(labels), codes.size)
    first[codes[::-1]] = np.arange(codes.size)[::-1]  # of several rows the last one assigned, here the first, stays
    order = codes[np.sort(first[first < codes.size])]
    if order.size == len(labels) and (order == np.arange(order.size)).all():
        return codes.astype(np.int32), labels
    number = np.zeros(len(labels), np.int32)
    number[order] = np.arange(order.size)
    return number[codes], [labels[i] for i in order.tolist()]


def blocks_of(n: int) -> Iterator[slice]:
    """Rows 0 ... n - 1, `AT_ONCE` after the other."""
    return (slice(start, start + AT_ONCE) for start in range(0, n, AT_ONCE))


def distinct_pairs(first: NDArray[np.integer], second: NDArray[np.integer], n_second: int) -> tuple[Ints, Codes]:
    """The distinct pairs of two columns of codes, as first * n_second + second in order, and each row's place there."""
    is_used = _pairs_in_use(first, second, n_second)
    if is_used is None:
        numbers, inverse = np.unique(combined(first, second, n_second), return_inverse=True)
        return numbers, inverse.astype(np.int32)
    place, places = np.cumsum(is_used, dtype=np.int32) - 1, np.empty(first.size, np.int32)
    for rows in blocks_of(first.size):
        places[rows] = place[combined(first[rows], second[rows], n_second)]
    return np.flatnonzero(is_used), places


def _pairs_in_use(first: NDArray[np.integer], second: NDArray[np.integer], n_second: int) -> Bools | None:
    """Which of the possible pairs there are; None where these are more than memory has room for."""
    size = (int(first.max(initial=-1)) + 1) * n_second
    if size > 8 * first.size + (1 << 20):
        return None
    is_used = np.zeros(size, bool)
    for rows in blocks_of(first.size):
        is_used[combined(first[rows], second[rows], n_second)] = True
    return is_used


def combined(first: NDArray[np.integer], second: NDArray[np.integer], n_second: int) -> Ints:
    """(n,) one number per pair of codes: first * n_second + second."""
    return np.asarray(np.add(np.multiply(first, n_second, dtype=np.int64), second))


def distinct_values(values: Floats) -> tuple[Floats, Ints]:
    """The distinct ones of many values, few of which differ, in order, and the place of each among them; no nan."""
    distinct = np.unique(values)
    return distinct, np.searchsorted(distinct, values)


def repeated_rows(topic: Codes, document: Codes, who: Codes, n_documents: int, n_who: int) -> tuple[Ints, Bools]:
    """The rows (from 0) that agree with another one in all three columns, and where one repeats the one before.

    They come by topic, document and who.
    """
    _, pair = distinct_pairs(topic, document, n_documents)
    is_used = _pairs_in_use(pair, who, n_who)
    if is_used is not None and np.count_nonzero(is_used) == pair.size:
        return np.empty(0, np.int64), np.empty(0, bool)
    _, cell = distinct_pairs(pair, who, n_who)
    several = np.flatnonzero(np.bincount(cell)[cell] > 1)
    rows = several[np.argsort(cell[several], kind="stable")]
    return rows, np.diff(cell[rows], prepend=-1) == 0


def by_code(values: Floats, codes: Codes, n: int) -> list[Floats]:
    """values grouped by code 0 ... n - 1."""
    if not n:
        return []
    if (codes[1:] < codes[:-1]).any():
        narrow = codes.astype(np.uint16) if n <= 1 << 16 else codes  # NumPy sorts these by digits
        values = values[np.argsort(narrow, kind="stable")]
    return np.split(values, np.cumsum(np.bincount(codes, minlength=n))[:-1])


def merge_codes(labels: Sequence[tuple[str, ...]], codes: Sequence[Codes]) -> tuple[tuple[str, ...], Codes]:
    """One vocabulary for several: the labels in order of appearance, and all codes into them, one after the other."""
    numbers: dict[str, int] = {}
    parts = []
    for words, part in zip(labels, codes, strict=True):
        new = np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int32)
        parts.append(new[part])
    return tuple(numbers), np.concatenate(parts)


def joined_labels(parts: Sequence[Any], *names: str) -> list[tuple[tuple[str, ...], Codes]]:
    """Of each name, such as "topic", the labels of all parts and the codes into them, one part after the other."""
    return [
        merge_codes([getattr(part, f"{name}s") for part in parts], [getattr(part, name) for part in parts])
        for name in names
    ]


def selected(data: Any, **selections: Selection | None) -> Ints:
    """The rows of data whose labels are all wanted: selections of topics, documents ... by the name of their labels."""
    keep = np.ones(len(data), bool)
    for plural_name, selection in selections.items():
        if selection is not None:
            noun = plural_name.removesuffix("s")
            keep &= matching(getattr(data, plural_name), selection, noun)[getattr(data, noun)]
    return np.flatnonzero(keep)


def or_missing(column: NDArray[np.generic] | None, n: int, numeric: bool) -> NDArray[np.generic]:
    """The column, or one of missing values."""
    if column is not None:
        return column
    return np.full(n, np.nan) if numeric else np.full(n, None, object)


def compact(labels: tuple[str, ...], codes: Codes) -> tuple[tuple[str, ...], Codes]:
    """Labels in use, in their old order, and codes into them."""
    is_used = np.bincount(codes, minlength=len(labels)) > 0
    return tuple(compress(labels, is_used)), (np.cumsum(is_used, dtype=np.int32) - 1)[codes]


def plural(n: int, noun: str) -> str:
    """1 topic, 2 topics, 1,200 topics."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def matching(labels: Sequence[str], wanted: Selection, noun: str) -> Bools:
    """Which labels are wanted: by name, by shell pattern (`umbrela-*`), or by a function of the label.

    Raises
    ------
    ArgumentError
        A name or pattern that matches no label.
    """
    if callable(wanted):
        return np.array([bool(wanted(label)) for label in labels], bool)
    patterns = [wanted] if isinstance(wanted, str) else [str(w) for w in wanted]
    position = {label: i for i, label in enumerate(labels)}
    matches = np.zeros(len(labels), bool)
    for pattern in patterns:
        if pattern in position:
            matches[position[pattern]] = True
            continue
        hits = [i for i, label in enumerate(labels) if fnmatchcase(label, pattern)]
        if not hits:
            raise ArgumentError(f"no {noun} matches {pattern!r}; {closest(pattern, labels, noun)}")
        matches[hits] = True
    return matches


def number_in(cell: object) -> float:
    """A cell as a double; nan where it is no number, as Python's 1_000 and other scripts' digits."""
    text = cell.decode("latin-1") if isinstance(cell, bytes) else cell
    if isinstance(text, str) and not (text.isascii() and "_" not in text):
        return nan
    try:
        return float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return nan


def described(value: object) -> str:
    """A value in few words, for a message."""
    if value is None:
        return "None"
    if isinstance(value, str | int | float | bool):
        return f"{type(value).__name__} {value!r:.60}"
    return f"{'an' if type(value).__name__[0] in 'aeiouAEIOU' else 'a'} {type(value).__name__}"


def closest(word: str, labels: Sequence[str], noun: str, end: str = "") -> str:
    """The end of an error message: the most similar label, in any case, or what there is to choose from.

    end : what follows the label where it is proposed.
    """
    from difflib import get_close_matches

    lowered = {label.lower(): label for label in labels}
    for near in get_close_matches(word.lower(), lowered, n=1, cutoff=0.6):
        meant = lowered[near] + end
        return f"did you mean {meant!r}?"
    examples = ", ".join(labels[:5])
    return f"there {'is' if len(labels) == 1 else 'are'} {plural(len(labels), noun)}" + (
        f": {examples}{', ...' if len(labels) > 5 else ''}" if labels else ""
    )


def first_of(labels: Sequence[str], most: int) -> str:
    """The first labels of several, for a message.

    >>> first_of(("a", "b", "c"), 2)
    'a, b, ...'
    """
    return ", ".join(labels[:most]) + (", ..." if len(labels) > most else "") if labels else "none"


def number_of(name: str, labels: Sequence[str], noun: str) -> int:
    """The place of a name among the labels.

    Raises
    ------
    ArgumentError
        A name that is not among them.
    """
    if name in labels:
        return labels.index(name)
    raise ArgumentError(f"{noun} {name!r} is not among the {noun}s; {closest(name, labels, noun)}")


def clusters_of(topics: tuple[str, ...], clusters: Clusters) -> dict[str, str]:
    """{topic: cluster} of all topics.

    >>> clusters_of(("trip-1", "trip-2", "visa-1"), "^(.*)-")
    {'trip-1': 'trip', 'trip-2': 'trip', 'visa-1': 'visa'}
    """
    if isinstance(clusters, str):
        try:
            names = {topic: match[1] or "" for topic in topics if (match := re.search(clusters, topic))}
        except (re.error, IndexError) as error:
            problem = f"a pattern with a group was expected, as in '^(.*)-' ({error})"
            raise ArgumentError(problem, "clusters", clusters) from None
    elif isinstance(clusters, Mapping):
        names = {str(topic): str(cluster) for topic, cluster in clusters.items()}
    elif len(clusters) == len(topics):
        names = dict(zip(topics, map(str, clusters), strict=True))
    else:
        raise ArgumentError(f"clusters: {len(clusters)} for {plural(len(topics), 'topic')}")
    if lacking := [topic for topic in topics if topic not in names]:
        raise ArgumentError(
            f"clusters: {plural(len(lacking), 'topic')} in no cluster, such as {lacking[0]!r}; name its own"
        )
    return {topic: names[topic] for topic in topics}


def numbered_clusters(
    topics: tuple[str, ...], clusters: Mapping[str, str] | None
) -> tuple[Codes, tuple[str, ...]] | None:
    """(topics,) numbers of clusters, and their names; None where every topic is a cluster of its own."""
    if not clusters:
        return None
    codes, names = factorize(clusters.get(topic, topic) for topic in topics)
    return None if len(names) == len(topics) else (codes, names)


def first_match(labels: tuple[str, ...], rules: Mapping[str, Rule]) -> list[tuple[int, Rule]]:
    """(number, rule of the first pattern that fits) for every assessor that some pattern fits."""
    rule_of: dict[int, Rule] = {}
    for pattern, rule in rules.items():
        for i in np.flatnonzero(matching(labels, pattern, "assessor")):
            rule_of.setdefault(int(i), rule)
    return sorted(rule_of.items())


Columns = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], Codes, Codes, Codes, Floats]


def coded_rows(rows: Iterable[tuple[str, str, str, float]]) -> Columns:
    """Labels of topics, documents and assessors, the numbers into them, and the values."""
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    (topic, topics), (document, documents), (assessor, assessors) = map(factorize, columns[:3])
    return topics, documents, assessors, topic, document, assessor, np.array(columns[3], np.float64)


class Vocabulary:
    """Words numbered in order of appearance, fed from the bytes of text files.

    The words stay bytes in one pool until `labels()` is asked for; a hundred thousand document ids cost megabytes and
    milliseconds.
    """

    def __init__(self) -> None:
        self._slots = np.full(1 << 10, -1, np.int32)
        self._pool = np.empty(1 << 13, np.uint8)
        self._ends = np.zeros(1 << 9, np.int64)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def encode(self, text: NDArray[np.uint8], starts: Ints, ends: Ints) -> Codes:
        """The number of each word text[starts[i]:ends[i]], which holds no newline; unknown words are added."""
        from qrowd.kernels.text import encode_words

        codes = np.empty(starts.size, np.int32)
        done = 0
        while True:
            self._size, done = encode_words(
                text, starts, ends, self._slots, self._pool, self._ends, self._size, done, codes
            )
            if done == starts.size:
                return codes
            self._grow(int(ends[done] - starts[done]))

    def labels(self) -> tuple[str, ...]:
        """All words as text, by number."""
        words = self._pool[: self._ends[self._size]].tobytes()
        return tuple(words.decode("utf-8", "surrogateescape").split("\n")[:-1])

    def _grow(self, room: int) -> None:
        """Enlarge whatever is full."""
        from qrowd.kernels.text import place_words

        used = int(self._ends[self._size])
        if used + room + 1 > self._pool.size:
            pool = np.empty(2 * max(self._pool.size, used + room), np.uint8)
            pool[:used] = self._pool[:used]
            self._pool = pool
        if self._size + 2 > self._ends.size:
            ends = np.empty(2 * self._ends.size, np.int64)
            ends[: self._size + 1] = self._ends[: self._size + 1]
            self._ends = ends
        if 2 * (self._size + 1) > self._slots.size:
            self._slots = np.full(2 * self._slots.size, -1, np.int32)
            place_words(self._pool, self._ends, self._size, self._slots)


class Words(dict[str, Vocabulary]):
    """Vocabularies by what their words name."""

    def __missing__(self, role: str) -> Vocabulary:
        return self.setdefault(role, Vocabulary())


def joined_codes(vocabulary: Vocabulary, columns: Sequence[Codes]) -> tuple[tuple[str, ...], Codes]:
    """The words of several columns in order of appearance, and all codes into them, one column after the other.

    A vocabulary may hold words that are in none of them: of files with mistakes, or of other columns.
    """
    codes, labels = renumbered(np.concatenate(columns), vocabulary.labels())
    return tuple(labels), codes


# ---------------------------------------------------------------------- nested dictionaries

Nested = Mapping[str, Mapping[str, Mapping[str, float]]]


def depth_of(nested: object) -> int:
    """How many dictionaries stand above the first number; 0 where there is none."""
    if not isinstance(nested, Mapping):
        return 0
    for inner in nested.values():
        if not isinstance(inner, Mapping):
            return 1
        if depth := depth_of(inner):
            return depth + 1
    return 0


def nested_rows(nested: object, outer: str, name: str) -> Iterator[tuple[str, str, str, float]]:
    """(topic, document, name, number) of {name: {topic: {document: number}}}, or of the two inner levels alone.

    outer : what the names are of, for messages. name : that of two levels.

    Raises
    ------
    ArgumentError
        Other dictionaries, or a value that is no finite number.
    """
    if isinstance(nested, Mapping) and depth_of(nested) == 2:
        nested = {name: nested}
    if not isinstance(nested, Mapping) or (nested and depth_of(nested) not in (0, 3)):
        raise ArgumentError(
            f"expected {{{outer}: {{topic: {{document: number}}}}}} or {{topic: {{document: number}}}}, "
            f"found {_outline(nested)}"
        )
    for who, topics in nested.items():
        for topic, documents in _inside(topics, f"{outer} {who!r}"):
            for document, value in _inside(documents, f"{outer} {who!r}, topic {topic!r}"):
                number = float(value) if type(value) in (int, float) else number_in(value)
                if not isfinite(number):
                    where = f"{outer} {who!r}, topic {topic!r}, document {document!r}"
                    raise InputError(f"{where}: expected a finite number, found {described(value)}")
                yield topic, document, who, number


def _inside(level: object, where: str) -> Iterable[tuple[Any, Any]]:
    if not isinstance(level, Mapping):
        raise ArgumentError(f"{where}: expected a dictionary, found {described(level)}")
    return level.items()


def _outline(nested: object) -> str:
    return f"a dictionary of {depth_of(nested)} levels" if isinstance(nested, Mapping) else described(nested)


def nested_of(
    names: Sequence[str], topics: Sequence[str], documents: Sequence[str], codes: Sequence[Codes], numbers: Any
) -> dict[str, Any]:
    """{name: {topic: {document: number}}} of columns. codes : numbers into names, topics and documents."""
    nested: dict[str, Any] = {name: {} for name in names}
    columns = [np.array(labels, object)[code] for labels, code in zip((names, topics, documents), codes, strict=True)]
    for name, topic, document, number in zip(*columns, numbers.tolist(), strict=True):
        nested[name].setdefault(topic, {})[document] = number
    return nested


def as_integers(numbers: Floats) -> Any:
    """The numbers as integers, where all of them are whole: grades of pytrec_eval and ranx must be."""
    return numbers.astype(np.int64) if (numbers == np.round(numbers)).all() else numbers
