"""A model compared with one assessor, or with two and these with each other: all that can be said without a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.correlation import kendall_tau_b, shared_means
from qrowd.comparison.system_ranking import ranks
from qrowd.comparison.top_set import top_set, top_set_overlap
from qrowd.errors import ArgumentError, MeasureError, NoOverlapError, ScaleError
from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import CombineScales, on_one_scale
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.model.scores import PANEL_MEAN, Scores, one_table
from qrowd.uncertainty.calibration import Calibration, calibrated_judgments, calibration
from qrowd.uncertainty.ceiling import Ceiling, human_ceiling
from qrowd.uncertainty.pairwise_intervals import PairwiseIntervals, pairwise_intervals
from qrowd.uncertainty.prediction_powered import PredictionPoweredMeans, matched, prediction_powered_means
from qrowd.uncertainty.prediction_powered_planning import topics_gained
from qrowd.uncertainty.tau_interval import tau_interval

CHOICES = (10, 25)  # numbers of the assessors' topics for which a model's worth is computed


@dataclass(frozen=True, eq=False)
class PairRankings(Result):
    """Rankings of systems by pairs of assessors; arrays are (pairs,).

    tau_b, low, high : as of `tau_interval`. best : the system with the first's highest mean; rank : of that system by
        the second; 0 where nothing can be compared.
    top_set, other_top_set, in_both : numbers of systems that do not differ significantly from the best by the first,
        by the second, and by both.
    calibrated_tau_b, calibrated_best, calibrated_rank : the same with the first's judgments recoded to the assessors'
        grades, each topic by the others; nan, "" and 0 where the first is no model.
    """

    measure: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    tau_b: Floats
    low: Floats
    high: Floats
    best: tuple[str, ...]
    rank: NDArray[np.int64]
    top_set: NDArray[np.int64]
    other_top_set: NDArray[np.int64]
    in_both: NDArray[np.int64]
    calibrated_tau_b: Floats
    calibrated_best: tuple[str, ...]
    calibrated_rank: NDArray[np.int64]
    n_topics: NDArray[np.int64]
    n_systems: NDArray[np.int64]

    def _columns(self) -> dict[str, Any]:
        names = [name for name in PairRankings.__dataclass_fields__ if name != "measure"]
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class Worth(Result):
    """What a model adds to the assessors' topics; arrays are (choices,), medians over systems.

    n : topics of the assessors. classical_width, width : of the interval of a system's mean, without and with the
        model. topics_gained : further topics of the assessors for which the model stands.
    planned : whether the assessors judged all topics, and random ones were left out to see.
    """

    n: NDArray[np.int64]
    classical_width: Floats
    width: Floats
    topics_gained: Floats
    planned: bool

    _COLUMNS = ("n", "classical_width", "width", "topics_gained", "planned")


@dataclass(frozen=True, eq=False)
class PersonComparison:
    """Agreement, calibration, rankings and worth of a model beside one assessor or two.

    agreement : None for magnitudes beside another scale.
    calibrations : of the model against each assessor, and of each of two assessors against the other.
    judged : share of the documents that the model judged, in the assessors' topics, that an assessor judged, too.
    worth, estimates, alone : where there are scores; the last two where the model judged further topics.
    ceilings : of two assessors, documents ranked by the grades of one and of the model, with the other as reference.
    """

    model: str
    assessors: tuple[str, ...]
    agreement: PairwiseIntervals | None
    calibrations: tuple[Calibration, ...]
    judged: float = 1.0
    rankings: PairRankings | None = None
    worth: Worth | None = None
    estimates: PredictionPoweredMeans | None = None
    alone: PredictionPoweredMeans | None = None
    ceilings: tuple[Ceiling, ...] = ()

    def tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        """The tables of `to_frame`."""
        parts: dict[str, Result | None] = {"agreement": self.agreement}
        own: dict[str, Callable[[], dict[str, Any]]] = {}
        if self.calibrations:
            own["calibration"] = partial(calibration_columns, self.calibrations)
            own["grades"] = partial(grade_columns, self.calibrations)
        more = {"ranking_intervals": self.rankings, "worth": self.worth, "estimates": self.estimates}
        return _tables_of(parts) | own | _tables_of(more)


def calibration_columns(calibrations: Sequence[Calibration]) -> dict[str, Any]:
    """A row for each calibration: its errors; second: the assessor, or "panel mean"."""
    names = ("difference", "difference_low", "difference_high", "calibration_error", "calibration_error_after",
             "rmse", "rmse_after", "n_topics")  # fmt: skip
    columns = {name: [getattr(one, name) for one in calibrations] for name in names}
    return {"first": [one.model for one in calibrations], "second": [*map(_second, calibrations)], **columns}


def grade_columns(calibrations: Sequence[Calibration]) -> dict[str, Any]:
    """A row for each grade of each calibration."""
    frames = [one.to_frame() for one in calibrations]
    names = [(one.model, _second(one)) for one, frame in zip(calibrations, frames, strict=True) for _ in frame.index]
    columns = {name: np.concatenate([frame[name] for frame in frames]) for name in frames[0]}
    return {"first": [first for first, _ in names], "second": [second for _, second in names], **columns}


def _second(one: Calibration) -> str:
    return one.assessors[0] if len(one.assessors) == 1 else PANEL_MEAN


def _tables_of(parts: Mapping[str, Result | None]) -> dict[str, Callable[[], dict[str, Any]]]:
    return {name: partial(_columns_of, part) for name, part in parts.items() if part is not None}


def _columns_of(part: Result) -> dict[str, Any]:
    return dict(part.to_frame())


def person_comparison(
    judgments: Judgments,
    model: str,
    *,
    runs: Runs | None = None,
    scores: Scores | None = None,
    measure: object = "nDCG@10",
    combine_scales: CombineScales = "auto",
    kappa_scales: CombineScales | None = None,
    conventions: Conventions = Conventions(),
    rng: Rng = None,
) -> PersonComparison:
    """Compare a model with one assessor or two. judgments : of the model and these.

    runs, scores : of the systems, by one measure, by the model and the assessors; for all that is about systems.
    combine_scales : what becomes of unlike scales; kappa_scales : for agreement, default: as for the rest.

    Raises
    ------
    NoOverlapError
        The model and the assessors judged no document in common.
    """
    seed = seed_of(rng)
    assessors = tuple(name for name in judgments.assessors if name != model)
    agreement = None
    if alike(judgments.scales) or not any(scale.kind == "magnitude" for scale in judgments.scales):
        scales = kappa_scales or combine_scales
        agreement = pairwise_intervals(
            judgments, weights="quadratic", combine_scales=scales, repeats=conventions.repeats, rng=seed
        )
    pairs = [(model, name) for name in assessors]
    pairs += [(name, other) for name in assessors for other in assessors if name != other]
    calibrations = [_calibration(judgments, *pair, conventions) for pair in pairs]
    if calibrations[: len(assessors)] == [None] * len(assessors):
        raise NoOverlapError(
            f"model {model!r} and {' and '.join(assessors)} judged no document in common; check that both are of the "
            "same collection"
        )
    comparison = PersonComparison(
        model,
        assessors,
        agreement and _with_model_first(agreement, model),
        tuple(filter(None, calibrations)),
        _judged(judgments, model),
    )
    if len(assessors) == 2:
        orders = (assessors, assessors[::-1])
        ceilings = [_ceiling(judgments, model, pair, measure, combine_scales, conventions) for pair in orders]
        comparison = replace(comparison, ceilings=tuple(filter(None, ceilings)))
    if runs is None or scores is None:
        return comparison
    recoded = calibrated_judgments(judgments, model, assessors=list(assessors), repeats=conventions.repeats)
    calibrated = evaluate(runs, recoded, [measure], conventions=conventions)
    rankings = _rankings(scores, calibrated, pairs[: 3 if len(assessors) == 2 else 1], model, seed)
    worth, estimates, classical = _worth(scores, model, assessors, seed)
    return replace(comparison, rankings=rankings, worth=worth, estimates=estimates, alone=classical)


def _judged(judgments: Judgments, model: str) -> float:
    """Share of the model's documents, in topics that an assessor judged, that an assessor judged, too."""
    panel = judgments.panel()
    others = [i for i, name in enumerate(panel.assessors) if name != model]
    by_model = np.flatnonzero(~np.isnan(panel.values[:, panel.assessors.index(model)]))
    by_others: NDArray[np.bool_] = np.asarray((~np.isnan(panel.values[:, others])).any(axis=1))
    topic = np.repeat(np.arange(len(panel.pool.topics)), np.diff(panel.pool.starts))
    in_topics = np.bincount(topic[by_others], minlength=len(panel.pool.topics))[topic] > 0
    return float(by_others[by_model[in_topics[by_model]]].mean())


def _calibration(judgments: Judgments, first: str, second: str, conventions: Conventions) -> Calibration | None:
    try:
        return calibration(judgments, first, assessors=[second], repeats=conventions.repeats)
    except NoOverlapError:
        return None


def _with_model_first(agreement: PairwiseIntervals, model: str) -> PairwiseIntervals:
    """The pairs with the model first, and its pairs before the others."""
    order = np.argsort(
        [model not in pair for pair in zip(agreement.first, agreement.second, strict=True)], kind="stable"
    )
    pairs = [(agreement.first[i], agreement.second[i]) for i in order]
    pairs = [pair if pair[1] != model else pair[::-1] for pair in pairs]
    numbers: dict[str, Any] = {
        name: value[order] for name, value in vars(agreement).items() if isinstance(value, np.ndarray)
    }
    first, second = zip(*pairs, strict=True)
    return replace(agreement, first=first, second=second, **numbers)


def _ceiling(
    judgments: Judgments,
    model: str,
    pair: tuple[str, ...],
    measure: object,
    combine_scales: CombineScales,
    conventions: Conventions,
) -> Ceiling | None:
    """Documents ranked by the grades of the first of a pair and of the model; the second is the reference."""
    first, second = pair
    try:
        alone = on_one_scale(judgments, combine_scales, "rescaled")
        return human_ceiling(
            alone.select(assessors=[first]),
            judgments.select(assessors=[second]),
            measure,
            model=alone.select(assessors=[model]),
            documents="seen",
            conventions=conventions,
        )
    except (NoOverlapError, MeasureError, ScaleError):
        return None


def _rankings(
    scores: Scores, calibrated: Scores, pairs: Sequence[tuple[str, str]], model: str, seed: Any
) -> PairRankings:
    tops = {name: _top(scores, name) for name in {name for pair in pairs for name in pair}}
    rows = []
    for first, second in pairs:
        tau = tau_interval(scores, first, second, rng=seed)
        one, other = (scores.values[0, scores.assessors.index(name)] for name in (first, second))
        best, rank, _ = _best(one, other, scores.systems)
        after: tuple[Any, ...] = ("", 0, np.nan)
        if first == model:
            recoded = {topic: calibrated.values[0, 0, t] for t, topic in enumerate(calibrated.topics)}
            missing = np.full(len(scores.systems), np.nan)
            after = _best(np.array([recoded.get(topic, missing) for topic in scores.topics]), other, scores.systems)
        mine, others = tops[first], tops[second]
        both = len(top_set_overlap(mine, others).both) if mine and others else 0
        sizes = [len(top.members) if top else 0 for top in (mine, others)]
        rows.append((first, second, tau.tau_b, tau.low, tau.high, best, rank, *sizes, both, after[2], *after[:2],
                     tau.n_topics, tau.n_systems))  # fmt: skip
    cells: list[Any] = [
        column if isinstance(column[0], str) else np.array(column) for column in zip(*rows, strict=True)
    ]
    return PairRankings(scores.measures[0], *cells)


def _top(scores: Scores, name: str) -> Any:
    try:
        return top_set(scores.sel(assessor=name))
    except NoOverlapError:
        return None


def _best(own: Floats, other: Floats, systems: tuple[str, ...]) -> tuple[str, int, float]:
    """The system with the highest mean by the first, its rank by the other, and tau-b."""
    x, y, _, n_systems = shared_means(own, other)
    if n_systems < 2:
        return "", 0, np.nan
    shared = ~np.isnan(own) & ~np.isnan(other)
    names = np.array(systems)[shared[shared.any(axis=1)].all(axis=0)].tolist()
    best = int(x.argmax())
    return names[best], int(ranks(y)[best]), kendall_tau_b(x, y)


def _worth(
    scores: Scores, model: str, assessors: tuple[str, ...], seed: Any
) -> tuple[Worth | None, PredictionPoweredMeans | None, PredictionPoweredMeans | None]:
    """What the model adds: to the topics that the assessors judged, or to some of them where they judged all."""
    people, models = scores.sel(assessor=list(assessors)).panel_mean(), scores.sel(assessor=model)
    sides = [one_table(side)[0] for side in (people, models)]
    complete = np.flatnonzero(~np.any([np.isnan(side).all(axis=0) for side in sides], axis=0))
    systems = [scores.systems[s] for s in complete]
    if not systems:
        return None, None, None
    people, models = people.sel(system=systems), models.sel(system=systems)
    try:
        both = matched(people, models)
    except (ArgumentError, NoOverlapError):
        return None, None, None
    n, more = len(both.assessor_topics), len(both.model_topics)
    if n >= 2 and more >= 2:
        estimates = prediction_powered_means(people, models)
        alone = prediction_powered_means(people, models, method="classical")
        widths = [float(np.median(means.high - means.low)) for means in (alone, estimates)]
        gain = float(np.median(estimates.topics_gained))
        classical, width, gains = (np.array([value]) for value in (*widths, gain))
        return Worth(np.array([n]), classical, width, gains, planned=False), estimates, alone
    if n < 4:
        return None, None, None
    choices = [choice for choice in CHOICES if choice <= n - 2] or [n // 2]
    gained = topics_gained(people, models, choices=choices, rng=seed)
    return Worth(gained.n, gained.classical_width, gained.width, gained.topics_gained, planned=True), None, None
