"""Answers that join several functions of the library: one function for each command that needs more than one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

from qrowd import aggregation
from qrowd.aggregation import Aggregate
from qrowd.agreement.alpha import krippendorff_alpha
from qrowd.agreement.assessors import assessor_profiles
from qrowd.agreement.document_counts import unlike_at
from qrowd.agreement.pairwise import PairwiseAgreement, pairwise_agreement
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.evaluation import evaluate, measure, with_probabilities
from qrowd.measures import residual_of
from qrowd.methods import evaluate_methods
from qrowd.model.chance import Rng, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import Combined, CombineScales, on_one_scale
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.predicted_relevance import PredictedRelevance, RelevantResults, predicted_relevance, relevant_results
from qrowd.preferences.scheduling import (
    FIGURE_2,
    Condition,
    StopRule,
    judgments_needed,
    real_topics,
    simulate_topic,
)
from qrowd.reports.aggregation import aggregate_document
from qrowd.reports.agreement import agreement_document, assessors_document
from qrowd.reports.document import Document
from qrowd.reports.evaluation import Summary, summarise
from qrowd.reports.prediction import PredictedScores, predicted_scores, prediction_document
from qrowd.reports.preferences import curves_document
from qrowd.reports.replacement import replacement_document, replacement_test
from qrowd.reports.scales import scale_rules, with_scale_note
from qrowd.uncertainty.assessor_bias import assessor_bias
from qrowd.uncertainty.ceiling import human_ceiling
from qrowd.uncertainty.severity import expected_scores

if TYPE_CHECKING:
    from qrowd.agreement.alpha import Resample
    from qrowd.kernels.disagreement import Level
    from qrowd.model.conventions import Repeats
    from qrowd.preferences.scheduling import Topic

# ---------------------------------------------------------------------- evaluation


def evaluation_of(
    runs: Runs,
    judgments: Judgments | Preferences,
    measures: Sequence[object],
    *,
    methods: Sequence[str] = (),
    baseline: str | None = None,
    conventions: Conventions = Conventions(),
    combine_scales: CombineScales = "auto",
    rng: Rng = None,
    progress: Callable[[int, int], None] | None = None,
) -> Summary:
    """Every run by every assessor, or by every method; with the residuals of measures that have one.

    The options are those of `evaluate`, `evaluate_methods` and `summarise`.
    """
    parsed = [measure(each) for each in measures]
    if methods and isinstance(judgments, Judgments):
        scores = evaluate_methods(
            runs, judgments, parsed, methods=methods, conventions=conventions, combine_scales=combine_scales, rng=rng,
            progress=None if progress is None else lambda _, done, total: progress(done, total),
        )  # fmt: skip
        return summarise(scores, baseline=baseline, rng=rng)
    residuals = [one for one in map(residual_of, parsed) if one is not None and one not in parsed]
    scores = evaluate(runs, judgments, [*parsed, *residuals], conventions=conventions, progress=progress)
    return summarise(scores, baseline=baseline, also=tuple(map(str, residuals)), rng=rng)


# ---------------------------------------------------------------------- agreement


def agreement_of(
    judgments: Judgments,
    *,
    per_topic: bool = False,
    level: Level | None = None,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
    resample: Resample = "topics",
    n_resamples: int = 1000,
    confidence: float = 0.95,
    rng: Rng = None,
) -> Document:
    """Krippendorff's alpha, that of each topic where asked for, and Cohen's kappa of each pair of assessors.

    The options are those of `krippendorff_alpha`.
    """
    options: dict[str, Any] = {
        "level": level,
        "repeats": repeats,
        "combine_scales": combine_scales,
        "resample": resample,
        "n_resamples": n_resamples,
        "confidence": confidence,
        "rng": rng,
    }
    overall = krippendorff_alpha(judgments, **options)
    topics = krippendorff_alpha(judgments, by="topic", **options) if per_topic else None
    rules = {"alpha": unlike_at(overall.item().level if level else None), "kappa": "relevant"}
    document = agreement_document(overall, topics, _kappas(judgments, repeats, combine_scales))
    return with_scale_note(document, judgments, scale_rules(judgments.scales, combine_scales, rules))


def _kappas(judgments: Judgments, repeats: Repeats, combine_scales: CombineScales) -> PairwiseAgreement | None:
    """Kappa of each pair of assessors; None for magnitudes, and where no pair shares a document."""
    if any(scale.kind == "magnitude" for scale in judgments.scales):
        return None
    try:
        return pairwise_agreement(judgments, repeats=repeats, combine_scales=combine_scales)
    except NoOverlapError:
        return None


def assessors_of(
    judgments: Judgments,
    *,
    gold: str | None = None,
    level: Level | None = None,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
) -> Document:
    """One row per assessor; the options are those of `assessor_profiles`."""
    profiles = assessor_profiles(judgments, gold=gold, level=level, repeats=repeats, combine_scales=combine_scales)
    unlike = {"severity and agreement": unlike_at(profiles.level if level else None)}
    rules = scale_rules(judgments.scales, combine_scales, unlike)
    return with_scale_note(assessors_document(profiles), judgments, rules)


# ---------------------------------------------------------------------- aggregation

METHODS: dict[str, Any] = {
    "majority": aggregation.majority_vote,
    "dawid-skene": aggregation.dawid_skene,
    "mace": aggregation.mace,
    "mean": aggregation.mean,
    "median": aggregation.median,
    "geometric-mean": aggregation.geometric_mean,
}


def merge(judgments: Judgments, method: str, settings: Mapping[str, str], **options: Any) -> Aggregate:
    """The judgments, merged by the method of that name.

    settings : options of single methods; one that differs from its default must belong to the method.
    options : those of all methods (`repeats`, `combine_scales`, `rng`), used where the method takes them.

    Raises
    ------
    ArgumentError
        A setting that the method does not take.
    """
    takes = signature(METHODS[method]).parameters
    for name, value in settings.items():
        owners = {other: signature(METHODS[other]).parameters for other in METHODS}
        owners = {other: parameters[name].default for other, parameters in owners.items() if name in parameters}
        if name not in takes and value not in owners.values():
            raise ArgumentError(f"{name}={value!r}: not an option of the method {method}, but of {', '.join(owners)}")
    own = {name: value for name, value in {**settings, **options}.items() if name in takes}
    with catch_warnings(action="ignore"):  # the document says what did not converge
        merged: Aggregate = METHODS[method](judgments, **own)
    return merged


def aggregation_document(merged: Aggregate, judgments: Judgments, combine_scales: CombineScales = "auto") -> Document:
    """Merged judgments as a document that says on which scales they were given."""
    unlike: dict[str, Combined] = {merged.name: "relevant" if merged.grades.size else "rescaled"}
    rules = scale_rules(judgments.scales, combine_scales, unlike)
    return with_scale_note(aggregate_document(merged), judgments, rules)


# ---------------------------------------------------------------------- predicted relevance


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted relevance, with what follows for runs.

    gains : the judgments with p(R|i) of the whole pool as their values.
    """

    judgments: Judgments
    scale_rules: str
    model: PredictedRelevance
    results: RelevantResults | None
    scores: PredictedScores | None
    gains: Judgments

    def to_document(self) -> Document:
        """The probabilities, the relevant results and the systems."""
        document = prediction_document(self.model, self.results, self.scores)
        return with_scale_note(document, self.judgments, self.scale_rules)


def predict_relevance(
    judgments: Judgments,
    *,
    runs: Runs | None = None,
    measures: Sequence[str] = ("nDCG@10",),
    cutoff: int = 10,
    combine_scales: CombineScales = "auto",
    **options: Any,
) -> Prediction:
    """Predicted relevance of grades, of results, and scores of systems by it.

    options : those of `predicted_relevance`.
    """
    parsed = [with_probabilities(text) for text in measures]
    scaled = on_one_scale(judgments, combine_scales, "relevant")
    model = predicted_relevance(scaled, runs=runs, cutoff=cutoff, **options)
    # Gains do not depend on the runs that are evaluated.
    pooled = predicted_relevance(scaled, runs=runs, cutoff=cutoff, **{**options, "ranks": "pool", "n_resamples": 0})
    return Prediction(
        judgments,
        scale_rules(judgments.scales, combine_scales, {"predicted relevance": "relevant"}),
        model,
        _relevant_results(model, scaled, runs, cutoff),
        None if runs is None else predicted_scores(runs, scaled, pooled, parsed),
        pooled.with_gains(scaled),
    )


def _relevant_results(
    model: PredictedRelevance, judgments: Judgments, runs: Runs | None, cutoff: int
) -> RelevantResults | None:
    """None without runs where the probability of some grade is unknown."""
    try:
        return relevant_results(model, judgments, runs=runs, cutoff=cutoff)
    except ScaleError:
        if runs is not None:
            raise
        return None


# ---------------------------------------------------------------------- a model in place of assessors


def replacement(
    judgments: Judgments,
    model: str,
    *,
    gold: str | None = None,
    runs: Runs | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    measure: object = "nDCG@10",
    documents: str = "pool",
    conventions: Conventions = Conventions(),
    rng: Rng = None,
    **options: Any,
) -> Document:
    """The alternative annotator test of a model; its ceiling where there is a gold; its bias where there are groups.

    judgments : of the assessors, the model and the gold, which are named. runs, groups : of `assessor_bias`.
    documents : of `human_ceiling`. options : those of `alternative_annotator_test`.
    """
    graded = conventions.graded(judgments)
    scoring = replace(conventions, grades="as-is")
    tested = graded.select(assessors=lambda assessor: assessor != gold)
    test, line, kappas = replacement_test(tested, model, repeats=conventions.repeats, **options)
    ceiling = None
    if gold is not None:
        ceiling = human_ceiling(
            tested.select(assessors=lambda assessor: assessor != model),
            graded.select(assessors=[gold]),
            measure,
            model=tested.select(assessors=[model]),
            documents=documents,  # type: ignore[arg-type]
            conventions=conventions,
        )
    bias, scores = None, None
    if runs is not None and groups:
        scores = evaluate(runs, tested, [measure], conventions=scoring)
        expected = expected_scores(runs, tested, measure, model, conventions=scoring, rng=rng)
        bias = assessor_bias(scores, groups, model, expected=expected)
    return replacement_document(test, line, kappas, ceiling, bias, scores)


# ---------------------------------------------------------------------- orders of preference judging


def simulated_preferences(
    *, n_topics: int = 100, n_systems: int = 3, bad: float = 0.2, depth: int = 5, weight: Any = "none",
    order: Sequence[str] | None = None, sure: float | None = 1.0, rng: Rng = None,
) -> Document:  # fmt: skip
    """How many judgments each order needs on simulated topics; see `simulate_topic`.

    order : orders of asking; None: those of Figure 2 of Carterette et al. sure : as in `StopRule`; None: never stop.
    """
    seed: Any = seed_of(rng)
    topics = [
        simulate_topic(systems=n_systems, depth=depth, bad=bad, weight=weight, rng=[seed, number])
        for number in range(n_topics)
    ]
    about = f"{n_topics:,} simulated, {n_systems} systems' first {depth}, {100 * bad:g} % Bad"
    return _replayed(topics, order, sure, seed, about)


def replayed_preferences(
    preferences: Preferences, runs: Runs, *, systems: Sequence[str] | None = None, depth: int = 5,
    weight: Any = "none", order: Sequence[str] | None = None, sure: float | None = 1.0, rng: Rng = None,
) -> Document:  # fmt: skip
    """How many judgments each order needs on the topics of these preferences; see `real_topics`."""
    topics = list(real_topics(preferences, runs, systems=systems, depth=depth, weight=weight, rng=rng))
    covered = sum(topic.answers.coverage for topic in topics) / len(topics)
    about = (
        f"{len(topics):,}, first {depth} of {topics[0].systems.n} systems; {100 * covered:.0f} % of pairs were "
        "judged, the others are filled in by the share of pairs that each document won"
    )
    return _replayed(topics, order, sure, rng, about)


def _replayed(
    topics: Sequence[Topic], order: Sequence[str] | None, sure: float | None, rng: Rng, about: str
) -> Document:
    rule = None if sure is None else StopRule(sure=sure)
    conditions = FIGURE_2 if order is None else [Condition(name, name, stop=rule) for name in order]
    return curves_document(judgments_needed(topics, conditions, rng=rng), about)
