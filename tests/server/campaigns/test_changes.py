"""A campaign is changed after its start: what is added and corrected, and what is refused."""

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
from qrowd.errors import ArgumentError
from qrowd_server.campaigns.plan.documents import DocumentPlan
from qrowd_server.campaigns.plan.folder import read_folder
from qrowd_server.campaigns.plan.plan import TopicPlan
from qrowd_server.campaigns.plan.template import write_template
from qrowd_server.campaigns.results.archive import read_archive, write_archive
from qrowd_server.campaigns.results.exports import export_rows
from qrowd_server.campaigns.running.changes import change_campaign, planned_changes
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.protocols.events import Judge
from qrowd_server.protocols.settings import GradesSettings, MagnitudeSettings
from qrowd_server.protocols.views import DocumentView
from qrowd_server.store import event_log as events
from qrowd_server.store.engine import open_store
from qrowd_server.store.schema import slot, unit


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
    assert [(topic, len(labels)) for topic, _, labels, _ in changes.units] == [("t1", 2), ("t9", 3), ("t9", 2)]
    assert exported(store)[: len(before)] != []
    assert [one["document"] for one in before] == [one["document"] for one in exported(store)]
    _, _page = await judge_all(service, "pilot", "ann")  # nobody gets a topic twice, so ann gets one unit of t9
    await judge_all(service, "pilot", "bob")
    await judge_all(service, "pilot", "cem")
    judged = [(one["topic"], one["document"]) for one in exported(store)]
    assert sorted(judged) == sorted((t.label, label) for t in larger.topics for label in t.pool)


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


# ---- what is refused

OTHERS = {
    "the protocol cannot change": lambda plan: replace(plan, settings=MagnitudeSettings(k=3), checks=False),
    "grades.scale cannot change": lambda plan: replace(plan, settings=GradesSettings("0-4", k=4)),
    "grades.k cannot change": lambda plan: with_settings(plan, k=2),
    "grades.redundancy can only become larger": lambda plan: with_settings(plan, redundancy=1),
    "grades.ask cannot change": lambda plan: with_settings(plan, ask="How good is it?"),
    "grades.labels cannot change": lambda plan: with_settings(plan, labels=plan.settings.labels[::-1]),
    "journey cannot change": lambda plan: replace(plan, journey=replace(plan.journey, another=False)),
    "consent cannot change": lambda plan: replace(plan, consent="Another consent."),
    "lease_minutes cannot change": lambda plan: replace(plan, lease_minutes=5.0),
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
    assert changes.lines == ["2 assessors of each unit, not 1", "title: another text"]
    assert kept(store) == before


@in_loop
async def test_a_changed_campaign_is_rebuilt_and_archived_as_it_is(store, tmp_path):
    created(store, plan := grades())
    service = seeded(store, Clock(step=1.0))
    await judge_all(service, "pilot", "ann", steps=4)
    change(store, with_settings(with_topic(with_documents(plan, "t1", "n1"), "t9", "x1", "x2"), redundancy=2))
    await judge_all(service, "pilot", "bob", steps=20)
    before = store.read(tables)
    store.write(lambda c: rebuild(c, "pilot"))
    assert store.read(tables) == before
    lines = kept(store)
    with open_store(tmp_path / "other.db") as other:
        other.write(lambda c: read_archive(c, lines))
        assert kept(other) == lines


@in_loop
async def test_pages_of_before_a_change_are_still_answered(store):
    created(store, plan := grades())
    service = seeded(store, Clock(step=1.0))
    who = await service.arrive("pilot", "link", "ann")
    old = await until(service, who, DocumentView, Random(1))
    change(store, replace(plan, title="Another title"))
    await service.act(who, Judge(old.view.position, "2"), shown=old.shown)
    assert (await service.page(who)).title == "Another title"
    assert [one["raw"] for one in exported(store)] == ["2"]


def test_one_event_says_what_changed_and_who_did_it(store):
    number = created(store, plan := grades())
    store.write(
        lambda c: change_campaign(c, with_settings(replace(plan, title="T"), redundancy=2), 5.0, account="olga")
    )
    (last,) = [one for one in store.read(lambda c: list(events.of_campaign(c, number))) if one.kind == "changed"]
    assert last.account == "olga"
    assert list(last.data["lines"]) == ["2 assessors of each unit, not 1", "title: another text"]


def test_a_change_that_fails_midway_leaves_nothing(store, monkeypatch):
    created(store, plan := grades())
    before = kept(store), store.read(tables)

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("qrowd_server.campaigns.running.changes.materials.change_campaign", stop)
    with pytest.raises(KeyboardInterrupt):
        change(store, with_topic(plan, "t9", "x1"))
    assert (kept(store), store.read(tables)) == before


KILLED = """
import os, signal, sys
from qrowd_server.campaigns.running import changes
from qrowd_server.campaigns.plan.folder import read_folder
from qrowd_server.store.engine import open_store
changes.materials.change_campaign = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
plan = read_folder(sys.argv[2])
with open_store(sys.argv[1], beside_server=True) as store:
    store.write(lambda connection: changes.change_campaign(connection, plan, 5.0))
"""


@pytest.mark.nightly
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
