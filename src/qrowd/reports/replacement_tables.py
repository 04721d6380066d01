"""Sentences, tables and notes of `qrowd replace`: the test of a model, its agreement, its ceiling and its bias."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from qrowd.agreement.pairwise import PairwiseAgreement
from qrowd.reports.document import Note, Table, repeats_note
from qrowd.reports.phrases import cells, count, interval, is_or_are, listed, number, percent, probability, signed
from qrowd.uncertainty.annotator_test import (
    MIN_ASSESSORS,
    MIN_TOPICS,
    PASSES,
    AnnotatorTest,
    LeaveOneOutAnnotatorTests,
)
from qrowd.uncertainty.assessor_bias import SEVERITY_ERROR, AssessorBias
from qrowd.uncertainty.ceiling import Ceiling

CLUSTERS = {
    "topics": "documents of one topic may be alike",
    "documents": "all count as independent, as in the paper; p is too small where a model fails on whole topics",
}
FEW_TOPICS = 20
CLOSENESS = {
    "accuracy": "share of the others who gave the same grade",
    "rmse": "minus the root of the mean squared difference to the others",
    "difference": "minus the mean absolute difference to the others",
}


# ---------------------------------------------------------------------- the test


def verdict_sentence(test: AnnotatorTest, assessor_tests: LeaveOneOutAnnotatorTests) -> str:
    """Whether the model may replace the assessors, and how close it and they are to the others."""
    n, of = int(test.replaceable.sum()), len(test.assessors)
    sign = ">=" if test.passes else "<"
    verdict = "may replace your assessors" if test.passes else "has not shown that it may replace your assessors"
    text = (
        f"{test.model} {verdict}: the test supports replacing {n} of the {of} assessors {listed(test.assessors, 6)} "
        f"(winning rate {test.winning_rate:.2f} {sign} {PASSES:.2f} at eps {test.eps:g}). On average over assessors, "
        f"it is at least as close to the others as the assessor on "
        f"{percent(test.advantage_probability, 0)} of documents"
    )
    rates = assessor_tests.winning_rate[assessor_tests.n_tested > 0]
    if rates.size:
        passing = int((rates >= PASSES).sum())
        text += f"; in its place {passing} of {rates.size} assessors would pass the same test"
    return text + "."


def verdict_table(
    test: AnnotatorTest, assessor_tests: LeaveOneOutAnnotatorTests, kappas: PairwiseAgreement | None
) -> Table:
    """A row per assessor: the test, kappas, and the result of the assessor in place of the model."""
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


def verdict_notes(
    test: AnnotatorTest,
    assessor_tests: LeaveOneOutAnnotatorTests,
    kappas: PairwiseAgreement | None,
    relevance: str | None,
) -> Iterator[Note]:
    """How the test was computed. relevance : why it compares relevant or not; None where it compares values."""
    yield Note(
        "test",
        f"alternative annotator test; eps {test.eps:g}; false discovery rate {test.q:g} (Benjamini-Yekutieli, p is "
        f"adjusted); the model passes from a winning rate of {PASSES:.2f}; replaceable: no means not shown",
    )
    yield Note("clusters", f"{test.clusters}, {CLUSTERS[test.clusters]}")
    yield Note("assessors", "all in --judgments other than models and gold; --exclude NAMES leaves some out")
    closeness = f"{test.closeness}, {CLOSENESS[test.closeness]}"
    if relevance is not None:
        reason = relevance and f", {relevance}"
        closeness = f"{test.closeness} on relevant or not{reason}; {CLOSENESS[test.closeness]}"
    yield Note("closeness", f"{closeness}; ties count for model and assessor")
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


# ---------------------------------------------------------------------- without the test


def untested_sentence(model: str, assessors: tuple[str, ...], kappas: PairwiseAgreement | None) -> str:
    """That the test cannot be computed, and how far the model agrees with each assessor."""
    n = len(assessors)
    why = f"there {is_or_are(n)} {n}" if n < MIN_ASSESSORS else "these have too few documents in common"
    text = (
        f"Whether {model} may replace {listed(assessors)} is not known: the alternative annotator test needs at least "
        f"{MIN_ASSESSORS} assessors besides the model, and {why}."
    )
    if kappas is None:
        return text
    m = kappas.assessors.index(model)
    places = [i for i in range(len(kappas.assessors)) if i != m and kappas.n[i, m]]
    parts = [
        f"{kappas.assessors[i]}'s on {percent(float(kappas.agreement[i, m]))} of {count(kappas.n[i, m], 'document')} "
        f"(kappa {number(kappas.kappa[i, m], 3)})"
        for i in places
    ]
    return f"{text} Its judgments equal {listed(parts)}." if parts else text


def agreement_columns(model: str, kappas: PairwiseAgreement) -> dict[str, list[Any]]:
    """Of each pair of model and assessors that share documents: those, share of equal judgments and kappa."""
    pairs = [(i, j) for i, j in zip(*np.nonzero(np.triu(kappas.n, 1)), strict=True)]
    names = [(kappas.assessors[i], kappas.assessors[j]) for i, j in pairs]
    ordered = [pair if pair[1] != model else pair[::-1] for pair in names]
    return {
        "assessor": [first for first, _ in ordered],
        "other": [other for _, other in ordered],
        "n": [int(kappas.n[pair]) for pair in pairs],
        "agreement": [float(kappas.agreement[pair]) for pair in pairs],
        "kappa": [float(kappas.kappa[pair]) for pair in pairs],
    }


def agreement_table(model: str, kappas: PairwiseAgreement) -> Table:
    """A row for each pair of model and assessors."""
    values = agreement_columns(model, kappas)
    columns = {
        "assessor": values["assessor"],
        "other assessor": values["other"],
        "documents": cells("{:,}".format, values["n"]),
        "agreement": cells(number, values["agreement"], digits=3),
        "kappa": cells(number, values["kappa"], digits=3),
    }
    return Table.of("agreement of the model and the assessors, on the documents both judged", columns)


def untested_notes(
    reason: str, n_assessors: int, kappas: PairwiseAgreement | None, with_rankings: bool
) -> Iterator[Note]:
    """Why there is no test, and what would add to the answer."""
    if n_assessors < MIN_ASSESSORS:
        more = count(MIN_ASSESSORS - n_assessors, "more assessor", "more assessors")
        reason = f"it leaves out one assessor at a time; let {more} judge at least 30 of these documents"
    yield Note(
        "no test",
        f"{reason}; without it nobody knows whether the model is as close to assessors as they are to each other",
    )
    if kappas is not None:
        yield Note("agreement, kappa", "share of equal judgments; Cohen's kappa, its agreement beyond chance")
    if not with_rankings:
        yield Note("rankings", "--runs FILES adds whether systems rank alike by the model and by the assessors")


# ---------------------------------------------------------------------- the ceiling


def ceiling_sentence(ceiling: Ceiling, model: str) -> str:
    """What rankings by the model's and by the assessors' grades score."""
    return (
        f"Ranking by its grades scores {ceiling.of(model):.3f} by {ceiling.measure} of {ceiling.gold}; by the "
        f"assessors' mean grades {ceiling.of('mean'):.3f}, by their highest {ceiling.of('max'):.3f}."
    )


def ceiling_table(ceiling: Ceiling) -> Table:
    """A row per source of grades."""
    sources = zip(ceiling.lines, ceiling.kinds, strict=True)
    columns = {
        "source": [line if kind != "panel" else f"assessors' {line}" for line, kind in sources],
        "mean": cells(number, ceiling.mean),
        "standard error": cells(number, ceiling.standard_error),
        "topics": cells(str, ceiling.n_topics),
        "model on these topics": cells(number, ceiling.model_mean),
    }
    return Table.of(f"{ceiling.measure} of documents ranked by grades, {ceiling.gold} as reference", columns)


def ceiling_notes(ceiling: Ceiling) -> Iterator[Note]:
    """Which documents were ranked."""
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


def bias_sentences(bias: AssessorBias) -> Iterator[str]:
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


def bias_table(bias: AssessorBias) -> Table:
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


def bias_notes(bias: AssessorBias) -> Iterator[Note]:
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
