"""Panels of the predicted relevance study, simulated and real, and what its page and figures say of the real ones."""

from dataclasses import replace

import numpy as np
import pytest

from qrowd.errors import ArgumentError
from qrowd.predicted_relevance import predicted_relevance
from qrowd.reports.plots.style import render
from qrowd_papers.predicted_relevance.cases import federated_search, load, runs_of
from qrowd_papers.predicted_relevance.claims import page_of
from qrowd_papers.predicted_relevance.figures import figures_of


def test_a_panel_of_the_paper_s_size_has_about_its_p_of_the_highest_grade():
    runs, said = federated_search(rng=1)
    assert len(runs.systems) == 15
    assert len(said.select(assessors=["U1"])) == 34_000
    model = predicted_relevance(said, rel=3, n_resamples=0)
    assert model.data.n_topics == 24
    assert model.data.n_documents == pytest.approx(7027, rel=0.01)
    assert model[3] == pytest.approx(0.53, abs=0.06)
    assert model[0] == pytest.approx(0.01, abs=0.005)


def test_snippets_agree_less_than_pages():
    pages, snippets = (predicted_relevance(federated_search(kind, rng=1)[1], rel=3, n_resamples=0)[3]
                       for kind in ("pages", "snippets"))  # fmt: skip
    assert snippets < pages


def test_grades_have_the_shares_that_table_3_implies():
    _, said = federated_search(n_topics=40, n_documents=2000, rng=2)
    values = said.select(assessors=["U1"]).value
    share = np.bincount(values.astype(int), minlength=4) / values.size
    assert share == pytest.approx([0.770, 0.089, 0.075, 0.067], abs=0.03)


def test_the_same_rng_gives_the_same_panel():
    one, again, other = (federated_search(n_topics=4, n_documents=50, rng=rng)[1].value for rng in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_a_panel_without_runs_says_so():
    with pytest.raises(ArgumentError, match="simulated pages has no runs"):
        runs_of(replace(load(None, True, 1)["pages"], runs=None))


# ---- real panels


@pytest.fixture(scope="module")
def cases(dl19, dl21, rf10):
    return load(str(dl19.parent), True, 1)


@pytest.mark.nightly
def test_two_of_eight_people_are_the_halves_of_2019_and_nist_s_grades_are_the_whole(cases):
    case = cases["dl19"]
    assert case.halves.assessors == ("U1", "U2")
    assert len(case.doubles.assessors) == 8
    assert case.whole.assessors == ("NIST",)
    assert len(case.whole) == 9260
    assert [len(runs_of(cases[name]).systems) for name in ("dl19", "dl21")] == [61, 63]


@pytest.mark.nightly
def test_on_real_panels_predicted_gains_are_the_more_robust_as_table_6_says(cases):
    page = page_of(cases)
    numbers = page.frame().set_index(["table", "row", "column"])["value"]
    for panel in ("dl19, 61 systems", "dl21, 63 systems"):
        binary, predicted = (numbers["Table 6", panel, gains] for gains in ("binary", "predicted"))
        assert predicted > binary + 0.04
    assert numbers["Table 5, section 7.1", "share of systems with no larger error of the expected, top", "dl19"] == 1
    assert numbers["Table 4", "rf10, all", "2"] == pytest.approx(0.296, abs=0.001)
    assert numbers["Table 2", "dl19 (5)", "Key"] == pytest.approx(0.271, abs=0.001)
    assert numbers["Table 2", "dl19 (4)", "Key"] == pytest.approx(0.172, abs=0.001)
    assert all(numbers["Findings", row[0], "dl19"] > 0 for row in page.tables[-1].rows)
    assert "rf10 (5)" not in numbers.index.get_level_values("row")  # three grades: only in Table 4


@pytest.mark.nightly
def test_real_panels_come_into_the_pictures(cases):
    figures = {figure.name: figure for figure in figures_of(cases, 50, 1)}
    assert list(figures["prm-3"].frame()["panel"].unique()) == ["rf10", "dl19", "dl21", "simulated pages"]
    assert list(figures["prm-2"].frame()["panel"].unique()) == ["dl19", "dl21"]
    assert render(figures["prm-1"], "png").startswith(b"\x89PNG")
    curve = figures["prm-1"].frame().query("theta == 'theta = 3' and grade == 3")["probability"]
    assert curve.iloc[0] > curve.iloc[-1] + 0.1  # as Figure 1
