"""Pictures of rankings: by which method, by whom, and what scores vary with."""

import numpy as np
import pytest

from qrowd.comparison import rank_changes, ranking_agreement, variance_components
from qrowd.model.scores import Scores
from qrowd.reports.plots.assessor_plots import plot_correlation, short
from qrowd.reports.plots.system_plots import plot_bump, plot_components


def methods(values):
    names = ["m0", "m1", "m2"][: len(values)]
    return Scores.from_array(np.array(values, float)[:, None, :], assessors=names, topics=["t0"], systems="pqrs")


def scores(n_assessors=5, n_topics=8, n_systems=6, seed=1):
    random = np.random.default_rng(seed)
    return random.random((n_assessors, n_topics, n_systems)) + np.linspace(0, 0.6, n_systems)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_lines_lead_from_rank_to_rank_and_the_system_that_moves_most_stands_out():
    ax = plot_bump(rank_changes(methods([[4, 3, 2, 1], [3, 4, 2, 1], [1, 4, 3, 2]])))
    heights = {line.get_ydata()[0]: line.get_ydata().tolist() for line in ax.lines}
    assert heights[1] == [1, 2, 4]
    assert heights[2] == [2, 1, 1]
    assert texts(ax).count("p") == 2
    bold = {text.get_text() for text in ax.texts if text.get_weight() == "bold"}
    assert bold == {"p"}
    assert [label.get_text() for label in ax.get_xticklabels()] == ["m0", "m1", "m2"]


def test_systems_of_equal_mean_keep_the_order_of_the_method_before():
    ax = plot_bump(rank_changes(methods([[4, 3, 2, 1], [1, 1, 1, 1]])))
    assert [line.get_ydata().tolist() for line in ax.lines] == [[1, 1], [2, 2], [3, 3], [4, 4]]


def test_a_method_without_scores_leaves_a_gap():
    ax = plot_bump(rank_changes(methods([[4, 3, 2, 1], [np.nan] * 4, [4, 3, 2, 1]])))
    assert all(np.isnan(line.get_ydata()[1]) for line in ax.lines)


def test_every_two_assessors_have_a_cell_with_their_correlation():
    found = ranking_agreement(Scores.from_array(scores()))
    ax = plot_correlation(found)
    assert len(ax.texts) == 20
    assert short(found.tau_b[0, 1]) == texts(ax)[0]
    assert len(found.to_frame()) == 10


def test_two_decimals_go_without_a_leading_zero():
    assert [short(v) for v in (0.456, -0.2, 1.0, -1.0, 0.997, 0.0, -0.001)] == [
        ".46", "-.20", "1", "-1", "1", ".00", ".00",
    ]  # fmt: skip


def test_the_bars_of_a_measure_are_its_shares_of_variance():
    found = {
        "AP": variance_components(Scores.from_array(scores())),
        "RR": variance_components(Scores.from_array(scores(seed=2))),
    }
    ax = plot_components(found)
    widths = np.array([bar.get_width() for bar in ax.patches]).reshape(7, 2)
    assert widths.sum(axis=0) == pytest.approx(100)
    assert widths[:, 0] == pytest.approx(100 * found["AP"].share)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == [source.replace("*", " × ") for source in found["AP"].sources]
    assert len({bar.get_hatch() for bar in ax.patches}) == 7  # told apart without colour
