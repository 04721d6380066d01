"""How similar assessors' scores are to others', by every gap, and the accuracies that follow.

Ferrante, Ferro, Maistro (2017), AWARE: Exploiting Evaluation Measures to Combine Multiple Assessors. ACM TOIS 36(2),
section 4; equations are numbered as there. Gaps stand in the order fro, rmse, kld, tau, apc.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from qrowd.aware.averages import averaged
from qrowd.aware.estimators import GAPS, NAMES, UNIFORM, Estimator, Gap, Weight, estimator
from qrowd.errors import ArgumentError, MeasureError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.kernels.correlation import ap_correlation
from qrowd.kernels.gaps import add_densities, divergences, rank_correlations, squared_distances
from qrowd.model.result import Result, Tables
from qrowd.model.scores import Scores, known_mean, rankable

if TYPE_CHECKING:
    import xarray

Polarity = Literal["dissimilarity", "printed"]
Across = Literal["own", "all"]
Toward = Literal["random", "gold"]

BANDWIDTH = 0.015  # of the Gaussian kernels of densities (equation 10)
POINTS = 100  # from 0 to 1, at which densities are compared


@dataclass(frozen=True, eq=False)
class Similarities(Result):
    """How similar each assessor is to random assessors, or to a gold assessor: from 0, most different, to 1, equal.

    scores : the assessors' scores; nan where an assessor has no score.
    toward : "random", where similarity lowers an assessor's accuracy, or "gold", where it raises it.
    levels : {kind of assessor compared with: probability that it calls a document relevant}.
    single : (gaps, measures, levels, assessors) over all topics where the assessor has a score; nan without one.
    by_topic : (gaps, measures, levels, assessors, topics) on each topic; nan without a score; no topics where they were
        not computed.
    attributes : every option in force, the number of resamples and the seed.
    gaps : those that were computed, in the order of the first dimension.

    `to_frame` has one row per gap, measure, level and assessor; what="topics" also one per topic.

    Equations 20-24, averaged over random assessors (Algorithms 1 and 2).
    """

    scores: Scores
    toward: Toward
    levels: Mapping[str, float]
    single: Floats
    by_topic: Floats
    attributes: Mapping[str, Any] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = GAPS

    def accuracy(self, name: str, *, polarity: Polarity = "dissimilarity", across: Across = "own") -> Floats:
        """(measures, assessors, topics) accuracies by one estimator; nan where the assessor has no score.

        name : of the estimator, as "sgl_tau_msd", or "uniform".
        polarity : "dissimilarity" weighs by 1 - similarity to random assessors; "printed" by the similarity itself, as
            equations 25-27 have it. Against a gold assessor it is always the similarity.
        across : "own" estimates each measure's accuracies from that measure; "all" from the mean similarity over
            measures, so that one accuracy serves them all.

        Equations 25 (md, the least of the levels), 26 (msd, the least square), 27 (med, the sum).
        """
        check_choice("polarity", polarity, Polarity)
        check_choice("across", across, Across)
        how = estimator(name)
        scored = self.scores.known
        if how is None:
            return np.where(scored, 1.0, np.nan)
        similarity = self._similarity(how, across)
        if self.toward == "random" and polarity == "dissimilarity":
            similarity = 1 - similarity
        weights = _weight(similarity, how.weight)
        if how.granularity == "sgl":
            weights = np.broadcast_to(weights[..., None], scored.shape)
        return np.where(scored, weights, np.nan)

    def _tables(self) -> Tables:
        labels = {
            "gap": self.gaps,
            "measure": self.scores.measures,
            "level": tuple(self.levels),
            "assessor": self.scores.assessors,
        }
        by_topic = {**labels, "topic": self.scores.topics[: self.by_topic.shape[-1]]}
        return {
            "overall": lambda: {**long_labels(labels), "similarity": self.single.ravel()},
            "topics": lambda: {**long_labels(by_topic), "similarity": self.by_topic.ravel()},
        }

    def _similarity(self, how: Estimator, across: Across) -> Floats:
        """(levels, measures, assessors[, topics])."""
        if how.gap not in self.gaps:
            raise ArgumentError(f"estimator {str(how)!r}: the gap {how.gap!r} was not computed; add it to gaps")
        if how.granularity == "tpc" and not self.by_topic.shape[-1]:
            raise ArgumentError(f"estimator {str(how)!r}: no topic was compared by itself; use by_topic=True")
        table = self.single if how.granularity == "sgl" else self.by_topic
        similarity = np.swapaxes(table[self.gaps.index(how.gap)], 0, 1)
        if across == "own":
            return np.asarray(similarity)
        mean = np.expand_dims(known_mean(similarity, axis=1), 1)
        return np.where(np.isnan(similarity), np.nan, mean)

    def accuracies(
        self,
        *,
        estimators: Sequence[str] = (UNIFORM, *NAMES),
        polarity: Polarity = "dissimilarity",
        across: Across = "own",
    ) -> xarray.DataArray:
        """DataArray (estimator, measure, assessor, topic), nan where the assessor has no score; see `accuracy`."""
        import xarray

        scores = self.scores
        return xarray.DataArray(
            np.array([self.accuracy(name, polarity=polarity, across=across) for name in estimators]),
            dims=("estimator", "measure", "assessor", "topic"),
            coords={
                "estimator": list(estimators),
                "measure": list(scores.measures),
                "assessor": list(scores.assessors),
                "topic": list(scores.topics),
            },
            name="accuracy",
            attrs={**self.attributes, "polarity": polarity, "across": across},
        )

    def average(self, name: str, *, polarity: Polarity = "dissimilarity", across: Across = "own") -> Scores:
        """AWARE's version of every measure, as scores of one assessor who has the estimator's name."""
        about = {**self.attributes, "polarity": polarity, "across": across}
        return averaged(self.scores, self.accuracy(name, polarity=polarity, across=across), name, about)


def long_labels(labels: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """{dimension: the label of each cell}, of an array with these dimensions, cell by cell."""
    places = np.indices([len(names) for names in labels.values()])
    return {dim: np.array(names, object)[at.ravel()] for (dim, names), at in zip(labels.items(), places, strict=True)}


def _weight(values: Floats, weight: Weight) -> Floats:
    """One weight of (levels, ...) similarities, or dissimilarities, to the kinds of random assessors."""
    if weight == "med":
        return np.asarray(values.sum(axis=0))
    return np.asarray((values if weight == "md" else values**2).min(axis=0))


@dataclass(frozen=True, eq=False)
class Parts:
    """What topics add up to: squared distances (assessors, others) and densities (others, points)."""

    squares: Floats
    density: Floats

    def __add__(self, other: Parts) -> Parts:
        return Parts(self.squares + other.squares, self.density + other.density)


@dataclass(frozen=True)
class SimilarityOptions:
    """What changes similarities.

    toward : "random": a random assessor's ranking is walked for AP correlation, as in the paper, and the absolute value
        of a rank correlation counts. "gold": the assessor's ranking is walked, and a correlation below 0 is similarity
        0.
    gaps : those that are computed.
    """

    toward: Toward
    gaps: tuple[Gap, ...] = GAPS

    @property
    def adds_up(self) -> bool:
        """Whether a gap over all topics needs what each of them adds, beside the means over them."""
        return not {"fro", "kld"}.isdisjoint(self.gaps)

    def checked(self, scores: Scores) -> SimilarityOptions:
        """The options, once they are known to be in range and to suit the scores."""
        for gap in self.gaps:
            check_choice("gaps", gap, Gap)
        refuse_high(scores)
        return self

    def on_topic(self, panel: Floats, others: Floats) -> tuple[Floats, Parts]:
        """(gaps, assessors, others) similarities on one topic, and what it adds to those over all topics.

        panel : (assessors, systems), others : (systems, others); no nan.
        """
        panel = np.ascontiguousarray(panel)
        parts = self.parts(panel, others)
        mean = parts.squares / panel.shape[1]
        return self._similar(mean, mean, self._density(panel), parts.density, panel, others), parts

    def parts(self, panel: Floats, others: Floats) -> Parts:
        """What one topic adds to the similarities over all topics."""
        return Parts(squared_distances(np.ascontiguousarray(panel), others), self._density(others.T))

    def no_parts(self, n_assessors: int, n_others: int) -> Parts:
        """The sum over no topic."""
        return Parts(np.zeros((n_assessors, n_others)), self._density(np.zeros((n_others, 0))))

    def overall(self, panel: Floats, others: Floats, parts: Parts) -> Floats:
        """(gaps, assessors, others) similarities over all topics.

        panel : (assessors, topics, systems); others : (systems, others) means over the topics; parts : their sums,
            which count where the gaps add up.
        """
        n_assessors, n_topics, n_systems = panel.shape
        mean = np.ascontiguousarray(panel.mean(axis=1))
        distance = squared_distances(mean, others) / n_systems
        density = self._density(panel.reshape(n_assessors, -1))
        return self._similar(parts.squares / (n_topics * n_systems), distance, density, parts.density, mean, others)

    def _density(self, panel: Floats) -> Floats:
        """(assessors, points) of (assessors, scores); no points where no gap compares densities."""
        density = np.zeros((panel.shape[0], POINTS if "kld" in self.gaps else 0))
        if "kld" in self.gaps:
            add_densities(np.ascontiguousarray(panel.T), BANDWIDTH, density)
        return density

    def _similar(
        self, frobenius: Floats, square: Floats, mine: Floats, theirs: Floats, panel: Floats, others: Floats
    ) -> Floats:
        """Equations 20-24; a rank gap of an assessor without a ranking is that of a random one."""
        values: dict[Gap, Floats] = {"fro": 1 - np.sqrt(frobenius), "rmse": 1 - np.sqrt(square)}
        if "kld" in self.gaps:
            values["kld"] = np.exp(-divergences(mine, theirs))
        if {"tau", "apc"}.intersection(self.gaps):
            values["tau"], values["apc"] = self._of_rankings(rankable(panel), rankable(others))
        return np.array([values[gap] for gap in self.gaps])

    def _of_rankings(self, panel: Floats, others: Floats) -> Floats:
        """(2, assessors, others) the similarities by tau and by AP correlation."""
        tau, apc = rank_correlations(panel, others)
        without_ranking = panel.min(axis=1) == panel.max(axis=1)
        if self.toward == "gold":
            similarity = np.maximum([tau, walking_the_assessors(panel, others)], 0)
            similarity[:, without_ranking] = 0.0
        else:
            similarity = np.abs([tau, apc])
            similarity[:, without_ranking] = 1.0
        return np.asarray(similarity)


def refuse_high(scores: Scores) -> None:
    """Scores above 1, whose gaps have no largest one to divide by."""
    for m, measure in enumerate(scores.measures):
        highest = np.nanmax(scores.values[m], initial=0.0)
        if highest > 1 + 1e-9:
            raise MeasureError(
                f"{measure} reaches {highest:.3g}: AWARE compares scores from 0 to 1; take a normalised measure, "
                "such as nDCG for DCG"
            )


def walking_the_assessors(panel: Floats, others: Floats) -> Floats:
    """(assessors, others) AP correlation where the assessor's list is walked and the other is the reference."""
    references = np.ascontiguousarray(others.T)
    walked = (np.ascontiguousarray(np.broadcast_to(row, references.shape)) for row in panel)
    return np.array([ap_correlation(rows, references) for rows in walked])
