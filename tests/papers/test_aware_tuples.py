"""Labels of many small panels: the same as each panel merged by itself."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from qrowd import aggregation
from qrowd.model.judgments import Judgments
from qrowd_papers.aware.tuples import dawid_skene, vote

FLOOR, TOL, MOST = 1e-10, 1e-3, 1000
NOTHING = np.empty((0, 0), np.int8)


@st.composite
def panels(draw):
    """(documents, assessors) labels, some not given, and members of two small panels of the same size."""
    n_documents, n_assessors = draw(st.integers(1, 12)), draw(st.integers(2, 10))
    lowest = draw(st.sampled_from([0, -1]))
    said = draw(hnp.arrays(np.int8, (n_documents, n_assessors), elements=st.integers(lowest, 1)))
    k = draw(st.integers(1, n_assessors))
    members = [sorted(draw(st.permutations(range(n_assessors)))[:k]) for _ in range(2)]
    return said, np.array(members)


def judgments_of(said, members):
    rows = [
        ("q", f"d{d:02}", f"a{a:02}", int(said[d, a])) for d in range(said.shape[0]) for a in members if said[d, a] >= 0
    ]
    return Judgments.from_rows(rows, scales={"*": "binary"}) if rows else None


def merged(said, members, method):
    """(documents,) labels by the room of aggregation; -1 where nobody judged."""
    out = np.full(said.shape[0], -1)
    judgments = judgments_of(said, members)
    if judgments is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # small panels may not converge
            found = method(judgments).judgments
        for document, value in zip(found.document, found.value, strict=True):
            out[int(found.documents[document][1:])] = value
    return out


@given(panels(), st.integers(0, 1))
def test_the_vote_is_the_majority_and_the_coin_decides_ties(panel, side):
    said, members = panel
    coins = np.full((said.shape[0], len(members)), side, np.uint8)
    found = vote(said, members, coins)
    ties = "highest" if side else "lowest"
    for t, who in enumerate(members):
        assert found[:, t].tolist() == merged(said, who, lambda j: aggregation.majority_vote(j, ties=ties)).tolist()


@given(panels())
@settings(max_examples=settings.default.max_examples * 6 // 5)
def test_dawid_skene_from_the_vote_is_that_of_the_room(panel):
    said, members = panel
    voted = vote(said, members, np.zeros((said.shape[0], len(members)), np.uint8))
    found = dawid_skene(said, members, voted, 0.9, FLOOR, TOL, MOST)
    for t, who in enumerate(members):
        expected = merged(said, who, lambda j: aggregation.dawid_skene(j, ties="lowest"))
        assert found[:, t].tolist() == (expected if _comparable(said, who) else found[:, t]).tolist()


@given(panels())
@settings(max_examples=settings.default.max_examples * 6 // 5)
def test_dawid_skene_from_honest_assessors_is_that_of_the_room(panel):
    said, members = panel
    found = dawid_skene(said, members, NOTHING, 0.9, FLOOR, TOL, MOST)
    for t, who in enumerate(members):
        expected = merged(said, who, lambda j: aggregation.dawid_skene(j, start="honest"))
        assert found[:, t].tolist() == (expected if _comparable(said, who) else found[:, t]).tolist()


def _comparable(said, members):
    """Whether both must find the same.

    The room knows only the grades that were given: with one alone it has nothing to decide. Where two assessors can
    change places and the panel stays the same, the iteration may stand on a saddle, from which rounding alone leads to
    one side or the other.
    """
    labels = said[:, members]
    rows = sorted(labels.tolist())
    for a, b in combinations(range(labels.shape[1]), 2):
        swapped = labels.copy()
        swapped[:, [a, b]] = labels[:, [b, a]]
        if (swapped != labels).any() and sorted(swapped.tolist()) == rows:
            return False
    return set(np.unique(labels)) >= {0, 1}


@pytest.mark.parametrize("k", [7, 8, 9, 16, 17, 30])
def test_any_number_of_members_fits_into_bytes(k):
    random = np.random.default_rng(k)
    truth = random.random(60) < 0.4
    said = np.where(random.random((60, 31)) < random.uniform(0.6, 0.95, 31), truth[:, None], ~truth[:, None])
    said = np.where(random.random(said.shape) < 0.1, -1, said).astype(np.int8)
    members = np.array([np.sort(random.permutation(31)[:k]) for _ in range(3)])
    found = dawid_skene(said, members, NOTHING, 0.9, FLOOR, TOL, MOST)
    for t, who in enumerate(members):
        assert found[:, t].tolist() == merged(said, who, lambda j: aggregation.dawid_skene(j, start="honest")).tolist()
    assert (found[:, 0] == truth).mean() > 0.9
