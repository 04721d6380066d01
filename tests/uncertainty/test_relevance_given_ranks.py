"""Which documents are relevant, given labels and ranks."""

import numpy as np
import pytest
from scipy import stats

from qrowd.aggregation import dawid_skene
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.evaluation import evaluate
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.simulation import simulate_judgments, simulate_pool, simulate_runs
from qrowd.simulation.assessors import Confused, Lenient
from qrowd.uncertainty import relevance_given_ranks, under_label_uncertainty
from qrowd.uncertainty.relevance_given_ranks import _normal_scores, _truncated_normal
from qrowd_papers.true_scores import DESIGNS, LABELS, true_scores

approx = pytest.approx
ACCURACY = (0.65, 0.7, 0.75, 0.8, 0.85)


def world(seed, *, quality=(0.3, 1.5), n_topics=12, accuracy=ACCURACY, grades=2):
    truth = simulate_pool(n_topics, 40, n_grades=grades, prevalence=0.3, topic_variance=0.0, rng=seed)
    runs = simulate_runs(truth, 6, quality=quality, rng=seed + 1000)
    judges = {f"a{i}": Confused.of_accuracy(a) for i, a in enumerate(accuracy)}
    return truth, runs, simulate_judgments(truth, judges, rng=seed + 2000)


def test_the_true_score_lies_within_the_draws_given_ranks_and_not_within_those_from_labels_alone():
    design = "quality 0.3 to 1.5"
    found = true_scores({design: DESIGNS[design]}, n_simulations=12, n=150, rng=3)
    alone, ranks = (found.labels == labels for labels in LABELS)
    assert (found.coverage[alone] < 0.5).all()
    assert (found.coverage[ranks] > 0.88).all()
    assert (found.bias[alone] < -0.06).all()
    assert (np.abs(found.bias[ranks]) < 0.015).all()


@pytest.mark.parametrize("quality", [0.0, 1.5])
def test_probabilities_are_as_often_true_as_they_say(quality):
    said, true = [], []
    for seed in range(6):
        truth, runs, judgments = world(seed, quality=(quality, quality))
        said.append(relevance_given_ranks(runs, judgments, n_resamples=300, rng=seed).probability)
        true.append(truth.judgments().panel().values[:, 0])
    said, true = np.concatenate(said), np.concatenate(true)
    for low, high in ((0.0, 0.1), (0.1, 0.35), (0.35, 0.65), (0.65, 0.9), (0.9, 1.01)):
        here = (said >= low) & (said < high)
        error = (said[here].mean() * (1 - said[here].mean()) / here.sum()) ** 0.5
        assert true[here].mean() == approx(said[here].mean(), abs=4 * error + 0.01)


def test_rates_of_assessors_and_the_weight_of_good_runs_are_found():
    _, runs, judgments = world(11, n_topics=40)
    found = relevance_given_ranks(runs, judgments, n_resamples=200, rng=1)
    np.testing.assert_allclose(found.sensitivity, ACCURACY, atol=0.06)
    np.testing.assert_allclose(found.specificity, ACCURACY, atol=0.06)
    assert found.weight[-1] > found.weight[0] + 0.1
    np.testing.assert_allclose(found.probability, found.relevant.mean(axis=1))
    assert found.relevant.shape == (1600, 200)


def test_runs_that_rank_by_chance_change_nothing():
    _, runs, judgments = world(12, quality=(0.0, 0.0), n_topics=40)
    found = relevance_given_ranks(runs, judgments, n_resamples=400, rng=1)
    posterior = dawid_skene(judgments, per="all", rng=1)
    assert np.abs(found.weight).max() < 0.15
    assert np.abs(found.probability - posterior.posterior[:, 1]).mean() < 0.05


def test_ranks_become_normal_scores_of_the_pooled_documents_and_what_is_not_retrieved_shares_the_rest():
    said = [("q", f"d{i}", "ann", i % 2) for i in range(4)] + [("r", "e0", "ann", 1), ("r", "e1", "ann", 0)]
    judgments = Judgments.from_rows(said, scales={"*": "binary"})
    runs = Runs.from_dict(
        {"a": {"q": {"d2": 9.0, "x": 8.0, "d0": 7.0}}, "b": {"r": {"e1": 2.0, "e0": 1.0}, "q": {"d3": 1.0}}}
    )
    scores = _normal_scores(runs, judgments.panel().pool, "float64")
    four, two = stats.norm.ppf([0.875, 0.625, 0.375, 0.125]), stats.norm.ppf([0.75, 0.25])
    rest, others = four[2:].mean(), four[1:].mean()
    pool = judgments.panel().pool
    rows = {pool.documents[d]: row for row, d in enumerate(pool.document)}
    wanted = {
        "d0": (four[1], others), "d1": (rest, others), "d2": (four[0], others), "d3": (rest, four[0]),
        "e0": (0, two[1]), "e1": (0, two[0]),
    }  # fmt: skip
    for document, pair in wanted.items():
        assert scores[rows[document]] == approx(pair)


def test_truncated_normal_numbers_have_their_mean_and_side():
    random = np.random.default_rng(4)
    for centre, positive in ((-1.5, True), (0.3, False), (2.0, True)):
        found = _truncated_normal(np.full(20_000, centre), np.full(20_000, positive), random)
        low, high = (-centre, np.inf) if positive else (-np.inf, -centre)
        law = stats.truncnorm(low, high, loc=centre)
        assert ((found > 0) == positive).all()
        assert found.mean() == approx(law.mean(), abs=5 * law.std() / 20_000**0.5)


def test_what_all_of_many_good_assessors_say_is_drawn():
    truth, runs, judgments = world(13, accuracy=(0.99,) * 7)
    found = relevance_given_ranks(runs, judgments, n_resamples=100, rng=1)
    true = truth.judgments().panel().values[:, 0]
    assert np.abs(found.probability - true).mean() < 0.005


def test_draws_are_scored_as_they_are_and_the_result_says_what_they_are():
    _, runs, judgments = world(14)
    drawn = relevance_given_ranks(runs, judgments, n_resamples=20, rng=5)
    found = under_label_uncertainty(runs, drawn, ["AP", "nDCG@10"], n_resamples=7, block=6)
    exact = evaluate(runs, drawn.panel(), ["AP", "nDCG@10"]).to_xarray().mean("topic").values
    np.testing.assert_allclose(found.samples, exact, rtol=1e-12)
    assert (found.labels, found.n_resamples, found.seed) == ("relevance given labels and ranks", 20, 5)


def test_graded_and_partial_judgments_count_from_where_each_scale_says_relevant():
    _, runs, judgments = world(15)
    frame = judgments.to_frame()
    rows = [
        (t, d, a, 3 * v if a == "a4" else v)
        for i, (t, d, a, v) in enumerate(
            zip(frame["topic"], frame["document"], frame["assessor"], frame["value"], strict=True)
        )
        if i % 3 or a == "a4"
    ]
    partial = Judgments.from_rows(rows, scales={"a4": "0-3", "*": "binary"})
    yes_no = Judgments.from_rows([(t, d, a, min(v, 1)) for t, d, a, v in rows], scales={"*": "binary"})
    one, other = (relevance_given_ranks(runs, given, n_resamples=30, rng=1).relevant for given in (partial, yes_no))
    np.testing.assert_array_equal(one, other)


def test_one_seed_one_result():
    _, runs, judgments = world(16, n_topics=4)
    one, two, other = (relevance_given_ranks(runs, judgments, n_resamples=10, rng=rng) for rng in (1, 1, 2))
    np.testing.assert_array_equal(one.relevant, two.relevant)
    assert not np.array_equal(one.relevant, other.relevant)
    again = relevance_given_ranks(runs, judgments, n_resamples=10)
    np.testing.assert_array_equal(
        relevance_given_ranks(runs, judgments, n_resamples=10, rng=again.seed).relevant, again.relevant
    )


def test_what_cannot_be_drawn_is_refused():
    _, runs, judgments = world(17, n_topics=3)
    with pytest.raises(ArgumentError, match="n_resamples=0"):
        relevance_given_ranks(runs, judgments, n_resamples=0)
    with pytest.raises(ScaleError, match="a0: the scale does not say what is relevant"):
        relevance_given_ranks(runs, judgments.recode({0: 1, 1: 7}).with_scales({"*": "magnitude"}))
    with pytest.raises(NoOverlapError, match="share no topic"):
        relevance_given_ranks(Runs.from_dict({"a": {"z": {"d": 1.0}}}), judgments)
    with pytest.raises(ArgumentError, match="no document was judged"):
        relevance_given_ranks(runs, judgments.recode({0: -1, 1: -1}))
    drawn = relevance_given_ranks(runs, judgments, n_resamples=3, rng=1)
    unit = Conventions(grades="rescaled")
    assert (
        under_label_uncertainty(runs, drawn, "AP", conventions=unit).n_resamples == 3
    )  # yes and no are fractions as they are


def test_assessors_who_err_alike_are_found_and_then_no_interval_of_the_true_score_is_offered():
    told = {}
    for name, behaviour in (("alike", Lenient(noise=0.7)), ("independent", Confused.of_accuracy(0.8))):
        truth, runs, _ = world(18)
        judgments = simulate_judgments(truth, {f"a{i}": behaviour for i in range(5)}, rng=1)
        found = relevance_given_ranks(runs, judgments, n_resamples=100, rng=1)
        told[name] = found.p_independent, under_label_uncertainty(runs, found, "AP").labels
    assert told["alike"][0] < 0.05 < told["independent"][0]
    assert "no interval of the true score: assessors err alike (p 0.0" in told["alike"][1]
    assert told["independent"][1] == "relevance given labels and ranks"


def test_one_assessor_cannot_be_checked():
    _, runs, judgments = world(19, accuracy=(0.9,), n_topics=4)
    found = relevance_given_ranks(runs, judgments, n_resamples=10, rng=1)
    assert np.isnan(found.p_independent)
    assert found.independent
