"""Agreement-aware nDCG."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import gain_distributions as oracle
from oracles.measures import rank
from qrowd.comparison.system_ranking import rank_systems
from qrowd.evaluation import evaluate
from qrowd.gain_distributions import agreement_aware_ndcg, gain_distributions, uncertain_dcg
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from strategies import worlds

GRADED = worlds(scales=("0-3",), n_documents=5).filter(lambda world: any(value >= 0 for *_, value in world.rows))
DISCOUNTS = st.sampled_from(("log2", "original"))
CUMULATES = st.sampled_from(("sum", "mixture"))
NORMALISES = st.sampled_from(("subtract", "divide"))
CUTOFFS = st.integers(1, 6)


def pool_of(world, topic):
    """{document: atoms} of the documents that somebody judged."""
    pool = {}
    for who in world.assessors:
        for document, grade in world.opinions[who, topic].grades.items():
            pool.setdefault(document, []).append((grade, 1.0))
    return pool


@given(GRADED, CUTOFFS, DISCOUNTS, CUMULATES, NORMALISES)
@settings(max_examples=settings.default.max_examples // 2)
def test_it_is_what_its_definition_says(world, k, dcg, cumulate, normalise):
    found = agreement_aware_ndcg(world.runs, world.judgments, cutoff=k, dcg=dcg, cumulate=cumulate, normalise=normalise)
    for t, topic in enumerate(found.topics):
        pool = pool_of(world, topic)
        for s, system in enumerate(found.systems):
            if not pool:
                assert np.isnan([found.mean[t, s], found.sd[t, s], found.ideal[t]]).all()
                continue
            documents = [pool.get(document, []) for document in rank(world.scores(system, topic))]
            expected = oracle.aandcg(documents, list(pool.values()), k, dcg, cumulate, normalise)
            assert (found.mean[t, s], found.sd[t, s]) == pytest.approx(expected, abs=1e-9)


@given(GRADED, CUTOFFS, DISCOUNTS, CUMULATES)
@settings(max_examples=settings.default.max_examples // 2)
def test_nothing_is_above_the_ideal_where_gains_are_not_below_0(world, k, dcg, cumulate):
    below = agreement_aware_ndcg(world.runs, world.judgments, cutoff=k, dcg=dcg, cumulate=cumulate)
    share = agreement_aware_ndcg(world.runs, world.judgments, cutoff=k, dcg=dcg, cumulate=cumulate, normalise="divide")
    known = ~np.isnan(below.mean)
    assert (below.mean <= 0)[known].all()
    assert (share.mean <= 1)[known].all()
    assert (share.mean >= 0)[known].all()
    # Where something gains, the two say the same: share = 1 + below / ideal.
    gains = (below.ideal > 0)[:, None] & known
    ideal = np.where(gains, below.ideal[:, None], 1)
    assert share.mean[gains] == pytest.approx((1 + below.mean / ideal)[gains], abs=1e-12)


@given(GRADED, CUTOFFS, CUMULATES, st.sampled_from((0.5, 4.0)))
@settings(max_examples=settings.default.max_examples // 2)
def test_gains_times_a_number_scale_the_difference_to_the_ideal_and_not_the_share_of_it(world, k, cumulate, factor):
    times = gain_distributions(world.judgments, gains={grade: factor * grade for grade in range(4)})
    for normalise, by in (("subtract", factor), ("divide", 1)):
        one = agreement_aware_ndcg(world.runs, world.judgments, cutoff=k, cumulate=cumulate, normalise=normalise)
        two = agreement_aware_ndcg(world.runs, times, cutoff=k, cumulate=cumulate, normalise=normalise)
        assert two.mean == pytest.approx(by * one.mean, abs=1e-12, nan_ok=True)
        assert two.sd == pytest.approx(by * one.sd, abs=1e-12, nan_ok=True)


@given(GRADED, CUTOFFS, DISCOUNTS)
@settings(max_examples=settings.default.max_examples // 2)
def test_of_a_single_assessor_the_share_of_the_ideal_is_ndcg_and_nothing_spreads(world, k, dcg):
    who = world.assessors[0]
    alone = world.judgments.select(assessors=[who])
    if not any(world.opinions[who, topic].grades and any(topic in lists for lists in world.lists.values())
               for topic in world.topics):  # fmt: skip
        return
    found = agreement_aware_ndcg(world.runs, alone, cutoff=k, dcg=dcg, normalise="divide")
    expected = evaluate(world.runs, alone, f"nDCG(dcg='{dcg}')@{k}").to_xarray()[0, 0].sel(topic=list(found.topics))
    assert found.mean == pytest.approx(expected.to_numpy(), abs=1e-12, nan_ok=True)
    assert not found.sd[~np.isnan(found.sd)].any()


# ---- conventions

JUDGMENTS = Judgments.from_rows(
    [("q1", "a", "x", 3), ("q1", "a", "y", 1), ("q1", "b", "x", 1), ("q1", "b", "y", 1), ("q2", "a", "x", 0)]
)
RUNS = Runs.from_dict(
    {"best": {"q1": {"a": 2, "b": 1}, "q2": {"a": 1}}, "worse": {"q1": {"b": 2, "a": 1}}, "none": {"q3": {"a": 1}}}
)


def test_a_missing_list_scores_as_an_empty_one_because_0_is_perfect_when_subtracting():
    found = agreement_aware_ndcg(RUNS, JUDGMENTS, cutoff=2)
    constant = 1 + 1 / np.log2(3)
    ideal = (2 + 1 / np.log2(3)) / constant
    assert found.constant == pytest.approx(constant)
    assert found.ideal == pytest.approx([ideal, 0])
    assert found.mean[0] == pytest.approx([0, (1 + 2 / np.log2(3)) / constant - ideal, -ideal])
    assert found.sd[0] == pytest.approx([1 / constant, 1 / np.log2(3) / constant, 0])
    assert found.ideal_sd == pytest.approx([1 / constant, 0])
    assert agreement_aware_ndcg(RUNS, JUDGMENTS, cutoff=2, normalise="divide").mean[0, 2] == 0
    skipped = agreement_aware_ndcg(RUNS, JUDGMENTS, cutoff=2, conventions=Conventions(missing="skip"))
    assert np.isnan(skipped.mean).tolist() == [[False, False, True], [False, True, True]]
    filled = agreement_aware_ndcg(RUNS, JUDGMENTS, cutoff=2, conventions=Conventions(missing="interpolate"))
    assert filled.mean[1, 1] == pytest.approx(skipped.mean[[0, 1], [1, 0]].mean())


def test_a_topic_where_nothing_gains_scores_0_or_nothing():
    for normalise in ("subtract", "divide"):
        assert agreement_aware_ndcg(RUNS, JUDGMENTS, normalise=normalise).mean[1].tolist() == [0, 0, 0]
        left_out = agreement_aware_ndcg(RUNS, JUDGMENTS, normalise=normalise, conventions=Conventions(empty="nan"))
        assert np.isnan(left_out.mean[1]).all()
        assert np.isnan(left_out.sd[1]).all()
        assert not np.isnan(left_out.mean[0]).any()


def test_log_gains_may_be_worse_than_an_unjudged_document():
    judgments = Judgments.from_rows([("q", "a", "x", 0.5), ("q", "b", "x", 0.25)], scales={"x": "magnitude"})
    runs = Runs.from_dict({"s": {"q": {"a": 2, "b": 1}}, "other": {"q": {"c": 1}}})
    found = agreement_aware_ndcg(runs, gain_distributions(judgments, gains="log"), cutoff=2)
    assert found.mean[0, 0] == 0
    assert found.mean[0, 1] > 0  # gains below 0: nothing is better than the documents there are


# ---- what comes out


def test_its_names_say_what_is_not_default():
    assert agreement_aware_ndcg(RUNS, JUDGMENTS, cutoff=5).measure == "AANDCG@5"
    found = agreement_aware_ndcg(RUNS, JUDGMENTS, cutoff=5, normalise="divide", cumulate="mixture", dcg="original")
    assert found.measure == "AANDCG(normalise='divide',cumulate='mixture',dcg='original')@5"
    assert found.sd_measure == "AANDCG(normalise='divide',cumulate='mixture',dcg='original',value='sd')@5"


def test_scores_are_those_of_one_assessor_called_panel():
    found = agreement_aware_ndcg(RUNS, JUDGMENTS)
    scores = found.scores()
    assert scores.measures == ("AANDCG@10", "AANDCG(value='sd')@10")
    assert scores.assessors == ("panel",)
    assert (scores.values[0, 0] == found.mean).all()
    assert (scores.values[1, 0] == found.sd).all()
    assert scores.relevant.tolist() == [[[2, 0]], [[2, 0]]]
    assert scores.coverage.tolist() == [[1, 1]]
    again = Scores.from_xarray(scores.to_xarray())
    assert (again.values == scores.values).all()
    assert again.attributes["conventions"]["normalise"] == "subtract"
    assert rank_systems(scores.sel(measure="AANDCG@10")).mean == pytest.approx(found.mean.mean(axis=0))


def test_frames_by_system_topic_and_cell():
    found = agreement_aware_ndcg(RUNS, JUDGMENTS)
    systems = found.to_frame(what="systems").set_index("system")
    assert systems["mean"].tolist() == pytest.approx(found.mean.mean(axis=0))
    assert systems["sd"].tolist() == pytest.approx(found.sd.mean(axis=0))
    topics = found.to_frame(what="topics").set_index("topic")
    assert topics.loc["q1", "mean"] == pytest.approx(found.mean[0].mean())
    assert topics["ideal"].tolist() == pytest.approx(found.ideal)
    assert len(found.to_frame()) == 6
    nothing = (
        agreement_aware_ndcg(RUNS, JUDGMENTS, conventions=Conventions(missing="skip"))
        .to_frame(what="systems")
        .set_index("system")
    )
    assert nothing.loc["none"].isna().all()


# ---- real panels


@pytest.mark.nightly
def test_of_eighteen_llms_the_mean_is_the_dcg_of_mean_judgments_and_its_share_of_the_ideal_its_ndcg(llms):
    runs, judgments = llms
    made = gain_distributions(judgments, gains="rescaled")
    rows = [
        (made.pool.topics[t], made.pool.documents[d], "mean", g)
        for t, d, g in zip(made.topic.tolist(), made.pool.document.tolist(), made.mean.tolist(), strict=True)
    ]
    merged = Judgments.from_rows(rows, scales={"mean": "0..1"})
    scores = (
        evaluate(runs, merged, ["DCG@10", "nDCG@10"])
        .to_xarray()
        .sel(topic=list(made.pool.topics), system=list(runs.systems))
    )
    total = uncertain_dcg(runs, made, cutoff=10)
    assert total.mean == pytest.approx(scores[0, 0].to_numpy(), abs=1e-12)
    share = agreement_aware_ndcg(runs, made, cutoff=10, normalise="divide")
    assert share.mean == pytest.approx(scores[1, 0].to_numpy(), abs=1e-12)
    below = agreement_aware_ndcg(runs, made, cutoff=10)
    assert below.mean.max() <= 0
    assert (below.sd > 0).mean() > 0.99
    mixture = agreement_aware_ndcg(runs, made, cutoff=10, cumulate="mixture")
    assert mixture.mean == pytest.approx(below.mean, abs=1e-12)
    assert mixture.sd.mean() > 2 * below.sd.mean()
    together = agreement_aware_ndcg(runs, made, cutoff=10, cumulate="assessors")
    assert together.mean == pytest.approx(below.mean, abs=1e-12)
    assert together.sd.mean() > 2 * below.sd.mean()
    assert together.ideal_sd.mean() > 2 * below.ideal_sd.mean()


def test_two_people_of_one_opinion_spread_less_than_two_who_differ(people):
    runs, judgments = people
    made = gain_distributions(judgments)
    found = agreement_aware_ndcg(runs, made, cutoff=10)
    disagreement = np.bincount(made.topic, made.variance) / np.bincount(made.topic)
    spread = found.to_frame(what="topics")["sd"].to_numpy()
    calm, stormy = np.argsort(disagreement)[[2, -3]]
    assert spread[calm] < spread[stormy]
    assert np.corrcoef(disagreement, spread)[0, 1] > 0.5
    alone = made.n == 1
    assert (made.variance[alone] == 0).all()
    assert sqrt(made.variance.max()) <= 1.5
