"""Counts of values, per document and against each other."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.kernels.counts import alike, coincidences, confusion, value_counts

DOCUMENTS = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=6), min_size=1, max_size=12)


def counted(documents, n_values=5):
    starts = np.append(0, np.cumsum([len(said) for said in documents]))
    return value_counts(starts, np.array([code for said in documents for code in said], np.int32), n_values)


@given(DOCUMENTS)
def test_few_and_many_values_are_counted_alike(documents):
    few, many = counted(documents), counted(documents, 200)
    assert few.shape == (len(documents), 5)
    for row, said in zip(few, documents, strict=True):
        assert [row[code] for code in range(5)] == [said.count(code) for code in range(5)]
    assert np.array_equal(many.toarray()[:, :5], few)
    assert many.has_canonical_format


@given(DOCUMENTS)
def test_documents_alike_are_counted_together(documents):
    counts = counted(documents)
    rows, kind = alike(counts)
    assert len({tuple(row) for row in rows}) == len(rows)
    assert np.array_equal(rows[kind], counts)


def test_rows_too_wide_for_one_number_stay_as_they_are():
    counts = np.tile(np.arange(40.0), (3, 1))
    rows, kind = alike(counts)
    assert np.array_equal(rows, counts)
    assert list(kind) == [0, 1, 2]


@given(DOCUMENTS)
def test_coincidences_are_pairs_of_judgments_in_both_directions(documents):
    counts = counted(documents)
    expected = np.zeros((5, 5))
    for said in documents:
        for x, y in permutations(said, 2):
            expected[x, y] += 1 / (len(said) - 1)
    assert coincidences(counts) == pytest.approx(expected)
    assert coincidences(counts).sum() == pytest.approx(sum(len(said) for said in documents if len(said) > 1))
    assert coincidences(counts, np.ones(len(documents))).sum() == sum(len(said) * (len(said) - 1) for said in documents)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=20))
def test_a_confusion_counts_the_values_of_pairs(pairs):
    first, second = np.array(pairs, np.int32).reshape(-1, 2).T
    table = confusion(first, second, 4)
    assert table.sum() == len(pairs)
    for x in range(4):
        for y in range(4):
            assert table[x, y] == pairs.count((x, y))


@pytest.mark.parametrize("n_values", [3, 100])
def test_counting_values_leaves_what_it_was_given_as_it_was(n_values):
    starts, code = np.array([0, 2, 4]), np.array([1, 1, 2, 0], np.int32)
    counts = value_counts(starts, code, n_values)
    assert starts.tolist() == [0, 2, 4]
    assert code.tolist() == [1, 1, 2, 0]
    assert (counts @ np.ones(n_values)).tolist() == [2, 2]
