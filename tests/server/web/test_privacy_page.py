"""What an assessor sees of what is kept about them, takes with them, and deletes."""

import json
import re
from typing import Any

from starlette.testclient import TestClient

from judging import NOW, Clock, created, small_plan
from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.campaigns.running.privacy import DELETED
from qrowd_server.store import event_log as events
from qrowd_server.store import state_rows as state
from qrowd_server.store.base import Store
from qrowd_server.store.invitation_links import invite
from qrowd_server.web.app import make_app
from qrowd_server.web.security import ServerSettings
from qrowd_server.web.serving import keep_once

URL = "http://testserver"


def client_of(store: Store, name: str = "Zoltan") -> TestClient:
    """Somebody who has followed their link and agreed, with what is kept as the first page says it."""
    clock = Clock(step=1.0)
    number = created(store, small_plan("grades", journey={"consent": True}, campaign={"retention_days": 30}))
    token = store.write(lambda connection: invite(connection, number, name, NOW))
    settings = ServerSettings(base_url=URL, secret=bytes(range(32)))
    app = make_app(JudgingService(store, clock=clock), store, settings=settings, clock=clock)
    client = TestClient(app, base_url=URL, headers={"origin": URL})
    csrf = field(client.get(f"/join/{token}").text, "csrf")
    client.post(f"/join/{token}", data={"csrf": csrf})
    return client


def field(text: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', text)
    assert found is not None, text
    return found[1]


def test_the_first_page_says_under_which_name_files_leave_and_how_long_the_name_is_kept(store: Store) -> None:
    text = client_of(store).get("/c/pilot").text
    assert "In exported files you are called a1" in text
    assert "Your name is removed 30 days after the campaign has ended." in text
    assert 'href="/c/pilot/privacy"' in text


def test_an_assessor_reads_what_is_kept_takes_it_and_deletes_it(store: Store) -> None:
    client = client_of(store)
    page = client.get("/c/pilot/privacy")
    assert page.status_code == 200
    assert "Zoltan" in page.text
    assert "30 days after the campaign has ended" in page.text
    assert "What stays counts in complete sets only" in page.text  # before the decision, and after it
    data: dict[str, Any] = json.loads(client.get("/c/pilot/privacy/data").content)
    assert data["person"]["name"] == "Zoltan"
    unsure = client.post("/c/pilot/privacy", data={"csrf": field(page.text, "csrf")})
    assert unsure.status_code == 422
    assert store.read(lambda connection: state.find_named(connection, 1, "Zoltan")) is not None
    done = client.post("/c/pilot/privacy", data={"csrf": field(page.text, "csrf"), "sure": "1", "answers": "keep"})
    assert done.status_code == 200
    assert "It is deleted" in done.text
    assert "Your answers stay without any name. What stays counts in complete sets only" in done.text
    assert store.read(lambda connection: state.find_named(connection, 1, "Zoltan")) is None
    (entry,) = [one for one in store.read(lambda c: list(events.of_campaign(c, 1))) if one.kind == DELETED]
    assert (entry.actor, entry.data["by"]) == ("assessor", "assessor")
    assert client.get("/c/pilot/privacy", follow_redirects=False).status_code in (401, 403)


def test_nobody_else_reads_or_deletes_it(store: Store) -> None:
    client = client_of(store)
    token = field(client.get("/c/pilot/privacy").text, "csrf")
    client.cookies.clear()
    for path in ("/c/pilot/privacy", "/c/pilot/privacy/data"):
        assert client.get(path).status_code in (401, 403)
    assert client.post("/c/pilot/privacy", data={"csrf": token, "sure": "1"}).status_code in (401, 403)
    assert store.read(lambda connection: state.find_named(connection, 1, "Zoltan")) is not None


def test_addresses_of_failed_logins_go_after_fifteen_minutes_and_names_after_the_retention_time(store: Store) -> None:
    import asyncio

    from sqlalchemy import func, select

    from qrowd_server.campaigns.running.admin import CampaignAdmin
    from qrowd_server.store.accounts import begin_attempt
    from qrowd_server.store.schema import login_attempt

    client_of(store)
    store.write(lambda connection: begin_attempt(connection, "olga", "192.0.2.7", NOW))
    count = select(func.count()).select_from(login_attempt)
    assert keep_once(store, NOW + 899, None) == {}
    assert store.read(lambda connection: connection.scalar(count)) == 1
    assert keep_once(store, NOW + 901, None) == {}
    assert store.read(lambda connection: connection.scalar(count)) == 0
    asyncio.run(CampaignAdmin(store, clock=lambda: NOW + 1000).set_status("pilot", "stopped"))
    assert keep_once(store, NOW + 1000 + 30 * 86400, None) == {"pilot": 1}
    assert store.read(lambda connection: state.find_named(connection, 1, "Zoltan")) is None
