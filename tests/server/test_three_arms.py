"""A study with three arms, judged by six assessors through the service: its tables are those of its own log."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import pytest
from sqlalchemy import Connection
from typer.testing import CliRunner

from judging import Clock, created, next_action, seeded, three_arms
from qrowd.agreement.pairwise import label_table
from qrowd.cli.main import app
from qrowd.preferences import preference_table
from qrowd_papers.arms.compared_arms import compare_arms
from qrowd_server.campaigns.running.collected import collected, judgments, preferences
from qrowd_server.cli.database import unit_frame
from qrowd_server.protocols.events import Judge, LookUp
from qrowd_server.protocols.views import DocumentView, PairView
from qrowd_server.store.base import Store
from qrowd_server.store.engine import open_store
from qrowd_server.store.event_log import of_campaign
from qrowd_server.store.materials import find_campaign
from qrowd_server.store.state_rows import assessors_of

ASSESSORS = [f"a{i}" for i in range(1, 7)]
ARMS = ["absolute", "preference", "degrees"]


async def judge(store: Store, clock: Clock) -> None:
    """Six assessors take turns, page by page, until each has judged each topic; reading takes time."""
    service, rng = seeded(store, clock), Random(3)
    numbers = [await service.arrive("study", "link", name, name=name) for name in ASSESSORS]
    busy = set(numbers)
    while busy:
        for number in sorted(busy):
            page = await service.page(number)
            view = page.view
            if isinstance(view, DocumentView | PairView) and view.has_context and rng.random() < 0.02:
                clock.now += rng.uniform(1, 5)
                await service.act(number, LookUp(), shown=page.shown, key=page.key)
                page = await service.page(number)
            if (action := next_action(page, rng)) is None:
                busy.discard(number)
                continue
            if isinstance(action, Judge):
                action = replace(action, reason="")  # no reason is asked for
            clock.now += rng.gammavariate(3, 2.0 if isinstance(view, DocumentView) else 0.9)
            await service.act(number, action, shown=page.shown, key=page.key)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path: Path = tmp_path_factory.mktemp("arms") / "study.db"
    plan = three_arms(topics=6, documents=4, rating=True)
    topics = tuple(replace(topic, context=("Snippet one.", "Snippet two.")) for topic in plan.topics)
    with open_store(path) as store:
        created(store, replace(plan, topics=topics))
        asyncio.run(judge(store, Clock()))
        yield store


def events_of(connection: Connection) -> list[dict[str, Any]]:
    row = find_campaign(connection, "study")
    assert row is not None
    labels = {one.id: one.label for one in assessors_of(connection, row.id)}
    return [
        {
            "assignment": one.assignment_id,
            "assessor": labels.get(one.assessor_id or 0),
            "kind": one.kind,
            "time": one.time,
            "data": one.data,
        }
        for one in of_campaign(connection, row.id)
    ]


def slow_table_4(store: Store) -> dict[tuple[str, str], tuple[int, float, float]]:
    """{(assessor, arm): (judgments, median seconds, median seconds at first sight)}, from one event after the other."""
    units = store.read(lambda c: unit_frame(c, "study")).set_index("assignment")["arm"].to_dict()
    shown: dict[int, float] = {}  # when the page of an assignment came up
    rows: dict[int, list[tuple[int, float, frozenset[int]]]] = defaultdict(list)
    who = {}
    for event in store.read(events_of):
        number, kind, data = event["assignment"], event["kind"], event["data"]
        if number is None:
            continue
        who[number] = event["assessor"]
        if kind in ("assigned", "offered"):
            shown[number] = event["time"]
        elif kind == "judged":
            rows[number].append((data["position"], event["time"] - shown[number], frozenset([data["position"]])))
            shown[number] = event["time"]
        elif kind == "preferred":
            pages = frozenset((data["left"], data["right"]))
            rows[number].append((data["pair"], event["time"] - shown[number], pages))
        elif kind == "undone" and not data["choice"].startswith("bad-"):
            rows[number].pop()
    cells: dict[tuple[str, str], list[tuple[float, bool]]] = defaultdict(list)
    for number, answers in rows.items():
        seen: set[int] = set()
        for _, seconds, pages in answers:
            for key in ((who[number], units[number]), (who[number], "all"), ("all", units[number]), ("all", "all")):
                cells[key].append((seconds, not pages <= seen))
            seen |= pages
    return {
        key: (len(values), median(s for s, _ in values), median(s for s, new in values if new))
        for key, values in cells.items()
    }


def compared(store: Store) -> Any:
    names = ("absolute", "preference", "degrees")
    arms = store.read(lambda c: {arm: collected(c, f"study/{arm}") for arm in names})
    return compare_arms(arms, store.read(lambda c: unit_frame(c, "study")))


def test_nobody_sees_a_topic_twice_and_each_topic_is_judged_twice_in_each_arm(study: Store) -> None:
    units = study.read(lambda c: unit_frame(c, "study"))
    assert (units["status"] == "completed").all()
    assert len(units) == 36
    assert not units.duplicated(["assessor", "topic"]).any()
    assert units.groupby(["topic", "arm"]).size().eq(2).all()
    assert units.groupby(["assessor", "arm"]).size().eq(2).all()


def test_table_4_of_the_study_equals_a_slow_recomputation_from_its_event_log(study: Store) -> None:
    found, slow = compared(study).times.to_frame(), slow_table_4(study)
    assert set(found["arm"]) == {*ARMS, "all"}
    assert set(found["assessor"]) == {*ASSESSORS, "all"}
    for row in found.itertuples():
        n, seconds, first = slow[row.assessor, row.arm]
        assert row.n == n
        assert (row.median, row.first_sight) == pytest.approx((seconds, first), abs=1e-6)


def test_agreement_feedback_and_context_of_the_study_are_those_of_its_arms(study: Store) -> None:
    report, graded = compared(study), study.read(lambda c: judgments(c, "study/absolute"))
    strong = study.read(lambda c: preferences(c, "study/degrees"))
    assert report.agreement.tables["degrees"].agreement == preference_table(strong).agreement
    assert report.labels["absolute"].agreement == label_table(graded).agreement
    units = study.read(lambda c: unit_frame(c, "study"))
    medians = units.groupby("arm")[["confidence", "understanding"]].median()
    for row in report.feedback.to_frame().itertuples():
        if row.arm != "all":
            assert row.median == medians.loc[row.arm, row.question]
    used = units[units["looked_up"] > 0].groupby("arm").size()
    assert report.context.with_context.tolist() == [used.get(arm, 0) for arm in report.context.arms]
    assert report.context.times.sum() == sum(e["kind"] == "looked_up" for e in study.read(events_of)) > 0


@pytest.mark.nightly
def test_the_commands_compare_and_draw_the_arms_of_a_campaign(study: Any, tmp_path: Path) -> None:
    data = ["--campaign", "study", "--database", str(study.url)]
    outcome = CliRunner().invoke(
        app, ["study", "arms", *data, "-o", str(tmp_path / "o.json"), "--figures", str(tmp_path)]
    )
    assert outcome.exit_code == 0, outcome.output
    assert outcome.stdout.startswith(compared(study).sentence[:60])
    content = json.loads((tmp_path / "o.json").read_text())
    slow = slow_table_4(study)
    assert {(row["assessor"], row["arm"]): row["n"] for row in content["times"]} == {k: v[0] for k, v in slow.items()}
    assert b"degrees</text>" in (tmp_path / "arms.svg").read_bytes()
