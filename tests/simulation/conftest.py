"""One truth for all tests of simulations."""

import pytest

from qrowd.simulation import Truth, simulate_pool


@pytest.fixture(scope="module")
def truth() -> Truth:
    return simulate_pool(50, 100, rng=11)
