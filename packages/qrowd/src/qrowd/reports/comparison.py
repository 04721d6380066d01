"""Systems compared with systems: which may be the best, and do the assessors agree on that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import repeat
from math import isnan, nan
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from qrowd.comparison.differences import Difference
from qrowd.comparison.head_to_head import PANEL, HeadToHead, head_to_head
from qrowd.comparison.kinship import Kinship, kinship
from qrowd.comparison.rank_intervals import RankIntervals
from qrowd.comparison.rankings import KINDS, Correlations, SignAgreement, correlations, means_of_others, sign_agreement
from qrowd.comparison.system_ranking import first_systems, rank_systems
from qrowd.comparison.version_change import VersionChange, version_change
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.model.chance import Rng, Seed, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.labels import Selection, number_of
from qrowd.model.objects import AnyJudgments, AnyRuns
from qrowd.model.preferences import Preferences
from qrowd.model.result import Tables
from qrowd.model.scores import Scores, scores_of
from qrowd.model.signature import with_signature
from qrowd.reports.difference_tables import (
    interval_notes,
    interval_table,
    intervals,
    pair_sentence,
    versions_sentence,
    versions_table,
)
from qrowd.reports.document import Document, Note, Reported, Table, columns_of
from qrowd.reports.evaluation import ASSESSORS_SHOWN
from qrowd.reports.gate import Gate
from qrowd.reports.kinship_tables import kinship_notes, kinship_rows, kinship_sentence, kinship_table
from qrowd.reports.notes import cautions, scoring_notes
from qrowd.reports.phrases import count, lead, lead_for, listed, number, or_dash, probability, sentence_case, signed
from qrowd.reports.system_tables import SystemRow, may_be_best, ranks_note, ranks_of, system_rows, system_table
from qrowd.reports.table import Column, Records, records_of, table_of
from qrowd.threads import Progress

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


@dataclass(frozen=True)
class Choices:
    """The options of a comparison that change its answer.

    confidence : of all intervals; systems with p below 1 - confidence are significantly different.
    n_resamples, seed : of the test of all pairs of systems.
    """

    confidence: float = 0.95
    n_resamples: int = 10_000
    seed: Seed = 1

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ArgumentError("a number between 0 and 1 was expected", "confidence", self.confidence)
        if self.n_resamples < 2:
            raise ArgumentError("at least 2 were expected", "n_resamples", self.n_resamples)


decimals = partial(number, digits=3)


@dataclass(frozen=True)
class AssessorRow:
    """How an assessor's ranking of the systems agrees with that of the others.

    n_topics, n_systems : what the correlations rest on.
    """

    assessor: Annotated[str, Column("assessor")]
    tau_b: Annotated[float, Column("tau-b", decimals)]
    tau_a: Annotated[float, Column("tau-a", decimals)]
    ap: Annotated[float, Column("AP correlation", decimals)]
    ap_b: Annotated[float, Column("AP-b", decimals)]
    pearson: Annotated[float, Column("Pearson", decimals)]
    rmse: Annotated[float, Column("RMSE", decimals)]
    same_sign: Annotated[float, Column("same sign", decimals)]
    best: Annotated[str, Column("best system", or_dash)]
    n_topics: Annotated[int, Column("topics")]
    n_systems: Annotated[int, Column("systems")]


@dataclass(frozen=True)
class PairRow:
    """Two systems by an assessor, or by the panel, whose p is that of its interval."""

    assessor: Annotated[str, Column("assessor")]
    difference: Annotated[float, Column("difference", signed)]
    wins: Annotated[int, Column("wins/ties/losses", "{}/{}/{}".format, also=("ties", "losses"))]
    ties: int
    losses: int
    p: Annotated[float, Column("p", probability)]


@dataclass(frozen=True, eq=False)
class MeasureComparison:
    """One measure. All are compared with the reference where there is one, else with the panel.

    rows : the systems, best first, compared with `baseline`. ranks : of all systems together, by the reference or the
        panel; None for fewer than two topics.
    correlations, signs : of every assessor with the reference, or with the panel without that assessor.
    best : (assessors,) the systems with the highest mean; none for an assessor to whom all systems are equal or who has
        no score.
    n_ranking : number of assessors with a ranking, the reference left out where there are others.
    pair, intervals : of the two systems asked about; the recommended interval first.
    kinship : what related assessors change, by all assessors; None where none were declared.
    versions : what system and judge changed, of two versions of each; None where none were given.
    """

    measure: str
    baseline: str
    rows: tuple[SystemRow, ...]
    ranks: RankIntervals | None
    correlations: Correlations
    signs: tuple[SignAgreement | None, ...]
    best: tuple[tuple[str, ...], ...]
    n_ranking: int
    pair: HeadToHead | None
    intervals: tuple[Difference, ...]
    kinship: Kinship | None = None
    versions: VersionChange | None = None

    def assessor_rows(self) -> list[AssessorRow]:
        """One row per assessor, the reference left out."""
        of = self.correlations
        parts = zip(of.assessors, self.signs, self.best, strict=True)
        return [
            AssessorRow(
                assessor=name,
                **{kind: float(getattr(of, kind)[a]) for kind in KINDS},
                same_sign=sign.value if sign else nan,
                best=listed(best, 3),
                n_topics=int(of.n_topics[a]),
                n_systems=int(of.n_systems[a]),
            )
            for a, (name, sign, best) in enumerate(parts)
            if name != of.reference
        ]

    def pair_rows(self) -> list[PairRow]:
        """One row for the panel and one per assessor, if there are several; none without a pair."""
        pair = self.pair
        if pair is None:
            return []
        counts = (pair.difference, pair.wins, pair.ties, pair.losses)
        p = [self.intervals[0].p, *pair.p[1:]] if self.intervals else pair.p
        columns = [(PANEL, *pair.assessors), *(values.tolist() for values in counts), map(float, p)]
        rows = [PairRow(*values) for values in zip(*columns, strict=True)]
        return rows if len(pair.assessors) > 1 else rows[:1]

    def records(self) -> dict[str, Records]:
        """{table: its rows}."""
        return {
            "assessors": records_of(self.assessor_rows()),
            "systems": records_of(self.rows),
            "pair": records_of(self.pair_rows()),
            "intervals": [record for one in self.intervals for record in one._records()],
            "kinship": [] if self.kinship is None else records_of(kinship_rows(self.kinship)),
            "versions": []
            if self.versions is None
            else [{"changed": name, **asdict(part)} for name, part in self.versions.parts().items()],
        }


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Reported):
    """The answer of `qrowd compare`.

    sentence : which system has the highest mean, which may be the best, and for how many assessors. measures : one
    part each. choices, conventions : the options in force. notes : one for each that mattered. scores : of all
    assessors, or of the reference. gate : whether the condition of `fail_if` holds; None without one.
    """

    sentence: str
    measures: tuple[MeasureComparison, ...]
    choices: Choices
    notes: tuple[Note, ...]
    conventions: dict[str, Any]
    scores: Scores
    gate: Gate | None = None

    def _tables(self) -> Tables:
        """One row per measure and assessor, or system; of the two systems asked about per assessor, or interval.

        kinship : one row per system, where related assessors were declared.
        """
        parts = [(part.measure, part.records()) for part in self.measures]

        def rows(name: str) -> dict[str, Any]:
            return columns_of([{"measure": measure, **row} for measure, tables in parts for row in tables[name]])

        return {name: partial(rows, name) for name in parts[0][1]}

    def _document(self) -> Document:
        """The tables, and all numbers in full: .csv and .parquet hold the intervals of a pair, else the assessors."""
        tables = [table for part in self.measures for table in _tables(part)]
        frame = partial(self.to_frame, what="intervals" if self.measures[0].intervals else None)
        return Document(self.sentence, tuple(tables), self.notes, frame, self._content)

    def _content(self) -> dict[str, Any]:
        best = {part.measure: part.ranks.may_be_best if part.ranks else None for part in self.measures}
        about = {"choices": asdict(self.choices), "conventions": self.conventions, "may_be_best": best}
        return {**about, **self.records(), "fail_if": self.gate and asdict(self.gate)}


def compare(
    runs: AnyRuns,
    judgments: AnyJudgments | Preferences,
    measures: object | Sequence[object] = "nDCG@10",
    *,
    conventions: Conventions = Conventions(),
    baseline: str | None = None,
    reference: str | None = None,
    systems: tuple[str, str] | None = None,
    assessors: tuple[str, str] | None = None,
    fail_if: str | None = None,
    related: Mapping[str, Selection] | None = None,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    rng: Rng = 1,
    progress: Progress | None = None,
) -> Comparison:
    """Compare all systems, for the panel and for each assessor.

    Parameters
    ----------
    measures : texts, ir_measures objects, or one of them; the sentence is about the first.
    conventions : the conventions of scoring.
    baseline : the system all others are compared with; default: the one with the highest mean.
    reference : the assessor all others are compared with; default: the panel, without the assessor who is compared.
    systems : two systems to compare in detail.
    assessors : two versions of a judge, where systems are two versions of a system, the new ones first: the difference
        between new by new and old by old is split into what the system changed and what the judge changed.
    fail_if : condition on two systems, as in "new<=old" (new is not shown to be better), "new<old" (new is shown to be
        worse) or, with a margin, "new<=old-0.01"; on the command line the exit status is 1 if it holds by any measure.
    related : {assessors: systems} that are related, by name or shell pattern, as in {"qwen*": ["dual*"]}: what the
        scores by a system's relatives change in the ranking by all assessors.
    confidence : of all intervals; systems with p below 1 - confidence are significantly different.
    n_resamples, rng : of the test of all pairs of systems.
    progress : called with (topics done, topics in all) of the scoring.

    Raises
    ------
    ArgumentError
        A system or an assessor that does not exist; one system only; an option outside its range.
    NoOverlapError
        Runs and judgments share no topic; no assessor has a score.

    >>> print(qrowd.compare(runs, judgments, systems=("bm25", "dense")))  # doctest: +SKIP
    """
    choices = Choices(confidence, n_resamples, seed_of(rng))
    scores = evaluate(runs, judgments, measures, conventions=conventions, progress=progress)
    return compare_scores(
        scores,
        baseline=baseline,
        reference=reference,
        systems=systems,
        assessors=assessors,
        fail_if=fail_if,
        related=related,
        choices=choices,
    )


@with_signature()
def compare_scores(
    scores: AnyScores,
    *,
    baseline: str | None = None,
    reference: str | None = None,
    systems: tuple[str, str] | None = None,
    assessors: tuple[str, str] | None = None,
    fail_if: str | None = None,
    related: Mapping[str, Selection] | None = None,
    choices: Choices = Choices(),
) -> Comparison:
    """`compare` for scores that are computed already."""
    labelled = scores_of(scores)
    if reference is not None:
        number_of(reference, labelled.assessors, "assessor")
    gate = None if fail_if is None else Gate.parse(fail_if, labelled.systems)
    if gate:
        pair = gate.first, gate.second
        if tuple(systems or pair) != pair:
            raise ArgumentError("--systems names others, or in another order; leave --systems out", "fail_if", fail_if)
        systems = pair
    for name in (*(systems or ()), *([] if baseline is None else [baseline])):
        number_of(name, labelled.systems, "system")
    if assessors and not systems:
        raise ArgumentError(
            "the two versions of the system are missing; name them, too: --systems NEW OLD",
            "assessors",
            assessors,
        )
    if len(labelled.systems) < 2:
        raise ArgumentError(f"runs: {labelled.systems[0]} is the only system; comparing needs 2")
    parts = tuple(
        _measure(labelled.sel(measure=name), baseline, reference, systems, assessors, related, choices)
        for name in labelled.measures
    )
    notes = (*_notes(parts), *scoring_notes(labelled))
    related_sentence = "" if parts[0].kinship is None else f" {kinship_sentence(parts[0].kinship)}"
    sentence = _sentence(parts[0]) + related_sentence + cautions(labelled)
    whose = labelled if reference is None else labelled.sel(assessor=reference)
    if gate:
        gate = gate.decided(
            {part.measure: (part.versions.system,) if part.versions else part.intervals for part in parts}
        )
        sentence = f"{gate.sentence} {sentence}"
    return Comparison(sentence, parts, choices, notes, labelled.attributes.get("conventions", {}), whose, gate)


# ---------------------------------------------------------------------- computing


def _measure(
    scores: Scores,
    baseline: str | None,
    reference: str | None,
    pair: tuple[str, str] | None,
    assessors: tuple[str, str] | None,
    related: Mapping[str, Selection] | None,
    choices: Choices,
) -> MeasureComparison:
    names = scores.assessors
    whose = scores if reference is None else scores.sel(assessor=reference)
    others = [name for name in names if name != reference] or names
    rank = rank_systems(whose).rank
    if not (rank == 1).any():
        culprit = "no assessor has a score" if reference is None else f"{reference} has no score"
        raise NoOverlapError(
            f"{scores.measures[0]}: {culprit}, so no system is the best; min_coverage may leave all out"
        )
    best = tuple(first_systems(scores.systems, own) for own in rank_systems(scores).rank_by_assessor)
    own = scores.sel(assessor=list(others))
    ranks = ranks_of(whose, **asdict(choices))
    system = scores.systems[int(np.argmax(rank == 1))] if baseline is None else baseline
    rows = system_rows(whose, own=own, ranks=ranks, baseline=system, confidence=choices.confidence, intervals=True)
    return MeasureComparison(
        scores.measures[0],
        system,
        rows,
        ranks,
        correlations(scores, reference=reference),
        tuple(_signs(scores, reference)),
        best,
        sum(bool(best_of) for name, best_of in zip(names, best, strict=True) if name in others),
        None if pair is None else head_to_head(own, *pair),
        () if pair is None else intervals(own, *pair, confidence=choices.confidence),
        kinship(scores, related, confidence=choices.confidence) if related else None,
        version_change(scores, systems=pair, assessors=assessors, confidence=choices.confidence)
        if pair and assessors
        else None,
    )


def _signs(scores: Scores, reference: str | None) -> Iterator[SignAgreement | None]:
    """Of each assessor with the reference or with the panel without the assessor; None where there is no other."""
    array = scores.values[0]
    gold = None if reference is None else array[scores.assessors.index(reference)]
    others = means_of_others(array) if gold is None else repeat(gold, len(array))
    for name, other in zip(scores.assessors, others, strict=True):
        if name == reference or len(array) == 1:
            yield None
            continue
        means = Scores.from_array(other, topics=scores.topics, systems=scores.systems)
        yield sign_agreement(scores.sel(assessor=name), means)


# ---------------------------------------------------------------------- in words


def _sentence(part: MeasureComparison) -> str:
    """Of a pair, which is ahead; which system leads and for whom, and which may be the best."""
    leaders = [row.system for row in part.rows if row.rank == 1]
    reference = part.correlations.reference
    by = f"by {part.measure}{f' for {reference}, the reference' if reference else ''}, "
    best = [own for name, own in zip(part.correlations.assessors, part.best, strict=True) if name != reference]
    parts = [lead(leaders)] if reference else [lead_for(leaders, best, "assessor")]
    if reference and best:
        parts.append(lead_for(leaders, best, "other assessor", f"for {reference}"))
    if part.ranks is not None and any(part.best):
        parts.append(may_be_best(part.ranks))
    if part.pair is None:
        return sentence_case(by + "; ".join(parts)) + "."
    pair = f"By {part.measure}, {pair_sentence(part.pair, part.intervals)}"  # what was asked for comes first
    if part.versions is not None:
        pair = versions_sentence(part.measure, part.versions)
    if reference:
        parts[0] = by + parts[0]
    elif len(part.rows) == 2:  # of whom the pair says it, by one test
        parts = []
    return "; ".join([pair, *parts]) + "."


def _notes(parts: tuple[MeasureComparison, ...]) -> Iterator[Note]:
    first = parts[0]
    if first.ranks is not None:
        yield ranks_note(first.ranks)
    reference = first.correlations.reference
    other = reference or "the panel without the assessor"
    yield Note("agreement of rankings", f"each assessor with {other}, over the topics where both have a score")
    yield Note("AP correlation", "down the assessor's list, by the order of the other; tied systems in expectation")
    yield Note("AP-b", "the mean of both directions, tied systems left out of each other's list (tau_ap_b)")
    yield Note("same sign", "of all differences of two systems on a topic, ties left out")
    yield from interval_notes(first.intervals)
    if first.kinship is not None:
        yield from kinship_notes(first.kinship)
    if first.versions is not None:
        yield Note(
            "versions",
            "where both judges judged both systems, the part of the system is its mean difference over the judges, "
            "and that of the judge its mean difference over the systems; intervals over topics, for these two judges",
        )
    if first.pair is not None:
        without = f" without {reference}" if reference else ""
        p_values = "the panel's p is that of its interval, an assessor's that of Wilcoxon's test over topics"
        if not first.intervals:
            p_values = "p by Wilcoxon's test over topics"
        yield Note("pair", f"the panel is the mean over assessors{without}, topic by topic; {p_values}")


# ---------------------------------------------------------------------- tables


SYSTEM_COLUMNS = ["system", "mean", "standard_error", "rank_low", "difference", "difference_low", "p"]
SYSTEM_COLUMNS += ["may_be_best", "first_for"]


def _tables(part: MeasureComparison) -> list[Table]:
    whose = part.correlations.reference or "the panel"
    n = count(part.n_ranking, "assessor ranks", "assessors rank")
    title = f"{part.measure}: systems by {whose}, compared with {part.baseline}; {n} them"
    systems: Sequence[SystemRow] = part.rows
    if part.pair is not None:  # files hold the other systems, which were not asked about
        systems = [row for row in systems if row.system in (part.pair.first, part.pair.second, part.baseline)]
        title += f" ({len(systems)} of {len(part.rows)} systems)"
    tables = [system_table(title, systems, SYSTEM_COLUMNS, baseline=part.baseline)]
    if len(part.correlations.assessors) > 1:
        other = part.correlations.reference or "that of the panel without the assessor"
        title = f"{part.measure}: agreement of each assessor's ranking of systems with {other}"
        tables.append(table_of(title, part.assessor_rows()).first(ASSESSORS_SHOWN))
    if part.kinship is not None:
        title = (
            f"{part.measure}: systems with related assessors, and those whose rank they change; tau-b of the rankings "
            f"with and without relatives {number(part.kinship.tau, 3)}"
        )
        tables.append(kinship_table(title, part.kinship))
    if part.versions is not None:
        tables.append(versions_table(part.measure, part.versions))
    if part.pair is not None:
        title = f"{part.measure}: {part.pair.first} minus {part.pair.second}"
        if part.intervals:
            tables.append(interval_table(f"{title}, with intervals by several methods", part.intervals))
        panel, *rows = part.pair_rows()
        rows = sorted(rows, key=lambda row: (isnan(row.difference), -row.difference))
        tables.append(table_of(f"{title}, by assessor", [panel, *rows]).first(ASSESSORS_SHOWN))
    return tables
