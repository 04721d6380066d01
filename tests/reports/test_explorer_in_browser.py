"""The explorer in a browser: its numbers are those of qrowd, and everybody can use it, with the keyboard alone too."""

import re
from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import qrowd
from browsers import axe_faults
from conftest import data
from qrowd.comparison.differences import difference
from qrowd.comparison.system_ranking import rank_systems
from qrowd.errors import NoOverlapError
from qrowd.reports.explorer import explore
from qrowd.reports.explorer_page import explorer_page
from qrowd.simulation import simulate_demo

MEASURES = ["nDCG@10", "AP", "P@10"]
HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
PASSAGE = "A passage that is long enough to be read. " * 9


def declared(judgments):
    """The judgments with their scales declared, so that a choice of assessors or topics changes none."""
    return judgments.with_scales(dict(zip(judgments.assessors, judgments.scales, strict=True)))


def demo():
    runs, judgments, _ = simulate_demo()
    return runs, declared(judgments)


def deep_learning():
    folder = data("dl21")
    files = [folder / "qrels.nist.txt", *sorted((folder / "judges").glob("*.gz"))[:17]]
    return qrowd.read_runs([str(folder / "runs")]), declared(qrowd.read_judgments([str(file) for file in files]))


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page of the demo, with thresholds, methods of each kind, and texts."""
    runs, judgments = demo()
    documents = {d for of_system in runs.to_dict().values() for ranking in of_system.values() for d in ranking}
    page = explore(
        runs, judgments, MEASURES, rel=[1, 2], methods=["majority", "uniform"], command="qrowd explore",
        topics={topic: {"title": f"what is {topic}"} for topic in judgments.topics},
        documents={d: {"text": f"{d}: {PASSAGE}"} for d in documents},
    )  # fmt: skip
    file = tmp_path_factory.mktemp("explorer") / "explore.html"
    page.write(file)
    return file.as_uri()


def opened(browser: Browser, address: str, width: int = 1280, height: int = 800) -> Page:
    tab = browser.new_page(viewport={"width": width, "height": height})
    tab.goto(address)
    tab.evaluate("window.qrowd.ready")
    return tab


@pytest.fixture(scope="module")
def shared_tab(browser: Browser, address: str):
    page = opened(browser, address)
    yield page
    page.close()


@pytest.fixture
def tab(shared_tab: Page):
    """The page of the demo as it is when it is opened."""
    shared_tab.set_viewport_size({"width": 1280, "height": 800})
    shared_tab.emulate_media(media="screen", color_scheme="light")
    shared_tab.evaluate("location.hash = ''")
    names = shared_tab.evaluate("[window.qrowd.all.assessors, window.qrowd.all.topics]")
    start = {"family": "nDCG@10", "rel": None, "method": "mean", "compared": None, "first": None, "second": None}
    shared_tab.evaluate(
        "part => window.qrowd.set(part)", {**start, "topic": None, "assessors": names[0], "topics": names[1]}
    )
    return shared_tab


# ---------------------------------------------------------------------- numbers


def some(names, rng):
    """At least one of the names, in their order."""
    chosen = rng.random(len(names)) < rng.choice([0.1, 0.5, 0.9])
    chosen[rng.integers(len(names))] = True
    return [name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen]


def close(value, expected):
    return (value is None or isnan(value)) if isnan(expected) else abs(value - expected) <= 1e-9


def panel(runs, judgments, name, method, assessors, topics):
    """Scores of one measure by the assessors, or by the method as one assessor."""
    if method == "mean":
        return qrowd.evaluate(runs, judgments.select(assessors=assessors, topics=topics), name)
    by = judgments if method == "majority" else judgments.select(assessors=assessors)
    scores = qrowd.evaluate_methods(runs, by, name, methods=[method], rng=3)
    return scores.sel(topic=[topic for topic in scores.topics if topic in topics])


def check_means(shown, scores, own):
    """Means and ranks by the panel, and those of its assessors, are those of the scores."""
    by_name = {row["system"]: row for row in shown["systems"]}
    panel_ranking, own_ranking = rank_systems(scores), rank_systems(own)
    assert shown["n_topics"] == np.isfinite(scores.values).any(axis=(0, 1, 3)).sum()
    for s, system in enumerate(scores.systems):
        row, ranks = by_name[system], own_ranking.rank_by_assessor[:, s]
        assert close(row["mean"], panel_ranking.mean[s])
        assert row["rank"] == panel_ranking.rank[s]
        assert close(row["lowest"], np.fmin.reduce(own_ranking.by_assessor[:, s]))
        assert close(row["highest"], np.fmax.reduce(own_ranking.by_assessor[:, s]))
        assert close(row["best_rank"], min(ranks[ranks > 0], default=np.nan))
        assert close(row["worst_rank"], max(ranks[ranks > 0], default=np.nan))


def check_differences(shown, scores, compared, systems):
    """Differences to one system, with their intervals, are those of the scores; returns how many have an interval."""
    by_name, n = {row["system"]: row for row in shown["systems"]}, 0
    for system in systems:
        row = by_name[system]
        try:
            expected = difference(scores, system, compared, method="topics")
        except NoOverlapError:  # fewer than two topics: no interval
            assert close(row["low"], np.nan)
            continue
        n += 1
        for name, of in (("difference", expected.difference), ("low", expected.low), ("high", expected.high)):
            assert close(row[name], of), (name, system, compared)
    return n


@pytest.mark.parametrize("collection", [demo, deep_learning])
def test_means_differences_intervals_and_ranks_of_50_random_choices_are_those_of_qrowd(browser, tmp_path, collection):
    runs, judgments = collection()
    methods = ["majority", "uniform"] if collection is demo else []
    file = tmp_path / "explore.html"
    explore(runs, judgments, MEASURES, rel=[1, 2], methods=methods, depth=0, rng=3).write(file)
    tab = opened(browser, file.as_uri())
    rng = np.random.default_rng(20)
    measures = [("nDCG@10", None, "nDCG@10"), ("AP", 1, "AP(rel=1)"), ("AP", 2, "AP(rel=2)"),
                ("P@10", 1, "P(rel=1)@10"), ("P@10", 2, "P(rel=2)@10")]  # fmt: skip
    n_intervals = 0
    for _ in range(50):
        assessors, topics = some(judgments.assessors, rng), some(judgments.topics, rng)
        family, rel, name = measures[rng.integers(len(measures))]
        method = str(rng.choice(["mean", "mean", *methods]))
        compared, *systems = map(str, rng.choice(runs.systems, 6, replace=False))
        choice = {"family": family, "rel": rel, "method": method, "assessors": assessors, "topics": topics}
        tab.evaluate("part => window.qrowd.set(part)", {**choice, "compared": compared})
        shown = tab.evaluate("window.qrowd.results()")
        assert shown["measure"] == name
        scores = panel(runs, judgments, name, method, assessors, topics)
        check_means(shown, scores, panel(runs, judgments, name, "mean", assessors, topics))
        n_intervals += check_differences(shown, scores, compared, systems)
    assert n_intervals > 150
    tab.close()


def test_where_systems_lack_scores_of_some_assessors_a_difference_is_that_of_the_shared_ones(browser, tmp_path):
    page = explore(*demo(), "nDCG@10", methods=[], depth=0).data
    rng = np.random.default_rng(8)
    values = np.where(rng.random(page.scores.values.shape) < 0.3, np.nan, page.scores.values)
    values[:, :, :3, 5] = np.nan
    scores = replace(page.scores, values=values)
    file = tmp_path / "explore.html"
    file.write_text(explorer_page(replace(page, scores=scores)), "utf-8")
    tab = opened(browser, file.as_uri())
    for _ in range(20):
        assessors, topics = some(scores.assessors, rng), some(scores.topics, rng)
        compared, *systems = map(str, rng.choice(scores.systems, 6, replace=False))
        choice = {"assessors": assessors, "topics": topics, "compared": compared}
        tab.evaluate("part => window.qrowd.set(part)", choice)
        shown = tab.evaluate("window.qrowd.results()")
        part = scores.sel(assessor=assessors, topic=topics)
        check_means(shown, part, part)
        check_differences(shown, part, compared, systems)
        assert "NaN" not in tab.locator("main").inner_text()
    tab.close()


def test_the_sentence_table_and_bars_show_the_numbers_of_the_results(tab):
    first, second = tab.evaluate("window.qrowd.results().systems.slice(0, 2)")
    headline = tab.locator("h1").inner_text()
    size = f"{-second['difference']:.3f} [{-second['high']:.3f}, {-second['low']:.3f}]".replace("-", "−")
    names = first["system"], second["system"]
    start = "By nDCG@10, over 25 topics and the mean of 8 assessors, "
    assert headline == f"{start}{names[0]} is first; its difference to {names[1]} (second) is {size}."
    row = tab.locator("#systems tbody tr").nth(1).inner_text()
    assert f"{second['mean']:.4f}" in row
    assert f"[{second['low']:.3f}, {second['high']:.3f}]".replace("-", "−") in row
    bars = tab.locator(".bars button").evaluate_all("bars => bars.map(bar => bar.ariaLabel)")
    sizes = [float(text.rpartition(" ")[2].replace("−", "-")) for text in bars]
    assert sizes == sorted(sizes, reverse=True)
    assert np.mean(sizes) == pytest.approx(-second["difference"], abs=5e-4)
    assert re.findall(r"(?<![\w.-])-[\d.]+", tab.locator("main").inner_text()) == []  # minus signs


def test_tables_sort_by_any_column(tab):
    head = tab.locator("#systems thead").get_by_role("button", name="lowest assessor")
    for order in (-1, 1):
        head.click()
        values = [float(text) for text in tab.locator("#systems tbody td.lowest").all_inner_texts()]
        assert values == sorted(values, key=lambda value, order=order: order * value)
    tab.locator("#systems thead").get_by_role("button", name="rank", exact=True).click()


def test_choices_without_scores_are_told_in_a_sentence_and_nothing_reads_nan(tab):
    sentences = [
        ({"assessors": []}, "No assessor is chosen."),
        ({"topics": []}, "No topic is chosen."),
        ({"assessors": ["crowd-3"], "topics": ["q01"]}, "the assessor crowd-3"),
        ({"topics": ["q01"]}, "over 1 topic and"),
        ({"method": "majority", "assessors": []}, "all 8 assessors"),
        ({"family": "AP", "rel": 2, "assessors": ["crowd-1"], "topics": ["q01", "q02"]}, "are equal"),
    ]
    everything = tab.evaluate("({assessors: window.qrowd.all.assessors, topics: window.qrowd.all.topics})")
    for choice, words in sentences:
        start = {"family": "nDCG@10", "method": "mean", **everything}
        tab.evaluate("part => window.qrowd.set(part)", {**start, **choice})
        assert words in tab.locator("h1").inner_text()
        assert not re.search(r"NaN|undefined|Infinity|null", tab.locator("body").inner_text())


# ---------------------------------------------------------------------- use


def go_to(tab: Page, selector: str, key: str = "Tab") -> None:
    """Press Tab until the element has the focus; each stop on the way shows that it has it."""
    for _ in range(150):
        tab.keyboard.press(key)
        arrived, outline = tab.evaluate(
            "wanted => [document.activeElement.matches(wanted), getComputedStyle(document.activeElement).outlineStyle]",
            selector,
        )
        assert outline != "none"
        if arrived:
            return
    raise AssertionError(f"{selector} is out of reach")


def test_the_keyboard_alone_goes_from_the_measure_to_the_text_of_a_document(browser, address):
    tab = opened(browser, address)
    go_to(tab, "#measure")
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate("window.qrowd.state().family") == "AP"
    go_to(tab, "#rel")
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate("window.qrowd.results().measure") == "AP(rel=2)"
    go_to(tab, "#assessors-6")
    tab.keyboard.press("Space")
    assert "crowd-3" not in tab.evaluate("window.qrowd.state().assessors")
    expect(tab.locator("#announcement")).to_contain_text("the mean of 7 assessors")
    go_to(tab, "#systems tbody tr:nth-child(3) button")
    tab.keyboard.press("Enter")
    go_to(tab, "#systems tbody tr:nth-child(5) button")
    tab.keyboard.press("Enter")
    order = [row["system"] for row in tab.evaluate("window.qrowd.results().systems")]
    state = tab.evaluate("window.qrowd.state()")
    assert [state["first"], state["second"]] == [order[2], order[4]]
    go_to(tab, ".bars button")
    before = tab.evaluate("document.activeElement.ariaLabel")
    tab.keyboard.press("End")
    tab.keyboard.press("ArrowLeft")
    chosen = tab.evaluate("document.activeElement.ariaLabel")
    tab.keyboard.press("Enter")
    assert chosen != before
    assert tab.evaluate("document.activeElement.ariaLabel") == chosen  # the focus stays
    topic = tab.evaluate("window.qrowd.state().topic")
    assert chosen.startswith(f"topic {topic}:")
    assert tab.locator("#topic h2").inner_text() == f"Topic {topic}: what is {topic}"
    expect(tab.locator("#announcement")).to_contain_text(f"Topic {topic}: what is {topic}. AP(rel=2) on this topic: A ")
    go_to(tab, "#topic summary")
    tab.keyboard.press("Enter")
    text = tab.locator("#topic details[open] .text")
    assert text.is_visible()
    assert PASSAGE.strip() in text.inner_text()
    tab.close()


def test_all_none_only_and_the_list_of_topics_choose(tab):
    state = "window.qrowd.state().assessors.length"
    tab.get_by_role("button", name="no assessors").click()
    assert tab.evaluate(state) == 0
    tab.get_by_role("button", name="only lena", exact=True).click()
    assert tab.evaluate("window.qrowd.state().assessors") == ["lena"]
    assert tab.locator("#left-out").inner_text() == "Only assessors lena."
    tab.get_by_role("button", name="all assessors").click()
    assert tab.evaluate(state) == 8
    topic = tab.evaluate("window.qrowd.state().topic")
    tab.get_by_role("button", name="Leave this topic out").click()
    assert topic not in tab.evaluate("window.qrowd.state().topics")
    assert tab.locator("#left-out").inner_text() == f"Without topics {topic}."
    tab.locator("summary", has_text="Topics").click()
    tab.locator("#filter-topics").fill(f"what is {topic}")
    assert tab.locator("#topics-list li:visible").count() == 1
    tab.locator("#topics-list li:visible input").check()
    assert topic in tab.evaluate("window.qrowd.state().topics")
    tab.locator("#filter-topics").fill("")


def test_documents_stand_with_their_ranks_and_the_grades_of_the_chosen_assessors(tab):
    runs, judgments = demo()
    tab.evaluate("window.qrowd.set({first: 'bm25', second: 'splade', topic: 'q05', assessors: ['ann', 'sven']})")
    top = {name: list(runs.to_dict()[name]["q05"])[:10] for name in ("bm25", "splade")}
    items = tab.locator("#topic .documents li")
    assert items.count() == len(set(top["bm25"]) | set(top["splade"]))
    grades = {name: judgments.to_dict()[name]["q05"] for name in ("ann", "sven")}
    for item in items.all():
        document = item.locator(".places > b").inner_text()
        for letter, name in (("A", "bm25"), ("B", "splade")):
            rank = top[name].index(document) + 1 if document in top[name] else "–"
            assert f"{letter} {rank}" in item.locator(".rank").all_inner_texts()[0 if letter == "A" else 1]
        said = " ".join(item.locator(".group").all_inner_texts())
        for name in ("ann", "sven"):
            if document in grades[name]:
                assert re.search(rf"{grades[name][document]:g} [a-z, ]*{name}", said)


def test_the_address_keeps_the_view_and_names_that_are_unknown_are_told(browser, address, tab):
    choice = {
        "family": "P@10", "rel": 2, "method": "uniform", "assessors": ["ann", "bob", "crowd-1"], "topic": "q07",
        "compared": "bm25+rm3", "first": "tf-idf", "second": "hybrid",
        "topics": [f"q{i:02d}" for i in range(1, 26) if i != 4],
    }  # fmt: skip
    tab.evaluate("part => window.qrowd.set(part)", choice)
    tab.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
    tab.get_by_role("button", name="Copy link").click()
    link = tab.locator("#address").input_value()
    assert tab.url == link
    assert "assessors=ann,bob,crowd-1&topics=-q04&" in link
    other = opened(browser, link)
    for what in ("results()", "state()"):
        assert other.evaluate(f"window.qrowd.{what}") == tab.evaluate(f"window.qrowd.{what}")
    other.evaluate("location.hash = '#measure=MRR&assessors=ann,zoe&pair=bm25,nobody&what=1'")
    expect(other.locator("#problem")).to_contain_text("measure “MRR”")
    for name in ("assessor “zoe”", "system “nobody”", "“what”"):
        assert name in other.locator("#problem").inner_text()
    assert other.evaluate("window.qrowd.state().assessors") == ["ann"]
    other.close()


# ---------------------------------------------------------------------- for everybody


def unfolded(tab: Page) -> None:
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")


@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_light_or_dark_and_the_page_does_not_scroll_sideways(tab, width):
    tab.set_viewport_size({"width": width, "height": 844})
    unfolded(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        assert axe_faults(tab, {}) == []


def test_names_of_60_letters_and_hostile_ones_are_read_as_they_are(browser, tmp_path):
    runs, judgments = demo()
    systems = [f"a-run-with-a-name-of-sixty-letters_{i:02d}_msmarco-passage-v1-judged"[:60] for i in range(12)]
    systems[0] = HOSTILE
    assessors = (
        *[f"assessor-with-a-long-name-{name}-umbrela-graded-gpt4o" for name in judgments.assessors[1:]],
        HOSTILE,
    )
    documents = {d: {"text": HOSTILE} for ranking in runs.to_dict()["bm25"].values() for d in ranking}
    topics = {topic: {"title": HOSTILE} for topic in judgments.topics}
    file = tmp_path / "explore.html"
    explore(
        replace(runs, systems=tuple(systems)), replace(judgments, assessors=assessors), MEASURES, title=HOSTILE,
        topics=topics, documents=documents,
    ).write(file)  # fmt: skip
    dialogs = []
    for width in (1280, 390):
        tab = opened(browser, file.as_uri(), width)
        tab.on("dialog", lambda dialog: dialogs.append(dialog.message))
        unfolded(tab)
        if width == 390:
            tab.get_by_role("button", name="Show all 12 systems").click()
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        names = tab.locator("#systems tbody .system .name")
        assert sorted(names.all_text_contents()) == sorted(systems)
        for name in names.all():
            box, cell = name.bounding_box(), name.locator("xpath=ancestor::th").bounding_box()
            assert box["x"] + box["width"] <= cell["x"] + cell["width"] + 1
        assert HOSTILE in tab.locator("#topic h2").inner_text()
        assert HOSTILE in tab.locator("#topic .text").first.inner_text()
        assert tab.locator("img").count() == 0
        tab.close()
    assert dialogs == []


def test_on_paper_all_systems_stand_and_nothing_to_press(tab):
    tab.set_viewport_size({"width": 720, "height": 1000})
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print")
    assert tab.locator("#systems tbody tr").count() == 12
    assert tab.locator("main details:not([open])").count() == 0
    assert not tab.locator("#controls").is_visible()
    assert tab.locator("h1").is_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 720


def test_without_a_script_one_sentence_says_what_is_needed(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert (
        page.locator("noscript").inner_text()
        == "This page computes its numbers in the browser: allow JavaScript for it."
    )
    assert not page.locator("#page").is_visible()
    context.close()


def test_the_page_asks_for_nothing_and_says_nothing_to_the_console(browser, address):
    page = browser.new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(address, wait_until="networkidle")
    page.evaluate("window.qrowd.set({family: 'AP'})")
    page.close()
    assert asked == [address]
    assert said == []


def test_preferences_show_won_minus_lost_comparisons(browser, tmp_path):
    runs, _ = demo()
    lists = runs.to_dict()
    rows = []
    for topic in list(lists["bm25"])[:6]:
        first, second = list(lists["bm25"][topic])[:2]
        rows += [(topic, first, second, "ann"), (topic, second, first, "bob")]
    preferences = qrowd.Preferences.from_rows(rows)
    file = tmp_path / "explore.html"
    explore(runs, preferences).write(file)
    tab = opened(browser, file.as_uri())
    tab.evaluate("topic => window.qrowd.set({first: 'bm25', second: 'tf-idf', topic})", rows[0][0])
    item = tab.locator("#topic .documents li", has_text=rows[0][1])
    assert item.locator(".group").all_inner_texts() == ["+1 ann", "−1 bob"]
    tab.close()
