"""What a gain is worth at each rank: the discounts of cumulated gain."""

from __future__ import annotations

import numpy as np

from qrowd.kernels.arrays import Floats


def discounts(depth: int, form: str = "log2") -> Floats:
    """(depth,) weight of each rank r.

    form : "log2" 1 / log2(r + 1); "original" 1 at rank 1 and 1 / log2(r) from rank 2; "zipf" 1 / r.

    Järvelin & Kekäläinen (2002), Cumulated Gain-Based Evaluation of IR Techniques. ACM TOIS 20(4), with logarithms to
    base 2; Kanoulas & Aslam (2009), Empirical Justification of the Gain and Discount Function for nDCG. CIKM.
    """
    ranks = np.arange(1, depth + 1, dtype=np.float64)
    if form == "zipf":
        return np.asarray(1 / ranks)
    return np.asarray(1 / np.log2(np.maximum(ranks, 2) if form == "original" else ranks + 1))
