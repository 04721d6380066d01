"""The loop: ask, judge, ask again, until the question is decided."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qrowd
from qrowd.errors import ArgumentError, FileError
from qrowd.model.pools import lists_of
from qrowd.model.scales import Scale
from qrowd.sequential.design import read_design, write_design
from qrowd.sequential.next_judgments import Design, NextJudgments, next_judgments
from qrowd.simulation import simulate_demo

SCALE = Scale("graded", 3.0)


@pytest.fixture(scope="module")
def world() -> tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments]:
    """Four runs of eight topics, the true grades of all documents, and a cheap assessor."""
    runs, judgments, truth = simulate_demo()
    runs = runs.select(systems=runs.systems[:4], topics=runs.topics[:8])
    (grades,) = truth.judgments().to_dict().values()
    whole = {
        topic: {document: grades[topic].get(document, 0.0) for of_run in lists.values() for document in of_run}
        for topic, lists in lists_of(runs, runs.topics).items()
    }
    return runs, qrowd.Judgments.from_dict({"people": whole}), judgments.select(assessors=["sven"])


@pytest.fixture(autouse=True)
def few_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many judgments are to come is simulated for each look; no test of this file asks how well."""
    monkeypatch.setattr("qrowd.sequential.expectation.N_PATHS", 10)


def answers(design: Design, truth: qrowd.Judgments) -> qrowd.Judgments:
    """The true grades of what was drawn."""
    grades = truth.to_dict()["people"]
    drawn: dict[str, dict[str, float]] = {}
    for i in design.draws.document:
        drawn.setdefault(design.topics[i], {})[design.documents[i]] = grades[design.topics[i]][design.documents[i]]
    return qrowd.Judgments.from_dict({"people": drawn})


def ask(
    world: tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments],
    question: str,
    *,
    labels: bool = True,
    n: int = 10,
    seed: int = 1,
    most: int = 1000,
) -> list[NextJudgments]:
    runs, truth, cheap = world
    steps = [
        next_judgments(
            runs, None, question=question, models=cheap if labels else None, scale=SCALE, n_documents=n, rng=seed
        )
    ]
    while steps[-1].topics and len(steps) < most:
        design = steps[-1].design
        people = answers(design, truth)
        steps.append(
            next_judgments(
                runs,
                people,
                question=question,
                models=cheap if labels else None,
                scale=SCALE,
                n_documents=n,
                design=design,
            )
        )
    return steps


def test_a_question_is_decided_as_all_judgments_decide_it(
    world: tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments],
) -> None:
    runs, truth, _ = world
    scores = qrowd.evaluate(runs, truth, "nDCG@10")
    mean = dict(zip(scores.systems, np.nanmean(scores.values[0, 0], axis=0), strict=True))
    order = sorted(mean, key=lambda name: -mean[name])
    steps = ask(world, f"{order[-1]} > {order[0]}")
    last = steps[-1].statement
    assert last.answer == f"{order[0]} is better than {order[-1]}"
    assert last.n_judged[0] < last.n_documents[0]
    assert not last.certain


def test_the_same_inputs_give_the_same_batch(world: tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments]) -> None:
    first, second = (ask(world, "best", n=7, most=3) for _ in range(2))
    assert [step.documents for step in first] == [step.documents for step in second]
    other = ask(world, "best", n=7, seed=2, most=1)[0]
    assert other.documents != first[0].documents


def test_when_everything_is_judged_the_difference_is_that_of_the_scores(
    world: tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments],
) -> None:
    runs, truth, _ = world
    scores = qrowd.evaluate(runs, truth, "DCG@10")
    mean = np.nanmean(scores.values[0, 0], axis=0)
    two = scores.systems[:2]
    result = next_judgments(runs, truth, question=f"{two[0]} > {two[1]}", measure="DCG@10", scale=SCALE)
    np.testing.assert_allclose(result.statement.estimate[0], mean[0] - mean[1], atol=1e-12)
    assert result.statement.certain
    assert result.topics == ()


def test_the_normaliser_of_ndcg_is_that_of_all_judgments_once_they_are_there(
    world: tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments],
) -> None:
    runs, truth, _ = world
    scores = qrowd.evaluate(runs, truth, "nDCG@10")
    mean = np.nanmean(scores.values[0, 0], axis=0)
    two = scores.systems[:2]
    result = next_judgments(runs, truth, question=f"{two[0]} > {two[1]}", scale=SCALE)
    np.testing.assert_allclose(result.statement.estimate[0], mean[0] - mean[1], atol=1e-12)


def test_an_estimate_lies_in_its_interval_also_where_judgments_rule_out_what_draws_estimate(
    world: tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments],
) -> None:
    """With most documents judged before, a few draws can say more than all that is left could change."""
    runs, truth, _ = world
    rng = np.random.default_rng(3)
    before = {
        topic: {document: grade for document, grade in grades.items() if rng.random() < 0.8}
        for topic, grades in truth.to_dict()["people"].items()
    }
    options: dict[str, Any] = {"question": "best", "scale": SCALE, "n_documents": 8}
    first = next_judgments(runs, qrowd.Judgments.from_dict({"people": before}), rng=3, **options)
    drawn = answers(first.design, truth).to_dict()["people"]
    people = qrowd.Judgments.from_dict({"people": {topic: of | drawn.get(topic, {}) for topic, of in before.items()}})
    one = next_judgments(runs, people, design=first.design, **options).statement
    assert (one.low <= one.estimate).all()
    assert (one.estimate <= one.high).all()
    assert (one.estimate == one.low).any()  # which draws alone had put below


def test_what_was_judged_before_the_first_batch_is_never_drawn(
    world: tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments],
) -> None:
    runs, truth, cheap = world
    some = truth.select(topics=truth.topics[:5])
    result = next_judgments(runs, some, question="best", models=cheap, scale=SCALE, n_documents=1000)
    assert set(result.topics) == set(truth.topics[5:])


def test_a_design_of_another_question_is_refused(world: tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments]) -> None:
    runs, _, _ = world
    first = next_judgments(runs, None, question="best", scale=SCALE)
    with pytest.raises(ArgumentError, match="is for the question"):
        next_judgments(runs, None, question="ranking", scale=SCALE, design=first.design)
    other = replace(first.design, documents=first.design.documents[::-1])
    with pytest.raises(ArgumentError, match="design: it is of other runs"):
        next_judgments(runs, None, question="best", scale=SCALE, design=other)


def test_without_people_a_scale_is_needed(world: tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments]) -> None:
    with pytest.raises(ArgumentError, match="scale: which values people may still give is not known"):
        next_judgments(world[0], None, question="best")


def test_what_was_drawn_and_not_judged_comes_first_in_the_next_batch(
    world: tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments],
) -> None:
    runs, truth, _ = world
    first = next_judgments(runs, None, question="best", scale=SCALE, n_documents=10)
    again = next_judgments(runs, None, question="best", scale=SCALE, n_documents=10, design=first.design)
    assert again.documents == first.documents
    assert len(again.design.draws) == 10
    answered = answers(replace(first.design, draws=first.design.draws.first(4)), truth)
    later = next_judgments(runs, answered, question="best", scale=SCALE, n_documents=10, design=first.design)
    assert later.documents[:6] == first.documents[4:]
    assert len(later.design.draws) == 14


def test_a_design_is_stored_and_read_back_to_the_last_bit(
    world: tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments], tmp_path: Path
) -> None:
    design = ask(world, "best", n=7, most=4)[-1].design
    write_design(tmp_path / "next.json", design)
    stored = read_design(tmp_path / "next.json")
    np.testing.assert_array_equal(stored.draws.sizes, design.draws.sizes)
    np.testing.assert_array_equal(stored.draws.document, design.draws.document)
    np.testing.assert_array_equal(stored.draws.probabilities(), design.draws.probabilities())
    assert (stored.topics, stored.documents, stored.seed) == (design.topics, design.documents, design.seed)


@pytest.mark.parametrize("content", ["x", "{}", '{"format": "qrowd design 1"}', '{"format": "other"}', "[1]"])
def test_a_file_without_a_design_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "next.json").write_text(content)
    with pytest.raises(FileError, match="is no design of qrowd next"):
        read_design(tmp_path / "next.json")


def test_judgments_that_were_known_must_stay(world: tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments]) -> None:
    runs, truth, _ = world
    some = truth.select(topics=truth.topics[:2])
    design = next_judgments(runs, some, question="best", scale=SCALE).design
    with pytest.raises(ArgumentError, match=r"judgments: .* was judged when the design began"):
        next_judgments(runs, None, question="best", scale=SCALE, design=design)


def test_a_scale_that_is_declared_with_the_judgments_need_not_be_given(
    world: tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments],
) -> None:
    runs, truth, _ = world
    some = truth.select(topics=truth.topics[:2])
    with pytest.raises(ArgumentError, match=r"scale: .* is not known \(the highest so far is \d\)"):
        next_judgments(runs, some, question="best")
    assert next_judgments(runs, some.with_scales({"*": "0-4"}), question="best").design.scale == "0-4"


def test_negative_judgments_mean_not_judged(world: tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments]) -> None:
    runs, _, _ = world
    first = next_judgments(runs, None, question="best", scale=SCALE, n_documents=5)
    skipped: dict[str, dict[str, float]] = {}
    for topic, document in zip(first.topics, first.documents, strict=True):
        skipped.setdefault(topic, {})[document] = -1
    again = next_judgments(runs, skipped, question="best", scale=SCALE, n_documents=5, design=first.design)
    assert again.documents == first.documents


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"confidence": 1.0}, "confidence=1.0: a number between 0 and 1"),
        ({"n_documents": 0}, "n_documents=0: at least 1"),
        ({"tolerance": -0.1}, "tolerance=-0.1: 0 or more"),
        ({"target": "all"}, "target"),
        ({"models": {"m": {"x": {"d": 1}}}}, "models: they judged no topic of the runs"),
    ],
)
def test_an_option_that_means_nothing_is_refused(
    world: tuple[qrowd.Runs, qrowd.Judgments, qrowd.Judgments], settings: dict[str, object], said: str
) -> None:
    with pytest.raises(ArgumentError, match=said):
        next_judgments(world[0], None, question="best", scale=SCALE, **settings)  # type: ignore[arg-type]
