"""Pictures of predicted relevance, and of one count against another: the marks are the numbers."""

import numpy as np
import pytest

from qrowd.comparison.rankings import kendall_tau_b
from qrowd.predicted_relevance import predicted_relevance
from qrowd.reports.plots.style import axes_or_new
from qrowd.simulation import simulate_demo
from qrowd_papers.predicted_relevance.plots import (
    plot_against,
    plot_relevance_by_grade,
    plot_relevance_by_rank,
    plot_relevance_by_sample_size,
    plot_relevance_by_topics,
)
from qrowd_papers.predicted_relevance.sensitivity import (
    sensitivity_to_rank,
    sensitivity_to_sample_size,
    sensitivity_to_topics,
)

RUNS, ALL, _ = simulate_demo()
PEOPLE = ALL.select(assessors=["ann", "bob", "lena", "sven"])
CALLED = {0.0: "Non", 1.0: "Rel", 2.0: "HRel", 3.0: "Key"}


def lines(ax):
    return [line.get_xydata() for line in ax.lines if len(line.get_xydata()) > 2]


def texts(ax):
    return [text.get_text().strip() for text in ax.texts]


def test_grades_stand_with_their_probability_and_interval():
    models = {f"from {theta}": predicted_relevance(PEOPLE, rel=theta, rng=1, n_resamples=50) for theta in (3, 1)}
    ax = plot_relevance_by_grade(models, grades=CALLED, printed={"from 3": [0.01, 0.04, 0.27, 0.53]})
    for container, model in zip(ax.containers, models.values(), strict=True):
        points, _, (bars,) = container
        assert points.get_ydata() == pytest.approx(model.probability)
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        assert ends == pytest.approx(np.column_stack([model.low, model.high]))
        assert np.abs(points.get_xdata() - model.grades).max() < 0.5
    assert [label.get_text() for label in ax.get_xticklabels()] == list(CALLED.values())
    assert "printed" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_curve_by_quality_leaves_out_what_rests_on_little():
    found = sensitivity_to_rank(PEOPLE, RUNS, rel=3)
    least = int(found.n[0, 3]) + 1
    ax = plot_relevance_by_rank(found, grades=CALLED, least=least, deepest=15)
    top = lines(ax)[0]
    good = (found.n[:, 3] >= least) & (found.rank <= 15)
    assert top == pytest.approx(np.column_stack([found.rank[good], found.probability[good, 3]]))
    assert not good[0]
    assert texts(ax) == ["Non", "Rel", "HRel", "Key"]


def test_boxes_by_topics_stand_from_the_highest_grade_down_under_their_errors():
    found = sensitivity_to_topics(PEOPLE, rel=3, rng=1)
    ax = plot_relevance_by_topics(found)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["3", "2", "1", "0"]
    assert texts(ax) == [f"± {error:.3f}" for error in found.standard_error[::-1]]
    middle = [line.get_ydata()[0] for line in ax.lines if line.get_color() == "black" and line.get_linewidth() == 1.4]
    assert middle == pytest.approx(np.nanmedian(found.replicates, axis=0)[::-1])


def test_curves_by_sample_size_hold_means_and_sds():
    found = sensitivity_to_sample_size(PEOPLE, rel=3, rng=1, n_resamples=10)
    ax = plot_relevance_by_sample_size(found)
    for i, line in enumerate(lines(ax)):
        assert line == pytest.approx(np.column_stack([found.size, found.mean[:, i]]), nan_ok=True)
    assert len(ax.collections) == found.grades.size
    assert texts(ax) == ["0", "1", "2", "3"]


def test_names_at_the_ends_of_lines_do_not_touch():
    found = sensitivity_to_sample_size(PEOPLE, rel=3, rng=1, n_resamples=10)
    found.mean[-1] = 0.2
    ax = plot_relevance_by_sample_size(found)
    heights = [text.xy[1] for text in ax.texts]
    low, high = ax.get_ylim()
    assert min(np.diff(sorted(heights))) >= 0.059 * (high - low)


def test_a_grade_that_nobody_gave_twice_is_not_drawn():
    found = sensitivity_to_topics(PEOPLE, rel=3, rng=1)
    found.replicates[:, 1] = np.nan
    assert [label.get_text() for label in plot_relevance_by_topics(found).get_xticklabels()] == ["3", "2", "0"]
    found = sensitivity_to_sample_size(PEOPLE, rel=3, rng=1, n_resamples=10)
    found.mean[:, 1] = np.nan
    assert texts(plot_relevance_by_sample_size(found)) == ["0", "2", "3"]


def test_one_count_against_another_has_a_dot_each_and_their_tau():
    x, y = np.array([1.0, 2.0, 4.0, np.nan]), np.array([1.5, 1.0, 3.0, 2.0])
    given = axes_or_new(None)
    ax = plot_against(x, y, names=("counted", "expected"), x_error=[0.1] * 4, y_error=[0.2] * 4, ax=given)
    assert ax is given
    assert ax.containers[0][0].get_xydata()[:3] == pytest.approx(np.column_stack([x, y])[:3])
    assert texts(ax) == [f"tau-b {kendall_tau_b(x[:3], y[:3]):.3f}"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("counted", "expected")
    assert ax.get_xlim() == ax.get_ylim()
