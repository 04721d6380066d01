"""A Prolific of our own: ids in the address, signed links, completion."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from sqlalchemy import update

from collect.web.fakes import CROWD, World, world
from judging import NOW, Clock
from qrowd.collect.protocols.views import EndView, LostView, NoneLeftView
from qrowd.collect.store.schema import campaign
from qrowd.collect.web.crowd.signed_links import Keys, verified
from qrowd.errors import ArgumentError
from webserver import Answer, Browser

PID, STUDY, SESSION = "5f" * 12, "60" * 12, "61" * 12
IDS = {"PROLIFIC_PID": PID, "STUDY_ID": STUDY, "SESSION_ID": SESSION}
QUERY = f"PROLIFIC_PID={PID}&STUDY_ID={STUDY}&SESSION_ID={SESSION}"
JWKS = "http://127.0.0.1/jwks.json"
RSA, OTHER = (rsa.generate_private_key(65537, 2048) for _ in range(2))
EC = ec.generate_private_key(ec.SECP256R1())


@pytest.fixture
def served(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, loopback=True) as made:
        yield made


def configure(served: World, **changes: Any) -> None:
    table = {**CROWD, "prolific": {**CROWD["prolific"], **changes}}
    statement = update(campaign).where(campaign.c.name == "one").values(settings={"crowd": table})
    served.store.write(lambda connection: connection.execute(statement))


def come(browser: Browser, query: str = QUERY) -> Answer:
    page = browser.get(f"/p/one?{query}")
    assert page.status == 200, page.text
    return browser.post("/p/one", {"csrf": page.field("csrf")})


# ---- the three ids


def test_a_visit_writes_nothing_and_a_press_begins(served: World) -> None:
    browser = served.browser()
    assert browser.get(f"/p/one?{QUERY}").status == 200
    assert served.service.arrived == []
    assert come(browser).header("location") == "/c/one"
    assert served.service.arrived == [
        ("one", "prolific", PID, "url", {"study": STUDY, "submission": SESSION}),
    ]
    assert browser.get(f"/p/one?{QUERY}").header("location") == "/c/one"


@pytest.mark.parametrize(
    "query",
    [
        "",
        f"PROLIFIC_PID={PID}&STUDY_ID={STUDY}",
        f"{QUERY}&PROLIFIC_PID={PID}",
        QUERY.replace(PID, PID[:-1]),
        QUERY.replace(PID, PID + "a"),
        QUERY.replace(PID, "g" * 24),
        QUERY.replace(PID, "%27%20or%201=1%20--%20aaaaaaa"),
        QUERY.replace(PID, "{{%25PROLIFIC_PID%25}}"),
        QUERY.replace(PID, PID + "%0a"),
    ],
)
def test_ids_that_are_not_prolifics_are_refused(served: World, query: str) -> None:
    assert served.browser().get(f"/p/one?{query}").status == 400


def test_another_study_is_refused_where_the_campaign_names_one(served: World) -> None:
    configure(served, study_id="99" * 12)
    assert served.browser().get(f"/p/one?{QUERY}").status == 400
    configure(served, study_id=STUDY)
    assert served.browser().get(f"/p/one?{QUERY}").status == 200


def test_a_campaign_takes_only_people_from_its_platforms(served: World) -> None:
    assert served.browser().get(f"/p/two?{QUERY}").status == 404
    assert served.browser().get(f"/p/none?{QUERY}").status == 404


@pytest.mark.parametrize(
    ("view", "code"),
    [
        (EndView("completed"), "CDONE"),
        (EndView("completed", another=True), "CDONE"),
        (EndView("failed"), "CFAIL"),
        (EndView("failed", another=True), ""),
        (EndView("screened_out"), "COUT"),
        (EndView("declined"), ""),
        (NoneLeftView(None, True), "CDONE"),
        (NoneLeftView(None, False), ""),
        (LostView(40), ""),
    ],
)
def test_the_code_is_given_at_the_end_and_says_how_it_ended(served: World, view: Any, code: str) -> None:
    browser = served.browser()
    come(browser)
    before = browser.get("/c/one")
    assert all(secret not in before.text for secret in ("CDONE", "CFAIL", "COUT", "prolific"))
    served.service.views[1] = view
    page = browser.get("/c/one")
    assert page.field("code") == code
    assert page.field("link") == (f"https://app.prolific.com/submissions/complete?cc={code}" if code else "")


# ---- signed links


class Published:
    """Prolific's key set. fetched : how often."""

    def __init__(self) -> None:
        self.keys = {"k1": public(RSA, "RS256", "k1")}
        self.fetched, self.failing = 0, False

    def client(self) -> httpx.AsyncClient:
        def reply(request: httpx.Request) -> httpx.Response:
            self.fetched += 1
            return httpx.Response(500) if self.failing else httpx.Response(200, json={"keys": [*self.keys.values()]})

        return httpx.AsyncClient(transport=httpx.MockTransport(reply))


def public(key: Any, algorithm: str, kid: str) -> dict[str, Any]:
    maker = jwt.algorithms.RSAAlgorithm if algorithm == "RS256" else jwt.algorithms.ECAlgorithm
    return {**maker.to_jwk(key.public_key(), as_dict=True), "kid": kid, "alg": algorithm, "use": "sig"}


def signed(key: Any = RSA, algorithm: str = "RS256", kid: str = "k1", **claims: Any) -> str:
    content = {"exp": NOW + 60, "aud": "judge.test", "prolific": {**IDS, "workspace_id": "w"}, **claims}
    content = {name: value for name, value in content.items() if value is not None}
    return jwt.encode(content, key, algorithm, headers={"kid": kid})


@pytest.fixture
def published(served: World) -> Published:
    made = Published()
    served.app.state.server.keys[JWKS_HTTPS] = Keys(JWKS, clock=served.clock, client=made.client(), loopback=True)
    configure(served, verified=True, audience="judge.test", jwks_url=JWKS_HTTPS)
    return made


JWKS_HTTPS = "https://prolific.test/jwks.json"


@pytest.mark.parametrize("audience", ["judge.test", "https://judge.test/p/one", ["x.test", "https://judge.test"]])
def test_a_signed_link_is_known_to_be_theirs(served: World, published: Published, audience: Any) -> None:
    come(served.browser(), f"{QUERY}&prolific_token={signed(aud=audience)}")
    assert served.service.arrived[0][3] == "signed"


def test_a_key_on_a_curve_signs_as_well(served: World, published: Published) -> None:
    published.keys["k2"] = public(EC, "ES256", "k2")
    come(served.browser(), f"{QUERY}&prolific_token={signed(EC, 'ES256', 'k2')}")
    assert served.service.arrived[0][3] == "signed"


def tampered() -> str:
    head, _, mac = signed().split(".")
    body = jwt.utils.base64url_encode(json.dumps({"exp": NOW + 60, "aud": "judge.test", "prolific": IDS}).encode())
    return f"{head}.{body.decode()}.{mac}"


def unsigned() -> str:
    return jwt.encode({"exp": NOW + 60, "aud": "judge.test", "prolific": IDS}, None, "none", headers={"kid": "k1"})


def with_public_key_as_secret() -> str:
    import base64
    import hashlib
    import hmac

    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    pem = RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    parts = [{"alg": "HS256", "typ": "JWT", "kid": "k1"}, {"exp": NOW + 60, "aud": "judge.test", "prolific": IDS}]
    text = ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)
    mac = hmac.digest(pem, text.encode(), hashlib.sha256)
    return f"{text}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


@pytest.mark.parametrize(
    "token",
    [
        "",
        "a.b.c",
        "x" * 9000,
        signed(exp=NOW),
        signed(exp=NOW - 1),
        signed(exp=None),
        signed(exp=True),
        signed(nbf=NOW + 3600),
        signed(aud="evil.test"),
        signed(aud="judge.test.evil.test"),
        signed(aud="http://judge.test"),
        signed(aud="https://judge.test@evil.test"),
        signed(aud=None),
        signed(aud=["evil.test"]),
        signed(prolific=None),
        signed(prolific="x"),
        signed(prolific={**IDS, "PROLIFIC_PID": "00" * 12}),
        signed(prolific={**IDS, "STUDY_ID": "00" * 12}),
        signed(prolific={**IDS, "SESSION_ID": "00" * 12}),
        signed(OTHER),
        signed(kid="k9"),
        signed(EC, "ES256"),
        tampered(),
        unsigned(),
        with_public_key_as_secret(),
    ],
)
def test_a_link_that_is_not_signed_for_us_now_for_these_ids_is_refused(
    served: World, published: Published, token: str
) -> None:
    assert served.browser().get(f"/p/one?{QUERY}&prolific_token={token}").status == 403
    configure(served, verified=False, audience="judge.test", jwks_url=JWKS_HTTPS)
    if token:  # whoever brings a token brings a good one
        assert served.browser().get(f"/p/one?{QUERY}&prolific_token={token}").status == 403


def test_keys_are_fetched_once_a_day_and_once_for_an_id_nobody_has_seen() -> None:
    clock, made = Clock(), Published()
    keys = Keys(JWKS, clock=clock, client=made.client(), loopback=True)

    def find(kid: str) -> bool:
        return asyncio.run(keys.find(kid)) is not None

    assert [find("k1"), find("k1")] == [True, True]
    assert made.fetched == 1
    clock.now += 61
    made.keys["k2"] = public(EC, "ES256", "k2")
    assert find("k2")
    assert made.fetched == 2
    assert [find(f"made-up-{i}") for i in range(50)] == [False] * 50
    assert made.fetched == 2  # not even a minute later
    clock.now += 86_401
    assert find("k1")
    assert made.fetched == 3
    made.failing = True
    clock.now += 86_401
    assert find("k1")  # yesterday's, for one more day
    clock.now += 86_401
    assert not find("k1")


@pytest.mark.parametrize("url", ["http://prolific.test/x", "file:///etc/passwd", "http://127.0.0.1.evil.test/"])
def test_keys_come_from_an_https_address_only(url: str) -> None:
    for loopback in (True, False):
        with pytest.raises(ArgumentError, match="jwks_url"):
            Keys(url, loopback=loopback)
    with pytest.raises(ArgumentError, match="jwks_url"):
        Keys(JWKS)


def test_a_key_set_that_makes_no_sense_verifies_nothing() -> None:
    for content in (b"", b"[]", b'{"keys": [{}]}', b'{"keys": 1}', b"x" * 300_000):
        transport = httpx.MockTransport(lambda request, content=content: httpx.Response(200, content=content))
        keys = Keys(JWKS, clock=Clock(), client=httpx.AsyncClient(transport=transport), loopback=True)
        assert not asyncio.run(verified(signed(), IDS, audience="judge.test", keys=keys, now=NOW))
