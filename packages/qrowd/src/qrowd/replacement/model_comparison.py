"""A model beside human assessors: test, agreement, rankings of systems, bias and calibration in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qrowd.agreement.kappa import Weights, credits, kappas, unlike_with
from qrowd.agreement.pairwise import PairwiseAgreement, pairwise_agreement
from qrowd.comparison.rankings import correlations, shared_means
from qrowd.comparison.system_ranking import ranks
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.conventions import Conventions
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.one_scale import CombineScales, on_one_scale
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores, known_mean
from qrowd.replacement.alternative_annotator import (
    MIN_ASSESSORS,
    AnnotatorTest,
    Closeness,
    Independent,
    TooFewError,
    alternative_annotator_test,
    with_scale_of_model,
)
from qrowd.replacement.assessor_bias import AssessorBias, assessor_bias, expected_scores
from qrowd.replacement.calibration import Calibration, calibration, jackknife_interval

CONVENTIONS = Conventions()
SEED = 1  # of the shuffles that take out severity: other seeds move the bias by about 1 % of its interval


@dataclass(frozen=True, eq=False)
class ModelRankings(Result):
    """A model's ranking of systems compared with that of each assessor; arrays are (assessors,).

    tau_b : Kendall's tau-b of the model's ranking with the assessor's. tau_b_with_others : of the assessor's ranking
        with the mean of the other assessors; nan for a single assessor.
    best : the system with the model's highest mean. rank : of that system by the assessor; "" and 0 where the model's
        means are equal. n_topics, n_systems : that both scored.
    """

    summary = "A model's ranking of systems compared with that of each assessor"

    measure: str
    model: str
    assessors: tuple[str, ...]
    tau_b: Floats
    tau_b_with_others: Floats
    best: tuple[str, ...]
    rank: Ints
    n_topics: Ints
    n_systems: Ints

    _COLUMNS = ("assessors", "tau_b", "tau_b_with_others", "best", "rank", "n_topics", "n_systems")


@dataclass(frozen=True, eq=False)
class ModelComparison(Result):
    """A model compared with each human assessor.

    test : of the model; None where there are too few assessors or documents, and `reason` says which.
    kappas : Cohen's kappa of each pair of assessors and model; None where the values are no categories.
    kappas_without : {topic: mean kappa of the model with the assessors without the topic}.
    calibrations : of the model against each assessor who judged a document of the model's. calibration : against the
        mean grade of all assessors; None where their scales cannot be one.
    scores, rankings : None without runs. bias : None without groups of systems, and with fewer than three
        assessors.
    """

    summary = "A model compared with each human assessor"

    model: str
    assessors: tuple[str, ...]
    test: AnnotatorTest | None
    reason: str
    kappas: PairwiseAgreement | None
    kappas_without: Mapping[str, float]
    calibrations: Mapping[str, Calibration]
    calibration: Calibration | None
    scores: Scores | None
    rankings: ModelRankings | None
    bias: AssessorBias | None

    @property
    def mean_kappa(self) -> float:
        """Mean kappa of the model with the assessors; nan where there is none."""
        kappa = self.kappa()
        return float(np.nanmean(kappa)) if not np.isnan(kappa).all() else np.nan

    def kappa_interval(self, other: ModelComparison | None = None) -> tuple[float, float, float]:
        """Mean kappa, or how much higher it is than that of another model, and its 95 % interval over topics."""
        value, without = self.mean_kappa, np.array(list(self.kappas_without.values()))
        limit = 1.0
        if other is not None:
            limit = 2.0
            value -= other.mean_kappa
            without -= [other.kappas_without.get(topic, other.mean_kappa) for topic in self.kappas_without]
        low, high = jackknife_interval(np.array(value), without, np.ones(without.size), 0.95, bounds=(-limit, limit))
        return value, float(low), float(high)

    def kappa(self) -> Floats:
        """(assessors,) kappa with the model."""
        if self.kappas is None:
            return np.full(len(self.assessors), np.nan)
        return self.kappas.kappa[self.kappas.assessors.index(self.model), self._rows(self.kappas.assessors)]

    def kappa_with_others(self) -> Floats:
        """(assessors,) mean kappa with the other assessors, weighted by the documents that both judged."""
        if self.kappas is None:
            return np.full(len(self.assessors), np.nan)
        rows = np.ix_(self._rows(self.kappas.assessors), self._rows(self.kappas.assessors))
        kappa = self.kappas.kappa[rows]
        n = np.where(np.isnan(kappa), 0, self.kappas.n[rows]).sum(axis=1)
        total = np.nansum(kappa * self.kappas.n[rows], axis=1)
        return np.asarray(np.where(n > 0, total / np.maximum(n, 1), np.nan))

    def _rows(self, names: Sequence[str]) -> list[int]:
        return [names.index(name) for name in self.assessors]

    def _tables(self) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
        tables: dict[str, Callable[[], Mapping[str, Any]]] = {"assessors": self._columns}
        if self.calibration is not None:
            grades = self.calibration
            tables["grades"] = lambda: {"model": self.model, **grades._columns()}
        if self.bias is not None:
            bias = self.bias
            tables["bias"] = lambda: {"model": self.model, **bias._columns()}
        return tables

    def _columns(self) -> dict[str, Any]:
        """One row per assessor; nan where something was not computed."""
        columns: dict[str, Any] = {"model": self.model, "assessor": self.assessors}
        sizes = [self.calibrations.get(name) for name in self.assessors]
        columns["n_documents"] = [0 if one is None else int(one.n_documents.sum()) for one in sizes]
        columns["n_topics"] = [0 if one is None else one.n_topics for one in sizes]
        if self.test is not None:
            for name in ("model_share", "assessor_share", "difference", "p_adjusted", "replaceable"):
                columns[name] = self._aligned(self.test.assessors, getattr(self.test, name))
        columns["kappa"], columns["kappa_with_others"] = self.kappa(), self.kappa_with_others()
        for name in ("difference", "rmse", "rmse_after"):
            title = "mean_difference" if name == "difference" else name
            columns[title] = [np.nan if one is None else getattr(one, name) for one in sizes]
        if self.rankings is not None:
            for name in ("tau_b", "tau_b_with_others", "best", "rank"):
                columns[name] = getattr(self.rankings, name)
        return columns

    def _aligned(self, names: Sequence[str], values: Any) -> list[Any]:
        """Values by assessor; nan for those who are not among the names."""
        by_name = dict(zip(names, values.tolist(), strict=True))
        return [by_name.get(name, np.nan) for name in self.assessors]


def compare_model(
    judgments: Judgments,
    model: str,
    *,
    runs: Runs | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    measure: object = "nDCG@10",
    eps: float = 0.2,
    closeness: Closeness | None = None,
    independent: Independent = "topics",
    combine_scales: CombineScales = "auto",
    conventions: Conventions = CONVENTIONS,
) -> ModelComparison:
    """Compare a model with the human assessors of the same judgments.

    Without enough assessors or documents for the test, everything else is computed.

    runs : for rankings of systems by `measure`; with groups also for the bias towards each group of systems, as of
    `assessor_bias`. eps, closeness, independent, combine_scales : of `alternative_annotator_test`. conventions : of
    scores and repeated judgments.

    Raises
    ------
    ArgumentError
        The model is the only assessor.
    NoOverlapError
        The model judged no document that an assessor judged.
    """
    graded = conventions.graded(judgments)
    assessors = tuple(name for name in graded.assessors if name != model)
    if not assessors:
        raise ArgumentError(f"judgments: {model} is the only assessor; add the judgments of the assessors to replace")
    own = with_scale_of_model(graded, model) if combine_scales == "auto" else graded
    repeats = conventions.repeats
    mean_calibration, calibrations = None, {}
    with suppress(ScaleError):
        mean_calibration = calibration(own, model, repeats=repeats)
    for name in assessors:
        with suppress(NoOverlapError):
            calibrations[name] = calibration(own, model, assessors=[name], repeats=repeats)
    test, reason = None, ""
    try:
        test = alternative_annotator_test(
            own,
            model,
            eps=eps,
            closeness=closeness,
            independent=independent,
            combine_scales=combine_scales,
            repeats=repeats,
        )
    except TooFewError as error:
        reason = str(error)
    scores = rankings = bias = None
    if runs is not None:
        scoring = replace(conventions, grades="as-is")
        by_model, pair = graded.assessor == graded.assessors.index(model), graded.pair_numbers
        # What only the model judged would be not relevant to the assessors, and so would seem to be favoured by it.
        shared = graded._take(np.flatnonzero(~by_model | np.isin(pair, pair[~by_model])))
        scores = evaluate(runs, shared, [measure], conventions=scoring)
        rankings = model_rankings(scores, model)
        if groups and len(assessors) >= MIN_ASSESSORS:
            expected = expected_scores(runs, shared, measure, model, conventions=scoring, rng=SEED)
            bias = assessor_bias(scores, groups, model, expected=expected)
    agreement = _kappas(own, combine_scales, closeness, conventions)
    without: dict[str, float] = {}
    if agreement is not None:
        one = on_one_scale(own, combine_scales, unlike_with(agreement.weights))
        without = _kappas_without(one, model, agreement.weights, repeats)
    return ModelComparison(
        model,
        assessors,
        test,
        reason,
        agreement,
        without,
        calibrations,
        mean_calibration,
        scores,
        rankings,
        bias,
    )


def _kappas(
    judgments: Judgments, combine_scales: CombineScales, closeness: Closeness | None, conventions: Conventions
) -> PairwiseAgreement | None:
    """Kappa of each pair, of relevant or not on unlike scales; None for values that are no categories."""
    kinds = {scale.kind for scale in judgments.scales}
    same_scale = alike(judgments.scales) and combine_scales != "relevant"
    if "magnitude" in kinds or combine_scales == "rescaled" or (same_scale and "fractions" in kinds):
        return None
    weighted = same_scale and closeness != "accuracy" and any(scale.maximum > 1 for scale in judgments.scales)
    weights: Weights | None = "quadratic" if weighted else None
    try:
        return pairwise_agreement(
            judgments, weights=weights, combine_scales=combine_scales, repeats=conventions.repeats
        )
    except NoOverlapError:
        return None


def _kappas_without(judgments: Judgments, model: str, weights: Weights | None, repeats: Repeats) -> dict[str, float]:
    """{topic: mean kappa of the model with the assessors without the topic}; of topics that a pair of them judged."""
    panel = judgments.panel(repeats=repeats)
    values = np.unique(panel.values[~np.isnan(panel.values)])
    code = np.searchsorted(np.append(values, np.nan), panel.values)
    of_model = panel.assessors.index(model)
    topic = panel.pool.topic
    counts = np.zeros((len(panel.assessors), topic.max() + 1, values.size + 1, values.size + 1))
    for a, of_assessor in enumerate(counts):
        np.add.at(of_assessor, (topic, code[:, a], code[:, of_model]), 1)
    counts = np.delete(counts, of_model, axis=0)[..., :-1, :-1]  # of documents that both judged
    without = kappas(counts.sum(axis=1, keepdims=True) - counts, credits(values, weights))[2]
    pairs = zip(panel.pool.topics, known_mean(without, axis=0).tolist(), strict=True)
    return {name: value for (name, value), n in zip(pairs, counts.sum(axis=(0, 2, 3)), strict=True) if n}


def model_rankings(scores: Scores, model: str) -> ModelRankings:
    """Compare the model's ranking of the systems with that of each other assessor. scores : of one measure."""
    assessors = [name for name in scores.assessors if name != model]
    coefficients = correlations(scores.sel(assessor=[*assessors, model]), reference=model)
    others = correlations(scores.sel(assessor=assessors)).tau_b if len(assessors) > 1 else np.full(1, np.nan)
    by_model = scores.values[0, scores.assessors.index(model)]
    pairs = [_best(by_model, scores.values[0, scores.assessors.index(name)], scores.systems) for name in assessors]
    best, rank = zip(*pairs, strict=True)
    return ModelRankings(
        scores.measures[0],
        model,
        tuple(assessors),
        coefficients.tau_b[:-1],
        others,
        best,
        np.array(rank, np.int64),
        coefficients.n_topics[:-1],
        coefficients.n_systems[:-1],
    )


def _best(by_model: Floats, by_assessor: Floats, systems: tuple[str, ...]) -> tuple[str, int]:
    """The model's best system and its rank by the assessor."""
    model_means, assessor_means, _, is_shared = shared_means(by_model, by_assessor)
    if np.unique(model_means).size < 2:
        return "", 0
    best = int(model_means.argmax())
    return np.array(systems)[is_shared].tolist()[best], int(ranks(assessor_means)[best])
