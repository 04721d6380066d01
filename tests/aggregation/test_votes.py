"""Majority vote and the means."""

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from merging import by_pair, judgments_of, panels, posterior_by_pair
from oracles import aggregation as oracle
from qrowd.aggregation import geometric_mean, majority_vote, mean, median, total
from qrowd.errors import ArgumentError, ScaleError


@given(panels(), st.sampled_from(["lowest", "highest", "fractional", "coin"]))
def test_the_vote_is_a_grade_that_most_gave(labels, ties):
    voted = by_pair(majority_vote(judgments_of(labels), ties=ties, rng=1))
    for pair, said in labels.items():
        best = oracle.winners(said)
        expected = {"lowest": [best[0]], "highest": [best[-1]], "fractional": [np.mean(best)], "coin": best}[ties]
        assert any(voted[pair] == pytest.approx(value) for value in expected)


@given(panels())
def test_a_fractional_vote_shares_the_posterior_among_the_winners(labels):
    for pair, probabilities in posterior_by_pair(majority_vote(judgments_of(labels), ties="fractional")).items():
        best = oracle.winners(labels[pair])
        assert {g: p for g, p in probabilities.items() if p} == {g: pytest.approx(1 / len(best)) for g in best}


def test_the_coin_is_fair_and_the_same_for_the_same_number():
    labels = {("t", f"d{i}"): {"a": 0, "b": 1} for i in range(2000)}
    vote = majority_vote(judgments_of(labels), rng=3)
    assert vote.judgments.value.mean() == pytest.approx(0.5, abs=4 * 0.5 / 2000**0.5)
    assert by_pair(vote) == by_pair(majority_vote(judgments_of(labels), rng=3))
    assert by_pair(vote) != by_pair(majority_vote(judgments_of(labels), rng=4))
    assert vote.n_ties == 2000


@pytest.mark.parametrize(("merge", "by_hand"), [(mean, statistics.fmean), (median, statistics.median)])
@given(labels=panels())
def test_a_mean_is_that_of_the_judgments_of_a_pair(merge, by_hand, labels):
    merged = by_pair(merge(judgments_of(labels)))
    assert merged == {pair: pytest.approx(by_hand(list(said.values()))) for pair, said in labels.items()}


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=9))
def test_two_judgments_on_three_levels_add_up_to_one_on_five(pairs):
    """Demeester et al. (2016), section 4.1: the paired judgments of INTENT-2 became single 5-level gains."""
    labels = {("t", f"d{i}"): {"a": a, "b": b} for i, (a, b) in enumerate(pairs)}
    merged = total(judgments_of(labels, scale="0-2"))
    assert by_pair(merged) == {("t", f"d{i}"): a + b for i, (a, b) in enumerate(pairs)}
    assert (str(merged.scale), str(merged.judgments.scales[0])) == ("0-4", "0-4")


def test_sums_of_different_numbers_of_judgments_are_refused():
    with pytest.raises(ScaleError, match="sums of 1 and of 2 judgments cannot be compared; use the mean"):
        total(judgments_of({("t", "d"): {"a": 1, "b": 2}, ("t", "e"): {"a": 1}}))


@given(panels(grades=(0.5, 1, 3.25, 40)))
def test_the_geometric_mean_is_that_of_the_magnitudes_of_a_pair(labels):
    merged = by_pair(geometric_mean(judgments_of(labels, scale="magnitude")))
    assert merged == {
        pair: pytest.approx(statistics.geometric_mean(list(said.values()))) for pair, said in labels.items()
    }


def test_a_geometric_mean_of_zero_is_refused_by_name():
    with pytest.raises(ScaleError, match="assessor a, topic t, document d: 0 has no logarithm"):
        geometric_mean(judgments_of({("t", "d"): {"a": 0, "b": 2}}))


def test_fractions_and_magnitudes_cannot_vote():
    for scale, grades in (("0..1", (0.5, 0.25)), ("magnitude", (3, 40))):
        labels = {("t", "d"): dict(zip("ab", grades, strict=True))}
        with pytest.raises(ScaleError, match=r"counts whole grades.*(mean, median|geometric_mean)"):
            majority_vote(judgments_of(labels, scale=scale))


def test_of_unlike_scales_shares_are_averaged_and_relevance_is_counted():
    from qrowd.model.judgments import Judgments

    mixed = Judgments.from_rows([("t", "d", "a", 3), ("t", "d", "b", 0.4)], scales={"a": "0-3", "b": "0..1"})
    assert mean(mixed).judgments.value.tolist() == [0.7]
    voted = majority_vote(mixed, ties="fractional")
    assert (voted.judgments.value.tolist(), voted.n_ties, str(voted.scale)) == ([0.5], 1, "binary")
    with pytest.raises(ScaleError, match=r"b \(0\.\.1\) and a \(0-3\) cannot be on one scale.*recode"):
        mean(mixed, combine_scales="as-is")


def test_an_unknown_rule_for_ties_is_refused():
    with pytest.raises(ArgumentError, match="coin, lowest, highest, fractional"):
        majority_vote(judgments_of({("t", "d"): {"a": 1}}), ties="random")
