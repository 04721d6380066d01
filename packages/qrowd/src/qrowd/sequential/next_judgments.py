"""What to judge next, and what can be said now: from runs, cheap judgments and what people have judged so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, check_choice
from qrowd.evaluation import measure as parsed_measure
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale, parse_scale
from qrowd.model.signature import with_signature
from qrowd.sequential.candidates import (
    Candidates,
    candidates_of,
    label_shares,
    mean_gains,
    possible_gains,
)
from qrowd.sequential.design import Design as Design
from qrowd.sequential.design import Draws
from qrowd.sequential.estimates import Target
from qrowd.sequential.expectation import expectation
from qrowd.sequential.looks import Look, Problem
from qrowd.sequential.predictions import label_features
from qrowd.sequential.question import Question, Statement


@dataclass(frozen=True, eq=False)
class NextJudgments(Result):
    """What can be said now, and the documents to judge next, in order.

    statement : of the judgments so far. topics, documents : of the batch. probability : with which each was drawn of
    those left. n_expected, n_low, n_high : documents that are expected to be needed still, the median of simulations
    and an 80 % interval; one more than there are where all of them may not decide it. design : to be given to the next
    call.

    models : cheap assessors. n_topics : of the runs, on which systems are compared; n_topics_out : left out because no
    model judged them. n_before : documents drawn before this call; n_waiting : of them, not judged; n_held : judgments
    that count only when a document drawn before them is judged; n_others : of documents not drawn since the first draw.
    """

    statement: Statement
    topics: tuple[str, ...]
    documents: tuple[str, ...]
    probability: Floats
    n_expected: float
    n_low: float
    n_high: float
    design: Design = field(repr=False)
    models: tuple[str, ...] = field(default=(), repr=False)
    n_topics: int = 0
    n_topics_out: int = 0
    n_before: int = 0
    n_waiting: int = 0
    n_held: int = 0
    n_others: int = 0

    _COLUMNS = ("topics", "documents", "order", "probability")

    @property
    def order(self) -> NDArray[np.int64]:
        """Order of the documents of the batch among all that were drawn, from 1."""
        drawn = [(self.design.topics[i], self.design.documents[i]) for i in self.design.draws.document]
        return np.array([drawn.index(pair) + 1 for pair in zip(self.topics, self.documents, strict=True)], np.int64)

    @property
    def sentence(self) -> str:
        """What can be said now."""
        return self.statement.sentence

    def _sentence(self) -> str:
        return self.sentence


@with_signature("next-judgments")
def next_judgments(
    runs: AnyRuns,
    judgments: AnyJudgments | None,
    *,
    question: str | Question,
    models: AnyJudgments | None = None,
    measure: object = "nDCG@10",
    scale: Scale | str | None = None,
    design: Design | None = None,
    n_documents: int = 20,
    confidence: float = 0.95,
    tolerance: float = 0.0,
    target: Target = "these topics",
    unjudgeable: Iterable[tuple[str, str]] = (),
    rng: Rng = 1,
) -> NextJudgments:
    """The current answer to a question about systems, and the next documents that people should judge.

    The intervals hold at all times at once, so that judging may stop after any answer.

    Parameters
    ----------
    runs
        The systems of the question, and others.
    judgments
        What people judged so far; None before the first answer. The mean gain of those who judged a document is its
        gain, so that the answer is that of these people and not of others.
    question
        'A > B', 'best', 'best of A, B*', 'C among best 3', 'C among best 3 of A, B*' or 'ranking of A, B*'.
    models
        Judgments of any number of models or other cheap assessors; none are needed. Topics that none of them judged are
        left out.
    measure
        nDCG, DCG, P, RBP or another weighted sum of gains by rank, or AP.
    scale
        Of the people, such as '0-3'; the first call needs it, unless the judgments have a declared scale.
    design
        Of the last call; None at the first. What people judged before the first call is known and not drawn.
    n_documents
        Documents of the batch: those drawn before and not judged yet, then new ones.
    confidence
        Of the answer, whichever contrasts it takes and however often one looks.
    tolerance
        Differences of up to this much count as none.
    target
        The topics of the runs, or new topics, of which these are a sample.
    unjudgeable
        (topic, document) of documents that nobody can judge, such as broken ones: they gain the lowest, as documents
        that nobody judged do in trec_eval, unless somebody judges them. A document that was drawn and is neither here
        nor judged keeps later judgments from counting.
    rng
        Random seed of the first call; the design keeps it.

    Raises
    ------
    ArgumentError
        A question that cannot be read, a system that there is not, no scale, a design of something else.
    MeasureError
        Another measure than these.
    """
    if not 0 < confidence < 1:
        raise ArgumentError("a number between 0 and 1 was expected", "confidence", confidence)
    if n_documents < 1:
        raise ArgumentError("at least 1 was expected", "n_documents", n_documents)
    check_choice("target", target, Target)
    if tolerance < 0:
        raise ArgumentError("0 or more was expected", "tolerance", tolerance)
    retrieved, parsed = as_runs(runs), parsed_measure(measure)
    by_people = None if judgments is None else as_judgments(judgments)
    by_models = None if models is None else as_judgments(models, argument="models")
    asked = question if isinstance(question, Question) else Question.read(question, retrieved.systems)
    if design is not None:
        design.check(question=str(asked), measure=str(parsed))  # before its scale counts
    used = _judged_by_models(retrieved, by_models)
    people, people_scale = _on_scale(by_people, scale, design)
    others = [one for one in (people, by_models) if one is not None]
    candidates = candidates_of(used, asked.systems, others, parsed)
    labels = label_features(label_shares(by_models, candidates))
    levels = possible_gains(parsed, people_scale)
    problem = Problem(asked, parsed, candidates, labels, levels, confidence, tolerance, target)
    matters = problem.matters
    gains = mean_gains(people, candidates, parsed)
    lost = _rows_of_pairs(unjudgeable, retrieved, candidates)
    lost = lost[np.isnan(gains[lost])]
    gains[lost] = levels[0]
    judged = ~np.isnan(gains[matters])
    n_unjudgeable = int(np.isin(lost, matters).sum())
    current = _design(design, asked, str(parsed), people_scale, candidates, matters, judged, rng)
    drawn = current.draws
    look = problem.look(gains, drawn, known=current.known)
    answer, answered = look.answer, judged[drawn.document]
    n_counting = len(drawn.answered(judged))
    statement = _statement_of(problem, look, gains, n_unjudgeable)
    waiting = drawn.document[~answered]
    new, (low_to_go, median, high_to_go) = current, (0.0, 0.0, 0.0)
    if not answer:
        seed = [*np.atleast_1d(current.seed).tolist(), len(drawn)]
        if waiting.size < n_documents:
            new = replace(
                current, draws=drawn.draw(look.sizes, n_documents - waiting.size, np.random.default_rng(seed))
            )
        low_to_go, median, high_to_go = expectation(
            problem,
            look,
            gains,
            waiting=waiting,
            n_counting=n_counting,
            rng=np.random.default_rng([*seed, 1]),
        )
    order = np.flatnonzero(~judged[new.draws.document])[: 0 if answer else n_documents]
    batch = new.draws.document[order]
    return NextJudgments(
        statement,
        tuple(new.topics[i] for i in batch),
        tuple(new.documents[i] for i in batch),
        new.draws.probabilities()[order],
        median,
        low_to_go,
        high_to_go,
        new,
        models=getattr(by_models, "assessors", ()),
        n_topics=len(used.topics),
        n_topics_out=len(retrieved.topics) - len(used.topics),
        n_before=len(drawn),
        n_waiting=int(waiting.size),
        n_held=int(answered[n_counting:].sum()),
        n_others=int((judged & ~current.known & drawn.left()).sum()),
    )


def _design(
    design: Design | None,
    question: Question,
    measure: str,
    scale: Scale,
    candidates: Candidates,
    matters: NDArray[np.int64],
    judged: NDArray[np.bool_],
    rng: Rng,
) -> Design:
    """The design so far: the one that is given, if it is of this question, or a new one without draws."""
    labels: dict[str, Any] = {
        "topics": tuple(candidates.topics[t] for t in candidates.topic[matters]),
        "documents": tuple(candidates.documents[d] for d in candidates.document[matters]),
    }
    if design is not None:
        design.check(scale=str(scale), **labels)
        lost = np.flatnonzero(design.known & ~judged)
        if lost.size:
            raise ArgumentError(
                f"judgments: {labels['documents'][lost[0]]} of topic {labels['topics'][lost[0]]} was judged when the "
                "design began, but is not among the judgments; give all of them"
            )
        return design
    return Design(
        str(question),
        measure,
        str(scale),
        known=judged,
        draws=Draws.none(matters.size),
        seed=seed_of(rng),
        **labels,
    )


def _judged_by_models(runs: Runs, models: Judgments | None) -> Runs:
    """The runs on the topics that models judged."""
    if models is None:
        return runs
    labelled = set(models.topics)
    topics = [topic for topic in runs.topics if topic in labelled]
    if not topics:
        raise ArgumentError(
            f"models: they judged no topic of the runs, such as {runs.topics[0]!r}, but {models.topics[0]!r}; give "
            "judgments of these topics"
        )
    return runs if len(topics) == len(runs.topics) else runs.select(topics=topics)


def _on_scale(
    judgments: Judgments | None, scale: Scale | str | None, design: Design | None = None
) -> tuple[Judgments | None, Scale]:
    """The people's judgments on their scale, and that scale: the one that is given, of the design, or declared."""
    declared = parse_scale(scale) if isinstance(scale, str) else scale
    if declared is None and design is not None:
        declared = parse_scale(design.scale)
    if declared is None and judgments is not None and all(one.declared for one in judgments.scales):
        declared = max(judgments.scales, key=lambda one: one.maximum)
    if declared is None:
        highest = "" if judgments is None else f" (the highest so far is {judgments.value.max():g})"
        raise ArgumentError(
            f"scale: which values people may still give is not known{highest}; declare their scale, as in 0-3"
        )
    if judgments is None:
        return None, declared
    names = [name for name, one in zip(judgments.assessors, judgments.scales, strict=True) if not one.declared]
    return judgments.with_scales(dict.fromkeys(names, declared)) if names else judgments, declared


def _rows_of_pairs(pairs: Iterable[tuple[str, str]], runs: Runs, candidates: Candidates) -> NDArray[np.int64]:
    """Numbers of the candidates that these pairs of topic and document are; other documents of the runs are left out.

    Raises
    ------
    ArgumentError
        A topic or document that the runs do not have.
    """
    labels = [(str(topic), str(document)) for topic, document in pairs]
    topics, documents = set(runs.topics), set(runs.documents)
    for topic, document in labels:
        if topic not in topics:
            raise ArgumentError(f"unjudgeable: there is no topic {topic!r}; {closest(topic, runs.topics, 'topic')}")
        if document not in documents:
            near = closest(document, runs.documents, "document")
            raise ArgumentError(f"unjudgeable: no run has the document {document!r} of topic {topic}; {near}")
    numbers = np.arange(len(labels))
    rows = candidates.rows([topic for topic, _ in labels], [document for _, document in labels], numbers, numbers)
    return np.unique(rows[rows >= 0])


def _statement_of(problem: Problem, look: Look, gains: Floats, n_unjudgeable: int) -> Statement:
    """What a look says, in words and intervals.

    gains : (candidates,) of people, nan where nobody judged. n_unjudgeable : of these, those that nobody can judge.
    """
    first, second = (tuple(problem.question.systems[i] for i in column) for column in problem.contrasts.T)
    return Statement(
        problem.question,
        str(problem.measure),
        problem.confidence,
        look.answer,
        look.certain,
        first,
        second,
        np.clip(look.estimates.estimate, look.low, look.high),  # judgments may rule out what draws estimate
        look.low,
        look.high,
        look.estimates.n_judged,
        look.estimates.n_documents,
        tuple(problem.question.systems[i] for i in look.remaining),
        problem.tolerance,
        problem.target,
        int((~np.isnan(gains[problem.matters])).sum()) - n_unjudgeable,
        problem.matters.size,
        n_unjudgeable,
    )
