"""Tied rows are sorted, and labels found, by their bytes alone. Other kernels of lists are tested as rankings."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qrowd.kernels.lists import find_labels, has_repeats, sort_ties
from qrowd.model.runs import label_text

labels = st.text(st.sampled_from("abé𝄞\udc80"), max_size=12)


def as_bytes(label):
    return label.encode("utf-8", "surrogateescape")


@given(st.lists(labels, max_size=40, unique=True), st.data())
def test_tied_rows_stand_by_falling_bytes_of_their_labels(documents, data):
    tied = np.array([False, *data.draw(st.lists(st.booleans(), min_size=40, max_size=40))])[: len(documents)]
    rows = np.array(data.draw(st.permutations(range(len(documents)))), np.int64)
    expected = []
    for group in np.split(rows, np.flatnonzero(~tied)[1:]) if documents else []:
        expected += sorted(group.tolist(), key=lambda row: as_bytes(documents[row]), reverse=True)
    sort_ties(rows, tied, np.arange(len(documents), dtype=np.int32), *label_text(documents))
    assert rows.tolist() == expected


@given(st.lists(labels, max_size=30, unique=True), st.lists(labels, max_size=30, unique=True))
def test_each_label_is_found_where_it_stands_among_others_or_not_at_all(own, others):
    places = np.empty(len(own), np.int32)
    find_labels(*label_text(own), *label_text(others), np.full(128, -1, np.int64), places)
    assert places.tolist() == [others.index(label) if label in others else -1 for label in own]


def test_documents_twice_in_a_list_are_found_among_lists_that_are_numbered_on_from_call_to_call():
    last_list = np.full(3, -1, np.int64)
    starts, lengths = np.array([0, 2]), np.array([2, 1])
    assert not has_repeats(starts, lengths, np.array([0, 1, 0], np.int32), 0, last_list)
    assert not has_repeats(starts, lengths, np.array([0, 2, 1], np.int32), 2, last_list)
    assert last_list.tolist() == [2, 3, 2]
    assert has_repeats(starts, lengths, np.array([1, 1, 0], np.int32), 4, last_list)
