"""The gain of one list as densities: of each document, and of the mixture down the list.

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, section 6.2,
Figure 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.gain_distributions.cumulated import moments, rank_weights
from qrowd.gain_distributions.distributions import GainDistributions
from qrowd.gain_distributions.normalised import ideal_order
from qrowd.kernels.arrays import Floats
from qrowd.model.labels import closest
from qrowd.model.result import Result
from qrowd.model.runs import Runs

BINS = 100  # from the lowest to the highest gain
REACH = 5.0  # standard deviations of a normal curve that a grid shows


@dataclass(frozen=True, eq=False)
class GainDensity(Result):
    """The gain of one list, as densities on a grid; a density times the width of its bin is a probability.

    topic, system : whose list; system None for the ideal ranking.
    documents : (ranks,) labels; "" beyond the end of the list. Documents that nobody judged gain 0.
    edges : (bins + 1,) of gains. gain : (ranks, bins) density of each document's gain.
    discounted : (ranks, bins) the same times its weight w_r / C.
    cumulated : (ranks, bins) density of the gain of a rank drawn with probability w_r / C, down to each rank.
    mean, sd : (ranks,) of this gain, before any smoothing.
    """

    topic: str
    system: str | None
    documents: tuple[str, ...]
    edges: Floats
    gain: Floats
    discounted: Floats
    cumulated: Floats
    mean: Floats
    sd: Floats

    def _columns(self) -> dict[str, Any]:
        """One row per curve ("gain", "discounted", "cumulated"), rank and bin."""
        ranks, bins = self.gain.shape
        parts = ("gain", "discounted", "cumulated")
        return {
            "curve": np.repeat(np.array(parts, object), ranks * bins),
            "rank": np.tile(np.repeat(np.arange(1, ranks + 1), bins), len(parts)),
            "low": np.tile(self.edges[:-1], ranks * len(parts)),
            "high": np.tile(self.edges[1:], ranks * len(parts)),
            "density": np.concatenate([getattr(self, name).ravel() for name in parts]),
        }


def density(
    runs: Runs, distributions: GainDistributions, topic: str, *, system: str | None = None, cutoff: int = 10
) -> GainDensity:
    """The gain of one ranked list as densities, rank by rank: discounted, and as a mixture (Figure 7).

    The density of a document's gain is a normal kernel on every assessor's gain, of width
    s.d. x (effective n)^(-1/5) (Scott's rule). Documents with s.d. 0 stay points. The discount is the original one.

    runs, system : whose list; system=None is the ideal ranking.
    distributions : gains as samples.

    Raises
    ------
    ArgumentError
        An unknown topic or system.
    """
    weights = rank_weights(cutoff, "original")
    documents, pairs = _listed(runs, distributions, topic, system, cutoff)
    gains = [_Mixture.of(distributions, pair) for pair in pairs]
    judged = pairs >= 0
    means, variances = (np.where(judged, column[pairs], 0.0) for column in (distributions.mean, distributions.variance))
    prefixes = np.tri(cutoff) * weights
    mean, sd = (np.empty(cutoff) for _ in range(2))
    for r in range(cutoff):
        mean[r], sd[r] = moments(means, variances, prefixes[r], "mixture")
    ends = np.array([one.ends() for one in gains])
    edges = _grid(ends[:, 0].min(), ends[:, 1].max())
    gain = np.stack([one.masses(edges) for one in gains])
    constants = np.cumsum(weights)
    width = np.diff(edges)
    return GainDensity(
        topic,
        system,
        documents,
        edges,
        gain / width,
        weights[:, None] * gain / constants[-1] / width,
        np.cumsum(weights[:, None] * gain, axis=0) / constants[:, None] / width,
        mean / constants,
        sd,
    )


@dataclass(frozen=True)
class _Mixture:
    """Normal curves with masses that add up to 1, (parts,); with s.d. 0 they are points."""

    mass: Floats
    centre: Floats
    sd: float

    @classmethod
    def of(cls, distributions: GainDistributions, pair: int) -> _Mixture:
        """The gain of a pair; 0 for pair -1."""
        if pair < 0:
            return cls(np.ones(1), np.zeros(1), 0.0)
        rows = slice(int(distributions.starts[pair]), int(distributions.starts[pair + 1]))
        share, gain = distributions.share[rows], distributions.gain[rows]
        return cls(share, gain, float(np.sqrt(distributions.variance[pair])) * float((share**2).sum()) ** 0.2)

    def ends(self) -> tuple[float, float]:
        """The lowest and the highest gain that a grid should show."""
        reach = REACH * self.sd
        return float(self.centre.min() - reach), float(self.centre.max() + reach)

    def masses(self, edges: Floats) -> Floats:
        """(bins,) probability of each bin; one holds its lower edge, the last its upper too."""
        if self.sd == 0:
            return np.histogram(self.centre, edges, weights=self.mass)[0]
        from scipy.special import ndtr

        return np.asarray(np.diff(ndtr((edges[:, None] - self.centre) / self.sd) @ self.mass))


def _listed(
    runs: Runs,
    distributions: GainDistributions,
    topic: str,
    system: str | None,
    cutoff: int,
) -> tuple[tuple[str, ...], Any]:
    """(ranks,) document labels, and their pairs, -1 where unjudged."""
    pool = distributions.pool
    if topic not in pool.topics:
        raise ArgumentError(f"nobody judged it; {closest(topic, pool.topics, 'judged topic')}", "topic", topic)
    t = pool.topics.index(topic)
    rows = pool.rows(t)
    labels = [pool.documents[d] for d in pool.document[rows].tolist()]
    if system is None:
        best = ideal_order(distributions, t)[:cutoff]
        names, places = [labels[i] for i in best.tolist()], (best + rows.start).tolist()
    else:
        if system not in runs.systems:
            raise ArgumentError(f"no such run; {closest(system, runs.systems, 'system')}", "system", system)
        names = []
        if topic in runs.topics:
            ranked = runs.ranked()
            s, column = runs.systems.index(system), runs.topics.index(topic)
            start, length = int(ranked.starts[s, column]), int(ranked.lengths[s, column])
            names = [runs.documents[d] for d in ranked.document[start : start + min(length, cutoff)].tolist()]
        place = {label: rows.start + i for i, label in enumerate(labels)}
        places = [place.get(label, -1) for label in names]
    short = cutoff - len(names)
    return (*names, *[""] * short), np.array([*places, *[-1] * short], np.int64)


def _grid(low: float, high: float) -> Floats:
    """(BINS + 1,) edges; half a unit to either side of a single gain."""
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, BINS + 1)
