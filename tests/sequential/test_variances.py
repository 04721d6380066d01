"""Topics that are a sample widen the interval by what they should."""

from __future__ import annotations

from dataclasses import replace
from statistics import variance

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.evaluation import measure
from qrowd.kernels.arrays import Floats
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.sequential.candidates import candidates_of, mean_gains, possible_gains
from qrowd.sequential.design import Draws, mixed_sizes
from qrowd.sequential.estimates import MIN_DRAWS, contrast_estimates, interval_half, topic_variance
from qrowd.sequential.looks import Problem
from qrowd.sequential.predictions import features_of, label_features, predict_gains
from qrowd.sequential.question import Question

N_TOPICS, PER_TOPIC = 30, 5
TOPIC = np.repeat(np.arange(N_TOPICS), PER_TOPIC)


@given(st.integers(0, 1000))
def test_once_all_is_judged_the_variance_is_that_of_the_mean_of_topics(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, gains = rng.normal(size=(2, 12)), rng.uniform(0, 3, 12)
    topic = np.repeat(np.arange(4), 3)
    result = topic_variance(weights / 4, topic, gains, np.zeros(12), n_topics=4)
    for of_one, value in zip(weights, result, strict=True):
        differences = [float(of_one[topic == t] @ gains[topic == t]) for t in range(4)]
        assert value == pytest.approx(variance(differences) / 4)


def test_open_documents_do_not_make_topics_look_alike() -> None:
    rng = np.random.default_rng(1)
    weights = rng.choice([-1.0, 1.0], TOPIC.size)[None] / N_TOPICS
    whole, half = [], []
    for _ in range(300):
        gains = rng.normal(1.5, 0.8, TOPIC.size)
        is_open = rng.random(TOPIC.size) < 0.5
        whole.append(topic_variance(weights, TOPIC, gains, np.zeros(TOPIC.size), n_topics=N_TOPICS)[0])
        expected = np.where(is_open, 1.5, gains)
        half.append(topic_variance(weights, TOPIC, expected, np.where(is_open, 0.64, 0), n_topics=N_TOPICS)[0])
    assert np.mean(half) == pytest.approx(np.mean(whole), rel=0.05)


def test_one_topic_says_nothing_of_others() -> None:
    assert topic_variance(np.ones((1, 2)), np.zeros(2, int), np.ones(2), np.zeros(2), n_topics=1).tolist() == [np.inf]


def left_the_interval(gains: Floats, weights: Floats, truth: float, *, new_topics: bool) -> bool:
    """Whether the interval excludes the truth at any look, with a look after every thirtieth answer."""
    n = gains.size
    rng = np.random.default_rng(int(1e6 * abs(gains.sum())) % 2**32)
    draws, judged = Draws.none(n), np.full(n, np.nan)
    size = np.abs(weights)
    features = features_of(label_features(np.zeros((n, 0))), TOPIC, np.zeros((n, 0)))
    while len(draws) < n:
        draws = draws.draw(mixed_sizes(size, size), 30, rng)
        judged[draws.document] = gains[draws.document]
        predictions = predict_gains(features, judged, lowest=0.0, highest=3.0)
        result = contrast_estimates(weights[None], draws, judged, predictions.expected, predictions.spread)
        expected = np.where(np.isnan(judged), predictions.expected, judged)
        of_errors = np.where(np.isnan(judged), predictions.spread**2, 0.0)
        variance = np.zeros(1)
        if new_topics:
            variance = variance + topic_variance(weights[None], TOPIC, expected, of_errors, n_topics=N_TOPICS)
        half = interval_half(result.information, len(draws), variance=variance)[0]
        if len(draws) >= MIN_DRAWS and abs(result.estimate[0] - truth) > half:
            return True
    return False


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("n", "most"),  # the binomial distribution of .05 has .97 up to there
    [(20, 3), pytest.param(60, 6, marks=pytest.mark.nightly)],
)
def test_intervals_about_new_topics_cover_the_mean_of_all_such_topics(n: int, most: int) -> None:
    rng = np.random.default_rng(4)
    weights = np.tile([1.0, 0.6, -0.5, -0.8, 0.4], N_TOPICS) / N_TOPICS / 5
    n_outside = n_outside_without = 0
    for _ in range(n):
        shift = rng.normal(0, 1.5, N_TOPICS)[TOPIC] * np.sign(weights)  # one system suits some topics
        gains = 1.5 + shift + rng.normal(0, 0.5, TOPIC.size)
        truth = float((weights * 1.5).sum())
        n_outside += left_the_interval(gains, weights, truth, new_topics=True)
        n_outside_without += left_the_interval(gains, weights, truth, new_topics=False)
    assert n_outside <= most
    assert n_outside_without > n / 2


def test_an_interval_about_new_topics_is_wider_and_never_certain() -> None:
    rng = np.random.default_rng(6)
    names = [f"t{t}" for t in range(12)]
    documents = [f"d{d}" for d in range(10)]
    rows = [(s, t, d, rank) for s in "ab" for t in names for rank, d in enumerate(rng.permutation(documents))]
    runs = Runs.from_frame(pd.DataFrame(rows, columns=["system", "topic", "document", "rank"]))
    values = [(p, t, d, float(rng.integers(0, 4))) for p in ("ann", "bob") for t in names for d in documents]
    people = Judgments.from_frame(pd.DataFrame(values, columns=["assessor", "topic", "document", "value"]))
    dcg = measure("DCG@5")
    whole = candidates_of(runs, ["a", "b"], [people], dcg)
    levels = possible_gains(dcg, Scale("graded", 3.0))
    labels = label_features(np.zeros((len(whole), 0)))
    problem = Problem(Question.read("a > b", runs.systems), dcg, whole, labels, levels)
    gains = mean_gains(people, whole, dcg)
    draws = Draws.none(problem.matters.size)
    plain = problem.look(gains, draws)
    assert plain.certain
    assert plain.low[0] == pytest.approx(plain.high[0])
    look = replace(problem, target="new topics").look(gains, draws)
    assert not look.certain
    assert look.low[0] < plain.low[0] < look.high[0]
    assert look.estimates.estimate[0] == plain.estimates.estimate[0]
