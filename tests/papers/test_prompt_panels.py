"""Panels of models and prompts: variance components, and what more prompts are worth."""

import csv
from pathlib import Path

import numpy as np
import pytest

from qrowd.errors import InputError
from qrowd.reports.document import render
from qrowd_papers.prompt_panel_data import real, simulated
from qrowd_papers.prompt_panel_worth import (
    ALL,
    ONE,
    _correlations,
    _saved,
    agreements,
    contrasts,
    people,
    people_for,
    worth,
)
from qrowd_papers.prompt_panels import components, model_names, prompt_panels_page


@pytest.fixture(scope="module")
def panel():
    return simulated(1, n_prompts=5)


@pytest.fixture(scope="module")
def published(dl21):
    if not (dl21.parent / "dl21-prompts").is_dir():
        pytest.skip("needs the data folder dl21-prompts beside dl21")
    return real(dl21.parent)


def test_more_prompts_of_a_model_agree_better_with_the_truth_and_save_more_topics(panel):
    found = agreements(panel, n_draws=2, n_resamples=20, rng=1)
    rows = {(row.models, row.n_prompts): row for row in worth(found, 0.5)}
    assert len(rows) == 5 * 4  # three models, one by chance, all; 1, 2, 3 and 5 prompts
    for label in (*model_names(panel), ONE, ALL):
        assert rows[label, 5].r > rows[label, 1].r
        assert rows[label, 5].people > rows[label, 3].people > 1
        assert rows[label, 5].saved > rows[label, 1].saved
    assert rows[ALL, 5].n_assessors == 15
    assert rows[ONE, 1].r == pytest.approx(np.mean([rows[model, 1].r for model in model_names(panel)]))
    assert rows["large", 1].r_low < rows["large", 1].r < rows["large", 1].r_high
    assert (rows["large", 1].people_low, rows["large", 1].people_high) == (1, 1)
    first, second, r, saved = contrasts(found)[0]
    assert (first, second) == ("large, 5 prompts", "large, 1 prompt")
    assert r[0] == pytest.approx(rows["large", 5].r - rows["large", 1].r)
    assert r[1] <= r[0] <= r[2]
    assert saved[0] == pytest.approx(rows["large", 5].saved - rows["large", 1].saved)


def test_components_of_a_simulated_panel_show_that_models_err_on_documents_of_their_own(panel):
    named = dict(components(panel, n_resamples=20, rng=1))
    assert list(named) == [ALL, "large and middle", "large and small", "middle and small", "nDCG@10"]
    judged = named[ALL]
    assert judged.n_levels == (3, 5)
    assert judged.of("document*model") > judged.of("document*prompt")
    assert named["nDCG@10"].target == "system"


def test_people_gain_what_the_correlation_between_them_lets_them_gain():
    for between in (0.2, 0.6):
        n = np.array([1.0, 2.0, 5.0, 8.0])
        assert people_for(n / (1 + (n - 1) * between), between) == pytest.approx(n)
        assert people_for(1 / between + 0.01, between) == np.inf
    assert np.isnan(people_for(1.2, np.nan))


def test_correlations_of_weighted_topics_are_those_of_topics_repeated():
    rng = np.random.default_rng(1)
    x, y, topic = rng.integers(0, 4, (30, 3)).astype(float), rng.integers(0, 4, 30).astype(float), np.arange(30) // 6
    x[::7, 1] = np.nan
    x[:, 2] = 2
    rows = np.concatenate([np.flatnonzero(topic == t) for t in (0, 0, 2, 3, 4)])
    judged = rows[~np.isnan(x[rows, 1])]
    expected = [np.corrcoef(x[rows, 0], y[rows])[0, 1], np.corrcoef(x[judged, 1], y[judged])[0, 1], 0]
    assert _correlations(x, y, topic, np.array([[2.0, 0, 1, 1, 1]]))[0] == pytest.approx(expected)


def test_the_topics_saved_are_the_variance_that_a_regression_explains():
    rng = np.random.default_rng(2)
    y = rng.random((12, 4))
    f = y + rng.random((12, 4))
    best = y.mean(axis=0).argmax()
    shares = []
    for s in range(4):
        if s != best:
            outcome, x = y[:, s] - y[:, best], f[:, s] - f[:, best]
            rest = outcome - np.polyval(np.polyfit(x, outcome, 1), x)
            shares.append(1 - (rest @ rest / 10) / outcome.var(ddof=1))
    assert _saved(f, y, np.ones((1, 12)))[0] == pytest.approx(np.mean(shares))


@pytest.mark.nightly
def test_of_dl21_prompts_a_model_s_view_of_documents_is_two_fifths_of_the_disagreement(published):
    assert (published.n_lines, published.n_out_of_scale, published.n_repeated) == (698_420, 194, 57_602)
    assert published.changed == pytest.approx(0.023, abs=5e-4)
    assert len(published.reference) == 1854
    assert published.published.value.max() == 9
    assert published.whole.value.max() == 3
    judged = next(components(published, n_resamples=0))[1]
    assert (judged.n_levels, judged.n_targets, judged.n_topics, judged.n_missing) == ((3, 27), 1854, 53, 654)
    percents = [round(100 * share, 1) for share in judged.disagreement[1:]]
    assert percents == [4.6, 1.5, 41.0, 0.3, 6.6, 46.1]


@pytest.mark.nightly
def test_on_dl21_all_prompts_of_the_best_model_add_little_to_one(published, dl19, monkeypatch):
    monkeypatch.setattr("qrowd_papers.prompt_panel_worth.N_SPLITS", 1)  # of the topics gained, which are not looked at
    between = people(dl19.parent).attrs["between"]
    assert between == pytest.approx(0.576, abs=5e-4)
    found = agreements(published, n_draws=1, n_resamples=2, rng=1)
    rows = {(row.models, row.n_prompts): row for row in worth(found, between)}
    best = rows["gpt-4o", 27]
    assert (round(rows["gpt-4o", 1].r, 3), round(best.r, 3), round(best.people, 1)) == (0.641, 0.673, 1.3)
    assert (round(rows[ONE, 27].people, 1), round(rows[ALL, 1].people, 1)) == (2.8, 5.4)
    assert best.saved - rows["gpt-4o", 1].saved == pytest.approx(0.045, abs=5e-4)


@pytest.mark.nightly
def test_the_page_has_a_row_for_each_panel_and_refuses_a_folder_without_the_data(tmp_path, monkeypatch):
    def few(panel, **options):
        return agreements(panel, **options | {"n_resamples": 5})

    monkeypatch.setattr("qrowd_papers.prompt_panels.agreements", few)
    steps = []
    page = prompt_panels_page(quick=True, rng=1, progress=lambda *what: steps.append(what))
    assert steps[-1][1:] == (20, 20)
    assert len(page.frame()) == 25
    assert page.sentence.startswith("Of the variance that differs between 3 models with 9 prompts each, ")
    assert b"what panels of prompts are worth" in render(page, "page.md")
    with pytest.raises(InputError, match="dl21: there is no such folder"):
        prompt_panels_page(str(tmp_path))


def test_the_page_for_users_has_the_numbers_of_the_study():
    docs = Path(__file__).resolve().parents[2] / "docs"
    page = (docs / "howto" / "several_models.md").read_text(encoding="utf-8")

    def rows_of(name):
        with (docs / "papers" / "prompt_panels" / name).open(newline="", encoding="utf-8") as opened:
            return list(csv.DictReader(opened))

    r = {(row["models"], row["prompts"]): row["r"][1:] for row in rows_of("what-panels-of-prompts-are-worth.csv")}
    text = " ".join(page.split())
    assert f"One prompt of three models (correlation with NIST {r[ALL, '1']}) beats 27 prompts of a model" in text
    assert f"a model picked by chance ({r[ONE, '27']})" in text
    assert f"does as well as all 81 assessors** ({r['gpt-4o', '1']} and {r[ALL, '27']})" in text
    of_model, of_prompt, of_both = 0.0, 0.0, 0.0
    for row in rows_of("variance-components.csv"):
        if row["table"] == "variance components: all models" and row["of disagreement"] != "-":
            share, source = float(row["of disagreement"].removesuffix(" %")), row["source"]
            if source == "error" or ("model" in source and "prompt" in source):
                of_both += share
            elif "model" in source:
                of_model += share
            else:
                of_prompt += share
    answer = " ".join((docs / "papers" / "prompt_panels.md").read_text(encoding="utf-8").split())
    assert f"{of_model:.0f} % of the disagreement is the model's, {of_prompt:.0f} % the prompt's whatever" in answer
    assert f"and {of_both:.0f} % belongs to a model with a prompt" in answer
