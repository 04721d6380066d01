"""Accuracies from a gold assessor, and accuracies on topics that had no part in them."""

from dataclasses import replace

import numpy as np
import pytest

from oracles import aware as oracle
from qrowd.aware import NAMES, assessor_similarities, similarity_to_gold, similarity_to_random
from qrowd.errors import ArgumentError, MeasureError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import concatenate_judgments
from qrowd.model.scores import Scores, known_mean
from qrowd.simulation import Confused, Inverted, Lenient, Spammer, simulate_judgments, simulate_pool, simulate_runs

CONVENTIONS = Conventions(empty="nan")
MEASURES = ("AP", "nDCG@10")


@pytest.fixture(scope="module")
def world():
    """(runs, judgments, gold judgments) of seven topics, of which the gold has five."""
    truth = simulate_pool(7, 20, prevalence=0.3, topic_variance=0.4, rng=8)
    runs = simulate_runs(truth, 8, depth=15, unjudged_share=0.2, tie_share=0.1, rng=8)
    panel = {
        "close": Lenient(noise=0.2),
        "far": Lenient(noise=1.5),
        "coin": Confused.of_accuracy(0.5),
        "one": Spammer(1),
    }
    judgments = simulate_judgments(truth, {**panel, "upside": Inverted(Lenient(noise=0.2))}, rng=8)
    return runs, judgments, truth.judgments().select(topics=["q1", "q2", "q4", "q5", "q7"])


@pytest.fixture(scope="module")
def scored(world):
    runs, judgments, gold = world
    return evaluate(runs, judgments, list(MEASURES), conventions=CONVENTIONS), evaluate(
        runs, gold, list(MEASURES), conventions=CONVENTIONS
    )


def by_label(scores, measure, assessor, topics):
    """[topic][system] of the topics named, None without a score."""
    values = scores.values[scores.measures.index(measure), scores.assessors.index(assessor)]
    found = [values[scores.topics.index(t)] if t in scores.topics else np.array([np.nan]) for t in topics]
    return [None if np.isnan(row).any() else row.tolist() for row in found]


@pytest.mark.parametrize("topics", [["q2", "q5", "q7"], pytest.param(None, marks=pytest.mark.nightly)])
def test_against_a_gold_assessor_the_similarity_is_the_accuracy(scored, topics):
    scores, gold = scored
    similarities = similarity_to_gold(scores, gold, topics=topics)
    found = similarities.accuracies(estimators=NAMES)
    assert np.array_equal(found, similarities.accuracies(estimators=NAMES, polarity="printed"), equal_nan=True)
    allowed = {scores.topics.index(t) for t in (topics or gold.topics)}
    for measure in MEASURES:
        theirs = by_label(gold, measure, "gold", scores.topics)
        for assessor in scores.assessors:
            mine = by_label(scores, measure, assessor, scores.topics)
            for name in NAMES:
                expected = oracle.gold_accuracies(name, mine, theirs, allowed, walked="mine")
                here = found.sel(estimator=name, measure=measure, assessor=assessor).values
                assert here == pytest.approx(np.array(expected), rel=1e-9, abs=1e-12, nan_ok=True), (name, assessor)


def test_a_topic_that_the_gold_lacks_takes_the_accuracy_over_all_topics(scored):
    scores, gold = scored
    similarities = similarity_to_gold(scores, gold)
    lacking = [scores.topics.index(t) for t in ("q3", "q6")]
    known = scores.known[0, 0, lacking]
    assert known.any()
    for g in range(5):
        single = np.broadcast_to(similarities.single[g, 0, 0, :, None], (5, 2))
        assert np.array_equal(similarities.by_topic[g, 0, 0][:, lacking][:, known], single[:, known])
    assert similarities.attributes["topics"] == ["q1", "q2", "q4", "q5", "q7"]
    assert similarities.attributes["gold"] == "gold"


def test_the_gold_itself_is_fully_accurate_and_no_other_is_more(world, scored):
    runs, judgments, gold = world
    everyone = evaluate(runs, concatenate_judgments([judgments, gold]), list(MEASURES), conventions=CONVENTIONS)
    accuracy = similarity_to_gold(everyone, scored[1]).accuracies(estimators=NAMES)
    best = accuracy.sel(assessor="gold")
    by_value = best.sel(estimator=[name for name in NAMES if "tau" not in name and "apc" not in name])
    assert by_value.values[by_value.notnull().values] == pytest.approx(1)
    assert (best.sel(estimator=["sgl_tau_md", "sgl_apc_md"]).fillna(1) > 0.9).all()  # short of 1: tied systems
    assert (accuracy.fillna(0) <= 1 + 1e-9).all()


def test_by_rank_neither_an_inverted_assessor_nor_one_without_a_ranking_is_trusted(scored):
    similarities = similarity_to_gold(*scored)
    for name in ("sgl_tau_md", "sgl_apc_md"):
        accuracy = dict(zip(similarities.scores.assessors, known_mean(similarities.accuracy(name)[0], 1), strict=True))
        assert accuracy["upside"] == 0
        assert accuracy["close"] > accuracy["far"] > 0
        assert accuracy["close"] > accuracy["one"]


def test_systems_that_differ_by_rounding_alone_tie():
    """0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 in doubles; as a mean over topics it is the same score."""
    values = np.array([[0.1, 0.3], [0.2, 0.2], [0.3, 0.1]])
    assert values[:, 0].mean() != values[::-1, 0].mean()
    one = np.ones((1, 1, 3))
    mine = Scores(("AP",), ("a",), ("q1", "q2", "q3"), ("x", "y"), values[None, None], one, one[0], {})
    gold = replace(mine, values=values[None, None] * [1.0, 0.5])
    for name in ("sgl_tau_md", "sgl_apc_md"):
        assert (similarity_to_gold(mine, gold).accuracy(name) == 0).all()
        assert (similarity_to_gold(gold, gold).accuracy(name) == 1).all()


def test_gold_that_does_not_fit_is_refused(world, scored):
    (runs, judgments, gold_judgments), (scores, gold) = world, scored
    fewer = evaluate(runs.select(systems=["sys1", "sys2"]), gold_judgments, list(MEASURES), conventions=CONVENTIONS)
    elsewhere = evaluate(runs, gold_judgments.select(topics="q2"), list(MEASURES), conventions=CONVENTIONS)
    only_q1 = evaluate(runs, judgments.select(topics="q1"), list(MEASURES), conventions=CONVENTIONS)
    single = evaluate(runs.select(systems="sys1"), judgments, "AP", conventions=CONVENTIONS)
    for mine, other, options, error, message in (
        (scores, scores, {}, ArgumentError, "gold: one assessor was expected, and there are 5"),
        (scores, fewer, {}, ArgumentError, "gold: the same systems and measures"),
        (scores, gold.sel(measure="AP"), {}, ArgumentError, "gold: the same systems and measures"),
        (scores, gold, {"topics": ["q99"]}, ArgumentError, "topics: the gold has no topic q99"),
        (scores, gold, {"topics": []}, NoOverlapError, "assessor close shares no topic with the gold among topics="),
        (only_q1, elsewhere, {}, NoOverlapError, "assessor close shares no topic with the gold, nor do 4 others"),
        (
            single,
            evaluate(runs.select(systems="sys1"), gold_judgments, "AP", conventions=CONVENTIONS),
            {},
            ArgumentError,
            "give two systems",
        ),
        (
            evaluate(runs, judgments, "DCG@10", conventions=CONVENTIONS),
            evaluate(runs, gold_judgments, "DCG@10", conventions=CONVENTIONS),
            {},
            MeasureError,
            "DCG@10 reaches .*; take a normalised measure",
        ),
    ):
        with pytest.raises(error, match=message):
            similarity_to_gold(mine, other, **options)


@pytest.mark.parametrize("by_name", [False, True])
def test_a_gold_is_an_assessor_of_the_judgments_or_judgments_of_its_own(world, scored, by_name):
    runs, judgments, gold = world
    panel, gold = (concatenate_judgments([judgments, gold]), "gold") if by_name else (judgments, gold)
    similarities, expected = assessor_similarities(runs, panel, list(MEASURES), gold=gold), similarity_to_gold(*scored)
    assert similarities.scores.assessors == judgments.assessors
    assert np.array_equal(similarities.by_topic, expected.by_topic, equal_nan=True)
    assert np.array_equal(similarities.single, expected.single)


def test_without_a_gold_assessors_are_compared_with_random_ones(world):
    runs, judgments, _ = world
    similarities = assessor_similarities(runs, judgments, "AP", n_resamples=3, rng=1)
    expected = similarity_to_random(runs, judgments, "AP", n_resamples=3, rng=1)
    assert np.array_equal(similarities.single, expected.single, equal_nan=True)
    assert similarities.toward == "random"


def test_a_gold_who_judged_nothing_is_named_with_the_nearest_assessor(world):
    runs, judgments, _ = world
    with pytest.raises(ArgumentError, match=r"gold='closer': .*'close'"):
        assessor_similarities(runs, judgments, "AP", gold="closer")


def test_frames_have_a_row_for_each_similarity_and_each_accuracy(world, scored):
    scores, gold = scored
    similarities = similarity_to_gold(scores, gold)
    frame = similarities.to_frame()
    assert len(frame) == similarities.single.size
    row = frame.query("gap == 'tau' and measure == 'AP' and assessor == 'far'").iloc[0]
    assert row["similarity"] == similarities.single[3, 0, 0, scores.assessors.index("far")]
    assert len(similarities.to_frame(what="topics")) == similarities.by_topic.size
