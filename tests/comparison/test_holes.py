"""Scores that some systems lack: means are those of a least-squares fit, and every statistic says what it is over."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrowd import Scores
from qrowd.comparison import correlations, rank_intervals, rank_systems
from qrowd.comparison.mean_squares import panel_of
from qrowd.comparison.system_ranking import system_intervals
from qrowd.errors import NoOverlapError
from qrowd.kernels.two_way import fitted
from qrowd.reports.comparison import compare_scores


def with_holes(seed, shape=(2, 7, 5), share=0.25):
    """(assessors, topics, systems) scores; no cell, topic or system is empty."""
    random = np.random.default_rng(seed)
    values = random.random(shape) + random.random(shape[1])[:, None]
    holes = random.random(shape) < share
    holes[..., 0] = False
    holes[:, :3] = False
    return np.where(holes, np.nan, values)


def effects(values):
    """Means of systems by ordinary least squares with an indicator for every cell and every system, cells weighted."""
    rows, right = [], []
    n_assessors, n_topics, n_systems = values.shape
    for a, t, s in np.argwhere(~np.isnan(values)):
        row = np.zeros(n_assessors * n_topics + n_systems)
        row[a * n_topics + t] = row[n_assessors * n_topics + s] = 1
        rows.append(row)
        right.append(values[a, t, s])
    both = np.linalg.lstsq(np.array(rows), np.array(right), rcond=None)[0]
    return both[: n_assessors * n_topics].mean() + both[n_assessors * n_topics :]


@given(st.integers(0, 10**6))
@settings(max_examples=settings.default.max_examples // 2)
def test_means_of_an_incomplete_table_are_those_of_least_squares(seed):
    values = with_holes(seed)
    expected = effects(values)
    assert fitted(values).mean(axis=(0, 1)) == pytest.approx(expected)
    scores = Scores.from_array(values)
    assert rank_systems(scores).mean == pytest.approx(expected)
    assert rank_intervals(scores, n_resamples=20, rng=1).mean == pytest.approx(expected)


def test_a_table_without_holes_stays_as_it_is():
    values = with_holes(1, share=0.0)
    values[1, 2] = np.nan  # a cell in which nobody has a score is no hole
    assert fitted(values) is values


def test_topics_add_to_the_effects_what_leaving_them_out_takes_away():
    values = with_holes(3, (1, 8, 4))
    filled = fitted(values)
    full = effects(values) - effects(values).mean()
    changes = []
    for t in range(8):
        less = effects(np.delete(values, t, axis=1))
        changes.append(7 * (full - (less - less.mean())))
    changes = np.array(changes) - np.mean(changes, axis=0)
    centred = filled[0] - filled[0].mean(axis=1, keepdims=True)
    assert centred - centred.mean(axis=0) == pytest.approx(changes)


def test_a_system_that_lacks_hard_topics_gains_nothing():
    random = np.random.default_rng(5)
    difficulty, skill = np.linspace(0, 1, 30), np.array([0.3, 0.2, 0.1, 0.0])
    values = difficulty[:, None] + skill + random.normal(0, 0.02, (30, 4))
    values[:12, 3] = np.nan  # the worst system, on the hardest topics
    ranking = rank_systems(Scores.from_array(values))
    assert np.nanmean(values, axis=0).argsort().tolist() == [2, 1, 3, 0]  # the mean of what there is misleads
    assert ranking.rank.tolist() == [1, 2, 3, 4]
    assert ranking.n_topics.tolist() == [30, 30, 30, 18]
    assert system_intervals(Scores.from_array(values)).by_assessor[0] == pytest.approx(ranking.mean)
    ranks = rank_intervals(Scores.from_array(values), n_resamples=500, rng=1)
    assert ranks.may_be_best == ("1",)
    assert ranks.better[:3, 3].all()


def test_correlations_are_over_all_systems_that_share_topics():
    values = with_holes(7, (3, 12, 6), 0.1)
    found = correlations(Scores.from_array(values), reference="1")
    assert found.n_systems[1:].tolist() == [6, 6]
    assert found.n_topics[1:].tolist() == [12, 12]
    assert not np.isnan(found.tau_b[1:]).any()


def test_systems_on_one_topic_keep_what_they_have():
    values = np.array([[0.5, np.nan, np.nan], [np.nan, 0.25, np.nan], [np.nan, np.nan, np.nan]])
    assert rank_systems(Scores.from_array(values)).mean == pytest.approx([0.5, 0.25, np.nan], nan_ok=True)


def test_systems_without_a_way_to_compare_them_are_named():
    values = np.full((6, 4), np.nan)
    values[:3, :2], values[3:, 2:] = 0.5, 0.4
    with pytest.raises(NoOverlapError, match="share 0 topic"):
        panel_of(Scores.from_array(values))


def test_a_comparison_says_what_is_missing_and_over_what_its_numbers_are():
    values = with_holes(9, (3, 12, 6), 0.1)
    comparison = compare_scores(Scores.from_array(values))
    (note,) = [note for note in comparison.notes if note.kind == "missing scores"]
    n, systems = int(np.isnan(values).sum()), int(np.isnan(values).any(axis=(0, 1)).sum())
    assert note.text.startswith(f"{n} of 216 scores, in {systems} of 6 systems, most of ")
    assert "least-squares fit" in note.text
    (row, *_) = comparison.measures[0].assessor_rows()
    assert (row.n_topics, row.n_systems) == (12, 6)
    assert comparison.measures[0].ranks is not None


def test_a_system_that_lacks_most_topics_is_a_reason_for_caution():
    values = with_holes(11, (1, 30, 6), 0.0)
    values[0, 6:, 2] = np.nan
    (note,) = [note for note in compare_scores(Scores.from_array(values)).notes if note.kind == "missing scores"]
    assert "most of 3 (80 %)" in note.text
    assert "caution: where more than 70 % are missing, the test errs in up to 10 % of tables" in note.text
