"""The report: everything that the page for decision makers shows, as plain data. `report_page` draws it.

Scores, comparisons, agreement, AWARE and the methods that combine assessors are computed by their own modules, under
the conventions that are named with the result.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from glob import glob
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from qrowd.comparison.rankings import correlations
from qrowd.errors import ArgumentError, FileError
from qrowd.evaluation import evaluate
from qrowd.files import find_files
from qrowd.model.chance import Rng, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import Selection, number_of
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.reports.comparison import Choices, MeasureComparison, compare_scores
from qrowd.reports.document import Document, Note
from qrowd.reports.kinship import related_assessors
from qrowd.reports.report_assessors import Topics, assessors_of, topics_of
from qrowd.reports.report_content import InputFile, Provenance, ReportContent
from qrowd.reports.report_influence import influence_of
from qrowd.reports.report_measures import by_measure, several_measures
from qrowd.reports.report_methods import RANDOM_ASSESSORS, methods_of, similarities_of
from qrowd.reports.report_page import report_page
from qrowd.reports.report_systems import Answer, answer_of, leading_pair, pair_rows
from qrowd.reports.report_tables import grids_of
from qrowd.reports.report_texts import AnyTexts, texts_of
from qrowd.reports.unanswered import unanswered

if TYPE_CHECKING:
    from qrowd.judge.outcome import Statuses

OF_OTHER_TABLES = ("AP correlation", "same sign", "P(ahead again)", "pair", "top set")
"""Kinds of notes of `qrowd compare` about what the report does not show."""
READING = "files"
"""Kind of the notes on how files were read."""
UNKNOWN = Provenance()
PACKAGES = ("qrowd", "numpy", "scipy")


class Report(ReportContent):
    """The answer of `qrowd report`: `write("report.html")` writes the page, `to_frame(what=...)` gives its tables."""

    def to_html(self) -> str:
        """The page.

        Raises
        ------
        QrowdError
            Jinja2 is not installed.
        """
        return report_page(self)

    def content(self, path: str | Path) -> bytes:
        """The page (.html), or its tables (.csv, .parquet, .xlsx, .json, .txt, .md, .tex), by the file's ending."""
        if str(path).lower().endswith((".html", ".htm")):
            return self.to_html().encode()
        return super().content(path)

    def to_document(self) -> Document:
        """The tables for papers and programs: .csv holds one row per system, .json everything."""
        notes = (*self.assessors.weight_notes, *self.notes)
        tables = [grid.to_table() for grid in grids_of(self).values()]
        if self.preferences is not None:
            tables, notes = [*tables, *self.preferences.tables], (*notes, *self.preferences.notes)
        return Document(self.sentence, tuple(tables), notes, self.to_frame, self.to_dict)


def report(
    runs: AnyRuns,
    judgments: AnyJudgments | Preferences,
    measures: object | Sequence[object] | None = None,
    *,
    conventions: Conventions = Conventions(),
    baseline: str | None = None,
    reference: str | None = None,
    related: Mapping[str, Selection] | None = None,
    statuses: Statuses | None = None,
    topics: AnyTexts | None = None,
    documents: AnyTexts | None = None,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    random_assessors: int = RANDOM_ASSESSORS,
    rng: Rng = None,
    title: str = "",
    provenance: Provenance = UNKNOWN,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Compute the page that `qrowd report` writes: which system is better, how certain that is, how assessors differ.

    Parameters
    ----------
    judgments : judgments; or preferences, of which sections that need grades say so.
    measures : texts, ir_measures objects, or one of them; the verdict is based on the first. Default: nDCG@10, of
        preferences ppref@10.
    conventions : the conventions of scoring.
    baseline : the system all others are compared with; default: the one with the highest mean.
    reference : an assessor left out of the panel, with whom every assessor and every method is compared.
    related : {assessors: systems} that are related, by name or shell pattern, as in {"qwen*": ["dual*"]}.
    statuses : what became of the questions to models whose answers the judgments are.
    topics, documents : {label: text}, or {label: {"title": ..., "text": ...}}: shown with the documents that matter.
    confidence : of all intervals; systems with p below 1 - confidence are significantly different.
    n_resamples, rng : of the test of all pairs of systems; rng also of methods that draw.
    random_assessors : number of random assessors of each level, for AWARE.
    title, provenance : shown on the page. progress : called with (comparisons with random assessors done, in all).

    Raises
    ------
    ArgumentError
        A system or an assessor that does not exist; one system only.
    NoOverlapError
        Runs and judgments share no topic; no assessor has a score.

    >>> qrowd.report(runs, judgments, baseline="bm25").write("report.html")  # doctest: +SKIP
    """
    runs = as_runs(runs)
    judged = judgments if isinstance(judgments, Preferences) else as_judgments(judgments)
    if measures is None:
        measures = "ppref@10" if isinstance(judged, Preferences) else "nDCG@10"
    choices = Choices(confidence=confidence, n_resamples=n_resamples, seed=seed_of(rng))
    name, *others = several_measures(measures)
    panel, gold = _panel_and_reference(judged, reference)
    if baseline is not None:
        number_of(baseline, runs.systems, "system")
    scores = evaluate(runs, panel, [name], conventions=conventions)
    pair = leading_pair(scores, baseline) if len(scores.systems) > 1 else None
    comparison = compare_scores(scores, baseline=baseline, systems=pair, related=related, choices=choices)
    part = comparison.measures[0]
    gold_scores = None if gold is None else evaluate(runs, gold, [name], conventions=conventions)
    answer = answer_of(part, scores, confidence, gold_scores)
    reference_tau = None if gold_scores is None else _tau_with(scores, gold_scores)
    if isinstance(panel, Preferences):
        sections = _of_preferences(panel, scores, part, answer, gold_scores, reference_tau, confidence)
    else:
        sections = _of_grades(
            runs,
            panel,
            scores,
            part,
            answer,
            gold_scores,
            reference_tau,
            conventions=conventions,
            choices=choices,
            random_assessors=random_assessors,
            progress=progress,
        )
    page = Report(
        title=title or "Which search system is better?",
        measure=name,
        compared_with=part.baseline,
        baseline=baseline,
        reference=reference,
        answer=answer,
        systems=part.rows,
        pairs=pair_rows(part, scores, confidence, baseline),
        facts=_facts(runs, panel, scores, sections["topics"]),
        notes=(
            *(note for note in comparison.notes if note.kind not in OF_OTHER_TABLES),
            *(Note(READING, text) for text in dict.fromkeys((*runs.notes, *judged.notes))),
        ),
        conventions=dict(scores.attributes["conventions"]),
        choices=asdict(choices) | {"random_assessors": random_assessors},
        versions=_versions(),
        provenance=provenance,
        **sections,
        by_measure=by_measure(runs, panel, scores, others, conventions=conventions),
        related=related_assessors(part.kinship),
        unanswered=None if statuses is None else unanswered(replace(statuses, runs=runs), rng=choices.seed),
    )
    of_grades = None if isinstance(panel, Preferences) else panel
    return replace(page, texts=texts_of(topics, documents, of_grades, page.documents_shown))


def input_files(role: str, paths: Iterable[str]) -> tuple[InputFile, ...]:
    """Files that were read, with what tells whether they are the same ones. Pipes are left out.

    paths : as `read_runs` takes them: paths, patterns, folders, NAME=PATH.

    Raises
    ------
    FileError
        A file that cannot be read.
    """
    listed_files = []
    for path in _paths(paths):
        if not path.is_file():
            continue
        try:
            content = path.read_bytes()
        except OSError as error:
            raise FileError(path, f"cannot be read: {(error.strerror or str(error)).lower()}") from None
        listed_files.append(InputFile(role, str(path), len(content), hashlib.sha256(content).hexdigest()))
    return tuple(listed_files)


def _paths(arguments: Iterable[str]) -> Iterator[Path]:
    for argument in arguments:
        _, named, rest = argument.partition("=")
        yield from find_files(rest if named and not (Path(argument).exists() or glob(argument)) else argument)


# ---------------------------------------------------------------------- parts


def _of_grades(
    runs: Runs,
    panel: Judgments,
    scores: Scores,
    part: MeasureComparison,
    answer: Answer,
    reference: Scores | None,
    reference_tau: dict[str, float] | None,
    *,
    conventions: Conventions,
    choices: Choices,
    random_assessors: int,
    progress: Callable[[int, int], None] | None,
) -> dict[str, Any]:
    """Assessors, topics, methods, and what the difference rests on."""
    name = scores.measures[0]
    once = panel.single(repeats=conventions.repeats)  # for what does not count repeats: they are left out once
    similarities, aware = similarities_of(runs, once, name, conventions, random_assessors, choices.seed, progress)
    return {
        "topics": topics_of(runs, once, scores, conventions),
        "assessors": assessors_of(
            panel,
            scores,
            part,
            similarities,
            aware,
            conventions=conventions,
            reference_tau=reference_tau,
            n_resamples=min(choices.n_resamples, 1000),
            seed=choices.seed,
        ),
        "methods": methods_of(
            runs, panel, scores, conventions, similarities, aware, reference=reference, seed=choices.seed
        ),
        "influence": influence_of(runs, panel, name, answer.first, answer.second, conventions=conventions),
    }


def _of_preferences(
    panel: Preferences,
    scores: Scores,
    part: MeasureComparison,
    answer: Answer,
    reference: Scores | None,
    reference_tau: dict[str, float] | None,
    confidence: float,
) -> dict[str, Any]:
    """The same sections, as far as they need no grades."""
    from qrowd.reports.report_preferences import (  # slow to import, and most reports do without
        agreement_of,
        assessors_of_preferences,
        influence_of_preferences,
        methods_of_preferences,
        topics_of_preferences,
    )

    return {
        "topics": topics_of_preferences(panel, scores),
        "assessors": assessors_of_preferences(panel, scores, part, reference_tau),
        "methods": methods_of_preferences(scores, reference),
        "influence": influence_of_preferences(answer.first, answer.second),
        "preferences": agreement_of(panel, confidence),
    }


@overload
def _panel_and_reference(judgments: Judgments, reference: str | None) -> tuple[Judgments, Judgments | None]: ...
@overload
def _panel_and_reference(judgments: Preferences, reference: str | None) -> tuple[Preferences, Preferences | None]: ...
def _panel_and_reference(
    judgments: Judgments | Preferences, reference: str | None
) -> tuple[Judgments | Preferences, Judgments | Preferences | None]:
    """The judgments of the panel, and those of the reference."""
    if reference is None:
        return judgments, None
    number_of(reference, judgments.assessors, "assessor")
    if len(judgments.assessors) == 1:
        raise ArgumentError(f"reference {reference!r} is the only assessor, so there is no panel; give another")
    others = judgments.select(assessors=lambda name: name != reference)
    return others, judgments.select(assessors=lambda name: name == reference)


def _tau_with(scores: Scores, gold: Scores) -> dict[str, float]:
    """tau-b of every assessor's ranking with the reference's, over the topics both have."""
    topics = [topic for topic in scores.topics if topic in gold.topics]
    array = np.concatenate([gold.sel(topic=topics).values[0], scores.sel(topic=topics).values[0]])
    names = [*(f"reference {name}" for name in gold.assessors), *scores.assessors]
    table = Scores.from_array(array, assessors=names, topics=topics, systems=scores.systems)
    return dict(zip(scores.assessors, correlations(table, reference=names[0]).tau_b[1:].tolist(), strict=True))


def _facts(runs: Runs, judgments: Judgments | Preferences, scores: Scores, topics: Topics) -> dict[str, Any]:
    about = scores.attributes
    ((cutoff, share),) = about["unjudged_shares"].items()
    return {
        "systems": len(scores.systems),
        "topics": int((~np.isnan(scores.values[0])).any(axis=(0, 2)).sum()),
        "assessors": len(scores.assessors),
        "judgments": len(judgments) if isinstance(judgments, Preferences) else int((judgments.value >= 0).sum()),
        "documents": sum(row.n_documents for row in topics.rows),
        "repeated": int(about["repeated_judgments"]),
        "retrieved": len(runs),
        "unjudged_cutoff": cutoff,
        "unjudged_share": share,
        "missing_lists": int(about["missing_lists"]),
        "whole_pools": float((scores.coverage == 1).mean()),
    }


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:  # run from a folder that nobody installed
            versions[name] = "unknown"
    return versions
