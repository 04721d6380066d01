"""Cohen's and Fleiss' kappa."""

from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from oracles import agreement as oracle
from panels import ASSESSORS, GRADES, judgments_of, judgments_of_rows, pairable, panels
from qrowd.agreement.alpha import krippendorff_alpha
from qrowd.agreement.kappa import cohen_kappa, fleiss_kappa
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.model.judgments import Judgments
from qrowd.simulation import Confused, simulate_judgments, simulate_pool

WEIGHTS = st.sampled_from([None, "linear", "quadratic"])


def alpha_of(judgments, level=None, **options):
    """Alpha of all judgments together."""
    return krippendorff_alpha(judgments, level=level, **options).item()


@settings(max_examples=settings.default.max_examples // 2)
@given(panels(GRADES, assessors=("ann", "bob", "cyd")), WEIGHTS)
def test_cohens_kappa_is_what_its_definition_says(panel, weights):
    pairs = [(said["ann"], said["bob"]) for said in panel.values() if {"ann", "bob"} <= said.keys()]
    assume(pairs)
    found = cohen_kappa(judgments_of(panel), "ann", "bob", weights=weights)
    assert found.n_documents == len(pairs)
    value, observed, expected = oracle.cohen_kappa(pairs, weights)
    assert found.value == pytest.approx(value, nan_ok=True)
    assert (found.observed, found.expected) == pytest.approx((observed, expected))


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.lists(st.tuples(*[st.sampled_from(GRADES)] * 2), min_size=8, max_size=40), WEIGHTS)
def test_cohens_kappa_and_its_standard_error_are_those_of_statsmodels(pairs, weights):
    # statsmodels weighs by place in the table, so every grade must occur; it has no error without disagreement.
    pairs = [*pairs, *((g, g) for g in GRADES), (0, 1), (2, 3)]
    table = np.zeros((4, 4))
    np.add.at(table, tuple(np.array(pairs, int).T), 1)
    theirs = inter_rater.cohens_kappa(table, wt=weights)
    found = cohen_kappa(
        judgments_of({f"d{i}": {"ann": a, "bob": b} for i, (a, b) in enumerate(pairs)}), "ann", "bob", weights=weights
    )
    assert found.value == pytest.approx(theirs.kappa)
    assert found.standard_error == pytest.approx(theirs.std_kappa)


def test_complete_agreement_has_no_error():
    found = cohen_kappa(judgments_of_rows(ann="0012", bob="0012"), "ann", "bob")
    assert (found.value, found.standard_error) == (1, 0)


def test_weights_go_by_the_difference_of_grades_and_not_by_their_place():
    judgments = judgments_of_rows(ann="003300", bob="013313")
    pairs = [(0, 0), (0, 1), (3, 3), (3, 3), (0, 1), (0, 3)]
    assert cohen_kappa(judgments, "ann", "bob", weights="linear").value == pytest.approx(
        oracle.cohen_kappa(pairs, "linear")[0]
    )


@given(panels(GRADES), WEIGHTS)
def test_fleiss_kappa_is_what_its_definition_says(panel, weights):
    assume(pairable(panel))
    found = fleiss_kappa(judgments_of(panel), weights=weights)
    value, observed, expected = oracle.fleiss_kappa(panel, weights)
    assert found.value == pytest.approx(value, nan_ok=True)
    assert (found.observed, found.expected) == pytest.approx((observed, expected))


@given(panels(GRADES, complete=True))
def test_fleiss_kappa_of_equally_many_judgments_is_that_of_statsmodels(panel):
    values = [value for said in panel.values() for value in said.values()]
    assume(len(set(values)) > 1)
    table, _ = inter_rater.aggregate_raters(np.array([list(said.values()) for said in panel.values()], int))
    found = fleiss_kappa(judgments_of(panel))
    assert found.value == pytest.approx(inter_rater.fleiss_kappa(table))
    assert (found.fewest, found.most) == (4, 4)


def test_fleiss_standard_error_is_about_the_spread_over_samples():
    found = []
    for seed in range(60):
        truth = simulate_pool(1, 80, n_grades=2, topic_variance=0, rng=seed)
        found.append(
            fleiss_kappa(simulate_judgments(truth, {name: Confused.of_accuracy(0.8) for name in ASSESSORS}, rng=seed))
        )
    spread = np.std([kappa.value for kappa in found])
    assert np.mean([kappa.standard_error for kappa in found]) == pytest.approx(spread, rel=0.3)


def test_fleiss_kappa_is_nearly_nominal_alpha_on_many_complete_judgments():
    truth = simulate_pool(4, 100, n_grades=2, rng=1)
    judgments = simulate_judgments(truth, {name: Confused.of_accuracy(0.8) for name in ASSESSORS}, rng=1)
    assert fleiss_kappa(judgments).value == pytest.approx(alpha_of(judgments).value, abs=0.002)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(panels(GRADES), WEIGHTS, st.permutations(ASSESSORS))
def test_nobodys_name_matters(panel, weights, names):
    assume(pairable(panel))
    new = dict(zip(ASSESSORS, names, strict=True))
    renamed = {d: {new[who]: value for who, value in said.items()} for d, said in panel.items()}
    before, after = (fleiss_kappa(judgments_of(p), weights=weights).value for p in (panel, renamed))
    assert after == pytest.approx(before, nan_ok=True)


def test_where_chance_would_always_agree_kappa_is_nan():
    assert isnan(cohen_kappa(judgments_of_rows(ann="111", bob="111"), "ann", "bob").value)
    assert isnan(fleiss_kappa(judgments_of_rows(ann="111", bob="111")).value)
    # Each says one thing throughout, but not the same: no agreement at all, and none expected.
    assert cohen_kappa(judgments_of_rows(ann="111", bob="000"), "ann", "bob").value == 0


def test_bad_input_gets_one_clear_line():
    apart = Judgments.from_rows([("q", "a", "ann", 1), ("q", "b", "bob", 0)])
    with pytest.raises(NoOverlapError, match="'ann' and 'bob' judged no document in common, so they have no kappa"):
        cohen_kappa(apart, "ann", "bob")
    with pytest.raises(ArgumentError, match=r"assessor 'Ann' is not among the assessors; did you mean 'ann'\?"):
        cohen_kappa(apart, "Ann", "bob")
    with pytest.raises(ArgumentError, match="'ann' and 'ann' are the same assessor; name two"):
        cohen_kappa(apart, "ann", "ann")
    with pytest.raises(ArgumentError, match="weights='cubic': choose one of None, linear, quadratic"):
        cohen_kappa(judgments_of_rows(ann="01", bob="01"), "ann", "bob", weights="cubic")
    with pytest.raises(NoOverlapError, match="agreement needs at least two assessors; there is only 'ann'"):
        fleiss_kappa(judgments_of_rows(ann="01"))
    many = judgments_of({f"d{i}": {"ann": float(i), "bob": i + 0.5} for i in range(600)}, "0..1000")
    with pytest.raises(ArgumentError, match="1200 distinct values are too many for kappa"):
        fleiss_kappa(many)
    mixed = Judgments.from_rows([("q", "a", "ann", 3), ("q", "a", "bob", 0.2)])
    with pytest.raises(ScaleError, match="cannot be on one scale"):
        cohen_kappa(mixed, "ann", "bob", combine_scales="as-is")
