"""Magnitudes with what they are compared with: gold grades, check documents and runs.

Tables and plots ask for results here; each result is computed when it is first asked for. Maddalena, Mizzaro, Scholer,
Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation. ACM TOIS 35(3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.aggregation import Aggregate, geometric_mean, mean, median
from qrowd.agreement import GeometricSD, OrderAgreement, geometric_sd, order_agreement
from qrowd.comparison import TwoRankings, two_rankings
from qrowd.errors import ArgumentError, NoOverlapError, QrowdError
from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Floats
from qrowd.magnitude import (
    Distribution,
    GainProfile,
    LevelRatios,
    LevelTests,
    UnitWidths,
    check_documents,
    distribution,
    gain_profile,
    level_ratios,
    level_tests,
    normalise,
    select_units_by_agreement,
    unit_widths,
)
from qrowd.magnitude.normalisation import Scheme
from qrowd.magnitude.units import By, default_by
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.reports.document import Document, Note, Reported, Table
from qrowd.reports.scales import scale_note
from qrowd.uncertainty import SingleAssessorSimulation, merged_runs, simulate_single_assessor

MEASURES = {"nDCG@10": "nDCG(dcg='original')@10", "ERR@10": "ERR(max_rel=topic)@10"}
"""As section 7.1 has them: no discount at rank 1 and log2(r) below; R = (2^g - 1) / 2^max."""
SCHEMES: tuple[Scheme, ...] = ("geometric_mean", "median", "extremes", "checks")
MERGING: dict[str, Callable[[Judgments], Aggregate]] = {
    "median": median,
    "geometric mean": geometric_mean,
    "arithmetic mean": mean,
}
Checks = Mapping[str, tuple[str, str]]


@dataclass(frozen=True, eq=False)
class MagnitudeData:
    """Magnitudes of several assessors, and what they are compared with.

    written : magnitudes as assessors wrote them, without those of gold.
    gold : judgments of one assessor in grades. runs : of the systems that are ranked.
    checks : {topic: (H, N)}; None: the check documents that gold implies.
    scheme : of normalisation. by : what a unit is; None: "unit" if there is a unit column, else "assessor".
    n_resamples, rng : of the draws of one judgment per document.
    """

    written: Judgments
    gold: Judgments | None = None
    runs: Runs | None = None
    checks: Checks | None = None
    scheme: Scheme = "geometric_mean"
    by: By | None = None
    n_resamples: int = 1000
    rng: Rng = 1

    # ------------------------------------------------------------------ what was given

    @property
    def units_by(self) -> By:
        """What a unit is."""
        return self.by or default_by(self.written)

    @property
    def grades(self) -> Judgments:
        """The gold grades."""
        if self.gold is None:
            raise ArgumentError("this needs gold grades; give --gold NAME or FILE")
        return self.gold

    @property
    def systems(self) -> Runs:
        """The runs."""
        if self.runs is None:
            raise ArgumentError("this needs runs; give --runs FILES")
        return self.runs

    @cached_property
    def check_documents(self) -> Checks:
        """{topic: (H, N)}, given or implied by gold."""
        if self.checks is not None:
            return self.checks
        if self.gold is None:
            raise ArgumentError("no check documents H and N are known; give --checks FILE, or --gold NAME or FILE")
        try:
            return check_documents(self.written, self.gold, by=self.units_by)
        except ArgumentError as error:
            reason = str(error).partition("; name")[0]
            raise ArgumentError(f"{reason}; give --checks FILE, a table of topic, H and N") from None

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
    def judgments(self) -> Judgments:
        """The magnitudes on one scale."""
        return self.normalised(self.scheme)

    def normalised(self, scheme: Scheme) -> Judgments:
        """The magnitudes on one scale, by this scheme."""
        checks = self.check_documents if scheme == "checks" else None
        return normalise(self.written, scheme=scheme, checks=checks, by=self.units_by)

    @cached_property
    def merged(self) -> Judgments:
        """The median of the normalised magnitudes of each document."""
        return median(self.judgments).judgments

    # ------------------------------------------------------------------ distributions, levels

    def distributions(self, judgments: Judgments) -> tuple[Distribution, Distribution]:
        """Of all magnitudes, and of each topic's."""
        return distribution(judgments), distribution(judgments, by="topic")

    @cached_property
    def tests(self) -> LevelTests:
        return level_tests(self.judgments, self.grades)

    @cached_property
    def gains(self) -> GainProfile:
        return gain_profile(self.written, self.grades, checks=self.check_documents, by=self.units_by)

    @cached_property
    def ratios(self) -> LevelRatios:
        return level_ratios(self.written, self.grades, by=self.units_by)

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
        """(documents,) of `dispersion`: the check documents; all False where nobody knows them."""
        if self.lack_of_checks is not None:
            return np.zeros(self.dispersion.ratio.size, bool)
        checks = {(topic, name) for topic, both in self.check_documents.items() for name in both}
        pairs = zip(self.dispersion.topic, self.dispersion.document, strict=True)
        return np.array([pair in checks for pair in pairs], bool)

    @cached_property
    def deviations(self) -> Floats:
        """(documents,) standard deviation, n - 1, of the normalised magnitudes of documents judged twice or more."""
        values = self.judgments.value
        _, pair, n = np.unique(self.judgments.pair_numbers, return_inverse=True, return_counts=True)
        centre = np.bincount(pair, values) / n
        squares = np.bincount(pair, (values - centre[pair]) ** 2)[n > 1]
        return np.asarray(np.sqrt(squares / (n[n > 1] - 1)))

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
            own = frame[(frame["low"] == low) & (frame["high"] == high)]
            columns[f"{low:g} and {high:g}"] = own["agreement"].to_numpy()
        return {**columns, "all": order_agreement(self.merged, self.grades, by="topic").value}

    @cached_property
    def schemes(self) -> dict[tuple[str, str], Floats]:
        """{(normalisation, aggregation): (topics,) order agreement with gold}; by checks where there are any."""
        shares = {}
        for scheme in SCHEMES if self.lack_of_checks is None else SCHEMES[:-1]:
            judgments = self.normalised(scheme)
            for name, merge in MERGING.items():
                one = merge(judgments).judgments
                shares[scheme.replace("_", " "), name] = order_agreement(one, self.grades, by="topic").value
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
        return simulate_single_assessor(
            self.systems,
            self.judgments,
            list(MEASURES.values()),
            gold=self.grades,
            n_resamples=self.n_resamples,
            rng=Chance.of(self.rng).stream("draws"),
        )


def magnitude_data(
    judgments: Judgments, gold: str | None = None, runs: Runs | None = None, **options: Any
) -> MagnitudeData:
    """Magnitudes and what they are compared with, from one panel. gold : the assessor whose judgments are gold.

    options : of `MagnitudeData`; a scheme may be written with hyphens.

    Raises
    ------
    ArgumentError
        Nobody but the gold assessor judged.
    """
    options["scheme"] = options.get("scheme", "geometric_mean").replace("-", "_")
    written = judgments if gold is None else judgments.select(assessors=lambda name: name != gold)
    if not len(written):
        raise ArgumentError("judgments: there are no magnitudes, or nobody but the gold assessor judged")
    grades = None if gold is None else judgments.select(assessors=[gold])
    return MagnitudeData(written, grades, runs, **options)


def gain_rankings(runs: Runs, magnitudes: Judgments, gold: Judgments) -> dict[str, TwoRankings]:
    """{measure: both rankings} by the measures of section 7.1; gains are magnitudes (x) and gold grades (y)."""
    shared = set(magnitudes.topics) & set(gold.topics) & set(runs.topics)
    if not shared:
        raise NoOverlapError("runs, magnitudes and gold share no topic; check that all are of the same collection")
    first, second = (
        evaluate(runs, one.select(topics=shared.__contains__), list(MEASURES.values())) for one in (magnitudes, gold)
    )
    return {
        name: two_rankings(first.sel(measure=text), second.sel(measure=text))
        for name, text in zip(MEASURES, first.measures, strict=True)
    }


@dataclass(frozen=True, eq=False, repr=False)
class Section(Reported):
    """One part of the analysis of magnitudes.

    name : of the command. sentence : the answer in short. tables : as printed. notes : what must be known.
    rows : {table: function that returns {column: cells}}, every number in full.
    """

    name: str
    sentence: str
    tables: tuple[Table, ...]
    notes: tuple[Note, ...]
    rows: Mapping[str, Callable[[], dict[str, Any]]]

    def _tables(self) -> Mapping[str, Callable[[], dict[str, Any]]]:
        return self.rows

    def to_document(self) -> Document:
        """The tables; a file of numbers holds all of them, one below the other."""
        return Document(self.sentence, self.tables, self.notes, self.stacked, self.records)

    def stacked(self) -> Any:
        """The rows of all tables, with the name of the table in the first column where there are several."""
        import pandas as pd

        if len(self.rows) == 1:
            return self.to_frame()
        frames = [self.to_frame(what=name) for name in self.rows]
        for name, frame in zip(self.rows, frames, strict=True):
            frame.insert(0, "table", name)
        return pd.concat(frames, ignore_index=True)


def notes_of(data: MagnitudeData) -> tuple[Note, ...]:
    """The normalisation in force, what a unit is, and the scales."""
    unit = "units: the unit column"
    if data.units_by == "assessor":
        unit = "units: all judgments of an assessor for a topic, as there is no unit column"
    scheme = f"{data.scheme.replace('_', '-')}; {unit}"
    return Note("normalisation", scheme), scale_note(data.judgments)


def without_checks(data: MagnitudeData) -> tuple[Note, ...]:
    """What is left out for want of check documents, and why."""
    if data.lack_of_checks is None:
        return ()
    return (Note("left out", f"what needs check documents: {data.lack_of_checks}"),)


def rows_of(result: Result, what: str | None = None) -> Callable[[], dict[str, Any]]:
    """The columns of a table of a result, computed when they are asked for."""

    def columns() -> dict[str, Any]:
        frame = result.to_frame(what=what)
        return {name: frame[name].to_numpy() for name in frame}

    return columns
