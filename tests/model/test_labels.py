"""Labels and numbers at the door."""

from decimal import Decimal
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.errors import ArgumentError
from qrowd.model.labels import Vocabulary, closest, factorize, matching, merge_codes, number_in, read_only


def encode(vocabulary, words):
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    text = np.frombuffer(bytearray(b"".join(words) + b"\n"), np.uint8)
    starts = np.append(0, ends)[:-1]
    return vocabulary.encode(text, starts, ends).tolist()


def number(words):
    numbers = {}
    return [numbers.setdefault(word, len(numbers)) for word in words], list(numbers)


def agree(vocabulary, batches):
    """Whether a vocabulary fed batch by batch numbers words as one dict does."""
    codes, words = number([word for batch in batches for word in batch])
    found = [code for batch in batches for code in encode(vocabulary, batch)]
    labels = [label.encode("utf-8", "surrogateescape") for label in vocabulary.labels()]
    return found == codes and labels == words and len(vocabulary) == len(words)


# ---- words of text files

few_bytes = st.binary(min_size=1, max_size=9) | st.text("ab", min_size=1, max_size=9).map(str.encode)


@given(st.lists(st.lists(few_bytes), max_size=4))
def test_words_are_numbered_in_order_of_appearance_whatever_their_bytes(batches):
    assert agree(Vocabulary(), batches)


@pytest.mark.parametrize(
    "word_of",
    [
        lambda i: b"msmarco_passage_%02d_%d" % (i % 70, i * 7919),
        lambda i: b"a long beginning that all words share" + i.to_bytes(3, "big"),
        lambda i: i.to_bytes(3, "big") + b"an end that all words share",
        lambda i: b"a" * (i % 300 + 1) + b"%d" % (i // 300),
        lambda i: i.to_bytes(4, "little") + bytes(i % 5),
    ],
    ids=["document ids", "equal beginnings", "equal ends", "equal letters", "four bytes and zeros"],
)
def test_tens_of_thousands_of_words_are_numbered_as_by_a_dict(word_of):
    words = [word_of(i) for i in range(30_000)]
    again = [*words[::-7], b"a new one", *words[:50]]
    assert agree(Vocabulary(), [words[:10], words, again])


def test_a_word_longer_than_the_whole_pool_is_kept_whole():
    assert agree(Vocabulary(), [[b"x" * 300_000, b"y", b"x" * 300_000, b"x" * 299_999]])


def test_labels_in_other_scripts_are_text_and_bytes_that_are_no_text_survive():
    vocabulary = Vocabulary()
    words = ["Ölgemälde", "文書", "🙂"]
    encode(vocabulary, [*(word.encode() for word in words), b"caf\xe9", b"\xff\xfe"])
    assert vocabulary.labels()[:3] == tuple(words)
    assert [label.encode("utf-8", "surrogateescape") for label in vocabulary.labels()[3:]] == [b"caf\xe9", b"\xff\xfe"]


def test_an_empty_vocabulary_has_no_labels():
    assert Vocabulary().labels() == ()


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
    kept = read_only(owned)
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 1
    owned[0] = 1
    assert kept[0] == 1
