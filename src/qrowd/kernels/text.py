"""From the bytes of a text file to columns of numbers: fields, decimals, word codes.

A file of 330,000 lines becomes five integer and float columns in a few hundredths of a second; nothing is looked up by
name here, and whatever a kernel cannot decide exactly it marks for the caller.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.compiled import kernel

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]


@kernel
def split_fields(text: Bytes, n_fields: int, columns: Offsets, starts: Offsets, ends: Offsets) -> tuple[int, int]:
    """Where some fields of every line start and end.

    text : bytes of whole lines, the last one ended by a newline.
    columns : (columns,) increasing field numbers.
    starts, ends : (rows or more, columns), filled.

    Fields stand between any blanks; empty lines and lines with `#` in column 1 hold no row.
    Returns the number of rows, and the number of the first line that has not n_fields fields (0 if all have).
    """
    n_rows, line, i = 0, 0, 0
    while i < text.size:
        line += 1
        if text[i] == 35:
            while text[i] != 10:
                i += 1
            i += 1
            continue
        field, column = 0, 0
        while True:
            while text[i] == 32 or text[i] == 9 or text[i] == 13 or text[i] == 11 or text[i] == 12:
                i += 1
            if text[i] == 10:
                i += 1
                break
            start = i
            while text[i] > 32 or (text[i] != 10 and text[i] != 32 and (text[i] < 9 or text[i] > 13)):
                i += 1
            if column < columns.size and field == columns[column]:
                starts[n_rows, column] = start
                ends[n_rows, column] = i
                column += 1
            field += 1
        if field == n_fields:
            n_rows += 1
        elif field > 0:
            return n_rows, line
    return n_rows, 0


@kernel
def parse_decimals(text: Bytes, starts: Offsets, ends: Offsets, values: NDArray[np.float64]) -> int:
    """The numbers written in text[starts[i]:ends[i]], each the double nearest to what is written.

    Decided here: up to 18 digits and a power of ten up to 10**22, which covers what programs print. Any other field,
    number or not, becomes nan; returns how many did.
    """
    undecided = 0
    for row in range(starts.size):
        i, end = starts[row], ends[row]
        negative = text[i] == 45
        if text[i] == 45 or text[i] == 43:
            i += 1
        mantissa, scale, digits, point = 0, 0, 0, False
        while i < end and (48 <= text[i] <= 57 or (text[i] == 46 and not point)):
            if text[i] == 46:
                point = True
            elif mantissa < 100_000_000_000_000_000:
                mantissa = mantissa * 10 + (text[i] - 48)
                digits += 1
                scale -= 1 if point else 0
            else:
                digits = 0
                break
            i += 1
        if digits > 0 and i < end and (text[i] == 101 or text[i] == 69):
            i += 1
            sign = 1
            if i < end and (text[i] == 45 or text[i] == 43):
                sign = -1 if text[i] == 45 else 1
                i += 1
            exponent = 0
            digits = 0
            while i < end and 48 <= text[i] <= 57 and exponent < 1000:
                exponent = exponent * 10 + (text[i] - 48)
                digits += 1
                i += 1
            scale += sign * exponent
        value = scaled(mantissa, scale) if digits > 0 and i == end else np.nan
        undecided += np.isnan(value)
        values[row] = -value if negative else value
    return undecided


@kernel
def scaled(mantissa: int, scale: int) -> float:
    """mantissa * 10**scale rounded once, or nan where that cannot be told.

    mantissa : below 10**18.

    Up to 2**53 both factors are exact and one operation rounds (Clinger 1990). A longer mantissa is divided in doubled
    precision: quotient and remainder (Dekker 1971), accepted if a remainder off by 2**-48 would round to the same
    (Ziv 1991).
    """
    if scale < -22 or scale > 22:
        return np.nan
    power = 1.0
    for _ in range(abs(scale)):
        power *= 10.0
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


@kernel
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

    slots : open-addressing table of word numbers, -1 where free; its size is a power of two.
    pool, pool_ends : the bytes of all words so far, one after the other; word w is pool[pool_ends[w]:pool_ends[w + 1]].

    Returns the number of words and the first row not done: fewer than all rows where slots, pool or pool_ends must
    grow first.
    """
    mask = slots.size - 1
    for row in range(first, starts.size):
        start, length = starts[row], ends[row] - starts[row]
        if row > 0 and length == ends[row - 1] - starts[row - 1]:
            same = True
            for k in range(length):
                if text[start + k] != text[starts[row - 1] + k]:
                    same = False
                    break
            if same:
                codes[row] = codes[row - 1]
                continue
        # FNV-1a over four bytes at a time, the rest one by one.
        hashed = np.uint64(14695981039346656037)
        k = 0
        while k + 4 <= length:
            at = start + k
            four = text[at] | text[at + 1] << 8 | text[at + 2] << 16 | text[at + 3] << 24
            hashed = (hashed ^ np.uint64(four)) * np.uint64(1099511628211)
            k += 4
        while k < length:
            hashed = (hashed ^ np.uint64(text[start + k])) * np.uint64(1099511628211)
            k += 1
        # The last bytes of a word reach only the upper half: fold it down, and spread it by the golden ratio.
        hashed = (hashed ^ (hashed >> np.uint64(32))) * np.uint64(11400714819323198485)
        slot = np.int64((hashed >> np.uint64(32)) & np.uint64(mask))
        while True:
            word = slots[slot]
            if word < 0:
                break
            at = pool_ends[word]
            same = pool_ends[word + 1] - at == length
            for k in range(length):
                if not same or text[start + k] != pool[at + k]:
                    same = False
                    break
            if same:
                break
            slot = (slot + 1) & mask
        if word < 0:
            end = pool_ends[n_words]
            if 2 * (n_words + 1) > slots.size or n_words + 2 > pool_ends.size or end + length > pool.size:
                return n_words, row
            for k in range(length):
                pool[end + k] = text[start + k]
            pool_ends[n_words + 1] = end + length
            slots[slot] = n_words
            word = n_words
            n_words += 1
        codes[row] = word
    return n_words, starts.size
