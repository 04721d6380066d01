"""A plan that could not work is refused before anything is written, in one line that says what and what next."""

import re
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.plan.panel_links import PanelTable
from qrowd_server.campaigns.plan.plan_tables import plan_from_table, table_from_plan
from qrowd_server.protocols.setting_fields import SchemaError
from qrowd_server.protocols.settings import JourneySettings, MagnitudeSettings

DOCUMENTS = [f"d{i}" for i in range(6)]
QUESTION = {"text": "What is it about?", "options": ["tea", "coffee", "milk", "water"], "correct": 2}


def table(**changes):
    """A sound magnitude campaign of one topic, with some keys changed."""
    topic = {"label": "t1", "title": "tea", "pool": DOCUMENTS, "checks": ["d0", "d5"], "question": QUESTION}
    sound = {
        "campaign": {"name": "pilot-1", "title": "A pilot", "seed": 7},
        "magnitude": {"k": 5, "redundancy": 2},
        "topics": [topic],
        "documents": [{"label": label, "text": f"about {label}"} for label in DOCUMENTS],
    }
    return deepcopy(sound) | changes


def with_topic(**changes):
    whole = table()
    whole["topics"][0] |= changes
    return whole


def with_head(**changes):
    whole = table()
    whole["campaign"] |= changes
    return whole


def with_document(**changes):
    whole = table()
    whole["documents"][3] |= changes
    return whole


def with_question(**changes):
    return with_topic(question=QUESTION | changes)


def graded(**settings):
    whole = with_topic(checks=None)
    del whole["magnitude"]
    return whole | {"grades": settings}


REFUSED = [
    (with_head(name="Pilot"), "campaign.name: 'Pilot' cannot stand in an address"),
    (with_head(name=None), "campaign.name: None cannot be used; give a text"),
    (with_head(name="a" * 65), "campaign.name: "),
    (with_head(name=7), "campaign.name: 7 cannot be used; give a text"),
    (with_head(title=" "), "campaign.title: is empty"),
    (with_head(title="a\x00"), "campaign.title: holds '\\x00', which no database can keep; remove it"),
    (with_head(consent="\ud800"), "campaign.consent: holds half of a character, which no text can; remove it"),
    (with_head(seed=-1), "campaign.seed: -1 cannot be used"),
    (with_head(seed=2**63), "campaign.seed: "),
    (with_head(seed=True), "campaign.seed: True cannot be used"),
    (with_head(seed="x"), "campaign.seed: 'x' cannot be used"),
    (with_head(lease_minutes=0), "campaign.lease_minutes: 0.0 cannot be used; give minutes from 1 to 100000"),
    (with_head(lease_minutes=float("nan")), "campaign.lease_minutes: nan cannot be used"),
    (with_head(checks="no"), "campaign.checks: 'no' cannot be used; write true or false"),
    (
        with_head(protocol="likert"),
        "campaign.protocol: 'likert' cannot be used; choose 'magnitude', 'grades' or 'preference'",
    ),
    (with_head(protocol="grades"), "magnitude: is the table of another protocol than grades; remove it"),
    (with_head(colour="red"), "campaign.colour: there is no such key; choose from name, title, protocol, seed, leas"),
    (table(campaign=[]), "campaign: [] cannot be used; give a table of keys and values"),
    (table(likert={}), "likert: there is no such key; choose from magnitude, grades, preference, campaign, t"),
    (table(magnitude={"k": 2}), "magnitude.k: 2 cannot be used; give at least 3"),
    (
        table(magnitude={"kk": 2}),
        "magnitude.kk: there is no such key; choose from k, redundancy, min_seconds, revisions",
    ),
    (table(journey={"consent": 1}), "journey.consent: 1 cannot be used; write true or false"),
    (table(panel={}), "panel.codes: 'completed' is missing"),
    (table(topics=[]), "topics: there are none; add at least one topic"),
    (table(topics={}), "topics: {} cannot be used; give a list"),
    (table(topics=[3]), "topics[0]: 3 cannot be used; give a table of keys and values"),
    (with_topic(label=""), "topics[0].label: '' cannot be used; give 1 to 200 characters without blanks, not # f"),
    (with_topic(label="a b"), "topics[0].label: 'a b' cannot be used; give 1 to 200 characters without blanks, not "),
    (with_topic(label="#1"), "topics[0].label: '#1' cannot be used; give 1 to 200 characters without blanks, not #"),
    (with_topic(label=3), "topics[0].label: 3 cannot be used; give a text"),
    (with_topic(title=""), "topics[0].title: topic 't1' has no title; say what is looked for"),
    (with_topic(rank=3), "topics[0].rank: there is no such key; choose from label, title, pool, description, n"),
    (
        table(topics=[*table()["topics"], *table()["topics"]]),
        "topics[1].label: 't1' is there already; every topic needs its own",
    ),
    (
        with_topic(pool=["d0", "d5", "d7", "d1", "d2"]),
        "topics[0].pool[2]: document 'd7' in the pool of topic 't1' has no text; add it",
    ),
    (with_topic(pool=[*DOCUMENTS, "d1"]), "topics[0].pool[6]: document 'd1' is there twice; remove one"),
    (
        with_topic(pool=["d0", "d5", "d1"]),
        "topics[0].pool: topic 't1' has 3 documents to judge, but a unit needs 5; name runs",
    ),
    (with_topic(pool="d0"), "topics[0].pool: 'd0' cannot be used; give a list"),
    (with_topic(pool=[1]), "topics[0].pool[0]: 1 cannot be used; give a text"),
    (with_topic(checks=None), "topics[0].checks: are missing; name one document of H and one of N, or write checks "),
    (with_topic(checks=["d0"]), "topics[0].checks[1]: is missing"),
    (
        with_topic(checks=["d0", "d9"]),
        "topics[0].checks: document 'd9' is not in the pool; choose one that is, or judge more ranks",
    ),
    (with_topic(checks=["d0", "d0"]), "topics[0].checks: 'd0' cannot be both the better and the worse one; choose two"),
    (with_head(checks=False), "topics[0].checks: are given, but checks = false; remove them"),
    (graded() | table(topics=table()["topics"], magnitude={}), "campaign.protocol: is missing; choose one of"),
    (
        {**graded(), "topics": table()["topics"]},
        "topics[0].checks: are given, but grades judging has none; remove them",
    ),
    (with_question(text=" "), "topics[0].question: needs a text and 2 to 8 options"),
    (with_question(options=["one"]), "topics[0].question: needs a text and 2 to 8 options"),
    (with_question(options=list("abcdefghi")), "topics[0].question: needs a text and 2 to 8 options"),
    (
        with_question(options=["a", "b", "a", "c"]),
        "topics[0].question: needs a text and 2 to 8 options, each with words of its own",
    ),
    (
        with_question(options=["a", "b", "", "c"]),
        "topics[0].question: needs a text and 2 to 8 options, each with words of its own",
    ),
    (with_question(correct=4), "topics[0].question.correct: there is no option 4; they count from 0 to 3"),
    (with_question(correct=-1), "topics[0].question.correct: there is no option -1; they count from 0 to 3"),
    (with_question(correct="a"), "topics[0].question.correct: 'a' cannot be used; give a whole number"),
    (with_question(hint="a"), "topics[0].question.hint: there is no such key; choose from text, options, correct"),
    (with_topic(question=3), "topics[0].question: 3 cannot be used; give a table of keys and values"),
    (with_topic(context=["a", ""]), "topics[0].context[1]: is an empty snippet; remove it"),
    (with_topic(context=[3]), "topics[0].context[0]: 3 cannot be used; give a text"),
    (table(documents=[]), "documents: there are none; add at least one document"),
    (with_document(text=" \n"), "documents[3].text: document 'd3' has no text; add it, or leave the document out"),
    (with_document(text="a\x00b"), "documents[3].text: holds '\\x00', which no database can keep; remove it"),
    (with_document(text="x" * 1_000_001), "documents[3].text: 1000001 characters are more than 1000000; shorten it"),
    (with_document(label="d2"), "documents[3].label: 'd2' is there already; every document needs its own"),
    (
        with_document(language="English!"),
        "documents[3].language: 'English!' is no tag of a language; write one such as en or p",
    ),
    (with_document(html="yes"), "documents[3].html: 'yes' cannot be used; write true or false"),
    (graded(labels=["a", "b"]), "grades.labels: 2 texts for 4 grades; give one for each, lowest grade first"),
    (graded(scale="0-200"), "grades.scale: '0-200' cannot be used; write binary, or 0 to the highest grade, as 0-"),
]


@pytest.mark.parametrize(("whole", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_work_is_refused_in_one_line(whole, message):
    with pytest.raises(SchemaError) as refused:
        plan_from_table(whole)
    assert message in str(refused.value)


def test_what_is_not_said_has_its_default():
    plan = plan_from_table(with_head(title=""))
    assert (plan.title, plan.lease_minutes, plan.consent, plan.checks) == ("pilot-1", 60, "", True)
    assert (plan.in_short, plan.settings, plan.journey) == ("magnitude", MagnitudeSettings(5, 2), JourneySettings())
    assert repr(plan) == "Plan(pilot-1, magnitude: 1 topic, 6 documents)"
    whole = table()
    del whole["topics"][0]["pool"]
    assert plan_from_table(whole).topics[0].pool == tuple(DOCUMENTS)


def test_without_a_seed_every_plan_has_a_fresh_one():
    assert len({plan_from_table(with_head(seed=None)).seed for _ in range(5)}) == 5


def test_checks_can_be_done_without():
    whole = with_topic(checks=None)
    whole["campaign"]["checks"] = False
    assert plan_from_table(whole).topics[0].checks is None


def test_a_pool_stands_in_the_order_of_the_documents():
    assert plan_from_table(with_topic(pool=DOCUMENTS[::-1])).topics[0].pool == tuple(DOCUMENTS)


def test_documents_in_nobodys_pool_are_left_out_and_faults_still_counted_among_all():
    whole = with_document(text="")
    whole["documents"].insert(0, {"label": "spare", "text": ""})
    with pytest.raises(SchemaError, match=re.escape("documents[4].text: document 'd3' has no text")):
        plan_from_table(whole)
    whole["documents"][4]["text"] = "x"
    assert [document.label for document in plan_from_table(whole).documents] == DOCUMENTS


@given(st.text(max_size=70))
def test_a_name_is_taken_exactly_if_it_can_stand_in_an_address(name):
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    sound = 1 <= len(name) <= 64 and name[0] in letters and all(letter in letters + "-_" for letter in name)
    if sound:
        assert plan_from_table(with_head(name=name)).name == name
    else:
        with pytest.raises(SchemaError, match="cannot stand in an address"):
            plan_from_table(with_head(name=name))


@given(st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=8), st.text(max_size=20))
def test_any_label_without_blanks_comes_back_from_the_table(label, text):
    label = label.replace("#", "_")
    whole = with_document(label=f"x{label}", text=f"t{text}".replace("\x00", ""))
    whole["topics"][0]["pool"][3] = f"x{label}"
    plan = plan_from_table(whole)
    assert plan.documents[3].label == f"x{label}"
    assert plan_from_table(table_from_plan(plan)) == plan


# ---- the panel


PANEL = {"links": {"completed": "https://panel.example/done?ok=1"}}


def test_a_panel_is_whole_and_stays_as_it_is():
    plan = plan_from_table(table(panel=PANEL))
    assert plan.panel == PanelTable(links=PANEL["links"], parameter="id")
    assert plan_from_table(table_from_plan(plan)) == plan


def changed(**changes):
    return {"panel": PANEL | changes}


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"toloka": {}}, "toloka: there is no such key"),
        ({"panel": 3}, "panel: 3 cannot be used; give a table"),
        (changed(colour=1), "panel.colour: there is no such key"),
        (changed(codes=[]), "panel.codes: [] cannot be used"),
        (changed(codes={"completed": "a b"}), "panel.codes.completed: 'a b' cannot be used"),
        (changed(codes={"completed": "a", "won": "b"}), "panel.codes.won: there is no such outcome"),
        (changed(parameter=""), "panel.parameter: '' cannot be used"),
        (changed(links={}), "panel.codes: 'completed' is missing"),
        (changed(links={"completed": "javascript:alert(1)"}), "panel.links.completed: 'javascript"),
        (changed(links={"completed": "https://"}), "panel.links.completed: 'https://' cannot"),
        (changed(links={"completed": "https://a@b.org/"}), "panel.links.completed: "),
        (changed(links={"completed": "https://b.org\\@c"}), "panel.links.completed: "),
        (changed(links={"completed": "https://[b/"}), "panel.links.completed: "),
        (changed(links={"completed": "https://b.org/\n"}), "panel.links.completed: "),
        (changed(parameter="a&b"), "panel.parameter: 'a&b' cannot be used"),
    ],
)
def test_a_panel_that_cannot_work_is_refused(tables, message):
    with pytest.raises(ArgumentError, match=re.escape(message)):
        plan_from_table(table(**tables))
