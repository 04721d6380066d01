"""A model in place of assessors: the alternative annotator test, the ceiling, and the model's bias."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from qrowd.agreement.pairwise import PairwiseAgreement
from qrowd.errors import ArgumentError
from qrowd.evaluation import evaluate
from qrowd.model.chance import Rng
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.reports.agreement import kappas as kappas_of
from qrowd.reports.document import Document, Note, Reported, Table, repeats_note
from qrowd.reports.notes import scoring_notes
from qrowd.reports.phrases import cells, interval, listed, number, percent, probability, signed
from qrowd.uncertainty.annotator_test import (
    MIN_TOPICS,
    PASSES,
    AnnotatorTest,
    LeaveOneOutAnnotatorTests,
    alternative_annotator_test,
    leave_one_out_annotator_tests,
    model_and_assessors,
)
from qrowd.uncertainty.assessor_bias import SEVERITY_ERROR, AssessorBias, assessor_bias
from qrowd.uncertainty.ceiling import Ceiling, human_ceiling
from qrowd.uncertainty.severity import expected_scores

CLUSTERS = {
    "topics": "documents of one topic may be alike",
    "documents": "all count as independent, as in the paper; p is too small where a model fails on whole topics",
}
FEW_TOPICS = 20
CLOSENESS = {
    "accuracy": "share of the others name gave the same grade",
    "rmse": "minus the root of the mean squared difference to the others",
    "difference": "minus the mean absolute difference to the others",
}


@dataclass(frozen=True, eq=False, repr=False)
class Replacement(Reported):
    """The answer of `qrowd replace`, for one model and these assessors.

    test : of the model. assessor_tests : of each assessor in the model's place. kappas : of each pair of assessors and
    model. ceiling, bias : where they were asked for. scores : from which the bias was computed, for their conventions.
    """

    test: AnnotatorTest
    assessor_tests: LeaveOneOutAnnotatorTests
    kappas: PairwiseAgreement | None = None
    ceiling: Ceiling | None = None
    bias: AssessorBias | None = None
    scores: Scores | None = None

    @property
    def sentence(self) -> str:
        """Whether the model may replace the assessors, what its grades are worth, and which systems it favours."""
        sentences = [_sentence(self.test, self.assessor_tests)]
        sentences += [] if self.ceiling is None else [_ceiling_sentence(self.ceiling, self.test.model)]
        sentences += [] if self.bias is None else _bias_sentences(self.bias)
        return " ".join(sentences)

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        """One row per assessor for the model's test and for their own; the ceiling's sources; the groups of systems."""
        return self._tables_of(test=self.test, assessors=self.assessor_tests, ceiling=self.ceiling, bias=self.bias)

    def to_document(self) -> Document:
        """The test, the ceiling and the bias; .csv holds one row per assessor."""
        tables = [_test_table(self.test, self.assessor_tests, self.kappas)]
        notes = [*_test_notes(self.test, self.assessor_tests, self.kappas)]
        if self.ceiling is not None:
            tables.append(_ceiling_table(self.ceiling))
            notes += _ceiling_notes(self.ceiling)
        if self.bias is not None:
            tables.append(_bias_table(self.bias))
            notes += _bias_notes(self.bias)
        if self.scores is not None:
            notes += scoring_notes(self.scores)
        return Document(self.sentence, tuple(tables), tuple(notes), self.to_frame, self._content)

    def _content(self) -> dict[str, Any]:
        return {
            "model": self.test.model,
            "clusters": self.test.clusters,
            "winning_rate": self.test.winning_rate,
            "passes": self.test.passes,
            "advantage": self.test.advantage_probability,
            **dict.fromkeys(("test", "assessors", "ceiling", "bias")),
            **{name: self.to_frame(what=name).to_dict("list") for name in self._tables()},
        }


@dataclass(frozen=True, eq=False, repr=False)
class Replacements(Reported):
    """The answers of `qrowd replace` for several models, each compared with the same assessors without the others."""

    models: tuple[Replacement, ...]

    @property
    def sentence(self) -> str:
        """Which of the models may replace the assessors."""
        passing = [one.test.model for one in self.models if one.test.passes]
        verdict = f"{listed(passing)} may" if passing else "none has shown that it may"
        assessors = listed(self.models[0].test.assessors)
        return f"Of {len(self.models)} models, each tested alone: {verdict} replace your assessors ({assessors})."

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        """One row per model; one per model and assessor."""
        return {"models": self._model_columns, "test": self._test_columns}

    def _model_columns(self) -> dict[str, Any]:
        tests = [one.test for one in self.models]
        ceilings = [one.ceiling for one in self.models if one.ceiling is not None]
        columns = {
            "model": [test.model for test in tests],
            "replaceable": [int(test.replaceable.sum()) for test in tests],
            "assessors": [len(test.assessors) for test in tests],
            "winning_rate": [test.winning_rate for test in tests],
            "advantage": [test.advantage_probability for test in tests],
            "passes": [test.passes for test in tests],
        }
        if ceilings:
            values = [ceiling.of(test.model) for ceiling, test in zip(ceilings, tests, strict=True)]
            columns[str(ceilings[0].measure)] = values
        return columns

    def _test_columns(self) -> dict[str, Any]:
        frames = [one.to_frame(what="test") for one in self.models]
        names = [one.test.model for one, frame in zip(self.models, frames, strict=True) for _ in range(len(frame))]
        return {"model": names} | {name: [cell for frame in frames for cell in frame[name]] for name in frames[0]}

    def to_document(self) -> Document:
        """A table of the models, and the tables of each; .csv holds one row per model."""
        columns = self._model_columns()
        texts = {
            "model": columns["model"],
            "replaceable": [f"{n} of {of}" for n, of in zip(columns["replaceable"], columns["assessors"], strict=True)],
            "winning rate": cells(number, columns["winning_rate"], digits=2),
            "advantage": cells(number, columns["advantage"], digits=3),
        }
        if self.models[0].ceiling is not None:
            texts |= {name: cells(number, columns[name]) for name in [str(self.models[0].ceiling.measure)]}
        documents = [one.to_document() for one in self.models]
        tables = [Table.of("models, each in place of the assessors", texts)]
        tables += [table for document in documents for table in document.tables]
        notes = tuple(dict.fromkeys(note for document in documents for note in document.notes))
        return Document(self.sentence, tuple(tables), notes, self.to_frame, self._content)

    def _content(self) -> dict[str, Any]:
        return {"models": [one._content() for one in self.models]}


def replacements(judgments: Judgments, models: Sequence[str], **options: Any) -> Replacement | Replacements:
    """`replacement` for each of several models, without the others; for one model just that.

    Raises
    ------
    ArgumentError
        A model that is named twice.
    """
    if len(set(models)) < len(models):
        raise ArgumentError(f"model: {listed(models)}; name each once")
    results = []
    for model in models:
        others = {name for name in models if name != model}
        alone = judgments.select(assessors=[name for name in judgments.assessors if name not in others])
        results.append(replacement(alone, model, **options))
    return results[0] if len(results) == 1 else Replacements(tuple(results))


def replacement(
    judgments: Judgments,
    model: str,
    *,
    gold: str | None = None,
    runs: Runs | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    measure: object = "nDCG@10",
    documents: Literal["pool", "seen"] = "pool",
    conventions: Conventions = Conventions(),
    rng: Rng = None,
    **options: Any,
) -> Replacement:
    """The alternative annotator test of a model; its ceiling where there is a gold; its bias where there are groups.

    judgments : of the assessors, the model and the gold, which are named. runs, groups : of `assessor_bias`.
    documents : of `human_ceiling`. options : those of `alternative_annotator_test`.
    """
    graded = conventions.graded(judgments)
    panel = graded.select(assessors=lambda assessor: assessor != gold)
    ceiling, bias, scores = None, None, None
    tests = replacement_test(panel, model, repeats=conventions.repeats, **options)
    if gold is not None:
        ceiling = human_ceiling(
            panel.select(assessors=lambda assessor: assessor != model),
            graded.select(assessors=[gold]),
            measure,
            model=panel.select(assessors=[model]),
            documents=documents,
            conventions=conventions,
        )
    if runs is not None and groups:
        scoring = replace(conventions, grades="as-is")
        scores = evaluate(runs, panel, [measure], conventions=scoring)
        expected = expected_scores(runs, panel, measure, model, conventions=scoring, rng=rng)
        bias = assessor_bias(scores, groups, model, expected=expected)
    return Replacement(*tests, ceiling, bias, scores)


def replacement_test(
    judgments: Judgments, model: str, **options: Any
) -> tuple[AnnotatorTest, LeaveOneOutAnnotatorTests, PairwiseAgreement | None]:
    """The tests of model and assessors, and kappa of each pair; options of `alternative_annotator_test`."""
    test = alternative_annotator_test(judgments, model, **options)
    table, _, names = model_and_assessors(judgments, model, options.pop("assessors", None))
    assessor_tests = leave_one_out_annotator_tests(table.select(assessors=list(names)), **options)
    weights = "quadratic" if test.closeness != "accuracy" else None
    return test, assessor_tests, kappas_of(table, "fractions", "magnitude", weights=weights, repeats=test.repeats)


# ---------------------------------------------------------------------- the test


def _sentence(test: AnnotatorTest, assessor_tests: LeaveOneOutAnnotatorTests) -> str:
    n, of = int(test.replaceable.sum()), len(test.assessors)
    sign = ">=" if test.passes else "<"
    verdict = "may replace your assessors" if test.passes else "has not shown that it may replace your assessors"
    text = (
        f"{test.model} {verdict}: the test supports replacing {n} of {of} (winning rate {test.winning_rate:.2f} {sign} "
        f"{PASSES:.2f} at eps {test.eps:g}). On average over assessors, it is at least as close to the others as "
        f"the assessor on {percent(test.advantage_probability, 0)} of documents"
    )
    rates = assessor_tests.winning_rate[assessor_tests.n_tested > 0]
    if rates.size:
        passing = int((rates >= PASSES).sum())
        text += f"; in its place {passing} of {rates.size} assessors would pass the same test"
    return text + "."


def _test_table(
    test: AnnotatorTest, assessor_tests: LeaveOneOutAnnotatorTests, kappas: PairwiseAgreement | None
) -> Table:
    columns = {
        "assessor": list(test.assessors),
        "documents": cells("{:,}".format, test.n_documents),
        "topics": cells("{:,}".format, test.n_topics),
        "model at least as close": cells(number, test.model_share, digits=3),
        "assessor at least as close": cells(number, test.assessor_share, digits=3),
        "difference": cells(signed, test.difference, digits=3),
        "p": cells(probability, test.p_adjusted),
        "replaceable": ["yes" if replaceable else "no" for replaceable in test.replaceable],
    }
    if kappas is not None:
        model, others = zip(*(_kappas_of(kappas, name, test.model) for name in test.assessors), strict=True)
        columns["kappa with model"] = cells(number, model, digits=3)
        columns["kappa with others"] = cells(number, others, digits=3)
    own = [assessor_tests.assessors.index(name) for name in test.assessors]
    columns["own winning rate"] = cells(number, assessor_tests.winning_rate[own], digits=2)
    columns["own advantage"] = cells(number, assessor_tests.advantage_probability[own], digits=3)
    return Table.of(f"{test.model} compared with each assessor, by the judgments of the others", columns)


def _kappas_of(kappas: PairwiseAgreement, name: str, model: str) -> tuple[float, float]:
    """Kappa of an assessor with the model, and with the others, weighted by the documents that both judged."""
    i, m = kappas.assessors.index(name), kappas.assessors.index(model)
    use = ~np.isnan(kappas.kappa[i])
    use[m] = False
    n = kappas.n[i][use]
    return float(kappas.kappa[i, m]), float(kappas.kappa[i][use] @ n / n.sum()) if n.sum() else np.nan


def _test_notes(
    test: AnnotatorTest, assessor_tests: LeaveOneOutAnnotatorTests, kappas: PairwiseAgreement | None
) -> Iterator[Note]:
    yield Note(
        "test",
        f"alternative annotator test; eps {test.eps:g}; false discovery rate {test.q:g} (Benjamini-Yekutieli, p is "
        f"adjusted); the model passes from a winning rate of {PASSES:.2f}; replaceable: no means not shown",
    )
    yield Note("clusters", f"{test.clusters}, {CLUSTERS[test.clusters]}")
    yield Note("closeness", f"{test.closeness}, {CLOSENESS[test.closeness]}; ties count for model and assessor")
    least = int(test.n_topics.min())
    if test.clusters == "topics" and least < FEW_TOPICS:
        yield Note(
            "few topics",
            f"some assessor is tested on {least}; below {FEW_TOPICS}, and where a model fails on a few topics, up to "
            "11 % of assessors were replaced wrongly at p <= .05 in simulations (study annotator-test)",
        )
    if test.untested:
        topics = f", or than {MIN_TOPICS} topics," if test.clusters == "topics" else ""
        shared = f"fewer than {test.min_documents} documents{topics} shared with the model and another assessor"
        yield Note("not tested", f"{listed(test.untested, 8)}; {shared}")
    if (assessor_tests.n_tested > 0).any():
        yield Note("own winning rate, own advantage", "each assessor tested in place of the model, against the others")
    else:
        topics = f", on {MIN_TOPICS} topics" if test.clusters == "topics" else ""
        yield Note(
            "own winning rate",
            f"not known, since it needs {test.min_documents} documents that three assessors judged{topics}",
        )
    if kappas is not None:
        yield Note("kappa", f"Cohen's, weights={kappas.weights}; with others: their mean, weighted by documents shared")
    yield from repeats_note(test.n_repeats, f"; counted: {test.repeats}")


# ---------------------------------------------------------------------- the ceiling


def _ceiling_sentence(ceiling: Ceiling, model: str) -> str:
    return (
        f"Ranking by its grades scores {ceiling.of(model):.3f} by {ceiling.measure} of {ceiling.gold}; by the "
        f"assessors' mean grades {ceiling.of('mean'):.3f}, by their highest {ceiling.of('max'):.3f}."
    )


def _ceiling_table(ceiling: Ceiling) -> Table:
    sources = zip(ceiling.lines, ceiling.kinds, strict=True)
    columns = {
        "source": [line if kind != "panel" else f"assessors' {line}" for line, kind in sources],
        "mean": cells(number, ceiling.mean),
        "standard error": cells(number, ceiling.standard_error),
        "topics": cells(str, ceiling.n_topics),
        "model on these topics": cells(number, ceiling.model_mean),
    }
    return Table.of(f"{ceiling.measure} of documents ranked by grades, {ceiling.gold} as reference", columns)


def _ceiling_notes(ceiling: Ceiling) -> Iterator[Note]:
    rules = {
        "pool": "all that the gold assessor judged are ranked; the grade is 0 where an assessor did not judge",
        "seen": "those that some assessor judged are ranked; the ideal ranking is still that of all",
    }
    yield Note("ceiling", f"{ceiling.n_documents:,} documents, {rules[ceiling.documents]}; ties in expectation")
    yield Note("model on these topics", "the model's mean on the topics of the line")
    if ceiling.n_outside:
        yield Note("left out", f"{ceiling.n_outside:,} documents that the gold assessor did not judge")
    if ceiling.n_topics_left_out:
        yield Note("left out", f"{ceiling.n_topics_left_out} topics of the gold assessor that no assessor judged")


# ---------------------------------------------------------------------- the bias


def _bias_sentences(bias: AssessorBias) -> Iterator[str]:
    """One for each group: favoured, disfavoured, neither clearly, or no verdict."""
    for g, group in enumerate(bias.groups):
        value, low, high = bias.bias[g], bias.low[g], bias.high[g]
        values = bias.assessor_bias[g][~np.isnan(bias.assessor_bias[g])]
        if np.isnan(low):
            yield (
                f"Whether it favours {group} is not known: {value:+.3f}, and too few assessors judged topics in common "
                "to know how assessors differ (three are needed)."
            )
            continue
        numbers = f"{value:+.3f} {interval(low, high)}"
        if values.size:
            numbers += f"; assessors range from {values.min():+.3f} to {values.max():+.3f}"
        if low <= 0 <= high:
            yield f"It does not clearly favour or disfavour {group} more than another assessor might: {numbers}."
        else:
            verb = "favours" if value > 0 else "disfavours"
            yield f"It {verb} {group} more than another assessor would: {numbers}."


def _bias_table(bias: AssessorBias) -> Table:
    """A row for the model and each assessor, group by group; an interval for the model alone."""
    rows = []
    for g, group in enumerate(bias.groups):
        name = f"{group} ({bias.n_systems[g]} of {bias.n_systems_in_all})"
        own = [signed(bias.bias[g]), interval(bias.low[g], bias.high[g], 4)]
        rows.append([name, bias.model, *own, probability(bias.p[g]), str(bias.n_topics[g])])
        for j, assessor in enumerate(bias.assessors):
            value = signed(bias.assessor_bias[g, j])
            rows.append([name, assessor, value, "-", "-", str(bias.assessor_n_topics[g, j])])
    title = "bias: how much further ahead of the other systems a group is than by the (other) assessors"
    return Table(title, ["system", "assessor", "bias", "interval", "p", "topics"], rows)


def _bias_notes(bias: AssessorBias) -> Iterator[Note]:
    """How the interval was computed."""
    yield Note(
        "bias",
        f"{percent(bias.confidence)} prediction interval for one more assessor, Student's t with "
        f"{int(bias.df.min())} degrees of freedom; if it excludes 0, the model is further from the assessors than "
        "another assessor would be",
    )
    if bias.adjusted:
        change = ", ".join(f"{s:+.3f} for {g}" for g, s in zip(bias.groups, bias.severity, strict=True))
        yield Note(
            "severity",
            "removed by shuffling each assessor's judgments among documents that the others judged alike; it explained "
            f"{change}, and {percent(SEVERITY_ERROR)} of that is in the standard error",
        )
    else:
        yield Note(
            "severity", "not removed; a lenient or severe assessor appears to favour or disfavour better systems"
        )
