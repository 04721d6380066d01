"""Distribution of magnitudes, and the log-normal curve fitted to them.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 4.2, Figures 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.magnitude.units import Rows, positive
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result

STATISTICS = (
    "mean", "sd", "median", "geometric_mean", "geometric_sd", "log_mean", "log_sd", "distance",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Distribution(Result):
    """Distribution of magnitudes, overall or by group; every array is (groups,) unless said otherwise.

    groups : ("all",), or the topics.
    n : number of magnitudes.
    mean, sd, median : of the magnitudes; sd with n - 1.
    geometric_mean, geometric_sd : exp of mean and standard deviation (n - 1) of the logs.
    log_mean, log_sd : the parameters of the fitted log-normal curve.
    distance : Kolmogorov-Smirnov distance, the largest difference between the curve and the share of magnitudes up to a
        value; nan if all magnitudes of the group are equal.
    values : (n,) the magnitudes, group by group and increasing in each.
    """

    groups: tuple[str, ...]
    n: Rows
    mean: Floats
    sd: Floats
    median: Floats
    geometric_mean: Floats
    geometric_sd: Floats
    log_mean: Floats
    log_sd: Floats
    distance: Floats
    values: Floats

    def share_up_to(self, value: float) -> Floats:
        """(groups,) share of magnitudes up to a value."""
        return np.array([np.searchsorted(part, value, side="right") / part.size for part in self._parts()])

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        return {"groups": self._groups, "curves": self._curves}

    def _groups(self) -> dict[str, Any]:
        columns = {name: getattr(self, name) for name in ("n", *STATISTICS)}
        return {"group": np.array(self.groups, object), **columns}

    def _curves(self) -> dict[str, Any]:
        columns: dict[str, list[NDArray[Any]]] = {"group": [], "value": [], "share": [], "fitted": []}
        for g, part in enumerate(self._parts()):
            values, counts = np.unique(part, return_counts=True)
            columns["group"].append(np.full(values.size, self.groups[g], object))
            columns["value"].append(values)
            columns["share"].append(np.cumsum(counts) / part.size)
            columns["fitted"].append(_fitted(values, self.log_mean[g], self.log_sd[g]))
        return {name: np.concatenate(parts) for name, parts in columns.items()}

    def _parts(self) -> list[Floats]:
        return np.split(self.values, np.cumsum(self.n)[:-1])


def distribution(
    judgments: Judgments, *, by_topic: bool = False, within: tuple[float, float] = (0.0, np.inf)
) -> Distribution:
    """Distribution of magnitudes, and the log-normal curve fitted to them.

    by_topic : a distribution of each topic, instead of all magnitudes together.
    within : (lowest, highest) magnitudes to use, ends included. Figure 1 shows .01 to 100.

    Raises
    ------
    ArgumentError
        No judgments, or none within the range.
    InputError
        A magnitude of 0 or below.
    """
    value = positive(judgments)
    inside = (value >= within[0]) & (value <= within[1])
    if not inside.any():
        raise ArgumentError("no magnitude is in this range", "within", within)
    labels = judgments.topics if by_topic else ("all",)
    group = judgments.topic if by_topic else np.zeros(value.size, np.int64)
    used, group = np.unique(group[inside], return_inverse=True)
    value = value[inside]
    ordered = value[np.lexsort((value, group))]
    n = np.bincount(group)
    parts = np.split(ordered, np.cumsum(n)[:-1])
    statistics = [_statistics(part) for part in parts]
    return Distribution(
        tuple(labels[i] for i in used.tolist()),
        n,
        **{name: np.array([one[name] for one in statistics]) for name in STATISTICS},
        values=ordered,
    )


def _statistics(ordered: Floats) -> dict[str, float]:
    """The statistics of one group."""
    logs = np.log(ordered)
    mean, log_mean = float(ordered.mean()), float(logs.mean())
    sd, log_sd = (float(x.std(ddof=1)) if x.size > 1 else np.nan for x in (ordered, logs))
    varies = ordered[-1] > ordered[0]
    curve = _fitted(ordered, log_mean, log_sd)
    steps = np.arange(ordered.size + 1) / ordered.size
    distance = float(max((curve - steps[:-1]).max(), (steps[1:] - curve).max())) if varies else np.nan
    geometric = float(np.exp(log_mean)), float(np.exp(log_sd))
    values = (mean, sd, float(np.median(ordered)), *geometric, log_mean, log_sd, distance)
    return dict(zip(STATISTICS, values, strict=True))


def _fitted(values: Floats, log_mean: float, log_sd: float) -> Floats:
    """Share of the log-normal curve up to each value; nan if its standard deviation is 0."""
    from scipy.special import ndtr

    if not log_sd > 0:
        return np.full(values.shape, np.nan)
    return np.asarray(ndtr((np.log(values) - log_mean) / log_sd))
