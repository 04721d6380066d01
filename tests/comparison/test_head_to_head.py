"""Two systems, by every assessor."""

import numpy as np
import pytest
import scipy.stats

from numbered_scores import numbered
from qrowd.comparison.head_to_head import head_to_head
from qrowd.errors import ArgumentError

NAN = float("nan")


def test_the_panel_comes_first_and_then_every_assessor():
    scores = np.random.default_rng(2).random((3, 12, 4))
    found = head_to_head(numbered(scores), "2", "0")
    panel = scores.mean(axis=0)
    for row, table in enumerate((panel, *scores)):
        difference = table[:, 2] - table[:, 0]
        assert found.difference[row] == pytest.approx(difference.mean())
        assert (found.wins[row], found.losses[row]) == ((difference > 0).sum(), (difference < 0).sum())
        assert found.p[row] == pytest.approx(scipy.stats.wilcoxon(difference).pvalue)
    assert set(found.ahead) | set(found.behind) == {"0", "1", "2"}
    assert found.to_frame()["assessor"].tolist() == ["panel", "0", "1", "2"]


def test_turned_round_everything_changes_its_sign_but_p():
    scores = np.random.default_rng(2).integers(0, 3, (3, 12, 4)).astype(float)
    one, other = head_to_head(numbered(scores), "0", "1"), head_to_head(numbered(scores), "1", "0")
    assert one.difference == pytest.approx(-other.difference)
    assert one.wins.tolist() == other.losses.tolist()
    assert one.ties.tolist() == other.ties.tolist()
    assert one.p == pytest.approx(other.p)
    assert one.ahead == other.behind


def test_ties_and_topics_without_a_score_are_kept_apart():
    scores = np.array([[[0.5, 0.6], [0.1 + 0.2, 0.3], [NAN, NAN]], [[NAN, NAN]] * 3])
    found = head_to_head(numbered(scores), "0", "1")
    assert (found.wins[1], found.ties[1], found.losses[1]) == (0, 1, 1)
    assert (found.wins[2], found.ties[2], found.losses[2]) == (0, 0, 0)
    assert np.isnan(found.difference[2])
    assert np.isnan(found.p[2])
    assert (found.ahead, found.behind) == ((), ("0",))


def test_systems_that_are_equal_everywhere_are_tied_with_p_1():
    found = head_to_head(numbered(np.zeros((2, 4, 2))), "0", "1")
    assert found.ties.tolist() == [4, 4, 4]
    assert found.p.tolist() == [1, 1, 1]
    assert found.ahead == found.behind == ()


@pytest.mark.parametrize(
    ("pair", "message"),
    [(("0", "0"), "are the same; name two"), (("0", "9"), "system '9' is not among the systems")],
)
def test_what_is_no_pair_is_refused(pair, message):
    with pytest.raises(ArgumentError, match=message):
        head_to_head(numbered(np.ones((2, 3, 3))), *pair)
