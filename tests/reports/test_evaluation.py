"""What an evaluation says in one sentence, tables and notes."""

import numpy as np
import pytest

import qrowd
from qrowd.comparison import rank_intervals
from qrowd.errors import ArgumentError
from qrowd.model.scores import Scores
from qrowd.reports.evaluation import summarise
from qrowd.reports.plots.registry import Options
from qrowd.simulation import simulate_demo


def scores_of(by_assessor, systems=("A", "B", "C"), measures=("AP",)):
    """Scores of one topic from {assessor: scores of the systems}."""
    values = np.array(list(by_assessor.values()), float)[None, :, None, :].repeat(len(measures), axis=0)
    shape = values.shape
    ones = np.ones(shape[:3])
    return Scores(measures, tuple(by_assessor), ("t",), systems, values, ones, ones[0], {})


def sentence(by_assessor, **kwargs):
    return summarise(scores_of(by_assessor, **kwargs)).sentence


def test_the_leader_is_named_with_the_number_of_assessors():
    assert sentence({"a": (3, 2, 1), "b": (3, 2, 1), "c": (1, 2, 0)}) == (
        "By AP, A leads for 2 of 3 assessors; A and B change places with the assessor."
    )


def test_python_the_command_and_the_plot_of_ranks_test_all_pairs_with_the_same_numbers():
    runs, judgments, _ = simulate_demo()
    scores = qrowd.evaluate(runs, judgments, "nDCG@10")
    first, again = (summarise(scores).measures[0].ranks for _ in range(2))
    plotted = rank_intervals(scores, n_resamples=Options().n_resamples, rng=Options().rng)
    for ranks in (again, plotted, rank_intervals(scores)):
        assert np.array_equal(ranks.p, first.p)
        assert (ranks.n_resamples, ranks.seed) == (10_000, 1)


def test_a_system_that_leads_in_the_mean_alone_is_said_to():
    by_assessor = {"a": (4, 2, 5), "b": (4, 5, 2)}
    assert sentence(by_assessor).startswith("By AP, A leads in the mean, but for none of 2 assessors; ")


def test_unanimity_is_said():
    assert sentence({"a": (3, 2, 1), "b": (30, 20, 10)}) == (
        "By AP, A leads for both assessors; no two of the first 3 change places."
    )
    assert sentence({"a": (3, 2), "b": (30, 20)}, systems=("A", "B")).endswith("; no two of the first 2 change places.")
    assert sentence({"a": range(6, 0, -1), "b": range(6, 0, -1)}, systems=tuple("ABCDEF")).endswith(
        "; no two of the first 5 change places."
    )


def test_one_assessor_cannot_change_anybodys_place():
    assert sentence({"a": (3, 2, 1)}) == "By AP, A leads for the only assessor."


def test_systems_that_share_the_lead_are_all_named():
    assert sentence({"a": (3, 3, 1)}) == "By AP, A and B share the lead for the only assessor."


def test_an_only_system_leads_nobody():
    assert sentence({"a": (0.5,)}, systems=("A",)) == "A is the only system: mean AP 0.5000."
    assert sentence({"a": (0.5,)}, systems=("A",), measures=("Mean",)) == "A is the only system: Mean 0.5000."


def test_a_measure_that_names_another_leader_is_mentioned():
    scores = scores_of({"a": (3, 2, 1)}, measures=("AP", "RR"))
    scores.values[1] = scores.values[1][..., ::-1]
    assert "; by RR it is C." in summarise(scores).sentence


def test_a_measure_by_which_the_leader_ties_with_another_names_no_other_leader():
    scores = scores_of({"a": (1, 2, 3)}, measures=("AP", "RR"))
    scores.values[1] = 1.0
    assert "RR" not in summarise(scores).sentence


def test_without_any_score_nobody_leads():
    assert sentence({"a": (np.nan, np.nan, np.nan)}) == "No assessor has a score, so no system leads."


def test_the_most_contested_pair_is_the_one_whose_minority_is_largest():
    by_assessor = {"a": (5, 4, 3), "b": (5, 4, 3), "c": (4, 5, 3), "d": (5, 3, 4), "e": (5, 3, 4)}
    assert "B and C change places" in sentence(by_assessor)


def test_the_table_gives_range_and_ranks_over_assessors():
    rows = {row.system: row for row in summarise(scores_of({"a": (3, 2, 1), "b": (1, 2, 0)})).measures[0].rows}
    assert (rows["A"].lowest, rows["A"].highest) == (1, 3)
    assert (rows["A"].best_rank, rows["A"].worst_rank) == (1, 2)
    assert rows["C"].rank == 3


def test_scores_and_their_dataarray_sum_up_alike():
    runs, judgments, _ = simulate_demo()
    scores = qrowd.evaluate(runs, judgments, ["nDCG@10", "RR"])
    plain = summarise(scores, baseline="bm25", rng=1)
    labelled = summarise(scores.to_xarray(), baseline="bm25", rng=1)
    assert plain.sentence == labelled.sentence
    assert plain.notes == labelled.notes
    assert plain.to_frame().equals(labelled.to_frame())


def test_the_sentence_names_the_systems_that_may_be_the_best():
    random = np.random.default_rng(1)
    values = random.normal(0, 0.02, (1, 3, 10, 3)) + np.array([0.5, 0.49, 0.1])
    labels = ("a", "b", "c"), tuple(map(str, range(10))), ("A", "B", "C")
    scores = Scores(("AP",), *labels, values, np.ones((1, 3, 10)), np.ones((3, 10)), {})
    expected = "2 of 3 systems may be the best (95 % simultaneous confidence set over topics and assessors): A and B"
    assert f"; {expected}; " in summarise(scores).sentence
    methods = Scores(("AP",), *labels, values, np.ones((1, 3, 10)), np.ones((3, 10)), {"methods": ()})
    assert "A alone may be the best of 3 systems (95 % simultaneous confidence set over topics)" in (
        summarise(methods).sentence
    )


def test_an_unknown_baseline_gets_the_nearest_name():
    with pytest.raises(ArgumentError, match="did you mean 'bm25'"):
        summarise(scores_of({"a": (3, 2)}, systems=("dense", "bm25")), baseline="bm52")
