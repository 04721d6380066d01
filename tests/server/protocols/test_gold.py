"""Gold questions: where they come, what counts as right, and the rule that excludes."""

from itertools import product
from math import exp, log
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from qrowd_server.protocols import PROTOCOLS
from qrowd_server.protocols.board import Board
from qrowd_server.protocols.events import CannotTell, Event, GoOn, GoTo, Judge, MarkBad, Prefer, Refusal, Undo
from qrowd_server.protocols.gold_checks import Gold, GoldAnswer, entry_test, evidence, gold_task, is_below, is_right
from qrowd_server.protocols.protocol import BadRow, GoldRow, JudgmentRow, Material, PreferenceRow, Task
from qrowd_server.protocols.setting_fields import plain, read
from qrowd_server.protocols.settings import GoldSettings, GradesSettings, PreferenceSettings
from qrowd_server.protocols.views import DocumentView, EndView, FeedbackView, PairView
from rooms import of_kind

GRADED = tuple(Gold((100 + i,), (i % 4,), f"because {i}") for i in range(6))
PAIRS = tuple(Gold((200 + 2 * i, 201 + 2 * i), (), f"because {i}") for i in range(4))
OWN = tuple(range(12))
grades, preference = PROTOCOLS["grades"], PROTOCOLS["preference"]


class Judging:
    """One assignment, kept by the protocol alone."""

    def __init__(self, protocol, task: Task) -> None:
        self.protocol, self.task, self.now = protocol, task, 0.0
        self.state, self.log = protocol.new(task, 0.0), []
        self._record(protocol.resume(task, self.state, None, 0.0))

    def _record(self, events: tuple[Event, ...]) -> None:
        for event in events:
            self.log.append(event)
            self.state = self.protocol.evolve(self.task, self.state, event, self.now)

    @property
    def view(self):
        return self.protocol.view(self.task, self.state)

    def act(self, action) -> None:
        self.now += 5
        self._record(self.protocol.decide(self.task, self.state, action, self.now))


def graded(every: int = 3, *, seed: int = 1, feedback: bool = False, first: int = 0, **settings) -> Judging:
    options = GradesSettings(k=20, reason="none", rating=False, **settings)
    places = {"gold_every": every, "gold_first": first, "feedback": feedback}
    task = grades.task(options, Material(OWN, gold=GRADED), seed, **places)
    return Judging(grades, task)


def paired(every: int = 3, *, seed: int = 1, feedback: bool = False, n: int = 5, first: int = 0, **settings) -> Judging:
    options = PreferenceSettings(order="random", stop=False, rating=False, **settings)
    places = {"gold_every": every, "gold_first": first, "feedback": feedback}
    task = preference.task(options, Material(OWN[:n], gold=PAIRS), seed, **places)
    return Judging(preference, task)


def is_gold(view: PairView) -> bool:
    return view.left >= 200


# ---- where they come


@given(st.integers(0, 2**62), st.integers(2, 9))
def test_of_each_so_many_documents_in_a_row_one_is_a_gold_question_as_long_as_there_are_some(seed: int, every: int):
    own, gold = tuple(range(40)), tuple(Gold((100 + i,), (0,)) for i in range(60))
    shown = gold_task(gold, every, seed).mixed(own)
    assert [document for document in shown if document < 100] == list(own)
    for start in range(0, len(shown) - every + 1, every):
        assert sum(document >= 100 for document in shown[start : start + every]) == 1
    assert len(set(shown)) == len(shown)


@given(st.integers(0, 2**62), st.integers(0, 5))
def test_when_gold_questions_run_out_the_unit_goes_on_without(seed: int, n: int):
    shown = gold_task(GRADED[:n], 2, seed).mixed(OWN)
    assert [document for document in shown if document < 100] == list(OWN)
    assert sum(document >= 100 for document in shown) <= n
    assert n < 4 or sum(document >= 100 for document in shown) == n


@pytest.mark.nightly
def test_every_place_in_a_row_and_every_question_is_as_likely_as_any_other():
    places, first = np.zeros(4), np.zeros(len(GRADED))
    for seed in range(2000):
        shown = gold_task(GRADED, 4, seed).mixed(OWN)
        place = next(i for i, document in enumerate(shown) if document >= 100)
        places[place] += 1
        first[shown[place] - 100] += 1
    assert np.abs(places - 500).max() < 4 * np.sqrt(2000 * 0.25 * 0.75)
    assert np.abs(first - 2000 / 6).max() < 4 * np.sqrt(2000 / 6 * 5 / 6)


def test_the_documents_of_a_unit_keep_the_order_that_they_have_without_gold_questions():
    with_gold = graded(3).task.documents
    assert [document for document in with_gold if document < 100] == list(graded(0).task.documents)


def test_a_view_of_a_gold_question_has_nothing_that_other_views_have_not():
    judging = graded()
    while isinstance(view := judging.view, DocumentView):
        fields = {**vars(view), "document": 0, "position": 0, "done": (), "answer": None, "postponed": ()}
        assert fields == {**vars(graded().view), **dict.fromkeys(("document", "position"), 0), "done": (),
                          "answer": None, "postponed": (), "may_postpone": view.may_postpone}  # fmt: skip
        judging.act(Judge(view.position, "1"))
    assert isinstance(judging.view, EndView)


# ---- what is said


def test_answers_to_gold_questions_are_no_judgments():
    judging = graded()
    for position, document in enumerate(judging.task.documents):
        judging.act(Judge(position, str(document % 4 if document < 100 else (document - 100) % 4)))
    rows = grades.rows(judging.task, judging.state)
    assert sorted(row.document_id for row in of_kind(rows, JudgmentRow)) == list(OWN)
    assert {row.document_id for row in of_kind(rows, GoldRow)} == set(judging.task.documents) - set(OWN)
    assert all(row.is_right for row in of_kind(rows, GoldRow))
    assert {row.chance for row in of_kind(rows, GoldRow)} == {0.25}


def test_cannot_tell_is_neither_right_nor_wrong():
    judging = graded()
    for position in range(4):
        judging.act(CannotTell(position, "cut off"))
    gold = of_kind(grades.rows(judging.task, judging.state), GoldRow)
    assert gold
    assert [row.is_right for row in gold] == [None] * len(gold)
    assert (is_right(GRADED[1], 1.0), is_right(GRADED[1], 2.0)) == (True, False)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.integers(0, 2**32), st.booleans(), st.booleans())
def test_gold_pairs_change_nothing_of_the_other_pairs_and_the_bound_on_what_comes_holds(seed, bad, feedback):
    judging, rng, bounds = paired(seed=seed, bad=bad, feedback=feedback), Random(seed), []
    facts = []
    while not isinstance(view := judging.view, EndView):
        if isinstance(view, FeedbackView):
            judging.act(GoOn())
            continue
        bounds.append(view.at_most)
        better = min(view.left, view.right) % 100
        choice = "left" if better == view.left % 100 else "right"
        if bad and not is_gold(view) and view.may_mark_bad and rng.random() < 0.1:
            judging.act(MarkBad(view.pair, "right" if choice == "left" else "left"))
        else:
            judging.act(Prefer(view.pair, choice))
        if not is_gold(view):
            facts.append((view.left, view.right))
    n = len(bounds)
    assert all(bound >= n - i for i, bound in enumerate(bounds))
    assert bounds == sorted(bounds, reverse=True)
    rows = preference.rows(judging.task, judging.state)
    assert len(of_kind(rows, PreferenceRow)) + len(of_kind(rows, BadRow)) == len(facts)
    assert all(row.is_right and row.chance == 0.5 for row in of_kind(rows, GoldRow))
    assert all(row.left_id < 200 and row.right_id < 200 for row in of_kind(rows, PreferenceRow))
    board = Board.of(judging.task.material.documents, [(1, event, 0.0) for event in judging.log])
    assert len(board.facts) == len(facts)


def test_a_gold_pair_that_is_taken_back_is_asked_again():
    judging = paired(2, seed=4)
    while not is_gold(judging.view):
        judging.act(Prefer(judging.view.pair, "left"))
    asked = {judging.view.left, judging.view.right}
    judging.act(Prefer(judging.view.pair, "left"))
    assert len(of_kind(preference.rows(judging.task, judging.state), GoldRow)) == 1
    judging.act(Undo(judging.view.pair))
    assert {judging.view.left, judging.view.right} == asked
    assert of_kind(preference.rows(judging.task, judging.state), GoldRow) == ()


def test_removing_the_better_document_of_a_gold_pair_as_bad_is_wrong_and_removing_the_worse_one_is_right():
    for worse in (True, False):
        judging = paired(2, seed=4)
        while not is_gold(view := judging.view):
            judging.act(Prefer(view.pair, "left"))
        side = "left" if (view.left % 2 == 1) == worse else "right"
        judging.act(MarkBad(view.pair, side))
        (row,) = of_kind(preference.rows(judging.task, judging.state), GoldRow)
        assert row.is_right is worse


@given(st.integers(0, 2**32), st.sampled_from(["grades", "preference"]))
def test_states_survive_json_and_follow_from_the_log(seed: int, name: str):
    judging, rng = (graded(seed=seed, feedback=True) if name == "grades" else paired(seed=seed, feedback=True)), None
    rng = Random(seed)
    for _ in range(20):
        view = judging.view
        match view:
            case FeedbackView():
                judging.act(GoOn())
            case DocumentView():
                judging.act(Judge(view.position, str(rng.randrange(4))))
            case PairView():
                judging.act(Prefer(view.pair, rng.choice(("left", "right"))))
            case _:
                break
    state = judging.protocol.new(judging.task, 0.0)
    assert judging.protocol.from_json(judging.protocol.to_json(judging.state)) == judging.state
    assert type(state) is type(judging.state)


# ---- feedback


def test_feedback_says_what_was_expected_and_why_and_the_answer_stays():
    judging = graded(2, seed=3, feedback=True)
    position = next(i for i, document in enumerate(judging.task.documents) if document >= 100)
    for place in range(position):
        judging.act(Judge(place, "1"))
        assert not isinstance(judging.view, FeedbackView)
    document = judging.task.documents[position]
    grade = (document - 100) % 4
    judging.act(Judge(position, str((grade + 1) % 4)))
    view = judging.view
    assert isinstance(view, FeedbackView)
    labels = GradesSettings().labels
    assert (view.right, view.chosen, view.expected) == (False, labels[(grade + 1) % 4], (labels[grade],))
    assert view.reason == f"because {document - 100}"
    with pytest.raises(Refusal):
        judging.act(Judge(position + 1, "1"))
    judging.act(GoOn())
    judging.act(GoTo(position))
    with pytest.raises(Refusal, match="checked"):
        judging.act(Judge(position, str(grade)))


def test_the_time_on_feedback_is_not_time_on_the_next_document():
    judging = graded(2, seed=3, feedback=True)
    while not isinstance(judging.view, FeedbackView):
        judging.act(Judge(judging.view.position, "1"))
    judging.now += 500
    judging.act(GoOn())
    position = judging.view.position
    judging.act(Judge(position, "1"))
    assert judging.state.places[position].seconds == 5


def test_without_feedback_an_answer_may_be_changed_and_the_last_one_counts():
    judging = graded(2, seed=3)
    position = next(i for i, document in enumerate(judging.task.documents) if document >= 100)
    grade = (judging.task.documents[position] - 100) % 4
    for place in range(position):
        judging.act(Judge(place, "1"))
    judging.act(Judge(position, str((grade + 1) % 4)))
    judging.act(GoTo(position))
    judging.act(Judge(position, str(grade)))
    (row,) = of_kind(grades.rows(judging.task, judging.state), GoldRow)
    assert row.is_right


# ---- the rule


def answers_of(*pairs: tuple[bool, float]) -> list[GoldAnswer]:
    """Answers with the choices that a scale of four grades, or a pair, has: the first ones are right."""
    right = {0.25: ("0",), 0.5: ("left",), 0.1: ("7",)}
    return [GoldAnswer(is_right, chance, right[chance]) for is_right, chance in pairs]


QUESTIONS = [(0.25, ("0",)), (0.25, ("3",)), (0.5, ("1", "2")), (0.5, ("left",)), (0.5, ("right",)), (0.5, ("0",))]


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.floats(0.5, 0.95), st.lists(st.tuples(st.floats(0, 1), st.sampled_from(QUESTIONS)), min_size=1, max_size=9))
def test_the_evidence_expects_at_most_1_of_whoever_is_not_below_the_threshold(accuracy, questions):
    own = [accuracy + more * (1 - accuracy) for more, _ in questions]  # another accuracy for each question
    expected = 0.0  # Ville's inequality follows from this at every number of answers
    for rights in product((True, False), repeat=len(questions)):
        probability = np.prod([p if right else 1 - p for right, p in zip(rights, own, strict=True)])
        answers = [GoldAnswer(right, *question) for right, (_, question) in zip(rights, questions, strict=True)]
        if probability:
            expected += probability * exp(evidence(answers, accuracy))
    assert expected <= 1 + 1e-9


def test_the_evidence_is_the_mixture_that_its_formula_says():
    answers = [
        GoldAnswer(True, 0.25, ("0",)),
        GoldAnswer(False, 0.5, ("left",)),
        GoldAnswer(False, 0.25, ("2",)),
        GoldAnswer(True, 0.5, ("right",)),
    ]
    f = 0.8 * 0.2 * 0.2 * 0.8
    guessing = 0.25 * 0.5 * 0.75 * 0.5 / f
    others = [a * (1 - a) * (1 - a) * a / f for a in (0.8 * (i + 0.5) / 100 for i in range(100))]
    good, bad = 0.05 / 0.8, 0.95 / 0.2  # of a right and of a wrong answer where the constant one is wrong
    grades = [bad, good * bad, good, good * bad]  # always 0, 1, 2, 3
    sides = [good, bad]  # always left, always right
    constant = sum(grades) / 4 * sum(sides) / 2
    assert evidence(answers, 0.8) == pytest.approx(log(0.7 * guessing + 0.2 * constant + 0.1 * sum(others) / 100))


def test_who_always_gives_the_same_answer_is_found_although_half_of_the_answers_are_right():
    rule = {"min_answers": 5, "accuracy": 0.9, "risk": 0.05}
    sides = ["left", "right"] * 10
    always_left = [GoldAnswer(side == "left", 0.5, (side,)) for side in sides]
    assert is_below(always_left[:8], **rule)
    wide = [GoldAnswer(i % 3 > 0, 0.5, ("1", "2")) if i % 3 else GoldAnswer(False, 0.25, ("0",)) for i in range(12)]
    assert is_below(wide, **rule), "always 1, which is right in two thirds of the answers"
    careful = [GoldAnswer(i != 7, 0.5, (side,)) for i, side in enumerate(sides)]
    assert not any(is_below(careful[:n], **rule) for n in range(21))


@pytest.mark.nightly
@pytest.mark.parametrize("first", [0, 20])
@pytest.mark.parametrize(("n_people", "most"), [(100, 17), (400, 40)])
def test_honest_people_are_excluded_no_more_often_than_the_risk_and_guessing_is_found(
    n_people: int, most: int, first: int
):
    rng, n_excluded, found = np.random.default_rng(5), 0, 0
    rule = {"min_answers": 5, "accuracy": 0.8, "risk": 0.1, "first": first}

    def answers(share: float, n: int) -> list[GoldAnswer]:
        right = rng.random(n) < share
        return [GoldAnswer(bool(one), 0.25, (str(i % 4),), i < first) for i, one in enumerate(right)]

    for _ in range(n_people):
        honest = answers(0.8, 60)
        n_excluded += any(is_below(honest[:n], **rule) for n in range(5, 61))
        guess = answers(0.25, 30)
        found += any(is_below(guess[:n], **rule) for n in range(5, 31))
    assert n_excluded <= most  # .1 of them, and of 100 by chance more than 17 with probability .01
    assert found >= 0.98 * n_people


@pytest.mark.parametrize("first", [0, 20])
@pytest.mark.parametrize("risk", [0.05, 0.1])
def test_the_sequential_test_has_the_risk_that_the_entry_test_leaves(risk: float, first: int):
    rng, said = np.random.default_rng(2), set()
    test = entry_test(first, 0.8, risk)
    for share in (0.25, 0.5, 0.6, 0.7) * 4:
        answers = [GoldAnswer(bool(rng.random() < share), 0.25, (str(i % 4),), i < first) for i in range(30)]
        for n in range(5, 31):
            enough = evidence(answers[:n], 0.8) >= log(1 / (risk - test.risk))
            found = is_below(answers[:n], min_answers=5, accuracy=0.8, risk=risk, first=first)
            assert found == (enough or test.is_failed(answers[:n]))
            said.add(found)
    assert said == {False, True}


def test_fewer_answers_than_the_least_exclude_nobody():
    wrong = answers_of(*[(False, 0.25)] * 6)
    assert not is_below(wrong[:4], min_answers=5, accuracy=0.9, risk=0.5)
    assert is_below(wrong[:5], min_answers=5, accuracy=0.9, risk=0.5)


# ---- the entry test


@given(st.integers(0, 40), st.floats(0.55, 0.98), st.floats(0.01, 0.5))
def test_the_pass_mark_is_the_highest_one_that_keeps_its_share_of_the_risk(n: int, accuracy: float, risk: float):
    test = entry_test(n, accuracy, risk)

    def fails(least: int) -> float:
        return float(binom.cdf(least - 1, n, accuracy)) if least else 0.0

    assert test.risk == pytest.approx(fails(test.least_right), abs=1e-12)
    assert test.risk <= 0.9 * risk
    assert test.least_right == n or fails(test.least_right + 1) > 0.9 * risk * (1 - 1e-9)


@pytest.mark.parametrize(("accuracy", "risk", "least"), [(0.9, 0.05, 16), (0.85, 0.05, 14), (0.95, 0.05, 17)])
def test_pass_marks_of_20_questions(accuracy: float, risk: float, least: int):
    assert entry_test(20, accuracy, risk).least_right == least


@given(st.lists(st.booleans(), min_size=1, max_size=20))
def test_the_entry_test_is_failed_as_soon_as_the_pass_mark_cannot_be_reached(rights: list[bool]):
    test = entry_test(20, 0.9, 0.05)
    answers = [GoldAnswer(right, 0.5, ("left",), is_entry=True) for right in rights]
    later = [GoldAnswer(False, 0.5, ("left",), is_entry=False)] * 9
    assert test.is_failed(answers) == test.is_failed(answers + later) == (rights.count(False) > 4)
    assert not entry_test(0, 0.9, 0.05).is_failed(later)


@pytest.mark.parametrize(("n_own", "first"), [(12, 4), (12, 6), (12, 9), (1, 3)])
def test_the_first_documents_are_gold_questions_as_long_as_there_are_some(n_own: int, first: int):
    own = OWN[:n_own]
    shown = gold_task(GRADED, 3, 5, first=first).mixed(own)
    assert all(document >= 100 for document in shown[: min(first, len(GRADED))])
    assert [document for document in shown if document < 100] == list(own)
    rest = shown[first:]
    for start in range(0, len(rest) - 2, 3):
        n_before = sum(document >= 100 for document in shown[: first + start])
        assert n_before == len(GRADED) or sum(document >= 100 for document in rest[start : start + 3]) == 1


def test_the_first_pairs_are_gold_questions_and_the_bound_on_what_comes_holds():
    judging, bounds, of_gold = paired(3, first=3), [], []
    while not isinstance(view := judging.view, EndView):
        bounds.append(view.at_most)
        of_gold.append(is_gold(view))
        judging.act(Prefer(view.pair, "left"))
    assert of_gold[:3] == [True] * 3
    assert not all(of_gold)
    assert bounds == sorted(bounds, reverse=True)
    assert all(bound >= len(bounds) - i for i, bound in enumerate(bounds))
    rows = of_kind(preference.rows(judging.task, judging.state), GoldRow)
    assert [row.is_entry for row in rows] == [True] * 3 + [False] * (len(rows) - 3)
    assert {row.choices for row in rows} <= {"left", "right"}
    assert all(row.is_right == (row.choices == "left") for row in rows)


def test_a_first_pair_that_is_taken_back_is_asked_again_and_the_next_is_of_gold_too():
    judging = paired(3, first=3)
    asked = {judging.view.left, judging.view.right}
    judging.act(Prefer(judging.view.pair, "left"))
    judging.act(Undo(judging.view.pair))
    assert {judging.view.left, judging.view.right} == asked
    for _ in range(3):
        assert is_gold(judging.view)
        judging.act(Prefer(judging.view.pair, "left"))
    rows = of_kind(preference.rows(judging.task, judging.state), GoldRow)
    assert [row.is_entry for row in rows] == [True] * 3


def test_nobody_gets_through_the_entry_test_by_saying_that_they_cannot_tell():
    judging = graded(3, first=4)  # of more than 14 places, half of which may have no answer
    judging.act(CannotTell(0, "cut off"))
    judging.act(CannotTell(1, "cut off"))
    for position in (2, 3):
        assert not judging.view.may_not_tell
        with pytest.raises(Refusal, match="You cannot say so again"):
            judging.act(CannotTell(position, "cut off"))
        judging.act(Judge(position, "1"))
    assert judging.view.may_not_tell


def test_rows_of_grades_say_which_were_right_and_which_belong_to_the_entry_test():
    judging = graded(3, first=4)
    for position in range(len(judging.task.documents)):
        judging.act(Judge(position, "1"))
    rows = of_kind(grades.rows(judging.task, judging.state), GoldRow)
    assert [row.is_entry for row in rows] == [True] * 4 + [False] * (len(rows) - 4)
    assert [row.choices for row in rows] == [str((row.document_id - 100) % 4) for row in rows]


def test_the_highest_step_that_was_reached_is_the_bonus():
    steps = [{"accuracy": 0.9, "amount": 2.0}, {"accuracy": 0.7, "amount": 0.5}]
    gold = read(GoldSettings, {"bonus": steps, "min_answers": 4})
    assert read(GoldSettings, plain(GoldSettings, gold)) == gold
    assert [gold.bonus_of(10, share) for share in (0.6, 0.7, 0.89, 0.9, 1.0)] == [0, 0.5, 0.5, 2, 2]
    assert (gold.bonus_of(3, 1.0), gold.bonus_of(0, None)) == (0, 0)
