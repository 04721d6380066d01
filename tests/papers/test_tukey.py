"""Tukey's honestly significant difference."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multicomp import pairwise_tukeyhsd

from oracles import comparison as oracle
from qrowd.errors import ArgumentError
from qrowd_papers.analysis_of_variance import anova
from qrowd_papers.tukey import tukey_hsd, tukey_of_means

SAMPLES = {
    "equal": [[24.5, 23.5, 26.4, 27.1, 29.9], [28.4, 34.2, 29.5, 32.2, 30.1], [26.1, 28.3, 24.3, 26.2, 27.8]],
    "unequal": [[24.5, 23.5, 26.28, 26.4], [28.4, 34.2, 29.5, 32.2, 30.1, 27.0], [26.1, 28.3, 24.3], [25.0, 29.0]],
}

# Ferrante, Ferro, Maistro (2017), AWARE, Figures 8 and 9 (d-f): means and groups, with the error of Tables 3 and 4.
FIGURES = [
    ("highest", 6.4347, 2610, {"tpc": 0.6611, "sgl": 0.6602}, [["tpc", "sgl"]]),
    (
        "highest", 6.4347, 1044, {"apc": 0.6687, "tau": 0.6645, "kld": 0.6608, "fro": 0.6593, "rmse": 0.6499},
        [["apc", "tau"], ["tau", "kld"], ["kld", "fro"], ["rmse"]],
    ),
    ("highest", 6.4347, 1740, {"med": 0.6630, "md": 0.6620, "msd": 0.6569}, [["med", "md"], ["msd"]]),
    ("lowest", 49.8622, 2610, {"sgl": 0.5843, "tpc": 0.6036}, [["sgl"], ["tpc"]]),
    (
        "lowest", 49.8622, 1044, {"kld": 0.5758, "fro": 0.5868, "apc": 0.5967, "tau": 0.5987, "rmse": 0.6119},
        [["kld", "fro"], ["fro", "apc"], ["apc", "tau"], ["rmse"]],
    ),
    ("lowest", 49.8622, 1740, {"med": 0.5642, "md": 0.5816, "msd": 0.6360}, [["med"], ["md"], ["msd"]]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("best", "error_ss", "n", "means", "groups"),
    [FIGURES[1], FIGURES[4], *(pytest.param(*FIGURES[i], marks=pytest.mark.nightly) for i in (0, 2, 3, 5))],
)
def test_the_groups_that_the_aware_paper_prints_follow_from_its_means_and_errors(best, error_ss, n, means, groups):
    levels, values = list(means), np.array(list(means.values()))
    shuffled = np.random.default_rng(1).permutation(len(levels))
    found = tukey_of_means(
        [levels[i] for i in shuffled], values[shuffled], np.full(len(levels), n), error_ss / 5167, 5167, best=best
    )
    assert found.levels == tuple(levels)
    assert [list(group) for group in found.groups] == groups


def one_way(samples):
    frame = pd.DataFrame([(y, "abcd"[i]) for i, sample in enumerate(samples) for y in sample], columns=["y", "group"])
    return frame, tukey_hsd(anova(frame, "y", ["group"]), "group")


def of_systems(scores):
    """Topics (rows) and systems (columns) as the two factors."""
    topic, system = np.indices(scores.shape)
    table = anova({"y": scores.ravel(), "topic": topic.ravel(), "system": system.ravel()}, "y", ["topic", "system"])
    return table, tukey_hsd(table, "system")


@pytest.mark.parametrize("name", ["unequal", pytest.param("equal", marks=pytest.mark.nightly)])
def test_one_factor_is_scipys_and_statsmodels(name):
    samples = SAMPLES[name]
    frame, found = one_way(samples)
    expected = scipy.stats.tukey_hsd(*samples)
    interval = expected.confidence_interval()
    rows = found.to_frame(what="pairs")
    assert len(rows) == len(samples) * (len(samples) - 1) // 2
    for row in rows.itertuples():
        i, j = "abcd".index(row.first), "abcd".index(row.second)
        assert row.difference == pytest.approx(expected.statistic[i, j])
        assert (row.low, row.high) == (pytest.approx(interval.low[i, j]), pytest.approx(interval.high[i, j]))
        assert row.different == (expected.pvalue[i, j] < 0.05)
    other = pairwise_tukeyhsd(frame.y, frame.group)
    other._simultaneous_ci()
    half = dict(zip(other.groupsunique, other.halfwidths, strict=True))
    assert found.half_width == pytest.approx([half[level] for level in found.levels], rel=1e-4)


def test_the_error_is_that_of_the_analysis_of_variance():
    """Two factors: q sqrt(MS / n) with the error's mean square and degrees of freedom, not those of one factor."""
    rng = np.random.default_rng(2)
    scores = rng.random((30, 1)) + np.linspace(0, 0.3, 6) + rng.normal(0, 0.1, (30, 6))
    table, found = of_systems(scores)
    row, column, error, _ = oracle.two_way(scores.tolist())
    assert table.ss[:3] == pytest.approx([row, column, error])
    critical = scipy.stats.studentized_range.ppf(0.95, 6, 29 * 5)
    assert found.critical == pytest.approx(critical)
    assert found.half_width == pytest.approx(np.full(6, critical * np.sqrt(error / 145 / 30) / 2))
    table = found.to_frame(what="pairs")
    assert (table["high"] - table["low"]).to_numpy() == pytest.approx(4 * found.half_width[0])


def test_intervals_of_levels_that_differ_do_not_overlap():
    rng = np.random.default_rng(3)
    found = of_systems(rng.random((20, 1)) + np.linspace(0, 0.6, 8) + rng.normal(0, 0.2, (20, 8)))[1]
    low, high = found.mean - found.half_width, found.mean + found.half_width
    apart = {(row.first, row.second): row.different for row in found.to_frame(what="pairs").itertuples()}
    assert any(apart.values())
    assert not all(apart.values())
    for i, first in enumerate(found.levels):
        for j, second in enumerate(found.levels[:i]):
            assert apart[second, first] == (low[j] > high[i])


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=7, unique=True), st.sampled_from(["highest", "lowest"]))
def test_groups_are_the_largest_runs_of_levels_that_do_not_differ(means, best):
    names = [f"s{i}" for i in range(len(means))]
    n = np.arange(len(means)) % 3 + 5
    found = tukey_of_means(names, np.array(means), n, 0.08, 20, best=best)
    assert list(found.mean) == sorted(means, reverse=best == "highest")
    apart = {frozenset((row.first, row.second)): row.different for row in found.to_frame(what="pairs").itertuples()}
    expected = oracle.groups(list(found.levels), lambda a, b: apart[frozenset((a, b))])
    assert [list(group) for group in found.groups] == expected
    for level, letters, top in zip(found.levels, found.letters, found.top, strict=True):
        assert letters == "".join("abcdefg"[g] for g, group in enumerate(expected) if level in group)
        assert top == (level == found.levels[0] or not apart[frozenset((level, found.levels[0]))])
    frame = found.to_frame()
    assert frame["level"].tolist() == list(found.levels)
    assert frame["groups"].tolist() == list(found.letters)


def test_more_groups_than_letters_go_on_with_numbers():
    names = [str(i) for i in range(30)]
    found = tukey_of_means(names, np.arange(30.0), np.full(30, 5), 1e-6, 100)
    assert found.letters[25:28] == ("z", "a1", "b1")


def test_where_nothing_varies_nothing_differs():
    found = of_systems(np.full((4, 3), 0.25))[1]
    assert found.groups == (("0", "1", "2"),)


def test_without_degrees_of_freedom_for_error_nothing_is_compared():
    with pytest.raises(ArgumentError, match="no degrees of freedom"):
        tukey_of_means(["a", "b"], np.arange(2), np.full(2, 4), 0.1, 0)
