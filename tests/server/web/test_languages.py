"""Languages of the pages: which one is shown, and that its catalogue leaves nothing out."""

import ast
import html
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as Entry
from hypothesis import given
from hypothesis import strategies as st

from qrowd_server.protocols.events import Refusal
from qrowd_server.protocols.instructions import PRACTICE, as_written, magnitude_instructions
from qrowd_server.protocols.magnitude_protocol import parse_magnitude
from qrowd_server.protocols.settings import ASK_DOCUMENT, ASK_PAIR, LABELS, JourneySettings, MagnitudeSettings
from qrowd_server.protocols.views import ConsentView
from qrowd_server.translatable import Message
from qrowd_server.web import page_texts as texts
from qrowd_server.web.languages import ENGLISH, accepted, choose, language, matching, tags
from qrowd_server.web.rendering import render_page
from server.web.gallery import GALLERY, PROBLEMS, drawn, page
from server.web.pseudo import extracted, translate, with_arabic

WEB = Path(texts.__file__).parent
CATALOGUES = [tag for tag in tags() if tag != ENGLISH]
PLACEHOLDER = re.compile(r"%\((\w+)\)s")
TAG = re.compile(r"<[^>]*>")
PLAIN = re.compile(r"[A-Za-z]{2}")
ATTRIBUTE = re.compile(r'[\w-]+="[^"]*"')  # in a macro, which stands within a tag
SHOWN_AS_TYPED = {"qrowd"}  # the same in every language


# ---- which language


def test_there_are_german_and_japanese() -> None:
    assert tags() == ("en", "de", "ja")


def test_the_persons_choice_comes_before_the_campaigns_and_that_before_the_browsers() -> None:
    assert choose("ja", "de", "en") == "ja"
    assert choose("", "de", "ja, en;q=0.9") == "de"
    assert choose("", "", "fr, ja;q=0.9, de;q=0.8") == "ja"
    assert choose("", "", "fr") == "en"
    assert choose("xx", "yy", "") == "en"


@pytest.mark.parametrize(
    ("wanted", "tag"),
    [("de", "de"), ("de-AT", "de"), ("DE-at", "de"), ("ja-JP", "ja"), ("en-GB", "en"), ("nds", ""), ("zz", ""),
     ("", ""), ("../de", ""), ("d" * 5000, "")],
)  # fmt: skip
def test_a_region_gets_the_language_and_what_there_is_not_gets_none(wanted: str, tag: str) -> None:
    assert matching(wanted) == tag


def test_a_header_is_read_by_its_weights() -> None:
    assert accepted("de;q=0.5, ja, en;q=0, *;q=0.1, fr ; q = 0.700") == ["ja", "fr", "de"]
    assert accepted("de;q=2, ja;q=x, en-, ,;;") == []


@given(st.text(max_size=200), st.text(max_size=50), st.text(max_size=50))
def test_whatever_a_browser_sends_there_is_a_language(header: str, chosen: str, campaign: str) -> None:
    assert choose(chosen, campaign, header) in tags()


@pytest.mark.parametrize(("header", "begin"), [("de-CH, en;q=0.5", "Beginnen"), ("ja", "始める"), ("fr", "Begin")])
def test_pages_before_the_task_are_in_the_browsers_language(header: str, begin: str) -> None:
    tag = choose("", "", header)
    welcome = drawn(tag=tag)["welcome"]
    assert begin in welcome
    assert f'<html lang="{tag}" dir="ltr">' in welcome


# ---- what is said


def test_a_message_is_its_english_text_and_remembers_its_parts() -> None:
    message = Message("Use at most %(longest)s characters; these are %(n)s.", longest=2000, n=2001)
    assert message == "Use at most 2,000 characters; these are 2,001."
    assert language("de").text(message) == "Verwenden Sie höchstens 2.000 Zeichen; dies sind 2.001."


@given(st.text())
def test_a_text_without_values_may_hold_anything(text: str) -> None:
    assert Message(text) == text
    assert language("de").text(Message(text)) == text or text in translated("de")


def test_a_refusal_of_a_number_is_said_in_the_language_of_the_page() -> None:
    with pytest.raises(Refusal) as refused:
        parse_magnitude("1,000")
    assert refused.value.message.startswith("1,000 can be read in two ways.")
    assert language("de").text(refused.value.message) == (
        "1,000 lässt sich auf zwei Arten lesen. Schreiben Sie 1000 für eine große oder 1.000 für eine kleine Zahl."
    )


def test_built_in_instructions_are_translated_after_they_were_stored_and_own_ones_are_not() -> None:
    settings, journey = MagnitudeSettings(), JourneySettings()
    stored = str.__str__(magnitude_instructions(settings, journey, question=True, checks=True))
    german = language("de").text(as_written(stored, settings, journey))
    assert german.startswith("Sie lesen ein Thema")
    assert german.count("\n- ") == stored.count("\n- ")
    assert "Wie relevant ist dieses Dokument für das Thema?" in german
    assert language("ja").text(as_written(str(PRACTICE), settings, journey)).startswith("このタスクでは")
    assert as_written("Read.", settings, journey) == "Read."
    assert language("de").text(as_written("Read.", settings, journey)) == "Read."


def test_words_of_the_campaign_are_not_translated_and_built_in_ones_are() -> None:
    own = page(ConsentView(), consent="Begin", instructions="Continue")
    body = render_page(own, csrf="t", base="/c/x", tag="de").partition("<main")[2]
    assert "Begin</p>" in body
    assert "Continue</p>" in body
    assert {ASK_DOCUMENT, ASK_PAIR} == texts.ASKS
    assert set(LABELS.values()) == texts.LABEL_SETS


def test_numbers_and_times_are_those_of_the_language() -> None:
    noon = datetime(2026, 3, 4, 15, 5, tzinfo=UTC)
    assert [language(tag).number(12345.5) for tag in tags()] == ["12,345.5", "12.345,5", "12,345.5"]
    assert [language(tag).clock(noon) for tag in tags()] == ["15:05"] * 3


def test_plural_forms_follow_the_language() -> None:
    one, other = "At most %(n)s more pair", "At most %(n)s more pairs"
    assert [str(language("de").ngettext(one, other, n, n=n)) for n in (1, 2)] == [
        "Höchstens noch 1 Paar",
        "Höchstens noch 2 Paare",
    ]
    assert str(language("ja").ngettext(one, other, 1, n=1)) == "残り最大1組"


def test_values_in_a_text_are_escaped() -> None:
    said = language("de").gettext("Hello %(name)s.", name="<b>")
    assert said == "Guten Tag, &lt;b&gt;."


# ---- catalogues


def catalogue(tag: str) -> Catalog:
    read: Catalog = translate().read(WEB / "locale" / f"{tag}.po")
    return read


def translated(tag: str) -> set[str]:
    return {str(entry.id) for entry in catalogue(tag)}


def known(entries: Catalog) -> set[tuple[object, str | None]]:
    """(text, context) of each text."""
    return {(entry.id, entry.context) for entry in entries if entry.id}


def strings(entry: Entry) -> list[str]:
    return list(entry.string) if isinstance(entry.string, list | tuple) else [str(entry.string)]


@pytest.mark.parametrize("tag", CATALOGUES)
def test_a_catalogue_has_a_translation_of_every_text_and_no_other_text(tag: str) -> None:
    """Where this fails: `python docs/translate.py`, and translate what it lists."""
    there = catalogue(tag)
    assert known(there) == known(extracted())
    assert translate().missing(there) == []
    assert not any(entry.fuzzy for entry in there if entry.id)


@pytest.mark.parametrize("tag", CATALOGUES)
def test_placeholders_and_tags_of_a_translation_are_those_of_the_text(tag: str) -> None:
    there = catalogue(tag)
    for entry in (entry for entry in there if entry.id):
        sources = list(entry.id) if isinstance(entry.id, tuple) else [str(entry.id)]
        wanted = set(PLACEHOLDER.findall(sources[-1]))
        for said in strings(entry):
            placeholders = set(PLACEHOLDER.findall(said))
            assert placeholders == wanted or (len(sources) > 1 and placeholders == set(PLACEHOLDER.findall(sources[0])))
            assert sorted(TAG.findall(said)) == sorted(TAG.findall(sources[-1])), said
            outside = TAG.sub("", PLACEHOLDER.sub("", said))
            assert not re.search(r'[<>"&]', outside) or '"' in sources[-1], said
            assert outside.count("%") == TAG.sub("", PLACEHOLDER.sub("", sources[-1])).count("%")
            assert said == said.strip()


@pytest.mark.parametrize("tag", CATALOGUES)
def test_every_text_can_be_said_with_its_values(tag: str) -> None:
    words = language(tag)
    for entry in (entry for entry in catalogue(tag) if entry.id):
        sources = list(entry.id) if isinstance(entry.id, tuple) else [str(entry.id)]
        values = dict.fromkeys(PLACEHOLDER.findall(" ".join(sources)), 3)
        for n in (0, 1, 2, 5, 11, 100) if len(sources) > 1 else ():
            words.ngettext(*sources, n, **values)
        if len(sources) == 1:
            assert "%(" not in words.gettext(sources[0], **values)


# ---- nothing is left out


def texts_of(page_html: str) -> set[str]:
    """What a page says to people: text between tags, and attributes that are read or shown."""
    body = re.sub(r"<(script|style|svg)\b.*?</\1>", "", page_html, flags=re.S)
    named = re.findall(r'\b(?:aria-label|title|placeholder|alt|data-announce|data-title)="([^"]*)"', body)
    parts = [html.unescape(part).strip() for part in (*TAG.split(body), *named)]
    return {part for part in parts if PLAIN.search(part)}


def words_of_the_gallery() -> str:
    """All that campaigns of the gallery say in their own words, and what is English in every language."""
    return repr(GALLERY) + repr(PROBLEMS) + "Saved. UTC"


def test_no_page_in_arabic_letters_says_anything_of_ours_in_latin_ones(tmp_path: Path) -> None:
    """Every text of the program is in Arabic letters there, so what is in Latin ones was not marked for translation."""
    with with_arabic(tmp_path):
        english, arabic = drawn(), drawn(tag="ar")
    said = {name: texts_of(arabic[name]) & texts_of(one) for name, one in english.items()}
    own = re.sub(r"\s+", " ", words_of_the_gallery())
    known = SHOWN_AS_TYPED | {"English", "Deutsch", "HIT"}
    left = {
        name: [text for text in sorted(found) if text not in known and not _of_the_campaign(text, own)]
        for name, found in said.items()
    }
    assert {name: found for name, found in left.items() if found} == {}


def _of_the_campaign(text: str, own: str) -> bool:
    words = re.findall(r"[A-Za-z]{2,}", text)
    return all(word in own for word in words)


def test_pages_in_arabic_run_from_right_to_left(tmp_path: Path) -> None:
    with with_arabic(tmp_path):
        pages = drawn(tag="ar")
    assert all('<html lang="ar" dir="rtl">' in one for one in pages.values())


def test_the_script_says_nothing_of_its_own() -> None:
    """Its texts come with the page: it puts no sentence of its own there, and has a use for each text."""
    script = re.sub(r"(^|[\s;{}])//.*", r"\1", (WEB / "static" / "judge.js").read_text())
    literals = ["".join(parts) for parts in re.findall(r'"([^"\n]*)"|`([^`\n]*)`', script)]
    assert [one for one in literals if re.match(r"[A-Z][a-z]+( [a-z]+|…| ✓|$)", one)] == [
        *("Escape", "Enter"),  # names of keys
    ]
    assert [name for name in texts.SCRIPT if f'"{name}"' not in script] == []


@pytest.mark.parametrize("path", sorted((WEB.parent / "protocols").glob("*.py")), ids=lambda path: path.name)
def test_a_refusal_of_a_protocol_is_a_text_of_the_catalogues(path: Path) -> None:
    """No f-string, and no text that is put together: those could not be translated."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Refusal", "Problem", "N_"):
            assert not any(isinstance(part, ast.JoinedStr | ast.BinOp) for part in node.args), (path.name, node.lineno)


def test_templates_hold_no_text_outside_of_the_catalogues() -> None:
    """Between tags and in attributes there are only expressions, marks and names of keys."""
    for path in sorted((WEB / "templates").glob("*.html")):
        source = re.sub(r"\{%-? *trans.*?endtrans *-?%\}", "", path.read_text(), flags=re.S)
        source = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", "", source, flags=re.S)
        source = re.sub(r"<code\b.*?</code>", "", source)  # names of files and commands
        kept = {"qrowd", "· qrowd", "·  · qrowd", "UTC", "UTC ·", "campaign.toml"}
        shown = [part.strip() for part in TAG.split(source)]
        named = re.findall(r'\b(?:aria-label|title|placeholder|alt)="([^"]*)"', source)
        texts_there = (ATTRIBUTE.sub("", part).strip() for part in (*shown, *named))
        assert [part for part in texts_there if PLAIN.search(part) and part not in kept] == [], path.name
