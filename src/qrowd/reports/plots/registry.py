"""The general figures by name, as `qrowd plot` draws them: from runs and judgments to a picture, in one call.

A figure of your own results is drawn by its `plot_` function; here everything it needs is computed first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any

from numpy import bincount

from qrowd.comparison.system_ranking import rank_changes, rank_systems
from qrowd.errors import ArgumentError, ScaleError
from qrowd.evaluation import bounds_of, evaluate
from qrowd.kernels.disagreement import Level
from qrowd.model.chance import Seed
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.reports.plots import assessors as who
from qrowd.reports.plots import ranking, systems, topics
from qrowd.reports.plots.marks import list_size, table_size
from qrowd.reports.plots.style import Figure

if TYPE_CHECKING:
    import pandas

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Options:
    """What may be said of a figure; what is not said, the figure decides.

    measures : as in `evaluate`; a figure that shows one takes the first. conventions : of the scores.
    top : how many systems, topics, documents or, in `kappa` and `correlation`, assessors are shown. depth : of
        rankings, where a figure looks at their first documents.
    methods, evaluate_methods : ways to put assessors together, and `qrowd.evaluate_methods`, which does it.
    level : of measurement, for alpha. confidence, n, seed : of intervals; n replicates where they are drawn.
    progress : called with (steps done, steps in all) of the scoring.
    """

    measures: tuple[str, ...] = ()
    conventions: Conventions = field(default_factory=Conventions)
    top: int | None = None
    depth: int = 10
    methods: tuple[str, ...] = ()
    evaluate_methods: Callable[..., Scores] | None = None
    level: Level | None = None
    confidence: float = 0.95
    n: int = 2000
    seed: Seed = 1
    progress: Progress | None = None

    def __post_init__(self) -> None:
        for name in ("top", "depth", "n"):
            value = getattr(self, name)
            if value is not None and value < (2 if name == "n" else 1):
                raise ArgumentError(f"{name}={value}: a larger number was expected")
        if not 0 < self.confidence < 1:
            raise ArgumentError(f"confidence={self.confidence!r}: a level between 0 and 1 was expected")


@dataclass(frozen=True, eq=False)
class Plot:
    """A general figure.

    sentence : the question it answers. needs : "runs", "judgments" or both. measures : those it shows where none is
        named; empty where it shows no scores. make : does the work.
    """

    name: str
    sentence: str
    needs: tuple[str, ...]
    measures: tuple[str, ...]
    make: Callable[[_Given], Figure]

    def __call__(self, runs: Runs | None, judgments: Judgments, options: Options | None = None) -> Figure:
        """Compute what the figure shows; it is drawn when it is rendered.

        Raises
        ------
        ArgumentError
            No runs where the figure needs them, or fewer measures than it shows.
        """
        chosen = options or Options()
        measures = chosen.measures or self.measures
        if "runs" in self.needs and runs is None:
            raise ArgumentError(f"figure {self.name}: it needs runs; give --runs FILES")
        if self.name == "scores" and len(measures) < 2:
            raise ArgumentError(f"figure {self.name}: name two measures, as in -m nDCG@10 -m AP")
        return self.make(_Given(self.name, runs, judgments, measures, chosen))


@dataclass(frozen=True, eq=False)
class _Given:
    """What a figure is made from."""

    name: str
    runs: Runs | None
    judgments: Judgments
    measures: tuple[str, ...]
    options: Options

    @property
    def measure(self) -> str:
        return self.measures[0]

    @property
    def graded(self) -> Judgments:
        return self.options.conventions.graded(self.judgments)

    def scores(self, measures: tuple[str, ...] | None = None) -> Scores:
        assert self.runs is not None
        wanted = list(self.measures[:1] if measures is None else measures)
        return evaluate(
            self.runs, self.judgments, wanted, conventions=self.options.conventions, progress=self.options.progress
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
    return scores.sel(measure=scores.measures[0], system=[scores.systems[s] for s in sorted(order.tolist())])


def _systems(given: _Given) -> Figure:
    from qrowd.comparison.system_intervals import system_intervals

    found = system_intervals(given.scores(), confidence=given.options.confidence, bounds=bounds_of(given.measure))
    top = given.options.top
    n = min(top or len(found.systems), len(found.systems))
    first = found.systems[0]
    return given.figure(
        f"Mean {given.measure} of {n} systems, {first} first, with {100 * found.confidence:g} % intervals to compare "
        f"them by: over topics alone (thick), and over topics and assessors (thin; {found.method}). What a topic or an "
        "assessor does to all systems alike is left out. Intervals end where the measure does.",
        lambda ax: systems.plot_systems(found, top=top, measure=given.measure, ax=ax),
        found.to_frame,
        list_size(n),
    )


def _differences(given: _Given) -> Figure:
    from qrowd.comparison.differences import all_differences

    best = _best(given.scores(), given.options.top or 12)
    options = given.options
    found = all_differences(best, confidence=options.confidence, n_resamples=options.n, rng=options.seed)
    return given.figure(
        f"How probable it is, in per cent, that the row's system is better than the column's by {given.measure}, over "
        f"topics and assessors ({found.method}); bold where p < .05 after Holm's correction over {len(found.first)} "
        "pairs.",
        lambda ax: systems.plot_differences(found, ax=ax),
        found.to_frame,
        table_size(found.systems, found.systems),
    )


def _ranks(given: _Given) -> Figure:
    from qrowd.comparison.rank_intervals import rank_intervals

    scores, options = given.scores(), given.options
    found = rank_intervals(scores, confidence=options.confidence, n_resamples=options.n, rng=options.seed)
    place = rank_systems(scores)
    n = min(options.top or len(found.systems), len(found.systems))
    tied = len(found.may_be_best)
    return given.figure(
        f"The ranks by {given.measure} that systems hold, all at once, with {100 * found.confidence:g} % confidence "
        f"over {'topics and assessors' if found.over == 'both' else 'topics'} (bars), by the panel (dots) and by each "
        f"assessor (ticks). {tied} of {len(found.systems)} systems may be the best.",
        lambda ax: systems.plot_ranks(found, by_assessor=place.rank_by_assessor, top=options.top, ax=ax),
        found.to_frame,
        list_size(n),
    )


def default_methods(judgments: Judgments) -> tuple[str, ...]:
    """Ways to put the assessors together that the judgments allow.

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


def _bump(given: _Given) -> Figure:
    options = given.options
    if options.evaluate_methods is None:
        raise ArgumentError(
            "figure bump: give Options(evaluate_methods=qrowd.evaluate_methods), which puts the assessors together"
        )
    methods = list(options.methods or default_methods(given.graded))
    scores = options.evaluate_methods(
        given.runs,
        given.judgments,
        list(given.measures[:1]),
        methods=methods,
        conventions=options.conventions,
        rng=options.seed,
    )
    found = rank_changes(scores, top=options.top or 15)
    return given.figure(
        f"How the ranks of {len(found.systems)} systems by {given.measure} change with how the assessors are put "
        f"together; shown are the best by {found.methods[0]}, ranked among themselves.",
        lambda ax: ranking.plot_bump(found, ax=ax),
        found.to_frame,
        ranking.bump_size(found),
    )


def _assessors(given: _Given) -> Figure:
    from qrowd.agreement.assessors import assessor_profiles

    found = assessor_profiles(given.graded, level=given.options.level, repeats=given.options.conventions.repeats)
    out = [name for name, why in zip(found.assessors, found.reasons, strict=True) if why]
    return given.figure(
        f"Severity and agreement of {len(found.assessors)} assessors"
        f"{'' if len(found.assessors) > who.CROWD else ', with 95 % intervals over documents'}. "
        f"{_standing_out(out)}",
        lambda ax: who.plot_assessors(found, ax=ax),
        found.to_frame,
        (5.2, 3.8),
    )


def _standing_out(names: list[str]) -> str:
    if not names:
        return "Nobody stands out."
    return f"{len(names)} stand out." if len(names) > 6 else f"Standing out: {', '.join(names)}."


def _alpha(given: _Given) -> Figure:
    from qrowd.agreement.alpha import krippendorff_alpha

    options = given.options
    repeats = options.conventions.repeats
    found = krippendorff_alpha(
        given.graded,
        level=options.level,
        by="topic",
        n_resamples=options.n,
        confidence=options.confidence,
        rng=options.seed,
        repeats=repeats,
    )
    overall = krippendorff_alpha(given.graded, level=options.level, repeats=repeats).item()
    shown = topics.alpha_order(found, options.top)
    return given.figure(
        f"Krippendorff's alpha ({overall.level}) of {len(shown)} topics, {100 * options.confidence:g} % intervals over "
        f"documents; {overall.value:.3f} over all topics (dashed line).",
        lambda ax: topics.plot_alpha(found, overall=overall.value, top=options.top, ax=ax),
        found.to_frame,
        list_size(len(shown)),
    )


ASSESSORS = 40  # in a table of everyone with everyone, unless more are asked for


def busiest(judgments: Judgments, n: int) -> tuple[str, ...]:
    """The assessors who judged most, in the order of the judgments."""
    count = bincount(judgments.assessor, minlength=len(judgments.assessors))
    chosen = (-count).argsort(kind="stable")[:n]
    return tuple(judgments.assessors[a] for a in sorted(chosen.tolist()))


def _kappa(given: _Given) -> Figure:
    from qrowd.agreement.pairwise import pairwise_agreement

    shown = busiest(given.judgments, given.options.top or ASSESSORS)
    conventions = given.options.conventions
    found = pairwise_agreement(
        given.judgments.select(assessors=list(shown)),
        repeats=conventions.repeats,
        combine_scales="rescaled" if conventions.grades == "rescaled" else "auto",
    )
    return given.figure(
        f"Cohen's kappa of every two of {len(found.assessors)} assessors (grey: no document in common); mean "
        f"{found.mean_kappa:.3f}.",
        lambda ax: who.plot_kappa(found, ax=ax),
        found.to_frame,
        table_size(found.assessors, found.assessors, (0.26, 0.19)),
    )


def _topics(given: _Given) -> Figure:
    from qrowd.agreement.alpha import krippendorff_alpha
    from qrowd.agreement.by_topic import ease_correlation

    repeats = given.options.conventions.repeats
    alpha = krippendorff_alpha(given.graded, level=given.options.level, by="topic", repeats=repeats)
    scores = given.scores()
    found = ease_correlation(scores, alpha, bins=(8,))
    one = found.correlations[0][-1]
    return given.figure(
        f"Ease (mean {given.measure} of all systems) against agreement (Krippendorff's alpha) of {one.n} topics: "
        f"Pearson's r {one.r:.2f}. Diamonds: means of 8 bins of topics of like agreement.",
        lambda ax: topics.plot_topics(found, ax=ax),
        found.points,
    )


def _split(given: _Given) -> Figure:
    from qrowd.agreement.split_documents import split_documents

    found = split_documents(given.judgments, top=given.options.top or 15, repeats=given.options.conventions.repeats)
    return given.figure(
        f"The {len(found.documents)} documents on which assessors are split most, and the grade each gave; severe "
        "assessors left, lenient ones right.",
        lambda ax: topics.plot_split(found, ax=ax),
        found.to_frame,
        table_size(topics.split_names(found), found.assessors, (0.26, 0.19)),
    )


def _scores(given: _Given) -> Figure:
    scores = given.scores(given.measures[:2])
    first, second = (rank_systems(scores.sel(measure=name)).mean for name in scores.measures)

    def frame() -> pandas.DataFrame:
        import pandas as pd

        return pd.DataFrame({"system": scores.systems, scores.measures[0]: first, scores.measures[1]: second})

    names = scores.measures[0], scores.measures[1]
    return given.figure(
        f"Mean {names[0]} against mean {names[1]} of {len(scores.systems)} systems; named diamonds: those whose "
        "ranks differ most.",
        lambda ax: systems.plot_scores(first, second, scores.systems, names=names, ax=ax),
        frame,
        (4.6, 3.8),
    )


def _correlation(given: _Given) -> Figure:
    scores = given.scores()
    shown = busiest(given.judgments, given.options.top or ASSESSORS)
    from qrowd.comparison.rankings import ranking_agreement

    found = ranking_agreement(scores.sel(measure=scores.measures[0], assessor=shown))
    return given.figure(
        f"Kendall's tau-b between the rankings of systems by {given.measure} of every two of {len(found.assessors)} "
        "assessors; who agrees most with the others first.",
        lambda ax: ranking.plot_correlation(found, ax=ax),
        found.to_frame,
        table_size(found.assessors, found.assessors, (0.26, 0.19)),
    )


def _components(given: _Given) -> Figure:
    from qrowd.comparison.generalizability import variance_components

    scores = given.scores(given.measures)
    found = {name: variance_components(scores.sel(measure=name)) for name in scores.measures}
    first = found[scores.measures[0]]

    def frame() -> pandas.DataFrame:
        import pandas as pd

        parts: list[pandas.DataFrame] = [one.to_frame().assign(measure=name) for name, one in found.items()]
        return pd.concat(parts, ignore_index=True)

    return given.figure(
        f"Where the variance of scores comes from, in per cent ({first.design}; {first.n_systems} systems, "
        f"{first.n_topics} topics, {len(first.assessors)} assessors).",
        lambda ax: ranking.plot_components(found, ax=ax),
        frame,
        (5.2, 1.15 + 0.32 * len(found)),
    )


def _coverage(given: _Given) -> Figure:
    assert given.runs is not None
    from qrowd.comparison.judged_share import judged_share

    found = judged_share(given.runs, given.judgments, cutoff=given.options.depth)
    found = found.only(busiest(given.judgments, ASSESSORS))
    shown = found.systems[: given.options.top]
    return given.figure(
        f"Per cent of the first {found.cutoff} documents of each system that each assessor judged, over the topics "
        "anyone judged; systems with the least on top.",
        lambda ax: who.plot_coverage(found, top=given.options.top, ax=ax),
        found.to_frame,
        table_size(shown, ["anyone", *found.assessors], (0.26, 0.155)),
    )


_BOTH = ("runs", "judgments")
_ALONE = ("judgments",)
_ONE = ("nDCG@10",)

PLOTS: dict[str, Plot] = {
    plot.name: plot
    for plot in (
        Plot("systems", "Which systems are best, with intervals over topics and assessors?", _BOTH, _ONE, _systems),
        Plot("differences", "How probable is it that one system is better than another?", _BOTH, _ONE, _differences),
        Plot("ranks", "Which ranks may each system hold, and where do assessors put it?", _BOTH, _ONE, _ranks),
        Plot("bump", "How does the ranking change with how assessors are put together?", _BOTH, _ONE, _bump),
        Plot("scores", "Do two measures see the same systems ahead?", _BOTH, ("nDCG@10", "AP"), _scores),
        Plot("correlation", "Which assessors rank the systems alike?", _BOTH, _ONE, _correlation),
        Plot(
            "components", "What do scores vary with: systems, topics, assessors?", _BOTH,
            ("nDCG@10", "AP", "P@10", "RR"), _components,
        ),
        Plot("coverage", "How much of what systems return did each assessor judge?", _BOTH, (), _coverage),
        Plot("assessors", "Who is severe, who is lenient, who agrees with the others?", _ALONE, (), _assessors),
        Plot("kappa", "Which assessors agree with each other beyond chance?", _ALONE, (), _kappa),
        Plot("alpha", "On which topics do assessors agree?", _ALONE, (), _alpha),
        Plot("topics", "Are topics on which assessors agree easier?", _BOTH, _ONE, _topics),
        Plot("split", "On which documents are assessors split, and who said what?", _ALONE, (), _split),
    )
}  # fmt: skip


def plot_named(name: str) -> Plot:
    """The general figure of that name.

    Raises
    ------
    ArgumentError
        There is none.
    """
    if name not in PLOTS:
        raise ArgumentError(f"figure {name!r} is not known; {closest(name, tuple(PLOTS), 'figure')}")
    return PLOTS[name]
