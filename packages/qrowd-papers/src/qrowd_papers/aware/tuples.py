"""Yes-or-no labels merged again and again, for thousands of small panels drawn from a large one.

The vote and Dawid-Skene are what `aggregation` does; here labels are bits, and what eight assessors say of a document
is a byte whose weight or count is looked up, so that a pass over a topic takes about as long as reading it.

said : (documents, assessors) int8, 1, 0, or -1 where the assessor has not judged. One topic.
members : (tuples, k) int64, numbers of the assessors of each small panel.
Results are (documents, tuples) int8: 1, 0, or -1 where no member has judged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats

Function = TypeVar("Function", bound=Callable[..., object])
Labels = NDArray[np.int8]
Members = NDArray[np.int64]
Coins = NDArray[np.uint8]
Bytes = NDArray[np.uint8]
EQUAL = 1e-9  # probabilities closer than that differ by rounding


def kernel(function: Function) -> Function:
    """Compiled at the first call."""
    return cast(Function, numba.njit(cache=True, nogil=True, error_model="numpy")(function))


@kernel
def vote(said: Labels, members: Members, coins: Coins) -> Labels:
    """What most members say; where as many say yes as no, the coin (documents, tuples) of 0 and 1."""
    n_documents, n_tuples = said.shape[0], members.shape[0]
    out = np.empty((n_documents, n_tuples), np.int8)
    for d in range(n_documents):
        for t in range(n_tuples):
            yes, no = 0, 0
            for k in range(members.shape[1]):
                label = said[d, members[t, k]]
                yes += int(label == 1)
                no += int(label == 0)
            if yes + no == 0:
                out[d, t] = -1
            elif yes == no:
                out[d, t] = coins[d, t]
            else:
                out[d, t] = int(yes > no)
    return out


@kernel
def _table(weights: Floats, first: int, table: Floats) -> None:
    """table[b] = sum of the weights first, first + 1 ... whose bits are set in b."""
    table[0] = 0.0
    for b in range(1, 256):
        low = 0
        while not (b >> low) & 1:
            low += 1
        table[b] = table[b & (b - 1)] + (weights[first + low] if first + low < weights.size else 0.0)


@kernel
def _add_by_member(histogram: Floats, first: int, out: Floats) -> None:
    """out[first + i] = sum of histogram[b] over the bytes b in which bit i is set. The histogram is used up."""
    width = 128
    bit = 7
    while width:
        total = 0.0
        for b in range(width):
            total += histogram[width + b]
            histogram[b] += histogram[width + b]  # bytes with the bit and without it are alike from here on
        if first + bit < out.size:
            out[first + bit] = total
        width >>= 1
        bit -= 1


@kernel
def dawid_skene(
    said: Labels, members: Members, start: Labels, honest: float, floor: float, tol: float, max_iterations: int
) -> Labels:
    """The more probable label under Dawid & Skene's model, fitted to each tuple; no where both are equally probable.

    start : (documents, tuples) labels to start from; empty starts from assessors who are right with probability
        `honest` and equally frequent labels.
    floor : least probability. tol, max_iterations : stop when no probability changes by tol.
    """
    n_documents = said.shape[0]
    n_tuples, k = members.shape
    n_chunks = (k + 7) // 8
    out = np.full((n_documents, n_tuples), -1, np.int8)
    yes = np.zeros((n_chunks, n_documents), np.uint8)
    no = np.zeros((n_chunks, n_documents), np.uint8)
    known = np.empty(n_documents, np.int64)
    likely = np.empty(n_documents)
    said_yes, said_no = np.empty(k), np.empty(k)
    yes_if_relevant, no_if_relevant = np.empty(k), np.empty(k)
    for_yes, for_no = np.empty(k), np.empty(k)
    tables = np.empty((n_chunks, 256))
    other_tables = np.empty((n_chunks, 256))
    histogram = np.empty((n_chunks, 256))
    other_histogram = np.empty((n_chunks, 256))
    for t in range(n_tuples):
        n = 0
        yes[:] = 0
        no[:] = 0
        said_yes[:] = 0.0
        said_no[:] = 0.0
        for d in range(n_documents):
            judged = False
            for i in range(k):
                label = said[d, members[t, i]]
                if label >= 0:
                    judged = True
                    bit = np.uint8(1 << (i & 7))
                    if label == 1:
                        yes[i >> 3, n] |= bit
                        said_yes[i] += 1.0
                    else:
                        no[i >> 3, n] |= bit
                        said_no[i] += 1.0
            if judged:
                known[n] = d
                n += 1
        complete = True
        for i in range(k):
            complete = complete and said_yes[i] + said_no[i] == n
        if start.size:
            for d in range(n):
                likely[d] = float(start[known[d], t])
        else:
            odds = np.log(honest / (1 - honest))
            for d in range(n):
                balance = 0.0
                for i in range(k):
                    balance += float((yes[i >> 3, d] >> (i & 7)) & 1) - float((no[i >> 3, d] >> (i & 7)) & 1)
                likely[d] = 1.0 / (1.0 + np.exp(-odds * balance))
        change = np.inf
        done = 0
        while done < max_iterations and not change < tol:
            relevant = 0.0
            histogram[:] = 0.0
            for d in range(n):
                relevant += likely[d]
            for c in range(n_chunks):
                for d in range(n):
                    histogram[c, yes[c, d]] += likely[d]
                _add_by_member(histogram[c], 8 * c, yes_if_relevant)
            if not complete:
                other_histogram[:] = 0.0
                for c in range(n_chunks):
                    for d in range(n):
                        other_histogram[c, no[c, d]] += likely[d]
                    _add_by_member(other_histogram[c], 8 * c, no_if_relevant)
            constant = np.log(max(relevant / n, floor)) - np.log(max(1.0 - relevant / n, floor))
            for i in range(k):
                if complete:
                    no_if_relevant[i] = relevant - yes_if_relevant[i]
                total = yes_if_relevant[i] + no_if_relevant[i]
                total_not = said_yes[i] + said_no[i] - total
                hit = max(yes_if_relevant[i] / total if total > floor else 0.0, floor)
                miss = max(no_if_relevant[i] / total if total > floor else 0.0, floor)
                alarm = max((said_yes[i] - yes_if_relevant[i]) / total_not if total_not > floor else 0.0, floor)
                pass_ = max((said_no[i] - no_if_relevant[i]) / total_not if total_not > floor else 0.0, floor)
                for_yes[i] = np.log(hit) - np.log(alarm)
                for_no[i] = np.log(miss) - np.log(pass_)
                if complete:
                    constant += for_no[i]
                    for_yes[i] -= for_no[i]
            for c in range(n_chunks):
                _table(for_yes, 8 * c, tables[c])
                if not complete:
                    _table(for_no, 8 * c, other_tables[c])
            change = 0.0
            for d in range(n):
                balance = constant
                for c in range(n_chunks):
                    balance += tables[c, yes[c, d]]
                if not complete:
                    for c in range(n_chunks):
                        balance += other_tables[c, no[c, d]]
                new = 1.0 / (1.0 + np.exp(-balance))
                change = max(change, abs(new - likely[d]))
                likely[d] = new
            done += 1
        for d in range(n):
            out[known[d], t] = int(2.0 * likely[d] - 1.0 > EQUAL)
    return out
