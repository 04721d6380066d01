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
from qrowd.simulation.arguments import count, share
from qrowd.threads import in_threads

STRAND = 64  # assessors that share a stream of chance
FEW = 4  # edges that are compared one after the other, which is faster than a table


class RandomAssessors:
    """n assessors who judge every pooled document by lot; a `Blocks` (qrowd.model.panel).

    Iterating yields panels of up to `block` assessors over the same pool, again and again the same, and keeps none.
    What an assessor says depends on `rng` and the assessor's number, not on n or the size of blocks.

    Parameters
    ----------
    p : probability that a document is called relevant (exact to the last bits of a double).
    distribution : probabilities of grades 0, 1, 2 ... instead of p; or (n, grades), a row for each assessor.
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
        like: NDArray[np.float64] | None = None,
        block: int = 512,
        rng: Rng,
        threads: int | None = None,
    ) -> None:
        self.pool, self._threads = pool, threads
        self.block = count("block", block)
        self.assessors = tuple(f"random {i}" for i in range(1, count("n", n) + 1))
        shares = np.array([1 - share("p", p), p] if distribution is None else distribution, np.float64)
        n_grades = shares.shape[-1] if shares.ndim else 0
        if shares.shape not in ((n_grades,), (n, n_grades)) or n_grades < 2 or not _sum_to_one(shares):
            raise ArgumentError("a share for each of two grades or more, summing to 1", "distribution", distribution)
        self.scale = parse_scale(f"0-{n_grades - 1}")
        self._levels = np.arange(n_grades, dtype=np.float64)
        self._edges = 256 * np.cumsum(shares, axis=-1)[..., :-1]
        if shares.ndim == 1:
            # A byte decides unless it is the one an edge falls into; then a further number tells on which side.
            whole = np.floor(self._edges)
            self._bytes = whole[whole < 256].astype(np.uint8)  # the lowest that is above grade 0, 1, ...
            self._undecided, n_edges = np.unique(whole[(whole != self._edges) & (whole < 256)], return_counts=True)
            self._undecided = self._undecided.astype(np.uint8)
            # Of such a byte: the edges that every lot reaches, and those that one reaches or not.
            self._reached = np.searchsorted(self._edges, np.arange(256), side="right")
            self._within = np.full((int(n_edges.max(initial=0)), 256), np.inf)
            for row in range(len(self._within)):
                some = self._undecided[n_edges > row]
                self._within[row, some] = self._edges[self._reached[some] + row]
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
        draw = self._draw if self._edges.ndim == 1 else self._draw_own

        def fill(strand: int) -> None:
            low, high = max(begin, strand * STRAND), min(end, (strand + 1) * STRAND)
            draw(strand, low % STRAND, codes[:, low - begin : high - begin])

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
        _count_edges(every, self._bytes, out, first)
        if self._undecided.size:
            close = np.flatnonzero(_among(every, self._undecided).view(bool))
            lots = every.ravel()[close]
            grade = self._grades(lots, lots + random.random(close.size))
            row, column = np.divmod(close, STRAND)
            mine = (column >= first) & (column < first + out.shape[1])
            if mine.all() and out.flags.c_contiguous:
                out.reshape(-1)[close] = grade
            else:
                out[row[mine], column[mine] - first] = grade[mine]

    def _grades(self, lots: NDArray[np.uint8], exact: Floats) -> NDArray[np.intp]:
        """The grades of lots whose byte does not decide: the number of edges that each reaches."""
        if len(self._within) > FEW:
            return np.searchsorted(self._edges, exact, side="right")
        grade = self._reached[lots]
        for edges in self._within:
            grade += exact >= edges[lots]
        return grade

    def _draw_own(self, strand: int, first: int, out: NDArray[np.unsignedinteger]) -> None:
        """The same where each assessor has a distribution of their own."""
        random = self._chance.stream("random assessors", strand)
        lots = 256 * random.random((self.pool.document.size, STRAND))[:, first : first + out.shape[1]]
        out[...] = 0
        for edge in self._edges[strand * STRAND + first :][: out.shape[1]].T:
            out += lots >= edge


def _count_edges(
    lots: NDArray[np.uint8], edges: NDArray[np.uint8], out: NDArray[np.unsignedinteger], first: int
) -> None:
    """out = how many of the sorted edges each lot reaches, of lots from column `first` on."""
    own = lots[:, first : first + out.shape[1]]
    table = np.searchsorted(edges, np.arange(256), side="right")
    if out.dtype != np.uint8:
        out[...] = table[own]
    elif not 0 < edges.size <= FEW:
        out[...] = _looked_up(lots, table)[:, first : first + out.shape[1]]
    else:
        np.greater_equal(own, edges[0], out=out.view(bool))
        for edge in edges[1:]:
            out += (own >= edge).view(np.uint8)


def _among(lots: NDArray[np.uint8], several: NDArray[np.uint8]) -> NDArray[np.uint8] | NDArray[np.bool_]:
    """Whether each lot is one of several."""
    if several.size > FEW:
        return _looked_up(lots, np.isin(np.arange(256), several))
    result: NDArray[np.bool_] = lots == several[0]
    for lot in several[1:]:
        result |= lots == lot
    return result


def _looked_up(lots: NDArray[np.uint8], table: NDArray[np.integer] | NDArray[np.bool_]) -> NDArray[np.uint8]:
    """What a table of 256 says of each lot."""
    words = lots.tobytes().translate(table.astype(np.uint8).tobytes())
    return np.frombuffer(words, np.uint8).reshape(lots.shape)


def _sum_to_one(shares: Floats) -> bool:
    return not (shares < 0).any() and bool(np.isclose(shares.sum(axis=-1), 1).all())
