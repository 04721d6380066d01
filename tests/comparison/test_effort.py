"""More topics or one more assessor, at equal cost."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from qrowd import Scores
from qrowd.comparison import difference, power
from qrowd.comparison.power import equal_cost, topics_for_an_assessor
from qrowd.errors import ArgumentError
from qrowd.reports.difference_tables import topics_or_assessor

DF = (49.0, 4.0, 196.0)


def test_topics_that_cost_as_much_as_an_assessor():
    assert topics_for_an_assessor(54, 5) == pytest.approx(10.8)
    # 100 documents at .4 are 40 for an assessor's topic; a topic of 30 with 5 assessors costs 230.
    costs = {"topic_cost": 30, "judgment_cost": 0.4, "documents": 100}
    assert topics_for_an_assessor(54, 5, **costs) == pytest.approx(54 * 40 / 230)
    with pytest.raises(ArgumentError, match="judgment_cost=0"):
        topics_for_an_assessor(54, 5, judgment_cost=0)


def test_errors_are_those_of_the_components():
    found = equal_cost((3.5, 1.5, 0.5), DF, 50, 5, 10)
    v_t, v_a, v_e = 3 / 5, 1 / 50, 0.5
    for value, t, a in ((found.now, 50, 5), (found.with_topics, 60, 5), (found.with_assessor, 50, 6)):
        assert value == pytest.approx((v_t / t + v_a / a + v_e / t / a) ** 0.5)


@given(st.floats(0.3, 3), st.floats(0.1, 1))
def test_at_equal_judgments_the_probability_is_that_of_an_f_distribution(ratio, error):
    """Without tolerance, and where no component is negative: MS_t / MS_a against F with their degrees of freedom."""
    topics, assessors = 1000.0 * ratio, 1000.0  # far above the error
    kept = power.SAME
    power.SAME = 0.0
    try:
        found = equal_cost((topics, assessors, error), DF, 50, 5, 10)
    finally:
        power.SAME = kept
    assert found.p_topics == pytest.approx(scipy.stats.f.cdf(ratio, 49, 4), abs=0.02)
    assert found.p_topics + found.p_assessor == pytest.approx(1, abs=0.01)


@given(st.floats(0, 10), st.floats(0, 10), st.floats(0.01, 10), st.integers(2, 18))
def test_probabilities_of_two_claims_cover_everything(topics, assessors, error, n):
    found = equal_cost((topics, assessors, error), (49.0, n - 1.0, 49 * (n - 1.0)), 50, n, 50 / n)
    assert found.p_topics + found.p_assessor - found.p_same == pytest.approx(1)
    if n < 3:
        assert found.answer == "unknown"
    if n >= 10:  # neither can lower the standard error by 5 % more than the other
        assert (found.answer, found.p_same) == ("same", 1)


def test_what_many_assessors_show_plainly_is_said():
    df = (199.0, 7.0, 199 * 7.0)
    assert equal_cost((50.0, 1.0, 1.0), df, 200, 8, 200).answer == "topics"
    assert equal_cost((2.0, 400.0, 1.0), df, 200, 8, 25).answer == "assessor"


def test_holes_change_what_mean_squares_are_divided_by():
    full, holed = (equal_cost((3.5, 1.5, 0.5), DF, 50, 5, 10, per=per) for per in (None, (4.0, 40.0)))
    assert np.square(holed.now) == pytest.approx(3 / 4 / 50 + 1 / 40 / 5 + 0.5 / 200)  # 4 assessors of each topic
    assert np.square(holed.with_assessor) == pytest.approx(3 / 4 / 50 + 1 / 40 / (5 * 5 / 4) + 0.5 / 250)
    assert full.now < holed.now


def test_of_a_crowd_each_topic_gets_one_more_judge_at_the_cost_of_topics_with_as_many_as_now():
    rng = np.random.default_rng(1)
    n_topics, n_workers, each = 200, 12, 3
    scores = np.full((n_workers, n_topics, 2), np.nan)
    worker, topic = rng.normal(0, 0.1, (n_workers, 2)), rng.normal(0, 0.1, (n_topics, 2))
    for t in range(n_topics):
        for w in rng.choice(n_workers, each, replace=False):
            scores[w, t] = topic[t] + worker[w] + rng.normal(0, 0.3, 2)
    one = difference(Scores.from_array(scores, systems=["x", "y"]), "x", "y")
    equal = topics_or_assessor(one)
    assert equal.topics == pytest.approx(n_topics / each)
    assert equal.now == pytest.approx(one.standard_error, rel=0.03)
