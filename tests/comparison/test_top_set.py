"""The best system and those that topics do not tell from it."""

import numpy as np
import pytest
import scipy.stats

from numbered_scores import numbered
from qrowd.comparison.top_set import top_set, top_set_overlap
from qrowd.errors import ArgumentError, NoOverlapError

NAN = float("nan")


def test_the_top_set_is_the_best_and_who_cannot_be_told_from_it():
    rng = np.random.default_rng(1)
    scores = rng.random((40, 1)) + np.array([0.0, 0.3, 0.31, -0.2]) + rng.normal(0, 0.1, (40, 4))
    found = top_set(numbered(scores))
    best = int(scores.mean(axis=0).argmax())
    assert found.best == str(best)
    assert found.members == tuple(str(s) for s in np.argsort(-scores.mean(axis=0)) if s in (1, 2))
    assert np.isnan(found.p[best])
    for s in set(range(4)) - {best}:
        assert found.p[s] == pytest.approx(scipy.stats.wilcoxon(scores[:, s], scores[:, best]).pvalue)
        assert found.member[s] == (found.p[s] >= 0.05)
    assert found.to_frame()["member"].tolist() == found.member.tolist()


def test_a_system_equal_to_the_best_everywhere_is_in_the_top_set():
    scores = np.array([[0.5, 0.5, 0.1]] * 8)
    found = top_set(numbered(scores))
    assert found.p[1] == 1
    assert found.members == ("0", "1")
    assert found.p[2] == pytest.approx(1 / 2**7)


def test_holms_correction_keeps_more_systems():
    rng = np.random.default_rng(3)
    scores = rng.random((20, 1)) + np.linspace(0, 0.3, 15) + rng.normal(0, 0.3, (20, 15))
    plain, corrected = top_set(numbered(scores)), top_set(numbered(scores), correction="holm")
    assert set(plain.members) < set(corrected.members)
    assert (np.nan_to_num(corrected.p) >= np.nan_to_num(plain.p)).all()


def test_alpha_is_where_systems_are_told_apart():
    scores = np.array([[0.5, 0.1]] * 5)
    assert top_set(numbered(scores)).p[1] == pytest.approx(1 / 16)
    assert top_set(numbered(scores)).members == ("0", "1")
    assert top_set(numbered(scores), confidence=1 - 1 / 16).members == ("0", "1")
    assert top_set(numbered(scores), confidence=0.93).members == ("0",)


def test_only_topics_that_both_know_are_compared():
    scores = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, NAN], [NAN, NAN]])
    found = top_set(numbered(scores))
    assert found.n_topics.tolist() == [3, 2]
    assert found.mean == pytest.approx([0.8, 0.15])
    assert found.p[1] == pytest.approx(0.5)


def test_a_system_that_shares_no_topic_with_the_best_is_not_in_the_set():
    found = top_set(numbered(np.array([[0.9, NAN], [NAN, 0.5]])))
    assert np.isnan(found.p[1])
    assert found.members == ("0",)


def test_overlaps_count_systems_in_both_and_in_either():
    first = top_set(numbered(np.array([[0.5, 0.5, 0.1]] * 8)))
    second = top_set(numbered(np.array([[0.1, 0.5, 0.5]] * 8)))
    assert top_set_overlap(first, second) == pytest.approx(1 / 3)
    assert top_set_overlap(first, first) == 1


@pytest.mark.parametrize(("options", "message"), [
    ({"confidence": 0.0}, "confidence=0.0"),
    ({"confidence": 5}, "confidence=5"),
    ({"correction": "bonferroni"}, "correction='bonferroni': choose one of holm, none"),
])  # fmt: skip
def test_an_option_outside_its_range_is_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        top_set(numbered(np.ones((3, 2))), **options)


def test_without_any_score_there_is_no_best_system():
    with pytest.raises(NoOverlapError, match="no system has a score"):
        top_set(numbered(np.full((3, 2), NAN)))
