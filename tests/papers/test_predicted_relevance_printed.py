"""What the predicted relevance paper printed: golden numbers that follow from other printed numbers, and how."""

from itertools import product

import numpy as np
import pytest

from oracles.predicted_relevance import equation_4, equation_5
from qrowd.comparison.rankings import kendall_tau_b
from qrowd_papers.predicted_relevance import printed
from qrowd_papers.predicted_relevance.printed import (
    FIRST,
    SECOND,
    SYSTEMS,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TABLE_5,
    TABLE_6,
    TABLE_7,
    confusion,
    nearest_tau,
    shares,
    standard_errors,
)


def rounds_to(value, shown, digits=2):
    return abs(value - shown) <= 0.5 * 10**-digits + 1e-9


def test_the_twenty_judgments_of_table_1_give_its_fractions():
    pairs = list(zip(FIRST, SECOND, strict=True))
    for rule, method in ((equation_4, "one-sided"), (equation_5, "symmetric")):
        for grade, fraction in zip((2, 1, 0), TABLE_1[method], strict=True):
            assert rule(pairs, {2}, grade) == fraction


def test_table_3_holds_table_2():
    assert TABLE_3["Key"] == TABLE_2["pages (5)"][0]


def test_table_3_is_taken_apart_into_what_a_random_user_says():
    matrix = confusion()
    assert matrix.sum(axis=1) == pytest.approx(1)
    assert matrix[0] == pytest.approx([0.53, 0.34, 0.06, 0.07])
    assert matrix[3] == pytest.approx([0.01, 0.01, 0.06, 0.92])


def test_shares_of_grades_stay_what_they_are_when_somebody_else_judges():
    share = shares()
    assert share.sum() == pytest.approx(1)
    assert share @ confusion() == pytest.approx(share)
    assert share == pytest.approx([0.067, 0.075, 0.089, 0.770], abs=0.001)


def test_table_2_s_errors_follow_from_the_shares_that_table_3_implies():
    found = standard_errors()
    for ours, shown in zip(found["pages (5)"], TABLE_2["pages (5)"][1], strict=True):
        assert rounds_to(ours, shown)
    ours, shown = found["pages (4)"], TABLE_2["pages (4)"][1]
    assert [rounds_to(*pair) for pair in zip(ours[:3], shown[:3], strict=True)] == [False, True, True]
    assert ours[0] == pytest.approx(0.0254, abs=1e-4)
    p, n = 0.52, 7027 * shares()[0]  # the first one's judgments, had 23 % been above Non as Table 3 implies
    assert rounds_to((p * (1 - p) / n) ** 0.5, shown[0])


# ---- Table 5


def test_section_7_1_s_taus_are_tau_b_of_the_printed_table_without_the_oracle():
    rows = np.array([row for name, row in TABLE_5.items() if name != printed.ORACLE])
    taus = [kendall_tau_b(rows[:, i], rows[:, i + 2]) for i in (0, 4)]
    assert [round(tau, 2) for tau in taus] == [0.93, 0.89]
    rows = np.array(list(TABLE_5.values()))
    taus = [kendall_tau_b(rows[:, i], rows[:, i + 2]) for i in (0, 4)]
    assert [round(tau, 2) for tau in taus] == [0.94, 0.90]


# ---- Tables 6 and 7


def test_without_ties_tau_runs_in_steps_of_two_pairs():
    assert {round(nearest_tau(x / 100, 4), 6) for x in range(-100, 101)} == {round(s / 6, 6) for s in range(-6, 7, 2)}


def test_any_two_rankings_with_so_many_tied_pairs_have_a_tau_that_is_reachable():
    orders = []
    for order in product(range(4), repeat=4):
        tied = sum(order[i] == order[j] for i in range(4) for j in range(i))
        if tied <= 2:
            orders.append(np.array(order, float))
    for x in orders[::7]:
        for y in orders[::3]:
            tau = kendall_tau_b(x, y)
            assert nearest_tau(tau, 4, 2) == pytest.approx(tau, abs=1e-12)


def test_every_printed_tau_can_be_had_with_two_tied_pairs_and_six_of_eighteen_not_without():
    """So that the printed taus allow for ties: tau-b."""
    shown = [(tau, SYSTEMS[name.split()[0]]) for name, row in TABLE_6.items() for tau in row]
    shown += [(tau, SYSTEMS["merging"]) for row in TABLE_7.values() for tau in row]
    assert all(rounds_to(nearest_tau(tau, n, 2), tau) for tau, n in shown)
    assert sum(not rounds_to(nearest_tau(tau, n), tau) for tau, n in shown) == 6
