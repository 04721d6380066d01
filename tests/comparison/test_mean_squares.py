"""The scores of a panel as topics by assessors."""

import numpy as np
import pytest

from numbered_scores import numbered
from qrowd.comparison.mean_squares import panel_of
from qrowd.errors import NoOverlapError

NAN = float("nan")


def scores(topics=9, assessors=4, systems=3, holes=0.0, seed=1):
    random = np.random.default_rng(seed)
    values = random.random((assessors, topics, systems))
    values[random.random((assessors, topics)) < holes] = NAN
    return values


def test_cells_that_lack_one_of_a_pair_are_left_out_and_counted_and_those_of_more_systems_are_filled():
    values = scores()
    values[1, 2, 0] = NAN
    values[0] = NAN
    panel = panel_of(numbered(values))
    assert (panel.assessors, panel.n_left_out, panel.known.sum()) == (("1", "2", "3"), 0, 27)
    pair = panel_of(numbered(values), (0, 2))
    assert (pair.n_left_out, pair.known.sum()) == (1, 26)
    assert panel_of(numbered(values), (1, 2)).n_left_out == 0


def test_too_few_topics_are_refused():
    with pytest.raises(NoOverlapError, match="share 1 topic"):
        panel_of(numbered(np.ones((2, 1, 2))))
