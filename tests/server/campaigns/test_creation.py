"""What a plan says is what the database holds, what its seed decides is so for ever, and a plan comes back whole."""

import json
from collections import Counter
from dataclasses import replace
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, func, select
from sqlalchemy.pool import StaticPool

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.plan.panel_links import PanelTable
from qrowd_server.campaigns.plan.plan import DocumentPlan, Plan, TopicPlan
from qrowd_server.campaigns.running.campaign_reader import material_of
from qrowd_server.campaigns.running.campaign_settings import read_settings
from qrowd_server.campaigns.running.creation import create_campaign, plan_of
from qrowd_server.protocols.protocol import Material, Question
from qrowd_server.protocols.settings import GradesSettings, JourneySettings, MagnitudeSettings, PreferenceSettings
from qrowd_server.store import materials
from qrowd_server.store.schema import campaign, document, event, metadata, slot, topic, unit

LABELS = tuple(f"d{i}" for i in range(20))
DOCUMENTS = tuple(DocumentPlan(label, f"about {label}", label.upper(), label == "d3", "en") for label in LABELS)
QUESTION = Question("What is it about?", ("tea", "coffee", "milk", "water"), 2)


def magnitude(**changes):
    topics = (
        TopicPlan("t1", "tea", LABELS[:12], "how", "black", QUESTION, ("d4", "d2"), ("one", "two")),
        TopicPlan("t2", "salt", LABELS[5:], checks=("d19", "d5")),
    )
    plan = Plan("pilot", "A pilot", MagnitudeSettings(5, 3), topics, DOCUMENTS, 2**62 + 11)
    return replace(plan, **changes)


def grades():
    return magnitude(
        settings=GradesSettings(k=7, redundancy=4),
        topics=tuple(replace(t, checks=None) for t in magnitude().topics),
        journey=JourneySettings(consent=False, max_units=2),
        lease_minutes=12.5,
        consent="May we?",
        instructions="Read.",
        panel=PanelTable(codes={"completed": "C1"}),
    )


def preference(sharing="own"):
    systems = {"a": ("d2", "d0", "d1"), "b": ("d1",)}
    topics = (replace(magnitude().topics[0], checks=None, systems=systems),)
    return magnitude(
        settings=PreferenceSettings(redundancy=3, sharing=sharing),
        topics=topics,
        documents=DOCUMENTS[:12],
    )


PLANS = [magnitude(), grades(), preference(), preference("shared"), magnitude(checks=False, topics=grades().topics)]


@pytest.fixture(scope="module")
def engine():
    engine = create_engine("sqlite://", poolclass=StaticPool)
    metadata.create_all(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def connection(engine):
    with engine.connect() as open_connection:  # and never committed
        yield open_connection


def rows(connection, table, **where):
    query = select(table)
    for column, value in where.items():
        query = query.where(table.c[column] == value)
    return connection.execute(query.order_by(*table.primary_key.columns)).mappings().all()


def told(connection, campaign_id):
    """Units and slots by labels, as no database's numbers have a say."""
    labels = {row["id"]: row["label"] for row in rows(connection, document, campaign_id=campaign_id)}
    topics = {row["id"]: row["label"] for row in rows(connection, topic, campaign_id=campaign_id)}
    units = {
        row["id"]: (topics[row["topic_id"]], row["number"], tuple(labels[d] for d in row["documents"]))
        for row in rows(connection, unit, campaign_id=campaign_id)
    }
    slots = [
        (units[row["unit_id"]], row["number"], topics[row["topic_id"]], row["lottery"], row["assignment_id"])
        for row in rows(connection, slot, campaign_id=campaign_id)
    ]
    return list(units.values()), slots


@pytest.mark.parametrize("plan", PLANS, ids=range(len(PLANS)))
def test_a_plan_comes_back_whole(connection, plan):
    assert plan_of(connection, create_campaign(connection, plan, 5.0)) == plan


@pytest.mark.parametrize("plan", PLANS, ids=range(len(PLANS)))
def test_the_same_plan_makes_the_same_units_and_slots_in_every_database(connection, plan):
    create_campaign(connection, magnitude(name="before"), 1.0)  # so that numbers differ
    second = create_engine("sqlite://", poolclass=StaticPool)
    metadata.create_all(second)
    with second.begin() as other:
        elsewhere = told(other, create_campaign(other, plan, 9.0))
    second.dispose()
    assert told(connection, create_campaign(connection, plan, 5.0)) == elsewhere


def test_another_seed_makes_other_units_and_another_order_of_slots(connection):
    units, slots = told(connection, create_campaign(connection, magnitude(), 5.0))
    others, other_slots = told(connection, create_campaign(connection, magnitude(name="other", seed=1), 5.0))
    assert sorted(units) != sorted(others)
    assert [one[3] for one in slots] != [one[3] for one in other_slots]


def test_magnitude_units_are_those_of_the_paper(connection):
    units, slots = told(connection, create_campaign(connection, magnitude(), 5.0))
    for plan, n_units in zip(magnitude().topics, (10, 13), strict=True):  # ceil(3 (12 - 2) / 3), ceil(3 (15 - 2) / 3)
        own = [documents for label, _, documents in units if label == plan.label]
        assert len(own) == n_units
        assert all(len(documents) == len(set(documents)) == 5 for documents in own)
        assert all(set(plan.checks) <= set(documents) for documents in own)
        held = Counter(d for documents in own for d in documents if d not in plan.checks)
        assert set(held) == set(plan.pool) - set(plan.checks)
        assert min(held.values()) >= 3
    assert len(slots) == 23


def test_grades_and_preferences_have_a_slot_per_assessor(connection):
    units, slots = told(connection, create_campaign(connection, grades(), 5.0))
    assert sorted(len(documents) for _, _, documents in units) == [5, 5, 5, 6, 6]  # 12 and 15 by 7 at most
    assert [number for _, number, *_ in slots] == [0, 1, 2, 3] * 5
    units, slots = told(connection, create_campaign(connection, replace(preference(), name="pairs"), 5.0))
    assert [(label, documents) for label, _, documents in units] == [("t1", LABELS[:12])]
    assert len(slots) == 3
    assert all(0 <= lottery < 1 and holder is None for _, _, _, lottery, holder in slots)
    assert len({lottery for _, _, _, lottery, _ in slots}) == 3


def test_the_first_event_says_how_much_there_is(connection):
    number = create_campaign(connection, magnitude(), 5.0)
    (first,) = rows(connection, event)
    assert (first["campaign_id"], first["actor"], first["kind"], first["time"]) == (number, "owner", "created", 5.0)
    assert first["data"] == {"topics": 2, "documents": 20, "units": 23, "slots": 23}
    (row,) = rows(connection, campaign)
    assert (row["status"], row["created"], row["seed"]) == ("running", 5.0, 2**62 + 11)


def test_a_taken_name_is_refused_and_nothing_is_written(connection):
    create_campaign(connection, magnitude(), 5.0)
    with pytest.raises(ArgumentError, match=r"campaign\.name: 'pilot' is taken by another campaign; choose another"):
        create_campaign(connection, grades(), 6.0)
    assert connection.execute(select(func.count()).select_from(campaign)).scalar_one() == 1


@pytest.mark.parametrize("plan", PLANS, ids=range(len(PLANS)))
def test_people_are_told_the_mean_number_of_documents_of_the_units_that_were_made(connection, plan):
    number = create_campaign(connection, plan, 5.0)
    units, _ = told(connection, number)
    (row,) = rows(connection, campaign, id=number)
    assert row["settings"]["effort"][0] == round(fmean(len(documents) for *_, documents in units))


# ---- what the row says again


def test_settings_are_read_as_they_were(connection):
    number = create_campaign(connection, grades(), 5.0)
    row = materials.find_campaign(connection, number)
    said = read_settings(row)
    assert (said.protocol, said.arms[""].settings, said.journey) == ("grades", grades().settings, grades().journey)
    assert (said.lease_seconds, said.consent, said.instructions, said.panel) == (
        750,
        "May we?",
        "Read.",
        grades().panel,
    )
    assert json.loads(json.dumps(row.settings)) == row.settings


@pytest.mark.parametrize(("sharing", "together"), [("own", False), ("shared", True)])
def test_assessors_work_together_where_they_share_a_topic(connection, sharing, together):
    number = create_campaign(connection, preference(sharing), 5.0)
    row = materials.find_campaign(connection, number)
    assert read_settings(row).arms[""].together is together


def test_material_is_what_the_unit_and_its_topic_hold(connection):
    number = create_campaign(connection, magnitude(), 5.0)
    numbers = {row["label"]: row["id"] for row in rows(connection, document)}
    first, second = materials.topics_of(connection, number)
    arm = read_settings(materials.find_campaign(connection, number)).arms[""]
    units = list(materials.units_of(connection, number))
    held = [one for one in units if one.topic_id == first.id][3]
    expected = Material(tuple(held.documents), numbers["d4"], numbers["d2"], QUESTION, (), 2)
    assert material_of(held, first, arm.settings) == expected
    held = next(one for one in units if one.topic_id == second.id)
    assert material_of(held, second, arm.settings) == Material(tuple(held.documents), numbers["d19"], numbers["d5"])


def test_material_for_preferences_has_the_systems_best_first(connection):
    number = create_campaign(connection, preference(), 5.0)
    numbers = {row["label"]: row["id"] for row in rows(connection, document)}
    arm = read_settings(materials.find_campaign(connection, number)).arms[""]
    unit = next(materials.units_of(connection, number))
    material = material_of(unit, materials.topics_of(connection, number)[0], arm.settings)
    assert material.systems == (tuple(numbers[d] for d in ("d2", "d0", "d1")), (numbers["d1"],))
    assert (material.high, material.low) == (None, None)


# ---- units that were assembled before


def test_units_of_an_archive_stay_as_they_are(connection):
    units = [list(LABELS[:6]), ["d4", "d2", *LABELS[6:12]], ["d19", "d5", *LABELS[6:19]]]
    placed = [("t1", "", 0, units[0]), ("t1", "", 1, units[1]), ("t2", "", 0, units[2])]
    held, _ = told(connection, create_campaign(connection, magnitude(), 5.0, units=placed))
    assert [list(documents) for _, _, documents in held] == units


@pytest.mark.parametrize(
    "made",
    [
        [],
        list(LABELS[:13]),  # one too many
        [*LABELS[:12], "d0"],  # one twice
        ["d4", "d1"],  # no low check
    ],
)
def test_units_that_do_not_fit_their_topic_are_refused(connection, made):
    with pytest.raises(ArgumentError, match="units of topic 't1': they do not fit its pool"):
        create_campaign(connection, magnitude(), 5.0, units=[("t1", "", 0, made)])


words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=20)
labels = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=5)


plans_in_words = st.tuples(
    st.lists(labels.map("x{}".format), min_size=2, max_size=6, unique=True), words, st.integers(0, 2**63 - 1)
)


@settings(max_examples=8)
@given(plans_in_words)
def test_whatever_the_words_a_plan_comes_back(engine, said):
    names, text, seed = said
    documents = tuple(DocumentPlan(name, f"a{text}", text) for name in names[1:])
    topics = (TopicPlan(names[0], f"a{text}", tuple(names[1:]), text, text),)
    plan = Plan("p", f"a{text}", GradesSettings(), topics, documents, seed, consent=text)
    with engine.connect() as connection:  # and never committed
        assert plan_of(connection, create_campaign(connection, plan, 0.0)) == plan
