"""Columns of frames as codes: every kind of column says the same, and no Python code runs once per row."""

import sys
from math import isfinite
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrowd import tables
from qrowd.errors import RowError
from qrowd.model import labels
from qrowd.model.judgments import Judgments
from qrowd.model.labels import distinct_pairs, number_in, renumbered, repeated_rows
from qrowd.tables import from_table, split_cells

LABELS = ("topic", "document", "assessor")
ROOT = str(Path(labels.__file__).parents[1])


def judged(judgments):
    """(topic, document, assessor, value) of every row."""
    rows = zip(judgments.topic, judgments.document, judgments.assessor, judgments.value.tolist(), strict=True)
    return [(judgments.topics[t], judgments.documents[d], judgments.assessors[a], v) for t, d, a, v in rows]


# ---- kinds of columns


def pandas_of(kind):
    return lambda columns: pd.DataFrame(columns).astype(dict.fromkeys(LABELS, kind))


def arrow_dictionaries(columns):
    """Chunks whose dictionaries differ."""
    coded = {name: pa.array(cells).dictionary_encode() if name in LABELS else cells for name, cells in columns.items()}
    halves = [pa.table(coded).slice(0, 2), pa.table({name: cells[2:] for name, cells in columns.items()})]
    for name in LABELS:
        place = halves[1].column_names.index(name)
        halves[1] = halves[1].set_column(place, name, halves[1][name].dictionary_encode())
    return pa.concat_tables(halves)


def polars_of(kind):
    return lambda columns: pl.DataFrame(columns).with_columns(pl.col(*LABELS).cast(kind))


KINDS = {
    "objects of pandas": pandas_of(object),
    "str of pandas": pandas_of("str"),
    "string of pandas": pandas_of("string[python]"),
    "Arrow in pandas": pandas_of(pd.ArrowDtype(pa.string())),
    "dictionaries in pandas": pandas_of(pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
    "categories of pandas": pandas_of("category"),
    "text of Polars": pl.DataFrame,
    "categories of Polars": polars_of(pl.Categorical),
    "fixed categories of Polars": polars_of(pl.Enum([f"{letter}{i}" for letter in "cba" for i in range(5)])),
    "text of Arrow": pa.table,
    "views of Arrow": lambda columns: pa.table(
        {name: pa.array(cells, pa.string_view() if name in LABELS else None) for name, cells in columns.items()}
    ),
    "dictionaries of Arrow": arrow_dictionaries,
    "arrays": lambda columns: {name: np.array(cells) for name, cells in columns.items()},
    "series": lambda columns: {name: pl.Series(cells) for name, cells in columns.items()},
}
cells_of = st.sampled_from([f"{letter}{i}" for letter in "abc" for i in range(5)])
rows_of = st.lists(st.tuples(cells_of, cells_of, cells_of, st.integers(0, 3)), min_size=3, max_size=12)


@settings(max_examples=8)
@given(rows_of)
def test_every_kind_of_column_gives_the_same_judgments(rows):
    columns = dict(zip((*LABELS, "value"), map(list, zip(*rows, strict=True)), strict=True))
    expected = Judgments.from_rows(rows)
    for kind, make in KINDS.items():
        judgments = Judgments.from_frame(make(columns))
        assert judged(judgments) == [(*row[:3], float(row[3])) for row in rows], kind
        for name in ("topics", "documents", "assessors", "scales"):
            assert getattr(judgments, name) == getattr(expected, name), kind
        assert {getattr(judgments, name).dtype for name in LABELS} == {np.dtype(np.int32)}


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"arrays", "series", "fixed categories of Polars"}))
def test_a_missing_cell_of_any_kind_of_column_is_named_with_its_row(kind):
    rows = {"topic": ["t"] * 4, "document": ["a", "b", "c", "d"], "assessor": ["x", "y", None, "x"], "value": [1] * 4}
    with pytest.raises(RowError, match=r"^row 3: assessor is missing \(1 such row\)"):
        Judgments.from_frame(KINDS[kind](rows))
    kept = Judgments.from_frame(KINDS[kind](rows), incomplete_rows="drop")
    assert (kept.documents, kept.assessors) == (("a", "b", "d"), ("x", "y"))


@pytest.mark.parametrize("topic", [[3, 1, 3], [10**15, 1, 10**15], [2**62, 1, 2**62], [-5, 4, -5]])
def test_whole_numbers_are_labels_whether_they_are_close_together_or_not(topic):
    for make in (pd.DataFrame, pl.DataFrame, pa.table, dict):
        judgments = Judgments.from_frame(make({"topic": topic, "document": ["a", "b", "c"], "value": [1, 0, 1]}))
        assert judgments.topics == tuple(map(str, topic[:2]))
        assert judgments.topic.tolist() == [0, 1, 0]


texts = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-5, 5).map(str),
    st.sampled_from(["1e3", " 2", "+1", "1_0", "x", "inf", "٣", "0x1"]),
)


@given(st.lists(texts, max_size=8))
def test_numbers_in_text_are_those_of_python_and_the_others_are_named_with_their_rows(values):
    values = ["0", *values]  # a column of nothing but words is refused as such
    frame = {"topic": ["t"] * len(values), "document": [f"d{i}" for i in range(len(values))], "value": values}
    numbers = [number_in(text) for text in values]
    wrong = [row for row, number in enumerate(numbers, start=1) if not isfinite(number)]
    if not wrong:
        assert Judgments.from_frame(frame).value.tolist() == numbers
        return
    with pytest.raises(RowError) as refused:
        Judgments.from_frame(frame)
    assert [refused.value.row, *(row for row, _ in refused.value.more)] == wrong


# ---- text that is split at once

plain = st.text("abé1. ", max_size=3)


@given(
    st.integers(2, 3).flatmap(lambda n: st.lists(st.lists(plain, min_size=n, max_size=n), min_size=1, max_size=9)),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 30),
)
def test_lines_without_quotes_are_split_as_python_s_reader_splits_them(rows, separator, newline, chunk):
    text = newline.join(separator.join(row) for row in rows) + newline
    expected = [[cell or None for cell in column] for column in zip(*rows, strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "CHUNK", chunk)
        columns = split_cells(text.encode(), separator, len(rows[0]))
    if columns is None:  # a line may be blank
        assert all(any(not (cell or "").strip() for cell in column) for column in expected)
        return
    assert [list(column) for column in columns] == expected
    assert [list(column.distinct) for column in columns] == [list(dict.fromkeys(column)) for column in expected]
    assert [column[0] for column in columns] == [column[0] for column in expected]


@pytest.mark.parametrize("text", [b"", b'a,"b"\n', b"a,b\nc\n", b"a\nb,c,d\n", b"a,b\n\nc,d\n", b"a,b\rc,d\n", b",\n"])
def test_lines_that_are_not_plain_are_left_to_the_slow_reader(text):
    assert split_cells(text, ",", 2) is None


def test_a_plain_csv_file_of_twice_the_rows_takes_no_more_calls_of_python():
    small, large = (pd.DataFrame(columns_of(n)).to_csv(index=False).encode() for n in (10_000, 20_000))
    from_table(Judgments, small, "x.csv")
    assert calls(lambda: from_table(Judgments, large, "x.csv")) == calls(lambda: from_table(Judgments, small, "x.csv"))


# ---- work per row, and memory


def columns_of(n):
    rows = np.arange(n)
    return {
        "topic": [f"t{i}" for i in rows % 50],
        "document": [f"d{i}" for i in rows % 200],
        "assessor": [f"a{i}" for i in rows // 200 % 20],
        "value": [str(i) for i in rows % 4],
        "order": rows.tolist(),
        "unit": [f"u{i}" for i in rows // 200 % 30],
    }


def calls(work):
    """How many functions of qrowd are called, and how many others qrowd calls.

    Calls inside pandas are not counted: a few of them depend on what it remembers.
    """
    count = 0

    def profile(frame, event, _):
        nonlocal count
        callers = [frame] if event == "c_call" else [frame, frame.f_back] if event == "call" else []
        count += any(caller is not None and caller.f_code.co_filename.startswith(ROOT) for caller in callers)

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "make",
    [
        dict,
        pd.DataFrame,
        pa.table,
        *(
            pytest.param(make, marks=pytest.mark.nightly)
            for make in (pl.DataFrame, pandas_of("category"), pandas_of(object))
        ),
    ],
)
def test_a_table_of_twice_the_rows_takes_no_more_calls_of_python(make):
    small, large = make(columns_of(10_000)), make(columns_of(20_000))
    for frame in (small, large):
        Judgments.from_frame(frame)  # which imports what is needed; pandas remembers what it was asked of a frame
    assert calls(lambda: Judgments.from_frame(large)) == calls(lambda: Judgments.from_frame(small))


def test_judgments_take_at_most_24_bytes_a_row_after_they_were_asked_for_repeats():
    columns = columns_of(4_000)
    judgments = Judgments.from_frame({name: columns[name] for name in (*LABELS, "value")})
    judgments.n_repeats(), judgments.single(), judgments.panel()
    columns = [value for value in vars(judgments).values() if isinstance(value, np.ndarray)]
    remembered = [array for value in vars(judgments).values() if isinstance(value, tuple) for array in value]
    arrays = [*columns, *(array for array in remembered if isinstance(array, np.ndarray))]
    assert sum(array.nbytes for array in arrays) <= 24 * len(judgments)


# ---- codes

codes_of = st.lists(st.integers(0, 5), max_size=30).map(lambda codes: np.array(codes, np.int32))


rows_at_once = st.sampled_from([2, 7, labels.AT_ONCE])


@given(codes_of, rows_at_once)
def test_labels_are_numbered_in_order_of_appearance(codes, at_once):
    expected = list(dict.fromkeys(codes.tolist()))
    with mock.patch.object(labels, "AT_ONCE", at_once):
        new, words = renumbered(codes, "abcdef")
    assert [words[i] for i in new] == ["abcdef"[i] for i in codes]
    assert list(words) == ["abcdef"[i] for i in expected]


@given(codes_of, st.sampled_from([6, 1 << 40]), rows_at_once)
def test_distinct_pairs_are_those_of_python(codes, size, at_once):
    other = codes[::-1].copy()
    with mock.patch.object(labels, "AT_ONCE", at_once):
        pairs, places = distinct_pairs(codes, other, size)
    numbers = [first * size + second for first, second in zip(codes.tolist(), other.tolist(), strict=True)]
    assert pairs.tolist() == sorted(set(numbers))
    assert pairs[places].tolist() == numbers


@given(
    st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=20),
    st.sampled_from([(3, 3), (1 << 21, 3), (3, 1 << 30), (1 << 40, 1 << 40)]),
    rows_at_once,
)
def test_repeated_rows_are_those_whose_combination_comes_more_than_once(rows, sizes, at_once):
    columns = np.array(rows, np.int32).reshape(-1, 3)
    with mock.patch.object(labels, "AT_ONCE", at_once):
        repeated, again = repeated_rows(*columns.T, *sizes)
    several = sorted((row, i) for i, row in enumerate(rows) if rows.count(row) > 1)
    assert repeated.tolist() == [i for _, i in several]
    assert again.tolist() == [i > 0 and several[i - 1][0] == row for i, (row, _) in enumerate(several)]
