"""The threat table against the real application: files, statements, addresses to ask, floods, odd texts."""

import csv
import io
import json
import re
import socket
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest

from qrowd_server.store.accounts import add_account, hash_password
from qrowd_server.store.materials import find_campaign
from qrowd_server.store.schema import event, judgment
from server.web.attacks import PASSWORD, TAKE_FILES, count, filled, owner_login, routes
from server.web.siege import Fort, fort
from webserver import BASE, Answer, Browser, listening
from zips import zipped

# ---- paths, archives, formulas

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


def count_unpacked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of all that is read from zips from now on."""
    sizes, read = [], zipfile.ZipExtFile.read

    def counted(self: zipfile.ZipExtFile, n: int | None = -1) -> bytes:
        content = read(self, n)
        sizes.append(len(content))
        return content

    monkeypatch.setattr(zipfile.ZipExtFile, "read", counted)
    return sizes


def test_a_zip_is_taken_and_one_that_leads_out_or_blows_up_is_refused_in_words(
    place: Fort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = place.owner()
    for name in MEMBERS:
        answer = upload(place, owner, zipped({**GOOD, name: b"x"}))
        assert (answer.status, "Traceback" in answer.text) == (422, False), name
    link = zipfile.ZipInfo("documents.jsonl")
    link.external_attr = 0o120777 << 16
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("campaign.toml", GOOD["campaign.toml"])
    assert upload(place, owner, made.getvalue()).status == 422
    bomb = zipped({**GOOD, "documents.jsonl": b"\x00" * (40 << 20)})
    assert len(bomb) < 100_000
    unpacked = count_unpacked(monkeypatch)
    assert upload(place, owner, bomb).status == 422
    assert 0 < sum(unpacked) <= 200 * len(bomb) + (2 << 20)  # a quarter of what it holds, at most
    assert upload(place, owner, b"PK\x05\x06" + b"\x00" * 18).status == 422
    assert upload(place, owner, b"no zip at all").status == 422
    outside = upload(
        place, owner, b"x", "x.tsv", toml='[campaign]\nname = "a"\n[grades]\n[files]\ntopics = "/etc/passwd"\n'
    )
    assert outside.status == 422
    assert "root:" not in outside.text
    assert upload(place, owner, zipped(GOOD)).status == 303
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
    for what in ["judgments"]:
        answer = shared.owner().get(f"/owner/c/stars/export/{what}/spreadsheet?everything=1")
        assert answer.status == 200
        rows = list(csv.reader(io.StringIO(answer.body.decode(), newline="")))
        cells = [cell for row in rows for cell in row]
        assert any("HYPERLINK" in cell for cell in cells)
        formulas = [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
        assert [cell for cell in formulas if not re.fullmatch(r"-?[\d.e-]+", cell)] == []


# ---- SQL injection

INJECTIONS = [
    "'", "''", "\\'", '"', "' or '1'='1", "1; drop table event; --", "' union select hash from session --", "%' --",
    "1 or 1=1", "name desc; --", "(select 1)", "__class__", "__init__.__globals__", "name__contains", "-__class__",
    "%", "_", "\\", "\x00", "\ud800", "${jndi:x}", "$1", ":name", "?1", "%s", "%(name)s", "{0}", "{campaign.settings}",
]  # fmt: skip


def test_no_text_becomes_a_part_of_a_statement(shared: Fort) -> None:
    owner, csrf, before = shared.owner(), owner_login(shared), count(shared, event)
    assert owner.get("/owner/c/sizes").status == 200
    api = {"authorization": f"Bearer {shared.links['key all']}"}
    for i, text in enumerate(INJECTIONS):
        plain = text.encode("utf-8", "surrogatepass")
        q = quote(plain, safe="")
        stranger = Browser(shared.app, address=f"192.0.3.{i}")
        assert owner.get(f"/owner/c/sizes?arm={q}").status in (200, 400, 422), text
        for path in (f"/c/{q}", f"/join/{q}", f"/panel/{q}?id=x", f"/owner/c/{q}", f"/owner/c/sizes/assessors/{q}"):
            assert owner.get(path).status in (400, 403, 404), path
        assert stranger.get(f"/panel/sizes?id={q}").status in (200, 400), text
        for path in (f"/api/v1/campaigns/{q}", f"/api/v1/campaigns/sizes/assessors/{q}/page"):
            assert stranger.get(path, api).status in (400, 404), path
        form = {"name": plain, "password": plain, "csrf": csrf}
        assert stranger.post("/owner/login", urlencode(form).encode()).status in (400, 422), text
    assert count(shared, event) == before


# ---- abuse


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


def test_ten_failed_logins_close_the_door_for_a_quarter_of_an_hour(place: Fort) -> None:
    place.store.write(lambda c: add_account(c, "olga", hash_password(PASSWORD, fast=True), 0.0, role="administrator"))

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


def test_a_body_that_is_too_long_is_refused_before_it_is_read(shared: Fort) -> None:
    ann, owner = shared.walker("sizes").come().browser, shared.owner()
    takes_files = TAKE_FILES
    for method, path in routes(shared):
        if method == "GET" or path in takes_files:
            continue
        for who in (ann, owner):
            answer = who.send(method, filled(path), b"x" * 70_000, {"content-length": "70000", "origin": BASE})
            assert answer.status == 413, path
    for path in map(filled, takes_files):
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
    door = shared.walker("sizes", "panel").door
    assert Browser(shared.app).get(f"{door}&{door.partition('?')[2].partition('&')[0]}").status == 400


TEXTS = [
    b"\x00", b"a\x00b", b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf8\x88\x80\x80\x80", b"\xef\xbf\xbe",
    b"\xf4\x8f\xbf\xbf", "\u202e\u2066".encode(), "Z\u0351\u036b\u0343".encode() * 50,
    "\U0001f469\u200d\U0001f680".encode(),
    b"\r\n\r\n", b"\t\x0b\x0c",
]  # fmt: skip
NUMBERS = [
    "\u0661\u0662".encode(), "\uff11".encode(), "\u00b2".encode(),
    b"1e999", b"-0", b"NaN", b"Infinity", b"0x10", b"1_000",
]  # fmt: skip
IN_BOTH = ("shown", "text")
ASKING = [*((one, ("csrf", "do", "reason", *IN_BOTH)) for one in TEXTS),
          *((one, ("position", "active", "option", *IN_BOTH)) for one in [*TEXTS[::4], *NUMBERS])]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "names"),
    [pytest.param(*one, marks=[pytest.mark.nightly] * (i % 2)) for i, one in enumerate(ASKING)],
)
def test_no_odd_text_in_any_field_breaks_anything(shared: Fort, value: bytes, names: tuple[str, ...]) -> None:
    who = f"odd{value.hex()[:100]}{names[0]}"
    walker = shared.walker("sizes", "panel", who).come().walk(until="document")
    for name in names:
        fields: dict[str, Any] = {
            "csrf": walker.value("csrf"), "shown": walker.value("shown"), "key": "", "text": "5", "reason": "so",
            "do": "reply" if name == "option" else "judge",
            "position": "0", "pair": "0", "choice": "left", "option": "0", "confidence": "3", "understanding": "3",
        }  # fmt: skip
        answer = walker.browser.post("/c/sizes/act", urlencode(fields | {name: value}).encode())
        assert answer.status in (303, 400, 403, 409, 422), (name, answer.text[:200])
    for name in {"csrf", "shown", "position", "text", "reason"} & set(names):
        fields = {"csrf": walker.value("csrf"), "shown": walker.value("shown"), "position": "0"}
        answer = walker.browser.post("/c/sizes/draft", urlencode(fields | {name: value}).encode())
        assert answer.status in (204, 400, 403, 422), name
    page = walker.browser.get("/c/sizes")
    assert page.status == 200
    page.body.decode("utf-8")
