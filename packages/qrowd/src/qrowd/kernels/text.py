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

AHEAD = 64  # rows whose words are looked up together


@kernel()
def eight(text: Bytes, i: int) -> np.uint64:
    """The eight bytes from i on as one number; compilers make one load of it."""
    return (
        np.uint64(text[i])
        | np.uint64(text[i + 1]) << np.uint64(8)
        | np.uint64(text[i + 2]) << np.uint64(16)
        | np.uint64(text[i + 3]) << np.uint64(24)
        | np.uint64(text[i + 4]) << np.uint64(32)
        | np.uint64(text[i + 5]) << np.uint64(40)
        | np.uint64(text[i + 6]) << np.uint64(48)
        | np.uint64(text[i + 7]) << np.uint64(56)
    )


@kernel()
def below_33(eight_bytes: np.uint64) -> np.uint64:
    """The highest bit of the first byte below 33, as blanks are, and of none before it; bits above it say nothing."""
    return (eight_bytes - np.uint64(0x2121212121212121)) & ~eight_bytes & np.uint64(0x8080808080808080)


@kernel()
def first_byte(bits: np.uint64) -> int:
    """Which byte the lowest bit of `bits` stands in, of bits that are the highest of their bytes."""
    return int(((bits & (~bits + np.uint64(1))) >> np.uint64(7)) * np.uint64(0x0001020304050607) >> np.uint64(56))


@kernel()
def word_end(text: Bytes, start: int) -> int:
    """Where the word that begins at `start` ends, looking at eight bytes at a time."""
    bits = np.uint64(0)
    at, last = start, text.size - 8
    while bits == np.uint64(0) and 0 <= at <= last:
        word = eight(text, at)
        bits = below_33(word)
        at += 8
    i = at + first_byte(bits) - 8 if bits != np.uint64(0) else at
    while text[i] > 32 or (text[i] != 32 and (text[i] < 9 or text[i] > 13)):
        i += 1
    return i


@kernel("uint8[:], int, int64[:], int64[:,:], int64[:,:], float64[:,:]")
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


@kernel()
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


@kernel()
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


@kernel()
def same_bytes(text: Bytes, i: int, other: Bytes, j: int, length: int) -> bool:
    """Whether text[i:i + length] and other[j:j + length] are the same; ends are compared first, they differ most."""
    if i < 0 or j < 0:
        return False
    k = 0
    if length < 8:
        while k < length and text[i + k] == other[j + k]:
            k += 1
        return k == length
    if eight(text, i + length - 8) != eight(other, j + length - 8):
        return False
    while k < length - 8 and eight(text, i + k) == eight(other, j + k):
        k += 8
    return k >= length - 8


@kernel()
def hash_of(text: Bytes, start: int, length: int) -> np.int64:
    """A hash of text[start:start + length] in 63 bits: multiplied and folded eight bytes at a time."""
    if start < 0:
        return np.int64(0)
    factor = np.uint64(11400714819323198485)  # 2**64 over the golden ratio
    hashed = np.uint64(length) * factor
    if length < 8:
        last = np.uint64(0)
        for k in range(length):
            last = last << np.uint64(8) | np.uint64(text[start + k])
        hashed = (hashed ^ last) * factor
    else:
        k, end = start, start + length - 8
        while k < end:
            hashed = (hashed ^ eight(text, k)) * factor
            hashed ^= hashed >> np.uint64(32)
            k += 8
        hashed = (hashed ^ eight(text, end)) * factor
    hashed = (hashed ^ (hashed >> np.uint64(32))) * factor
    return np.int64((hashed ^ (hashed >> np.uint64(32))) >> np.uint64(1))


@kernel("uint8[:], int64[:], int64[:], int64[:], uint8[:], int64[:], int, int, int32[:]")
def encode_words(
    text: Bytes,
    starts: Offsets,
    ends: Offsets,
    slots: Offsets,
    pool: Bytes,
    pool_ends: Offsets,
    n_words: int,
    first: int,
    codes: NDArray[np.int32],
) -> tuple[int, int]:
    """Number the words text[starts[i]:ends[i]] from row `first` on, new ones in order of appearance.

    text : no word of it holds a newline.
    slots : open-addressing table of a power of two of slots, two numbers each: -1 where free, else the number of a word
        in the lower 32 bits and 31 bits of its hash above; and where the word begins in the pool.
    pool, pool_ends : the bytes of all words so far, a newline after each; word w is
        pool[pool_ends[w]:pool_ends[w + 1] - 1].

    Returns the number of words and the first row not done: fewer than all rows where slots, pool or pool_ends must
    grow first.
    """
    mask = slots.size // 2 - 1
    hashes, ahead = np.empty(AHEAD, np.int64), np.empty(AHEAD, np.int64)
    n_rows, size = starts.size, pool.size
    for begin in range(first, n_rows, AHEAD):
        end_row = min(begin + AHEAD, n_rows)
        # What a lookup needs is fetched for many rows at once, in loops so short that many loads run together.
        n_ahead = end_row - begin
        for k in range(n_ahead):
            start = starts[begin + k]
            hashes[k] = hash_of(text, start, ends[begin + k] - start)
        for k in range(n_ahead):
            ahead[k] = slots[(hashes[k] & mask) * 2 + 1]
        for k in range(n_ahead):
            ahead[k] = pool[max(ahead[k], 0)]
        for row in range(begin, end_row):
            hashed = hashes[row - begin]
            start = starts[row]
            length = ends[row] - start
            tag = hashed >> 32 << 32
            slot = hashed & mask
            word = -1
            while slots[2 * slot] >= 0:
                entry = slots[2 * slot]
                if entry >> 32 << 32 == tag:
                    at = slots[2 * slot + 1]
                    if at + length < size and pool[at + length] == 10 and same_bytes(text, start, pool, at, length):
                        word = entry & 0x7FFFFFFF
                        break
                slot = (slot + 1) & mask
            if word < 0:
                end = pool_ends[n_words]
                if 4 * (n_words + 1) > slots.size or n_words + 2 > pool_ends.size or end + length + 1 > pool.size:
                    return n_words, row
                for k in range(length):
                    pool[end + k] = text[start + k]
                pool[end + length] = 10
                pool_ends[n_words + 1] = end + length + 1
                slots[2 * slot] = tag | n_words
                slots[2 * slot + 1] = end
                word = n_words
                n_words += 1
            codes[row] = word
    return n_words, n_rows


@kernel("uint8[:], int64[:], int, int64[:]")
def place_words(pool: Bytes, pool_ends: Offsets, n_words: int, slots: Offsets) -> None:
    """Enter the words of a pool into a larger table, as `encode_words` does. slots : -1."""
    mask = slots.size // 2 - 1
    for word in range(n_words):
        hashed = hash_of(pool, pool_ends[word], pool_ends[word + 1] - 1 - pool_ends[word])
        slot = hashed & mask
        while slots[2 * slot] >= 0:
            slot = (slot + 1) & mask
        slots[2 * slot] = hashed >> 32 << 32 | word
        slots[2 * slot + 1] = pool_ends[word]


@kernel("int32[:], int32[:], int32[:], int32[:]")
def renumber_words(
    codes: NDArray[np.int32], numbers: NDArray[np.int32], order: NDArray[np.int32], renumbered: NDArray[np.int32]
) -> int:
    """Number words in order of appearance.

    numbers : (words,) -1, filled with the new number of each that appears; order : (words,) filled with the reverse.
    renumbered : (codes,) filled with the new numbers. Returns how many words appear.
    """
    n_words = 0
    for row in range(codes.size):
        word = codes[row]
        number = numbers[word]
        if number < 0:
            number = n_words
            numbers[word] = number
            order[number] = word
            n_words += 1
        renumbered[row] = number
    return n_words
