"""The units of a campaign are what an obvious walk over its log says of each assignment."""

import asyncio
import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from io import BytesIO, StringIO
from random import Random

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import Connection, select

from judging import Clock, created, seeded, small_plan, until, work
from qrowd.errors import ArgumentError
from qrowd_server.campaigns.plan.plan_tables import plan_from_table
from qrowd_server.campaigns.results.exports import UNITS, export_rows, unit_rows
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.cli.database import unit_frame
from qrowd_server.protocols.events import LookUp
from qrowd_server.protocols.views import PairView
from qrowd_server.store import schema
from qrowd_server.store.base import Store
from server.web.owner.estate import Estate, estate

NAMES = ("small", "demo-magnitude", "demo-preference")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    with estate(tmp_path_factory.mktemp("units"), demo=True, steps=25) as made:
        yield made


def from_the_log(connection: Connection, name: str) -> pd.DataFrame:
    """One row per assignment, by reading every event and every answer in turn."""
    of = connection.scalar(select(schema.campaign.c.id).where(schema.campaign.c.name == name))
    rows: dict[int, dict[str, object]] = {}
    kinds: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for one in connection.execute(
        select(schema.event).where(schema.event.c.campaign_id == of).order_by(schema.event.c.id)
    ):
        if one.assignment_id is None or one.late:
            continue
        row = rows.setdefault(one.assignment_id, {"started": one.time, "ended": np.nan, "wrong": 0, "fails": 0})
        kinds[one.assignment_id][one.kind] += 1
        if one.kind in ("judged", "preferred", "rated", "replied", "marked_bad", "undone", "stepped_back"):
            row["ended"] = one.time
        row["wrong"] += one.kind == "replied" and not one.data["correct"]  # type: ignore[operator]
        row["fails"] += one.kind == "checked" and not one.data["passed"]  # type: ignore[operator]
        if one.kind == "rated":
            row.update(one.data)
    for number, row in rows.items():
        answers = [
            answer.seconds
            for table in (schema.judgment, schema.preference, schema.bad_mark)
            for answer in connection.execute(select(table).where(table.c.assignment_id == number))
        ]
        row.update(assignment=number, answers=len(answers), seconds=sum(answers))
        row.update(backs=kinds[number]["stepped_back"] + kinds[number]["undone"])
        row.update(looked_up=kinds[number]["looked_up"])
    return pd.DataFrame(rows.values()).set_index("assignment").sort_index()


@pytest.mark.parametrize("name", NAMES)
def test_each_row_is_what_the_log_says_of_the_assignment(filled: Estate, name: str) -> None:
    units = filled.store.read(lambda c: unit_frame(c, name)).set_index("assignment").sort_index()
    expected = filled.store.read(lambda c: from_the_log(c, name))
    assert units.index.tolist() == expected.index.tolist()
    for column in ("started", "ended", "answers", "backs", "fails", "wrong", "looked_up"):
        assert units[column].tolist() == pytest.approx(expected[column].tolist(), nan_ok=True), column
    assert units["seconds"].tolist() == pytest.approx(expected["seconds"].tolist())
    for column in ("confidence", "understanding"):
        rated = expected.get(column, pd.Series(np.nan, expected.index))
        assert units[column].tolist() == pytest.approx(rated.tolist(), nan_ok=True)
    assert (units["backs"].sum() > 0) or name != "small"


@pytest.mark.parametrize("name", NAMES)
def test_the_units_are_the_same_after_the_tables_were_rebuilt(filled: Estate, name: str) -> None:
    before = filled.store.read(lambda c: unit_frame(c, name))
    filled.store.write(lambda c: rebuild(c, name))
    pd.testing.assert_frame_equal(before, filled.store.read(lambda c: unit_frame(c, name)))


def test_every_format_holds_the_same_units(filled: Estate) -> None:
    def export(format: str) -> bytes:
        return filled.store.read(lambda c: b"".join(export_rows(c, "small", "units", format)))

    rows = filled.store.read(lambda c: unit_rows(c, "small"))
    lines = [json.loads(line) for line in export("jsonl").decode().splitlines()]
    assert lines == [dict(zip(UNITS, row, strict=True)) for row in rows]
    assert [int(row["assignment"]) for row in csv.DictReader(StringIO(export("csv").decode()))] == [
        row[UNITS.index("assignment")] for row in rows
    ]
    table = pd.read_parquet(BytesIO(export("parquet")))
    assert tuple(table.columns) == UNITS
    assert table["counts"].tolist() == [row[UNITS.index("counts")] for row in rows]
    with pytest.raises(ArgumentError, match="cannot hold the units"):
        export("qrels")


@pytest.mark.parametrize("format", ["csv", "spreadsheet", "parquet", "qrels"])
def test_a_file_with_a_form_of_its_own_is_written_in_no_other(filled: Estate, format: str) -> None:
    with pytest.raises(ArgumentError, match=r"it cannot hold the archive; choose one of jsonl$"):
        filled.store.read(lambda c: export_rows(c, "small", "archive", format))


def test_an_unknown_campaign_is_refused(store: Store) -> None:
    created(store, small_plan("grades"))
    with pytest.raises(ArgumentError, match="there is no campaign 'pilots'"):
        store.read(lambda c: unit_rows(c, "pilots"))


def test_opening_the_context_counts_as_looking_it_up(store: Store) -> None:
    plan = small_plan("preference", topics=1)
    topics = tuple(topic.__class__(**{**vars(topic), "context": ("one", "two")}) for topic in plan.topics)
    created(store, plan.__class__(**{**vars(plan), "topics": topics}))
    service = seeded(store, Clock(step=5.0))

    async def judge() -> None:
        who = await service.arrive("pilot", "link", "ann")
        page = await until(service, who, PairView, Random(1))
        for _ in range(2):
            await service.act(who, LookUp(), shown=page.shown, key=page.key)
            page = await service.page(who)
        await work(service, who, Random(1))

    asyncio.run(judge())
    assert store.read(lambda c: unit_frame(c, "pilot")).looked_up.tolist() == [2]


def test_a_campaign_in_which_nobody_worked_has_no_units(store: Store) -> None:
    created(store, small_plan("magnitude", k=4))
    units = store.read(lambda c: unit_frame(c, "pilot"))
    assert len(units) == 0
    assert units.columns.tolist() == list(UNITS)


def test_a_unit_has_the_arm_and_the_protocol_in_which_it_was_judged(store: Store) -> None:
    labels = [f"d{d}" for d in range(4)]
    plan = plan_from_table(
        {
            "campaign": {"name": "pilot", "seed": 7},
            "arms": {"absolute": {"grades": {"redundancy": 1}}, "pairs": {"preference": {}}},
            "journey": {"consent": False},
            "documents": [{"label": label, "text": f"Text of {label}."} for label in labels],
            "topics": [{"label": f"t{t}", "title": f"Topic {t}", "pool": labels} for t in range(4)],
        }
    )
    created(store, plan)
    service = seeded(store, Clock(step=5.0))

    async def judge(name: str) -> None:
        await work(service, await service.arrive("pilot", "link", name), Random(1))

    for name in ("ann", "bob"):
        asyncio.run(judge(name))
    units = store.read(lambda c: unit_frame(c, "pilot"))
    protocol = {"absolute": "grades", "pairs": "preference"}
    assert set(units.arm.tolist()) == set(protocol)
    assert units.protocol.tolist() == [protocol[arm] for arm in units.arm]
    one = store.read(lambda c: unit_frame(c, "pilot/pairs"))
    assert one.assignment.tolist() == units.assignment[units.arm == "pairs"].tolist()
