"""Owners' routes asked straight: who may, what changes, and that nothing changes by looking."""

import asyncio
import html
import random
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import func, select
from starlette.routing import Route

from judging import seeded, small_plan
from qrowd.judge import FunctionModel
from qrowd.judge.exchange import Request
from qrowd_server.campaigns.plan.template import PROTOCOLS, Protocol, template_files
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.campaigns.running.models import ask_in_campaign
from qrowd_server.store.invitation_links import find_invitation
from qrowd_server.store.materials import campaigns
from qrowd_server.store.schema import assessor, campaign, metadata, slot
from qrowd_server.store.sessions import find_api_key
from qrowd_server.web.owner import ROUTES, formatting
from qrowd_server.web.owner.context import Memory
from qrowd_server.web.owner.sign_in import owner_link
from server.web.owner.estate import HOSTILE, PASSWORD, Estate, estate, judge, text_of
from webserver import BASE, Browser
from zips import zipped

UPLOADS = {
    "/owner/new",
    "/owner/lists/{campaign}",
    "/owner/review/{campaign}",
    "/owner/change/{campaign}",
}
OPEN = {
    "/owner/login",
    "/owner/enter/{token}",
    "/owner/password/{token}",
    "/owner/oidc",
    "/owner/oidc/callback",
}  # to whoever is not known yet
TOML = (
    '[campaign]\nname = "zipped"\ntitle = "From a zip"\n[journey]\nconsent = false\n[grades]\nk = 2\nredundancy = 1\n'
)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Estate]:
    with estate(tmp_path) as one:
        yield one


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    """One for all tests that change nothing but sessions."""
    with estate(tmp_path_factory.mktemp("shared")) as one:
        yield one


def filled(made: Estate, path: str) -> str:
    number = made.assessor("ann").rpartition("/")[2]
    values = {
        "campaign": "small",
        "number": number,
        "what": "judgments",
        "format": "csv",
        "token": "x",
    }
    path += "?topic=t1&document=d1" if path.endswith("/item") else ""
    return re.sub(r"\{(\w+)\}", lambda m: values[m[1]], path)


def routes(method: str) -> list[str]:
    return [one.path for one in ROUTES if isinstance(one, Route) and method in (one.methods or ())]


def state(made: Estate) -> dict[str, list[str]]:
    """Everything but sessions, whose use is noted."""
    kept = [t for t in metadata.sorted_tables if t.name not in ("session", "login_attempt")]
    return made.store.read(lambda c: {t.name: sorted(map(repr, c.execute(select(t)).all())) for t in kept})


def multipart(fields: dict[str, str], files: list[tuple[str, bytes]]) -> tuple[bytes, dict[str, str]]:
    edge = "x-x-x-x"
    parts = [
        f'--{edge}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode() for k, v in fields.items()
    ]
    for name, content in files:
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        parts.append(head.encode() + b"Content-Type: application/octet-stream\r\n\r\n" + content + b"\r\n")
    return b"".join(parts) + f"--{edge}--\r\n".encode(), {"content-type": f"multipart/form-data; boundary={edge}"}


FOLDER = {
    "campaign.toml": TOML,
    "topics.tsv": "t1\tducks\n",
    "documents.jsonl": '{"id": "d1", "text": "One."}\n{"id": "d2", "text": "Two."}\n',
}


def test_the_settings_show_the_preset_what_was_changed_the_question_and_our_instructions(made: Estate) -> None:
    toml = (
        '[campaign]\nname = "paper"\npreset = "maddalena2017"\nquestions = false\n[magnitude]\nask = "How new is it?"\n'
    )
    documents = "".join(f'{{"id": "d{i}", "text": "Text {i}."}}\n' for i in range(8))
    folder = {
        "campaign.toml": toml,
        "topics.tsv": "t1\tducks\n",
        "documents.jsonl": documents,
        "checks.txt": "t1 d0 d1",
    }
    owner = made.owner()
    csrf = owner.get("/owner/new").field("csrf")
    body, headers = multipart({"csrf": csrf}, [("folder.zip", zipped(folder))])
    assert owner.post("/owner/new", body, headers).status == 303
    text = html.unescape(owner.get("/owner/c/paper/setup").text)
    assert "Preset maddalena2017: 18 of 20 settings are in force; changed: campaign.questions = false" in text
    assert '>ask</code></dt><dd dir="auto">How new is it?</dd>' in text
    assert 'Of each document you are asked: "How new is it?"' in text
    assert "Instructions for the practice" in text
    assert "practice_<wbr>attempts" in text


def test_the_settings_show_the_guidelines_of_a_campaign_and_of_grades_where_there_are_any(tmp_path: Path) -> None:
    with estate(tmp_path) as made:
        for name, further, campaign in (
            ("page", {}, {"guidelines": "# When\n\nOnly *fresh* documents."}),
            ("grades", {"scale": "binary", "guidelines": ["stale", "fresh"]}, {}),
        ):
            plan = small_plan("grades", name=name, campaign=campaign, **further)
            made.store.write(lambda c, plan=plan: create_campaign(c, plan, made.clock.now))
        pages = {name: made.owner().get(f"/owner/c/{name}/setup").text for name in ("page", "grades", "small")}
        key = '>guidelines</code></dt><dd dir="auto">'
        assert {name for name, page in pages.items() if key in page} == {"grades"}
        assert f"{key}stale, fresh<" in pages["grades"]
        assert {name for name, page in pages.items() if "<h3>Guidelines, as they were" in page} == {"page"}
        assert "Only *fresh* documents." in pages["page"]


# ---- who may


def test_every_page_needs_the_session_and_looking_changes_nothing(shared: Estate) -> None:
    stranger, owner = Browser(shared.app), shared.owner()
    before = state(shared)
    for path in routes("GET"):
        address = filled(shared, path)
        answer = stranger.get(address)
        if path in OPEN:
            assert answer.status in (200, 404), path
            owner.get(address)
            continue
        assert (answer.status, answer.header("location")) == (303, "/owner/login"), path
        assert stranger.get(address, {"x-qrowd": "fragment"}).status == 403, path
        assert owner.get(address).status == 200, path
    assert state(shared) == before


def test_every_form_needs_the_session_its_token_and_our_origin(shared: Estate) -> None:
    owner, stranger = shared.owner(), Browser(shared.app)
    csrf = owner.get("/owner").field("csrf")
    before = state(shared)

    def send(path: str, browser: Browser, token: str, origin: str = BASE) -> int:
        fields, address = {"csrf": token, "do": "pause"}, filled(shared, path)
        if path in UPLOADS:
            return browser.post(address, *multipart(fields, []), origin=origin).status
        return browser.post(address, fields | {"name": "x"}, origin=origin).status

    for path in routes("POST"):
        assert send(path, owner, "") == 403, path
        assert send(path, owner, "forged") == 403, path
        assert send(path, owner, csrf, origin="https://evil.test") == 403, path
        assert send(path, stranger, csrf) == 403, path
    assert state(shared) == before


def test_an_assessor_s_session_opens_no_page_of_owners(made: Estate) -> None:
    from qrowd_server.store.invitation_links import invite

    token = made.store.write(lambda c: invite(c, campaigns(c)[0].id, "eve", made.clock()))
    eve = Browser(made.app)
    assert eve.post(f"/join/{token}", {"csrf": eve.get(f"/join/{token}").field("csrf")}).status == 303
    assert eve.get("/c/small").status == 200
    assert eve.get("/owner").status == 303
    eve.cookies = {"__Host-qrowd-owner": next(iter(eve.cookies.values()))}
    assert eve.get("/owner").status == 303


# ---- coming in


def test_name_and_password_make_a_session_with_a_new_id(made: Estate) -> None:
    olga = Browser(made.app, cookies={"__Host-qrowd-owner": "fixed"})
    form = {"csrf": olga.get("/owner/login").field("csrf"), "name": "olga", "password": PASSWORD}
    assert olga.post("/owner/login", {**form, "password": "wrong password"}).status == 422
    answer = olga.post("/owner/login", form)
    assert (answer.status, answer.header("location")) == (303, "/owner")
    assert olga.cookies["__Host-qrowd-owner"] != "fixed"
    page = olga.get("/owner")
    assert "olga" in page.text
    assert olga.post("/owner/logout", {"csrf": page.field("csrf")}).status == 303
    assert olga.get("/owner").status == 303


def test_after_ten_failures_even_the_right_password_waits(made: Estate) -> None:
    olga = Browser(made.app)
    form = {"csrf": olga.get("/owner/login").field("csrf"), "name": "olga", "password": "not the password"}
    assert [olga.post("/owner/login", form).status for _ in range(10)] == [422] * 10
    answer = olga.post("/owner/login", {**form, "password": PASSWORD})
    assert answer.status == 429
    assert int(answer.header("retry-after") or 0) > 0
    made.clock.now += 15 * 60 + 1
    form["csrf"] = olga.get("/owner/login").field("csrf")
    assert olga.post("/owner/login", {**form, "password": PASSWORD}).status == 303


def test_the_printed_link_works_once_by_its_button_and_only_for_a_day(made: Estate) -> None:
    link = made.store.write(lambda c: owner_link(c, BASE, made.clock()))
    path = link.removeprefix(BASE)
    assert path not in str(state(made))
    one, two = Browser(made.app), Browser(made.app)
    csrf, second = one.get(path).field("csrf"), two.get(path).field("csrf")
    assert one.post(path, {"csrf": csrf}).status == 303
    assert two.post(path, {"csrf": second}).status == 404
    assert one.get(path).status == 404
    assert (one.get("/owner").status, two.get("/owner").status) == (200, 303)
    late = made.store.write(lambda c: owner_link(c, "", made.clock()))
    made.clock.now += 24 * 3600
    assert two.get(late).status == 404


# ---- campaigns


def test_a_zip_becomes_a_campaign_and_what_is_wrong_is_told_in_place(made: Estate) -> None:
    owner = made.owner()
    csrf = owner.get("/owner/new").field("csrf")
    body, headers = multipart({"csrf": csrf}, [("folder.zip", zipped(FOLDER))])
    answer = owner.post("/owner/new", body, headers)
    assert (answer.status, answer.header("location")) == (303, "/owner/c/zipped/setup?created=1")
    again = owner.post("/owner/new", body, headers)
    assert again.status == 422
    assert "'zipped' is taken by another campaign; choose another" in html.unescape(again.text)
    wrong = zipped({**FOLDER, "campaign.toml": TOML.replace("k = 2", "k = 0")})
    answer = owner.post("/owner/new", *multipart({"csrf": csrf}, [("folder.zip", wrong)]))
    assert answer.status == 422
    assert re.search(r'role="alert">campaign.toml[^<]*k: 0 cannot be used', html.unescape(answer.text))


def test_the_form_makes_a_campaign_and_keeps_what_was_entered_where_it_is_refused(made: Estate) -> None:
    owner = made.owner()
    csrf = owner.get("/owner/new").field("csrf")
    fields = {"csrf": csrf, "title": "How good?", "topics": "ducks\ngeese", "protocol": "grades", "redundancy": "2"}
    answer = owner.post("/owner/new", *multipart(fields, []))
    assert answer.status == 422
    assert "documents: choose a file" in text_of(answer.text)
    assert "ducks\ngeese" in answer.text
    documents = FOLDER["documents.jsonl"].encode()
    body, headers = multipart(fields, [("documents.jsonl", documents)])
    answer = owner.post("/owner/new", body.replace(b'name="file"', b'name="documents"'), headers)
    assert (answer.status, answer.header("location")) == (303, "/owner/c/how-good/setup?created=1")
    again = owner.post("/owner/new", body.replace(b'name="file"', b'name="documents"'), headers)
    assert again.status == 422
    assert "title: 'how-good', its name in addresses, is taken; choose another title" in html.unescape(again.text)


def test_a_folder_says_what_it_would_change_and_changes_it_where_it_was_sent(made: Estate) -> None:
    pool = "t1 0 d1 0\nt1 0 d2 0\n"
    folder = {**FOLDER, "campaign.toml": TOML + '[files]\npool = "pool.qrels"\n', "pool.qrels": pool}
    owner = made.owner()
    csrf = owner.get("/owner/new").field("csrf")
    assert owner.post("/owner/new", *multipart({"csrf": csrf}, [("folder.zip", zipped(folder))])).status == 303

    def send(do: str, changes: dict[str, str]) -> tuple[int, str]:
        """The status, and the part of Setup that is open with what it says."""
        body, headers = multipart({"csrf": csrf, "do": do}, [("folder.zip", zipped(folder | changes))])
        answer = owner.post("/owner/change/zipped", body, headers)
        assert '<details class="panel" id="change" open>' in answer.text
        assert ('id="what"' in answer.text) == (answer.status == 200), "the form's address names it"
        return answer.status, text_of(answer.text)

    setup = owner.get("/owner/c/zipped/setup").text
    assert 'action="/owner/change/zipped#what"' in setup
    assert "a text can be corrected until somebody has judged with it" in setup
    again = owner.get("/owner/change/zipped")
    assert (again.status, again.text) == (200, setup)
    more = {"topics.tsv": "t1\tducks\nt2\tgeese\n", "pool.qrels": pool + pool.replace("t1", "t2")}
    status, text = send("check", more)
    assert (status, "What would change 1 topic added 1 unit added" in text) == (200, True)
    status, text = send("change", more)
    assert (status, "The campaign was changed 1 topic added 1 unit added" in text) == (200, True)
    assert send("change", more)[0] == 422
    status, text = send("check", {"campaign.toml": folder["campaign.toml"].replace("k = 2", "k = 3")})
    assert (status, "grades.k cannot change" in text) == (422, True)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_example_of_each_protocol_can_be_sent(made: Estate, protocol: Protocol) -> None:
    owner = made.owner()
    csrf = owner.get("/owner/new").field("csrf")
    example = zipped(template_files(protocol=protocol))
    answer = owner.post("/owner/new", *multipart({"csrf": csrf}, [("folder.zip", example)]))
    assert answer.header("location") == "/owner/c/my-campaign/setup?created=1"


def test_pausing_resuming_and_stopping_show_at_once(made: Estate) -> None:
    owner = made.owner()
    csrf = owner.get("/owner/c/small").field("csrf")
    for step, status in (("pause", "paused"), ("resume", "running"), ("stop", "stopped"), ("resume", "running")):
        assert owner.post("/owner/c/small/status", {"csrf": csrf, "do": step}).status == 303
        page = owner.get("/owner/c/small/live").text
        assert f'data-status="{status}"' in page
        assert ("Resume the campaign, if more shall be judged." in page) == (status != "running")
    assert owner.post("/owner/c/small/status", {"csrf": csrf, "do": "burn"}).status == 422


# ---- assessors


def test_an_exclusion_shows_its_reason_and_changes_the_export_until_it_is_taken_back(made: Estate) -> None:
    owner, ann = made.owner(), made.assessor("ann")
    csrf = owner.get(ann).field("csrf")

    def exported() -> str:
        return owner.get("/owner/c/small/export/judgments/csv").text

    named = select(assessor.c.pseudonym).join(campaign, campaign.c.id == assessor.c.campaign_id)
    known = made.store.read(lambda c: c.scalar(named.where(assessor.c.name == "ann", campaign.c.name == "small")))
    before = exported()
    assert f",{known}," in before
    assert ",ann," not in before
    assert owner.post(ann, {"csrf": csrf, "do": "exclude", "reason": " "}).status == 422
    assert owner.post(ann, {"csrf": csrf, "do": "exclude", "reason": "copied <b>"}).status == 303
    assert "Excluded: copied &lt;b&gt;" in re.sub(r"<span[^>]*>|</span>", "", owner.get(ann).text)
    assert f",{known}," not in exported()
    everything = owner.get("/owner/c/small/export/judgments/csv?everything=1").text
    assert f",{known}," in everything
    assert owner.post(ann, {"csrf": csrf, "do": "reinstate"}).status == 303
    assert exported() == before
    assert owner.post(ann, {"csrf": csrf, "do": "reset"}).status == 303
    assert owner.post(ann, {"csrf": csrf, "do": "praise"}).status == 422


def test_an_assessor_s_page_tells_every_answer(tmp_path: Path) -> None:
    with estate(tmp_path, demo=True, steps=35) as made:
        pairs = text_of(made.owner().get(made.assessor("ann", "demo-preference")).text)
        assert "definitely" in pairs


def test_a_model_is_called_one(made: Estate, tmp_path: Path) -> None:
    refused: list[str] = []  # one document, whichever the model gets first

    def answer(request: Request) -> str:
        refused[1:] = []
        refused.append(re.findall(r"Text(?: number \d+)?\.", request.messages[-1].content)[-1])
        return "I cannot say" if refused[0] == refused[-1] else '{"grade": 1}'

    model = FunctionModel(answer, "small-1")
    done = ask_in_campaign(made.store, "small", model, record=tmp_path / "record", max_failures=9)
    owner = made.owner()
    assert "Models: 1 finished." in text_of(owner.get("/owner/c/small/live").text)
    table = text_of(owner.get("/owner/c/small").text)
    assert f"small-1+campaign: {done.unanswered['small-1+campaign']}" in table
    assert done.unanswered["small-1+campaign"].startswith("replies without an answer: ")
    assert "ann model" not in table
    page = text_of(owner.get(made.assessor("small-1+campaign")).text)
    assert "A language model, asked by qrowd campaign ask : function#small-1+campaign" in page


def test_assessors_of_another_campaign_are_not_found(made: Estate) -> None:
    owner = made.owner()
    body, headers = multipart({"csrf": owner.get("/owner/new").field("csrf")}, [("folder.zip", zipped(FOLDER))])
    owner.post("/owner/new", body, headers)
    number = made.assessor("ann").rpartition("/")[2]
    for path in (f"/owner/c/zipped/assessors/{number}", "/owner/c/small/assessors/zz", "/owner/c/none"):
        assert owner.get(path).status == 404


def test_labels_that_are_markup_are_shown_as_text_on_every_page(shared: Estate) -> None:
    made, owner, seen = shared, shared.owner(), 0
    for path in routes("GET"):
        files = "export/{what}" in path or "example/" in path or path.endswith("/data")
        if path in OPEN or files:
            continue
        page = owner.get(filled(made, path).replace(made.assessor("ann"), made.assessor(HOSTILE))).text
        assert "<img" not in page, path
        seen += "&lt;img" in page
    assert seen > 8


# ---- invitations, platforms, payment


def test_links_are_shown_once_work_beside_another_and_can_be_revoked(made: Estate) -> None:
    owner, path = made.owner(), "/owner/c/small/setup"
    csrf = owner.get(path).field("csrf")
    page = owner.post(path, {"csrf": csrf, "do": "number", "number": "3"})
    links = re.findall(rf"(a\d)\t{BASE}(/join/[\w-]+)", page.text)
    assert [name for name, _ in links] == ["a1", "a2", "a3"]
    assert "/join/" not in owner.get(path).text
    more = owner.post(path, {"csrf": csrf, "do": "number", "number": "1"})
    assert re.findall(r"(a\d)\t", more.text) == ["a4"]
    token = links[0][1].rpartition("/")[2]
    assert made.store.read(lambda c: find_invitation(c, token)).name == "a1"  # type: ignore[union-attr]
    guest = Browser(made.app)
    assert guest.post(links[0][1], {"csrf": guest.get(links[0][1]).field("csrf")}).status == 303
    another = owner.post(path, {"csrf": csrf, "do": "another", "name": "a1"})
    second = re.findall(r"a1\thttps://judge.test/join/([\w-]+)", another.text)
    assert [made.store.read(lambda c, t=t: find_invitation(c, t)).name for t in (token, *second)] == ["a1", "a1"]
    assert owner.post(path, {"csrf": csrf, "do": "revoke", "name": "a1"}).header("location") == f"{path}#invited"
    assert [made.store.read(lambda c, t=t: find_invitation(c, t)) for t in (token, *second)] == [None, None]
    assert owner.post(path, {"csrf": csrf, "do": "revoke", "name": "a2"}).status == 303
    assert made.store.read(lambda c: find_invitation(c, links[1][1].rpartition("/")[2])) is None


def test_what_assessors_see_is_shown_and_takes_no_answer(tmp_path: Path) -> None:
    with estate(tmp_path, demo=True, steps=35) as made:
        owner = made.owner()
        setup, before = owner.get("/owner/c/demo-preference/setup").text, state(made)
        for query, words in (("", "I agree, let us begin"), ("?judging=1", "What would answer this search best?")):
            path = f"/owner/c/demo-preference/preview{query}"
            assert f'href="{path}"' in setup
            page = owner.get(path)
            assert words in page.text
            policy = page.header("content-security-policy") or ""
            assert policy.endswith("; sandbox allow-same-origin"), "neither forms nor scripts are allowed"
            assert owner.post("/c/demo-preference/act", {"csrf": page.field("csrf"), "do": "go_on"}).status == 403
        assert "Document 1 of 3" in owner.get("/owner/c/small/preview?judging=1").text
        assert 'href="/owner/c/small/preview"' not in owner.get("/owner/c/small/setup").text, "it asks for no consent"
        assert state(made) == before


def test_names_for_links_have_to_be_names_and_new(made: Estate) -> None:
    owner, path = made.owner(), "/owner/c/small/setup"
    csrf = owner.get(path).field("csrf")
    page = owner.post(path, {"csrf": csrf, "do": "names", "names": "zoe\r\n\r\nyan\r\n"})
    assert re.findall(r"(\w+)\thttps", page.text) == ["zoe", "yan"]
    for form, words in (
        ({"do": "names", "names": "zoe"}, "zoe is invited already"),
        ({"do": "names", "names": "a\tb"}, "The name holds U+0009"),
        ({"do": "names", "names": "x\nx"}, "there twice"),
        ({"do": "names", "names": "x y\nx-y"}, "there twice"),
        ({"do": "names", "names": " "}, "write one a line"),
        ({"do": "number", "number": "0"}, "from 1 to 1000"),
        ({"do": "number", "number": "many"}, "from 1 to 1000"),
        ({"do": "another", "name": "nobody"}, "is not invited"),
        ({"do": "else"}, "choose one of"),
    ):
        answer = owner.post(path, {"csrf": csrf, **form})
        assert answer.status == 422
        assert words in text_of(answer.text)


def test_blanks_in_names_become_hyphens_because_qrels_have_none(made: Estate) -> None:
    owner, path = made.owner(), "/owner/c/small/setup"
    csrf = owner.get(path).field("csrf")
    page = owner.post(path, {"csrf": csrf, "do": "names", "names": "Anna  Lee\nBo"})
    assert re.findall(r"([\w-]+)\thttps", page.text) == ["Anna-Lee", "Bo"]
    again = owner.post(path, {"csrf": csrf, "do": "names", "names": "Anna Lee"})
    assert (again.status, "Anna-Lee is invited already" in text_of(again.text)) == (422, True)
    assert owner.post(path, {"csrf": csrf, "do": "another", "name": "Anna-Lee"}).status == 200


def test_the_setup_tells_what_to_paste_into_a_panel(shared: Estate) -> None:
    page = html.unescape(shared.owner().get("/owner/c/small/setup").text)
    assert f"{BASE}/panel/small?id=ID" in page
    assert "P1" in page


# ---- what leaves


def test_every_file_is_what_the_export_writes_under_a_fitting_name(tmp_path: Path) -> None:
    from qrowd_server.campaigns.results.exports import FORMATS, export_rows, kinds_of

    with estate(tmp_path, demo=True, steps=35) as made:
        owner = made.owner()
        for name, protocol in (("demo-grades", "grades"), ("demo-preference", "preference")):
            listed = re.findall(r'href="(/owner/c/[^"]+/export/[^"]+)"', owner.get(f"/owner/c/{name}/results").text)
            assert len(listed) > 12
            for path in listed:
                parts = path.partition("?")[0].split("/")
                what, form, everything = parts[-2], parts[-1], path.endswith("everything=1")
                answer = owner.get(path)
                assert answer.status == 200, path
                ending = ".archive" if what == "archive" else FORMATS[form].ending
                disposition = answer.header("content-disposition") or ""
                assert re.fullmatch(rf'attachment; filename="{name}[a-z-]*{re.escape(ending)}"', disposition)
                options = {"everything": everything, "at": made.clock()}
                written = made.store.read(
                    lambda c: b"".join(export_rows(c, name, what, form, **options))  # noqa: B023
                )
                assert answer.body == written
                assert answer.body or what == "duplicates"  # of which there are none
            assert kinds_of([protocol])[0] in listed[0]
        assert owner.get("/owner/c/demo-grades/export/preferences/csv").status == 404
        assert owner.get("/owner/c/demo-grades/export/preferences/qrels").status == 404
        refused = owner.get("/owner/c/demo-grades/export/judgments/exe")
        assert (refused.status, "it cannot hold the judgments; choose one of jsonl" in refused.text) == (422, True)


def test_what_a_format_cannot_hold_is_told_before_a_file_begins(made: Estate) -> None:
    asyncio.run(_name_with_blank(made))
    owner = made.owner()
    csrf = owner.get("/owner/c/small/results").field("csrf")
    answer = owner.post("/owner/c/small/export", {"csrf": csrf, "file": "judgments/qrels"})  # with names
    assert answer.status == 422
    assert "holds a blank" in text_of(answer.text)
    assert answer.header("content-disposition") is None


async def _name_with_blank(made: Estate) -> None:
    await CampaignAdmin(made.store, clock=made.clock).exclude("small", "bob", "to free a slot")
    assert made.store.read(lambda c: c.scalar(select(func.count()).where(slot.c.assignment_id.is_(None)))) > 0
    who = await made.service.arrive("small", "link", "two words")
    await judge(made.service, made.clock, who, random.Random(3))


def test_a_key_is_shown_once_and_worthless_after_it_is_revoked(made: Estate) -> None:
    owner = made.owner()
    csrf = owner.get("/owner/keys").field("csrf")
    page = owner.post("/owner/keys", {"csrf": csrf, "do": "make", "name": "robot", "campaign": "small"})
    key = re.search(r"qrowd_[\w-]+", page.text)
    assert key is not None
    assert key[0] not in owner.get("/owner/keys").text
    found = made.store.read(lambda c: find_api_key(c, key[0]))
    assert found is not None
    assert (found.name, found.campaign_id) == ("robot", made.store.read(campaigns)[0].id)
    assert owner.post("/owner/keys", {"csrf": csrf, "do": "revoke", "key": str(found.id)}).status == 303
    assert made.store.read(lambda c: find_api_key(c, key[0])) is None
    for form in ({"do": "make", "name": ""}, {"do": "make", "name": "x" * 101}, {"do": "revoke", "key": "x"}):
        assert owner.post("/owner/keys", {"csrf": csrf, **form}).status == 422
    assert owner.post("/owner/keys", {"csrf": csrf, "do": "make", "name": "x", "campaign": "none"}).status == 404


# ---- words


def test_numbers_and_times_read_well() -> None:
    assert [formatting.percent(x) for x in (0, 0.001, 0.5, 0.9999, 1)] == ["0 %", "1 %", "50 %", "99 %", "100 %"]
    assert [formatting.seconds(x) for x in (0.04, 59.9, 60, 86400 * 2 + 3600)] == [
        "0.0 s",
        "59.9 s",
        "1 min",
        "2 d 1 h",
    ]
    assert [formatting.ago(0, x) for x in (59, 61, 3600, 7200, 86400 * 3)] == [
        "just now",
        "1 minute ago",
        "1 hour ago",
        "2 hours ago",
        "3 days ago",
    ]
    assert formatting.decimal(-0.5) == "\u22120.50"
    assert formatting.base_of("a/b") == "/owner/c/a%2Fb"


@pytest.mark.parametrize("per_answer", [0.001, 1.0])
def test_assessors_are_those_of_the_moment_unless_there_are_so_many_answers_that_the_page_says_of_when(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, per_answer: float
) -> None:
    monkeypatch.setattr("qrowd_server.web.owner.assessors.PER_ANSWER", per_answer)
    with estate(tmp_path) as made:
        owner = made.owner()
        before = text_of(owner.get("/owner/c/small").text)
        asyncio.run(seeded(made.store, made.clock, seed=3).arrive("small", "link", "zoe"))
        made.clock.now += 20
        later = text_of(owner.get("/owner/c/small/live").text)
        assert ("zoe" in before, "zoe" in later) == (False, per_answer < 1)
        for page in (later, text_of(owner.get("/owner/c/small/results").text)):
            assert ("As it was 20 seconds ago." in page) == (per_answer == 1)


def test_results_are_computed_once_until_their_time_or_a_change_of_their_campaign() -> None:
    computed: list[tuple[str, float]] = []

    async def work() -> None:
        memory = Memory(lambda: now)

        async def result(name: str) -> None:
            computed.append((name, now))

        for now in (0.0, 5.0, 12.0):
            for name in ("first", "second") * 2:
                await memory.get(("quality", name), lambda _: 10, partial(result, name))
            if now == 0.0:
                memory.forget("first")

    asyncio.run(work())
    assert computed == [("first", 0.0), ("second", 0.0), ("first", 5.0), ("second", 12.0)]
