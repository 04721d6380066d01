"""One measure against another, by system and by topic: are they related, and are they the same?

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, section 6.2,
Figure 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qrowd.errors import ArgumentError
from qrowd.gain_distributions.weights import Floats
from qrowd.kernels.correlation import pearson, tau_b
from qrowd.model.frames import make_frame
from qrowd.model.scores import known_mean


@dataclass(frozen=True, eq=False)
class Scatter:
    """Means of two measures, over the cells that both know.

    names : of the measures.
    systems : (systems,) labels; by_system : (2, systems) means over topics.
    topics : (topics,) labels; by_topic : (2, topics) means over systems, their ease.
    pearson, tau : (2,) correlations of systems, and of topics: Pearson's, and Kendall's tau-b; nan where one of the two
        does not vary.
    """

    names: tuple[str, str]
    systems: tuple[str, ...]
    by_system: Floats
    topics: tuple[str, ...]
    by_topic: Floats
    pearson: Floats
    tau: Floats

    def to_frame(self, backend: str = "pandas") -> Any:
        """Two rows, of systems and of topics: n, pearson and tau_b."""
        n = [int((~np.isnan(means).any(axis=0)).sum()) for means in (self.by_system, self.by_topic)]
        columns = {"n": np.array(n), "pearson": self.pearson, "tau_b": self.tau}
        return make_frame({"of": np.array(["systems", "topics"], object), **columns}, backend)

    def points(self, backend: str = "pandas") -> Any:
        """What to plot: one row per system and topic, with both means."""
        first, second = np.concatenate([self.by_system, self.by_topic], axis=1)
        of = np.repeat(np.array(["systems", "topics"], object), [len(self.systems), len(self.topics)])
        label = np.array([*self.systems, *self.topics], object)
        return make_frame({"of": of, "label": label, self.names[0]: first, self.names[1]: second}, backend)


def scatter(
    first: ArrayLike,
    second: ArrayLike,
    *,
    names: tuple[str, str] = ("first", "second"),
    topics: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
) -> Scatter:
    """Two measures of the same systems on the same topics, against each other.

    Parameters
    ----------
    first, second : (topics, systems) scores; nan where there is none. A cell counts where both have a score.
    topics, systems : labels; numbers from 1 by default.

    Raises
    ------
    ArgumentError
        Arrays of different shapes, or labels of another number.
    """
    x, y = np.array(first, np.float64), np.array(second, np.float64)
    if x.ndim != 2 or x.shape != y.shape:
        raise ArgumentError(f"scatter: arrays {x.shape} and {y.shape}; the same (topics, systems) twice was expected")
    labels = []
    for noun, given, n in (("topics", topics, x.shape[0]), ("systems", systems, x.shape[1])):
        labels.append(tuple(map(str, range(1, n + 1))) if given is None else tuple(given))
        if len(labels[-1]) != n:
            raise ArgumentError(f"{noun}: {len(labels[-1])} labels for {n} {noun}")
    if len(set(names)) != 2:
        raise ArgumentError(f"names={names!r}: two different ones were expected")
    unknown = np.isnan(x) | np.isnan(y)
    x[unknown] = y[unknown] = np.nan
    by_system, by_topic = (np.stack([known_mean(table, axis=axis) for table in (x, y)]) for axis in (0, 1))
    both = (by_system, by_topic)
    linear = np.array([_pearson(*means) for means in both])
    tau = np.array([float(tau_b(means[1:], means[:1])[0]) for means in both])
    return Scatter(names, labels[1], by_system, labels[0], by_topic, linear, tau)


def _pearson(x: Floats, y: Floats) -> float:
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    return float(pearson(x[None], y[None])[0]) if x.size > 1 else float("nan")
