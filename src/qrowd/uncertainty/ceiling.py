"""The human ceiling of a measure: what a person would score, ranking documents by their own grades.

If people who judge again do not rank better than this by the first judgments, a system that does has learnt those
judgments' ways rather than relevance. Parry et al. (2025), Variations in Relevance Judgments and the Shelf Life of Test
Collections. SIGIR.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.evaluation import measure as parse
from qrowd.model.conventions import Conventions
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments, Repeats, concatenate_judgments
from qrowd.model.runs import Runs
from qrowd.model.scores import Floats, known_error, known_mean

Documents = Literal["pool", "seen"]
Kind = Literal["panel", "person", "model", "chance"]

PANEL = ("max", "mean")
CHANCE = "chance"


@dataclass(frozen=True, eq=False)
class Ceiling:
    """What everyone's grades, taken for a ranking, score by the reference.

    lines : "max" and "mean" of each topic's people, each person, the model where there is one, and "chance", all
        documents tied; kinds : which of these each line is.
    mean, standard_error, n_topics : (lines,) over the line's topics. by_topic : (lines, topics), nan where a person
        judged nothing, or too little, of the topic.
    model_there : (lines,) the model's mean on the same topics; nan without a model.
    documents : "pool" or "seen"; n_documents : ranked; n_outside : documents that people or model judged and the
        reference did not, which are left out. n_topics_left_out : topics of the reference that no person judged.
    """

    lines: tuple[str, ...]
    kinds: tuple[Kind, ...]
    topics: tuple[str, ...]
    by_topic: Floats
    mean: Floats
    standard_error: Floats
    n_topics: NDArray[np.int64]
    model_there: Floats
    measure: str
    reference: str
    documents: Documents
    n_documents: int
    n_outside: int
    n_topics_left_out: int

    def of(self, line: str) -> float:
        """The mean of one line, such as "max"."""
        if line not in self.lines:
            raise ArgumentError(f"line {line!r} is not there; choose one of {', '.join(self.lines)}")
        return float(self.mean[self.lines.index(line)])

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per line."""
        return make_frame(
            {
                "line": np.array(self.lines, object),
                "kind": np.array(self.kinds, object),
                "mean": self.mean,
                "standard_error": self.standard_error,
                "topics": self.n_topics,
                "model_there": self.model_there,
            },
            backend,
        )


def human_ceiling(
    judgments: Judgments,
    reference: Judgments,
    measure: object = "nDCG@10",
    *,
    model: Judgments | None = None,
    documents: Documents = "pool",
    min_coverage: float = 0.1,
    repeats: Repeats = "first",
) -> Ceiling:
    """Every topic's documents ranked by people's grades, scored by the reference.

    Documents are ranked by the highest and by the mean grade that the topic's people gave, and by each person's own;
    what somebody did not see counts 0 for them, and tied documents gain in expectation. The model is ranked likewise.

    judgments : of the people. reference, model : of one assessor each.
    measure : one that is linear in gains (nDCG, DCG, P, RBP, ...), since ties have an expectation then.
    documents : "pool" ranks all that the reference judged. "seen" ranks only what some person judged: where people were
        shown a part that the reference had picked, what they did not see is low for a reason that is not their merit.
    min_coverage : a person who judged less than this share of what the topic's people judged has no score there.

    Raises
    ------
    NoOverlapError
        People, or model, and reference share no document.
    ArgumentError
        A reference or model of several assessors; a name used twice or that of a line.
    MeasureError
        A measure that has no expectation under ties.
    """
    if documents not in get_args(Documents):
        raise ArgumentError(f"documents={documents!r}: choose one of {', '.join(get_args(Documents))}")
    conventions = Conventions(ties="expected", min_coverage=0.0, repeats=repeats)
    if not 0 <= min_coverage <= 1:
        raise ArgumentError(f"min_coverage={min_coverage!r}: a share from 0 to 1 was expected")
    people = judgments.assessors
    truth = _one(reference, "reference")
    models = () if model is None else (_one(model, "model"),)
    _distinct((*people, truth, *models))
    panel = concatenate_judgments([judgments, reference, *([] if model is None else [model])]).panel(repeats=repeats)
    column = {name: i for i, name in enumerate(panel.assessors)}
    said = panel.values[:, [column[who] for who in people]]
    models_said = panel.values[:, [column[who] for who in models]]
    topic = np.repeat(np.arange(len(panel.pool.topics)), np.diff(panel.pool.starts))
    judged, known = ~np.isnan(said), ~np.isnan(panel.values[:, column[truth]])
    if not (judged & known[:, None]).any():
        raise NoOverlapError(
            f"the people and the reference {truth!r} judged no document both; check that they are of one collection"
        )
    if models and not (known & ~np.isnan(models_said[:, 0])).any():
        raise NoOverlapError(
            f"model {models[0]!r} and the reference {truth!r} judged no document both; check that they are of one "
            "collection"
        )
    by_people = np.zeros(len(panel.pool.topics), bool)
    by_people[topic[judged.any(axis=1) & known]] = True
    ranked = known & by_people[topic] & (judged.any(axis=1) if documents == "seen" else True)
    rows = np.flatnonzero(ranked)
    lines = (*PANEL, *people, *models, CHANCE)
    persons: list[Kind] = ["person" for _ in people]
    kinds: tuple[Kind, ...] = ("panel", "panel", *persons, *(("model",) if models else ()), "chance")
    grades = np.column_stack(
        [
            np.nan_to_num(np.fmax.reduce(said[rows], axis=1)),
            np.nan_to_num(known_mean(said[rows], axis=1)),
            np.nan_to_num(said[rows]),
            np.nan_to_num(models_said[rows]),
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
    wanted = parse(measure)
    scores = evaluate(runs, reference, [wanted], conventions=conventions)
    at = {name: i for i, name in enumerate(scores.topics)}
    topics = tuple(name for name, there in zip(panel.pool.topics, by_people, strict=True) if there)
    place = [scores.systems.index(line) for line in lines]
    by_topic = scores.values[0, 0][[at[name] for name in topics]].T[place]
    by_topic[len(PANEL) : len(PANEL) + len(people)][~_enough(judged, topic, by_people, min_coverage)] = np.nan
    n_topics = (~np.isnan(by_topic)).sum(axis=1)
    models_line = by_topic[-2] if models else np.full(len(topics), np.nan)
    outside = ~known & (judged.any(axis=1) | ~np.isnan(models_said).all(axis=1))
    return Ceiling(
        lines,
        kinds,
        topics,
        by_topic,
        known_mean(by_topic, axis=1),
        known_error(by_topic, axis=1),
        n_topics,
        known_mean(np.where(np.isnan(by_topic), np.nan, models_line), axis=1),
        str(wanted),
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
    taken = {*PANEL, CHANCE}
    for name in names:
        if name in taken:
            raise ArgumentError(
                f"assessor {name!r}: people, reference and model need different names, none of them "
                f"{', '.join((*PANEL, CHANCE))}; rename one"
            )
        taken.add(name)


def _enough(
    judged: NDArray[np.bool_], topic: NDArray[np.int64], by_people: NDArray[np.bool_], least: float
) -> NDArray[np.bool_]:
    """(people, topics that people judged) who judged that share of what the topic's people did, and something."""
    some = judged.any(axis=1)
    of_all = np.bincount(topic[some], minlength=by_people.size)[by_people]
    own = np.array([np.bincount(topic[column], minlength=by_people.size)[by_people] for column in judged.T])
    return np.asarray((own > 0) & (own >= least * of_all))
