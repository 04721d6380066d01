"""Sign-in by OpenID Connect, against a provider in a process of its own and against one that lies."""

import base64
import json
import ssl
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import pytest

from qrowd.errors import ArgumentError
from qrowd_server.store.accounts import accounts, disable_account, find_account
from qrowd_server.web.owner import oidc
from qrowd_server.web.owner.oidc import oidc_settings
from server.web.owner.estate import Estate, estate
from server.web.owner.provider import Liar, certificate, lying_provider, real_provider
from webserver import BASE, Answer, Browser

CALLBACK = "/owner/oidc/callback"


def settings(issuer: str, **more: str) -> dict[str, str]:
    return {
        "QROWD_OIDC_ISSUER": issuer,
        "QROWD_OIDC_CLIENT_ID": "qrowd",
        "QROWD_OIDC_CLIENT_SECRET": "a secret",
        **{f"QROWD_OIDC_{name}": value for name, value in more.items()},
    }


@pytest.fixture(scope="module", autouse=True)
def certificates() -> Iterator[None]:
    """The certificates of this machine are read once; providers without TLS have no use for them."""
    read = ssl.create_default_context()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oidc, "ssl", SimpleNamespace(create_default_context=lambda: read))
        yield


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with real_provider() as address:
        yield address


@pytest.fixture
def made(tmp_path: Path, issuer: str) -> Iterator[Estate]:
    with estate(tmp_path, environ=settings(issuer)) as place:
        place.clock.now = time.time()  # the provider has a real clock
        yield place


class Stay(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def agree(address: str, subject: str) -> str:
    """What somebody does at the provider; the path and query that the browser is sent back to."""
    request = Request(address, urlencode({"sub": subject}).encode())
    try:
        build_opener(Stay).open(request, timeout=10)
    except OSError as error:  # a redirect that is not followed
        back = error.headers["location"]  # type: ignore[attr-defined]
        assert back.startswith(f"{BASE}{CALLBACK}?")
        return back.removeprefix(BASE)
    raise AssertionError("no redirect")


def sign_in(browser: Browser, subject: str) -> Answer:
    going = browser.get("/owner/oidc")
    assert going.status == 302
    return browser.get(agree(going.header("location") or "", subject))


def names(made: Estate) -> dict[str, str]:
    return {one.name: one.role for one in made.store.read(accounts)}


def test_the_first_sign_in_makes_an_account_and_the_next_one_finds_it(made: Estate) -> None:
    assert "Sign in with" in Browser(made.app).get("/owner/login").text
    for _ in range(2):
        browser = Browser(made.app)
        answer = sign_in(browser, "s-ann")
        assert (answer.status, answer.header("location")) == (303, "/owner")
        assert "__Host-qrowd-oidc" not in browser.cookies
        page = browser.get("/owner")
        assert (page.status, ">ann</a>" in page.text) == (200, True)
    assert names(made) == {"ann": "member", "olga": "administrator"}
    assert browser.get("/owner/accounts").status == 403
    assert browser.post("/owner/login", {"csrf": "x", "name": "ann", "password": ""}).status == 403


def test_a_name_that_is_taken_links_nobody_with_its_account(made: Estate) -> None:
    made.store.write(lambda c: c.exec_driver_sql("update account set name = 'ann' where name = 'olga'"))
    browser = Browser(made.app)
    assert sign_in(browser, "s-ann").status == 303
    assert names(made) == {"ann": "administrator", "ann-2": "member"}
    assert ">ann-2</a>" in browser.get("/owner").text


def test_a_disabled_account_does_not_sign_in_and_no_other_one_is_made(made: Estate) -> None:
    assert sign_in(Browser(made.app), "s-ann").status == 303
    made.store.write(lambda c: disable_account(c, find_account(c, "ann").id, 5.0))
    answer = sign_in(browser := Browser(made.app), "s-ann")
    assert (answer.status, "disabled" in answer.text) == (403, True)
    assert browser.get("/owner").status == 303
    assert set(names(made)) == {"ann", "olga"}


@pytest.mark.parametrize(
    ("more", "may"),
    [
        ({"DOMAINS": "uni.test"}, ["s-ann"]),  # eve's address is not verified
        ({"DOMAINS": "UNI.test, other.test"}, ["s-ann", "s-bob"]),
        ({"GROUPS": "ir"}, ["s-ann"]),
        ({"DOMAINS": "other.test", "GROUPS": "ir"}, []),
        ({}, ["s-ann", "s-bob", "s-eve"]),
    ],
)
def test_domains_and_groups_decide_who_may_sign_in(tmp_path: Path, issuer: str, more: dict[str, str],
                                                   may: list[str]) -> None:  # fmt: skip
    with estate(tmp_path, environ=settings(issuer, **more)) as made:
        made.clock.now = time.time()
        came = [who for who in ("s-ann", "s-bob", "s-eve") if sign_in(Browser(made.app), who).status == 303]
        assert came == may
        assert [role for name, role in names(made).items() if name != "olga"] == ["member"] * len(may)
        assert "s-bob" not in came or "bob-ross" in names(made)


def test_a_sign_in_belongs_to_the_browser_that_began_it_and_works_once(made: Estate) -> None:
    first, second = Browser(made.app), Browser(made.app)
    back = agree(first.get("/owner/oidc").header("location") or "", "s-ann")
    second.get("/owner/oidc")
    assert second.get(back).status == 403  # another state
    assert Browser(made.app).get(back).status == 403
    kept = dict(first.cookies)
    assert first.get(back).status == 303
    assert first.get(back).status == 403  # nothing is remembered any more
    assert Browser(made.app, cookies=kept).get(back).status == 403  # the provider takes a code once
    late = Browser(made.app)
    back = agree(late.get("/owner/oidc").header("location") or "", "s-ann")
    made.clock.now += 601
    assert late.get(back).status == 403


def test_a_refusal_of_the_provider_is_told(made: Estate) -> None:
    browser = Browser(made.app)
    state = parse_qs(urlsplit(browser.get("/owner/oidc").header("location") or "").query)["state"][0]
    answer = browser.get(f"{CALLBACK}?{urlencode({'error': 'access_denied', 'state': state})}")
    assert (answer.status, "access_denied" in answer.text) == (403, True)


# ---- a provider that lies


@pytest.fixture
def liar() -> Iterator[Liar]:
    with lying_provider() as one:
        yield one


def come_back(made: Estate, liar: Liar, **claims: object) -> Answer:
    """Begin a sign-in, and come back with a code; the token holds what the test wants."""
    browser = Browser(made.app)
    query = parse_qs(urlsplit(browser.get("/owner/oidc").header("location") or "").query)
    now = int(made.clock())
    nonce = query["nonce"][0]
    usual = {"iss": liar.issuer, "aud": "qrowd", "sub": "s-ann", "exp": now + 60, "iat": now, "nonce": nonce,
             "preferred_username": "ann"}  # fmt: skip
    liar.claims = {name: value for name, value in {**usual, **claims}.items() if value is not None}
    answer = browser.get(f"{CALLBACK}?{urlencode({'code': 'c', 'state': query['state'][0]})}")
    if not liar.trouble and liar.asked and liar.asked[-2:][0][1] == "/token_endpoint":
        verifier = liar.asked[-2][2]["code_verifier"][0].encode()
        challenge = base64.urlsafe_b64encode(sha256(verifier).digest()).rstrip(b"=").decode()
        assert (query["code_challenge"], query["code_challenge_method"]) == ([challenge], ["S256"])
    return answer


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({}, 303),
        ({"nonce": "another"}, 403),
        ({"nonce": None}, 403),
        ({"iss": "https://evil.test"}, 403),
        ({"aud": "another"}, 403),
        ({"aud": ["qrowd", "another"], "azp": "another"}, 403),
        ({"sub": None}, 403),
        ({"exp": 5}, 403),
        ({"exp": None}, 403),
    ],
)
def test_a_token_has_to_be_of_the_issuer_for_us_now_and_for_this_sign_in(
    tmp_path: Path, liar: Liar, claims: dict[str, object], status: int
) -> None:
    with estate(tmp_path, environ=settings(liar.issuer)) as made:
        made.clock.now = time.time()
        assert come_back(made, liar, **claims).status == status
        assert ("ann" in names(made)) == (status == 303)


def unsigned(claims: dict[str, object]) -> str:
    parts = [{"alg": "none"}, claims]
    return ".".join(base64.urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=").decode() for one in parts) + "."


def by_another_key(claims: dict[str, object]) -> str:
    from joserfc import jwt
    from joserfc.jwk import RSAKey

    return jwt.encode({"alg": "RS256", "kid": "one"}, claims, RSAKey.generate_key(2048))


def by_the_client_secret(claims: dict[str, object]) -> str:
    from joserfc import jwt
    from joserfc.jwk import OctKey

    return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key("a secret that is long enough for it"))


@pytest.mark.parametrize("sign", [unsigned, by_another_key, by_the_client_secret, lambda claims: "junk"])
def test_a_token_that_the_issuer_did_not_sign_is_refused(tmp_path: Path, liar: Liar, sign: object) -> None:
    with estate(tmp_path, environ=settings(liar.issuer)) as made:
        made.clock.now, liar.sign = time.time(), sign
        assert come_back(made, liar).status == 403
        assert "ann" not in names(made)


def test_a_provider_that_is_away_is_a_friendly_page(tmp_path: Path) -> None:
    with estate(tmp_path, environ=settings("http://127.0.0.1:9")) as made:
        answer = Browser(made.app).get("/owner/oidc")
        assert (answer.status, "does not answer" in answer.text) == (502, True)


@pytest.mark.parametrize(
    ("trouble", "status", "words"),
    [
        ("redirect", 502, "does not answer"),
        ("silence", 502, "does not answer"),
        ("close", 502, "does not answer"),
        ("error", 502, "does not answer"),
        ("junk", 403, "The sign-in failed"),
    ],
)
def test_trouble_at_the_token_endpoint_is_a_friendly_page_and_no_account(
    tmp_path: Path, liar: Liar, monkeypatch: pytest.MonkeyPatch, trouble: str, status: int, words: str
) -> None:
    if trouble == "silence":  # a busy machine must answer the first request in this time, too
        monkeypatch.setattr(oidc, "TIMEOUT", 3.0)
    with estate(tmp_path, environ=settings(liar.issuer)) as made:
        made.clock.now, liar.trouble = time.time(), trouble
        answer = come_back(made, liar)
        assert (answer.status, words in answer.text) == (status, True)
        assert "ann" not in names(made)
        assert not [path for _, path, _ in liar.asked if path == "/elsewhere"]


@pytest.mark.parametrize("trusted", [True, False])
def test_a_provider_with_a_certificate_of_one_s_own_is_trusted_where_ssl_cert_file_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool
) -> None:
    monkeypatch.setattr(oidc, "ssl", ssl)
    file = certificate(tmp_path)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with lying_provider(file) as liar, estate(tmp_path, environ=settings(liar.issuer)) as made:
        made.clock.now = time.time()
        if trusted:
            assert come_back(made, liar).status == 303  # metadata, token and keys
        else:
            assert Browser(made.app).get("/owner/oidc").status == 502


@pytest.mark.parametrize(
    ("name", "account"),
    [(["a"], "s-ann"), ({"x": 1}, "s-ann"), ("zo\u2800e\u3164", "zo-e"), ("\u202ezoe", "zoe"), ("\u115f", "account")],
)
def test_a_name_of_the_provider_that_is_no_name_is_none(tmp_path: Path, liar: Liar, name: object, account: str) -> None:
    with estate(tmp_path, environ=settings(liar.issuer)) as made:
        made.clock.now = time.time()
        assert come_back(made, liar, preferred_username=name).status == 303
        assert set(names(made)) == {account, "olga"}


# ---- settings


@pytest.mark.parametrize(
    ("environ", "line"),
    [
        (settings("http://id.example.org"), "expected an address"),
        (settings("id.example.org"), "expected an address"),
        ({"QROWD_OIDC_ISSUER": "https://id.example.org"}, "QROWD_OIDC_CLIENT_ID"),
    ],
)
def test_settings_that_cannot_work_name_the_variable(environ: dict[str, str], line: str) -> None:
    with pytest.raises(ArgumentError, match=line):
        oidc_settings(environ)
    assert oidc_settings({}) is None
