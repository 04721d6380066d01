"""Printed numbers, and small cases worked out by hand."""

from math import log2

import numpy as np
import pytest
from scipy.stats import kendalltau

from qrowd.evaluation import evaluate
from qrowd.files import read_preferences
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from real_runs import runs_of

approx = pytest.approx


def ranking(*documents):
    return Runs.from_dict({"s": {"q": {document: -i for i, document in enumerate(documents)}}})


def scored(measure, documents, pairs, bad=(), **options):
    preferences = Preferences.from_rows(
        [("q", *pair, "ann") for pair in pairs], bad=[("q", document, "ann") for document in bad]
    )
    return (
        evaluate(ranking(*documents), preferences, measure, conventions=Conventions(min_coverage=0, **options))
        .to_xarray()
        .item()
    )


TOY = ("ab", "ac", "bc")


@pytest.mark.parametrize(
    ("measure", "score"), [("wpref", 0.6131), ("wpref(weight='upper')", 0.6199), ("ppref", 2 / 3), ("nppref", 2 / 3)]
)
def test_the_toy_ranks_b_a_c_where_a_is_better_than_b_and_both_are_better_than_c(measure, score):
    assert scored(measure, "bac", TOY) == approx(score, abs=5e-5)


def test_the_weights_of_the_toy_are_those_of_its_ranks():
    assert scored("wpref", "bac", TOY) == approx(1 / (1 + 1 / log2(3)))
    assert scored("wpref(weight='upper')", "bac", TOY) == approx((1 + 1 / log2(3)) / (2 + 1 / log2(3)))


@pytest.mark.parametrize(
    ("measure", "score"),
    [
        ("ppref@1", 1.0),
        ("ppref@5", 0.8),
        ("ppref@10", 0.8),
        ("rpref@1", 0.6),
        ("rpref@5", 0.8),
        ("wpref(weight='upper-log2')@1", 1.0),
        ("wpref(weight='upper-log2')@5", 0.8714),
        ("APpref", 0.9),
    ],
)
def test_the_small_example_of_elsas_scores_what_his_script_prints(measure, score):
    """github jelsas/Pairwise-Preference-Evaluation, test_data/small_expected_results.txt: 4 is Bad and not ranked.

    There every document preferred to some other is preferred to what is Bad: to 4 are 1 and 3.
    """
    assert scored(measure, "123", ("12", "13", "32", "14", "34")) == approx(score, abs=5e-5)


def test_an_unranked_document_stands_below_the_list_and_a_pair_of_two_is_not_counted():
    assert scored("ppref", "a", ("ab", "ca", "cd")) == 1 / 2
    assert scored("wpref", "xa", ("ab", "ba")) == 1 / 2
    assert scored("wpref", "ab", ("ab", "ca")) == approx((1 / log2(3)) / (1 / log2(3) + 1 / log2(4)))
    assert scored("rpref", "a", ("ab", "ca", "cd")) == 1 / 3
    assert scored("ppref", "xy", ("ab",)) == 0


def test_a_cut_off_makes_everything_below_it_unranked():
    assert scored("ppref@1", "bac", TOY) == 1 / 2  # b over a is wrong, b over c right, a over c not counted
    assert scored("wpref@1", "bac", TOY) == approx(1 / 2)  # both pairs reach down to rank 2
    assert scored("APpref@1", "bac", TOY) == 1 / 2
    assert scored("APpref", "bac", TOY) == approx((1 / 2 + 2 / 3) / 2)


def test_definite_preferences_weigh_what_one_says():
    preferences = Preferences.from_rows([("q", "a", "b", "ann", 2), ("q", "c", "a", "ann")])
    scores = evaluate(ranking("a", "b", "c"), preferences, ["ppref", "ppref(strong=3)", "ppref(strong=0)"]).to_xarray()
    assert scores.values.ravel().tolist() == [1 / 2, 3 / 4, 0]


def test_contradictions_count_both_ways_and_nppref_allows_for_them():
    pairs = ("ab", "ab", "ba", "bc")
    assert scored("ppref", "abc", pairs) == 3 / 4
    assert scored("nppref", "abc", pairs) == 1
    assert scored("nppref", "bac", pairs) == 2 / 3


def test_compatibility_is_the_overlap_with_the_ideal_ranking_over_the_ideals_own():
    """Levels a 2, b 1, c 0: the ideal is a, b. The ranking b, a shares nothing at depth 1, both at depth 2."""
    ideal = 1 + 0.5 * 2 / 2 + 0.25 * 2 / 3
    assert scored("compatibility(p=0.5)@3", "bac", TOY) == approx((0.5 * 2 / 2 + 0.25 * 2 / 3) / ideal)
    assert scored("compatibility(p=0.5)@3", "xab", TOY) == approx((0.5 * 1 / 2 + 0.25 * 2 / 3) / ideal)
    assert scored("compatibility(p=0.5)@1", "abc", TOY) == 1


def test_ties_in_the_ideal_ranking_are_broken_in_the_rankings_favour():
    grades = [("q", document, "ann", grade) for document, grade in zip("abcd", (1, 1, 2, 0), strict=True)]
    judgments = Judgments.from_rows(grades)
    for documents in (("c", "a", "b"), ("c", "b", "a")):
        assert evaluate(ranking(*documents), judgments, "compatibility").to_xarray().item() == approx(1)
    assert evaluate(ranking("a", "c", "b"), judgments, "compatibility").to_xarray().item() < 1


def test_equal_scores_are_broken_by_ascending_id_for_compatibility_and_descending_for_others():
    runs = Runs.from_dict({"s": {"q": {"a": 1.0, "b": 1.0}}})
    preferences = Preferences.from_rows([("q", "a", "b", "ann")])
    scores = evaluate(runs, preferences, ["compatibility", "ppref"]).to_xarray()
    assert scores.values.ravel().tolist() == [approx(1), 0]


@pytest.fixture(scope="module")
def human(dl21):
    return read_preferences([dl21 / "preferences" / "crowd.txt.gz", dl21 / "preferences" / "gpt4o.txt.gz"])


def test_the_preferences_of_dl21_are_all_read(human):
    crowd, gpt4o = (human.select(assessors=name) for name in human.assessors)
    assert (len(crowd), len(gpt4o)) == (11681, 43939)
    assert crowd.assessors + gpt4o.assessors == ("crowd", "gpt4o")
    assert not np.isnan(crowd.first).any()  # a and b are known to be in the order shown
    assert gpt4o.first is None or np.isnan(gpt4o.first).all()


@pytest.mark.nightly
def test_people_and_a_model_order_real_systems_alike(human, dl21):
    scores = evaluate(runs_of(dl21), human, ["wpref@10", "compatibility"]).to_xarray()
    for crowd, gpt4o in scores.mean("topic").values:
        assert kendalltau(crowd, gpt4o).statistic > 0.7
