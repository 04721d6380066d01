"""Drawing with replacement."""

import numpy as np
import pytest

from qrowd.kernels.resample import resampled


@pytest.mark.parametrize("multiplicity", [[1, 1, 1, 1], [3, 1], [500, 250, 250]])
def test_as_many_are_drawn_as_there_are_each_as_often_as_it_should_be(multiplicity):
    kinds = np.array(multiplicity)
    blocks = list(resampled(kinds, 2500, 1000, np.random.default_rng(1)))
    assert [len(block) for block in blocks] == [1000, 1000, 500]
    drawn = np.concatenate(blocks)
    n = kinds.sum()
    assert (drawn.sum(axis=1) == n).all()
    assert drawn.mean(axis=0) == pytest.approx(kinds, rel=0.05)
    share = kinds / n
    assert drawn.var(axis=0) == pytest.approx(n * share * (1 - share), rel=0.15)
