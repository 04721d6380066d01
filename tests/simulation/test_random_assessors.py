"""Thousands of random assessors."""

import gc
import weakref
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from qrowd.model.chance import Chance
from qrowd.simulation import RandomAssessors, Truth
from simulated import near


def values(assessors: RandomAssessors) -> NDArray[np.float64]:
    return np.hstack([panel.values for panel in assessors])


def test_random_assessors_are_the_same_every_time_they_are_asked(truth: Truth) -> None:
    assessors = RandomAssessors(truth.pool, 300, rng=5)
    assert (values(assessors) == values(assessors)).all()


@pytest.mark.parametrize("block", [1, 50, 64, 100, 1000])
def test_neither_the_size_of_blocks_nor_the_number_of_assessors_changes_what_one_says(truth: Truth, block: int) -> None:
    for options in ({"p": 0.3}, {"distribution": (0.3, 0.3, 0.4)}):
        whole = values(RandomAssessors(truth.pool, 200, block=256, rng=5, **options))  # type: ignore[arg-type]
        part = values(RandomAssessors(truth.pool, 130, block=block, rng=5, **options))  # type: ignore[arg-type]
        assert (whole[:, :130] == part).all()


def test_blocks_cover_all_assessors_in_order_over_the_one_pool(truth: Truth) -> None:
    assessors = RandomAssessors(truth.pool, 300, block=128, rng=5)
    panels = list(assessors)
    assert [len(panel.assessors) for panel in panels] == [128, 128, 44]
    assert sum((panel.assessors for panel in panels), ()) == assessors.assessors
    assert assessors.assessors[0] == "random 1"
    assert len(set(assessors.assessors)) == len(assessors) == 300
    for panel in panels:
        assert panel.pool is truth.pool
        assert panel.values.dtype == np.float64
        assert panel.values.shape == (5000, len(panel.assessors))
        assert {str(scale) for scale in panel.scales} == {"binary"}
        assert len(panel.scales) == len(panel.assessors)


@pytest.mark.parametrize("p", [0.0, 0.001, 0.05, 0.3, 0.5, 0.95, 1.0])
def test_random_assessors_find_relevant_at_the_rate_given(truth: Truth, p: float) -> None:
    drawn = values(RandomAssessors(truth.pool, 400, p, rng=5))
    assert set(np.unique(drawn)) <= {0.0, 1.0}
    assert near(drawn.mean(), p, drawn.size)
    assert np.abs(drawn.mean(axis=0) - p).max() <= 6 * np.sqrt(p * (1 - p) / 5000)
    assert np.abs(drawn.mean(axis=1) - p).max() <= 6 * np.sqrt(p * (1 - p) / 400) + (p == 0.001) * 0.02


def test_the_values_of_a_yielded_block_are_kept_by_its_reader_alone(truth: Truth) -> None:
    reading = iter(RandomAssessors(truth.pool, 128, block=64, rng=5))
    kept = weakref.ref(next(reading).values)
    gc.collect()
    assert kept() is None


def test_random_assessors_are_independent_of_each_other(truth: Truth) -> None:
    drawn = values(RandomAssessors(truth.pool, 200, 0.3, rng=5))
    off = np.corrcoef(drawn.T) - np.eye(200)
    assert np.abs(off).max() < 6 / np.sqrt(5000)


def test_random_grades_follow_their_distribution_even_where_two_edges_share_a_byte(truth: Truth) -> None:
    distribution = (0.6, 0.001, 0.0005, 0.3, 0.0985)
    drawn = values(RandomAssessors(truth.pool, 400, distribution=distribution, rng=5))
    for grade, p in enumerate(distribution):
        assert near((drawn == grade).mean(), p, drawn.size)
    (panel,) = RandomAssessors(truth.pool, 2, distribution=distribution, rng=5)
    assert str(panel.scales[0]) == "0-4"


def test_random_assessors_judge_what_the_one_they_are_compared_with_judged(truth: Truth) -> None:
    model = np.where(np.arange(5000) % 3 == 0, 1.0, np.nan)
    whole, part = (values(RandomAssessors(truth.pool, 100, rng=5, like=like)) for like in (None, model))
    assert (np.isnan(part) == np.isnan(model)[:, None]).all()
    assert (part[::3] == whole[::3]).all()


@pytest.mark.parametrize(
    "shares", [(0.6, 0.001, 0.0005, 0.3, 0.0985), np.full(40, 1 / 40), np.r_[0.9, np.full(50, 0.002)]]
)
def test_a_random_grade_is_the_number_of_edges_that_its_lot_reaches(truth: Truth, shares: Sequence[float]) -> None:
    assessors = RandomAssessors(truth.pool, 64, distribution=shares, rng=5)
    random = Chance.of(5).stream("random assessors", 0)
    lots = np.frombuffer(random.bytes(5000 * 64), np.uint8).astype(float)
    edges = 256 * np.cumsum(shares)[:-1]
    close = np.isin(lots, np.floor(edges)[np.floor(edges) != edges])
    lots[close] += random.random(int(close.sum()))
    expected = (edges[None, :] <= lots[:, None]).sum(axis=1)
    assert values(assessors).ravel().tolist() == expected.tolist()
