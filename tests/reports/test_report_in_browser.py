"""The report in a browser: the first screen answers, tables sort, nothing is out of reach in light, dark or print."""

import re
from base64 import b64decode
from dataclasses import replace

import pytest
from playwright.sync_api import Browser

from browsers import axe_faults
from qrowd.preferences import from_grades
from qrowd.reports.report_document import report as report_of
from qrowd.reports.report_page import Provenance, report_page
from qrowd.simulation import simulate_demo


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    runs, judgments, _ = simulate_demo()
    report = report_of(
        runs, judgments, n_resamples=500, random_assessors=5, rng=1,
        provenance=Provenance("qrowd report --runs runs --judgments judges", (), "2026-01-01"),
    )  # fmt: skip
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(report_page(report), "utf-8")
    return file.as_uri()


@pytest.fixture
def tab(browser: Browser, address: str):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(address)
    yield page
    context.close()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("width", [1280, pytest.param(360, marks=pytest.mark.nightly)])
def test_axe_finds_nothing_light_or_dark(tab, width, scheme):
    tab.set_viewport_size({"width": width, "height": 800})
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    tab.emulate_media(color_scheme=scheme)
    assert axe_faults(tab, {}) == []


@pytest.mark.nightly
def test_axe_finds_nothing_in_a_report_on_preferences(browser, tmp_path):
    runs, judgments, _ = simulate_demo()
    preferences = from_grades(judgments.select(assessors=["ann", "bob"], topics=list(judgments.topics[:4])))
    report = report_of(runs, preferences, ["ppref@10", "wpref"], reference=None, n_resamples=200, rng=1)
    (tmp_path / "report.html").write_text(report_page(report), "utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto((tmp_path / "report.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert axe_faults(page, {}) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()


@pytest.mark.nightly
def test_the_first_screen_answers_without_scrolling(tab):
    for wanted in ("h1", ".lede", ".facts", ".leaders svg"):
        box = tab.locator(wanted).bounding_box()
        assert box, wanted
        assert box["x"] >= 0, wanted
        assert box["y"] >= 0, wanted
        assert box["x"] + box["width"] <= 1280, wanted
        assert box["y"] + box["height"] <= 800, wanted
    assert "rerank-large leads" in tab.locator("h1").inner_text()
    assert "[−0." in tab.locator(".lede").inner_text()  # the interval
    assert tab.locator(".leaders svg .mark").count() == 12


@pytest.mark.nightly
def test_a_screenshot_is_as_large_as_the_window_and_the_page_as_long_as_its_parts(tab):
    width, height = (int.from_bytes(tab.screenshot()[at : at + 4]) for at in (16, 20))  # of the PNG header
    assert (width, height) == (1280, 800)
    whole = tab.screenshot(full_page=True)
    assert int.from_bytes(whole[16:20]) == 1280
    assert 3000 < int.from_bytes(whole[20:24]) < 12000


@pytest.mark.nightly
def test_no_label_is_cut_off(tab):
    cut = tab.evaluate(
        "[...document.querySelectorAll('svg')].flatMap(svg => { const w = svg.getBoundingClientRect();"
        " return [...svg.querySelectorAll('text')].filter(t => { const r = t.getBoundingClientRect();"
        " return r.left < w.left - 1 || r.right > w.right + 1 || r.bottom > w.bottom + 1; })"
        ".map(t => t.textContent); })"
    )
    assert cut == []


@pytest.mark.nightly
def test_a_table_sorts_by_number_and_back_and_what_is_unknown_stays_last(tab):
    column = "#systems tbody tr td:nth-child(4)"  # the difference, unknown to the one all are compared with
    head = tab.locator("#systems thead button", has_text="difference").first
    before = tab.locator(column).all_inner_texts()
    assert before[0] == "-"
    head.click()
    gaps = [float(text.replace("−", "-")) for text in tab.locator(column).all_inner_texts()[:-1]]
    assert gaps == sorted(gaps, reverse=True)
    assert tab.locator(column).last.inner_text() == "-"
    assert tab.locator("#systems th[aria-sort]").get_attribute("aria-sort") == "descending"
    head.press("Enter")
    gaps = [float(text.replace("−", "-")) for text in tab.locator(column).all_inner_texts()[:-1]]
    assert gaps == sorted(gaps)
    assert tab.locator(column).last.inner_text() == "-"


def test_without_a_script_everything_is_there(browser: Browser, address: str):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator("#systems tbody tr").count() == 12
    assert page.locator("thead button").count() == 0
    assert not page.locator("#choose").is_visible()
    assert page.locator("#pairs tbody tr").first.is_visible()
    context.close()


@pytest.mark.nightly
def test_a_narrow_page_needs_no_scrolling_sideways(tab):
    tab.set_viewport_size({"width": 320, "height": 640})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 320
    assert tab.evaluate("document.querySelector('.leaders svg').getBoundingClientRect().right") <= 320


@pytest.mark.nightly
def test_the_page_has_one_minus_sign_and_what_programs_read_keeps_the_hyphen(tab):
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    text = tab.locator("main").inner_text()
    assert "−0." in text
    assert re.findall(r"(?<![\w.-])-[\d.]+", text) == []
    keys = tab.locator("#systems td[data-key]").evaluate_all("cells => cells.map(cell => Number(cell.dataset.key))")
    assert min(keys) < 0
    data = tab.locator("a[download='systems.csv']").get_attribute("href").partition("base64,")[2]
    assert ",-0." in b64decode(data).decode()


LONG = "bm25_castorini-monot5-3b-{}-base-10k"


@pytest.fixture(scope="module")
def long_address(tmp_path_factory):
    """A report with long names, and an assessor who stands out."""
    runs, judgments, _ = simulate_demo()
    names = tuple(LONG.format(f"msmarco{i:02d}") for i in range(len(runs.systems)))
    report = report_of(
        replace(runs, systems=names),
        replace(judgments, assessors=tuple(f"exam-graded-mean-{a}" for a in judgments.assessors)),
        n_resamples=200, random_assessors=5, rng=1, provenance=Provenance("qrowd report", (), "2026-01-01"),
    )  # fmt: skip
    file = tmp_path_factory.mktemp("long") / "report.html"
    file.write_text(report_page(report), "utf-8")
    return file.as_uri(), [row["assessor"] for row in report.tables["assessors"].records if row["outlying"]]


@pytest.mark.nightly
@pytest.mark.parametrize("width", [1440, 1200, 390])
def test_who_stands_out_is_in_view_and_the_reason_is_a_line_below_the_table(browser: Browser, long_address, width):
    address, outlying = long_address
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(address)
    assert outlying
    table = page.locator("#assessors .wide")
    box, head = table.bounding_box(), page.locator("#assessors thead th", has_text="stands").bounding_box()
    assert head["x"] + head["width"] <= box["x"] + box["width"]
    if width > 1000:
        assert table.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
    assert max(row.bounding_box()["height"] for row in table.locator("tbody tr").all()) < 80  # four lines at most
    reasons = page.locator("#assessors .notes li").all_inner_texts()[1:]
    assert [text.partition(" stands out: ")[0].lower() for text in reasons] == outlying
    page.close()


@pytest.mark.nightly
def test_on_paper_everything_is_unfolded_and_fits(tab):
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": 720, "height": 1000})
    assert tab.locator("details:not([open])").count() == 0
    assert not tab.locator("nav").is_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 720


@pytest.mark.nightly
def test_data_can_be_taken_along(tab):
    with tab.expect_download() as download:
        tab.locator("a[download='systems.csv']").click()
    assert download.value.suggested_filename == "systems.csv"
    assert download.value.path().read_text("utf-8").startswith("system,rank,mean,")


@pytest.mark.nightly
def test_the_page_asks_for_nothing(browser: Browser, address: str):
    context = browser.new_context()
    page = context.new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(address, wait_until="networkidle")
    context.close()
    assert asked == [address]
    assert said == []
