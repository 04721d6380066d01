"""Users: several at once, those of the older model, and those that are drawn."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from merging import judgments_of, panels
from oracles import predicted_relevance as oracle
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.predicted_relevance import SampledUsers, predicted_relevance, relevance_to_at_least
from qrowd.predicted_relevance.users import at_least_of

LABELS = {
    ("q", f"d{i}"): dict(zip("abc", said, strict=True)) for i, said in enumerate([(2, 2, 1), (0, 1, 0), (2, 0, 0)])
}
MODEL = predicted_relevance(judgments_of(LABELS, "0-2"), rel=2, n_resamples=0)


@given(st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]), min_size=1, max_size=4), st.integers(1, 5), st.data())
def test_at_least_m_of_n_is_the_sum_over_what_they_may_say(p, n, data):
    m = data.draw(st.integers(0, n))
    assert at_least_of(np.array(p), m, n) == pytest.approx([oracle.binomial_at_least(x, m, n) for x in p], abs=1e-12)


def test_one_of_one_is_the_probability_itself_and_a_grade_unknown_stays_so():
    assert MODEL.relevance_to_at_least(1, 1) == pytest.approx(MODEL.probability)
    for m in (0, 1):
        assert np.isnan(at_least_of(np.array([np.nan]), m, 1)).all()


@given(panels(), st.integers(1, 3), st.data())
def test_counted_users_are_all_sets_of_others(labels, n, data):
    assume(any(len(said) > n for said in labels.values()))
    m = data.draw(st.integers(0, n))
    counted = relevance_to_at_least(judgments_of(labels, "0-2"), m, n, rel=2)
    listed = {pair: list(said.items()) for pair, said in labels.items()}
    for grade, p in zip(counted.grades, counted.probability, strict=True):
        expected = oracle.counted_at_least(listed, grade, {2}, m, n)
        assert p == pytest.approx(np.nan if expected is None else expected, nan_ok=True, abs=1e-12)
    assert counted.n_documents == sum(len(said) > n for said in labels.values())
    assert counted.to_frame()["n_judgments"].sum() == sum(len(s) for s in labels.values() if len(s) > n)


def test_one_of_one_counted_is_what_the_model_says():
    counted = relevance_to_at_least(judgments_of(LABELS, "0-2"), 1, 1, rel=2)
    assert counted.probability == pytest.approx(MODEL.probability)


@given(st.integers(2, 4), st.data())
def test_the_user_disagreement_model_counts_the_assessor_in(n, data):
    m = data.draw(st.integers(1, n))
    weights = MODEL.user_disagreement(m=m, n=n, zero=False)
    for grade, p, weight in zip(MODEL.grades, MODEL.probability, weights, strict=True):
        assert weight == pytest.approx(oracle.user_disagreement(p, grade >= 2, m, n), abs=1e-12)


def test_two_grades_that_nobody_tells_apart_weigh_the_same_but_not_in_the_older_model():
    """Section 3.4.3: p(T|T) and p(T|T-1) near one half; the older model gives the top grade 1."""
    said = [(2, 1), (1, 2), (2, 2), (1, 1), (0, 0)]
    labels = {("q", f"d{i}"): dict(zip("ab", pair, strict=True)) for i, pair in enumerate(said)}
    model = predicted_relevance(judgments_of(labels), rel=2, n_resamples=0)
    assert model.probability.tolist() == [0, 0.5, 0.5]
    assert model.user_disagreement().tolist() == [0, 0.5, 1]


@given(labels=panels(), data=st.data())
def test_fractional_utility_is_the_mean_utility_of_what_the_others_said(labels, data):
    assume(any(len(said) > 1 for said in labels.values()))
    model = predicted_relevance(judgments_of(labels, "0-2"), rel=2, n_resamples=0)
    utility = {g: data.draw(st.floats(0, 1)) for g in (0.0, 1.0, 2.0)}
    for grade, found in zip(model.grades, model.fractional_utility(grade_utility=utility), strict=True):
        means = [
            np.mean([utility[other] for name, other in said.items() if name != who])
            for said in labels.values()
            if len(said) > 1
            for who, given in said.items()
            if given == grade
        ]
        assert found == pytest.approx(np.mean(means) if means else np.nan, nan_ok=True)


@given(labels=panels())
def test_a_utility_of_0_or_1_is_predicted_relevance(labels):
    assume(any(len(said) > 1 for said in labels.values()))
    model = predicted_relevance(judgments_of(labels, "0-2"), rel=1, n_resamples=0)
    assert model.fractional_utility(grade_utility={0: 0, 1: 1, 2: 1}) == pytest.approx(model.probability, nan_ok=True)


def test_utilities_default_to_the_grade_over_the_highest_and_are_fractions_of_every_grade():
    assert MODEL.fractional_utility() == pytest.approx(MODEL.fractional_utility(grade_utility={0: 0, 1: 0.5, 2: 1}))
    with pytest.raises(ArgumentError, match="grade 2 has no utility"):
        MODEL.fractional_utility(grade_utility={0: 0, 1: 1})
    with pytest.raises(ArgumentError, match="utilities from 0 to 1"):
        MODEL.fractional_utility(grade_utility={0: 0, 1: 1, 2: 3})


def test_numbers_of_users_that_make_no_sense_are_refused():
    for m, n in ((2, 1), (-1, 3), (0, 0)):
        with pytest.raises(ArgumentError, match=f"m={m}, n={n}"):
            MODEL.relevance_to_at_least(m, n)
    for m, n in ((1, 1), (0, 2)):
        with pytest.raises(ArgumentError, match="the assessor"):
            MODEL.user_disagreement(m=m, n=n)
    with pytest.raises(NoOverlapError, match=r"more than 3 assessors \(at most 3\)"):
        relevance_to_at_least(judgments_of(LABELS), 1, 3, rel=2)


# ---- drawn


def test_users_find_each_document_relevant_with_its_probability():
    ann = judgments_of(LABELS, "0-2").select(assessors="a")
    users = MODEL.sample(ann, 3000, rng=1)
    drawn = np.hstack([panel.values for panel in users])
    assert drawn.shape == (3, len(users)) == (3, 3000)
    assert set(np.unique(drawn)) == {0, 1}
    p = np.array([MODEL[grade] for grade in ann.panel().values[:, 0]])
    assert drawn.mean(axis=1) == pytest.approx(p, abs=4 * 0.5 / np.sqrt(3000))
    together = drawn[0][drawn[2] == 1].mean()
    assert together == pytest.approx(p[0], abs=4 * 0.5 / np.sqrt(1000))


def test_a_user_is_the_same_however_many_there_are_and_again():
    ann = judgments_of(LABELS, "0-2").select(assessors="a")
    few, many = MODEL.sample(ann, 3, rng=1), MODEL.sample(ann, 600, rng=1)
    assert np.array_equal(next(iter(few)).values, next(iter(many)).values[:, :3])
    assert np.array_equal(*(np.hstack([panel.values for panel in many]) for _ in range(2)))
    assert few.assessors == many.assessors[:3]


def test_what_the_assessor_left_out_every_user_does():
    ann = judgments_of({**LABELS, ("q", "e"): {"a": -1}}, "0-2").select(assessors="a")
    (panel,) = MODEL.sample(ann, 5, rng=1)
    assert np.isnan(panel.values).sum(axis=0).tolist() == [1] * 5


def test_users_of_several_assessors_or_of_grades_or_of_none_are_refused():
    both = judgments_of(LABELS, "0-2")
    with pytest.raises(ArgumentError, match=r"one assessor, and these are of 3.*posterior_relevance"):
        MODEL.sample(both, 5, rng=1)
    with pytest.raises(ArgumentError, match="above 1"):
        SampledUsers(both.select(assessors="a"), 5, rng=1)
    with pytest.raises(ArgumentError, match="n_users=0"):
        MODEL.sample(both.select(assessors="a"), 0, rng=1)
