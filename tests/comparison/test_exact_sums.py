"""Sums of floats are exact: the same to the bit in any order and any grouping."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qrowd.comparison.exact_sums import HALF, ExactSums, carried, digits_of, products, squares

ANY = st.floats(allow_nan=False, allow_infinity=False, width=64).filter(lambda x: abs(x) < 1e300)
ROWS = st.lists(st.tuples(ANY, ANY), min_size=1, max_size=8)


def exact(values):
    return [sum(map(Fraction, column), Fraction(0)) for column in np.asarray(values).T.tolist()]


@given(ROWS)
def test_a_sum_is_that_of_fractions_and_is_rounded_once(rows):
    sums = ExactSums.over(np.array(rows), 0)
    assert sums.fractions().tolist() == exact(rows)
    assert sums.floats().tolist() == [float(one) for one in exact(rows)]


@given(ROWS, st.data())
def test_parts_in_any_order_give_the_same_digits(rows, data):
    whole = ExactSums.over(np.array(rows), 0)
    parts = [data.draw(st.integers(0, 3)) for _ in rows]
    total = ExactSums.zeros((2,))
    for part in data.draw(st.permutations(range(4))):
        own = [row for row, number in zip(rows, parts, strict=True) if number == part]
        total = total + ExactSums.over(np.array(own).reshape(-1, 2), 0)
    assert (total.digits.tolist(), total.first if len(total.digits) else 0) == (whole.digits.tolist(), whole.first)


@given(ROWS)
def test_sums_of_products_are_those_of_fractions(rows):
    values = np.array(rows)
    columns = [[Fraction(cell) for cell in column] for column in values.T.tolist()]
    expected = [[sum(x * y for x, y in zip(one, other, strict=True)) for other in columns] for one in columns]
    assert products(*digits_of(values, HALF)).fractions().tolist() == expected
    assert squares(values).fractions().tolist() == [expected[0][0], expected[1][1]]


@given(st.lists(st.lists(ANY, min_size=3, max_size=3), min_size=1, max_size=40))
def test_digits_that_were_added_are_digits_again(rows):
    first, digits = digits_of(np.array(rows), HALF)
    start, summed = carried(first, digits.sum(axis=1))
    assert (np.abs(summed) <= 1 << HALF - 1).all()
    total = sum((Fraction(2) ** (HALF * (start + k)) * int(d[0]) for k, d in enumerate(summed)), Fraction(0))
    assert total == exact(rows)[0]


def test_a_million_sums_of_one_tenth_are_a_million_times_that_float():
    sums = ExactSums.over(np.full((1_000_000, 1), 0.1), 0)
    assert sums.fractions()[0] == 1_000_000 * Fraction(0.1)
    assert (sums + sums).floats()[0] == 200_000.0


def test_the_products_of_many_rows_of_the_largest_digits_are_exact():
    n, value = 70_000, float(2**53 - 1) / 2**53
    first, digits = digits_of(np.full((n, 1), value), HALF)
    assert products(first, digits).fractions()[0, 0] == n * Fraction(value) ** 2
