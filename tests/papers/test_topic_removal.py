"""Topics removed in the order of their agreement."""

import numpy as np
import pytest

from oracles import agreement as oracle
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.scores import Scores
from qrowd_papers.agreement.study import topic_removal

TOPICS = tuple(f"t{i:02d}" for i in range(24))


def by_topics(scores):
    return Scores.from_array(scores, topics=TOPICS[: len(scores)])


def made(n_topics=24, n_systems=7, seed=1):
    rng = np.random.default_rng(seed)
    ease = rng.random(n_topics)
    scores = np.clip(ease[:, None] + 0.2 * rng.normal(size=(n_topics, n_systems)), 0, 1)
    agreement = dict(zip(TOPICS, ease + 0.1 * rng.normal(size=n_topics), strict=False))
    return scores, agreement


def test_removing_topics_changes_scores_and_rankings_as_loops_say():
    scores, agreement = made(n_topics=9, n_systems=6)
    scores[2, 3] = np.nan
    found = topic_removal(by_topics(scores), agreement, n_resamples=5, rng=1)
    order = sorted(range(9), key=lambda t: agreement[TOPICS[t]])
    whole = np.nanmean(scores, axis=0)
    assert list(found.n_topics) == list(range(9, 0, -1))
    for size, high, low, tau_high, tau_low in zip(found.n_topics, *found.score[:2], *found.tau[:2], strict=True):
        for kept, score, tau in ((order[:size], high, tau_high), (order[-size:], low, tau_low)):
            with np.errstate(all="ignore"):
                means = np.array([np.nanmean(c) if not np.isnan(c).all() else np.nan for c in scores[kept].T])
            assert score == pytest.approx(np.nanmean(means))
            known = ~np.isnan(means)
            assert tau == pytest.approx(oracle.tau_b(list(whole[known]), list(means[known])), nan_ok=True)
    assert found.score[:, 0] == pytest.approx(np.nanmean(whole))
    assert found.tau[:, 0] == pytest.approx(1)


def test_removing_easy_topics_lowers_scores_and_removing_at_random_does_not():
    scores, agreement = made()
    found = topic_removal(by_topics(scores), agreement, rng=1)
    assert found.n_resamples == 300
    middle = 12
    high_removed, low_removed, at_random = found.score[:, middle]
    assert high_removed < at_random < low_removed
    assert at_random == pytest.approx(found.score[2, 0], abs=0.01)
    assert (found.low[0] <= found.score[2] + 1e-12).all()
    assert (found.score[2] <= found.high[0] + 1e-12).all()
    frame = found.to_frame()
    assert len(frame) == 3 * 24
    assert list(frame["removed"].unique()) == ["high", "low", "random"]
    assert frame.loc[frame["removed"] == "high", "score_low"].isna().all()


def test_bins_of_topics_are_removed_as_a_whole():
    scores, agreement = made(n_topics=9, n_systems=6)
    found = topic_removal(by_topics(scores), agreement, bins=4, n_resamples=3, rng=1)
    order = sorted(range(9), key=lambda t: agreement[TOPICS[t]])
    bins = [order[:3], order[3:5], order[5:7], order[7:]]
    means = np.array([scores[part].mean(axis=0) for part in bins])
    assert found.n_topics.tolist() == [4, 3, 2, 1]
    for left, high, low, tau in zip(found.n_topics, *found.score[:2], found.tau[0], strict=True):
        assert high == pytest.approx(means[:left].mean())
        assert low == pytest.approx(means[-left:].mean())
        whole = list(means.mean(axis=0))
        assert tau == pytest.approx(oracle.tau_b(whole, list(means[:left].mean(axis=0))), nan_ok=True)
    with pytest.raises(ArgumentError, match="bins=10: expected 1 bin or more, and at most the number of topics, 9"):
        topic_removal(by_topics(scores), agreement, bins=10)


def test_binned_removal_shows_the_pattern_of_single_topics():
    # Maddalena et al. (ICTIR 2017), section 5.1: similar patterns are observed when binning topics.
    scores, agreement = made()
    high_removed, low_removed, at_random = topic_removal(by_topics(scores), agreement, bins=8, rng=1).score[:, 4]
    assert high_removed < at_random < low_removed


def test_the_same_seed_removes_the_same_topics():
    scores, agreement = made()
    first, again, other = (topic_removal(by_topics(scores), agreement, n_resamples=20, rng=rng) for rng in (5, 5, 6))
    assert np.array_equal(first.score, again.score)
    assert not np.array_equal(first.score, other.score)


def test_topics_without_agreement_are_refused():
    with pytest.raises(NoOverlapError, match="scores and agreement share no topic"):
        topic_removal(by_topics(made()[0]), {"elsewhere": 0.5})
