"""Magnitudes with all that the paper compares them with: gold grades, check documents and runs.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from qrowd.aggregation import Aggregate, geometric_mean, mean, median
from qrowd.errors import ArgumentError, NoOverlapError, QrowdError
from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Floats
from qrowd.magnitude.normalisation import Scheme
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.reports.magnitude_tables import Magnitudes
from qrowd_papers.magnitude.distribution import Distribution, distribution
from qrowd_papers.magnitude.geometric_sd import GeometricSD, geometric_sd
from qrowd_papers.magnitude.level_ratios import LevelRatios, level_ratios
from qrowd_papers.magnitude.merged_runs import merged_runs
from qrowd_papers.magnitude.order_agreement import OrderAgreement, order_agreement
from qrowd_papers.magnitude.selection import select_units_by_agreement
from qrowd_papers.magnitude.single_assessor import SingleAssessorSimulation, simulate_single_assessor
from qrowd_papers.magnitude.two_rankings import TwoRankings, two_rankings
from qrowd_papers.magnitude.unit_counts import UnitWidths, unit_widths

MEASURES = {"nDCG@10": "nDCG(dcg='original')@10", "ERR@10": "ERR(max_rel=topic)@10"}
"""As section 7.1 has them: no discount at rank 1 and log2(r) below; R = (2^g - 1) / 2^max."""
SCHEMES: tuple[Scheme, ...] = ("geometric_mean", "median", "extremes", "checks")
MERGING: dict[str, Callable[[Judgments], Aggregate]] = {
    "median": median,
    "geometric mean": geometric_mean,
    "arithmetic mean": mean,
}


@dataclass(frozen=True, eq=False)
class MagnitudeAnalysis(Magnitudes):
    """Magnitudes of several assessors, and all that the paper compares them with.

    runs : of the systems that are ranked. n_resamples, rng : of the draws of one judgment per document.
    """

    runs: Runs | None = None
    n_resamples: int = 1000
    rng: Rng = 1

    @property
    def systems(self) -> Runs:
        """The runs."""
        if self.runs is None:
            raise ArgumentError("this needs runs; give --runs FILES")
        return self.runs

    @cached_property
    def ratios(self) -> LevelRatios:
        return level_ratios(self.written, self.grades, by=self.units_by)

    @cached_property
    def lack_of_checks(self) -> str | None:
        """Why there are no check documents that all units contain; None where there are.

        Check documents that were given, and are not in all units, are an error.
        """
        try:
            _ = self.widths
        except QrowdError as error:
            if self.checks is not None:
                raise
            return str(error)
        return None

    @cached_property
    def merged(self) -> Judgments:
        """The median of the normalised magnitudes of each document."""
        return median(self.judgments).judgments

    def distributions(self, judgments: Judgments) -> tuple[Distribution, Distribution]:
        """Of all magnitudes, and of each topic's."""
        return distribution(judgments), distribution(judgments, by_topic=True)

    @cached_property
    def widths(self) -> UnitWidths:
        return unit_widths(self.written, self.check_documents, by=self.units_by)

    # ------------------------------------------------------------------ agreement

    @cached_property
    def dispersion(self) -> GeometricSD:
        """Of the normalised magnitudes of each document."""
        return geometric_sd(self.judgments)

    @cached_property
    def is_check(self) -> NDArray[np.bool_]:
        """(documents,) of `dispersion`: the check documents; all False without them."""
        if self.lack_of_checks is not None:
            return np.zeros(self.dispersion.ratio.size, bool)
        checks = {(topic, name) for topic, both in self.check_documents.items() for name in both}
        pairs = zip(self.dispersion.topic, self.dispersion.document, strict=True)
        return np.array([pair in checks for pair in pairs], bool)

    @cached_property
    def by_unit(self) -> OrderAgreement:
        """How often each unit (or assessor and topic) follows the order of gold."""
        groups = "unit" if self.units_by == "unit" else ("assessor", "topic")
        return order_agreement(self.judgments, self.grades, by=groups)

    @cached_property
    def by_levels(self) -> dict[str, Floats]:
        """{pair of gold levels, or "all": (topics,) share of pairs that the merged magnitudes order as gold does}."""
        frame = order_agreement(self.merged, self.grades, by=("topic", "levels")).to_frame()
        levels = sorted({*frame["low"], *frame["high"]})
        columns = {}
        for low, high in combinations(levels, 2):
            pair = frame[(frame["low"] == low) & (frame["high"] == high)]
            columns[f"{low:g} and {high:g}"] = pair["agreement"].to_numpy()
        return {**columns, "all": order_agreement(self.merged, self.grades, by="topic").value}

    @cached_property
    def schemes(self) -> dict[tuple[str, str], Floats]:
        """{(normalisation, aggregation): (topics,) order agreement with gold}; by checks where there are any."""
        shares = {}
        for scheme in SCHEMES if self.lack_of_checks is None else SCHEMES[:-1]:
            judgments = self.normalised(scheme)
            for name, merge in MERGING.items():
                merged = merge(judgments).judgments
                shares[scheme.replace("_", " "), name] = order_agreement(merged, self.grades, by="topic").value
        return shares

    # ------------------------------------------------------------------ rankings of systems

    def rankings(self, runs: Runs, *, preferred: NDArray[np.bool_] | None = None) -> dict[str, TwoRankings]:
        """{measure: systems by magnitudes and by gold grades as gains}; the magnitude of a document is the median over
        the three units that order documents most as gold does (section 7.2).

        preferred : (units,) the units to choose from where a document has any, as in Table IV.
        """
        selection = select_units_by_agreement(self.judgments, self.grades, preferred=preferred, by=self.units_by)
        return gain_rankings(runs, median(selection.judgments).judgments, self.grades)

    @cached_property
    def complete_runs(self) -> Runs:
        """A hundred systems merged from lists whose first ten documents gold covers (section 7.2)."""
        return merged_runs(self.systems, self.grades, rng=Chance.of(self.rng).stream("merged runs"))

    @cached_property
    def draws(self) -> SingleAssessorSimulation:
        """Rankings by one judgment of each document, drawn at random, compared with gold's (section 7.3)."""
        rng, n = Chance.of(self.rng).stream("draws"), self.n_resamples
        measures = list(MEASURES.values())
        return simulate_single_assessor(self.systems, self.judgments, measures, self.grades, n_resamples=n, rng=rng)


def gain_rankings(runs: Runs, magnitudes: Judgments, gold: Judgments) -> dict[str, TwoRankings]:
    """{measure: both rankings} by the measures of section 7.1; gains are magnitudes (x) and gold grades (y)."""
    shared = set(magnitudes.topics) & set(gold.topics) & set(runs.topics)
    if not shared:
        raise NoOverlapError("runs, magnitudes and gold share no topic; check that all are of the same collection")
    first, second = (
        evaluate(runs, judgments.select(topics=shared.__contains__), list(MEASURES.values()))
        for judgments in (magnitudes, gold)
    )
    return {
        name: two_rankings(first.sel(measure=text), second.sel(measure=text))
        for name, text in zip(MEASURES, first.measures, strict=True)
    }
