"""The text kernels against Python's own split, float and dict, in C and without it."""

import sys
from collections.abc import Iterator
from fractions import Fraction
from math import isnan, nextafter
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qrowd.kernels.text import encode_words, place_words, split_fields
from strategies import few


@pytest.fixture(autouse=True, scope="module", params=["in C", "in Python"])
def language(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "in Python":
            for kernel in (encode_words, place_words, split_fields):
                patch.setattr(sys.modules[__name__], kernel.__name__, kernel.__wrapped__)  # type: ignore[attr-defined]
        yield


def characters(text):
    return np.frombuffer(text, np.uint8)


def spans(words):
    """The words in one text, and where each starts and ends."""
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    return characters(b"".join(words) + b"\n"), ends - [len(word) for word in words], ends


# ---- fields


def split(text, n_fields, wanted, first=0):
    """(rows, first bad line) as the kernel finds them."""
    kinds = np.zeros(n_fields, np.int64)
    kinds[wanted] = np.arange(1, len(wanted) + 1)
    starts, ends = np.empty((2, len(wanted), text.count(b"\n")), np.int64)
    n_rows, undecided, bad_line = split_fields(characters(text), first, kinds, starts, ends, np.empty((0, 0)))
    assert undecided == 0
    rows = [
        [text[a:b] for a, b in zip(starts[:, row].tolist(), ends[:, row].tolist(), strict=True)]
        for row in range(n_rows)
    ]
    return rows, bad_line


def split_plainly(text, n_fields, wanted):
    rows = []
    for number, line in enumerate(text.split(b"\n"), start=1):
        fields = line.split()
        if not fields or line.startswith(b"#"):
            continue
        if len(fields) != n_fields:
            return rows, number
        rows.append([fields[i] for i in wanted])
    return rows, 0


# Blanks of all kinds, what only looks like one (\x1c, \x85, \xa0 are data in a text of bytes), and letters.
messy_lines = st.lists(st.sampled_from([bytes([c]) for c in b" \t\r\v\f\n\n#ab\x00\x1c\x85\xa0\xc3\xff"])).map(b"".join)
tidy_lines = st.lists(
    st.sampled_from([b"a b\n", b" a\tb \r\n", b"# x\n", b"#\n", b"\n", b"a #\n", b"\xc3\xa9 #b\n"])
).map(b"".join)


@given(messy_lines | tidy_lines, st.sampled_from([(1, [0]), (2, [0, 1]), (2, [1]), (3, [0, 2])]))
def test_fields_are_those_that_bytes_split_finds(text, form):
    text += b"\n"
    assert split(text, *form) == split_plainly(text, *form)


def test_the_first_line_of_another_length_is_named_and_nothing_after_it_is_read():
    assert split(b"a b\n\n# c\nd\ne f\ng\n", 2, [0, 1]) == ([[b"a", b"b"]], 4)


def test_reading_may_begin_after_a_byte_order_mark():
    assert split(b"\xef\xbb\xbf# x\na b\n", 2, [0, 1], first=3) == ([[b"a", b"b"]], 0)


@given(st.lists(st.tuples(st.sampled_from([b"a", b"#", b"7"]), st.sampled_from([b"1", b"-2.5", b"x", b"1e5x", b"3#"]))))
def test_numbers_are_read_where_they_stand_and_what_is_none_ends_where_its_field_ends(rows):
    text = b"".join(b" %s\t%s \r\n%s" % (*row, b"# y\n") for row in rows)
    starts, ends, numbers = *np.empty((2, 1, len(rows)), np.int64), np.empty((1, len(rows)))
    n_rows, undecided, bad = split_fields(characters(text), 0, np.array([1, -1]), starts, ends, numbers)
    assert (n_rows, bad) == (len(rows), 0)
    assert [text[a:b] for a, b in zip(starts[0].tolist(), ends[0].tolist(), strict=True)] == [word for word, _ in rows]
    expected = [float(number) if number in (b"1", b"-2.5") else np.nan for _, number in rows]
    np.testing.assert_array_equal(numbers[0], expected)
    assert undecided == np.isnan(expected).sum()


# ---- numbers


def parsed(words):
    """The numbers, and how many of them the kernel left open."""
    nothing, values = np.empty((0, 0), np.int64), np.empty((1, len(words)))
    text = b"".join(b" " + word + b"\n" for word in words)
    n_rows, undecided, bad_line = split_fields(characters(text), 0, np.array([-1]), nothing, nothing, values)
    assert (n_rows, bad_line) == (len(words), 0)
    return values[0].tolist(), undecided


def same(a, b):
    return a == b and str(a) == str(b)  # tells 0.0 from -0.0


def near_halfway(x, digits=18):
    """A decimal of so many digits that lies as close as it can to the middle between x and the next double."""
    middle = (Fraction(x) + Fraction(nextafter(x, 2 * x))) / 2
    scale = digits - len(str(int(middle)))
    text = str(round(middle * 10**scale)).rjust(scale + 1, "0")
    return f"{text[:-scale]}.{text[-scale:]}" if scale > 0 else text


spellings = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e4, 1e4).flatmap(lambda x: st.sampled_from([f"{x:.6f}", f"{x:.17g}", f"{x:.15e}", f"{x:+.20f}"])),
    st.floats(1e-3, 9e17).map(near_halfway),
    st.integers(-(10**19), 10**19).map(str),
    st.tuples(st.integers(2**53, 10**18 - 1), st.integers(-25, 25)).map(lambda pair: f"{pair[0]}e{pair[1]}"),
    st.from_regex(r"[+-]?([0-9]{1,20}\.?[0-9]{0,20}|\.[0-9]{1,20})([eE][+-]?[0-9]{1,3})?", fullmatch=True),
)


# As near to the middle of two doubles as 17 digits come: 2**-52 of the way.
HARDEST = ["18619171474561938e-22", "9309585737280969e-22", "17143615390672437e-22", "16234985683546313e-22"]


@few
@given(st.lists(spellings, min_size=20, max_size=50))
@example(HARDEST)
@example(["9007199254740993", "9007199254740992.5", "-0", "-0.0", "0e400", "1.", ".5", "1e+05", "00000000000000000001"])
@example(["999999999999999999e-22", "123456789012345678e-22", "1e22", "1e23", "1e-23", "3e23", "9007199254740993e-1"])
@example(["179769313486231580793728971405301e275", "4.9406564584124654e-324", "2.2250738585072011e-308", "1e999"])
def test_a_number_is_exactly_the_double_that_python_reads_or_left_to_python(words):
    values, undecided = parsed([word.encode() for word in words])
    assert undecided == sum(map(isnan, values))
    for word, value in zip(words, values, strict=True):
        assert isnan(value) or same(value, float(word)), word


def test_twenty_thousand_numbers_of_many_digits_are_exactly_what_python_reads():
    random = Random(1)
    mantissas = [str(random.randrange(10**15, 10**19)) for _ in range(10_000)]
    words = [f"{m}e{random.randint(-25, 25)}" for m in mantissas] + [f"0.{m}" for m in mantissas]
    values, _ = parsed([word.encode() for word in words])
    pairs = zip(words, values, strict=True)
    assert [(word, value) for word, value in pairs if not (isnan(value) or same(value, float(word)))] == []


@given(st.floats(-1e6, 1e6), st.integers(0, 9))
def test_what_programs_print_is_decided_without_python(x, places):
    values, undecided = parsed([f"{x:.{places}f}".encode(), f"{x:.{places}e}".encode(), str(int(x)).encode()])
    assert undecided <= (abs(x) < 1e-13)  # below, %e needs a power of ten that no double holds
    assert same(values[0], float(f"{x:.{places}f}"))


NO_NUMBERS = [b"x", b"-", b"+", b".", b"-.", b"e5", b".e5", b"1e", b"1e+", b"1e5.0", b"1..2", b"1.2.3", b"--1", b"+-1"]
NO_NUMBERS += [b"1_000", b"0x10", b"nan", b"inf", b"-inf", b"infinity", b"1,5", b"1f", b"\xd9\xa3", b"\xff", b"12\x00"]


@pytest.mark.parametrize("word", NO_NUMBERS)
def test_what_is_no_decimal_is_left_open(word):
    values, undecided = parsed([b"1", word, b"2"])
    assert undecided == 1
    assert [values[0], values[2]] == [1, 2]
    assert isnan(values[1])


# ---- words


def tables(n_slots, pool_size, n_ends):
    return np.full(n_slots, -1, np.int32), np.full(pool_size, 7, np.uint8), np.zeros(n_ends, np.int64)


def test_numbering_stops_where_a_table_is_full_and_goes_on_where_it_stopped():
    words = [b"one", b"one", b"two", b"one", b"three", b"two"]
    text, starts, ends = spans(words)
    slots, pool, pool_ends = tables(4, 100, 10)
    codes = np.full(len(words), -9, np.int32)
    assert encode_words(text, starts, ends, slots, pool, pool_ends, 0, 0, codes) == (2, 4)
    assert codes.tolist() == [0, 0, 1, 0, -9, -9]

    larger, _, _ = tables(16, 100, 10)
    place_words(pool, pool_ends, 2, larger)
    assert encode_words(text, starts, ends, larger, pool, pool_ends, 2, 4, codes) == (3, 6)
    assert codes.tolist() == [0, 0, 1, 0, 2, 1]
    assert pool[: pool_ends[3]].tobytes() == b"one\ntwo\nthree\n"


@pytest.mark.parametrize(("pool_size", "n_ends"), [(8, 10), (100, 2)])
def test_a_word_that_does_not_fit_is_not_written(pool_size, n_ends):
    text, starts, ends = spans([b"one", b"three"])
    slots, pool, pool_ends = tables(16, pool_size, n_ends)
    codes = np.full(2, -9, np.int32)
    assert encode_words(text, starts, ends, slots, pool, pool_ends, 0, 0, codes) == (1, 1)
    assert codes.tolist() == [0, -9]
    assert (slots >= 0).sum() == 1
    assert (pool[4:] == 7).all()
