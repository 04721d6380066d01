"""The choices of a report in a browser: its numbers are those of qrowd, and the keyboard alone is enough."""

from math import isnan

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

import qrowd
from conftest import data
from qrowd.comparison.differences import difference
from qrowd.comparison.system_ranking import rank_systems
from qrowd.errors import NoOverlapError
from qrowd.reports.report_document import report as report_of
from qrowd.simulation import simulate_demo

MEASURES = ["nDCG@10", "AP", "P@10"]
OPTIONS = {"n_resamples": 100, "random_assessors": 2, "rng": 3}
PASSAGE = "A passage that is long enough to be read. " * 9


def declared(judgments):
    """The judgments with their scales declared, so that a choice of assessors or topics changes none."""
    return judgments.with_scales(dict(zip(judgments.assessors, judgments.scales, strict=True)))


def demo():
    runs, judgments, _ = simulate_demo()
    return runs, declared(judgments)


def people():
    runs, judgments = demo()
    return runs, judgments.select(assessors=["ann", "bob", "lena", "sven"])


def deep_learning():
    folder = data("dl21")
    files = [folder / "qrels.nist.txt", *sorted((folder / "judges").glob("*.gz"))[:17]]
    return qrowd.read_runs([str(folder / "runs")]), declared(qrowd.read_judgments([str(file) for file in files]))


def opened(browser: Browser, file, *arguments, **options) -> Page:
    report_of(*arguments, **OPTIONS | options).write(file)
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto(file.as_uri())
    tab.evaluate("window.qrowd.ready")
    return tab


def some(names, rng):
    """At least one of the names, in their order."""
    chosen = rng.random(len(names)) < rng.choice([0.1, 0.5, 0.9])
    chosen[rng.integers(len(names))] = True
    return [name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen]


def close(value, expected):
    return (value is None or isnan(value)) if isnan(expected) else abs(value - expected) <= 1e-9


def panel(runs, judgments, name, method, assessors, topics):
    """Scores of one measure by the assessors, or by the majority of all of them."""
    if method == 0:
        return qrowd.evaluate(runs, judgments.select(assessors=assessors, topics=topics), name)
    scores = qrowd.evaluate_methods(runs, judgments, name, methods="majority", rng=3)
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


@pytest.mark.parametrize(
    ("collection", "n"),
    [(people, 12), *(pytest.param(one, 40, marks=pytest.mark.nightly) for one in (people, deep_learning))],
)
def test_means_differences_intervals_and_ranks_of_random_choices_are_those_of_qrowd(browser, tmp_path, collection, n):
    runs, judgments = collection()
    tab = opened(browser, tmp_path / "report.html", runs, judgments, MEASURES)
    rng = np.random.default_rng(20)
    n_intervals = 0
    for _ in range(n):
        assessors, topics = some(judgments.assessors, rng), some(judgments.topics, rng)
        number = int(rng.integers(len(MEASURES)))
        method = int(rng.choice([0, 0, 1])) if collection is people else 0
        compared, *systems = map(str, rng.choice(runs.systems, 6, replace=False))
        choice = {
            "measure": number,
            "method": method,
            "assessors": [name in assessors for name in judgments.assessors],
            "topics": [name in topics for name in judgments.topics],
            "compared": runs.systems.index(compared),
        }
        tab.evaluate("part => window.qrowd.change(part)", choice)
        shown = tab.evaluate("window.qrowd.results()")
        assert shown["measure"] == MEASURES[number]
        scores = panel(runs, judgments, MEASURES[number], method, assessors, topics)
        check_means(shown, scores, panel(runs, judgments, MEASURES[number], 0, assessors, topics))
        n_intervals += check_differences(shown, scores, compared, systems)
        assert "NaN" not in tab.locator("#choose").inner_text()
    assert n_intervals > 3 * n
    tab.close()


def test_a_reader_goes_from_a_choice_to_the_text_of_a_document(browser, tmp_path):
    runs, judgments = people()
    documents = {d: f"{d}: {PASSAGE}" for d in runs.documents}
    tab = opened(browser, tmp_path / "report.html", runs, judgments, MEASURES, documents=documents)
    errors = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    start = tab.locator("#headline").inner_text()
    assert start.startswith("By nDCG@10, over 25 topics and the mean of 4 assessors, ")
    tab.get_by_label("Measure", exact=True).select_option("1")
    tab.get_by_role("button", name="only lena", exact=True).click()
    assert tab.locator("#headline").inner_text().startswith("By AP, over 25 topics and the assessor lena, ")
    tab.get_by_role("button", name="no assessors").click()
    assert tab.locator("#headline").inner_text() == "No assessor is chosen. Choose one or more assessors."
    tab.get_by_role("button", name="all assessors").click()
    bars = tab.locator(".bars button")
    assert bars.count() == 25
    tab.locator(".bars button[tabindex='0']").focus()
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowRight")
    chosen = tab.evaluate("document.activeElement.ariaLabel")
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.ariaLabel") == chosen  # the focus stays
    assert tab.locator("#chosen-topic h3").inner_text() == chosen.partition(":")[0].capitalize()
    tab.locator("#chosen-topic summary").first.click()
    assert PASSAGE.strip() in tab.locator("#chosen-topic details[open]").first.inner_text()
    tab.get_by_label("System A").select_option(label="bm25")
    assert "bm25" in tab.locator("#chosen-pair .say").inner_text()
    assert errors == []
    tab.close()
