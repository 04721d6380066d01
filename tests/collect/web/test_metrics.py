"""Metrics at /metrics: behind a token, and equal to what happened."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import func, select

from collect.web.siege import Fort, fort
from qrowd.collect.store.schema import assignment, bad_mark, judgment, preference, slot
from qrowd.collect.web.metrics import SECONDS, Metrics
from qrowd.collect.web.serving import Serving, make_server
from webserver import BASE, Browser

TOKEN = "0123456789abcdefghij"


def values(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """{(name, labels): value}."""
    samples = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
    return {(one.name, tuple(sorted(one.labels.items()))): one.value for one in samples}


def test_totals_are_what_the_tables_hold(tmp_path: Path) -> None:
    with fort(tmp_path) as place:
        place.walker("pairs", who="ben").come().walk()
        metrics = Metrics(place.store, clock=place.clock)
        found = values(asyncio.run(metrics.text()).decode())

        def total(name: str) -> float:
            return sum(value for (key, _), value in found.items() if key == name)

        def rows(table: object, *where: object) -> int:
            query = select(func.count()).select_from(table).where(*where)  # type: ignore[arg-type]
            return place.store.read(lambda c: c.scalar(query)) or 0

        assert total("qrowd_answers") == rows(judgment) + rows(preference) + rows(bad_mark) > 0
        assert total("qrowd_open_units") == rows(assignment, assignment.c.status == "open") > 0
        assert total("qrowd_free_slots") == rows(slot, slot.c.assignment_id.is_(None)) > 0
        labels = (("arm", ""), ("campaign", "pairs"), ("protocol", "preference"))
        assert found["qrowd_answers", labels] > 1
        assert found["qrowd_store_queue", ()] == 0
        assert found["qrowd_disk_free_bytes", ()] > 0


def test_totals_are_read_once_in_fifteen_seconds_however_many_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fort(tmp_path) as place:
        metrics, reads = Metrics(place.store, clock=place.clock), []
        read = place.store.read_async

        async def counted(work: object, *, long: bool = False) -> object:
            reads.append(work)
            return await read(work, long=long)

        monkeypatch.setattr(place.store, "read_async", counted)

        async def many() -> None:
            await asyncio.gather(*(metrics.text() for _ in range(10)))

        asyncio.run(many())
        assert len(reads) == 1
        place.clock.now += SECONDS
        asyncio.run(metrics.text())
        assert len(reads) == 2


def test_every_answer_is_counted_under_its_route_and_no_token_is_a_label(tmp_path: Path) -> None:
    serving = Serving(str(tmp_path / "judgments.db"), base_url=BASE, metrics_token=TOKEN)
    with serving.open() as store:
        browser = Browser(make_server(serving, store))
        assert browser.get("/join/some-secret-token").status == 404
        for _ in range(3):
            browser.get("/health", {"host": "anything"})
        browser.get("/no/such/some-secret-token")
        for headers in ({}, {"authorization": "Bearer x"}, {"authorization": f"Basic {TOKEN}"}):
            assert browser.get("/metrics", headers).status == 403
        text = browser.get("/metrics", {"authorization": f"Bearer {TOKEN}", "host": "10.0.0.1"}).text
    found = values(text)

    def n(route: str, status: str) -> float:
        return found["qrowd_requests_total", (("method", "GET"), ("route", route), ("status", status))]

    assert (n("/join/{token}", "404"), n("/health", "200"), n("none", "404"), n("/metrics", "403")) == (1, 3, 1, 3)
    assert found["qrowd_request_seconds_count", (("route", "/health"),)] == 3
    assert "some-secret-token" not in text


def test_without_a_token_there_are_no_metrics(tmp_path: Path) -> None:
    serving = Serving(str(tmp_path / "judgments.db"), base_url=BASE)
    with serving.open() as store:
        assert Browser(make_server(serving, store)).get("/metrics").status == 404


def test_the_lag_of_the_event_loop_is_measured(shared: Fort, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = Metrics(shared.store)
    monkeypatch.setattr("qrowd.collect.web.metrics.TICK", 0.0)

    async def measured() -> None:
        watching = asyncio.create_task(metrics.watch_the_event_loop())
        while not values((await metrics.text()).decode())["qrowd_event_loop_lag_seconds_count", ()]:
            await asyncio.sleep(0)
        watching.cancel()

    asyncio.run(measured())


MANY = """
import asyncio, os, sys
os.environ["PROMETHEUS_MULTIPROC_DIR"] = sys.argv[1]
from qrowd.collect.store.engine import open_store
from qrowd.collect.web.metrics import Metrics
with open_store(sys.argv[2]) as store:
    metrics = Metrics(store)
    for _ in range(int(sys.argv[3])):
        metrics.observe("/health", "GET", 200, 0.001)
    print(asyncio.run(metrics.text()).decode())
"""


def test_several_processes_add_up_what_they_counted(tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    counts.mkdir()
    for n, expected in ((2, 2), (3, 5)):
        command = [sys.executable, "-c", MANY, str(counts), str(tmp_path / "judgments.db"), str(n)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert re.search(rf"qrowd_requests_total{{[^}}]*}} {expected}\.0", text), text
