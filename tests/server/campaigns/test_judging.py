"""The service: nothing is lost, nothing happens twice, nobody gets what is not theirs. On SQLite and on PostgreSQL."""

import asyncio
import json
from random import Random

import pytest
from sqlalchemy import func, select

from judging import Clock, count, created, seeded, small_plan, tables, until, work
from qrowd.errors import ArgumentError, RowError
from qrowd_server.campaigns.results.archive import read_archive, write_archive
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.campaigns.running.campaign_settings import NotFoundError
from qrowd_server.campaigns.running.collected import collected, judgment_rows, judgments
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.protocols.events import Consent, GoOn, Judge, MarkBad, Prefer, Refusal
from qrowd_server.protocols.views import (
    DocumentView,
    EndView,
    ExcludedView,
    LostView,
    NoneLeftView,
    PairView,
    PausedView,
    PauseView,
    RatingView,
)
from qrowd_server.store import answer_rows as answers
from qrowd_server.store import event_log as events
from qrowd_server.store.base import StoreFullError
from qrowd_server.store.engine import open_store
from qrowd_server.store.schema import assignment, bad_mark, event, gold_answer, judgment, pair_lease, preference, slot

PLANS = {
    "magnitude": {"protocol": "magnitude", "k": 4, "redundancy": 2, "min_seconds": 0, "question": True},
    "grades": {"protocol": "grades", "k": 2, "redundancy": 3, "question": True},
    "preference": {"protocol": "preference", "redundancy": 3, "question": True},
    "together": {"protocol": "preference", "redundancy": 3, "sharing": "shared", "documents": 6, "stop": False},
    "in pairs": {"protocol": "preference", "redundancy": 4, "sharing": "shared", "pair_redundancy": 2, "stop": False},
}
SHARED = ("together", "in pairs")
EVERY = [pytest.param(kind, marks=[pytest.mark.nightly] * (kind in (*SHARED, "magnitude"))) for kind in PLANS]
JOURNEY = {"consent": True, "practice": True, "practice_each_unit": True, "practice_restart": True}


def people(service, n, campaign="pilot"):
    async def come():
        return [await service.arrive(campaign, "link", f"person-{i}") for i in range(n)]

    return asyncio.run(come())


# ---- the log is the truth


@pytest.mark.parametrize("kind", EVERY)
def test_the_tables_are_what_the_log_adds_up_to(store, kind):
    created(store, small_plan(**PLANS[kind], journey=JOURNEY))
    service = seeded(store, clock=Clock(step=7.0))
    crowd = people(service, 5)

    async def all_at_once():
        await asyncio.gather(*(work(service, one, Random(i), 18) for i, one in enumerate(crowd)))
        await CampaignAdmin(store, clock=service.clock).exclude("pilot", "person-1", "too fast")
        await CampaignAdmin(store, clock=service.clock).exclude("pilot", "person-2", "too fast")
        await CampaignAdmin(store, clock=service.clock).reinstate("pilot", "person-2")
        await CampaignAdmin(store, clock=service.clock).reset("pilot", "person-3")
        await asyncio.gather(*(work(service, one, Random(9), 12) for one in crowd[3:]))

    asyncio.run(all_at_once())
    found = store.read(tables)
    assert found["assignment"]
    assert found["preference" if "preference" in PLANS[kind]["protocol"] else "judgment"]
    n = store.write(lambda connection: rebuild(connection, "pilot"))
    assert n == store.read(lambda connection: count(connection, select(func.count()).select_from(event)))
    assert store.read(tables) == found
    for one in crowd:
        assert store.read(lambda connection, one=one: answers.count_answers(connection, one)) == store.read(
            lambda connection, one=one: counted_one_by_one(connection, one)
        )


@pytest.mark.parametrize("sharing", ["shared", "own"])
def test_a_pair_on_a_page_is_held_on_the_board_of_its_unit_or_assignment_also_after_rebuilding(store, sharing):
    created(store, small_plan("preference", topics=1, documents=8, redundancy=3, sharing=sharing, stop=False))
    service = seeded(store, clock=Clock(step=7.0))
    crowd = people(service, 3)
    views = {one: asyncio.run(until(service, one, PairView, Random(i))).view for i, one in enumerate(crowd)}
    units = store.read(lambda c: c.execute(select(assignment.c["assessor_id", "unit_id", "id"])).all())
    boards = {who: (unit if sharing == "shared" else id, id) for who, unit, id in units}
    expected = {(*sorted((views[one].left, views[one].right)), *boards[one]) for one in crowd}
    columns = pair_lease.c["low_id", "high_id", "board", "assignment_id"]

    def held():
        return {tuple(row) for row in store.read(lambda c: c.execute(select(columns)).all())}

    assert held() == expected
    store.write(lambda connection: rebuild(connection, "pilot"))
    assert held() == expected


def counted_one_by_one(connection, assessor):
    """(given, not "cannot tell", counting): a slow count of `count_answers`."""
    given = told = counts = 0
    for table in (judgment, preference, bad_mark, gold_answer):
        for row in connection.execute(select(table)).mappings():
            unit = connection.execute(select(assignment).where(assignment.c.id == row["assignment_id"])).one()
            if unit.assessor_id == assessor:
                given += 1
                told += row.get("value", row.get("is_right", 0)) is not None
                counts += unit.counts
    return given, told, counts


@pytest.mark.parametrize("kind", ["magnitude", pytest.param("together", marks=pytest.mark.nightly)])
def test_a_campaign_in_another_database_is_the_same_campaign(store, opened, tmp_path, kind):
    created(store, small_plan(**PLANS[kind]))
    service = seeded(store, clock=Clock(step=7.0))
    for i, one in enumerate(people(service, 3)):
        asyncio.run(work(service, one, Random(i), 12))
    lines = store.read(lambda connection: list(write_archive(connection, "pilot")))
    other = opened(tmp_path / "other.db")
    created(other, small_plan("grades", name="before"))  # so that numbers differ
    assert other.write(lambda connection: read_archive(connection, lines)) == "pilot"
    assert other.read(lambda connection: list(write_archive(connection, "pilot"))) == lines
    there = other.read(lambda connection: collected(connection, "pilot")).to_frame()
    assert there.equals(store.read(lambda connection: collected(connection, "pilot")).to_frame())
    with pytest.raises(ArgumentError, match="taken"):
        other.write(lambda connection: read_archive(connection, lines))


def test_an_archive_of_something_else_is_refused_with_its_line(store):
    with pytest.raises(RowError, match="row 1: this is not a campaign's archive"):
        store.write(lambda connection: read_archive(connection, [b'{"format": "other"}']))
    created(store, small_plan("grades"))
    lines = store.read(lambda connection: list(write_archive(connection, "pilot")))
    renamed = lines[0].replace(b'"pilot"', b'"again"')
    with pytest.raises(RowError, match="row 2: time: is missing"):
        store.write(lambda connection: read_archive(connection, [renamed, b'{"kind": "judged"}']))
    with pytest.raises(RowError, match="row 2: expected a JSON object"):
        store.write(lambda connection: read_archive(connection, [renamed, b"nonsense"]))


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The lines of a campaign of grades in which somebody has judged."""
    with open_store(tmp_path_factory.mktemp("archive") / "judgments.db") as store:
        created(store, small_plan("grades"))
        service = seeded(store, clock=Clock(step=7.0))
        (ann,) = people(service, 1)
        asyncio.run(work(service, ann, Random(1), 10))
        return store.read(lambda connection: list(write_archive(connection, "pilot")))


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("judged", {"data": {"position": 0}}, "data.text: is missing"),
        ("judged", {"assessor_id": 5}, "assessor_id: this assessor has not arrived in any line before"),
        ("judged", {"assignment_id": 5}, "assignment_id: this assignment has not begun in any line before"),
        ("judged", {"unit": ["t9", 0]}, r"unit\[0\]: the campaign of line 1 has no topic 't9'"),
        ("judged", {"late": True}, "late: only events of the kind late_action are late"),
        (
            "assigned",
            {"data": {"slot": 0, "topic": "t9", "seed": 1}},
            "data.topic: the campaign of line 1 has no topic",
        ),
        ("assigned", {"unit": None}, "unit: is missing"),
    ],
)
def test_a_damaged_line_of_an_archive_is_refused_with_its_number_and_key(store, archive, kind, changes, message):
    rows = [json.loads(line) for line in archive[1:]]
    place = next(i for i, row in enumerate(rows) if row["kind"] == kind)
    rows[place] |= changes
    with pytest.raises(RowError, match=f"row {place + 2}: {message}"):
        store.write(lambda connection: read_archive(connection, [archive[0], *map(json.dumps, rows)]))


# ---- what is kept of whom


def test_of_who_declines_the_log_keeps_the_arrival_and_the_refusal_and_nothing_else(store):
    created(store, small_plan("grades", journey={"consent": True}))
    service = seeded(store, clock=Clock(step=1.0))
    (ann,) = people(service, 1)
    asyncio.run(service.act(ann, Consent(False)))
    assert asyncio.run(service.page(ann)).view == EndView("declined")
    log = [one for one in store.read(lambda c: list(events.of_campaign(c, 1))) if one.assessor_id == ann]
    assert [one.kind for one in log] == ["arrived", "declined"]
    assert set(log[0].data) == {"name", "provider", "external_id", "seed", "about", "pseudonym"}
    assert (log[0].data["name"], dict(log[1].data)) == ("person-0", {})


@pytest.mark.parametrize(("provider", "named"), [("link", True), ("api", True), ("panel", False)])
def test_a_page_says_whether_its_assessor_was_invited_by_name(store, provider, named):
    created(store, small_plan("grades", journey={"consent": True}))
    service = seeded(store, clock=Clock(step=1.0))

    async def come():
        return await service.page(await service.arrive("pilot", provider, "zoe"))

    page = asyncio.run(come())
    assert (page.name, page.named) == ("zoe", named)
    assert not asyncio.run(service.preview("pilot")).named


# ---- once and only once


def test_a_form_that_is_sent_again_does_nothing_twice_and_is_acknowledged_again(store):
    created(store, small_plan("grades", redundancy=1, k=4))
    service = seeded(store, clock=Clock(step=1.0))
    (ann,) = people(service, 1)

    async def twice():
        await service.act(ann, GoOn())
        page = await service.page(ann)
        answer = Judge(0, "2", "why")
        first = await service.act(ann, answer, shown=page.shown, key=page.key)
        same = await asyncio.gather(*(service.act(ann, answer, shown=page.shown, key=page.key) for _ in range(5)))
        assert {(one.event_id, one.time, one.replayed) for one in same} == {(first.event_id, first.time, True)}
        with pytest.raises(Refusal, match="another answer") as refused:
            await service.act(ann, Judge(0, "3", "why"), shown=page.shown, key=page.key)
        assert refused.value.code == "changed"

    asyncio.run(twice())
    assert store.read(lambda connection: count(connection, select(func.count()).select_from(judgment))) == 1
    kinds = store.read(lambda connection: [one.kind for one in events.of_campaign(connection, 1)])
    assert kinds.count("judged") == 1


def test_two_equal_forms_at_the_same_time_are_one_answer(store):
    created(store, small_plan("grades", redundancy=1, k=4))
    service = seeded(store, clock=Clock(step=1.0))
    (ann,) = people(service, 1)

    async def at_once():
        await service.act(ann, GoOn())
        page = await service.page(ann)
        return await asyncio.gather(
            *(service.act(ann, Judge(0, "1"), shown=page.shown, key=page.key) for _ in range(8))
        )

    receipts = asyncio.run(at_once())
    assert len({receipt.event_id for receipt in receipts}) == 1
    assert [receipt.replayed for receipt in receipts].count(False) == 1


def test_a_refused_action_leaves_no_trace_and_its_form_may_be_mended(store):
    created(store, small_plan("magnitude", k=4, redundancy=1, min_seconds=0))
    service = seeded(store, clock=Clock(step=1.0))
    (ann,) = people(service, 1)

    async def mend():
        await service.act(ann, GoOn())
        page = await service.page(ann)
        before = store.read(tables)
        for text in ("0", "-1", "many", "1e999"):
            with pytest.raises(Refusal):
                await service.act(ann, Judge(0, text, "why"), shown=page.shown, key=page.key)
        assert store.read(tables) == before
        await service.act(ann, Judge(0, "0,5", "why"), shown=page.shown, key=page.key)
        assert (await service.page(ann)).view.position == 1

    asyncio.run(mend())


def test_nothing_stays_of_what_could_not_be_saved(store, monkeypatch):
    created(store, small_plan("preference", redundancy=2, sharing="shared", stop=False))
    service = seeded(store, clock=Clock(step=1.0))
    ann, bob = people(service, 2)

    async def fail_once():
        for one in (ann, bob):
            await until(service, one, PairView, Random(0))
        page = await service.page(ann)
        real, before = store.write_async, store.read(tables)

        async def full(work):
            def undone(connection):
                work(connection)
                raise StoreFullError("the disk is full")

            return await real(undone)

        monkeypatch.setattr(store, "write_async", full)
        with pytest.raises(StoreFullError):
            await service.act(ann, Prefer(page.view.pair, "left"), shown=page.shown, key=page.key)
        monkeypatch.setattr(store, "write_async", real)
        assert store.read(tables) == before
        receipt = await service.act(ann, Prefer(page.view.pair, "left"), shown=page.shown, key=page.key)
        assert not receipt.replayed
        await asyncio.gather(work(service, ann, Random(1), 60), work(service, bob, Random(2), 60))

    asyncio.run(fail_once())
    found = store.read(tables)
    store.write(lambda connection: rebuild(connection, "pilot"))
    assert store.read(tables) == found


# ---- who gets what


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.nightly] * (kind in ("magnitude", "preference", "in pairs")))
        for kind in PLANS
    ],
)
def test_no_unit_is_judged_more_often_than_wanted_and_no_topic_twice_by_anybody(store, kind):
    created(store, small_plan(**PLANS[kind] | {"question": False}, campaign={"lease_minutes": 1}))
    service = seeded(store, clock=Clock(step=3.0))  # somebody always dawdles beyond the lease
    crowd = people(service, 7)

    async def race():
        await asyncio.gather(*(work(service, one, Random(i), 20) for i, one in enumerate(crowd)))

    asyncio.run(race())

    def most(connection, *columns, where):
        statement = select(func.count()).select_from(assignment).where(where).group_by(*columns)
        return max(connection.scalars(statement), default=0)

    holding = assignment.c.status.in_(("open", "completed"))
    with store.reading() as connection:
        assert most(connection, assignment.c.unit_id, assignment.c.slot, where=holding) == 1
        assert most(connection, assignment.c.assessor_id, assignment.c.topic_id, where=holding | ~holding) == 1
        assert most(connection, assignment.c.assessor_id, where=assignment.c.status == "open") <= 1
        held = {(row.unit_id, row.slot): row.id for row in connection.execute(select(assignment).where(holding))}
        slots = {(row.unit_id, row.number): row.assignment_id for row in connection.execute(select(slot))}
        # Minus an assignment stands at a slot that was closed after it, because nothing was left to judge.
        assert held == {place: holder for place, holder in slots.items() if holder is not None and holder > 0}


def test_who_stays_away_too_long_loses_the_unit_and_what_comes_late_is_kept_but_not_counted(store):
    created(store, small_plan("grades", topics=2, redundancy=1, k=4, campaign={"lease_minutes": 10}))
    clock = Clock()
    service = seeded(store, clock=clock)
    ann, bob, eve = people(service, 3)

    async def play():
        page = await until(service, ann, DocumentView, Random(1))
        await service.act(ann, Judge(0, "3"), shown=page.shown, key=page.key)
        page = await service.page(ann)
        await until(service, bob, DocumentView, Random(2))
        waiting = await service.page(eve)
        assert waiting.view == NoneLeftView(clock.now + 600, False)
        clock.now += 599
        assert isinstance((await service.page(eve)).view, NoneLeftView)
        bobs = await service.page(bob)
        await service.act(bob, Judge(0, "1"), shown=bobs.shown, key=bobs.key)
        clock.now += 2
        await service.act(eve, GoOn())
        assert isinstance((await service.page(eve)).view, DocumentView)  # the unit that ann left alone
        late = await service.act(ann, Judge(1, "2"), shown=page.shown, key=page.key)
        assert late.late
        after = await service.page(ann)
        assert (after.view, after.answers) == (LostView(10), (1, 1, 0))
        again = await service.act(ann, Judge(1, "2"), shown=page.shown, key=page.key)
        assert (again.late, again.replayed, again.event_id) == (True, True, late.event_id)
        await service.act(ann, GoOn(), shown=page.shown)
        assert isinstance((await service.page(ann)).view, NoneLeftView)
        await work(service, eve, Random(3))
        await work(service, bob, Random(4))

    asyncio.run(play())
    counted = store.read(lambda connection: judgments(connection, "pilot"))
    assert set(counted.assessors) == {"a2", "a3"}  # their pseudonyms: person-0 came first
    assert len(counted) == 8
    everything = store.read(lambda connection: list(judgment_rows(connection, 1, everything=True)))
    assert "a1" in {row[2] for row in everything}
    kinds = store.read(lambda connection: [(one.kind, one.late) for one in events.of_campaign(connection, 1)])
    assert ("late_action", True) in kinds
    assert ("lease_expired", False) in kinds


def test_an_idle_assessor_whose_unit_nobody_wanted_goes_on_where_they_were(store):
    created(store, small_plan("grades", redundancy=1, k=4))
    clock = Clock()
    service = seeded(store, clock=clock)
    (ann,) = people(service, 1)

    async def play():
        page = await until(service, ann, DocumentView, Random(1))
        clock.now += 86_400
        receipt = await service.act(ann, Judge(0, "3"), shown=page.shown, key=page.key)
        assert (receipt.late, (await service.page(ann)).view.position) == (False, 1)

    asyncio.run(play())


def test_a_bad_document_leaves_every_page_at_once(store):
    created(store, small_plan("preference", topics=1, documents=8, redundancy=5, sharing="shared", stop=False))
    service = seeded(store, clock=Clock(step=1.0))
    crowd = people(service, 4)

    async def play():
        pages = [await until(service, one, PairView, Random(i)) for i, one in enumerate(crowd)]
        view = pages[0].view
        removed = view.left
        await service.act(crowd[0], MarkBad(view.pair, "left"), shown=pages[0].shown, key=pages[0].key)
        told = 0
        for one, before in zip(crowd[1:], pages[1:], strict=True):
            now = (await service.page(one)).view
            assert removed not in (now.left, now.right)
            if removed in (before.view.left, before.view.right):
                told += now.removed
                with pytest.raises(Refusal):
                    await service.act(one, Prefer(before.view.pair, "left"), shown=before.shown, key=before.key)
        return removed, told

    removed, _ = asyncio.run(play())
    for one in crowd:
        asyncio.run(work(service, one, Random(5)))
    with store.reading() as connection:
        (marked_at,) = connection.scalars(select(bad_mark.c.time).where(bad_mark.c.document_id == removed))
        after = select(func.count()).select_from(preference)
        touching = (preference.c.left_id == removed) | (preference.c.right_id == removed)
        assert count(connection, after.where(touching, preference.c.time > marked_at)) == 0
        assert count(connection, select(func.count()).select_from(pair_lease)) == 0


# ---- the owner's hand


def test_an_excluded_assessor_counts_no_more_and_their_units_go_to_others(store):
    created(store, small_plan("grades", topics=1, redundancy=1, k=4))
    service, admin = seeded(store, clock=Clock(step=1.0)), CampaignAdmin(store)
    ann, bob = people(service, 2)
    asyncio.run(work(service, ann, Random(1)))
    assert len(store.read(lambda connection: judgments(connection, "pilot"))) == 4

    async def play():
        with pytest.raises(ArgumentError, match="reason"):
            await admin.exclude("pilot", "person-0", " ")
        await admin.exclude("pilot", "person-0", "did not read")
        page = await service.page(ann)
        assert (page.view, page.answers) == (ExcludedView(), (4, 4, 0))
        with pytest.raises(Refusal, match="no further part"):
            await service.act(ann, GoOn())
        assert len(store.read(lambda connection: judgments(connection, "pilot"))) == 0
        assert await admin.reinstate("pilot", "person-0") == 0
        assert len(store.read(lambda connection: judgments(connection, "pilot"))) == 4
        await admin.exclude("pilot", "person-0", "did not read, again")
        await work(service, bob, Random(2))
        assert await admin.reinstate("pilot", "person-0") == 1  # bob has done it meanwhile

    asyncio.run(play())
    assert store.read(lambda connection: judgments(connection, "pilot")).assessors == ("a2",)


def test_a_paused_campaign_takes_the_answer_under_way_and_hands_out_nothing(store):
    created(store, small_plan("grades", topics=2, redundancy=1, k=4))
    service, admin = seeded(store, clock=Clock(step=1.0)), CampaignAdmin(store)
    ann, bob = people(service, 2)

    async def play():
        page = await until(service, ann, DocumentView, Random(1))
        assert await admin.set_status("pilot", "paused") == "paused"
        receipt = await service.act(ann, Judge(0, "1"), shown=page.shown, key=page.key)
        assert (receipt.late, (await service.page(ann)).view) == (False, PausedView())
        await service.act(bob, GoOn())
        assert (await service.page(bob)).view == PausedView()
        await admin.set_status("pilot", "running")
        assert (await service.page(ann)).view.position == 1
        await admin.set_status("pilot", "stopped")
        page = await service.page(ann)
        assert (page.view, page.answers) == (PausedView(stopped=True), (1, 1, 1))
        receipt = await service.act(ann, Judge(1, "1"), shown=page.shown, key="late")
        assert receipt.late
        with pytest.raises(ArgumentError, match="choose one of paused, running, stopped"):
            await admin.set_status("pilot", "halted")
        with pytest.raises(NotFoundError, match="there is no campaign 'other'; there is pilot"):
            await admin.set_status("other", "stopped")

    asyncio.run(play())
    assert len(store.read(lambda connection: judgments(connection, "pilot"))) == 1


def test_a_unit_that_fails_its_checks_is_kept_apart_and_goes_to_somebody_else(store):
    created(store, small_plan("magnitude", topics=1, k=4, redundancy=1, min_seconds=0, revisions=0))
    service = seeded(store, clock=Clock(step=1.0))
    ann, bob = people(service, 2)

    async def judge(one, high, low):
        page = await until(service, one, DocumentView, Random(1))
        while isinstance(page.view, DocumentView):
            label = page.documents[page.view.document].text
            text = high if "d0." in label else low if "d1." in label else "5"
            await service.act(one, Judge(page.view.position, text, "x"), shown=page.shown, key=page.key)
            page = await service.page(one)
        return page

    page = asyncio.run(judge(ann, "1", "9"))
    assert (page.view, page.answers) == (EndView("failed"), (4, 4, 0))
    assert len(store.read(lambda connection: judgments(connection, "pilot"))) == 0
    assert len(store.read(lambda connection: list(judgment_rows(connection, 1, everything=True)))) == 4
    page = asyncio.run(judge(bob, "9", "1"))
    assert isinstance(page.view, RatingView)
    assert len(store.read(lambda connection: judgments(connection, "pilot"))) == 0  # not before the unit is complete
    asyncio.run(work(service, bob, Random(1)))
    found = store.read(lambda connection: judgments(connection, "pilot"))
    assert (len(found), found.assessors, str(found.scales[0])) == (4, ("a2",), "magnitude")


# ---- coming in, looking, and what is typed


def test_whoever_comes_again_is_the_same_and_names_are_never_shared(store):
    created(store, small_plan("grades"))
    service = seeded(store, Clock())

    async def come():
        first = await service.arrive("pilot", "panel", "5f")
        assert await service.arrive("pilot", "panel", "5f") == first
        assert (await service.page(first)).name == "5f"
        other = await service.arrive("pilot", "link", "5f")
        assert (await service.page(other)).name == "5f-2"
        with pytest.raises(NotFoundError, match="no campaign 'nowhere'"):
            await service.arrive("nowhere", "link", "ann")
        with pytest.raises(NotFoundError, match="no assessor 12"):
            await service.page(12)

    asyncio.run(come())


def test_looking_changes_nothing(store):
    created(store, small_plan("preference", redundancy=2, sharing="shared"))
    service = seeded(store, clock=Clock(step=1.0))
    (ann,) = people(service, 1)

    async def look():
        await until(service, ann, PairView, Random(1))
        before = store.read(tables)
        pages = [await service.page(ann) for _ in range(3)]
        pause = await service.page(ann, pause=True)
        until_then = store.read(lambda connection: connection.scalar(select(assignment.c.lease_until)))
        assert (pause.view, pause.answers, pause.documents) == (PauseView(until_then), (0, 0, 0), {})
        preview = await service.preview("pilot")
        assert (preview.name, preview.shown) == ("", "")
        judging = await service.preview("pilot", judging=True)
        assert type(judging.view) is PairView
        assert {judging.view.left, judging.view.right} == set(judging.documents)
        assert store.read(tables) == before
        assert len({page.key for page in pages}) == 3
        assert len({page.shown for page in pages}) == 1

    asyncio.run(look())


def test_what_was_typed_is_kept_for_its_own_page_only(store):
    created(store, small_plan("magnitude", k=4, redundancy=1, min_seconds=0))
    service = seeded(store, clock=Clock(step=1.0))
    (ann,) = people(service, 1)

    async def typing():
        page = await until(service, ann, DocumentView, Random(1))
        await service.save_draft(ann, page.shown, 0, "4", "It sa")
        await service.save_draft(ann, page.shown, 0, "40", "It says")
        await service.save_draft(ann, "somewhere else", 0, "1", "")
        kept = (await service.page(ann)).draft
        assert (kept.text, kept.reason) == ("40", "It says")
        await service.act(ann, Judge(0, "40", "It says so."), shown=page.shown, key=page.key)
        assert (await service.page(ann)).draft is None

    asyncio.run(typing())
    assert store.read(lambda connection: count(connection, select(func.count()).select_from(judgment))) == 1


def test_a_page_of_another_set_is_refused(store):
    created(store, small_plan("grades", redundancy=1, k=4))
    service = seeded(store, clock=Clock(step=1.0))
    (ann,) = people(service, 1)

    async def stale():
        page = await until(service, ann, DocumentView, Random(1))
        with pytest.raises(Refusal, match="another set") as refused:
            await service.act(ann, Judge(0, "1"), shown="123", key=page.key)
        assert refused.value.code == "stale"

    asyncio.run(stale())
