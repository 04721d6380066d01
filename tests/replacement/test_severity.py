"""What a judge would be expected to score systems, at their own severity."""

import numpy as np
import pytest

from qrowd.errors import ArgumentError
from qrowd.evaluation import evaluate
from qrowd.model.chance import Chance
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.runs import Runs
from qrowd.replacement import assessor_bias, expected_scores
from qrowd.replacement.assessor_bias import LEAST, _groups, _shuffled, _typical_others
from qrowd.simulation import simulate_demo, simulate_judgments, simulate_pool, simulate_runs
from qrowd.simulation.behaviours import Lenient

GROUP = {"good": "group*"}
NAMES = [f"group{i}" for i in range(4)] + [f"other{i}" for i in range(6)]


def world(seed, *, n_topics=20, n_documents=40, quality=(1.5, 0.3), **judges):
    truth = simulate_pool(n_topics, n_documents, n_grades=4, prevalence=0.3, rng=seed)
    spread = [quality[0]] * 4 + [quality[1]] * 6
    runs = simulate_runs(truth, 10, quality=spread, names=NAMES, rng=seed + 1000)
    return truth, runs, simulate_judgments(truth, judges, rng=seed + 2000)


def people(n):
    return {f"person{i}": Lenient(0, 0.5) for i in range(n)}


def test_judges_who_all_say_the_same_score_as_expected():
    _, runs, judgments = world(1, **{f"person{i}": Lenient() for i in range(4)}, model=Lenient())
    scores = evaluate(runs, judgments, "nDCG@10").to_xarray().squeeze("measure")
    found = expected_scores(runs, judgments, "nDCG@10", "model", n_resamples=2, rng=1)
    order = [list(scores.assessor.values).index(name) for name in found.assessors]
    np.testing.assert_allclose(
        found.values[0], scores.transpose("assessor", "topic", "system").values[order], atol=1e-12
    )


def test_a_shuffled_judge_gives_every_grade_as_often_among_documents_that_others_judge_alike():
    _, _, judgments = world(2, **people(4), model=Lenient(0.8, 0.5))
    panel = judgments.panel()
    others = panel.values[:, [1, 2, 3]]
    shuffled = _shuffled(panel, 0, others, is_model=False, n=3, chance=Chance.of(1)).values
    group = _groups(others)
    assert min(np.unique(group, return_counts=True)[1]) >= 2
    for column in shuffled.T[3:]:
        assert not np.array_equal(column, panel.values[:, 0])
        for number in np.unique(group):
            mine = group == number
            assert sorted(column[mine]) == sorted(panel.values[mine, 0])
    for column in shuffled.T[:3]:  # by one other: as often over all documents
        assert sorted(column) == sorted(panel.values[:, 0])


def test_documents_are_grouped_by_the_others_mean_and_those_nobody_else_judged_apart():
    said = np.array([[0.0, 1.0]] * 12 + [[1.0, 0.0]] * 3 + [[1.0, 1.0]] * LEAST + [[np.nan, np.nan]] * 2)
    groups = _groups(said)
    assert len(set(groups[:15])) == 1
    assert len(set(groups)) == 3
    assert groups[-1] not in groups[:-2]
    assert _groups(np.empty((3, 0))).tolist() == [_groups(np.empty((3, 0)))[0]] * 3


def test_how_many_others_a_person_has_is_a_harmonic_mean_over_their_judgments():
    known = np.array([[True, True, True], [True, True, False], [True, False, False]])
    assert _typical_others(known) == pytest.approx(5 / (3 / 2 + 2 / 1))
    assert _typical_others(known[2:]) == 1


def test_what_somebody_did_not_judge_stays_unjudged_when_shuffled():
    _, runs, judgments = world(3, **people(3), model=Lenient(0, 0.5))
    first = judgments.topics[0]
    partly = concatenate_judgments(
        [
            judgments.select(assessors=lambda name: name != "person1"),
            judgments.select(assessors="person1", topics=lambda topic: topic != first),
        ]
    )
    found = expected_scores(runs, partly, "AP", "model", n_resamples=2, rng=1)
    row = found.assessors.index("person1")
    assert np.isnan(found.values[0, row, found.topics.index(first)]).all()
    assert np.isnan(found.values[0, row]).sum() == len(NAMES)


@pytest.mark.nightly
@pytest.mark.parametrize("n", [4, pytest.param(10, marks=pytest.mark.nightly)])
def test_a_lenient_or_severe_judge_of_better_systems_favours_nobody_once_severity_is_taken_out(n):
    plain, adjusted, held = [], [], []
    models = {"lenient": Lenient(0.8, 0.5), "severe": Lenient(-0.8, 0.5)}
    for seed in range(n):
        _, runs, judgments = world(seed, n_topics=40, n_documents=60, **people(5), **models)
        scores = evaluate(runs, judgments, "P(rel=1)@10").to_xarray()
        for model in models:
            humans = [f"person{i}" for i in range(5)]
            expected = expected_scores(runs, judgments, "P(rel=1)@10", model, assessors=humans, n_resamples=6, rng=seed)
            found = assessor_bias(scores, GROUP, model, assessors=humans, expected=expected)
            plain.append(assessor_bias(scores, GROUP, model, assessors=humans).bias[0])
            adjusted.append(found.bias[0])
            held.append(found.low[0] <= 0 <= found.high[0])
    assert np.mean(plain) < -0.05
    assert abs(np.mean(adjusted)) < 0.01
    assert np.mean(held) >= 0.9


def test_a_model_drawn_to_what_a_group_retrieves_still_favours_it():
    truth, _, judgments = world(5, n_topics=40, n_documents=60, **people(5), model=Lenient(0.8, 0.5, appeal=0.8))
    drawn = [0.8] * 4 + [0.0] * 6
    runs = simulate_runs(truth, 10, quality=[0.9] * 10, appeal=drawn, names=NAMES, rng=6)
    scores = evaluate(runs, judgments, "nDCG@10").to_xarray()
    expected = expected_scores(runs, judgments, "nDCG@10", "model", n_resamples=6, rng=1)
    found = assessor_bias(scores, GROUP, "model", expected=expected)
    assert found.low[0] > 0.02


def test_one_seed_one_result_whatever_the_other_judges_are_called():
    _, runs, judgments = world(6, n_topics=8, **people(3), model=Lenient(0, 0.5))
    one, two, other = (
        expected_scores(runs, judgments, "AP", "model", n_resamples=2, rng=rng).values for rng in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("n", "systems"),
    [
        (2, ["bm25", "rerank-llm"]),
        pytest.param(6, None, marks=pytest.mark.nightly),
    ],
)
def test_another_seed_hardly_moves_the_bias_beside_its_interval(n, systems):
    runs, judgments, _ = simulate_demo()
    runs = runs.select(systems=systems, topics=runs.topics if systems is None else runs.topics[:12])
    four = judgments.select(assessors=["ann", "bob", "sven", "llm-a"])
    scores = evaluate(runs, four, "nDCG@10")
    results = [
        assessor_bias(
            scores, {"llm": ["rerank-llm"]}, "llm-a", expected=expected_scores(runs, four, "nDCG@10", "llm-a", rng=seed)
        )
        for seed in range(n)
    ]
    half = np.mean([(one.high[0] - one.low[0]) / 2 for one in results])
    assert np.std([one.bias[0] for one in results], ddof=1) < 0.03 * half


def test_values_are_divided_by_the_scale_where_the_conventions_say_so():
    rows = [("q", f"d{i}", who, said) for i in range(12) for who, said in (("ann", i % 2), ("bob", i % 2), ("llm", 2))]
    judgments = Judgments.from_rows(rows, scales={"*": "0-4"})
    runs = Runs.from_dict({"a": {"q": {f"d{i}": 12.0 - i for i in range(12)}}})
    scores = (
        evaluate(runs, judgments, "DCG@10", conventions=Conventions(grades="rescaled")).to_xarray().squeeze("measure")
    )
    found = expected_scores(runs, judgments, "DCG@10", "llm", conventions=Conventions(grades="rescaled"), rng=1)
    np.testing.assert_allclose(found.values[0, 2], scores.sel(assessor="llm").values)


def test_who_has_no_judgments_and_a_lonely_model_are_refused():
    _, runs, judgments = world(8, n_topics=4, ann=Lenient(), llm=Lenient())
    with pytest.raises(ArgumentError, match="model 'lm' has no judgments"):
        expected_scores(runs, judgments, "AP", "lm")
    with pytest.raises(ArgumentError, match="none but the model"):
        expected_scores(runs, judgments, "AP", "llm", assessors="llm")
    with pytest.raises(ArgumentError, match="n_resamples=0"):
        expected_scores(runs, judgments, "AP", "llm", n_resamples=0)
    alone = expected_scores(runs, judgments, "AP", "llm", n_resamples=2, rng=1)  # one person: everything is shuffled
    assert alone.assessors == ("ann", "llm")
