"""Where chance comes from: whatever `numpy.random.default_rng` takes, split into streams that know their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Rng = int | Sequence[int] | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator | None

Seed = int | tuple[int, ...]


@dataclass(frozen=True)
class Chance:
    """A root from which any number of independent streams grow, each found by its name.

    A stream depends on the root and on its own name alone: neither the order in which streams are taken nor what else
    is taken changes it.
    """

    root: tuple[int, ...]

    @classmethod
    def of(cls, rng: Rng) -> Chance:
        """From anything `numpy.random.default_rng` takes; a generator moves on, None is fresh chance every time."""
        return cls(tuple(np.random.default_rng(rng).integers(2**32, size=4).tolist()))

    def stream(self, name: str, number: int = 0) -> np.random.Generator:
        """The stream of that name and number."""
        return np.random.default_rng(np.random.SeedSequence(self.root, spawn_key=(number, *name.encode())))


def seed_of(rng: Rng) -> Seed:
    """A seed that a result can state, whatever chance was given.

    Numbers stay as they are; anything else moves on by one number, which is the seed (None: a fresh one every time).
    """
    if isinstance(rng, int | np.integer):
        return int(rng)
    if isinstance(rng, Sequence):
        return tuple(map(int, rng))
    return int(np.random.default_rng(rng).integers(2**63))
