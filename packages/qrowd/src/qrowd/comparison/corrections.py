"""p-values adjusted for multiple tests; nan is not a test and stays nan."""

from __future__ import annotations

from typing import Literal

import numpy as np

from qrowd.kernels.arrays import Floats


def holm(p: Floats) -> Floats:
    """Control the familywise error rate: each p times the number of tests that remain, smallest first.

    Holm (1979), A Simple Sequentially Rejective Multiple Test Procedure. Scand. J. Statist. 6(2).
    """
    adjusted = p.copy()
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = p[order] * np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Control the false discovery rate for independent or positively dependent tests.

    Benjamini, Hochberg (1995), Controlling the False Discovery Rate. JRSS B 57(1).
    """
    return _false_discovery(p, "bh")


def benjamini_yekutieli(p: Floats) -> Floats:
    """Control the false discovery rate under any dependence (Benjamini & Yekutieli 2001, theorem 1.3).

    >>> benjamini_yekutieli(np.array([0.01, 0.04, 0.03])).round(3)
    array([0.055, 0.073, 0.073])
    """
    return _false_discovery(p, "by")


def _false_discovery(p: Floats, method: Literal["bh", "by"]) -> Floats:
    from scipy.stats import false_discovery_control

    adjusted = p.copy()
    tested = ~np.isnan(p)
    if tested.any():
        adjusted[tested] = false_discovery_control(p[tested], method=method)
    return adjusted
