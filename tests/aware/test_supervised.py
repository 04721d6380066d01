"""Accuracies from a gold assessor, and accuracies on topics that had no part in them."""

from dataclasses import replace

import numpy as np
import pytest

from oracles import aware as oracle
from qrowd.aware import NAMES, assessor_similarities, leave_topics_out, similarity_to_gold, similarity_to_random
from qrowd.errors import ArgumentError, NoOverlapError
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


@pytest.mark.parametrize("topics", [None, ["q2", "q5", "q7"]])
@pytest.mark.parametrize("apc_reference", ["other", "assessor"])
def test_against_a_gold_assessor_the_similarity_is_the_accuracy(scored, topics, apc_reference):
    scores, gold = scored
    similarities = similarity_to_gold(scores, gold, topics=topics, apc_reference=apc_reference)
    found = similarities.accuracies(estimators=NAMES)
    assert np.array_equal(found, similarities.accuracies(estimators=NAMES, polarity="printed"), equal_nan=True)
    allowed = {scores.topics.index(t) for t in (topics or gold.topics)}
    walked = "mine" if apc_reference == "other" else "theirs"
    for measure in MEASURES:
        theirs = by_label(gold, measure, "gold", scores.topics)
        for assessor in scores.assessors:
            mine = by_label(scores, measure, assessor, scores.topics)
            for name in NAMES:
                expected = oracle.gold_accuracies(name, mine, theirs, allowed, walked=walked)
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
        (scores, gold, {"apc_reference": "gold"}, ArgumentError, "apc_reference='gold': choose one of assessor, other"),
        (scores, gold, {"bandwidth": -1}, ArgumentError, "bandwidth=-1"),
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


# ---- leaving topics out


def from_random(world, **options):
    runs, judgments, _ = world
    return lambda topics: similarity_to_random(
        runs, judgments.select(topics=list(topics)), list(MEASURES), n_resamples=4, rng=3, **options
    )


def test_the_accuracies_of_a_topic_are_those_that_the_other_folds_give(world, scored):
    scores, gold = scored
    for estimate in (lambda topics: similarity_to_gold(scores, gold, topics=[t for t in topics if t in gold.topics]),
                     from_random(world)):  # fmt: skip
        for name, across, polarity in (("sgl_rmse_msd", "own", "dissimilarity"), ("sgl_tau_md", "all", "printed")):
            left = leave_topics_out(scores, estimate, name, folds=3, across=across, polarity=polarity, rng=4)
            assert sorted(np.bincount(left.folds)) == [2, 2, 3]
            for t, topic in enumerate(scores.topics):
                others = [u for u, f in zip(scores.topics, left.folds, strict=True) if f != left.folds[t]]
                assert topic not in others
                learnt = (
                    estimate(others).accuracies(estimators=[name], polarity=polarity, across=across)[0].max("topic")
                )
                expected = np.where(scores.known[:, :, t], learnt.sel(assessor=list(scores.assessors)), np.nan)
                assert left.accuracy[:, :, t] == pytest.approx(expected, nan_ok=True)


def test_the_average_is_by_the_accuracies_that_were_learnt_elsewhere(world, scored):
    scores, _ = scored
    left = leave_topics_out(scores, from_random(world), "sgl_rmse_msd", folds=7, rng=1)
    assert sorted(left.folds) == list(range(7))
    assert left.scores.assessors == ("sgl_rmse_msd",)
    for m, measure in enumerate(MEASURES):
        tables = [by_label(scores, measure, assessor, scores.topics) for assessor in scores.assessors]
        expected = oracle.aware(tables, left.accuracy[m].tolist())
        assert left.scores.values[m, 0] == pytest.approx(np.array(expected))


def test_what_is_said_of_a_topic_that_is_left_out_does_not_change_its_accuracies(world):
    runs, judgments, _ = world
    scores = evaluate(runs, judgments, list(MEASURES), conventions=CONVENTIONS)
    usual = leave_topics_out(scores, from_random(world), "sgl_rmse_msd", folds=7, rng=1)
    top = np.array([scale.maximum for scale in judgments.scales])[judgments.assessor]
    turn = (judgments.topic == judgments.topics.index("q4")) & (judgments.assessor == 0)
    other_judgments = replace(judgments, value=np.where(turn, top - judgments.value, judgments.value))
    other_scores = evaluate(runs, other_judgments, list(MEASURES), conventions=CONVENTIONS)
    other = leave_topics_out(other_scores, from_random((runs, other_judgments, None)), "sgl_rmse_msd", folds=7, rng=1)
    at = scores.topics.index("q4")
    both = scores.known[..., at] & other_scores.known[..., at]
    assert both[:, 0].all()
    assert np.array_equal(other.accuracy[..., at][both], usual.accuracy[..., at][both])
    changed = np.delete(other.accuracy[0, 0] - usual.accuracy[0, 0], at)
    assert (changed[~np.isnan(changed)] != 0).all()


def test_folds_follow_from_chance_alone(world, scored):
    scores, gold = scored

    def estimate(topics):
        return similarity_to_gold(scores, gold, topics=[t for t in topics if t in gold.topics])

    one, again, other = (leave_topics_out(scores, estimate, "sgl_fro_md", folds=3, rng=r).folds for r in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    fresh = leave_topics_out(scores, estimate, "sgl_fro_md", folds=3)
    assert np.array_equal(leave_topics_out(scores, estimate, "sgl_fro_md", folds=3, rng=fresh.seed).folds, fresh.folds)
    assert fresh.scores.attributes["aware"]["seed"] == fresh.seed
    order = [3, 0, 6, 2, 5, 1, 4]
    mixed = replace(
        scores,
        topics=tuple(scores.topics[t] for t in order),
        values=scores.values[:, :, order],
        relevant=scores.relevant[:, :, order],
        coverage=scores.coverage[:, order],
    )
    assert np.array_equal(leave_topics_out(mixed, estimate, "sgl_fro_md", folds=3, rng=1).folds, one[order])


def test_left_out_topics_cannot_have_accuracies_of_their_own_and_folds_must_fit(world, scored):
    scores, _ = scored
    for name, folds, message in (
        ("tpc_fro_md", 3, "a topic that was left out has no accuracy of its own; use sgl_fro_md"),
        ("sgl_fro_mdd", 3, "did you mean 'sgl_fro_md'"),
        ("sgl_fro_md", 1, r"folds=1: from 2 to the number of topics \(7\)"),
        ("sgl_fro_md", 8, "folds=8"),
    ):
        with pytest.raises(ArgumentError, match=message):
            leave_topics_out(scores, from_random(world), name, folds=folds)
    with pytest.raises(ArgumentError, match=r"similarities by AP, nDCG@10, and scores by AP; use the same measures"):
        leave_topics_out(scores.sel(measure="AP"), from_random(world), "sgl_fro_md", folds=2)


def test_uniform_needs_no_estimate_to_be_the_mean(world, scored):
    scores, _ = scored
    left = leave_topics_out(scores, from_random(world), "uniform", folds=2, rng=1)
    assert left.scores.values[:, 0] == pytest.approx(known_mean(scores.values, 1))


def test_frames_have_a_row_for_each_similarity_and_each_accuracy(world, scored):
    scores, gold = scored
    similarities = similarity_to_gold(scores, gold)
    frame = similarities.to_frame()
    assert len(frame) == similarities.single.size
    row = frame.query("gap == 'tau' and measure == 'AP' and assessor == 'far'").iloc[0]
    assert row["similarity"] == similarities.single[3, 0, 0, scores.assessors.index("far")]
    assert len(similarities.to_frame(what="topics")) == similarities.by_topic.size
    left = leave_topics_out(scores, from_random(world), "uniform", folds=2, rng=1)
    row = left.to_frame().query("measure == 'AP' and assessor == 'far' and topic == 'q3'").iloc[0]
    t = scores.topics.index("q3")
    expected = [left.folds[t], left.accuracy[0, scores.assessors.index("far"), t]]
    assert row[["fold", "accuracy"]].tolist() == pytest.approx(expected, nan_ok=True)
