"""A seed that a result can state, whatever chance was given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qrowd.model.chance import Rng

Seed = int | tuple[int, ...]


def seed_of(rng: Rng) -> Seed:
    """Numbers as they are; anything else moves on by one number, which is the seed (None: a fresh one every time)."""
    if isinstance(rng, int | np.integer):
        return int(rng)
    if isinstance(rng, Sequence):
        return tuple(map(int, rng))
    return int(np.random.default_rng(rng).integers(2**63))
