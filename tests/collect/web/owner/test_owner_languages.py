"""The owner's pages in other languages: nothing stays English but what owners and assessors wrote, and names."""

import ast
import html
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collect.web.owner.estate import HOSTILE, Estate, estate, small_plan
from collect.web.owner.test_roles import TABLE, filled
from collect.web.pseudo import with_arabic
from qrowd.collect import campaigns, store
from qrowd.collect.campaigns.demo import demo_plans
from qrowd.collect.campaigns.plan_notes import plan_notes
from qrowd.collect.protocols.messages import Message
from qrowd.collect.web import owner as pages
from qrowd.collect.web import recognised
from qrowd.collect.web.owner import owner_link, words
from qrowd.collect.web.owner.formatting import Formats, english, formats_of
from qrowd.collect.web.recognised import PLACEHOLDER, REFUSALS, line_of
from qrowd.errors import ArgumentError
from webserver import Browser

LATIN = re.compile(r"[A-Za-z]{2,}")
UNREAD = re.compile(
    r"<(script|style|code|pre|textarea|s|blockquote|article)\b.*?</\1>|<time\b[^>]*>|<input\b[^>]*>", re.S
)
#: The same in every language: names of programs and formats, and what the tests call things.
NAMES = {
    *("qrowd", "UTC", "CSV", "JSON", "Lines", "Parquet", "qrels", "prefs", "Prolific", "Mechanical", "Turk", "URL"),
    *(
        "English",
        "Deutsch",
        "mary",
        "ann",
        "bob",
        "cleo",
        "dora",
        "olga",
        "small",
        "demo",
        "PANEL",
        "KEY",
        "http",
        "https",
    ),
    *("grades", "magnitude", "preference", "alpha", "min", "NAME", "ID"),
}
SUPPRESSED = (  # no pages, or not for who is signed in
    *("/oidc", "/export/", "/data", "/example/", "/logout", "/login", "/guided/", "/folder"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    folder = tmp_path_factory.mktemp("languages")
    with with_arabic(folder), estate(folder, demo=True) as one:
        yield one


def browser_in(made: Estate, tag: str) -> Browser:
    """The administrator's browser, whose pages are in a language."""
    browser = made.owner()
    browser.cookies["qrowd-language"] = tag
    return browser


def paths(made: Estate) -> list[str]:
    """Every page that the table of roles has, and the same pages of the other protocols."""
    named = [path for method, path in TABLE if method == "GET" and not any(part in path for part in SUPPRESSED)]
    simple = [path for path in named if "{token}" not in path]
    own = [filled(made, path) for path in simple if "{" not in re.sub(r"\{(campaign|number)\}", "", path)]
    demo = [
        path.replace("/c/small", f"/c/demo-{protocol}")
        for protocol in ("magnitude", "preference")
        for path in own
        if path.startswith("/owner/c/small") and "/assessors/" not in path and not path.endswith("/live")
    ]
    items = [_item(made, "small"), _item(made, "demo-magnitude"), _item(made, "demo-preference")]
    people = [made.assessor(name, f"demo-{one}") for one in ("magnitude", "preference") for name in ("ann", "cleo")]
    return [*own, *demo, *items, *people, made.assessor(HOSTILE)]


def _item(made: Estate, campaign: str) -> str:
    """The first document or pair that the page of reviewers lists."""
    page = made.owner().get(f"/owner/c/{campaign}/review").text
    found = re.search(r'href="(/owner/c/[^"]*/review/item\?[^"]*)"', page)
    assert found is not None
    return html.unescape(found[1])


def said(page: str) -> list[str]:
    """What a page says: texts between tags, and attributes that are read; no values of campaign.toml."""
    page = re.sub(r"</code></dt><dd[^>]*>.*?</dd>", "</code></dt>", page, flags=re.S)
    body = UNREAD.sub(" ", page)
    named = re.findall(r'\b(?:aria-label|title|placeholder|alt|data-\w+-text)="([^"]*)"', page)
    return [html.unescape(part).strip() for part in (*re.split(r"<[^>]*>", body), *named)]


def written() -> list[str]:
    """What owners and assessors of the campaigns wrote: titles, labels, names and reasons; the longest first."""
    texts = {
        "It is about something else.",
        "It names what was asked for.",
        f"always the same {HOSTILE}",
        "Fine.",
        "campaign.toml",
    }
    for plan in (small_plan(), *demo_plans(min_seconds=5.0)):
        texts |= {plan.name, plan.title, *(one.label for one in plan.documents), *(one.title for one in plan.documents)}
        texts |= {line for text in (plan.consent, plan.instructions) for line in re.split(r"\n+", text)}
        for topic in plan.topics:
            texts |= {topic.label, topic.title, topic.description, topic.narrative}
    return sorted(filter(None, texts), key=len, reverse=True)


def english_left(page: str, data: list[str]) -> list[str]:
    """What a page in Arabic letters says in Latin ones, and is neither a name nor part of what people wrote."""
    left = []
    for part in said(page):
        if part.startswith("https://"):
            continue
        ours = re.sub(r"\s+", " ", part)
        for text in data:
            ours = ours.replace(text, "")
        if set(LATIN.findall(ours)) - NAMES:
            left.append(part)
    return left


def test_no_page_of_owners_says_anything_of_ours_in_latin_letters_where_all_texts_are_in_arabic_ones(
    made: Estate,
) -> None:
    browser, data = browser_in(made, "ar"), written()
    left = {}
    for path in paths(made):
        answer = browser.get(path)
        assert answer.status == 200, path
        assert "endless" in path or path.endswith("/live") or '<html lang="ar" dir="rtl">' in answer.text, path
        if found := english_left(answer.text, data):
            left[path] = found
    assert "\n".join(f"{path}: {found}" for path, found in left.items()) == ""


def test_the_pages_before_the_login_and_what_is_shown_once_are_translated(made: Estate) -> None:
    data = written()
    guest = Browser(made.app)
    guest.cookies["qrowd-language"] = "ar"
    link = made.store.write(lambda c: owner_link(c, "https://judge.test", made.clock()))
    shown = {"login": guest.get("/owner/login"), "enter": guest.get(link)}
    form = {"csrf": shown["login"].field("csrf"), "name": "olga", "password": "wrong"}
    shown["refused"] = guest.post("/owner/login", form)
    browser = browser_in(made, "ar")
    for name, path, fields in (
        ("account", "/owner/accounts", {"do": "add", "name": "mary", "role": "member"}),
        ("accounts", "/owner/accounts", {"do": "add", "name": "mary", "role": "member"}),  # there already
        ("key", "/owner/keys", {"do": "make", "name": "ann", "campaign": "small"}),
        ("links", "/owner/c/small/invitations", {"do": "number", "number": "2"}),
        ("names", "/owner/c/small/invitations", {"do": "names", "names": "ann ann"}),
        ("sign-up", "/owner/c/small/invitations", {"do": "open", "most": "3", "days": "2"}),
        ("reason", made.assessor("ann"), {"do": "exclude", "reason": ""}),
        ("factor", "/owner/account", {"do": "begin"}),
        ("final", _item(made, "small").partition("?")[0], {"do": "adjudicate", "topic": "t1", "document": "d1"}),
        ("delete", "/owner/c/small/delete", {"do": "delete", "name": "x"}),
    ):
        csrf = browser.get("/owner").field("csrf")
        shown[name] = browser.post(path, {"csrf": csrf, **fields})
    left = {name: english_left(answer.text, data) for name, answer in shown.items()}
    assert {name: found for name, found in left.items() if found} == {}


def test_an_owner_gets_the_browsers_language_and_may_choose_another(made: Estate) -> None:
    browser = made.owner()
    page = browser.get("/owner", headers={"accept-language": "de-AT,en;q=0.5"}).text
    assert '<html lang="de" dir="ltr">' in page
    assert "<h1>Kampagnen</h1>" in page
    token = re.search(r'action="/language"[^>]*><input type="hidden" name="csrf" value="([^"]*)"', page)
    assert token is not None
    answer = browser.post("/language", {"csrf": token[1], "language": "ja"})
    assert answer.header("location") == "/owner"
    page = browser.get("/owner", headers={"accept-language": "de-AT,en;q=0.5"}).text
    assert '<html lang="ja" dir="ltr">' in page
    assert "<h1>キャンペーン</h1>" in page


def test_the_language_of_a_campaign_is_that_of_its_assessors_and_not_of_its_owner(made: Estate) -> None:
    assert '<html lang="en" dir="ltr">' in made.owner().get("/owner/c/small").text


def test_what_a_form_shows_once_has_no_choice_of_a_language_that_would_lose_it(made: Estate) -> None:
    browser = made.owner()
    page = browser.get("/owner/c/small/invitations")
    assert 'action="/language"' in page.text
    answer = browser.post("/owner/c/small/invitations", {"csrf": page.field("csrf"), "do": "number", "number": "1"})
    assert 'action="/language"' not in answer.text


def test_numbers_times_and_counts_are_those_of_the_language() -> None:
    german, japanese = formats_of("de"), formats_of("ja")
    noon = 1772638200.0  # 4 March 2026, 15:30 UTC
    for f, expected in (
        (english, ("12,345", "50 %", "0.50", "+0.250", "4 Mar 2026, 15:30", "2 judgments", "1 h ago")),
        (german, ("12.345", "50 %", "0,50", "+0,250", "4. März 2026, 15:30", "2 Bewertungen", "vor 1 h")),
        (japanese, ("12,345", "50%", "0.50", "+0.250", "2026年3月4日 15:30", "判定2件", "1時間前")),
    ):
        got = (
            *(f.count(12345), f.percent(0.5), f.decimal(0.5), f.signed(0.25), f.moment(noon)),
            *(str(f.answers("grades", 2)), f.ago(noon - 3600, noon)),
        )
        assert tuple(one.replace("\xa0", " ") for one in got) == expected
    assert [str(german.answers(kind, 1)) for kind in ("grades", "preference", "")] == [
        *("1 Bewertung", "1 Präferenz", "1 Antwort"),
    ]


# ---- lines of the library


def raised_in(module: SimpleNamespace, names: tuple[str, ...]) -> set[str]:
    """The lines of argument errors that files raise, with `%s` where a value stands."""
    folder = Path(str(module.__file__)).parent
    lines = set()
    for name in names:
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ArgumentError" and node.args:
                lines.add(_line(node.args[0]))
    return lines


def _line(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join("%s" if isinstance(part, ast.FormattedValue) else _line(part) for part in node.values)
    return "%s"


OF_PROGRAMS = {  # not for people at a form: the caller's own mistakes, and lines put together from others
    "kind=%s: choose one of submitted, paid", "arm=%s: choose one of %s", "answer: %s", "%s is invited already; %s",
    "kind=%s: choose %s", "%s: it collects %s; final answers for %s are not possible", "name: %s letters are mixed; "
    "write it in one script", "Somebody else has %s: choose another name. If it was you, open your own link.",
    "%s: %s; choose a person who judges", "%s has asked no question of the number %s",
    "answers=%s: choose one of %s", "%s",
}  # fmt: skip


def test_the_refusals_of_forms_are_those_that_the_store_and_the_campaigns_raise() -> None:
    """Where this fails, a line was added or changed there: change it in `web.recognised`, and translate it."""
    raised = raised_in(store, ("accounts", "names", "invitations", "identities")) | raised_in(
        campaigns, ("admin", "membership", "reopening", "adjudication", "messages", "review")
    )
    known = {PLACEHOLDER.sub("%s", template) for template in REFUSALS}
    assert raised - known - OF_PROGRAMS == set()


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_line_is_recognised_with_what_differs_in_it(name: str, other: str) -> None:
    line = f"the campaign {name!r} has no document {other!r} of a topic 't'"
    message = recognised.recognised(line)
    assert message == line
    assert isinstance(message, Message)


@given(st.text(max_size=200))
def test_any_other_line_stays_as_it_is(line: str) -> None:
    assert recognised.recognised(line) == line
    assert line_of(ArgumentError(line)) == line


def test_a_line_that_is_not_known_is_marked_as_english_where_the_page_is_not() -> None:
    assert formats_of("de").line("bm25 is better than ql.") == '<span lang="en">bm25 is better than ql.</span>'
    assert formats_of("de").line("<b>") == '<span lang="en">&lt;b&gt;</span>'
    assert english.line("bm25 is better than ql.") == "bm25 is better than ql."
    assert formats_of("de").sentence("agreement needs at least two assessors; there are no judgments") == (
        "Eine Übereinstimmung braucht mindestens zwei Bewertende; es gibt keine Bewertungen."
    )


def test_reasons_to_stand_out_are_said_in_the_language_as_the_library_gives_them() -> None:
    reasons = (
        "severe: -0.50 of the scale relative to the others (panel median +0.00, 20 documents); "
        "always grade 1: others gave it to 40% of the same documents"
    )
    german = formats_of("de").reasons(reasons)
    assert german == (
        "streng: -0.50 der Skala gegenüber den anderen (Median aller +0.00, 20 Dokumente); "
        "immer Stufe 1: Andere gaben sie 40% derselben Dokumente"
    )


@pytest.mark.parametrize(
    "names", [name for name, value in vars(words).items() if isinstance(value, dict) and name.isupper()]
)
def test_words_for_states_and_columns_are_translated(names: str) -> None:
    german: Formats = formats_of("de")
    same = {"Status", "Code", "System", "Kappa", "Median", "Link", "Panel", "Design", "Gold", "Codes", "Index"}
    for word in set(getattr(words, names).values()) - {"Prolific", "Mechanical Turk"}:
        said_in_german = german.language.text(word)
        assert said_in_german != word or word.capitalize() in same, word


def test_what_a_campaign_lacks_is_said_in_the_language_as_the_check_says_it() -> None:
    plans = [small_plan(), *demo_plans()]
    plans += [replace(plan, journey=replace(plan.journey, practice=False)) for plan in plans]
    notes = {note for plan in plans for note in plan_notes(plan)}
    assert len(notes) >= 3
    assert [note for note in notes if not isinstance(recognised.recognised(note), Message)] == []
    note = "The quality checks are incomplete: no topic has a question; there are no check documents (checks = false)."
    assert formats_of("de").line(note) == (
        "Die Qualitätsprüfungen sind unvollständig: kein Thema hat eine Frage; es gibt keine Kontrolldokumente "
        "(checks = false)."
    )


# ---- nothing is put together or left unmarked


@pytest.mark.parametrize("path", sorted(Path(str(pages.__file__)).parent.glob("*.py")), ids=lambda path: path.name)
def test_an_error_of_an_owners_page_is_a_text_of_the_catalogues(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", "")
        if name == "ArgumentError":
            first = node.args[0]
            is_message = isinstance(first, ast.Call) and getattr(first.func, "id", "") in ("Message", "line_of")
            assert is_message or isinstance(first, ast.Name), (path.name, node.lineno)
        elif name in ("Problem", "Message", "N_"):
            assert not any(isinstance(part, ast.JoinedStr | ast.BinOp) for part in node.args), (path.name, node.lineno)
