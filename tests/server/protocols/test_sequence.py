"""Documents one after another: where the page goes, what is counted, and laws that hold for every protocol."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import protocols as oracle
from qrowd_server.protocols import PREFERENCE, PROTOCOLS
from qrowd_server.protocols.board import Board
from qrowd_server.protocols.events import (
    CannotTell,
    Consent,
    Event,
    GoOn,
    GoTo,
    Judge,
    LookUp,
    MarkBad,
    Postpone,
    Prefer,
    Rate,
    Refusal,
    Reply,
    Undo,
)
from qrowd_server.protocols.protocol import JudgmentRow, Material, Question
from qrowd_server.protocols.settings import GradesSettings, MagnitudeSettings, PreferenceSettings
from qrowd_server.protocols.views import (
    Answer,
    DocumentView,
    EndView,
    PairView,
    QuestionView,
    RatingView,
    RevisionView,
)
from rooms import of_kind

MAGNITUDE, GRADES = PROTOCOLS["magnitude"], PROTOCOLS["grades"]
QUESTION = Question("What is asked for?", ("causes", "effects", "prices", "places"), correct=2)
EVERY_SETTING = {
    "magnitude": [
        MagnitudeSettings(k=4, min_seconds=5, revisions=revisions, rating=rating, reason=reason)
        for revisions, rating, reason in (
            (1, True, "optional"),
            (-1, False, "none"),
            (0, True, "optional"),
            (2, False, "required"),
        )
    ],
    "grades": [
        GradesSettings(),
        GradesSettings(scale="binary", postpone=False, rating=False),
        GradesSettings(cannot_tell=False, reason="none"),
        GradesSettings(scale="0-4", max_cannot_tell=1, reason="required"),
    ],
    "preference": [PreferenceSettings(), PreferenceSettings(duplicates=True, rating=False, order="merge")],
}


class Judging:
    """One assignment as a campaign keeps it: the log is the truth, and the state goes through JSON at every step."""

    def __init__(self, protocol, options, material, seed=7, start=1000.0):
        self.protocol, self.at, self.start = protocol, start, start
        self.task = protocol.task(options, material, seed)
        self.state = protocol.new(self.task, start)
        self.log = []
        self.board = Board.of(material.documents) if protocol.name == PREFERENCE else None
        if self.board is not None:
            for event in protocol.resume(self.task, self.state, self.board, start):
                self.happen(event)

    @property
    def view(self):
        return self.protocol.view(self.task, self.state)

    @property
    def rows(self):
        return of_kind(self.protocol.rows(self.task, self.state), JudgmentRow)

    def happen(self, event):
        assert json.loads(json.dumps(event.data)) == event.data
        self.log.append((event, self.at))
        if self.board is not None:
            self.board = self.board.after(1, event, self.at)
        state = self.protocol.evolve(self.task, self.state, event, self.at)
        self.state = self.protocol.from_json(json.loads(json.dumps(self.protocol.to_json(state))))
        assert self.state == state

    def act(self, action, after=30.0):
        """The kinds of the events an action led to."""
        self.at += after
        board = None if self.board is None else self.board.for_assignment(1)
        events = self.protocol.decide(self.task, self.state, action, self.at, board)
        assert events
        for event in events:
            self.happen(event)
        return [event.kind for event in events]

    def refused(self, action):
        before = self.protocol.to_json(self.state)
        with pytest.raises(Refusal) as found:
            self.protocol.decide(self.task, self.state, action, self.at, self.board)
        assert self.protocol.to_json(self.state) == before
        return found.value

    def judge(self, text="1", after=30.0, reason="", active=None):
        return self.act(Judge(self.state.position, text, reason, active), after)


def graded(n=5, **options):
    options.setdefault("rating", False)
    return Judging(GRADES, GradesSettings(**options), Material(tuple(range(10, 10 + n))))


# ---- laws


def material_of(name, question):
    n = 4 if name == PREFERENCE else 5
    documents = tuple(range(20, 20 + n))
    systems = ((20, 21, 23), (24, 21, 20)) if name == "grades" else ()
    return Material(documents, 20, 22, QUESTION if question else None, systems, n_snippets=3)


def any_action(draw, view):
    """What somebody might do on a page: mostly what it offers, sometimes anything."""
    place = draw(st.integers(-1, 5))
    text = draw(st.sampled_from(("1", "2", "0", "40", "0,5", "x", "1,000", "")))
    reason = draw(st.sampled_from(("", "why", " ")))
    active = draw(st.sampled_from((None, 0.5, 4.0, 100.0, -1.0, float("nan"), float("inf"))))
    pair = view.pair if isinstance(view, PairView) else 0
    anything = [
        Judge(place, text, reason, active),
        CannotTell(place, reason, active),
        Postpone(place),
        GoTo(place),
        GoOn(),
        Reply(place),
        Rate(draw(st.integers(0, 6)), 3, reason),
        Prefer(pair, "left", active=4.0),
        Prefer(pair, "right", definitely=True),
        Prefer(pair, "duplicates"),
        MarkBad(pair, "left"),
        Undo(pair),
        LookUp(),
        Consent(True),
    ]
    if isinstance(view, DocumentView):
        at = view.position
        anything += [Judge(at, text, reason or "so", active)] * 15 + [CannotTell(at, "so"), Postpone(at), GoTo(at - 1)]
    if isinstance(view, QuestionView):
        anything += [Reply(draw(st.integers(0, 3)))] * 10
    if isinstance(view, PairView):
        anything += [Prefer(pair, "left"), Prefer(pair, "right")] * 5
    return draw(st.sampled_from(anything))


@st.composite
def stories(draw, name):
    """What happened to one assignment in which anything was tried."""
    protocol = PROTOCOLS[name]
    options = draw(st.sampled_from(EVERY_SETTING[name]))
    judging = Judging(protocol, options, material_of(name, draw(st.booleans())), seed=draw(st.integers(0, 2**62)))
    for _ in range(draw(st.integers(0, 25))):
        action = any_action(draw, judging.view)
        before, log = protocol.to_json(judging.state), len(judging.log)
        try:
            judging.act(action, after=draw(st.sampled_from((0.0, 1.0, 6.0, 30.0))))
        except Refusal as refusal:
            assert "" not in (refusal.code, refusal.message)  # noqa: PT017
            assert (protocol.to_json(judging.state), len(judging.log)) == (before, log)
    return judging


def test_every_protocol_is_here():
    assert set(PROTOCOLS) == set(EVERY_SETTING)
    assert all(PROTOCOLS[name].name == name for name in PROTOCOLS)


@pytest.mark.parametrize("name", PROTOCOLS)
@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(data=st.data())
def test_folding_the_log_again_gives_the_same_state_and_rows(name, data):
    judging = data.draw(stories(name))
    protocol = judging.protocol
    task = protocol.task(judging.task.settings, judging.task.material, judging.task.seed)
    assert task == judging.task
    state = protocol.new(task, judging.start)
    for event, at in judging.log:
        state = protocol.evolve(task, state, Event(event.kind, json.loads(json.dumps(event.data))), at)
    assert state == judging.state
    assert protocol.rows(task, state) == protocol.rows(judging.task, judging.state)
    assert protocol.view(task, state) == judging.view


@pytest.mark.parametrize("name", PROTOCOLS)
@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(data=st.data())
def test_a_unit_that_ended_refuses_everything_and_says_how_it_ended(name, data):
    judging = data.draw(stories(name))
    status = judging.protocol.status(judging.state)
    assert isinstance(judging.view, EndView) == (status != "open")
    if status != "open":
        assert judging.view.outcome == status
        assert not judging.view.another
        judging.refused(any_action(data.draw, judging.view))


@pytest.mark.parametrize("name", PROTOCOLS)
@settings(max_examples=settings.default.max_examples // 5)
@given(data=st.data())
def test_a_kind_of_event_that_nobody_knows_changes_nothing(name, data):
    judging = data.draw(stories(name))
    assert (
        judging.protocol.evolve(judging.task, judging.state, Event("weather", {"rain": True}), judging.at + 5)
        == judging.state
    )


@pytest.mark.parametrize("name", ["magnitude", "grades"])
@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(data=st.data())
def test_there_is_one_row_per_document_and_all_of_them_at_the_end(name, data):
    judging = data.draw(stories(name))
    documents = [row.document_id for row in judging.rows]
    assert [judging.task.documents[row.position] for row in judging.rows] == documents
    assert len(set(documents)) == len(documents)
    assert all((row.value is None) == (row.raw == "") for row in judging.rows)
    if judging.protocol.status(judging.state) in ("completed", "failed"):
        assert sorted(documents) == list(judging.task.material.documents)


@pytest.mark.parametrize("name", ["magnitude", "grades"])
@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(data=st.data())
def test_times_visits_and_changes_are_those_counted_from_the_pages_that_were_left(name, data):
    options = data.draw(st.sampled_from(EVERY_SETTING[name]))
    judging = Judging(PROTOCOLS[name], options, material_of(name, data.draw(st.booleans())))
    visits, shown, last, checks = [], {}, judging.at, []

    def look():
        if isinstance(judging.view, DocumentView):
            shown[judging.view.position] = shown.get(judging.view.position, 0) + 1

    look()
    for _ in range(data.draw(st.integers(0, 25))):
        view, action = judging.view, any_action(data.draw, judging.view)
        try:
            kinds = judging.act(action, after=data.draw(st.sampled_from((6.0, 6.5, 7.0, 9.0, 2.0))))
        except Refusal:
            continue
        if isinstance(action, LookUp):
            continue  # the page stays, and its time goes on
        if isinstance(view, DocumentView):
            said = None
            if isinstance(action, Judge):
                value = oracle.number(action.text) if name == "magnitude" else float(action.text)
                said = action.text, action.reason, value
            elif isinstance(action, CannotTell):
                said = "", action.reason, None
            told = getattr(action, "active", None)
            told = told if told is not None and 0 <= told < float("inf") else None
            visits.append((view.position, judging.at - last, told, said))
        if "checked" in kinds:
            assert len(oracle.answers(visits)) == len(judging.task.documents)
            checks.append((judging.log[-len(kinds) + kinds.index("checked")][0].data, list(visits)))
        last = judging.at
        look()
    for row in judging.rows:
        assert (row.raw, row.reason, row.value) == oracle.answers(visits)[row.position]
        assert row.seconds == pytest.approx(oracle.seconds(visits, row.position))
        assert row.active == pytest.approx(oracle.active(visits, row.position))
        assert row.visits == shown[row.position]
        assert row.revisions == oracle.changes(visits, row.position)
    assert {row.position for row in judging.rows} == set(oracle.answers(visits))
    documents = judging.task.documents
    for found, then in checks:
        in_order = oracle.ordered(then, documents, 20, 22)
        slow = oracle.unhurried(then, documents, options.min_seconds)
        assert found == {"passed": in_order and slow, "ordered": in_order, "unhurried": slow}


@given(data=st.data())
def test_without_stepping_back_the_page_shows_whose_turn_it_is(data):
    judging = graded(data.draw(st.integers(1, 6)))
    answered, postponed = set(), []
    while isinstance(judging.view, DocumentView):
        position = oracle.next_position(judging.view.of, answered, postponed)
        assert judging.view.position == position
        if judging.view.may_postpone and len(postponed) < 12 and data.draw(st.booleans()):
            judging.act(Postpone(position))
            postponed = [p for p in postponed if p != position] + [position]
        else:
            judging.judge()
            answered.add(position)
        if isinstance(judging.view, DocumentView):
            assert judging.view.done == tuple(p in answered for p in range(judging.view.of))
            assert judging.view.postponed == tuple(p in postponed and p not in answered for p in range(judging.view.of))
    assert judging.protocol.status(judging.state) == "completed"


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_order_is_fixed_by_the_seed_and_differs_between_seeds(name):
    options, material = EVERY_SETTING[name][0], material_of(name, True)
    orders = {PROTOCOLS[name].task(options, material, seed).documents for seed in range(40)}
    assert len(orders) > 10
    assert all(sorted(order) == sorted(material.documents) for order in orders)


# ---- stepping back and returning


def test_a_revised_answer_leads_back_to_where_the_assessor_was():
    judging = graded()
    for _ in range(3):
        judging.judge()
    assert judging.act(GoTo(2)) == ["stepped_back"]
    assert judging.act(GoTo(1)) == ["stepped_back"]
    assert judging.view.answer == Answer("1")
    judging.judge("2")
    assert judging.view.position == 3
    assert (judging.state.backs, judging.rows[1].revisions, judging.rows[1].visits, judging.rows[2].visits) == (
        2,
        1,
        2,
        2,
    )


def test_only_steps_to_an_earlier_document_count_as_steps_back():
    judging = graded()
    judging.judge()
    judging.judge()
    judging.act(GoTo(0))
    assert judging.act(GoTo(1)) == ["stepped_forward"]
    assert judging.act(GoTo(2)) == ["stepped_forward"]
    assert judging.state.backs == 1
    assert judging.view.position == 2
    assert judging.view.answer is None


def test_nobody_gets_ahead_of_the_next_document_without_an_answer():
    judging = graded()
    judging.judge()
    refusal = judging.refused(GoTo(2))
    assert (refusal.code, refusal.field) == ("position", "position")
    assert str(refusal) == "This document has not been reached yet. Judge the one that is shown first."
    assert str(judging.refused(GoTo(5))) == "There is no such document; they go from 1 to 5."
    assert str(judging.refused(GoTo(-1))) == "There is no such document; they go from 1 to 5."
    assert str(judging.refused(GoTo(1))) == "This is the document that is shown."


def test_an_answer_for_another_page_than_the_one_shown_is_stale():
    judging = graded()
    judging.judge()
    for action in (Judge(0, "1"), Postpone(0), CannotTell(2), GoOn(), Reply(0), Rate(1, 1), Consent(True)):
        assert judging.refused(action).code == "stale"
    assert judging.refused(Judge(9, "1")).code == "position"


def test_the_same_answer_again_is_no_revision_and_keeps_its_time():
    judging = graded()
    judging.judge("1", after=10)
    judging.act(GoTo(0), after=5)
    judging.judge("1", after=7)
    row = judging.rows[0]
    assert (row.revisions, row.visits, row.seconds, row.time) == (0, 2, 17.0, 1010.0)
    judging.act(GoTo(0))
    judging.judge("2", after=1)
    assert (judging.rows[0].revisions, judging.rows[0].time) == (1, judging.at)


def test_the_time_before_the_first_document_and_after_the_last_is_nobodys():
    judging = Judging(GRADES, GradesSettings(), Material((1, 2), question=QUESTION))
    right = judging.task.options.index(2)
    judging.act(Reply(right), after=100)
    judging.judge(after=3)
    judging.judge(after=4)
    assert isinstance(judging.view, RatingView)
    judging.act(Rate(4, 5, "fine"), after=500)
    assert [row.seconds for row in judging.rows] == [3, 4]
    assert (judging.state.confidence, judging.state.understanding, judging.state.comment) == (4, 5, "fine")
    assert judging.protocol.status(judging.state) == "completed"


def test_a_clock_that_runs_backwards_takes_no_time_away():
    judging = graded()
    judging.judge(after=-50)
    assert judging.rows[0].seconds == 0


# ---- the question


def test_a_wrong_reply_leaves_one_more_and_a_second_one_ends_it():
    judging = Judging(MAGNITUDE, MagnitudeSettings(), Material((1, 2, 3), 1, 2, QUESTION))
    shown = tuple(QUESTION.options[i] for i in judging.task.options)
    assert judging.view == QuestionView("What is asked for?", shown, retry=False, left=2)
    wrong = shown.index("causes")
    assert judging.act(Reply(wrong)) == ["replied"]
    assert judging.log[-1][0].data == {"shown": wrong, "option": 0, "correct": False}
    assert judging.view == QuestionView("What is asked for?", shown, retry=True, left=1)
    assert str(judging.refused(Reply(4))) == "Choose one of the answers."
    assert judging.act(Reply(wrong)) == ["replied", "screened_out"]
    assert judging.view == EndView("screened_out")
    assert judging.rows == ()


def test_the_right_reply_in_the_second_attempt_leads_to_the_documents():
    judging = Judging(MAGNITUDE, MagnitudeSettings(), Material((1, 2, 3), 1, 2, QUESTION))
    judging.act(Reply(judging.task.options.index(0)))
    judging.act(Reply(judging.task.options.index(2)))
    assert isinstance(judging.view, DocumentView)
    assert judging.view.position == 0
    assert judging.state.places[0].visits == 1


# ---- the end


@pytest.mark.parametrize("rate", [Rate(0, 3), Rate(3, 6)])
def test_ratings_go_from_1_to_5(rate):
    judging = graded(1, rating=True)
    assert judging.judge() == ["judged", "finished"]
    refusal = judging.refused(rate)
    assert (refusal.code, str(refusal)) == ("rating", "Choose a number from 1 to 5 for both.")
    assert refusal.field == ("confidence" if rate.confidence == 0 else "understanding")


def test_a_comment_has_an_end_too():
    judging = graded(1, rating=True)
    judging.judge()
    assert str(judging.refused(Rate(1, 1, "x" * 2001))) == "Use at most 2,000 characters; these are 2,001."
    assert judging.act(Rate(1, 1, "x" * 2000)) == ["rated", "completed"]


def test_after_the_end_the_message_says_so():
    judging = graded(1)
    assert judging.judge() == ["judged", "finished", "completed"]
    refusal = judging.refused(Judge(0, "1"))
    assert refusal.code == "over"
    assert str(refusal) == "This set of documents is finished; nothing in it can be changed any more."


def test_no_view_names_a_check_document_or_a_reply():
    judging = Judging(
        MAGNITUDE, MagnitudeSettings(k=3, min_seconds=0, reason="none"), Material((1, 2, 3), 1, 2, QUESTION)
    )
    seen = [judging.view]
    judging.act(Reply(judging.task.options.index(2)))
    while judging.protocol.status(judging.state) == "open":
        seen.append(judging.view)
        judging.act(GoOn() if isinstance(judging.view, RevisionView) else Judge(judging.view.position, "5"))
    assert {type(view) for view in seen} == {QuestionView, DocumentView, RevisionView}
    assert not any(word in repr(view) for view in seen for word in ("high", "low", "correct", "ordered", "hurried"))


# ---- the stored context


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_context_may_be_opened_at_the_question_and_at_each_page_and_takes_no_time_from_it(name):
    judging = Judging(PROTOCOLS[name], EVERY_SETTING[name][0], material_of(name, question=True))
    assert judging.act(LookUp()) == ["looked_up"]
    assert judging.log[-1][0].data == {"place": None}
    judging.act(Reply(judging.task.options.index(judging.task.material.question.correct)))
    assert judging.view.has_context
    before = judging.view
    assert judging.act(LookUp(), after=3.0) == ["looked_up"]
    assert judging.log[-1][0].data == {"place": 0}
    assert judging.view == before
    if isinstance(before, DocumentView):
        judging.act(Judge(0, "1", "" if judging.task.settings.reason == "none" else "why"), after=4.0)
        assert judging.rows[0].seconds == 7.0


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_topic_without_context_offers_none(name):
    material = replace(material_of(name, question=False), n_snippets=0)
    judging = Judging(PROTOCOLS[name], EVERY_SETTING[name][0], material)
    assert not judging.view.has_context
    assert judging.refused(LookUp()).code == "context"
