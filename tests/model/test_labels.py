"""Labels and numbers at the door."""

from decimal import Decimal
from math import isnan
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.errors import ArgumentError
from qrowd.model.labels import closest, factorize, make_read_only, matching, merge_codes, number_in

# ---- labels that are text already


@given(st.lists(st.text(max_size=3) | st.integers(0, 20)))
def test_factorize_gives_every_row_its_label_back_as_text(labels):
    codes, distinct = factorize(labels)
    assert [distinct[code] for code in codes] == [str(label) for label in labels]
    assert list(distinct) == list(dict.fromkeys(str(label) for label in labels))
    assert codes.dtype == np.int32


@given(st.lists(st.lists(st.sampled_from("abcde")), min_size=1, max_size=4))
def test_merged_codes_are_those_of_all_labels_at_once(parts):
    codes, labels = zip(*(factorize(part) for part in parts), strict=True)
    merged_labels, merged = merge_codes(labels, codes)
    together, distinct = factorize(label for part in parts for label in part)
    assert merged_labels == distinct
    assert merged.tolist() == together.tolist()


# ---- choosing among labels

LABELS = ("umbrela-gpt4", "umbrela-gpt4o", "binary-gpt4", "d[1]", "d1")


def chosen(wanted):
    return [label for label, taken in zip(LABELS, matching(LABELS, wanted, "assessor"), strict=True) if taken]


def test_a_name_chooses_itself_also_where_it_looks_like_a_pattern():
    assert chosen("umbrela-gpt4") == ["umbrela-gpt4"]
    assert chosen("d[1]") == ["d[1]"]


def test_a_pattern_chooses_all_it_matches_and_cares_for_capitals():
    assert chosen("*-gpt4") == ["umbrela-gpt4", "binary-gpt4"]
    assert chosen("?[1]") == ["d1"]
    with pytest.raises(ArgumentError):
        chosen("UMBRELA*")


def test_several_names_and_patterns_choose_what_any_of_them_does():
    assert chosen(["d1", "umbrela-*"]) == ["umbrela-gpt4", "umbrela-gpt4o", "d1"]
    assert chosen([]) == []


def test_a_function_chooses_what_it_is_true_of():
    assert chosen(lambda label: label.endswith("4o")) == ["umbrela-gpt4o"]
    assert chosen(lambda label: False) == []


def test_what_matches_nothing_is_answered_with_the_nearest_label_or_with_what_there_is():
    with pytest.raises(ArgumentError, match=r"no assessor matches 'umbrella-gpt4'; did you mean 'umbrela-gpt4'\?"):
        chosen("umbrella-gpt4")
    with pytest.raises(ArgumentError, match=r"no assessor matches 'zz\*'; there are 5 assessors: umbrela-gpt4, .*, d1"):
        chosen(["d1", "zz*"])
    assert closest("zz", ("q1",), "topic") == "there is 1 topic: q1"
    assert closest("zz", (), "topic") == "there are 0 topics"
    assert closest("zz", tuple("abcdef"), "topic") == "there are 6 topics: a, b, c, d, e, ..."


# ---- numbers


@pytest.mark.parametrize(
    ("cell", "value"),
    [("1.5", 1.5), (b"-2", -2), (" 3 ", 3), (4, 4), (True, 1), (Decimal("0.1"), 0.1), ("1e400", np.inf)],
)
def test_a_number_is_read_from_text_bytes_and_numbers_alike(cell, value):
    assert number_in(cell) == value


@pytest.mark.parametrize(
    "cell", ["1_000", b"1_000", "٣", "٣".encode(), b"\xff", "", "x", "0x10", None, [], 1j, 10**400]
)
def test_what_python_alone_would_call_a_number_is_none(cell):
    assert isnan(number_in(cell))


def test_a_read_only_array_leaves_its_owner_alone():
    owned = np.zeros(2)
    data = SimpleNamespace(value=owned, seconds=None)
    make_read_only(data, ("value", "seconds"))
    with pytest.raises(ValueError, match="read-only"):
        data.value[0] = 1
    owned[0] = 1
    assert data.value[0] == 1
