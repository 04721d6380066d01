"""Words of text files as numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.model.labels import Vocabulary, Words, joined_codes


def encode(vocabulary, words):
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    text = np.frombuffer(b"".join(words) + b"\n", np.uint8)
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

few_bytes = st.binary(min_size=1, max_size=9).map(lambda word: word.replace(b"\n", b"\t"))
few_bytes |= st.text("ab", min_size=1, max_size=9).map(str.encode)


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
    words = [word_of(i).replace(b"\n", b"\t") for i in range(30_000)]
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


# ---- several columns


@given(st.lists(st.tuples(st.booleans(), st.lists(few_bytes)), max_size=6))
def test_words_of_the_columns_that_are_joined_are_numbered_as_by_a_dict(columns):
    vocabulary = Vocabulary()
    coded = [(joined, np.array(encode(vocabulary, words), np.int32), words) for joined, words in columns]
    chosen = [codes for joined, codes, _ in coded if joined] or [np.empty(0, np.int32)]
    labels, joined = joined_codes(vocabulary, chosen)
    codes, expected = number([word for joined, _, words in coded if joined for word in words])
    assert joined.tolist() == codes
    assert [label.encode("utf-8", "surrogateescape") for label in labels] == expected


def test_what_words_name_have_vocabularies_of_their_own():
    words = Words()
    assert words["topic"] is words["topic"]
    assert words["topic"] is not words["document"]
