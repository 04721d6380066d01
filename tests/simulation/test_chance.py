"""Streams of chance."""

from collections.abc import Callable

import numpy as np
import pytest

from qrowd.simulation import (
    Random,
    RandomAssessors,
    Spammer,
    Truth,
    simulate_demo,
    simulate_judgments,
    simulate_magnitudes,
    simulate_pool,
    simulate_preferences,
    simulate_runs,
)
from simulated import BEHAVIOURS, near, rows, values_of

SIMULATIONS: dict[str, Callable[[Truth, object], object]] = {
    "pool": lambda _, rng: simulate_pool(5, 20, rng=rng).relevance.tolist(),
    "runs": lambda truth, rng: simulate_runs(truth, 4, unjudged_share=0.1, tie_share=0.1, rng=rng).to_frame().to_csv(),
    "judgments": lambda truth, rng: rows(
        simulate_judgments(truth, BEHAVIOURS, coverage=0.5, record=("order", "seconds"), rng=rng)
    ),
    "magnitudes": lambda truth, rng: rows(simulate_magnitudes(truth, 200, rng=rng)),
    "preferences": lambda truth, rng: simulate_preferences(truth, 2, coverage=0.1, bad_share=0.1, rng=rng).to_rows(),
    "random assessors": lambda truth, rng: [
        panel.values.tolist() for panel in RandomAssessors(truth.pool, 3, 0.3, rng=rng)
    ],
    "demo": lambda _, rng: rows(simulate_demo(rng=rng)[1]),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] * (name == "magnitudes")) for name in SIMULATIONS]
)
def test_the_same_chance_gives_the_same_result_and_another_gives_another(truth: Truth, name: str) -> None:
    simulation = SIMULATIONS[name]
    assert simulation(truth, 3) == simulation(truth, np.random.default_rng(3))
    assert simulation(truth, 3) != simulation(truth, 4)


def test_a_generator_moves_on_so_that_two_calls_differ(truth: Truth) -> None:
    rng = np.random.default_rng(3)
    first, second = (simulate_pool(3, 20, rng=rng).relevance for _ in range(2))
    assert (first != second).all()


def test_the_same_number_for_everything_ties_nothing_together() -> None:
    truth = simulate_pool(50, 100, topic_variance=0, rng=7)
    blind = simulate_runs(truth, 2, depth=100, quality=(0, 0), rng=7)
    relevance = dict(zip(truth.pool.documents, truth.relevance, strict=True))
    by_system = [
        {blind.documents[d]: s for d, s in zip(blind.document[rows], blind.score[rows], strict=True)}
        for rows in (blind.system == 0, blind.system == 1)
    ]
    noise = [np.array([system[label] for label in relevance]) for system in by_system]
    sources = np.corrcoef([np.array(list(relevance.values())), truth.appeal, *noise, values_of(truth, Spammer())])
    assert np.abs(sources - np.eye(5)).max() < 5 / np.sqrt(len(relevance))


def test_nobodys_judgments_depend_on_who_else_takes_part(truth: Truth) -> None:
    options = {"coverage": 0.4, "record": ("seconds",), "rng": 5}
    everyone = rows(simulate_judgments(truth, BEHAVIOURS, **options))
    backwards = rows(simulate_judgments(truth, dict(reversed(BEHAVIOURS.items())), **options))
    alone = rows(simulate_judgments(truth, {"coin": BEHAVIOURS["coin"]}, **options))
    assert sorted(everyone) == sorted(backwards)
    assert [row for row in everyone if row[2] == "coin"] == alone


def test_two_assessors_of_one_behaviour_judge_independently(truth: Truth) -> None:
    pair = simulate_judgments(truth, {"ann": Random(0.5), "bob": Random(0.5)}, rng=5).panel().values
    assert near((pair[:, 0] == pair[:, 1]).mean(), 0.5, len(pair))
