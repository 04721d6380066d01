"""Aggregators where true grades are unequally frequent."""

import numpy as np
import pytest

from qrowd.reports.document import render
from qrowd_papers import skewed_grades as study
from qrowd_papers.skewed_grades import METHODS, simulate, skewed_grades, skewed_grades_page


@pytest.fixture(scope="module")
def found():
    return skewed_grades((0.5, 0.95), n_panels=2, rng=3)


@pytest.mark.nightly
def test_mace_is_not_below_majority_where_grades_are_unequally_frequent_and_with_equal_frequencies_it_is(found):
    mace, majority = (found.method == name for name in ("mace", "majority"))
    assert (found.difference[mace] > 0).all()
    assert (found.difference[majority] == 0).all()
    worst = (found.method == "mace(prior='uniform')") & (found.crowd == "guess") & (found.share == 0.95)
    assert (found.difference[worst] < -0.1).all()


def test_the_simulated_crowd_is_what_its_docstring_says():
    random = np.random.default_rng(2)
    truth, judgments = simulate("say the same", 0.8, random)
    assert np.mean(truth == 0) == pytest.approx(0.8, abs=0.08)
    assert np.bincount(judgments.document).tolist() == [study.N_EACH] * study.N_DOCUMENTS
    of = [judgments.value[judgments.assessor == a] for a in range(study.N_ASSESSORS)]
    right = [(values == truth[judgments.document[judgments.assessor == a]]).mean() for a, values in enumerate(of)]
    assert {round(min(v.mean(), 1 - v.mean()), 1) for v, r in zip(of, right, strict=True) if r < 0.6} <= {0.0, 0.1}
    assert sum(r > 0.8 for r in right) >= 3


def test_one_seed_one_table(monkeypatch):
    monkeypatch.setattr(study, "N_DOCUMENTS", 40)
    one, two, other = (skewed_grades((0.8,), ("guess",), n_panels=2, rng=rng) for rng in (4, 4, 5))
    assert one.right.tolist() == two.right.tolist()
    assert one.right.tolist() != other.right.tolist()


def test_the_page_has_a_row_per_design(monkeypatch):
    monkeypatch.setattr(study, "N_DOCUMENTS", 40)
    found = skewed_grades((0.5, 0.95), n_panels=2, rng=3)
    monkeypatch.setattr(study, "skewed_grades", lambda **_: found)
    page = skewed_grades_page(quick=True)
    assert page.sentence.startswith("MACE with fitted grade frequencies recovers ")
    assert [row[:2] for row in page.tables[0].rows] == [
        ["guess", "0.5"], ["guess", "0.95"], ["say the same", "0.5"], ["say the same", "0.95"],
    ]  # fmt: skip
    assert len(page.frame()) == 4 * len(METHODS)
    assert b"mace - majority" in render(page, "page.md")
