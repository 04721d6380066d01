"""How many judgments are expected to go, by simulation."""

from __future__ import annotations

import numpy as np
import pytest

import qrowd
from qrowd.sequential.expectation import _decided
from qrowd.sequential.looks import Problem
from qrowd.sequential.next_judgments import NextJudgments, next_judgments
from qrowd.sequential.question import Question


def ask(lead: float, **settings: object) -> NextJudgments:
    """Two systems that return other documents; models say that those of the first are better by `lead`."""
    rng = np.random.default_rng(1)
    runs: dict[str, dict[str, dict[str, float]]] = {"a": {}, "b": {}}
    labels: dict[str, dict[str, float]] = {}
    for t in range(20):
        topic = f"t{t}"
        for system, mean in (("a", 0.4 + lead), ("b", 0.4)):
            names = [f"{topic}{system}{i}" for i in range(10)]
            runs[system][topic] = {name: 10.0 - i for i, name in enumerate(names)}
            labels.setdefault(topic, {}).update(
                zip(names, np.clip(rng.normal(mean, 0.05, 10), 0, 1).tolist(), strict=True)
            )
    models = qrowd.Judgments.from_dict({"model": labels}, scales={"model": "0..1"})
    return next_judgments(runs, None, question="a > b", models=models, measure="DCG@10", scale="0-3", **settings)


def test_a_larger_difference_needs_fewer_judgments() -> None:
    large, small = ask(0.4), ask(0.1)
    assert 15 <= large.n_low <= large.n_expected <= large.n_high
    assert large.n_expected < small.n_expected <= 401


def test_equal_systems_need_all_judgments_but_with_a_tolerance_fewer() -> None:
    equal = ask(0.0)
    assert equal.n_high == 400
    assert ask(0.0, tolerance=1.5).n_expected < equal.n_expected


def test_new_topics_may_not_be_decided_by_all_judgments_of_these() -> None:
    assert ask(0.02, target="new topics").n_high == 401  # one more than there are


@pytest.mark.parametrize(
    ("text", "times", "first_wins", "when"),
    [
        ("a > b", [7], [True], 7),
        ("best", [5, 9, 3], [True, True, True], 5),  # b loses to a at 5, c to b at 3
        ("ranking", [5, 9, 3], [True, True, True], 9),
        ("a among best 1", [5, 9], [True, False], 9),  # c is above a at 9
        ("a among best 2", [5, 9], [True, False], 5),  # b is below a at 5
    ],
)
def test_a_question_is_decided_when_the_last_difference_that_it_needs_is(
    text: str, times: list[int], first_wins: list[bool], when: int
) -> None:
    question = Question.read(text, ("a", "b", "c"))
    problem = Problem(question, *[None] * 4)  # type: ignore[arg-type]
    assert _decided(problem, np.array(times), np.array(first_wins)) == when
