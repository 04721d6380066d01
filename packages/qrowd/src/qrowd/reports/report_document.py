"""The report: sections, each with what it says and its tables, as plain data.

Scores, comparisons, agreement and the methods that combine assessors are computed by their own modules, under the
conventions that are named with the result.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from qrowd.comparison.rankings import correlations
from qrowd.errors import ArgumentError
from qrowd.evaluation import evaluate, measure
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import Selection, number_of
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.model.signature import version, with_signature
from qrowd.reports.comparison import Choices, compare_scores
from qrowd.reports.document import Note, Section
from qrowd.reports.kinship_tables import kinship_sentence, kinship_table
from qrowd.reports.phrases import count, number
from qrowd.reports.report_assessors import assessors_section, preferring_section, topics_section
from qrowd.reports.report_data import AnyTexts, PageData, texts_of
from qrowd.reports.report_influence import influence_section
from qrowd.reports.report_methods import PANEL, RANDOM_ASSESSORS, measures_section, methods_section
from qrowd.reports.report_page import Provenance, Report
from qrowd.reports.report_systems import answer_of, leading_pair, pair_rows, pairs_section, systems_section
from qrowd.threads import Progress

OF_OTHER_TABLES = {
    "agreement of rankings",
    "AP correlation",
    "AP-b",
    "same sign",
    "intervals",
    "P(ahead again)",
    "pair",
}
"""Kinds of notes of `qrowd compare` about what the report does not show."""
UNKNOWN = Provenance()
PACKAGES = ("qrowd", "numpy", "scipy")


@with_signature()
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
    n_resamples: int = 10_000,
    random_assessors: int = RANDOM_ASSESSORS,
    rng: Rng = 1,
    provenance: Provenance = UNKNOWN,
    progress: Progress | None = None,
) -> Report:
    """Write one page: which system is better, how certain that is, and on what the assessors disagree.

    The page is complete as it is; where its script runs, a reader chooses assessors, topics, measure and method and
    sees what that changes. It needs no server and no network. It also holds the names of the assessors and, where they
    are given, texts and comments: whoever has the page can read them.

    Parameters
    ----------
    judgments : judgments; or preferences, for which sections that need grades are left out.
    measures : texts, ir_measures objects, or one of them; the verdict is based on the first. Default: nDCG@10, of
        preferences ppref@10.
    conventions : the conventions of scoring.
    baseline : the system all others are compared with; default: the one with the highest mean.
    reference : assessor that is left out of the panel and with whom all others are compared.
    related : {assessors: systems} that are related, by name or shell pattern, as in {"qwen*": ["dual*"]}.
    topics, documents : {label: text}, or {label: {"title": ..., "text": ...}}: shown with the documents that matter.
    n_resamples, rng : of the test of all pairs of systems; rng also of methods that draw.
    random_assessors : number of random assessors of each level, for AWARE.
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
    choices = Choices(n_resamples=n_resamples, seed=seed_of(rng))
    several = measures if isinstance(measures, list | tuple) else [measures]
    names = list(dict.fromkeys(str(measure(name)) for name in several))
    panel, gold = _panel_and_reference(judged, reference)
    if baseline is not None:
        number_of(baseline, runs.systems, "system")
    scores, *others = (evaluate(runs, panel, some, conventions=conventions) for some in (names[:1], names[1:]) if some)
    gold_scores = None if gold is None else evaluate(runs, gold, names, conventions=conventions)
    pair = leading_pair(scores, baseline) if len(scores.systems) > 1 else None
    comparison = compare_scores(scores, baseline=baseline, systems=pair, related=related, choices=choices)
    part = comparison.measures[0]
    of_first = None if gold_scores is None else gold_scores.sel(measure=names[0])
    answer = answer_of(part, scores, choices.confidence, of_first)
    texts = texts_of(topics, documents, panel)
    sections = [systems_section(part, answer)]
    if others:
        sections.append(measures_section(scores, others[0], answer.first))
    if part.kinship is not None:
        first = kinship_sentence(part.kinship)
        tau = number(part.kinship.tau, 3)
        sentence = f"{first} Kendall's tau-b of the rankings with and without relatives: {tau}."
        table = kinship_table("Systems with related assessors, and those whose rank they change", part.kinship)
        sections.append(Section("kinship", "Related assessors", sentence, {"kinship": table}, headline=first))
    sections.append(pairs_section(pair_rows(part, scores, choices.confidence, baseline), answer))
    methods: dict[str, Floats | None] = {PANEL: None}
    if isinstance(panel, Preferences):
        sections.append(preferring_section(panel, choices.confidence))
    else:
        of_methods, of_page = methods_section(
            *(runs, panel, scores, names, answer.first, gold_scores),
            conventions=conventions,
            random_assessors=random_assessors,
            seed=choices.seed,
            progress=progress,
        )
        methods |= of_page
        sections += [
            influence_section(runs, panel, names[0], answer.first, answer.second, texts.documents, conventions),
            assessors_section(
                *(panel, scores, part, {} if of_first is None else _tau_with(scores, of_first), reference),
                conventions=conventions,
                n_resamples=min(n_resamples, 1000),
                seed=choices.seed,
            ),
            topics_section(panel.single(repeats=conventions.repeats), scores, texts.topics, conventions),
            of_methods,
        ]
    notes = [note for note in comparison.notes if note.kind not in OF_OTHER_TABLES]
    notes += [Note("files", text) for text in dict.fromkeys((*runs.notes, *judged.notes))]
    sections.append(_coverage_section(runs, panel, scores, notes))
    return Report(
        measures=tuple(names),
        compared_with=part.baseline,
        answer=answer,
        systems=part.rows,
        sections=tuple(sections),
        settings=scores.attributes["conventions"] | asdict(choices) | {"random_assessors": random_assessors},
        versions={"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        provenance=provenance,
        data=PageData.of(
            *(runs, panel, (scores, *others), methods, texts), conventions=conventions, confidence=choices.confidence
        ),
    )


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


def _coverage_section(runs: Runs, judgments: Judgments | Preferences, scores: Scores, notes: Sequence[Note]) -> Section:
    """What the report is based on."""
    if isinstance(judgments, Preferences):
        opinions = count(len(judgments), "preference")
    else:
        opinions = count(int((judgments.value >= 0).sum()), "judgment")
    n_topics = int((~np.isnan(scores.values[0])).any(axis=(0, 2)).sum())
    sentence = (
        f"{opinions} by {count(len(scores.assessors), 'assessor')} on {count(n_topics, 'topic')}; "
        f"{count(len(scores.systems), 'system')} with {count(len(runs), 'result')}."
    )
    return Section("coverage", "Data and conventions", sentence, notes=tuple(notes))
