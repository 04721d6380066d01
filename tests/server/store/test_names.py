"""Names: one form for each, and no two that look alike."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.errors import ArgumentError
from qrowd_server.store.invitation_links import check_script, normal_name, skeleton

ALIKE = [
    ("ann", "аnn"),  # a Cyrillic letter
    ("ann", "αnn"),  # a Greek one
    ("ace", "асе"),  # Cyrillic throughout
    ("zoë", "zoe\u0308"),  # the same in another form
    ("Ann", "ANN"),
    ("ann", "ａｎｎ"),  # full width
    ("fin", "ﬁn"),  # a ligature
    ("al", "a1"),
    ("bern", "bem"),
    ("Straße", "STRASSE"),
    ("bob", "b0b"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_names_that_look_alike_have_one_skeleton(one: str, other: str) -> None:
    assert skeleton(normal_name(one)) == skeleton(normal_name(other))


def test_names_that_differ_have_skeletons_that_differ() -> None:
    names = ["ann", "anna", "anne", "zoë", "zoe", "a2", "a3", "a22", "bob", "李雷", "韩梅梅", "Юля", "نور", "ნინო"]
    assert len({skeleton(name) for name in names}) == len(names)


def test_links_without_names_never_look_alike() -> None:
    assert len({skeleton(f"a{number}") for number in range(1, 5001)}) == 5000


@pytest.mark.parametrize(
    "text",
    [
        "\u202eann",
        "an\u200bn",
        "a\u0000",
        "\u2066x",
        "",
        "   ",
        "x" * 101,
        "a\tb",
        "\ud800",
        "\u3164",
        "an\u115fn",
        "\u2800",
        "an\u034fn",
        "ann\ufe0f",
        "\U000e0100ann",
    ],
)
def test_a_name_that_cannot_be_shown_as_it_is_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="name"):
        normal_name(text)


@pytest.mark.parametrize("name", ["pаul", "αnn", "Юля1x", "نورann"])
def test_a_name_of_several_scripts_is_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="mixes letters of several scripts"):
        check_script(name)


@pytest.mark.parametrize(
    "name", ["ann-2", "Zoë.Müller", "李雷A", "さくらサクラ桜", "김철수", "Юля_7", "O'Neil", "نور۱"]
)
def test_a_name_of_one_script_or_of_those_written_together_is_taken(name: str) -> None:
    check_script(normal_name(name))


@given(st.text(max_size=30))
def test_the_form_of_a_name_is_its_own_form_and_looks_like_the_text(text: str) -> None:
    try:
        name = normal_name(text)
    except ArgumentError:
        return
    assert normal_name(name) == name
    assert unicodedata.is_normalized("NFC", name)
    assert skeleton(name) == skeleton(normal_name(unicodedata.normalize("NFD", name)))
