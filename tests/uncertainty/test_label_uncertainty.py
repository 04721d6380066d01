"""Draws of the labels: what they are drawn from, what is made of them, and what must not matter."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import label_uncertainty as oracle
from qrowd.aggregation import dawid_skene, majority_vote, mean
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.evaluation import evaluate
from qrowd.files import read_judgments, read_runs
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.simulation import simulate_pool, simulate_runs
from qrowd.uncertainty import JudgmentSamples, under_label_uncertainty
from strategies import World, worlds

approx = pytest.approx
ARRAYS = ("samples", "mean", "sd", "low", "high", "rank_shares", "rank_low", "rank_high", "above")


@pytest.fixture(scope="module")
def truth():
    return simulate_pool(4, 15, rng=3)


@pytest.fixture(scope="module")
def runs(truth):
    return simulate_runs(truth, 4, rng=3)


@pytest.fixture(scope="module")
def judgments(truth):
    random = np.random.default_rng(3)
    gold = truth.judgments().to_frame()
    rows = [
        (topic, document, assessor, int(np.clip(value + random.integers(-1, 2), 0, 3)))
        for topic, document, value in zip(gold["topic"], gold["document"], gold["value"], strict=True)
        for assessor in ("ann", "bob", "cat")
        if random.random() < 0.8  # some documents are judged by two, by one or by nobody
    ]
    return Judgments.from_rows(rows, scales={"*": "0-3"})


def said(panel):
    """[{(topic, document): value}] of each assessor of a panel."""
    pairs = [
        (topic, panel.pool.documents[d])
        for t, topic in enumerate(panel.pool.topics)
        for d in panel.pool.document[panel.pool.rows(t)]
    ]
    return [
        {pair: value for pair, value in zip(pairs, column, strict=True) if not np.isnan(value)}
        for column in panel.values.T
    ]


def assert_same(one, other):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def assert_as_the_oracle_says(found, means):
    """Everything that is computed from the means of the draws."""
    np.testing.assert_allclose(found.samples[0], means, rtol=1e-11, atol=1e-13)
    for s in range(len(found.systems)):
        column = [row[s] for row in means]
        average, sd = oracle.mean_and_sd(column)
        assert found.mean[0, s] == approx(average, abs=1e-12)
        assert found.sd[0, s] == approx(sd, abs=1e-9, nan_ok=True)
        tail = (1 - found.confidence) / 2
        assert found.low[0, s] == approx(oracle.quantile(column, tail), abs=1e-12)
        assert found.high[0, s] == approx(oracle.quantile(column, 1 - tail), abs=1e-12)
        interval = oracle.rank_interval(means, s, found.confidence)
        assert (found.rank_low[0, s], found.rank_high[0, s]) == interval
    np.testing.assert_allclose(found.rank_shares[0], oracle.rank_shares(means), atol=1e-12)
    np.testing.assert_allclose(found.above[0], oracle.above(means), atol=1e-12)


# ---- against the oracle


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "P@5"])
@pytest.mark.parametrize("share", [0.95, 0.8])
def test_one_judgment_per_document_is_what_evaluating_each_draw_alone_gives(runs, judgments, measure, share):
    draws = [draw for panel in JudgmentSamples(judgments, 40, rng=7) for draw in said(panel)]
    found = under_label_uncertainty(runs, judgments, measure, n_resamples=40, confidence=share, rng=7)
    assert_as_the_oracle_says(found, oracle.means_of_draws(runs, draws, judgments.scales[0], measure))


@pytest.mark.parametrize("aggregator", [majority_vote, dawid_skene])
def test_a_posterior_s_draws_are_what_evaluating_each_alone_gives(runs, judgments, aggregator):
    merged = aggregator(judgments, **({"ties": "fractional"} if aggregator is majority_vote else {"rng": 2}))
    draws = [draw for panel in merged.sample(30, rng=7) for draw in said(panel)]
    found = under_label_uncertainty(runs, merged, "nDCG@10", n_resamples=30, rng=7)
    assert_as_the_oracle_says(found, oracle.means_of_draws(runs, draws, merged.scale, "nDCG@10"))


def test_one_assessor_per_topic_gives_each_topic_the_scores_of_one_of_them(runs, judgments):
    scores = evaluate(runs, judgments, "AP").to_xarray()
    found = under_label_uncertainty(runs, judgments, "AP", n_resamples=200, draw="topic", rng=7)
    possible = {
        tuple(np.round(scores.values[0][list(who), range(4)].mean(axis=0), 12)) for who in np.ndindex(3, 3, 3, 3)
    }
    drawn = {tuple(row) for row in np.round(found.samples[0], 12)}
    assert drawn <= possible
    assert len(drawn) > 60
    assert_as_the_oracle_says(found, found.samples[0].tolist())
    exact = scores.values[0].mean(axis=(0, 1))  # every assessor has a score on every topic
    np.testing.assert_allclose(found.mean[0], exact, atol=4 * found.sd.max() / 200**0.5)


@given(worlds(n_systems=2, repeats=True), st.sampled_from(["zero", "nan"]), st.sampled_from(["zero", "skip"]))
def test_untidy_worlds_are_scored_draw_by_draw(world, empty, missing):
    conventions = Conventions(empty=empty, missing=missing)
    try:
        samples = JudgmentSamples(world.judgments, 5, rng=1)
    except (ScaleError, ArgumentError):
        return
    scores = evaluate(world.runs, samples, "nDCG@3", conventions=conventions).values[0]
    if np.isnan(scores).all():
        with pytest.raises(ArgumentError, match="no draw has a score"):
            under_label_uncertainty(
                world.runs, world.judgments, "nDCG@3", n_resamples=5, conventions=conventions, rng=1
            )
        return
    found = under_label_uncertainty(
        world.runs, world.judgments, "nDCG@3", n_resamples=5, conventions=conventions, rng=1
    )
    means = [oracle.average(table.tolist()) for table in scores]
    np.testing.assert_allclose(found.samples[0], means, atol=1e-12)
    for s in range(len(found.systems)):
        known = [row[s] for row in means if row[s] == row[s]]
        assert found.mean[0, s] == approx(oracle.mean_and_sd(known)[0] if known else np.nan, nan_ok=True)
        assert (found.rank_low[0, s] == 0) == (not known)


# ---- what is drawn


def test_every_judgment_of_a_document_is_equally_likely_and_documents_draw_independently(judgments):
    n = 4000
    values = np.hstack([panel.values for panel in JudgmentSamples(judgments, n, rng=1)])
    panel = judgments.panel()
    for given_values, drawn in zip(panel.values, values, strict=True):
        known = given_values[~np.isnan(given_values)]
        assert set(drawn) == set(known)
        for value in set(known):
            p = (known == value).mean()
            assert (drawn == value).mean() == approx(p, abs=5 * (p * (1 - p) / n) ** 0.5)
    varied = np.corrcoef(values[values.std(axis=1) > 0])
    assert np.abs(varied[np.triu_indices_from(varied, 1)]).max() < 5 / n**0.5


@given(worlds(scales=["0-3"]), st.randoms(use_true_random=False))
def test_the_order_in_which_judgments_were_told_does_not_matter(world, random):
    if not (world.judgments.value >= 0).any():
        return
    told, retold = (
        [draw for panel in JudgmentSamples(w.judgments, 3, rng=5) for draw in said(panel)]
        for w in (world, world.shuffled(random))
    )
    assert told == retold


def test_a_draw_depends_on_its_number_alone(runs, judgments):
    for draw in ("document", "topic"):
        many = under_label_uncertainty(runs, judgments, "AP", n_resamples=150, draw=draw, rng=4)
        few = under_label_uncertainty(runs, judgments, "AP", n_resamples=70, draw=draw, rng=4)
        np.testing.assert_array_equal(few.samples, many.samples[:, :70])


@pytest.mark.parametrize("block", [1, 7, 64, 100])
def test_neither_threads_nor_the_size_of_blocks_matter(runs, judgments, block):
    cases = [(judgments, "document"), (judgments, "topic"), (dawid_skene(judgments, rng=1), "document")]
    for labels, draw in cases:
        one, other = (
            under_label_uncertainty(runs, labels, ["AP", "nDCG@10"], n_resamples=150, draw=draw, rng=4, **options)
            for options in ({}, {"block": block, "threads": 1})
        )
        assert_same(one, other)


def test_the_seed_that_is_stated_gives_the_same_again(runs, judgments):
    once = under_label_uncertainty(runs, judgments, "AP", n_resamples=20)
    assert_same(once, under_label_uncertainty(runs, judgments, "AP", n_resamples=20, rng=once.seed))
    assert not np.array_equal(once.samples, under_label_uncertainty(runs, judgments, "AP", n_resamples=20).samples)


# ---- laws


@pytest.mark.parametrize("draw", ["document", "topic"])
def test_a_unanimous_panel_leaves_nothing_uncertain(runs, judgments, draw):
    first = judgments.select(assessors="ann")
    known = first.to_frame()
    rows = [
        (topic, document, name, value)
        for name in ("ann", "bob", "cat")
        for topic, document, value in zip(known["topic"], known["document"], known["value"], strict=True)
    ]
    panel = Judgments.from_rows(rows, scales={"*": judgments.scales[0]})
    found = under_label_uncertainty(runs, panel, ["AP", "nDCG@10"], n_resamples=30, draw=draw, rng=1)
    assert (found.sd == 0).all()
    assert set(np.unique(found.above)) <= {0.0, 1.0}
    assert set(np.unique(found.rank_shares)) <= {0.0, 1.0}
    np.testing.assert_array_equal(found.low, found.high)
    np.testing.assert_array_equal(found.rank_low, found.rank_high)
    exact = (
        evaluate(runs, first.with_scales({"*": judgments.scales[0]}), ["AP", "nDCG@10"])
        .to_xarray()
        .mean("topic")
        .values[:, 0]
    )
    np.testing.assert_allclose(found.mean, exact, rtol=1e-12)


def test_a_measure_linear_in_gains_has_the_expected_labels_score_for_its_mean(runs, judgments):
    expected = evaluate(runs, mean(judgments).judgments, "DCG@10").to_xarray().mean("topic").values[0, 0]
    found = under_label_uncertainty(runs, judgments, "DCG@10", n_resamples=4000, rng=1)
    assert (np.abs(found.mean[0] - expected) < 4 * found.sd[0] / 4000**0.5).all()
    posterior = dawid_skene(judgments, rng=1)
    expected = evaluate(runs, posterior.expected(), "DCG@10").to_xarray().mean("topic").values[0, 0]
    found = under_label_uncertainty(runs, posterior, "DCG@10", n_resamples=4000, rng=1)
    assert (np.abs(found.mean[0] - expected) <= 4 * found.sd[0] / 4000**0.5 + 1e-12).all()


@pytest.mark.parametrize("draw", ["document", "topic"])
def test_nobody_s_place_among_the_systems_matters(runs, judgments, draw):
    order = runs.systems[::-1]
    turned = Runs.from_frame(runs.to_frame().iloc[::-1])
    assert turned.systems == order
    one = under_label_uncertainty(runs, judgments, "nDCG@10", n_resamples=50, draw=draw, rng=1)
    other = under_label_uncertainty(turned, judgments, "nDCG@10", n_resamples=50, draw=draw, rng=1)
    for name in ("mean", "sd", "low", "high", "rank_low", "rank_high"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name)[:, ::-1])
    np.testing.assert_array_equal(one.above, other.above[:, ::-1, ::-1])
    np.testing.assert_array_equal(one.rank_shares, other.rank_shares[:, ::-1])


def test_shares_sum_to_1_and_every_interval_lies_within_the_draws(runs, judgments):
    found = under_label_uncertainty(runs, judgments, ["AP", "RR"], n_resamples=99, rng=1)
    np.testing.assert_allclose(found.rank_shares.sum(axis=2), 1)
    assert (found.above + found.above.transpose(0, 2, 1) <= 1 + 1e-12).all()
    assert (np.diagonal(found.above, axis1=1, axis2=2) == 0).all()
    assert (found.samples.min(axis=1) <= found.low).all()
    assert (found.low <= found.high).all()
    assert (found.high <= found.samples.max(axis=1)).all()
    assert (found.first >= 0).all()
    assert (found.first.sum(axis=1) >= 1 - 1e-12).all()


def test_tied_systems_share_the_better_rank_and_neither_is_above():
    runs = Runs.from_dict({"a": {"q": {"d": 2.0}}, "b": {"q": {"d": 1.0}}, "c": {"q": {"e": 1.0}}})
    judgments = Judgments.from_rows([("q", "d", "ann", 1), ("q", "e", "ann", 0)])
    found = under_label_uncertainty(runs, judgments, "P@1", n_resamples=5, rng=1)
    assert found.rank_shares[0].tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 1]]
    assert found.above[0].tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 0]]


# ---- scales


def test_per_topic_everyone_stays_on_their_own_scale_and_per_document_they_need_one(runs):
    rows = [("q", "d", "ann", 1), ("q", "e", "ann", 0), ("q", "d", "bob", 3), ("q", "e", "bob", 1)]
    mixed = Judgments.from_rows(rows, scales={"ann": "binary", "bob": "0-3"})
    own = Runs.from_dict({"a": {"q": {"d": 2.0}}, "b": {"q": {"e": 1.0}}})
    assert under_label_uncertainty(own, mixed, "P@1", n_resamples=9, draw="topic", rng=1).sd[0].min() >= 0
    with pytest.raises(ScaleError, match="different scales"):
        under_label_uncertainty(own, mixed, "P@1", n_resamples=9, rng=1)
    found = under_label_uncertainty(
        own, mixed, "P@1", n_resamples=999, conventions=Conventions(grades="rescaled"), rng=1
    )
    # A 1 of 3 stays relevant: ann calls d alone relevant, bob d and e.
    assert found.mean[0, 0] == 1
    assert found.mean[0, 1] == approx(0.5, abs=0.08)


def test_assessors_whose_relevance_begins_elsewhere_are_not_mixed():
    rows = [("q", "d", "ann", 2), ("q", "d", "bob", 5), ("q", "e", "ann", 1), ("q", "e", "bob", 1)]
    mixed = Judgments.from_rows(rows, scales={"ann": "0-3", "bob": "0-5"}).rescaled()
    with pytest.raises(ScaleError, match="relevant from different values"):
        JudgmentSamples(mixed, 3, rng=1)


# ---- what cannot be done


def test_bad_arguments_are_named(runs, judgments):
    for n in (0, -1, 2.5, True, float("nan"), "7"):
        with pytest.raises(ArgumentError, match="n_resamples="):
            under_label_uncertainty(runs, judgments, "AP", n_resamples=n)
    for options, named in (
        ({"block": 0}, "block=0"),
        ({"confidence": 1.0}, "confidence=1.0"),
        ({"draw": "assessor"}, "draw='assessor'"),
    ):
        with pytest.raises(ArgumentError, match=named):
            under_label_uncertainty(runs, judgments, "AP", **options)
    with pytest.raises(ArgumentError, match="has no probabilities"):
        under_label_uncertainty(runs, mean(judgments), "AP")
    with pytest.raises(ArgumentError, match="draw='topic' is for Judgments"):
        under_label_uncertainty(runs, majority_vote(judgments), "AP", draw="topic")
    with pytest.raises(ArgumentError, match="grades='rescaled' is for Judgments"):
        under_label_uncertainty(runs, majority_vote(judgments), "AP", conventions=Conventions(grades="rescaled"))
    with pytest.raises(ArgumentError, match="labels: "):
        under_label_uncertainty(runs, 3, "AP")
    with pytest.raises(ArgumentError, match="no document was judged"):
        under_label_uncertainty(runs, judgments.recode({0: -1, 1: -1, 2: -1, 3: -1}), "AP")


@pytest.mark.parametrize("draw", ["document", "topic"])
def test_runs_of_other_topics_are_refused(judgments, draw):
    elsewhere = Runs.from_dict({"a": {"elsewhere": {"d": 1.0}}})
    with pytest.raises(NoOverlapError, match="share no topic"):
        under_label_uncertainty(elsewhere, judgments, "AP", draw=draw)


def test_nobody_with_a_score_is_said_rather_than_nan():
    runs = Runs.from_dict({"a": {"q": {"d": 2.0}}})
    halves = Judgments.from_rows([("q", "d", "ann", 1), ("q", "e", "bob", 1)])
    conventions = Conventions(min_coverage=0.6)
    with pytest.raises(ArgumentError, match="AP: no draw has a score; lower min_coverage"):
        under_label_uncertainty(runs, halves, "AP", n_resamples=3, draw="topic", conventions=conventions, rng=1)
    assert under_label_uncertainty(runs, halves, "AP", n_resamples=3, conventions=conventions, rng=1).n_topics == 1


# ---- the result


def test_the_result_answers_by_name_and_as_a_frame(runs, judgments):
    found = under_label_uncertainty(runs, judgments, ["AP", "nDCG@10"], n_resamples=20, rng=1)
    first, second = found.systems[:2]
    assert found.share_above(first, second, "AP") == found.above[0, 0, 1]
    assert replace(found, measures=("AP",)).share_above(first, second) == found.above[0, 0, 1]
    with pytest.raises(ArgumentError, match="choose one of AP, nDCG@10"):
        found.share_above(first, second)
    with pytest.raises(ArgumentError, match="no system is called 'nobody'"):
        found.share_above(first, "nobody", "AP")
    frame = found.to_frame()
    assert list(frame.columns) == ["measure", "system", "mean", "sd", "low", "high", "first", "rank_low", "rank_high"]
    assert frame["mean"].tolist() == found.mean.ravel().tolist()
    assert frame["system"].tolist() == [*found.systems] * 2
    assert found.labels == "judgments, one per document"
    assert found.n_topics == 4


# ---- dl21


def test_dl21_three_judges_leave_the_best_system_in_doubt(dl21):
    runs = read_runs(str(dl21 / "runs" / "*.gz"))
    judges = read_judgments([str(p) for p in sorted((dl21 / "judges").glob("umbrela-*.qrels.gz"))])
    found = under_label_uncertainty(runs, judges, ["nDCG@10"], n_resamples=1000, rng=1)
    best = found.systems.index("pash_f1")
    other = found.systems.index("NLE_P_v1")
    assert found.mean[0, best] == approx(0.8138, abs=5e-5)
    assert found.above[0, best, other] == approx(0.946, abs=1e-9)
    assert (found.rank_low[0, other], found.rank_high[0, other]) == (1, 4)


def test_an_empty_world_is_not_drawn_from():
    with pytest.raises(ArgumentError, match="no document was judged"):
        JudgmentSamples(World({}, [], {}).judgments, 3, rng=1)
