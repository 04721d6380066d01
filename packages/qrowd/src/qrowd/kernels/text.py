"""From the bytes of a text file to columns of numbers: fields, decimals, word codes.

A file of 330,000 lines becomes columns of integers and doubles in a tenth of a second in C, and in a second in Python;
nothing is looked up by name here, and whatever a kernel cannot decide exactly it marks for the caller.
"""

from __future__ import annotations

from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.compiled import kernel

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]

BLANK = np.isin(np.arange(256), list(b" \t\n\v\f\r"))


@kernel("uint8[:], int, int64[:], int64[:,:], int64[:,:], float64[:,:]", numbers="int, int, int")
def split_fields(
    text: Bytes, first: int, kinds: Offsets, starts: Offsets, ends: Offsets, numbers: NDArray[np.float64]
) -> tuple[int, int, int]:
    """Where some fields of every line start and end, and the numbers in others.

    text : bytes of whole lines, the last one ended by a newline; read from `first` on.
    kinds : (fields of a line,) k from 1: word k - 1; -k: number k - 1; 0: a field that is skipped.
    starts, ends : (words, rows or more), filled. numbers : (numbers, rows or more), filled by `decimals`.

    Fields stand between any blanks; empty lines and lines with `#` in column 1 hold no row.
    Returns the number of rows, how many of their numbers are undecided (nan), and the number of the first line that has
    not as many fields (0 if all have).
    """
    whole = text.tobytes()
    text = text[first:]
    edges = first + np.flatnonzero(np.diff(BLANK[text], prepend=True))
    newlines = first + np.flatnonzero(text == ord("\n"))
    line = np.searchsorted(newlines, edges[::2])
    is_comment = text[np.append(first, newlines + 1)[:-1] - first] == ord("#")
    n_fields = np.where(is_comment, 0, np.bincount(line, minlength=newlines.size))
    wrong = np.flatnonzero((n_fields > 0) & (n_fields != kinds.size))
    n_lines = int(wrong[0]) if wrong.size else newlines.size
    in_row = (line < n_lines) & ~is_comment[line]
    spans = edges.reshape(-1, 2)[in_row].reshape(-1, kinds.size, 2)
    n_rows, undecided = len(spans), 0
    for field, kind in enumerate(kinds.tolist()):
        if kind > 0:
            starts[kind - 1, :n_rows], ends[kind - 1, :n_rows] = spans[:, field].T
        elif kind < 0:
            column = numbers[-kind - 1, :n_rows]
            column[:] = decimals([whole[start:end] for start, end in zip(*spans[:, field].T.tolist(), strict=True)])
            undecided += int(np.isnan(column).sum())
    return n_rows, undecided, n_lines + 1 if wrong.size else 0


def decimals(words: list[bytes]) -> list[float]:
    """What `decimal` makes of each word."""
    try:
        numbers = [*map(float, words)]
    except ValueError:
        return [decimal(word) for word in words]
    plain = b"_" not in b" ".join(words) and np.isfinite(numbers).all()
    return numbers if plain else [decimal(word) for word in words]


def decimal(word: bytes) -> float:
    """The number that the field holds, the double nearest to what is written; nan where it holds none in digits.

    The compiled kernel decides up to 18 digits and a power of ten up to 10**22, which covers what programs print; any
    other number is nan there.
    """
    try:
        number = float(word)
    except ValueError:
        return nan
    return number if isfinite(number) and b"_" not in word else nan


@kernel("uint8[:], int64[:], int64[:], int32[:], uint8[:], int64[:], int, int, int32[:]", numbers="int, int")
def encode_words(
    text: Bytes,
    starts: Offsets,
    ends: Offsets,
    slots: NDArray[np.int32],
    pool: Bytes,
    pool_ends: Offsets,
    n_words: int,
    first: int,
    codes: NDArray[np.int32],
) -> tuple[int, int]:
    """Number the words text[starts[i]:ends[i]] from row `first` on, new ones in order of appearance.

    text : no word of it holds a newline.
    slots : open-addressing table of a power of two of slots: the number of a word, -1 where free.
    pool, pool_ends : the bytes of all words so far, a newline after each; word w is
        pool[pool_ends[w]:pool_ends[w + 1] - 1].

    Returns the number of words and the first row not done: fewer than all rows where slots, pool or pool_ends must
    grow first.
    """
    whole = text.tobytes()
    size = int(pool_ends[n_words])
    most = min(slots.size // 2, pool_ends.size - 1)
    done: list[int] = []
    code_of: dict[bytes, int] = {}
    table, words, word_ends = slots.data, pool.data, pool_ends.data
    for start, end in zip(starts[first:].tolist(), ends[first:].tolist(), strict=True):
        word = whole[start:end]
        if word not in code_of:
            slot = slot_of(word, table, words, word_ends)
            after = size + len(word) + 1
            if table[slot] < 0:
                if n_words == most or after > len(words):
                    break
                words[size:after] = word + b"\n"
                table[slot] = n_words
                n_words += 1
                size = word_ends[n_words] = after
            code_of[word] = table[slot]
        done.append(code_of[word])
    codes[first : first + len(done)] = done
    return n_words, first + len(done)


@kernel("uint8[:], int64[:], int, int32[:]")
def place_words(pool: Bytes, pool_ends: Offsets, n_words: int, slots: NDArray[np.int32]) -> None:
    """Enter the words of a pool into a larger table, as `encode_words` does. slots : -1."""
    table, words, word_ends = slots.data, pool.data, pool_ends.data
    for code in range(n_words):
        word = words[word_ends[code] : word_ends[code + 1] - 1].tobytes()
        table[slot_of(word, table, words, word_ends)] = code


def slot_of(word: bytes, table: memoryview, words: memoryview, word_ends: memoryview) -> int:
    """The slot that holds the number of the word, or the free one where it belongs."""
    slot = hash(word) % len(table)
    while (code := table[slot]) >= 0 and words[word_ends[code] : word_ends[code + 1] - 1] != word:
        slot = (slot + 1) % len(table)
    return slot
