"""May this judge stand in for our assessors, as a document: the test, the ceiling, and whom the judge favours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qrowd.agreement.pairwise import PairwiseAgreement, pairwise_agreement
from qrowd.errors import NoOverlapError
from qrowd.model.judgments import Judgments
from qrowd.model.scores import Scores
from qrowd.reports.document import Document, Table
from qrowd.reports.favour import favour_notes, favour_sentences, favour_table
from qrowd.reports.notes import scoring_notes
from qrowd.reports.phrases import number, probability
from qrowd.uncertainty.annotator_test import (
    FEWEST_TOPICS,
    PASSES,
    AnnotatorTest,
    LeaveOneOutAnnotatorTests,
    alternative_annotator_test,
    leave_one_out_annotator_tests,
    model_and_people,
)
from qrowd.uncertainty.assessor_bias import AssessorBias
from qrowd.uncertainty.ceiling import Ceiling

if TYPE_CHECKING:
    from typing import Any

    import pandas

CLUSTERS = {
    "topics": "documents of one topic may be alike",
    "documents": "all count as independent, as in the paper; where a model fails on whole topics p is too small",
}
FEW_TOPICS = 20
CLOSENESS = {
    "accuracy": "share of the others who gave the same grade",
    "rmse": "minus the root of the mean squared difference to the others",
    "difference": "minus the mean absolute difference to the others",
}


def replacement_document(
    test: AnnotatorTest,
    people: LeaveOneOutAnnotatorTests,
    kappas: PairwiseAgreement | None = None,
    ceiling: Ceiling | None = None,
    favour: AssessorBias | None = None,
    scores: Scores | None = None,
) -> Document:
    """The answer for this model and these people; a row per person; the ceiling and the favour where they are given.

    kappas : of every two of people and model. scores : what the favour was taken from, for its conventions.
    """
    tables = [_test_table(test, people, kappas)]
    told = [_sentence(test, people)]
    if ceiling is not None:
        tables.append(_ceiling_table(ceiling))
        told.append(_ceiling_sentence(ceiling, test.model))
    if favour is not None:
        tables.append(favour_table(favour))
        told += favour_sentences(favour)

    def frame() -> pandas.DataFrame:
        made: pandas.DataFrame = test.to_frame()
        return made

    def content() -> dict[str, Any]:
        return {
            "model": test.model,
            "clusters": test.clusters,
            "winning_rate": test.winning_rate,
            "passes": test.passes,
            "advantage": test.advantage,
            "test": test.to_frame().to_dict("list"),
            "people": people.to_frame().to_dict("list"),
            "ceiling": None if ceiling is None else ceiling.to_frame().to_dict("list"),
            "favour": None if favour is None else favour.to_frame().to_dict("list"),
        }

    said = [*_test_notes(test, people, kappas)]
    said += [] if ceiling is None else _ceiling_notes(ceiling)
    said += [] if favour is None else favour_notes(favour)
    said += [] if scores is None else scoring_notes(scores)
    return Document(" ".join(told), tuple(tables), tuple(said), frame, content)


def replacement_test(
    judgments: Judgments, model: str, **options: Any
) -> tuple[AnnotatorTest, LeaveOneOutAnnotatorTests, PairwiseAgreement | None]:
    """The test, the people's own line, and kappa of every two; options as of `alternative_annotator_test`."""
    test = alternative_annotator_test(judgments, model, **options)
    given, _, names = model_and_people(judgments, model, options.pop("humans", None))
    people = leave_one_out_annotator_tests(given.select(assessors=list(names)), **options)
    return test, people, _kappas(given, test)


def _kappas(judgments: Judgments, test: AnnotatorTest) -> PairwiseAgreement | None:
    """Weighted for grades; None where no two share a document or values are too many to be categories."""
    if any(scale.kind in ("fractions", "magnitude") for scale in judgments.scales):
        return None
    graded = test.closeness != "accuracy"
    try:
        return pairwise_agreement(judgments, weights="quadratic" if graded else None, repeats=test.repeats)
    except NoOverlapError:
        return None


# ---------------------------------------------------------------------- the test


def _sentence(test: AnnotatorTest, people: LeaveOneOutAnnotatorTests) -> str:
    n, of = int(test.replaceable.sum()), len(test.people)
    sign = ">=" if test.passes else "<"
    whole = "may stand in for your people" if test.passes else "has not shown that it may stand in for your people"
    told = (
        f"{test.model} {whole}: the test supports replacing {n} of {of} (winning rate {test.winning_rate:.2f} {sign} "
        f"{PASSES:.2f} at eps {test.eps:g}). On average over people, it is at least as close to the others as the "
        f"person on {100 * test.advantage:.0f} % of documents"
    )
    known = people.winning_rate[people.n_tested > 0]
    if known.size:
        passing = int((known >= PASSES).sum())
        told += f"; in its place {passing} of {known.size} people would pass the same test"
    return told + "."


def _test_table(test: AnnotatorTest, people: LeaveOneOutAnnotatorTests, kappas: PairwiseAgreement | None) -> Table:
    header = ["assessor", "documents", "topics", "model >=", "person >=", "difference", "p", "replaceable"]
    header += ["kappa model", "kappa people"] if kappas is not None else []
    header += ["own winning rate", "own advantage"]
    place = {who: i for i, who in enumerate(people.people)}
    rows = []
    for i, who in enumerate(test.people):
        row = [who, f"{test.n_documents[i]:,}", f"{test.n_topics[i]:,}"]
        row += [number(test.model_share[i], 3), number(test.person_share[i], 3)]
        row += [f"{test.difference[i]:+.3f}", probability(test.adjusted[i]), "yes" if test.replaceable[i] else "no"]
        row += [] if kappas is None else _kappa_cells(kappas, who, test.model)
        own = place[who]
        row += [number(people.winning_rate[own], 2), number(people.advantage[own], 3)]
        rows.append(row)
    return Table(f"{test.model} held against each person, by what the others said", header, rows)


def _kappa_cells(kappas: PairwiseAgreement, who: str, model: str) -> list[str]:
    """Kappa of a person with the model, and with the other people weighed by the documents both judged."""
    i, m = kappas.assessors.index(who), kappas.assessors.index(model)
    use = ~np.isnan(kappas.kappa[i])
    use[m] = False
    n = kappas.n[i][use]
    others = float(kappas.kappa[i][use] @ n / n.sum()) if n.sum() else np.nan
    return [number(kappas.kappa[i, m], 3), number(others, 3)]


def _test_notes(test: AnnotatorTest, people: LeaveOneOutAnnotatorTests, kappas: PairwiseAgreement | None) -> list[str]:
    told = [
        f"test: alternative annotator test; eps {test.eps:g}; false discovery rate {test.q:g} (Benjamini-Yekutieli, p "
        f"is adjusted); the model passes from a winning rate of {PASSES:.2f}; no means not shown at this level",
        f"clusters: {test.clusters}, {CLUSTERS[test.clusters]}",
        f"closeness: {test.closeness}, {CLOSENESS[test.closeness]}; ties count for model and person",
    ]
    least = int(test.n_topics.min())
    if test.clusters == "topics" and least < FEW_TOPICS:
        told.append(
            f"few topics: somebody is tested on {least}; below {FEW_TOPICS}, and where a model fails on a few topics, "
            "up to 11 % of people were replaced wrongly at p <= .05 in simulations (qrowd study annotator-test)"
        )
    if test.untested:
        names = ", ".join(test.untested[:8]) + (", ..." if len(test.untested) > 8 else "")
        topics = f", or than {FEWEST_TOPICS} topics," if test.clusters == "topics" else ""
        shared = f"fewer than {test.fewest} documents{topics} shared with the model and another person"
        told.append(f"not tested: {names}; {shared}")
    if (people.n_tested > 0).any():
        told.append("own winning rate, own advantage: the person tested as if they were the model, against the others")
    else:
        told.append(
            f"own winning rate: nobody has one, since it needs {test.fewest} documents that three people judged"
            + (f", on {FEWEST_TOPICS} topics" if test.clusters == "topics" else "")
        )
    if kappas is not None:
        told.append(f"kappa: Cohen's, weights={kappas.weights}; kappa people: with the others, by documents shared")
    if test.n_repeats:
        told.append(f"repeats: {test.n_repeats:,} judgments repeat one by the same assessor; counted: {test.repeats}")
    return told


# ---------------------------------------------------------------------- the ceiling


def _ceiling_sentence(ceiling: Ceiling, model: str) -> str:
    return (
        f"Ranking by its grades scores {ceiling.of(model):.3f} by {ceiling.measure} of {ceiling.reference}; by the "
        f"people's mean grades {ceiling.of('mean'):.3f}, by their highest {ceiling.of('max'):.3f}."
    )


def _ceiling_table(ceiling: Ceiling) -> Table:
    rows = [
        [
            line if kind != "panel" else f"people's {line}",
            number(ceiling.mean[i]),
            number(ceiling.standard_error[i]),
            str(ceiling.n_topics[i]),
            number(ceiling.model_there[i]),
        ]
        for i, (line, kind) in enumerate(zip(ceiling.lines, ceiling.kinds, strict=True))
    ]
    title = f"{ceiling.measure} of documents ranked by grades, {ceiling.reference} as reference"
    return Table(title, ["source", "mean", "s.e.", "topics", "model there"], rows)


def _ceiling_notes(ceiling: Ceiling) -> list[str]:
    what = {
        "pool": "all that the reference judged are ranked; not judged by somebody: 0 for them",
        "seen": "those that some person judged are ranked; the ideal is still that of all",
    }
    told = [
        f"ceiling: {ceiling.n_documents:,} documents, {what[ceiling.documents]}; ties in expectation",
        "model there: the model's mean on the topics of the line",
    ]
    if ceiling.n_outside:
        told.append(f"left out: {ceiling.n_outside:,} documents that the reference did not judge")
    if ceiling.n_topics_left_out:
        told.append(f"left out: {ceiling.n_topics_left_out} topics of the reference that no person judged")
    return told
