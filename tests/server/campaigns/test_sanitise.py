"""HTML from strangers keeps its shape and loses everything that could act."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd_server.campaigns.plan.sanitise import MAX_CHARACTERS, TAGS, clean, depth_of, without_harm
from server.web.gallery import PAYLOADS

TAG = re.compile(r"<[^>]*>")
OURS = {'<div class="wide" tabindex="0" role="group" aria-label="Table">'}


def harmless(html: str) -> bool:
    """Whether every `<` opens or closes a tag of the list, bare."""
    bare = all(tag.strip("</>") in TAGS and tag in (f"<{tag.strip('</>')}>", f"</{tag.strip('</>')}>")
               for tag in set(TAG.findall(html)) - OURS)  # fmt: skip
    return bare and "<" not in TAG.sub("", html)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_payload_keeps_an_attribute_or_an_unlisted_tag(payload: str) -> None:
    assert harmless(clean(payload))


PIECES = st.sampled_from(
    [*PAYLOADS, "<ul>", "</ul>", "<li>", "</li>", "<table>", "<tr>", "<td>", "</table>", "<p>", "</p>", "<h1>", "</h1>",
     "text", "&amp;", "<", ">", "<br>", "<ol>", "</ol>", "<div>", "</div>"]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join))
def test_whatever_comes_in_what_goes_out_is_harmless_and_closed(html: str) -> None:
    cleaned = clean(html)
    assert harmless(cleaned)
    opened = []
    for tag in TAG.findall(cleaned):
        name = tag.strip("</>").split()[0]
        if tag.startswith("</"):
            assert opened.pop() == name
        elif name not in ("br", "hr"):
            opened.append(name)
    assert opened == []


def test_formatting_stays_and_headings_stand_below_the_documents_own() -> None:
    assert clean("<h1 id=a>Top</h1><p class=b>One <b>two</b> &amp; <a href=x>three</a></p>") == (
        "<h3>Top</h3><p>One <b>two</b> &amp; three</p>"
    )


def test_no_tag_keeps_even_a_title_or_a_language() -> None:
    assert clean("<p title=a lang=en class=b>One</p>") == "<p>One</p>"


def test_what_was_never_text_is_not_shown_as_text() -> None:
    assert clean("<head><title>t</title></head><style>p{}</style><script>x()</script><p>y</p>") == "<p>y</p>"


def test_a_table_can_be_scrolled_by_keyboard() -> None:
    assert clean("<table><tr><td>1</table>").startswith('<div class="wide" tabindex="0"')


def test_an_item_outside_a_list_is_shown_as_a_paragraph():
    assert clean("<li>alone</li><ol><li>in a list</li></ol>") == "<p>alone</p><ol><li>in a list</li></ol>"


# ---- limits of depth and length


@given(st.lists(PIECES | st.sampled_from(["<b>", "</b>", "<i>", "</i>", "<!--", "-->", "<a ", "='", '="']),
                max_size=14).map("".join))  # fmt: skip
def test_what_is_stored_is_shown_as_it_is(html: str) -> None:
    stored = without_harm(html)
    assert stored is not None
    assert clean(stored) == clean(html)


@pytest.mark.parametrize(
    ("html", "harmless"),
    [
        ("<p>one<p>two", "<p>one</p><p>two</p>"),
        ("<ul><li>one<li>two</ul>", "<ul><li>one</li><li>two</li></ul>"),
        ("<b>one<i>two</b>three</i>", "<b>one<i>two</i></b><i>three</i>"),
        ("<p title='a > b' class=x>one", "<p>one</p>"),
        ("a < b, 3 > 2 </nothing> <font>x</font><br/>y", "a &lt; b, 3 &gt; 2  x<br>y"),
        ("x<script>if (a<b) '</p>'</script>y<style>p{}", "xy"),
        ("x<!-- <p> -->y<!-- never closed", "xy"),
    ],
)
def test_tags_that_were_left_out_are_put_in_as_browsers_do(html: str, harmless: str) -> None:
    assert without_harm(html) == harmless


@pytest.mark.parametrize(
    "piece", ["<div>", "<b><div>", "<ul><li>", "<table><tr><td>", "<svg>", "<object>", "<b a=1><p>"]
)
def test_what_is_nested_too_deep_becomes_plain_text(piece: str) -> None:
    deep = f"{piece * 5000}the <i>text</i>"
    assert without_harm(deep) is None
    assert clean(deep) == '<p dir="auto">the text</p>'


@pytest.mark.parametrize("piece", ["<p>", "<li>", "<td>", "<br>", "<b>x</b>", "<div></div>", "<p><i>x</i>"])
def test_what_closes_by_itself_is_not_nested(piece: str) -> None:
    assert depth_of(piece * 5000) <= 1
    assert without_harm(f"{piece * 5000}x") is not None


def test_text_that_missing_tags_would_make_too_long_becomes_plain_text() -> None:
    formatted = "".join(f"<{name}>" for name in ("b", "i", "u", "s", "em", "strong", "small", "code"))
    assert without_harm(f"<p>{formatted}x" + "<p>x" * 20_000) is None
    assert without_harm("x" * (MAX_CHARACTERS + 1)) is None
