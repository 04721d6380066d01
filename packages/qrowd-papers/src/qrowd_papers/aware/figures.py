"""The AWARE paper's figures, from a simulated panel of its size or from the assessors of 2021.

Ferrante, Ferro, Maistro (2017), ACM TOIS 36(2). Its own pictures rest on runs that are not public.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.aware import similarity_to_random
from qrowd.aware.estimators import GAPS
from qrowd.aware.random_assessors import LEVELS
from qrowd.aware.similarity import Similarities
from qrowd.evaluation import evaluate_blocks
from qrowd.kernels.arrays import Floats
from qrowd.kernels.gaps import add_densities
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.reports.plots.style import SMALL, Figure
from qrowd.simulation import RandomAssessors
from qrowd_papers.analysis_of_variance import Anova, interaction_effects
from qrowd_papers.aware import plots as draw
from qrowd_papers.aware.claims import MEASURES, cases
from qrowd_papers.aware.printed import BEST, EFFECTS, RESPONSE_OF, RESPONSES
from qrowd_papers.aware.study import BASELINES, PRINTED, AwareStudy, anova_tables, aware_study
from qrowd_papers.frames import frame_of
from qrowd_papers.tukey import tukey_hsd

if TYPE_CHECKING:
    from pandas import DataFrame

BASELINE_NAMES = (*BASELINES, "uniform")
SHOWN = {  # the baselines, and the paper's best
    "ap_correlation": ("mv", "emmv", "emneu", "uniform", "sgl_tau_msd", "sgl_apc_msd"),
    "relative_rmse": ("mv", "emmv", "emneu", "uniform", "sgl_rmse_med", "sgl_rmse_msd"),
}
UNITS = {"ap_correlation": "AP correlation with gold", "relative_rmse": "RMSE / measure's highest"}
POINTS, BANDWIDTH = 100, 0.015  # of densities, section 5.5
N_RANDOM = 50  # random assessors of each level whose scores are shown


def aware_figures(
    data: str | None = None,
    *,
    quick: bool = False,
    rng: Rng = 1,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[Figure, ...]:
    """aware-4 to aware-9 are the paper's; aware-tables has the effect sizes of Tables 1 to 4.

    aware-densities and aware-similarity are our own; the paper's Figures 1 to 3 explain its notation and hold no data.

    data : folder that holds dl21, whose assessors are then shown; None for a simulated panel of the paper's size.
    quick : a small panel and few tuples. progress : called with (what is done, steps done, steps in all).
    """
    return figures_of(material(data, quick=quick, rng=rng, progress=progress))


def figures_of(shown: Material) -> tuple[Figure, ...]:
    """Every figure of one panel."""
    return (
        _densities(shown),
        _likeness(shown),
        _main(shown, 4, "ap_correlation"),
        _interactions(shown, 5, "ap_correlation"),
        _main(shown, 6, "relative_rmse"),
        _interactions(shown, 7, "relative_rmse"),
        _parts(shown, 8, "ap_correlation"),
        _parts(shown, 9, "relative_rmse"),
        _effects(shown),
    )


@dataclass(frozen=True, eq=False)
class Material:
    """What the figures are drawn from.

    about : where it is from, for captions. random : {level: (points,) density of random assessors' scores};
    own : {assessor: the same}. similarities : of the first set of systems, by AP alone.
    """

    name: str
    about: str
    study: AwareStudy
    similarities: Similarities
    random: Mapping[str, Floats]
    own: Mapping[str, Floats]

    @cached_property
    def frame(self) -> DataFrame:
        """The study, one row per response, measures by their short names, without weights as printed."""
        frame: DataFrame = self.study.to_frame()
        frame = frame[~frame["method"].str.endswith(PRINTED)].reset_index(drop=True)
        return frame.assign(measure=frame["measure"].map(MEASURES))

    @cached_property
    def tables(self) -> Mapping[str, tuple[Anova, Anova]]:
        """{response: the analyses of variance of methods and of parts of estimators}."""
        return {response: anova_tables(self.study, response) for response in RESPONSES}


def material(
    data: str | None = None,
    *,
    quick: bool = False,
    rng: Rng = 1,
    progress: Callable[[str, int, int], None] | None = None,
) -> Material:
    """The study behind the figures; options as of `aware_figures`."""
    seed = seed_of(rng)
    case = next(cases(data, quick, seed, names=("simulated",) if data is None else ("dl21",)))
    study = aware_study(
        case.runs,
        case.judgments,
        case.gold,
        tuple(MEASURES),
        sizes=None,
        n_tuples=20 if quick else 200,
        n_resamples=30 if quick else 200,
        rng=seed,
        progress=progress,
    )
    chance = Chance.of(seed)
    first = next(iter(case.runs.values()))
    similarities = similarity_to_random(
        first, case.judgments, ["AP"], n_resamples=30 if quick else 100, rng=chance.stream("random")
    )
    return Material(
        case.name,
        case.about,
        study,
        similarities,
        random_densities(first, case.judgments, chance),
        {name: density(similarities.scores.values[0, a]) for a, name in enumerate(similarities.scores.assessors)},
    )


def density(scores: Floats) -> Floats:
    """(points,) kernel density of any scores, at points equally spaced from 0 to 1 (equation 10); nan adds nothing."""
    total = np.zeros((1, POINTS))
    known = scores[~np.isnan(scores)]
    add_densities(known[:, None].copy(), BANDWIDTH, total)
    return np.asarray(total[0] / (max(known.size, 1) * BANDWIDTH * np.sqrt(2 * np.pi)))


def random_densities(runs: Runs, judgments: Judgments, chance: Chance, n: int = N_RANDOM) -> dict[str, Floats]:
    """{level: (points,) density of the AP of random assessors who judge the whole pool}."""
    pool = judgments.panel().pool
    results = {}
    for level, p in LEVELS.items():
        drawn = RandomAssessors(pool, n, distribution=[1 - p, p], rng=chance.stream(f"density, {level}"))
        values = [block.values[0].ravel() for block in evaluate_blocks(runs, drawn, ["AP"])]
        results[level] = density(np.concatenate(values))
    return results


# ---------------------------------------------------------------------- random and real assessors


def _densities(shown: Material) -> Figure:
    def frame() -> DataFrame:
        rows = (
            (kind, name, *point)
            for kind, columns in (("random", shown.random), ("assessor", shown.own))
            for name, column in columns.items()
            for point in zip(np.linspace(0, 1, POINTS).tolist(), column.tolist(), strict=True)
        )
        return frame_of(rows, ["kind", "name", "score", "density"])

    return Figure(
        "aware-densities",
        f"Density of AP over topics and systems: {N_RANDOM} random assessors of each kind (who call .05, .5 and .95 of "
        f"documents relevant) and every real one. Not a figure of the paper. Panel: {shown.about}.",
        lambda ax: draw.plot_score_densities(shown.random, shown.own, measure="AP", ax=ax),
        frame,
    )


def _likeness(shown: Material) -> Figure:
    def drawn(axes: Any) -> None:
        for i, (gap, ax) in enumerate(zip(GAPS, axes, strict=True)):
            draw.plot_similarity_to_random(shown.similarities, "AP", gap, names=False, ax=ax)
            ax.set_title(gap)
            ax.set_xlabel("likeness")
            if i == 0:
                ax.set_ylabel("assessors")
        axes[0].figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=3, fontsize=SMALL)

    def frame() -> DataFrame:
        similarities = shown.similarities
        rows = [
            (gap, level, assessor, similarities.single[g, 0, k, a])
            for g, gap in enumerate(GAPS)
            for k, level in enumerate(similarities.levels)
            for a, assessor in enumerate(similarities.scores.assessors)
        ]
        return frame_of(rows, ["gap", "level", "assessor", "likeness"])

    return Figure(
        "aware-similarity",
        "How like the three kinds of random assessors each assessor is by AP, for the five gaps (equations 20-24; 1: "
        f"the same; mind the scales), least like any on top. Not a figure of the paper. Panel: {shown.about}.",
        drawn,
        frame,
        (1, len(GAPS)),
        (9.0, 3.6),
    )


# ---------------------------------------------------------------------- figures 4 to 7


def _main(shown: Material, number: int, response: str) -> Figure:
    whole = shown.tables[response][0]
    several = len(shown.study.system_sets) > 1
    factors = ["size", "measure", *(["systems"] if several else [])]

    def drawn(axes: Any) -> None:
        from qrowd_papers.analysis_of_variance import main_effects

        grid, canvas = axes[0, 0].get_gridspec(), axes[0, 0].figure
        for ax in axes[:, 0]:
            ax.remove()
        left = canvas.add_subplot(grid[:, 0])
        draw.plot_tukey(
            tukey_hsd(whole, "method", best=BEST[response]),
            marked=BASELINE_NAMES,
            compared=("uniform", "mv", "emmv", "emneu"),
            response=UNITS[response],
            ax=left,
        )
        canvas.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=3, fontsize=SMALL)
        effects = main_effects(shown.frame, response, factors)
        for ax, factor in zip(axes[:, 1], factors, strict=True):
            draw.plot_main_effects(effects, factor, response=UNITS[response], ax=ax)
            ax.set_xlabel({"size": "assessors put together"}.get(factor, factor))

    return Figure(
        f"aware-{number}",
        f"{RESPONSES[response]}, main effects. Left: methods with the intervals of Tukey's test, best on top; "
        "bands: the intervals of equal weights and of the three that merge labels, which those that do not differ "
        "significantly from them reach. Right: numbers of assessors, "
        f"measures{', sets of systems' if several else ''}, with 95 % intervals. Panel: {shown.about}.",
        drawn,
        whole.effects.to_frame,
        (len(factors), 2),
        (7.6, 6.4),
    )


def _interactions(shown: Material, number: int, response: str) -> Figure:
    factors = ["size", "measure", *(["systems"] if len(shown.study.system_sets) > 1 else [])]
    results = {factor: interaction_effects(shown.frame, response, factor, "method") for factor in factors}

    def drawn(axes: Any) -> None:
        for ax, factor in zip(np.atleast_1d(axes), factors, strict=True):
            draw.plot_interaction(results[factor], shown=SHOWN[response], response=UNITS[response], ax=ax)
            ax.set_xlabel({"size": "assessors put together"}.get(factor, factor))

    return Figure(
        f"aware-{number}",
        f"{RESPONSES[response]} by method and by {', '.join(factors)}: baselines and the paper's best in colour, the "
        f"other estimators of AWARE in grey. Panel: {shown.about}.",
        drawn,
        lambda: _stacked(results),
        (1, len(factors)),
        (3.6 * len(factors), 3.6),
    )


# ---------------------------------------------------------------------- figures 8 and 9


def _parts(shown: Material, number: int, response: str) -> Figure:
    table = shown.tables[response][1]
    estimators = shown.frame[shown.frame["gap"] != ""]
    pairs = (("granularity", "gap"), ("granularity", "weight"), ("weight", "gap"))
    results = {pair: interaction_effects(estimators, response, *pair) for pair in pairs}
    factors = ("granularity", "gap", "weight")

    def drawn(axes: Any) -> None:
        for ax, factor in zip(axes[0], factors, strict=True):
            draw.plot_main_effects(table.effects, factor, response=UNITS[response], ax=ax)
        for ax, factor in zip(axes[1], factors, strict=True):
            draw.plot_tukey(tukey_hsd(table, factor, best=BEST[response]), response=UNITS[response], ax=ax)
        for ax, pair in zip(axes[2], pairs, strict=True):
            draw.plot_interaction(results[pair], response=UNITS[response], ax=ax)
        for row in (axes[0], axes[2]):
            low, high = min(ax.get_ylim()[0] for ax in row), max(ax.get_ylim()[1] for ax in row)
            for ax in row:
                ax.set_ylim(low, high)
        for ax in axes.ravel():
            ax.yaxis.label.set_fontsize(SMALL + 0.5)

    return Figure(
        f"aware-{number}",
        f"{RESPONSES[response]} by what AWARE's estimators are made of: main effects, Tukey's test (best on top; "
        f"letters name groups that do not differ significantly), interactions. Panel: {shown.about}.",
        drawn,
        lambda: _stacked({**results, "main": table.effects}),
        (3, 3),
        (9.6, 8.0),
    )


def _stacked(results: Mapping[Any, Any]) -> DataFrame:
    """Effects of several kinds in one frame: factors and levels by number, one row each."""
    import pandas as pd

    parts = []
    for effects in results.values():
        frame = effects.to_frame()
        if "factor" in frame:
            first = frame.rename(columns={"factor": "first", "level": "first_level"})
        else:
            one, other = effects.factors
            first = frame.rename(columns={one: "first_level", other: "second_level"}).assign(first=one, second=other)
        parts.append(first)
    stacked: DataFrame = pd.concat(parts, ignore_index=True)
    return stacked


# ---------------------------------------------------------------------- tables 1 to 4


def _effects(shown: Material) -> Figure:
    panels = {}
    for table in EFFECTS:
        results = shown.tables[RESPONSE_OF[table]][table > 2]
        ours = dict(zip(results.sources, results.omega_squared.tolist(), strict=True))
        panels[table] = (
            {source: size for source, (_, _, size) in EFFECTS[table].items() if source != "size"},
            {shown.name: {source: ours.get(source, np.nan) for source in EFFECTS[table]}},
        )

    def drawn(axes: Any) -> None:
        for ax, (table, (printed, ours)) in zip(axes.ravel(), panels.items(), strict=True):
            draw.plot_effect_sizes(printed, ours, ax=ax)
            ax.set_title(f"Table {table}: {RESPONSES[RESPONSE_OF[table]]}", pad=16)
        axes[0, 0].figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)

    def frame() -> DataFrame:
        rows = [
            (table, source, size, ours[shown.name][source])
            for table, (printed, ours) in panels.items()
            for source, size in printed.items()
        ]
        return frame_of(rows, ["table", "source", "printed", shown.name])

    return Figure(
        "aware-tables",
        f"Effect sizes of Tables 1 to 4, printed and on this panel, from small to large effects. Panel: {shown.about}.",
        drawn,
        frame,
        (2, 2),
        (8.6, 6.2),
    )
