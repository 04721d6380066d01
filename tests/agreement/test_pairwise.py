"""Every assessor beside every other."""

from itertools import combinations
from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import agreement as oracle
from panels import GRADES, MAGNITUDES, judgments_of, judgments_of_rows, pairable, panels
from qrowd.agreement.kappa import cohen_kappa
from qrowd.agreement.pairwise import label_table, pairwise_agreement
from qrowd.errors import ArgumentError, NoOverlapError


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(panels(GRADES), st.sampled_from([None, "linear", "quadratic"]))
def test_every_pair_has_its_share_of_agreement_and_its_kappa(panel, weights):
    assume(pairable(panel))
    values = [value for said in panel.values() for value in said.values()]
    judgments = judgments_of(panel)
    found = pairwise_agreement(judgments, weights=weights)
    assert np.isnan([np.diag(found.expected), np.diag(found.kappa)]).all()
    for i, j in combinations(range(len(found.assessors)), 2):
        first, second = found.assessors[i], found.assessors[j]
        pairs = [(said[first], said[second]) for said in panel.values() if {first, second} <= said.keys()]
        assert found.n[i, j] == found.n[j, i] == len(pairs)
        if not pairs:
            assert isnan(found.agreement[i, j])
            continue
        value, observed, expected = oracle.cohen_kappa(pairs, weights, min(values), max(values))
        assert found.agreement[i, j] == pytest.approx(observed)
        assert found.expected[i, j] == pytest.approx(expected)
        assert found.kappa[i, j] == pytest.approx(value, nan_ok=True)
        assert found.kappa[i, j] == pytest.approx(found.kappa[j, i], nan_ok=True)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(panels(MAGNITUDES, n_documents=5), st.sampled_from([None, "linear"]))
def test_magnitudes_are_compared_too(panel, weights):
    assume(pairable(panel))
    found = pairwise_agreement(judgments_of(panel, "magnitude"), weights=weights)
    values = [value for said in panel.values() for value in said.values()]
    for i, j in combinations(range(len(found.assessors)), 2):
        pairs = [
            (said[found.assessors[i]], said[found.assessors[j]])
            for said in panel.values()
            if {found.assessors[i], found.assessors[j]} <= said.keys()
        ]
        if pairs:
            _, observed, _ = oracle.cohen_kappa(pairs, weights, min(values), max(values))
            assert found.agreement[i, j] == pytest.approx(observed)


def test_the_matrix_holds_what_cohen_kappa_says_of_the_eight_people(eight_people):
    found = pairwise_agreement(eight_people)
    for i, j in combinations(range(8), 2):
        kappa = cohen_kappa(eight_people, found.assessors[i], found.assessors[j])
        assert (found.agreement[i, j], found.kappa[i, j]) == pytest.approx((kappa.observed, kappa.value))
    assert (found.n == 188).all()
    frame = found.to_frame()
    assert len(frame) == 28
    assert found.mean_agreement == pytest.approx(frame["agreement"].mean())
    assert found.mean_kappa == pytest.approx(frame["kappa"].mean())
    matrix = found.to_frame(what="kappa").set_index("assessor")
    assert matrix.shape == (8, 8)
    assert matrix.loc["a1", "a2"] == pytest.approx(cohen_kappa(eight_people, "a1", "a2").value)


@pytest.mark.nightly
def test_the_crowd_of_rf10_is_compared_pair_by_pair(crowd):
    found = pairwise_agreement(crowd)
    frame = found.to_frame().sort_values("n_documents", ascending=False)
    assert (frame["n_documents"] > 0).all()
    for row in frame.head(3).itertuples():
        kappa = cohen_kappa(crowd, row.first, row.second)
        assert (row.n_documents, row.agreement) == (kappa.n_documents, pytest.approx(kappa.observed))
        assert row.kappa == pytest.approx(kappa.value)


# ---- label tables


@given(panels(GRADES))
def test_the_label_table_counts_what_one_says_where_another_says(panel):
    assume(pairable(panel))
    found = label_table(judgments_of(panel))
    counts = oracle.label_counts(panel)
    for i, x in enumerate(found.values):
        for j, y in enumerate(found.values):
            assert found.counts[i, j] == pytest.approx(counts.get((x, y), 0))
    known = found.total > 0
    assert found.probability[known].sum(axis=1) == pytest.approx(1)
    assert found.share.sum() == pytest.approx(1)
    assert found.n_pairs == sum(len(said) * (len(said) - 1) // 2 for said in panel.values())


def test_a_row_of_the_table_reads_given_this_what_else():
    # Three documents: yes/yes, yes/no, no/no.
    frame = label_table(judgments_of_rows(ann="110", bob="100")).to_frame().set_index("value")
    assert frame.loc["1", "1"] == pytest.approx(2 / 3)
    assert frame.loc["1", "0"] == pytest.approx(1 / 3)
    assert frame.loc["1", "total"] == 3
    assert frame.loc["0", "share"] == 0.5


# ---- bad input


def test_bad_input_gets_one_clear_line(crowd):
    with pytest.raises(NoOverlapError, match="no pair of assessors judged a document in common"):
        pairwise_agreement(judgments_of_rows(ann="01**", bob="**10"))
    with pytest.raises(NoOverlapError, match="agreement needs at least two assessors"):
        pairwise_agreement(judgments_of_rows(ann="01"))
    with pytest.raises(ArgumentError, match="weights='cubic'"):
        pairwise_agreement(judgments_of_rows(ann="01", bob="01"), weights="cubic")
    with pytest.raises(ArgumentError, match="what='tau': choose one of pairs, agreement, expected, kappa, n"):
        pairwise_agreement(judgments_of_rows(ann="01", bob="01")).to_frame(what="tau")
    many = judgments_of({f"d{i}": {"ann": float(i), "bob": i + 0.5} for i in range(60)}, "0..1000")
    with pytest.raises(ArgumentError, match="120 distinct values are too many for a table"):
        label_table(many)


def test_one_value_throughout_leaves_kappa_open():
    found = pairwise_agreement(judgments_of_rows(ann="11", bob="11"), weights="linear")
    assert found.agreement[0, 1] == 1
    assert isnan(found.kappa[0, 1])
    assert isnan(found.mean_kappa)
