"""Every door, tried with every wrong key."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from judging import NOW
from qrowd.errors import ArgumentError
from qrowd_server.store.invitation_links import add_sign_up
from qrowd_server.store.materials import find_campaign
from qrowd_server.web.security import BODY_LIMIT, ServerSettings, Signer, client_address, client_network
from server.web.fakes import World, world
from webserver import BASE, SECRET, Browser, scope_of


@pytest.fixture
def served(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


PATH_VALUES = {"campaign": "one", "token": "link", "name": "icon.svg"}


def filled(served: World, path: str) -> str:
    if path.startswith("/sign-up/"):
        number = served.store.read(lambda c: find_campaign(c, "one").id)
        token = served.store.write(lambda c: add_sign_up(c, number, 100, NOW + 1e9, NOW))
        return path.replace("{token}", token)
    return re.sub(r"\{(\w+)(:path)?\}", lambda m: served.links["ann"] if m[1] == "token" else PATH_VALUES[m[1]], path)


def posts(served: World) -> list[str]:
    routes = [route for route in served.app.routes if isinstance(route, Route)]
    assert len(routes) == len(served.app.routes), "a route of another kind is not tried here"
    found = [route.path for route in routes if "POST" in (route.methods or ())]
    assert len(found) >= 7
    return [filled(served, path) for path in found]


def good_token(served: World, browser: Browser, path: str) -> str:
    """What the form of this route would carry."""
    server, kind = served.app.state.server, path.split("/")[1]
    if kind in {"c", "logout"}:
        return served.token(browser)
    if kind == "language":
        return str(server.form_token("language", {"b": "/"}))
    if kind in {"join", "sign-up"}:
        return browser.get(path).field("csrf")
    return str(server.form_token("arrival", {"c": "one", "x": "x1", "i": "url", "s": ""}))


FORM = {"do": "go_on", "position": "0", "name": "Somebody else", "language": "de"}


def test_every_form_is_taken_with_its_token_and_from_our_own_pages(served: World) -> None:
    for path in posts(served):
        ann = served.browser("ann")
        answer = ann.post(path, {**FORM, "csrf": good_token(served, ann, path)})
        # Nobody is deleted by a form without a ticked box: its token is taken, and the box asked for.
        assert answer.status in ({422} if path.endswith("/privacy") else {200, 204, 303}), path


def test_every_form_without_a_token_is_refused(served: World) -> None:
    ann = served.browser("ann")
    for path in posts(served):
        for form in (FORM, {**FORM, "csrf": ""}, {**FORM, "csrf": "é"}):
            assert ann.post(path, form).status == 403, path


def test_every_form_with_the_token_of_another_session_is_refused(served: World) -> None:
    ann, bob = served.browser("ann"), served.browser("bob")
    token = served.token(bob)
    for path in posts(served):
        assert ann.post(path, {**FORM, "csrf": token}).status == 403, path


def test_every_form_with_a_signed_token_for_something_else_is_refused(served: World) -> None:
    ann = served.browser("ann")
    for path in posts(served):
        token = served.app.state.server.form_token("else", {"t": "x", "w": 1, "c": "one"})
        assert ann.post(path, {**FORM, "csrf": token}).status == 403, path


def test_every_signed_token_expires(served: World) -> None:
    for path in posts(served):
        ann = served.browser("ann")
        token = good_token(served, ann, path)
        if path.split("/")[1] in {"c", "logout"}:
            continue  # bound to a session, which ends by itself
        served.clock.now += 6 * 3600 + 1
        assert ann.post(path, {**FORM, "csrf": token}).status == 403, path


@pytest.mark.parametrize(
    ("origin", "headers"),
    [
        ("https://evil.test", {}),
        ("https://judge.test.evil.test", {}),
        ("http://judge.test", {}),
        ("null", {}),
        ("null", {"sec-fetch-site": "cross-site"}),
        ("null", {"sec-fetch-site": "none"}),
        ("", {}),
        ("", {"sec-fetch-site": "cross-site"}),
        ("", {"sec-fetch-site": "none"}),
        (BASE, {"sec-fetch-site": "cross-site"}),
        (BASE, {"sec-fetch-site": "same-site"}),
    ],
)
def test_every_form_from_elsewhere_is_refused(served: World, origin: str, headers: dict[str, str]) -> None:
    ann = served.browser("ann")
    for path in posts(served):
        form = {**FORM, "csrf": good_token(served, ann, path)}
        assert ann.post(path, form, headers, origin=origin).status == 403, path
    assert served.service.acts == []


@pytest.mark.parametrize(
    ("origin", "headers"),
    [
        ("", {"sec-fetch-site": "same-origin"}),
        ("null", {"sec-fetch-site": "same-origin"}),  # a browser that keeps referrers to itself
        (BASE.upper(), {}),
    ],
)
def test_either_header_is_enough_to_know_our_own(served: World, origin: str, headers: dict[str, str]) -> None:
    ann = served.browser("ann")
    form = {"do": "go_on", "csrf": served.token(ann)}
    assert ann.post("/c/one/act", form, headers, origin=origin).status == 303


def test_no_get_changes_anything(served: World) -> None:
    ann = served.browser("ann")
    before = len(served.service.arrived)
    for route in served.app.routes:
        ann.get(f"{filled(served, route.path)}?do=go_on&id=x&csrf={served.token(ann)}")
    assert (served.service.acts, served.service.drafts, len(served.service.arrived)) == ([], [], before)


# ---- hosts, bodies, headers


@pytest.mark.parametrize("host", ["evil.test", "judge.test.evil.test", "judge.test:81", "", "judge.test@evil.test"])
def test_another_host_is_refused(served: World, host: str) -> None:
    answer = served.browser("ann").get("/c/one", {"host": host})
    assert answer.status == 400
    assert host == "" or host not in answer.text


@pytest.mark.parametrize("host", ["judge.test", "JUDGE.test", "judge.test:443"])
def test_our_own_host_is_served(served: World, host: str) -> None:
    assert served.browser().get("/health", {"host": host}).status == 200


def test_a_body_that_is_too_long_is_refused_whatever_it_says_of_its_length(served: World) -> None:
    ann = served.browser("ann")
    body = b"do=go_on&x=" + b"a" * BODY_LIMIT
    for length in ("", "12", str(len(body)), "9" * 30):
        headers = {"content-length": length} if length else {}
        sent = {"content-type": "application/x-www-form-urlencoded", "origin": BASE, **headers}
        assert ann.send("POST", "/c/one/act", body, sent).status == 413
    assert ann.post("/c/one/act", b"do=go_on", {"content-length": "-1"}).status == 400
    assert ann.post("/c/one/act", b"do=go_on", {"content-type": "multipart/form-data; boundary=x"}).status == 415


def test_a_browser_that_goes_away_in_the_middle_of_a_form_is_no_error(
    served: World, caplog: pytest.LogCaptureFixture
) -> None:
    sent = {"host": "judge.test", "content-type": "application/x-www-form-urlencoded", "origin": BASE}
    cookies = "; ".join(f"{name}={value}" for name, value in served.browser("ann").cookies.items())
    messages = [{"type": "http.request", "body": b"do=go", "more_body": True}, {"type": "http.disconnect"}]
    scope, statuses = scope_of("POST", "/c/one/act", "", {**sent, "cookie": cookies, "content-length": "50"}), []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        statuses.append(message.get("status"))

    asyncio.run(served.app(scope, receive, send))
    assert statuses[0] == 400
    assert not [record for record in caplog.records if record.levelname in ("ERROR", "WARNING")]


def test_every_answer_carries_the_headers(served: World) -> None:
    ann = served.browser("ann")
    served.service.error = RuntimeError("boom")
    broken = ann.post("/c/one/act", {"do": "go_on", "csrf": served.token(ann)})
    assert broken.status == 500
    answers = [ann.get("/c/one"), ann.get("/none"), ann.get("/health"), ann.get("/c/one", {"host": "x"}), broken]
    for answer in answers:
        assert answer.header("content-security-policy") == (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
            "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        )
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("referrer-policy") == "same-origin"
        assert answer.header("cache-control") == "no-store"
        assert answer.header("cross-origin-opener-policy") == "same-origin"
        assert (answer.header("strict-transport-security") or "").startswith("max-age=")


def test_without_https_nothing_is_promised_for_https(tmp_path: Path) -> None:
    with world(tmp_path, base_url="http://localhost:8000") as plain:
        browser = Browser(plain.app, "http://localhost:8000")
        path = f"/join/{plain.links['ann']}"
        token = browser.get(path).field("csrf")
        answer = browser.post(path, {"csrf": token}, origin="http://localhost:8000")
        assert answer.header("strict-transport-security") is None
        cookie = answer.header("set-cookie") or ""
        assert cookie.startswith("qrowd=")
        assert "secure" not in cookie.lower()


def test_the_cookie_is_bound_to_the_host_and_out_of_reach_of_scripts(served: World) -> None:
    browser = served.browser()
    path = f"/join/{served.links['ann']}"
    cookie = browser.post(path, {"csrf": browser.get(path).field("csrf")}).header("set-cookie") or ""
    assert re.fullmatch(r"__Host-qrowd=[\w-]{43}; HttpOnly; Path=/; SameSite=lax; Secure", cookie)


def test_coming_in_again_makes_a_new_id_and_ends_the_old_one(served: World) -> None:
    ann = served.browser("ann")
    old = dict(ann.cookies)
    path = f"/join/{served.links['ann']}"
    ann.post(path, {"csrf": ann.get(path).field("csrf")})
    assert ann.cookies != old
    assert Browser(served.app, cookies=old).get("/c/one").status == 403
    assert ann.get("/c/one").status == 200


def test_a_session_that_nobody_used_for_twelve_hours_is_over(served: World) -> None:
    ann = served.browser("ann")
    for hours, status in ((11, 200), (11, 200), (13, 403)):
        served.clock.now += hours * 3600
        assert ann.get("/c/one").status == status


@pytest.mark.parametrize("cookie", ["", "x" * 43, "x" * 5000, "é", "' or 1=1 --", "%00"])
def test_a_cookie_that_was_never_given_opens_nothing(served: World, cookie: str) -> None:
    assert Browser(served.app, cookies={"__Host-qrowd": cookie}).get("/c/one").status == 403


# ---- paths and odd values

UP = ["..", "%2e%2e", "..%2f", "..%5c", "%2e%2e%2f", "..%252f", "....//", "..;/"]
NAMES = [
    *(f"{up}/{up}/etc/passwd" for up in UP),
    *(f"{up * 3}app.py" for up in UP),
    *(f"{up}security.py" for up in UP),
    "/etc/passwd", "//etc/passwd", "%2fetc%2fpasswd", "icon.svg%00.py", "icon.svg/..", "icon.svg/../../app.py",
    "./icon.svg", "icon.svg/", "ICON.SVG", "icon.svg.bak", "static", "..static/icon.svg", "C:%5cboot.ini", "~root",
    "%c0%ae%c0%ae/app.py", "icon.svg%0d%0aX:1", "a" * 3000,
]  # fmt: skip


@pytest.mark.parametrize("place", ["/static/{}", "/c/{}", "/c/{}/act", "/join/{}", "/panel/{}"])
def test_no_name_leads_out_of_its_folder(served: World, place: str) -> None:
    ann = served.browser("ann")
    assert len(NAMES) >= 40
    for name in NAMES:
        path = place.format(name)
        answer = ann.get(path)
        assert answer.status in {404, 405}, path
        assert b"root:" not in answer.body
        assert b"import" not in answer.body


def test_what_comes_with_the_program_is_served_by_its_name(served: World) -> None:
    answer = served.browser().get("/static/icon.svg")
    assert (answer.status, answer.header("cache-control")) == (200, "no-cache")
    version = (answer.header("etag") or "").strip('"')
    assert "immutable" in (served.browser().get(f"/static/icon.svg?v={version}").header("cache-control") or "")
    assert served.browser().get("/static/icon.svg", {"if-none-match": f'"{version}"'}).status == 304


ODD = st.one_of(
    st.sampled_from(["'", '"', "' or 1=1 --", "'; drop table event; --", "__", "%", "\\", "\x00", "1e999", "-1", "٣"]),
    st.text(max_size=20),
    st.integers(-(10**30), 10**30).map(str),
)
FIELDS = ["do", "csrf", "shown", "key", "position", "text", "reason", "active", "pair", "choice", "definitely", "side"]
FIELDS += ["option", "line", "agreed", "confidence", "understanding", "comment", "id", "signature"]
ACTIONS = [
    "consent",
    "line",
    "go_on",
    "reply",
    "judge",
    "postpone",
    "cannot_tell",
    "go_to",
    "prefer",
    "bad",
    "undo",
    "look_up",
    "rate",
]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("odd"), judgments_per_minute=10**9, drafts_per_minute=10**9) as made:
        yield made


@given(
    path=st.sampled_from(["/c/one/act", "/c/one/draft", "/panel/one"]),
    form=st.dictionaries(st.sampled_from(FIELDS), ODD, max_size=8),
    do=st.sampled_from([*ACTIONS, None]),
    name=ODD,
)
@settings(
    max_examples=settings.default.max_examples * 2 // 5, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_value_breaks_anything(kept: World, path: str, form: dict[str, str], do: str | None, name: str) -> None:
    from urllib.parse import quote, urlencode

    ann = kept.browser("ann")
    token = good_token(kept, ann, path)
    full = {**form, "csrf": form.get("csrf", token)} | ({"do": do} if do else {})
    query = urlencode(form)
    answers = [
        ann.post(path, full),
        ann.post(f"/{path.split('/')[1]}/{quote(name, safe='')}/act", full),
        *(ann.get(f"{place}?{query}") for place in ("/panel/one", "/c/one")),
        ann.get(f"/join/{quote(name, safe='')}"),
    ]
    assert [answer.status for answer in answers if answer.status >= 500] == []


# ---- settings, tokens, addresses


@pytest.mark.parametrize(
    "secret", [b"", b"x" * 31, b"x" * 64, b"secret" * 10, b"changeme-0123456789-abcdefghijklmnop", SECRET[:31]]
)
def test_a_secret_that_others_may_know_is_refused(secret: bytes) -> None:
    with pytest.raises(ArgumentError, match=r"secret: expected at least 32 random bytes"):
        ServerSettings(BASE, secret)


@pytest.mark.parametrize(
    "base",
    [
        *("judge.test", "ftp://judge.test", "https://judge.test/x y", "https://a/../b", "https://a/%2e", "https://"),
        *("https://a?b", "https://a/b#c", "https://a//b", "https://me@a", "https://a:b", "https://[::1"),
    ],
)
def test_a_base_url_is_a_scheme_and_a_host(base: str) -> None:
    with pytest.raises(ArgumentError, match="base_url"):
        ServerSettings(base, SECRET)


def test_no_secret_is_ever_printed() -> None:
    shown = repr(ServerSettings(BASE, SECRET, environ={"A": "hidden"}))
    assert str(SECRET) not in shown
    assert "hidden" not in shown


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=20) | st.integers(), max_size=4), st.data())
def test_a_token_says_what_was_signed_and_nothing_else_does(content: dict[str, object], data: st.DataObject) -> None:
    signer = Signer(SECRET)
    token = signer.sign("a", content, NOW)
    assert signer.open("a", token, NOW - 1) == content
    assert signer.open("a", token, NOW) is None
    assert signer.open("b", token, NOW - 1) is None
    assert Signer(SECRET[::-1]).open("a", token, NOW - 1) is None
    place = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.sampled_from("AZaz09-_.=!é").filter(lambda c: c != token[place]))
    assert signer.open("a", token[:place] + other + token[place + 1 :], NOW - 1) is None


@pytest.mark.parametrize(
    ("peer", "said", "address"),
    [
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "6.6.6.6, 198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "unknown", "unknown"),
    ],
)
def test_only_a_trusted_proxy_says_who_asks(peer: str, said: str, address: str) -> None:
    seen = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(client_address(scope))

    scope = scope_of("GET", "/", "", {"x-forwarded-for": said}, peer)
    asyncio.run(ProxyHeadersMiddleware(app, ["10.0.0.0/8"])(scope, None, None))  # type: ignore[arg-type]
    assert seen == [address]


@pytest.mark.parametrize(
    ("peer", "network"),
    [
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8:0:0:ffff::9", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("192.0.2.7", "192.0.2.7"),
        ("no:address", "no:address"),
    ],
)
def test_addresses_that_one_visitor_can_choose_count_as_one(peer: str, network: str) -> None:
    assert client_network(scope_of("GET", "/", "", {}, peer)) == network
