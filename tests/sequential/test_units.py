"""What to judge next of answers: intervals hold at all looks, in simulated worlds of systems that are nearly level."""

import numpy as np
import pytest

import qrowd
from qrowd.sequential import next_judgments

TOPICS, UNITS = tuple(f"q{t}" for t in range(30)), tuple(f"n{u}" for u in range(4))


def table(assessor, values, weight):
    """Answers of two systems as a frame. values : (2, topics, units). weight : (units,)."""
    cells = [
        (topic, system, unit, assessor, int(values[s, t, u]), weight[u])
        for s, system in enumerate(("new", "old"))
        for t, topic in enumerate(TOPICS)
        for u, unit in enumerate(UNITS)
    ]
    names = ("topic", "system", "unit", "assessor", "value", "weight")
    return dict(zip(names, map(list, zip(*cells, strict=True)), strict=True))


def errs(seed):
    """Whether any look at a simulated world excludes the difference that people would give all units."""
    random = np.random.default_rng(seed)
    weight = random.choice([1.0, 2.0], 4)
    chance = np.clip(random.normal(0.5, 0.2, (1, 30, 4)) + np.array([0.03, 0.0])[:, None, None], 0, 1)
    truth = random.random((2, 30, 4)) < chance
    labels = np.where(random.random(truth.shape) < 0.75, truth, ~truth)
    frame = table("people", truth, weight)
    runs = qrowd.Runs.from_frame(frame)
    models = qrowd.Judgments.from_frame(table("model", labels, weight))
    grades = qrowd.Judgments.from_frame(frame).to_dict()["people"]
    difference = float(((truth[0] * 1.0 - truth[1]) @ weight).mean() / weight.sum())
    people, design, answered = None, None, {}
    while True:
        found = next_judgments(
            runs, people, question="new > old", models=models, measure="Mean", scale="0-1", design=design,
            n_documents=24, rng=seed,
        )  # fmt: skip
        estimate, (low,), (high,) = found.statement.estimate, found.statement.low, found.statement.high
        if not low - 1e-9 <= difference <= high + 1e-9:
            return True
        if not found.topics:
            if found.statement.n_judged == 240:
                assert estimate == pytest.approx([difference])
            return False
        for topic, document in zip(found.topics, found.documents, strict=True):
            answered.setdefault(topic, {})[document] = grades[topic][document]
        people, design = qrowd.Judgments.from_dict({"people": answered}), found.design


@pytest.mark.nightly
@pytest.mark.parametrize("n", [6, pytest.param(200, marks=pytest.mark.nightly)])
def test_intervals_of_answers_hold_at_all_looks_but_in_the_share_that_is_allowed(n, monkeypatch):
    monkeypatch.setattr("qrowd.sequential.expectation.N_PATHS", 2)
    share = sum(map(errs, range(n))) / n
    assert share <= 0.05 + 2 * (0.05 * 0.95 / n) ** 0.5  # two standard errors of a share
