"""How many judgments are expected to go, by simulation."""

from __future__ import annotations

import numpy as np
import pytest

import qrowd
from qrowd.sequential.candidates import candidates_of
from qrowd.sequential.design import Draws
from qrowd.sequential.estimates import contrast_estimates
from qrowd.sequential.expectation import GainErrors, batch_estimates
from qrowd.sequential.looks import Problem
from qrowd.sequential.next_judgments import NextJudgments, next_judgments
from qrowd.sequential.predictions import label_features
from qrowd.sequential.question import Question


def ask(lead: float, **settings: object) -> NextJudgments:
    """Two systems that return other documents; models say that those of the first are better by `lead`."""
    rng = np.random.default_rng(1)
    runs: dict[str, dict[str, dict[str, float]]] = {"a": {}, "b": {}}
    labels: dict[str, dict[str, float]] = {}
    for t in range(20):
        topic = f"t{t}"
        for system, mean in (("a", 0.4 + lead), ("b", 0.4)):
            names = [f"{topic}{system}{i}" for i in range(10)]
            runs[system][topic] = {name: 10.0 - i for i, name in enumerate(names)}
            labels.setdefault(topic, {}).update(
                zip(names, np.clip(rng.normal(mean, 0.05, 10), 0, 1).tolist(), strict=True)
            )
    models = qrowd.Judgments.from_dict({"model": labels}, scales={"model": "0..1"})
    return next_judgments(runs, None, question="a > b", models=models, measure="DCG@10", scale="0-3", **settings)


def test_a_larger_difference_needs_fewer_judgments() -> None:
    large, small = ask(0.4), ask(0.1)
    assert 15 <= large.n_low <= large.n_expected <= large.n_high
    assert large.n_expected < small.n_expected <= 401


def test_equal_systems_need_all_judgments_but_with_a_tolerance_fewer() -> None:
    equal = ask(0.0)
    assert equal.n_high == 400
    assert ask(0.0, tolerance=1.5).n_expected < equal.n_expected


def test_new_topics_may_not_be_decided_by_all_judgments_of_these() -> None:
    assert ask(0.02, target="new topics").n_high == 401  # one more than there are


def toy(question: Question) -> Problem:
    """Systems that return random documents of ten topics, without labels."""
    rng = np.random.default_rng(7)
    runs = {
        system: {
            f"t{t}": {f"d{d}": 10.0 - rank for rank, d in enumerate(rng.choice(30, 10, replace=False))}
            for t in range(10)
        }
        for system in question.systems
    }
    measure = qrowd.measure("DCG@10")
    candidates = candidates_of(qrowd.Runs.from_dict(runs), question.systems, [], measure)
    labels = label_features(np.zeros((len(candidates), 0)))
    return Problem(question, measure, candidates, labels, np.array([0.0, 1, 2, 3]))


@pytest.mark.parametrize("text", ["s0 > s2", "best"])
def test_what_a_simulated_batch_says_is_what_the_estimates_say(text: str) -> None:
    problem = toy(Question.read(text, [f"s{i}" for i in range(4)]))
    rng = np.random.default_rng(5)
    n = problem.matters.size
    empty = Draws.none(n)
    look = problem.look(np.full(len(problem.candidates), np.nan), empty)
    draws = empty.draw(look.sizes, 12, rng).draw(rng.uniform(0.1, 1, n), 9, rng)
    gains, expected, spread = rng.uniform(0, 3, n), rng.uniform(0, 3, n), rng.uniform(0.2, 1, n)
    answered = np.full(n, np.nan)
    answered[draws.document] = gains[draws.document]
    whole = contrast_estimates(look.weights, draws, answered, expected, spread)
    information, sums = np.zeros(len(look.weights)), np.zeros(len(look.weights))
    total, left = look.weights @ expected, np.arange(n)
    for number in range(2):
        order = np.searchsorted(left, draws.document[draws.batch == number])
        estimates, variances = batch_estimates(
            look.weights[:, left],
            spread[left],
            draws.sizes[number][left],
            order,
            (gains - expected)[left],
            total,
        )
        information += (1 / variances).sum(axis=1)
        sums += (estimates / variances).sum(axis=1)
        total += look.weights[:, left[order]] @ (gains - expected)[left[order]]
        left = np.delete(left, order)
    np.testing.assert_allclose(whole.information, information, rtol=1e-9)
    np.testing.assert_allclose(whole.estimate, sums / information, rtol=1e-9)


def difference_sd(errors: GainErrors, weights: np.ndarray) -> np.ndarray:
    scaled = weights * errors.spread
    in_basis = scaled @ errors.basis.T
    return np.sqrt((scaled**2).sum(axis=1) + ((in_basis @ errors.covariance) * in_basis).sum(axis=1))


def test_errors_of_gains_vary_as_their_distribution_says() -> None:
    rng = np.random.default_rng(2)
    weights, expected, gains = rng.normal(size=(2, 30)), rng.uniform(0, 3, 30), np.full(30, np.nan)
    gains[:8] = rng.uniform(0, 3, 8)
    errors = GainErrors.of(weights, expected, rng.uniform(0.3, 1, 30), gains)
    drawn = np.array([errors.draw(rng) for _ in range(4000)])
    assert (drawn[:, :8] == 0).all()  # what is judged is certain
    np.testing.assert_allclose((drawn @ weights.T).std(axis=0), difference_sd(errors, weights), rtol=0.05)


def test_answers_that_disagree_with_the_models_move_what_is_expected_of_other_documents() -> None:
    weights = np.array([np.repeat([1.0, -1.0], 20)])
    gains = np.full(40, np.nan)
    gains[[0, 1, 2, 20, 21, 22]] = [3, 3, 3, 0, 0, 0]
    expected, spread = np.full(40, 1.5), np.full(40, 0.5)
    after = GainErrors.of(weights, expected, spread, gains)
    assert (weights @ (after.spread * (after.mean @ after.basis)))[0] > 0
    before = GainErrors.of(weights, expected, spread, np.full(40, np.nan))
    assert difference_sd(after, weights)[0] < difference_sd(before, weights)[0]
