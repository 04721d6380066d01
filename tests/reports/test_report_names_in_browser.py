"""The report with names of 60 characters, in a browser: nothing is cut, at 1280 and 390 pixels and in print."""

from base64 import b64decode
from dataclasses import replace

import pytest
from playwright.sync_api import Browser

from browsers import axe_faults
from qrowd.reports.report import report as report_of
from qrowd.reports.report_page import report_page
from qrowd.simulation import simulate_demo

WORDS = (
    *("webis", "dense", "ColBERT", "rankgpt4o", "cross", "splade"),
    *("doc2query", "unicoil", "monot5", "duot5", "tuned", "fusion"),
)
NAMES = {
    "shared": [f"h2oloo_msmarco-passage-trec-2021-{word}-rerank-top1000-judged" for word in WORDS],
    "different": ["_".join(WORDS[i:] + WORDS[:i])[:57] + f"_{i:02d}" for i in range(len(WORDS))],
}
# Text or marks beyond the edges of the page, and text beyond the edges of its chart.
CLIPPED = """() => { const width = document.documentElement.clientWidth, cut = [];
    for (const one of document.querySelectorAll('h1, h2, h3, p, dt, dd, figcaption, summary, li')) {
        const box = one.getBoundingClientRect();
        if (box.width && (box.right > width + 1 || one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0))
            cut.push(one.outerHTML.slice(0, 90)); }
    for (const svg of document.querySelectorAll('svg')) { const box = svg.getBoundingClientRect();
        if (box.width) for (const text of svg.querySelectorAll('text')) { const own = text.getBoundingClientRect();
            if (own.left < box.left - 1 || own.right > box.right + 1) cut.push(text.outerHTML); } }
    return cut; }"""


@pytest.fixture(scope="module", params=list(NAMES))
def written(request, tmp_path_factory):
    """A report with everything that a page can show, about systems with these names."""
    runs, judgments, _ = simulate_demo()
    names = tuple(NAMES[request.param])
    assert len(names) == len(runs.systems)
    report = report_of(
        replace(runs, systems=names),
        judgments.select(assessors=["ann", "bob", "sven", "lena"]),
        ["nDCG@10", "AP", "P@5"],
        reference="bob",
        related={"sven": list(names[:3])},
        topics={topic: f"what somebody asked about {topic}" for topic in runs.topics},
        documents={document: f"{document} says this. " + "More words follow. " * 30 for document in runs.documents},
        n_resamples=200, random_assessors=2, rng=1,
    )  # fmt: skip
    file = tmp_path_factory.mktemp(request.param) / "report.html"
    file.write_text(report_page(report), "utf-8")
    return file.as_uri(), report


@pytest.fixture
def tab(browser: Browser, written):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(written[0])
    yield page
    page.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_cut_and_the_page_does_not_scroll_sideways(tab, width):
    tab.set_viewport_size({"width": width, "height": 844})
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate(CLIPPED) == []
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        assert axe_faults(tab, {}) == []


def test_nothing_is_cut_on_paper(tab):
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": 680, "height": 1000})  # of A4 within its margins
    assert tab.locator("details:not([open])").count() == 0
    assert tab.evaluate("document.documentElement.scrollWidth") <= 680
    assert tab.evaluate(CLIPPED) == []
    cut = tab.evaluate(
        "[...document.querySelectorAll('th, td')].filter(cell => cell.getBoundingClientRect().right > 681)"
        ".map(cell => cell.outerHTML.slice(0, 90))"
    )
    assert cut == []


def test_the_headline_has_four_lines_at_most_and_the_first_screen_has_it_all(tab):
    lines = tab.evaluate(
        "() => { const one = document.querySelector('h1'); const range = document.createRange();"
        " range.selectNodeContents(one);"
        " return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size; }"
    )
    assert 1 <= lines <= 4
    for wanted in ("h1", ".lede", ".rests >> nth=0", ".leaders svg"):
        box = tab.locator(wanted).bounding_box()
        assert box["y"] + box["height"] <= 800, wanted


def test_labels_on_the_page_lead_to_full_names_and_files_have_these(tab, written):
    _, report = written
    full = [row.system for row in report.systems]
    heads = tab.locator("#systems tbody th[title]")
    labels, titles = heads.all_inner_texts(), heads.evaluate_all("cells => cells.map(cell => cell.title)")
    assert titles[: len(full)] == full
    assert len(set(labels[: len(full)])) == len(full)
    assert all(len(label) <= 30 for label in labels)
    rows = tab.locator("#names ~ details tr").all_text_contents()
    assert all(any(name in row for row in rows) for name in full)
    data = tab.locator("a[download='systems.csv']").get_attribute("href").partition("base64,")[2]
    assert all(name in b64decode(data).decode() for name in full)
    headline = tab.locator("h1").inner_text()
    assert labels[0] in headline
    assert full[0] not in headline
