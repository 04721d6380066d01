"""Names for display: shorter, and never equal or empty where the names are not."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.reports.short_names import fitted_names, labels_of, short_names

WORDS = st.lists(st.sampled_from(["bm25", "rm3", "a", "llama", "3", "x" * 30]), min_size=1, max_size=6)
NAMES = st.builds(
    lambda words, marks: "".join(f"{word}{mark}" for word, mark in zip(words, marks, strict=False)),
    WORDS,
    st.lists(st.sampled_from(["_", "-", ".", "__", ""]), min_size=6, max_size=6),
)
SEVERAL = st.lists(NAMES | st.text(min_size=1, max_size=40), unique=True, max_size=8)


@given(SEVERAL)
def test_names_stay_different_and_none_becomes_empty(names):
    labels = short_names(names)
    assert len(set(labels)) == len(names)
    assert all(labels)


@given(SEVERAL)
def test_each_label_is_a_piece_of_its_name_cut_at_the_ends_of_words(names):
    for name, label in zip(names, short_names(names), strict=True):
        assert re.search(rf"(?:^|[_.-]){re.escape(label)}(?:[_.-]|$)", name) or label == name


@given(SEVERAL)
def test_nothing_is_left_to_drop(names):
    assert short_names(short_names(names)) == short_names(names)


@given(SEVERAL, st.text(st.sampled_from("ab25"), min_size=1), st.text(st.sampled_from("ab25"), min_size=1))
def test_what_is_added_to_all_names_is_dropped_again(names, before, after):
    names = [name for name in names if re.fullmatch(r"[^_.-](.*[^_.-])?", name, re.DOTALL)]
    if len(names) > 1:
        longer = [f"{before}_{name}-{after}" for name in names]
        assert [len(label) for label in short_names(longer)] <= [len(name) for name in names]


@given(SEVERAL, st.integers(1, 60))
def test_fitted_names_stay_different_and_in_order(names, longest):
    labels = fitted_names(names, longest)
    assert len(set(labels)) == len(names)
    assert all(labels)
    for name, label in zip(names, labels, strict=True):
        assert label == name or "…" in label or "…" in name or label in name


@given(SEVERAL, st.integers(1, 60))
def test_labels_of_different_names_are_different_and_none_is_empty(names, longest):
    labels = labels_of(names, longest)
    assert len(set(labels)) == len(names)
    assert all(labels)


TREC = st.builds("_".join, st.lists(st.sampled_from(["dense", "bm25", "duoT5", "2021", "run", "p"]), min_size=8))


@given(st.lists(TREC, unique=True, min_size=2, max_size=8), st.sampled_from(["", "h2oloo_msmarco-passage-"]))
def test_labels_of_names_as_those_of_trec_are_different_and_have_a_letter(names, shared):
    labels = labels_of([shared + name for name in names], 30)
    assert len(set(labels)) == len(names)
    assert all(any(letter.isalpha() for letter in label) for label in labels)


@given(SEVERAL)
def test_names_that_fit_are_as_they_were(names):
    assert fitted_names(names, 200) == tuple(names)


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["run_bm25_judged", "run_dense_judged"], ["bm25", "dense"]),
        (["bm25", "bm25_rm3"], ["bm25", "bm25_rm3"]),
        (["a_bm25", "a_bm25_rm3"], ["bm25", "bm25_rm3"]),
        (["p_bm25", "p_b"], ["bm25", "b"]),
        (["only_one"], ["only_one"]),
        ([], []),
        (["gpt-4", "gpt-4.1"], ["4", "4.1"]),
        (["bm25", "x_p_q_r", "y_p_q_r", "z-1_p_q_r"], ["bm25", "x", "y", "z-1"]),
        (["x", "x_p_q_r", "y_p_q_r", "z-1_p_q_r"], ["x", "x_p_q_r", "y_p_q_r", "z-1_p_q_r"]),
        (["a_p_q", "b_p_q", "c_p_q", "bm25"], ["a_p_q", "b_p_q", "c_p_q", "bm25"]),
        (["a_p_q_r", "b_p_q_r", "bm25"], ["a_p_q_r", "b_p_q_r", "bm25"]),
    ],
)
def test_words_that_all_share_at_either_end_and_many_at_the_end_are_dropped(names, labels):
    assert list(short_names(names)) == labels


def test_long_names_keep_what_differs():
    names = [f"colbert_rankgpt4{kind}_msmarco_v2_passage_full_2020-judged" for kind in ("", "o", "o-mini")]
    assert fitted_names(names[:2], 20) == ("colber…rankgpt4…dged", "colbe…rankgpt4o…dged")


def test_long_names_lose_the_ending_that_many_share_first():
    names = [f"colbert_rankgpt4{kind}_msmarco_v2_passage_full_2020-judged" for kind in ("", "o", "o-mini")]
    assert fitted_names([*names, "bm25"], 24) == (
        "colbert_rankgpt4…",
        "colbert_rankgpt4o…",
        "colbert_rankgpt4o-mini…",
        "bm25",
    )
