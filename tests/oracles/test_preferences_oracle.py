"""The oracle of preferences against printed and hand-computed numbers."""

import pytest

from oracles import preferences as oracle

approx = pytest.approx
TOY = [("a", "b", 1, "g"), ("a", "c", 1, "g"), ("b", "c", 1, "g")]


def test_the_toy_of_wpref():
    assert oracle.wpref(list("bac"), TOY) == approx(0.6131, abs=5e-5)
    assert oracle.wpref(list("bac"), TOY, weight="upper") == approx(0.6199, abs=5e-5)


def test_the_printed_results_of_elsas_script():
    said = [(one, two, 1, "g") for one, two in ("12", "13", "32", "14", "34")]
    ranking = list("123")
    assert [oracle.ppref(ranking, said, k) for k in (1, 5)] == [1, 0.8]
    assert [oracle.rpref(ranking, said, k) for k in (1, 5)] == [0.6, 0.8]
    assert oracle.appref(ranking, said) == approx(0.9)
    assert oracle.wpref(ranking, said, 5, "upper-log2") == approx(0.8714, abs=5e-5)


def test_chains_count_but_not_within_a_cycle():
    cycle = {("a", "b"), ("b", "c"), ("c", "a")}
    assert oracle.closure(cycle) == cycle
    assert oracle.closure(cycle | {("c", "d"), ("d", "e")}) == cycle | {
        (one, two) for one in "abc" for two in "de"
    } | {("d", "e")}  # fmt: skip


def test_rank_biased_overlap_of_a_list_with_itself_is_the_sum_of_its_weights():
    assert oracle.rbo("ab", "ab", 0.5, 2) == 1.5
    assert oracle.rbo("ab", "ba", 0.5, 2) == 0.5
    assert oracle.rbo("ab", "ba", 0.5, 4) == 0.5 + 0.25 * 2 / 3 + 0.125 * 2 / 4
