"""Mean ranks of systems over topics, and which of them do not differ."""

from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from qrowd.comparison import mean_ranks, rank_intervals
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.scores import Scores

# Demsar (2006), Table 6: areas under the curve of C4.5, with tuned m, with tuned cf, with both, on 14 data sets. The
# last but one has ranks 2 and 3 beside equal printed areas, so one of them is written with a fourth digit.
DEMSAR = np.array([
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970],
])  # fmt: skip
SYSTEMS = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]

tables = st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=3, max_size=9)


def of_table(table, **options):
    return mean_ranks(Scores.from_array(np.array(table, float)), **options)


def test_mean_ranks_and_critical_difference_are_those_that_demsar_prints():
    ranked = mean_ranks(Scores.from_array(DEMSAR, systems=SYSTEMS))
    by_system = dict(zip(ranked.systems, ranked.mean_rank.round(3).tolist(), strict=True))
    assert by_system == {"C4.5": 3.143, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}
    assert round(ranked.critical_difference, 2) == 1.25
    at_90 = mean_ranks(Scores.from_array(DEMSAR, systems=SYSTEMS), confidence=0.9)
    assert round(at_90.critical_difference, 2) == 1.12
    # At p = .10 C4.5 is significantly worse than the best two, and nothing is known of C4.5+cf (section 3.2.4).
    assert at_90.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5"))


def test_p_values_are_those_of_scikit_posthocs():
    # scikit-posthocs 0.17.1: posthoc_nemenyi_friedman of the same table
    ranked = mean_ranks(Scores.from_array(DEMSAR, systems=SYSTEMS))
    pairs = {("C4.5", "C4.5+m"): 0.08867271, ("C4.5", "C4.5+cf"): 0.95617718, ("C4.5", "C4.5+m+cf"): 0.0741848,
             ("C4.5+m", "C4.5+cf"): 0.25922807, ("C4.5+m", "C4.5+m+cf"): 0.99985945}  # fmt: skip
    for (first, second), p in pairs.items():
        assert ranked.p[ranked.systems.index(first), ranked.systems.index(second)] == pytest.approx(p, abs=1e-7)
    assert (ranked.friedman, ranked.friedman_p) == pytest.approx(scipy.stats.friedmanchisquare(*DEMSAR.T))


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(tables)
def test_a_pair_differs_where_its_mean_ranks_are_a_critical_difference_apart(table):
    ranked = of_table(table)
    slow = []
    for s in range(4):
        ranks = [sum(other > row[s] for other in row) + (row.count(row[s]) + 1) / 2 for row in table]
        slow.append(sum(ranks) / len(table))
    assert sorted(slow) == pytest.approx(ranked.mean_rank.tolist())
    assert ranked.mean_rank.sum() == pytest.approx(10)
    for i, j in combinations(range(4), 2):
        apart = ranked.mean_rank[j] - ranked.mean_rank[i]
        together = any(ranked.systems[i] in group and ranked.systems[j] in group for group in ranked.groups)
        if abs(apart - ranked.critical_difference) > 1e-6:
            assert (apart < ranked.critical_difference) == together


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(tables, st.permutations(range(4)))
def test_the_order_of_systems_and_the_size_of_differences_do_not_matter(table, order):
    values = np.array(table, float)
    plain, other = of_table(values), mean_ranks(
        Scores.from_array(np.exp(values)[:, order], systems=[str(s + 1) for s in order])
    )  # fmt: skip
    assert plain.systems == other.systems
    assert plain.groups == other.groups
    np.testing.assert_allclose(plain.p, other.p)


def test_by_max_t_the_groups_are_those_of_the_rank_intervals():
    values = np.random.default_rng(3).normal(0, 0.1, (6, 20, 5)) + np.linspace(0.3, 0, 5)
    scores = Scores.from_array(values)
    ranked = mean_ranks(scores, test="max-t", n_resamples=500, rng=1)
    intervals = rank_intervals(scores, n_resamples=500, rng=1)
    places = [intervals.systems.index(name) for name in ranked.systems]
    np.testing.assert_array_equal(ranked.p, intervals.p[np.ix_(places, places)])
    assert np.isnan(ranked.critical_difference)
    frame = ranked.to_frame(what="pairs")
    assert frame["different"].tolist() == (frame["p"] < 0.05).tolist()
    assert frame["different"].any()


def test_topics_without_a_score_of_every_system_and_systems_without_scores_are_left_out():
    values = np.array([[0.3, 0.2, np.nan], [0.4, np.nan, np.nan], [0.1, 0.5, np.nan], [0.6, 0.2, np.nan]])
    ranked = of_table(values)
    assert (ranked.n_topics, ranked.systems) == (3, ("1", "2"))
    with pytest.raises(NoOverlapError, match="2 systems with scores share 1 topics; mean ranks need 2 of each"):
        of_table(values[:2])
    with pytest.raises(ArgumentError, match="test='wilcoxon': choose one of nemenyi, max-t"):
        of_table(values, test="wilcoxon")
