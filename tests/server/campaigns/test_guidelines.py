"""Guidelines in Markdown are harmless, whoever wrote them."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd_server.campaigns.plan.guidelines import ATTRIBUTES, TAGS, picture_names, rendered
from server.web.gallery import PAYLOADS


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


def test_markdown_becomes_headings_lists_tables_links_and_own_pictures():
    markdown = "# A\n\n## B\n\n1. x\n\n|a|b|\n|-|-|\n|1|2|\n\n![words](a%20b.png) [out](https://x.example/) `c`"
    html = rendered(markdown, (("a b.png", "/image/t"),))
    assert picture_names(markdown) == ("a b.png",)
    assert "<h2>A</h2>" in html
    assert "<h3>B</h3>" in html
    assert '<img src="/image/t" alt="words">' in html
    assert '<a href="https://x.example/" target="_blank" rel="noopener noreferrer">out</a>' in html
    assert re.search(r'<div class="wide" tabindex="0" role="group" aria-label="Table"><table>', html)


def harmless(html, addresses):
    for tag, attributes in Tags(html).tags:
        assert tag in TAGS
        assert set(attributes) <= ATTRIBUTES.get(tag, set()) | {"rel"}
        assert attributes.get("src", "") in addresses
        assert attributes.get("href", "https://").startswith(("https://", "http://", "mailto:"))


MARKDOWN = (
    "![x](https://evil.invalid/p.png)", "[x](javascript:alert(1))", "[x](data:text/html,x)", "[x](/owner)",
    "<https://e.invalid>", "![a][b]\n\n[b]: //e",
)  # fmt: skip


@pytest.mark.parametrize("payload", [*PAYLOADS, *MARKDOWN])
def test_no_payload_in_guidelines_acts_or_loads(payload):
    html = rendered(f"{payload}\n\n> {payload}\n\n![{payload}](ok.png)", (("ok.png", "/image/t"),))
    harmless(html, {"", "/image/t"})


@given(st.text(alphabet="<>![]()#*_`|-\n &\"'=:/ax.png", max_size=80))
def test_no_text_in_guidelines_acts_or_loads(text):
    harmless(rendered(text, ()), {""})
