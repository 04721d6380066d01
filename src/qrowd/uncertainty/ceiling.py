"""The human ceiling of a measure: the score of an assessor who ranks documents by their own grades.

If other assessors do not reach a score by the gold judgments, a system that does reproduces peculiarities of the gold
judgments rather than relevance. Parry et al. (2025), Variations in Relevance Judgments and the Shelf Life of Test
Collections. SIGIR.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError, check_choice
from qrowd.evaluation import evaluate
from qrowd.evaluation import measure as parse
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.model.scores import known_error, known_mean

Documents = Literal["pool", "seen"]
Kind = Literal["panel", "assessor", "model", "chance"]

PANEL = ("max", "mean")
CHANCE = "chance"
CONVENTIONS = Conventions()


@dataclass(frozen=True, eq=False)
class Ceiling(Result):
    """The scores of rankings by grades, evaluated by the gold judgments.

    lines : "max" and "mean" of each topic's assessors, each assessor, the model where there is one, and "chance", all
        documents tied. kinds : which of these each line is.
    mean, standard_error, n_topics : (lines,) over the line's topics. by_topic : (lines, topics) nan where an assessor
        judged nothing, or too little, of the topic.
    model_mean : (lines,) the model's mean on the same topics; nan without a model.
    documents : "pool" or "seen". n_documents : number ranked. n_outside : documents that assessors or model judged and
        gold did not, which are left out. n_topics_left_out : topics of gold that no assessor judged.
    """

    lines: tuple[str, ...]
    kinds: tuple[Kind, ...]
    topics: tuple[str, ...]
    by_topic: Floats
    mean: Floats
    standard_error: Floats
    n_topics: NDArray[np.int64]
    model_mean: Floats
    measure: str
    gold: str
    documents: Documents
    n_documents: int
    n_outside: int
    n_topics_left_out: int

    def of(self, line: str) -> float:
        """The mean of one line, such as "max"."""
        if line not in self.lines:
            raise ArgumentError(f"line {line!r} is not among them; choose one of {', '.join(self.lines)}")
        return float(self.mean[self.lines.index(line)])

    def _columns(self) -> dict[str, Any]:
        names = ("mean", "standard_error", "n_topics", "model_mean")
        return {"line": self.lines, "kind": self.kinds, **{name: getattr(self, name) for name in names}}


def human_ceiling(
    judgments: Judgments,
    gold: Judgments,
    measure: object = "nDCG@10",
    *,
    model: Judgments | None = None,
    documents: Documents = "pool",
    conventions: Conventions = CONVENTIONS,
) -> Ceiling:
    """Score the rankings of each topic's documents by the assessors' grades, using gold judgments.

    Documents are ranked by the highest and by the mean grade of the topic's assessors, and by each assessor's own; a
    document that an assessor did not judge has grade 0 in the assessor's ranking, and ties are scored in expectation.
    The model's grades are treated in the same way.

    judgments : of the assessors. gold, model : of one assessor each.
    measure : one that is linear in gains (nDCG, DCG, P, RBP, ...), which has an expectation under ties.
    documents : "pool" ranks all that gold judged. "seen" ranks only documents that some assessor judged: where
        assessors were shown a selection made by gold, unseen documents are low for a reason that is not the assessors'
        merit.
    conventions : its `repeats` and `min_coverage` are used: an assessor who judged less than this share of what the
        topic's assessors judged has no score there.

    Raises
    ------
    NoOverlapError
        Assessors, or model, and gold share no document.
    ArgumentError
        Gold or model of several assessors; a name used twice, or the name of a line.
    MeasureError
        A measure that has no expectation under ties.
    """
    check_choice("documents", documents, Documents)
    scoring = Conventions(ties="expected", min_coverage=0.0, repeats=conventions.repeats)
    assessors = judgments.assessors
    truth = _one(gold, "gold")
    models = () if model is None else (_one(model, "model"),)
    _distinct((*assessors, truth, *models))
    together = concatenate_judgments([judgments, gold, *([] if model is None else [model])])
    panel = together.panel(repeats=conventions.repeats)
    column = {name: i for i, name in enumerate(panel.assessors)}
    values = panel.values[:, [column[who] for who in assessors]]
    model_values = panel.values[:, [column[who] for who in models]]
    topic = np.repeat(np.arange(len(panel.pool.topics)), np.diff(panel.pool.starts))
    judged, known = ~np.isnan(values), ~np.isnan(panel.values[:, column[truth]])
    if not (judged & known[:, None]).any():
        raise NoOverlapError(
            f"the assessors and gold {truth!r} judged no document both; check that they are of one collection"
        )
    if models and not (known & ~np.isnan(model_values[:, 0])).any():
        raise NoOverlapError(
            f"model {models[0]!r} and gold {truth!r} judged no document both; check that they are of one collection"
        )
    judged_topics = np.zeros(len(panel.pool.topics), bool)
    judged_topics[topic[judged.any(axis=1) & known]] = True
    in_rankings = known & judged_topics[topic] & (judged.any(axis=1) if documents == "seen" else True)
    rows = np.flatnonzero(in_rankings)
    lines = (*PANEL, *assessors, *models, CHANCE)
    of_assessors: list[Kind] = ["assessor" for _ in assessors]
    kinds: tuple[Kind, ...] = ("panel", "panel", *of_assessors, *(("model",) if models else ()), "chance")
    grades = np.column_stack(
        [
            np.nan_to_num(np.fmax.reduce(values[rows], axis=1)),
            np.nan_to_num(known_mean(values[rows], axis=1)),
            np.nan_to_num(values[rows]),
            np.nan_to_num(model_values[rows]),
            np.zeros(rows.size),
        ]
    )
    n_lines = len(lines)
    runs = Runs(
        lines,
        panel.pool.topics,
        panel.pool.documents,
        np.tile(np.arange(n_lines, dtype=np.int32), rows.size),
        np.repeat(topic[rows], n_lines).astype(np.int32),
        np.repeat(panel.pool.document[rows], n_lines),
        grades.ravel(),
    )
    parsed = parse(measure)
    scores = evaluate(runs, gold, [parsed], conventions=scoring)
    at = {name: i for i, name in enumerate(scores.topics)}
    topics = tuple(name for name, there in zip(panel.pool.topics, judged_topics, strict=True) if there)
    place = [scores.systems.index(line) for line in lines]
    by_topic = scores.values[0, 0][[at[name] for name in topics]].T[place]
    by_topic[len(PANEL) : len(PANEL) + len(assessors)][
        ~_enough(judged, topic, judged_topics, conventions.min_coverage)
    ] = np.nan
    n_topics = (~np.isnan(by_topic)).sum(axis=1)
    models_line = by_topic[-2] if models else np.full(len(topics), np.nan)
    outside = ~known & (judged.any(axis=1) | ~np.isnan(model_values).all(axis=1))
    return Ceiling(
        lines,
        kinds,
        topics,
        by_topic,
        known_mean(by_topic, axis=1),
        known_error(by_topic, axis=1),
        n_topics,
        known_mean(np.where(np.isnan(by_topic), np.nan, models_line), axis=1),
        str(parsed),
        truth,
        documents,
        int(rows.size),
        int(outside.sum()),
        len(np.unique(topic[known])) - len(topics),
    )


def _one(judgments: Judgments, argument: str) -> str:
    if len(judgments.assessors) != 1:
        raise ArgumentError(f"{argument}: {len(judgments.assessors)} assessors; the judgments of one were expected")
    return judgments.assessors[0]


def _distinct(names: tuple[str, ...]) -> None:
    reserved = {*PANEL, CHANCE}
    for name in names:
        if name in reserved:
            raise ArgumentError(
                f"assessor {name!r}: assessors, gold and model need different names, none of them "
                f"{', '.join((*PANEL, CHANCE))}; rename one"
            )
        reserved.add(name)


def _enough(
    judged: NDArray[np.bool_], topic: NDArray[np.int64], judged_topics: NDArray[np.bool_], least: float
) -> NDArray[np.bool_]:
    """(assessors, judged topics) whether the assessor judged that share of the topic's judged documents."""
    some = judged.any(axis=1)
    of_all = np.bincount(topic[some], minlength=judged_topics.size)[judged_topics]
    own = np.array([np.bincount(topic[column], minlength=judged_topics.size)[judged_topics] for column in judged.T])
    return np.asarray((own > 0) & (own >= least * of_all))
