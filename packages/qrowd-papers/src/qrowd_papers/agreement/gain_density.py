"""The gain of one list as densities: of each document, and of the mixture down the list.

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, section 6.2,
Figure 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from qrowd.errors import ArgumentError, check_choice
from qrowd.gain_distributions.cumulated import Discount, distributions_of, moments, rank_weights
from qrowd.gain_distributions.distributions import GainDistributions
from qrowd.gain_distributions.normalised import ideal_order
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.result import Result
from qrowd.model.runs import Runs

Curve = Literal["as-is", "kde"]
REACH = 5.0  # standard deviations of a normal curve that a grid shows


@dataclass(frozen=True, eq=False)
class GainDensity(Result):
    """The gain of one list, as densities on a grid; a density times the width of its bin is a probability.

    topic, system : whose list; system None for the ideal ranking.
    documents : (ranks,) labels; "" beyond the end of the list. judged : (ranks,) whether judged; others gain 0.
    weights : (ranks,) the discount.
    edges : (bins + 1,) of gains. gain : (ranks, bins) density of each document's gain.
    discounted : (ranks, bins) the same times its weight w_r / C.
    cumulated : (ranks, bins) density of the gain of a rank drawn with probability w_r / C, down to each rank.
    mean, sd : (ranks,) of this gain, before any smoothing.
    """

    topic: str
    system: str | None
    documents: tuple[str, ...]
    judged: Any
    weights: Floats
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
    runs: Runs | None,
    judgments: Judgments | GainDistributions,
    topic: str,
    *,
    system: str | None = None,
    cutoff: int = 10,
    dcg: Discount = "original",
    curve: Curve = "kde",
    bins: int = 100,
) -> GainDensity:
    """The gain of one ranked list as densities, rank by rank: discounted, and as a mixture (Figure 7).

    Parameters
    ----------
    runs, system : whose list; system=None is the ideal ranking, which needs no runs.
    judgments, cutoff, dcg : as in `uncertain_dcg`.
    curve : density of a document's gain: "as-is", points of the sample or a uniform interval; "kde", a normal kernel on
        every assessor's gain, of width s.d. x (effective n)^(-1/5) (Scott's rule). Documents with s.d. 0 stay points.
    bins : number of bins, from the lowest to the highest gain.

    Raises
    ------
    ArgumentError
        An unknown topic, system or option, fewer than 1 bin, or a kernel of intervals.
    """
    check_choice("curve", curve, Curve)
    if bins < 1:
        raise ArgumentError("at least 1 needed", "bins", bins)
    weights = rank_weights(cutoff, dcg)
    distributions = distributions_of(judgments, Conventions())
    if curve == "kde" and distributions.shape == "interval":
        raise ArgumentError("an interval has no sample to smooth; use shape='sample'", "curve", "kde")
    documents, pairs = _listed(runs, distributions, topic, system, cutoff)
    gains = [_Mixture.of(distributions, pair, curve) for pair in pairs]
    judged = pairs >= 0
    means, variances = (np.where(judged, column[pairs], 0.0) for column in (distributions.mean, distributions.variance))
    prefixes = np.tri(cutoff) * weights
    mean, sd = (np.empty(cutoff) for _ in range(2))
    for r in range(cutoff):
        mean[r], sd[r] = moments(means, variances, prefixes[r], "mixture")
    ends = np.array([one.ends() for one in gains])
    edges = _grid(ends[:, 0].min(), ends[:, 1].max(), bins)
    gain = np.stack([one.masses(edges) for one in gains])
    constants = np.cumsum(weights)
    width = np.diff(edges)
    return GainDensity(
        topic,
        system,
        documents,
        judged,
        weights,
        edges,
        gain / width,
        weights[:, None] * gain / constants[-1] / width,
        np.cumsum(weights[:, None] * gain, axis=0) / constants[:, None] / width,
        mean / constants,
        sd,
    )


@dataclass(frozen=True)
class _Mixture:
    """Points, uniform intervals and normal curves, with masses that add up to 1; every array is (parts,).

    half, sd : half the width of an interval, the s.d. of a normal curve; a point has neither.
    """

    mass: Floats
    centre: Floats
    half: Floats
    sd: Floats

    @classmethod
    def of(cls, distributions: GainDistributions, pair: int, curve: Curve) -> _Mixture:
        """The gain of a pair; 0 for pair -1."""
        if pair < 0:
            return cls.normal(0.0, 0.0)
        sd = float(np.sqrt(distributions.variance[pair]))
        if distributions.shape == "sample" and distributions.widened()[pair]:
            return cls.normal(float(distributions.mean[pair]), sd)
        if distributions.shape == "interval":
            half = (distributions.upper[pair] - distributions.lower[pair]) / 2
            return cls(np.ones(1), distributions.mean[[pair]], np.array([half]), np.zeros(1))
        rows = slice(int(distributions.starts[pair]), int(distributions.starts[pair + 1]))
        share, gain = distributions.share[rows], distributions.gain[rows]
        width = sd * float((share**2).sum()) ** 0.2 if curve == "kde" else 0.0
        return cls(share, gain, np.zeros(gain.size), np.full(gain.size, width))

    @classmethod
    def normal(cls, mean: float, sd: float) -> _Mixture:
        return cls(np.ones(1), np.array([mean]), np.zeros(1), np.array([sd]))

    def ends(self) -> tuple[float, float]:
        """The lowest and the highest gain that a grid should show."""
        reach = self.half + REACH * self.sd
        return float((self.centre - reach).min()), float((self.centre + reach).max())

    def masses(self, edges: Floats) -> Floats:
        """(bins,) probability of each bin; one holds its lower edge, the last its upper too."""
        below = self._below(edges)
        below[-1] = self._below(edges[-1:], including=True)[0]
        return np.asarray(np.diff(below))

    def _below(self, at: Floats, including: bool = False) -> Floats:
        """(at,) probability of a gain below each number, or not above it."""
        from scipy.special import ndtr

        away = at[:, None] - self.centre
        with np.errstate(divide="ignore", invalid="ignore"):
            even = np.clip(away / (2 * self.half) + 0.5, 0, 1)
            curve = ndtr(away / self.sd)
        point = away >= 0 if including else away > 0
        return np.asarray(np.where(self.half > 0, even, np.where(self.sd > 0, curve, point)) @ self.mass)


def _listed(
    runs: Runs | None,
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
        if runs is None:
            raise ArgumentError("runs are needed for a system's list", "system", system)
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


def _grid(low: float, high: float, bins: int) -> Floats:
    """(bins + 1,) edges; half a unit to either side of a single gain."""
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1)
