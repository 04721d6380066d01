"""A model in place of assessors, as a document: the alternative annotator test, the ceiling, and the model's bias."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from qrowd.agreement.pairwise import PairwiseAgreement, pairwise_agreement
from qrowd.errors import NoOverlapError
from qrowd.model.judgments import Judgments
from qrowd.model.scores import Scores
from qrowd.reports.document import Document, Note, Table
from qrowd.reports.notes import scoring_notes
from qrowd.reports.phrases import count, interval, listed, number, percent, probability, signed
from qrowd.uncertainty.annotator_test import (
    MIN_TOPICS,
    PASSES,
    AnnotatorTest,
    LeaveOneOutAnnotatorTests,
    alternative_annotator_test,
    leave_one_out_annotator_tests,
    model_and_assessors,
)
from qrowd.uncertainty.assessor_bias import SEVERITY_ERROR, AssessorBias
from qrowd.uncertainty.ceiling import Ceiling

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


def replacement_document(
    test: AnnotatorTest,
    assessor_tests: LeaveOneOutAnnotatorTests,
    kappas: PairwiseAgreement | None = None,
    ceiling: Ceiling | None = None,
    bias: AssessorBias | None = None,
    scores: Scores | None = None,
) -> Document:
    """The answer for this model and these assessors; a row per assessor; the ceiling and the bias where they are given.

    kappas : of each pair of assessors and model. scores : from which the bias was computed, for their conventions.
    """
    tables = [_test_table(test, assessor_tests, kappas)]
    sentences = [_sentence(test, assessor_tests)]
    notes = [*_test_notes(test, assessor_tests, kappas)]
    if ceiling is not None:
        tables.append(_ceiling_table(ceiling))
        sentences.append(_ceiling_sentence(ceiling, test.model))
        notes += _ceiling_notes(ceiling)
    if bias is not None:
        tables.append(_bias_table(bias))
        sentences += _bias_sentences(bias)
        notes += _bias_notes(bias)
    if scores is not None:
        notes += scoring_notes(scores)

    def content() -> dict[str, Any]:
        return {
            "model": test.model,
            "clusters": test.clusters,
            "winning_rate": test.winning_rate,
            "passes": test.passes,
            "advantage": test.advantage_probability,
            "test": test.to_frame().to_dict("list"),
            "assessors": assessor_tests.to_frame().to_dict("list"),
            "ceiling": None if ceiling is None else ceiling.to_frame().to_dict("list"),
            "bias": None if bias is None else bias.to_frame().to_dict("list"),
        }

    return Document(" ".join(sentences), tuple(tables), tuple(notes), test.to_frame, content)


def replacement_test(
    judgments: Judgments, model: str, **options: Any
) -> tuple[AnnotatorTest, LeaveOneOutAnnotatorTests, PairwiseAgreement | None]:
    """The tests of model and assessors, and kappa of each pair; options of `alternative_annotator_test`."""
    test = alternative_annotator_test(judgments, model, **options)
    table, _, names = model_and_assessors(judgments, model, options.pop("assessors", None))
    assessor_tests = leave_one_out_annotator_tests(table.select(assessors=list(names)), **options)
    return test, assessor_tests, _kappas(table, test)


def _kappas(judgments: Judgments, test: AnnotatorTest) -> PairwiseAgreement | None:
    """Weighted for grades; None where no pair shares a document, or where values are too many to be categories."""
    if any(scale.kind in ("fractions", "magnitude") for scale in judgments.scales):
        return None
    graded = test.closeness != "accuracy"
    try:
        return pairwise_agreement(judgments, weights="quadratic" if graded else None, repeats=test.repeats)
    except NoOverlapError:
        return None


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
    known = assessor_tests.winning_rate[assessor_tests.n_tested > 0]
    if known.size:
        passing = int((known >= PASSES).sum())
        text += f"; in its place {passing} of {known.size} assessors would pass the same test"
    return text + "."


def _test_table(
    test: AnnotatorTest, assessor_tests: LeaveOneOutAnnotatorTests, kappas: PairwiseAgreement | None
) -> Table:
    header = [
        "assessor",
        "documents",
        "topics",
        "model at least as close",
        "assessor at least as close",
        "difference",
        "p",
        "replaceable",
    ]
    header += ["kappa with model", "kappa with others"] if kappas is not None else []
    header += ["own winning rate", "own advantage"]
    place = {name: i for i, name in enumerate(assessor_tests.assessors)}
    rows = []
    for i, name in enumerate(test.assessors):
        row = [name, f"{test.n_documents[i]:,}", f"{test.n_topics[i]:,}"]
        row += [number(test.model_share[i], 3), number(test.assessor_share[i], 3)]
        row += [signed(test.difference[i], 3), probability(test.p_adjusted[i]), "yes" if test.replaceable[i] else "no"]
        row += [] if kappas is None else _kappa_cells(kappas, name, test.model)
        own = place[name]
        row += [number(assessor_tests.winning_rate[own], 2), number(assessor_tests.advantage_probability[own], 3)]
        rows.append(row)
    return Table(f"{test.model} compared with each assessor, by the judgments of the others", header, rows)


def _kappa_cells(kappas: PairwiseAgreement, name: str, model: str) -> list[str]:
    """Kappa of an assessor with the model, and with the others, weighted by the documents that both judged."""
    i, m = kappas.assessors.index(name), kappas.assessors.index(model)
    use = ~np.isnan(kappas.kappa[i])
    use[m] = False
    n = kappas.n[i][use]
    others = float(kappas.kappa[i][use] @ n / n.sum()) if n.sum() else np.nan
    return [number(kappas.kappa[i, m], 3), number(others, 3)]


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
    if test.n_repeats:
        n = count(test.n_repeats, "judgment repeats", "judgments repeat")
        yield Note("repeats", f"{n} one by the same assessor; counted: {test.repeats}")


# ---------------------------------------------------------------------- the ceiling


def _ceiling_sentence(ceiling: Ceiling, model: str) -> str:
    return (
        f"Ranking by its grades scores {ceiling.of(model):.3f} by {ceiling.measure} of {ceiling.gold}; by the "
        f"assessors' mean grades {ceiling.of('mean'):.3f}, by their highest {ceiling.of('max'):.3f}."
    )


def _ceiling_table(ceiling: Ceiling) -> Table:
    rows = [
        [
            line if kind != "panel" else f"assessors' {line}",
            number(ceiling.mean[i]),
            number(ceiling.standard_error[i]),
            str(ceiling.n_topics[i]),
            number(ceiling.model_mean[i]),
        ]
        for i, (line, kind) in enumerate(zip(ceiling.lines, ceiling.kinds, strict=True))
    ]
    title = f"{ceiling.measure} of documents ranked by grades, {ceiling.gold} as reference"
    return Table(title, ["source", "mean", "standard error", "topics", "model on these topics"], rows)


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
        known = bias.assessor_bias[g][~np.isnan(bias.assessor_bias[g])]
        if np.isnan(low):
            yield (
                f"Whether it favours {group} is not known: {value:+.3f}, and too few assessors judged topics in common "
                "to know how assessors differ (three are needed)."
            )
            continue
        numbers = f"{value:+.3f} {interval(low, high)}"
        if known.size:
            numbers += f"; assessors range from {known.min():+.3f} to {known.max():+.3f}"
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
