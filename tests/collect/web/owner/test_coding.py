"""The coding pages: item after item, with the keyboard, without a script, each coder for themselves."""

import asyncio
import html
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser as RealBrowser
from playwright.sync_api import expect

from collect.web.owner.estate import HOSTILE, PASSWORD, Estate, estate, served, text_of
from collect.web.owner.test_owner_routes import multipart
from judging import work
from qrowd.collect.campaigns.coding import codings, items, listed
from qrowd.collect.campaigns.creation import create_campaign
from qrowd.collect.campaigns.plan_tables import plan_from_table
from qrowd.collect.store.materials import find_campaign
from qrowd.collect.web.owner import owner_link
from qrowd.collect.web.owner.coding import item_of, key_of
from webserver import Answer, Browser

CODING = "/owner/c/small/coding"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Estate]:
    with estate(tmp_path) as one:
        yield one


def number(made: Estate, name: str = "small") -> int:
    return made.store.read(lambda c: find_campaign(c, name).id)  # type: ignore[union-attr]


def said(made: Estate, name: str = "small") -> dict[tuple[str, str], tuple[str, ...]]:
    """{(item, coder): codes, or verdict and cause}."""
    last = made.store.read(lambda c: codings(c, number(made, name)))
    return {(key_of(item), coder): one.codes or (one.verdict, one.cause) for (item, coder), one in last.items()}


def send(owner: Browser, page: Answer, **fields: str) -> Answer:
    """The form of an item's page with these fields."""
    hidden = {name: page.field(name) for name in ("csrf", "list", "item")}
    return owner.post(f"{CODING}/item", hidden | fields)


def upload(owner: Browser, files: list[tuple[str, bytes]], campaign: str = "small", **fields: str) -> Answer:
    csrf = owner.get(CODING).field("csrf")
    body, headers = multipart({"csrf": csrf, **fields}, files)
    return owner.post(f"/owner/lists/{campaign}", body, headers)


def test_an_item_of_an_address_is_the_item_whatever_its_labels() -> None:
    for item in (("reason", "12", "0"), ("comment", "7"), ("conflict", "t/1", HOSTILE), ("ratio", "ü %", "d?&")):
        assert item_of(key_of(item)) == item
    for key in ("", "reason/1", "reason/x/1", "other/1/2", "comment/1/2"):
        assert item_of(key) is None


def test_one_reason_after_another_is_coded_and_the_next_one_comes(made: Estate) -> None:
    owner = made.owner()
    reasons = made.store.read(lambda c: items(c, number(made), "reasons"))
    page = owner.get(f"{CODING}/item?list=reasons")
    assert "It names what was asked for." in page.text
    answer = send(owner, page, codes="names the topic, short; short,", note="first")
    assert answer.status == 303
    assert answer.header("location") == f"{CODING}/item?" + urlencode({"list": "reasons", "item": key_of(reasons[1])})
    assert said(made) == {(key_of(reasons[0]), "Owner, by link"): ("names the topic", "short")}
    page = owner.get(answer.header("location") or "")
    assert re.findall(r'name="(code-\d)" value="([^"]*)"', page.text) == [
        ("code-1", "names the topic"),
        ("code-2", "short"),
    ]
    send(owner, page, **{"code-2": "short", "codes": "new"})
    assert said(made)[key_of(reasons[1]), "Owner, by link"] == ("short", "new")
    listing = text_of(owner.get(CODING).text)
    assert f"Reasons 2 of {len(reasons)}" in listing
    assert "names the topic, short" in listing


def test_after_the_last_item_the_list_comes(made: Estate) -> None:
    owner = made.owner()
    comments = made.store.read(lambda c: items(c, number(made), "comments"))
    page = owner.get(f"{CODING}/item?list=comments")
    for i in range(len(comments)):
        assert "Fine." in page.text
        answer = send(owner, page, codes="fine")
        page = owner.get(answer.header("location") or "")
        assert ("/item?" in (answer.header("location") or "")) == (i < len(comments) - 1)
    assert f"Comments {len(comments)} of {len(comments)}" in text_of(page.text)
    assert "checked" in owner.get(f"{CODING}/item?list=comments").text, "coded ones can be looked at again"


def test_conflicts_with_an_uploaded_file_of_gold_get_a_verdict_and_a_cause(made: Estate) -> None:
    owner = made.owner()
    gold = "".join(f"t1 0 d{i} {3 * (i % 2)}\n" for i in range(6)).encode()
    answer = upload(owner, [("gold.qrels", gold)], list="conflicts", min_distance="1")
    assert (answer.status, answer.header("location")) == (303, f"{CODING}?list=conflicts")
    rows = made.store.read(lambda c: listed(c, number(made)))["conflicts"].rows
    assert rows
    page = owner.get(f"{CODING}/item?list=conflicts")
    assert all(words in text_of(page.text) for words in ("expert wrong", "crowd wrong", "ambiguous", "It names what"))
    answer = send(owner, page, verdict="crowd wrong", other="both wrong", cause="missed a restriction")
    item = key_of(("conflict", *rows[0][:2]))
    assert said(made) == {(item, "Owner, by link"): ("both wrong", "missed a restriction")}
    page = owner.get(f"{CODING}/item?" + urlencode({"list": "conflicts", "item": item}))
    assert re.search(r'value="both wrong" checked', page.text), "a verdict of one's own is offered from then on"
    assert "missed a restriction" in text_of(owner.get(f"{CODING}/tables").text)


def test_a_coder_sees_what_others_said_only_after_coding_the_item(made: Estate) -> None:
    link, olga = made.owner(), Browser(made.app)
    form = olga.get("/owner/login")
    olga.post("/owner/login", {"csrf": form.field("csrf"), "name": "olga", "password": PASSWORD})
    send(link, link.get(f"{CODING}/item?list=reasons"), codes="zzz", note="what a word")
    page = olga.get(f"{CODING}/item?list=reasons")
    assert "what a word" not in page.text
    send(olga, page, codes="yyy")
    item = page.field("item")
    assert said(made) == {(item, "Owner, by link"): ("zzz",), (item, "olga"): ("yyy",)}
    again = olga.get(f"{CODING}/item?" + urlencode({"list": "reasons", "item": item}))
    assert "Owner, by link: zzz. what a word" in text_of(again.text)
    assert "Agreement of two coders" in text_of(olga.get(f"{CODING}/tables").text)


def test_what_is_typed_is_shown_as_text(made: Estate) -> None:
    owner = made.owner()
    send(owner, owner.get(f"{CODING}/item?list=reasons"), codes=HOSTILE, note=HOSTILE)
    for path in ("", "/item?list=reasons", "/tables"):
        assert "<img" not in owner.get(CODING + path).text


@pytest.mark.parametrize(
    ("fields", "files", "message"),
    [
        ({"list": "conflicts"}, [], "choose one file"),
        ({"list": "conflicts"}, [("gold.qrels", b"t1 0 d1\n")], "gold.qrels, line 1"),
        ({"list": "conflicts"}, [("gold.qrels", b"t9 0 d9 1\n")], "no"),
        (
            {"list": "conflicts", "min_distance": "x"},
            [("gold.qrels", b"t1 0 d1 1\n")],
            "min_distance: expected a number",
        ),
        ({"list": "ratios"}, [], "a ratio needs magnitudes"),
        ({"list": "ratios", "min_ratio": "nan"}, [], "min_ratio=nan: expected a number above 1"),
        ({"list": "reasons"}, [], "choose one of conflicts, ratios"),
    ],
)
def test_a_list_that_cannot_be_made_says_why(
    made: Estate, fields: dict[str, str], files: list[tuple[str, bytes]], message: str
) -> None:
    answer = upload(made.owner(), files, **fields)
    assert answer.status == 422
    assert message in html.unescape(text_of(answer.text))
    assert not made.store.read(lambda c: listed(c, number(made)))["conflicts"].rows


def test_what_is_no_list_or_item_is_not_found_and_what_cannot_be_kept_is_refused(made: Estate) -> None:
    owner = made.owner()
    for path in ("?list=nothing", "/item?list=reasons&item=reason/1/0", "/item?list=reasons&item=x"):
        assert owner.get(CODING + path).status == 404
    assert owner.get(f"{CODING}?page=99").status == 200
    assert "Nothing to code" in owner.get(f"{CODING}/item?list=ratios").text
    page = owner.get(f"{CODING}/item?list=reasons")
    answer = send(owner, page, codes="x" * 201, note="kept")
    assert answer.status == 422
    assert "use at most 200 characters" in text_of(answer.text)
    assert "x" * 201 in answer.text
    assert "kept" in answer.text
    assert said(made) == {}


def test_of_several_arms_with_judgments_one_is_chosen(made: Estate) -> None:
    labels = [f"d{d}" for d in range(4)]
    plan = plan_from_table(
        {
            "campaign": {"name": "study", "seed": 7},
            "arms": {
                "stars": {"grades": {"redundancy": 2}},
                "binary": {"grades": {"scale": "binary", "redundancy": 2}},
                "pairs": {"preference": {}},
            },
            "journey": {"consent": False},
            "documents": [{"label": label, "text": f"Text of {label}."} for label in labels],
            "topics": [{"label": f"t{t}", "title": f"Topic {t}", "pool": labels} for t in range(6)],
        }
    )
    made.store.write(lambda c: create_campaign(c, plan, 1.0))

    async def fill() -> None:
        for name in "abcd":
            await work(made.service, await made.service.arrive("study", "link", name), Random(1))

    asyncio.run(fill())
    owner, path = made.owner(), "/owner/c/study/coding?list=conflicts"
    assert re.findall(r"<option>(\w+)</option>", owner.get(path).text) == ["stars", "binary"]
    gold = "".join(f"t{t} 0 d{i} {3 * (i > 1)}\n" for t in range(6) for i in range(4)).encode()
    answer = upload(owner, [("gold.qrels", gold)], "study", list="conflicts", min_distance="1")
    assert "choose one of study/stars, study/binary" in text_of(answer.text)
    answer = upload(owner, [("gold.qrels", gold)], "study", list="conflicts", min_distance="1", arm="stars")
    assert answer.header("location") == path


@pytest.mark.parametrize("script", [True, False])
def test_coding_needs_only_the_keyboard(browser: RealBrowser, tmp_path: Path, script: bool) -> None:
    with served(tmp_path, demo=True) as made:
        context = browser.new_context(viewport={"width": 1280, "height": 900}, java_script_enabled=script)
        context.set_default_timeout(8000)
        tab = context.new_page()
        tab.goto(made.store.write(lambda c: owner_link(c, made.address, made.clock())))
        tab.get_by_role("button", name="Log in").click()
        tab.goto(f"{made.address}/owner/c/demo-magnitude/coding")
        tab.get_by_role("link", name="Code the next one").press("Enter")
        expect(tab.get_by_label("Codes", exact=True)).to_be_focused()
        tab.keyboard.type("names the topic")
        tab.keyboard.press("Enter")
        expect(tab.get_by_role("checkbox", name="names the topic")).to_be_visible()
        tab.keyboard.press("Tab")
        tab.keyboard.press("Space")
        tab.keyboard.press("Enter")
        expect(tab.locator(".crumb")).to_contain_text("3 of")
        assert list(said(made, "demo-magnitude").values()) == [("names the topic",)] * 2
        tab.goto(f"{made.address}/owner/c/demo-magnitude/coding?list=ratios")
        tab.get_by_label("Least ratio").fill("2")
        tab.get_by_label("Least ratio").press("Enter")
        tab.get_by_role("link", name="Code the next one").press("Enter")
        expect(tab.get_by_role("radio", name="wide scale")).to_be_focused()
        tab.keyboard.press("ArrowDown")
        tab.keyboard.press("Enter")
        expect(tab.get_by_role("link", name="Large ratios 1 of 1")).to_be_visible()
        assert ("careless", "") in said(made, "demo-magnitude").values()
        context.close()
