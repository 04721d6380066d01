"""A server behind each proxy of deploy/, by TLS, which is killed and started again while people judge."""

import os
import random
import re
import signal
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from qrowd_server.store.engine import open_store
from qrowd_server.store.invitation_links import invite
from qrowd_server.store.materials import find_campaign
from server.deploy.proxies import PROXIES, SITE, answers, program, server, until
from server.soak import checks, made
from server.soak.client import Screen, at_random, next_form
from servers import PostgresServer
from webserver import free_port

ANSWERS = 24
TRIES = 40


def _judge(client: httpx.Client, root: str, path: str, form: dict[str, str]) -> httpx.Response:
    """Send a form until it is acknowledged, as the pages' script does."""
    headers = {"origin": root, "x-qrowd": "fragment"}
    for _ in range(TRIES):
        try:
            answer = client.post(path, data=form, headers=headers)
        except httpx.TransportError:
            continue
        if answer.status_code not in (429, 502, 503, 504):
            return answer
    raise TimeoutError(f"{TRIES} tries: {answer.status_code} {answer.text[:300]}")


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("name", PROXIES)
def test_a_server_behind_a_proxy_loses_nothing_when_it_is_killed(
    name: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    program(name)
    with ExitStack() as stack:
        database = postgres.database()
        port = free_port()
        root = f"https://{SITE}:{port}"
        store = stack.enter_context(open_store(database))
        store.write(lambda c: made.create(c, [made.plan("grades", topics=4, documents=10, redundancy=2)]))
        row = store.read(lambda c: find_campaign(c, "grades"))
        assert row is not None
        token = store.write(lambda c: invite(c, row.id, "ann", 0.0))
        inner = free_port()
        dying = stack.enter_context(server(database, root, tmp_path, inner))
        proxy = stack.enter_context(PROXIES[name](tmp_path, inner, port))
        until(lambda: answers(f"{root}/owner/login", proxy.context), "the proxy's answer")
        client = stack.enter_context(httpx.Client(verify=proxy.context, timeout=30))

        welcome = client.get(f"{root}/join/{token}")
        csrf = re.search(r'name="csrf" value="([^"]+)"', welcome.text)
        assert csrf is not None
        come = client.post(f"{root}/join/{token}", data={"csrf": csrf[1]}, headers={"origin": root})
        assert (come.status_code, come.headers["location"]) == (303, "/c/grades")
        cookie = come.headers["set-cookie"]
        assert cookie.startswith("__Host-qrowd=")
        assert {"Path=/", "Secure", "HttpOnly"} <= set(re.split(r"; ", cookie))
        for address in re.findall(r'(?:href|src)="(/[^"]+)"', welcome.text):
            assert client.get(root + address).status_code == 200, address

        screen = Screen.read(client.get(root + come.headers["location"]).text)
        acknowledged: dict[str, dict[str, str]] = {}
        choose = at_random(random.Random(3))
        while len(acknowledged) < ANSWERS:
            if len(acknowledged) == ANSWERS // 2 and dying.poll() is None:
                os.killpg(dying.pid, signal.SIGKILL)
                dying.wait()
                stack.enter_context(server(database, root, tmp_path, inner))
            form = next_form(screen, choose)
            assert form is not None, screen.text[:500]
            answer = _judge(client, root, f"{root}/c/grades/act", form)
            assert answer.status_code == 200, answer.text[:500]
            acknowledged[form["key"]] = form
            screen = Screen.read(answer.text)
        assert dying.poll() is not None
        assert store.read(checks.violations) == []
        assert store.read(lambda c: checks.unsaved(c, acknowledged)) == []

        assert client.get(root + "/ready").status_code == 404, "it is not for visitors"
    lines = (tmp_path / "server.log").read_text()
    assert token not in lines
    assert '"route": "/c/{campaign}/act"' in lines
