"""The answer of an evaluation: the systems by each measure, the assessors, and every score behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.comparison.mean_squares import Over
from qrowd.comparison.rank_intervals import RankIntervals
from qrowd.comparison.rankings import correlations
from qrowd.comparison.system_ranking import SystemRanking, first_systems, rank_systems
from qrowd.errors import ArgumentError
from qrowd.evaluation import DEFAULT_MEASURES, evaluate, measure
from qrowd.kernels.arrays import Floats
from qrowd.measures import residual_of
from qrowd.model.chance import Rng, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import number_of
from qrowd.model.one_scale import CombineScales
from qrowd.model.preferences import Preferences
from qrowd.model.result import Tables
from qrowd.model.runs import Runs
from qrowd.model.scores import DIMENSIONS, Scores, scores_of
from qrowd.model.signature import with_signature
from qrowd.reports.document import Document, Note, Reported, Table, columns_of
from qrowd.reports.notes import cautions, parameter_of, scoring_notes
from qrowd.reports.phrases import lead_for, listed, mean_of
from qrowd.reports.system_tables import (
    SystemRow,
    may_be_best,
    ranks_note,
    ranks_of,
    system_order,
    system_rows,
    system_table,
)
from qrowd.reports.table import Columns, Records, records_of
from qrowd.threads import Progress

if TYPE_CHECKING:
    from qrowd.executors import AnyExecutor
    from qrowd.model.scores import AnyScores
    from qrowd.partitions import PartitionedJudgments, PartitionedRuns
    from qrowd.paths import PathLike
    from qrowd.reports.unanswered import Unanswered

ASSESSORS_SHOWN = 30  # in tables; files of scores hold all of them


@dataclass(frozen=True, eq=False)
class MeasureSummary:
    """One measure: the systems in order of their rank, and each assessor's agreement with the others.

    systems : names, in the order of `ranking`. ranks : of all systems together, which gives the adjusted p and says
        which systems may be the best; None where that was not asked for, and where too little is shared.
    agreement : (assessors,) tau-b with the panel without the assessor; nan where there is nothing to compare with.
    """

    measure: str
    systems: tuple[str, ...]
    rows: tuple[SystemRow, ...]
    ranking: SystemRanking
    baseline: str | None
    ranks: RankIntervals | None
    agreement: Floats

    @property
    def order(self) -> list[int]:
        """Numbers of the systems, best first; a system without any score comes last."""
        return system_order(self.ranking.mean)


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Reported):
    """What an evaluation says.

    sentence : which system leads, and which systems change places with the assessor.
    measures : one summary each, in the order of the scores.
    assessors : names, in the order of every assessor axis. noun : what they are: "assessor", or "method" where each
        is a method that combines the assessors.
    notes : one for each convention that mattered. scores : what is summed up.
    unanswered : questions to models without an answer; None where no record was given.
    """

    sentence: str
    measures: tuple[MeasureSummary, ...]
    assessors: tuple[str, ...]
    notes: tuple[Note, ...]
    noun: str
    scores: Scores
    unanswered: Unanswered | None = None

    def _tables(self) -> Tables:
        tables: Tables = {
            "systems": lambda: columns_of(self._system_records()),
            "agreement": self._agreement_columns,
        }
        if self.scores.attributes.get("disagreement"):
            tables["disagreement"] = self._disagreement_columns
        if self.unanswered is not None:
            tables["unanswered"] = self.unanswered.failures._columns
        return tables

    def _disagreement_columns(self) -> dict[str, Any]:
        """One row per method, measure and system, of methods that know how far assessors disagree about a list."""
        by_method = self.scores.attributes.get("disagreement", {})
        parts = [(method, name, part) for method, columns in by_method.items() for name, part in columns.items()]
        n = len(self.scores.systems)
        names = {
            "method": np.repeat(np.array([method for method, _, _ in parts], object), n),
            "measure": np.repeat(np.array([name for _, name, _ in parts], object), n),
        }
        return names | {name: np.concatenate([np.array(part[name]) for _, _, part in parts]) for name in parts[0][2]}

    def _system_records(self) -> Records:
        """One row per measure and system."""
        records = records_of([row for part in self.measures for row in part.rows])
        measures = [part.measure for part in self.measures for _ in part.rows]
        return [{"measure": name, **record} for name, record in zip(measures, records, strict=True)]

    def _agreement_columns(self) -> dict[str, Any]:
        """One row per assessor: tau-b with the others, by each measure."""
        return {self.noun: self.assessors, **{part.measure: part.agreement for part in self.measures}}

    def with_unanswered(self, unanswered: Unanswered) -> Summary:
        """The same with what became of questions to models. The sentence names it where systems differ in it."""
        sentence = f"{self.sentence} {unanswered.sentence}" if unanswered.differs else self.sentence
        return replace(self, sentence=sentence, notes=(*self.notes, *unanswered.notes), unanswered=unanswered)

    def _document(self) -> Document:
        """The tables, and all scores in full."""
        return Document(self.sentence, tuple(_tables(self)), self.notes, self.scores.to_frame, self._content)

    def _content(self) -> dict[str, Any]:
        scores = self.scores
        scales = {name: str(scale) for name, scale in scores.attributes["scales"].items()}
        about = {"conventions": scores.attributes["conventions"], "scales": scales, "dimensions": DIMENSIONS}
        about |= {name: getattr(scores, f"{name}s") for name in DIMENSIONS}
        return {**self.records(), **about, "scores": scores.values}


@with_signature()
def evaluation_of(
    runs: Runs | PartitionedRuns,
    judgments: Judgments | Preferences | PartitionedJudgments,
    measures: Sequence[object] = DEFAULT_MEASURES,
    *,
    methods: Sequence[str] = (),
    baseline: str | None = None,
    unanswered: Unanswered | None = None,
    conventions: Conventions = Conventions(),
    combine_scales: CombineScales = "auto",
    executor: AnyExecutor = None,
    results: PathLike | None = None,
    rng: Rng = 1,
    progress: Progress | None = None,
) -> Summary:
    """Score each run by each assessor, and show whether the assessors agree on the best system.

    Measures that have a residual come with it. unanswered : questions to models without an answer; default: not known.
    results : folder for the scores of each part; what it holds is not computed again after an interruption.
    The other options are those of `evaluate`, `evaluate_methods` and `summarise`.
    """
    parsed = [measure(each) for each in measures]
    if methods and isinstance(judgments, Preferences):
        raise ArgumentError("it is for judgments, and these are preferences; leave it out", "methods", methods)
    if methods and isinstance(runs, Runs) and isinstance(judgments, Judgments):
        if results is not None:
            raise ArgumentError("results: methods need the judgments of all parts at once; leave it out")
        from qrowd.methods import evaluate_methods

        scores = evaluate_methods(
            runs,
            judgments,
            parsed,
            methods=methods,
            conventions=conventions,
            combine_scales=combine_scales,
            rng=rng,
            executor=executor,
            progress=None if progress is None else lambda _, done, total: progress(done, total),
        )
        residuals = []
    else:
        if combine_scales != "auto":
            raise ArgumentError("it is for --method; leave it out", "combine_scales", combine_scales)
        residuals = [one for one in map(residual_of, parsed) if one is not None and one not in parsed]
        scores = evaluate(
            runs,
            judgments,
            [*parsed, *residuals],
            conventions=conventions,
            executor=executor,
            results=results,
            progress=progress,
        )
    summary = summarise(scores, baseline=baseline, also=tuple(map(str, residuals)), rng=rng)
    return summary if unanswered is None else summary.with_unanswered(unanswered)


@with_signature()
def summarise(
    scores: AnyScores,
    *,
    baseline: str | None = None,
    also: tuple[str, ...] = (),
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    rng: Rng = 1,
) -> Summary:
    """Sum up an evaluation.

    Parameters
    ----------
    baseline : a system all others are compared with: wins, ties and losses over topics, and p adjusted for all pairs of
        systems.
    also : measures in `scores` that only serve the notes (such as the residual of RBP) and get no table.
    confidence, n_resamples, rng : of the test of all pairs of systems, which is by the first measure alone without a
        baseline.

    Raises
    ------
    ArgumentError
        A baseline that is not among the systems.
    """
    labelled, seed = scores_of(scores), seed_of(rng)
    if baseline is not None:
        number_of(baseline, labelled.systems, "system")
    noun = "method" if "methods" in labelled.attributes else "assessor"
    # Methods are not a sample of methods: topics alone could have been others.
    over: Over = "topics" if noun == "method" else "both"
    names = [name for name in labelled.measures if name not in also]
    first = next((name for name in names if not parameter_of(name, "residual")), None)
    parts = []
    for name in names:
        one = labelled.sel(measure=name)
        with_ranks = name == first or (baseline is not None and not parameter_of(name, "residual"))
        options: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples, "seed": seed, "over": over}
        ranks = ranks_of(one, **options) if with_ranks else None
        rows = system_rows(one, ranks=ranks, baseline=baseline, confidence=confidence)
        parts.append(
            MeasureSummary(name, one.systems, rows, rank_systems(one), baseline, ranks, correlations(one).tau_b)
        )
    columns = f"{'' if baseline is None else 'p and '}systems that may be the best"
    notes = [ranks_note(part.ranks, columns) for part in parts if part.ranks is not None][:1]
    notes += scoring_notes(labelled)
    sentence = _sentence(parts, noun) + cautions(labelled)
    return Summary(sentence, tuple(parts), labelled.assessors, tuple(notes), noun, labelled.sel(measure=names))


# ---------------------------------------------------------------------- in words


def _sentence(summaries: list[MeasureSummary], noun: str) -> str:
    """Which system leads by the first measure, which may be the best, which change places, and who leads by others."""
    ranked = [summary for summary in summaries if not parameter_of(summary.measure, "residual")]
    if not ranked:
        return "A residual says how uncertain scores are, not which system is better; name another measure as well."
    first = ranked[0]
    if np.isnan(first.ranking.mean).all():
        return f"No {noun} has a score, so no system leads."
    if len(first.systems) == 1:
        return f"{first.systems[0]} is the only system: {mean_of(first.measure)} {first.ranking.mean[0]:.4f}."
    n = int(first.ranking.has_ranking.sum())
    if n == 0:
        whom = f"the only {noun}" if len(first.agreement) == 1 else f"every {noun}"
        return f"By {first.measure} all systems are equal for {whom}."
    leader = first.order[0]
    best = [first_systems(first.systems, own) for own in first.ranking.rank_by_assessor]
    leads = lead_for(first_systems(first.systems, first.ranking.rank), best, noun)
    parts = [f"By {first.measure}, {leads}"]
    if first.ranks is not None:
        parts.append(may_be_best(first.ranks))
    if pair := _changing_places(first):
        parts.append(f"{pair} change places with the {noun}")
    elif n > 1 and int(first.ranking.leads()[leader]) == n:
        parts.append(f"no two of the first {min(len(first.systems), 5)} change places")
    others: dict[str, list[str]] = {}
    for summary in ranked[1:]:
        if summary.ranking.rank[leader] > 1:  # it does not share the lead either
            others.setdefault(summary.systems[summary.order[0]], []).append(summary.measure)
    parts += [f"by {listed(measures)} it is {system}" for system, measures in others.items()]
    return "; ".join(parts) + "."


def _changing_places(summary: MeasureSummary) -> str:
    """Of the first five systems, the pair whose order most assessors see differently; empty if all agree."""
    top = summary.order[:5]
    ranking, names = summary.ranking, summary.systems
    contested = [
        (min(ranking.n_above(names[a], names[b]), ranking.n_above(names[b], names[a])), -(i + j), a, b)
        for i, a in enumerate(top)
        for j, b in enumerate(top)
        if i < j
    ]
    minority, _, a, b = max(contested)
    return f"{summary.systems[a]} and {summary.systems[b]}" if minority else ""


# ---------------------------------------------------------------------- tables


def _overview_table(summary: Summary) -> Table:
    """The panel's mean of every system by every measure, in the order of the first."""
    n = len(summary.assessors)
    first = summary.measures[0]
    systems = [row.system for row in first.rows]
    columns: Columns = {"system": systems}
    for part in summary.measures:
        means = {row.system: row.mean for row in part.rows}
        columns[part.measure] = [means[system] for system in systems]
    over = f"topics and {n} {summary.noun}s" if n > 1 else "topics"
    return Table.of(f"means over {over}, in the order of {first.measure}", columns)


def _tables(summary: Summary) -> list[Table]:
    """One of all measures, or with one measure, a baseline or methods one of each; and the assessors'."""
    first = summary.measures[0]
    if len(summary.measures) > 1 and first.baseline is None and summary.noun == "assessor":
        tables = [_overview_table(summary)]
    else:
        tables = [_measure_table(part, summary.noun) for part in summary.measures]
    if len(summary.assessors) > 1:
        tables.append(_agreement_table(summary))
    if summary.unanswered is not None:
        tables.append(summary.unanswered.system_table([row.system for row in first.rows]))
    return tables


def _measure_table(part: MeasureSummary, noun: str) -> Table:
    names = ["system", "mean", "standard_error", "lowest", "rank", "best_rank"]
    title = part.measure
    if part.baseline is not None:
        names += ["difference", "wins", "p"]
        title += f", compared with {part.baseline}"
    return system_table(title, part.rows, names, baseline=part.baseline, noun=noun)


def _agreement_table(summary: Summary) -> Table:
    """The agreement of each assessor with the others, of a crowd of the first."""
    title = f"tau-b of each {summary.noun}'s ranking with the panel's without that {summary.noun}"
    if summary.noun == "method":
        title = "tau-b of each method's ranking with the mean of the others"
    by_measure = {part.measure: part.agreement for part in summary.measures}
    return Table.of(title, {summary.noun: summary.assessors, **by_measure}, 3).first(ASSESSORS_SHOWN)
