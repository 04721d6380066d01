"""AWARE as a document: the systems by AWARE's weights and by equal weights, and the weights of the assessors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.aware import (
    AssessorWeights,
    DoubtfulWeight,
    Similarities,
    assessor_weights,
    doubtful_weights,
    reasons_to_doubt,
)
from qrowd.aware.averages import averaged
from qrowd.aware.estimators import UNIFORM
from qrowd.aware.similarity import Across, Polarity
from qrowd.comparison.correlation import kendall_tau_b
from qrowd.comparison.system_ranking import SystemRanking, rank_systems
from qrowd.kernels.arrays import Floats
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.scores import Scores, known_mean
from qrowd.reports.document import Document, Note, Table
from qrowd.reports.notes import scoring_notes
from qrowd.reports.phrases import count, number, percent, span

if TYPE_CHECKING:
    import pandas

LEAST_DIFFERENCE = 0.01  # of mean tau-b, by weight and with equal weights, for a note that the two differ


def aware_document(
    similarities: Similarities,
    judgments: Judgments,
    name: str,
    polarity: Polarity,
    across: Across,
    *,
    repeats: Repeats = "first",
) -> Document:
    """The systems by AWARE and by equal weights, the assessors' weights, and which weights are doubtful.

    judgments : what the similarities were computed from; read for signs that an assessor does not deserve the weight.
    """
    accuracy = similarities.accuracy(name, polarity=polarity, across=across)
    weighted = averaged(similarities.scores, accuracy, name, {})
    uniform = similarities.average(UNIFORM)
    both = [
        (
            rank_systems(weighted.sel(measure=m)),
            rank_systems(uniform.sel(measure=m)),
            rank_systems(similarities.scores.sel(measure=m)),
        )
        for m in similarities.scores.measures
    ]
    tables = [
        _systems(similarities.scores, m, *three) for m, three in zip(similarities.scores.measures, both, strict=True)
    ]
    weights = assessor_weights(similarities, name, polarity=polarity, across=across)
    tables.append(_assessors(weights))
    doubtful = (
        [] if similarities.toward == "gold" else weight_notes(weights, reasons_to_doubt(judgments, repeats=repeats))
    )
    return Document(
        _sentence(similarities.scores, both, name),
        tuple(tables),
        (*doubtful, *_notes(similarities, weights, both, polarity, across)),
        frame=lambda: _frame(weighted, uniform, name),
        content=lambda: _content(weighted, uniform, accuracy, similarities),
    )


def _sentence(scores: Scores, both: list[tuple[SystemRanking, SystemRanking, SystemRanking]], name: str) -> str:
    sentences = []
    for measure, (weighted, uniform, _) in zip(scores.measures, both, strict=True):
        first = scores.systems[int(np.flatnonzero(weighted.rank == 1)[0])]
        other = scores.systems[int(np.flatnonzero(uniform.rank == 1)[0])]
        moved = int((weighted.rank != uniform.rank).sum())
        sentences.append(
            f"{first} has the highest mean {measure}"
            + (", with equal weights too" if first == other else f" (with equal weights {other} has)")
            + f"; {_moved(moved, len(scores.systems))} than with equal weights"
        )
    return f"Assessors weighted by {name}: " + ". ".join(sentences) + "."


def _moved(n: int, n_systems: int) -> str:
    if n == 0:
        return "no system has another rank"
    return f"{n} of {n_systems} systems {'has' if n == 1 else 'have'} another rank"


def _systems(
    scores: Scores, measure: str, weighted: SystemRanking, uniform: SystemRanking, all_: SystemRanking
) -> Table:
    order = np.argsort(np.where(weighted.rank == 0, len(scores.systems) + 1, weighted.rank), kind="stable")
    lowest, highest = np.fmin.reduce(all_.by_assessor), np.fmax.reduce(all_.by_assessor)
    rows = [
        [
            scores.systems[s],
            number(weighted.mean[s]),
            number(weighted.standard_error[s]),
            str(weighted.rank[s] or "-"),
            number(uniform.mean[s]),
            str(uniform.rank[s] or "-"),
            span(lowest[s], highest[s], digits=4),
        ]
        for s in order
    ]
    return Table(
        measure,
        ["system", "AWARE", "standard error", "rank", "equal weights", "rank by equal weights", "range over assessors"],
        rows,
    )


def _assessors(weights: AssessorWeights) -> Table:
    header = ["assessor"]
    for measure in weights.measures:
        header += [f"weight {measure}", "tau-b"]
    rows = []
    for a in np.argsort(-np.nan_to_num(weights.share[0], nan=-1.0), kind="stable"):
        row = [weights.assessors[a]]
        for m in range(len(weights.measures)):
            row += [number(weights.share[m, a], 3), number(weights.agreement[m, a], 3)]
        rows.append(row)
    title = (
        f"weights of the assessors ({weights.estimator}; mean share over topics), and tau-b of each assessor's ranking "
        "with the mean of the others"
    )
    return Table(title, header, rows)


def weight_notes(weights: AssessorWeights, reasons: Mapping[str, Sequence[str]]) -> list[Note]:
    """A note for each assessor with more than an equal share of the weight and a reason to doubt it, and what to do."""
    doubtful = doubtful_weights(weights, reasons)
    if not doubtful:
        return []
    advice = (
        "says how far an assessor is from random judging, not how accurate the assessor is: giving one grade "
        "throughout is far from random, too; check the assessors named above, or leave them out"
    )
    return [*map(_doubt, doubtful), Note("weight", advice)]


def _doubt(one: DoubtfulWeight) -> Note:
    which = "the largest weight" if one.largest else "more than an equal share of the weight"
    shares = f"{percent(one.share, 1)}; with equal weights {percent(one.equal, 1)}"
    return Note(
        one.assessor, f"has {which} by {one.measure} ({shares}), although it stands out: {'; '.join(one.reasons)}"
    )


def _notes(
    similarities: Similarities,
    weights: AssessorWeights,
    both: list[tuple[SystemRanking, SystemRanking, SystemRanking]],
    polarity: str,
    across: str,
) -> Iterator[Note]:
    about = similarities.attributes
    if weights.estimator != UNIFORM:
        by_weight, equal = weights.mean_agreement
        for m, measure in enumerate(weights.measures):
            tau = kendall_tau_b(both[m][0].mean, both[m][1].mean)
            yield Note(
                measure,
                f"tau-b of the rankings with weights and with equal weights is {tau:.2f}; "
                f"{_benefit(by_weight[m], equal[m])}",
            )
    if similarities.toward == "gold":
        n = count(len(about["topics"]), "topic")
        yield Note("estimator", f"{weights.estimator}, by similarity to {about['gold']} on {n}")
    else:
        levels = ", ".join(f"{level} {p:g}" for level, p in similarities.levels.items())
        yield Note(
            "estimator",
            f"{weights.estimator}; polarity: {polarity}; random assessors: {about['n_resamples']:,} of each level "
            f"({levels}); seed: {about['seed']}",
        )
    yield Note("kernel density", f"bandwidth {about['bandwidth']:g}, {about['points']} points; beta {about['beta']:g}")
    if across == "all":
        yield Note("accuracies", "one for all measures, from their mean similarity")
    flat = [
        assessor
        for a, assessor in enumerate(similarities.scores.assessors)
        if similarities.scores.known[:, a].any() and _constant(similarities.scores, a)
    ]
    if flat:
        yield Note("no ranking", f"by some measure, all systems have equal scores from {', '.join(flat)}")
    yield from scoring_notes(similarities.scores)


def _benefit(by_weight: float, equal: float) -> str:
    """Whether assessors with more weight agree more with the others, as in panels where weights help."""
    taus = f"(mean tau-b {by_weight:.2f} by weight, {equal:.2f} with equal weights)"
    if by_weight > equal + LEAST_DIFFERENCE:
        return (
            f"assessors with more weight agree more with the others' rankings {taus}, as where assessors differ in "
            "random errors"
        )
    how = "less" if by_weight < equal - LEAST_DIFFERENCE else "no more"
    return (
        f"assessors with more weight agree {how} with the others' rankings {taus}: there is no sign that these weights "
        "are better than equal ones"
    )


def _constant(scores: Scores, a: int) -> bool:
    means = known_mean(scores.values[:, a], axis=1)
    return bool((np.ptp(np.nan_to_num(means), axis=1) == 0).any())


def _frame(weighted: Scores, uniform: Scores, name: str) -> pandas.DataFrame:
    frame = weighted.to_frame().drop(columns="assessor").rename(columns={"score": name})
    return frame.assign(uniform=uniform.to_frame()["score"])


def _content(weighted: Scores, uniform: Scores, accuracy: Floats, similarities: Similarities) -> dict[str, Any]:
    return {
        "measure": weighted.measures,
        "topic": weighted.topics,
        "system": weighted.systems,
        "assessor": similarities.scores.assessors,
        "aware": weighted.values[:, 0],
        "uniform": uniform.values[:, 0],
        "accuracy": accuracy,
        "options": dict(similarities.attributes),
    }
