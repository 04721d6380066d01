"""The log: a line for each request, with its number, and without anybody's name or token."""

import asyncio
import io
import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from qrowd_server.web.logs import JsonLines, route_of
from server.web.attacks import filled, routes
from server.web.fakes import World, world
from server.web.siege import Fort
from webserver import Browser


@pytest.fixture
def served(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


@contextmanager
def logged() -> Iterator[io.StringIO]:
    """What the server writes meanwhile."""
    stream, logger = io.StringIO(), logging.getLogger("qrowd_server")
    handler, level = logging.StreamHandler(stream), logger.level
    handler.setFormatter(JsonLines())
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield stream
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def rows(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_request_is_one_line_with_who_asked_as_a_number(served: World) -> None:
    ann = served.browser("ann")
    with logged() as stream:
        answer = ann.get("/c/one?secret=1")
    (row,) = rows(stream)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", row.pop("time"))
    assert row.pop("ms") >= 0
    assert row.pop("id") == answer.header("x-request-id")
    assert re.fullmatch(r"assessor:\d+", row.pop("who"))
    assert row == {"level": "info", "event": "request", "method": "GET", "route": "/c/{campaign}",
                   "campaign": "one", "status": 200}  # fmt: skip


def test_no_line_holds_a_token_a_name_or_a_query_on_whatever_route(shared: Fort) -> None:
    secrets = {"token": "TOKEN-0123456789-abcdefghijklmnopqrstuvwxyz", "name": "Annabel"}
    owner, ann = shared.owner(), shared.walker("sizes", who="ann").come().browser
    with logged() as stream:
        for method, path in routes(shared):
            for who in (Browser(shared.app), owner, ann):
                who.send(method, filled(path, **secrets) + "?id=Annabel&key=TOKEN-0123456789", b"", {})
        for path in (
            "/join/TOKEN-0123456789/",
            "/jion/TOKEN-0123456789",
            "//TOKEN-0123456789",
            "/TOKEN-0123456789-abc",
        ):
            Browser(shared.app).get(path)
    text = stream.getvalue()
    noted = [path for _, path in routes(shared) if path not in ("/health", "/ready")]
    assert len(text.splitlines()) == 3 * len(noted) + 4
    assert "TOKEN-0123456789-" not in text
    assert "Annabel" not in text
    assert "/join/{token}" in text
    assert '"route": "/..."' in text


def test_the_number_of_a_failed_request_is_on_its_page_in_its_header_and_beside_the_traceback(served: World) -> None:
    ann = served.browser("ann")
    token = served.token(ann)
    served.service.error = RuntimeError("boom")
    with logged() as stream:
        answer = ann.post("/c/one/act", {"do": "go_on", "csrf": token})
    number = answer.header("x-request-id")
    assert answer.field("reference") == number
    failure, request = rows(stream)
    assert (failure["id"], failure["level"], request["id"], request["status"]) == (number, "error", number, 500)
    assert request["level"] == "warning"
    assert "RuntimeError: boom" in failure["traceback"]


def test_probes_that_went_well_have_no_lines(served: World) -> None:
    with logged() as stream:
        served.browser().get("/health")
        served.browser().get("/ready")
    assert rows(stream) == []


def test_a_failed_login_is_logged_with_the_address_and_without_the_name(shared: Fort) -> None:
    browser = Browser(shared.app, address="198.51.100.7")
    form = {"name": "Annabel", "password": "wrong wrong wrong", "csrf": browser.get("/owner/login").field("csrf")}
    with logged() as stream:
        assert browser.post("/owner/login", form).status == 422
    failed = [row for row in rows(stream) if row["event"] == "login failed"]
    assert [(row["address"], row["level"]) for row in failed] == [("198.51.100.7", "warning")]
    assert "Annabel" not in stream.getvalue()


def test_a_line_stays_one_line_whatever_is_in_it() -> None:
    record = logging.LogRecord("qrowd", logging.INFO, "", 0, "one\ntwo\x1b[31m", None, None)
    record.fields = {"a": 'x "y"\n', "b": "", "c": 3}
    line = JsonLines().format(record)
    assert "\n" not in line
    assert json.loads(line).items() >= {"event": "one\ntwo\x1b[31m", "a": 'x "y"\n', "b": "", "c": 3}.items()


def test_requests_at_the_same_time_have_numbers_of_their_own(served: World) -> None:
    async def both() -> list[str | None]:
        async def one() -> str | None:
            return await asyncio.to_thread(lambda: Browser(served.app).get("/").header("x-request-id"))

        return list(await asyncio.gather(*(one() for _ in range(20))))

    assert len(set(asyncio.run(both()))) == 20


def test_a_route_is_named_by_its_parameters() -> None:
    scope = {"path": "/owner/c/pilot/assessors/3", "path_params": {"campaign": "pilot", "number": "3"}, "endpoint": 1}
    assert route_of(scope) == "/owner/c/{campaign}/assessors/{number}"
    assert route_of({"path": "/x"}) == "/..."
