"""The bootstrap over topics and assessors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbered_scores import numbered
from oracles import certainty as oracle
from qrowd.comparison.resampling import bootstrap_counts, panel_of, replicate_means, weighted_means
from qrowd.errors import ArgumentError, NoOverlapError

NAN = float("nan")


def scores(topics=9, assessors=4, systems=3, holes=0.0, seed=1):
    random = np.random.default_rng(seed)
    values = random.random((assessors, topics, systems))
    values[random.random((assessors, topics)) < holes] = NAN
    return values


@given(st.integers(0, 1000), st.sampled_from([0.0, 0.4]))
def test_a_replicate_is_the_weighted_mean_in_loops(seed, holes):
    panel = panel_of(numbered(scores(holes=holes, seed=seed % 20)))
    random = np.random.default_rng(seed)
    topics = bootstrap_counts(len(panel.topics), 3, random)
    assessors = bootstrap_counts(len(panel.assessors), 3, random) + (holes > 0)
    found = weighted_means(panel.values, panel.known, topics, assessors)
    for r in range(3):
        for s in range(3):
            table = np.where(panel.known, panel.values[:, :, s], None).tolist()
            expected = oracle.weighted_mean(table, topics[r].tolist(), assessors[r].tolist())
            assert found[r, s] == pytest.approx(expected)


@given(st.integers(2, 12), st.integers(1, 20))
def test_as_many_are_drawn_as_there_are(kinds, rows):
    counts = bootstrap_counts(kinds, rows, np.random.default_rng(1))
    assert counts.sum(axis=1).tolist() == [kinds] * rows


def test_draws_are_those_of_equal_chances():
    counts = bootstrap_counts(5, 40_000, np.random.default_rng(2))
    assert counts.mean(axis=0) == pytest.approx(np.ones(5), abs=0.02)
    assert counts.var(axis=0) == pytest.approx(np.full(5, 0.8), abs=0.03)  # multinomial: n p (1 - p)


@pytest.mark.parametrize("over", ["both", "topics"])
def test_replicates_lie_about_the_mean_of_the_panel(over):
    panel = panel_of(numbered(scores()))
    found = replicate_means(panel, 20_000, over, 3)
    error = found.std(axis=0) / 20_000**0.5
    assert (np.abs(found.mean(axis=0) - panel.values.mean(axis=(0, 1))) < 4 * error).all()


def test_without_interaction_the_spread_is_that_of_topics_and_of_assessors():
    random = np.random.default_rng(8)
    topic, assessor = random.normal(size=30), random.normal(0, 2, 12)
    found = replicate_means(panel_of(numbered((assessor[:, None] + topic)[:, :, None])), 40_000, "both", 1)
    assert found.var() == pytest.approx(topic.var() / 30 + assessor.var() / 12, rel=0.03)


def test_threads_and_how_many_replicates_follow_change_no_bit():
    panel = panel_of(numbered(scores(holes=0.3)))
    one, two = (replicate_means(panel, 1700, "both", 5, threads) for threads in (1, 4))
    assert np.array_equal(one, two)
    assert np.array_equal(one[:500], replicate_means(panel, 500, "both", 5))
    assert not np.array_equal(one, replicate_means(panel, 1700, "both", 6))


def test_a_draw_without_a_cell_is_drawn_again():
    values = np.full((3, 3, 1), NAN)
    for i in range(3):
        values[i, i] = i
    assert np.isfinite(replicate_means(panel_of(numbered(values)), 2000, "both", 1)).all()


def test_cells_that_lack_a_system_are_left_out_and_counted():
    values = scores()
    values[1, 2, 0] = NAN
    values[0] = NAN
    panel = panel_of(numbered(values))
    assert (panel.assessors, panel.n_left_out) == (("1", "2", "3"), 1)
    assert panel.known.sum() == 26
    assert panel_of(numbered(values), ("1", "2")).n_left_out == 0


def test_too_few_topics_or_replicates_are_refused():
    with pytest.raises(NoOverlapError, match="share 1 topic"):
        panel_of(numbered(np.ones((2, 1, 2))))
    with pytest.raises(ArgumentError, match="n_resamples=1"):
        replicate_means(panel_of(numbered(scores())), 1, "both", 1)
