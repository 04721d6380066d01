"""Names for display: shorter, and never equal or empty where the names are not."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrowd.reports.short_names import fitted_names, short_names

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
@settings(max_examples=settings.default.max_examples // 2)
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
    ],
)
def test_words_that_all_share_at_either_end_are_dropped(names, labels):
    assert list(short_names(names)) == labels
