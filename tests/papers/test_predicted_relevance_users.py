"""Users: several at once, those of the older model, and those with fractional utilities."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from merging import judgments_of, panels
from oracles import predicted_relevance as oracle
from qrowd.predicted_relevance import predicted_relevance
from qrowd_papers.predicted_relevance.users import fractional_utility, relevance_to_users, user_disagreement

LABELS = {
    ("q", f"d{i}"): dict(zip("abc", said, strict=True)) for i, said in enumerate([(2, 2, 1), (0, 1, 0), (2, 0, 0)])
}
MODEL = predicted_relevance(judgments_of(LABELS, "0-2"), rel=2, n_resamples=0)


@given(st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]), min_size=1, max_size=4), st.integers(1, 5), st.data())
def test_at_least_m_of_n_is_the_sum_over_what_they_may_say(p, n, data):
    m = data.draw(st.integers(1, n))
    model = replace(MODEL, probability=np.array(p))
    assert relevance_to_users(model, m, n) == pytest.approx([oracle.binomial_at_least(x, m, n) for x in p], abs=1e-12)


def test_one_of_one_is_the_probability_itself_and_a_grade_unknown_stays_so():
    assert relevance_to_users(MODEL, 1, 1) == pytest.approx(MODEL.probability)
    assert np.isnan(relevance_to_users(replace(MODEL, probability=np.array([np.nan])), 1, 1)).all()


def test_the_user_disagreement_model_counts_the_assessor_in():
    rows = zip(MODEL.grades, MODEL.probability, user_disagreement(MODEL), strict=True)
    for grade, p, weight in rows:
        expected = oracle.user_disagreement(p, grade >= 2, 1, 2) if grade > 0 else 0
        assert weight == pytest.approx(expected, abs=1e-12)


def test_two_grades_that_nobody_tells_apart_weigh_the_same_but_not_in_the_older_model():
    """Section 3.4.3: p(T|T) and p(T|T-1) near one half; the older model gives the top grade 1."""
    said = [(2, 1), (1, 2), (2, 2), (1, 1), (0, 0)]
    labels = {("q", f"d{i}"): dict(zip("ab", pair, strict=True)) for i, pair in enumerate(said)}
    model = predicted_relevance(judgments_of(labels), rel=2, n_resamples=0)
    assert model.probability.tolist() == [0, 0.5, 0.5]
    assert user_disagreement(model).tolist() == [0, 0.5, 1]


@given(labels=panels())
def test_fractional_utility_is_the_mean_utility_of_what_the_others_said(labels):
    assume(any(len(said) > 1 for said in labels.values()))
    model = predicted_relevance(judgments_of(labels, "0-2"), rel=2, n_resamples=0)
    utility = {grade: grade / (model.grades.max() or 1) for grade in model.grades.tolist()}
    for grade, found in zip(model.grades, fractional_utility(model), strict=True):
        means = [
            np.mean([utility[other] for name, other in said.items() if name != who])
            for said in labels.values()
            if len(said) > 1
            for who, given in said.items()
            if given == grade
        ]
        assert found == pytest.approx(np.mean(means) if means else np.nan, nan_ok=True)
