"""Replays of real panels: the grades of people are there already, and each is revealed only when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Literal

import numpy as np

from qrowd import files
from qrowd.errors import InputError
from qrowd.evaluation import measure as parsed_measure
from qrowd.kernels.arrays import Floats
from qrowd.measures.measure_kinds import linear_parts
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.model.measure import Measure
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.sequential.candidates import (
    Candidates,
    Lists,
    candidates_of,
    is_linear,
    label_shares,
    mean_gains,
    possible_gains,
)
from qrowd.sequential.design import Draws
from qrowd.sequential.looks import Look, Problem
from qrowd.sequential.predictions import label_features
from qrowd.sequential.question import Question
from qrowd.simulation import Lenient, simulate_judgments, simulate_pool, simulate_runs

MEASURE = "nDCG@10"
AP_MEASURE = "AP(rel=2)@100"  # relevant from grade 2 on, as TREC Deep Learning has it
N_BEST = 24  # systems, each pair of which is a question
FIRST, LATER, SHARE = 15, 5, 0.05  # documents of the first batch; of later ones, and at least this share of the answers
LONGEST = 1000  # ranks
PEOPLE = Scale("graded", 3.0)
Sizes = Literal["expected", "uniform"]


@dataclass(frozen=True, eq=False)
class ReplayPanel:
    """Runs, the grades of people, which are revealed when asked for, and cheap labels.

    runs : of the topics that people judged. systems : the best by the grades of people, best first. candidates : of
    these systems, with all that were judged. gains : (candidates,) of people; a document that nobody judged gains
    nothing. shares : (candidates, assessors) of labels. labels_only : whether only designs that use labels are
    replayed, because another panel has the same runs and people.
    """

    name: str
    runs: Runs
    systems: tuple[str, ...]
    labels: Judgments
    measure: Measure
    candidates: Candidates
    gains: Floats
    shares: Floats
    labels_only: bool = False

    @classmethod
    def of(
        cls,
        name: str,
        runs: Runs,
        people: Judgments,
        labels: Judgments,
        *,
        n_best: int = N_BEST,
        measure: str = MEASURE,
    ) -> ReplayPanel:
        """A panel of the best systems. people : one assessor, or several, whose mean gain counts."""
        name = name if measure == MEASURE else f"{name}, AP"
        runs, parsed = runs.select(topics=people.topics), parsed_measure(measure)
        whole = candidates_of(runs, runs.systems, [people, labels], parsed)
        mean = _scores(parsed, whole, np.nan_to_num(mean_gains(people, whole, parsed))).mean(axis=0)
        systems = tuple(runs.systems[s] for s in np.argsort(-mean, kind="stable")[:n_best])
        candidates = candidates_of(runs, systems, [people, labels], parsed)
        gains = np.nan_to_num(mean_gains(people, candidates, parsed))
        return cls(name, runs, systems, labels, parsed, candidates, gains, label_shares(labels, candidates))

    @cached_property
    def scores(self) -> Floats:
        """(topics, systems) by the grades of people."""
        return _scores(self.measure, self.candidates, self.gains)

    def problem(self, question: Question, *, with_labels: bool = True) -> tuple[Problem, Floats]:
        """A question as `qrowd next` sees it, and the gains of its candidates, which it does not see.

        The candidates are the documents of the systems of the question and those with labels, if labels are used.
        """
        numbers = [self.systems.index(system) for system in question.systems]
        weight = self.candidates.weight[numbers]
        rows = (weight != 0).any(axis=0)
        if with_labels:
            rows |= ~np.isnan(self.shares).all(axis=1)
        whole = self.candidates
        part = Candidates(
            whole.topics,
            whole.documents,
            question.systems,
            whole.topic[rows],
            whole.document[rows],
            weight[:, rows],
            whole.retrieved[rows],
        )
        shares = self.shares[rows] if with_labels else np.zeros((len(part), 0))
        levels = possible_gains(self.measure, PEOPLE)
        return Problem(question, self.measure, part, label_features(shares), levels), self.gains[rows]

    def differences(self) -> Floats:
        """(systems, systems) differences of the mean scores, row minus column."""
        mean = self.scores.mean(axis=0)
        return np.asarray(mean[:, None] - mean)


@dataclass(frozen=True, eq=False)
class Step:
    """A look during a replay. draws : those that were answered."""

    look: Look
    draws: Draws

    @property
    def n_asked(self) -> int:
        return len(self.draws)


def replay(
    problem: Problem,
    gains: Floats,
    *,
    seed: int,
    sizes: Sizes = "expected",
    confidence: float = 0.95,
    first: int = FIRST,
) -> Iterator[Step]:
    """The looks at a question until it is decided or all is judged; each answer is revealed when it was drawn.

    gains : (candidates,) what people would say. sizes : "uniform" draws each document that matters with the same
    probability. A batch has `FIRST` documents, a later one 5, or 5 % of the answers so far if that is more.
    """
    problem = replace(problem, confidence=confidence)
    draws, answers = Draws.none(problem.matters.size), np.full(gains.size, np.nan)
    while True:
        look = problem.look(answers, draws)
        yield Step(look, draws)
        if look.answer or not (look.sizes[draws.left()] > 0).any():  # nothing left that could change what is open
            return
        n = max(LATER, ceil(SHARE * len(draws))) if len(draws) else FIRST
        probability = look.sizes if sizes == "expected" else np.ones(problem.matters.size)
        draws = draws.draw(probability, n, np.random.default_rng([seed, len(draws)]))
        drawn = problem.matters[draws.document]
        answers[drawn] = gains[drawn]


def real(data: str | Path, measure: str = MEASURE) -> Iterator[ReplayPanel]:
    """dl21 with 18 assessors and with 81 prompts, dl19 with NIST and with eight researchers; those that are there.

    A document that the eight researchers were not shown is not relevant to NIST, and gains nothing.

    Raises
    ------
    InputError
        A folder without any of them.
    """
    folder = Path(data)
    if not any((folder / part).is_dir() for part in ("dl21", "dl19")):
        raise InputError(f"{folder}: there is neither a folder dl21 nor dl19; --data wants one that holds them")
    for part in ("dl21", "dl19"):
        if not (folder / part).is_dir():
            continue
        runs = files.read_runs([str(folder / part / "runs")])
        nist = files.read_judgments({"NIST": folder / part / "qrels.nist.txt"}, scales={"NIST": "0-3"})
        labels = files.read_judgments([str(folder / part / "judges")])
        yield ReplayPanel.of(f"{part}, NIST, {len(labels.assessors)} models", runs, nist, labels, measure=measure)
        if part == "dl21" and (folder / "dl21-prompts").is_dir():
            prompts = _in_scale(files.read_judgments([str(folder / "dl21-prompts" / "graded")]))
            of_prompts = ReplayPanel.of(
                f"{part}, NIST, {len(prompts.assessors)} prompts", runs, nist, prompts, measure=measure
            )
            yield replace(of_prompts, labels_only=True)
        if part == "dl19" and (folder / part / "humans").is_dir():
            people = files.read_judgments([str(folder / part / "humans")], scales={"*": "0-3"})
            yield ReplayPanel.of(
                f"{part}, {len(people.assessors)} researchers, {len(labels.assessors)} models",
                runs,
                people,
                labels,
                measure=measure,
            )


def simulated(rng: Rng = None, *, n_topics: int = 30, n_systems: int = 12) -> ReplayPanel:
    """A panel whose truth plays the people, with three cheap assessors that err in their own ways."""
    chance = Chance.of(rng)
    truth = simulate_pool(n_topics, 60, rng=chance.stream("pool"))
    runs = simulate_runs(truth, n_systems, rng=chance.stream("runs"))
    assessors = {
        name: Lenient(shift, noise, appeal)
        for name, shift, noise, appeal in (
            ("large", 0.1, 0.5, 0.1),
            ("middle", 0.3, 0.8, 0.4),
            ("small", 0.5, 1.2, 0.6),
        )
    }
    labels = simulate_judgments(truth, assessors, rng=chance.stream("judgments"))
    return ReplayPanel.of("simulated", runs, truth.judgments(), labels)


def _in_scale(judgments: Judgments) -> Judgments:
    """The judgments with a grade from 0 to 3, on that scale."""
    frame = judgments.to_frame()
    inside = frame["value"].isin((0, 1, 2, 3))
    return Judgments.from_frame(frame[inside], scales=dict.fromkeys(judgments.assessors, PEOPLE))


def _normalisers(measure: Measure, candidates: Candidates, gains: Floats) -> Floats:
    """(topics,) sum of the best list of each topic; inf where nothing gains."""
    order = np.lexsort((-gains, candidates.topic))
    topic = candidates.topic[order]
    rank = np.arange(order.size) - np.searchsorted(topic, topic)
    by_rank = linear_parts(measure, PEOPLE, LONGEST)[0]
    in_list = rank < by_rank.size
    best = np.bincount(topic[in_list], by_rank[rank[in_list]] * gains[order][in_list], len(candidates.topics))
    return np.where(best > 0, best, np.inf)


def _scores(measure: Measure, candidates: Candidates, gains: Floats) -> Floats:
    """(topics, systems)."""
    n = len(candidates.topics)
    if not is_linear(measure):
        sums = Lists.of(candidates.weight, candidates.topic, n, np.zeros(gains.size, bool)).sums(gains)
        relevant = np.bincount(candidates.topic, gains, n)
        return np.asarray((sums / np.where(relevant > 0, relevant, np.inf)).T)
    sums = np.array([np.bincount(candidates.topic, weight * gains, n) for weight in candidates.weight])
    return np.asarray((sums / _normalisers(measure, candidates, gains)).T)
