"""Scores as functions of gains: AP beside the engine's, its slopes, and what a look makes of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.errors import MeasureError
from qrowd.evaluation import evaluate, measure
from qrowd.kernels.arrays import Floats
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.sequential.candidates import Lists, candidates_of, gains_definition, label_shares, mean_gains, possible_gains
from qrowd.sequential.design import Draws
from qrowd.sequential.linear_forms import form_of_lists
from qrowd.sequential.looks import Problem
from qrowd.sequential.next_judgments import next_judgments
from qrowd.sequential.predictions import label_features, predict_gains, simulated_gains
from qrowd.sequential.question import Question

NAMES = ("AP", "AP(rel=2)@7", "AP@5")
SCALE = Scale("graded", 3.0)


def panel(
    seed: int = 1, *, n_topics: int = 6, n_documents: int = 14, depth: int = 9
) -> tuple[Runs, Judgments, Judgments]:
    """Three systems, one person who judged all, and a model."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(1.2, 0.9, (n_topics, n_documents)) + rng.normal(0, 0.4, (n_topics, 1))
    rows = [
        (system, f"t{t:02}", f"d{document:02}", rank)
        for system, noise in zip("abc", (0.5, 0.9, 2.0), strict=True)
        for t, values in enumerate(latent)
        for rank, document in enumerate(np.argsort(-(values + rng.normal(0, noise, n_documents)))[:depth])
    ]
    runs = Runs.from_frame(pd.DataFrame(rows, columns=["system", "topic", "document", "rank"]))

    def judged(name: str, values: Floats) -> Judgments:
        cells = [(name, f"t{t:02}", f"d{d:02}", value) for (t, d), value in np.ndenumerate(values)]
        frame = pd.DataFrame(cells, columns=["assessor", "topic", "document", "value"])
        return Judgments.from_frame(frame).with_scales({name: SCALE})

    person = judged("ann", np.clip(np.round(latent), 0, 3))
    return runs, person, judged("llm", np.clip(np.round(latent + rng.normal(0, 0.7, latent.shape)), 0, 3))


def problem_of(name: str, seed: int = 1, question: str = "a > b", **sizes: int) -> tuple[Problem, Floats, Floats]:
    """A question, the gains of its candidates, and the true mean scores of its systems."""
    runs, person, model = panel(seed, **sizes)
    parsed = measure(name)
    asked = Question.read(question, runs.systems)
    whole = candidates_of(runs, asked.systems, [person, model], parsed)
    labels = label_features(label_shares(model, whole))
    problem = Problem(asked, parsed, whole, labels, possible_gains(parsed, SCALE))
    scores = evaluate(runs, person, name)
    numbers = [scores.systems.index(system) for system in asked.systems]
    return problem, mean_gains(person, whole, parsed), scores.values[0, 0].mean(axis=0)[numbers]


@pytest.mark.parametrize("name", NAMES)
def test_with_all_documents_judged_the_difference_is_that_of_the_scores(name: str) -> None:
    for seed in range(5):
        problem, gains, scores = problem_of(name, seed, "best")
        look = problem.look(gains, Draws.none(problem.matters.size))
        expected = [scores[i] - scores[j] for i, j in problem.contrasts.tolist()]
        np.testing.assert_allclose(look.estimates.estimate, expected, atol=1e-12)
        np.testing.assert_allclose(look.low, expected, atol=1e-12)
        np.testing.assert_allclose(look.high, expected, atol=1e-12)
        assert look.certain or np.abs(expected).min() < 1e-9


@given(st.integers(0, 2**32 - 1))
def test_a_slope_is_the_change_of_the_sum_with_the_gain_of_one_document(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_topics = 12, 3
    topic = np.sort(rng.integers(0, n_topics, n))
    weight = np.zeros((2, n))
    for row in weight:
        for t in range(n_topics):
            own = rng.permutation(np.flatnonzero(topic == t))
            row[own[: own.size - 1]] = 1 / np.arange(1.0, max(own.size, 1))
    lists = Lists.of(weight, topic, n_topics, np.zeros(n, bool))
    gains = rng.random(n)
    slopes = lists.slopes(gains)
    for document in range(n):
        ends = np.array([gains, gains])
        ends[:, document] = 0.0, 1.0
        change = np.diff(lists.sums(ends), axis=0)[0].sum(axis=1)  # linear in one gain
        np.testing.assert_allclose(slopes[:, document], change, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("share", [0.9, *(pytest.param(share, marks=pytest.mark.nightly) for share in (0.4, 1.0))])
def test_no_answers_lead_outside_the_certain_limits(name: str, share: float) -> None:
    problem, gains, _ = problem_of(name, 3)
    rng = np.random.default_rng(2)
    is_open = rng.random(gains.size) < share
    partly = np.where(is_open, np.nan, gains)
    look = problem.look(partly, Draws.none(problem.matters.size))
    predictions = predict_gains(problem.features, partly, lowest=float(problem.levels[0]), highest=1.0)
    assert problem.lists is not None
    arguments = problem.lists, problem.candidates, problem.contrasts, problem.matters, predictions
    form = form_of_lists(*arguments, partly, levels=problem.levels)
    assert (form.low <= look.low).all()
    assert (form.high >= look.high).all()
    for _ in range(15):
        answers = np.where(is_open, rng.choice(problem.levels, gains.size), gains)
        exact = problem.look(answers, Draws.none(problem.matters.size)).estimates.estimate[0]
        assert form.low[0] - 1e-12 <= exact <= form.high[0] + 1e-12


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "n", "most"),  # more have a probability of .002 and .016 if each leaves with .05
    [
        ("AP", 5, 2),
        *(pytest.param(name, 20, 3, marks=pytest.mark.nightly) for name in ("AP", "nDCG@5")),
    ],
)
def test_intervals_cover_the_difference_at_all_looks(name: str, n: int, most: int) -> None:
    """A look after every fifth answer: 95 % are promised of all looks together."""
    n_left = 0
    for seed in range(n):
        problem, gains, scores = problem_of(name, seed, n_topics=12, n_documents=20, depth=12)
        truth = scores[0] - scores[1]
        draws, answers = Draws.none(problem.matters.size), np.full(gains.size, np.nan)
        look, left = problem.look(answers, draws), False
        while look.sizes.any() and draws.left().any():
            draws = draws.draw(look.sizes, 5, np.random.default_rng([seed, len(draws)]))
            answers[problem.matters[draws.document]] = gains[problem.matters[draws.document]]
            look = problem.look(answers, draws)
            left |= not look.low[0] - 1e-9 <= truth <= look.high[0] + 1e-9
        n_left += left
    assert n_left <= most


@pytest.mark.parametrize("n", [20, pytest.param(60, marks=pytest.mark.nightly)])
def test_what_the_slopes_leave_out_is_as_large_as_it_says(n: int) -> None:
    """The error with all documents of the lists judged but those of other lists open, and with a third open."""
    errors = []
    for seed in range(n):
        problem, gains, _ = problem_of("AP", seed, n_topics=12, n_documents=20, depth=12)
        rng = np.random.default_rng(seed)
        is_open = rng.random(gains.size) < 0.33
        partly = np.where(is_open, np.nan, gains)
        predictions = predict_gains(problem.features, partly, lowest=0.0, highest=1.0)
        assert problem.lists is not None
        arguments = problem.lists, problem.candidates, problem.contrasts, problem.matters, predictions
        form = form_of_lists(*arguments, partly, levels=problem.levels)
        linear = form.weights[0] @ gains[problem.matters] + form.constants[0].sum()
        exact = problem.look(gains, Draws.none(problem.matters.size)).estimates.estimate[0]
        errors.append((linear - exact) / np.sqrt(form.variance[0]))
    assert 0.6 < np.sqrt(np.mean(np.square(errors))) < 1.25


def test_every_document_that_can_still_change_the_answer_can_be_drawn() -> None:
    problem, gains, _ = problem_of("AP", 2)
    nothing = np.full(gains.size, np.nan)
    assert (problem.look(nothing, Draws.none(problem.matters.size)).sizes > 0).all()


@pytest.mark.parametrize("with_models", [False, True])
def test_a_judgment_of_a_document_that_no_list_has_leaves_the_design_of_ap_as_it_is(with_models: bool) -> None:
    runs, person, model = panel(1)
    two, frame = runs.select(systems=["a", "b"]), person.to_frame()
    options = {"question": "a > b", "measure": "AP", "models": model if with_models else None, "scale": "0-3"}
    first = next_judgments(two, None, **options)
    listed = set(zip(*(two.to_frame()[name] for name in ("topic", "document")), strict=True))
    pairs = list(zip(frame["topic"], frame["document"], strict=True))
    others = [pair for pair in pairs if pair not in listed][:3]
    asked = set(zip(first.topics, first.documents, strict=True)) | set(others)
    answers = frame[[pair in asked for pair in pairs]]
    second = next_judgments(two, answers, design=first.design, **options)
    assert len(others) == 3
    assert (second.design.topics, second.design.documents) == (first.design.topics, first.design.documents)


def test_simulated_gains_keep_what_is_judged_and_the_expected_mean() -> None:
    problem, gains, _ = problem_of("nDCG@10", 1)
    partly = np.where(np.arange(gains.size) % 2 == 0, gains, np.nan)
    top = float(problem.levels[-1])
    predictions = predict_gains(problem.features, partly, lowest=0.0, highest=top)
    simulated = simulated_gains(predictions, partly, 4000, levels=problem.levels, rng=np.random.default_rng(1))
    assert np.isin(simulated, problem.levels).all()
    assert (simulated[:, ::2] == gains[::2]).all()
    inside = np.isnan(partly) & (np.abs(predictions.expected / top - 0.5) < 0.2)  # far from where shares are clipped
    assert inside.any()
    np.testing.assert_allclose(simulated.mean(axis=0)[inside], predictions.expected[inside], atol=0.05)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bpref", "is neither a weighted sum of gains by rank nor AP; use one such as"),
        ("ERR@10", "is neither a weighted sum of gains by rank nor AP"),
        ("AP(judged_only=True)", "is neither a weighted sum"),
        ("AP(recall_base=10)", "only recall_base='own' can be estimated"),
    ],
)
def test_other_measures_are_refused(name: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        gains_definition(measure(name))
