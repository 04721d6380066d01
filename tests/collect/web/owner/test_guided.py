"""The form of a new campaign and the page that changes one, asked straight: drafts, whose they are, what is kept."""

import html
import io
import re
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from collect.campaigns.test_form import CSV, PNG
from collect.web.owner.estate import PASSWORD, Estate, estate
from collect.web.payloads import PAYLOADS
from qrowd.collect.campaigns.creation import create_campaign
from qrowd.collect.campaigns.folder import plan_from_zip
from qrowd.collect.campaigns.form_fields import first_values
from qrowd.collect.store.accounts import add_account, hash_password, set_member
from qrowd.collect.store.campaign_drafts import (
    LIFETIME,
    MOST,
    PART,
    DraftFile,
    add_draft,
    add_part,
    content_of,
    find_draft,
    parts_of,
    save_draft,
)
from qrowd.collect.store.events import of_owners
from qrowd.collect.store.materials import find_campaign
from qrowd.collect.store.schema import campaign_draft, draft_part
from qrowd.collect.web.keeping import keep_once
from qrowd.collect.web.owner import drafts, guided
from webserver import Answer, Browser
from zips import zipped

PATH = "/owner/new/guided"
SHOWN = ("welcome", "consent", "guidelines", "task")  # pages of a preview
IMAGE = sha256(PNG).hexdigest()[:32]
FORM = {"protocol": "grades", "campaign.title": "Bees & <b>bread</b>", "campaign.name": "bees", "topics": "bees\nbread",
        "grades.k": "4", "grades.redundancy": "2"}  # fmt: skip
TOML = '[campaign]\nname = "ducks"\ntitle = "{title}"\nseed = 1\n[grades]\nk = 2\nredundancy = {n}\n'


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Estate]:
    with estate(tmp_path) as one:
        yield one


def multipart(fields: dict[str, str], *files: tuple[str, str, bytes]) -> tuple[bytes, dict[str, str]]:
    """files : (field, name, content)."""
    parts = [f'--x\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode() for k, v in fields.items()]
    for field, name, content in files:
        head = f'--x\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n'
        parts.append(head.encode() + b"Content-Type: application/octet-stream\r\n\r\n" + content + b"\r\n")
    return b"".join(parts) + b"--x--\r\n", {"content-type": "multipart/form-data; boundary=x"}


def draft_with_image(made: Estate, account: int = 0) -> str:
    """A draft that can be created, whose guidelines show a picture."""
    at = made.clock()
    values = {**first_values(), **FORM, "guidelines": "![a bee](bee.png)"}
    files = [("documents", "pages.csv", CSV), ("pictures", "bee.png", PNG)]

    def work(connection: object) -> str:
        id = add_draft(connection, account, at)
        rows = [DraftFile(field, name, name, len(content)) for field, name, content in files]
        for _, name, content in files:
            for number, part in parts_of(content):
                add_part(connection, id, name, number, part)
        save_draft(connection, id, values, rows, at)
        return id

    return str(made.store.write(work))


class Form:
    """Somebody at the form."""

    def __init__(self, made: Estate, browser: Browser | None = None) -> None:
        self.browser = browser or made.owner()
        self.csrf, self.draft = self.browser.get(PATH).field("csrf"), ""

    def send(self, do: str, *files: tuple[str, str, bytes], **changes: str) -> Answer:
        fields = {**FORM, **{name.replace("__", "."): text for name, text in changes.items()}, "do": do}
        body, headers = multipart({"csrf": self.csrf, "draft": self.draft, **fields}, *files)
        answer = self.browser.post(PATH, body, headers)
        if found := re.search(r"draft=([\w-]+)", answer.header("location") or ""):
            self.draft = found[1]
        return answer

    def shown(self, answer: Answer) -> str:
        assert answer.status == 303, answer.text
        page = self.browser.get((answer.header("location") or "").partition("#")[0])
        assert page.status == 200
        return page.text


def account(made: Estate, name: str, role: str, in_campaign: str | None = None) -> Browser:
    def work(connection: object) -> None:
        number = add_account(connection, name, hash_password(PASSWORD, fast=True), 0.0, role=role)
        if in_campaign:
            set_member(connection, find_campaign(connection, "small").id, number, in_campaign)

    made.store.write(work)
    browser = Browser(made.app)
    form = {"csrf": browser.get("/owner/login").field("csrf"), "name": name, "password": PASSWORD}
    assert browser.post("/owner/login", form).status == 303
    return browser


DOCUMENTS = ("documents", "pages.csv", CSV)


def test_what_was_entered_comes_back_with_each_problem_beside_its_field(made: Estate) -> None:
    form = Form(made)
    page = form.shown(form.send("check", DOCUMENTS, grades__k="many", campaign__language="de"))
    assert "1 field needs to be changed" in page
    assert re.search(r'id="grades-k"[^>]*value="many"|value="many"[^>]*', page)
    problem = re.search(r'id="grades-k-problem">(.*?)</div>', page)
    assert problem is not None
    assert "'many' cannot be used; give a whole number from 1" in html.unescape(problem[1])
    assert 'value="Bees &amp; &lt;b&gt;bread&lt;/b&gt;"' in page
    assert "pages.csv" in page
    assert re.search(r'<option value="de"[^>]* selected', page)
    page = form.shown(form.send("check"))
    assert "This campaign can be created" in page, "the file was kept"


def test_a_box_that_is_not_ticked_is_off_and_another_protocol_keeps_what_was_entered(made: Estate) -> None:
    form = Form(made)
    form.send("check", DOCUMENTS, grades__postpone="yes")
    page = form.shown(form.send("protocol:preference", grades__postpone="yes"))
    assert 'name="preference.redundancy"' in page
    assert 'name="grades.k"' not in page
    page = form.shown(form.send("protocol:grades", protocol="preference", preference__definitely="yes"))
    assert 'name="grades.k" value="4"' in page
    assert re.search(r'name="grades.postpone" value="yes" checked', page)
    assert not re.search(r'name="grades.cannot_tell" value="yes" checked', page)


def test_a_file_is_replaced_by_one_of_its_field_and_removed_by_its_box(made: Estate) -> None:
    form = Form(made)
    topics = ("topics", "one.tsv", b"q1\tbees\n")
    page = form.shown(form.send("check", DOCUMENTS, topics, ("documents", "more.csv", b"docid,text\ne1,x\n")))
    assert all(name in page for name in ("one.tsv", "pages.csv", "more.csv"))
    page = form.shown(form.send("check", ("topics", "two.tsv", b"q2\tbread\n")))
    assert "two.tsv" in page
    assert "one.tsv" not in page
    removed = re.search(r'name="(remove\.[\w-]+)" value="yes"> remove<span class="unseen"> more.csv', page)
    assert removed is not None
    fields = {"csrf": form.csrf, "draft": form.draft, **FORM, removed[1]: "yes", "do": "check"}
    page = form.shown(form.browser.post(PATH, *multipart(fields)))
    assert "more.csv" not in page
    files = made.store.read(lambda c: c.execute(draft_part.select()).all())
    assert sorted(row.content for row in files) == sorted([CSV, b"q2\tbread\n"]), "no part of a file is left behind"


def test_the_campaign_is_created_once_and_its_draft_is_gone(made: Estate) -> None:
    form = Form(made)
    form.send("check", DOCUMENTS)
    answer = form.send("create")
    assert (answer.status, answer.header("location")) == (303, "/owner/c/bees?created=1")
    page = form.browser.get("/owner/c/bees?created=1").text
    assert "The campaign is created and runs." in page
    assert "/owner/c/bees/invitations" in page
    assert made.store.read(lambda c: c.execute(campaign_draft.select()).all()) == []
    assert made.store.read(lambda c: c.execute(draft_part.select()).all()) == []
    page = form.shown(form.send("create", DOCUMENTS))
    assert "is taken by another campaign; choose another" in page
    log = made.store.read(lambda c: of_owners(c, find_campaign(c, "bees").id, 10))
    assert [one.kind for one in log] == ["created"]


def test_the_first_pages_are_shown_in_each_language_and_nothing_is_saved(made: Estate) -> None:
    owner, id = made.owner(), draft_with_image(made)
    addresses = {
        page: f"{PATH}/preview?draft={id}&page={page}" for page in ("welcome", "consent", "guidelines", "task")
    }
    for page, address in addresses.items():
        for language in ("en", "de", "ja"):
            answer = owner.get(f"{address}&language={language}")
            assert answer.status == 200, page
            assert f'<html lang="{language}"' in answer.text
            assert not re.search(r'<button(?![^>]*disabled)(?![^>]*type="button")', answer.text), page
    task = owner.get(addresses["task"]).text
    assert "nothing can be answered" in task
    assert "Bees &amp; &lt;b&gt;bread&lt;/b&gt;" in task
    guidelines = owner.get(addresses["guidelines"]).text
    source = re.search(r'<img src="([^"]+)"', guidelines)
    assert source is not None
    image = owner.get(html.unescape(source[1]))
    assert (image.status, image.header("content-type"), image.body) == (200, "image/png", PNG)
    assert made.store.read(lambda c: find_campaign(c, "bees")) is None
    assert owner.get(f"{PATH}/shown?draft={id}&digest=none").status == 404


def test_a_document_with_its_own_styles_is_shown_in_a_frame_where_nothing_runs(made: Estate) -> None:
    form = Form(made)
    rows = b'{"docid": "d1", "text": "<style>p{color:red}</style><p>Bees</p>", "html": "sandbox"}\n'
    form.send("check", ("documents", "pages.jsonl", rows))
    answer = form.browser.get(f"{PATH}/preview?draft={form.draft}")
    assert "frame-src 'self'" in (answer.header("content-security-policy") or "")
    source = re.search(r'<iframe[^>]* src="([^"]+)"', answer.text)
    assert source is not None
    frame = form.browser.get(html.unescape(source[1]))
    assert frame.status == 200
    assert "sandbox" in (frame.header("content-security-policy") or "")
    assert "color:red" in frame.text


def test_the_folder_can_be_downloaded_and_is_the_same_campaign(made: Estate) -> None:
    owner, id = made.owner(), draft_with_image(made)
    answer = owner.get(f"{PATH}/folder?draft={id}")
    assert answer.header("content-disposition") == 'attachment; filename="campaign.zip"'
    plan = plan_from_zip(answer.body)
    assert (plan.name, plan.title, len(plan.documents)) == ("bees", FORM["campaign.title"], 8)
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        assert {"campaign.toml", "topics.tsv", "pages.csv", "pool.txt", "guidelines.md", "bee.png"} == set(
            archive.namelist()
        )


def test_what_would_be_markup_stays_text_in_the_form_and_its_preview(made: Estate) -> None:
    payloads = [one for one in PAYLOADS if "<" in one and one.isprintable()]
    assert len(payloads) > 30
    form, many = Form(made), "\n".join(payloads)
    texts = dict.fromkeys(("campaign__instructions", "campaign__consent", "guidelines"), many)
    title = " ".join(payloads)[:5000]
    topics = f"bees\n{many}"
    page = form.shown(form.send("check", DOCUMENTS, topics=topics, campaign__title=title, **texts))
    assert not re.findall(r'class="lines">(.*?)<', page)
    assert "This campaign can be created" in page
    pages = [form.browser.get(f"{PATH}/preview?draft={form.draft}&page={one}").text for one in SHOWN]
    for text in (page, *pages):
        assert "&lt;" in text
        assert not [one for one in payloads if one in text]
    wrong = form.shown(form.send("check", topics=many, grades__k=title, pool="list", **{"pool.list": many}))
    assert not [one for one in payloads if one in wrong]


def test_megabytes_are_checked_in_a_process_of_their_own_with_the_same_outcome(
    made: Estate, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = Form(made)
    pages = [form.shown(form.send("check", DOCUMENTS))]
    monkeypatch.setattr(guided, "LONG", 10)
    pages.append(form.shown(form.send("check", DOCUMENTS)))
    assert "This campaign can be created" in pages[0]
    numbers, apart = (re.findall(r"<dd>.*?</dd>", page) for page in pages)
    assert numbers == apart
    assert form.browser.get(f"{PATH}/preview?draft={form.draft}").status == 200


def test_a_draft_is_of_one_account_and_for_a_day(made: Estate) -> None:
    carla, eve = account(made, "carla", "creator"), account(made, "eve", "creator")
    form = Form(made, carla)
    form.send("check", DOCUMENTS)
    for path in ("/preview", "/folder", "/shown"):
        answer = eve.get(f"{PATH}{path}?draft={form.draft}")
        assert (answer.status, answer.header("location")) == (303, PATH), path
    page = eve.get(f"{PATH}?draft={form.draft}&check=1").text
    assert "This draft is not there any more" in page
    assert "pages.csv" not in page
    body, headers = multipart({"csrf": eve.get(PATH).field("csrf"), "draft": form.draft, **FORM, "do": "discard"})
    assert eve.post(PATH, body, headers).status == 303
    assert carla.get(f"{PATH}/folder?draft={form.draft}").status == 200, "somebody else threw nothing away"
    made.clock.now += LIFETIME + 1
    keep_once(made.store, made.clock(), None, names=False)
    assert made.store.read(lambda c: c.execute(draft_part.select()).all()) == []


def test_an_account_has_a_few_drafts_and_a_draft_has_a_size(made: Estate, monkeypatch: pytest.MonkeyPatch) -> None:
    form = Form(made)
    for _ in range(MOST + 2):
        made.clock.now += 1
        form.draft = ""
        form.send("check", DOCUMENTS)
    assert len(made.store.read(lambda c: c.execute(campaign_draft.select()).all())) == MOST
    monkeypatch.setattr(drafts, "MAX_DRAFT", len(CSV) + 10)
    answer = form.send("check", ("documents", "more.csv", b"docid,text\ne1,x\n"))
    assert answer.status == 422
    assert "send a zip of the whole folder" in answer.text
    assert 'name="grades.k" value="4"' in answer.text, "what was typed is kept"


def test_parts_of_a_file_make_the_file(made: Estate) -> None:
    content = bytes(range(256)) * (PART // 100)

    def work(connection: object) -> bytes:
        id = add_draft(connection, 7, 0.0)
        for number, part in reversed(list(parts_of(content))):
            add_part(connection, id, "a", number, part)
        assert find_draft(connection, id, 8, 0.0) is None
        return content_of(connection, id, "a")

    assert made.store.write(work) == content


# ---- changing a campaign


def folder(title: str, n: int, name: str = "ducks") -> bytes:
    toml = TOML.format(title=title, n=n).replace("ducks", name)
    documents = '{"id": "d1", "text": "One."}\n{"id": "d2", "text": "Two."}\n'
    return zipped({"campaign.toml": toml, "topics.tsv": "t1\tducks\n", "documents.jsonl": documents})


@pytest.fixture
def ducks(made: Estate) -> Estate:
    made.store.write(lambda c: create_campaign(c, plan_from_zip(folder("Ducks", 1)), made.clock()))
    return made


def send_folder(browser: Browser, content: bytes) -> Answer:
    csrf = browser.get("/owner/c/ducks/change").field("csrf")
    return browser.post("/owner/change/ducks", *multipart({"csrf": csrf}, ("folder", "ducks.zip", content)))


def lines(page: str) -> list[str]:
    return [html.unescape(one) for one in re.findall(r'<li dir="auto">(.*?)</li>', page)]


def test_a_change_is_shown_then_made_and_the_log_says_who(ducks: Estate) -> None:
    owner = ducks.owner()
    page = owner.get(send_folder(owner, folder("Geese", 2)).header("location") or "")
    assert lines(page.text) == ["campaign.title: Ducks -> Geese", "grades.redundancy: 1 -> 2"]
    assert ducks.store.read(lambda c: find_campaign(c, "ducks")).title == "Ducks"
    form = {"csrf": page.field("csrf"), "draft": page.field("draft"), "do": "apply"}
    answer = owner.post("/owner/c/ducks/change", form)
    assert (answer.status, answer.header("location")) == (303, "/owner/c/ducks/change?done=1")
    row = ducks.store.read(lambda c: find_campaign(c, "ducks"))
    assert (row.title, row.version) == ("Geese", 2)
    assert owner.post("/owner/c/ducks/change", form).status == 422, "once"
    log = ducks.store.read(lambda c: of_owners(c, row.id, 10))
    assert [one.kind for one in log] == ["changed", "created"]


def test_the_folder_of_a_campaign_is_downloaded_edited_and_sent_back(ducks: Estate) -> None:
    owner = ducks.owner()
    answer = owner.get("/owner/c/ducks/change/folder")
    assert answer.header("content-disposition") == 'attachment; filename="ducks.zip"'
    page = owner.get(send_folder(owner, answer.body).header("location") or "").text
    assert "The folder and the campaign say the same." in page
    with zipfile.ZipFile(io.BytesIO(answer.body)) as before:
        edited = {name: before.read(name).replace(b"redundancy = 1", b"redundancy = 5") for name in before.namelist()}
    page = owner.get(send_folder(owner, zipped(edited)).header("location") or "").text
    assert lines(page) == ["grades.redundancy: 1 -> 5"]


def test_a_change_that_was_checked_against_an_earlier_version_is_not_made(ducks: Estate) -> None:
    owner = ducks.owner()
    first = owner.get(send_folder(owner, folder("Geese", 2)).header("location") or "")
    address = send_folder(owner, folder("Swans", 3)).header("location") or ""
    second = owner.get(address)
    for page, status in ((first, 303), (second, 422)):
        form = {"csrf": page.field("csrf"), "draft": page.field("draft"), "do": "apply"}
        answer = owner.post("/owner/c/ducks/change", form)
        assert answer.status == status
    assert "Somebody else has changed this campaign meanwhile" in answer.text
    assert ducks.store.read(lambda c: find_campaign(c, "ducks")).title == "Geese"
    page = owner.get(address).text
    assert "send the folder once more" in page
    assert 'value="apply"' not in page


def test_what_cannot_change_and_folders_of_other_campaigns_are_refused(ducks: Estate) -> None:
    owner = ducks.owner()
    whole = folder("Ducks", 1)
    for content, words in (
        (whole[:60] + bytes([whole[60] ^ 255]) + whole[61:], "cannot be unpacked"),  # a byte of the first file
        (folder("Ducks", 1, name="geese"), "The folder is of a campaign geese, not of ducks."),
        (b"no zip", "cannot be unpacked"),
    ):
        page = owner.get(send_folder(owner, content).header("location") or "")
        assert page.status == 422
        assert words in html.unescape(page.text)
        assert 'value="apply"' not in page.text
    page = owner.get(send_folder(owner, folder("Ducks", 1)).header("location") or "")
    assert "The folder and the campaign say the same." in page.text
    assert 'value="apply"' not in page.text
    csrf = page.field("csrf")
    answer = owner.post("/owner/c/ducks/change", {"csrf": csrf, "draft": page.field("draft"), "do": "discard"})
    assert answer.status == 303
    assert owner.post("/owner/change/ducks", *multipart({"csrf": csrf})).status == 422


def test_a_change_is_for_owners_of_this_campaign_and_this_account(ducks: Estate) -> None:
    owner, viewer = ducks.owner(), account(ducks, "vera", "creator", "viewer")
    address = send_folder(owner, folder("Geese", 2)).header("location") or ""
    assert viewer.get("/owner/c/small/change").status == 403
    assert viewer.get("/owner/c/ducks/change").status == 404
    carla = account(ducks, "carla", "administrator")
    page = carla.get(address)
    assert page.status == 422
    assert "Send it once more" in page.text
    draft = address.partition("draft=")[2]
    other = owner.get(f"/owner/c/small/change?draft={draft}")
    assert other.status == 422, "a draft of another campaign"
