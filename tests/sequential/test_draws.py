"""Draws without replacement, and the sums that they estimate, against slow oracles."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.sequential.design import Draws, mixed_sizes
from qrowd.sequential.estimates import contrast_estimates
from qrowd.sequential.linear_forms import certain_differences


def drawn(sizes: list[list[float]], batch: list[int], document: list[int]) -> Draws:
    return Draws(np.array(sizes), np.array(batch, np.int64), np.array(document, np.int64))


def certain_sums(weights: Floats, gains: Floats) -> tuple[Floats, Floats]:
    """Certain bounds of sums over the documents of one topic without a normaliser, of gains from 0 to 3."""
    one_topic, limits = np.zeros(gains.size, np.int64), (np.ones(1), np.ones(1))
    return certain_differences(weights, one_topic, gains, limits, lowest=0.0, highest=3.0)


def slow_probabilities(draws: Draws) -> list[float]:
    left, result = set(range(draws.n_documents)), []
    for b, d in zip(draws.batch.tolist(), draws.document.tolist(), strict=True):
        result.append(draws.sizes[b, d] / sum(draws.sizes[b, other] for other in left))
        left.remove(d)
    return result


def slow_estimate(
    weights: Floats, draws: Draws, gains: Floats, expected: Floats, spread: Floats
) -> tuple[float, float]:
    """(estimate, information) of one contrast by the formulas, term by term."""
    left = set(range(draws.n_documents))
    error, numerator, information = 0.0, 0.0, 0.0
    total = sum(w * f for w, f in zip(weights, expected, strict=True))
    for b, d in zip(draws.batch.tolist(), draws.document.tolist(), strict=True):
        size = sum(draws.sizes[b, one] for one in left)
        variance = 0.0
        for one in left:
            square = (weights[one] * spread[one]) ** 2
            variance += square * size / draws.sizes[b, one] - square
        own = weights[d] * (gains[d] - expected[d])
        z = total + error + own * size / draws.sizes[b, d]
        error += own
        left.remove(d)
        if variance > 1e-9:
            numerator += z / variance
            information += 1 / variance
    return numerator / information, information


@st.composite
def samples(draw: st.DrawFn) -> tuple[Draws, np.random.Generator]:
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(3, 12))
    draws = Draws.none(n)
    for _ in range(draw(st.integers(1, 4))):
        draws = draws.draw(rng.uniform(0.1, 2.0, n), draw(st.integers(1, 4)), rng)
    return draws, rng


@given(samples())
def test_the_probability_of_a_draw_is_its_size_among_those_left(sample: tuple[Draws, np.random.Generator]) -> None:
    draws, _ = sample
    np.testing.assert_allclose(draws.probabilities(), slow_probabilities(draws), rtol=1e-9)


@given(samples())
def test_estimates_are_those_of_the_formulas(sample: tuple[Draws, np.random.Generator]) -> None:
    draws, rng = sample
    n = draws.n_documents
    weights, expected, spread = rng.normal(size=n), rng.uniform(0, 3, n), rng.uniform(0.2, 1, n)
    gains = np.full(n, np.nan)
    gains[draws.document] = rng.integers(0, 4, len(draws))
    if len(draws) == n:
        draws = draws.first(n - 1)
        gains[:] = np.where(draws.left(), np.nan, gains)
    result = contrast_estimates(weights[None], draws, gains, expected, spread)
    estimate, information = slow_estimate(weights, draws, gains, expected, spread)
    np.testing.assert_allclose(result.estimate[0], estimate, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(result.information[0], information, rtol=1e-6)


@pytest.mark.parametrize("n_drawn", [1, 2, 3])
def test_each_draw_is_unbiased_whatever_is_expected(n_drawn: int) -> None:
    rng = np.random.default_rng(4)
    weights, gains, expected, sizes = (
        rng.normal(size=4),
        rng.uniform(0, 3, 4),
        rng.normal(size=4),
        rng.uniform(0.1, 1, 4),
    )
    mean, total = 0.0, 0.0
    for order in permutations(range(4), n_drawn):
        draws = drawn([sizes.tolist()], [0] * n_drawn, list(order))
        probability = float(np.prod(draws.probabilities()))
        errors = weights[list(order)] * (gains[list(order)] - expected[list(order)])
        z = weights @ expected + errors[:-1].sum() + errors[-1] / draws.probabilities()[-1]
        mean, total = mean + probability * z, total + probability
    assert total == pytest.approx(1)
    assert mean == pytest.approx(weights @ gains)


def test_a_batch_draws_in_proportion_to_sizes() -> None:
    sizes = np.array([1.0, 2.0, 3.0, 0.0])
    firsts = [Draws.none(4).draw(sizes, 4, np.random.default_rng(seed)).document for seed in range(3000)]
    assert all(first.size == 3 for first in firsts)  # size 0 is never drawn
    shares = np.bincount([first[0] for first in firsts], minlength=4) / 3000
    np.testing.assert_allclose(shares, sizes / 6, atol=0.03)  # 3.3 standard errors
    second = np.mean([first[1] == 2 for first in firsts if first[0] == 1])
    assert second == pytest.approx(3 / 4, abs=0.05)


def test_when_all_is_judged_the_sum_is_exact_and_its_information_infinite() -> None:
    rng = np.random.default_rng(1)
    weights, gains = rng.normal(size=(2, 5)), rng.integers(0, 4, 5).astype(float)
    draws = Draws.none(5).draw(np.ones(5), 5, rng)
    result = contrast_estimates(weights, draws, gains, np.ones(5), np.ones(5))
    np.testing.assert_allclose(result.estimate, weights @ gains)
    low, high = certain_sums(weights, gains)
    np.testing.assert_allclose(low, high)
    assert np.isinf(result.information).all()


def test_only_the_draws_before_the_first_without_an_answer_count() -> None:
    rng = np.random.default_rng(2)
    draws = Draws.none(6).draw(np.ones(6), 5, rng)
    gains = np.full(6, np.nan)
    gains[draws.document[[0, 1, 3]]] = 2.0
    arguments = (np.ones((1, 6)), draws, gains, np.ones(6), np.ones(6))
    result = contrast_estimates(*arguments)
    two = contrast_estimates(arguments[0], draws.first(2), gains, np.ones(6), np.ones(6))
    assert result.estimate == two.estimate
    assert result.n_judged[0] == 3  # the third is certain, though it makes no estimate


def test_certain_bounds_hold_for_any_gains_of_the_others() -> None:
    rng = np.random.default_rng(3)
    weights, draws = rng.normal(size=(3, 8)), Draws.none(8).draw(np.ones(8), 4, rng)
    gains = np.full(8, np.nan)
    gains[draws.document] = rng.integers(0, 4, 4)
    low, high = certain_sums(weights, gains)
    ends = []
    for _ in range(200):
        whole = np.where(np.isnan(gains), rng.choice([0.0, 3.0], 8), gains)
        ends.append(weights @ whole)
    assert (np.array(ends) >= low - 1e-9).all()
    assert (np.array(ends) <= high + 1e-9).all()


def test_sizes_keep_a_share_for_every_document_with_a_weight() -> None:
    sizes = mixed_sizes(np.array([1.0, 0.0, 0.0]), np.array([0.5, 0.5, 0.0]))
    np.testing.assert_allclose(sizes, [0.875, 0.125, 0.0])
    np.testing.assert_allclose(mixed_sizes(np.zeros(2), np.array([1.0, 3.0])), [0.25, 0.75])


@pytest.mark.parametrize(
    ("sizes", "batch", "document", "said"),
    [
        ([[1.0, 1.0]], [0, 0], [1, 1], "drawn twice"),
        ([[1.0, -1.0]], [0], [0], "a size is a finite number"),
        ([[1.0, 0.0]], [0], [1], "has size 0"),
        ([[1.0, 1.0]], [1], [0], "numbered in order"),
    ],
)
def test_draws_that_cannot_be_are_refused(
    sizes: list[list[float]], batch: list[int], document: list[int], said: str
) -> None:
    with pytest.raises(ArgumentError, match=said):
        drawn(sizes, batch, document)
