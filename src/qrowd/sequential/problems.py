"""A question made ready once, from runs and models, so that later looks need judgments alone.

A campaign stores a `Preparation`; a look at any time is the same as `next_judgments` makes from the runs, the models
and the exported judgments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.evaluation import measure as parsed_measure
from qrowd.kernels.arrays import Floats
from qrowd.model.judgments import Judgments
from qrowd.model.measure import Measure
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale, parse_scale
from qrowd.sequential.candidates import Candidates, candidates_of, label_shares, mean_gains, possible_gains
from qrowd.sequential.design import Design
from qrowd.sequential.draws import Draws
from qrowd.sequential.inputs import judged_by_models
from qrowd.sequential.looks import Look, Problem
from qrowd.sequential.predictions import label_features
from qrowd.sequential.question import Question
from qrowd.sequential.statement import Statement
from qrowd.sequential.variances import Target


@dataclass(frozen=True, eq=False)
class Preparation:
    """A question, the documents that it is about, and what models said of them.

    scale : of the people. models : their names. shares : (candidates, models) gains as shares of the highest, nan where
    a model did not judge. n_topics_out : topics of the runs that no model judged, which are left out.
    """

    question: Question
    measure: Measure
    scale: Scale
    candidates: Candidates
    models: tuple[str, ...]
    shares: Floats
    n_topics_out: int = 0

    @cached_property
    def levels(self) -> Floats:
        """Possible gains of people, ascending."""
        return possible_gains(self.measure, self.scale)

    def problem(self, judged_by_models: Judgments | None = None) -> Problem:
        """The question as arrays.

        judged_by_models : further labels, of models that judged since. They count once they cover every topic whose
        documents matter, because `next_judgments` leaves out topics that no model judged.
        """
        shares = self.shares
        if judged_by_models is not None:
            further = label_shares(judged_by_models, self.candidates)
            if self.models or not self._topics_without(further):
                shares = np.hstack([shares, further])
        return Problem(self.question, self.measure, self.candidates, label_features(shares), self.levels)

    def n_topics_without(self, judged_by_models: Judgments) -> int:
        """Topics of which no model judged a document; 0 once labels of these models count."""
        further = label_shares(judged_by_models, self.candidates)
        return 0 if self.models else self._topics_without(further)

    def _topics_without(self, shares: Floats) -> int:
        labelled = np.unique(self.candidates.topic[~np.isnan(shares).all(axis=1)])
        return len(self.candidates.topics) - labelled.size

    @cached_property
    def matters(self) -> NDArray[np.int64]:
        """(documents,) numbers of the candidates that can be drawn."""
        return self.problem().matters

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """(topic, document) of each document that can be drawn, in the order of designs."""
        topics, documents = self.candidates.topics, self.candidates.documents
        numbers = zip(self.candidates.topic[self.matters], self.candidates.document[self.matters], strict=True)
        return tuple((topics[t], documents[d]) for t, d in numbers)

    @cached_property
    def further_pairs(self) -> tuple[tuple[str, str], ...]:
        """(topic, document) for models alone: one of each topic whose documents change no difference.

        Without labels of a topic `next_judgments` would leave it out. There are none where models judged before.
        """
        if self.models:
            return ()
        topics, documents = self.candidates.topics, self.candidates.documents
        with_documents = set(self.candidates.topic[self.matters].tolist())
        first = dict(zip(self.candidates.topic[::-1].tolist(), self.candidates.document[::-1].tolist(), strict=True))
        return tuple((topics[t], documents[first[t]]) for t in sorted(first) if t not in with_documents)

    def gains(self, judgments: Judgments | None) -> Floats:
        """(candidates,) mean gain by the people who judged each, nan where nobody did."""
        return mean_gains(judgments, self.candidates, self.measure)

    def design(self, draws: Draws, *, seed: int) -> Design:
        """The design of these draws."""
        topics, documents = zip(*self.pairs, strict=True)
        known = np.zeros(len(topics), bool)
        return Design(str(self.question), str(self.measure), str(self.scale), topics, documents, known, draws, seed)

    def to_table(self) -> dict[str, Any]:
        """The preparation as JSON values."""
        return {
            "question": {**asdict(self.question), "systems": list(self.question.systems)},
            "measure": str(self.measure),
            "scale": str(self.scale),
            "candidates": {one.name: _plain(getattr(self.candidates, one.name)) for one in fields(Candidates)},
            "models": list(self.models),
            "shares": _plain(self.shares),
            "n_topics_out": self.n_topics_out,
        }

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Preparation:
        """The preparation of such a table.

        Raises
        ------
        ArgumentError
            A table of something else.
        """
        try:
            asked = table["question"]
            question = Question(asked["kind"], tuple(asked["systems"]), int(asked["n_best"]))
            candidates = Candidates(**{name: _array(value) for name, value in table["candidates"].items()})
            topic, document = candidates.topic, candidates.document
            models = tuple(map(str, table["models"]))
            ordered = topic * len(candidates.documents) + document
            if topic.shape != document.shape or (np.diff(ordered) <= 0).any() or min(topic.min(), document.min()) < 0:
                raise ValueError("its documents are not in order")
            if topic.max() >= len(candidates.topics) or document.max() >= len(candidates.documents):
                raise ValueError("a document has no label")
            if candidates.weight.shape != (len(question.systems), topic.size):
                raise ValueError("its weights are of other systems")
            return cls(
                question,
                parsed_measure(table["measure"]),
                parse_scale(table["scale"]),
                candidates,
                models,
                _array(table["shares"]).reshape(topic.size, len(models)),
                int(table["n_topics_out"]),
            )
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise ArgumentError(f"question: its table is not one that qrowd wrote ({error})") from None


def _plain(value: Any) -> Any:
    """A field of the candidates as JSON values: labels as they are, arrays with their kind, nan as null."""
    if not isinstance(value, np.ndarray):
        return list(value)
    kind = "float" if value.dtype.kind == "f" else "int" if value.dtype.kind in "iu" else "bool"
    flat = value.ravel().tolist()
    if kind == "float":
        flat = [None if number != number else number for number in flat]
    return {"kind": kind, "shape": list(value.shape), "values": flat}


def _array(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(map(str, value))
    dtype = {"float": np.float64, "int": np.int64, "bool": np.bool_}[value["kind"]]
    return np.array(value["values"], dtype).reshape(value["shape"])


def prepare(
    runs: Runs, models: Judgments | None, *, question: str | Question, measure: object, scale: Scale | str
) -> Preparation:
    """A question made ready, before anybody judged.

    runs : the systems of the question, and others. models : judgments of models; topics that none of them judged are
    left out. measure : as `next_judgments`. scale : of the people.

    Raises
    ------
    ArgumentError
        A question that cannot be read, a system that there is not, a scale without a highest value; systems that rank
        the same documents alike.
    MeasureError
        A measure that reads gains in another way.
    """
    parsed = parsed_measure(measure)
    of_people = parse_scale(scale) if isinstance(scale, str) else scale
    asked = question if isinstance(question, Question) else Question.read(question, runs.systems)
    used = judged_by_models(runs, models)
    candidates = candidates_of(used, asked.systems, [] if models is None else [models], parsed)
    preparation = Preparation(
        asked,
        parsed,
        of_people,
        candidates,
        () if models is None else models.assessors,
        label_shares(models, candidates),
        len(runs.topics) - len(used.topics),
    )
    if not preparation.levels.size or not preparation.matters.size:
        raise ArgumentError("question: the systems rank the same documents alike, so that no judgment tells them apart")
    return preparation


def statement_of(
    problem: Problem,
    look: Look,
    gains: Floats,
    *,
    confidence: float,
    tolerance: float = 0.0,
    target: Target = "these topics",
    n_unjudgeable: int = 0,
) -> Statement:
    """What a look says, in words and intervals.

    gains : (candidates,) of people, nan where nobody judged. n_unjudgeable : of these, those that nobody can judge.
    """
    systems, contrasts, estimates = problem.question.systems, problem.contrasts, look.estimates
    return Statement(
        problem.question,
        str(problem.measure),
        confidence,
        look.answer,
        look.certain,
        tuple(systems[i] for i in contrasts[:, 0]),
        tuple(systems[j] for j in contrasts[:, 1]),
        estimates.estimate,
        look.low,
        look.high,
        estimates.n_judged,
        estimates.n_documents,
        tuple(systems[i] for i in look.remaining),
        tolerance,
        target,
        int((~np.isnan(gains[problem.matters])).sum()) - n_unjudgeable,
        int(problem.matters.size),
        n_unjudgeable,
    )
