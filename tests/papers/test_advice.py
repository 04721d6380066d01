"""What is said of a difference, held against what then happens."""

import pytest

import qrowd_papers.advice as study
from qrowd_papers.advice import advice, advice_page, another_panel, found_differences, planned_topics


@pytest.mark.parametrize(
    "spread", ["equal", "tail", *(pytest.param(one, marks=pytest.mark.nightly) for one in ("close", "apart", "varied"))]
)
@pytest.mark.parametrize(
    ("systems", "assessors"),
    [(10, 3), *(pytest.param(*size, marks=pytest.mark.nightly) for size in [(30, 5), (10, 18)])],
)
@pytest.mark.parametrize("n", [1000, pytest.param(2500, marks=pytest.mark.nightly)])
def test_another_panel_agrees_on_leader_and_runner_up_as_often_as_is_said(spread, systems, assessors, n):
    found = another_panel(spread, systems, assessors, n_simulations=n, rng=1)
    assert found.said_top == pytest.approx(found.seen_top, abs=0.05)  # three standard errors of a share, or five


def test_unshrunk_the_lead_of_equal_systems_would_be_taken_for_real():
    found = another_panel("equal", 30, 3, n_simulations=1000, rng=1)
    assert found.unshrunk_top > found.seen_top + 0.07
    assert found.unshrunk_named > found.seen_named + 0.15


@pytest.mark.parametrize("design", [
    (50, 3, 0.02, 0.5), (50, 5, 0.25, 1.4), (54, 5, 0.18, 4.8),
    *(
        pytest.param(design, marks=pytest.mark.nightly)
        for design in [(50, 3, 0.1, 1.0), (50, 3, 0.25, 1.4), (50, 5, 0.05, 0.5), (50, 5, 0.1, 1.0)]
    ),
])  # fmt: skip
def test_where_advice_is_given_it_is_right_in_four_cases_of_five(design):
    found = advice(*design, n_simulations=300, rng=3)
    assert found.speaks > 0.7
    assert found.right >= 0.8
    assert found.said >= 0.8


def test_with_two_assessors_nothing_is_said():
    assert advice(50, 2, 0.05, 0.5, n_simulations=50, rng=3).speaks == 0


@pytest.mark.parametrize("design", [(70, 3), (54, 5), (100, 2)])
def test_a_difference_is_found_with_the_probability_that_plan_says(design):
    assert found_differences("TREC 2020", *design, n_simulations=5000, rng=1).found == pytest.approx(0.8, abs=0.02)


@pytest.mark.nightly
def test_topics_planned_from_a_pilot_of_eight_have_about_the_power_wanted_and_of_three_less():
    eight, three = (planned_topics("TREC 2020", 50, a, n_simulations=6, rng=2) for a in (8, 3))
    assert eight.needed == pytest.approx(75, abs=3)
    assert 0.7 < eight.mean < 0.9
    assert three.mean < eight.mean
    assert three.none > eight.none


@pytest.mark.nightly
def test_the_page_has_all_cells_and_tells_its_progress(monkeypatch):
    told = []
    monkeypatch.setattr(
        study, "another_panel", lambda *cell, n_simulations, rng: another_panel(*cell, n_simulations=5, rng=rng)
    )
    monkeypatch.setattr(
        study, "planned_topics", lambda *design, n_simulations, rng: planned_topics(*design, n_simulations=2, rng=rng)
    )
    page = advice_page(quick=True, rng=1, progress=lambda *what: told.append(what))
    assert [len(table.rows) for table in page.tables] == [90, 90, 13, 18, 3]
    assert ("power", 18, 18) in told
    assert told[-1] == ("pilots", 3, 3)
    assert len(page.frame()) == 90
    assert page.sentence.startswith("Of a leader and a runner-up among 6 systems or more, another panel agrees ")
