"""From arrival to pay: consent, three lines, units one after another, and what an owner adds."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import protocols as oracle
from qrowd_server.protocols import journey
from qrowd_server.protocols.events import Consent, Event, GoOn, Judge, JudgeLine, Refusal
from qrowd_server.protocols.journey import draw_lines, in_order
from qrowd_server.protocols.settings import JourneySettings
from qrowd_server.protocols.views import (
    ConsentView,
    EndView,
    ExcludedView,
    LinesView,
    LineView,
    NoneLeftView,
)


class Assessor:
    """Somebody on the way; the state goes through JSON at every step."""

    def __init__(self, protocol="magnitude", seed=11, **options):
        self.settings, self.protocol, self.seed = JourneySettings(**options), protocol, seed
        self.way, self.at, self.log = journey.new(self.settings, lines=protocol == "magnitude", seed=seed), 0.0, []

    @property
    def view(self):
        return journey.view(self.settings, self.way)

    @property
    def status(self):
        return journey.state_of(self.settings, self.way, False, False, self.may_work)

    @property
    def may_work(self):
        return journey.may_work(self.settings, self.way)

    def happen(self, kind, **data):
        self.at += 1
        self.log.append(Event(kind, data))
        way = journey.evolve(self.settings, self.way, self.log[-1])
        self.way = journey.from_json(json.loads(json.dumps(journey.to_json(way))))
        assert self.way == way

    def act(self, action):
        events = journey.decide(self.settings, self.way, action)
        for event in events:
            self.happen(event.kind, **event.data)
        return [event.kind for event in events]

    def refused(self, action):
        with pytest.raises(Refusal) as found:
            journey.decide(self.settings, self.way, action)
        return found.value

    def practise(self, right=True):
        lengths = draw_lines(self.seed, self.way.drawing)
        for line, length in enumerate(lengths):
            kinds = self.act(JudgeLine(line, f"{length if right else 2 - length:.3f}"))
        return kinds


def arrived(**options):
    """Somebody ready for the first unit."""
    assessor = Assessor("grades", **options)
    if assessor.settings.consent:
        assessor.act(Consent(True))
    return assessor


# ---- before the first unit


def test_consent_then_three_lines_then_work():
    assessor = Assessor()
    assert (assessor.view, assessor.status) == (ConsentView(), "reading")
    assert assessor.act(Consent(True)) == ["consented"]
    lengths = draw_lines(11, 0)
    assert (assessor.view, assessor.status) == (LineView(0, 3, lengths[0]), "reading")
    assert assessor.act(JudgeLine(0, f"{lengths[0]}")) == ["line_judged"]
    assert assessor.view == LineView(1, 3, lengths[1])
    assessor.act(JudgeLine(1, f"{lengths[1]}"))
    assert assessor.act(JudgeLine(2, f"{lengths[2]}")) == ["line_judged", "practised"]
    assert assessor.view == LinesView(lengths, tuple(map(str, lengths)), passed=True, left=2)
    assert (assessor.may_work, assessor.status) == (False, "reading")
    assert assessor.act(GoOn()) == ["practice_passed"]
    assert (assessor.may_work, assessor.status) == (True, "reading")
    assert assessor.view == NoneLeftView(None, finished=False)


def test_who_does_not_consent_is_thanked_and_sees_nothing_else():
    assessor = Assessor()
    assert assessor.act(Consent(False)) == ["declined"]
    assert (assessor.view, assessor.status, assessor.may_work) == (EndView("declined"), "declined", False)
    refusal = assessor.refused(Consent(True))
    assert (refusal.code, str(refusal)) == ("over", "This task is finished; there is nothing left to do here.")


def test_a_practice_that_fails_is_tried_once_more_with_other_lines():
    assessor = Assessor(consent=False)
    assert assessor.practise(right=False) == ["line_judged", "practised"]
    assert assessor.view.passed is False
    assert (assessor.view.left, assessor.status) == (1, "reading")
    assert assessor.act(GoOn()) == ["practice_again"]
    assert assessor.view == LineView(0, 3, draw_lines(11, 1)[0], retry=True)
    assert draw_lines(11, 1) != draw_lines(11, 0)
    assert assessor.practise() == ["line_judged", "practised"]
    assert assessor.view.passed


def test_after_the_last_attempt_it_ends():
    assessor = Assessor(consent=False, practice_attempts=1)
    assert assessor.practise(right=False) == ["line_judged", "practised", "practice_failed"]
    assert (assessor.view, assessor.status, assessor.may_work) == (EndView("practice_failed"), "finished", False)
    assert assessor.refused(GoOn()).code == "over"


def test_whoever_may_restart_the_practice_begins_again_with_other_lines_and_all_attempts():
    assessor = Assessor(consent=False, practice_attempts=2, practice_restart=True)
    for failures in (1, 2, 3):
        assert assessor.practise(right=False) == ["line_judged", "practised"]
        assessor.act(GoOn())
        assert assessor.practise(right=False) == ["line_judged", "practised", "practice_failed"]
        assert (assessor.view, assessor.may_work) == (EndView("practice_failed", another=True), False)
        assert assessor.status == "reading"
        assert assessor.act(GoOn()) == ["practice_restarted"]
        drawing = 2 * failures
        assert assessor.view == LineView(0, 3, draw_lines(11, drawing)[0], retry=False)
        assert assessor.way.practices == 2 * failures
    assessor.practise()
    assert assessor.act(GoOn()) == ["practice_passed"]
    assert assessor.may_work


@pytest.mark.parametrize("outcome", ["completed", "failed", "screened_out"])
def test_the_practice_may_come_before_each_unit(outcome):
    assessor = Assessor(consent=False, practice_attempts=1, practice_each_unit=True)
    assessor.practise()
    assessor.act(GoOn())
    assessor.happen("unit_ended", outcome=outcome)
    assert assessor.may_work
    assert assessor.status == "idle"
    for event in journey.before_next_unit(assessor.settings, assessor.way):
        assessor.happen(event.kind, **event.data)
    assert assessor.view == LineView(0, 3, draw_lines(11, 1)[0], retry=False)
    assert (assessor.may_work, assessor.status) == (False, "judging")
    assessor.practise(right=False)
    assert assessor.view == EndView("practice_failed")


@pytest.mark.parametrize(
    ("protocol", "options"),
    [
        ("magnitude", {}),
        ("magnitude", {"practice": False, "practice_each_unit": True}),
        ("grades", {"practice_each_unit": True}),
    ],
)
def test_otherwise_nothing_comes_between_two_units(protocol, options):
    assessor = Assessor(protocol, consent=False, **options)
    assert journey.before_next_unit(assessor.settings, assessor.way) == ()


@pytest.mark.parametrize(
    ("protocol", "practice", "view"),
    [
        ("magnitude", True, LineView),
        ("magnitude", False, NoneLeftView),
        ("grades", True, NoneLeftView),
        ("preference", True, NoneLeftView),
    ],
)
def test_lines_come_before_magnitudes_only_and_only_where_they_are_wanted(protocol, practice, view):
    assessor = Assessor(protocol, consent=False, practice=practice)
    assert isinstance(assessor.view, view)
    assert assessor.may_work == (view is NoneLeftView)


@given(st.integers(0, 2**62), st.integers(0, 5))
def test_lines_differ_clearly_and_are_never_in_order(seed, drawing):
    lengths = draw_lines(seed, drawing)
    assert list(lengths) not in (sorted(lengths), sorted(lengths)[::-1])
    short, middle, long = sorted(lengths)
    assert 0.8 <= long <= 1
    assert 0.39 < middle / long < 0.61
    assert 0.39 < short / middle < 0.61
    assert draw_lines(seed, drawing) == lengths


def test_all_four_orders_that_tell_nothing_occur():
    ranks = {tuple(sorted(lengths).index(length) for length in lengths) for lengths in map(draw_lines, range(100))}
    assert ranks == {(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1)}


@given(st.lists(st.sampled_from((1.0, 2.0, 2.5, 10.0)), min_size=3, max_size=3), st.integers(0, 2**32))
def test_the_practice_passes_where_longer_lines_have_higher_numbers(numbers, seed):
    lengths = draw_lines(seed)
    assert in_order(lengths, tuple(numbers)) == oracle.practice_passes(lengths, numbers)


def test_equal_numbers_for_two_lines_fail():
    assert in_order((0.5, 0.9, 0.2), (2, 3, 1))
    assert not in_order((0.5, 0.9, 0.2), (2, 2, 1))
    assert not in_order((0.5, 0.9, 0.2), (1, 3, 1))


def test_a_line_has_the_same_box_for_a_number_as_a_document():
    assessor = Assessor(consent=False)
    refusal = assessor.refused(JudgeLine(0, "long"))
    assert (refusal.code, refusal.field) == ("number", "text")
    assert str(refusal) == "Enter a number greater than 0, for example 0.5, 10 or 250."
    refusal = assessor.refused(JudgeLine(1, "3"))
    assert (refusal.code, refusal.field) == ("stale", "line")


# ---- units one after another


@pytest.mark.parametrize(
    ("options", "outcomes", "more"),
    [
        ({}, ["completed"], True),
        ({}, ["completed"] * 30, True),
        ({"another": False}, ["completed"], False),
        ({"another": False}, ["failed"], True),
        ({"another": False}, ["screened_out", "completed"], False),
        ({"restart": False}, ["failed"], False),
        ({"restart": False}, ["screened_out"], False),
        ({"restart": False}, ["completed"], True),
        ({"restart": False}, ["completed", "failed"], False),
        ({"max_units": 2}, ["completed"], True),
        ({"max_units": 2}, ["completed", "failed"], False),
        ({"max_units": 1}, ["screened_out"], False),
    ],
)
def test_whether_there_is_another_topic(options, outcomes, more):
    assessor = arrived(**options)
    for outcome in outcomes:
        assert assessor.may_work
        assessor.happen("unit_ended", outcome=outcome)
    assert assessor.may_work == more
    assert assessor.view == EndView(outcomes[-1], another=more)
    assert assessor.way.n_units == len(outcomes)
    assert (assessor.way.completed > 0) == ("completed" in outcomes)
    assert assessor.refused(GoOn()).code == ("stale" if more else "over")


def test_an_early_end_is_told():
    assessor = arrived()
    assessor.happen("unit_ended", outcome="completed", early=True)
    assert assessor.view == EndView("completed", early=True, another=True)
    assessor.happen("unit_ended", outcome="completed")
    assert not assessor.view.early


@pytest.mark.parametrize(
    ("options", "outcomes", "status"),
    [
        ({}, ["completed"], "idle"),
        ({}, ["failed"], "idle"),
        ({"restart": False}, ["screened_out"], "finished"),
        ({"another": False}, ["completed"], "finished"),
        ({"max_units": 2}, ["completed", "failed"], "finished"),
    ],
)
def test_between_units_it_is_whether_there_may_be_another(options, outcomes, status):
    assessor = arrived(**options)
    for outcome in outcomes:
        assessor.happen("unit_ended", outcome=outcome)
    assert assessor.status == status


# ---- what an owner adds


def test_who_is_excluded_takes_no_further_part_until_reinstated():
    assessor = arrived()
    assessor.happen("excluded", reason="three units in one minute")
    assert (assessor.view, assessor.status, assessor.may_work) == (ExcludedView(), "excluded", False)
    assert assessor.refused(GoOn()).code == "over"
    assessor.happen("reinstated")
    assert (assessor.status, assessor.may_work) == ("reading", True)


def test_a_reset_leads_back_to_the_first_page_with_new_lines():
    assessor = Assessor()
    assessor.act(Consent(True))
    assessor.practise(right=False)
    assessor.act(GoOn())
    assessor.practise(right=False)
    assert assessor.view == EndView("practice_failed")
    assessor.happen("reset")
    assert (assessor.view, assessor.status) == (ConsentView(), "reading")
    assessor.act(Consent(True))
    assert assessor.view == LineView(0, 3, draw_lines(11, 2)[0], retry=False)
    assert len({draw_lines(11, drawing) for drawing in range(3)}) == 3


def test_a_reset_forgets_units_and_keeps_an_exclusion():
    assessor = arrived(max_units=1)
    assessor.happen("unit_ended", outcome="failed")
    assessor.happen("excluded", reason="")
    assessor.happen("reset")
    assert assessor.status == "excluded"
    assessor.happen("reinstated")
    assessor.act(Consent(True))
    assert assessor.may_work
    assert assessor.way.n_units == 0


# ---- laws


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(data=st.data())
def test_whatever_is_tried_the_log_tells_all(data):
    options = {
        "consent": data.draw(st.booleans()), "practice_attempts": data.draw(st.integers(1, 3)),
        "practice_restart": data.draw(st.booleans()),
    }  # fmt: skip
    assessor = Assessor(
        data.draw(st.sampled_from(("magnitude", "grades"))), data.draw(st.integers(0, 2**62)), **options
    )
    for _ in range(data.draw(st.integers(0, 20))):
        line = len(assessor.way.texts)
        number = data.draw(st.sampled_from(("1", "2", "0,3", "x", "0")))
        action = data.draw(
            st.sampled_from((Consent(True), Consent(True), Consent(False), GoOn(), Judge(0, "1")))
            | st.just(JudgeLine(line, number))
            | st.sampled_from(
                (JudgeLine(line + 1, "1"), "ended", "excluded", "reinstated", "reset", "assigned", "practice_restarted")
            )
        )
        if isinstance(action, str):
            outcome = data.draw(st.sampled_from(("completed", "failed", "screened_out", "expired")))
            assessor.happen("unit_ended" if action == "ended" else action, outcome=outcome)
            continue
        before = assessor.way
        try:
            assessor.act(action)
        except Refusal:
            assert assessor.way == before
    again = journey.new(assessor.settings, lines=assessor.protocol == "magnitude", seed=assessor.seed)
    for event in assessor.log:
        again = journey.evolve(assessor.settings, again, event)
    assert again == assessor.way
    assert journey.view(assessor.settings, again) == assessor.view


def test_an_event_of_another_kind_and_an_outcome_of_no_unit_change_nothing():
    assessor = arrived()
    before = assessor.way
    assessor.happen("assigned", slot=1)
    assessor.happen("unit_ended", outcome="expired")
    assert assessor.way == before


# ---- what owners are told

UNITS = st.sampled_from(("none", "open", "expired"))
HAPPENS = st.sampled_from((
    "consented", "declined", "practised", "practice_passed", "practice_failed", "practice_again", "practice_restarted",
    "completed", "failed", "screened_out", "excluded", "reinstated", "reset",
))  # fmt: skip


@given(
    st.lists(HAPPENS, max_size=8),
    st.builds(
        JourneySettings,
        consent=st.booleans(),
        practice_restart=st.booleans(),
        another=st.booleans(),
        restart=st.booleans(),
        max_units=st.integers(0, 3),
    ),
    UNITS,
    st.booleans(),
    st.booleans(),
)
def test_whoever_can_still_do_something_is_reading_judging_or_idle_and_nobody_else(kinds, way, unit, is_more, lines):
    one = journey.new(way, lines=lines, seed=3)
    for kind in kinds:
        if kind in ("completed", "failed", "screened_out"):
            if not journey.may_work(way, one):
                continue
            event = Event("unit_ended", {"outcome": kind})
        else:
            event = Event(kind, {"passed": True, "reason": ""})
        one = journey.evolve(way, one, event)
    has_unit = unit == "open" and one.stage == "working" and not one.excluded
    state = journey.state_of(way, one, unit != "none", has_unit, is_more and journey.may_work(way, one))

    def is_over(action):
        try:
            journey.decide(way, one, action)
        except Refusal as refusal:
            return refusal.code == "over"
        return False

    can_act = has_unit or not all(map(is_over, (Consent(True), GoOn(), JudgeLine(0, "1"))))
    if one.stage == "working" and not has_unit:
        can_act = can_act and is_more
    assert (state in ("reading", "judging", "idle")) == can_act
    assert (state == "excluded") == one.excluded
    assert (state == "declined") == (one.stage == "declined" and not one.excluded)
    if state == "reading":
        assert one.n_units == 0
        assert not has_unit
    if one.n_units and can_act:
        assert state == ("idle" if one.stage == "working" and not has_unit else "judging")
