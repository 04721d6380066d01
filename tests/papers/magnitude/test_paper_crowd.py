"""The crowd that the study of the magnitude paper simulates."""

from dataclasses import replace

import numpy as np
import pytest

from qrowd.model.judgments import Judgments
from qrowd.simulation import Truth, check_documents, simulate_magnitudes, simulate_pool
from qrowd_papers.magnitude.paper_crowd import PaperCrowd
from simulated import labels, near, units

EXACT = PaperCrowd(multiplier=(10.0, 0.0), exponent=(1.0, 0.0), noise=0.0, round_numbers=0.0)


@pytest.fixture(scope="module")
def truth() -> Truth:
    return simulate_pool(50, 100, rng=1)


def medians_by_grade(truth: Truth, crowd: Judgments) -> list[float]:
    """Of each grade's magnitudes, divided by the median at grade 0."""
    grade = dict(zip(labels(truth, np.arange(truth.grade.size)), truth.grade.tolist(), strict=True))
    of_row = np.array([grade[crowd.documents[d]] for d in crowd.document.tolist()])
    medians = [float(np.median(crowd.value[of_row == g])) for g in range(truth.n_grades)]
    return [one / medians[0] for one in medians]


def test_a_linear_profile_adds_as_much_for_each_grade_and_saturation_less_and_less(truth: Truth) -> None:
    linear = simulate_magnitudes(truth, 200, crowd=EXACT, rng=5)
    assert medians_by_grade(truth, linear) == pytest.approx([1, 2, 3, 4], rel=0.15)
    bent = simulate_magnitudes(truth, 200, crowd=replace(EXACT, saturation=1.0), rng=5)
    steps = np.diff(medians_by_grade(truth, bent))
    assert (steps > 0).all()
    assert (np.diff(steps) < 0).all()
    assert medians_by_grade(truth, bent)[-1] == pytest.approx(4, rel=0.1)


def test_a_careless_assessor_orders_the_documents_of_a_unit_by_chance(truth: Truth) -> None:
    high, low = (set(labels(truth, pairs)) for pairs in check_documents(truth))
    for careless, share in ((0.0, 1.0), (1.0, 0.5)):
        crowd = simulate_magnitudes(truth, 200, crowd=replace(EXACT, careless=careless), checked=False, rng=5)
        right = []
        for members in units(crowd).values():
            by_label = {crowd.documents[crowd.document[i]]: crowd.value[i] for i in members}
            (h,), (n,) = ([v for label, v in by_label.items() if label in side] for side in (high, low))
            right.append(float(h > n) if h != n else 0.5)
        assert near(float(np.mean(right)), share, len(right)) or share == 1.0 == np.mean(right)


def test_assessors_who_miss_a_zero_write_tiny_numbers_where_nothing_is_relevant(truth: Truth) -> None:
    without, with_ = (
        simulate_magnitudes(truth, 200, crowd=replace(EXACT, tiny=share), checked=False, rng=5) for share in (0, 1)
    )
    ratio = without.value / with_.value
    grade = dict(zip(labels(truth, np.arange(truth.grade.size)), truth.grade.tolist(), strict=True))
    of_row = np.array([grade[without.documents[d]] for d in without.document.tolist()])
    assert ((ratio[of_row == 0] > 90) & (ratio[of_row == 0] < 1.1e5)).all()
    assert (ratio[of_row > 0] == 1).all()


def test_rounding_by_assessors_rounds_all_numbers_of_some_or_none(truth: Truth) -> None:
    habit = PaperCrowd(round_numbers=0.5)
    crowd = simulate_magnitudes(truth, 200, crowd=habit, checked=False, rng=5)
    first = np.round(crowd.value / 10 ** np.floor(np.log10(crowd.value)), 6)
    rounded = np.isin(first, [1, 2, 5])
    shares = np.bincount(crowd.assessor, rounded) / np.bincount(crowd.assessor)
    assert ((shares == 1) | (shares < 0.6)).all()
    assert 0.3 < (shares == 1).mean() < 0.7
