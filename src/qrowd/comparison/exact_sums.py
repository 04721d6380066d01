"""Sums of floats without rounding: the same to the bit in any order and in any grouping.

A float is an integer times a power of 2. It is cut into digits of 40 bits, and sums of digits are sums of integers. For
sums of products it is cut into digits of 20 bits: a product of two has 38 bits, so that a matrix product over 32,768
rows is a matrix product of floats in which nothing is rounded.

Ozaki, Ogita, Oishi, Rump (2012), Error-free Transformations of Matrix Multiplication by Using Fast Routines of Matrix
Multiplication and its Applications. Numerical Algorithms 59(1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from qrowd.kernels.arrays import Floats, Ints

BITS = 40  # of a digit that is kept
HALF = 20  # of a digit of a factor
ROWS = 1 << 15  # of a matrix product of digits of 20 bits: 2^15 products of 2^38 are 2^53


@dataclass(frozen=True, eq=False)
class ExactSums:
    """An array of sums.

    digits : (n, ...) the sums are digits[k] 2^(40 (first + k)), added over k; each is from -2^39 to 2^39.
    """

    first: int
    digits: Ints

    @classmethod
    def zeros(cls, shape: tuple[int, ...]) -> ExactSums:
        """Sums of nothing."""
        return cls(0, np.zeros((0, *shape), np.int64))

    @classmethod
    def over(cls, values: Floats, axis: int) -> ExactSums:
        """The sums over an axis of at most 2^23 finite values."""
        first, digits = digits_of(values, BITS)
        return cls.of(first, digits.astype(np.int64).sum(axis=axis + 1))

    @classmethod
    def of(cls, first: int, digits: Ints) -> ExactSums:
        """From digits of any size, each below 2^62."""
        grown = np.concatenate([digits, np.zeros((2, *digits.shape[1:]), np.int64)])
        for k in range(len(grown) - 1):
            carry = (grown[k] + (1 << BITS - 1)) >> BITS
            grown[k] -= carry << BITS
            grown[k + 1] += carry
        used = np.flatnonzero(grown.reshape(len(grown), -1).any(axis=1))
        if not used.size:
            return cls.zeros(digits.shape[1:])
        return cls(first + int(used[0]), grown[used[0] : used[-1] + 1])

    @classmethod
    def of_halves(cls, first: int, digits: Ints) -> ExactSums:
        """From digits of 20 bits, each below 2^62; `first` counts in 20 bits."""
        low = first >> 1
        whole = np.zeros(((first + len(digits) - low * 2) // 2 + 2, *digits.shape[1:]), np.int64)
        for k, digit in enumerate(digits, first - 2 * low):
            above = digit >> HALF
            whole[k >> 1] += (digit - (above << HALF)) << HALF if k & 1 else digit
            if k & 1:
                whole[(k >> 1) + 1] += above
        return cls.of(low, whole)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array of sums."""
        return self.digits.shape[1:]

    def __add__(self, other: ExactSums) -> ExactSums:
        if not len(self.digits) or not len(other.digits):
            return self if len(self.digits) else other
        first = min(self.first, other.first)
        last = max(one.first + len(one.digits) for one in (self, other))
        total = np.zeros((last - first, *self.shape), np.int64)
        for one in (self, other):
            total[one.first - first : one.first - first + len(one.digits)] += one.digits
        return ExactSums.of(first, total)

    def fractions(self) -> Any:
        """The array of sums as fractions."""
        integers = self._integers()
        down, up = 1 << max(-BITS * self.first, 0), 1 << max(BITS * self.first, 0)
        cells = [Fraction(n * up, down) for n in integers]
        return array_of(cells, self.shape)

    def floats(self) -> Floats:
        """The array of sums, each rounded once."""
        down, up = 1 << max(-BITS * self.first, 0), 1 << max(BITS * self.first, 0)
        return np.array([n * up / down for n in self._integers()], np.float64).reshape(self.shape)

    def _integers(self) -> list[int]:
        """Every sum over 2^(40 first)."""
        total = [0] * int(np.prod(self.shape))
        for digit in self.digits[::-1]:
            total = [(n << BITS) + own for n, own in zip(total, digit.ravel().tolist(), strict=True)]
        return total


def added(sums: Sequence[ExactSums], shape: tuple[int, ...]) -> ExactSums:
    """Several sums as one."""
    total = ExactSums.zeros(shape)
    for one in sums:
        total = total + one
    return total


def digits_of(values: Floats, bits: int) -> tuple[int, Floats]:
    """Finite values as digits of so many bits: values = sum over k of digits[k] 2^(bits (first + k)).

    Digits are whole numbers from -2^(bits - 1) to 2^(bits - 1). Nothing is rounded.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return 0, np.zeros((0, *values.shape))
    top = int(np.frexp(largest)[1]) // bits + 1  # |values| < 2^(bits top), and the digits above are 0
    rest, digits, place = values, [], top
    while rest.any():
        digit = np.rint(np.ldexp(rest, -bits * place))
        rest = rest - np.ldexp(digit, bits * place)
        digits.append(digit)
        place -= 1
    return place + 1, np.array(digits[::-1])


def carried(first: int, digits: Floats) -> tuple[int, Floats]:
    """Digits of 20 bits from sums of such digits, below 2^53 each."""
    grown = np.concatenate([digits, np.zeros((3, *digits.shape[1:]))])
    for k in range(len(grown) - 1):
        carry = np.rint(grown[k] / (1 << HALF))
        grown[k] -= carry * (1 << HALF)
        grown[k + 1] += carry
    used = np.flatnonzero(grown.reshape(len(grown), -1).any(axis=1))
    return first, grown[: used[-1] + 1 if used.size else 0]


def products(first: int, digits: Floats) -> ExactSums:
    """(columns, columns) sums over rows of the products of each two columns.

    first, digits : (n, rows, columns) of the columns in digits of 20 bits.
    """
    n, n_rows, n_columns = digits.shape
    total = ExactSums.zeros((n_columns, n_columns))
    for at in range(0, n_rows if n else 0, ROWS):
        rows = np.ascontiguousarray(digits[:, at : at + ROWS].transpose(1, 0, 2)).reshape(-1, n * n_columns)
        table = (rows.T @ rows).astype(np.int64).reshape(n, n_columns, n, n_columns)
        by_place = np.zeros((max(2 * n - 1, 0), n_columns, n_columns), np.int64)
        for k in range(n):
            for j in range(n):
                by_place[k + j] += table[k, :, j]
        total = total + ExactSums.of_halves(2 * first, by_place)
    return total


def squares(values: Floats) -> ExactSums:
    """(columns,) sums over at most 32,768 rows of squares."""
    first, digits = digits_of(values, HALF)
    n = len(digits)
    by_place = np.zeros((max(2 * n - 1, 0), *values.shape[1:]), np.int64)
    for k in range(n):
        for j in range(n):
            by_place[k + j] += (digits[k] * digits[j]).sum(axis=0).astype(np.int64)
    return ExactSums.of_halves(2 * first, by_place)


def array_of(cells: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Python numbers as an array of objects."""
    array = np.empty(len(cells), object)
    array[:] = cells
    return array.reshape(shape)
