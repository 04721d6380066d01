"""A campaign is changed after its start: what is added and reworded, what is refused, and under which version people
answered."""

import asyncio
import json
import signal
import subprocess
import sys
from dataclasses import replace
from functools import wraps
from random import Random

import pytest
from sqlalchemy import select

from judging import NOW, Clock, created, seeded, small_plan, tables, three_arms, until, work
from qrowd.collect.campaigns.archive import read_archive, write_archive
from qrowd.collect.campaigns.changing import change_campaign, planned_changes
from qrowd.collect.campaigns.creation import plan_of
from qrowd.collect.campaigns.documents import DocumentPlan
from qrowd.collect.campaigns.exports import export_rows
from qrowd.collect.campaigns.folder import read_folder
from qrowd.collect.campaigns.plan import TopicPlan
from qrowd.collect.campaigns.rebuild import rebuild
from qrowd.collect.campaigns.template import write_template
from qrowd.collect.protocols.events import Consent, GoOn, GoTo, Judge, Refusal
from qrowd.collect.protocols.settings import GoldSettings, GradesSettings, MagnitudeSettings
from qrowd.collect.protocols.views import ConsentView, DocumentView
from qrowd.collect.store import events
from qrowd.collect.store.engine import open_store
from qrowd.collect.store.schema import assignment, campaign, slot, unit
from qrowd.errors import ArgumentError


def in_loop(test):
    """A test that is a coroutine."""

    @wraps(test)
    def run(*arguments, **values):
        return asyncio.run(test(*arguments, **values))

    return run


def grades(**further):
    return small_plan("grades", **{"k": 4, "redundancy": 1, "rating": False, **further})


def with_settings(plan, **changes):
    return replace(plan, settings=replace(plan.settings, **changes))


def with_documents(plan, topic, *labels):
    """The plan with new documents of a topic."""
    topics = tuple(replace(t, pool=(*t.pool, *labels)) if t.label == topic else t for t in plan.topics)
    return replace(
        plan, topics=topics, documents=(*plan.documents, *(DocumentPlan(one, f"of {one}") for one in labels))
    )


def with_topic(plan, label, *labels, **further):
    documents = tuple(DocumentPlan(one, f"of {one}") for one in labels)
    topic = TopicPlan(label, f"About {label}", labels, **further)
    return replace(plan, topics=(*plan.topics, topic), documents=(*plan.documents, *documents))


def change(store, plan, at=NOW + 100):
    return store.write(lambda connection: change_campaign(connection, plan, at))


def kept(store, name="pilot"):
    """All that is known of a campaign, without the numbers of one database."""
    return store.read(lambda connection: list(write_archive(connection, name)))


def exported(store, name="pilot", what="judgments"):
    lines = b"".join(store.read(lambda c: list(export_rows(c, name, what, "jsonl", everything=True)))).splitlines()
    return [json.loads(line) for line in lines]


async def judge_all(service, name, person, steps=1000):
    who = await service.arrive(name, "link", person)
    return who, await work(service, who, Random(person), steps=steps)


# ---- what is added


@in_loop
async def test_new_documents_and_topics_are_judged_and_what_was_judged_stays(store):
    created(store, plan := grades())
    service = seeded(store, Clock(step=1.0))
    await judge_all(service, "pilot", "ann")
    before = exported(store)
    larger = with_topic(with_documents(plan, "t1", "n1", "n2"), "t9", "x1", "x2", "x3", "x4", "x5")
    changes = change(store, larger)
    assert (changes.topics, changes.documents) == (("t9",), ("n1", "n2", "x1", "x2", "x3", "x4", "x5"))
    assert [(one.topic, len(one.documents)) for one in changes.units] == [("t1", 2), ("t9", 3), ("t9", 2)]
    assert exported(store)[: len(before)] != []
    assert [one["document"] for one in before] == [one["document"] for one in exported(store)]
    _, _page = await judge_all(service, "pilot", "ann")  # nobody gets a topic twice, so ann gets one unit of t9
    await judge_all(service, "pilot", "bob")
    await judge_all(service, "pilot", "cem")
    judged = [(one["topic"], one["document"]) for one in exported(store)]
    assert sorted(judged) == sorted((t.label, label) for t in larger.topics for label in t.pool)
    versions = {one["document"]: one["version"] for one in exported(store)}
    assert {versions[one] for one in ("n1", "n2", "x1", "x5")} == {2}
    assert {versions[one["document"]] for one in before} == {1}


@in_loop
async def test_more_assessors_of_each_unit_are_further_slots_of_the_units_there_are(store):
    number = created(store, plan := grades(documents=8))
    slots = (
        select(slot.c.unit_id, slot.c.number)
        .where(slot.c.campaign_id == number)
        .order_by(slot.c.unit_id, slot.c.number)
    )
    before = store.read(lambda c: c.execute(slots).all())
    changes = change(store, with_settings(plan, redundancy=3))
    assert (changes.units, changes.redundancy) == ((), {"": (1, 3)})
    assert store.read(lambda c: c.execute(slots).all()) == sorted((u, n) for u, _ in before for n in range(3))
    service = seeded(store, Clock(step=1.0))
    for person in range(12):
        await judge_all(service, "pilot", str(person))
    times = [one["document"] for one in exported(store)]
    assert {times.count(one) for one in set(times)} == {3}


@in_loop
async def test_more_magnitudes_of_each_document_are_further_units_with_both_check_documents(store):
    number = created(store, plan := small_plan("magnitude", documents=10, k=5, redundancy=1, min_seconds=0))
    before = store.read(lambda c: c.execute(select(unit.c.documents).where(unit.c.campaign_id == number)).all())
    change(store, with_settings(plan, redundancy=3))
    units = store.read(lambda c: c.execute(select(unit.c.documents).where(unit.c.campaign_id == number)).all())
    assert units[: len(before)] == before
    times = [one for (documents,) in units for one in documents]
    labels = store.read(lambda c: plan_of(c, number)).topics[0].pool
    assert len(labels) == 10
    assert min(times.count(one) for one in set(times)) >= 3
    assert all(len(documents) == 5 for (documents,) in units)
    assert {times.count(one) for one in set(times)} <= {3, 4, len(units) // 3}  # both check documents are in every unit


def test_arms_stay_a_latin_square_over_new_topics(store):
    number = created(store, plan := three_arms(topics=3))
    change(store, with_topic(with_topic(plan, "t3", "x1", "x2", systems={"a": ("x1",)}), "t4", "y1", "y2"))
    rows = store.read(
        lambda c: c.execute(
            select(unit.c.topic_id, slot.c.arm, slot.c.latin_row)
            .join(unit, unit.c.id == slot.c.unit_id)
            .where(slot.c.campaign_id == number)
            .distinct()
        ).all()
    )
    assert len(rows) == 15
    for latin_row in range(3):
        arms = [arm for _, arm, row in sorted(rows) if row == latin_row]
        assert len(arms) == 5
        assert sorted(arms.count(arm) for arm in set(arms)) == [1, 2, 2]


# ---- words


@in_loop
async def test_an_answer_has_the_version_of_the_page_it_was_given_on(store):
    created(store, plan := grades(topics=1))
    service = seeded(store, Clock(step=1.0))
    who = await service.arrive("pilot", "link", "ann")
    old = await until(service, who, DocumentView, Random(1))
    labels = ("nothing", "a little", "much", "everything")
    change(store, with_settings(replace(plan, title="Another title"), labels=labels))
    receipt = await service.act(who, Judge(old.view.position, "2"), shown=old.shown)  # a page of before, answered after
    assert receipt.page.title == "Another title"
    assert tuple(grade.label for grade in receipt.page.view.grades) == labels
    await service.act(who, Judge(receipt.page.view.position, "1"), shown=receipt.page.shown)
    assert {one["order"]: one["version"] for one in exported(store)} == {0: 1, 1: 2}
    page = await service.page(who)
    page = (await service.act(who, GoTo(0), shown=page.shown)).page
    await service.act(who, Judge(0, "3"), shown=page.shown)  # revised on a page of now
    assert {one["order"]: (one["raw"], one["version"]) for one in exported(store)} == {0: ("3", 2), 1: ("1", 2)}


@in_loop
async def test_other_processes_see_a_change_with_their_next_page(address, opened):
    store, elsewhere = opened(address), None
    created(store, plan := grades(topics=1))
    services = [seeded(store, Clock(step=1.0), 1)]
    if store.dialect == "postgresql":
        elsewhere = opened(address)
        services.append(seeded(elsewhere, Clock(step=1.0), 2))
    who = await services[0].arrive("pilot", "link", "ann")
    await services[0].act(who, GoOn())
    assert {(await service.page(who)).title for service in services} == {"A pilot"}
    with open_store(address, beside_server=True) if store.dialect == "sqlite" else opened(address) as beside:
        change(beside, replace(plan, title="New"))
    assert {(await service.page(who)).title for service in services} == {"New"}


@in_loop
async def test_the_consent_is_asked_again_of_whoever_read_another_text(store):
    created(store, plan := grades(journey={"consent": True}))
    service = seeded(store, Clock(step=1.0))
    agreed = await service.arrive("pilot", "link", "ann")
    await service.act(agreed, Consent(True))
    late = await service.arrive("pilot", "link", "bob")
    old = await service.page(late)
    change(store, replace(plan, consent="We keep your answers for ten years."))
    with pytest.raises(Refusal) as refusal:
        await service.act(late, Consent(True), shown=old.shown)
    assert refusal.value.code == "reworded"
    new = await service.page(late)
    assert isinstance(new.view, ConsentView)
    assert "ten years" in new.consent
    assert not isinstance((await service.act(late, Consent(True), shown=new.shown)).page.view, ConsentView)
    assert not isinstance((await service.page(agreed)).view, ConsentView)  # who agreed before is not asked again


@in_loop
async def test_words_of_a_question_change_and_the_answer_that_is_right_does_not(store):
    created(store, plan := grades(question=True))
    service = seeded(store, Clock(step=1.0))
    await judge_all(service, "pilot", "ann", steps=3)
    question = plan.topics[0].question
    better = replace(question, text="What is this topic about?", options=("right", "wrong!", "worse", "worst"))
    change(store, replace(plan, topics=tuple(replace(t, question=better) for t in plan.topics)))
    worse = replace(better, correct=1)
    had = store.read(lambda c: c.execute(select(assignment.c.topic_id)).scalars().all())
    assert had
    with pytest.raises(ArgumentError, match="only the words of its question can change"):
        change(store, replace(plan, topics=tuple(replace(t, question=worse) for t in plan.topics)))


@in_loop
async def test_a_lease_is_that_of_the_version_in_which_it_began(store):
    number = created(store, plan := grades(topics=1))
    clock = Clock()
    service = seeded(store, clock)
    who = await service.arrive("pilot", "link", "ann")
    old = await until(service, who, DocumentView, Random(1))
    change(store, replace(plan, lease_minutes=5.0))
    lease = select(assignment.c.lease_until).where(assignment.c.campaign_id == number)
    await service.act(who, Judge(0, "1"), shown=old.shown)
    assert store.read(lambda c: c.execute(lease).scalar_one()) == clock.now + 3600
    await service.act(who, Judge(1, "1"), shown=(await service.page(who)).shown)
    assert store.read(lambda c: c.execute(lease).scalar_one()) == clock.now + 300
    before = store.read(tables)
    store.write(lambda c: rebuild(c, "pilot"))
    assert store.read(tables) == before


# ---- what is refused

OTHERS = {
    "the protocol cannot change": lambda plan: replace(plan, settings=MagnitudeSettings(k=3), checks=False),
    "grades.scale is '0-3' and cannot become '0-4'": lambda plan: replace(plan, settings=GradesSettings("0-4", k=4)),
    "grades.k is 4 and cannot become 2": lambda plan: with_settings(plan, k=2),
    "redundancy is 1 and cannot become|grades.ask": lambda plan: with_settings(plan, ask="How good is it?"),
    "keep the order of the grades": lambda plan: with_settings(plan, labels=plan.settings.labels[::-1]),
    "journey.another is True": lambda plan: replace(plan, journey=replace(plan.journey, another=False)),
    "topic 't0' is missing": lambda plan: replace(plan, topics=plan.topics[1:]),
    "document 't0d0' is not in its pool any more": lambda plan: replace(
        plan, topics=(replace(plan.topics[0], pool=plan.topics[0].pool[1:]), *plan.topics[1:])
    ),
}


@pytest.mark.parametrize("problem", OTHERS)
def test_what_would_change_the_meaning_of_answers_is_refused_and_nothing_is_written(store, problem):
    created(store, plan := grades(redundancy=2))
    before = kept(store)
    with pytest.raises(ArgumentError, match=problem):
        change(store, OTHERS[problem](plan))
    assert kept(store) == before


@in_loop
async def test_words_of_topics_and_documents_change_as_long_as_nobody_has_had_them(store):
    created(store, plan := grades())
    said = replace(plan, topics=tuple(replace(t, narrative="In a city.") for t in plan.topics))
    said = replace(said, documents=tuple(replace(d, title="A title") for d in said.documents))
    assert len(change(store, said).documents_reworded) == 12
    service = seeded(store, Clock(step=1.0))
    who, _ = await judge_all(service, "pilot", "ann", steps=2)
    page = await service.page(who)
    assert (page.topic.narrative, {one.title for one in page.documents.values()}) == ("In a city.", {"A title"})
    with pytest.raises(ArgumentError) as refused:
        change(store, plan)
    lines = str(refused.value).splitlines()
    assert len(lines) == 1 + 4
    assert "its narrative cannot change" in lines[0]
    assert "somebody has had it" in lines[1]


def test_a_change_that_changes_nothing_is_refused_and_the_seed_of_the_folder_is_not_looked_at(store):
    created(store, plan := grades())
    with pytest.raises(ArgumentError, match="say the same"):
        change(store, replace(plan, seed=99))


def test_what_would_change_is_told_without_a_change(store):
    created(store, plan := grades())
    before = kept(store)
    changes = store.read(lambda c: planned_changes(c, with_settings(replace(plan, title="T"), redundancy=2)))
    assert [what for what, *_ in changes.reworded] == ["campaign.title", "grades.redundancy"]
    assert kept(store) == before


@in_loop
async def test_gold_questions_are_added_later_and_do_not_come_in_units_that_were_begun(store):
    created(store, plan := grades(documents=6, k=6))
    service = seeded(store, Clock(step=1.0))
    who = await service.arrive("pilot", "link", "ann")
    await until(service, who, DocumentView, Random(1))
    from qrowd.collect.campaigns.gold_questions import GoldQuestion

    golden = tuple(replace(t, gold=tuple(GoldQuestion(f"{t.label}g{i}", (1,)) for i in range(5))) for t in plan.topics)
    documents = tuple(DocumentPlan(one.document, "gold") for t in golden for one in t.gold)
    further = replace(plan, topics=golden, documents=(*plan.documents, *documents), gold=GoldSettings())
    change(store, further)
    await work(service, who, Random(1))
    rows = exported(store)
    per_unit = {one["unit"]: one for one in rows}
    assert len(per_unit) == 3
    before = store.read(tables)
    store.write(lambda c: rebuild(c, "pilot"))
    assert store.read(tables) == before
    assert exported(store, what="gold")
    with pytest.raises(ArgumentError, match="somebody has had one of them"):
        change(store, replace(further, topics=tuple(replace(t, gold=t.gold[:4]) for t in golden)))


# ---- the log is the truth


async def changed_often(store, seed):
    """A campaign that people judge while it is changed three times."""
    plan = small_plan("grades", k=2, redundancy=1, rating=False)
    created(store, plan)
    service, rng = seeded(store, Clock(step=7.0), seed), Random(seed)
    steps = [
        lambda plan: with_topic(plan, "t8", "x1", "x2", "x3"),
        lambda plan: with_settings(replace(plan, lease_minutes=2.0), redundancy=2),
        lambda plan: with_documents(replace(plan, consent="C", title="T"), "t0", "n1", "n2", "n3"),
    ]
    people = [await service.arrive("pilot", "link", f"p{i}") for i in range(4)]
    for step in [lambda plan: None, *steps]:
        if (new := step(plan)) is not None:
            plan = new
            change(store, plan, service.clock())
        for _ in range(6):
            await work(service, rng.choice(people), rng, steps=rng.randrange(1, 5))
    return plan


@pytest.mark.parametrize("seed", range(3))
@in_loop
async def test_the_tables_are_built_again_from_the_log_after_changes(store, seed):
    await changed_often(store, seed)
    before = store.read(tables)
    store.write(lambda c: rebuild(c, "pilot"))
    assert store.read(tables) == before


@in_loop
async def test_an_archive_keeps_versions_and_every_event(store, tmp_path):
    plan = await changed_often(store, 5)
    lines = kept(store)
    with open_store(tmp_path / "other.db") as other:
        created(other, grades(name="before"))  # so that numbers differ
        other.write(lambda c: read_archive(c, lines))
        assert kept(other) == lines
        for what in ("judgments", "units", "revisions"):
            rows = exported(other, what=what), exported(store, what=what)
            of_event = [[{k: v for k, v in one.items() if k not in ("id", "data")} for one in each] for each in rows]
            assert of_event[0] == of_event[1]
        version = select(campaign.c.version).where(campaign.c.name == "pilot")
        assert other.read(lambda c: c.execute(version).scalar_one()) == 4
        assert {one["version"] for one in exported(other)} >= {1, 4}
        with pytest.raises(ArgumentError, match="say the same"):
            change(other, plan)


@in_loop
async def test_an_archive_of_changed_arms_numbers_units_as_they_were(store, tmp_path):
    created(store, plan := three_arms(topics=2))
    service = seeded(store, Clock(step=1.0))
    only = replace(plan, settings={**plan.settings, "absolute": replace(plan.arms["absolute"], redundancy=3)})
    change(store, with_topic(only, "t5", "x1", "x2"))
    for i in range(5):
        await judge_all(service, "study", str(i))
    lines = kept(store, "study")
    with open_store(tmp_path / "other.db") as other:
        other.write(lambda c: read_archive(c, lines))
        assert kept(other, "study") == lines


def test_one_event_says_what_changed_and_who_did_it(store):
    number = created(store, plan := grades())
    store.write(
        lambda c: change_campaign(c, with_settings(replace(plan, title="T"), redundancy=2), 5.0, account="olga")
    )
    (last,) = [one for one in store.read(lambda c: list(events.of_campaign(c, number))) if one.kind == "changed"]
    assert (last.account, last.data["version"], last.data["slots"]) == ("olga", 2, 3)
    assert list(map(tuple, last.data["words"])) == [("campaign.title", "A pilot", "T"), ("grades.redundancy", "1", "2")]


def test_a_change_that_fails_midway_leaves_nothing(store, monkeypatch):
    created(store, plan := grades())
    before = kept(store), store.read(tables)

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("qrowd.collect.campaigns.changing.materials.change_campaign", stop)
    with pytest.raises(KeyboardInterrupt):
        change(store, with_topic(plan, "t9", "x1"))
    assert (kept(store), store.read(tables)) == before


KILLED = """
import os, signal, sys
from qrowd.collect.campaigns import changing
from qrowd.collect.campaigns.folder import read_folder
from qrowd.collect.store.engine import open_store
changing.materials.change_campaign = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
plan = read_folder(sys.argv[2])
with open_store(sys.argv[1], beside_server=True) as store:
    store.write(lambda connection: changing.change_campaign(connection, plan, 5.0))
"""


def test_a_process_that_is_killed_while_it_changes_a_campaign_leaves_it_as_it_was(tmp_path):
    write_template(tmp_path / "pilot")
    with open_store(tmp_path / "judgments.db") as store:
        created(store, read_folder(tmp_path / "pilot"))
        before = kept(store), store.read(tables)
        toml = tmp_path / "pilot" / "campaign.toml"
        toml.write_text(toml.read_text().replace("redundancy = 3", "redundancy = 5"))
        arguments = [sys.executable, "-c", KILLED, str(tmp_path / "judgments.db"), str(tmp_path / "pilot")]
        assert subprocess.run(arguments, check=False).returncode == -signal.SIGKILL
        assert (kept(store), store.read(tables)) == before
        change(store, read_folder(tmp_path / "pilot"))
        assert kept(store) != before[0]
