"""Words of text files as numbers: vocabularies of topics, documents, assessors and systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qrowd.model.labels import Codes


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

    def encode(self, text: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Codes:
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
    codes = np.concatenate(columns)
    first_row = np.full(len(vocabulary), codes.size)
    first_row[codes[::-1]] = np.arange(codes.size)[::-1]  # of several rows the last one assigned, here the first, stays
    order = np.argsort(first_row, kind="stable")[: np.count_nonzero(first_row < codes.size)]
    number = np.empty(len(vocabulary), np.int32)
    number[order] = np.arange(order.size)
    labels = vocabulary.labels()
    return tuple(labels[word] for word in order.tolist()), number[codes]
