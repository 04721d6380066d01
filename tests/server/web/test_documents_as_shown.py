"""Images, PDF files, text as typed and HTML on the real server, in a browser."""

from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

from qrowd_server.campaigns.plan.pdf import read_pdf
from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.protocols.settings import GradesSettings
from server.pictures import pdf, png
from server.web.journeys import GRADES, Application, click, enter, press

IMAGES = tuple(png(900, 1600, shade) for shade in (120, 160, 200))


def shown(plan: Plan) -> Plan:
    """The plan with images in place of two of its texts, and a stored context."""
    changes = [
        {"text": "", "url": f"https://site.example/page-{i}", "image": b64encode(IMAGES[i]).decode()} for i in range(2)
    ]
    documents = tuple(replace(one, **more) for one, more in zip(plan.documents, [*changes, {}], strict=True))
    topics = tuple(replace(topic, context=("A loaf rises with time.", "Salt slows yeast.")) for topic in plan.topics)
    return replace(plan, documents=documents, topics=topics)


@pytest.mark.nightly
def test_images_are_shown_while_grades_are_given(app: Application, tab: Page) -> None:
    plan = app.plan(GradesSettings(scale="binary", k=3, redundancy=1, **GRADES), n_documents=3)
    campaign = app.campaign(shown(plan))
    enter(tab, campaign)
    seen = set()
    for _ in range(3):
        if tab.locator("img.shown").count():
            address = tab.locator("img.shown").get_attribute("src")
            assert address is not None
            expect(tab.locator("img.shown")).to_have_js_property("naturalWidth", 900)
            expect(tab.locator("img.shown")).to_have_attribute("alt", tab.locator("h2").first.inner_text())
            expect(tab.locator(".address")).to_contain_text("https://site.example/page-")
            seen.add(address)
        else:
            seen.add("text")
        if len(seen) == 2:  # opened and closed before the page hears of either
            tab.evaluate("for (const open of [true, false]) document.querySelector('[data-context]').open = open")
        else:
            tab.get_by_text("Background").click()
            expect(tab.get_by_text("Salt slows yeast.")).to_be_visible()
            tab.keyboard.press("Escape")
        tab.keyboard.press("y")
        press(tab, "Enter")
    expect(tab.locator("h1")).to_contain_text("Thank")
    assert len(seen) == 3
    events = campaign.events("looked_up", "judged")
    assert [event.kind for event in events] == ["looked_up", "judged"] * 3
    assert [event.data["place"] for event in events if event.kind == "looked_up"] == [0, 1, 2]

    address = next(one for one in seen if one != "text")
    with urlopen(app.address + address) as reply:
        assert reply.read() in IMAGES
        assert reply.headers["content-type"] == "image/png"
        assert reply.headers["cache-control"] == "private, max-age=86400, immutable"
        tag = reply.headers["etag"]
    for wrong, headers, status in (
        (address[:-1] + ("A" if address[-1] != "A" else "B"), {}, 404),
        ("/image/none", {}, 404),
        (address, {"If-None-Match": tag}, 304),
    ):
        with pytest.raises(HTTPError) as refusal:
            urlopen(Request(app.address + wrong, headers=headers))
        assert refusal.value.code == status
        refusal.value.close()


@pytest.mark.nightly
def test_a_pdf_text_as_typed_and_html_are_judged_beside_guidelines(app: Application, tab: Page, tmp_path: Path) -> None:
    leaflet = read_pdf(pdf("A loaf of bread stays flat.", "Salt slows yeast."))
    typed, styled = "loaf:\n    bread   flat\n", "<script>x()</script><p>A <b>loaf</b>.</p>"
    changes: list[dict[str, Any]] = [
        {"text": leaflet.text, "pages": leaflet.pages},
        {"text": typed, "layout": "pre"},
        {"text": styled, "html": True},
    ]
    plan = app.plan(GradesSettings(scale="binary", k=3, redundancy=1, **GRADES), n_documents=3)
    documents = tuple(replace(one, **more) for one, more in zip(plan.documents, changes, strict=True))
    example = b64encode(png(300, 200)).decode()
    guidelines = {"guidelines": "# Bread\n\n![An example](e.png)\n", "pictures": {"e.png": example}}
    campaign = app.campaign(replace(plan, documents=documents, instructions="Read them all.", **guidelines))
    tab.goto(campaign.link())
    expect(tab.get_by_text("A set has about 3 documents. It takes about 1 minute.")).to_be_visible()
    click(tab, "Begin")
    expect(tab.get_by_text("Read them all.")).to_be_visible()  # before the first document, without consent
    expect(tab.locator("h2", has_text="Bread")).to_be_visible()
    expect(tab.get_by_alt_text("An example")).to_have_js_property("naturalWidth", 300)
    click(tab, "Start")
    seen = set()
    for _ in range(3):
        if tab.locator(".sheet-of-pdf").count():
            expect(tab.locator(".sheet-of-pdf")).to_have_count(2)
            expect(tab.get_by_alt_text("Page 1 of 2")).to_have_js_property("naturalWidth", 1240)
            tab.get_by_text("Read it as text").click()
            expect(tab.get_by_text("Salt slows yeast.")).to_be_visible()
            seen.add("pdf")
        elif tab.locator(".typed").count():
            assert tab.locator(".typed").text_content() == typed.strip("\n")
            expect(tab.locator(".typed mark")).to_have_count(2)
            seen.add("typed")
        else:
            expect(tab.locator(".text b")).to_have_text("loaf")
            seen.add("html")
        tab.locator("label", has_text="Relevant").last.click()
        with tab.context.expect_page() as opened:
            tab.get_by_role("link", name="Guidelines").click()
        expect(opened.value.get_by_alt_text("An example")).to_have_js_property("naturalWidth", 300)
        opened.value.close()
        expect(tab.locator("input[type=radio]:checked")).to_have_count(1)  # the place is kept
        click(tab, "Save and continue")
    expect(tab.locator("h1")).to_contain_text("Thank")
    assert seen == {"pdf", "typed", "html"}
    assert len(campaign.events("judged")) == 3
