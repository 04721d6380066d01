"""Gains that make the ranking of systems as stable as possible over topics."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrowd import evaluate
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.judgments import Judgments
from qrowd.simulation import simulate_pool, simulate_runs
from qrowd.uncertainty import stable_gains
from qrowd.uncertainty.stable_gains import coefficient

TRUTH = simulate_pool(12, 30, rng=6)
RUNS, GOLD = simulate_runs(TRUTH, 8, rng=6), TRUTH.judgments()
TARGETS = ("generalizability", "dependability")


def slow_coefficient(table, target):
    """From Brennan's mean squares, with plain loops."""
    n_topics, n_systems = table.shape
    whole = sum(map(sum, table.tolist())) / table.size
    topics = [sum(row) / n_systems for row in table.tolist()]
    systems = [sum(column) / n_topics for column in table.T.tolist()]
    of_topics = n_systems * sum((t - whole) ** 2 for t in topics) / (n_topics - 1)
    of_systems = n_topics * sum((s - whole) ** 2 for s in systems) / (n_systems - 1)
    rest = [(table[t, s] - topics[t] - systems[s] + whole) ** 2 for t in range(n_topics) for s in range(n_systems)]
    error = sum(rest) / ((n_topics - 1) * (n_systems - 1))
    v_system, v_topic = max(0, (of_systems - error) / n_topics), max(0, (of_topics - error) / n_systems)
    return v_system / (v_system + (error + (v_topic if target == "dependability" else 0)) / n_topics)


@settings(deadline=None)
@given(st.integers(2, 9), st.integers(2, 6), st.integers(0, 1000), st.sampled_from(TARGETS))
def test_the_coefficient_is_that_of_the_mean_squares_and_from_0_to_1(n_topics, n_systems, seed, target):
    table = np.random.default_rng(seed).normal(size=(n_topics, n_systems)) + np.arange(n_systems)
    value = coefficient(table, target)
    assert value == pytest.approx(slow_coefficient(table, target))
    assert 0 <= value <= 1
    assert coefficient(table, "dependability") <= coefficient(table, "generalizability") + 1e-12


@pytest.mark.parametrize("target", TARGETS)
def test_no_gains_of_a_grid_rank_systems_more_stably(target):
    found = stable_gains(RUNS, GOLD, target=target)
    grid = [(a, b) for a, b in product(np.arange(0, 3.01, 0.25), repeat=2) if a <= b]
    names = [f"nDCG(gains={{1:{a},2:{b},3:3}})@10" for a, b in grid]
    scores = evaluate(RUNS, GOLD, names)
    best = max(coefficient(table, target) for table in scores.values[:, 0])
    assert found.value >= best - 1e-4
    assert found.value >= max(found.linear_value, found.exponential_value)
    own = evaluate(RUNS, GOLD, f"nDCG(gains={{1:{found.gains[0]:.9f},2:{found.gains[1]:.9f},3:3}})@10")
    assert coefficient(own.values[0, 0], target) == pytest.approx(found.value)


def test_gains_never_fall_and_the_highest_keeps_its_value():
    found = stable_gains(RUNS, GOLD)
    assert (np.diff(found.gains) >= 0).all()
    assert found.gains[0] >= 0
    assert found.gains[-1] == found.linear[-1] == found.exponential[-1] == 3
    assert found.exponential.tolist() == pytest.approx([3 / 7, 9 / 7, 3])
    assert found.to_frame()["grade"].tolist() == [1, 2, 3]


def test_what_leaves_no_gain_to_choose_is_refused():
    with pytest.raises(ArgumentError, match="two or more whole grades"):
        stable_gains(RUNS, GOLD.recode(1))
    with pytest.raises(ArgumentError, match="it takes no gains"):
        stable_gains(RUNS, GOLD, measure="AP(rel=1)")
    one = Judgments.from_rows([("q01", "a", "gold", 1), ("q01", "b", "gold", 2)])
    with pytest.raises(NoOverlapError, match="two of each are needed"):
        stable_gains(RUNS.select(topics=["q01"]), one)
