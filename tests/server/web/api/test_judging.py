"""Judging by program, from the first page to the export."""

import asyncio
import dataclasses
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from sqlalchemy import func, select

import qrowd
from qrowd_server.campaigns.plan.plan_tables import plan_from_table
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.campaigns.running.pages import Page
from qrowd_server.protocols import events, views
from qrowd_server.store import schema
from qrowd_server.web.api import action_of
from qrowd_server.web.problems import Problem
from server.web.api.client import ApiError, Assessor, Json
from server.web.api.worlds import SMALL, World, plan, sensible

JUDGED = {"do": "judge", "position": 0, "text": "1"}


async def judge_all(assessor: Assessor, seed: int) -> tuple[str, list[Json]]:
    """Judge until nothing is left; how it ended, and every page that was seen."""
    rng, seen = Random(seed), [await assessor.page()]
    while (step := sensible(seen[-1], rng)) is not None:
        receipt = await assessor.act(seen[-1], step[0], **step[1])
        assert not receipt.replayed
        seen.append(receipt.page)
        assert len(seen) < 400
    return str(seen[-1]["view"]["kind"]), seen


async def to_documents(assessor: Assessor) -> Json:
    """The first page that asks for a document or a pair."""
    page = await assessor.page()
    while page["view"]["kind"] not in {"DocumentView", "PairView"}:
        step = sensible(page, Random(0))
        assert step is not None
        page = (await assessor.act(page, step[0], **step[1])).page
    return page


@pytest.mark.parametrize(
    "campaign", ["pairs", *(pytest.param(one, marks=pytest.mark.nightly) for one in SMALL if one != "pairs")]
)
def test_a_whole_campaign_is_judged_by_program_and_the_library_reads_every_answer(
    served: World, campaign: str, tmp_path: Path
) -> None:
    async def work() -> tuple[bytes, bytes, list[Json], Json]:
        async with served.client(campaign) as client:
            seen: list[Json] = []
            for number in range(4):
                assessor = await client.arrive(campaign, f"model-{number}", {"kind": "llm", "temperature": 0})
                seen += (await judge_all(assessor, number))[1]
            what = "preferences" if campaign == "pairs" else "judgments"
            files = [await client.export(campaign, what, format=format) for format in ("jsonl", "parquet")]
            return files[0], files[1], seen, await client.campaign(campaign)

    lines, parquet, seen, status = served.run(work())
    assert status["free"] == 0
    assert status["completed"] == status["slots"]
    rows = [json.loads(line) for line in lines.splitlines()]
    assert rows
    (tmp_path / "said.jsonl").write_bytes(lines)
    (tmp_path / "said.parquet").write_bytes(parquet)
    if campaign == "pairs":
        said = qrowd.read_preferences(tmp_path / "said.jsonl")
        assert len(said) == sum(row["preferred"] is not None for row in rows)
    else:
        read, again = qrowd.read_judgments(tmp_path / "said.jsonl"), qrowd.read_judgments(tmp_path / "said.parquet")
        assert len(read) == len(again) == len(rows)
        # Every number stands in the export exactly as a program typed it.
        assert all(float(row["raw"]) == row["value"] for row in rows)
        assert {row["comment"] for row in rows} <= {f"It is number {i}." for i in range(6)}
    text = json.dumps(seen)
    for secret in ("correct", '"checks"', '"d0"', '"t0"', "model-"):
        pages = text if secret != "model-" else json.dumps([{**page, "name": ""} for page in seen])
        assert secret not in pages, f"{secret} can be read in a page"


def test_what_programs_said_gives_the_scores_that_it_gives_said_directly(served: World, tmp_path: Path) -> None:
    whole = plan_from_table(plan("whole", "grades", k=6, redundancy=2))
    served.store.write(lambda connection: create_campaign(connection, whole, 0.0))

    async def work() -> bytes:
        async with served.client() as client:
            for number in range(2):
                await judge_all(await client.arrive("whole", f"model-{number}"), number)
            return await client.export("whole", "judgments", names="true")

    (tmp_path / "said.jsonl").write_bytes(served.run(work()))
    rows = [
        {"topic": f"t{t}", "document": f"d{d}", "assessor": f"model-{a}", "value": float(d % 4)}
        for t in range(2) for d in range(6) for a in range(2)
    ]  # fmt: skip
    (tmp_path / "direct.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (tmp_path / "one.run").write_text(
        "".join(f"t{t} Q0 d{d} {d + 1} {9 - d} one\n" for t in range(2) for d in range(6))
    )
    runs = qrowd.read_runs(tmp_path / "one.run")
    scores = [
        qrowd.evaluate(runs, qrowd.read_judgments(tmp_path / name), ["nDCG@5"]).to_xarray()
        for name in ("said.jsonl", "direct.jsonl")
    ]
    said, direct = (one.sortby(["assessor", "topic"]).transpose(*scores[0].dims) for one in scores)
    assert said.size == 4
    assert said.equals(direct)


def test_the_same_key_twice_is_one_event_and_with_another_answer_a_conflict(served: World) -> None:
    async def work() -> None:
        async with served.client() as client:
            assessor = await client.arrive("stars", "model")
            page = await to_documents(assessor)
            first = await assessor.act(page, "judge", position=0, text="2")
            again = await assessor.act(page, "judge", position=0, text="2")
            assert (again.event, again.time, again.replayed, again.late) == (first.event, first.time, True, False)
            assert again.page["view"] == first.page["view"]
            with pytest.raises(ApiError) as refused:
                await assessor.act(page, "judge", position=0, text="3")
            assert (refused.value.status, refused.value.code) == (409, "changed")

    served.run(work())
    judged = select(func.count()).select_from(schema.event).where(schema.event.c.kind == "judged")
    assert served.store.read(lambda connection: connection.scalar(judged)) == 1


def test_without_a_key_a_repeat_is_a_repeat(served: World) -> None:
    async def work() -> tuple[int, int]:
        async with served.client() as client:
            assessor = await client.arrive("pairs", "model")
            page = await to_documents(assessor)
            found = [await assessor.act(page, "look_up", key="") for _ in range(2)]
            assert not any(receipt.replayed for receipt in found)
            return found[0].event, found[1].event

    first, second = served.run(work())
    assert second > first


def test_an_action_that_the_page_does_not_take_is_answered_with_what_it_takes(served: World) -> None:
    async def work() -> None:
        async with served.client() as client:
            assessor = await client.arrive("sizes", "model")
            page = await assessor.page()
            with pytest.raises(ApiError, match=r"is now a ConsentView, which takes consent \(agreed\)\."):
                await assessor.act(page, "go_on")
            await assessor.act(page, "consent", agreed=True)
            page = await to_documents(assessor)
            with pytest.raises(ApiError, match=r"a DocumentView, which takes judge \(position, text\)\."):
                await assessor.act(page, "go_on")

    served.run(work())


def test_a_page_that_has_gone_is_a_conflict_and_a_word_is_no_number(served: World) -> None:
    async def work() -> None:
        async with served.client() as client:
            assessor = await client.arrive("sizes", "model")
            page = await to_documents(assessor)
            with pytest.raises(ApiError) as refused:
                await assessor.act(page, "judge", position=0, text="a lot", reason="so")
            assert (refused.value.status, refused.value.field) == (422, "text")
            with pytest.raises(ApiError) as refused:
                await assessor.act({**page, "shown": "abc"}, "judge", position=0, text="1", reason="so")
            assert (refused.value.status, refused.value.code) == (409, "stale")
            with pytest.raises(ApiError) as refused:
                await assessor.act(page, "prefer", pair=0, choice="left")
            assert refused.value.status in {409, 422}

    served.run(work())


def test_the_same_name_is_the_same_assessor_and_what_it_is_made_of_stays_in_the_log(served: World) -> None:
    about = {"kind": "llm", "model": "model-a", "temperature": 0.0, "prompt": {"hash": "ab12"}}

    async def work() -> list[Assessor]:
        async with served.client("stars") as client:
            first = await client.arrive("stars", "vendor/model-a", about)
            return [first, await client.arrive("stars", "vendor/model-a", {"kind": "other"})]

    first, again = served.run(work())
    assert first.id == again.id
    of = select(schema.event.c.data).where(schema.event.c.kind == "arrived")
    assert [data["about"] for data in served.store.read(lambda c: c.scalars(of).all())] == [{"key": "stars", **about}]


def test_a_page_is_the_desks_page_field_by_field_and_nothing_else(served: World) -> None:
    async def work() -> Json:
        async with served.client() as client:
            return await to_documents(await client.arrive("pairs", "model"))

    page = served.run(work())
    assert set(page) == {one.name for one in dataclasses.fields(Page)}
    kinds = {kind.__name__: kind for kind in get_args(views.View)}
    view = kinds[page["view"]["kind"]]
    assert set(page["view"]) == {"kind", *(one.name for one in dataclasses.fields(view))}
    assert set(page["documents"]) == {str(page["view"]["left"]), str(page["view"]["right"])}


@pytest.mark.nightly
def test_ten_assessors_at_once_share_the_units_and_no_answer_is_lost(served: World) -> None:
    async def work() -> tuple[Counter[str], int]:
        async with served.client("pairs") as client:

            async def one(number: int) -> tuple[str, int]:
                assessor = await client.arrive("pairs", f"model-{number}")
                end, seen = await judge_all(assessor, number)
                return end, len(seen) - 1

            found = await asyncio.gather(*(one(number) for number in range(10)))
            return Counter(end for end, _ in found), sum(n for _, n in found)

    ends, n_acts = served.run(work())
    assert sum(ends.values()) == 10
    count = select(func.count()).select_from(schema.event).where(schema.event.c.idem_key.is_not(None))
    assert served.store.read(lambda connection: connection.scalar(count)) == n_acts
    slots = select(schema.assignment.c.unit_id, func.count()).group_by(schema.assignment.c.unit_id)
    assert all(n <= 3 for _, n in served.store.read(lambda connection: connection.execute(slots).all()))


@pytest.mark.nightly
def test_event_loops_of_several_threads_may_ask_the_same_application(served: World) -> None:
    async def work(number: int) -> list[str]:
        async with served.client() as client:
            own = [await client.arrive("stars", f"model-{number}-{i}") for i in range(3)]
            return [end for end, _ in await asyncio.gather(*(judge_all(one, number) for one in own))]

    with ThreadPoolExecutor(4) as threads:
        ends = [end for found in threads.map(lambda number: asyncio.run(work(number)), range(4)) for end in found]
    assert len(ends) == 12
    assert set(ends) <= {"EndView", "NoneLeftView"}
    done = select(func.count()).select_from(schema.assignment).where(schema.assignment.c.status == "completed")
    assert served.store.read(lambda connection: connection.scalar(done)) == 8  # two topics, two units, two each


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "do"),
        ({"do": "fly"}, "do"),
        ({"do": ["judge"]}, "do"),
        ({"do": "judge", "text": "1"}, "position"),
        ({**JUDGED, "position": True}, "position"),
        ({**JUDGED, "position": -1}, "position"),
        ({**JUDGED, "position": 0.5}, "position"),
        ({**JUDGED, "position": 2**62}, "position"),
        ({**JUDGED, "position": "0"}, "position"),
        ({**JUDGED, "text": 1}, "text"),
        ({**JUDGED, "text": "1" * 201}, "text"),
        ({**JUDGED, "reason": "x" * 2001}, "reason"),
        ({**JUDGED, "active": -1}, "active"),
        ({**JUDGED, "active": True}, "active"),
        ({**JUDGED, "colour": "red"}, "colour"),
        ({**JUDGED, "key": "k" * 101}, "key"),
        ({**JUDGED, "shown": 3}, "shown"),
        ({"do": "prefer", "pair": 0, "choice": "both"}, "choice"),
        ({"do": "prefer", "pair": 0, "choice": ["left"]}, "choice"),
        ({"do": "prefer", "pair": 0, "choice": "left", "definitely": 1}, "definitely"),
        ({"do": "rate", "confidence": 6, "understanding": 1}, "confidence"),
    ],
)
def test_an_action_that_is_none_is_told_which_field_is_wrong(body: Any, field: str) -> None:
    with pytest.raises(Problem) as refused:
        action_of(body)
    assert (refused.value.status, refused.value.field) == (422, field)
    assert "\n" not in refused.value.message


def test_every_action_has_a_name() -> None:
    assert set(events.ACTIONS.values()) == set(get_args(events.Action))
