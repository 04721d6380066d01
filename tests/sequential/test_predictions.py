"""What people would say, predicted from cheap labels and from what they said."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.sequential import predictions
from qrowd.sequential.predictions import Predictions, features_of, label_features, predict_gains


def predict(labels: Floats, topics: NDArray[np.int64], gains: Floats) -> Predictions:
    features = features_of(label_features(labels), topics, np.zeros((gains.size, 0)))
    return predict_gains(features, gains, lowest=0.0, highest=3.0)


def world(n: int = 120, seed: int = 1) -> tuple[Floats, NDArray[np.int64], Floats]:
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, 8, n)
    true = rng.normal(1.5, 0.8, n)
    labels = np.clip(true[:, None] + rng.normal(0, 0.7, (n, 3)), 0, 3) / 3
    severity = rng.normal(0, 0.7, 8)  # of the people, in each topic
    return labels, topics, np.clip(np.round(true + severity[topics]), 0, 3)


def test_a_judged_document_is_predicted_without_its_own_judgment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictions, "PRIOR_N", 1e12)  # the variances stay as declared
    monkeypatch.setattr(predictions, "MOST", 0.0)
    labels, topics, gains = world()
    known = np.where(np.arange(120) < 60, gains, np.nan)
    result = predict(labels, topics, known)
    for document in (7, 30):
        one = known.copy()
        one[document] = np.nan
        without = predict(labels, topics, one)
        np.testing.assert_allclose(result.expected[document], without.expected[document], atol=1e-6)
        np.testing.assert_allclose(result.spread[document], without.spread[document], atol=1e-6)


def test_a_judgment_hardly_changes_the_variances_that_its_prediction_uses() -> None:
    labels, topics, gains = world()
    known = np.where(np.arange(120) < 60, gains, np.nan)
    result = predict(labels, topics, known)
    changes = []
    for document in range(60):
        one = known.copy()
        one[document] = np.nan
        without = predict(labels, topics, one)
        changes.append(result.expected[document] - without.expected[document])
    assert np.abs(changes).max() < 0.15 * result.spread.mean()
    assert np.sqrt(np.mean(np.square(changes))) < 0.04 * result.spread.mean()


def test_expected_gains_and_spread_are_those_of_a_gaussian_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle: covariances of documents, written out, and the conditional normal distribution."""
    monkeypatch.setattr(predictions, "PRIOR_N", 1e12)
    monkeypatch.setattr(predictions, "MOST", 0.0)
    labels, topics, gains = world(40)
    rng = np.random.default_rng(2)
    features = features_of(label_features(labels), topics, rng.normal(size=(40, 2)))
    known = np.where(np.arange(40) < 25, gains, np.nan)
    result = predict_gains(features, known, lowest=0.0, highest=3.0)
    declared, column = predictions.DECLARED, 0
    covariance = np.zeros((40, 40))
    for name, n in features.parts:
        share = declared[name] / (n if name in {"labels", "runs"} else 1)
        for i in range(40):
            for j in range(40):
                covariance[i, j] += share * sum(
                    features.dense[i, c] * features.dense[j, c] for c in range(column, column + n)
                )
        column += n
    for i in range(40):
        for j in range(40):
            if topics[i] == topics[j]:
                covariance[i, j] += declared["topic"]
                covariance[i, j] += declared["topic x mean label"] * features.slope[i] * features.slope[j]
    old, new = slice(0, 25), slice(25, 40)
    solved = np.linalg.solve(covariance[old, old] + predictions.NOISE * np.eye(25), covariance[old, new])
    expected = features.start[new] + solved.T @ (gains[old] / 3 - features.start[old])
    variance = np.diag(covariance[new, new]) - (covariance[new, old] * solved.T).sum(axis=1) + predictions.NOISE
    np.testing.assert_allclose(result.expected[new], 3 * np.clip(expected, 0, 1), atol=1e-6)
    np.testing.assert_allclose(result.spread[new], 3 * np.sqrt(variance), atol=1e-6)


def test_variances_are_estimated_from_the_answers() -> None:
    rng = np.random.default_rng(3)
    topics = np.repeat(np.arange(40), 10)
    for sd in (0.1, 0.6):  # between the declared value and that of the answers, near the latter
        gains = np.clip(1.5 + rng.normal(0, sd, 40)[topics] + rng.normal(0, 0.4, 400), 0, 3)
        result = predict(np.zeros((400, 0)), topics, gains)
        declared = 9 * predictions.DECLARED["topic"]
        topic = 9 * result.fit.variances[-2]
        assert abs(topic - sd**2) < max(0.2 * abs(declared - sd**2), 0.4 * sd**2)
        assert result.noise == pytest.approx(0.16, rel=0.15)


def test_gains_near_the_limits_are_more_certain_where_the_answers_say_so() -> None:
    rng = np.random.default_rng(4)
    chance = rng.beta(0.5, 0.5, 2000)
    answers = (rng.random(2000) < chance).astype(np.float64)  # the variance is chance x (1 - chance)
    known = np.where(np.arange(2000) < 600, answers, np.nan)
    features = features_of(label_features(chance[:, None]), np.zeros(2000, np.int64), np.zeros((2000, 0)))
    result = predict_gains(features, known, lowest=0.0, highest=1.0)
    extreme, middle = (chance < 0.05) | (chance > 0.95), np.abs(chance - 0.5) < 0.2
    rest = np.arange(2000) >= 600
    for part in (extreme & rest, middle & rest):
        errors = answers[part] - result.expected[part]
        assert np.sqrt(np.mean(errors**2)) < 1.15 * np.sqrt(np.mean(result.spread[part] ** 2))
    assert result.spread[extreme].mean() < 0.6 * result.spread[middle].mean()


def test_misleading_labels_predict_little_worse_than_none() -> None:
    labels, topics, gains = world(400)
    known = np.where(np.arange(400) < 100, gains, np.nan)
    none = predict(labels[:, :0], topics, known)
    rng = np.random.default_rng(1)
    for misleading in (rng.permutation(labels), rng.random((400, 18))):
        result = predict(misleading, topics, known)
        squares = [((one.expected - gains)[100:] ** 2).mean() for one in (result, none)]
        assert squares[0] < 1.05 * squares[1]
    backwards = predict(1 - labels, topics, known)
    assert ((backwards.expected - gains)[100:] ** 2).mean() < ((none.expected - gains)[100:] ** 2).mean()


def test_labels_and_topics_reduce_the_error() -> None:
    labels, topics, gains = world(400)
    known = np.where(np.arange(400) < 200, gains, np.nan)
    others = slice(200, 400)

    def error(expected: Floats) -> float:
        return float(((expected - gains)[others] ** 2).mean())

    whole = error(predict(labels, topics, known).expected)
    no_labels = error(predict(labels[:, :0], topics, known).expected)
    one_topic = error(predict(labels, topics * 0, known).expected)
    assert whole < 0.8 * one_topic
    assert whole < 0.6 * no_labels


def test_before_the_first_answers_the_mean_label_is_expected() -> None:
    labels, topics, _ = world(10)
    labels[0] = [0.0, np.nan, 1.0]
    result = predict(labels, topics, np.full(10, np.nan))
    assert result.expected[0] == 1.5
    nothing = predict(labels[:, :0], topics, np.full(10, np.nan))
    assert (nothing.expected == nothing.expected[0]).all()


def test_an_assessor_without_labels_or_with_equal_labels_changes_nothing() -> None:
    labels, topics, gains = world()
    known = np.where(np.arange(120) < 60, gains, np.nan)
    useless = np.column_stack([labels, np.full(120, np.nan)])
    first = predict(labels, topics, known)
    second = predict(useless, topics, known)
    assert np.isfinite(second.expected).all()
    assert abs(second.spread[0] - first.spread[0]) < 0.1


def test_the_spread_is_that_of_the_errors() -> None:
    labels, topics, gains = world(400)
    known = np.where(np.arange(400) < 200, gains, np.nan)
    result = predict(labels, topics, known)
    errors = (gains - result.expected)[200:]
    assert abs(np.sqrt((errors**2).mean()) / result.spread[0] - 1) < 0.15
