"""Campaigns by program: how far they have come, exports, and what a key opens."""

import asyncio
import json
import logging
from threading import BoundedSemaphore
from typing import Any

import pytest

from qrowd_server.store.sessions import find_api_key, revoke_api_key
from qrowd_server.web import downloads
from qrowd_server.web.api import ROUTES
from qrowd_server.web.api_requests import PREFIX
from server.web.api.client import Client, Json
from server.web.api.test_judging import judge_all
from server.web.api.worlds import SMALL, World
from webserver import BASE


def ask(served: World, method: str, path: str, key: str = "all", **more: Any) -> Any:
    """A raw response."""

    async def work() -> Any:
        async with served.client(key) as client:
            return await client.http.request(method, path, **more)

    return served.run(work())


def test_a_key_lists_its_campaigns_and_says_how_far_they_have_come(served: World) -> None:
    async def work() -> tuple[list[Json], Json, Json]:
        async with served.client() as client:
            before = await client.campaign("stars")
            await judge_all(await client.arrive("stars", "model"), 1)
            return await client.campaigns(), before, await client.campaign("stars")

    listed, before, after = served.run(work())
    assert [one["name"] for one in listed] == list(SMALL)
    assert listed[1]["arms"] == {"": "grades"}
    assert (before["answers"], after["answers"], after["slots"]) == (0, 6, 8)
    assert after["completed"] == 2


def test_an_archive_has_names_only_on_request_which_the_log_keeps(served: World) -> None:
    async def work() -> tuple[bytes, bytes]:
        async with served.client() as client:
            await judge_all(await client.arrive("stars", "marked-name"), 1)
            return await client.export("stars", "archive"), await client.export("stars", "archive", names="true")

    plain, named = served.run(work())
    assert (b"marked-name" in plain, b"marked-name" in named) == (False, True)
    (entry,) = [one for one in map(json.loads, named.splitlines()[1:]) if one["kind"] == "names_exported"]
    assert entry["data"]["what"] == "archive"
    assert entry["account"].startswith("key ")


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet", "qrels"])
def test_exports_are_files_with_a_name_and_the_same_bytes_again(served: World, format: str) -> None:
    async def fill() -> None:
        async with served.client() as client:
            await judge_all(await client.arrive("stars", "model"), 1)

    served.run(fill())
    path = f"{PREFIX}/campaigns/stars/judgments?format={format}"
    first, again = ask(served, "GET", path), ask(served, "GET", path)
    assert first.status_code == 200
    assert first.headers["content-disposition"] == f'attachment; filename="stars-judgments.{format}"'
    assert first.content == again.content != b""


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("stars/preferences", 409),
        ("pairs/judgments", 409),
        ("pairs/duplicates", 200),
        ("stars/judgments?format=xml", 422),
        ("stars/judgments?format=qrels&everything=true", 422),
        ("stars/judgments?everything=maybe", 422),
        ("stars/judgments?colour=red", 422),
        ("stars/judgments?format=csv&format=csv", 400),
        ("stars/units?format=csv", 200),
        ("stars/units?everything=true", 422),
        ("stars/judgments?everything=true&format=spreadsheet", 200),
        ("stars/judgments?format=qrels", 200),
    ],
)
def test_what_cannot_be_exported_is_refused_before_it_begins(served: World, path: str, status: int) -> None:
    response = ask(served, "GET", f"{PREFIX}/campaigns/{path}")
    assert response.status_code == status
    if status != 200:
        assert set(response.json()) == {"code", "message", "field", "reference"}


def free_downloads() -> int:
    """How many more exports may begin now."""
    n = 0
    while downloads.DOWNLOADS.acquire(blocking=False):
        n += 1
    for _ in range(n):
        downloads.DOWNLOADS.release()
    return n


def test_only_some_exports_run_at_once_and_every_place_comes_back(
    served: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{PREFIX}/campaigns/stars/judgments"
    monkeypatch.setattr(downloads, "DOWNLOADS", BoundedSemaphore(1))
    downloads.DOWNLOADS.acquire()
    busy = ask(served, "GET", path)
    assert (busy.status_code, busy.json()["code"], busy.headers["retry-after"]) == (503, "busy", "5")
    downloads.DOWNLOADS.release()
    for _ in range(3):
        assert ask(served, "GET", path).status_code == 200
        assert ask(served, "GET", f"{PREFIX}/campaigns/stars/preferences").status_code == 409
    assert free_downloads() == 1


def test_somebody_who_hangs_up_in_the_middle_of_an_export_leaves_nothing_behind(
    served: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="qrowd_server")
    before, sent = free_downloads(), []
    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.4"}, "http_version": "1.1", "method": "GET",
        "scheme": "https", "path": f"{PREFIX}/campaigns/stars/archive", "raw_path": b"", "query_string": b"",
        "root_path": "", "client": ("192.0.2.1", 1), "server": ("127.0.0.1", 80), "state": {},
        "headers": [(b"host", b"judge.test"), (b"authorization", f"Bearer {served.keys['all']}".encode())],
    }  # fmt: skip

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message["type"])
        if message["type"] == "http.response.body":
            raise OSError("gone")

    async def work() -> None:
        await served.app(scope, receive, send)  # it ends without an error: nothing failed here

    served.run(work())
    assert sent == ["http.response.start", "http.response.body"]  # and nothing after it
    assert free_downloads() == before
    assert "the client went away before the end of its request" in caplog.messages
    assert [one for one in caplog.records if one.exc_info or one.levelno >= logging.WARNING] == []


# ---- keys


def paths() -> list[tuple[str, str]]:
    return [(method, one.path) for one in ROUTES for method in sorted(one.methods - {"HEAD"})]


@pytest.mark.parametrize(("method", "path"), paths())
def test_no_operation_answers_without_a_key_or_to_one_that_is_not_good(served: World, method: str, path: str) -> None:
    address = path.format(campaign="stars", assessor="1", what="judgments")
    for sent in (None, "", "Bearer", "Basic cXJvd2Q6eA==", "Bearer qrowd_x", f"Bearer {served.keys['revoked']}",
                 f"Bearer {served.keys['all']}x", f"{served.keys['all']}", "Bearer qrowd_" + "x" * 500):  # fmt: skip
        response = ask(served, method, address, key="", headers={} if sent is None else {"authorization": sent})
        assert response.status_code == 401
        assert response.headers["www-authenticate"].startswith("Bearer")
        assert response.json()["code"] == "key"


@pytest.mark.parametrize(("method", "path"), paths())
def test_a_key_for_one_campaign_opens_nothing_of_another(served: World, method: str, path: str) -> None:
    async def arrive() -> str:
        async with served.client() as client:
            return (await client.arrive("stars", "model")).id

    assessor = served.run(arrive())
    address = path.format(campaign="stars", assessor=assessor, what="judgments")
    response = ask(served, method, address, key="sizes")
    if "{" in path:
        assert response.status_code == 404
        # ... nor an assessor of another campaign by one's own.
        own = ask(served, method, path.format(campaign="sizes", assessor=assessor, what="judgments"), key="sizes")
        assert "{assessor}" not in path or own.status_code == 404
    else:
        assert [one["name"] for one in response.json()["campaigns"]] == ["sizes"]


def test_a_key_that_is_revoked_is_worth_nothing_at_once(served: World) -> None:
    assert ask(served, "GET", f"{PREFIX}/campaigns").status_code == 200
    key = served.store.read(lambda connection: find_api_key(connection, served.keys["all"]))
    assert served.store.write(lambda connection: revoke_api_key(connection, key.id))
    assert ask(served, "GET", f"{PREFIX}/campaigns").status_code == 401


def test_programs_speak_for_nobody_who_came_by_another_door(served: World) -> None:
    service = served.app.state.server.service
    number = served.run(service.arrive("stars", "link", "ann"))
    path = f"{PREFIX}/campaigns/stars/assessors"
    assert ask(served, "GET", f"{path}/{number:x}/page").status_code == 404
    assert ask(served, "POST", f"{path}/{number:x}/act", json={"do": "consent", "agreed": True}).status_code == 404
    assert ask(served, "GET", path).json() == {"assessors": []}


@pytest.mark.parametrize(
    "headers", [{"origin": "https://evil.test"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}]
)
def test_pages_of_other_sites_get_nothing_and_no_leave_to_ask(served: World, headers: dict[str, str]) -> None:
    path = f"{PREFIX}/campaigns/stars/assessors"
    for method in ("GET", "POST"):
        response = ask(served, method, path, headers=headers)
        assert (response.status_code, response.json()["code"]) == (403, "origin")
    asked = ask(served, "OPTIONS", path, headers=headers | {"access-control-request-method": "POST"})
    assert asked.status_code == 405
    assert not [name for name in [*asked.headers, *response.headers] if name.startswith("access-control")]


def test_a_method_that_an_address_does_not_take_is_told_those_it_does(served: World) -> None:
    response = ask(served, "DELETE", f"{PREFIX}/campaigns/stars/assessors")
    assert response.status_code == 405
    assert set(response.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}


# ---- bodies


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[" * 60_000, 422),
        (b'{"a":' * 60 + b"1" + b"}" * 60, 422),
        (b'{"do": "go_on", "do": "go_on"}', 400),
        (b'{"do": NaN}', 400),
        (b'{"do": 1e999}', 422),
        (b'{"do": ' + b"9" * 5000 + b"}", 400),
        (b'{"do": "\\ud800"}', 422),
        (b'{"do": "\\u0000"}', 422),
        (b"[]", 422),
        (b"null", 422),
        (b'"judge"', 422),
        (b'{"do": "go_on", "colour": 1}', 422),
    ],
)
def test_whatever_a_body_holds_the_answer_is_one_line(served: World, body: bytes, status: int) -> None:
    async def work() -> Any:
        async with served.client() as client:
            path = f"{PREFIX}{(await client.arrive('stars', 'model')).path}/act"
            headers = {"content-type": "application/json"}
            return await client.http.post(path, content=body, headers=headers)

    response = served.run(work())
    assert response.status_code == status
    assert "\n" not in response.json()["message"]
    assert len(response.json()["message"]) < 300


def test_bodies_are_bounded_and_must_say_what_they_are(served: World) -> None:
    async def work() -> list[int]:
        async with served.client() as client:
            assessor = await client.arrive("stars", "model")
            act, found = f"{PREFIX}{assessor.path}/act", []
            headers = {"content-type": "application/json"}
            found.append(await client.http.post(act, content=b" " * 70_000, headers=headers))
            found.append(await client.http.post(act, content=b"{}", headers={"content-type": "text/plain"}))
            found.append(await client.http.post(f"{PREFIX}/campaigns/stars/assessors", json={"name": "a b"}))
            found.append(
                await client.http.post(f"{PREFIX}/campaigns/stars/assessors", json={"name": "a", "about": "b"})
            )
            large = {"name": "a", "about": {"b": "c" * 20_000}}
            found.append(await client.http.post(f"{PREFIX}/campaigns/stars/assessors", json=large))
            return [one.status_code for one in found]

    assert served.run(work()) == [413, 415, 422, 422, 422]


def test_a_body_is_not_read_for_somebody_without_a_key(served: World) -> None:
    read = 0

    async def endless() -> Any:
        nonlocal read
        for _ in range(100):
            read += 1
            yield b"x" * 1000

    async def work() -> int:
        async with Client("", BASE, served.app) as client:
            response = await client.http.post(f"{PREFIX}/campaigns/stars/assessors", content=endless())
            return response.status_code

    assert served.run(work()) == 401
    assert read <= 1


def test_requests_do_not_wait_for_an_export(served: World) -> None:
    async def work() -> int:
        async with served.client() as client:
            both = await asyncio.gather(client.export("stars", "archive"), client.campaigns())
            return len(both[1])

    assert served.run(work()) == 3
