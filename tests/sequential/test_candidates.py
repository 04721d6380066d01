"""Which documents can change an answer, and by how much: measures that are linear in gains, exactly."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from qrowd.errors import MeasureError
from qrowd.evaluation import evaluate, measure
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.sequential.candidates import candidates_of, mean_gains, possible_gains
from qrowd.sequential.design import Draws
from qrowd.sequential.looks import Problem
from qrowd.sequential.predictions import label_features
from qrowd.sequential.question import Question

SCALE = Scale("graded", 3.0)
MEASURES = ["P@5", "P(rel=2)@5", "DCG@5", "DCG", "RBP", "RBP(p=0.5)", "nDCG@5", "nDCG", "nDCG(dcg='exp-log2')@5"]


def world() -> tuple[Runs, Judgments]:
    """Two systems with lists of different length, and every document judged."""
    rng = np.random.default_rng(3)
    documents = [f"d{d}" for d in range(20)]
    rows = [
        (system, f"t{t}", document, rank)
        for system, n in (("a", 12), ("b", 15))
        for t in range(8)
        for rank, document in enumerate(rng.permutation(documents)[:n])
    ]
    runs = Runs.from_frame(pd.DataFrame(rows, columns=["system", "topic", "document", "rank"]))
    values = [("ann", f"t{t}", document, float(rng.integers(0, 4))) for t in range(8) for document in documents]
    people = Judgments.from_frame(pd.DataFrame(values, columns=["assessor", "topic", "document", "value"]))
    return runs, people.with_scales({"ann": SCALE})


@pytest.mark.parametrize("name", MEASURES)
def test_once_all_is_judged_the_difference_is_that_of_the_scores(name: str) -> None:
    runs, people = world()
    parsed = measure(name)
    candidates = candidates_of(runs, ["a", "b"], [people], parsed)
    labels = label_features(np.zeros((len(candidates), 0)))
    problem = Problem(Question.read("a > b", runs.systems), parsed, candidates, labels, possible_gains(parsed, SCALE))
    look = problem.look(mean_gains(people, candidates, parsed), Draws.none(problem.matters.size))
    scores = evaluate(runs, people, name).values[0, 0].mean(axis=0)
    assert look.estimates.estimate[0] == pytest.approx(scores[0] - scores[1], abs=1e-12)
    assert look.low[0] == pytest.approx(look.high[0], abs=1e-12)
    assert look.certain


@pytest.mark.parametrize("name", ["bpref", "Q", "P(judged_only=True)@5", "nDCG(judged_only=True)@5"])
def test_a_measure_that_reads_gains_in_another_way_is_refused(name: str) -> None:
    runs, people = world()
    with pytest.raises(MeasureError, match="is neither a weighted sum of gains by rank nor AP; use one"):
        candidates_of(runs, ["a", "b"], [people], measure(name))


def test_a_document_that_both_systems_rank_alike_does_not_matter() -> None:
    frame = pd.DataFrame(
        [("a", "t", "x", 1), ("a", "t", "y", 2), ("b", "t", "x", 1), ("b", "t", "z", 2)],
        columns=["system", "topic", "document", "rank"],
    )
    parsed = measure("DCG@5")
    candidates = candidates_of(Runs.from_frame(frame), ["a", "b"], [], parsed)
    difference = dict(zip(candidates.documents, candidates.weight[0] - candidates.weight[1], strict=True))
    assert difference["x"] == 0
    assert difference["y"] == -difference["z"] == pytest.approx(1 / np.log2(3))
