"""Sign-up: one link, many people, each under a name that nobody else has, or seems to have."""

import html
import re
from pathlib import Path

import pytest
from sqlalchemy import select

from qrowd.errors import ArgumentError
from qrowd_server.store.event_log import of_owners
from qrowd_server.store.invitation_links import come_by_sign_up, invitations, invite, sign_ups
from qrowd_server.store.schema import invited
from server.web.owner.estate import Estate, estate
from webserver import BASE, Answer, Browser

PATH = "/owner/c/small/setup"
DAY = 86400.0


@pytest.fixture
def made(tmp_path: Path):  # type: ignore[no-untyped-def]
    with estate(tmp_path) as place:
        yield place


def opened(made: Estate, most: int = 3, days: int = 2) -> str:
    owner = made.owner()
    form = {"csrf": owner.get(PATH).field("csrf"), "do": "open", "most": str(most), "days": str(days)}
    found = re.search(rf'value="{BASE}(/sign-up/[\w-]+)"', owner.post(PATH, form).text)
    assert found
    assert found[1] not in owner.get(PATH).text  # shown once
    return found[1]


def come(made: Estate, link: str, name: str) -> tuple[Browser, Answer]:
    browser = Browser(made.app)
    return browser, browser.post(link, {"csrf": browser.get(link).field("csrf"), "name": name})


def test_each_gets_a_session_and_a_link_of_their_own(made: Estate) -> None:
    link = opened(made)
    browser, answer = come(made, link, "Zoe Miller")
    assert (answer.status, "You take part as Zoe-Miller" in answer.text) == (200, True)
    assert browser.get("/c/small").status == 200
    own = answer.field("name") if 'name="name"' in answer.text else ""
    assert own == ""  # no form any more
    back = re.search(rf'value="{BASE}(/join/[\w-]+)"', answer.text)
    assert back
    other = Browser(made.app)
    assert other.post(back[1], {"csrf": other.get(back[1]).field("csrf")}).status == 303
    assert other.get("/c/small").status == 200
    [row] = [one for one in made.store.read(lambda c: invitations(c, 1)) if one.name == "Zoe-Miller"]
    assert (row.name, row.revoked, row.assessor_id is not None) == ("Zoe-Miller", False, True)


def test_a_name_that_is_taken_or_looks_like_one_is_refused_with_a_friendly_line(made: Estate) -> None:
    link = opened(made, most=10)
    made.store.write(lambda c: invite(c, 1, "paul", made.clock()))
    for name, line in (
        ("paul", "The name paul is taken"),
        ("Paul", "looks like paul, who takes part"),
        ("раul", "looks like paul, who takes part"),
        ("\u202epaul", "U+202E, which cannot be seen"),
        ("ann", "The name ann is taken"),  # who judged by another link
        ("Ann", "looks like ann, who takes part"),
        ("jоhn", "several scripts (Cyrillic, Latin)"),
        ("", "Give a name of 1 to 100 characters"),
    ):
        browser, answer = come(made, link, name)
        assert (answer.status, line in html.unescape(answer.text)) == (422, True), (name, answer.text)
        assert browser.get("/c/small").status == 403
    assert come(made, link, "pauline")[1].status == 200


def test_the_link_ends_with_its_number_its_time_or_its_owner(made: Estate) -> None:
    full = opened(made, most=2)
    page = Browser(made.app)
    late = page.get(full).field("csrf")
    assert [come(made, full, name)[1].status for name in ("one", "two")] == [200, 200]
    assert page.post(full, {"csrf": late, "name": "three"}).status == 404
    expiring = opened(made, days=2)
    assert Browser(made.app).get(expiring).status == 200
    made.clock.now += 2 * DAY
    assert Browser(made.app).get(expiring).status == 404
    closing, owner = opened(made), made.owner()
    csrf, number = owner.get(PATH).field("csrf"), made.store.read(lambda c: sign_ups(c, 1))[0].id
    for _ in range(2):
        assert owner.post(PATH, {"csrf": csrf, "do": "close", "link": str(number)}).status == 303
    assert Browser(made.app).get(closing).status == 404
    log = made.store.read(lambda c: of_owners(c, 1, 5))
    assert [(one.kind, one.account) for one in log][:2] == [
        ("sign_up_closed", "Owner, by link"),
        ("sign_up_opened", "Owner, by link"),
    ]


def test_the_store_counts_under_the_link_s_lock(made: Estate) -> None:
    token = opened(made, most=1).rpartition("/")[2]
    made.store.write(lambda c: come_by_sign_up(c, token, "one", made.clock()))
    with pytest.raises(ArgumentError, match="This link is closed"):
        made.store.write(lambda c: come_by_sign_up(c, token, "two", made.clock()))
    names = made.store.read(lambda c: c.scalars(select(invited.c.name).where(invited.c.sign_up_id.is_not(None))).all())
    assert list(names) == ["one"]


def test_tries_are_limited_and_a_form_needs_its_token(made: Estate) -> None:
    link = opened(made, most=100)
    browser = Browser(made.app)
    csrf = browser.get(link).field("csrf")
    assert browser.post(link, {"csrf": "x", "name": "ann"}).status == 403
    assert browser.post(link, {"csrf": csrf, "name": "zed"}, origin="https://evil.test").status == 403
    other = browser.get(opened(made)).field("csrf")
    assert browser.post(link, {"csrf": other, "name": "zed"}).status == 403  # of another link
    assert [browser.post(link, {"csrf": csrf, "name": "ann"}).status for _ in range(60)] == [422] * 60
    answer = browser.post(link, {"csrf": csrf, "name": "zed"})
    assert (answer.status, answer.header("retry-after") is not None) == (429, True)


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ({"most": "0", "days": "1"}, "most: give a whole number"),
        ({"most": "many", "days": "1"}, "most: give a whole number"),
        ({"most": "3", "days": "0"}, "days: give a whole number"),
    ],
)
def test_a_link_that_would_let_nobody_in_is_refused(made: Estate, form: dict[str, str], line: str) -> None:
    owner = made.owner()
    answer = owner.post(PATH, {"csrf": owner.get(PATH).field("csrf"), "do": "open", **form})
    assert (answer.status, line in answer.text) == (422, True)
