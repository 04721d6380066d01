"""How many people, how many units, how much money."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.errors import ArgumentError
from qrowd.magnitude import assessors_needed, assessors_needed_for_ratio, units_needed

approx = pytest.approx

TABLE_II = {  # error: workers for sigma 1 ... 6
    0.5: (27, 107, 239, 425, 664, 956),
    1.0: (7, 27, 60, 107, 166, 239),
    1.5: (3, 12, 27, 48, 74, 107),
    2.0: (2, 7, 15, 27, 42, 60),
    2.5: (2, 5, 10, 17, 27, 39),
    3.0: (1, 3, 7, 12, 19, 27),
    3.5: (1, 3, 5, 9, 14, 20),
    4.0: (1, 2, 4, 7, 11, 15),
    4.5: (1, 2, 3, 6, 9, 12),
    5.0: (1, 2, 3, 5, 7, 10),
}
TABLE_I = {  # topic: documents, units
    402: (278, 460), 403: (111, 182), 405: (214, 354), 407: (212, 350), 408: (188, 310), 410: (212, 350),
    415: (179, 295), 416: (174, 287), 418: (243, 402), 420: (164, 270), 421: (342, 567), 427: (195, 322),
    428: (253, 419), 431: (203, 335), 440: (264, 437), 442: (408, 677), 445: (210, 347), 448: (419, 695),
}  # fmt: skip
SIZES = [documents for documents, _ in TABLE_I.values()]


def test_all_60_cells_of_table_ii_are_those_of_99_percent():
    for error, row in TABLE_II.items():
        for sigma, workers in enumerate(row, start=1):
            assert assessors_needed(sigma, margin=error, confidence=0.99) == workers


def test_by_default_the_confidence_is_the_95_percent_that_the_text_speaks_of():
    assert assessors_needed(2, margin=1) == 16  # 1.96^2 * 4 = 15.4


@pytest.mark.parametrize(("documents", "units"), TABLE_I.values(), ids=TABLE_I)
def test_the_units_of_each_topic_are_those_of_table_i(documents, units):
    assert units_needed(documents) == units


def test_table_i_has_4269_documents_and_7059_units():
    assert sum(SIZES) == 4269
    assert sum(units_needed(n) for n in SIZES) == 7059


@given(st.integers(8, 500), st.integers(1, 12), st.integers(3, 8), st.integers(0, 2))
def test_units_are_the_fewest_that_hold_every_document_often_enough(documents, redundancy, unit_size, checks):
    units = units_needed(documents, redundancy=redundancy, unit_size=unit_size, n_checks=checks)
    room = unit_size - checks
    assert units * room >= redundancy * (documents - checks) > (units - 1) * room


@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.5, 0.999))
def test_workers_are_the_fewest_whose_mean_is_close_enough(sigma, error, confidence):
    from scipy.stats import norm

    n = assessors_needed(sigma, margin=error, confidence=confidence)
    z = norm.ppf((1 + confidence) / 2)
    assert z * sigma / np.sqrt(n) <= error * (1 + 1e-9)
    assert n == 1 or z * sigma / np.sqrt(n - 1) > error * (1 - 1e-9)


@given(st.floats(0.01, 5), st.floats(0.01, 5), st.floats(0.01, 100))
def test_the_unit_of_measurement_does_not_matter(sigma, error, by):
    assert (
        abs(assessors_needed(sigma * by, margin=error * by) - assessors_needed(sigma, margin=error)) <= 1
    )  # rounding at a whole number


@given(st.floats(0.01, 3), st.floats(0.05, 5))
def test_the_log_scale_twin_is_the_same_rule_about_logs(sigma, error):
    assert assessors_needed_for_ratio(sigma, margin=error) == assessors_needed(sigma, margin=np.log1p(error))


def test_log_normal_scores_are_right_up_to_the_factor_as_often_as_promised():
    sigma, error = 1.2, 0.5
    n = assessors_needed_for_ratio(sigma, margin=error, confidence=0.9)
    logs = sigma * np.random.default_rng(1).standard_normal((20_000, n))
    estimates = logs.mean(axis=1)
    assert 0.89 < np.mean(np.abs(estimates) <= np.log1p(error)) < 0.92  # whole people, so rather too many


REFUSED = {
    "sd": (lambda: assessors_needed(-1, margin=2), "sd=-1: expected 0 or more"),
    "margin": (lambda: assessors_needed(1, margin=0), "margin=0: expected a number above 0"),
    "nan": (lambda: assessors_needed(1, margin=float("nan")), "margin=nan: expected a number above 0"),
    "confidence": (
        lambda: assessors_needed(1, margin=1, confidence=95),
        "confidence=95: expected a number between 0 and 1, such as 0.95",
    ),
    "log_sd": (lambda: assessors_needed_for_ratio(-1, margin=2), "log_sd=-1: expected 0 or more"),
    "documents": (lambda: units_needed(7), "documents=7: expected 8 or more"),
    "redundancy": (lambda: units_needed(20, redundancy=0), "redundancy=0: expected 1 or more"),
    "checks": (lambda: units_needed(20, n_checks=-1), "n_checks=-1: expected 0 or more"),
    "unit_size": (lambda: units_needed(20, unit_size=2), "unit_size=2: 2 checks leave no room for other documents"),
}


@pytest.mark.parametrize(("call", "line"), REFUSED.values(), ids=REFUSED)
def test_a_plan_that_makes_no_sense_is_refused_in_one_line(call, line):
    with pytest.raises(ArgumentError) as caught:
        call()
    assert str(caught.value) == line
