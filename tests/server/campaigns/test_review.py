"""Review: final answers, answers opened again, units for a person, questions to the organisers."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judging import Clock, created, judged_by_three, seeded, small_plan, tables, work
from qrowd.errors import ArgumentError
from qrowd_server.campaigns.results.archive import read_archive, write_archive
from qrowd_server.campaigns.results.campaign_progress import progress
from qrowd_server.campaigns.results.exports import export_rows
from qrowd_server.campaigns.results.quality import quality
from qrowd_server.campaigns.results.review_decisions import adjudicate, summaries
from qrowd_server.campaigns.running import messages, reopening
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.campaigns.running.collected import final_answers, judgments
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.protocols.events import AskOrganisers, GoOn, Judge, ReadReply, Refusal
from qrowd_server.protocols.views import DocumentView
from qrowd_server.store.base import Store

GRADES = {"protocol": "grades", "k": 4, "redundancy": 3, "topics": 2}


def campaign(store: Store, clock: Clock, **further: Any) -> tuple[Any, list[int]]:
    return judged_by_three(store, clock, **{**GRADES, **further})


class Reviewer:
    """An owner who reviews."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store, self.admin = store, CampaignAdmin(store, clock=clock, account="rita")

    async def adjudicate(self, campaign: str, topic: str, document: str, text: str, reason: str) -> Any:
        at = self.admin.clock()
        return await self.store.write_async(
            lambda c: adjudicate(c, campaign, topic, document, text, reason, at, account="rita")
        )

    async def reopen(self, campaign: str, assignment: int, position: int, reason: str) -> None:
        await self.admin.change(campaign, lambda t: reopening.reopen(t, assignment, position, reason))

    async def reply(self, campaign: str, assessor: int, number: int, text: str) -> None:
        await self.admin.change(campaign, lambda t: messages.reply(t, assessor, number, text))


def reviewer(store: Store, clock: Clock) -> Reviewer:
    return Reviewer(store, clock)


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(coroutine)


def export(store: Store, **options: Any) -> list[str]:
    def read(connection: Any) -> list[str]:
        return (
            b"".join(export_rows(connection, "pilot", "judgments", "csv", names=True, **options)).decode().split("\r\n")
        )

    return [line for line in store.read(read) if line]


def same_after_rebuilding(store: Store) -> None:
    before = store.read(tables)
    store.write(lambda c: rebuild(c, "pilot"))
    assert store.read(tables) == before


# ---- final answers


def test_a_final_answer_replaces_the_answers_that_count_and_is_in_no_progress_or_agreement(store: Store) -> None:
    clock = Clock(step=1.0)
    campaign(store, clock)
    before, agreement = store.read(lambda c: (progress(c, "pilot", clock.now), quality(c, "pilot", bootstrap=0)))
    plain = export(store)
    one = run(reviewer(store, clock).adjudicate("pilot", "t0", "t0d1", "3", "Both causes are named."))
    assert (one.value, one.account, one.reason, one.n) == (3.0, "rita", "Both causes are named.", 1)
    assert store.read(lambda c: progress(c, "pilot", clock.now)).answers == before.answers
    assert repr(store.read(lambda c: quality(c, "pilot", bootstrap=0))) == repr(agreement)  # nan is not nan
    replaced = export(store)
    changed = [(old, new) for old, new in zip(plain, replaced, strict=True) if old != new]
    assert len(changed) == 3
    for old, new in changed:
        was, now = (dict(zip(plain[0].split(","), line.split(","), strict=True)) for line in (old, new))
        final = {"value": now["value"], "raw": "3", "comment": "Both causes are named.", "origin": "final"}
        assert (now, float(now["value"]), now["document"]) == (was | final, 3.0, "t0d1")
    everything = [line.split(",") for line in export(store, everything=True)]
    assert [row[-3:-1] for row in everything].count(["False", "settled"]) == 3
    assert len(everything) == len(plain) + 3
    assert store.read(lambda c: judgments(c, "pilot")).notes == (
        "campaign pilot: answers replaced by final answers of owners: 3 (final answers: 1)",
    )
    same_after_rebuilding(store)


def test_a_later_final_answer_replaces_the_first_and_an_empty_one_takes_it_back(store: Store) -> None:
    clock = Clock(step=1.0)
    campaign(store, clock)
    rita, plain = reviewer(store, clock), export(store)
    run(rita.adjudicate("pilot", "t0", "t0d1", "3", "first"))
    second = run(rita.adjudicate("pilot", "t0", "t0d1", "1", "second"))
    assert (second.value, second.n) == (1.0, 2)
    assert run(rita.adjudicate("pilot", "t0", "t0d1", "", "")) is None
    assert store.read(lambda c: final_answers(c, 1)) == {}
    assert export(store) == plain


def test_a_final_answer_that_cannot_be_is_refused_and_nothing_is_stored(store: Store) -> None:
    clock = Clock(step=1.0)
    campaign(store, clock)
    for topic, document, text, reason, problem in (
        ("t9", "t0d1", "1", "why", "no document"),
        ("t0", "x", "1", "why", "no document"),
        ("t0", "t0d1", "9", "why", "Choose one of the grades"),
        ("t0", "t0d1", "1", " ", "reason: say why"),
        ("t0", "t0d1", "1", "x" * 2001, "at most 2,000"),
    ):
        with pytest.raises(ArgumentError, match=problem):
            run(reviewer(store, clock).adjudicate("pilot", topic, document, text, reason))
    assert store.read(lambda c: final_answers(c, 1)) == {}


# ---- answers opened again


def answer_of(store: Store, name: str, document: str) -> str:
    lines = [line.split(",") for line in export(store)]
    head = lines[0]
    return next(row[head.index("raw")] for row in lines[1:] if row[1:3] == [document, name])


def test_an_answer_opened_again_comes_first_with_its_reason_and_can_be_changed(store: Store) -> None:
    clock = Clock(step=1.0)
    service, people = campaign(store, clock)
    rita, ann = reviewer(store, clock), people[0]
    page = run(service.page(ann))
    unit = store.read(lambda c: c.exec_driver_sql("select min(id) from assignment").scalar())
    holder = store.read(lambda c: c.exec_driver_sql(f"select assessor_id from assignment where id = {unit}").scalar())
    own = ["ann", "bob", "cleo"][people.index(holder)]
    run(rita.reopen("pilot", unit, 2, "The second paragraph names it."))
    page = run(service.page(holder))
    assert isinstance(page.view, DocumentView)
    assert (page.view.position, page.view.reopened) == (2, "The second paragraph names it.")
    assert page.view.answer is not None
    label = store.read(
        lambda c: c.exec_driver_sql(f"select label from document where id = {page.view.document}").scalar()
    )
    was = answer_of(store, own, label)
    new = "0" if was != "0" else "1"
    receipt = run(service.act(holder, Judge(2, new, "because now"), shown=page.shown, key=page.key))
    assert [event.kind for event in receipt.events] == ["reconsidered", "revised"]
    assert answer_of(store, own, label) == new
    assert not getattr(run(service.page(holder)).view, "reopened", "")
    assert run(service.act(holder, Judge(2, new, "because now"), shown=page.shown, key=page.key)).replayed
    log = store.read(lambda c: c.exec_driver_sql(f"select kind from event where assignment_id = {unit} order by id"))
    assert [row[0] for row in log][-3:] == ["reopened", "reconsidered", "revised"]
    same_after_rebuilding(store)


def opened(store: Store, clock: Clock, *, position: int = 1) -> tuple[Any, int, int]:
    """A campaign in which one answer is open again: the service, its author and the assignment."""
    service, _ = campaign(store, clock)
    unit, holder = store.read(lambda c: c.exec_driver_sql("select id, assessor_id from assignment order by id").first())
    run(reviewer(store, clock).reopen("pilot", unit, position, "why"))
    return service, holder, unit


def test_an_answer_opened_again_can_be_kept_and_is_then_as_it_was(store: Store) -> None:
    clock = Clock(step=1.0)
    service, holder, _ = opened(store, clock)
    before = export(store)
    page = run(service.page(holder))
    receipt = run(service.act(holder, GoOn(), shown=page.shown, key=page.key))
    assert [(one.kind, one.data["changed"]) for one in receipt.events] == [("reconsidered", False)]
    assert export(store) == before
    same_after_rebuilding(store)


def test_what_is_typed_on_another_page_when_an_answer_is_opened_again_is_not_lost(store: Store) -> None:
    clock = Clock(step=1.0)
    created(store, small_plan(**GRADES))
    service = seeded(store, clock)

    async def begin() -> tuple[int, Any]:
        ann = await service.arrive("pilot", "link", "ann")
        await work(service, ann, Random(1), steps=3)
        return ann, await service.page(ann)

    ann, page = run(begin())
    assert page.view.position == 2
    unit = store.read(lambda c: c.exec_driver_sql("select id from assignment").scalar())
    run(reviewer(store, clock).reopen("pilot", unit, 0, "why"))
    receipt = run(service.act(ann, Judge(2, "1", "because"), shown=page.shown, key=page.key))
    assert receipt.events[0].kind == "judged"
    page = run(service.page(ann))
    assert page.view.reopened == "why"
    run(service.act(ann, Judge(0, "2", "again"), shown=page.shown, key=page.key))
    after = run(service.page(ann)).view
    assert (after.position, after.reopened) == (3, "")
    same_after_rebuilding(store)


def test_who_does_not_say_which_page_answers_the_one_that_comes_first(store: Store) -> None:
    clock = Clock(step=1.0)
    service, holder, _ = opened(store, clock)
    receipt = run(service.act(holder, GoOn()))
    assert [one.kind for one in receipt.events] == ["reconsidered"]


def test_answers_that_are_not_there_cannot_be_opened_again(store: Store) -> None:
    clock = Clock(step=1.0)
    created(store, small_plan("preference", redundancy=1, topics=1))
    created(store, small_plan("grades", name="graded", redundancy=1, topics=1, k=4))
    service = seeded(store, clock)

    async def come() -> None:
        for name in ("pilot", "graded"):
            await work(service, await service.arrive(name, "link", "ann"), Random(1))

    run(come())
    ids = dict(store.read(lambda c: c.exec_driver_sql("select campaign_id, id from assignment").all()))
    rita = reviewer(store, clock)
    with pytest.raises(ArgumentError, match="no such judgment"):
        run(rita.reopen("graded", ids[2], 7, "why"))
    with pytest.raises(ArgumentError, match="no such unit"):
        run(rita.reopen("pilot", ids[2], 0, "why"))
    with pytest.raises(ArgumentError, match="reason"):
        run(rita.reopen("graded", ids[2], 0, " "))


# ---- units for a person


def topics_of(store: Store, assessor: int) -> list[str]:
    query = (
        "select topic.label from assignment join topic on topic.id = topic_id "
        f"where assessor_id = {assessor} order by assignment.created"
    )
    return [row[0] for row in store.read(lambda c: c.exec_driver_sql(query).all())]


# ---- questions to the organisers


def test_a_question_is_answered_and_the_reply_is_shown_until_it_was_read(store: Store) -> None:
    clock = Clock(step=1.0)
    created(store, small_plan("grades", k=4, redundancy=1, topics=1, journey={"ask_organisers": True}))
    service, rita = seeded(store, clock), reviewer(store, clock)

    async def story() -> None:
        ann = await service.arrive("pilot", "link", "ann")
        await service.act(ann, GoOn())
        page = await service.page(ann)
        assert page.may_ask
        receipt = await service.act(ann, AskOrganisers(" Is a list enough? "), shown=page.shown, key=page.key)
        assert [one.kind for one in receipt.events] == ["message_sent"]
        after = await service.page(ann)
        assert after.view == page.view
        assert [(one.text, one.reply, one.here) for one in after.messages] == [("Is a list enough?", "", True)]
        await work(service, ann, Random(1), steps=1)
        assert (await service.page(ann)).messages == ()
        await rita.reply("pilot", ann, 0, "Yes, if it is complete.")
        page = await service.page(ann)
        assert [(one.reply, one.here) for one in page.messages] == [("Yes, if it is complete.", False)]
        await service.act(ann, ReadReply(0), shown=page.shown, key=page.key)
        assert (await service.page(ann)).messages == ()

    run(story())
    same_after_rebuilding(store)


def test_nobody_can_ask_where_the_campaign_does_not_take_questions(store: Store) -> None:
    clock = Clock(step=1.0)
    created(store, small_plan("grades", k=4, redundancy=1, topics=1))
    service = seeded(store, clock)

    async def story() -> None:
        ann = await service.arrive("pilot", "link", "ann")
        await service.act(ann, GoOn())
        page = await service.page(ann)
        assert not page.may_ask
        with pytest.raises(Refusal, match="not taken"):
            await service.act(ann, AskOrganisers("Why?"), shown=page.shown)
        with pytest.raises(Refusal):
            await service.act(ann, ReadReply(0), shown=page.shown)

    run(story())


def test_pairs_can_be_asked_about_and_everything_goes_into_another_database(
    store: Store, opened: Callable[..., Store], tmp_path: Any
) -> None:
    clock = Clock(step=1.0)
    created(store, small_plan("preference", redundancy=2, topics=1, journey={"ask_organisers": True}))
    service, rita = seeded(store, clock), reviewer(store, clock)

    async def story() -> None:
        ann, _ = [await service.arrive("pilot", "link", name) for name in ("ann", "bob")]
        await service.act(ann, GoOn())
        await service.act(ann, AskOrganisers("Which is newer?"))
        await rita.reply("pilot", ann, 0, "Both are of 2020.")

    run(story())
    lines = store.read(lambda c: list(write_archive(c, "pilot", names=True)))
    other = opened(str(tmp_path / "other.db"))
    other.write(lambda c: read_archive(c, lines))
    found, copied = store.read(tables), other.read(tables)
    assert found["message"] == copied["message"] != []
    without = b"".join(store.read(lambda c: list(write_archive(c, "pilot"))))
    assert b"bob" not in without


# ---- the list of documents


def test_documents_with_most_disagreement_come_first_as_worked_out_one_by_one(store: Store) -> None:
    clock = Clock(step=1.0)
    campaign(store, clock)
    found = store.read(lambda c: summaries(c, "pilot"))
    table = store.read(lambda c: judgments(c, "pilot"))
    values: dict[tuple[str, str], list[float]] = {}
    for t, d, value in zip(table.topic.tolist(), table.document.tolist(), table.value.tolist(), strict=True):
        values.setdefault((table.topics[t], table.documents[d]), []).append(value)
    slow = {}
    for place, own in values.items():
        mean = sum(own) / len(own)
        slow[place] = (sum((one - mean) ** 2 for one in own) / len(own)) ** 0.5
    assert len(found) == len(slow) == 8
    for row in found:
        place = row.topic, row.document
        assert row.disagreement == pytest.approx(slow[place], abs=1e-9)
        assert (row.n_counted, row.lowest, row.highest) == (
            len(values[place]), min(values[place]), max(values[place])
        )  # fmt: skip
    spread = [row.disagreement for row in found]
    assert spread == sorted(spread, reverse=True)


def test_filters_choose_by_topic_and_final_answer(store: Store) -> None:
    clock = Clock(step=1.0)
    campaign(store, clock)
    run(reviewer(store, clock).adjudicate("pilot", "t0", "t0d1", "3", "so"))

    def n(**options: Any) -> int:
        return len(store.read(lambda c: summaries(c, "pilot", **options)))

    assert (n(), n(topic="t0"), n(topic="t9"), n(open=True)) == (8, 4, 0, 7)


def test_preferences_are_not_reviewed(store: Store) -> None:
    clock = Clock(step=1.0)
    created(store, small_plan("preference", redundancy=1, topics=1))
    service = seeded(store, clock)

    async def come() -> None:
        await work(service, await service.arrive("pilot", "link", "ann"), Random(1))

    run(come())
    (unit,) = store.read(lambda c: c.exec_driver_sql("select id from assignment").all())
    assert store.read(lambda c: summaries(c, "pilot")) == []
    with pytest.raises(ArgumentError, match="no such judgment"):
        run(reviewer(store, clock).reopen("pilot", unit[0], 0, "why"))
    with pytest.raises(ArgumentError, match="final answers are grades"):
        run(reviewer(store, clock).adjudicate("pilot", "t0", "t0d1", "first", "why"))


@settings(max_examples=3, deadline=None)
@given(st.lists(st.sampled_from(["keep", "change", "go on"]), max_size=6), st.integers(0, 3))
def test_whatever_is_opened_again_the_tables_are_what_the_log_adds_up_to(ways: list[str], seed: int) -> None:
    from qrowd_server.store.engine import open_store

    with TemporaryDirectory() as folder, open_store(Path(folder) / "judgments.db") as store:
        clock = Clock(step=1.0)
        created(store, small_plan("grades", k=4, redundancy=2, topics=2))
        service, rita, rng = seeded(store, clock, seed), reviewer(store, clock), Random(seed)

        async def story() -> None:
            ann = await service.arrive("pilot", "link", "ann")
            await work(service, ann, rng, steps=3)
            for way in ways:
                answers = store.read(lambda c: c.exec_driver_sql("select assignment_id, position from judgment").all())
                await rita.reopen("pilot", *rng.choice(answers), "look again")
                if way == "go on":
                    continue
                page = await service.page(ann)
                assert page.view.reopened == "look again"
                answer = GoOn() if way == "keep" else Judge(page.view.position, str(rng.randrange(4)), "new")
                await service.act(ann, answer, shown=page.shown, key=page.key)

        run(story())
        same_after_rebuilding(store)
