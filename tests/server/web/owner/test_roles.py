"""Roles: every route of the owner's pages by every role. A route that is new fails here until somebody says who may."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from qrowd_server.campaigns.plan.template import template_files
from qrowd_server.campaigns.results.archive import read_archive, write_archive
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.store.accounts import CAMPAIGN_ROLES, SERVER_ROLES, add_account, hash_password, members, set_member
from qrowd_server.store.engine import open_store
from qrowd_server.store.event_log import of_owners
from qrowd_server.store.materials import find_campaign
from qrowd_server.web import owner
from server.web.owner.estate import PASSWORD, Estate, estate
from webserver import Browser
from zips import zipped

ANYBODY = "anybody"  # without a session
#: {(method, path): the least role}: in the campaign of the path, or on the server where it names none.
TABLE = {
    ("GET", "/owner/login"): ANYBODY,
    ("POST", "/owner/login"): ANYBODY,
    ("GET", "/owner/enter/{token}"): ANYBODY,
    ("POST", "/owner/enter/{token}"): ANYBODY,
    ("GET", "/owner/password/{token}"): ANYBODY,
    ("POST", "/owner/password/{token}"): ANYBODY,
    ("GET", "/owner/oidc"): ANYBODY,
    ("GET", "/owner/oidc/callback"): ANYBODY,
    ("POST", "/owner/logout"): "member",
    ("GET", "/owner"): "member",
    ("GET", "/owner/account"): "member",
    ("POST", "/owner/account"): "member",
    ("GET", "/owner/keys"): "member",
    ("POST", "/owner/keys"): "member",
    ("GET", "/owner/new"): "member",
    ("POST", "/owner/new"): "member",
    ("GET", "/owner/accounts"): "administrator",
    ("POST", "/owner/accounts"): "administrator",
    ("GET", "/owner/c/{campaign}"): "viewer",
    ("GET", "/owner/c/{campaign}/live"): "viewer",
    ("GET", "/owner/c/{campaign}/setup"): "viewer",
    ("POST", "/owner/c/{campaign}/setup"): "owner",
    ("GET", "/owner/c/{campaign}/preview"): "viewer",
    ("GET", "/owner/c/{campaign}/log"): "viewer",
    ("GET", "/owner/c/{campaign}/results"): "viewer",
    ("GET", "/owner/c/{campaign}/export/{what}/{format}"): "viewer",
    ("GET", "/owner/c/{campaign}/assessors/{number}"): "owner",
    ("POST", "/owner/c/{campaign}/assessors/{number}"): "owner",
    ("GET", "/owner/c/{campaign}/assessors/{number}/data"): "owner",
    ("POST", "/owner/c/{campaign}/export"): "owner",
    ("GET", "/owner/c/{campaign}/review/item"): "owner",
    ("POST", "/owner/c/{campaign}/review/item"): "owner",
    ("GET", "/owner/c/{campaign}/questions"): "owner",
    ("POST", "/owner/c/{campaign}/questions"): "owner",
    ("POST", "/owner/c/{campaign}/status"): "owner",
    ("GET", "/owner/change/{campaign}"): "viewer",
    ("POST", "/owner/change/{campaign}"): "owner",
    ("POST", "/owner/c/{campaign}/delete"): "owner",
}
UPLOADS = (
    "/owner/new",
    "/owner/change/{campaign}",
)
#: Accounts by name: the role on the server, and that in the campaign.
ACCOUNTS = {
    "somebody": ("member", None),
    "viewer": ("member", "viewer"),
    "owner": ("member", "owner"),
    "administrator": ("administrator", None),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    with estate(tmp_path_factory.mktemp("roles")) as place:
        hashed = hash_password(PASSWORD, fast=True)

        def work(connection: object) -> None:
            campaign = find_campaign(connection, "small").id
            for name, (role, in_campaign) in ACCOUNTS.items():
                number = add_account(connection, f"the-{name}", hashed, 0.0, role=role)
                set_member(connection, campaign, number, in_campaign)

        place.store.write(work)
        yield place


def logged_in(made: Estate, name: str) -> Browser:
    browser = Browser(made.app)
    form = {"csrf": browser.get("/owner/login").field("csrf"), "name": name, "password": PASSWORD}
    assert browser.post("/owner/login", form).status == 303
    return browser


def test_who_has_a_role_in_no_campaign_is_told_so_and_not_that_there_is_none(made: Estate) -> None:
    page = logged_in(made, "the-somebody").get("/owner").text
    assert "You have a role in no campaign yet." in page
    assert "There is no campaign" not in page
    assert "no campaign" not in logged_in(made, "the-administrator").get("/owner").text


def served() -> list[tuple[str, str]]:
    """(method, path) of every route of the owner's pages."""
    return [(m, route.path) for route in owner.ROUTES for m in sorted((route.methods or {"GET"}) - {"HEAD"})]


def test_every_route_is_in_the_table_and_the_table_names_no_other() -> None:
    assert sorted(served()) == sorted(TABLE)


def may(name: str, needed: str) -> bool:
    """What the table means, written out."""
    on_server, in_campaign = ACCOUNTS[name]
    if needed in SERVER_ROLES:
        return SERVER_ROLES.index(on_server) <= SERVER_ROLES.index(needed)
    mine = "owner" if on_server == "administrator" else in_campaign
    return mine is not None and CAMPAIGN_ROLES.index(mine) <= CAMPAIGN_ROLES.index(needed)


def filled(made: Estate, path: str) -> str:
    values = {"campaign": "small", "number": made.assessor("ann").rpartition("/")[2], "what": "judgments",
              "format": "csv", "protocol": "grades"}  # fmt: skip
    path += "?topic=t1&document=d1" if path.endswith("/item") else ""
    return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], path)


@pytest.mark.parametrize("name", ACCOUNTS)
def test_roles_every_route_by_every_role(made: Estate, name: str) -> None:
    browser = logged_in(made, f"the-{name}")
    csrf = browser.get("/owner").field("csrf")
    tried = 0
    for (method, path), needed in TABLE.items():
        if needed == ANYBODY or path == "/owner/logout":
            continue
        address = filled(made, path)
        if method == "GET":
            status = browser.get(address).status
        elif path in UPLOADS:
            body = f'--x\r\ncontent-disposition: form-data; name="csrf"\r\n\r\n{csrf}\r\n--x--\r\n'.encode()
            status = browser.post(address, body, {"content-type": "multipart/form-data; boundary=x"}).status
        else:
            fields = {"do": "nothing of this kind", "topic": "t1", "document": "d1"}
            status = browser.post(address, {"csrf": csrf, **fields}).status
        in_campaign = "{campaign}" in path
        unknown = in_campaign and name == "somebody"  # the campaign is like one that does not exist
        if may(name, needed):
            # Empty forms are refused as such; no provider of sign-in is configured here.
            assert status in ({404} if path == "/owner/oidc" else {200, 303, 422}), (method, path, status)
        else:
            assert status == (404 if unknown else 403), (method, path, status)
        tried += 1
    assert tried >= 25
    assert browser.post("/owner/logout", {"csrf": csrf}).status == 303  # the last, since it ends the session
    assert browser.get("/owner").status == 303


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_without_a_session_only_the_login_answers(made: Estate, method: str) -> None:
    for (one, path), needed in TABLE.items():
        if one == method and needed != ANYBODY:
            browser = Browser(made.app)
            address = filled(made, path)
            answer = browser.get(address) if method == "GET" else browser.post(address, {"csrf": "x"})
            assert (answer.status, answer.header("location")) == (
                (303, "/owner/login") if method == "GET" else (403, None)
            ), path


def test_tabs_and_buttons_are_those_that_the_role_may_use(made: Estate) -> None:
    for name in ("viewer", "owner"):
        browser = logged_in(made, f"the-{name}")
        page = browser.get("/owner/c/small").text
        for path in set(re.findall(r'href="(/owner[^"?]*)"', page)):
            assert browser.get(path).status == 200, (name, path)
        assert ("Pause</button>" in page) == (name == "owner")
        assert (">ann<" in page, ">a1<" in page) == (name == "owner", name == "viewer"), "others see pseudonyms"
        assert ("Invite assessors" in browser.get("/owner/c/small/setup").text) == (name == "owner")
    assert "/owner/c/small" not in logged_in(made, "the-somebody").get("/owner").text


def test_who_creates_a_campaign_owns_it_and_the_log_says_who(tmp_path: Path) -> None:
    with estate(tmp_path) as made:
        hashed = hash_password(PASSWORD, fast=True)
        made.store.write(lambda c: add_account(c, "carla", hashed, 0.0, role="member"))
        carla = logged_in(made, "carla")
        csrf = carla.get("/owner/new").field("csrf").encode()
        content = zipped(template_files())
        body = b'--x\r\ncontent-disposition: form-data; name="csrf"\r\n\r\n' + csrf + b"\r\n"
        body += b'--x\r\ncontent-disposition: form-data; name="files"; filename="a.zip"\r\n\r\n' + content
        answer = carla.post("/owner/new", body + b"\r\n--x--\r\n", {"content-type": "multipart/form-data; boundary=x"})
        assert answer.status == 303, answer.text
        base = (answer.header("location") or "").removesuffix("/setup?created=1")
        assert carla.post(f"{base}/status", {"csrf": csrf.decode(), "do": "pause"}).status == 303
        log = carla.get(f"{base}/log").text
        assert re.findall(
            r'"rowheader" dir="auto">(.*?)</th><td role="cell" dir="auto" class="whole">(.*?)</td>', log
        ) == [
            ("carla", "paused the campaign"),
            ("carla", "created the campaign"),
        ]
        assert carla.get("/owner/c/small").status == 404
        form = {"csrf": csrf.decode(), "do": "role", "role": "viewer"}
        assert carla.post(f"{base}/setup", {**form, "name": "olga"}).status == 303
        assert "gave olga the role viewer" in carla.get(f"{base}/log").text
        assert "there is none of this name" in carla.post(f"{base}/setup", {**form, "name": "nobody"}).text


def test_an_archive_keeps_who_did_what_and_gives_no_role(made: Estate, tmp_path: Path) -> None:
    who = logged_in(made, "the-owner")
    csrf = who.get("/owner").field("csrf")
    for do in ("pause", "resume"):
        assert who.post("/owner/c/small/status", {"csrf": csrf, "do": do}).status == 303
    form = {"csrf": csrf, "do": "role", "name": "the-somebody", "role": "viewer"}
    assert who.post("/owner/c/small/setup", form).status == 303
    assert who.post("/owner/c/small/setup", {**form, "role": "none"}).status == 303
    lines = made.store.read(lambda c: list(write_archive(c, "small", names=True)))
    with open_store(tmp_path / "other.db") as other:
        other.write(lambda c: add_account(c, "the-owner", "", 0.0))
        other.write(lambda c: read_archive(c, lines, account="key import"))
        log = [(one.kind, one.account, dict(one.data)) for one in other.read(lambda c: of_owners(c, 1, 100))]
        mine = [one for one in log if one[1] == "the-owner"]
        assert mine == [
            ("member", "the-owner", {"account": "the-somebody", "role": "none"}),
            ("member", "the-owner", {"account": "the-somebody", "role": "viewer"}),
            ("resumed", "the-owner", {}),
            ("paused", "the-owner", {}),
        ]
        assert [one[1] for one in log if one[0] == "created"] == ["key import"]
        assert other.read(lambda c: members(c, 1)) == []
        other.write(lambda c: rebuild(c, "small"))
        assert [(one.kind, one.account, dict(one.data)) for one in other.read(lambda c: of_owners(c, 1, 100))] == log
