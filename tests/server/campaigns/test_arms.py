"""A campaign with several arms: how it is described, refused, exported and counted."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from judging import Clock, created, seeded, three_arms, work
from qrowd.errors import ArgumentError, FileError
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd_server.campaigns.plan.folder import read_folder
from qrowd_server.campaigns.plan.plan_tables import plan_from_table, table_from_plan
from qrowd_server.campaigns.results.campaign_progress import progress
from qrowd_server.campaigns.results.exports import export_rows
from qrowd_server.campaigns.results.quality import quality
from qrowd_server.campaigns.running import collected
from qrowd_server.campaigns.running.campaign_settings import NotFoundError, find, read_settings
from qrowd_server.campaigns.running.creation import plan_of
from qrowd_server.protocols.protocol import Question
from qrowd_server.protocols.setting_fields import SchemaError
from qrowd_server.protocols.settings import GradesSettings, MagnitudeSettings, PreferenceSettings
from qrowd_server.protocols.views import LineView
from qrowd_server.store.base import Store
from qrowd_server.store.engine import open_store

ARMS = {"absolute": "grades", "preference": "preference", "degrees": "preference"}

# ---- the design


def test_a_plan_with_arms_is_read_from_its_own_table():
    plan = three_arms()
    assert plan_from_table(json.loads(json.dumps(table_from_plan(plan)))) == plan
    assert repr(plan) == (
        "Plan(study, absolute (grades), preference (preference), degrees (preference): 3 topics, 6 documents)"
    )


def with_arms(**arms):
    table = table_from_plan(three_arms())
    return table | {"arms": arms}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (with_arms(one={"grades": {}}), "arms: there are fewer than two; add another"),
        (
            with_arms(one={"grades": {}}, two={}),
            "arms.two: has the tables of 0 protocols; give it one of magnitude, gra",
        ),
        (
            with_arms(one={"grades": {}, "preference": {}}, two={"grades": {}}),
            "arms.one: has the tables of 2 protocols",
        ),
        (
            with_arms(one={"grades": {"scale": "0-x"}}, two={"grades": {}}),
            "arms.one.grades.scale: '0-x' cannot be used",
        ),
        (
            with_arms(one={"likert": {}}, two={"grades": {}}),
            "arms.one.likert: there is no such key; choose from magnitude",
        ),
        (with_arms(**{"A/B": {"grades": {}}, "two": {"grades": {}}}), "arms: 'A/B' cannot be used; name an arm by a-z"),
        (with_arms() | {"arms": {}, "grades": None}, "campaign.protocol: is missing"),
        (
            with_arms(one={"grades": {}}, two={"grades": {}}) | {"grades": {}},
            "grades: each of the arms has its own settings; remove it, or put it into an arm",
        ),
        (with_arms(one={"grades": {}}, two={"magnitude": {}}), "topics[0].checks: are missing"),
        (with_arms(one={"grades": {"redundancy": 900_000}}, two={"grades": {}}), "arms.one.grades.redundancy: 2700000"),
    ],
)
def test_arms_that_cannot_work_are_refused_by_name(table, message):
    with pytest.raises(SchemaError) as refused:
        plan_from_table(table)
    assert str(refused.value).startswith(message)


STUDY = """[campaign]
name = "study"
seed = 7

[arms.absolute.grades]
scale = "0-4"

[arms.preference.preference]
definitely = false

[arms.degrees.preference]
definitely = true
"""


def folder(path: Path, toml: str = STUDY) -> Path:
    (path / "campaign.toml").write_text(toml)
    (path / "topics.tsv").write_text("t1\tbread\nt2\tbees\n")
    (path / "pool.txt").write_text("t1 d1\nt1 d2\nt2 d1\nt2 d2\n")
    (path / "documents.jsonl").write_text('{"docid": "d1", "text": "one"}\n{"docid": "d2", "text": "two"}\n')
    return path


def test_one_design_file_describes_all_arms(tmp_path):
    plan = read_folder(folder(tmp_path))
    assert list(plan.arms) == list(ARMS)
    absolute, preference, degrees = plan.arms.values()
    assert isinstance(absolute, GradesSettings)
    assert absolute.scale == "0-4"
    assert isinstance(preference, PreferenceSettings)
    assert isinstance(degrees, PreferenceSettings)
    assert (preference.definitely, degrees.definitely) == (False, True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('scale = "0-4"', 'scale = "4"', "campaign.toml, line 6: arms.absolute.grades.scale: '4' cannot be used"),
        (
            "definitely = true",
            "definetly = true",
            "campaign.toml, line 12: arms.degrees.preference.definetly: there is no",
        ),
        ("[arms.degrees.preference]", "[arms.degrees]", "campaign.toml, line 12: arms.degrees.definitely: there is no"),
    ],
)
def test_a_fault_in_an_arm_is_named_by_its_line(tmp_path, old, new, message):
    with pytest.raises(FileError) as refused:
        read_folder(folder(tmp_path, STUDY.replace(old, new)))
    assert str(refused.value).startswith(message)


def test_magnitudes_among_the_arms_bring_their_practice_and_their_check_documents(tmp_path):
    plan = three_arms(documents=4)
    topics = tuple(replace(t, checks=t.pool[:2], question=Question("What?", ("a", "b"), 0)) for t in plan.topics)
    arms = {**plan.arms, "magnitudes": MagnitudeSettings(k=4, redundancy=2, min_seconds=0)}
    plan = replace(plan, settings=arms, topics=topics, journey=replace(plan.journey, practice=True))
    with open_store(tmp_path / "judgments.db") as store:
        created(store, plan)
        service = seeded(store, Clock(step=1.0))

        async def study():
            crowd = [await service.arrive("study", "link", f"person-{i}") for i in range(8)]
            for i, one in enumerate(crowd):
                assert isinstance((await service.page(one)).view, LineView)
                await work(service, one, Random(i))

        asyncio.run(study())
        plain = replace(three_arms(name="plain"), instructions="Read.")
        created(store, plain)
        assert store.read(lambda c: plan_of(c, 2)).instructions == "Read."
        texts = store.read(lambda c: read_settings(find(c, "study"))).arms
        assert "number" in texts["magnitudes"].instructions
        assert {texts[arm].instructions for arm in ARMS} == {""}
        done = {one.arm for one in store.read(lambda c: progress(c, "study", 2e9)).topics if one.completed}
        assert done == {*ARMS, "magnitudes"}


# ---- what has been collected


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The study, judged to its end by six assessors."""
    with open_store(tmp_path_factory.mktemp("arms") / "judgments.db") as store:
        created(store, three_arms(documents=3))
        service = seeded(store, Clock(step=1.0))

        async def study() -> None:
            for i in range(6):
                await work(service, await service.arrive("study", "link", f"person-{i}"), Random(i))

        asyncio.run(study())
        yield store


def lines(store: Store, name: str, what: str, **options) -> list[dict]:
    content = store.read(lambda c: b"".join(export_rows(c, name, what, "jsonl", **options)))
    return [json.loads(line) for line in content.splitlines()]


def test_a_table_of_all_arms_is_the_tables_of_the_arms_with_their_names(store):
    for what in ("preferences", "judgments", "units"):
        arms = [
            arm for arm, protocol in ARMS.items() if what == "units" or (protocol == "grades") == (what == "judgments")
        ]
        parts = [row for arm in arms for row in lines(store, f"study/{arm}", what)]
        rows = lines(store, "study", what)
        assert sorted(map(repr, rows)) == sorted(map(repr, parts))
        assert {row["arm"] for row in rows} == set(arms)
    assert lines(store, "study/degrees", "preferences", everything=True)[0]["counted"] is True


@pytest.mark.parametrize(
    ("name", "what", "format", "message"),
    [
        ("study/other", "judgments", "csv", "study: there is no arm 'other'; it has absolute, preference, degrees"),
        ("study/", "judgments", "csv", "study: there is no arm ''; it has absolute, preference, degrees"),
        (
            "study/absolute",
            "preferences",
            "csv",
            "study/absolute: it has no preferences; choose one of judgments, units",
        ),
        ("study/absolute", "archive", "jsonl", "study/absolute: archive are of whole campaigns; ask for study"),
    ],
)
def test_what_no_arm_or_several_arms_could_be_meant_by_is_refused(store, name, what, format, message):
    with pytest.raises(ArgumentError) as refused:
        store.read(lambda c: b"".join(export_rows(c, name, what, format)))
    assert str(refused.value).startswith(message)


def test_the_library_reads_the_arm_that_is_meant(store):
    read = collected.collected
    assert isinstance(store.read(lambda c: read(c, "study", wanted="judgments")), Judgments)
    assert isinstance(store.read(lambda c: read(c, "study/degrees")), Preferences)
    assert {*store.read(lambda c: read(c, "study/degrees")).strength.tolist()} >= {1, 2}
    assert {*store.read(lambda c: read(c, "study/preference")).strength.tolist()} == {1}
    for options in ({}, {"wanted": "preferences"}):
        with pytest.raises(ArgumentError, match=r"study has several arms; choose one of study/.*, study/degrees"):
            store.read(lambda c: read(c, "study", **options))  # noqa: B023
    with pytest.raises(NotFoundError, match="study: there is no arm 'grades'"):
        store.read(lambda c: read(c, "study/grades"))


def test_progress_counts_each_topic_in_each_arm(store):
    p = store.read(lambda c: progress(c, "study", 2e9))
    assert (p.protocol, p.arms, p.slots, p.completed) == ("", ARMS, 18, 18)
    assert [(one.arm, one.label) for one in p.topics] == [(arm, f"t{t}") for arm in ARMS for t in range(3)]
    n_judgments, n_pairs = Counter(), Counter()
    for row in lines(store, "study", "judgments"):
        n_judgments[row["arm"], row["topic"]] += 1
    for what in ("preferences", "duplicates"):
        for row in lines(store, "study", what):
            n_pairs[row["arm"], row["topic"]] += 1  # a Bad mark, too
    for one in p.topics:
        assert (one.slots, one.completed, one.documents) == (2, 2, 3)
        assert one.answers == (n_judgments if one.arm == "absolute" else n_pairs)[one.arm, one.label]
        assert (one.least, one.most) == ((2, 2) if one.arm == "absolute" else (None, None))


def test_quality_is_of_one_arm(store):
    with pytest.raises(ArgumentError, match="study has several arms; choose one of study/absolute"):
        store.read(lambda c: quality(c, "study"))
    for arm, protocol in ARMS.items():
        q = store.read(lambda c: quality(c, f"study/{arm}", bootstrap=0))  # noqa: B023
        assert (q.arm, q.protocol) == (arm, protocol)
        assert [one.completed for one in q.assessors] == [1] * 6
        assert (q.alpha is None) == (protocol == "preference")
