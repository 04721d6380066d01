"""Judging in a real browser on the real application, from the invitation to the end."""

import gzip
import re
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from qrowd_server.campaigns.demo import demo_plans
from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.protocols.settings import MagnitudeSettings
from qrowd_server.store import schema
from server.web.journeys import (
    Application,
    Running,
    after,
    better,
    click,
    enter,
    fill,
    fits,
    grades,
    is_at,
    judged,
    line_length,
    no_faults,
    open_reason,
    pair,
    preferences,
    press,
    title_of,
)

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


def unit_is_whole(campaign: Running) -> None:
    """Eight judgments of one completed unit, checked twice: failed, then passed."""
    assert [row.status for row in campaign.rows(schema.assignment)] == ["completed"]
    assert len(campaign.rows(schema.judgment)) == 8
    assert [e.data["passed"] for e in campaign.events("checked")] == [False, True]
    assert [e.kind for e in campaign.events()][-1] == "unit_ended"


@pytest.mark.nightly
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
    expect(tab.locator("legend h2")).to_be_focused()
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
    assert all(event.data["active"] >= 0 for event in campaign.events("judged"))


def test_digits_in_the_reason_choose_no_grade_and_send_nothing(app: Application, tab: Page) -> None:
    campaign = grades(app)
    enter(tab, campaign)
    open_reason(tab)
    tab.locator("#reason").focus()
    tab.keyboard.type("1 2 3 4 5 b h q p z ?")
    assert tab.locator("input[type=radio]:checked").count() == 0
    assert not tab.locator("#keys").is_visible()
    assert judged(campaign) == []


@pytest.mark.nightly
def test_a_grades_key_chooses_and_saves_at_once_only_where_that_was_switched_on(app: Application, tab: Page) -> None:
    campaign = grades(app, reason="none")
    enter(tab, campaign)
    tab.keyboard.press("3")
    expect(tab.locator("input[value='3']")).to_be_checked()
    assert judged(campaign) == []
    tab.keyboard.press("?")
    tab.get_by_label("A grade's key saves at once").check()
    tab.keyboard.press("Escape")
    press(tab, "2")
    assert judged(campaign) == ["2"]


# ---- preferences


def stopped_early(tab: Page, campaign: Running, bad: set[str]) -> None:
    expect(tab.locator("main")).to_contain_text("No further judgments of these documents are needed.")
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
    expected = []
    while tab.locator("#left-title").count():
        assert not gone & set(pair(tab))
        side, n = better(tab), len(expected)
        expected.append((side, 1 if n % 4 < 2 else 2))
        press(tab, keys[side][n % 4])
    stopped_early(tab, campaign, gone)
    rows = sorted(campaign.rows(schema.preference), key=lambda row: float(row.time))
    assert [(row.choice, row.strength) for row in rows] == expected


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_the_offer_to_undo_goes_after_six_seconds_and_undoing_stays_possible(app: Application, tab: Page) -> None:
    tab.clock.install()
    enter(tab, preferences(app))
    press(tab, "p")
    tab.clock.run_for(5_500)
    expect(tab.locator(".toast")).to_be_visible()
    tab.clock.run_for(1_000)
    expect(tab.locator(".toast")).to_have_count(0)
    expect(tab.locator(".pairbar button", has_text="Undo")).to_be_enabled()


@pytest.mark.nightly
def test_single_keys_can_be_switched_off_for_good(app: Application, tab: Page) -> None:
    campaign = preferences(app)
    enter(tab, campaign)
    tab.keyboard.press("?")
    tab.get_by_label("Single keys are on").uncheck()
    tab.keyboard.press("Escape")
    tab.reload()
    tab.keyboard.press("2")
    tab.keyboard.press("ArrowLeft")
    assert campaign.rows(schema.preference) == []
    assert not tab.locator("kbd").first.is_visible()


@pytest.mark.nightly
def test_the_kept_document_keeps_its_place_and_the_new_one_is_announced(app: Application, tab: Page) -> None:
    tab.set_viewport_size({"width": 1280, "height": 480})
    enter(tab, preferences(app, order="keep-preferred"))
    first, stays = pair(tab), better(tab)
    goes = "right" if stays == "left" else "left"
    top = tab.locator(f"#{stays} .scroll").evaluate("pane => { pane.scrollTop = 40; return pane.scrollTop }")
    assert top > 0
    press(tab, "2" if stays == "left" else "3")
    second = pair(tab)
    assert (first[0] == second[0], first[1] == second[1]) == (stays == "left", stays == "right")
    assert tab.locator(f"#{stays} .scroll").evaluate("pane => pane.scrollTop") == top
    expect(tab.locator("#live")).to_have_text(f"Saved. New document on the {goes}.")
    expect(tab.locator(f"#{goes}")).to_have_class(re.compile(r"\bfresh\b"))


@pytest.mark.nightly
def test_finding_counts_in_both_documents(app: Application, tab: Page) -> None:
    enter(tab, preferences(app))
    tab.keyboard.press("f")
    tab.keyboard.type("warmth")
    expect(tab.locator("#left [data-found]")).to_have_text("found 6")
    expect(tab.locator("#right [data-found]")).to_have_text("found 6")


# ---- grades


@pytest.mark.parametrize(
    ("width", "height", "scale"),
    [
        (390, 780, 2),
        pytest.param(320, 640, 2, marks=pytest.mark.nightly),
        pytest.param(640, 400, 2, marks=pytest.mark.nightly),
    ],
)
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
    tab.get_by_role("button", name="I can't tell").click()
    expect(tab.locator("#reason-problem")).to_contain_text("Write in a few words why you can't tell")
    tab.locator("#reason").fill("half of it is missing")  # which is open now
    click(tab, "I can't tell")
    titles.append(title_of(tab))
    tab.locator("label[for=grade-2]").click()
    click(tab, "Save and continue")
    titles.append(title_of(tab))
    expect(tab.locator("[data-status]")).to_have_text(re.compile(r"^Saved ✓ \d\d:\d\d$"))
    assert tab.locator("[data-status]").evaluate("e => e.getClientRects().length") == 1
    fits(tab)
    click(tab, "Back")
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


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_all_that_a_page_loads_is_small(app: Application, context: BrowserContext) -> None:
    campaign = grades(app, 4)
    tab = context.new_page()
    enter(tab, campaign)
    tab.reload()
    loaded = tab.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
    assert len([url for url in loaded if "/static/" in url]) >= 2  # the script and the looks
    assert sum(len(gzip.compress(context.request.get(url).body())) for url in {campaign.page, *loaded}) <= 100_000


@pytest.mark.nightly
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
        open_reason(tab)
        tab.locator("#reason").click()
        tab.keyboard.type("because")
        assert tab.evaluate("scrollY") == top
        tab.evaluate("document.activeElement.blur()")
    context.close()


# ---- without a script, without an invitation


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_a_unit_is_judged_without_javascript(app: Application, browser: Browser, whole: bool) -> None:
    """whole : with consent, practice and checks."""
    campaign = app.campaign(
        app.plan(
            MagnitudeSettings(k=3, redundancy=1, min_seconds=0),
            n_documents=3,
            question=True,
            checks=whole,
            consent=whole,
            practice=whole,
        )
    )
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()

    def push(name: str) -> None:
        tab.get_by_role("button", name=name).click()

    tab.goto(campaign.link())
    push("Begin")
    push("I agree" if whole else "Start")
    for _ in range(3 if whole else 0):
        tab.locator("#text").fill(line_length(tab))
        push("Continue")
    if whole:
        push("Start judging")
    tab.get_by_label("Bread").check()
    push("Answer")
    fill(tab, "many", "kept")
    push("Save and continue")
    expect(tab.locator("#text-problem")).to_contain_text("Enter a number greater than 0")
    expect(tab.locator("#reason")).to_have_value("kept")
    fill(tab, "4", "so")
    push("Save and continue")
    push("Back")
    expect(tab.locator(".progress")).to_contain_text("Document 1 of 3")
    assert (tab.locator("kbd").count() > 0, tab.locator("kbd:visible").count()) == (True, 0)
    for _ in range(3):
        fill(tab, "5", "so")
        tab.locator("#text").press("Enter")  # saving is what Enter does, also without a script
    if whole:
        push("Look at my 3 documents again")
    for _ in range(3 if whole else 0):
        if title_of(tab) == "Text 00 of t0":
            tab.locator("#text").fill("80")
        push("Save and continue")
    tab.locator("label[for=confidence-3]").click()
    tab.locator("label[for=understanding-3]").click()
    push("Finish")
    expect(tab.locator("h1")).to_have_text("Thank you")
    assert [row.status for row in campaign.rows(schema.assignment)] == ["completed"]
    assert sorted(row.raw for row in campaign.rows(schema.judgment)) == (["5", "5", "80"] if whole else ["5"] * 3)
    pairs = preferences(app)
    tab.goto(pairs.link())
    push("Begin")
    push("Start")
    push("Definitely right")
    assert [(row.choice, row.strength) for row in pairs.rows(schema.preference)] == [("right", 2)]
    context.close()


@pytest.mark.nightly
def test_the_servers_own_address_says_what_it_is(app: Application, tab: Page) -> None:
    tab.goto(app.address)
    expect(tab.locator("h1")).to_have_text("Relevance judgments")
    no_faults(tab)
    tab.get_by_role("link", name="Log in as an owner").click()
    expect(tab).to_have_url(re.compile("/(owner|login)"))
