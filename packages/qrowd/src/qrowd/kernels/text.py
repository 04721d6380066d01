"""From the bytes of a text file to columns of numbers: fields, decimals, word codes.

A file of 330,000 lines becomes columns of integers and doubles in a few hundredths of a second; nothing is looked up by
name here, and whatever a kernel cannot decide exactly it marks for the caller.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.compiled import kernel

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]


def word_end(text: Bytes, start: int) -> int:
    """Where the word that begins at `start` ends: at a blank or a control character that is one."""
    i = start
    while text[i] > 32 or (text[i] != 32 and (text[i] < 9 or text[i] > 13)):
        i += 1
    return i


@kernel("uint8[:], int, int64[:], int64[:,:], int64[:,:], float64[:,:]", numbers="int, int, int")
def split_fields(
    text: Bytes, first: int, kinds: Offsets, starts: Offsets, ends: Offsets, numbers: NDArray[np.float64]
) -> tuple[int, int, int]:
    """Where some fields of every line start and end, and the numbers in others.

    text : bytes of whole lines, the last one ended by a newline; read from `first` on.
    kinds : (fields of a line,) k from 1: word k - 1; -k: number k - 1; 0: a field that is skipped.
    starts, ends : (words, rows or more), filled. numbers : (numbers, rows or more), filled by `decimal`.

    Fields stand between any blanks; empty lines and lines with `#` in column 1 hold no row.
    Returns the number of rows, how many of their numbers are undecided (nan), and the number of the first line that has
    not as many fields (0 if all have).
    """
    n_rows, line, undecided, i = 0, 0, 0, first
    n_fields, size = kinds.size, text.size
    while i < size:
        line += 1
        character = text[i]
        if character == 35:
            while text[i] != 10:
                i += 1
            i += 1
            continue
        field = 0
        while True:
            while character == 32 or character == 9 or 11 <= character <= 13:
                i += 1
                character = text[i]
            if character == 10:
                i += 1
                break
            start = i
            kind = kinds[field] if field < n_fields else 0
            if kind < 0:
                value, i = decimal(text, start)
                numbers[-kind - 1, n_rows] = value
                undecided += value != value
                character = text[i]
            else:
                i = word_end(text, start)
                character = text[i]
                if kind > 0:
                    starts[kind - 1, n_rows] = start
                    ends[kind - 1, n_rows] = i
            field += 1
        if field == n_fields:
            n_rows += 1
        elif field > 0:
            return n_rows, undecided, line
    return n_rows, undecided, 0


def decimal(text: Bytes, start: int) -> tuple[float, int]:
    """The number that the field at `start` holds, the double nearest to what is written, and where the field ends.

    Decided here: up to 18 digits and a power of ten up to 10**22, which covers what programs print. Any other field,
    number or not, is nan.
    """
    i = start
    character = text[i]
    negative = character == 45
    if negative or character == 43:
        i += 1
        character = text[i]
    first = i
    mantissa, scale = 0, 0
    while 48 <= character <= 57 and mantissa < 100_000_000_000_000_000:
        mantissa = mantissa * 10 + character - 48
        i += 1
        character = text[i]
    digits = i - first
    if character == 46:
        i += 1
        point = i
        character = text[i]
        while 48 <= character <= 57 and mantissa < 100_000_000_000_000_000:
            mantissa = mantissa * 10 + character - 48
            i += 1
            character = text[i]
        scale = point - i
        digits -= scale
    if digits > 0 and (character == 101 or character == 69):
        i += 1
        sign = 1
        if text[i] == 45 or text[i] == 43:
            sign = -1 if text[i] == 45 else 1
            i += 1
        exponent = 0
        digits = 0
        while 48 <= text[i] <= 57 and exponent < 1000:
            exponent = exponent * 10 + text[i] - 48
            digits += 1
            i += 1
        scale += sign * exponent
        character = text[i]
    if digits > 0 and (character == 32 or 9 <= character <= 13):
        value = scaled(mantissa, scale)
        return -value if negative else value, i
    while character > 32 or (character != 32 and (character < 9 or character > 13)):
        i += 1
        character = text[i]
    return np.nan, i


def scaled(mantissa: int, scale: int) -> float:
    """mantissa * 10**scale rounded once, or nan where that cannot be told.

    mantissa : below 10**18.

    Up to 2**53 both factors are exact and one operation rounds (Clinger 1990). A longer mantissa is divided in doubled
    precision: quotient and remainder (Dekker 1971), accepted if a remainder off by 2**-48 would round to the same
    (Ziv 1991).
    """
    if scale == 0 and mantissa <= 9007199254740992:
        return float(mantissa)
    if scale < -22 or scale > 22:
        return np.nan
    exponent = abs(scale)
    power = 1.0  # powers of ten up to 10**22 are exact
    if exponent & 1:
        power = 10.0
    if exponent & 2:
        power *= 1e2
    if exponent & 4:
        power *= 1e4
    if exponent & 8:
        power *= 1e8
    if exponent & 16:
        power *= 1e16
    if mantissa <= 9007199254740992:
        return mantissa / power if scale < 0 else mantissa * power
    if scale > 0:
        return np.nan
    high = float(mantissa)
    low = float(mantissa - int(high))
    quotient = high / power
    split = 134217729.0 * quotient
    a = split - (split - quotient)
    b = quotient - a
    split = 134217729.0 * power
    c = split - (split - power)
    d = power - c
    product = quotient * power
    excess = ((a * c - product) + a * d + b * c) + b * d
    rest = ((high - product) - excess + low) / power
    value = quotient + rest * (1.0 + 3.6e-15)
    return value if value == quotient + rest * (1.0 - 3.6e-15) else np.nan


def hash_of(text: Bytes, start: int, length: int) -> int:
    """A number for text[start:start + length], the same for the same bytes: FNV-1a, without the highest bit."""
    hashed = np.uint64(0x4BF29CE484222325)
    for k in range(length):
        hashed = (hashed ^ np.uint64(text[start + k])) * np.uint64(0x100000001B3)
    return int((hashed ^ (hashed >> np.uint64(32))) & np.uint64(0x7FFFFFFFFFFFFFFF))


def slot_of(text: Bytes, start: int, length: int, slots: NDArray[np.int32], pool: Bytes, pool_ends: Offsets) -> int:
    """The slot that holds the number of the word text[start:start + length], or the free one where it belongs."""
    mask = slots.size - 1
    slot = hash_of(text, start, length) & mask
    while slots[slot] >= 0:
        begin = pool_ends[slots[slot]]
        if pool_ends[slots[slot] + 1] - 1 - begin == length:
            same = 0
            while same < length and text[start + same] == pool[begin + same]:
                same += 1
            if same == length:
                break
        slot = (slot + 1) & mask
    return slot


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
    for row in range(first, starts.size):
        length = ends[row] - starts[row]
        slot = slot_of(text, starts[row], length, slots, pool, pool_ends)
        if slots[slot] < 0:
            end = pool_ends[n_words]
            if 2 * (n_words + 1) > slots.size or n_words + 2 > pool_ends.size or end + length + 1 > pool.size:
                return n_words, row
            for k in range(length):
                pool[end + k] = text[starts[row] + k]
            pool[end + length] = 10
            pool_ends[n_words + 1] = end + length + 1
            slots[slot] = n_words
            n_words += 1
        codes[row] = slots[slot]
    return n_words, starts.size


@kernel("uint8[:], int64[:], int, int32[:]")
def place_words(pool: Bytes, pool_ends: Offsets, n_words: int, slots: NDArray[np.int32]) -> None:
    """Enter the words of a pool into a larger table, as `encode_words` does. slots : -1."""
    for word in range(n_words):
        length = pool_ends[word + 1] - 1 - pool_ends[word]
        slots[slot_of(pool, pool_ends[word], length, slots, pool, pool_ends)] = word
