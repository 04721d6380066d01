"""The pages in a real browser: open to everybody, by keyboard alone, without a script, with hostile text, offline."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from collect.web.gallery import DOCUMENT, GALLERY, GRADES, PAIR, PAYLOADS, QUESTION, document, drawn, page, poisoned
from collect.web.serving import Site
from qrowd.collect.protocols.events import Refusal
from qrowd.collect.protocols.views import EndView, LineView, PairView, RatingView
from qrowd.collect.web.rendering import render_main, render_page

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RULES = {"runOnly": {"type": "tag", "values": WCAG}, "rules": {"heading-order": {"enabled": False}}}
BASE = "/c/birds"
UNIT = [
    page(LineView(0, 3, 0.3)),
    page(QUESTION),
    *(page(replace(DOCUMENT, position=i, of=3, document=i + 1, done=(False,) * 3, postponed=(False,) * 3))
      for i in range(3)),
    page(RatingView()),
    page(EndView("completed"), code="BIRD-77"),
]  # fmt: skip


class Task:
    """What a server would do with a unit: one page after another, each answered once."""

    def __init__(self, site: Site, pages: list) -> None:
        self.pages = [replace(one, shown=f"p{i}", key=f"k{i}") for i, one in enumerate(pages)]
        self.at = 0
        site.view, site.answer = self.whole, self.answer
        self.before: Callable[[Mapping[str, str]], Response | None] = lambda form: None

    def whole(self, **options: object) -> str:
        return render_page(self.pages[self.at], csrf="t", base=BASE, **options)  # type: ignore[arg-type]

    def answer(self, form: Mapping[str, str], fragment: bool) -> Response:
        refused = self.before(form)
        if refused is not None:
            return refused
        if form["do"] == "judge" and not form["text"]:
            return self.refuse(Refusal("number", "Enter a number greater than 0.", "text"), form, fragment)
        if form["key"] == f"k{self.at}":
            self.at += -1 if form["do"] in ("go_to", "undo") else 1
        main = render_main(self.pages[self.at], csrf="t", base=BASE)
        return HTMLResponse(main) if fragment else RedirectResponse(BASE, 303)

    def refuse(self, problem: Refusal, form: Mapping[str, str], fragment: bool) -> Response:
        if fragment:
            return JSONResponse({"code": problem.code, "message": problem.message, "field": problem.field}, 422)
        return HTMLResponse(self.whole(problem=problem, typed=form), 422)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1280, "height": 800})
    made.set_default_timeout(5000)
    yield made
    made.close()


@pytest.fixture
def tab(context: BrowserContext, site: Site) -> Page:
    return context.new_page()


def start(tab: Page, site: Site, pages: list) -> Task:
    task = Task(site, pages)
    tab.goto(f"{site.address}{BASE}")
    return task


# ---- open to everybody


COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
NARROW = ("magnitude", "grades", "pair", "pair-odd", "rating", "question", "end", "magnitude-html", "line")


@pytest.mark.parametrize(
    ("scheme", "width", "options"),
    [("light", 1280, RULES), ("dark", 1280, COLOURS), ("light", 320, RULES), ("dark", 320, COLOURS)],
)
def test_axe_finds_nothing_on_any_page(browser: Browser, site: Site, scheme: str, width: int, options: dict) -> None:
    site.pages = drawn()
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    tab = context.new_page()
    axe, faults = Axe(), {}
    for name in site.pages if width > 1000 else NARROW:
        tab.goto(f"{site.address}/pages/{name}")
        found = axe.run(tab, options=options).response["violations"]
        if found:
            faults[name] = [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]
    context.close()
    assert not faults, json.dumps(faults, indent=1)
    assert not site.reports


def test_no_page_needs_scrolling_sideways_at_320_pixels_and_targets_are_large(browser: Browser, site: Site) -> None:
    site.pages = drawn()
    context = browser.new_context(viewport={"width": 320, "height": 640})
    tab = context.new_page()
    for name in site.pages:
        tab.goto(f"{site.address}/pages/{name}")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 320, name
        small = tab.evaluate(
            "[...document.querySelectorAll('button, summary, a.button, .grade label, input[type=text]')]"
            ".map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])"
            ".filter(([_, r]) => r.width && (r.height < 43.9 || r.width < 43.9)).map(([html]) => html)"
        )
        assert small == [], name
    context.close()


def test_what_has_focus_is_never_under_the_bar(tab: Page, site: Site) -> None:
    start(tab, site, [replace(GALLERY["magnitude-html"], shown="x")])
    tab.set_viewport_size({"width": 800, "height": 600})
    for _ in range(20):
        tab.keyboard.press("Tab")
        hidden = tab.evaluate(
            "(() => { const e = document.activeElement, r = e.getBoundingClientRect();"
            " const bar = document.querySelector('.bar');"
            " return !bar.contains(e) && e !== document.body && r.top > bar.getBoundingClientRect().top - 4 })()"
        )
        assert not hidden


# ---- by keyboard


def test_a_unit_is_judged_by_keyboard_alone(tab: Page, site: Site) -> None:
    start(tab, site, UNIT)
    keys = tab.keyboard
    keys.press("1")
    keys.type("2,5")
    keys.press("Enter")
    expect(tab.locator("legend h2")).to_be_focused()
    keys.press("2")
    keys.press("Enter")
    for i, number in enumerate(("40", ".5", "100")):
        expect(tab.locator(".progress")).to_contain_text(f"Document {i + 1} of 3")
        expect(tab.locator("article h2")).to_be_focused()
        keys.type(number)
        keys.press("Tab")
        keys.type("because 1 2 b z ?")
        keys.press("Enter")
    expect(tab.locator("h1")).to_have_text("Two last questions")
    keys.press("Tab")
    keys.press("ArrowRight")
    keys.press("Tab")
    keys.press("Space")
    keys.press("Enter")
    expect(tab.locator("#code")).to_have_text("BIRD-77")
    told = [{k: v for k, v in one.items() if k in ("do", "text", "option", "reason")} for one in site.acts]
    assert told[0] == {"do": "line", "text": "12,5"}
    assert told[1] == {"do": "reply", "option": "1"}
    assert [one["text"] for one in told[2:5]] == ["40", ".5", "100"]
    assert {one["reason"] for one in told[2:5]} == {"because 1 2 b z ?"}
    assert {one["do"] for one in told[2:5]} == {"judge"}
    assert all(float(one["active"]) >= 0 for one in site.acts)


def test_digits_in_the_reason_choose_no_grade_and_send_nothing(tab: Page, site: Site) -> None:
    start(tab, site, [document(grades=GRADES, reason="optional")])
    tab.locator("#reason").focus()
    tab.keyboard.type("1 2 3 4 5 b h q p z ?")
    assert tab.locator("input[type=radio]:checked").count() == 0
    assert not tab.locator("#keys").is_visible()
    assert site.acts == []


def test_a_grades_key_chooses_and_saves_at_once_only_where_that_was_switched_on(tab: Page, site: Site) -> None:
    start(tab, site, [document(grades=GRADES, reason="none")] * 2)
    tab.keyboard.press("4")
    expect(tab.locator("input[value='4']")).to_be_checked()
    assert site.acts == []
    tab.keyboard.press("?")
    tab.get_by_label("A grade's key saves at once").check()
    tab.keyboard.press("Escape")
    tab.keyboard.press("2")
    expect(tab.locator("main")).to_have_attribute("data-shown", "p1")
    assert (site.acts[0]["do"], site.acts[0]["text"]) == ("judge", "2")


def test_single_keys_can_be_switched_off_for_good(tab: Page, site: Site) -> None:
    start(tab, site, [replace(GALLERY["pair"], shown="a")] * 2)
    tab.keyboard.press("?")
    tab.get_by_label("Single keys are on").uncheck()
    tab.keyboard.press("Escape")
    tab.reload()
    tab.keyboard.press("2")
    tab.keyboard.press("ArrowLeft")
    assert site.acts == []
    assert not tab.locator("kbd").first.is_visible()


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("1", {"do": "prefer", "choice": "left", "definitely": "1"}),
        ("2", {"do": "prefer", "choice": "left"}),
        ("ArrowRight", {"do": "prefer", "choice": "right"}),
        ("Shift+ArrowRight", {"do": "prefer", "choice": "right", "definitely": "1"}),
        ("q", {"do": "bad", "side": "left"}),
        ("p", {"do": "bad", "side": "right"}),
        ("z", {"do": "undo"}),
    ],
)
def test_a_pair_is_judged_by_one_key(tab: Page, site: Site, key: str, said: dict[str, str]) -> None:
    task = start(tab, site, [page(PAIR)] * 3)
    task.at = 1
    tab.reload()
    tab.keyboard.press(key)
    expect(tab.locator("main")).not_to_have_attribute("data-shown", "p1")
    form = site.acts[0]
    assert {name: form[name] for name in form if name not in ("csrf", "shown", "key", "active")} == said | {"pair": "3"}


def test_the_kept_document_keeps_its_place_and_the_new_one_is_told(tab: Page, site: Site) -> None:
    second = PairView(4, 4, 3, "right", 13, True, True, False, True, False)
    start(tab, site, [page(replace(PAIR, left=4)), page(second)])
    tab.locator("#left .scroll").evaluate("pane => { pane.scrollTop = 400 }")
    tab.keyboard.press("2")
    expect(tab.locator("main")).to_have_attribute("data-shown", "p1")
    assert tab.locator("#left .scroll").evaluate("pane => pane.scrollTop") == 400
    expect(tab.locator("#live")).to_have_text("Saved. New document on the right.")
    expect(tab.locator("#right")).to_have_class(re.compile(r"\bfresh\b"))


def test_finding_counts_in_both_and_the_background_is_logged_once(tab: Page, site: Site) -> None:
    task = start(tab, site, [page(PAIR)])
    site.answer = lambda form, fragment: HTMLResponse(task.whole().replace('"p0"', '"p9"'))
    tab.keyboard.press("f")
    tab.keyboard.type("swallow")
    expect(tab.locator("#left [data-found]")).to_have_text("found 6")
    tab.locator("summary", has_text="Background").click()
    expect(tab.locator("main")).to_have_attribute("data-shown", "p9")
    assert [one["do"] for one in site.acts] == ["look_up"]
    assert tab.locator("#prefer input[name=shown]").input_value() == "p9"


# ---- nothing is lost


def test_an_answer_waits_for_the_network_and_goes_out_once(tab: Page, site: Site, context: BrowserContext) -> None:
    start(tab, site, UNIT[2:4])
    context.set_offline(True)
    tab.keyboard.type("40")
    tab.keyboard.press("Enter")
    expect(tab.locator("[data-problem]")).to_contain_text("No connection. Your answer is kept")
    assert tab.locator("#text").input_value() == "40"
    context.set_offline(False)
    expect(tab.locator("main")).to_have_attribute("data-shown", "p1")
    assert [one["key"] for one in site.acts] == ["k0"]
    expect(tab.locator("[data-status]")).to_contain_text("Saved ✓")


def test_an_answer_that_could_not_be_saved_stays_and_is_sent_again_with_its_key(tab: Page, site: Site) -> None:
    task = start(tab, site, UNIT[2:4])
    broken = [JSONResponse({"code": "busy", "message": "x", "field": "", "reference": "7F3A"}, 503)]
    task.before = lambda form: broken.pop() if broken else None
    tab.keyboard.type("40")
    tab.keyboard.press("Enter")
    expect(tab.locator("[data-problem]")).to_contain_text("It is still here. Reference 7F3A")
    tab.get_by_role("button", name="Try again").click()
    expect(tab.locator("main")).to_have_attribute("data-shown", "p1")
    assert [one["key"] for one in site.acts] == ["k0", "k0"]


def test_a_refused_number_is_told_beside_the_box_and_kept(tab: Page, site: Site) -> None:
    start(tab, site, UNIT[2:4])
    tab.locator("#reason").fill("kept")
    tab.locator("#reason").press("Enter")
    expect(tab.locator("#text-problem")).to_have_text("Enter a number greater than 0.")
    expect(tab.locator("#text")).to_be_focused()
    assert tab.locator("#reason").input_value() == "kept"


def test_typed_text_survives_a_reload_and_becomes_a_draft(tab: Page, site: Site) -> None:
    start(tab, site, UNIT[2:4])
    tab.locator("#text").fill("12")
    tab.locator("#reason").fill("half a sent")
    expect(tab.locator("[data-status]")).to_contain_text("Draft saved")
    assert (site.drafts[-1]["text"], site.drafts[-1]["reason"], site.drafts[-1]["position"]) == (
        "12",
        "half a sent",
        "0",
    )
    tab.reload()
    assert tab.locator("#reason").input_value() == "half a sent"


def test_a_second_tab_takes_the_task_over_and_the_first_one_says_so(
    tab: Page, site: Site, context: BrowserContext
) -> None:
    start(tab, site, UNIT[2:4])
    other = context.new_page()
    other.goto(f"{site.address}{BASE}")
    expect(tab.locator("#elsewhere")).to_be_visible()
    tab.get_by_role("button", name="Use this tab").click()
    expect(other.locator("#elsewhere")).to_be_visible()
    expect(tab.locator("#elsewhere")).to_be_hidden()


# ---- without a script


def test_a_unit_is_judged_without_javascript(browser: Browser, site: Site) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    start(tab, site, [*UNIT[2:5], page(replace(PAIR, pair=7)), page(EndView("completed"), code="BIRD-77")])
    tab.get_by_role("button", name="Save and continue").click()
    expect(tab.locator("#text-problem")).to_have_text("Enter a number greater than 0.")
    for number in ("40", "5"):
        tab.locator("#text").fill(number)
        tab.locator("#reason").fill("so")
        tab.get_by_role("button", name="Save and continue").click()
    tab.get_by_role("button", name="← Back").click()
    expect(tab.locator(".progress")).to_contain_text("Document 2 of 3")
    for number in ("6", "7"):
        tab.locator("#text").fill(number)
        tab.locator("#text").press("Enter")  # saving is what Enter does, also without a script
    tab.get_by_role("button", name="Definitely right").click()
    expect(tab.locator("#code")).to_have_text("BIRD-77")
    assert [one["do"] for one in site.acts] == ["judge", "judge", "judge", "go_to", "judge", "judge", "prefer"]
    assert site.acts[3]["position"] == "1"
    assert (site.acts[-1]["choice"], site.acts[-1]["definitely"]) == ("right", "1")
    assert not tab.locator("kbd").first.is_visible()
    context.close()


# ---- hostile text


def test_no_payload_in_any_text_opens_a_dialog_runs_a_script_or_asks_outside(tab: Page, site: Site) -> None:
    asked, dialogs, errors = [], [], []
    tab.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    everything = "".join(f"{payload}\n" for payload in PAYLOADS)
    site.pages = poisoned(everything)
    for name, html in site.pages.items():
        tab.goto(f"{site.address}/pages/{name}", wait_until="load")
        assert tab.evaluate("document.getElementById('main') !== null"), html[:200]
    frame = "payloads => { for (const html of payloads) { const d = new DOMParser().parseFromString(html, 'text/html');"
    frame += " document.getElementById('main').replaceWith(document.adoptNode(d.getElementById('main'))) } }"
    for payload in PAYLOADS:
        fragments = [html for name, html in poisoned(payload).items() if name not in ("welcome", "error")]
        tab.evaluate(frame, fragments)
    tab.wait_for_timeout(100)
    assert dialogs == errors == site.reports == []
    assert all(url.startswith(site.address) for url in asked)
