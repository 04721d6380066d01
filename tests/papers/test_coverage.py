"""How often intervals hold the truth."""

import numpy as np
import pandas as pd
import pytest

from numbered_scores import numbered
from qrowd.comparison.differences import difference
from qrowd.comparison.interval_widths import recommended
from qrowd.reports.document import render
from qrowd_papers import coverage as study
from qrowd_papers.coverage import METHODS, PANELS, _bootstrap_counts, coverage, coverage_page
from qrowd_papers.rank_coverage import RanksHeld, RankStudy

ALIKE = pd.DataFrame(
    {
        "design": np.repeat(["normal", "skewed", "two kinds of systems"], 2),
        "n_systems": 5,
        "n_assessors": [2, 3] * 3,
        "n_topics": 25,
        "share": [0.2, 0.06] * 3,
        "error": 0.01,
    }
)
RANKS = RankStudy(
    alike=ALIKE,
    kinds=ALIKE,
    families={3: 0.11, 18: 0.046},
    n_equal=2000,
    n_families=1000,
    held=(RanksHeld(5, 3, 25, 0.97, 0.01, 1.0, 2.5),),
    n=500,
)
JUDGE_HEAVY = {"judge-heavy": PANELS["judge-heavy"]}


def test_intervals_of_the_study_are_those_of_difference():
    random = np.random.default_rng(1)
    table = random.normal(size=(12, 4, 1))
    scores = np.stack([table[:, :, 0].T, np.zeros((4, 12))], axis=2)
    for method in METHODS:
        low, high = study._interval(table, method, 0.9, 40_000, np.random.default_rng(2))
        if method == "pigeonhole":  # topics and assessors drawn again, one replicate after the other
            means = [table[random.integers(12, size=12)][:, random.integers(4, size=4)].mean() for _ in range(20_000)]
            assert (low[0], high[0]) == pytest.approx(np.quantile(means, [0.05, 0.95]), abs=0.02)
            continue
        found = difference(numbered(scores), "0", "1", method=method, confidence=0.9)
        assert (low[0], high[0]) == pytest.approx((found.low, found.high), abs=1e-9)


def test_what_is_recommended_covers_and_topics_alone_do_not():
    found = coverage(
        JUDGE_HEAVY, (50,), (3, 8), methods=("topics", "satterthwaite", "banerjee"), n_simulations=4000, rng=7
    )
    cells = found.set_index(["n_assessors", "method"])
    for assessors in (3, 8):
        cell = cells.loc[assessors, recommended(assessors)]
        assert 0.925 <= cell.coverage <= 0.975
        assert cell.width > 1
        assert cells.coverage[assessors, "topics"] < 0.85
    assert cells.coverage[3, "banerjee"] > cells.coverage[3, "satterthwaite"]


def test_the_pigeonhole_bootstrap_covers_too_little_with_three_assessors():
    found = coverage(JUDGE_HEAVY, (50,), (3,), methods=("pigeonhole",), n_simulations=1000, n_replicates=300, rng=1)
    assert found.coverage[0] < 0.92
    assert found.error[0] == pytest.approx((found.coverage[0] * (1 - found.coverage[0]) / 1000) ** 0.5)


def test_one_seed_one_table():
    one, two, other = (
        coverage(JUDGE_HEAVY, (10,), (2, 3), n_simulations=300, n_replicates=50, rng=rng) for rng in (4, 4, 5)
    )
    assert np.array_equal(one.coverage, two.coverage)
    assert np.array_equal(one.width, two.width)
    assert not np.array_equal(one.width, other.width)
    alone = coverage(JUDGE_HEAVY, (10,), (3,), n_simulations=300, n_replicates=50, rng=4)
    assert alone.width.tolist() == one.width[4:].tolist()
    assert one["n_assessors"].tolist() == [2] * 4 + [3] * 4


def test_the_page_says_what_is_recommended_and_how_it_fares(monkeypatch):
    monkeypatch.setattr(study, "N_TOPICS", (10,))
    monkeypatch.setattr(study, "rank_study", lambda **_: RANKS)
    told = []
    page = coverage_page(quick=True, rng=1, progress=lambda *what: told.append(what))
    assert told[-1][1] == told[-1][2]
    assert page.sentence.startswith("The recommended intervals hold the truth")
    assert [row[:2] for row in page.tables[0].rows] == [[str(a), recommended(a)] for a in (2, 3, 5, 8, 18)]
    assert len(page.tables) == 1 + 5 + len(PANELS)
    assert "one is wrongly left out of the set of the best in at most 6.0 % of simulations" in page.sentence
    assert "up to 20.0 %" in page.sentence
    assert "true ranks lie in their intervals in 97.0 % or more" in page.sentence
    assert [row for table in page.tables[1:4] for row in table.rows] == [["5", "25", "0.200", "0.060"]] * 3
    assert b"judge-heavy" in render(page, "page.md")
    assert len(page.frame()) == len(PANELS) * len(study.N_TOPICS) * 5 * len(METHODS)


def test_draws_are_those_of_equal_chances():
    counts = _bootstrap_counts(5, 40_000, np.random.default_rng(2))
    assert (counts.sum(axis=1) == 5).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(5), abs=0.02)
    assert counts.var(axis=0) == pytest.approx(np.full(5, 0.8), abs=0.03)  # multinomial: n p (1 - p)
