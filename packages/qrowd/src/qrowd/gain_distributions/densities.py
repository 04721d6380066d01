"""The gain of one list as densities: of each document, discounted by rank, and cumulated down the list.

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, section 6.2,
Figure 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from qrowd.errors import ArgumentError, check_choice
from qrowd.gain_distributions.cumulated import Discount, distributions_of, moments, rank_weights
from qrowd.gain_distributions.distributions import GainDistributions, draw_gains
from qrowd.gain_distributions.normalised import ideal_order
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng, Seed, seed_of
from qrowd.model.conventions import Conventions, ScoreDtype
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.result import Result
from qrowd.model.runs import Runs

Cumulate = Literal["sum", "mixture"]
Curve = Literal["as-is", "normal", "kde"]
Method = Literal["convolution", "normal", "sampled"]

FINE = 32  # steps of the convolution in a bin
REACH = 5.0  # standard deviations of a normal curve that a grid shows


@dataclass(frozen=True, eq=False)
class GainDensity(Result):
    """The gain of one list, as densities on a grid; a density times the width of its bin is a probability.

    topic, system : whose list; system None for the ideal ranking.
    documents : (ranks,) labels; "" beyond the end of the list. judged : (ranks,) whether judged; others gain 0.
    weights : (ranks,) the discount.
    edges : (bins + 1,) of gains. gain : (ranks, bins) density of each document's gain.
    cumulated_edges : (bins + 1,); for a mixture the same as edges. discounted : (ranks, bins) density of w_r G_r on
        cumulated_edges; in a mixture, that of G_r times its weight w_r / C.
    cumulated : (ranks, bins) density of the gain cumulated down to each rank.
    mean, sd : (ranks,) of the gain cumulated down to each rank, before any smoothing.
    cumulate, dcg, curve, method, seed : the options in force; method None for a mixture, seed None without draws.
    """

    topic: str
    system: str | None
    documents: tuple[str, ...]
    judged: Any
    weights: Floats
    edges: Floats
    gain: Floats
    cumulated_edges: Floats
    discounted: Floats
    cumulated: Floats
    mean: Floats
    sd: Floats
    cumulate: Cumulate
    dcg: Discount
    curve: Curve
    method: Method | None
    seed: Seed | None

    def _columns(self) -> dict[str, Any]:
        """One row per curve ("gain", "discounted", "cumulated"), rank and bin."""
        ranks, bins = self.gain.shape
        parts = (("gain", self.edges), ("discounted", self.cumulated_edges), ("cumulated", self.cumulated_edges))
        return {
            "curve": np.repeat(np.array([name for name, _ in parts], object), ranks * bins),
            "rank": np.tile(np.repeat(np.arange(1, ranks + 1), bins), len(parts)),
            "low": np.concatenate([np.tile(edges[:-1], ranks) for _, edges in parts]),
            "high": np.concatenate([np.tile(edges[1:], ranks) for _, edges in parts]),
            "density": np.concatenate([getattr(self, name).ravel() for name, _ in parts]),
        }


def density(
    runs: Runs | None,
    judgments: Judgments | GainDistributions,
    topic: str,
    *,
    system: str | None = None,
    cutoff: int = 10,
    cumulate: Cumulate = "sum",
    dcg: Discount = "log2",
    conventions: Conventions = Conventions(),
    curve: Curve = "as-is",
    method: Method = "convolution",
    bins: int = 100,
    n_resamples: int = 10_000,
    rng: Rng = None,
) -> GainDensity:
    """The gain of one ranked list as densities, rank by rank: discounted, and cumulated (Figure 7).

    Parameters
    ----------
    runs, system : whose list; system=None is the ideal ranking, which needs no runs.
    judgments, cutoff, cumulate, dcg, conventions : as in `uncertain_dcg`. A mixture is exact up to the width of bins.
    curve : density of a document's gain: "as-is", points of the sample or a uniform interval; "normal", of the same
        mean and s.d.; "kde", a normal kernel on every assessor's gain, of width s.d. x (effective n)^(-1/5) (Scott's
        rule). Documents with s.d. 0 stay points.
    method : of a sum: "convolution", on a grid 32 times as fine as the bins, which keeps the mean; "normal", by mean
        and s.d. alone; "sampled", with `n_resamples` and `rng`.
    bins : number of bins of either grid, from the lowest to the highest gain.

    Raises
    ------
    ArgumentError
        An unknown topic, system or option, fewer than 1 bin or 2 samples, or a kernel of intervals.
    """
    check_choice("cumulate", cumulate, Cumulate)
    check_choice("curve", curve, Curve)
    check_choice("method", method, Method)
    for name, number, least in (("bins", bins, 1), ("n_resamples", n_resamples, 2)):
        if number < least:
            raise ArgumentError(f"{name}={number!r}: at least {least} needed")
    weights = rank_weights(cutoff, dcg)
    distributions = distributions_of(judgments, conventions)
    if curve == "kde" and distributions.shape == "interval":
        raise ArgumentError("curve='kde': an interval has no sample to smooth; use shape='sample'")
    if method == "sampled" and curve != "as-is":
        raise ArgumentError(f"method='sampled' samples the distributions themselves, not curve={curve!r}")
    documents, pairs = _listed(runs, distributions, topic, system, cutoff, conventions.score_dtype)
    gains = [_Mixture.of(distributions, pair, curve) for pair in pairs]
    judged = pairs >= 0
    means, variances = (np.where(judged, column[pairs], 0.0) for column in (distributions.mean, distributions.variance))
    prefixes = np.tri(cutoff) * weights
    mean, sd = (np.empty(cutoff) for _ in range(2))
    for r in range(cutoff):
        mean[r], sd[r] = moments(means, variances, prefixes[r], cumulate)
    ends = np.array([one.ends() for one in gains])
    edges = _grid(ends[:, 0].min(), ends[:, 1].max(), bins)
    gain = np.stack([one.masses(edges) for one in gains])
    seed: Seed | None = None
    how: Method | None = None
    if cumulate == "mixture":
        constants = np.cumsum(weights)
        mean = mean / constants
        over = edges
        discounted = weights[:, None] * gain / constants[-1]
        cumulated = np.cumsum(weights[:, None] * gain, axis=0) / constants[:, None]
    else:
        how = method
        low, high = (np.cumsum(weights * end) for end in ends.T)
        scaled = [one.times(w) for one, w in zip(gains, weights, strict=True)]
        approximations = [_Mixture.normal(m, s) for m, s in zip(mean.tolist(), sd.tolist(), strict=True)]
        limits = [low, high, weights * ends[:, 0], weights * ends[:, 1]]
        if method == "normal":
            limits += list(np.array([one.ends() for one in approximations]).T)
        over = _grid(np.min(limits), np.max(limits), bins)
        discounted = np.stack([one.masses(over) for one in scaled])
        if method == "normal":
            cumulated = np.stack([one.masses(over) for one in approximations])
        elif method == "sampled":
            seed = seed_of(rng)
            random = np.random.default_rng(seed)
            samples = np.zeros((cutoff, n_resamples))
            for r in np.flatnonzero(judged).tolist():
                samples[r] = (
                    weights[r] * draw_gains(distributions, n_resamples, random, slice(pairs[r], pairs[r] + 1))[0]
                )
            sums = np.clip(np.cumsum(samples, axis=0), over[0], over[-1])
            cumulated = np.stack([np.histogram(row, over)[0] / n_resamples for row in sums])
        else:
            cumulated = _convolved(scaled, over)
    return GainDensity(
        topic,
        system,
        documents,
        judged,
        weights,
        edges,
        gain / np.diff(edges),
        over,
        discounted / np.diff(over),
        cumulated / np.diff(over),
        mean,
        sd,
        cumulate,
        dcg,
        curve,
        how,
        seed,
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
        if curve == "normal" or (distributions.shape == "sample" and distributions.widened()[pair]):
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

    def times(self, factor: float) -> _Mixture:
        """The distribution of the gain times a factor."""
        return _Mixture(self.mass, factor * self.centre, factor * self.half, factor * self.sd)

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

    def integral(self, at: Floats) -> Floats:
        """(at,) the integral of the probability below, up to each number: E max(x - G, 0)."""
        from scipy.special import ndtr

        away = at[:, None] - self.centre
        with np.errstate(divide="ignore", invalid="ignore"):
            even = np.clip(away + self.half, 0, 2 * self.half) ** 2 / (4 * self.half) + np.maximum(away - self.half, 0)
            z = away / self.sd
            curve = self.sd * (z * ndtr(z) + np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))
        point = np.maximum(away, 0)
        return np.asarray(np.where(self.half > 0, even, np.where(self.sd > 0, curve, point)) @ self.mass)


def _listed(
    runs: Runs | None,
    distributions: GainDistributions,
    topic: str,
    system: str | None,
    cutoff: int,
    score_dtype: ScoreDtype,
) -> tuple[tuple[str, ...], Any]:
    """(ranks,) document labels, and their pairs, -1 where unjudged."""
    pool = distributions.pool
    if topic not in pool.topics:
        raise ArgumentError(f"topic={topic!r}: nobody judged it; {closest(topic, pool.topics, 'judged topic')}")
    t = pool.topics.index(topic)
    rows = pool.rows(t)
    labels = [pool.documents[d] for d in pool.document[rows].tolist()]
    if system is None:
        best = ideal_order(distributions, t)[:cutoff]
        names, places = [labels[i] for i in best.tolist()], (best + rows.start).tolist()
    else:
        if runs is None:
            raise ArgumentError(f"system={system!r}: runs are needed for a system's list")
        if system not in runs.systems:
            raise ArgumentError(f"system={system!r}: no such run; {closest(system, runs.systems, 'system')}")
        names = []
        if topic in runs.topics:
            ranked = runs.ranked(score_dtype=score_dtype)
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


def _convolved(gains: list[_Mixture], edges: Floats) -> Floats:
    """(ranks, bins) probabilities of the sum down to each rank.

    Each distribution is discretised to multiples of a small step, each gain divided between its two neighbours, so that
    the mean is kept. The mass of node x is the second difference of E max(x - G, 0).
    """
    step = (edges[-1] - edges[0]) / (edges.size - 1) / FINE
    first, parts = [], []
    for one in gains:
        low, high = one.ends()
        nodes = np.arange(int(np.floor(low / step)) - 1, int(np.ceil(high / step)) + 2)
        part = np.diff(one.integral(nodes * step), 2) / step
        parts.append(np.maximum(part, 0) / part.sum())
        first.append(int(nodes[1]))
    length = sum(part.size - 1 for part in parts) + 1
    size = 1 << (length - 1).bit_length()
    spectrum = np.ones(size // 2 + 1, np.complex128)
    table = np.empty((len(parts), edges.size - 1))
    for r, part in enumerate(parts):
        spectrum = spectrum * np.fft.rfft(part, size)
        masses = np.maximum(np.fft.irfft(spectrum, size), 0)
        at = (sum(first[: r + 1]) + np.arange(size)) * step
        table[r] = np.histogram(np.clip(at, edges[0], edges[-1]), edges, weights=masses)[0]
    return table
