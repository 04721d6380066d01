"""The threat table against the real application: forged forms, stolen sessions, other assessors' data, secrets."""

import asyncio
import logging
import re
from dataclasses import replace
from pathlib import Path

import pytest

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.store.accounts import add_account, hash_password
from qrowd_server.store.invitation_links import revoke_invitation
from qrowd_server.store.materials import find_campaign
from qrowd_server.store.schema import STATE, event, judgment
from qrowd_server.store.sessions import IDLE
from server.web.attacks import FORM, PASSWORD, TAKE_FILES, count, filled, invited, owner_login, routes
from server.web.payloads import PAYLOADS
from server.web.siege import Fort, Walker, everything, fort
from webserver import Browser

# ---- XSS: see test_threats_in_browser.py as well


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


# ---- CSRF


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
                takes_files = path in TAKE_FILES
                expected = 401 if path.startswith("/api/") else 415 if takes_files and who is owner else 403
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


# ---- sessions: fixation and theft


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
    place.store.write(lambda c: add_account(c, "olga", hash_password(PASSWORD, fast=True), 0.0, role="administrator"))
    form = {"name": "olga", "password": PASSWORD, "csrf": owner_login(place)}
    assert owner.post("/owner/login", form).status == 303
    assert owner.cookies["__Host-qrowd-owner"] != theirs
    assert Browser(place.app, cookies={"__Host-qrowd-owner": theirs}).get("/owner").status == 303


def test_the_printed_link_lets_one_browser_in_and_no_other(place: Fort) -> None:
    from qrowd_server.web.owner.sign_in import owner_link

    path = place.store.write(lambda c: owner_link(c, "", place.clock()))
    first, second = Browser(place.app), Browser(place.app)
    token = first.get(path).field("csrf")
    assert first.post(path, {"csrf": token}).status == 303
    assert second.post(path, {"csrf": token}).status == 404
    late = place.store.write(lambda c: owner_link(c, "", place.clock()))
    place.clock.now += 24 * 3600
    assert second.get(late).status == 404


def test_a_link_that_was_revoked_lets_nobody_in_even_from_a_page_that_was_open(place: Fort) -> None:
    link = f"/join/{invited(place, 'carl')}"
    browser = Browser(place.app)
    token = browser.get(link).field("csrf")
    place.store.write(lambda c: revoke_invitation(c, find_campaign(c, "sizes").id, "carl"))  # type: ignore[union-attr]
    assert (browser.post(link, {"csrf": token}).status, browser.get(link).status) == (404, 404)
    assert browser.cookies == {}


# ---- one reads or changes another's

ACTORS = ("anonymous", "assessor", "other campaign", "excluded", "owner", "revoked")


def expected(method: str, path: str, actor: str) -> set[int]:
    """The statuses that a request of somebody, with the right token where there is one, may have."""
    mine = actor in ("assessor", "excluded")
    match path.split("/")[1:]:
        case [""] | ["static", *_] | ["health" | "ready"]:
            return {200}
        case ["image" | "document" | "guidelines", _]:
            return {404}  # the address is signed
        case ["api", "v1", *_]:
            return {401}  # no cookie opens the API
        case ["owner", "login"]:
            return {303} if actor == "owner" and method == "GET" else {200} if method == "GET" else {403}
        case ["owner", "enter" | "password", *_] | ["sign-up", *_]:
            return {404} if method == "GET" else {403}
        case ["owner", "oidc", *_] if method == "GET":
            return {404}  # no provider is configured
        case ["owner", *_] if actor == "owner":
            return {200, 303, 404, 415, 422}
        case ["owner", *_]:
            return {303} if method == "GET" else {403}
        case ["language"]:
            return {403}  # without the token of its form
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
        case ["panel", _]:
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
        if (method, path) == ("POST", "/c/{campaign}/privacy") and 200 in wanted:
            wanted = {422}  # the box is not ticked
        assert answer.status in wanted, (method, path, answer.status, answer.text[:300])


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


# ---- secrets

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
    from qrowd_server.store.engine import open_store

    with open_store(tmp_path / "new.db"):
        pass
    assert (tmp_path / "new.db").stat().st_mode & 0o077 == 0
