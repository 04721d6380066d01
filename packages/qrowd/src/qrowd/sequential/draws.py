"""Documents drawn without replacement, with known probabilities.

A batch has a size for each document. Each draw takes one of the documents left, with a probability in proportion to its
size. As every document that matters has a size above 0, what the drawn ones say of the others is unbiased.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats

MIN_SHARE = 0.25  # of the probability of each draw that does not depend on what is expected of a document


@dataclass(frozen=True, eq=False)
class Draws:
    """The documents drawn so far, in order.

    sizes : (batches, documents) of each batch, 0 where a document cannot be drawn. batch : (draws,) the batch of each
        draw, in order. document : (draws,) the document of each.
    """

    sizes: Floats
    batch: NDArray[np.int64]
    document: NDArray[np.int64]

    @classmethod
    def none(cls, n_documents: int) -> Draws:
        """No draws of this many documents."""
        return cls(np.zeros((0, n_documents)), np.zeros(0, np.int64), np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        if not (np.isfinite(self.sizes).all() and (self.sizes >= 0).all()):
            raise ArgumentError("sizes: a size is a finite number, 0 or more")
        if np.unique(self.document).size < self.document.size:
            raise ArgumentError("document: a document was drawn twice")
        if (np.diff(self.batch) < 0).any() or (self.batch.size and self.batch[-1] >= len(self.sizes)):
            raise ArgumentError("batch: batches are numbered in order, each with its sizes")
        if (self.sizes[self.batch, self.document] <= 0).any():
            raise ArgumentError("document: a document was drawn that has size 0 in its batch")

    def __len__(self) -> int:
        return self.document.size

    @property
    def n_documents(self) -> int:
        return int(self.sizes.shape[1])

    def left(self) -> NDArray[np.bool_]:
        """(documents,) whether each is not drawn yet."""
        left = np.ones(self.n_documents, bool)
        left[self.document] = False
        return left

    def first(self, n: int) -> Draws:
        """The first n draws."""
        return replace(self, batch=self.batch[:n], document=self.document[:n])

    def answered(self, judged: NDArray[np.bool_]) -> Draws:
        """The draws before the first whose document is not judged.

        judged : (documents,).
        """
        of_draws = judged[self.document]
        return self if of_draws.all() else self.first(int(np.argmin(of_draws)))

    def left_at_batches(self) -> NDArray[np.bool_]:
        """(batches, documents) whether each was left when the batch began."""
        left = np.ones(self.sizes.shape, bool)
        first = np.full(self.n_documents, len(self.sizes), np.int64)
        first[self.document] = self.batch
        left &= np.arange(len(self.sizes))[:, None] <= first
        return left

    def before(self, values: Floats) -> Floats:
        """(..., draws) sums of values over the documents that were left before each draw.

        values : (..., batches, documents), as `sizes`.
        """
        left = self.left_at_batches()
        sums = np.where(left, values, 0.0).sum(axis=-1)[..., self.batch]
        own = values[..., self.batch, self.document]
        taken = np.cumsum(own, axis=-1) - own
        begin = np.searchsorted(self.batch, self.batch)  # of the batch of each draw
        return np.asarray(np.maximum(sums - (taken - taken[..., begin]), own))

    def probabilities(self) -> Floats:
        """(draws,) with which each document was drawn, of those left."""
        own = self.sizes[self.batch, self.document]
        return np.asarray(own / self.before(self.sizes))

    def draw(self, sizes: Floats, n: int, rng: np.random.Generator) -> Draws:
        """These draws and a batch of n more, or of as many as are left.

        Raises
        ------
        ArgumentError
            Sizes of another number of documents.
        """
        if sizes.shape != (self.n_documents,):
            raise ArgumentError(
                f"sizes: shape {sizes.shape}; one for each of {self.n_documents} documents was expected"
            )
        sizes = np.where(self.left(), sizes, 0.0)
        possible = np.flatnonzero(sizes > 0)
        # the order of exponential times with these rates is that of draws one after the other
        times = rng.exponential(size=possible.size) / sizes[possible]
        drawn = possible[np.argsort(times, kind="stable")[:n]]
        batch = np.full(drawn.size, len(self.sizes), np.int64)
        return Draws(
            np.vstack([self.sizes, sizes]), np.concatenate([self.batch, batch]), np.concatenate([self.document, drawn])
        )


def mixed_sizes(wanted: Floats, weight: Floats) -> Floats:
    """Sizes as wanted, with a share of each draw's probability in proportion to the weights of the documents.

    wanted : (documents,) what judging each is expected to say. weight : (documents,) its weight in the answer; 0 where
    it has none. The sizes sum to 1.
    """
    share = weight / weight.sum() if weight.sum() > 0 else np.zeros_like(weight)
    if wanted.sum() <= 0:
        return np.asarray(share)
    return np.asarray(
        (1 - MIN_SHARE) * np.where(weight > 0, wanted, 0.0) / wanted[weight > 0].sum() + MIN_SHARE * share
    )
