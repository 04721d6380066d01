"""The page on notebooks, run in a real Jupyter kernel, and what a reader of the notebook sees of it in a browser."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browsers import axe_faults

PAGE = Path(__file__).parent.parent / "docs" / "notebook.md"
THEMES = ("light", "dark")


def notebook_of(page: str):
    """The page as a notebook: its text and, in code cells, its blocks of Python."""
    import nbformat

    cells = []
    for i, part in enumerate(page.split("```")):
        if i % 2 and part.startswith("python\n"):
            cells.append(nbformat.v4.new_code_cell(part.removeprefix("python\n").strip()))
        elif not i % 2 and part.strip():
            cells.append(nbformat.v4.new_markdown_cell(part.strip()))
    return nbformat.v4.new_notebook(cells=cells)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    import nbclient

    book = notebook_of(PAGE.read_text("utf-8"))
    folder = str(tmp_path_factory.mktemp("notebook"))
    client = nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}})
    client.execute()
    return book


@pytest.fixture(scope="module")
def pages(notebook, tmp_path_factory):
    """The notebook as a page, by theme."""
    from nbconvert import HTMLExporter

    folder = tmp_path_factory.mktemp("pages")

    def write(theme):
        exporter = HTMLExporter(theme=theme)
        exporter.mathjax_url = exporter.require_js_url = exporter.jquery_url = ""  # no network
        body, _ = exporter.from_notebook_node(notebook)
        written = folder / f"{theme}.html"
        written.write_text(body, "utf-8")
        return written

    return write


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


class Headings(HTMLParser):
    """Names of the tags with which HTML begins, and the headers of cells."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)


def test_a_result_at_the_end_of_a_cell_is_shown_as_html_with_text_of_one_line_beside_it(notebook):
    results = [
        output
        for cell in code_cells(notebook)
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]  # fmt: skip
    assert len(results) == len(code_cells(notebook)) - 1  # all cells but that of the progress bar
    for output in results:
        tags = Headings(output.data["text/html"]).tags
        assert "table" in tags or "figure" in tags
        assert "script" not in tags
        assert "\n" not in output.data["text/plain"]


def test_nothing_is_printed_and_a_progress_bar_is_replaced_in_its_place(notebook):
    *others, last = code_cells(notebook)
    assert all(output.output_type == "execute_result" for cell in others for output in cell.outputs)
    (bar,) = last.outputs
    assert bar.output_type == "display_data"
    assert "25/25" in bar.data["text/plain"]


def brightness(colour: str) -> int:
    """From 0, black, to 765, white, as a page without a colour of its own."""
    red, green, blue, *alpha = map(float, re.findall(r"[\d.]+", colour))
    return 765 if alpha == [0.0] else int(red + green + blue)


@pytest.mark.nightly
@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_in_the_results_and_their_text_follows_the_theme(browser: Browser, pages, theme):
    context = browser.new_context(viewport={"width": 1000, "height": 900}, color_scheme=theme)
    tab = context.new_page()
    tab.goto(pages(theme).as_uri())
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert tab.locator(".qrowd-result").count() == 5
    assert axe_faults(tab, {}, within=".qrowd-result") == []
    text, paper = (
        tab.evaluate(f"getComputedStyle(document.querySelector('{where}')).{what}")
        for where, what in ((".qrowd-result td", "color"), ("body", "backgroundColor"))
    )
    bright_text, bright_paper = brightness(text), brightness(paper)
    assert (bright_text > bright_paper) == (theme == "dark")
    assert abs(bright_text - bright_paper) > 400
    context.close()
