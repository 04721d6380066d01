"""Images of pages and pages in frames on the real server, in a browser, under both kinds of pages."""

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

from qrowd_server.campaigns.plan.pdf import read_pdf
from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.protocols.settings import GradesSettings, PreferenceSettings
from server.pictures import pdf, png
from server.web.journeys import GRADES, Application, click, enter, no_faults, press, until

IMAGES = tuple(png(900, 1600, shade) for shade in (120, 160, 200))


class Elsewhere(BaseHTTPRequestHandler):
    """A site of somebody else: it says what it was told about who asks."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        script = "<script>document.title = 'acted'; top.location = 'about:blank'</script>"
        self.wfile.write(f"<h1>Elsewhere</h1><p id=r>{self.headers.get('referer')}</p>{script}".encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def elsewhere() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def shown(plan: Plan, site: str) -> Plan:
    """The plan with two images and a frame in place of its texts, and a stored context."""
    changes = [{"text": "", "url": f"{site}/page-{i}", "image": b64encode(IMAGES[i]).decode()} for i in range(2)]
    changes.append({"text": "", "url": f"{site}/framed", "frame": True})
    documents = tuple(replace(one, **more) for one, more in zip(plan.documents, changes, strict=True))
    topics = tuple(replace(topic, context=("A loaf rises with time.", "Salt slows yeast.")) for topic in plan.topics)
    return replace(plan, documents=documents, topics=topics)


def test_images_and_frames_are_shown_while_grades_are_given(
    app: Application, tab: Page, elsewhere: str, tmp_path: Path
) -> None:
    plan = app.plan(GradesSettings(scale="binary", k=3, redundancy=1, **GRADES), n_documents=3)
    campaign = app.campaign(shown(plan, elsewhere))
    enter(tab, campaign)
    seen = set()
    for _ in range(3):
        expect(tab.locator(".address")).to_contain_text(elsewhere)
        if tab.locator("img.shown").count():
            address = tab.locator("img.shown").get_attribute("src")
            assert address is not None
            expect(tab.locator("img.shown")).to_have_js_property("naturalWidth", 900)
            expect(tab.locator("img.shown")).to_have_attribute("alt", tab.locator("h2").first.inner_text())
            seen.add(address)
        else:
            inside = tab.frame_locator("iframe.shown")
            expect(inside.locator("h1")).to_have_text("Elsewhere")
            expect(inside.locator("#r")).to_have_text("None")  # no referrer
            assert tab.url == campaign.page  # its script did not run, or the page would be gone
            seen.add("frame")
        if len(seen) == 2:  # opened and closed before the page hears of either
            tab.evaluate("for (const open of [true, false]) document.querySelector('[data-context]').open = open")
        else:
            tab.get_by_text("Background").click()
            expect(tab.get_by_text("Salt slows yeast.")).to_be_visible()
            tab.keyboard.press("Escape")
        tab.screenshot(path=tmp_path / f"{len(seen)}.png")
        tab.keyboard.press("y")
        press(tab, "Enter")
    expect(tab.locator("h1")).to_contain_text("Thank")
    assert len(seen) == 3
    events = campaign.events("looked_up", "judged")
    assert [event.kind for event in events] == ["looked_up", "judged"] * 3
    assert [event.data["place"] for event in events if event.kind == "looked_up"] == [0, 1, 2]

    address = next(one for one in seen if one != "frame")
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


def test_two_images_stand_side_by_side_and_a_frame_is_allowed_for_its_site_alone(
    app: Application, tab: Page, elsewhere: str
) -> None:
    plan = app.plan(PreferenceSettings(redundancy=1, rating=False), n_documents=3)
    campaign = app.campaign(shown(plan, elsewhere))
    enter(tab, campaign)
    reply = tab.reload()
    assert reply is not None
    policy = reply.headers["content-security-policy"]
    assert policy.endswith(f"; frame-src {elsewhere}")
    assert policy.startswith("default-src 'none'; script-src 'self'; ")
    sides = tab.locator(".pane .shown")
    expect(sides).to_have_count(2)
    left, right = (sides.nth(i).bounding_box() for i in (0, 1))
    assert left is not None
    assert right is not None
    assert left["width"] == pytest.approx(right["width"], abs=1)
    tab.locator("#left .scroll").focus()
    tab.keyboard.press("End")
    if tab.locator("#left img").count():
        until(lambda: tab.evaluate("document.querySelector('#left .scroll').scrollTop") > 0, "scrolling by a key")
    press(tab, "2")
    expect(tab.locator("[data-status]").first).to_contain_text("Saved")
    assert len(campaign.events("preferred")) == 1


def test_a_campaign_without_frames_allows_none(app: Application, tab: Page) -> None:
    campaign = app.campaign(app.plan(GradesSettings(**GRADES), n_documents=2))
    enter(tab, campaign)
    reply = tab.reload()
    assert reply is not None
    assert "frame-src" not in reply.headers["content-security-policy"]


def test_a_pdf_text_as_typed_and_html_with_its_own_styles_are_judged_beside_guidelines(
    app: Application, tab: Page, tmp_path: Path
) -> None:
    leaflet = read_pdf(pdf("A loaf of bread stays flat.", "Salt slows yeast."))
    typed, styled = "loaf:\n    bread   flat\n", "<style>p { color: rgb(9, 9, 200) }</style><p>A loaf.</p>"
    changes: list[dict[str, Any]] = [
        {"text": leaflet.text, "pages": leaflet.pages},
        {"text": typed, "layout": "pre"},
        {"text": styled, "html": True, "layout": "sandbox"},
    ]
    plan = app.plan(GradesSettings(scale="binary", k=3, redundancy=1, **GRADES), n_documents=3)
    documents = tuple(replace(one, **more) for one, more in zip(plan.documents, changes, strict=True))
    example = b64encode(png(300, 200)).decode()
    guidelines = {"guidelines": "# Bread\n\n![An example](e.png)\n", "pictures": {"e.png": example}}
    campaign = app.campaign(replace(plan, documents=documents, instructions="Read them all.", **guidelines))
    tab.goto(campaign.link())
    expect(tab.get_by_text("A set has 3 documents. It takes about 1 minute.")).to_be_visible()
    click(tab, "Begin")
    expect(tab.get_by_text("Read them all.")).to_be_visible()  # before the first document, without consent
    expect(tab.locator("h2", has_text="Bread")).to_be_visible()
    expect(tab.get_by_alt_text("An example")).to_have_js_property("naturalWidth", 300)
    no_faults(tab)
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
            inside = tab.frame_locator("iframe.shown").locator("p")
            expect(inside).to_have_css("color", "rgb(9, 9, 200)")
            seen.add("styled")
        no_faults(tab)
        tab.locator("label", has_text="Relevant").last.click()
        with tab.context.expect_page() as opened:
            tab.get_by_role("link", name="Guidelines").click()
        expect(opened.value.get_by_alt_text("An example")).to_have_js_property("naturalWidth", 300)
        no_faults(opened.value)
        opened.value.close()
        expect(tab.locator("input[type=radio]:checked")).to_have_count(1)  # the place is kept
        click(tab, "Save and continue")
    expect(tab.locator("h1")).to_contain_text("Thank")
    assert seen == {"pdf", "typed", "styled"}
    assert len(campaign.events("judged")) == 3
