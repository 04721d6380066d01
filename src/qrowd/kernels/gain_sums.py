"""What a gain is worth at each rank: the two discounts of cumulated gain."""

from __future__ import annotations

import numpy as np

from qrowd.kernels.arrays import Floats


def discounts(depth: int, original: bool = False) -> Floats:
    """(depth,) weight of each rank r: 1 / log2(r + 1); in the original form 1 at rank 1 and 1 / log2(r) from rank 2.

    Järvelin & Kekäläinen (2002), Cumulated Gain-Based Evaluation of IR Techniques. ACM TOIS 20(4), with logarithms to
    base 2.
    """
    ranks = np.arange(1, depth + 1, dtype=np.float64)
    return np.asarray(1 / np.log2(np.maximum(ranks, 2) if original else ranks + 1))
