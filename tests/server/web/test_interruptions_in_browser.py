"""What goes wrong while somebody judges in a browser on the real application: nothing is lost, nothing counts twice."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from qrowd_server.protocols.settings import GradesSettings, MagnitudeSettings
from qrowd_server.store import schema
from server.web.journeys import (
    Application,
    Running,
    after,
    click,
    enter,
    fill,
    is_at,
    judged,
    magnitudes,
    no_faults,
    press,
    until,
)

NO_CONNECTION = "No connection. Your answer is kept on this page and will be sent when you are back online."


@pytest.mark.nightly
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
    tab.get_by_role("link", name="Pause").click()
    is_at(tab, "pause")
    expect(tab.locator("main")).to_contain_text("You gave no answer yet, so nothing can be lost.")
    no_faults(tab)
    tab.get_by_role("link", name="Go on now").click()
    expect(tab.locator("#reason")).to_have_value("other words")
    other = context.new_page()  # a draft on the server, or nothing: this tab has no memory of its own
    other.goto(campaign.page)
    fill(other, "14", "from the second tab")
    click(other, "Save and continue")
    expect(tab.locator("#elsewhere")).to_be_visible()
    tab.get_by_role("button", name="Use this tab").click()
    expect(tab.locator("#elsewhere")).to_be_hidden()
    expect(other.locator("#elsewhere")).to_be_visible()
    expect(tab.locator(".progress")).to_contain_text("Document 2 of 3")
    expect(tab.locator("#text")).to_have_value("")
    expect(tab.locator("#reason")).to_have_value("")
    assert judged(campaign) == ["14"]


def drafts(campaign: Running) -> list[object]:
    ids = [row.id for row in campaign.rows(schema.assignment)]
    table = schema.draft
    wanted = table.select().where(table.c.assignment_id.in_(ids))
    return list(campaign.application.store.read(lambda connection: connection.execute(wanted).all()))


@pytest.mark.nightly
def test_what_was_changed_before_a_step_back_is_still_there(app: Application, tab: Page) -> None:
    campaign = magnitudes(app)
    enter(tab, campaign)
    for number in "12":
        fill(tab, number, f"reason {number}")
        click(tab, "Save and continue")
    fill(tab, "30", "not sent, and a draft")
    click(tab, "Back")
    fill(tab, "20", "not sent, in place of what was")
    click(tab, "Back")
    expect(tab.locator("#reason")).to_have_value("reason 1")
    click(tab, "Save and continue")
    expect(tab.locator("#reason")).to_have_value("not sent, and a draft")
    click(tab, "Back")
    expect(tab.locator("#reason")).to_have_value("not sent, in place of what was")
    click(tab, "Save and continue")
    click(tab, "Save and continue")
    is_at(tab, "end")
    assert {row.raw for row in campaign.rows(schema.judgment)} == {"1", "20", "30"}


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_a_double_click_saves_once(app: Application, tab: Page) -> None:
    campaign = magnitudes(app)
    enter(tab, campaign)
    fill(tab)
    after(tab, tab.get_by_role("button", name="Save and continue").dblclick)
    expect(tab.locator(".progress")).to_contain_text("Document 2 of 3")
    assert judged(campaign) == ["40"]


@pytest.mark.nightly
def test_an_answer_outlives_the_server_and_is_saved_once(app: Application, tab: Page) -> None:
    campaign = magnitudes(app)
    enter(tab, campaign)
    fill(tab)
    seen: list[str] = []
    failures: list[str] = []
    tab.on("requestfailed", lambda request: failures.append(request.url))

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
    expect(tab.locator("#text")).to_have_value("40")
    expect(tab.locator("#text")).to_have_js_property("readOnly", True)
    until_in(tab, lambda: len([url for url in failures if url.endswith("/act")]) >= 2)  # it keeps trying
    expect(tab.locator("[data-problem]")).to_have_text(NO_CONNECTION)
    expect(tab.locator("[data-status]")).to_have_text("Not sent yet")
    app.start()
    assert judged(campaign) == ["40"]
    expect(tab.locator(".progress")).to_contain_text("Document 2 of 3")  # by itself
    expect(tab.locator("[data-status]")).to_contain_text("Saved ✓")
    assert len(seen) >= 3
    assert len(set(seen)) == 1
    assert judged(campaign) == ["40"]
    assert len(campaign.events("judged")) == 1


@pytest.mark.nightly
def test_what_was_not_sent_is_sent_as_soon_as_there_is_a_connection(app: Application, tab: Page) -> None:
    campaign = magnitudes(app)
    enter(tab, campaign)
    fill(tab)
    app.kill()
    tab.get_by_role("button", name="Save and continue").click()
    expect(tab.locator("[data-problem]")).to_have_text(NO_CONNECTION)
    app.start()
    tab.evaluate("dispatchEvent(new Event('online'))")
    expect(tab.locator(".progress")).to_contain_text("Document 2 of 3")
    assert judged(campaign) == ["40"]


def test_an_answer_that_could_not_be_saved_stays_and_is_sent_again_with_its_key(app: Application, tab: Page) -> None:
    campaign = magnitudes(app)
    enter(tab, campaign)
    fill(tab)
    keys: list[str] = []

    def fail_once(route: Route) -> None:
        keys.append(key_of(route.request.post_data))
        problem = {"code": "busy", "message": "x", "field": "", "reference": "7F3A"}
        route.fulfill(status=503, json=problem) if len(keys) == 1 else route.continue_()

    tab.route("**/act", fail_once)
    tab.get_by_role("button", name="Save and continue").click()
    expect(tab.locator("[data-problem]")).to_contain_text("It is still here. Reference 7F3A")
    tab.get_by_role("button", name="Try again").click()
    expect(tab.locator(".progress")).to_contain_text("Document 2 of 3")
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert judged(campaign) == ["40"]


@pytest.mark.nightly
def test_a_refused_number_is_shown_beside_the_box_and_kept(app: Application, tab: Page) -> None:
    campaign = magnitudes(app)
    enter(tab, campaign)
    tab.locator("#reason").fill("kept")
    tab.locator("#reason").press("Enter")
    expect(tab.locator("#text-problem")).to_contain_text("Enter a number greater than 0")
    expect(tab.locator("#text")).to_be_focused()
    expect(tab.locator("#reason")).to_have_value("kept")
    assert judged(campaign) == []


def key_of(data: str | None) -> str:
    return re.findall(r"key=([^&]+)", data or "")[0]


def until_in(tab: Page, happened: Callable[[], bool]) -> None:
    """Wait while the browser's events come in."""
    for _ in range(400):
        if happened():
            return
        tab.wait_for_timeout(25)
    raise TimeoutError("it did not happen")


@pytest.mark.nightly
def test_an_answer_after_the_lease_was_lost_is_kept_and_another_set_is_offered(app: Application, tab: Page) -> None:
    made = GradesSettings(k=3, redundancy=1, rating=False)
    campaign = app.campaign(app.plan(made, n_documents=3, n_topics=2))
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


@pytest.mark.nightly
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
    said = "You gave 1 answer. Everything is saved, but it does not count in the result."  # a set that is not complete
    expect(tab.locator("main")).to_contain_text(said)


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_who_comes_when_nothing_is_left_may_check_again(app: Application, tab: Page) -> None:
    campaign = magnitudes(app)
    campaign.bring("bob")
    tab.goto(campaign.link())
    click(tab, "Begin")
    expect(tab.locator("main")).to_contain_text(
        "Other assessors are judging all the sets at the moment. A set may become free at"
    )
    click(tab, "Check again")
    is_at(tab, "noneleft")
    app.ask("lapse", campaign.id, "bob")
    click(tab, "Check again")
    is_at(tab, "document")


@pytest.mark.nightly
def test_who_fails_the_question_may_go_on_with_another_topic_or_not(app: Application, tab: Page) -> None:
    made = MagnitudeSettings(k=3, redundancy=1, min_seconds=0, attempts=1)
    for n_topics, text in ((1, "please return the task there"), (2, "You may go on with another topic.")):
        plan = app.plan(made, n_documents=3, n_topics=n_topics, question=True)
        enter(tab, app.campaign(plan))
        tab.get_by_label("Soup").check()
        click(tab, "Answer")
        expect(tab.locator("main")).to_contain_text("did not fit the topic, so another assessor gets this topic.")
        expect(tab.locator("main")).to_contain_text(text)
        assert tab.get_by_role("button", name="Judge another topic").count() == n_topics - 1
