"""AWARE: the systems by AWARE's weights and by equal weights, and the weights of the assessors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.aware import assessor_similarities, assessor_weights, doubtful_weights
from qrowd.aware.averages import averaged
from qrowd.aware.estimators import DEFAULT, UNIFORM
from qrowd.aware.estimators import estimator as find_estimator
from qrowd.aware.similarity import Across, Polarity, Similarities
from qrowd.aware.weights import AssessorWeights, DoubtfulWeight, reasons_to_doubt
from qrowd.comparison.rankings import kendall_tau_b
from qrowd.comparison.system_ranking import SystemRanking, first_systems, rank_systems
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.result import Tables
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.model.signature import with_signature
from qrowd.reports.document import Document, Note, Reported, Table
from qrowd.reports.notes import scoring_notes
from qrowd.reports.phrases import cells, count, lead, or_dash, percent, span
from qrowd.threads import Progress

if TYPE_CHECKING:
    from qrowd.executors import AnyExecutor

LEAST_DIFFERENCE = 0.01  # of mean tau-b, by weight and with equal weights, for a note that the two differ


@dataclass(frozen=True, eq=False, repr=False)
class AwareSummary(Reported):
    """The answer of `qrowd aware`: the systems by AWARE's weights, and the weights.

    similarities : of the assessors to random ones, or to the gold. polarity, across : as in `assessor_weights`.
    accuracy : of `Similarities.accuracy`. weighted, uniform : scores by these weights, and by equal ones.
    doubtful : a note for each assessor whose weight is doubtful.
    """

    similarities: Similarities
    polarity: Polarity
    across: Across
    accuracy: Floats
    weights: AssessorWeights
    weighted: Scores
    uniform: Scores
    doubtful: tuple[Note, ...]

    def _tables(self) -> Tables:
        """One row per measure, topic and system, or per measure and assessor."""
        return {"scores": self._score_columns, "weights": lambda: dict(self.weights.to_frame())}

    def _score_columns(self) -> dict[str, Any]:
        frame = self.weighted.to_frame().drop(columns="assessor").rename(columns={"score": self.weights.estimator})
        return {**frame, "uniform": self.uniform.to_frame()["score"]}

    def rankings(self, measure: str) -> tuple[SystemRanking, SystemRanking]:
        """The systems by AWARE's weights, and by equal weights."""
        return rank_systems(self.weighted.sel(measure=measure)), rank_systems(self.uniform.sel(measure=measure))

    @property
    def sentence(self) -> str:
        """Which system leads by each measure, and whether weights change the ranking."""
        sentences = []
        systems = self.weighted.systems
        for measure in self.weights.measures:
            weighted, uniform = self.rankings(measure)
            first, other = (first_systems(systems, ranking.rank) for ranking in (weighted, uniform))
            equal = ", with equal weights too" if first == other else f" (with equal weights {lead(other)})"
            n = int((weighted.rank != uniform.rank).sum())
            moved = f"{n} of {len(systems)} systems {'has' if n == 1 else 'have'}"
            sentences.append(f"by {measure}, {lead(first)}{equal}; {moved} another rank than with equal weights")
        return f"Assessors weighted by {self.weights.estimator}: {'; '.join(sentences)}."

    def _document(self) -> Document:
        """The systems and the weights; .csv holds one row per measure, topic and system."""
        tables = [*(_systems(self, measure) for measure in self.weights.measures), _assessors(self.weights)]
        return Document(self.sentence, tuple(tables), (*self.doubtful, *_notes(self)), self.to_frame, self._content)

    def _content(self) -> dict[str, Any]:
        return {
            "measure": self.weighted.measures,
            "topic": self.weighted.topics,
            "system": self.weighted.systems,
            "assessor": self.weights.assessors,
            "aware": self.weighted.values[:, 0],
            "uniform": self.uniform.values[:, 0],
            "accuracy": self.accuracy,
            "options": dict(self.similarities.attributes),
        }


@with_signature("estimator")
def aware_of(
    runs: Runs,
    judgments: Judgments,
    measures: Sequence[object] = ("nDCG@10", "AP"),
    *,
    estimator: str = DEFAULT,
    gold: str | None = None,
    across: Across = "own",
    polarity: Polarity = "dissimilarity",
    conventions: Conventions = Conventions(empty="nan"),
    n_resamples: int = 1000,
    rng: Rng = 1,
    executor: AnyExecutor = None,
    progress: Progress | None = None,
) -> AwareSummary:
    """Weight the assessors by how different they are from random assessors (AWARE).

    estimator : estimator of accuracy: sgl or tpc, then fro, rmse, kld, tau or apc, then md, msd or med; or uniform.
    across : one accuracy for each measure (own), or one for all measures (all).
    polarity : weights that grow with the dissimilarity to random assessors, or as printed in the paper.
    """
    find_estimator(estimator)
    similarities = assessor_similarities(
        runs,
        judgments,
        measures,
        gold=gold,
        conventions=conventions,
        n_resamples=n_resamples,
        rng=rng,
        executor=executor,
        progress=progress,
    )
    panel = judgments.select(assessors=lambda assessor: assessor != gold)
    return aware_summary(similarities, panel, estimator, polarity=polarity, across=across, repeats=conventions.repeats)


def aware_summary(
    similarities: Similarities,
    judgments: Judgments,
    estimator: str = DEFAULT,
    *,
    polarity: Polarity = "dissimilarity",
    across: Across = "own",
    repeats: Repeats = "first",
) -> AwareSummary:
    """The systems by AWARE and by equal weights, the assessors' weights, and which weights are doubtful.

    judgments : what the similarities were computed from; read for signs that an assessor does not deserve the weight.
    """
    accuracy = similarities.accuracy(estimator, polarity=polarity, across=across)
    weighted = averaged(similarities.scores, accuracy, estimator, {})
    weights = assessor_weights(similarities, estimator, polarity=polarity, across=across)
    reasons = {} if similarities.toward == "gold" else reasons_to_doubt(judgments, repeats=repeats)
    doubtful = tuple(weight_notes(weights, reasons))
    uniform = similarities.average(UNIFORM)
    return AwareSummary(similarities, polarity, across, accuracy, weights, weighted, uniform, doubtful)


def _systems(summary: AwareSummary, measure: str) -> Table:
    weighted, uniform = summary.rankings(measure)
    systems = weighted.systems
    by_assessor = rank_systems(summary.similarities.scores.sel(measure=measure)).by_assessor
    order = np.argsort(np.where(weighted.rank == 0, len(systems) + 1, weighted.rank), kind="stable")
    lowest = np.fmin.reduce(by_assessor)
    highest = np.fmax.reduce(by_assessor)
    columns: dict[str, Any] = {
        "system": [systems[s] for s in order],
        "AWARE": weighted.mean[order],
        "standard error": weighted.standard_error[order],
        "rank": cells(or_dash, weighted.rank[order]),
        "equal weights": uniform.mean[order],
        "rank by equal weights": cells(or_dash, uniform.rank[order]),
        "range over assessors": cells(span, lowest[order], highest[order], digits=4),
    }
    return Table.of(measure, columns)


def _assessors(weights: AssessorWeights) -> Table:
    order = np.argsort(-np.nan_to_num(weights.share[0], nan=-1.0), kind="stable")
    columns: dict[str, Any] = {"assessor": [weights.assessors[a] for a in order]}
    for measure, share, agreement in zip(weights.measures, weights.share, weights.agreement, strict=True):
        columns |= {f"weight {measure}": share[order], f"tau-b {measure}": agreement[order]}
    title = (
        f"weights of the assessors ({weights.estimator}; mean share over topics), and tau-b of each assessor's ranking "
        "with the mean of the others"
    )
    return Table.of(title, columns, 3)


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


def _notes(summary: AwareSummary) -> Iterator[Note]:
    similarities = summary.similarities
    weights = summary.weights
    about = similarities.attributes
    if weights.estimator != UNIFORM:
        by_weight, equal = weights.mean_agreement
        for m, measure in enumerate(weights.measures):
            weighted, uniform = summary.rankings(measure)
            tau = kendall_tau_b(weighted.mean, uniform.mean)
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
            f"{weights.estimator}; polarity: {summary.polarity}; random assessors: {about['n_resamples']:,} of each "
            f"level ({levels}); seed: {about['seed']}",
        )
    if summary.across == "all":
        yield Note("accuracies", "one for all measures, from their mean similarity")
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
