"""Random assessors by the thousand, made block by block and never all held.

Ferrante, Ferro, Maistro (2017), AWARE: Exploiting Evaluation Measures to Combine Multiple Assessors. ACM TOIS 36(2):
how far an assessor stands from random ones is how much to trust them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng
from qrowd.model.panel import Coded, Panel, Pool
from qrowd.model.scales import parse_scale
from qrowd.simulation.truth import count, share
from qrowd.threads import in_threads

STRAND = 64  # assessors that share a stream of chance


class RandomAssessors:
    """n assessors who judge every pooled document by lot; a `Blocks` (qrowd.model.panel).

    Iterating yields panels of up to `block` assessors over the same pool, again and again the same, and keeps none.
    What an assessor says depends on `rng` and the assessor's number, not on n or the size of blocks.

    Parameters
    ----------
    p : probability that a document is called relevant (exact to the last bits of a double).
    distribution : probabilities of grades 0, 1, 2 ... instead of p.
    like : (pairs,) one assessor's column of a panel's values; the random ones judge what that one judged (not nan).
    block : assessors per panel; a multiple of 64 wastes nothing.
    threads : number of threads that draw; default: all processors.

    >>> from qrowd.simulation import simulate_pool
    >>> [panel.values.shape for panel in RandomAssessors(simulate_pool(3, 20, rng=1).pool, 600, rng=1)]
    [(60, 512), (60, 88)]
    """

    def __init__(
        self,
        pool: Pool,
        n: int,
        p: float = 0.5,
        *,
        distribution: Sequence[float] | Floats | None = None,
        like: Floats | None = None,
        block: int = 512,
        rng: Rng,
        threads: int | None = None,
    ) -> None:
        self.pool, self._threads = pool, threads
        self.block = count("block", block)
        self.assessors = tuple(f"random {i}" for i in range(1, count("n", n) + 1))
        shares = np.array([1 - share("p", p), p] if distribution is None else distribution, np.float64)
        if shares.ndim != 1 or shares.size < 2 or (shares < 0).any() or not np.isclose(shares.sum(), 1):
            raise ArgumentError("a share for each of two grades or more, summing to 1", "distribution", distribution)
        self.scale = parse_scale(f"0-{shares.size - 1}")
        self._levels = np.arange(shares.size, dtype=np.float64)
        self._edges = 256 * np.cumsum(shares)[:-1]
        # A byte decides unless it is the one an edge falls into; then a further number tells on which side.
        self._grade_of_byte = np.searchsorted(self._edges, np.arange(256), side="right")
        whole = np.floor(self._edges)
        self._is_undecided = np.isin(np.arange(256), whole[whole != self._edges])
        if like is not None and np.shape(like) != pool.document.shape:
            raise ArgumentError(f"like: {pool.document.size} values needed, one per pooled document")
        self._gaps = None if like is None else np.isnan(like)
        if self._gaps is not None:
            self._levels = np.append(self._levels, np.nan)
        self._chance = Chance.of(rng)

    def __len__(self) -> int:
        """How many assessors."""
        return len(self.assessors)

    def __iter__(self) -> Iterator[Panel]:
        for number in range(-(-len(self) // self.block)):
            yield self.panel(number)  # kept by nobody here

    def panel(self, number: int) -> Panel:
        """The panel of one block, the first of which is 0."""
        begin = number * self.block
        end = min(begin + self.block, len(self))
        codes = np.empty((self.pool.document.size, end - begin), np.min_scalar_type(self._levels.size - 1))

        def fill(strand: int) -> None:
            low = max(begin, strand * STRAND)
            high = min(end, (strand + 1) * STRAND)
            self._draw(strand, low % STRAND, codes[:, low - begin : high - begin])

        for _ in in_threads(fill, range(begin // STRAND, -(-end // STRAND)), self._threads):
            pass
        if self._gaps is not None:
            codes[self._gaps] = self._levels.size - 1
        stored = Coded(codes, self._levels) if codes.dtype == np.uint8 else self._levels[codes]
        return Panel(self.pool, self.assessors[begin:end], (self.scale,) * (end - begin), stored)

    def _draw(self, strand: int, first: int, out: NDArray[np.unsignedinteger]) -> None:
        """Fill (pairs, assessors) grades of the strand's assessors from number `first` on."""
        random = self._chance.stream("random assessors", strand)
        words = random.bit_generator.random_raw(self.pool.document.size * STRAND // 8)  # without the interpreter's lock
        every = words.astype("<u8", copy=False).view(np.uint8).reshape(-1, STRAND)
        mine = slice(first, first + out.shape[1])
        grades = self._grade_of_byte[every]
        close = self._is_undecided[every]
        grades[close] = np.searchsorted(self._edges, every[close] + random.random(int(close.sum())), side="right")
        out[...] = grades[:, mine]
