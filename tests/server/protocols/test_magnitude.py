"""A unit of magnitudes from its first document to its checks, and what may be done once they failed."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import protocols as oracle
from qrowd_server.protocols.events import CannotTell, Event, GoOn, GoTo, Judge, Postpone, Refusal
from qrowd_server.protocols.magnitude_protocol import MagnitudeProtocol
from qrowd_server.protocols.protocol import JudgmentRow, Material
from qrowd_server.protocols.settings import MagnitudeSettings
from qrowd_server.protocols.views import Answer, DocumentView, EndView, RatingView, RevisionView
from rooms import of_kind

PROTOCOL = MagnitudeProtocol()
HIGH, LOW = 103, 106
DOCUMENTS = tuple(range(101, 109))


class Unit:
    """A unit of eight documents, and whoever judges it."""

    def __init__(self, material=None, seed=3, **options):
        options.setdefault("reason", "none")
        self.task = PROTOCOL.task(MagnitudeSettings(**options), material or Material(DOCUMENTS, HIGH, LOW), seed)
        self.state, self.at, self.log = PROTOCOL.new(self.task, 0.0), 0.0, []

    @property
    def view(self):
        return PROTOCOL.view(self.task, self.state)

    def act(self, action, after=20.0):
        self.at += after
        events = PROTOCOL.decide(self.task, self.state, action, self.at)
        for event in events:
            self.state = PROTOCOL.evolve(self.task, self.state, event, self.at)
        self.log += events
        return events

    def kinds(self, action, after=20.0):
        return [event.kind for event in self.act(action, after)]

    def all_judged(self, high="40", low="0,5", after=20.0, active=None, hurried=()):
        """Every document from the first to the last; the events of the last."""
        said = {HIGH: high, LOW: low}
        for position, document in enumerate(self.task.documents):
            seconds = hurried[1] if hurried and position == hurried[0] else after
            events = self.act(Judge(position, said.get(document, "10"), active=active), seconds)
        return events

    def place(self, document):
        return self.task.documents.index(document)


def checked(ordered, unhurried):
    return Event("checked", {"passed": ordered and unhurried, "ordered": ordered, "unhurried": unhurried})


# ---- a unit that passes


def test_a_unit_that_passes_asks_for_a_rating_and_is_complete():
    unit = Unit()
    assert unit.view == DocumentView(0, 8, unit.task.documents[0], None, (False,) * 8, (False,) * 8, (), "none")
    assert unit.all_judged()[1:] == (checked(True, True),)
    assert unit.view == RatingView()
    assert PROTOCOL.status(unit.state) == "open"


def test_without_a_rating_it_is_complete_at_once():
    unit = Unit(rating=False)
    assert [event.kind for event in unit.all_judged()] == ["judged", "checked", "completed"]
    assert unit.view == EndView("completed")
    assert PROTOCOL.status(unit.state) == "completed"


def test_the_raw_text_is_kept_beside_the_number():
    unit = Unit()
    unit.act(Judge(0, " 0,5 "))
    (row,) = of_kind(PROTOCOL.rows(unit.task, unit.state), JudgmentRow)
    assert (row.value, row.raw, row.document_id, row.position) == (0.5, " 0,5 ", unit.task.documents[0], 0)
    assert (row.seconds, row.visits, row.revisions, row.time) == (20, 1, 0, 20)


def test_before_anything_is_judged_there_are_no_rows():
    unit = Unit()
    assert PROTOCOL.rows(unit.task, unit.state) == ()
    assert PROTOCOL.checked


# ---- the checks


@pytest.mark.parametrize(
    ("high", "low", "ordered"),
    [
        ("2", "1", True),
        ("1", "2", False),
        ("1", "1,0", False),
    ],
)
def test_h_has_to_stand_above_n(high, low, ordered):
    unit = Unit()
    assert unit.all_judged(high, low)[1] == checked(ordered, True)


@pytest.mark.parametrize(("seconds", "unhurried"), [(20.0, True), (19.99, False), (0.0, False), (21.0, True)])
@pytest.mark.parametrize("position", [0, 4, 7])
def test_every_single_document_takes_20_seconds(position, seconds, unhurried):
    assert Unit().all_judged(hurried=(position, seconds))[1] == checked(True, unhurried)


def test_seconds_of_several_visits_add_up():
    unit = Unit()
    unit.act(Judge(0, "10" if unit.task.documents[0] != LOW else "1"), 12)
    unit.act(GoTo(0), 20)
    unit.act(Judge(0, "10" if unit.task.documents[0] != LOW else "1"), 8)
    for position, document in list(enumerate(unit.task.documents))[1:]:
        events = unit.act(Judge(position, {HIGH: "40", LOW: "1"}.get(document, "10")))
    assert events[1] == checked(True, True)


def test_without_check_documents_there_is_no_order_to_fail():
    unit = Unit(Material((1, 2, 3)), min_seconds=0, rating=False)
    for position in range(3):
        events = unit.act(Judge(position, "1"), 0)
    assert events[1:] == (checked(True, True), Event("completed"))


@given(
    seed=st.integers(0, 2**32),
    least=st.sampled_from((0, 4, 6, 9)),
)
def test_the_checks_find_what_counting_all_visits_again_finds(seed, least):
    chance = Random(seed)
    material = Material((1, 2, 3, 4), high=3, low=2)
    unit = Unit(material, seed, min_seconds=least, revisions=-1, rating=False)
    visits = []
    for _ in range(60):
        if isinstance(unit.view, RevisionView):
            unit.act(GoOn(), 50)
        if not isinstance(unit.view, DocumentView):
            break
        position, seconds = unit.view.position, chance.choice((1.0, 6.0, 7.0, 9.0))
        active, number = chance.choice((None, 3.0, 6.0, 20.0)), chance.choice("1234")
        back = GoTo(chance.randrange(position)) if position and chance.random() < 0.15 else None
        submit = GoOn() if unit.view.revising and chance.random() < 0.15 else None
        action = back or submit or Judge(position, number, active=active)
        events = unit.act(action, seconds)
        judged = isinstance(action, Judge)
        visits.append((position, seconds, active if judged else None, (number, "", float(number)) if judged else None))
        for event in events:
            if event.kind == "checked":
                in_order = oracle.ordered(visits, unit.task.documents, 3, 2)
                unhurried = oracle.unhurried(visits, unit.task.documents, least)
                assert event == checked(in_order, unhurried)
    assert sum(event.kind == "checked" for event in unit.log) >= 1
    assert unit.state.backs == sum(event.kind == "stepped_back" for event in unit.log)
    assert unit.state.fails == sum(event.kind == "checked" and not event.data["passed"] for event in unit.log)


# ---- after a failure


def test_a_failed_check_names_nothing_and_leads_back_to_the_first_document_with_answers_kept():
    unit = Unit()
    unit.all_judged(high="1", low="2")
    assert unit.view == RevisionView(of=8, left=1)
    assert unit.kinds(GoOn(), after=300) == ["looked_again"]
    assert unit.view.position == 0
    assert unit.view.revising
    assert unit.view.done == (True,) * 8
    text = {HIGH: "1", LOW: "2"}.get(unit.task.documents[0], "10")
    assert unit.view.answer == Answer(text)
    assert [place.seconds for place in unit.state.places] == [20] * 8  # reading the message is nobody's time


def test_one_answer_can_be_changed_and_handed_in_at_once():
    unit = Unit(rating=False)
    unit.all_judged(high="1", low="2")
    unit.act(GoOn())
    place = unit.place(HIGH)
    if place:
        assert unit.kinds(GoTo(place)) == ["stepped_forward"]
    unit.act(Judge(place, "40"))
    if PROTOCOL.status(unit.state) == "open":
        assert unit.kinds(GoOn()) == ["submitted", "checked", "completed"]
    assert (unit.state.fails, unit.state.backs, unit.state.places[place].revisions) == (1, 0, 1)
    assert sum(place.revisions for place in unit.state.places) == 1


def test_the_same_answers_again_lead_to_the_end_and_submit():
    unit = Unit(rating=False, revisions=2)
    unit.all_judged(hurried=(2, 5.0))
    unit.act(GoOn())
    for position in range(8):
        assert unit.view.position == position
        kinds = unit.kinds(Judge(position, unit.view.answer.text), after=15)
    assert kinds == ["judged", "checked", "completed"]
    assert [place.revisions for place in unit.state.places] == [0] * 8
    assert [place.visits for place in unit.state.places] == [2] * 8


def test_while_looking_again_a_step_back_returns_as_well():
    unit = Unit()
    unit.all_judged(high="1", low="2")
    unit.act(GoOn())
    unit.act(Judge(0, "3"))
    unit.act(Judge(1, "3"))
    unit.act(GoTo(0))
    assert unit.state.backs == 1
    unit.act(Judge(0, "4"))
    assert unit.view.position == 2
    unit.act(GoTo(1))
    unit.act(GoTo(7))
    assert unit.state.resume is None
    assert unit.kinds(Judge(7, "5"))[:2] == ["judged", "checked"]


def test_while_looking_again_who_steps_forward_to_where_they_were_goes_on_from_there():
    unit = Unit()
    unit.all_judged(high="1", low="2")
    unit.act(GoOn())
    unit.act(GoTo(4))
    unit.act(GoTo(2))
    unit.act(GoTo(4))
    assert unit.kinds(Judge(4, "5")) == ["judged"]
    assert unit.view.position == 5


def test_a_set_handed_in_from_an_earlier_document_starts_over_from_the_first():
    unit = Unit(revisions=-1)
    unit.all_judged(high="1", low="2")
    unit.act(GoOn())
    unit.act(GoTo(6))
    unit.act(GoTo(3))
    assert unit.kinds(GoOn()) == ["submitted", "checked"]
    unit.act(GoOn())
    unit.act(Judge(0, unit.view.answer.text))
    assert unit.view.position == 1


def test_going_on_submits_only_while_looking_again():
    unit = Unit()
    with pytest.raises(Refusal) as found:
        unit.act(GoOn())
    assert found.value.code == "stale"


def test_after_the_last_revision_the_unit_has_failed():
    unit = Unit()
    unit.all_judged(high="1", low="2")
    unit.act(GoOn())
    assert unit.kinds(GoOn()) == ["submitted", "checked", "failed"]
    assert unit.view == EndView("failed", another=False)
    assert (PROTOCOL.status(unit.state), unit.state.fails) == ("failed", 2)
    assert (
        len(of_kind(PROTOCOL.rows(unit.task, unit.state), JudgmentRow)) == 8
    )  # kept, for whoever wants to look at them


def test_no_revision_at_all_can_be_chosen():
    unit = Unit(revisions=0)
    assert [event.kind for event in unit.all_judged(high="1", low="2")] == ["judged", "checked", "failed"]


def test_three_revisions_are_three():
    unit = Unit(revisions=3)
    unit.all_judged(high="1", low="2")
    for left in (3, 2, 1):
        assert unit.view == RevisionView(8, left)
        unit.act(GoOn())
        unit.act(GoOn())
    assert PROTOCOL.status(unit.state) == "failed"


def test_as_in_the_paper_any_number_of_revisions_can_be_chosen():
    unit = Unit(revisions=-1, rating=False)
    unit.all_judged(high="1", low="2")
    for fails in range(1, 30):
        assert unit.state.fails == fails
        assert unit.view == RevisionView(8, -1)
        unit.act(GoOn())
        unit.act(GoOn())
    unit.act(GoOn())
    unit.act(GoTo(unit.place(HIGH))) if unit.place(HIGH) else None
    unit.act(Judge(unit.place(HIGH), "40"))
    if PROTOCOL.status(unit.state) == "open":
        unit.act(GoOn())
    assert (PROTOCOL.status(unit.state), unit.state.fails) == ("completed", 30)
    assert PROTOCOL.to_json(unit.state)["fails"] == 30


@given(seed=st.integers(0, 2**62), better=st.booleans())
def test_the_outcome_does_not_depend_on_the_order(seed, better):
    unit = Unit(seed=seed, rating=False)
    unit.all_judged(high="2" if better else "1", low="1" if better else "2")
    assert PROTOCOL.status(unit.state) == ("completed" if better else "open")


# ---- what is asked of an answer


def test_a_required_reason_may_not_be_blank():
    unit = Unit(reason="required")
    with pytest.raises(Refusal) as found:
        unit.act(Judge(0, "1", "  "))
    assert (found.value.code, found.value.field) == ("reason", "reason")
    assert str(found.value) == "Give a reason in a few words, for example what the document says about the topic."
    with pytest.raises(Refusal, match="Use at most 2,000 characters; these are 2,001"):
        unit.act(Judge(0, "1", "x" * 2001))
    assert unit.kinds(Judge(0, "1", "It names both causes")) == ["judged"]


def test_a_reason_that_nobody_asks_for_is_not_taken():
    with pytest.raises(Refusal, match="No reason is asked for here"):
        Unit(reason="none").act(Judge(0, "1", "because"))


def test_what_is_no_number_is_refused_before_the_reason_is_looked_at():
    with pytest.raises(Refusal) as found:
        Unit(reason="required").act(Judge(0, "many"))
    assert (found.value.code, found.value.field) == ("number", "text")


def test_a_magnitude_can_neither_be_put_off_nor_left_open():
    unit = Unit()
    for action, code in ((Postpone(0), "postpone"), (CannotTell(0), "cannot_tell")):
        with pytest.raises(Refusal) as found:
            unit.act(action)
        assert found.value.code == code
