"""Questions as text, and what answers them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.sequential.question import Question, answer_of, open_contrasts

SYSTEMS = ("bm25", "dense-1", "dense-2", "lm")


@pytest.mark.parametrize(
    ("text", "kind", "systems", "n_best"),
    [
        ("bm25 > lm", "better", ("bm25", "lm"), 1),
        ("best", "best", SYSTEMS, 1),
        ("best of lm, dense*", "best", ("lm", "dense-1", "dense-2"), 1),
        ("lm among best 2", "among", ("lm", "bm25", "dense-1", "dense-2"), 2),
        ("lm among best of bm25, lm", "among", ("lm", "bm25"), 1),
        ("ranking of dense*", "ranking", ("dense-1", "dense-2"), 1),
    ],
)
def test_a_question_is_read(text: str, kind: str, systems: tuple[str, ...], n_best: int) -> None:
    question = Question.read(text, SYSTEMS)
    assert (question.kind, question.systems, question.n_best) == (kind, systems, n_best)
    assert Question.read(str(question), SYSTEMS) == question


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("which is good", "expected 'A > B'"),
        ("bm25 > nobody", "no system 'nobody'"),
        ("bm25 > dense*", "several systems match"),
        ("best of nobody*", "there is no system"),
        ("best of bm25", "at least two systems"),
        ("best 2", "expected 'A > B'"),
        ("lm among best 4", "fewer were expected"),
    ],
)
def test_another_text_is_refused_with_the_form_that_was_expected(text: str, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        Question.read(text, SYSTEMS)


def bounds(question: Question, scores: Floats, half: float) -> tuple[NDArray[np.int64], Floats, Floats]:
    contrasts = question.contrasts()
    differences = scores[contrasts[:, 0]] - scores[contrasts[:, 1]]
    return contrasts, differences - half, differences + half


@given(st.permutations([0.1, 0.2, 0.4, 0.7]), st.sampled_from(["best", "ranking", "lm among best 2", "bm25 > lm"]))
def test_exact_bounds_give_the_answer_of_the_scores(values: list[float], text: str) -> None:
    question = Question.read(text, SYSTEMS)
    score = dict(zip(SYSTEMS, values, strict=True))
    scores = np.array([score[name] for name in question.systems])
    answer, left = answer_of(question, *bounds(question, scores, 0.0), tolerance=0.0)
    assert left == ()
    order = sorted(question.systems, key=lambda name: -score[name])
    if text == "best":
        assert answer == f"{order[0]} is the best of 4 systems"
    elif text == "ranking":
        assert answer == "the ranking is " + " > ".join(order)
    elif text == "bm25 > lm":
        assert answer == f"{order[0]} is better than {order[1]}"
    else:
        word = "is" if order.index("lm") < 2 else "is not"
        assert answer == f"lm {word} among the best 2 of 4 systems"


@given(st.sampled_from(["best", "ranking", "lm among best 2", "bm25 > lm"]))
def test_wide_bounds_leave_every_system_open(text: str) -> None:
    question = Question.read(text, SYSTEMS)
    contrasts, low, high = bounds(question, np.linspace(0, 0.1, len(question.systems)), 5.0)
    answer, left = answer_of(question, contrasts, low, high, tolerance=0.0)
    assert answer == ""
    assert left
    assert open_contrasts(question, contrasts, low, high, left, tolerance=0.0).all()


def test_a_tolerance_ends_the_question_of_equal_systems() -> None:
    question = Question.read("bm25 > lm", SYSTEMS)
    contrasts, low, high = bounds(question, np.array([0.5, 0.5]), 0.01)
    assert answer_of(question, contrasts, low, high, tolerance=0.0)[0] == ""
    assert answer_of(question, contrasts, low, high, tolerance=0.02)[0] == "bm25 and lm differ by no more than 0.02"
    best = Question.read("best", SYSTEMS)
    answer, _ = answer_of(best, *bounds(best, np.array([0.5, 0.495, 0.1, 0.1]), 0.01), tolerance=0.02)
    assert answer.endswith("is the best of 4 systems, or within 0.02 of the best")


def test_a_system_that_is_beaten_is_asked_about_no_more() -> None:
    question = Question.read("best", SYSTEMS)
    contrasts, low, high = bounds(question, np.array([0.5, 0.48, 0.1, 0.1]), 0.05)
    _, left = answer_of(question, contrasts, low, high, tolerance=0.0)
    assert left == (0, 1)
    undecided = open_contrasts(question, contrasts, low, high, left, tolerance=0.0)
    assert contrasts[undecided].tolist() == [[0, 1]]


def test_the_confidence_is_shared_by_the_intervals_that_can_mislead() -> None:
    assert Question.read("bm25 > lm", SYSTEMS).confidence_of_each(0.95) == pytest.approx(0.95)
    assert Question.read("best", SYSTEMS).confidence_of_each(0.95) == pytest.approx(1 - 0.1 / 3)
    assert Question.read("lm among best 2", SYSTEMS).confidence_of_each(0.95) == pytest.approx(1 - 0.05 / 3)
    assert Question.read("ranking", SYSTEMS).confidence_of_each(0.95) == pytest.approx(1 - 0.05 / 6)
