"""XSS in whatever anybody may type: every payload in every text, through the real application, in Chromium."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from qrowd_server.campaigns.plan.panel_links import PanelTable
from qrowd_server.campaigns.plan.plan import DocumentPlan, Plan, TopicPlan
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.protocols.protocol import Question
from qrowd_server.protocols.settings import JourneySettings, settings_of
from qrowd_server.store.materials import find_campaign
from qrowd_server.store.state_rows import find_named
from server.web.payloads import PAYLOADS
from server.web.siege import fort, template
from webserver import Answer, Browser, listening

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium

ASIDE = ThreadPoolExecutor(1)  # Playwright keeps this thread's event loop to itself


class Aside(Browser):
    """Asks from another thread."""

    def send(self, *given: Any, **more: Any) -> Answer:
        return ASIDE.submit(lambda: super(Aside, self).send(*given, **more)).result()


def hostile_plan(texts: list[str]) -> Plan:
    """A topic per text, with it in every text that an owner can write.

    Each is the HTML of a document, alone; where texts are only escaped, ten payloads stand together as well.
    """
    documents, topics, each = [], [], len(PAYLOADS) // len(texts)
    for i, text in enumerate(texts):
        label = re.sub(r"[\s\x00-\x1f]", "/", text[:150])
        documents.append(DocumentPlan(f"d{i}{label}", text, text[:200], True, "en"))
        pool, question = [documents[-1].label], None
        if i * each % 10 == 0:
            ten = " ".join(PAYLOADS[i * each : i * each + 10])
            documents.append(DocumentPlan(f"plain{i}", ten, ten[:200]))
            pool.append(documents[-1].label)
            question = Question(ten, (f"a{ten}", f"b{ten}", f"c{ten}", f"d{ten}"), 0)
        topics.append(TopicPlan(f"t{i}{label}", text, tuple(pool), text, text, question, None, (text,)))
    words = {"scale": "binary", "labels": [PAYLOADS[7], PAYLOADS[0]], "guidelines": [PAYLOADS[5], PAYLOADS[6]]}
    grades = settings_of("grades", {"k": 2, "redundancy": 2, **words})
    every = "\n".join(PAYLOADS)
    journey = JourneySettings(consent=True, another=True, restart=True)
    return Plan(
        "hostile", PAYLOADS[7], grades, tuple(topics), tuple(documents), 5, journey,
        consent=every, instructions=every, panel=PanelTable(codes={"completed": "P1"}),
    )  # fmt: skip


WATCH = """window.found = [];
document.addEventListener('securitypolicyviolation', e => window.found.push(e.violatedDirective + ' ' + e.blockedURI));
"""


REPLACE = """html => {
    const whole = new DOMParser().parseFromString(html, 'text/html');
    document.getElementById('main').replaceWith(document.adoptNode(whole.getElementById('main')));
}"""


@pytest.mark.parametrize("together", [31, *(pytest.param(n, marks=pytest.mark.nightly) for n in (15, 1))])
def test_no_payload_does_anything_in_a_browser_on_any_page(tmp_path: Path, browser: "Chromium", together: int) -> None:
    assert len(PAYLOADS) >= 60
    hostile = ["\n".join(PAYLOADS[i : i + together]) for i in range(0, len(PAYLOADS), together)]
    ASIDE.submit(template).result()
    with listening(lambda base: fort(tmp_path, base_url=base)) as place:
        place.store.write(lambda c: create_campaign(c, hostile_plan(hostile), place.clock()))
        context, happened = browser.new_context(), []
        context.add_init_script(WATCH)
        page = context.new_page()
        page.on("dialog", lambda dialog: (happened.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda sent: sent.url.startswith((place.base, "data:")) or happened.append(sent.url))
        page.on("pageerror", lambda error: happened.append(str(error)))

        def look(path: str) -> None:
            answer = page.goto(f"{place.base}{path}", wait_until="load")
            assert answer is not None
            assert answer.status == 200, path
            assert page.url == f"{place.base}{path}"
            assert (page.evaluate("[window.found, document.scripts.length]"), happened) == ([[], 1], []), path
            if path.startswith("/c/"):  # and once more as the script puts it in place
                page.evaluate(REPLACE, answer.text())
                assert (page.evaluate("[window.found, document.scripts.length]"), happened) == ([[], 1], []), path

        def become(who: Browser) -> None:
            context.clear_cookies()
            context.add_cookies([{"name": n, "value": v, "url": place.base} for n, v in who.cookies.items()])

        seen: set[str] = set()
        walker = place.walker("hostile", "panel", "'\"><img/src=x/onerror=alert(1)>")
        walker.browser = Aside(place.app, place.base)
        walker.come()
        become(walker.browser)
        look("/c/hostile")
        walker.send("consent", agreed="1")
        texts = iter(hostile * 3)
        for _ in range(6 * len(hostile)):
            if walker.view in ("question", "document"):
                look("/c/hostile")
                seen.add(walker.page.text.split("<h1")[1].split("</h1>")[0])
            match walker.view:
                case "question":
                    options = re.findall(r'<span dir="auto">(.)', walker.page.text)
                    walker.send("reply", option=str(options.index("a")))
                case "document":
                    number = walker.value("position")
                    walker.send("judge", position=number, text="1", reason=next(texts))
                case "rating":
                    walker.send("rate", confidence="3", understanding="3", comment=next(texts))
                case "end" if "Judge another" in walker.page.text:
                    walker.send("go_on")
                case _:
                    break
        # Some answers to a question look alike; those topics are screened out.
        assert len(seen) >= len(hostile) - (8 if together == 1 else 0)
        reason = "\n".join(PAYLOADS)
        ASIDE.submit(lambda: asyncio.run(CampaignAdmin(place.store).exclude("hostile", walker.who, reason))).result()
        become(ASIDE.submit(place.owner).result())
        campaign = place.store.read(lambda c: find_campaign(c, "hostile"))
        assert campaign is not None
        found = place.store.read(lambda c: find_named(c, campaign.id, walker.who))
        assert found is not None
        number = found.id
        for path in ("", "/setup", f"/assessors/{number:x}", "/results"):
            look(f"/owner/c/hostile{path}")
        look("/owner")
        page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=https://evil.test/x onerror=alert(1)>')")
        page.wait_for_function("() => window.found.length >= 2")  # so the watch would have seen them
        assert not any(one == "1" for one in happened), "the policy lets a handler run"
        context.close()
