"""Every page draws, says what it should, keeps what was typed, and leaks and runs nothing."""

import re
from dataclasses import replace
from gzip import compress
from html.parser import HTMLParser
from importlib import resources

import pytest

from qrowd_server.campaigns.running.pages import DocumentText
from qrowd_server.protocols.events import Refusal
from qrowd_server.protocols.views import (
    Answer,
    ConsentView,
    EndView,
    ExcludedView,
    Grade,
    LostView,
    NoneLeftView,
    PausedView,
    RevisionView,
    View,
)
from qrowd_server.web.document_pages import render_document
from qrowd_server.web.rendering import (
    asset,
    paragraphs,
    render_error,
    render_landing,
    render_main,
    render_page,
    render_welcome,
)
from server.web.gallery import DONE, GALLERY, GRADES, PAYLOADS, STATUSES, TOPIC, document, drawn, page, pair, poisoned

BASE = "/c/birds"


class Reader(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.said: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attributes}))

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    def all(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        return [a for name, a in self.tags if name == tag and all(a.get(key) == value for key, value in wanted.items())]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.said).split())


def read(one: object, **options: object) -> Reader:
    return Reader(render_main(one, csrf="t0ken", base=BASE, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", GALLERY)
def test_every_form_carries_token_page_and_key_and_goes_to_act(name: str) -> None:
    html = render_main(GALLERY[name], csrf="t0ken", base=BASE)
    for form in re.findall(r"<form.*?</form>", html, re.S):
        if "data-plain" in form:
            assert "t0ken" not in form  # it goes to somebody else
            continue
        found = Reader(form)
        assert found.tags[0][1] | {"method": "post", "action": f"{BASE}/act"} == found.tags[0][1]
        hidden = {a["name"]: a["value"] for a in found.all("input", type="hidden")}
        assert hidden["csrf"] == "t0ken"
        assert (hidden["shown"], hidden["key"]) == (GALLERY[name].shown, GALLERY[name].key)
        assert "do" in hidden or 'name="do"' in form


@pytest.mark.parametrize("name", GALLERY)
def test_every_page_has_one_heading_of_the_first_rank_and_one_place_to_start(name: str) -> None:
    found = read(GALLERY[name])
    assert len(found.all("h1")) == 1
    assert len([a for _, a in found.tags if "data-focus" in a]) == 1


@pytest.mark.parametrize("name", drawn())
def test_no_page_holds_a_script_or_style_or_handler_of_its_own(name: str) -> None:
    for tag, attributes in Reader(drawn()[name]).tags:
        assert tag != "style"
        assert tag != "script" or attributes["src"].startswith("/static/judge.js?v=")
        assert not [a for a in attributes if a == "style" or a.startswith("on")]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_payload_becomes_a_tag_or_an_attribute_that_acts(payload: str) -> None:
    for html in poisoned(payload).values():
        for tag, attributes in Reader(html).tags:
            assert tag not in {"img", "iframe", "object", "embed", "base", "style", "video", "audio", "template"}
            assert tag != "script" or attributes["src"].startswith("/static/")
            assert not [a for a in attributes if a == "style" or a.startswith("on") or a == "autofocus"]
            where = [attributes[a] for a in ("href", "src", "action", "formaction") if a in attributes]
            assert all(address.startswith(("/", "#")) for address in where)


def test_no_code_and_no_link_appears_before_the_end() -> None:
    for name, one in GALLERY.items():
        html = render_main(
            replace(one, link="https://app.prolific.com/x?cc=GOLDCODE", code="GOLDCODE"), csrf="t", base=BASE
        )
        ends = name.startswith(("end", "none-left", "paused", "stopped", "excluded"))
        assert ("GOLDCODE" in html) == ends


def test_the_answer_given_before_is_there_and_a_draft_goes_before_it_and_what_was_refused_before_both() -> None:
    given = document(answer=Answer("40", "because"))
    number = lambda **options: read(options.pop("one", given), **options).all("input", id="text")[0]["value"]  # noqa: E731
    assert number() == "40"
    drafted = replace(given, draft=GALLERY["magnitude-draft"].draft)
    assert number(one=drafted) == "12"
    assert number(one=drafted, typed={"text": "many"}, problem=Refusal("number", "No.", "text")) == "many"


def test_a_problem_stands_beside_its_box_or_above_all() -> None:
    beside = read(document(), problem=Refusal("number", "Enter a number.", "text"))
    assert beside.all("input", id="text")[0]["aria-invalid"] == "true"
    assert "hidden" in next(a for _, a in beside.tags if "data-problem" in a)
    above = read(document(), problem=Refusal("stale", "Moved on."))
    assert "hidden" not in next(a for _, a in above.tags if "data-problem" in a)
    assert "Moved on." in above.text


@pytest.mark.parametrize(
    ("grades", "keys"),
    [
        (GRADES, ["1", "2", "3", "4", "5"]),
        ((Grade(0, "No"), Grade(1, "Yes")), ["n", "y"]),
        (tuple(Grade(value, str(value)) for value in range(4)), ["0", "1", "2", "3"]),
        ((Grade(-2, "Spam"), Grade(0, "Not"), Grade(1, "Is")), ["1", "2", "3"]),
    ],
)
def test_a_grade_has_the_key_that_one_expects(grades: tuple[Grade, ...], keys: list[str]) -> None:
    assert [a["data-keys"] for a in read(document(grades=grades)).all("input", type="radio")] == keys


def test_the_platform_gets_a_link_and_nobody_else_does() -> None:
    link = read(GALLERY["end"]).all("a")[0]["href"]
    assert link == "https://app.prolific.com/submissions/complete?cc=C0FFEE"
    for evil in ("javascript:alert(1)", "data:text/html,x", "//evil.invalid", ""):
        found = read(page(DONE, link=evil))
        assert found.all("a") == found.all("form") == []


def test_a_line_that_an_editor_wrapped_runs_on_and_a_short_one_or_a_list_keeps_its_breaks() -> None:
    long = "Read the topic, then every document; take all the time you need"
    assert paragraphs(f"{long}\nfor it.") == f'<p dir="auto">{long} for it.</p>'
    assert paragraphs("Yours,\nAnn") == '<p dir="auto">Yours,<br>Ann</p>'
    assert paragraphs(f"{long}:\n- one\n- two\n\n1. b") == (
        f'<p dir="auto">{long}:<br>- one<br>- two</p><p dir="auto">1. b</p>'
    )


def test_what_an_owner_writes_may_have_markup_and_is_harmless() -> None:
    long = "Read the topic, then every document; take all the time you need"
    text = f"{long}\nfor **each**:\n- one\n- _two_\n\n0: not\n1: relevant\n\n<script>x()</script> [a](javascript:x)"
    html = (
        f"<p>{long} for <strong>each</strong>:</p>\n<ul>\n<li>one</li>\n<li><em>two</em></li>\n</ul>\n"
        "<p>0: not<br>\n1: relevant</p>\n<p>&lt;script&gt;x()&lt;/script&gt; [a](javascript:x)</p>\n"
    )
    assert html in render_page(replace(GALLERY["consent"], consent=text), csrf="", base=BASE)
    assert html in render_page(replace(document(), instructions=text), csrf="", base=BASE)


def test_a_name_in_the_text_of_the_program_is_no_markup() -> None:
    shown = read(replace(GALLERY["consent"], consent="", name="[**ann**](https://evil.invalid)"))
    assert "[**ann**](https://evil.invalid)" in shown.text


def test_a_unit_that_ended_badly_says_what_to_do_wherever_one_came_from() -> None:
    alone, again = page(EndView("screened_out")), page(EndView("screened_out", another=True))
    left = page(EndView("screened_out"), link="https://app.prolific.com/submissions/complete?cc=OUT")
    assert "please return the task there" in read(alone).text
    assert "You may go on with another topic." in read(again).text
    assert all("return the task" not in read(one).text for one in (again, left))


def test_the_landing_page_leads_owners_to_their_pages() -> None:
    assert Reader(render_landing()).all("a", href="/owner")


def test_who_can_begin_at_once_is_not_told_to_wait() -> None:
    ready, later = read(GALLERY["none-left-ready"]), read(GALLERY["none-left"])
    assert "A set is waiting for you." in ready.text
    assert "Check again" in later.text
    assert all(
        {"name": "do", "value": "go_on"}.items() <= one.all("input", name="do")[0].items() for one in (ready, later)
    )


def test_a_language_tag_that_is_none_is_left_out() -> None:
    assert render_document("t", DocumentText("a", "b", language="de-CH")).lang == "de-CH"
    assert render_document("t", DocumentText("a", "b", language='en" onload="x')).lang == ""


def test_counts_of_the_topics_words_stand_above_each_document() -> None:
    assert "swallows 6 leave 3 autumn 0" in read(pair()).text


def test_a_topic_that_goes_on_offers_another_and_one_that_does_not_says_goodbye() -> None:
    assert "Judge another topic" in read(page(EndView("completed", another=True))).text
    assert "You can close this page." in read(page(EndView("declined"))).text


@pytest.mark.parametrize(
    ("name", "never"),
    [
        ("end-early", "last one"),  # another topic may follow
        ("end-screened", "count against"),  # nobody here knows what a platform makes of it
        ("none-left-never", "count against"),
        ("paused", "counts"),  # a unit that is not complete may not
        ("lines-failed", "The longest line got a smaller number"),  # or two lines the same
        ("line", "no right answer"),  # numbers that do not grow end the task
    ],
)
def test_a_page_promises_nothing_that_the_server_cannot_know(name: str, never: str) -> None:
    assert never not in read(GALLERY[name]).text


@pytest.mark.parametrize("name", ["magnitude", "grades", "pair"])
def test_the_campaigns_question_is_asked_in_place_of_relevance(name: str) -> None:
    usual = "Which document is better?" if name == "pair" else "How relevant is this document to the topic?"
    asked = "Which of these is new to you?"
    one = replace(GALLERY[name], ask=usual)
    assert usual in read(one).text
    assert asked in read(replace(one, ask=asked)).text
    assert usual not in read(replace(one, ask=asked)).text


@pytest.mark.parametrize("name", ["magnitude", "grades", "pair"])
def test_the_whole_topic_stays_in_view_or_is_folded_and_is_there_once_in_any_case(name: str) -> None:
    folded, full = read(GALLERY[name]), read(replace(GALLERY[name], full_topic=True))
    for page_read, summaries, statements in ((folded, 1, 0), (full, 0, 1)):
        assert page_read.text.count(TOPIC.description) == 1
        assert page_read.text.count("A document that only describes routes") == 1
        assert len(page_read.all("div", **{"class": "statement"})) == statements
        assert page_read.text.count("Details") == summaries


def test_a_failed_practice_says_whether_one_may_begin_again() -> None:
    out, again = read(GALLERY["end-practice"]).text, read(GALLERY["end-practice-again"]).text
    assert "Your task ends here." in out
    assert "Begin again" not in out
    assert "You may begin again from the start, with other lines." in again
    assert "ends here" not in again


def test_a_set_that_may_be_sent_again_any_number_of_times_says_so() -> None:
    assert "You can submit as often as you like." in read(page(RevisionView(8, -1))).text
    assert "You can submit 2 more times." in read(page(RevisionView(8, 2))).text


def test_who_was_away_reads_for_how_long_and_who_lost_a_set_otherwise_does_not() -> None:
    assert "You were away for 40 minutes" in read(page(LostView(40))).text
    assert "This set was taken back. Your saved answers are kept." in read(page(LostView(None))).text


@pytest.mark.parametrize(
    ("answers", "view", "said"),
    [
        ((16, 15, 16), DONE, "You gave 16 answers. In 1 of them you said that you can't tell. Everything is saved and"),
        ((16, 16, 8), PausedView(stopped=True), "Everything is saved. 8 of your answers count. The others belong to"),
        ((16, 16, 0), EndView("failed"), "Everything is saved, but it does not count in the result."),
        ((16, 16, 0), ExcludedView(), "Everything is saved, but it does not count in the result."),
        ((5, 5, 0), LostView(40), "You gave 5 answers. Everything is saved, but it does not count in the result."),
        ((1, 1, 1), NoneLeftView(None, True, decided=True), "is answered: no more judgments are needed. Thank you. You "
         "gave 1 answer. Everything is saved and counts"),
    ],
)  # fmt: skip
def test_a_page_at_the_end_says_what_became_of_the_answers(
    answers: tuple[int, int, int], view: View, said: str
) -> None:
    one = page(view, answers=answers, pseudonym="a3")
    alone = read(one).text
    assert said in alone
    assert ("you are called a3" in alone) == (view != LostView(40))  # who goes on reads it later
    assert ("whoever invited you" in alone) == (view != LostView(40))
    assert "by way of the platform" not in alone
    panel = read(replace(one, named=False)).text
    assert ("by way of the platform" in panel) == (view != LostView(40))


def test_a_pause_says_until_when_and_how_to_go_on() -> None:
    invited, panel = read(GALLERY["pause"]), read(GALLERY["pause-platform"])
    assert invited.all("time")[0]["datetime"] == "2096-10-02T07:06:40+00:00"
    assert "You gave 12 answers so far. All of them are saved." in invited.text
    assert "open the link that you were given" in invited.text
    assert "open the task on the platform" in panel.text
    for name in ("magnitude", "grades", "pair"):
        assert read(GALLERY[name]).all("a", href=f"{BASE}/pause")


NAMED = ("kept under the name zoe, so whoever runs this campaign sees that they are yours", "not asked for your name")
ANONYMOUS = ("kept under the identifier in the link that brought you here (5f01); you are not asked for your", "zoe")


@pytest.mark.parametrize(("name", "named", "said"), [("zoe", True, NAMED), ("5f01", False, ANONYMOUS)])
def test_the_default_consent_says_under_what_answers_are_kept(name: str, named: bool, said: tuple[str, str]) -> None:
    text = read(page(ConsentView(), consent="", name=name, named=named)).text
    assert said[0] in text
    assert said[1] not in text
    assert said[0] not in read(page(ConsentView(), consent="Our own words.", name=name, named=named)).text


@pytest.mark.parametrize(
    ("name", "named", "who"),
    [("zoe", True, "your name (zoe)"), ("5f01", False, "the identifier in the link that brought you here (5f01)")],
)
def test_who_declines_reads_what_is_kept(name: str, named: bool, who: str) -> None:
    text = read(page(EndView("declined"), name=name, named=named)).text
    assert f"no answer was recorded. What is kept: {who}, when you came, and that you declined." in text
    assert "nothing was recorded" not in text


@pytest.mark.parametrize("status", STATUSES)
def test_every_error_says_what_is_safe_and_what_to_do(status: int) -> None:
    found = Reader(render_error(status, reference="7F3A", back=BASE, retry_after=3))
    assert str(status) in found.text
    assert "Reference 7F3A" in found.text
    assert "Try again in 3 seconds." in found.text
    assert found.all("a", href=BASE)


def test_an_error_nobody_thought_of_still_has_a_page() -> None:
    assert "Something went wrong on our side" in render_error(502)
    assert "The request could not be read" in render_error(418)


def test_the_welcome_has_one_button_and_the_token_of_its_form() -> None:
    welcome = Reader(render_welcome("Birds", csrf="t", action="/join/x"))
    assert len(welcome.all("button")) == 1
    assert {a["name"]: a["value"] for a in welcome.all("input")} == {"csrf": "t"}


def test_everything_an_assessor_loads_is_small() -> None:
    folder = resources.files("qrowd_server.web").joinpath("static")
    assets = sum(len(compress(folder.joinpath(name).read_bytes())) for name in ("qrowd.css", "judge.js", "icon.svg"))
    assert assets + len(compress(drawn()["pair"].encode())) <= 100_000
    assert re.fullmatch(r"/static/judge\.js\?v=[0-9a-f]{10}", asset("judge.js"))


def test_the_whole_page_holds_the_very_main_that_the_script_gets() -> None:
    for one in GALLERY.values():
        assert render_main(one, csrf="t", base=BASE) in render_page(one, csrf="t", base=BASE)


# ---- documents as they looked


def test_the_address_of_a_document_stands_above_its_text() -> None:
    html = render_main(GALLERY["magnitude-address"], csrf="t", base=BASE)
    address = "https://birds.example.org/swallows/the-shortening-day.html?lang=en&amp;page=1"
    assert html.index(address) < html.index('class="text"')
    assert f'href="{address}' not in html


def test_an_image_of_a_page_has_its_title_or_its_words_for_those_who_cannot_see_it() -> None:
    image = read(GALLERY["grades-image"]).all("img")[0]
    assert (image["src"], image["alt"]) == ("/image/page.png", "A page about swallows")
    described = DocumentText("Birds", "A table of counts.", image="/image/x")
    assert read(replace(GALLERY["grades-image"], documents={8: described})).all("img")[0]["alt"] == "A table of counts."


def test_nothing_is_marked_or_found_where_there_is_no_text() -> None:
    for name, with_text in (("pair-images", False), ("grades-image", False), ("pair", True)):
        html = render_main(GALLERY[name], csrf="t", base=BASE)
        assert ("data-marks" in html) == with_text
        assert ("data-find" in html) == (with_text and name.startswith("pair"))


def test_the_context_is_offered_beside_single_documents_too() -> None:
    html = render_main(GALLERY["grades-image"], csrf="t", base=BASE)
    assert "Background" in html
    assert 'id="context"' in html
    assert "Background" not in render_main(GALLERY["grades"], csrf="t", base=BASE)
