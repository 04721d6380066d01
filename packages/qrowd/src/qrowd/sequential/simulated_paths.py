"""One simulated way to the end of a question: draws, answers, bounds, and sizes that follow what is open.

The sizes are computed again after every `FIRST` draws, or 30 % more of the answers, for the differences that are open
then. Within such a batch the bounds are looked at a few times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.sequential.bounds import MIN_DRAWS
from qrowd.sequential.draws import mixed_sizes
from qrowd.sequential.question import Question
from qrowd.sequential.statement import answer_of, open_contrasts

FIRST, SHARE = 10, 0.3  # draws between two computations of sizes: at least, and of the answers so far
N_LOOKS = 4  # within a batch
SMALLEST = 1e-9  # a variance below this share of the first one is rounding


@dataclass(frozen=True, eq=False)
class Start:
    """A question as it stands, from which paths begin.

    weights : (contrasts, documents). spread : (documents,). total : (contrasts,) differences by what is judged and
    expected. open : numbers of the documents that are not judged and have a weight. waiting : those of them that were
    drawn, in order. information, estimate, low, high : (contrasts,). extra : (2, contrasts) half of the width of the
    interval that draws do not reduce, now and once all is judged. n_answers : that count. bound : half of the width
    where an estimate has this information.
    """

    question: Question
    contrasts: NDArray[np.int64]
    weights: Floats
    spread: Floats
    total: Floats
    open: NDArray[np.int64]
    waiting: NDArray[np.int64]
    information: Floats
    estimate: Floats
    low: Floats
    high: Floats
    remaining: tuple[int, ...]
    extra: Floats
    n_answers: int
    tolerance: float
    bound: Callable[[Floats], Floats]


def path(start: Start, errors: Floats, rng: np.random.Generator) -> int:
    """Judgments until the question is decided; one more than there are where all do not decide it.

    errors : (documents,) of the expected gains.
    """
    low, high = start.low.copy(), start.high.copy()
    information, sums = start.information.copy(), start.information * start.estimate
    so_far, first = start.total.copy(), np.zeros(len(start.weights))
    final = start.total + start.weights[:, start.open] @ errors[start.open]
    documents, remaining, drawn = start.open, start.remaining, 0
    while documents.size:
        is_open = open_contrasts(start.question, start.contrasts, low, high, remaining, tolerance=start.tolerance)
        rows = np.flatnonzero(is_open)
        if not rows.size:
            break
        documents, weights, sizes = _batch_sizes(start, rows, documents)
        if not documents.size:
            break
        n = min(max(FIRST, int(SHARE * (start.n_answers + drawn))), documents.size)
        order = _first_drawn(n, sizes, documents, start.waiting if not drawn else start.waiting[:0], rng)
        taken = documents[order]
        estimates, variances = batch_estimates(
            weights, start.spread[documents], sizes, order, errors[documents], so_far[rows]
        )
        first[rows] = np.where(first[rows] > 0, first[rows], variances[:, 0])
        useful = variances > SMALLEST * first[rows, None]
        inverse = np.where(useful, 1 / np.where(useful, variances, 1.0), 0.0)
        v = information[rows, None] + np.cumsum(inverse, axis=1)
        s = sums[rows, None] + np.cumsum(inverse * estimates, axis=1)
        is_left = np.ones(documents.size, bool)
        is_left[order] = False
        exhausted = ~(weights[:, is_left] != 0).any(axis=1)
        for place in np.unique(np.linspace(0, n - 1, N_LOOKS + 1).astype(np.int64)[1:]).tolist():
            now = drawn + place + 1
            share = now / start.open.size
            extra = np.sqrt(np.maximum(start.extra[0] ** 2 * (1 - share) + start.extra[1] ** 2 * share, 0))
            half = np.hypot(start.bound(v[:, place]), extra[rows])
            half = half if start.n_answers + now >= MIN_DRAWS else np.full(rows.size, np.inf)
            mean = np.where(v[:, place] > 0, s[:, place] / np.where(v[:, place] > 0, v[:, place], 1), so_far[rows])
            if place == n - 1:
                mean, half = np.where(exhausted, final[rows], mean), np.where(exhausted, extra[rows], half)
            low[rows], high[rows] = mean - half, mean + half
            answer, remaining = answer_of(start.question, start.contrasts, low, high, tolerance=start.tolerance)
            if answer:
                return int(now)
        information[rows], sums[rows] = v[:, -1], s[:, -1]
        so_far += start.weights[:, taken] @ errors[taken]
        drawn += n
        documents = documents[is_left]
    return int(start.open.size) + 1


def _batch_sizes(
    start: Start, rows: NDArray[np.int64], documents: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """The documents that can be drawn for these contrasts, their weights, and their sizes."""
    weights = start.weights[np.ix_(rows, documents)]
    weight = np.sqrt((weights**2).mean(axis=0))
    sizes = mixed_sizes(weight * start.spread[documents], weight)
    possible = sizes > 0
    return documents[possible], weights[:, possible], sizes[possible]


def _first_drawn(
    n: int, sizes: Floats, documents: NDArray[np.int64], waiting: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """(n,) places of the documents that are drawn first, in order; those that wait come before others."""
    times = rng.exponential(size=sizes.size) / sizes
    place = np.searchsorted(documents, waiting)
    here = (place < documents.size) & (documents[np.minimum(place, documents.size - 1)] == waiting)
    times[place[here]] = np.arange(int(here.sum())) - waiting.size
    first = np.argpartition(times, n - 1)[:n]
    return np.asarray(first[np.argsort(times[first], kind="stable")])


def batch_estimates(
    weights: Floats, spread: Floats, sizes: Floats, order: NDArray[np.int64], errors: Floats, total: Floats
) -> tuple[Floats, Floats]:
    """(contrasts, draws) estimate of each draw of a batch, and its variance, as `contrast_estimates` has them.

    weights : (contrasts, documents) left. spread, sizes, errors : (documents,). order : (draws,) places of the drawn
    documents. total : (contrasts,) by what was judged before and what is expected.
    """
    drawn = sizes[order]
    squares = (weights * spread) ** 2

    def rest(whole: Floats, parts: Floats) -> Floats:
        return np.asarray(whole - np.cumsum(parts, axis=-1) + parts)

    of_sizes = rest(sizes.sum(), drawn)
    own = squares[:, order]
    over_sizes = rest((squares / sizes).sum(axis=1, keepdims=True), own / drawn)
    plain = rest(squares.sum(axis=1, keepdims=True), own)
    of_draws = weights[:, order] * errors[order]
    earlier = np.cumsum(of_draws, axis=1) - of_draws
    estimates = total[:, None] + earlier + of_draws * of_sizes / drawn
    return estimates, np.maximum(of_sizes * over_sizes - plain, 0.0)
