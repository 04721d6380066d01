"""Documents on which assessors disagree: every replacement of grades is scored again."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrowd
from qrowd.errors import ArgumentError, MeasureError
from qrowd.model.judgments import Judgments
from qrowd.simulation import simulate_demo

MEASURES = ("nDCG@2", "nDCG(dcg='exp-log2')@2", "nDCG(gains={1:1,2:1.5,3:6})@3", "DCG@2", "P(rel=2)@2", "R@2")
SCORED = ("AP", "AP(rel=2)@2", "RR", "ERR@2", "Rprec", "Bpref")
RUNS, DEMO, _ = simulate_demo()
PANEL = DEMO.select(assessors=["ann", "bob", "sven"])


def made(rows):
    return Judgments.from_rows(rows, scales={"*": "0-3"})


def means(runs, rows, measure):
    """{system: mean over topics of the means over assessors}, by scoring."""
    scores = qrowd.evaluate(runs, made(rows), measure)
    by_topic = np.nanmean(scores.values[0], axis=0)
    return dict(zip(scores.systems, by_topic[~np.isnan(by_topic).all(axis=1)].mean(axis=0), strict=True))


def random_panel(seed):
    rng = np.random.default_rng(seed)
    rows = [
        (t, d, a, int(rng.integers(4)))
        for t in ("t1", "t2")
        for a in ("ann", "bob", "cleo")
        for d in rng.permutation(["d1", "d2", "d3", "d4"])[: rng.integers(1, 5)]
    ]
    runs = {
        s: {t: {d: 9.0 - r for r, d in enumerate(rng.permutation(["d1", "d2", "d3", "x"])[:3])} for t in ("t1", "t2")}
        for s in ("a", "b", "c")
    }
    return runs, rows


@settings(deadline=None, max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 100_000), st.sampled_from(MEASURES + SCORED))
def test_effects_equal_scoring_with_the_lowest_and_the_highest_grade(seed, measure):
    runs, rows = random_panel(seed)
    by_document = {}
    for t, d, _, value in rows:
        by_document.setdefault((t, d), []).append(value)
    differ = {pair: values for pair, values in by_document.items() if len(set(values)) > 1}
    result = qrowd.disagreements(runs, made(rows), measure)
    assert set(zip(result.topics, result.documents, strict=True)) == set(differ)
    assert result.n_judged == sum(len(values) > 1 for values in by_document.values())
    for k, pair in enumerate(zip(result.topics, result.documents, strict=True)):
        values = differ[pair]
        assert (result.lowest[k], result.highest[k]) == (min(values), max(values))
        assert result.n_judgments[k] == len(values)
        low, high = (
            means(runs, [(*row[:3], end if row[:2] == pair else row[3]) for row in rows], measure)
            for end in (min(values), max(values))
        )
        changes = {(i, j): (high[i] - high[j]) - (low[i] - low[j]) for i, j in combinations(runs, 2)}
        assert result.effect[k] == pytest.approx(max(map(abs, changes.values())), abs=1e-12)
        named = result.first[k], result.second[k]
        assert abs(changes[named]) == pytest.approx(result.effect[k], abs=1e-12)
        assert result.difference_lowest[k] == pytest.approx(low[named[0]] - low[named[1]], abs=1e-12)
        assert result.difference_highest[k] == pytest.approx(high[named[0]] - high[named[1]], abs=1e-12)
        ends = [(low[i] - low[j], high[i] - high[j]) for i, j in changes]
        reversed_pairs = sum(x * y < 0 and min(abs(x), abs(y)) > 1e-12 for x, y in ends)  # less is equal
        assert result.n_reversed[k] == reversed_pairs
        if measure in ("DCG@2", "Bpref"):  # gains are grades, or there are none
            assert result.sd[k] == pytest.approx(np.std(values))
        if measure == "AP":
            assert result.sd[k] == pytest.approx(np.std(np.array(values) > 0))
    np.testing.assert_allclose(result.product, result.sd * result.effect, atol=1e-12)
    assert (np.diff(result.product) <= 0).all()


@pytest.mark.parametrize("measure", ["nDCG@10", "P@10", "RBP(p=0.8)"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 5))])
def test_three_planted_documents_that_decide_the_winner_are_the_first(seed, measure):
    """Two systems equal but for the first rank. All agree on what stands there, but on three documents.

    Without these three b is ahead, and with them a. Elsewhere the assessors differ as much or more, on documents
    that both systems have at the same rank, or neither.
    """
    rng = np.random.default_rng(seed)
    topics = [f"t{n:02}" for n in range(12)]
    chosen = rng.permutation(topics)
    planted, other = {(t, "a-only") for t in chosen[:3]}, chosen[3]
    runs, rows = {"a": {}, "b": {}}, []
    for t in topics:
        both = [f"both-{n}" for n in range(8)]
        for system in runs:
            runs[system][t] = {d: 20.0 - r for r, d in enumerate([f"{system}-only", *both])}
        pool = {d: rng.integers(0, 4, 3) for d in [*both, "unranked-1", "unranked-2"]}
        pool["a-only"] = np.array([3, 3, 0]) if (t, "a-only") in planted else np.array([1, 1, 1])
        pool["b-only"] = np.full(3, int((t, "a-only") not in planted))
        if t == other:
            pool["a-only"] = np.zeros(3, int)  # where b is better
        rows += [
            (t, d, a, int(g)) for d, grades in pool.items() for a, g in zip(("ann", "bob", "cleo"), grades, strict=True)
        ]
    result = qrowd.disagreements(runs, made(rows), measure)
    assert len(result.topics) > 60
    assert set(zip(result.topics[:3], result.documents[:3], strict=True)) == planted
    today = means(runs, rows, measure)
    lowest = [(*row[:3], 0 if row[:2] in planted else row[3]) for row in rows]
    without = means(runs, lowest, measure)
    assert (today["a"] - today["b"]) * (without["a"] - without["b"]) < 0  # the three decide


def test_a_pair_has_the_documents_of_its_own_difference():
    names = ["rerank-llm", "rerank-large"]
    every = qrowd.disagreements(RUNS, PANEL)
    pair = qrowd.disagreements(RUNS, PANEL, systems=names)
    assert set(pair.first) | set(pair.second) == set(names)
    assert set(zip(pair.topics, pair.documents, strict=True)) == set(zip(every.topics, every.documents, strict=True))
    of_all = dict(zip(zip(every.topics, every.documents, strict=True), every.effect, strict=True))
    assert all(
        effect <= of_all[label] + 1e-12
        for label, effect in zip(zip(pair.topics, pair.documents, strict=True), pair.effect, strict=True)
    )


@pytest.mark.parametrize("names", [*permutations(["rerank-llm", "bm25", "hybrid"], 2)])
def test_the_difference_of_a_pair_is_that_of_its_first_minus_its_second_system(names):
    pair = qrowd.disagreements(RUNS, PANEL, systems=names)
    assert pair.systems == names
    assert set(zip(pair.first, pair.second, strict=True)) == {names}
    difference = qrowd.decompose_difference(RUNS, PANEL, *names).difference
    assert abs(difference) > 0.02
    assert pair.difference_lowest == pytest.approx(np.full(len(pair.documents), difference), abs=0.02)


def test_grades_and_comments_of_all_assessors_stand_beside_each_document():
    frame = {
        "topic": ["t"] * 4,
        "document": ["d1", "d1", "d2", "d2"],
        "assessor": ["ann", "bob", "ann", "bob"],
        "value": [3, 0, 1, 1],
        "comment": ["names the drug", "another drug", "", "short"],
    }
    runs = {"a": {"t": {"d1": 2, "d2": 1}}, "b": {"t": {"d2": 2, "d1": 1}}}
    result = qrowd.disagreements(runs, Judgments.from_frame(frame), "DCG@1")
    assert result.grades == ("ann 3, bob 0",)
    assert result.to_frame(what="judgments")[["assessor", "value", "comment"]].values.tolist() == [
        ["ann", 3.0, "names the drug"],
        ["bob", 0.0, "another drug"],
    ]


def test_a_document_can_decide_by_the_normaliser_alone():
    runs = {"a": {"t": {"d1": 1}}, "b": {"t": {"d2": 1}}}
    rows = [("t", "d1", "ann", 3), ("t", "d1", "bob", 3), ("t", "unranked", "ann", 3), ("t", "unranked", "bob", 0)]
    result = qrowd.disagreements(runs, made(rows), "nDCG@2")
    assert result.documents == ("unranked",)
    assert result.effect[0] > 0
    assert qrowd.disagreements(runs, made(rows), "DCG@2").effect.tolist() == [0.0]


def test_yes_and_no_beside_fractions_are_one_scale():
    rows = [("t", "d1", "ann", 1), ("t", "d1", "model", 0.25)]
    judgments = Judgments.from_rows(rows, scales={"ann": "binary", "model": "0..1"})
    result = qrowd.disagreements({"a": {"t": {"d1": 1}}, "b": {"t": {"d2": 1}}}, judgments, "DCG@1")
    assert (result.lowest.tolist(), result.highest.tolist(), result.effect.tolist()) == ([0.25], [1.0], [0.75])


@pytest.mark.parametrize("measure", ["nDCG@10", "AP"])
def test_on_several_scales_grades_are_divided_by_the_maximum_of_the_scale_and_the_result_says_so(measure):
    runs = {"a": {"t": {"d1": 3, "d2": 2, "d3": 1}}, "b": {"t": {"d2": 3, "d1": 2, "d3": 1}}}
    rows = [("t", "d1", "ann", 1), ("t", "d2", "ann", 0), ("t", "d3", "ann", 1)]
    rows += [("t", "d1", "bob", 0), ("t", "d2", "bob", 3), ("t", "d3", "bob", 3)]
    judgments = Judgments.from_rows(rows, scales={"ann": "binary", "bob": "0-3"})
    conventions = qrowd.Conventions(grades="rescaled")
    result = qrowd.disagreements(runs, judgments, measure, conventions=conventions)
    assert sorted(result.documents) == ["d1", "d2"]  # 1 of 1 and 3 of 3 are the same
    assert result.highest.tolist() == [1.0, 1.0]
    assert str(result).startswith("Assessors gave 2 of 3 documents different grades")
    assert "Grades are divided by the maximum of their scale." in str(result)
    for k, document in enumerate(result.documents):
        for end, expected in ((0, result.difference_lowest[k]), (1, result.difference_highest[k])):
            changed = [(t, d, a, v if d != document else end * (1 if a == "ann" else 3)) for t, d, a, v in rows]
            changed = Judgments.from_rows(changed, scales={"ann": "binary", "bob": "0-3"})
            scores = qrowd.evaluate(runs, changed, measure, conventions=conventions)
            by_system = dict(zip(scores.systems, scores.values[0].mean(axis=(0, 1)), strict=True))
            assert expected == pytest.approx(by_system[result.first[k]] - by_system[result.second[k]], abs=1e-12)


def test_assessors_who_agree_leave_nothing_to_list():
    runs = {"a": {"t": {"d1": 1}}, "b": {"t": {"d2": 1}}}
    result = qrowd.disagreements(runs, made([("t", "d1", "ann", 3), ("t", "d1", "bob", 3)]))
    assert (result.topics, result.n_judged) == ((), 1)
    assert str(result).splitlines()[0] == "Assessors gave 0 of 1 documents different grades."
    assert len(result.to_frame()) == 0
    assert "0 of 1 documents" in str(result)


@pytest.mark.parametrize(
    ("judgments", "measure", "error", "message"),
    [
        (PANEL, "ppref", MeasureError, r"^ppref: is a measure of preferences"),
        (PANEL, "Judged@5", MeasureError, "the same gain"),
        (PANEL.select(assessors=["ann"]), "P@5", ArgumentError, r"^judgments: the judgments are of one assessor"),
        (
            Judgments.from_rows(
                [("q01", "d", "ann", 1), ("q01", "d", "bob", 1)], scales={"ann": "binary", "bob": "0-3"}
            ),
            "P@5",
            ArgumentError,
            r"^judgments: the assessors judged on different scales",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(judgments, measure, error, message):
    with pytest.raises(error, match=message) as caught:
        qrowd.disagreements(RUNS, judgments, measure)
    assert "\n" not in str(caught.value)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("runs", "n", "medians"),
    [("p_*.gz", 4, [1189, 65]), pytest.param("*.gz", 24, [1186, 87], marks=pytest.mark.nightly)],
)
def test_dl21_few_disagreements_of_nist_and_a_model_change_differences_of_neighbours(dl21, runs, n, medians):
    runs = qrowd.read_runs(str(dl21 / "runs" / runs))
    files = [str(dl21 / "qrels.nist.txt"), str(dl21 / "judges" / "umbrela-gpt4o.qrels.gz")]
    judgments = qrowd.read_judgments(files)
    scores = qrowd.evaluate(runs, qrowd.read_judgments(files[:1]), "nDCG@10")
    best = [runs.systems[s] for s in np.argsort(-scores.values[0, 0].mean(axis=0))[:n]]
    counts = []
    for pair in pairwise(best):
        result = qrowd.disagreements(runs, judgments, systems=pair)
        assert (len(result.topics), result.n_judged) == (4936, 10828)
        counts.append([(result.effect > size).sum() for size in (1e-12, 0.001)])
    assert np.median(counts, axis=0).tolist() == medians


def test_a_missing_answer_is_no_score_of_zero_and_differences_are_those_of_the_systems_in_the_order_asked_for():
    values = {"new": {"ann": (0.9, 0.5), "bob": (0.7, None)}, "old": {"ann": (0.4, 0.6), "bob": (0.5, 1.0)}}
    rows = [
        {"topic": topic, "system": system, "assessor": name, "value": value}
        for system, by_assessor in values.items()
        for name, both in by_assessor.items()
        for topic, value in zip(("q1", "q2"), both, strict=True)
        if value is not None
    ]
    frame = pd.DataFrame(rows)
    parts = qrowd.decompose_difference(frame, frame, "new", "old", "Mean")
    assert parts.difference == pytest.approx(((0.9 - 0.4 + 0.7 - 0.5) / 2 + (0.5 - 0.6)) / 2)
    found = (
        qrowd.disagreements(frame, frame, "Mean", systems=("new", "old")).to_frame().set_index(["topic", "document"])
    )
    assert found.loc[("q1", "new"), ["first", "second"]].tolist() == ["new", "old"]
    assert found.loc[("q1", "new"), "difference_highest"] == pytest.approx(parts.difference + (0.2 / 2) / 2)
