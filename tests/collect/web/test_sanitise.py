"""HTML from strangers keeps its shape and loses everything that could act."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collect.web.gallery import PAYLOADS
from qrowd.collect.web.sanitise import TAGS, clean

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


@given(st.lists(PIECES, max_size=12).map("".join))
def test_an_item_always_stands_in_a_list_and_a_list_holds_items_only(html: str) -> None:
    opened = ["top"]
    for tag in TAG.findall(clean(html)):
        name = tag.strip("</>").split()[0]
        if tag.startswith("</"):
            opened.pop()
        else:
            assert (name == "li") == (opened[-1] in ("ul", "ol"))
            if name not in ("br", "hr"):
                opened.append(name)


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
