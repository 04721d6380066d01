"""The report: everything that the page shows, as plain data. `report_page` draws it.

Scores, comparisons, agreement, AWARE and the methods that combine assessors are computed by their own modules, under
the conventions that are named with the result.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, overload

import numpy as np

from qrowd.comparison.rankings import correlations
from qrowd.errors import ArgumentError
from qrowd.evaluation import evaluate, measure
from qrowd.model.chance import Rng, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import Selection, number_of
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.reports.comparison import Choices, MeasureComparison, compare_scores
from qrowd.reports.document import Document, Note, columns_of
from qrowd.reports.kinship import related_assessors
from qrowd.reports.report_assessors import Topics, assessors_of, topics_of
from qrowd.reports.report_choices import PageData
from qrowd.reports.report_content import Provenance, ReportContent
from qrowd.reports.report_documents import AnyTexts, listed_documents, texts_of
from qrowd.reports.report_influence import influence_of
from qrowd.reports.report_methods import RANDOM_ASSESSORS, by_measure, methods_of, similarities_of
from qrowd.reports.report_page import report_page
from qrowd.reports.report_systems import Answer, answer_of, leading_pair, pair_rows
from qrowd.reports.report_tables import tables_of
from qrowd.reports.table import Table, records_of

OF_OTHER_TABLES = ("AP correlation", "same sign", "P(ahead again)", "pair")
"""Kinds of notes of `qrowd compare` about what the report does not show."""
UNKNOWN = Provenance()
READING = "files"
"""Kind of the notes on how files were read."""
PACKAGES = ("qrowd", "numpy", "scipy")


class Report(ReportContent):
    """The answer of `qrowd report`: `write("report.html")` writes the page, `to_frame(what=...)` gives its tables."""

    @property
    def tables(self) -> dict[str, Table]:
        """The tables of the page and of files, by name."""
        return tables_of(self)

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        """One row per system, leading pair, assessor, topic, system and method, document, judgment or system."""
        columns = {name: partial(columns_of, table.records) for name, table in self.tables.items()}
        return {**columns, "systems": self._system_columns}

    def _system_columns(self) -> dict[str, Any]:
        """The table of systems, with their ranks by each method."""
        columns = columns_of(records_of(self.systems))
        for ranking in self.methods.rankings:
            ranks = dict(zip(self.methods.systems, ranking.ranks, strict=True))
            name = f"rank_by_{ranking.name.replace(' ', '_').replace('-', '_').lower()}"
            columns[name] = [ranks[row.system] for row in self.systems]
        return columns

    def to_dict(self) -> dict[str, Any]:
        """All of it as dictionaries, tuples and numbers, without the scores behind it."""
        content = asdict(replace(self, preferences=None, data=None))  # type: ignore[arg-type]
        del content["data"]
        content["preferences"] = None if self.preferences is None else self.preferences.to_dict()
        return content | {"notes": list(map(str, self.notes))}

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
            return self.to_html().encode("utf-8", "replace")
        return super().content(path)

    def to_document(self) -> Document:
        """The tables for papers and programs: .csv holds one row per system, .json everything."""
        notes, tables = (*self.assessors.weight_notes, *self.notes), tuple(self.tables.values())
        if self.preferences is not None:
            notes, tables = (*notes, *self.preferences.notes), (*tables, *self.preferences.tables)
        return Document(self.sentence, tables, notes, self.to_frame, self.to_dict)


def report(
    runs: AnyRuns,
    judgments: AnyJudgments | Preferences,
    measures: object | Sequence[object] | None = None,
    *,
    conventions: Conventions = Conventions(),
    baseline: str | None = None,
    reference: str | None = None,
    related: Mapping[str, Selection] | None = None,
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
    """Write one page: which system is better, how certain that is, and on what the assessors disagree.

    The page is complete as it is; where its script runs, a reader chooses assessors, topics, measure and method and
    sees what that changes. It needs no server and no network. It also holds the names of the assessors and, where they
    are given, texts and comments: whoever has the page can read them.

    Parameters
    ----------
    judgments : judgments; or preferences, of which sections that need grades say so.
    measures : texts, ir_measures objects, or one of them; the verdict is based on the first. Default: nDCG@10, of
        preferences ppref@10.
    conventions : the conventions of scoring.
    baseline : the system all others are compared with; default: the one with the highest mean.
    reference : assessor that is left out of the panel and with whom all others are compared.
    related : {assessors: systems} that are related, by name or shell pattern, as in {"qwen*": ["dual*"]}.
    topics, documents : {label: text}, or {label: {"title": ..., "text": ...}}: shown with the documents that matter.
    confidence : of all intervals; systems with p below 1 - confidence are significantly different.
    n_resamples, rng : of the test of all pairs of systems; rng also of methods that draw.
    random_assessors : number of random assessors of each level, for AWARE.
    title : title of the page.
    provenance : command and files, shown on the page.
    progress : called with (comparisons with random assessors done, in all).

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
    names = _measures(measures)
    panel, gold = _panel_and_reference(judged, reference)
    if baseline is not None:
        number_of(baseline, runs.systems, "system")
    scores, *others = _scores(runs, panel, names, conventions)
    pair = leading_pair(scores, baseline) if len(scores.systems) > 1 else None
    comparison = compare_scores(scores, baseline=baseline, systems=pair, related=related, choices=choices)
    part = comparison.measures[0]
    gold_scores = () if gold is None else _scores(runs, gold, names, conventions)
    answer = answer_of(part, scores, confidence, gold_scores[0] if gold_scores else None)
    reference_tau = _tau_with(scores, gold_scores[0]) if gold_scores else {}
    if isinstance(panel, Preferences):
        sections = _of_preferences(panel, scores, part, answer, gold_scores, reference_tau)
    else:
        sections = _of_grades(
            *(runs, panel, scores, names, part, answer, gold_scores, reference_tau),
            conventions=conventions,
            choices=choices,
            random_assessors=random_assessors,
            progress=progress,
        )
    texts = texts_of(topics, documents, panel)
    if texts.topics:
        rows = tuple(replace(row, text=texts.topics.get(row.topic, "")) for row in sections["topics"].rows)
        sections["topics"] = replace(sections["topics"], rows=rows)
    page = Report(
        title=title or "Which search system is better?",
        measure=names[0],
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
        by_measure=by_measure(scores, others[0] if others else None),
        related=None if part.kinship is None else related_assessors(part.kinship),
        data=PageData(
            scores=(scores, *others),
            methods=sections.pop("choices"),
            topics=tuple(texts.topics.get(topic, "") for topic in scores.topics),
            documents=listed_documents(runs, panel, scores.topics, texts, conventions),
            kind="preferences" if isinstance(panel, Preferences) else "judgments",
            confidence=confidence,
        ),
        **sections,
    )
    return replace(page, texts=texts.of(page.documents_shown))


# ---------------------------------------------------------------------- parts


def _measures(measures: object | Sequence[object]) -> list[str]:
    """The names of one or several measures, each once.

    >>> _measures("AP"), _measures(["ndcg_cut_10", "nDCG@10", "P@5"])
    (['AP'], ['nDCG@10', 'P@5'])
    """
    several = measures if isinstance(measures, list | tuple) else [measures]
    return list(dict.fromkeys(str(measure(name)) for name in several))


def _scores(
    runs: Runs, judgments: Judgments | Preferences, names: Sequence[str], conventions: Conventions
) -> tuple[Scores, ...]:
    """Scores by the first measure, and by the others, if any."""
    parts = [names[:1], names[1:]]
    return tuple(evaluate(runs, judgments, list(part), conventions=conventions) for part in parts if part)


def _of_grades(
    runs: Runs,
    panel: Judgments,
    scores: Scores,
    measures: Sequence[str],
    part: MeasureComparison,
    answer: Answer,
    reference: Sequence[Scores],
    reference_tau: Mapping[str, float],
    *,
    conventions: Conventions,
    choices: Choices,
    random_assessors: int,
    progress: Callable[[int, int], None] | None,
) -> dict[str, Any]:
    """Assessors, topics, methods, and what the difference rests on."""
    once, seed = panel.single(repeats=conventions.repeats), choices.seed  # for what does not count repeats
    similarities, aware = similarities_of(runs, once, measures, conventions, random_assessors, seed, progress)
    methods, of_page = methods_of(
        runs, panel, scores, measures, conventions, similarities, aware, reference=reference, seed=seed
    )
    assessors = assessors_of(
        panel,
        scores,
        part,
        similarities,
        aware,
        conventions=conventions,
        reference_tau=reference_tau,
        n_resamples=min(choices.n_resamples, 1000),
        seed=seed,
    )
    return {
        "topics": topics_of(runs, once, scores, conventions),
        "assessors": assessors,
        "methods": methods,
        "choices": of_page,
        "influence": influence_of(runs, panel, measures[0], answer.first, answer.second, conventions=conventions),
    }


def _of_preferences(
    panel: Preferences,
    scores: Scores,
    part: MeasureComparison,
    answer: Answer,
    reference: Sequence[Scores],
    reference_tau: Mapping[str, float],
) -> dict[str, Any]:
    """The same sections, as far as they need no grades."""
    from qrowd.reports import report_preferences as sections  # slow to import, and most reports do without

    methods, of_page = sections.methods_of_preferences(scores, reference)
    return {
        "topics": sections.topics_of_preferences(panel, scores),
        "assessors": sections.assessors_of_preferences(panel, scores, part, reference_tau),
        "methods": methods,
        "choices": of_page,
        "influence": sections.influence_of_preferences(answer.first, answer.second),
        "preferences": sections.agreement_of(panel, answer.confidence),
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
