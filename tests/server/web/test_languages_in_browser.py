"""The assessor's pages in German, Japanese and from right to left, in a real browser."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import COLOURS, WCAG, axe_faults, by_tags
from qrowd_server.protocols.settings import GradesSettings, PreferenceSettings
from qrowd_server.store import schema
from server.web.gallery import Gallery, gallery
from server.web.journeys import Application, Running, better, click, is_at, line_length, no_faults, pair, press
from server.web.pseudo import with_arabic
from server.web.test_judging_in_browser import check_titles, demo_magnitudes, right_answer, title_of, unit_is_whole
from webserver import listening

RULES = by_tags(*WCAG, "best-practice") | {"rules": {"heading-order": {"enabled": False}}}
TAGS = ("de", "ja", "ar")
WIDTHS = (1280, 390)
WIDE = (  # what looks otherwise on a wide page
    *("magnitude", "grades", "pair", "pair-odd", "question", "lines-failed", "rating", "end", "consent", "welcome"),
    *("error-429", "none-left", "feedback-wrong", "grades-frame", "magnitude-address"),
)
SEEN_DARK = ("magnitude", "pair", "welcome")  # colours do not depend on the language


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gallery]:
    with with_arabic(tmp_path_factory.mktemp("locale")), listening(partial(gallery, tags=TAGS)) as made:
        yield made


@pytest.mark.nightly
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("tag", TAGS)
def test_every_page_is_open_to_everybody_and_needs_no_scrolling_sideways(
    browser: Browser, site: Gallery, tag: str, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800})
    tab, faults = context.new_page(), {}
    names = [name for name in site.pages if name.startswith(f"{tag}-")]
    for name in names if width < 1000 else [name for name in names if name.removeprefix(f"{tag}-") in WIDE]:
        tab.goto(f"{site.base}/{name}")
        faults[name] = axe_faults(tab, RULES)
        if name.partition("-")[2] in SEEN_DARK:
            tab.emulate_media(color_scheme="dark")
            faults[f"{name}, dark"] = axe_faults(tab, COLOURS)
            tab.emulate_media(color_scheme="light")
        if tab.evaluate("document.documentElement.scrollWidth") > width:
            faults[f"{name}, width"] = [("scrolls sideways", [])]
    context.close()
    assert not {look: broken for look, broken in faults.items() if broken}
    assert not site.reports


@pytest.mark.nightly
@pytest.mark.parametrize("width", WIDTHS)
def test_texts_of_buttons_fit_in_every_language(browser: Browser, site: Gallery, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800})
    tab = context.new_page()
    cut: dict[str, object] = {}
    for name in site.pages:
        tab.goto(f"{site.base}/{name}")
        found = tab.evaluate(
            "[...document.querySelectorAll('button, summary, a.button, .grade label, legend')]"
            ".filter(e => e.offsetWidth && e.scrollWidth > e.clientWidth + 1)"
            ".map(e => [e.outerHTML.slice(0, 90), e.scrollWidth, e.clientWidth])"
        )
        if found:
            cut[name] = found
    context.close()
    assert cut == {}


@pytest.mark.nightly
def test_from_right_to_left_the_page_is_mirrored_and_the_left_document_stays_on_the_left(
    browser: Browser, site: Gallery
) -> None:
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto(f"{site.base}/ar-pair")
    box = {name: tab.locator(name).bounding_box() for name in ("#left", "#right", ".topic", ".tools")}
    assert box["#left"]["x"] < box["#right"]["x"]  # type: ignore[index]
    assert box[".topic"]["x"] > box[".tools"]["x"]  # type: ignore[index]
    choices = tab.locator(".choice").evaluate_all("all => all.map(e => [e.value, e.getBoundingClientRect().x])")
    places = [side for side, _ in sorted(choices, key=lambda choice: choice[1])]
    assert places == ["left", "left", "right", "right"]
    tab.goto(f"{site.base}/ar-magnitude")
    label, field = tab.locator("label[for=text]").bounding_box(), tab.locator("#text").bounding_box()
    assert label is not None
    assert field is not None
    assert label["x"] > field["x"]
    assert tab.locator("article.document p").first.evaluate("e => getComputedStyle(e).direction") == "ltr"  # English
    tab.close()


# ---- judged wholly in a language, by keyboard


def in_language(app: Application, campaign: Running, tag: str) -> Running:
    """The same campaign again, whose pages have this language."""
    name = f"{campaign.plan.name}-{tag}"
    return app.campaign(replace(campaign.plan, name=name, language=tag))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("tag", "of_8", "again", "done"),
    [("de", "Dokument {} von 8", "Bitte sehen Sie noch einmal nach", "Vielen Dank"),
     ("ja", "文書 {}／8", "もう一度ご確認ください", "ありがとうございました")],
)  # fmt: skip
def test_a_unit_of_magnitudes_is_judged_in_german_and_in_japanese(
    app: Application, tab: Page, tag: str, of_8: str, again: str, done: str
) -> None:
    campaign = in_language(app, demo_magnitudes(app), tag)
    tab.goto(campaign.link())
    expect(tab.locator("html")).to_have_attribute("lang", tag)
    tab.keyboard.press("Tab")
    press(tab, "Enter")
    press(tab, "Enter")
    for _ in range(3):
        tab.keyboard.type(line_length(tab))
        press(tab, "Enter")
    press(tab, "Enter")
    topic = tab.locator("main h1").inner_text()
    options = tab.locator(".option > span").all_inner_texts()
    tab.keyboard.press(str(options.index(right_answer(campaign.plan, topic)) + 1))
    press(tab, "Enter")
    for i in range(8):
        expect(tab.locator(".progress")).to_contain_text(of_8.format(i + 1))
        tab.keyboard.type("7")
        tab.keyboard.press("Tab")
        tab.keyboard.type("so")
        press(tab, "Enter")
    expect(tab.locator("h1")).to_have_text(again)
    no_faults(tab)
    press(tab, "Enter")
    good, _ = check_titles(campaign, topic)
    while title_of(tab) != good:
        press(tab, "Enter")
    tab.keyboard.type("0,5e2")
    tab.locator("[data-hand-in]").focus()
    tab.keyboard.press("Enter")
    is_at(tab, "rating")
    tab.keyboard.press("Tab")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Space")
    press(tab, "Enter")
    expect(tab.locator("h1")).to_have_text(done)
    unit_is_whole(campaign)


@pytest.mark.nightly
def test_what_the_script_says_is_in_the_language_of_the_page(app: Application, browser: Browser) -> None:
    context = browser.new_context(locale="de-AT", viewport={"width": 1280, "height": 800})
    tab = context.new_page()
    campaign = app.campaign(app.plan(GradesSettings(rating=False)))
    tab.goto(campaign.link())
    click(tab, "Beginnen")
    click(tab, "Beginnen")
    tab.keyboard.press("3")
    press(tab, "Enter")
    expect(tab.locator("[data-status]")).to_contain_text("Gespeichert ✓")
    expect(tab.locator("legend")).to_have_text("Wie relevant ist dieses Dokument für das Thema?")
    expect(tab.locator(".grade label").last).to_contain_text("höchst relevant")
    context.set_offline(True)
    tab.keyboard.press("2")
    tab.keyboard.press("Enter")
    expect(tab.locator("[data-problem] p")).to_contain_text("Keine Verbindung.")
    context.set_offline(False)
    context.close()


@pytest.mark.nightly
def test_the_arrow_keys_choose_the_side_that_is_seen_in_every_language(app: Application, browser: Browser) -> None:
    context = browser.new_context(locale="ja-JP", viewport={"width": 1280, "height": 800})
    tab = context.new_page()
    campaign = app.campaign(app.plan(PreferenceSettings(rating=False), n_documents=3))
    tab.goto(campaign.link())
    click(tab, "始める")
    click(tab, "始める")
    while tab.locator("#left-title").count():
        pair(tab)
        press(tab, "ArrowLeft" if better(tab) == "left" else "ArrowRight")
    expect(tab.locator("h1")).to_have_text("ありがとうございました")
    titles = {row.id: row.title for row in campaign.rows(schema.document)}
    for row in campaign.rows(schema.preference):
        left, right = titles[row.left_id], titles[row.right_id]
        assert (row.choice == "left") == (left < right)
    context.close()


@pytest.mark.nightly
def test_a_language_is_chosen_without_the_script_and_stays(app: Application, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    campaign = app.campaign(app.plan(GradesSettings(rating=False)))
    tab.goto(campaign.link())
    tab.locator(".language summary").click()
    tab.get_by_role("button", name="日本語").click()
    expect(tab.locator("html")).to_have_attribute("lang", "ja")
    tab.locator("main button.primary").click()
    tab.locator("main button.primary").click()
    expect(tab.locator(".progress")).to_contain_text("文書 1／8")
    tab.locator(".language summary").click()
    tab.get_by_role("button", name="Deutsch").click()
    expect(tab.locator(".progress")).to_contain_text("Dokument 1 von 8")
    context.close()
