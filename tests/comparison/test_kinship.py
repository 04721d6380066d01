"""Scores of systems without their relatives: a slow oracle, laws, and a judge who favours its relatives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd import Scores
from qrowd.comparison import kinship
from qrowd.errors import ArgumentError, NoOverlapError

SYSTEMS = ("bm25", "dense", "dual-a", "dual-b", "rerank")
ASSESSORS = ("ann", "bob", "qwen-4b", "qwen-9b")
RELATED = {"qwen*": ["dual*"]}


def scores_of(values, assessors=ASSESSORS):
    return Scores.from_array(values, assessors=assessors, systems=SYSTEMS)


def without_relatives(values, related):
    """(topics, systems) least squares over dummy variables of assessors and systems, topic by topic."""
    n_assessors, n_topics, n_systems = values.shape
    out = np.full((n_topics, n_systems), np.nan)
    for t in range(n_topics):
        rows, targets = [], []
        for a in range(n_assessors):
            for s in range(n_systems):
                if not related[a, s] and not np.isnan(values[a, t, s]):
                    row = np.zeros(n_assessors + n_systems)
                    row[a] = row[n_assessors + s] = 1
                    rows.append(row)
                    targets.append(values[a, t, s])
        judged = np.array([not np.isnan(values[a, t]).all() for a in range(n_assessors)])
        rows.append(np.append(judged.astype(float), np.zeros(n_systems)))  # severities sum to 0
        solution = np.linalg.lstsq(np.array(rows), np.array([*targets, 0.0]), rcond=None)[0]
        out[t] = solution[n_assessors:]
    return out


@given(st.integers(0, 2**32 - 1))
def test_scores_are_those_of_least_squares_with_dummy_variables(seed):
    rng = np.random.default_rng(seed)
    values = rng.uniform(size=(4, 6, 5))
    values[1, rng.integers(6)] = np.nan
    result = kinship(scores_of(values), RELATED | {"bob": "rerank"})
    related = np.zeros((4, 5), bool)
    related[2:, 2:4] = related[1, 4] = True
    expected = without_relatives(values, related)
    assert result.without_relatives == pytest.approx(expected.mean(axis=0))
    differences = (np.nanmean(values, axis=0) - expected)[:, 2:]
    assert result.difference[2:] == pytest.approx(differences.mean(axis=0))
    error = differences.std(axis=0, ddof=1) / np.sqrt(6)
    assert result.high[2:] - result.difference[2:] == pytest.approx(2.5705818 * error, rel=1e-6)  # t(5), .975


@given(st.integers(0, 2**32 - 1))
def test_systems_without_relatives_keep_their_means_and_a_lenient_relative_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    values = rng.uniform(size=(4, 5, 5))
    result = kinship(scores_of(values), {"qwen-9b": "dual-a"})
    alone = np.array(SYSTEMS) != "dual-a"
    assert result.difference[alone].tolist() == [0] * 4
    assert (result.without_relatives == result.mean)[alone].all()
    assert result.mean == pytest.approx(values.mean(axis=(0, 1)))
    values[3] += 0.25  # on all systems alike
    lenient = kinship(scores_of(values), {"qwen-9b": "dual-a"})
    assert lenient.difference == pytest.approx(result.difference)
    assert lenient.rank_without.tolist() == result.rank_without.tolist()


def test_assessors_who_agree_but_for_severity_change_nothing_without_relatives():
    by_topic = np.random.default_rng(2).uniform(size=(8, 5))
    values = by_topic + np.array([0, 0.1, -0.1, 0.3])[:, None, None]
    result = kinship(scores_of(values), RELATED)
    assert result.without_relatives == pytest.approx(result.mean)
    assert (result.rank == result.rank_without).all()
    assert result.tau == pytest.approx(1)


def test_a_judge_who_favours_its_relatives_makes_them_win_and_loses_that_without_kinship():
    rng = np.random.default_rng(3)
    quality = np.array([0.3, 0.45, 0.40, 0.35, 0.5])
    values = quality + rng.normal(0, 0.1, (1, 50, 1)) + rng.normal(0, 0.02, (4, 50, 5))
    values[2:, :, 2:4] += 0.3
    result = kinship(scores_of(values), RELATED)
    assert (result.first, result.first_without) == (("dual-a",), ("rerank",))
    assert result.rank.tolist() == [5, 4, 1, 2, 3]
    assert result.rank_without.tolist() == [5, 2, 3, 4, 1]
    assert result.n_relatives.tolist() == [0, 0, 2, 2, 0]
    favour = result.difference[2:4]  # half of the panel adds .3
    assert favour == pytest.approx(0.15, abs=0.01)
    assert (result.low[2:4] > 0.14).all()
    assert np.isnan(result.low[[0, 1, 4]]).all()
    assert result.tau == pytest.approx(0.2)


def test_a_system_related_to_every_assessor_has_no_score_without_its_relatives():
    values = np.random.default_rng(4).uniform(size=(4, 6, 5))
    result = kinship(scores_of(values), {"*": "dense", **RELATED})
    assert np.isnan(result.without_relatives).tolist() == [False, True, False, False, False]
    assert (result.rank[1], result.rank_without[1]) == (0, 0)
    assert sorted(result.rank_without.tolist()) == [0, 1, 2, 3, 4]
    assert result.to_frame()["n_relatives"].tolist() == [0, 4, 2, 2, 0]


def test_topics_that_only_relatives_judged_are_left_out():
    values = np.random.default_rng(5).uniform(size=(4, 6, 5))
    values[:2, 0] = np.nan
    result = kinship(scores_of(values), RELATED)
    assert result.n_topics == 5
    assert result.mean == pytest.approx(values[:, 1:].mean(axis=(0, 1)))


def test_a_missing_list_leaves_out_that_system_in_the_topic_alone():
    values = np.random.default_rng(6).uniform(size=(4, 6, 5))
    values[:, 0, 1] = np.nan
    result = kinship(scores_of(values), RELATED)
    assert result.n_topics == 6
    assert result.mean == pytest.approx(np.nanmean(values, axis=(0, 1)))


@pytest.mark.parametrize(
    ("related", "problem"),
    [
        ({"qwem*": "dual*"}, "related: no assessor matches 'qwem\\*'; "),
        ({"qwen*": ["dual*", "duel*"]}, "related: no system matches 'duel\\*'; "),
        ({}, "related: no pair was declared"),
    ],
)
def test_what_matches_nothing_is_refused_with_its_name(related, problem):
    with pytest.raises(ArgumentError, match=problem):
        kinship(scores_of(np.ones((4, 3, 5))), related)


def test_systems_that_no_unrelated_assessors_connect_are_refused():
    values = np.random.default_rng(7).uniform(size=(2, 3, 5))
    scores = scores_of(values, ("gpt", "qwen"))
    with pytest.raises(NoOverlapError, match="no topic has assessors by whom all systems can be compared"):
        kinship(scores, {"qwen": ["dual*"], "gpt": ["bm25", "dense", "rerank"]})
