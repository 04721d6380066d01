"""The choice of a language on a page, on the application."""

import re
from dataclasses import replace

import pytest

from qrowd.errors import QrowdError
from qrowd_server.campaigns.plan.plan_tables import plan_from_table, table_from_plan
from server.web.siege import Fort
from webserver import Browser

GERMAN = {"accept-language": "de-AT,de;q=0.9,en;q=0.5"}


def language_of(text: str) -> str:
    found = re.search(r'<html lang="([^"]*)" dir="ltr">', text)
    assert found, text[:300]
    return found[1]


def choice(text: str) -> str:
    """The token of the form that chooses a language."""
    found = re.search(r'action="/language".*?name="csrf" value="([^"]+)"', text, re.S)
    assert found, text[-500:]
    return found[1]


def test_a_page_and_an_error_are_in_the_language_of_the_browser(place: Fort) -> None:
    browser = Browser(place.app)
    assert language_of(browser.get("/").text) == "en"
    assert language_of(browser.get("/", GERMAN).text) == "de"
    missing = browser.get("/c/nothing", GERMAN)
    assert language_of(missing.text) == "de"
    assert "nicht mehr angemeldet" in missing.text


def test_the_script_is_told_of_a_refusal_in_the_language_and_programs_in_english(place: Fort) -> None:
    browser, script = Browser(place.app), {"x-qrowd": "fragment", **GERMAN}
    assert "nicht mehr angemeldet" in browser.get("/c/sizes", script).text
    assert "nicht" not in browser.get("/api/v1/campaigns", GERMAN).text


def test_a_choice_is_remembered_and_leads_back_to_the_page(place: Fort) -> None:
    walker = place.walker("stars", who="ann").come()
    browser = walker.browser
    token = choice(browser.get("/c/stars").text)
    answer = browser.post("/language", {"csrf": token, "language": "ja"})
    assert (answer.status, answer.header("location")) == (303, "/c/stars")
    assert "HttpOnly" in str(answer.header("set-cookie"))
    assert language_of(browser.get("/c/stars", GERMAN).text) == "ja"
    assert language_of(browser.get("/nothing", GERMAN).text) == "ja"


def test_an_invitation_offers_the_choice_before_anything_begins(place: Fort) -> None:
    browser, link = Browser(place.app), f"/join/{place.links['sizes ben']}"
    token = choice(browser.get(link).text)
    answer = browser.post("/language", {"csrf": token, "language": "de"})
    assert (answer.status, answer.header("location")) == (303, link)
    assert language_of(browser.get(link).text) == "de"


@pytest.mark.parametrize("language", ["", "xx", "../../x", "de" * 5000, "de\x00"])
def test_a_language_that_there_is_not_is_refused(place: Fort, language: str) -> None:
    browser = Browser(place.app)
    token = choice(browser.get("/").text)
    assert browser.post("/language", {"csrf": token, "language": language}).status == 400
    assert browser.cookies == {}


def test_no_other_site_chooses_a_language_or_where_the_choice_leads(place: Fort) -> None:
    browser = Browser(place.app)
    token = choice(browser.get("/").text)
    form = {"csrf": token, "language": "de"}
    assert browser.post("/language", form, origin="https://evil.test").status == 403
    assert browser.post("/language", {**form, "csrf": token[:-4] + "AAAA"}).status == 403
    assert browser.post("/language", {**form, "b": "https://evil.test"}).header("location") == "/"


def test_a_cookie_that_somebody_made_up_chooses_nothing(place: Fort) -> None:
    for made_up in ("xx", "../../etc/passwd", "<script>", "de-" * 200):
        assert language_of(Browser(place.app, cookies={"qrowd-language": made_up}).get("/").text) == "en"


def test_a_campaign_keeps_its_language_and_refuses_what_is_no_tag(place: Fort) -> None:
    table = {
        "campaign": {"name": "a", "protocol": "grades", "language": "de"},
        "topics": [{"label": "t", "title": "T"}],
        "documents": [{"label": "d", "text": "x"}],
    }
    plan = plan_from_table(table)
    assert plan.language == "de"
    assert plan_from_table(table_from_plan(plan)) == plan
    with pytest.raises(QrowdError, match=r"campaign\.language: 'de_AT!' is no tag of a language"):
        replace(plan, language="de_AT!")
