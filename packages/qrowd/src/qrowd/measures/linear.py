"""A linear measure taken apart: what a rank weighs, and what a grade gains."""

from __future__ import annotations

import numpy as np

from qrowd.errors import MeasureError
from qrowd.kernels.arrays import Floats
from qrowd.measures.scoring import Linear, TopicView
from qrowd.model.measure import Measure
from qrowd.model.panel import Panel, Pool
from qrowd.model.scales import Scale


def linear_parts(measure: Measure, scale: Scale, depth: int) -> tuple[Floats, Floats]:
    """(ranks,) coefficients and (grades,) gains of grades 0, 1, 2 ... of a scale with levels.

    The score is the sum of coefficient x gain over ranks, up to a divisor that all systems of a topic share.

    depth : of the longest ranking.

    Raises
    ------
    MeasureError
        A measure that is not linear in gains, that leaves out unjudged documents, or to which every grade is the same.
    """
    definition = measure.definition
    if not isinstance(definition, Linear) or measure.values.get("judged_only"):
        raise MeasureError(f"{measure}: is not a weighted sum of gains by rank; use one such as DCG@10, P@10 or RBP")
    n = int(scale.maximum) + 1
    pool = Pool(("",), tuple(map(str, range(n))), np.array([0, n]), np.arange(n, dtype=np.int32))
    panel = Panel(pool, ("",), (scale,), np.arange(n, dtype=np.float64)[:, None])
    gains = definition.gains(measure, TopicView(np.zeros((1, 1), np.int32), panel.values, panel))[:, 0]
    if gains.min() == gains.max():
        raise MeasureError(f"{measure}: gives every grade of {scale} the same gain, so that judging decides nothing")
    return definition.coefficients(measure, depth), np.asarray(gains, np.float64)
