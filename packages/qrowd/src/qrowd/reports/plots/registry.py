"""The plots of `qrowd plot`, by name: from runs and judgments to a plot, and to a file.

A `plot_` function draws a result that exists already; here the result is computed first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy import bincount

from qrowd.comparison.mean_ranks import PairTest
from qrowd.comparison.system_ranking import rank_changes, rank_systems
from qrowd.errors import ArgumentError, ScaleError
from qrowd.evaluation import bounds_of, evaluate
from qrowd.methods import evaluate_methods
from qrowd.model.chance import Rng
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.one_scale import Combined, CombineScales, on_one_scale
from qrowd.model.runs import Runs
from qrowd.model.scores import Names, Scores
from qrowd.reports.document import Note
from qrowd.reports.notes import cautions
from qrowd.reports.phrases import count, mean_of, percent, sentence_case
from qrowd.reports.plots import assessor_plots as assessor_plots
from qrowd.reports.plots import critical_difference
from qrowd.reports.plots import system_plots as systems
from qrowd.reports.plots.style import Figure, list_size, render, styled, table_size
from qrowd.reports.scale_notes import SCALE_RULES, scale_note, scale_rules
from qrowd.reports.short_names import short_names
from qrowd.threads import Progress

if TYPE_CHECKING:
    import pandas


ENDINGS = (".svg", ".pdf", ".png", ".csv")


@dataclass(frozen=True, eq=False)
class Options:
    """The options of plots; each plot has its own defaults for measures, top and methods.

    measures : as in `evaluate`; a plot of one measure takes the first. conventions : of the scores.
    top : number of systems, topics, documents or, in `kappa` and `correlation`, assessors shown. cutoff : number of
        documents of each ranking that `coverage` looks at.
    test : of pairs of systems, for `critical-difference`: "nemenyi" or "max-t", as in `mean_ranks`.
    methods : that combine the assessors, for `bump`. confidence : of intervals.
    short_names : whether words that all systems begin or end with are left out.
    n_resamples, rng : where intervals are computed by resampling. progress : called with (topics done, topics in all)
        of the scoring.
    """

    measures: Names = ()
    conventions: Conventions = field(default_factory=Conventions)
    top: int | None = None
    cutoff: int = 10
    test: PairTest = "nemenyi"
    methods: Names = ()
    confidence: float = 0.95
    short_names: bool = False
    n_resamples: int = 10_000
    rng: Rng = 1
    progress: Progress | None = None

    def __post_init__(self) -> None:
        for name, least in (("top", 1), ("cutoff", 1), ("n_resamples", 2)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ArgumentError(f"at least {least} was expected", name, value)
        if not 0 < self.confidence < 1:
            raise ArgumentError("a number between 0 and 1 was expected", "confidence", self.confidence)


#: Options that only some plots use.
ONLY = {
    "method": ("bump",),
    "cutoff": ("coverage",),
    "test": ("critical-difference",),
    "combine_scales": ("bump", "assessors", "kappa", "alpha"),
    "confidence": ("systems", "differences", "ranks", "critical-difference", "fragility", "alpha"),
    "n_resamples": ("ranks", "critical-difference", "alpha"),
    "seed": ("ranks", "critical-difference", "alpha", "bump"),
}
#: Options that all plots use but these.
ALL_BUT = {"top": ("components", "assessors"), "short_names": ("correlation", "components"),
           "repeats": ("coverage",), "grades": ("coverage",)}  # fmt: skip
OF_SCORES = ("measure", "ties", "score_dtype", "unjudged", "missing", "empty", "min_coverage", "duplicates")


@dataclass(frozen=True, eq=False)
class Plot:
    """A plot of `qrowd plot`.

    sentence : the question it answers. needs : of "runs" and "judgments". measures : the default ones; empty
        where it shows no scores. make : computes it.
    """

    name: str
    sentence: str
    measures: Names
    make: Callable[[PlotData], Figure]
    needs: Names = ("runs", "judgments")

    def ignores(self, option: str) -> bool:
        """Whether an option of the command changes nothing in this plot."""
        if self.name in ALL_BUT.get(option, ()):
            return True
        if option in OF_SCORES:
            return not self.measures
        if option in ("runs", "system", "short_names"):
            return "runs" not in self.needs
        return self.name not in ONLY.get(option, (self.name,))

    def __call__(self, runs: Runs | None, judgments: Judgments, options: Options | None = None) -> Figure:
        """Compute what the plot shows; it is drawn when it is rendered.

        Raises
        ------
        ArgumentError
            No runs where the plot needs them, or fewer measures than it shows.
        """
        options = options or Options()
        measures = options.measures or self.measures
        if "runs" in self.needs and runs is None:
            raise ArgumentError(f"plot {self.name}: it needs runs; give --runs FILES")
        if runs is not None and options.short_names:
            runs = replace(runs, systems=short_names(runs.systems))
        return self.make(PlotData(self.name, runs, judgments, measures, options))


@dataclass(frozen=True, eq=False)
class PlotData:
    """What a plot is made from."""

    name: str
    runs: Runs | None
    judgments: Judgments
    measures: Names
    options: Options

    @property
    def measure(self) -> str:
        return self.measures[0]

    @property
    def graded(self) -> Judgments:
        return self.options.conventions.graded(self.judgments)

    def scores(self, measures: Names | None = None) -> Scores:
        assert self.runs is not None
        names = list(self.measures[:1] if measures is None else measures)
        return evaluate(
            self.runs, self.judgments, names, conventions=self.options.conventions, progress=self.options.progress
        )

    def figure(
        self,
        caption: str,
        draw: Callable[[Any], object],
        frame: Callable[[], pandas.DataFrame],
        size: tuple[float, float] | None = None,
    ) -> Figure:
        return Figure(self.name, caption, draw, frame, size=size)


def _best(scores: Scores, top: int) -> Scores:
    """The scores of the best systems by the panel's mean."""
    order = rank_systems(scores.sel(measure=scores.measures[0])).mean.argsort(kind="stable")[::-1][:top]
    return scores.sel(measure=scores.measures[0], system=[scores.systems[s] for s in sorted(order)])


def _systems(data: PlotData) -> Figure:
    from qrowd.comparison.system_ranking import system_intervals

    scores = data.scores()
    intervals = system_intervals(scores, confidence=data.options.confidence, bounds=bounds_of(data.measure))
    top = data.options.top
    n = len(intervals.systems[:top])
    return data.figure(
        f"{sentence_case(mean_of(data.measure))} of {n} systems, {intervals.systems[0]} first, with "
        f"{percent(intervals.confidence)} intervals over topics alone (thick) and over topics and assessors (thin; "
        f"{intervals.method}). Effects of a topic or an assessor on all systems alike are left out, and intervals end "
        f"where the measure does.{cautions(scores)}",
        lambda ax: systems.plot_systems(intervals, top=top, measure=data.measure, ax=ax),
        intervals.to_frame,
        list_size(intervals.systems[:n]),
    )


def _differences(data: PlotData) -> Figure:
    from qrowd.comparison.differences import all_differences

    best = _best(data.scores(), data.options.top or 12)
    differences = all_differences(best, confidence=data.options.confidence)
    return data.figure(
        f"Probability, in per cent, that the row's system is better than the column's by {data.measure}, over topics "
        f"and assessors ({differences.method}). Bold: p < .05 after Holm's correction over "
        f"{count(len(differences.first), 'pair')}.",
        lambda ax: systems.plot_differences(differences, ax=ax),
        differences.to_frame,
        table_size(differences.systems, differences.systems),
    )


def _fragility(data: PlotData) -> Figure:
    from qrowd.influence.fragility import fragility

    best = _best(data.scores(), data.options.top or 12)
    counted = fragility(
        data.runs,
        data.judgments,
        data.measure,
        systems=best.systems,
        change="grade" if data.graded.shared_scale().kind in ("binary", "graded") else "panel",
        confidence=data.options.confidence,
        conventions=data.options.conventions,
        progress=data.options.progress,
    )
    order = [best.systems[s] for s in (-rank_systems(best).mean).argsort(kind="stable")]
    return data.figure(
        systems.fragility_caption(counted, order, data.measure),
        lambda ax: systems.plot_fragility(counted, order, ax=ax),
        counted.to_frame,
    )


def _ranks(data: PlotData) -> Figure:
    from qrowd.comparison.rank_intervals import rank_intervals

    scores = data.scores()
    options = data.options
    intervals = rank_intervals(scores, confidence=options.confidence, n_resamples=options.n_resamples, rng=options.rng)
    ranking_by_mean = rank_systems(scores)
    return data.figure(
        f"Ranks by {data.measure}: simultaneous {percent(intervals.confidence)} intervals over "
        f"{'topics and assessors' if intervals.over == 'both' else 'topics'} (bars), rank by the panel (dots) and by "
        f"each assessor (ticks). {len(intervals.may_be_best)} of {len(intervals.systems)} systems may be the best."
        f"{cautions(scores)}",
        lambda ax: systems.plot_ranks(intervals, by_assessor=ranking_by_mean.rank_by_assessor, top=options.top, ax=ax),
        intervals.to_frame,
        list_size([intervals.systems[s] for s in (-intervals.mean).argsort(kind="stable")[: options.top]]),
    )


def _critical_difference(data: PlotData) -> Figure:
    from qrowd.comparison.mean_ranks import mean_ranks

    options = data.options
    ranked = mean_ranks(
        data.scores(),
        test=options.test,
        confidence=options.confidence,
        n_resamples=options.n_resamples,
        rng=options.rng,
    )
    return data.figure(
        critical_difference.caption_of(ranked, data.measure, options.top),
        lambda ax: critical_difference.plot_critical_difference(ranked, top=options.top, ax=ax),
        ranked.to_frame,
        critical_difference.layout_of(ranked, options.top).size,
    )


def default_methods(judgments: Judgments) -> Names:
    """Methods that combine the assessors and that the judgments allow.

    Whole grades on one scale: mean scores, majority, Dawid-Skene, AWARE, predicted relevance from half the scale on.
    Fractions: the mean and the median grade in place of the votes. Several scales, or magnitudes: by scores alone.
    """
    aware = "sgl_rmse_msd(n_resamples=200)"
    try:
        scale = judgments.shared_scale()
    except ScaleError:
        return "uniform", aware, "sgl_tau_msd(n_resamples=200)"
    if scale.kind == "magnitude":
        return "uniform", "geometric-mean", aware
    if scale.kind == "fractions":
        return "uniform", "mean", "median", aware
    return "uniform", "majority", "dawid-skene", aware, f"predicted-relevance(rel={ceil(scale.maximum / 2)})"


def _bump(data: PlotData) -> Figure:
    options = data.options
    methods = options.methods or default_methods(data.graded)
    if not options.methods and bounds_of(data.measures[0])[1] > 1:
        methods = tuple(name for name in methods if not name.startswith(("sgl_", "pred")))  # which take scores up to 1
    assert data.runs is not None
    scores = evaluate_methods(
        data.runs,
        data.judgments,
        list(data.measures[:1]),
        methods=list(methods),
        conventions=options.conventions,
        rng=options.rng,
    )
    changes = rank_changes(scores, top=options.top or 15)
    return data.figure(
        f"Ranks of {len(changes.systems)} systems by {data.measure}, by each method that combines the assessors. The "
        f"systems are the best by {changes.methods[0]}, ranked among themselves; those with equal means are drawn "
        "below one another. In colour: those that move most, by two places or more.",
        lambda ax: systems.plot_bump(changes, ax=ax),
        changes.to_frame,
        systems.bump_size(changes),
    )


def _assessors(data: PlotData) -> Figure:
    from qrowd.agreement.assessor_profiles import assessor_profiles
    from qrowd.reports.agreement_tables import assessors_document

    profiles = assessor_profiles(data.graded, repeats=data.options.conventions.repeats)
    return data.figure(
        f"Severity and agreement of {count(len(profiles.assessors), 'assessor')}"
        f"{'' if len(profiles.assessors) > assessor_plots.CROWD else ', with 95 % intervals over documents'}. "
        f"{assessors_document(profiles).sentence} Names that would cover others are left out; a .csv file has all.",
        lambda ax: assessor_plots.plot_assessors(profiles, ax=ax),
        profiles.to_frame,
        (5.2, 3.8),
    )


def _alpha(data: PlotData) -> Figure:
    from qrowd.agreement.alpha import krippendorff_alpha

    options = data.options
    repeats = options.conventions.repeats
    by_topic = krippendorff_alpha(
        data.graded,
        by="topic",
        n_resamples=options.n_resamples,
        confidence=options.confidence,
        rng=options.rng,
        repeats=repeats,
    )
    overall = krippendorff_alpha(data.graded, repeats=repeats).item()
    order = assessor_plots.alpha_order(by_topic, options.top)
    return data.figure(
        f"Krippendorff's alpha ({overall.level}) of {count(len(order), 'topic')}, {percent(options.confidence)} "
        f"intervals over documents; {overall.value:.3f} over all topics (dashed line).",
        lambda ax: assessor_plots.plot_alpha(by_topic, overall=overall.value, top=options.top, ax=ax),
        by_topic.to_frame,
        list_size([by_topic.labels[t] for t in order]),
    )


ASSESSORS = 40  # default number in tables of pairs of assessors


def busiest(judgments: Judgments, n: int) -> Names:
    """The assessors who judged most, in the order of the judgments."""
    most = (-bincount(judgments.assessor, minlength=len(judgments.assessors))).argsort(kind="stable")[:n]
    return tuple(judgments.assessors[a] for a in sorted(most))


def _kappa(data: PlotData) -> Figure:
    from qrowd.agreement.pairwise import pairwise_agreement

    pairs = pairwise_agreement(
        data.judgments.select(assessors=busiest(data.judgments, data.options.top or ASSESSORS)),
        repeats=data.options.conventions.repeats,
        combine_scales="rescaled" if data.options.conventions.grades == "rescaled" else "auto",
    )
    return data.figure(
        f"Cohen's kappa of each pair of {len(pairs.assessors)} assessors (grey: diagonal, or no document in common); "
        f"mean {pairs.mean_kappa:.3f}.",
        lambda ax: assessor_plots.plot_kappa(pairs, ax=ax),
        pairs.to_frame,
        table_size(pairs.assessors, pairs.assessors, (0.26, 0.19)),
    )


def _correlation(data: PlotData) -> Figure:
    scores = data.scores()
    from qrowd.comparison.rankings import ranking_agreement

    names = busiest(data.judgments, data.options.top or ASSESSORS)
    agreement = ranking_agreement(scores.sel(measure=scores.measures[0], assessor=names))
    return data.figure(
        f"Kendall's tau-b between the rankings of systems by {data.measure} of each pair of {len(agreement.assessors)} "
        "assessors. Assessors who agree most with the others come first.",
        lambda ax: assessor_plots.plot_correlation(agreement, ax=ax),
        agreement.to_frame,
        table_size(agreement.assessors, agreement.assessors, (0.26, 0.19)),
    )


def _components(data: PlotData) -> Figure:
    from qrowd.comparison.generalizability import variance_components

    scores = data.scores(data.measures)
    components = {name: variance_components(scores.sel(measure=name)) for name in scores.measures}
    first = components[scores.measures[0]]

    def frame() -> pandas.DataFrame:
        import pandas as pd

        parts: list[pandas.DataFrame] = [one.to_frame().assign(measure=name) for name, one in components.items()]
        return pd.concat(parts, ignore_index=True)

    return data.figure(
        f"Components of the variance of scores, in per cent ({first.design}; {first.n_systems} systems, "
        f"{first.n_topics} topics, {len(first.assessors)} assessors).",
        lambda ax: systems.plot_components(components, ax=ax),
        frame,
        (5.2, 1.15 + 0.32 * len(components)),
    )


def _coverage(data: PlotData) -> Figure:
    assert data.runs is not None
    from qrowd.comparison.judged_share import judged_share

    shares = judged_share(data.runs, data.judgments, cutoff=data.options.cutoff).only(
        busiest(data.judgments, ASSESSORS)
    )
    return data.figure(
        f"Per cent of the first {shares.cutoff} documents of each system that each assessor judged, over the topics "
        "anyone judged; systems with the least on top.",
        lambda ax: assessor_plots.plot_coverage(shares, top=data.options.top, ax=ax),
        shares.to_frame,
        table_size(shares.systems[: data.options.top], ["anyone", *shares.assessors], (0.26, 0.155)),
    )


_ALONE = ("judgments",)
_ONE = ("nDCG@10",)

PLOTS: dict[str, Plot] = {
    plot.name: plot
    for plot in (
        Plot("systems", "Which systems are best, with intervals over topics and assessors?", _ONE, _systems),
        Plot("differences", "How probable is it that one system is better than another?", _ONE, _differences),
        Plot("ranks", "Which ranks may each system hold, also by each assessor?", _ONE, _ranks),
        Plot("bump", "How does the ranking change with the method that combines the assessors?", _ONE, _bump),
        Plot("critical-difference", "Which systems have different mean ranks?", _ONE, _critical_difference),
        Plot("fragility", "How few changes of judgments would reverse each difference?", _ONE, _fragility),
        Plot("correlation", "Which assessors rank the systems alike?", _ONE, _correlation),
        Plot(
            "components",
            "How much do scores vary with systems, topics and assessors?",
            ("nDCG@10", "AP", "P@10", "RR"),
            _components,
        ),
        Plot("coverage", "How many of the returned documents did each assessor judge?", (), _coverage),
        Plot("assessors", "Which assessors are severe, lenient, or agree with the others?", (), _assessors, _ALONE),
        Plot("kappa", "Which assessors agree with each other beyond chance?", (), _kappa, _ALONE),
        Plot("alpha", "On which topics do assessors agree?", (), _alpha, _ALONE),
    )
}


def plot_named(name: str) -> Plot:
    """The plot of that name.

    Raises
    ------
    ArgumentError
        There is none.
    """
    if name not in PLOTS:
        raise ArgumentError(f"plot {name!r} is not known; {closest(name, tuple(PLOTS), 'plot')}")
    return PLOTS[name]


# ---------------------------------------------------------------------- drawing


def draw(
    name: str, runs: Runs | None, judgments: Judgments, options: Options, *, combine_scales: CombineScales = "auto"
) -> tuple[Figure, Note]:
    """The plot, and on which scales its judgments were made."""
    scaled = judgments if combine_scales == "auto" else on_one_scale(judgments, combine_scales, "rescaled")
    rules = ""
    if options.conventions.grades == "rescaled":
        rules = SCALE_RULES["rescaled"]
    elif name in ("kappa", "alpha", "assessors") or combine_scales != "auto":
        unlike: dict[str, Combined] = {"kappa": "relevant"} if name == "kappa" else {"values": "rescaled"}
        rules = scale_rules(judgments.scales, combine_scales, unlike)
    return plot_named(name)(runs, scaled, options), scale_note(judgments, rules)


def check_plot_file(path: str) -> None:
    """Refuse a file that could not be written in the end, before any work is done.

    Raises
    ------
    ArgumentError
        An ending that stands for no format.
    QrowdError
        Matplotlib is not installed.
    """
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise ArgumentError(f"output {path}: the ending must be one of {', '.join(ENDINGS)}")
    if ending != ".csv":
        with styled():
            pass


def plot_content(figure: Figure, path: str) -> bytes:
    """The picture as a file of this ending, or the data behind it where the ending is .csv."""
    ending = Path(path).suffix.lower()
    if ending == ".csv":
        return figure.frame().to_csv(index=False, lineterminator="\n").encode()
    return render(figure, ending[1:])
