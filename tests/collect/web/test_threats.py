"""The threat table, row by row, against the real application: its store, service, drawing, owner's pages and API."""

import asyncio
import csv
import io
import json
import logging
import re
import socket
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest
from sqlalchemy import func, select
from starlette.routing import Route

from collect.web.payloads import PAYLOADS
from collect.web.server import BASE, Answer, Browser, listening
from collect.web.siege import CODES, Fort, Walker, everything, fort
from qrowd.collect.campaigns.admin import CampaignAdmin
from qrowd.collect.campaigns.creation import create_campaign
from qrowd.collect.campaigns.plan import DocumentPlan, Plan, TopicPlan
from qrowd.collect.campaigns.rebuild import rebuild
from qrowd.collect.protocols.events import Refusal
from qrowd.collect.protocols.settings import GradesSettings, JourneySettings
from qrowd.collect.store import events
from qrowd.collect.store.accounts import add_account, hash_password, invite, revoke_invitation
from qrowd.collect.store.materials import find_campaign
from qrowd.collect.store.schema import STATE, event, judgment
from qrowd.collect.store.sessions import IDLE
from qrowd.collect.web.crowd.signed_links import Keys
from qrowd.errors import ArgumentError

PASSWORD = "correct horse battery"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Fort]:
    with fort(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fort]:
    """One for all that leave it as it was, or care for nothing but what they did."""
    with fort(tmp_path_factory.mktemp("shared")) as made:
        yield made


def told(place: Fort, kind: str) -> list[dict[str, Any]]:
    """What the log holds of that kind."""
    return list(place.store.read(lambda c: c.scalars(select(event.c.data).where(event.c.kind == kind)).all()))


def count(place: Fort, table: Any) -> int:
    return int(place.store.read(lambda c: c.execute(select(func.count()).select_from(table)).scalar_one()))


# ======================================================================== XSS: see test_threats_in_browser.py as well


@pytest.mark.parametrize("payload", PAYLOADS[:12])
def test_what_was_refused_comes_back_as_text(shared: Fort, payload: str) -> None:
    walker = shared.walker("sizes").come().walk(until="document")
    answer = walker.browser.post(
        "/c/sizes/act",
        {**{n: walker.value(n) for n in ("csrf", "shown", "key", "position")}, "do": "judge", "text": payload,
         "reason": payload},
    )  # fmt: skip
    assert answer.status == 422
    assert payload not in answer.text


# ======================================================================== CSRF

PARAMETERS = {
    "campaign": "sizes", "token": "none", "name": "icon.svg", "number": "1", "what": "judgments", "format": "csv",
    "assessor": "1", "kind": "judgments",
}  # fmt: skip


def routes(place: Fort) -> list[tuple[str, str]]:
    """(method, path) of everything that is served, the path as it is written."""
    found = []
    for route in place.app.routes:
        assert isinstance(route, Route), "a route of another kind is not tried here"
        found += [(method, route.path) for method in sorted((route.methods or {"GET"}) - {"HEAD"})]
    assert len(found) >= 50
    return found


def filled(path: str, **changes: str) -> str:
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda found: {**PARAMETERS, **changes}[found[1]], path)


FORM = {"do": "go_on", "position": "0", "name": "x", "password": "x"}


def test_every_post_without_a_token_is_refused_whoever_sends_it(shared: Fort) -> None:
    ann, owner = shared.walker("sizes").come().browser, shared.owner()
    before = count(shared, event)
    tried = 0
    for method, path in routes(shared):
        if method == "GET":
            continue
        for who in (Browser(shared.app), ann, owner):
            for token in ({}, {"csrf": ""}, {"csrf": "x" * 43}, {"csrf": "a.b"}):
                answer = who.post(filled(path), {**FORM, **token})
                expected = 401 if path.startswith("/api/") else 415 if path == "/owner/new" and who is owner else 403
                assert answer.status == expected, (method, path, answer.text[:300])
                tried += 1
    assert tried > 190
    assert count(shared, event) == before


def test_a_token_of_one_session_opens_no_other(shared: Fort) -> None:
    ann, ben = shared.walker("sizes", who="ann").come(), shared.walker("sizes", who="ben").come()
    mine, theirs = ann.value("csrf"), ben.value("csrf")
    assert mine != theirs
    for path in ("/c/sizes/act", "/c/sizes/draft", "/logout"):
        assert ann.browser.post(path, {**FORM, "csrf": theirs}).status == 403
    owner = shared.owner()
    assert owner.post("/owner/c/sizes/status", {"do": "stop", "csrf": mine}).status == 403


def test_no_get_writes_anything(shared: Fort) -> None:
    ann, owner = shared.walker("sizes").come().browser, shared.owner()
    log, states = count(shared, event), [count(shared, table) for table in STATE]
    for method, path in routes(shared):
        if method != "GET":
            continue
        for who in (Browser(shared.app), ann, owner):
            changes = {"token": shared.links["sizes ben"]} if path.startswith("/join") else {}
            assert who.get(filled(path, **changes)).status < 500
            assert who.get(filled(path, **changes), method="HEAD").status < 500
    assert (count(shared, event), [count(shared, table) for table in STATE]) == (log, states)


# ======================================================================== sessions: fixation and theft


@pytest.mark.parametrize(("base", "secure"), [("https://judge.test", True), ("http://judge.test", False)])
def test_a_cookie_is_out_of_reach_and_by_https_bound_to_the_host(tmp_path: Path, base: str, secure: bool) -> None:
    with fort(tmp_path, base_url=base) as made:
        walker = made.walker("sizes").come()
        cookie = next(a.header("set-cookie") for a in walker.seen if a.header("set-cookie"))
        assert cookie is not None
        parts = {part.strip().lower() for part in cookie.split(";")[1:]}
        assert {"httponly", "samesite=lax", "path=/"} <= parts
        assert not any(part.startswith("domain") for part in parts)
        assert ("secure" in parts, cookie.startswith("__Host-")) == (secure, secure)
        assert (walker.page.header("strict-transport-security") is not None) == secure
        assert set(made.owner().cookies) == {"__Host-qrowd-owner" if secure else "qrowd-owner"}


def test_a_cookie_that_somebody_else_set_is_never_adopted(place: Fort) -> None:
    attacker = place.walker("sizes", who="ben").come().browser
    for planted in ("x" * 43, next(iter(attacker.cookies.values()))):
        victim = place.walker("sizes", who="ann")
        victim.browser.cookies = {"__Host-qrowd": planted}
        victim.come()
        assert victim.browser.cookies["__Host-qrowd"] != planted
        thief = Browser(place.app, cookies={"__Host-qrowd": planted})
        assert thief.get("/c/sizes").status == 403  # what was planted is worth nothing, even where it was good before


def test_two_browsers_of_one_assessor_see_one_task_and_end_apart(place: Fort) -> None:
    first, second = place.walker("stars").come(), place.walker("stars").come()
    first.walk(until="document")
    second.get("/c/stars")
    assert second.view == "document"
    first.send("judge", position="0", text="1", reason="")
    stale = second.browser.post(
        "/c/stars/act", {"do": "judge", "position": "0", "text": "0", "csrf": second.value("csrf"), "shown": "1"}
    )
    assert stale.status == 409
    assert first.browser.post("/logout", {"csrf": second.value("csrf")}).status == 403
    csrf = re.search(r'name="csrf" value="([^"]+)"', first.browser.get("/c/stars").text)
    assert csrf
    old = dict(first.browser.cookies)
    assert first.browser.post("/logout", {"csrf": csrf[1]}).status == 303
    assert Browser(place.app, cookies=old).get("/c/stars").status == 403
    assert second.browser.get("/c/stars").status == 200


def test_twelve_hours_without_a_word_end_a_session_and_one_before_does_not(place: Fort) -> None:
    ann, owner = place.walker("sizes").come().browser, place.owner()
    for _ in range(3):
        place.clock.now += IDLE - 61
        assert ann.get("/c/sizes").status == 200
        assert owner.get("/owner").status == 200
    place.clock.now += IDLE + 61
    assert ann.get("/c/sizes").status == 403
    assert (owner.get("/owner").status, owner.get("/owner").header("location")) == (303, "/owner/login")


def test_who_becomes_an_owner_has_another_id_and_no_cookie_serves_for_the_other_role(place: Fort) -> None:
    ann, owner = place.walker("sizes").come().browser, place.owner()
    mine, theirs = next(iter(ann.cookies.values())), next(iter(owner.cookies.values()))
    swapped = Browser(place.app, cookies={"__Host-qrowd": theirs, "__Host-qrowd-owner": mine})
    assert swapped.get("/c/sizes").status == 403
    assert swapped.get("/owner").status == 303
    place.store.write(lambda c: add_account(c, "olga", hash_password(PASSWORD, fast=True), 0.0))
    form = {"name": "olga", "password": PASSWORD, "csrf": owner_login(place)}
    assert owner.post("/owner/login", form).status == 303
    assert owner.cookies["__Host-qrowd-owner"] != theirs
    assert Browser(place.app, cookies={"__Host-qrowd-owner": theirs}).get("/owner").status == 303


def owner_login(place: Fort) -> str:
    return Browser(place.app).get("/owner/login").field("csrf")


def test_the_printed_link_lets_one_browser_in_and_no_other(place: Fort) -> None:
    from qrowd.collect.web.owner import owner_link

    path = place.store.write(lambda c: owner_link(c, "", place.clock()))
    first, second = Browser(place.app), Browser(place.app)
    token = first.get(path).field("csrf")
    assert first.post(path, {"csrf": token}).status == 303
    assert second.post(path, {"csrf": token}).status == 404
    late = place.store.write(lambda c: owner_link(c, "", place.clock()))
    place.clock.now += 24 * 3600
    assert second.get(late).status == 404


def test_a_signed_arrival_ends_the_sessions_of_who_only_typed_the_id(place: Fort) -> None:
    squatter = place.walker("sizes", "prolific").come()
    assert squatter.browser.get("/c/sizes").status == 200
    arrive_signed(place)
    assert squatter.browser.get("/c/sizes").status == 403
    assert [one["identified"] for one in told(place, "identified")] == ["signed"]


def arrive_signed(place: Fort) -> None:
    """Prolific vouches for somebody."""
    number = place.walker("sizes", "prolific").door.split("PROLIFIC_PID=")[1][:24]
    said = {"c": "sizes", "p": "prolific", "x": number, "i": "signed", "a": {"submission": "b" * 24}}
    ticket = place.app.state.server.form_token("arrival", said)
    assert Browser(place.app).post("/p/sizes", {"csrf": ticket}).status == 303


@pytest.mark.parametrize(
    "before",
    [
        False,
        True,
    ],
)
def test_whom_prolific_vouched_for_is_nobodys_who_only_types_the_id(place: Fort, before: bool) -> None:
    if before:
        place.walker("sizes", "prolific").come()
    arrive_signed(place)
    again = place.walker("sizes", "prolific")
    page = again.get(again.door)
    again.post("/p/sizes", {"csrf": page.field("csrf")})
    assert again.page.status == 422
    assert "on the platform again" in again.page.text
    assert again.browser.cookies == {}


def test_a_link_that_was_revoked_lets_nobody_in_even_from_a_page_that_was_open(place: Fort) -> None:
    link = f"/join/{invited(place, 'carl')}"
    browser = Browser(place.app)
    token = browser.get(link).field("csrf")
    place.store.write(lambda c: revoke_invitation(c, find_campaign(c, "sizes").id, "carl"))  # type: ignore[union-attr]
    assert (browser.post(link, {"csrf": token}).status, browser.get(link).status) == (404, 404)
    assert browser.cookies == {}


# ======================================================================== one reads or changes another's

ACTORS = ("anonymous", "assessor", "other campaign", "excluded", "owner", "revoked")


def expected(method: str, path: str, actor: str) -> set[int]:
    """The statuses that a request of somebody, with the right token where there is one, may have."""
    mine = actor in ("assessor", "excluded")
    match path.split("/")[1:]:
        case [""] | ["static", *_] | ["health"] | ["api"] | ["api", "openapi.json"]:
            return {200}
        case ["api", "v1", *_]:
            return {401}  # no cookie opens the API
        case ["owner", "login"]:
            return {303} if actor == "owner" and method == "GET" else {200} if method == "GET" else {403}
        case ["owner", "enter", *_]:
            return {404} if method == "GET" else {403}
        case ["owner", *_] if actor == "owner":
            return {200, 303, 404, 415, 422}
        case ["owner", *_]:
            return {303} if method == "GET" else {403}
        case ["logout"]:
            return {303} if actor in ("assessor", "excluded", "other campaign") else {403}
        case ["join", _]:
            return {403} if method == "POST" else {404} if actor == "revoked" else {200}
        case ["c", _, *rest]:
            if actor == "other campaign":
                return {404}
            if not mine:
                return {403}
            return {422} if rest == ["act"] and actor == "excluded" else {204} if rest == ["draft"] else {200, 303}
        case ["p" | "panel" | "mturk", _, *_]:
            return {400} if method == "GET" else {403}  # no ids; no ticket
    raise AssertionError(f"{path}: say who may have this")


@pytest.mark.parametrize("actor", ACTORS)
def test_everybody_gets_into_what_is_theirs_and_nothing_else(place: Fort, actor: str) -> None:
    revoked = invited(place, "carl")
    place.store.write(lambda c: revoke_invitation(c, find_campaign(c, "sizes").id, "carl"))  # type: ignore[union-attr]
    link = revoked if actor == "revoked" else place.links["sizes ben"]
    walker: Walker | None = None
    if actor in ("assessor", "excluded"):
        walker = place.walker("sizes", who="ann").come()
        if actor == "excluded":
            asyncio.run(CampaignAdmin(place.store, clock=place.clock).exclude("sizes", "ann", "a robot"))
    elif actor == "other campaign":
        walker = place.walker("stars", who="ann").come()
    browser = walker.browser if walker else place.owner() if actor == "owner" else Browser(place.app)
    token = walker.value("csrf") if walker else "none"
    for method, path in sorted(routes(place), key=lambda one: one[1] == "/logout"):
        address = filled(path, token=link if path.startswith("/join") else "none")
        form = {"do": "consent", "agreed": "1", "position": "0", "csrf": token}
        answer = browser.get(address) if method == "GET" else browser.post(address, form)
        if method not in ("GET", "POST"):
            answer = browser.send(method, address, b"", {})
        wanted = expected(method, path, actor)
        if actor == "owner" and method != "GET" and path.startswith("/owner") and path not in ("/owner/login",):
            wanted = {403, 415}  # without the token of an owner's page
        assert answer.status in wanted, (method, path, answer.status, answer.text[:300])


def invited(place: Fort, name: str, campaign: str = "sizes") -> str:
    number = place.store.read(lambda c: find_campaign(c, campaign)).id
    return str(place.store.write(lambda c: invite(c, number, name, 0.0)))


def test_nobody_answers_in_anothers_unit(place: Fort) -> None:
    ann, ben = (place.walker("stars", who=who).come().walk(until="document") for who in ("ann", "ben"))
    taken = ben.value("shown")
    before = count(place, judgment)
    for shown in (taken, "1", "-1", "0x1", "9" * 400):
        form = {"do": "judge", "position": "0", "text": "1", "shown": shown, "csrf": ann.value("csrf")}
        assert ann.browser.post("/c/stars/act", form).status in (409, 400)
        ann.browser.post("/c/stars/draft", {**form, "text": "stolen"})
    assert count(place, judgment) == before
    assert "stolen" not in ben.browser.get("/c/stars").text


def test_an_excluded_assessor_is_told_so_and_can_do_nothing(place: Fort) -> None:
    walker = place.walker("stars", "panel", "eve").come().walk(until="document")
    fields = {name: walker.value(name) for name in ("csrf", "shown", "key", "position")}
    asyncio.run(CampaignAdmin(place.store, clock=place.clock).exclude("stars", "eve", "a robot"))
    assert walker.browser.post("/c/stars/act", {**fields, "do": "judge", "text": "1"}).status == 422
    walker.get("/c/stars")
    assert walker.view == "excluded"
    assert not re.search(r"a robot|CODE", walker.page.text)


@pytest.mark.parametrize("key", ["key revoked", "key sizes"])
def test_a_key_opens_what_it_was_made_for(shared: Fort, key: str) -> None:
    headers = {"authorization": f"Bearer {shared.links[key]}"}
    for method, path in routes(shared):
        if method == "GET" and path.startswith("/api/v1/campaigns/{campaign}"):
            status = Browser(shared.app).get(filled(path, campaign="stars"), headers).status
            assert status == (401 if key == "key revoked" else 404), path


# ======================================================================== paths, archives, formulas

NAMES = [
    "../secret", "../../etc/passwd", "..", ".", "", "/", "//", "/etc/passwd", "//etc/passwd", "....//etc/passwd",
    "..%2fsecret", "%2e%2e/secret", "%2e%2e%2fsecret", "..%252fsecret", "%252e%252e%252f", "..%c0%afsecret",
    "..%5csecret", "..\\secret", "%5c..%5csecret", "C:/x", "C:%5cx", "%00", "icon.svg%00", "%00icon.svg",
    "icon.svg%00.css", "icon.svg/..", "icon.svg/../qrowd.css", "./icon.svg", "static/icon.svg", "../static/icon.svg",
    "icon.svg/", "ICON.SVG", "icon.svg%20", "icon.svg.", "icon.svg::$DATA", "icon.sv%67/", "~root", "%u002e%u002e/x",
    "..;/secret", "icon.svg;x", "\u2025/secret", "__init__.py", "../web/app.py", "judge.js.map",
]  # fmt: skip


def test_no_name_leads_out_of_what_comes_with_the_program(shared: Fort) -> None:
    assert len(NAMES) >= 40
    for name in NAMES:
        answer = Browser(shared.app).get(f"/static/{quote(name, safe='/%')}")
        assert answer.status == 404, name


MEMBERS = [
    "../out", "a/../../out", "/out", "//out", "..\\out", "a\\..\\..\\out", "C:out", "C:\\out", "\\\\host\\out",
    "campaign.toml/../../out", "./../out", "..", "a/..",
]  # fmt: skip


def zipped(**members: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def upload(place: Fort, owner: Browser, content: bytes, name: str = "x.zip", **fields: str) -> Answer:
    csrf = owner.get("/owner/new").field("csrf")
    request = httpx.Request("POST", BASE, data={"csrf": csrf, **fields}, files={"files": (name, content)})
    return owner.send(
        "POST", "/owner/new", request.read(), {**dict(request.headers), "host": "judge.test", "origin": BASE}
    )


GOOD = {
    "campaign.toml": b'[campaign]\nname = "fine"\n[grades]\nk = 1\n[journey]\nconsent = false\n',
    "topics.tsv": b"t1\tWater\n",
    "documents.jsonl": b'{"docid": "d1", "text": "Water."}\n',
}


def test_a_zip_is_taken_and_one_that_leads_out_or_blows_up_is_refused_in_words(place: Fort, tmp_path: Path) -> None:
    owner = place.owner()
    for name in MEMBERS:
        answer = upload(place, owner, zipped(**{**GOOD, name: b"x"}))
        assert (answer.status, "Traceback" in answer.text) == (422, False), name
    link = zipfile.ZipInfo("documents.jsonl")
    link.external_attr = 0o120777 << 16
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("campaign.toml", GOOD["campaign.toml"])
    assert upload(place, owner, made.getvalue()).status == 422
    bomb = zipped(**{**GOOD, "documents.jsonl": b"\x00" * (40 << 20)})
    assert len(bomb) < 100_000
    began = time.perf_counter()
    assert upload(place, owner, bomb).status == 422
    assert time.perf_counter() - began < 5
    assert upload(place, owner, b"PK\x05\x06" + b"\x00" * 18).status == 422
    assert upload(place, owner, b"no zip at all").status == 422
    outside = upload(
        place, owner, b"x", "x.tsv", toml='[campaign]\nname = "a"\n[grades]\n[files]\ntopics = "/etc/passwd"\n'
    )
    assert outside.status == 422
    assert "root:" not in outside.text
    assert upload(place, owner, zipped(**GOOD)).status == 303
    assert place.store.read(lambda c: find_campaign(c, "fine")) is not None
    assert not list(tmp_path.parent.glob("out*"))


@pytest.mark.parametrize("field", ["toml", "csrf", "x"])
@pytest.mark.parametrize("value", [b"\x00", b"\xff\xfe", b"\xed\xa0\x80", "\ufffe\U0010ffff".encode()])
def test_a_form_with_files_that_is_no_text_breaks_nothing(shared: Fort, field: str, value: bytes) -> None:
    owner = shared.owner()
    csrf = owner.get("/owner/new").field("csrf").encode()
    parts = {"csrf": csrf, field: value}
    body = b"".join(
        b'--b\r\ncontent-disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (n.encode(), v) for n, v in parts.items()
    )
    headers = {"content-type": "multipart/form-data; boundary=b", "origin": BASE}
    assert owner.send("POST", "/owner/new", body + b"--b--\r\n", headers).status in (400, 403, 422)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\n="])
def test_no_cell_of_the_spreadsheet_form_is_a_formula(shared: Fort, start: str) -> None:
    typed = f'{start}HYPERLINK("http://evil.test";"x")'
    walker = shared.walker("stars", "panel", f'=cmd|"/C"!A{ord(start[0])}').come().walk(until="document")
    for _ in range(3):
        walker.send("judge", position=walker.value("position"), text="1", reason=typed)
        walker.get("/c/stars")
    for what in ("judgments", "revisions"):
        answer = shared.owner().get(f"/owner/c/stars/export/{what}/spreadsheet?everything=1")
        assert answer.status == 200
        rows = list(csv.reader(io.StringIO(answer.body.decode(), newline="")))
        cells = [cell for row in rows for cell in row]
        assert any("HYPERLINK" in cell for cell in cells)
        formulas = [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
        assert [cell for cell in formulas if not re.fullmatch(r"-?[\d.e-]+", cell)] == []


@pytest.mark.parametrize(
    "lines",
    [
        b"", b"{}", b"[]", b"null", b"\xff", b"{" * 10_000, b"[" * 100_000,
        b'{"format": "qrowd campaign", "version": 1}',
        b'{"format": "qrowd campaign", "version": 1, "plan": {"campaign": {"name": "../x"}}, "created": 0}',
        b'{"format": "qrowd campaign", "version": 1, "plan": 1, "created": "x", "units": 1}',
        b'{"format": "qrowd campaign", "version": 1, "plan": {}, "created": NaN, "units": {}}',
        b"\x1f\x8b" + b"\x00" * 50,
    ],
)  # fmt: skip
def test_an_archive_that_makes_no_sense_is_refused_in_words(shared: Fort, lines: bytes) -> None:
    headers = {"authorization": f"Bearer {shared.links['key all']}", "content-type": "application/jsonl"}
    before = shared.store.read(lambda c: c.execute(select(func.count()).select_from(event)).scalar_one())
    answer = Browser(shared.app).send("POST", "/api/v1/archives", lines, headers)
    assert answer.status in (400, 422), answer.text
    assert shared.store.read(lambda c: c.execute(select(func.count()).select_from(event)).scalar_one()) == before


# ======================================================================== SQL injection

INJECTIONS = [
    "'", "''", "\\'", '"', "' or '1'='1", "1; drop table event; --", "' union select hash from session --", "%' --",
    "1 or 1=1", "name desc; --", "(select 1)", "__class__", "__init__.__globals__", "name__contains", "-__class__",
    "%", "_", "\\", "\x00", "\ud800", "${jndi:x}", "$1", ":name", "?1", "%s", "%(name)s", "{0}", "{campaign.settings}",
]  # fmt: skip


@pytest.mark.parametrize("text", INJECTIONS)
def test_no_text_becomes_a_part_of_a_statement(shared: Fort, text: str) -> None:
    owner = shared.owner()
    plain = text.encode("utf-8", "surrogatepass")
    q = quote(plain, safe="")
    before = count(shared, event)
    usual = owner.get("/owner/c/sizes/assessors").status
    assert usual == 200
    for path in (
        f"/owner/c/sizes/assessors?sort={q}",
        f"/owner/c/sizes/assessors?sort=-{q}",
        f"/owner/c/sizes/payment?code={q}",
    ):
        assert owner.get(path).status in (200, 400, 422), path
    for path in (f"/c/{q}", f"/join/{q}", f"/panel/{q}?id=x", f"/owner/c/{q}", f"/owner/c/sizes/assessors/{q}"):
        assert owner.get(path).status in (400, 403, 404), path
    assert Browser(shared.app).get(f"/panel/sizes?id={q}").status in (200, 400)
    api = {"authorization": f"Bearer {shared.links['key all']}"}
    for path in (f"/api/v1/campaigns/{q}", f"/api/v1/campaigns/sizes/assessors/{q}/page"):
        assert Browser(shared.app).get(path, api).status in (400, 404), path
    form = {"name": plain, "password": plain, "csrf": owner_login(shared)}
    stranger = Browser(shared.app, address=f"192.0.3.{INJECTIONS.index(text)}")
    assert stranger.post("/owner/login", urlencode(form).encode()).status in (400, 422)
    assert count(shared, event) == before


# ======================================================================== SSRF

ELSEWHERE = [
    "https://evil.test/jwks.json", "https://api.prolific.com.evil.test/", "https://api.prolific.com@evil.test/",
    "https://evil.test/#api.prolific.com", "https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/latest/",
    "https://localhost/", "https://api.prolific.com:8443/", "https://api.prolific.com:22/", "http://api.prolific.com/",
    "https://0/", "https://2130706433/", "https://10.0.0.1/", "file:///etc/passwd", "gopher://api.prolific.com/",
    "https://api.prolific.com\\@evil.test/", "https://user@api.prolific.com/", "https://api.prolific.com:x/",
    "https://api.prolific.com./",
]  # fmt: skip


@pytest.mark.parametrize("url", ELSEWHERE)
def test_keys_are_fetched_from_hosts_that_the_server_allows_and_no_other(url: str) -> None:
    with pytest.raises(ArgumentError, match="jwks_url"):
        Keys(url)


def test_a_server_may_allow_another_host() -> None:
    assert Keys("https://keys.example.org/x", hosts=("keys.example.org",)).url == "https://keys.example.org/x"


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "::1", "fe80::1%1", "fd00::1", "::ffff:10.0.0.1", "::", "ff02::1"],
)  # fmt: skip
def test_a_name_that_leads_into_a_private_network_is_not_asked(
    address: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked = []

    async def found(loop: Any, *args: Any, **more: Any) -> Any:
        return [(0, 0, 0, "", ("8.8.8.8", 443)), (0, 0, 0, "", (address, 443))]

    async def connect(*args: Any, **more: Any) -> Any:
        asked.append(args)
        raise OSError("there is no network here")

    monkeypatch.setattr(asyncio.base_events.BaseEventLoop, "getaddrinfo", found)
    monkeypatch.setattr(httpx.AsyncClient, "send", connect)
    with caplog.at_level(logging.WARNING, "qrowd.collect.web"):
        assert asyncio.run(Keys("https://api.prolific.com/x").find("k1")) is None
    assert asked == []
    assert "not public" in caplog.text


def test_a_campaign_that_names_another_host_takes_nobody_in_and_asks_nobody(tmp_path: Path, caplog: Any) -> None:
    with fort(tmp_path) as place:
        crowd = {"prolific": {"codes": {"completed": "C1"}, "verified": True, "audience": "judge.test",
                              "jwks_url": "https://10.0.0.1/x"}}  # fmt: skip
        plan = Plan(
            "trap", "Trap", "grades", GradesSettings(k=1), (TopicPlan("t", "T", ("d",)),), (DocumentPlan("d", "x"),), 1,
            crowd=crowd,
        )  # fmt: skip
        place.store.write(lambda c: create_campaign(c, plan, 0.0))
        door = place.walker("trap", "prolific").door
        with caplog.at_level(logging.ERROR, "qrowd.collect.web"):
            answer = Browser(place.app).get(f"{door}&prolific_token=a.b.c")
        assert (answer.status, "10.0.0.1" in answer.text) == (503, False)
        assert "10.0.0.1" in caplog.text


# ======================================================================== abuse


def test_what_comes_too_fast_waits_and_the_same_form_goes_through_later(tmp_path: Path) -> None:
    with fort(tmp_path, judgments_per_minute=5, drafts_per_minute=5) as place:
        ann, ben = place.walker("stars", who="ann").come(), place.walker("stars", who="ben").come()
        ann.walk(until="document", seconds=0)
        for _ in range(4):
            ann.send("judge", position=ann.value("position"), text="1", reason="")
            assert ann.page.status == 200
        number = ann.value("position")
        form = {name: ann.value(name) for name in ("csrf", "shown", "key")}
        form |= {"do": "judge", "position": number, "text": "1", "reason": "typed with care"}
        refused = ann.browser.post("/c/stars/act", form)
        assert (refused.status, refused.header("retry-after")) == (429, "61")
        assert 'value="typed with care"' in refused.text
        fragment = ann.browser.post("/c/stars/act", form, {"x-qrowd": "fragment"})
        assert (fragment.status, json.loads(fragment.text)["code"]) == (429, "too_fast")
        assert ben.walk(until="document", seconds=0).page.status == 200  # others from the same address go on
        before = count(place, judgment)
        place.clock.now += 61
        assert ann.browser.post("/c/stars/act", form).status == 303
        assert ann.browser.post("/c/stars/act", form).status == 303  # and once more: nothing twice
        assert count(place, judgment) == before + 1
        for i in range(7):
            draft = {"csrf": form["csrf"], "shown": form["shown"], "position": "5", "text": str(i)}
            assert ann.browser.post("/c/stars/draft", draft).status == (204 if i < 5 else 429)


def test_ten_failed_logins_close_the_door_for_a_quarter_of_an_hour(
    place: Fort, monkeypatch: pytest.MonkeyPatch
) -> None:
    from qrowd.collect.store import accounts

    hasher = accounts._hasher(True)
    monkeypatch.setattr(accounts, "_hasher", lambda fast: hasher)
    accounts._nobody.cache_clear()
    place.store.write(lambda c: add_account(c, "olga", hash_password(PASSWORD, fast=True), 0.0))

    def attempt(name: str, password: str, address: str = "192.0.2.9") -> Answer:
        return Browser(place.app, address=address).post(
            "/owner/login", {"name": name, "password": password, "csrf": owner_login(place)}
        )

    assert [attempt("olga", "wrong").status for _ in range(10)] == [422] * 10
    closed = attempt("olga", PASSWORD, "192.0.2.10")
    assert (closed.status, closed.header("retry-after")) == (429, "901")
    assert attempt("nobody", "wrong").status == 429  # the address, too
    place.clock.now += 901
    assert attempt("olga", PASSWORD).status == 303
    accounts._nobody.cache_clear()


def test_a_body_that_is_too_long_is_refused_before_it_is_read(shared: Fort) -> None:
    ann, owner = shared.walker("sizes").come().browser, shared.owner()
    for method, path in routes(shared):
        if method == "GET" or path in ("/owner/new", "/api/v1/archives", "/api/v1/campaigns"):
            continue
        for who in (ann, owner):
            answer = who.send(method, filled(path), b"x" * 70_000, {"content-length": "70000", "origin": BASE})
            limited = 413 if not path.startswith("/api/v1/campaigns") else 401
            assert answer.status == limited, path
    for path in ("/owner/new", "/api/v1/archives", "/api/v1/campaigns"):
        huge = {"content-length": str(1 << 40), "origin": BASE}
        assert owner.send("POST", path, b"x", huge).status == 413, path
    for length in ("-1", "1e3", "0x10", "", "1" * 30, "\u0661"[:0] + "one"):
        assert ann.send("POST", "/c/sizes/act", b"x", {"content-length": length, "origin": BASE}).status in (400, 413)


@pytest.mark.parametrize(("name", "most"), [("text", 200), ("reason", 2000)])
def test_a_text_that_is_too_long_is_refused_beside_its_box(shared: Fort, name: str, most: int) -> None:
    walker = shared.walker("sizes").come().walk(until="document")
    fields = {n: walker.value(n) for n in ("csrf", "shown", "key", "position")}
    form = {**fields, "do": "judge", "text": "5", "reason": "so", name: "9" * (most + 1)}
    answer = walker.browser.post("/c/sizes/act", form, {"x-qrowd": "fragment"})
    assert (answer.status, json.loads(answer.text)["field"]) == (422, name)


def test_huge_and_odd_headers_end_one_connection_and_no_server(tmp_path: Path) -> None:
    with listening(lambda base: fort(tmp_path, base_url=base)) as place:
        host, port = place.base.removeprefix("http://").split(":")

        def ask(raw: bytes) -> bytes:
            with socket.create_connection((host, int(port)), timeout=5) as line:
                try:
                    line.sendall(raw)
                    return line.recv(65536)
                except (ConnectionError, TimeoutError):
                    return b""

        own = f"Host: {host}:{port}\r\n".encode()
        for odd in (
            b"GET / HTTP/1.1\r\n" + own + b"X: " + b"a" * 2_000_000 + b"\r\n\r\n",
            b"GET / HTTP/1.1\r\n" + own + b"X: y\r\n" * 100_000 + b"\r\n",
            b"GET /" + b"a" * 500_000 + b" HTTP/1.1\r\n" + own + b"\r\n",
            b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
            b"GET / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\n" + own + own + b"\r\n",
            b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
            b"POST /c/x/act HTTP/1.1\r\n"
            + own
            + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /",
            b"POST /c/x/act HTTP/1.1\r\n" + own + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nxxxxxx",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 100 + b"\r\n\r\n",
        ):
            status = ask(odd).partition(b"\r\n")[0]
            assert status == b"" or status.split()[1] in (b"400", b"403", b"404", b"413", b"414", b"431"), (
                status,
                odd[:200],
            )
        assert ask(b"GET /health HTTP/1.1\r\n" + own + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 200")


def test_a_field_that_is_there_twice_is_refused(shared: Fort) -> None:
    walker = shared.walker("sizes").come().walk(until="document")
    fields = {n: walker.value(n) for n in ("csrf", "shown", "key", "position")} | {"do": "judge", "text": "5"}
    body = urlencode(fields)
    for name in fields:
        twice = f"{body}&{urlencode({name: fields[name]})}".encode()
        assert walker.browser.post("/c/sizes/act", twice).status == 400, name
    many = "&".join(f"x{i}=1" for i in range(500)).encode()
    assert walker.browser.post("/c/sizes/act", many).status == 400
    for provider in ("prolific", "panel", "mturk"):
        door = shared.walker("sizes", provider).door
        assert Browser(shared.app).get(f"{door}&{door.partition('?')[2].partition('&')[0]}").status == 400


ODD = [
    b"\x00", b"a\x00b", b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf8\x88\x80\x80\x80", b"\xef\xbf\xbe",
    b"\xf4\x8f\xbf\xbf", "\u202e\u2066".encode(), "Z\u0351\u036b\u0343".encode() * 50,
    "\U0001f469\u200d\U0001f680".encode(),
    b"\r\n\r\n", b"\t\x0b\x0c",
    "\u0661\u0662".encode(), "\uff11".encode(), "\u00b2".encode(),
    b"1e999", b"-0", b"NaN", b"Infinity", b"0x10", b"1_000",
]  # fmt: skip


@pytest.mark.parametrize("value", ODD)
def test_no_odd_text_in_any_field_breaks_anything(shared: Fort, value: bytes) -> None:
    walker = shared.walker("sizes", "panel", f"odd{value.hex()[:100]}").come().walk(until="document")
    for do, name in product(
        ("judge", "reply"),
        ("csrf", "shown", "key", "do", "position", "text", "reason", "active", "option"),
    ):
        if (do == "reply") != (name == "option"):
            continue
        fields: dict[str, Any] = {
            "csrf": walker.value("csrf"), "shown": walker.value("shown"), "key": "", "do": do, "text": "5",
            "reason": "so",
            "position": "0", "pair": "0", "choice": "left", "option": "0", "confidence": "3", "understanding": "3",
        }  # fmt: skip
        answer = walker.browser.post("/c/sizes/act", urlencode(fields | {name: value}).encode())
        assert answer.status in (303, 400, 403, 409, 422), (do, name, answer.text[:200])
    for name in ("csrf", "shown", "position", "text", "reason"):
        fields = {"csrf": walker.value("csrf"), "shown": walker.value("shown"), "position": "0"}
        answer = walker.browser.post("/c/sizes/draft", urlencode(fields | {name: value}).encode())
        assert answer.status in (204, 400, 403, 422), name
    page = walker.browser.get("/c/sizes")
    assert page.status == 200
    page.body.decode("utf-8")


# ======================================================================== crowd: nobody is paid twice


def submits(page: Answer) -> str | None:
    """The assignment for which the page's form submits."""
    if "/mturk/externalSubmit" not in page.text:
        return None
    return page.field("assignmentId")


def test_a_unit_is_submitted_for_one_assignment_only_however_often_the_page_is_opened(place: Fort) -> None:
    worker = place.walker("stars", "mturk", "w1").come().walk()
    assert submits(worker.page) == "3A"
    for _ in range(2):
        assert submits(worker.browser.get(worker.door)) == "3A"  # MTurk may have lost it
    worker.changes = {"assignmentId": "3B"}
    door = worker.get(worker.door)
    assert submits(door) is None
    assert "Begin" in door.text
    assert told(place, "returned") == []
    worker.come()
    assert (submits(worker.page), worker.view) == (None, "noneleft")
    assert "Everything here has been given out" in worker.page.text
    assert [one["submission"] for one in told(place, "returned")] == ["3B"]
    worker.changes = {"assignmentId": "3A"}
    assert submits(worker.get(worker.door)) == "3A"  # the first is still good for what was done under it
    worker.changes = {"assignmentId": "3B"}
    assert submits(worker.get(worker.door)) is None


def further(place: Fort) -> None:
    """A campaign in which one may judge several topics."""
    plan = Plan(
        "more", "More", "grades", GradesSettings(k=1, redundancy=5),
        tuple(TopicPlan(f"t{i}", f"Water {i}", (f"d{i}",)) for i in range(3)),
        tuple(DocumentPlan(f"d{i}", "It speaks.", f"Tale {i}") for i in range(3)), 4,
        JourneySettings(another=True, restart=True),
        crowd={"mturk": {"sandbox": False}, "prolific": {"codes": CODES}},
    )  # fmt: skip
    place.store.write(lambda c: create_campaign(c, plan, place.clock()))


def test_another_assignment_gets_other_work_and_pays_for_that(place: Fort) -> None:
    further(place)
    worker = place.walker("more", "mturk", "w1").come().walk()
    assert submits(worker.page) == "3A"
    for name in ("3B", "3C"):
        worker.changes = {"assignmentId": name}
        worker.come()
        assert submits(worker.page) is None
        assert "Judge another topic" in worker.page.text
        worker.send("go_on")
        worker.walk()
        assert submits(worker.page) == name
    worker.changes = {"assignmentId": "3D"}
    worker.come()
    assert (worker.view, submits(worker.page)) == ("noneleft", None)
    for name in ("3A", "3B", "3C"):
        worker.changes = {"assignmentId": name}
        assert submits(worker.get(worker.door)) == name
    before = [place.store.read(lambda c, t=table: sorted(map(repr, c.execute(select(t)).all()))) for table in STATE]
    place.store.write(lambda c: rebuild(c, "more"))
    after = [place.store.read(lambda c, t=table: sorted(map(repr, c.execute(select(t)).all()))) for table in STATE]
    assert before == after


def test_work_begun_under_one_assignment_goes_on_under_the_next_and_pays_there(place: Fort) -> None:
    worker = place.walker("stars", "mturk", "w1").come().walk(until="document")
    worker.send("judge", position="0", text="1", reason="")
    worker.changes = {"assignmentId": "3B"}  # the first was returned
    worker.come()
    assert 'name="position" value="1"' in worker.page.text
    worker.walk()
    assert submits(worker.page) == "3B"
    worker.changes = {"assignmentId": "3A"}
    worker.come()
    assert submits(worker.page) is None


def test_a_page_on_mturk_opens_only_for_the_worker_and_the_assignment_that_came_together(place: Fort) -> None:
    worker = place.walker("stars", "mturk", "w1").come().walk(until="document")
    shown = worker.value("shown")
    assert shown in worker.browser.get(worker.door).text
    stranger = place.walker("stars", "mturk", "w1", assignmentId="3GUESS")
    answer = stranger.get(stranger.door)
    assert answer.status == 200
    assert (shown in answer.text, "Tale" in answer.text) == (False, False)
    other = place.walker("stars", "mturk", "w2")  # the assignment of one, the id of another
    answer = other.get(other.door)
    assert (shown in answer.text, "Tale" in answer.text) == (False, False)


def test_nobody_takes_the_task_without_end(place: Fort) -> None:
    service = place.service

    async def often() -> None:
        for i in range(100):
            await service.arrive("stars", "mturk", "W1", identified="url", submission=f"3{i}")
        with pytest.raises(Refusal, match="too often"):
            await service.arrive("stars", "mturk", "W1", identified="url", submission="3more")

    asyncio.run(often())
    assert len(told(place, "returned")) == 99


def test_a_second_submission_on_prolific_needs_work_of_its_own(place: Fort) -> None:
    further(place)
    worker = place.walker("more", "prolific", "p1").come().walk()
    assert CODES["completed"] in worker.page.text
    assert worker.get(worker.door).status == 303  # the same submission: straight to the page
    worker.changes = {"SESSION_ID": "c" * 24}
    worker.come()
    assert "CODE" not in worker.page.text
    worker.send("go_on")
    worker.walk()
    assert CODES["completed"] in worker.page.text
    assert [one["about"]["submission"] for one in told(place, "returned")] == ["c" * 24]


def test_a_key_of_a_form_cannot_be_mistaken_for_a_visit(place: Fort) -> None:
    walker = place.walker("stars", "panel", "x").come()
    number = place.store.read(lambda c: max(c.scalars(select(event.c.assessor_id).where(event.c.kind == "arrived"))))
    from qrowd.collect.campaigns.submissions import records_of, submission_key

    form = {"do": "consent", "agreed": "1", "csrf": walker.value("csrf"), "key": submission_key(number, 0)}
    assert walker.browser.post("/c/stars/act", form).status == 303
    assert place.store.read(lambda c: records_of(c, number)) == []
    assert place.store.read(lambda c: events.by_key(c, submission_key(number, 0))) is None


# ======================================================================== secrets

KNOWN = [b"", b"secret", b"x" * 64, b"changeme" * 8, b"\x00" * 32, b"qrowd-default-secret-key-0123456789"]


@pytest.mark.parametrize("secret", KNOWN)
def test_a_secret_that_others_may_know_stops_the_server(shared: Fort, secret: bytes) -> None:
    with pytest.raises(ArgumentError, match="secret"):
        replace(shared.app.state.server.settings, secret=secret)


def test_no_answer_and_no_log_holds_the_secret(place: Fort, caplog: pytest.LogCaptureFixture) -> None:
    secret = place.app.state.server.settings.secret
    walker = place.walker("stars").come().walk()
    with caplog.at_level(logging.DEBUG):
        place.walker("stars", who="ben").come()
    for text in (caplog.text, *map(everything, walker.seen), repr(place.app.state.server.settings)):
        assert not any(mark in text for mark in (secret.hex(), repr(secret), "hook key"))


def test_the_database_which_holds_the_secret_is_for_its_owner_alone(tmp_path: Path) -> None:
    from qrowd.collect.store.engine import open_store

    with open_store(tmp_path / "new.db"):
        pass
    assert (tmp_path / "new.db").stat().st_mode & 0o077 == 0
