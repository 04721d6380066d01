"""Robustness of system rankings: Tables 6 and 7 of Demeester et al. (2016), on simulated and on real assessors."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.predicted_relevance import kendall_tau_a
from qrowd.comparison.rankings import kendall_tau_b
from qrowd.errors import ArgumentError, MeasureError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.files import read_runs
from qrowd.model.judgments import Judgments
from qrowd.predicted_relevance import predicted_relevance
from qrowd.simulation import simulate_demo
from qrowd_papers.predicted_relevance.study import GAINS, _tau, robustness

RUNS, ALL, _ = simulate_demo()
PEOPLE = ALL.select(assessors=["ann", "bob", "lena", "sven"])


def test_a_cell_is_the_tau_of_two_halves_scored_by_hand():
    found = robustness(RUNS, PEOPLE, "nDCG@10", rel=3, halves=(["ann", "bob"], "s*"))
    model = predicted_relevance(PEOPLE, rel=3, n_resamples=0)
    exponential = PEOPLE.recode({0: 0, 1: 1, 2: 3, 3: 7})
    recoded = (PEOPLE.recode(3), model.with_gains(PEOPLE, grade_gains=model.probability), PEOPLE, exponential)
    for g, judgments in enumerate(recoded):
        scores = evaluate(RUNS, judgments, "nDCG@10").to_xarray().isel(measure=0)
        means = [scores.sel(assessor=half).mean("assessor").mean("topic").values for half in (["ann", "bob"], ["sven"])]
        assert found.between_halves[0, g, 0] == pytest.approx(kendall_tau_b(*means), abs=1e-12)
        whole = [s.isel(measure=0).mean("assessor").mean("topic").values for s in (
            evaluate(RUNS, recoded[1], "nDCG@10").to_xarray(), evaluate(RUNS, judgments, "nDCG@10").to_xarray()
        )]  # fmt: skip
        assert found.with_predicted[0, g] == pytest.approx(kendall_tau_b(*whole), abs=1e-12)
    assert found.gains == GAINS
    assert found.seed is None


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8))
def test_tau_a_divides_by_all_pairs(pairs):
    x, y = np.array(pairs, float).T
    assert _tau(x, y, "a") == pytest.approx(kendall_tau_a(x.tolist(), y.tolist()))


def test_random_halves_are_the_same_for_the_same_rng():
    one, again, other = (robustness(RUNS, PEOPLE, rel=3, n_resamples=6, rng=rng) for rng in (1, 1, 2))
    assert np.array_equal(one.between_halves, again.between_halves)
    assert not np.array_equal(one.between_halves, other.between_halves)
    assert one.between_halves.shape == (1, 4, 6)
    frame = one.to_frame().set_index("gains")
    assert frame.loc["binary", "tau"] == pytest.approx(one.between_halves[0, 0].mean())
    assert frame.loc["binary", "deviation"] == pytest.approx(one.between_halves[0, 0].std(ddof=1))
    assert frame.loc["predicted", "tau_with_predicted"] == 1
    assert one.n_topics.tolist() == [25] * 6


def test_measures_take_their_form_for_probabilities():
    found = robustness(RUNS, PEOPLE, ["P@10", "ERR"], rel=3, n_resamples=1, rng=1, tau="a")
    assert found.measures == ("P(relevance='given')@10", "ERR(stop='given')")
    assert (np.abs(found.between_halves) <= 1).all()


def test_on_real_people_predicted_gains_rank_systems_more_alike_than_binary_ones(dl19):
    """Two people judged every passage, and systems are ranked by the one or the other: as Table 6."""
    frame = pd.read_csv(dl19 / "humans" / "main.tsv", sep="\t", dtype={"topic": str, "document": str})
    slots = Judgments.from_frame(frame).slots(2)
    found = robustness(read_runs(str(dl19 / "runs" / "*")), slots, "nDCG@10", rel=3, halves=("slot 1", "slot 2"))
    binary, predicted = found.between_halves[0, :2, 0]
    assert predicted > binary + 0.04
    assert 0.8 < binary < 0.9
    assert found.n_topics.tolist() == [43]


def test_what_cannot_be_halved_is_refused():
    with pytest.raises(ArgumentError, match="1 assessor cannot be divided"):
        robustness(RUNS, PEOPLE.select(assessors="ann"), rel=3)
    with pytest.raises(ArgumentError, match="assessor ann is in both"):
        robustness(RUNS, PEOPLE, rel=3, halves=("ann", ["ann", "bob"]))
    for options in ({"halves": "odd"}, {"n_resamples": 0}):
        with pytest.raises(ArgumentError, match="two selections"):
            robustness(RUNS, PEOPLE, rel=3, **options)
    with pytest.raises(ArgumentError, match="choose one of b, a"):
        robustness(RUNS, PEOPLE, rel=3, tau="c")
    with pytest.raises(MeasureError, match="sample"):
        robustness(RUNS, PEOPLE, "AP", rel=3)


def test_halves_that_share_no_topic_are_refused():
    rows = [("q23", "q23-00038", "ann", 1), ("q23", "q23-00038", "bob", 1), ("q1", "x", "cyd", 1)]
    with pytest.raises(NoOverlapError, match="no topic was judged by assessors of both"):
        robustness(RUNS, Judgments.from_rows(rows), rel=1, halves=(["ann", "bob"], "cyd"))
