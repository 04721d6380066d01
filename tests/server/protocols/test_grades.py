"""A batch of grades: what the page offers, what may wait, and what may be left open."""

import pytest

from qrowd_server.protocols.events import CannotTell, GoTo, Judge, Postpone, Refusal
from qrowd_server.protocols.grades import GradesProtocol
from qrowd_server.protocols.protocol import JudgmentRow, Material
from qrowd_server.protocols.settings import GradesSettings
from qrowd_server.protocols.views import Answer, Grade
from rooms import of_kind

PROTOCOL = GradesProtocol()


class Batch:
    def __init__(self, n=4, **options):
        options.setdefault("rating", False)
        self.task = PROTOCOL.task(GradesSettings(**options), Material(tuple(range(n))), 5)
        self.state, self.at = PROTOCOL.new(self.task, 0.0), 0.0

    @property
    def view(self):
        return PROTOCOL.view(self.task, self.state)

    @property
    def values(self):
        return {row.position: row.value for row in of_kind(PROTOCOL.rows(self.task, self.state), JudgmentRow)}

    def act(self, action):
        self.at += 10
        events = PROTOCOL.decide(self.task, self.state, action, self.at)
        for event in events:
            self.state = PROTOCOL.evolve(self.task, self.state, event, self.at)
        return [event.kind for event in events]

    def refused(self, action):
        with pytest.raises(Refusal) as found:
            self.act(action)
        return found.value


def test_the_page_offers_the_scale_with_its_guidelines():
    batch = Batch(scale="binary", guidelines=("says nothing of it", "answers it"))
    assert batch.view.grades == (
        Grade(0, "not relevant", "says nothing of it"),
        Grade(1, "relevant", "answers it"),
    )
    assert Batch(scale="0-2").view.grades == (Grade(0, "0"), Grade(1, "1"), Grade(2, "2"))


def test_grades_count_as_they_come_and_nothing_is_checked():
    batch = Batch(2)
    assert not PROTOCOL.checked
    assert batch.act(Judge(0, "3")) == ["judged"]
    assert batch.values == {0: 3.0}
    assert batch.act(Judge(1, "0")) == ["judged", "finished", "completed"]
    assert batch.values == {0: 3.0, 1: 0.0}


def test_a_grade_off_the_scale_is_refused():
    refusal = Batch(scale="binary").refused(Judge(0, "2"))
    assert (refusal.code, str(refusal)) == ("grade", "Choose one of the grades: 0 (not relevant), 1 (relevant).")


# ---- later


def test_a_document_that_was_put_off_comes_after_the_others_in_its_own_position():
    batch = Batch(4)
    assert batch.act(Postpone(0)) == ["postponed"]
    batch.act(Judge(1, "1"))
    batch.act(Postpone(2))
    batch.act(Judge(3, "1"))
    assert batch.view.position == 0
    assert batch.view.postponed == (True, False, True, False)
    batch.act(Postpone(0))
    assert batch.view.position == 2
    batch.act(Judge(2, "2"))
    assert batch.view.position == 0
    assert not batch.view.may_postpone
    assert batch.refused(Postpone(0)).code == "postpone"
    assert batch.act(Judge(0, "3")) == ["judged", "finished", "completed"]
    assert batch.values == {0: 3, 1: 1, 2: 2, 3: 1}


def test_what_was_put_off_can_be_gone_to_and_judged_before_its_turn():
    batch = Batch(4)
    batch.act(Postpone(0))
    batch.act(Judge(1, "1"))
    assert batch.act(GoTo(0)) == ["stepped_back"]
    batch.act(Judge(0, "2"))
    assert batch.view.position == 2
    assert batch.view.postponed == (False,) * 4


def test_an_answer_cannot_be_put_off_again():
    batch = Batch(3)
    batch.act(Judge(0, "1"))
    batch.act(GoTo(0))
    assert not batch.view.may_postpone
    refusal = batch.refused(Postpone(0))
    assert str(refusal) == "This document cannot be put off: it is the last one, or all are due now."


def test_putting_off_can_be_switched_off():
    batch = Batch(postpone=False)
    assert not batch.view.may_postpone
    assert batch.refused(Postpone(0)).code == "postpone"


# ---- no answer


def test_half_of_the_documents_may_be_left_open():
    batch = Batch(5)
    for position in range(2):
        assert batch.view.may_not_tell
        assert batch.act(CannotTell(position, "in a language I do not read")) == ["cannot_tell"]
    assert not batch.view.may_not_tell
    refusal = batch.refused(CannotTell(2, "again"))
    assert refusal.code == "cannot_tell"
    assert str(refusal) == "You cannot say so again in this set: give a judgment."
    assert batch.values == {0: None, 1: None}


@pytest.mark.parametrize("rule", ["none", "optional", "required"])
def test_who_cannot_tell_says_why_whether_or_not_a_grade_needs_a_reason(rule):
    batch = Batch(2, reason=rule)
    for reason in ("", " "):
        refusal = batch.refused(CannotTell(0, reason))
        assert (refusal.code, refusal.field) == ("reason", "reason")
        assert str(refusal).startswith("Write in a few words why you can't tell")
    assert batch.act(CannotTell(0, "cut off")) == ["cannot_tell"]


def test_an_open_answer_can_become_a_grade_and_a_grade_an_open_answer():
    batch = Batch(2)
    batch.act(CannotTell(0, "blank page"))
    batch.act(GoTo(0))
    assert batch.view.answer == Answer("", "blank page", cannot_tell=True)
    assert batch.view.may_not_tell  # this one is not counted against itself
    batch.act(Judge(0, "2"))
    assert batch.values == {0: 2}
    batch.act(GoTo(0))
    batch.act(CannotTell(0, "cut off"))
    assert batch.values == {0: None}
    assert of_kind(PROTOCOL.rows(batch.task, batch.state), JudgmentRow)[0].revisions == 2


@pytest.mark.parametrize(("n", "share", "allowed"), [(10, 0.3, 3), (3, 1, 3), (4, 0, 0), (1, 0.5, 0), (10, 0.1, 1)])
def test_how_many_may_be_left_open_is_a_share_of_the_batch(n, share, allowed):
    batch = Batch(n, max_cannot_tell=share)
    for position in range(allowed):
        batch.act(CannotTell(position, "cut off"))
    assert sum(value is None for value in batch.values.values()) == allowed
    if allowed < n:
        assert batch.refused(CannotTell(allowed)).code == "cannot_tell"


def test_leaving_documents_open_can_be_switched_off():
    batch = Batch(cannot_tell=False, max_cannot_tell=1)
    assert not batch.view.may_not_tell
    assert batch.refused(CannotTell(0)).code == "cannot_tell"
