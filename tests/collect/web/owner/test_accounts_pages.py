"""Accounts in the browser: administrators change them, everybody their own; a second factor holds."""

import html
import re
from pathlib import Path

import pyotp
import pytest
from sqlalchemy import select

from collect.web.owner.estate import PASSWORD, Estate, estate
from qrowd.collect.store.accounts import accounts, find_account
from qrowd.collect.store.schema import second_factor
from qrowd.collect.store.second_factor import STEP, has_second_factor, use_code
from qrowd.collect.web.security import ServerSettings
from webserver import BASE, SECRET, Answer, Browser

NEW = "a new password"


@pytest.fixture
def made(tmp_path: Path):  # type: ignore[no-untyped-def]
    with estate(tmp_path) as place:
        yield place


def log_in(made: Estate, name: str, password: str = PASSWORD) -> tuple[Browser, Answer]:
    browser = Browser(made.app)
    form = {"csrf": browser.get("/owner/login").field("csrf"), "name": name, "password": password}
    return browser, browser.post("/owner/login", form)


def send(browser: Browser, path: str, **fields: str) -> Answer:
    return browser.post(path, {"csrf": browser.get(path).field("csrf"), **fields})


def new_account(made: Estate, name: str, role: str = "member") -> Browser:
    """An account that an administrator made, whose password was set by the link."""
    page = send(made.owner(), "/owner/accounts", do="add", name=name, role=role)
    link = re.search(rf'value="{BASE}(/owner/password/[\w-]+)"', page.text)
    assert link, page.text
    browser = Browser(made.app)
    csrf = browser.get(link[1]).field("csrf")
    assert browser.post(link[1], {"csrf": csrf, "new": NEW, "again": "another one"}).status == 422
    assert browser.post(link[1], {"csrf": csrf, "new": "short", "again": "short"}).status == 422
    assert browser.post(link[1], {"csrf": csrf, "new": NEW, "again": NEW}).status == 303
    assert browser.get(link[1]).status == 404  # once
    browser, answer = log_in(made, name, NEW)
    assert answer.status == 303
    return browser


# ---- all accounts


def test_an_administrator_adds_an_account_and_the_person_sets_the_password(made: Estate) -> None:
    zoe = new_account(made, "zoe", "creator")
    assert zoe.get("/owner/new").status == 200
    assert zoe.get("/owner/accounts").status == 403


def test_a_link_to_set_a_password_ends_after_a_day_and_with_the_account(made: Estate) -> None:
    new_account(made, "zoe")
    owner = made.owner()
    links = [
        re.search(
            rf'value="{BASE}(/owner/password/[\w-]+)"', send(owner, "/owner/accounts", do="link", name="zoe").text
        )
        for _ in range(2)
    ]
    assert all(Browser(made.app).get(link[1]).status == 200 for link in links if link)
    made.clock.now += 86400
    assert all(Browser(made.app).get(link[1]).status == 404 for link in links if link)


@pytest.mark.parametrize("do", ["disable", "remove"])
def test_disabling_and_removing_end_sessions_at_once(made: Estate, do: str) -> None:
    zoe, owner = new_account(made, "zoe"), made.owner()
    assert zoe.get("/owner").status == 200
    assert send(owner, "/owner/accounts", do=do, name="zoe").status == 303
    assert zoe.get("/owner").status == 303
    assert log_in(made, "zoe", NEW)[1].status == 422
    if do == "disable":
        assert send(owner, "/owner/accounts", do="enable", name="zoe").status == 303
        assert log_in(made, "zoe", NEW)[1].status == 303
    else:
        assert [one.name for one in made.store.read(accounts)] == ["olga"]


def test_a_new_role_holds_from_the_next_page_on(made: Estate) -> None:
    zoe, owner = new_account(made, "zoe"), made.owner()
    assert zoe.get("/owner/c/small").status == 404
    assert send(owner, "/owner/accounts", do="role", name="zoe", role="administrator").status == 303
    assert zoe.get("/owner/c/small").status == 200
    for do in ("role", "disable", "remove"):  # nobody shuts themselves out
        answer = send(zoe, "/owner/accounts", do=do, name="zoe", role="member")
        assert (answer.status, "your own account" in answer.text) == (422, True)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"do": "add", "name": "olga"}, "there is one of this name already"),
        ({"do": "add", "name": "two words"}, "without blanks"),
        ({"do": "add", "name": "x", "role": "emperor"}, "choose one of administrator, creator, member"),
        ({"do": "remove", "name": "nobody"}, "there is none of this name"),
        ({"do": "else", "name": "olga"}, "choose one of add"),
    ],
)
def test_what_cannot_be_done_is_said_on_the_page(made: Estate, fields: dict[str, str], line: str) -> None:
    answer = send(made.owner(), "/owner/accounts", **fields)
    assert (answer.status, line in html.unescape(answer.text)) == (422, True)


# ---- one's own password


def test_a_new_password_needs_the_present_one_and_ends_the_other_sessions(made: Estate) -> None:
    (here, _), (there, _) = log_in(made, "olga"), log_in(made, "olga")
    for fields in ({"password": "wrong password"}, {"password": PASSWORD, "again": "different one"}):
        answer = send(here, "/owner/account", do="password", **{"new": NEW, "again": NEW, **fields})
        assert answer.status == 422
    old = dict(here.cookies)
    answer = send(here, "/owner/account", do="password", password=PASSWORD, new=NEW, again=NEW)
    assert answer.status == 303
    assert here.get("/owner").status == 200
    assert here.cookies != old
    assert there.get("/owner").status == 303
    assert Browser(made.app, cookies=old).get("/owner").status == 303
    assert log_in(made, "olga")[1].status == 422
    assert log_in(made, "olga", NEW)[1].status == 303


def test_guessing_the_present_password_is_limited(made: Estate) -> None:
    olga, _ = log_in(made, "olga")
    tries = [send(olga, "/owner/account", do="begin", password="wrong password").status for _ in range(11)]
    assert tries == [422] * 10 + [429]


def test_the_printed_link_has_no_account_to_change(made: Estate) -> None:
    owner = made.owner()
    assert "belongs to no account" in owner.get("/owner/account").text
    csrf = owner.get("/owner").field("csrf")
    assert owner.post("/owner/account", {"csrf": csrf, "do": "begin", "password": ""}).status == 422


# ---- the second factor


def enrol(made: Estate) -> tuple[Browser, pyotp.TOTP, list[str]]:
    olga, _ = log_in(made, "olga")
    page = send(olga, "/owner/account", do="begin", password=PASSWORD)
    secret = re.search(r'<code class="plain">([A-Z2-7]{32})</code>', page.text)
    assert secret
    assert "<svg" in page.text
    assert "style=" not in page.text  # the content policy allows none
    totp = pyotp.TOTP(secret[1])
    fields = {"csrf": page.field("csrf"), "stamp": page.field("stamp"), "do": "confirm"}
    wrong = olga.post("/owner/account", {**fields, "code": "000000"})
    assert (wrong.status, secret[1] in wrong.text) == (422, True)
    assert not made.store.read(lambda c: has_second_factor(c, find_account(c, "olga").id))
    done = olga.post("/owner/account", {**fields, "code": totp.at(int(made.clock()))})
    codes = re.findall(r"[a-z2-7]{4}(?:-[a-z2-7]{4}){3}", done.text)
    assert (done.status, len(codes)) == (200, 10)
    made.clock.now += STEP
    return olga, totp, codes


def code_form(made: Estate) -> tuple[Browser, str]:
    browser, answer = log_in(made, "olga")
    assert answer.status == 200
    assert browser.cookies == {}  # the password alone is no session
    return browser, answer.field("csrf")


def test_after_the_password_a_code_is_asked_for_and_taken_once(made: Estate) -> None:
    _, totp, _ = enrol(made)
    browser, csrf = code_form(made)
    code = totp.at(int(made.clock()))
    assert browser.get("/owner").status == 303
    assert browser.post("/owner/login/code", {"csrf": csrf, "code": f"{code[:3]} {code[3:]}"}).status == 303
    assert browser.get("/owner").status == 200
    other, csrf = code_form(made)
    again = other.post("/owner/login/code", {"csrf": csrf, "code": code})
    assert (again.status, "used already" in again.text) == (422, True)
    made.clock.now += STEP
    assert other.post("/owner/login/code", {"csrf": csrf, "code": totp.at(int(made.clock()) - STEP)}).status == 422
    assert other.post("/owner/login/code", {"csrf": csrf, "code": totp.at(int(made.clock()))}).status == 303


def test_the_secret_is_encrypted_where_the_key_is_not_in_the_database(made: Estate) -> None:
    def stored() -> str:
        return made.store.read(lambda c: c.scalar(select(second_factor.c.secret)))

    def signs_in(key: bytes | None) -> bool:
        number, code = made.store.read(lambda c: find_account(c, "olga").id), totp.at(int(made.clock()))
        made.clock.now += STEP
        return made.store.write(lambda c: use_code(c, number, code, made.clock() - STEP, key))

    _, totp, codes = enrol(made)
    assert stored() == totp.secret, "without a key it is as it is"
    key = ServerSettings(BASE, SECRET, is_secret_outside=True).sealing_key
    assert key is not None
    assert ServerSettings(BASE, SECRET).sealing_key is None
    assert signs_in(key)
    assert stored().startswith("sealed:"), "encrypted when it is used the first time with a key"
    assert totp.secret not in stored()
    assert signs_in(key)
    assert not signs_in(None)
    assert not signs_in(bytes(32))
    number = made.store.read(lambda c: find_account(c, "olga").id)
    assert made.store.write(lambda c: use_code(c, number, codes[0], made.clock()))


def test_a_server_with_its_secret_from_the_environment_encrypts_second_factors(tmp_path: Path) -> None:
    with estate(tmp_path, is_secret_outside=True) as made:
        _, totp, _ = enrol(made)
        assert made.store.read(lambda c: c.scalar(select(second_factor.c.secret))).startswith("sealed:")
        browser, csrf = code_form(made)
        code = totp.at(int(made.clock()))
        assert browser.post("/owner/login/code", {"csrf": csrf, "code": code}).status == 303


def test_the_code_that_confirmed_the_enrolment_is_used_up(made: Estate) -> None:
    _, totp, _ = enrol(made)
    browser, csrf = code_form(made)
    assert browser.post("/owner/login/code", {"csrf": csrf, "code": totp.at(int(made.clock()) - STEP)}).status == 422


def test_a_recovery_code_works_once_and_new_ones_end_the_old(made: Estate) -> None:
    olga, _, codes = enrol(made)
    for status in (303, 422):
        browser, csrf = code_form(made)
        assert browser.post("/owner/login/code", {"csrf": csrf, "code": codes[0].upper()}).status == status
    assert "9 recovery codes left" in olga.get("/owner/account").text
    page = send(olga, "/owner/account", do="codes", password=PASSWORD)
    newer = re.findall(r"[a-z2-7]{4}(?:-[a-z2-7]{4}){3}", page.text)
    browser, csrf = code_form(made)
    assert browser.post("/owner/login/code", {"csrf": csrf, "code": codes[1]}).status == 422
    assert browser.post("/owner/login/code", {"csrf": csrf, "code": newer[1]}).status == 303
    assert not any(code in str(made.store.read(dump)) for code in (*codes, *newer))


def dump(connection: object) -> list[object]:
    from sqlalchemy import select

    from qrowd.collect.store.schema import recovery_code

    return list(connection.execute(select(recovery_code)))  # type: ignore[attr-defined]


def test_codes_are_limited_like_passwords(made: Estate) -> None:
    _, totp, _ = enrol(made)
    browser, csrf = code_form(made)
    tries = [browser.post("/owner/login/code", {"csrf": csrf, "code": f"{i:06d}"}).status for i in range(11)]
    assert tries == [422] * 10 + [429]
    right = {"csrf": csrf, "code": totp.at(int(made.clock()))}
    assert browser.post("/owner/login/code", right).status == 429


def test_the_form_for_a_code_ends_after_five_minutes_and_with_the_password(made: Estate) -> None:
    olga, totp, _ = enrol(made)
    browser, csrf = code_form(made)
    made.clock.now += 301
    assert browser.post("/owner/login/code", {"csrf": csrf, "code": totp.at(int(made.clock()))}).status == 403
    browser, csrf = code_form(made)
    assert send(olga, "/owner/account", do="password", password=PASSWORD, new=NEW, again=NEW).status == 303
    assert browser.post("/owner/login/code", {"csrf": csrf, "code": totp.at(int(made.clock()))}).status == 422


def test_a_second_factor_is_switched_off_by_its_owner_or_an_administrator(made: Estate) -> None:
    olga, _, _ = enrol(made)
    assert send(olga, "/owner/account", do="factor", password="wrong password").status == 422
    assert send(olga, "/owner/account", do="factor", password=PASSWORD).status == 303
    assert log_in(made, "olga")[1].status == 303
    enrol(made)
    assert send(made.owner(), "/owner/accounts", do="factor", name="olga").status == 303
    assert log_in(made, "olga")[1].status == 303
