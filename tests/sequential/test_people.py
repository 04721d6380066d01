"""People with a taste for a system: the intervals hold for those who judge each document, and not for other people.

The table of docs/next_judgments.md is `share_outside(design, 1000)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from qrowd.evaluation import measure
from qrowd.kernels.arrays import Floats
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.sequential.candidates import candidates_of, possible_gains
from qrowd.sequential.design import Draws
from qrowd.sequential.looks import Problem
from qrowd.sequential.predictions import label_features
from qrowd.sequential.question import Question

N_DOCUMENTS, BATCH, N_OTHERS = 12, 10, 400


@dataclass(frozen=True)
class Panel:
    """taste : standard deviation of what a person adds to the grades of documents that speak for the first system.

    in_turn : whether one person judges each batch; otherwise the people of a document are drawn at random.
    """

    n_topics: int
    n_people: int
    per_document: int
    taste: float
    measure: str
    in_turn: bool = False


PANELS = {
    "3 people, one for each document, taste .25": Panel(10, 3, 1, 0.25, "DCG@5"),
    "3 people, one for each document, taste .6": Panel(10, 3, 1, 0.6, "DCG@5"),
    "5 people, two for each document, taste .4": Panel(12, 5, 2, 0.4, "P(rel=2)@5"),
    "2 people, both judge all, taste .25": Panel(8, 2, 2, 0.25, "RBP"),
    "4 people, a batch each in turn, taste .4": Panel(10, 4, 1, 0.4, "DCG@5", in_turn=True),
    "4 people, a batch each in turn, taste 1": Panel(10, 4, 1, 1.0, "DCG@5", in_turn=True),
}


def problem_of(panel: Panel, rng: np.random.Generator) -> Problem:
    """Two systems that rank the documents of each topic at random."""
    rows = [
        (system, f"t{topic}", f"d{document}", rank)
        for system in "ab"
        for topic in range(panel.n_topics)
        for rank, document in enumerate(rng.permutation(N_DOCUMENTS))
    ]
    runs = Runs.from_frame(pd.DataFrame(rows, columns=["system", "topic", "document", "rank"]))
    parsed = measure(panel.measure)
    candidates = candidates_of(runs, ["a", "b"], [], parsed)
    labels = label_features(np.zeros((len(candidates), 0)))
    levels = possible_gains(parsed, Scale("graded", 3.0))
    return Problem(Question.read("a > b", runs.systems), parsed, candidates, labels, levels)


def left_the_interval(panel: Panel, rng: np.random.Generator) -> tuple[bool, bool]:
    """Whether an interval of any look leaves out the difference for those who judge, and for all people like them."""
    problem = problem_of(panel, rng)
    weight = problem.candidates.weight[:, problem.matters]
    difference = (weight[0] - weight[1]) / panel.n_topics
    base, side = rng.gamma(1.2, 0.8, difference.size), np.sign(difference)
    tastes = rng.normal(0, panel.taste, panel.n_people + N_OTHERS)
    noise = rng.normal(0, 0.5, (difference.size, tastes.size))
    grades = np.clip(np.rint(base[:, None] + side[:, None] * tastes + noise), 0, 3)
    of_people = problem.levels[grades.astype(int)] if problem.levels.size == 4 else (grades >= 2).astype(float)
    of_all = float(difference @ of_people[:, panel.n_people :].mean(axis=1))
    gains: Floats = np.full(len(problem.candidates), np.nan)
    draws, looks = Draws.none(difference.size), []
    sizes = np.abs(difference)
    while draws.left().any():
        before = len(draws)
        draws = draws.draw(np.where(draws.left(), np.maximum(sizes, 1e-12), 0), BATCH, rng)
        person = before // BATCH % panel.n_people
        for row in draws.document[before:]:
            who = [person] if panel.in_turn else rng.permutation(panel.n_people)[: panel.per_document]
            gains[problem.matters[row]] = of_people[row, who].mean()
        look = problem.look(gains, draws)
        looks.append((look.low[0] - 1e-9, look.high[0] + 1e-9))
        sizes = look.sizes if look.sizes.any() else sizes
    of_judges = float(difference @ gains[problem.matters])
    return tuple(any(not low <= truth <= high for low, high in looks) for truth in (of_judges, of_all))


def share_outside(panel: Panel, n_draws: int) -> tuple[float, float]:
    """Share of paths of which an interval leaves out the difference for those who judge, and for all people."""
    outside = [left_the_interval(panel, np.random.default_rng([draw, 5])) for draw in range(n_draws)]
    for_judges, for_all = np.mean(outside, axis=0).tolist()
    return for_judges, for_all


OF_ONE_KIND = ("3 people, one for each document, taste .6", "4 people, a batch each in turn, taste 1")


@pytest.mark.parametrize(
    ("name", "n", "most"),  # at .05, more has a probability of .01 of 8, and of .02 of 20
    [
        *(
            pytest.param(name, 8, 0.25, marks=[pytest.mark.nightly] * (i > 0))
            for i, name in enumerate(name for name in PANELS if name not in OF_ONE_KIND)
        ),
        *(pytest.param(name, 20, 0.15, marks=pytest.mark.nightly) for name in PANELS),
    ],
)
def test_intervals_hold_for_those_who_judge_each_document_and_for_no_others(name: str, n: int, most: float) -> None:
    for_judges, for_all = share_outside(PANELS[name], n)
    assert for_judges <= most
    assert for_all > 0.5
