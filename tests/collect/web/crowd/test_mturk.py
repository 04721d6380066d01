"""A Mechanical Turk of our own: a frame that brings four parameters, keeps no cookies, and wants a form at the end."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from sqlalchemy import select

from collect.web.fakes import World, world
from qrowd.collect.protocols.events import GoOn
from qrowd.collect.protocols.views import EndView
from qrowd.collect.store.schema import assessor as assessor_table
from qrowd.collect.web import rendering
from webserver import Answer, Browser

APPENDED = {
    "assignmentId": "3ASSIGN", "hitId": "3HIT", "workerId": "AWORKER", "turkSubmitTo": "https://www.mturk.com/",
}  # fmt: skip


@pytest.fixture
def served(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


def frame(served: World, **changes: str) -> Answer:
    """What MTurk's frame shows; a browser without cookies."""
    return Browser(served.app).get(f"/mturk/one?{urlencode({**APPENDED, **changes})}")


def accept(served: World) -> Answer:
    token = frame(served).field("csrf")
    return Browser(served.app).post("/mturk/one", {"csrf": token})


def assessors(served: World) -> int:
    return len(served.store.read(lambda c: c.execute(select(assessor_table)).all()))


def test_a_preview_is_frozen_and_writes_nothing(served: World) -> None:
    page = Browser(served.app).get("/mturk/one?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=3HIT")
    assert page.status == 200
    assert page.field("notice") == "This is a preview. Accept the HIT to begin."
    assert page.field("csrf") == ""
    assert (assessors(served), served.service.arrived) == (0, [])


def test_a_whole_task_works_without_any_cookie(served: World) -> None:
    page = accept(served)
    assert (page.status, page.field("base")) == (200, "/mturk/one")
    for _ in range(2):
        page = Browser(served.app).post(
            "/mturk/one/act", {"do": "go_on", "csrf": page.field("csrf"), "key": page.field("key")}
        )
        assert page.status == 200
    assert [action for _, action, _, _ in served.service.acts] == [GoOn(), GoOn()]
    draft = {"csrf": page.field("csrf"), "position": "0", "text": "4"}
    assert Browser(served.app).post("/mturk/one/draft", draft).status == 204
    assert frame(served).field("view") == "DocumentView"  # a reload of the frame goes on, without another press


def test_the_form_at_the_end_is_shown_on_every_return_and_goes_to_mturk(served: World) -> None:
    accept(served)
    served.service.views[1] = EndView("completed")
    for _ in range(3):
        end = frame(served)
        link = urlsplit(end.field("link"))
        assert (link.scheme, link.netloc, link.path) == ("https", "www.mturk.com", "/mturk/externalSubmit")
        assert parse_qs(link.query) == {
            "assignmentId": ["3ASSIGN"], "hitId": ["3HIT"], "workerId": ["AWORKER"], "outcome": ["completed"],
        }  # fmt: skip
        assert "form-action 'self' https://www.mturk.com; " in (end.header("content-security-policy") or "")


def test_the_real_pages_have_a_form_that_posts_to_mturk(tmp_path: Path) -> None:
    with world(tmp_path, rendering=rendering) as made:
        token = made.app.state.server.form_token(
            "arrival",
            {
                "c": "one",
                "p": "mturk",
                "x": "AWORKER",
                "i": "url",
                "a": {**APPENDED, "turkSubmitTo": "https://www.mturk.com"},
            },
        )
        made.service.views[1] = EndView("completed")
        end = Browser(made.app).post("/mturk/one", {"csrf": token})
        assert '<form method="post" action="https://www.mturk.com/mturk/externalSubmit"' in end.text
        assert end.field("assignmentId") == "3ASSIGN"


@pytest.mark.parametrize(
    "host",
    [
        "",
        "javascript:alert(1)",
        "javascript:alert(1)//https://www.mturk.com",
        "data:text/html,x",
        "https://evil.test",
        "https://evil.test/?https://www.mturk.com",
        "https://www.mturk.com.evil.test",
        "https://www.mturk.com@evil.test",
        "https://www.mturk.com:444",
        "https://www.mturk.com//",
        "https://www.mturk.com/x",
        "https://WWW.mturk.com",
        "http://www.mturk.com",
        "//www.mturk.com",
        " https://www.mturk.com",
        "https://www.mturk.com\n",
        "https://workersandbox.mturk.com",
    ],
)
def test_the_form_goes_nowhere_but_to_mturk(served: World, host: str) -> None:
    for known in range(2):
        assert frame(served, turkSubmitTo=host).status == 400
        if not known:
            accept(served)


@pytest.mark.parametrize("name", ["assignmentId", "hitId", "workerId", "turkSubmitTo"])
def test_a_doubled_or_odd_parameter_is_refused(served: World, name: str) -> None:
    doubled = f"/mturk/one?{urlencode(APPENDED)}&{name}={APPENDED[name]}"
    assert Browser(served.app).get(doubled).status == 400
    for odd in ("", "W,W", "a b", "'", "x" * 300):
        assert frame(served, **{name: odd}).status == 400


def test_only_these_pages_may_be_framed_and_only_by_mturk(served: World) -> None:
    framed = [frame(served), accept(served), frame(served, assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE")]
    for page in framed:
        policy = page.header("content-security-policy") or ""
        assert policy.endswith(
            "frame-ancestors https://worker.mturk.com https://www.mturk.com https://workersandbox.mturk.com"
        )
    ann = served.browser("ann")
    assert (ann.get("/c/one").header("content-security-policy") or "").endswith("frame-ancestors 'none'")


def test_the_token_opens_nothing_else_and_not_for_long(served: World) -> None:
    token = accept(served).field("csrf")
    nobody = Browser(served.app)
    form = {"do": "go_on", "csrf": token}
    assert nobody.post("/c/one/act", form).status == 403
    assert nobody.post("/logout", form).status == 403
    assert nobody.post("/mturk/two/act", form).status == 404
    assert nobody.post("/mturk/one/act", form, origin="https://worker.mturk.com").status == 403
    served.clock.now += 2 * 3600 - 1
    assert nobody.post("/mturk/one/act", form).status == 200
    served.clock.now += 1
    assert nobody.post("/mturk/one/act", form).status == 403


def test_a_token_names_only_people_from_mturk(served: World) -> None:
    served.browser("ann")
    token = served.app.state.server.form_token("mturk", {"w": 1, "a": {}})
    assert Browser(served.app).post("/mturk/one/act", {"do": "go_on", "csrf": token}).status == 403


def test_the_cookie_that_helps_is_kept_apart_by_frame(served: World) -> None:
    cookie = accept(served).header("set-cookie") or ""
    assert cookie.startswith("__Host-qrowd-mturk=")
    assert cookie.endswith("Path=/; HttpOnly; Secure; SameSite=None; Partitioned")
