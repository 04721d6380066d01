"""What is a number, what is a grade, and what to tell somebody who typed neither."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import protocols as oracle
from qrowd_server.protocols.events import Refusal
from qrowd_server.protocols.grades import parse_grade
from qrowd_server.protocols.magnitude_protocol import parse_magnitude
from qrowd_server.protocols.protocol import check_text

ABOVE_0 = "Enter a number greater than 0, for example 0.5, 10 or 250."
LARGE = "This number is too large to keep. Enter a smaller one, for example 250 or 1e6."
SMALL = "This number is too close to 0 to keep. Enter a larger one, for example 0.5 or 1e-6."


@pytest.mark.parametrize(
    ("text", "number"),
    {
        "40": 40, ".5": 0.5, "0,5": 0.5, ",5": 0.5, "5.": 5, "1e3": 1000, "1,5E2": 150, "5e-2": 0.05, "+3": 3, "007": 7,
        " 40 ": 40, "\u00a040\u202f": 40, "\u2009\u200b40\ufeff": 40, "\t40\n": 40, "12,5": 12.5, "0,500": 0.5,
        "1234,567": 1234.567, "1.000": 1, "1000": 1000, "1,0000": 1, "1e300": 1e300, "1e-300": 1e-300,
        "\u0664\u0660": 40, "\u0660\u066b\u0665": 0.5, "\uff11\uff12": 12,
        "1/2": 0.5, "3 / 4": 0.75, "10/04": 2.5, "2\u20444": 0.5, "1,5/3": 0.5, "\u0661/\u0664": 0.25,
    }.items(),
)  # fmt: skip
def test_numbers_are_read_as_people_write_them(text, number):
    assert parse_magnitude(text) == number


@pytest.mark.parametrize(
    ("text", "message"),
    [(text, ABOVE_0) for text in ("", " ", "0", "0,0", "0e999", "-1", "\u22121", "+", ".", "e3", "ten", "nan", "inf",
                                  "-inf", "0x10", "1/0", "0/2", "/2", "1/2/3",
                                  "1/-2", "50%", "1e1e1", "1e", "\u00bd", "9" * 101, "0,000", "40 mm")]
    + [(text, ABOVE_0) for text in ("1 000", "1\u202f000", "1,000,000", "1.000,5", "1,000.5", "1'000", "1_000", "1 2")]
    + [(text, LARGE) for text in ("1e999", "1e301", "9" * 90 + "e250")]
    + [(text, SMALL) for text in ("1e-999", "1e-301")]
    + [
        ("1,000", "1,000 can be read in two ways. Write 1000 for a large number, or 1.000 for a small one."),
        (" +12,345 ", "+12,345 can be read in two ways. Write 12345 for a large number, or 12.345 for a small one."),
        ("\u0661,\u0660\u0660\u0660",
         "\u0661,\u0660\u0660\u0660 can be read in two ways. Write 1000 for a large number, or 1.000 for a small one."),
    ],
)  # fmt: skip
def test_what_is_no_number_above_0_is_refused_with_what_would_be(text, message):
    with pytest.raises(Refusal) as found:
        parse_magnitude(text)
    assert (found.value.code, found.value.field, str(found.value)) == ("number", "text", message)


@given(st.floats(1e-300, 1e300))
def test_whatever_python_writes_is_read(number):
    assert parse_magnitude(repr(number)) == number


@given(st.text(alphabet="0123456789.,e+-/ ", max_size=8))
def test_a_number_is_what_it_says_or_is_refused(text):
    expected = oracle.number(text)
    try:
        assert parse_magnitude(text) == (pytest.approx(expected, rel=1e-15) if "/" in text else expected)
    except Refusal as refusal:
        two_ways = "two ways" in refusal.message
        far = expected is None or not 1e-300 <= expected <= 1e300
        assert two_ways or far


@given(st.text(max_size=20))
def test_any_text_is_a_number_above_0_or_refused(text):
    try:
        assert 1e-300 <= parse_magnitude(text) <= 1e300
    except Refusal as refusal:
        assert refusal.code == "number"  # noqa: PT017


def test_a_grade_is_one_of_the_scale():
    assert [parse_grade(text, ("no", "some", "yes")) for text in ("0", " 1 ", "2", "02")] == [0, 1, 2, 2]


@pytest.mark.parametrize("text", ["3", "-1", "", "1.0", "yes", "\u0661", "1e0", "9" * 5000, "nan"])
def test_anything_else_is_refused_with_the_grades(text):
    with pytest.raises(Refusal) as found:
        parse_grade(text, ("no", "some", "2"))
    assert (found.value.code, found.value.field) == ("grade", "text")
    assert str(found.value) == "Choose one of the grades: 0 (no), 1 (some), 2."


@pytest.mark.parametrize(
    ("text", "required", "message"),
    [
        (" \n", True, "Give a reason in a few words, for example what the document says about the topic."),
        ("x" * 1001, False, "Use at most 1,000 characters; these are 1,001."),
        ("a\0b", False, "The text holds a character that cannot be stored. Please type it again."),
        ("\ud83d", False, "The text holds a character that cannot be stored. Please type it again."),
    ],
)
def test_words_that_cannot_be_kept_are_refused(text, required, message):
    with pytest.raises(Refusal) as found:
        check_text(text, "reason", longest=1000, required=required)
    assert (found.value.code, found.value.field, str(found.value)) == ("reason", "reason", message)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=50))
def test_all_other_words_are_kept(text):
    assert check_text(text, "reason", longest=50) is None
    assert text.encode().decode() == text
