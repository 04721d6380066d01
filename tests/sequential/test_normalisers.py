"""What is not known of nDCG's normaliser while documents are open."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from qrowd.evaluation import evaluate, measure
from qrowd.kernels.arrays import Floats
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.sequential.candidates import (
    Candidates,
    candidates_of,
    expected_normalisers,
    label_shares,
    mean_gains,
    normaliser_limits,
    possible_gains,
)
from qrowd.sequential.design import Draws
from qrowd.sequential.linear_forms import certain_differences, difference_variance, normaliser_sd
from qrowd.sequential.looks import Problem
from qrowd.sequential.predictions import Posterior, Predictions, features_of, label_features, predict_gains
from qrowd.sequential.question import Question

LEVELS = np.arange(4.0)
NO_POSTERIOR = Posterior(*(np.zeros(shape) for shape in (0, (0, 0), (0, 2), (0, 2, 0), (0, 2, 2))))
NO_FEATURES = features_of(label_features(np.zeros((1, 0))), np.zeros(1, np.int64), np.zeros((1, 0)))


def candidates(topic: list[int]) -> Candidates:
    n = len(topic)
    names = tuple(map(str, range(max(topic) + 1)))
    numbers, nothing = np.arange(n), np.zeros((n, 3))
    return Candidates(names, tuple(map(str, range(n))), ("a", "b"), np.array(topic), numbers, np.zeros((2, n)), nothing)


def slow_ideal(gains: list[float], cutoff: int) -> float:
    return float(sum(gain / np.log2(rank + 2) for rank, gain in enumerate(sorted(gains, reverse=True)[:cutoff])))


@pytest.mark.parametrize("cutoff", [2, 10])
def test_the_limits_are_the_ideal_lists_with_open_documents_at_the_lowest_and_the_highest(cutoff: int) -> None:
    gains = np.array([1.0, np.nan, 2.5, np.nan, 0.0])
    low, high = normaliser_limits(measure(f"nDCG@{cutoff}"), candidates([0, 0, 0, 1, 1]), gains, LEVELS)
    np.testing.assert_allclose(low, [slow_ideal([1, 0, 2.5], cutoff), 0.0])
    np.testing.assert_allclose(high, [slow_ideal([1, 3, 2.5], cutoff), slow_ideal([3, 0], cutoff)])


def test_no_gains_of_the_open_documents_lead_outside_the_certain_differences() -> None:
    topic = [0, 0, 0, 1, 1, 1]
    gains = np.array([3.0, np.nan, 1.0, np.nan, np.nan, 0.0])
    weights = np.array([[1.0, -0.6, 0.5, 0.6, -1.0, 0.0], [1.0, 0.0, -0.5, 0.0, 0.0, 1.0]])
    whole = candidates(topic)
    ndcg = measure("nDCG@10")
    limits = normaliser_limits(ndcg, whole, gains, LEVELS)
    low, high = certain_differences(weights, np.array(topic), gains, limits, lowest=0.0, highest=3.0)
    plain = certain_differences(weights, np.array(topic), gains, (np.ones(2), np.ones(2)), lowest=0.0, highest=3.0)
    values: list[Floats] = []
    sums: list[Floats] = []
    for of_open in product(LEVELS, repeat=3):
        filled = gains.copy()
        filled[np.isnan(gains)] = of_open
        by_topic = np.add.reduceat(weights * filled, [0, 3], axis=1)
        ideal = np.array([slow_ideal(filled[:3].tolist(), 10), slow_ideal(filled[3:].tolist(), 10)])
        values.append(np.divide(by_topic, ideal, out=np.zeros_like(by_topic), where=ideal > 0).mean(axis=1))
        sums.append(by_topic.mean(axis=1))
    assert (np.min(values, axis=0) >= low - 1e-12).all()
    assert (np.max(values, axis=0) <= high + 1e-12).all()
    np.testing.assert_allclose(np.min(sums, axis=0), plain[0])
    np.testing.assert_allclose(np.max(sums, axis=0), plain[1])


def test_once_all_is_judged_nothing_of_the_normaliser_is_in_doubt() -> None:
    topic = np.array([0, 0, 0, 1, 1])
    gains = np.array([3.0, 1.0, 0.5, 0.0, 2.0])
    sd = np.ones(5)
    predictions = Predictions(gains, sd, {}, NO_FEATURES, NO_POSTERIOR)
    result = normaliser_sd(measure("nDCG@10"), candidates(topic.tolist()), predictions, gains, LEVELS)
    assert result.tolist() == [0.0, 0.0]


def test_once_all_is_judged_the_expected_normaliser_is_that_of_the_mean_gains() -> None:
    gains = np.array([0.5, 0.5, 2.5, 1 / 3, 1.0, 0.0])
    whole, no = candidates([0, 0, 0, 1, 1, 2]), np.ones(6)
    result = expected_normalisers(measure("nDCG@2"), whole, no, no, gains=gains, levels=LEVELS)
    np.testing.assert_allclose(result, [slow_ideal([0.5, 0.5, 2.5], 2), slow_ideal([1 / 3, 1], 2), np.inf])


def test_a_measure_without_normaliser_has_none_in_doubt() -> None:
    whole = candidates([0, 0, 1])
    gains = np.full(3, np.nan)
    predictions = Predictions(np.ones(3), np.ones(3), {}, NO_FEATURES, NO_POSTERIOR)
    assert normaliser_sd(measure("DCG@10"), whole, predictions, gains, LEVELS).tolist() == [0.0, 0.0]
    low, high = normaliser_limits(measure("RBP"), whole, gains, LEVELS)
    assert low.tolist() == high.tolist() == [1.0, 1.0]


def test_the_variance_due_to_normalisers_is_the_sum_over_topics() -> None:
    weights = np.array([[0.5, -0.2, 0.3]])
    expected, variance = np.array([2.0, 1.0, 3.0]), np.array([0.0, 0.5, 0.4])
    result = difference_variance(
        weights, np.array([0, 0, 1]), expected, variance, normalisers=np.array([4.0, 2.0]), sd=np.array([0.2, 0.5])
    )
    first, second = 0.5 * 2 - 0.2, 0.3 * 3
    each = (first**2 + 0.2**2 * 0.5) * 0.05**2 + (second**2 + 0.3**2 * 0.4) * 0.25**2
    assert result[0] == pytest.approx(each + (first * 0.05 + second * 0.1) ** 2)


def test_the_error_of_the_normaliser_is_not_larger_than_it_says() -> None:
    """Topics differ in how strict people are; half of the documents are judged, those that systems rank first."""
    rng = np.random.default_rng(5)
    errors = []
    ndcg = measure("nDCG@10")
    for _ in range(20):
        topic = np.repeat(np.arange(20), 25)
        true = rng.normal(1.2, 0.8, 500)
        labels = np.clip(true[:, None] + rng.normal(0, 0.7, (500, 3)), 0, 3) / 3
        truth = np.clip(np.round(true + rng.normal(0, 0.5, 20)[topic]), 0, 3)
        order = np.lexsort((-labels.mean(axis=1) + rng.normal(0, 0.2, 500), topic)).reshape(20, 25)
        gains = np.full(500, np.nan)
        gains[order[:, :6].ravel()] = truth[order[:, :6].ravel()]
        whole = candidates(topic.tolist())
        features = features_of(label_features(labels), topic, np.zeros((500, 0)))
        predictions = predict_gains(features, gains, lowest=0.0, highest=3.0)
        expected = expected_normalisers(
            ndcg, whole, predictions.expected, predictions.spread, gains=gains, levels=LEVELS
        )
        sd = normaliser_sd(ndcg, whole, predictions, gains, LEVELS)
        exact = normaliser_limits(ndcg, whole, truth, LEVELS)[0]
        errors.append((expected - exact) / sd)
    assert 0.3 < np.sqrt(np.mean(np.square(errors))) < 1.2


@pytest.mark.nightly
def test_with_all_documents_judged_that_matter_the_interval_still_covers_the_doubt_of_the_normaliser() -> None:
    scale, ndcg = Scale("graded", 3.0), measure("nDCG@5")
    n_covered, errors = 0, []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        latent = rng.normal(1.2, 0.8, (10, 20)) + rng.normal(0, 0.5, (10, 1))
        ranks = [np.argsort(-(latent + rng.normal(0, noise, latent.shape)), axis=1)[:, :8] for noise in (0.9, 1.0)]
        rows = [
            (system, f"t{t}", f"d{document:02}", rank)
            for system, lists in zip("ab", ranks, strict=True)
            for t, documents in enumerate(lists)
            for rank, document in enumerate(documents)
        ]
        runs = Runs.from_frame(pd.DataFrame(rows, columns=["system", "topic", "document", "rank"]))
        people, models = (
            Judgments.from_frame(
                pd.DataFrame(
                    [(name, f"t{t}", f"d{d:02}", value) for (t, d), value in np.ndenumerate(values)],
                    columns=["assessor", "topic", "document", "value"],
                )
            ).with_scales({name: scale})
            for name, values in (
                ("ann", np.clip(np.round(latent), 0, 3)),
                ("llm", np.clip(np.round(latent + rng.normal(0, 0.7, latent.shape)), 0, 3)),
            )
        )
        whole = candidates_of(runs, ["a", "b"], [models], ndcg)
        labels = label_features(label_shares(models, whole))
        problem = Problem(Question.read("a > b", runs.systems), ndcg, whole, labels, possible_gains(ndcg, scale))
        gains = np.full(len(whole), np.nan)
        gains[problem.matters] = mean_gains(people, whole, ndcg)[problem.matters]
        look = problem.look(gains, Draws.none(problem.matters.size))
        scores = evaluate(runs, people, "nDCG@5").values[0, 0].mean(axis=0)
        n_covered += bool(look.low[0] <= scores[0] - scores[1] <= look.high[0])
        errors.append(look.estimates.estimate[0] - (scores[0] - scores[1]))
        assert not look.certain or (look.low[0] > 0) == (scores[0] > scores[1])
    assert n_covered >= 19
    assert np.sqrt(np.mean(np.square(errors))) > 1e-3
