"""What people would say, predicted from cheap labels and from what they said."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.sequential import predictions
from qrowd.sequential.predictions import predict_gains


def world(n: int = 120, seed: int = 1) -> tuple[Floats, NDArray[np.int64], Floats]:
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, 8, n)
    true = rng.normal(1.5, 0.8, n)
    labels = np.clip(true[:, None] + rng.normal(0, 0.7, (n, 3)), 0, 3) / 3
    severity = rng.normal(0, 0.7, 8)  # of the people, in each topic
    return labels, topics, np.clip(np.round(true + severity[topics]), 0, 3)


def test_a_judged_document_is_predicted_without_its_own_judgment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictions, "TOPIC_PENALTIES", (4.0,))
    labels, topics, gains = world()
    known = np.where(np.arange(120) < 60, gains, np.nan)
    result = predict_gains(labels[:, :0], topics, known, lowest=0.0, highest=3.0)
    for document in (7, 30):
        one = known.copy()
        one[document] = np.nan
        without = predict_gains(labels[:, :0], topics, one, lowest=0.0, highest=3.0)
        np.testing.assert_allclose(result.expected[document], without.expected[document], atol=1e-9)


def test_a_judgment_hardly_changes_the_weights_of_the_fits_that_predict_it() -> None:
    labels, topics, gains = world()
    known = np.where(np.arange(120) < 60, gains, np.nan)
    result = predict_gains(labels, topics, known, lowest=0.0, highest=3.0)
    changes = []
    for document in range(60):
        one = known.copy()
        one[document] = np.nan
        without = predict_gains(labels, topics, one, lowest=0.0, highest=3.0)
        changes.append(result.expected[document] - without.expected[document])
    assert np.abs(changes).max() < 0.1 * result.spread[0]


def test_misleading_labels_predict_little_worse_than_none() -> None:
    labels, topics, gains = world(400)
    known = np.where(np.arange(400) < 100, gains, np.nan)
    none = predict_gains(labels[:, :0], topics, known, lowest=0.0, highest=3.0)
    rng = np.random.default_rng(1)
    for misleading in (rng.permutation(labels), rng.random((400, 18))):
        result = predict_gains(misleading, topics, known, lowest=0.0, highest=3.0)
        squares = [((one.expected - gains)[100:] ** 2).mean() for one in (result, none)]
        assert squares[0] < 1.05 * squares[1]
    backwards = predict_gains(1 - labels, topics, known, lowest=0.0, highest=3.0)
    assert ((backwards.expected - gains)[100:] ** 2).mean() < ((none.expected - gains)[100:] ** 2).mean()


def test_labels_and_topics_reduce_the_error() -> None:
    labels, topics, gains = world(400)
    known = np.where(np.arange(400) < 200, gains, np.nan)
    others = slice(200, 400)

    def error(expected: Floats) -> float:
        return float(((expected - gains)[others] ** 2).mean())

    whole = error(predict_gains(labels, topics, known, lowest=0.0, highest=3.0).expected)
    no_labels = error(predict_gains(labels[:, :0], topics, known, lowest=0.0, highest=3.0).expected)
    one_topic = error(predict_gains(labels, topics * 0, known, lowest=0.0, highest=3.0).expected)
    assert whole < 0.8 * one_topic
    assert whole < 0.6 * no_labels


def test_before_the_first_answers_the_mean_label_is_expected() -> None:
    labels, topics, _ = world(10)
    labels[0] = [0.0, np.nan, 1.0]
    result = predict_gains(labels, topics, np.full(10, np.nan), lowest=0.0, highest=3.0)
    assert result.expected[0] == 1.5
    nothing = predict_gains(labels[:, :0], topics, np.full(10, np.nan), lowest=0.0, highest=3.0)
    assert (nothing.expected == nothing.expected[0]).all()


def test_an_assessor_without_labels_or_with_equal_labels_changes_nothing() -> None:
    labels, topics, gains = world()
    known = np.where(np.arange(120) < 60, gains, np.nan)
    useless = np.column_stack([labels, np.full(120, np.nan)])
    first = predict_gains(labels, topics, known, lowest=0.0, highest=3.0)
    second = predict_gains(useless, topics, known, lowest=0.0, highest=3.0)
    assert np.isfinite(second.expected).all()
    assert abs(second.spread[0] - first.spread[0]) < 0.1


def test_the_spread_is_that_of_the_errors() -> None:
    labels, topics, gains = world(400)
    known = np.where(np.arange(400) < 200, gains, np.nan)
    result = predict_gains(labels, topics, known, lowest=0.0, highest=3.0)
    errors = (gains - result.expected)[200:]
    assert abs(np.sqrt((errors**2).mean()) / result.spread[0] - 1) < 0.15
