"""Expected and counted relevant results, simulated and real."""

import numpy as np
import pytest

from qrowd.reports.document import render
from qrowd_papers.evaluated_ranks import calibration, evaluated_ranks_page, real, simulated


@pytest.fixture(scope="module")
def panel():
    runs, judgments = simulated(2, n_topics=40, n_documents=100, n_systems=12)
    return judgments, runs


@pytest.mark.parametrize("learnt", ["everything", "other topics"])
def test_results_expected_by_bands_of_ranks_are_those_counted_where_the_pool_expects_too_few(panel, learnt):
    bands, pool = (calibration(*panel, 2, ranks=ranks, learnt=learnt, rng=1) for ranks in ("bands", "pool"))
    assert bands.within >= 0.9
    assert bands.worst < 3
    assert abs(bands.mean) < 0.1
    assert pool.mean < -0.5
    assert pool.within <= 0.2


def test_ten_double_judgments_a_topic_bring_most_of_it(panel):
    bands, pool = (
        calibration(*panel, 2, ranks=ranks, learnt="10 documents a topic", rng=1) for ranks in ("bands", "pool")
    )
    assert abs(bands.mean) < 0.3 < abs(pool.mean)
    assert bands.within > pool.within + 0.4


def test_on_dl21_expected_and_counted_results_agree_within_two_standard_errors(dl21):
    """NIST and umbrela-gpt4o judged everything. One system in twenty may be beyond, as by chance."""
    runs, judgments = real(dl21, "umbrela-gpt4o")
    bands, pool = (calibration(judgments, runs, 2, ranks=ranks) for ranks in ("bands", "pool"))
    assert (bands.n_systems, round(bands.counted, 2)) == (63, 5.33)
    assert bands.mean == pytest.approx(0, abs=1e-3)
    assert bands.within >= 59 / 63
    assert bands.worst < 2.2
    assert (round(pool.mean, 2), round(pool.worst, 1)) == (-0.72, 10.3)
    assert pool.within < 0.25
    elsewhere = calibration(judgments, runs, 2, ranks="bands", learnt="other topics", rng=1)
    assert elsewhere.within >= 0.9
    assert abs(elsewhere.mean) < 0.1


def test_the_page_has_a_row_for_every_panel_and_way_of_learning():
    told = []
    page = evaluated_ranks_page(quick=True, rng=1, progress=lambda *what: told.append(what))
    assert told[-1][1:] == (2, 2)
    assert len(page.frame()) == 2 * 3 * 2
    assert np.isfinite(page.frame()["largest"]).all()
    assert "with p(R|i) by bands of ranks" in page.sentence
    assert b"learnt from other topics" in render(page, "page.md")
