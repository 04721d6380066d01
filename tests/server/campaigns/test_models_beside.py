"""Models beside people: in places of their own, whatever their servers answer, and nobody waits for them."""

import asyncio
import json
from random import Random

import pytest

from judge.failing_server import CASES, Failing, always, said, text_of
from judge.model_server import ModelServer, Response, completion
from judging import NOW, Clock, created, seeded, small_plan, tables, until, work
from qrowd.judge import AskOptions, ChatModel, FunctionModel, running
from qrowd.judge.asking import answers_in
from qrowd.judge.exchange import Reply
from qrowd_server.campaigns.results.campaign_progress import progress
from qrowd_server.campaigns.results.exports import export_rows
from qrowd_server.campaigns.results.quality import quality
from qrowd_server.campaigns.running.campaign_settings import find
from qrowd_server.campaigns.running.collected import judgments
from qrowd_server.campaigns.running.models import ask_in_campaign
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.protocols.events import GoOn
from qrowd_server.protocols.views import DocumentView
from qrowd_server.store import event_log as events
from server.soak.checks import violations

RUBBISH = CASES | {
    "another_unit": said('{"grade": 2, "document": "t9d9", "unit": "t9/0"}'),
    "letter": said('{"grade": "A"}'),
    "half_json": said('{"grade": '),
    "million": said("x" * 1_000_000),
    "latin": always(Response(completion("ü @").body.decode().encode("utf-16"))),
    "not_utf": always(Response(b'{"choices": [{"message": {"content": "\xff\xfe"}}]}')),
}
KINDS = {
    "magnitude": {"protocol": "magnitude", "k": 4, "redundancy": 3},
    "grades": {"protocol": "grades", "k": 2, "documents": 5, "redundancy": 2},
    "preference": {"protocol": "preference", "redundancy": 2},
    "together": {"protocol": "preference", "redundancy": 3, "sharing": "shared", "documents": 5, "stop": False},
}


@pytest.fixture
def local(opened, tmp_path):
    """A store in SQLite."""
    return opened(tmp_path / "judgments.db")


def people(service, n, steps=1000, first=0):
    async def come_and_work():
        for i in range(first, first + n):
            await work(service, await service.arrive("pilot", "link", f"person-{i}"), Random(i), steps)

    asyncio.run(come_and_work())


def rows_of(store, what, **options):
    with store.reading() as connection:
        lines = b"".join(export_rows(connection, "pilot", what, "jsonl", **options)).splitlines()
    return [json.loads(line) for line in lines]


def seen(store, at=NOW):
    return store.read(lambda connection: progress(connection, "pilot", at))


def sensible(request):
    text = request.messages[-1].content
    if '{"preferred": "A"}' in text:
        return '{"preferred": "A"}'
    return '{"grade": 2}' if '"grade": G' in text else json.dumps({"reason": "so", "1": 9 if "d0." in text else 2})


def test_whatever_rubbish_a_model_answers_people_finish_the_campaign_and_every_count_is_right(
    local, tmp_path, monkeypatch
):
    monkeypatch.setattr(running, "FIRST_WAIT", 0.01)
    monkeypatch.setattr("judge.failing_server.CASES", RUBBISH)
    names = list(RUBBISH)
    plan = small_plan("grades", topics=12, documents=-(-len(names) // 12), k=8, redundancy=2)
    texts = [type(one)(one.label, text_of(i % len(names))) for i, one in enumerate(plan.documents)]
    created(local, type(plan)(**{**vars(plan), "documents": tuple(texts)}))
    service = seeded(local, clock=Clock(step=30.0))
    people(service, 1)
    with ModelServer(Failing()) as served:
        model = ChatModel(served.url, "rubbish", timeout=0.5)
        done = ask_in_campaign(
            local, "pilot", model, record=tmp_path / "r", max_failures=99, options=AskOptions(concurrency=32)
        )
        assert {name for name in names if f"case {name} " in "".join(served.contents)} == set(names)
    people(service, 1, first=1)

    now = seen(local)
    assert (now.completed, now.open, now.free, now.is_complete) == (now.slots, 0, 0, True)
    assert (now.assessors, now.models_in_words) == ({"finished": 2}, "Models: 1 stopped.")
    units = rows_of(local, "units")
    assert {row["status"] for row in units if row["kind"] == "person"} == {"completed"}
    assert {row["status"] for row in units if row["kind"] == "model"} == {"completed", "expired"}

    model, work_done = "rubbish+campaign", done.models[0]
    rows = [row for row in rows_of(local, "judgments", everything=True) if row["assessor"] == model]
    with local.reading() as connection:
        shown = {one.name: one for one in quality(connection, "pilot").assessors}[model]
        log = [one for one in events.of_campaign(connection, find(connection, "pilot").id) if one.kind == "unanswered"]
        notes = judgments(connection, "pilot").notes
    assert shown.answers == work_done.answers == len(rows) > 0
    assert {row["seconds"] for row in rows} == {shown.seconds} == {None}, "people alone have reading times"
    assert all(row["seconds"] for row in rows_of(local, "judgments") if row["kind"] == "person")
    assert {row["value"] for row in rows} <= {0.0, 1.0, 2.0, 3.0}
    said_of = {one.question.documents[0]: one.values for one in answers_in(tmp_path / "r").outcomes if one.values}
    assert {row["document"]: (row["value"],) for row in rows}.items() <= said_of.items()
    assert shown.unanswered == done.unanswered[model]
    assert shown.unanswered.startswith(f"replies without an answer: {len(log)} (")
    assert f"campaign pilot: {model}: {shown.unanswered}" in notes
    assert not local.read(violations)
    before = local.read(tables)
    local.write(lambda connection: rebuild(connection, "pilot"))
    assert local.read(tables) == before


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.nightly] * (kind != "together")) for kind in KINDS]
)
def test_people_get_the_same_units_and_pairs_whether_a_model_judges_beside_them_or_not(opened, tmp_path, kind):
    what = "judgments" if kind in ("magnitude", "grades") else "preferences"
    seen_by_people = []
    for name in ("without", "with"):
        store = opened(tmp_path / f"{name}.db")
        created(store, small_plan(**KINDS[kind]))
        service = seeded(store, clock=Clock(step=30.0))
        people(service, 2, steps=5)
        if name == "with":
            done = ask_in_campaign(store, "pilot", FunctionModel(sensible, "small"), record=tmp_path / "r")
            assert (done.models[0].completed, done.models[0].ended) == (3, "no unit is left for it")
        people(service, 4)
        rows = rows_of(store, what, everything=True)
        seen_by_people.append([row for row in rows if row["kind"] == "person"])
        assert {row["kind"] for row in rows} == ({"person", "model"} if name == "with" else {"person"})
        assert not store.read(violations)
    assert seen_by_people[0] == seen_by_people[1] != []
    before = store.read(tables)
    store.write(lambda connection: rebuild(connection, "pilot"))
    assert store.read(tables) == before


def test_models_take_places_of_people_only_where_the_owner_says_so(local, tmp_path):
    created(local, small_plan("grades", k=4, redundancy=2))
    model = FunctionModel(sensible, "small")
    ask_in_campaign(local, "pilot", model, record=tmp_path / "r")
    assert (seen(local).completed, seen(local).free) == (0, 6)
    ask_in_campaign(local, "pilot", FunctionModel(sensible, "large"), record=tmp_path / "r", instead=True)
    assert (seen(local).completed, seen(local).free) == (3, 3)
    people(seeded(local, clock=Clock(step=30.0)), 2)
    assert (seen(local).completed, seen(local).is_complete) == (6, True)
    assert {(row["kind"], row["assessor"]) for row in rows_of(local, "judgments")} == {
        ("model", "small+campaign"), ("model", "large+campaign"), ("person", "a1"),
    }  # fmt: skip


@pytest.mark.parametrize("instead", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_the_next_command_judges_the_units_in_which_the_server_had_failed(store, tmp_path, monkeypatch, instead):
    created(store, small_plan("preference", topics=4, redundancy=1))
    monkeypatch.setattr(running, "FIRST_WAIT", 0)
    broken, options = {"is": True}, {"record": tmp_path / "r", "instead": instead}
    model = FunctionModel(
        lambda request: Reply(error="HTTP 500", http_status=500) if broken["is"] else sensible(request), "small"
    )
    first = ask_in_campaign(store, "pilot", model, **options)
    assert first.models[0].ended.startswith("3 units in a row failed")
    assert (seen(store, 1e12).models_in_words, seen(store).open) == ("Models: 1 stopped.", 0)
    broken["is"] = False
    then = ask_in_campaign(store, "pilot", model, **options)
    assert (then.models[0].completed, then.models[0].ended) == (4, "no unit is left for it")
    assert then.unanswered == first.unanswered == {"small+campaign": "replies without an answer: 3 (3 error)"}
    assert seen(store, 1e12).models_in_words == "Models: 1 finished."
    assert {row["status"] for row in rows_of(store, "units")} == {"completed"}
    assert not store.read(violations)
    before = store.read(tables)
    store.write(lambda connection: rebuild(connection, "pilot"))
    assert store.read(tables) == before


def test_a_campaign_is_not_complete_while_a_model_is_at_work_and_one_whose_lease_is_over_has_stopped(local):
    created(local, small_plan("grades", k=4, redundancy=1))
    service = seeded(local, clock=Clock(step=1.0))

    async def begin():
        model = await service.arrive("pilot", "model", "small")
        await service.act(model, GoOn())
        return await until(service, model, DocumentView, Random(1))

    assert isinstance(asyncio.run(begin()).view, DocumentView)
    people(service, 1)
    now, later = seen(local, service.clock.now), seen(local, service.clock.now + 3600)
    assert (now.completed, now.slots, now.is_complete, now.models_in_words) == (3, 3, False, "Models: 1 judging.")
    assert (later.is_complete, later.models_in_words) == (True, "Models: 1 stopped.")
    assert now.waiting == later.waiting == ""
