"""The fifteen figures of the magnitude paper, from a simulated campaign of its size.

Maddalena, Mizzaro, Scholer, Turpin (2017), ACM TOIS 35(3).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.aggregation import median
from qrowd.kernels.arrays import Floats
from qrowd.magnitude import LevelTests
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.reports.plots.style import GREY, PALETTE, Figure
from qrowd_papers.frames import stacked
from qrowd_papers.magnitude import figures_of_files, plots
from qrowd_papers.magnitude.analysis import MEASURES, MagnitudeAnalysis
from qrowd_papers.magnitude.distribution import Distribution, distribution
from qrowd_papers.magnitude.figures_of_files import long_frame
from qrowd_papers.magnitude.level_ratios import FIGURE_15, level_ratios
from qrowd_papers.magnitude.order_agreement import OrderAgreement, order_agreement
from qrowd_papers.magnitude.study import (
    LEVELS,
    Campaign,
    RealPanel,
    crowd_and_gold,
    real_panels,
    real_rankings,
    sampled_taus,
    simulate_campaign,
)
from qrowd_papers.magnitude.two_rankings import TwoRankings

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

Progress = Callable[[str, int, int], None]

WITHIN = (0.001, 100.0)
SIMULATED = "Simulated in the paper's size, not its data."
KINDS = {"TREC": ("0", "1"), "Sormunen": LEVELS}


class Findings:
    """All that figures and tables show, each computed when first asked for."""

    def __init__(self, campaign: Campaign, data: str | None, n: int) -> None:
        self.campaign, self.data, self.n = campaign, data, n

    def official(self, kind: str) -> Judgments:
        return self.campaign.binary if kind == "TREC" else self.campaign.levels

    @cached_property
    def distributions(self) -> dict[bool, tuple[Distribution, Distribution, Distribution]]:
        """{normalised: of all scores, of those from .001 to 100, of each topic's}."""
        results = {}
        for normalised, judgments in ((False, self.campaign.written), (True, self.campaign.judgments)):
            inner = distribution(judgments, within=WITHIN)
            results[normalised] = (
                distribution(judgments),
                inner,
                distribution(judgments, by_topic=True, within=WITHIN),
            )
        return results

    @cached_property
    def analyses(self) -> dict[str, MagnitudeAnalysis]:
        """By whose grades."""
        campaign = self.campaign
        return {
            kind: MagnitudeAnalysis(campaign.written, grades, campaign.checks, runs=runs)
            for kind in KINDS
            for runs, grades in (campaign.official(kind),)
        }

    @property
    def of_levels(self) -> MagnitudeAnalysis:
        """Beside Sormunen's grades."""
        return self.analyses["Sormunen"]

    @property
    def tests(self) -> dict[str, LevelTests]:
        return {kind: analysis.tests for kind, analysis in self.analyses.items()}

    @cached_property
    def by_unit(self) -> dict[str, OrderAgreement]:
        """Figure 6; with real workers where there are any."""
        results = {f"{kind}, simulated": analysis.by_unit for kind, analysis in self.analyses.items()}
        real = crowd_and_gold(self.data)
        if real is not None:
            results["rf10's workers, by topic"] = order_agreement(*real, by=("assessor", "topic"))
        return results

    @cached_property
    def by_levels(self) -> dict[str, Floats]:
        """Figure 7: {column: (topics,) agreement}."""
        merged = median(self.campaign.judgments).judgments
        frame = order_agreement(merged, self.campaign.levels, by=("topic", "levels")).to_frame()
        columns = {}
        for low, high in ((0, 3), (0, 2), (0, 1), (1, 3), (1, 2), (2, 3)):
            mine = frame[(frame["low"] == low) & (frame["high"] == high)]
            columns[f"{LEVELS[low]}{LEVELS[high]}"] = mine["agreement"].to_numpy()
        for name, one, other in (
            ("Sormunen\nME", merged, self.campaign.levels),
            ("TREC\nME", merged, self.campaign.binary),
            ("TREC\nSormunen", self.campaign.binary, self.campaign.levels.recode(1)),
        ):
            columns[name] = order_agreement(one, other, by="topic").value
        return columns

    @cached_property
    def rankings(self) -> dict[tuple[str, str], dict[str, TwoRankings]]:
        """{(whose grades, all, wide or narrow units): {measure: both rankings}}."""
        preferred = {"all": None, "narrow": ~self.campaign.wide, "wide": self.campaign.wide}
        return {
            (kind, name): analysis.rankings(analysis.systems, preferred=units)
            for kind, analysis in self.analyses.items()
            for name, units in preferred.items()
        }

    @cached_property
    def real(self) -> tuple[RealPanel, ...]:
        return tuple(real_panels(self.data))

    @cached_property
    def real_rankings(self) -> dict[str, dict[str, TwoRankings]]:
        """{panel: {measure: the assessors' median and NIST}}."""
        return {panel.name: real_rankings(panel) for panel in self.real}

    @cached_property
    def taus(self) -> dict[str, tuple[Floats, float]]:
        """Figure 12: {name: (draws, tau of the merged magnitudes)}."""
        chance = Chance.of(self.campaign.seed)
        results: dict[str, tuple[Floats, float]] = {}
        for kind in KINDS:
            runs, official = self.campaign.official(kind)
            drawn = sampled_taus(runs, self.campaign.judgments, official, self.n, rng=chance.stream(f"draws {kind}"))
            results |= {f"{kind}\n{name}": (drawn[name], self.rankings[kind, "all"][name].tau) for name in MEASURES}
        for panel in self.real:
            drawn = sampled_taus(panel.runs, panel.others, panel.nist, self.n, rng=chance.stream(f"draws {panel.name}"))
            marks = self.real_rankings[panel.name]
            results |= {f"{panel.name}\n{name}": (drawn[name], marks[name].tau) for name in MEASURES}
        return results

    @cached_property
    def ratios(self) -> Any:
        return level_ratios(self.campaign.written, self.campaign.levels, pairs=FIGURE_15)


def find(data: str | None = None, *, quick: bool = False, rng: Rng = 1, progress: Progress | None = None) -> Findings:
    """The campaign, and everything about it that figures and tables ask for.

    data : folder with trec-rf10, dl21, dl19, as far as there. quick : 100 draws for Figure 12 instead of 1,000.
    """
    if progress is not None:
        progress("campaign", 0, 1)
    results = Findings(simulate_campaign(rng=rng), data, 100 if quick else 1000)
    if progress is not None:
        progress("campaign", 1, 1)
    return results


def magnitude_figures(
    data: str | None = None, *, quick: bool = False, rng: Rng = 1, progress: Progress | None = None
) -> tuple[Figure, ...]:
    """`magnitude-1` ... `magnitude-15`; what a figure needs is computed when it is drawn.

    data : folder with trec-rf10 (Figure 6), dl21 and dl19 (Figure 12), as far as there.
    """
    return figures_of(find(data, quick=quick, rng=rng, progress=progress))


def figures_of(findings: Findings) -> tuple[Figure, ...]:
    """The figures of what `find` found."""
    n = f"{findings.n:,}"

    def figure(
        number: int, caption: str, draw: Callable[[Any], object], frame: Callable[[], pandas.DataFrame], **how: Any
    ) -> Figure:
        def marked(axes: Any) -> None:
            draw(axes)
            real: list[str] = []
            if number == 6:
                real = ["rf10"] * (len(findings.by_unit) > len(KINDS))
            if number == 12:
                real = [panel.name for panel in findings.real]
            _mark(axes, f"{', '.join(real)}: real; the rest: simulated" if real else "simulated")

        return Figure(f"magnitude-{number}", f"{caption} {SIMULATED}", marked, frame, **how)

    def shared(make: Callable[[MagnitudeAnalysis], Figure]) -> Figure:
        drawn = make(findings.of_levels)
        number = int(drawn.name.rpartition("-")[2])
        return figure(number, drawn.caption, drawn.draw, drawn.frame, size=drawn.size)

    per_topic: dict[str, Any] = {"panels": (5, 4), "size": (10.4, 11.0)}
    pair: dict[str, Any] = {"panels": (1, 2), "size": (9.0, 3.9)}
    return (
        figure(
            1, "Magnitudes as written: share up to each value, by topic, with the fitted log-normal curve; dashed "
            "lines at 1, 2, 5 and 10, where many answers lie.",
            partial(_distributions, findings, False), partial(_curves, findings, False), **per_topic,
        ),
        figure(
            2, "The same after normalisation; the paper finds no steps at round numbers any more.",
            partial(_distributions, findings, True), partial(_curves, findings, True), **per_topic,
        ),
        figure(
            3, "Median normalised magnitude of each document by Sormunen's and TREC's levels (U: not judged). In "
            "the paper higher levels get higher magnitudes, and levels overlap.",
            partial(_levels, findings), partial(_levels_frame, findings), **pair,
        ),
        figure(
            4, "The same topic by topic: Sormunen's levels left of the line, TREC's right of it.",
            partial(_levels_by_topic, findings), partial(_levels_frame, findings), panels=(6, 3), size=(10.4, 12.0),
        ),
        shared(figures_of_files.dispersion),
        figure(
            6, "Share of units that order at least so many of their document pairs as official grades do."
            + _real(findings, "dashed-dotted: real workers of TREC 2010's Relevance Feedback track, one topic each"),
            lambda ax: plots.plot_unit_agreement(findings.by_unit, ax=ax),
            lambda: stacked({name: one.to_frame() for name, one in findings.by_unit.items()}, "grades"),
        ),
        figure(
            7, "Pairs of documents in the same order, by topic (dots) and in the mean (diamonds): median magnitudes "
            "(ME) against two of Sormunen's levels, against all of them, against TREC; and TREC against Sormunen.",
            lambda ax: plots.plot_order_agreement(findings.by_levels, ax=ax),
            lambda: long_frame({(k,): shares for k, shares in findings.by_levels.items()}, ["column"], "agreement"),
            size=(6.8, 3.8),
        ),
        shared(figures_of_files.schemes),
        shared(figures_of_files.deviations),
        figure(
            10, "129 systems by nDCG@10 and ERR@10: magnitudes of the three units that agree most with TREC (across), "
            "TREC's grades (up).",
            partial(_systems, findings, "TREC"), partial(_systems_frame, findings, "TREC"), **pair,
        ),
        figure(
            11, "100 systems merged from lists that Sormunen's assessors judged in full: magnitudes (across), their "
            "grades (up).",
            partial(_systems, findings, "Sormunen"), partial(_systems_frame, findings, "Sormunen"), **pair,
        ),
        figure(
            12, f"Kendall's tau between rankings by official grades and by one magnitude drawn for each document, {n} "
            "times; diamonds: the merged magnitudes of Figures 10 and 11."
            + _real(findings, "dl21, dl19: real runs and assessors, NIST's grades; a diamond is the assessors' median"),
            partial(_taus, findings),
            partial(_taus_frame, findings),
            size=(6.8, 3.8),
        ),
        shared(figures_of_files.widths),
        shared(figures_of_files.gains),
        figure(
            15, "Ratio of magnitudes between two relevant levels, one dot per two documents of a unit: without level "
            "M; M counted as R; R counted as H.",
            lambda ax: plots.plot_level_ratios(findings.ratios, ax=ax), lambda: findings.ratios.to_frame(what="points"),
            size=(5.6, 4.0),
        ),
    )  # fmt: skip


def _real(findings: Findings, words: str) -> str:
    return f" {words[0].upper()}{words[1:]}." if findings.data is not None else ""


# ---------------------------------------------------------------------- drawing


def _mark(axes: Any, words: str) -> None:
    """A word over the rightmost axes of the first row."""
    first = np.atleast_2d(np.asarray(axes, object))[0, -1]
    first.set_title(words, loc="right", fontsize=7, color=GREY, style="italic")


def _distributions(findings: Findings, normalised: bool, axes: Any) -> None:
    whole, inner, topics = findings.distributions[normalised]
    panels = [
        (whole, "all", "all"),
        (inner, "all", ".001 to 100"),
        *((topics, topic, topic) for topic in topics.groups),
    ]
    plots.plot_distributions(axes, panels, limits=(0.03, 130))


def _levels(findings: Findings, axes: Any) -> None:
    for ax, kind, color in zip(axes.flat, ("Sormunen", "TREC"), PALETTE, strict=False):
        plots.plot_levels(findings.tests[kind], KINDS[kind], color=color, ax=ax)
        ax.set_xlabel(f"{kind} level")


def _levels_by_topic(findings: Findings, axes: Any) -> None:
    tests = {kind: findings.tests[kind] for kind in ("Sormunen", "TREC")}  # in the order of the boxes
    plots.plot_levels_by_topic(axes, tests, KINDS, tests["TREC"].topics)


def _systems(findings: Findings, kind: str, axes: Any) -> None:
    figures_of_files.draw_rankings(findings.rankings[kind, "all"], axes, kind=f"{kind}'s")


def _taus(findings: Findings, ax: Axes) -> None:
    taus = findings.taus
    plots.plot_correlations(
        {name: drawn for name, (drawn, _) in taus.items()},
        marks={name: mark for name, (_, mark) in taus.items()},
        ax=ax,
    )


# ---------------------------------------------------------------------- frames


def _curves(findings: Findings, normalised: bool) -> pandas.DataFrame:
    import pandas as pd

    frames: list[pandas.DataFrame] = [one.to_frame(what="curves") for one in findings.distributions[normalised]]
    return pd.concat([frames[0], frames[1].assign(group=".001 to 100"), frames[2]], ignore_index=True)


def _levels_frame(findings: Findings) -> pandas.DataFrame:
    return stacked({kind: findings.tests[kind].to_frame(what="points") for kind in KINDS}, "grades")


def _systems_frame(findings: Findings, kind: str) -> pandas.DataFrame:
    return stacked({name: both.to_frame() for name, both in findings.rankings[kind, "all"].items()}, "measure")


def _taus_frame(findings: Findings) -> pandas.DataFrame:
    return long_frame(
        {tuple(name.split("\n")): taus for name, (taus, _) in findings.taus.items()}, ["grades", "measure"], "tau"
    )
