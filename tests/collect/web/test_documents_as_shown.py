"""Images of pages and pages in frames on the real server, in a browser, under both kinds of pages."""

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

from collect.pictures import png
from collect.web.journeys import GRADES, Application, enter, press, until
from qrowd.collect.campaigns.plan import Plan
from qrowd.collect.protocols.settings import GradesSettings, PreferenceSettings

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
