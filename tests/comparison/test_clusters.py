"""Topics in clusters, such as turns of conversations: intervals and tests are over clusters, not over topics."""

import gzip
import json
from dataclasses import fields
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrowd
from conftest import data
from oracles.comparison import cluster_robust_error, error_without_one_cluster, plain_error
from qrowd import Judgments, Runs, Scores
from qrowd.agreement import intraclass_correlation, krippendorff_alpha
from qrowd.comparison import (
    against_baseline,
    all_differences,
    difference,
    head_to_head,
    mean_ranks,
    rank_intervals,
    rank_systems,
    variance_components,
)
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.replacement import alternative_annotator_test
from qrowd.reports.comparison import compare_scores
from qrowd.reports.notes import scoring_notes
from qrowd.reports.system_tables import mean_intervals

COMPUTED = {
    "difference": lambda scores: difference(scores, "1", "2"),
    "over topics": lambda scores: difference(scores, "1", "2", method="topics"),
    "all": all_differences,
    "ranks": lambda scores: rank_intervals(scores, n_resamples=100),
    "components": variance_components,
    "baseline": lambda scores: against_baseline(scores, "1"),
    "head to head": lambda scores: head_to_head(scores, "1", "2"),
    "systems": rank_systems,
}


def numbers(result):
    return {field.name: getattr(result, field.name) for field in fields(result)}


def table(seed, shape, holes=0.0):
    random = np.random.default_rng(seed)
    values = random.normal(size=shape) + random.normal(size=(1, *shape[1:]))
    lacking = random.random(shape[:2]) < holes
    lacking[:, :4] = lacking[0] = False
    return Scores.from_array(np.where(lacking[:, :, None], np.nan, values))


TABLES = [(4, 0.0), (4, 0.4), (1, 0.0)]  # assessors, share of holes; components need two assessors
CASES = [(name, *table) for name in COMPUTED for table in TABLES if (name, table[0]) != ("components", 1)]


@pytest.mark.parametrize(("computed", "n_assessors", "holes"), CASES)
def test_one_cluster_for_each_topic_changes_not_one_bit(computed, n_assessors, holes):
    scores = table(1, (n_assessors, 12, 3), holes)
    clustered = scores.with_clusters([f"c{t}" for t in reversed(scores.topics)])
    first, second = (COMPUTED[computed](one) for one in (scores, clustered))
    for name, value in numbers(first).items():
        np.testing.assert_array_equal(value, numbers(second)[name], name)


@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from(["difference", "over topics", "all", "baseline"]))
@settings(max_examples=settings.default.max_examples // 2)
def test_clusters_of_one_size_count_as_their_means(seed, n_assessors, computed):
    scores = table(seed, (n_assessors, 12, 3))
    of_means = Scores.from_array(scores.values[0].reshape(n_assessors, 4, 3, 3).mean(axis=2))
    clustered = scores.with_clusters([str(t // 3) for t in range(12)])
    found, expected = numbers(COMPUTED[computed](clustered)), numbers(COMPUTED[computed](of_means))
    for name in ("difference", "standard_error", "low", "high", "df", "p", "v_topic", "v_assessor", "v_error"):
        if name in expected:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-7, atol=1e-10, err_msg=name)


def test_components_of_clusters_of_one_size_are_those_of_their_means():
    scores = table(3, (3, 12, 4))
    of_means = Scores.from_array(scores.values[0].reshape(3, 4, 3, 4).mean(axis=2))
    found = variance_components(scores.with_clusters([str(t // 3) for t in range(12)]))
    assert found.estimate == pytest.approx(variance_components(of_means).estimate)
    assert (found.n_topics, found.sampled, found.handling) == (
        4,
        "cluster",
        "every assessor has a score in every cluster",
    )


@given(st.integers(0, 10**6), st.integers(2, 5), st.floats(0, 0.5))
@settings(max_examples=settings.default.max_examples // 2)
def test_the_error_is_that_of_leaving_out_one_cluster_at_a_time(seed, n_clusters, holes):
    random = np.random.default_rng(seed)
    cluster = [*range(n_clusters), *random.integers(0, n_clusters, 12 - n_clusters).tolist()]
    scores = table(seed, (3, 12, 2), holes)
    first = scores.values[0, :, :, 0] - scores.values[0, :, :, 1]
    by_topic = np.nanmean(first, axis=0).tolist()
    found = difference(scores.with_clusters(list(map(str, cluster))), "1", "2", method="topics")
    assert found.difference == pytest.approx(np.mean(by_topic))
    assert found.standard_error == pytest.approx(error_without_one_cluster(by_topic, cluster))
    assert found.df == n_clusters - 1
    column = rank_systems(scores.with_clusters(list(map(str, cluster)))).standard_error
    of_system = [error_without_one_cluster(np.nanmean(scores.values[0, :, :, s], axis=0), cluster) for s in (0, 1)]
    assert column == pytest.approx(of_system)


def test_the_order_of_topics_changes_nothing():
    scores = table(5, (4, 12, 3), 0.3)
    clusters = {topic: f"c{int(topic) % 5}" for topic in scores.topics}
    again = scores.sel(topic=scores.topics[::-1]).with_clusters(clusters)
    for computed in ("difference", "all", "ranks", "head to head"):
        first, second = (COMPUTED[computed](one) for one in (scores.with_clusters(clusters), again))
        for name in ("standard_error", "low", "high", "p", "rank_low", "rank_high"):
            if name in numbers(first):
                np.testing.assert_allclose(numbers(first)[name], numbers(second)[name], atol=1e-9, err_msg=name)


# ---------------------------------------------------------------------- real conversations


@pytest.fixture(scope="module")
def mtrag():
    """{column: cells} of the ratings of MTRAG: 159 turns of 20 conversations."""
    path = data("answers") / "mtrag" / "reference_subset_with_human_evaluations.json.gz"
    with gzip.open(path) as file:
        evaluations = json.load(file)["evaluations"]
    rows = [
        (
            one["task_id"],
            one["task_id"].split("<::>")[0],
            one["model_id"],
            who,
            "appropriateness",
            float(given["value"]),
        )
        for one in evaluations
        for who, given in one["annotations"]["appropriateness"].items()
    ]
    names = ("topic", "conversation", "system", "assessor", "criterion", "value")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def test_errors_of_mtrag_are_up_to_1_41_times_larger_by_conversation(mtrag):
    judgments = Judgments.from_frame(mtrag, columns={"cluster": "conversation"})
    scores = qrowd.evaluate(Runs.from_frame(mtrag), judgments, "Mean(criterion=appropriateness)").panel_mean()
    plain = Scores.from_array(scores.values[0], topics=scores.topics, systems=scores.systems)
    conversations = [topic.split("<::>")[0] for topic in scores.topics]
    assert (len(scores.topics), len(set(conversations))) == (159, 20)
    ratios, robust = [], []
    for i, j in combinations(range(3), 2):
        values = (scores.values[0, 0, :, i] - scores.values[0, 0, :, j]).tolist()
        pair = scores.systems[i], scores.systems[j]
        found, without = difference(scores, *pair), difference(plain, *pair)
        assert found.standard_error == pytest.approx(error_without_one_cluster(values, conversations))
        assert without.standard_error == pytest.approx(plain_error(values))
        ratios.append(found.standard_error / without.standard_error)
        robust.append(cluster_robust_error(values, conversations) / plain_error(values))
    assert sorted(ratios) == pytest.approx([1.329, 1.339, 1.405], abs=0.0005)
    assert sorted(robust) == pytest.approx([1.322, 1.330, 1.399], abs=0.0005)
    assert str(scores.signature).split(" | ")[2:5] == ["runs 3", "topics 159", "assessors 1"]
    assert " clusters 20 " in scores.signature


# ---------------------------------------------------------------------- simulations


@pytest.mark.nightly
@pytest.mark.parametrize("n", [200, pytest.param(400, marks=pytest.mark.nightly)])
def test_intervals_and_ranks_of_8_unlike_clusters_err_rarely_and_those_of_topics_do_not(n):
    random = np.random.default_rng(2)
    cluster = np.repeat(np.arange(8), [3, 4, 4, 6, 2, 7, 5, 14])
    wrong = np.zeros(3)
    for seed in range(n):
        values = random.normal(0, np.sqrt(0.5), (8, 3))[cluster] + random.normal(0, np.sqrt(0.5), (45, 3))
        plain = Scores.from_array(values)
        scores = plain.with_clusters(list(map(str, cluster)))
        outside = [difference(one, "1", "2").excludes_zero for one in (scores, plain)]
        wrong += [*outside, rank_intervals(scores, n_resamples=200, rng=seed).better.any()]
    by_cluster, by_topic, ranks = wrong / n
    assert max(by_cluster, ranks) <= 0.07 + (0.07 * 0.93 / n) ** 0.5  # a standard error of the share
    assert by_topic > 0.2


# ---------------------------------------------------------------------- agreement, notes and mistakes


def crowd(seed=1):
    random = np.random.default_rng(seed)
    truth = random.integers(0, 3, (12, 6)) + random.integers(0, 2, 12)[:, None]
    rows = [
        (f"t{t}", f"d{d}", who, float(min(truth[t, d] + random.integers(0, 2), 3)))
        for t in range(12)
        for d in range(6)
        for who in "abc"
    ]
    return Judgments.from_rows(rows, scales={"*": "0-3"})


def test_agreement_resamples_clusters_and_its_value_stays():
    judgments = crowd()
    cluster_of = {f"t{t}": f"c{t % 4}" for t in range(12)}
    clustered = judgments.with_clusters(cluster_of)
    renamed = [
        (cluster_of[topic], f"{topic}/{document}", who, value)
        for topic, document, who, value in judgments.to_frame()[["topic", "document", "assessor", "value"]].itertuples(
            index=False
        )
    ]
    expected = Judgments.from_rows(renamed, scales={"*": "0-3"})
    for measured in (krippendorff_alpha, intraclass_correlation):
        found, right, plain = (measured(one, n_resamples=200) for one in (clustered, expected, judgments))
        np.testing.assert_allclose(found.value, plain.value, rtol=1e-12)
        np.testing.assert_allclose(found.to_frame()[["low", "high"]], right.to_frame()[["low", "high"]], rtol=1e-12)
        assert not np.allclose(found.to_frame()["low"], plain.to_frame()["low"])


def test_selected_and_joined_judgments_keep_their_clusters():
    judgments = crowd().with_clusters("^t(.)")
    assert judgments.select(topics=["t3", "t11"]).clusters["t11"] == "1"
    assert judgments.clusters == {f"t{t}": str(t)[0] for t in range(12)}


def test_a_comparison_says_how_many_clusters_and_what_they_change_and_when_they_are_few():
    scores = table(4, (1, 12, 3)).with_clusters([str(t % 3) for t in range(12)])
    comparison = compare_scores(scores)
    note = next(note.text for note in comparison.notes if note.kind == "clusters")
    assert note.startswith("3 clusters of 12 topics (4 to 4 topics each)")
    assert "design effect" in note
    assert note.endswith("3 are few, and intervals may be too narrow")
    assert "| topics 12 | assessors 1 | clusters 3 |" in comparison.signature


def test_topics_of_one_cluster_have_no_interval_and_the_note_says_so():
    scores = table(4, (2, 6, 2)).with_clusters(["only"] * 6)
    with pytest.raises(NoOverlapError, match="6 topics are in one cluster; 2 clusters are needed"):
        difference(scores, "1", "2")
    assert "no interval and no test" in " ".join(map(str, scoring_notes(scores)))


def test_nemenyis_test_refuses_topics_in_clusters():
    scores = table(4, (1, 12, 3)).with_clusters([str(t % 5) for t in range(12)])
    with pytest.raises(ArgumentError, match="max-t"):
        mean_ranks(scores)
    assert np.isnan(mean_ranks(scores, test="max-t").friedman_p)


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ("^1", "a pattern with a group"),
        ("(", "a pattern with a group"),
        ("^(1)", "in no cluster, such as '2'"),
        ({"1": "a"}, "11 topics in no cluster, such as '2'"),
        (["a", "b"], "2 for 12 topics"),
    ],
)
def test_a_mistake_in_clusters_is_named(clusters, message):
    with pytest.raises(ArgumentError, match=message):
        table(1, (1, 12, 2)).with_clusters(clusters)


def test_intervals_of_means_are_over_clusters_too():
    scores = table(6, (1, 12, 2))
    clustered = scores.with_clusters([str(t // 3) for t in range(12)])
    of_means = Scores.from_array(scores.values[0].reshape(1, 4, 3, 2).mean(axis=2))
    np.testing.assert_allclose(mean_intervals(clustered, 0.95), mean_intervals(of_means, 0.95))


def test_a_model_is_tested_over_clusters_as_over_topics_that_are_renamed():
    random = np.random.default_rng(3)
    topics = {f"t{t}": f"c{t % 6}" for t in range(18)}
    rows = [(topic, f"d{d}", who, float(random.integers(0, 3))) for topic in topics for d in range(4) for who in "abcm"]
    renamed = [(topics[topic], f"{topic}/{document}", who, value) for topic, document, who, value in rows]
    judgments = Judgments.from_rows(rows, scales={"*": "0-3"})
    found = alternative_annotator_test(judgments.with_clusters(topics), "m")
    right = alternative_annotator_test(Judgments.from_rows(renamed, scales={"*": "0-3"}), "m")
    assert found.n_topics.tolist() == [6, 6, 6]
    np.testing.assert_allclose(found.p, right.p)
    assert not np.allclose(found.p, alternative_annotator_test(judgments, "m").p)
