"""Words of text files as numbers: vocabularies of topics, documents, assessors and systems."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from threading import local

import numpy as np
from numpy.typing import NDArray

from qrowd.model.labels import Codes, read_only


class Vocabulary:
    """Words numbered in order of appearance, fed from the bytes of text files.

    The words stay bytes in one pool until `labels()` is asked for; a hundred thousand document ids cost megabytes and
    milliseconds.
    """

    def __init__(self) -> None:
        self._slots = np.full(1 << 10, -1, np.int64)
        self._pool = np.empty(1 << 13, np.uint8)
        self._ends = np.zeros(1 << 9, np.int64)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def encode(self, text: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Codes:
        """The number of each word text[starts[i]:ends[i]]; unknown words are added."""
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
        if words.count(b"\n") == self._size:
            return tuple(words.decode("utf-8", "surrogateescape").split("\n")[:-1])
        ends = self._ends[: self._size + 1].tolist()
        return tuple(words[a : b - 1].decode("utf-8", "surrogateescape") for a, b in pairwise(ends))

    def numbers_in(self, other: Vocabulary) -> Codes:
        """The number of each word in another vocabulary, which is given those that it lacks."""
        if other is self:
            return np.arange(self._size, dtype=np.int32)
        return other.encode(read_only(self._pool), self._ends[: self._size], self._ends[1 : self._size + 1] - 1)

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
            self._slots = np.full(2 * self._slots.size, -1, np.int64)
            place_words(self._pool, self._ends, self._size, self._slots)


class Words(local):
    """Vocabularies by what their words name. Each thread has its own, so threads encode files without waiting."""

    def __init__(self) -> None:
        self._vocabularies: dict[str, Vocabulary] = {}
        self._cells = np.empty(0)

    def __getitem__(self, role: str) -> Vocabulary:
        return self._vocabularies.setdefault(role, Vocabulary())

    def scratch(self, n_columns: int, n_rows: int) -> NDArray[np.float64]:
        """(columns, rows) cells for one file at a time: memory that is used again costs less than new memory."""
        if n_columns * n_rows > self._cells.size:
            self._cells = np.empty(n_columns * n_rows)
        return self._cells[: n_columns * n_rows].reshape(n_columns, n_rows)


def joined_codes(parts: Sequence[tuple[Vocabulary, Codes]]) -> tuple[tuple[str, ...], Codes]:
    """The words of several columns in order of appearance, and all codes into them, one column after the other."""
    from qrowd.kernels.text import renumber_words

    vocabularies = {id(vocabulary): vocabulary for vocabulary, _ in parts}
    if not vocabularies:
        return (), np.empty(0, np.int32)
    largest = max(vocabularies.values(), key=len)
    merged = {key: vocabulary.numbers_in(largest) for key, vocabulary in vocabularies.items()}
    numbers, order = np.full(len(largest), -1, np.int32), np.empty(len(largest), np.int32)
    joined = np.empty(sum(codes.size for _, codes in parts), np.int32)
    row, n_words = 0, 0
    for vocabulary, codes in parts:
        here = joined[row : row + codes.size]
        n_words = renumber_words(codes, merged[id(vocabulary)], numbers, order, n_words, here)
        row += codes.size
    labels = largest.labels()
    if n_words == len(labels) and (order[:-1] < order[1:]).all():
        return labels, joined
    return tuple(labels[word] for word in order[:n_words].tolist()), joined
