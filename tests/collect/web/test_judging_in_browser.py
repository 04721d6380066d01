"""Judging in a real browser on the real application, from the invitation to the end, with all that goes wrong."""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from collect.web.application import Application, Running, application, until
from qrowd.collect.campaigns.demo import demo_plans
from qrowd.collect.campaigns.plan import Plan
from qrowd.collect.protocols.settings import GradesSettings, MagnitudeSettings, PreferenceSettings
from qrowd.collect.store import schema

WCAG = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}
GRADES = {"reason": "optional", "rating": False}
NO_CONNECTION = "No connection. Your answer is kept on this page and will be sent when you are back online."


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    with application(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1280, "height": 800})
    made.set_default_timeout(10_000)
    yield made
    made.close()


@pytest.fixture
def tab(context: BrowserContext) -> Page:
    return context.new_page()


expect.set_options(timeout=10_000)


def after(tab: Page, act: Callable[[], object]) -> None:
    """Do something, and wait for the page that follows it."""
    tab.evaluate("document.getElementById('main').dataset.old = ''")
    act()
    tab.wait_for_selector("#main:not([data-old])", state="attached")


def click(tab: Page, name: str) -> None:
    after(tab, tab.get_by_role("button", name=name).click)


def press(tab: Page, key: str) -> None:
    after(tab, lambda: tab.keyboard.press(key))


def enter(tab: Page, campaign: Running, name: str = "ann") -> None:
    """Through the invitation to the first page of a unit; where no consent is asked for."""
    tab.goto(campaign.link(name))
    click(tab, "Begin")
    if tab.locator("main").get_attribute("data-view") == "noneleft":
        click(tab, "Start")


def is_at(tab: Page, view: str) -> None:
    expect(tab.locator("main")).to_have_attribute("data-view", view)


def title_of(tab: Page) -> str:
    return tab.locator("#start").inner_text()


def no_faults(tab: Page) -> None:
    found = Axe().run(tab, options=WCAG).response["violations"]
    assert not found, json.dumps([(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found])


def fits(tab: Page) -> None:
    """Nothing hangs out sideways, and nothing that can be pressed is small."""
    width = tab.viewport_size["width"]  # type: ignore[index]
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    small = (
        "[...document.querySelectorAll('main button, .grade label, input[type=text]')]"
        ".map(e => [e.textContent.trim(), e.getBoundingClientRect()])"
        ".filter(([_, r]) => r.width && (r.height < 43.9 || r.width < 43.9)).map(([text]) => text)"
    )
    assert tab.evaluate(small) == []


# ---- a magnitude unit


def demo_magnitudes(app: Application) -> Running:
    """The demo's campaign; nobody has to sit before its documents for seconds."""
    return app.campaign(replace(demo_plans(min_seconds=0)[0], name=f"demo-{next(app.numbers)}"))


def right_answer(plan: Plan, topic: str) -> str:
    question = next(one.question for one in plan.topics if one.title == topic)
    assert question is not None
    return question.options[question.correct]


def check_titles(campaign: Running, topic: str) -> tuple[str, str]:
    """The titles of the documents H and N."""
    plan = campaign.plan
    checks = next(one.checks for one in plan.topics if one.title == topic)
    assert checks is not None
    titles = {document.label: document.title for document in plan.documents}
    return titles[checks[0]], titles[checks[1]]


def line_length(tab: Page) -> str:
    width = tab.locator(".line rect").get_attribute("width")
    assert width is not None
    return f"{float(width) / 10:.1f}"


def unit_is_whole(campaign: Running) -> None:
    """Eight judgments of one completed unit, checked twice: failed, then passed."""
    assert [row.status for row in campaign.rows(schema.assignment)] == ["completed"]
    assert len(campaign.rows(schema.judgment)) == 8
    assert [e.data["passed"] for e in campaign.events("checked")] == [False, True]
    assert [e.kind for e in campaign.events()][-1] == "unit_ended"


def test_a_magnitude_unit_is_judged_by_mouse(app: Application, tab: Page) -> None:
    campaign = demo_magnitudes(app)
    tab.goto(campaign.link())
    click(tab, "Begin")
    click(tab, "I agree, let us begin")
    for _ in range(3):
        tab.locator("#text").fill(line_length(tab))
        click(tab, "Continue")
    no_faults(tab)
    click(tab, "Start judging")
    topic = tab.locator("main h1").inner_text()
    right = right_answer(campaign.plan, topic)
    wrong = next(t for t in tab.locator(".option > span").all_inner_texts() if t != right)
    tab.get_by_label(wrong).check()
    click(tab, "Answer")
    expect(tab.locator(".banner")).to_have_text("Not quite. Read the topic again; you have one more try.")
    no_faults(tab)
    tab.get_by_label(right).check()
    click(tab, "Answer")
    for i in range(8):
        expect(tab.locator(".progress")).to_contain_text(f"Document {i + 1} of 8")
        tab.locator("#text").fill("10")
        tab.locator("#reason").fill(f"reason {i}")
        click(tab, "Save and continue")
    expect(tab.locator("h1")).to_have_text("Please look once more")
    assert not any(document.title in tab.content() for document in campaign.plan.documents)
    click(tab, "Look at my 8 documents again")
    good, _ = check_titles(campaign, topic)
    for i in range(8):
        expect(tab.locator("#reason")).to_have_value(f"reason {i}")
        if title_of(tab) == good:
            tab.locator("#text").fill("0,5e2")
        click(tab, "Save and continue")
    no_faults(tab)
    tab.locator("label[for=confidence-4]").click()
    tab.locator("label[for=understanding-5]").click()
    tab.locator("#comment").fill("All <b>clear</b>.")
    click(tab, "Finish")
    expect(tab.locator("h1")).to_have_text("Thank you")
    unit_is_whole(campaign)
    values = sorted((row.value, row.raw) for row in campaign.rows(schema.judgment))
    assert values == [*[(10.0, "10")] * 7, (50.0, "0,5e2")]
    click(tab, "Judge another topic")
    assert tab.locator("main h1").inner_text() != topic


def test_a_magnitude_unit_is_judged_by_keyboard_alone(app: Application, tab: Page) -> None:
    campaign = demo_magnitudes(app)
    tab.goto(campaign.link())
    tab.keyboard.press("Tab")
    press(tab, "Enter")  # Begin
    press(tab, "Enter")  # I agree
    for _ in range(3):
        tab.keyboard.type(line_length(tab))
        press(tab, "Enter")
    press(tab, "Enter")  # Start judging
    topic = tab.locator("main h1").inner_text()
    options = tab.locator(".option > span").all_inner_texts()
    tab.keyboard.press(str(options.index(right_answer(campaign.plan, topic)) + 1))
    press(tab, "Enter")
    for i in range(8):
        expect(tab.locator("#start")).to_be_focused()
        if i == 3:
            press(tab, "b")
            expect(tab.locator(".progress")).to_contain_text("Document 3 of 8")
            expect(tab.locator("#text")).to_have_value("7")
            press(tab, "Enter")  # as it was: back to where one came from
        tab.keyboard.type("7")
        tab.keyboard.press("Tab")
        tab.keyboard.type("so b 1 h ? z")
        press(tab, "Enter")
    is_at(tab, "revision")
    press(tab, "Enter")
    good, _ = check_titles(campaign, topic)
    while title_of(tab) != good:
        press(tab, "Enter")
    tab.keyboard.type("99")  # in place of the 7
    tab.locator("[data-hand-in]").focus()
    tab.keyboard.press("Enter")  # what was typed goes first, then all of it
    is_at(tab, "rating")
    tab.keyboard.press("Tab")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Space")
    press(tab, "Enter")
    expect(tab.locator("h1")).to_have_text("Thank you")
    unit_is_whole(campaign)
    assert sorted(row.raw for row in campaign.rows(schema.judgment)) == ["7"] * 7 + ["99"]
    assert {row.reason for row in campaign.rows(schema.judgment)} == {"so b 1 h ? z"}
    assert len(campaign.events("stepped_back")) == 1


# ---- preferences


def preferences(app: Application, **settings: object) -> Running:
    made = PreferenceSettings(**{"measure": "wpref", "rating": False} | settings)  # type: ignore[arg-type]
    return app.campaign(app.plan(made, "preference", n_documents=6, systems=True))


def pair(tab: Page) -> tuple[str, str]:
    return tab.locator("#left-title").inner_text(), tab.locator("#right-title").inner_text()


def better(tab: Page) -> str:
    """Titles rise as documents get worse."""
    left, right = pair(tab)
    return "left" if left < right else "right"


def stopped_early(tab: Page, campaign: Running, bad: set[str]) -> None:
    expect(tab.locator("main")).to_contain_text("Done: enough pairs of these documents were compared.")
    judged = campaign.rows(schema.preference)
    assert 0 < len(judged) < 15  # of the pairs of six documents
    titles = {row.id: row.title for row in campaign.rows(schema.document)}
    assert {titles[row.document_id] for row in campaign.rows(schema.bad_mark)} == bad
    rest = {titles[d] for row in judged for d in (row.left_id, row.right_id)}
    assert not rest & bad
    assert [row.status for row in campaign.rows(schema.assignment)] == ["completed"]


def test_a_preference_topic_is_judged_to_its_early_stop_by_keyboard(app: Application, tab: Page) -> None:
    campaign = preferences(app)
    enter(tab, campaign)
    first = pair(tab)
    press(tab, "p")
    expect(tab.locator(".toast")).to_have_text("The right document was removed.Undo Z")
    assert first[1] not in pair(tab)
    no_faults(tab)
    press(tab, "z")
    assert pair(tab) == first
    press(tab, "q")
    gone = {first[0]}
    keys = {"left": ["ArrowLeft", "2", "1", "Shift+ArrowLeft"], "right": ["ArrowRight", "3", "4", "Shift+ArrowRight"]}
    n = 0
    while tab.locator("#left-title").count():
        assert not gone & set(pair(tab))
        press(tab, keys[better(tab)][n % 4])
        n += 1
    stopped_early(tab, campaign, gone)
    assert {row.strength for row in campaign.rows(schema.preference)} == {1, 2}


def test_a_preference_topic_is_judged_to_its_early_stop_by_mouse(app: Application, tab: Page) -> None:
    campaign = preferences(app)
    enter(tab, campaign)
    first = pair(tab)
    click(tab, "Left is bad")
    after(tab, tab.locator(".toast button").click)
    assert pair(tab) == first
    click(tab, "Right is bad")
    gone, bounds, n = {first[1]}, [15], 0
    while tab.locator("#left-title").count():
        assert not gone & set(pair(tab))
        bounds.append(int("".join(re.findall(r"\d+", tab.locator(".pairbar .hint").inner_text())) or 1))
        after(tab, tab.locator(f".choice[value={better(tab)}]").nth(n % 2).click)
        n += 1
    assert bounds == sorted(bounds, reverse=True)
    stopped_early(tab, campaign, gone)


def test_the_offer_to_undo_goes_after_six_seconds_and_undoing_stays_possible(app: Application, tab: Page) -> None:
    tab.clock.install()
    enter(tab, preferences(app))
    press(tab, "p")
    tab.clock.run_for(5_500)
    expect(tab.locator(".toast")).to_be_visible()
    tab.clock.run_for(1_000)
    expect(tab.locator(".toast")).to_have_count(0)
    expect(tab.locator(".pairbar button", has_text="Undo")).to_be_enabled()


# ---- grades


def grades(app: Application, k: int = 4, **settings: object) -> Running:
    made = GradesSettings(**{"k": k, "redundancy": 1} | GRADES | settings)  # type: ignore[arg-type]
    return app.campaign(app.plan(made, "grades", n_documents=k))


@pytest.mark.parametrize(("width", "height", "scale"), [(390, 780, 2), (320, 640, 2), (640, 400, 2)])
def test_grades_are_given_on_a_phone_on_a_narrow_one_and_at_twice_the_size(
    app: Application, browser: Browser, width: int, height: int, scale: int
) -> None:
    campaign = grades(app, 5)
    context = browser.new_context(
        viewport={"width": width, "height": height}, device_scale_factor=scale, has_touch=width < 640
    )
    tab = context.new_page()
    enter(tab, campaign)
    titles = [title_of(tab)]
    fits(tab)
    if width == 320:
        no_faults(tab)
    click(tab, "Judge later")
    titles.append(title_of(tab))
    tab.locator("#reason").fill("half of it is missing")
    click(tab, "I can't tell")
    titles.append(title_of(tab))
    tab.locator("label[for=grade-2]").click()
    click(tab, "Save and continue")
    titles.append(title_of(tab))
    expect(tab.locator("[data-status]")).to_have_text(re.compile(r"^Saved ✓ \d\d:\d\d$"))
    assert tab.locator("[data-status]").evaluate("e => e.getClientRects().length") == 1
    fits(tab)
    click(tab, "← Back")
    assert title_of(tab) == titles[2]
    expect(tab.locator("#grade-2")).to_be_checked()
    tab.locator("label[for=grade-4]").click()
    click(tab, "Save and continue")
    assert title_of(tab) == titles[3]
    tab.locator("label[for=grade-1]").click()
    click(tab, "Save and continue")
    tab.locator("label[for=grade-1]").click()
    click(tab, "Save and continue")
    assert title_of(tab) == titles[0]  # what was put off
    fits(tab)
    tab.locator("label[for=grade-3]").click()
    click(tab, "Save and continue")
    expect(tab.locator("h1")).to_have_text("Thank you")
    said = {row.position: (row.raw, row.revisions) for row in campaign.rows(schema.judgment)}
    assert said == {0: ("2", 0), 1: ("", 0), 2: ("3", 1), 3: ("0", 0), 4: ("0", 0)}
    context.close()


def test_two_grades_are_given_by_their_letters(app: Application, tab: Page) -> None:
    campaign = grades(app, 4, scale="binary", reason="none", cannot_tell=False)
    enter(tab, campaign)
    for key in "ynyn":
        tab.keyboard.press(key)
        press(tab, "Enter")
    is_at(tab, "end")
    assert [row.value for row in sorted(campaign.rows(schema.judgment), key=lambda row: int(row.position))] == [
        1,
        0,
        1,
        0,
    ]


CLOCK = """() => {
    let pressed = 0;
    window.times = [];
    addEventListener("keydown", (event) => { pressed = event.timeStamp; }, true);
    new MutationObserver((changes) => {
        if (!changes.some((one) => [...one.addedNodes].some((node) => node.id === "main"))) return;
        requestAnimationFrame(() => setTimeout(() => window.times.push(performance.now() - pressed)));
    }).observe(document.body, { childList: true });
}"""


def test_the_next_document_comes_at_once_and_the_page_is_small(app: Application, context: BrowserContext) -> None:
    campaign = grades(app, 41, reason="none", cannot_tell=False, postpone=False)
    context.add_init_script("localStorage.setItem('qrowd:swift', 'on')")
    tab = context.new_page()
    enter(tab, campaign)
    tab.reload()
    loaded = tab.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
    assert len([url for url in loaded if "/static/" in url]) >= 2  # the script and the looks
    small = sum(len(gzip.compress(context.request.get(url).body())) for url in {campaign.page, *loaded})
    tab.evaluate(CLOCK)
    for i in range(40):
        tab.keyboard.press(str(i % 4))
        tab.wait_for_function("n => window.times.length === n", arg=i + 1)
    times = sorted(tab.evaluate("window.times"))
    print(
        f"\nkey to next document: median {times[20]:.0f} ms, p95 {times[37]:.0f}, most {times[39]:.0f}; {small} bytes"
    )
    assert len(campaign.rows(schema.judgment)) == 40
    assert times[37] <= 500  # 150 on a machine that has nothing else to do
    assert small <= 100_000


@pytest.mark.parametrize("height", [780, 500])
def test_nothing_moves_when_a_judgment_is_entered(app: Application, browser: Browser, height: int) -> None:
    context = browser.new_context(viewport={"width": 390, "height": height})
    tab = context.new_page()
    enter(tab, grades(app, 2))
    tab.evaluate("document.querySelector('.text').append('Bread. '.repeat(900))")
    for top in (0, 300):
        tab.evaluate("top => scrollTo(0, top)", top)
        tab.keyboard.press("2")
        tab.locator("label[for=grade-2]").click()
        tab.locator("#reason").click()
        tab.keyboard.type("because")
        assert tab.evaluate("scrollY") == top
        tab.evaluate("document.activeElement.blur()")
    context.close()


# ---- what goes wrong


def magnitudes(app: Application, **journey: object) -> Running:
    made = MagnitudeSettings(k=3, redundancy=1, min_seconds=0, rating=False)
    return app.campaign(app.plan(made, "magnitude", n_documents=3, **journey))


def fill(tab: Page, number: str = "40", reason: str = "because") -> None:
    tab.locator("#text").fill(number)
    tab.locator("#reason").fill(reason)


def judged(campaign: Running) -> list[str]:
    return [event.data["text"] for event in campaign.events("judged")]


def test_what_was_typed_is_there_after_a_reload_and_in_no_other_document(
    app: Application, tab: Page, context: BrowserContext
) -> None:
    campaign = magnitudes(app)
    enter(tab, campaign)
    fill(tab, "12", "half a sent")
    tab.reload()
    expect(tab.locator("#text")).to_have_value("12")
    expect(tab.locator("#reason")).to_have_value("half a sent")
    until(lambda: [(row.text, row.reason) for row in drafts(campaign)] == [("12", "half a sent")], "a draft")
    fill(tab, "13", "other words")
    other = context.new_page()  # a draft on the server, or nothing: this tab has no memory of its own
    other.goto(campaign.page)
    fill(other, "14", "from the second tab")
    click(other, "Save and continue")
    expect(tab.locator("#elsewhere")).to_be_visible()
    tab.get_by_role("button", name="Use this tab").click()
    expect(tab.locator(".progress")).to_contain_text("Document 2 of 3")
    expect(tab.locator("#text")).to_have_value("")
    expect(tab.locator("#reason")).to_have_value("")
    assert judged(campaign) == ["14"]


def drafts(campaign: Running) -> list[object]:
    ids = [row.id for row in campaign.rows(schema.assignment)]
    table = schema.draft
    wanted = table.select().where(table.c.assignment_id.in_(ids))
    return list(campaign.application.store.read(lambda connection: connection.execute(wanted).all()))


def test_what_was_changed_before_a_step_back_is_still_there(app: Application, tab: Page) -> None:
    campaign = magnitudes(app)
    enter(tab, campaign)
    for number in "12":
        fill(tab, number, f"reason {number}")
        click(tab, "Save and continue")
    fill(tab, "30", "not sent, and a draft")
    click(tab, "← Back")
    fill(tab, "20", "not sent, in place of what was")
    click(tab, "← Back")
    expect(tab.locator("#reason")).to_have_value("reason 1")
    click(tab, "Save and continue")
    expect(tab.locator("#reason")).to_have_value("not sent, and a draft")
    click(tab, "← Back")
    expect(tab.locator("#reason")).to_have_value("not sent, in place of what was")
    click(tab, "Save and continue")
    click(tab, "Save and continue")
    is_at(tab, "end")
    assert {row.raw for row in campaign.rows(schema.judgment)} == {"1", "20", "30"}


def test_going_back_in_the_browser_and_beginning_again_loses_nothing(app: Application, tab: Page) -> None:
    campaign = magnitudes(app)
    enter(tab, campaign)
    fill(tab)
    click(tab, "Save and continue")
    tab.go_back()
    expect(tab.get_by_role("button", name="Begin")).to_be_visible()
    click(tab, "Begin")
    expect(tab.locator(".progress")).to_contain_text("Document 2 of 3")
    assert judged(campaign) == ["40"]
    assert len(campaign.rows(schema.assessor)) == 1


def test_a_double_click_saves_once(app: Application, tab: Page) -> None:
    campaign = magnitudes(app)
    enter(tab, campaign)
    fill(tab)
    after(tab, tab.get_by_role("button", name="Save and continue").dblclick)
    expect(tab.locator(".progress")).to_contain_text("Document 2 of 3")
    assert judged(campaign) == ["40"]


def test_an_answer_outlives_the_server(app: Application, tab: Page) -> None:
    campaign = magnitudes(app)
    enter(tab, campaign)
    keys: list[str] = []
    failures: list[str] = []
    tab.on("request", lambda request: keys.append(key_of(request.post_data)) if request.url.endswith("/act") else None)
    tab.on("requestfailed", lambda request: failures.append(request.url))
    fill(tab)
    app.kill()
    tab.get_by_role("button", name="Save and continue").click()
    expect(tab.locator("[data-problem]")).to_have_text(NO_CONNECTION)
    expect(tab.locator("#text")).to_have_value("40")
    expect(tab.locator("#text")).to_have_js_property("readOnly", True)
    until_in(tab, lambda: len([url for url in failures if url.endswith("/act")]) >= 2)  # it keeps trying
    expect(tab.locator("[data-problem]")).to_have_text(NO_CONNECTION)
    expect(tab.locator("[data-status]")).to_have_text("Not sent yet")
    app.start()
    expect(tab.locator(".progress")).to_contain_text("Document 2 of 3")
    expect(tab.locator("[data-status]")).to_contain_text("Saved ✓")
    assert len(keys) >= 3
    assert len(set(keys)) == 1
    assert judged(campaign) == ["40"]


def test_an_answer_that_was_saved_and_never_acknowledged_is_not_saved_twice(app: Application, tab: Page) -> None:
    campaign = magnitudes(app)
    enter(tab, campaign)
    fill(tab)
    seen: list[str] = []

    def cut(route: Route) -> None:
        seen.append(key_of(route.request.post_data))
        if len(seen) == 1:
            assert route.fetch().status == 200
            app.kill()  # saved; the browser is never told
            route.abort()
        else:
            route.continue_()

    tab.route("**/act", cut)
    tab.get_by_role("button", name="Save and continue").click()
    expect(tab.locator("[data-problem]")).to_have_text(NO_CONNECTION)
    app.start()
    assert judged(campaign) == ["40"]
    tab.evaluate("dispatchEvent(new Event('online'))")
    expect(tab.locator(".progress")).to_contain_text("Document 2 of 3")
    assert len(set(seen)) == 1
    assert judged(campaign) == ["40"]
    assert len([e for e in campaign.events() if e.kind == "judged"]) == 1


def key_of(data: str | None) -> str:
    return re.findall(r"key=([^&]+)", data or "")[0]


def until_in(tab: Page, happened: Callable[[], bool]) -> None:
    """Wait while the browser's events come in."""
    for _ in range(400):
        if happened():
            return
        tab.wait_for_timeout(25)
    raise TimeoutError("it did not happen")


def test_an_answer_after_the_lease_was_lost_is_kept_and_another_set_is_offered(app: Application, tab: Page) -> None:
    made = GradesSettings(k=3, redundancy=1, rating=False)
    campaign = app.campaign(app.plan(made, "grades", n_documents=3, n_topics=2))
    enter(tab, campaign)
    topic = tab.locator("main h1").inner_text()
    campaign.bring("carl")  # holds the other topic
    campaign.take_from("ann")
    tab.keyboard.press("2")
    press(tab, "Enter")
    expect(tab.locator("h1")).to_have_text("Welcome back")
    expect(tab.locator("main")).to_contain_text("Your saved answers are kept.")
    late = [event for event in campaign.events() if event.late]
    assert [event.data["text"] for event in late] == ["2"]
    assert campaign.rows(schema.judgment) == []
    no_faults(tab)
    click(tab, "Get another set")
    is_at(tab, "noneleft")  # both are held
    expect(tab.locator("h1")).to_have_text("Nothing to judge right now")
    app.ask("lapse", campaign.id, "carl")
    click(tab, "Check again")
    is_at(tab, "document")
    assert tab.locator("main h1").inner_text() != topic


def test_a_paused_campaign_waits_and_a_stopped_one_says_goodbye(app: Application, tab: Page) -> None:
    campaign = magnitudes(app)
    enter(tab, campaign)
    campaign.set_status("paused")
    fill(tab)
    click(tab, "Save and continue")
    expect(tab.locator("h1")).to_have_text("The campaign is paused")
    assert judged(campaign) == ["40"]
    campaign.set_status("running")
    after(tab, tab.get_by_role("link", name="Check again").click)
    expect(tab.locator(".progress")).to_contain_text("Document 2 of 3")
    campaign.set_status("stopped")
    fill(tab)
    click(tab, "Save and continue")
    expect(tab.locator("h1")).to_have_text("The campaign has ended")


def test_who_is_excluded_is_told_so(app: Application, tab: Page) -> None:
    campaign = magnitudes(app)
    enter(tab, campaign)
    campaign.exclude("ann")
    fill(tab)
    tab.get_by_role("button", name="Save and continue").click()
    expect(tab.locator("[data-problem]")).to_contain_text("You take no further part in this task.")
    tab.goto(campaign.page)
    is_at(tab, "excluded")
    assert judged(campaign) == []


def test_who_comes_when_nothing_is_left_may_check_again(app: Application, tab: Page) -> None:
    campaign = magnitudes(app)
    campaign.bring("bob")
    tab.goto(campaign.link())
    click(tab, "Begin")
    expect(tab.locator("main")).to_contain_text("All sets are being judged right now. One may return at")
    click(tab, "Check again")
    is_at(tab, "noneleft")
    app.ask("lapse", campaign.id, "bob")
    click(tab, "Check again")
    is_at(tab, "document")


def test_who_fails_the_question_may_go_on_with_another_topic_or_not(app: Application, tab: Page) -> None:
    made = MagnitudeSettings(k=3, redundancy=1, min_seconds=0, attempts=1)
    for n_topics, text in ((1, "please return the task there"), (2, "You may go on with another topic.")):
        plan = app.plan(made, "magnitude", n_documents=3, n_topics=n_topics, question=True)
        enter(tab, app.campaign(plan))
        tab.get_by_label("Soup").check()
        click(tab, "Answer")
        expect(tab.locator("main")).to_contain_text("did not fit the topic, so the topic goes to somebody else.")
        expect(tab.locator("main")).to_contain_text(text)
        assert tab.get_by_role("button", name="Judge another topic").count() == n_topics - 1


# ---- without a script, without an invitation


def test_a_unit_is_judged_without_javascript(app: Application, browser: Browser) -> None:
    campaign = app.campaign(
        app.plan(
            MagnitudeSettings(k=3, redundancy=1, min_seconds=0),
            "magnitude",
            n_documents=3,
            question=True,
            checks=True,
            consent=True,
            practice=True,
        )
    )
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()

    def push(name: str) -> None:
        tab.get_by_role("button", name=name).click()

    tab.goto(campaign.link())
    push("Begin")
    push("I agree")
    for _ in range(3):
        tab.locator("#text").fill(line_length(tab))
        push("Continue")
    push("Start judging")
    tab.get_by_label("Bread").check()
    push("Answer")
    fill(tab, "many", "kept")
    push("Save and continue")
    expect(tab.locator("#text-problem")).to_contain_text("Enter a number greater than 0")
    expect(tab.locator("#reason")).to_have_value("kept")
    for _ in range(3):
        fill(tab, "5", "so")
        push("Save and continue")
    push("Look at my 3 documents again")
    for _ in range(3):
        if title_of(tab) == "Text 00 of t0":
            tab.locator("#text").fill("80")
        push("Save and continue")
    tab.locator("label[for=confidence-3]").click()
    tab.locator("label[for=understanding-3]").click()
    push("Finish")
    expect(tab.locator("h1")).to_have_text("Thank you")
    assert [row.status for row in campaign.rows(schema.assignment)] == ["completed"]
    assert sorted(row.raw for row in campaign.rows(schema.judgment)) == ["5", "5", "80"]
    context.close()


def test_the_servers_own_address_says_what_it_is(app: Application, tab: Page) -> None:
    tab.goto(app.address)
    expect(tab.locator("h1")).to_have_text("Here people judge documents")
    no_faults(tab)
    tab.get_by_role("link", name="To the owner's pages").click()
    expect(tab).to_have_url(re.compile("/(owner|login)"))
