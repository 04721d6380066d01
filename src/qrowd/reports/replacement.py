"""A model in place of assessors: the alternative annotator test, the ceiling, and the model's bias."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import isnan, nan
from typing import Any, Literal

import numpy as np

from qrowd.agreement.pairwise import PairwiseAgreement
from qrowd.comparison.kinship import Kinship, kinship, related_pairs
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.evaluation import evaluate
from qrowd.model.chance import Rng
from qrowd.model.conventions import Conventions
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.labels import any_match
from qrowd.model.one_scale import Combined, CombineScales, on_one_scale
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.reports.agreement import kappas as kappas_of
from qrowd.reports.document import Document, Note, Reported, Table
from qrowd.reports.kinship import kinship_notes, kinship_sentence, kinship_table
from qrowd.reports.model_rankings import ModelRankings, model_rankings
from qrowd.reports.notes import scoring_notes
from qrowd.reports.person_comparison import (
    PersonComparison,
    calibration_columns,
    grade_columns,
    person_comparison,
)
from qrowd.reports.person_tables import (
    comparison_notes,
    comparison_sentences,
    comparison_tables,
    grades_table,
    worth_sentence,
)
from qrowd.reports.phrases import cells, count, is_or_are, listed, number
from qrowd.reports.replacement_tables import (
    agreement_columns,
    agreement_table,
    bias_notes,
    bias_sentences,
    bias_table,
    ceiling_notes,
    ceiling_sentence,
    ceiling_table,
    untested_notes,
    untested_sentence,
    verdict_notes,
    verdict_sentence,
    verdict_table,
)
from qrowd.reports.scales import scale_note, scale_rules
from qrowd.uncertainty.annotator_test import (
    MIN_ASSESSORS,
    AnnotatorTest,
    Closeness,
    LeaveOneOutAnnotatorTests,
    TooFewError,
    alternative_annotator_test,
    comparable_judgments,
    leave_one_out_annotator_tests,
    unlike_in_test,
    with_scale_of_model,
)
from qrowd.uncertainty.assessor_bias import AssessorBias, assessor_bias
from qrowd.uncertainty.calibration import Calibration, calibration
from qrowd.uncertainty.ceiling import Ceiling, human_ceiling
from qrowd.uncertainty.severity import expected_scores


@dataclass(frozen=True, eq=False, repr=False)
class Replacement(Reported):
    """The answer of `qrowd replace`, for one model and these assessors.

    test : of the model; None where there are too few assessors or documents, and `reason` says which. assessor_tests :
    of each assessor in the model's place. kappas : of each pair of assessors and model, where there are three
    assessors. comparison : with one assessor or two. calibration : with the mean grades of more. scale : on which
    scales they judged. rankings, ceiling, bias, kinship : where they were asked for. scores : from which these were
    computed.
    relevance : why the test compares relevant or not, maybe empty; None where it compares values.
    """

    model: str
    assessors: tuple[str, ...]
    test: AnnotatorTest | None
    assessor_tests: LeaveOneOutAnnotatorTests | None = None
    reason: str = ""
    kappas: PairwiseAgreement | None = None
    scale: Note | None = None
    rankings: ModelRankings | None = None
    ceiling: Ceiling | None = None
    bias: AssessorBias | None = None
    scores: Scores | None = None
    relevance: str | None = None
    kinship: Kinship | None = None
    comparison: PersonComparison | None = None
    calibration: Calibration | None = None

    @property
    def kappa(self) -> float | None:
        """Mean kappa of the model with the assessors; None where there are no categories."""
        if self.kappas is not None:
            return mean_kappa(self.kappas, self.model)
        if self.comparison is None or self.comparison.agreement is None:
            return None
        agreement = self.comparison.agreement
        return float(np.mean(agreement.kappa[np.array(agreement.first) == self.model]))

    @property
    def sentence(self) -> str:
        """Whether the model may replace the assessors, what its grades are worth, and which systems it favours."""
        if self.test is not None and self.assessor_tests is not None:
            sentences = [verdict_sentence(self.test, self.assessor_tests)]
        else:
            sentences = [untested_sentence(self.model, self.assessors, self.kappas)]
        sentences += [] if self.comparison is None else comparison_sentences(self.comparison)
        sentences += [] if self.rankings is None else [self.rankings.sentence]
        sentences += [] if self.comparison is None else filter(None, [worth_sentence(self.comparison)])
        sentences += [] if self.ceiling is None else [ceiling_sentence(self.ceiling, self.model)]
        sentences += [] if self.bias is None else bias_sentences(self.bias)
        sentences += [] if self.kinship is None else [kinship_sentence(self.kinship)]
        return " ".join(sentences)

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        """One row per assessor for the model's test and for their own; the other parts of the answer."""
        parts: dict[str, Result | None] = {"test": self.test, "assessors": self.assessor_tests}
        parts |= {"rankings": self.rankings, "ceiling": self.ceiling, "bias": self.bias, "kinship": self.kinship}
        tables = self._tables_of(**parts)
        if self.calibration is not None:
            tables["calibration"] = partial(calibration_columns, [self.calibration])
            tables["grades"] = partial(grade_columns, [self.calibration])
        if self.comparison is not None:
            tables = self.comparison.tables() | tables
        if self.test is None and self.kappas is not None:
            tables = {"agreement": partial(agreement_columns, self.model, self.kappas), **tables}
        return tables

    def to_document(self) -> Document:
        """The test or the comparison, the rankings, the ceiling and the bias; .csv holds one row per assessor."""
        tables, notes = [*self.main_tables(), *self.further_tables()], self.notes()
        return Document(self.sentence, tuple(tables), notes, self.to_frame, self.content_of_json)

    def main_tables(self) -> list[Table]:
        """The tables of the test, or of the comparison with one assessor or two."""
        if self.comparison is not None:
            return comparison_tables([self.comparison])
        tables: list[Table] = []
        if self.test is not None and self.assessor_tests is not None:
            tables.append(verdict_table(self.test, self.assessor_tests, self.kappas))
        elif self.kappas is not None:
            tables.append(agreement_table(self.model, self.kappas))
        if self.rankings is not None:
            tables.append(self.rankings.table())
        if self.calibration is not None:
            tables.append(grades_table([self.calibration], count(len(self.assessors), "assessor")))
        return tables

    def further_tables(self) -> list[Table]:
        """The tables of what was asked for besides: the ceiling, the bias, and scores without relatives."""
        tables = [] if self.ceiling is None else [ceiling_table(self.ceiling)]
        tables += [] if self.bias is None else [bias_table(self.bias)]
        if self.kinship is not None and self.scores is not None:
            tables.append(kinship_table(self.scores.measures[0], self.kinship))
        return tables

    def notes(self) -> tuple[Note, ...]:
        """How the parts were computed."""
        notes: list[Note] = []
        if self.test is not None and self.assessor_tests is not None:
            notes += verdict_notes(self.test, self.assessor_tests, self.kappas, self.relevance)
        else:
            notes += untested_notes(self.reason, len(self.assessors), self.kappas, self.rankings is not None)
        if self.calibration is not None:
            notes.append(
                Note("calibration", "of each document, the mean grade of its assessors; intervals over topics")
            )
        if self.comparison is not None:
            notes += comparison_notes([self.comparison])
        if self.rankings is not None:
            bias = self.rankings.notes(with_bias=self.bias is not None)
            notes += (note for note in bias if self.comparison is None or note.kind == "bias")
        notes += [] if self.ceiling is None else ceiling_notes(self.ceiling)
        notes += [] if self.bias is None else bias_notes(self.bias)
        notes += [] if self.kinship is None else kinship_notes(self.kinship)
        notes += [] if self.scale is None else [self.scale]
        if self.scores is not None:
            notes += [note for note in scoring_notes(self.scores) if self.scale is None or note.kind != "scale"]
        return tuple(notes)

    def content_of_json(self) -> dict[str, Any]:
        """The numbers of all parts; None for those that were not computed."""
        test = self.test
        return {
            "model": self.model,
            "clusters": test and test.clusters,
            "winning_rate": test and test.winning_rate,
            "passes": test and test.passes,
            "advantage": test and test.advantage_probability,
            **dict.fromkeys(
                ("test", "assessors", "agreement", "rankings", "ceiling", "bias", "kinship", "calibration")
            ),
            **{name: self.to_frame(what=name).to_dict("list") for name in self._tables()},
        }


@dataclass(frozen=True, eq=False, repr=False)
class Replacements(Reported):
    """The answers of `qrowd replace` for several models, each compared with the same assessors without the others."""

    models: tuple[Replacement, ...]

    @property
    def sentence(self) -> str:
        """Which of the models may replace the assessors; without a test, which agrees with them most."""
        n, assessors = len(self.models), listed(self.models[0].assessors)
        tested = [one.test for one in self.models if one.test is not None]
        if tested:
            passing = [test.model for test in tested if test.passes]
            verdict = f"{listed(passing)} may" if passing else "none has shown that it may"
            return f"Of {n} models, each tested alone: {verdict} replace your assessors ({assessors})."
        columns = self._model_columns()
        highest: dict[str, list[str]] = {}
        for name in ("kappa", "tau_b", "topics_gained"):
            values = columns.get(name)
            if values and not any(isnan(value) for value in values):
                first = columns["model"][values.index(max(values))]
                what = "most topics gained" if name == "topics_gained" else f"highest {name.replace('_', '-')}"
                text = f"{max(values):+.1f}" if name == "topics_gained" else f"{max(values):.3f}"
                highest.setdefault(first, []).append(f"the {what} ({text})")
        best = [f"{model} has {listed(texts)}" for model, texts in highest.items()]
        return (
            f"Whether any of {n} models may replace {assessors} is not known: the alternative annotator test needs at "
            f"least {MIN_ASSESSORS} assessors{' with enough documents' if len(self.models[0].assessors) > 2 else ''}"
            f"{'; '.join(['', *best])}."
        )

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        """One row per model; of each model's parts, one per model and row."""
        names = dict.fromkeys(name for one in self.models for name in one._tables())
        return {"models": self._model_columns, **{name: partial(self._part_columns, name) for name in names}}

    def _model_columns(self) -> dict[str, Any]:
        """One row per model: its test, its ceiling, and means over assessors of kappa and tau-b."""
        columns: dict[str, Any] = {"model": [one.model for one in self.models]}
        if any(one.test is not None for one in self.models):
            columns["replaceable"] = [int(one.test.replaceable.sum()) if one.test else 0 for one in self.models]
            columns["assessors"] = [len(one.test.assessors) if one.test else 0 for one in self.models]
            columns["winning_rate"] = [one.test.winning_rate if one.test else nan for one in self.models]
            columns["advantage"] = [one.test.advantage_probability if one.test else nan for one in self.models]
            columns["passes"] = [one.test is not None and one.test.passes for one in self.models]
        kappas = [one.kappa for one in self.models]
        if all(kappa is not None for kappa in kappas):
            columns["kappa"] = kappas
        if all(one.rankings is not None for one in self.models):
            columns["tau_b"] = [float(np.mean(one.rankings.tau_b)) for one in self.models if one.rankings is not None]
        worths = [one.comparison.worth for one in self.models if one.comparison is not None and one.comparison.worth]
        if len(worths) == len(self.models):
            columns["topics_gained"] = [float(worth.topics_gained[0]) for worth in worths]
        if all(one.ceiling is not None for one in self.models):
            ceilings = [one.ceiling for one in self.models if one.ceiling is not None]
            values = [ceiling.of(one.model) for ceiling, one in zip(ceilings, self.models, strict=True)]
            columns[str(ceilings[0].measure)] = values
        return columns

    def _part_columns(self, part: str) -> dict[str, Any]:
        frames = {one.model: one.to_frame(what=part) for one in self.models if part in one._tables()}
        names = [model for model, frame in frames.items() for _ in range(len(frame))]
        first = next(iter(frames.values()))
        return {"model": names} | {name: [cell for frame in frames.values() for cell in frame[name]] for name in first}

    def to_document(self) -> Document:
        """A table of the models, and the tables of each; .csv holds one row per model."""
        columns = self._model_columns()
        texts = {"model": columns["model"]}
        if "replaceable" in columns:
            counts = zip(columns["replaceable"], columns["assessors"], strict=True)
            texts |= {
                "replaceable": [f"{n} of {of}" if of else "-" for n, of in counts],
                "winning rate": cells(number, columns["winning_rate"], digits=2),
                "advantage": cells(number, columns["advantage"], digits=3),
            }
        further = [name for name in columns if name not in ("model", "passes", "assessors", *TEST_COLUMNS)]
        texts |= {name.replace("_", "-"): cells(number, columns[name], digits=3) for name in further}
        tables, notes = [], [note for one in self.models for note in one.notes()]
        comparisons = [one.comparison for one in self.models if one.comparison is not None]
        if len(comparisons) == len(self.models):
            tables += comparison_tables(comparisons)
        else:
            tables.append(Table.of("models, each in place of the assessors", texts))
            tables += [table for one in self.models for table in one.main_tables()]
        tables += [table for one in self.models for table in one.further_tables()]
        if not comparisons and len(self.models[0].assessors) > 1:
            notes.append(Note("kappa, tau-b of a model", "means over the assessors"))
        return Document(self.sentence, tuple(tables), tuple(dict.fromkeys(notes)), self.to_frame, self._content)

    def _content(self) -> dict[str, Any]:
        return {"models": [one.content_of_json() for one in self.models]}


TEST_COLUMNS = ("replaceable", "winning_rate", "advantage")


def mean_kappa(kappas: PairwiseAgreement, model: str) -> float:
    """Mean kappa of the model with each assessor, nan aside."""
    values = kappas.kappa[kappas.assessors.index(model)]
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else nan


def replacements(judgments: Judgments, models: Sequence[str], **options: Any) -> Replacement | Replacements:
    """`replacement` for each of several models, without the others; for one model just that.

    If the test or kappa of one model compares relevant or not, so do those of all: winning rates and kappas of several
    models are comparable only then.

    Raises
    ------
    ArgumentError
        A model that is named twice.
    """
    if len(set(models)) < len(models):
        raise ArgumentError(f"model: {listed(models)}; name each once")
    runs, related = options.get("runs"), options.pop("related", None)
    if related and runs is not None:
        related_pairs(judgments.assessors, runs.systems, related)  # all patterns match
    panels = []
    for model in models:
        others = {name for name in models if name != model}
        panels.append(judgments.select(assessors=[name for name in judgments.assessors if name not in others]))
    if len(models) > 1:
        gold, combine_scales = options.get("gold"), options.get("combine_scales", "auto")
        tested = [panel.select(assessors=lambda name: name != gold) for panel in panels]
        if combine_scales == "auto":
            tested = [with_scale_of_model(panel, model) for panel, model in zip(tested, models, strict=True)]
            options.setdefault("relevance", _relevance(tested, options.get("closeness")))
        if not all(alike(panel.scales) for panel in tested):
            options.setdefault("kappa_scales", "relevant")
    results = []
    for panel, model in zip(panels, models, strict=True):
        own = {name: systems for name, systems in (related or {}).items() if any_match(name, panel.assessors)}
        results.append(replacement(panel, model, related=own, **options))
    return results[0] if len(results) == 1 else Replacements(tuple(results))


def _relevance(panels: Sequence[Judgments], closeness: Closeness | None) -> str | None:
    """Why the test of some of these panels compares relevant or not; None where none does."""
    rules = [unlike_in_test(panel.scales, closeness) for panel in panels if not alike(panel.scales)]
    if "relevant" not in rules:
        return None
    scales = {name: scale for panel in panels for name, scale in zip(panel.assessors, panel.scales, strict=True)}
    binary = [name for name, scale in scales.items() if scale.kind == "binary"]
    return f"because {listed(binary)} {is_or_are(len(binary))} binary" if closeness is None else ""


def replacement(
    judgments: Judgments,
    model: str,
    *,
    gold: str | None = None,
    runs: Runs | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    related: Mapping[str, Sequence[str]] | None = None,
    measure: object = "nDCG@10",
    documents: Literal["pool", "seen"] = "pool",
    combine_scales: CombineScales = "auto",
    kappa_scales: CombineScales | None = None,
    relevance: str | None = None,
    conventions: Conventions = Conventions(),
    rng: Rng = None,
    **options: Any,
) -> Replacement:
    """The alternative annotator test of a model; rankings where there are runs; its ceiling where there is a gold.

    Where there are too few assessors or documents for the test, the rest is computed.

    judgments : of the assessors, the model and the gold, which are named. runs : for rankings, and for the bias where
    there are groups. related : {assessors: systems} that are related, by pattern; needs runs. documents : of
    `human_ceiling`. combine_scales, options : those of `alternative_annotator_test`.
    kappa_scales : what becomes of unlike scales for kappa; default: combine_scales. relevance : why the test compares
    relevant or not, also on one scale; default: combine_scales decides.
    """
    graded = conventions.graded(judgments)
    panel = graded.select(assessors=lambda assessor: assessor != gold)
    assessors = tuple(name for name in panel.assessors if name != model)
    if not assessors:
        raise ArgumentError(f"judgments: {model} is the only assessor; add the judgments of the assessors to replace")
    own = with_scale_of_model(panel, model) if combine_scales == "auto" else panel
    test_scales: CombineScales = combine_scales if relevance is None else "relevant"
    if relevance is None and combine_scales == "auto":
        relevance = _relevance([own], options.get("closeness"))
    options |= {"repeats": conventions.repeats, "combine_scales": test_scales}
    test, assessor_tests, reason = None, None, ""
    try:
        test = alternative_annotator_test(own, model, **options)
        assessor_tests = _assessor_tests(own, test, options)
    except TooFewError as error:
        reason = str(error)
    weights = "quadratic" if test is not None and test.closeness != "accuracy" else None
    kappas, means = None, None
    if len(assessors) >= MIN_ASSESSORS:
        kappas = _kappas(own, kappa_scales or combine_scales, weights=weights, repeats=conventions.repeats)
        with suppress(NoOverlapError, ScaleError):
            means = calibration(own, model, repeats=conventions.repeats)
    ceiling, bias, scores, rankings, kin = None, None, None, None, None
    if gold is not None:
        alone = on_one_scale(own, combine_scales, "rescaled")
        ceiling = human_ceiling(
            alone.select(assessors=list(assessors)),
            graded.select(assessors=[gold]),
            measure,
            model=alone.select(assessors=[model]),
            documents=documents,
            conventions=conventions,
        )
    if runs is not None:
        scoring = replace(conventions, grades="as-is")
        scores = evaluate(runs, panel, [measure], conventions=scoring)
        rankings = model_rankings(scores, model)
        if groups:
            expected = expected_scores(runs, panel, measure, model, conventions=scoring, rng=rng)
            bias = assessor_bias(scores, groups, model, expected=expected)
        if related:
            kin = kinship(scores, related)
    comparison = None
    if len(assessors) < MIN_ASSESSORS:
        comparison = person_comparison(
            own,
            model,
            runs=runs,
            scores=scores,
            measure=measure,
            combine_scales=combine_scales,
            kappa_scales=kappa_scales,
            conventions=replace(conventions, grades="as-is"),
            rng=rng,
        )
    unlike: dict[CombineScales, dict[str, Combined]] = {}
    if test is not None:
        unlike.setdefault(test_scales, {})["test"] = unlike_in_test(own.scales, options.get("closeness"))
    if ceiling is not None:
        unlike.setdefault(combine_scales, {})["ranking by grades"] = "rescaled"
    if kappas is not None:
        unlike.setdefault(kappa_scales or combine_scales, {})["kappa"] = "relevant"
    if comparison is not None and comparison.agreement is not None:
        unlike.setdefault(kappa_scales or combine_scales, {})["agreement"] = "relevant"
        unlike.setdefault("auto", {})["mean difference, error"] = "rescaled"
    rules = [scale_rules(own.scales, choice, statistics) for choice, statistics in unlike.items()]
    scale = scale_note(own, "; ".join(filter(None, rules)))
    return Replacement(
        model,
        assessors,
        test,
        assessor_tests,
        reason,
        kappas,
        scale,
        rankings,
        ceiling,
        bias,
        scores,
        relevance,
        kin,
        comparison,
        means,
    )


def _assessor_tests(panel: Judgments, test: AnnotatorTest, options: dict[str, Any]) -> LeaveOneOutAnnotatorTests:
    """The test of each assessor in place of the model, on the same scale and by the same closeness."""
    kinds = {"closeness": options.get("closeness"), "combine_scales": options["combine_scales"]}
    together = comparable_judgments(panel, test.model, **kinds)
    people = together.select(assessors=lambda name: name != test.model)
    return leave_one_out_annotator_tests(people, **{**options, "closeness": test.closeness, "combine_scales": "as-is"})


def _kappas(judgments: Judgments, combine_scales: CombineScales, **options: Any) -> PairwiseAgreement | None:
    """Kappa of each pair; of relevant or not on unlike scales; None for values that are no categories."""
    if combine_scales == "rescaled":
        return None
    if combine_scales != "relevant" and alike(judgments.scales):
        return kappas_of(judgments, "fractions", "magnitude", **options)
    return kappas_of(judgments, "magnitude", **{**options, "weights": None}, combine_scales=combine_scales)
