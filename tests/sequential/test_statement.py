"""What is said of a question claims no more than its intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qrowd.sequential.question import Question, Statement, open_contrasts

SYSTEMS = ("bm25", "dense", "lm")


def statement(text: str, **settings: object) -> Statement:
    question = Question.read(text, SYSTEMS)
    pairs = question.contrasts()
    n = len(pairs)
    one = Statement(
        question,
        "nDCG@10",
        0.95,
        "",
        False,
        tuple(question.systems[i] for i in pairs[:, 0]),
        tuple(question.systems[j] for j in pairs[:, 1]),
        np.full(n, 0.02),
        np.full(n, -0.01),
        np.full(n, 0.05),
        np.full(n, 5),
        np.full(n, 40),
        question.systems[:2],
        n_judged_in_all=7,
        n_documents_in_all=50,
    )
    return replace(one, **settings)  # type: ignore[arg-type]


def test_an_open_pair_is_said_as_an_interval() -> None:
    one = statement("bm25 > lm")
    assert one.sentence == "Open: bm25 - lm is +0.020 [-0.010, +0.050] by nDCG@10 (7 of 50 documents judged)."
    assert not one.decided
    early = statement("bm25 > lm", low=np.array([-np.inf]), high=np.array([np.inf]))
    assert "bm25 - lm is expected to be +0.020, with no interval until " in early.sentence


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("best", "Open: 2 of 3 systems may be the best by nDCG@10 "),
        ("lm among best 2", "Open: 2 of 2 systems may be above lm or below it by nDCG@10 "),
        ("ranking", "Open: the ranks of 2 of 3 systems are not certain by nDCG@10 "),
    ],
)
def test_an_open_question_says_how_many_systems_are_left(text: str, said: str) -> None:
    assert statement(text).sentence.startswith(said)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {},
            "bm25 is better than lm by nDCG@10 on these topics for those who judged, with confidence 0.95 (7 of 50 "
            "documents judged).",
        ),
        ({"certain": True}, "on these topics for those who judged, whatever the other judgments are (7 of 50"),
        ({"target": "new topics"}, "on topics like these for those who judged, with confidence 0.95"),
    ],
)
def test_an_answer_says_on_which_topics_and_how_certain_it_is(settings: dict[str, object], said: str) -> None:
    one = statement("bm25 > lm", answer="bm25 is better than lm", **settings)
    assert said in one.sentence
    assert one.decided


def test_the_differences_are_rows() -> None:
    frame = statement("best").to_frame()
    assert frame.columns.tolist() == ["first", "second", "estimate", "low", "high", "n_judged", "n_documents"]
    assert len(frame) == 3


def test_a_question_that_is_open_has_an_open_difference_even_where_all_are_within_the_tolerance() -> None:
    question = Question.read("dense among best 1", SYSTEMS)
    low, high = np.array([-0.01, 0.02]), np.array([0.01, 0.04])
    rows = open_contrasts(question, question.contrasts(), low, high, (1,), tolerance=0.05)
    assert rows.tolist() == [True, False]
    best = Question.read("best", SYSTEMS)
    nobody = open_contrasts(best, best.contrasts(), np.array([1, -2, 1]), np.array([2, -1, 2]), (), tolerance=0)
    assert nobody.all()  # a > b > c > a
