"""HTML from strangers keeps its shape and loses everything that could act."""

import re

import nh3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd_server.campaigns.plan.sanitise import EMPTY, MAX_DEPTH, TAGS, clean, rightly_nested, without_harm
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


# ---- nested rightly, before the cleaner builds a tree

INLINE = ["b", "i", "em", "code", "small", "span", "q"]
WORDS = st.sampled_from(["text", "a &amp; b", "x", " "])


def of_inline(depth: int) -> st.SearchStrategy[str]:
    """Inline markup, rightly nested; no element within another of its name."""
    if not depth:
        return WORDS
    inner = of_inline(depth - 1)
    return WORDS | st.builds(lambda name, text: f"<{name}>{text}</{name}>", st.sampled_from(INLINE[depth * 2 :]), inner)


PARAGRAPH = st.builds("<p>{}</p>".format, of_inline(2))
ITEMS = st.lists(st.builds("<li>{}</li>".format, of_inline(2)), min_size=1, max_size=3).map("".join)
CELLS = st.lists(st.builds("<td>{}</td>".format, of_inline(2)), min_size=1, max_size=3).map("".join)
FLOW = st.recursive(
    PARAGRAPH
    | st.builds("<ul>{}</ul>".format, ITEMS)
    | st.builds("<table><tbody><tr>{}</tr></tbody></table>".format, CELLS),
    lambda inner: st.builds("<div>{}</div>".format, st.lists(inner, max_size=3).map("".join)),
    max_leaves=6,
)


def by_nh3(html: str) -> str:
    return nh3.clean(html, tags=set(TAGS), attributes={"*": set()}, url_schemes=set(), link_rel=None)


@given(FLOW)
def test_html_that_is_rightly_nested_stays_as_it_is(html: str) -> None:
    assert rightly_nested(html) == html
    assert without_harm(html) == by_nh3(html)


@given(FLOW, st.sampled_from([' class="a > b"', " title='<p>'", ' data-x="1" hidden', " style=x"]))
def test_attributes_go_and_nothing_else(html: str, attributes: str) -> None:
    assert rightly_nested(re.sub(r"<([a-z0-9]+)>", rf"<\1{attributes}>", html)) == html


@given(st.lists(PIECES | st.sampled_from(["<b>", "</b>", "<i>", "</i>", "<!--", "-->", "<a ", "='", '="']),
                max_size=14).map("".join))  # fmt: skip
def test_what_is_stored_stays_the_same_when_it_comes_in_again(html: str) -> None:
    stored = without_harm(html)
    assert stored is not None
    assert without_harm(stored) == stored


@pytest.mark.parametrize(
    ("html", "nested"),
    [
        ("<p>one<p>two", "<p>one</p><p>two</p>"),
        ("<ul><li>one<li>two</ul>", "<ul><li>one</li><li>two</li></ul>"),
        ("<table><tr><td>1<td>2<tr><td>3</table>",
         "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>"),
        ("<b>one<i>two</b>three</i>", "<b>one<i>two</i></b><i>three</i>"),
        ("<p><b>one<p>two", "<p><b>one</b></p><p><b>two</b></p>"),
        ("<td><b>one</td><td>two", "<td><b>one</b></td><td>two</td>"),
        ("<ul><li>one<ul><li>two</ul>three</ul>", "<ul><li>one<ul><li>two</li></ul>three</li></ul>"),
        ("a < b, 3 > 2 </nothing> <font>x</font><br/>y", "a < b, 3 > 2  x<br>y"),
        ("x<script>if (a<b) '</p>'</script>y<style>p{}", "xy"),
        ("x<!-- <p> -->y<!-- never closed", "xy"),
    ],
)  # fmt: skip
def test_tags_that_were_left_out_are_put_in_as_browsers_do(html: str, nested: str) -> None:
    assert rightly_nested(html) == nested


def depth(html: str) -> int:
    now = deepest = 0
    for tag in TAG.findall(html):
        if tag.strip("</>").split()[0] not in EMPTY:
            now += -1 if tag.startswith("</") else 1
        deepest = max(deepest, now)
    return deepest


@pytest.mark.parametrize("piece", ["<div>", "<b><div>", "<ul><li>", "<table><tr><td>", "<svg>", "<object>"])
def test_what_is_nested_too_deep_becomes_plain_text(piece: str) -> None:
    deep = f"{piece * 5000}the <i>text</i>"
    assert without_harm(deep) is None
    assert clean(deep) == '<p dir="auto">the text</p>'


@pytest.mark.parametrize("piece", ["<p>", "<li>", "<b><p>", "<td><b>", "<div><object></div>", "<b><div></b></div>"])
def test_what_closes_by_itself_is_not_nested(piece: str) -> None:
    stored = without_harm(f"{piece * 5000}x")
    assert stored is not None
    assert depth(stored) <= MAX_DEPTH


def test_text_that_missing_tags_would_make_much_longer_becomes_plain_text() -> None:
    formatted = "".join(f"<{name}>" for name in ("b", "i", "u", "s", "em", "strong", "small", "code"))
    assert rightly_nested(f"<p>{formatted}x" + "<p>x" * 5_000) is None
