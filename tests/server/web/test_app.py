"""Judging over HTTP: what is shown, what is taken, what is refused, and that nothing typed is lost."""

import asyncio
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import select
from starlette.routing import Route

from qrowd.errors import QrowdError
from qrowd_server.campaigns.running.campaign_settings import NotFoundError
from qrowd_server.campaigns.running.pages import Page
from qrowd_server.protocols.events import GoOn, Judge, Refusal
from qrowd_server.protocols.views import EndView, NoneLeftView, View
from qrowd_server.store.base import StoreBusyError, StoreFullError, StoreUnknownError
from qrowd_server.store.schema import assessor as assessor_table
from qrowd_server.web.server import PIECE, PageResponse
from server.web.fakes import World, world
from server.web.gallery import GALLERY


@pytest.fixture
def served(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


JUDGE = {"do": "judge", "position": "0", "text": "40", "reason": "names both", "shown": "s1", "key": "k"}


def test_an_answer_reaches_the_desk_and_leads_to_the_page(served: World) -> None:
    ann = served.browser("ann")
    answer = ann.post("/c/one/act", {**JUDGE, "csrf": served.token(ann), "active": "3.5"})
    assert (answer.status, answer.header("location")) == (303, "/c/one")
    assert served.service.acts == [(1, Judge(0, "40", "names both", 3.5), "s1", "k")]


def test_the_script_gets_the_next_main_and_nothing_around_it(served: World) -> None:
    ann = served.browser("ann")
    answer = ann.post("/c/one/act", {**JUDGE, "csrf": served.token(ann)}, {"x-qrowd": "fragment"})
    assert answer.status == 200
    assert answer.text.startswith("<main>")


def test_a_form_sent_twice_is_answered_as_the_first_time(served: World) -> None:
    ann = served.browser("ann")
    form = {**JUDGE, "csrf": served.token(ann)}
    first, second = ann.post("/c/one/act", form), ann.post("/c/one/act", form)
    assert (first.status, first.header("location")) == (second.status, second.header("location"))
    assert len(served.service.acts) == 1


@pytest.mark.parametrize(
    ("error", "status", "retry"),
    [
        (Refusal("number", "Enter a number greater than 0.", "text"), 422, None),
        (Refusal("stale", "This is not the current page.", ""), 409, None),
        (Refusal("changed", "Already used.", ""), 409, None),
        (StoreFullError("disk"), 503, "30"),
        (StoreBusyError("busy"), 503, "2"),
        (StoreUnknownError("lost"), 503, "2"),
    ],
)
def test_what_is_refused_comes_back_with_the_reason_and_what_was_typed(
    served: World, error: Exception, status: int, retry: str | None
) -> None:
    ann = served.browser("ann")
    form = {**JUDGE, "text": "forty", "csrf": served.token(ann)}
    served.service.error = error
    page = ann.post("/c/one/act", form)
    assert (page.status, page.header("retry-after")) == (status, retry)
    assert (page.field("typed-text"), page.field("typed-reason")) == ("forty", "names both")
    data = ann.post("/c/one/act", form, {"x-qrowd": "fragment"})
    said = json.loads(data.text)
    assert (data.status, set(said)) == (status, {"code", "message", "field", "reference"})
    if isinstance(error, Refusal):
        assert (said["code"], said["message"], said["field"]) == (error.code, error.message, error.field)
    else:
        assert len(said["reference"]) == 8
        known = "may not have been" if isinstance(error, StoreUnknownError) else "We could not save"
        assert known in said["message"]
        assert "It is still here" in said["message"]


def test_an_answer_that_was_not_saved_keeps_its_key_so_that_sending_it_again_does_nothing_twice(served: World) -> None:
    ann = served.browser("ann")
    form = {**JUDGE, "csrf": served.token(ann)}
    served.service.error = StoreUnknownError("lost")
    assert ann.post("/c/one/act", form).field("key") == "k"
    served.service.error = Refusal("changed", "Already used.")
    assert ann.post("/c/one/act", form).field("key") != "k"


def test_words_for_another_document_are_not_put_into_this_ones_box(served: World) -> None:
    ann = served.browser("ann")
    served.service.error = Refusal("stale", "This is not the current page.")
    page = ann.post("/c/one/act", {**JUDGE, "position": "1", "csrf": served.token(ann)})
    assert page.status == 409
    assert "typed-text" not in page.text


def test_an_error_nobody_foresaw_is_logged_under_the_reference_that_is_shown(
    served: World, caplog: pytest.LogCaptureFixture
) -> None:
    ann = served.browser("ann")
    token = served.token(ann)
    for error in (RuntimeError("boom"), QrowdError("boom")):
        served.service.error = error
        with caplog.at_level(logging.ERROR, "qrowd_server.web"):
            answer = ann.post("/c/one/act", {**JUDGE, "csrf": token})
        assert (answer.status, answer.header("cache-control")) == (500, "no-store")
        assert answer.field("reference") in caplog.text
        assert "boom" not in answer.text


@pytest.mark.parametrize("path", ["/c/one/act", "/c/one/draft"])
def test_too_many_in_a_minute_are_asked_to_wait_and_lose_nothing(served: World, path: str) -> None:
    ann, bob = served.browser("ann"), served.browser("bob")
    form = {**JUDGE, "csrf": served.token(ann)}
    most = 60 if path.endswith("act") else 120
    for i in range(most):
        assert ann.post(path, {**form, "key": f"k{i}"}).status in {303, 204}
    served.clock.now += 20
    refused = ann.post(path, {**form, "key": "late"})
    assert (refused.status, refused.header("retry-after")) == (429, "41")
    if path.endswith("act"):
        assert (refused.field("typed-text"), refused.field("key")) == ("40", "late")
    assert bob.post(path, {**form, "csrf": served.token(bob)}).status in {303, 204}
    served.clock.now += 40
    assert ann.post(path, {**form, "key": "late"}).status in {303, 204}


def test_a_draft_is_kept(served: World) -> None:
    ann = served.browser("ann")
    form = {"csrf": served.token(ann), "shown": "s1", "position": "1", "text": "4", "reason": "be\r\ncause"}
    assert ann.post("/c/one/draft", form).status == 204
    assert served.service.drafts == [(1, "s1", 1, "4", "be\ncause")]


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("path", ["/c/one", "/c/one/act", "/c/one/draft"])
@pytest.mark.parametrize(("who", "status"), [("cleo", 404), ("", 403)])
def test_nobody_gets_into_a_campaign_that_is_not_theirs(
    served: World, path: str, method: str, who: str, status: int
) -> None:
    browser = served.browser(who)
    token = served.token(browser, "two") if who else "x"
    if method == "GET":
        answer = browser.get(path)
        status = status if path == "/c/one" else 405
    else:
        answer = browser.post(path, {**JUDGE, "csrf": token})
        status = status if path != "/c/one" else 405
    assert answer.status == status
    assert (served.service.acts, served.service.drafts) == ([], [])


def test_a_campaign_that_is_not_theirs_looks_like_one_that_is_not_there(served: World) -> None:
    cleo, nobody = served.browser("cleo"), served.browser()
    assert cleo.get("/c/one").body == cleo.get("/c/none").body
    assert nobody.get("/c/one").body == nobody.get("/c/none").body


def test_an_assessor_acts_for_nobody_else(served: World) -> None:
    ann, bob = served.browser("ann"), served.browser("bob")
    ann.post("/c/one/act", {"do": "go_on", "csrf": served.token(ann)})
    bob.post("/c/one/act", {"do": "go_on", "csrf": served.token(bob), "assessor": "1", "assessor_id": "1"})
    assert [(who, action) for who, action, _, _ in served.service.acts] == [(1, GoOn()), (2, GoOn())]


def test_an_invitation_needs_a_press_and_brings_the_same_assessor_back(served: World) -> None:
    browser = served.browser()
    path = f"/join/{served.links['ann']}"
    assert browser.get(path).status == 200
    assert served.service.arrived == []
    assert browser.get("/c/one").status == 403
    for _ in range(2):
        assert browser.post(path, {"csrf": browser.get(path).field("csrf")}).header("location") == "/c/one"
    assert served.service.arrived[0] == ("one", "link", "ann", None)
    assert len(served.store.read(lambda c: c.execute(select(assessor_table)).all())) == 1


def test_an_invitation_nobody_made_is_not_found(served: World) -> None:
    assert served.browser().get("/join/nothing").status == 404
    assert served.browser().get(f"/join/{'x' * 5000}").status == 404


def test_after_logging_out_the_old_cookie_is_worth_nothing(served: World) -> None:
    ann = served.browser("ann")
    old = dict(ann.cookies)
    assert ann.post("/logout", {"csrf": served.token(ann)}).status == 303
    assert ann.cookies == {}
    ann.cookies = old
    assert ann.get("/c/one").status == 403


@pytest.mark.parametrize("view", [EndView("completed"), NoneLeftView(None, True), EndView("failed")])
def test_without_a_panel_the_page_only_says_thanks(served: World, view: View) -> None:
    ann = served.browser("ann")
    served.service.views[1] = view
    page = ann.get("/c/one")
    assert (page.field("link"), page.field("code")) == ("", "")


def test_a_campaign_that_has_gone_meanwhile_is_not_found(served: World) -> None:
    ann = served.browser("ann")
    token = served.token(ann)
    served.service.error = NotFoundError("there is no assessor 1")
    assert ann.post("/c/one/act", {"do": "go_on", "csrf": token}).status == 404


def test_only_what_is_there_is_served_and_only_by_its_method(served: World) -> None:
    for route in served.app.routes:
        assert isinstance(route, Route)
    assert served.browser().get("/nothing").status == 404
    assert served.browser().get("/c/one/act").status == 405
    assert served.browser().get("/c/one/act").header("allow") == "POST"


@pytest.mark.parametrize("n", [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 5])
def test_a_page_is_sent_in_pieces_that_add_up_to_it(n: int) -> None:
    """So that others are answered while a long one is sent."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(PageResponse("x" * n)({"type": "http"}, None, send))  # type: ignore[arg-type]
    start, *bodies = sent
    assert dict(start["headers"])[b"content-length"] == str(n).encode()
    assert b"".join(one["body"] for one in bodies) == b"x" * n
    assert max(len(one["body"]) for one in bodies) <= PIECE
    assert [one.get("more_body", False) for one in bodies] == [True] * (len(bodies) - 1) + [False]


@pytest.mark.parametrize(("n_characters", "at_once"), [(10, 5), (20_000, 1)])
def test_pages_are_read_one_at_a_time_until_the_texts_of_a_campaign_are_known_to_be_short(
    served: World, n_characters: int, at_once: int
) -> None:
    """After a start everybody may ask at once for texts of a million characters; others would wait for all of them."""
    now, most = 0, list[int]()

    async def page(assessor: int, *, pause: bool) -> Page:
        nonlocal now
        now += 1
        most.append(now)
        await asyncio.sleep(0)
        now -= 1
        return replace(GALLERY["grades"], documents={}, instructions="x" * n_characters)

    async def look() -> tuple[int, int]:
        server = replace(served.app.state.server, service=SimpleNamespace(page=page))
        identity: Any = SimpleNamespace(campaign="one", assessor=1)
        await asyncio.gather(*(server.page(identity) for _ in range(5)))
        before = max(most)
        most.clear()
        await asyncio.gather(*(server.page(identity) for _ in range(5)))
        return before, max(most)

    assert asyncio.run(look()) == (1, at_once)


def test_who_pauses_reads_how_to_go_on(served: World) -> None:
    ann = served.browser("ann")
    assert ann.get("/c/one/pause").status == 200
    assert served.service.pauses == [1]
    assert served.browser().get("/c/one/pause").status == 403
