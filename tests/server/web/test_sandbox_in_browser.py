"""HTML with its own styles in a frame, as strangers would write it and before anything is left out: nothing acts."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qrowd_server.campaigns.plan.panel import PanelTable
from qrowd_server.campaigns.plan.plan import DocumentPlan, Plan, TopicPlan
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.protocols.settings import JourneySettings, settings_of
from server.web.payloads import PAYLOADS
from server.web.siege import fort, template
from webserver import Answer, Browser, listening

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium

ASIDE = ThreadPoolExecutor(1)  # Playwright keeps this thread's event loop to itself
LEAVES = """<style>h1 { color: rgb(200, 0, 0) } @import 'https://evil.test/i.css';</style><h1>Styled</h1>
<script>document.title = 'acted'; top.location = 'https://evil.test/top'; parent.document.title = 'acted'</script>
<meta http-equiv="refresh" content="0;url=https://evil.test/refresh"><base href="https://evil.test/">
<link rel="stylesheet" href="https://evil.test/l.css"><img src="https://evil.test/i.png" onerror="alert(1)">
<iframe src="https://evil.test/frame"></iframe><form action="https://evil.test/form"><button>Send</button></form>
<a id="top" href="https://evil.test/a" target="_top">out</a> <a id="blank" href="https://evil.test/b" target="_blank">new</a>
<a id="self" href="https://evil.test/c">here</a> <a id="own" href="/owner">own</a>
<div style="background: url(https://evil.test/d)">x</div><video src="https://evil.test/v" autoplay></video>"""  # noqa: E501


class Aside(Browser):
    """Asks from another thread."""

    def send(self, *given: Any, **more: Any) -> Answer:
        return ASIDE.submit(lambda: super(Aside, self).send(*given, **more)).result()


def plan() -> Plan:
    """Two documents as they would come without any cleaning: all payloads, and all that a page may try."""
    documents = tuple(
        DocumentPlan(label, text, f"Document {label}", html=True, layout="sandbox")
        for label, text in (("a", LEAVES), ("b", "<h1>Many</h1>" + "\n".join(PAYLOADS)))
    )
    grades = settings_of("grades", {"scale": "binary", "k": 2, "redundancy": 1})
    topic = TopicPlan("t", "styles", ("a", "b"))
    panel = PanelTable(codes={"completed": "P1"})
    return Plan("styled", "Styled", grades, (topic,), documents, 5, JourneySettings(consent=False), panel=panel)


def test_html_with_its_own_styles_shows_them_and_nothing_else(tmp_path: Path, browser: "Chromium") -> None:
    ASIDE.submit(template).result()
    with listening(lambda base: fort(tmp_path, base_url=base)) as place:
        place.store.write(lambda c: create_campaign(c, plan(), place.clock()))
        context, happened = browser.new_context(), []
        page = context.new_page()
        page.on("dialog", lambda dialog: (happened.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda sent: sent.url.startswith((place.base, "data:")) or happened.append(sent.url))
        context.on("page", lambda opened: happened.append(f"opened {opened.url}"))
        walker = place.walker("styled", "panel", "w1")
        walker.browser = Aside(place.app, place.base)
        walker.come()
        walker.send("go_on")
        context.clear_cookies()
        happened.clear()
        context.add_cookies([{"name": n, "value": v, "url": place.base} for n, v in walker.browser.cookies.items()])
        seen = set()
        for _ in range(2):
            page.goto(f"{place.base}/c/styled", wait_until="load")
            address = page.locator("iframe.shown").get_attribute("src") or ""
            assert re.fullmatch(r"/document/[\w.-]+", address)
            assert page.locator("iframe.shown").get_attribute("sandbox") == ""
            inside = page.frame_locator("iframe.shown")
            seen.add(inside.locator("h1").first.inner_text())
            if inside.locator("h1").first.inner_text() == "Styled":
                colour = page.frames[1].evaluate("getComputedStyle(document.querySelector('h1')).color")
                assert colour == "rgb(200, 0, 0)"  # asked by the test's own world: scripts of the page do not run
                for link in ("top", "blank", "self"):
                    inside.locator(f"#{link}").click()
                    page.goto(f"{place.base}/c/styled", wait_until="load")
                inside.locator("button").click()
            assert page.url == f"{place.base}/c/styled"
            assert page.title().endswith("Styled")
            assert "acted" not in page.title()
            position = walker.value("position")
            walker.send("judge", position=position, text="1")
            # opened by itself, the address is in a sandbox all the same
            answer = page.goto(f"{place.base}{address}", wait_until="load")
            assert answer is not None
            assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'; ")
            assert page.title() != "acted"
        assert seen == {"Styled", "Many"}
        blocked = [one for one in happened if not one.startswith("https://evil.test/")]
        assert not blocked  # no dialog, no window
        context.close()


def test_an_address_of_html_is_good_for_nothing_else(tmp_path: Path) -> None:
    ASIDE.submit(template).result()
    with listening(lambda base: fort(tmp_path, base_url=base)) as place:
        place.store.write(lambda c: create_campaign(c, plan(), place.clock()))
        walker = place.walker("styled", "panel", "w1")
        walker.browser = Aside(place.app, place.base)
        walker.come()
        walker.send("go_on")
        (address,) = re.findall(r'src="(/document/[^"]+)"', walker.page.text)
        anybody = Aside(place.app, place.base)
        shown = anybody.get(address)
        assert shown.status == 200
        headers = dict(shown.headers)
        assert headers["content-type"].startswith("text/html")
        assert headers["referrer-policy"] == "no-referrer"
        for wrong in (address.replace("/document/", "/image/"), address[:-2], "/document/none", "/guidelines/none"):
            assert anybody.get(wrong).status == 404
