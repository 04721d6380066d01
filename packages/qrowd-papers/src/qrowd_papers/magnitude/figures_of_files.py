"""The figures of the magnitude paper, `magnitude-1` ... `magnitude-15`, drawn from any magnitudes.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3). The numbers are those of the paper's figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.errors import NoOverlapError
from qrowd.kernels.arrays import Floats
from qrowd.reports.phrases import count
from qrowd.reports.plots.style import Figure
from qrowd_papers.frames import frame_of, stacked
from qrowd_papers.magnitude import plots
from qrowd_papers.magnitude.analysis import MEASURES, MagnitudeAnalysis
from qrowd_papers.magnitude.two_rankings import TwoRankings

if TYPE_CHECKING:
    from pandas import DataFrame

TOPICS = 18  # most panels of a figure by topic


def _first(n_topics: int) -> str:
    return count(n_topics, "topic") if n_topics <= TOPICS else f"the first {TOPICS} of {n_topics:,} topics"


def _distributions(number: int, data: MagnitudeAnalysis) -> Figure:
    judgments = data.written if number == 1 else data.judgments
    whole, by_topic = data.distributions(judgments)
    topics = by_topic.groups[:TOPICS]
    panels = [(whole, "all", "all"), *((by_topic, topic, topic) for topic in topics)]
    how = "as written" if number == 1 else f"normalised by {data.scheme.replace('_', '-')}"
    rows = ceil(len(panels) / 4)
    low, high = np.quantile(judgments.value, [0.001, 0.999]).tolist()
    return Figure(
        f"magnitude-{number}",
        f"{count(len(judgments), 'magnitude')} of {count(len(judgments.assessors), 'assessor')}, {how}: share up to "
        f"each value, of all and of {_first(len(by_topic.groups))}, with the fitted log-normal curve; dashed lines at "
        "1, 2, 5 and 10.",
        lambda axes: plots.plot_distributions(np.atleast_2d(axes), panels, limits=(low / 1.5, 1.5 * high)),
        lambda: stacked({"all": whole.to_frame(what="curves"), "topic": by_topic.to_frame(what="curves")}, "by"),
        panels=(rows, 4),
        size=(10.4, 0.6 + 2.1 * rows),
    )


def _names(levels: Floats) -> list[str]:
    return [f"{level:g}" for level in levels]


def _levels(data: MagnitudeAnalysis) -> Figure:
    tests = data.tests
    return Figure(
        "magnitude-3",
        f"Median normalised magnitude of {count(tests.magnitude.size, 'document')} by gold level (U: no gold grade).",
        lambda ax: plots.plot_levels(tests, _names(tests.levels), ax=ax),
        lambda: tests.to_frame(what="points"),
    )


def _levels_by_topic(data: MagnitudeAnalysis) -> Figure:
    tests, kind = data.tests, data.grades.assessors[0]
    topics = tests.topics[:TOPICS]
    rows = ceil(len(topics) / 3)
    return Figure(
        "magnitude-4",
        "Median normalised magnitude of each document by gold level (U: no gold grade), in "
        f"{_first(len(tests.topics))}. Over all topics, in {len(tests.exceptions())} of {tests.comparable()} cases of "
        "a topic and two levels the higher level has the lower median.",
        lambda axes: plots.plot_levels_by_topic(
            np.atleast_2d(axes), {kind: tests}, {kind: _names(tests.levels)}, topics
        ),
        lambda: tests.to_frame(what="points"),
        panels=(rows, 3),
        size=(10.4, 0.6 + 1.9 * rows),
    )


def dispersion(data: MagnitudeAnalysis) -> Figure:
    dispersion, checks = data.dispersion, data.is_check
    return Figure(
        "magnitude-5",
        f"How many of {count(dispersion.ratio.size, 'document')} have which ratio of highest to lowest normalised "
        "magnitude; inside, the ratio against the geometric standard deviation.",
        lambda ax: plots.plot_spread(dispersion, checks=checks, ax=ax),
        lambda: dispersion.to_frame().assign(check=checks),
        size=(6.2, 4.0),
    )


def _unit_agreement(data: MagnitudeAnalysis) -> Figure:
    by_unit = data.by_unit
    return Figure(
        "magnitude-6",
        "Share of units that order at least so many of their document pairs as gold does; equal magnitudes count as "
        "agreement.",
        lambda ax: plots.plot_unit_agreement({data.grades.assessors[0]: by_unit}, ax=ax),
        by_unit.to_frame,
    )


def _order(data: MagnitudeAnalysis) -> Figure:
    shares = {name.replace(" and ", "\n"): values for name, values in data.by_levels.items()}
    return Figure(
        "magnitude-7",
        "Pairs of documents that the merged magnitudes order as gold does, by the two gold levels, by topic (dots) and "
        "in the mean (diamonds); equal magnitudes count as agreement.",
        lambda ax: plots.plot_order_agreement(shares, ax=ax),
        lambda: long_frame({(name,): values for name, values in data.by_levels.items()}, ["levels"], "agreement"),
        size=(6.8, 3.8),
    )


def schemes(data: MagnitudeAnalysis) -> Figure:
    return Figure(
        "magnitude-8",
        "Pairs of documents in the order of gold, over topics, under four normalisations and three ways of merging; "
        "markers are means.",
        lambda ax: plots.plot_schemes(data.schemes, ax=ax),
        lambda: long_frame(data.schemes, ["normalisation", "aggregation"], "agreement"),
        size=(6.8, 3.8),
    )


def deviations(data: MagnitudeAnalysis) -> Figure:
    return Figure(
        "magnitude-9",
        f"Standard deviation of the normalised magnitudes of each of {count(data.deviations.size, 'document')}.",
        lambda ax: plots.plot_deviations(data.deviations, ax=ax),
        lambda: long_frame({("all",): data.deviations}, ["documents"], "deviation"),
    )


def _rankings(number: int, data: MagnitudeAnalysis) -> Figure:
    runs = data.systems if number == 10 else data.complete_runs
    rankings = data.rankings(runs)
    n = count(len(runs.systems), "system")
    which = "" if number == 10 else f" merged from lists that gold covers in {count(len(runs.topics), 'topic')}"
    return Figure(
        f"magnitude-{number}",
        f"{n}{which} by nDCG@10 and ERR@10: gains are the magnitudes of the three units that agree most with gold "
        "(across), and gold grades (up).",
        partial(draw_rankings, rankings),
        lambda: stacked({name: both.to_frame() for name, both in rankings.items()}, "measure"),
        panels=(1, 2),
        size=(9.0, 3.9),
    )


def draw_rankings(rankings: Mapping[str, TwoRankings], axes: Any, *, kind: str = "gold") -> None:
    """One panel per measure. kind : whose grades are the gains of the upright axis."""
    for ax, (name, both) in zip(axes.flat, rankings.items(), strict=True):
        plots.plot_two_rankings(
            both.x, both.y, top_x=both.top_x, top_y=both.top_y, tau=both.tau, name=name, kind=kind, ax=ax
        )
    plots.legend_above(axes)


def _draws(data: MagnitudeAnalysis) -> Figure:
    draws = data.draws
    taus = dict(zip(MEASURES, draws.tau_b, strict=True))
    marks = {name: both.tau for name, both in data.rankings(data.systems).items()}
    return Figure(
        "magnitude-12",
        "Kendall's tau between the rankings of systems by gold grades and by one magnitude drawn for each document, "
        f"{draws.n_resamples:,} times; diamonds: the magnitudes of the three units that agree most with gold.",
        lambda ax: plots.plot_correlations(taus, marks=marks, ax=ax),
        draws.to_frame,
    )


def widths(data: MagnitudeAnalysis) -> Figure:
    widths = data.widths
    least = 4 if len(widths.units) >= 400 else 1
    return Figure(
        "magnitude-13",
        f"How many of {count(len(widths.units), 'unit')} give the check document H how many times the magnitude of N; "
        "the median divides narrow units from wide ones.",
        lambda ax: plots.plot_widths(widths, least=least, ax=ax),
        lambda: widths.to_frame(what="counts"),
    )


def gains(data: MagnitudeAnalysis) -> Figure:
    profile = data.gains
    return Figure(
        "magnitude-14",
        "Magnitudes as multiples of N's in the same unit, by gold level, with linear and exponential gains.",
        lambda ax: plots.plot_gain_profile(profile, _names(profile.levels), ax=ax),
        lambda: profile.to_frame(what="points"),
        size=(5.6, 4.2),
    )


def _ratios(data: MagnitudeAnalysis) -> Figure:
    ratios = data.ratios
    return Figure(
        "magnitude-15",
        "Ratio of the magnitudes of two gold levels, one dot per two documents of a unit.",
        lambda ax: plots.plot_level_ratios(ratios, ax=ax),
        lambda: ratios.to_frame(what="points"),
        size=(5.6, 4.0),
    )


def long_frame(groups: Mapping[Any, Floats], names: list[str], value: str) -> DataFrame:
    """One row per value, with the labels of its group."""
    rows = [
        (*(part.replace("\n", " ") for part in key), cell) for key, values in groups.items() for cell in values.tolist()
    ]
    return frame_of(rows, [*names, value])


def figures_of_magnitudes(data: MagnitudeAnalysis) -> tuple[Figure, ...]:
    """The figures that the data allow: some need gold grades, check documents, or runs."""
    makers: list[Callable[[MagnitudeAnalysis], Figure]] = [
        partial(_distributions, 1),
        partial(_distributions, 2),
        dispersion,
        deviations,
    ]
    if data.gold is not None:
        makers += [_levels, _levels_by_topic, _unit_agreement, _order, schemes, _ratios]
        if data.lack_of_checks is None:
            makers += [widths, gains]
        if data.runs is not None:
            makers += [partial(_rankings, 10), partial(_rankings, 11), _draws]
    return tuple(_drawn(data, makers))


def _drawn(data: MagnitudeAnalysis, makers: list[Callable[[MagnitudeAnalysis], Figure]]) -> Iterator[Figure]:
    for make in makers:
        try:
            yield make(data)
        except NoOverlapError:  # no list is judged completely, so there are no merged systems
            continue
