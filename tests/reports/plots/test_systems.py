"""Pictures of systems: what stands behind them, and what is drawn."""

import numpy as np
import pytest

from qrowd.comparison import all_differences, rank_intervals, rank_systems, system_intervals
from qrowd.model.scores import Scores
from qrowd.reports.plots.system_plots import (
    plot_differences,
    plot_ranks,
    plot_systems,
)


def named(values):
    assessors, topics, systems = (
        [f"{letter}{i}" for i in range(n)] for letter, n in zip("ats", values.shape, strict=True)
    )
    return Scores.from_array(values, assessors=assessors, topics=topics, systems=systems)


def simulated(n_assessors=6, n_topics=12, n_systems=5, seed=1):
    random = np.random.default_rng(seed)
    topic, assessor = random.normal(0, 0.2, (1, n_topics, 1)), random.normal(0, 0.3, (n_assessors, 1, 1))
    system = np.linspace(0.5, 0.3, n_systems)
    return topic + assessor + system + random.normal(0, 0.05, (n_assessors, n_topics, n_systems))


def texts(ax):
    return [text.get_text() for text in ax.texts]


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_where_only_topics_count_there_is_one_interval_each():
    values = np.full((4, 4, 3), np.nan)
    values[range(4), range(4)] = np.random.default_rng(1).random((4, 3))
    assert len(plot_systems(system_intervals(named(values))).collections) == 1


def test_a_system_is_a_row_with_a_dot_at_its_mean():
    found = system_intervals(named(simulated()))
    ax = plot_systems(found, top=3, measure="AP")
    assert row_names(ax) == list(found.systems[:3])
    (dots,) = ax.lines
    assert dots.get_xdata().tolist() == found.mean[:3].tolist()
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first row on top
    assert ax.get_xlabel() == "mean AP"
    assert list(found.to_frame()["system"]) == list(found.systems)


def test_the_cell_of_two_systems_says_how_sure_the_row_is_ahead():
    values = np.random.default_rng(2).normal(0, 1, (6, 15, 3)) + np.array([0.0, 0.3, 0.1])
    found = all_differences(named(values))
    ax = plot_differences(found)
    assert row_names(ax) == ["s1", "s2", "s0"]
    better = found.p_better[2]
    assert f"{100 * better:.0f}" in texts(ax)
    assert f"{100 - 100 * better:.0f}" in texts(ax)
    assert len(texts(ax)) == 6  # none on the diagonal


def test_nobody_is_told_to_be_quite_sure():
    values = simulated(n_systems=2) + np.array([1.0, 0.0])
    assert sorted(texts(plot_differences(all_differences(named(values))))) == ["<1", ">99"]


def test_pairs_told_apart_after_holm_are_bold():
    values = np.random.default_rng(3).normal(0, 0.1, (6, 15, 3)) + np.array([1.0, 0.0, 0.0])
    found = all_differences(named(values))
    bold = [text.get_weight() == "bold" for text in plot_differences(found).texts]
    assert sum(bold) == 2 * (found.adjusted("holm") < 0.05).sum() == 4


def test_a_bar_covers_the_ranks_a_system_may_hold_and_ticks_stand_at_each_assessor_s():
    values = simulated()
    found = rank_intervals(named(values), n_resamples=200, rng=1)
    place = rank_systems(named(values)).rank_by_assessor
    ax = plot_ranks(found, by_assessor=place)
    order = np.argsort(-found.mean)
    assert row_names(ax) == [found.systems[s] for s in order]
    for bar, s in zip(ax.patches, order, strict=True):
        assert bar.get_x() == pytest.approx(found.rank_low[s] - 0.45)
        assert bar.get_x() + bar.get_width() == pytest.approx(found.rank_high[s] + 0.45)
    ticks, dots = ax.lines
    assert len(ticks.get_xdata()) == place.size
    assert dots.get_xdata().tolist() == found.rank[order].tolist()


def test_an_assessor_without_a_ranking_has_no_ticks():
    values = simulated()
    values[2] = 0.0
    place = rank_systems(named(values)).rank_by_assessor
    ax = plot_ranks(rank_intervals(named(values), n_resamples=200, rng=1), by_assessor=place)
    assert len(ax.lines[0].get_xdata()) == place.size - 5
