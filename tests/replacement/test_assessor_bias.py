"""Whether a judge favours a group of systems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from oracles import favour as oracle
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.files import read_judgments
from qrowd.model.judgments import concatenate_judgments
from qrowd.model.scores import Scores
from qrowd.replacement import assessor_bias, expected_scores
from real_runs import runs_of

approx = pytest.approx
WHO, SYSTEMS = ("ann", "bob", "cyd", "dan", "llm"), ("n1", "n2", "b1", "b2", "b3")
NEURAL = {"neural": "n*"}
SOME = st.sampled_from([np.nan, 0.0, 0.1, 0.25, 0.5, 0.7, 1.0])
VALUES = arrays(float, (5, 5, 5), elements=SOME)
WHOLE = arrays(float, (5, 5, 5), elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 1.0]))


def named(values, who=WHO, systems=SYSTEMS):
    topics = tuple(f"q{t}" for t in range(values.shape[1]))
    return Scores.from_array(values, assessors=who, topics=topics, systems=systems)


def drawn(random, n_people, n_topics, taste, shift=0.0, error=0.1):
    """Scores of people and a model who is one of them, four systems in the group and six others."""
    size = (n_people + 1, 1, 10)
    values = random.normal(0, taste, size) + random.normal(0, error, (n_people + 1, n_topics, 10))
    values += random.normal(0.5, 0.2, (1, n_topics, 10))
    values[-1, :, :4] += shift
    names = (*(f"p{i}" for i in range(n_people)), "llm")
    return named(values, names, tuple("nnnnbbbbbb"[i] + str(i) for i in range(10)))


@settings(max_examples=settings.default.max_examples * 6 // 5)
@given(VALUES, st.sampled_from([0.8, 0.95]), st.booleans())
def test_everything_is_what_the_definition_says(values, confidence, adjusted):
    expected = np.random.default_rng(5).random(values.shape) / 4 if adjusted else None
    (value, half, p, n, df), persons = oracle.favour(
        values[4].tolist(), values[:4].tolist(), {0, 1}, confidence, expected=expected
    )
    options = {"confidence": confidence, "expected": named(expected) if adjusted else None}
    if n < 2:
        with pytest.raises(NoOverlapError, match="an interval needs 2"):
            assessor_bias(named(values), NEURAL, "llm", **options)
        return
    found = assessor_bias(named(values), NEURAL, "llm", **options)
    assert (found.bias[0], found.n_topics[0], found.df[0]) == approx((value, n, df), abs=1e-9)
    for person, (own, topics) in enumerate(persons):
        assert found.assessor_bias[0, person] == approx(own, abs=1e-9, nan_ok=True)
        assert found.assessor_n_topics[0, person] == topics
    assert found.high[0] - found.bias[0] == approx(half, abs=1e-7, nan_ok=True)
    assert found.bias[0] - found.low[0] == approx(half, abs=1e-7, nan_ok=True)
    if np.isnan(half) or half > 1e-6:
        assert found.p[0] == approx(p, abs=1e-6, nan_ok=True)


@given(st.integers(0, 10_000), st.integers(3, 8))
def test_where_all_judged_all_topics_it_is_the_prediction_interval_of_one_more_person(seed, n):
    scores = drawn(np.random.default_rng(seed), n, 30, 0.03)
    values = scores.values[0]
    values[-1] = values[:-1].mean(axis=0) + 0.01 * np.arange(10)  # no error of its own by topic
    found = assessor_bias(scores, NEURAL, "llm")
    means = (values[..., :4].mean(axis=2) - values[..., 4:].mean(axis=2)).mean(axis=1)
    half = stats.t.ppf(0.975, n - 1) * means[:-1].std(ddof=1) * np.sqrt(1 + 1 / n)
    assert found.bias[0] == approx(means[-1] - means[:-1].mean(), abs=1e-12)
    assert found.high[0] - found.bias[0] == approx(half)
    assert found.df == approx([n - 1])


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(WHOLE, arrays(float, (5, 5, 1), elements=st.floats(-1, 1)))
def test_what_is_added_to_all_systems_is_no_favour(values, shift):
    found, other = (assessor_bias(named(x), NEURAL, "llm") for x in (values, values + shift))
    assert other.bias == approx(found.bias, abs=1e-9)
    assert other.assessor_bias == approx(found.assessor_bias, abs=1e-9)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(WHOLE)
def test_what_a_group_gains_the_others_lose(values):
    found = assessor_bias(named(values), {"neural": "n*", "base": ["b1", "b*"]}, "llm")
    assert found.bias[1] == approx(-found.bias[0], abs=1e-12)
    assert found.p[1] == approx(found.p[0], abs=1e-6)
    assert found.n_systems.tolist() == [2, 3]


@given(WHOLE, st.permutations(range(4)))
def test_the_order_of_people_does_not_matter(values, order):
    found = assessor_bias(named(values), NEURAL, "llm")
    turned = named(values[[*order, 4]], who=(*(WHO[i] for i in order), "llm"))
    moved = assessor_bias(turned, NEURAL, "llm", assessors=["ann", "bob", "cyd", "dan"])
    assert moved.bias == approx(found.bias, abs=1e-12)
    assert moved.assessor_bias[0] == approx(found.assessor_bias[0, list(order)], abs=1e-12)
    assert moved.high == approx(found.high, abs=1e-9)


@given(WHOLE)
def test_who_scores_as_expected_favours_nobody(values):
    found = assessor_bias(named(values), NEURAL, "llm", expected=named(values))
    assert (found.bias[0], found.assessor_bias.tolist()) == (0, [[0] * 4])
    assert found.severity == approx(assessor_bias(named(values), NEURAL, "llm").bias, abs=1e-12)


@pytest.mark.parametrize(
    ("n_people", "n_topics", "taste", "n", "least", "most"),
    [
        (3, 50, 0.03, 120, 0.89, 1),  # binomial error .02
        (10, 50, 0.0, 120, 0.89, 1),
        *(
            pytest.param(*case, 400, 0.925, 0.98, marks=pytest.mark.nightly)  # binomial error .011
            for case in [(3, 50, 0.03), (10, 50, 0.0), (3, 50, 0.0), (10, 50, 0.03), (5, 200, 0.0), (5, 200, 0.03)]
        ),
    ],
)
def test_a_model_who_is_one_of_the_people_favours_nobody_in_95_percent(n_people, n_topics, taste, n, least, most):
    random = np.random.default_rng([7, n_people])
    held = topics_alone = 0
    for _ in range(n):
        scores = drawn(random, n_people, n_topics, taste)
        found = assessor_bias(scores, NEURAL, "llm")
        held += found.low[0] <= 0 <= found.high[0]
        contrast = scores.values[0][..., :4].mean(axis=2) - scores.values[0][..., 4:].mean(axis=2)
        topics_alone += stats.ttest_1samp(contrast[-1] - contrast[:-1].mean(axis=0), 0).pvalue > 0.05
    assert least <= held / n <= most
    if taste:
        assert topics_alone / n < 0.65


def test_a_kinship_beyond_what_people_differ_is_found():
    random = np.random.default_rng(8)
    for taste, least, most in ((0.0, 0.95, 1.0), (0.03, 0.05, 0.6)):
        found = [assessor_bias(drawn(random, 5, 50, taste, shift=0.03, error=0.04), NEURAL, "llm") for _ in range(60)]
        assert least <= np.mean([one.low[0] > 0 for one in found]) <= most


@pytest.mark.parametrize(
    ("n", "least", "most"), [(120, 0.89, 1), pytest.param(400, 0.925, 0.985, marks=pytest.mark.nightly)]
)
def test_a_model_whose_errors_are_larger_than_peoples_has_the_wider_interval(n, least, most):
    random = np.random.default_rng(9)
    held = 0
    for _ in range(n):
        scores = drawn(random, 10, 50, 0.0, error=0.03)
        scores.values[0, -1] += random.normal(0, 0.2, scores.values[0, -1].shape)
        found = assessor_bias(scores, NEURAL, "llm")
        held += found.low[0] <= 0 <= found.high[0]
    assert least <= held / n <= most


@pytest.mark.parametrize(
    ("n", "least", "most"), [(100, 0.89, 1), pytest.param(400, 0.93, 0.99, marks=pytest.mark.nightly)]
)
def test_two_people_a_topic_are_enough_for_an_interval(n, least, most):
    random = np.random.default_rng(10)
    held = []
    for _ in range(n):
        scores = drawn(random, 6, 60, 0.03)
        for t in range(60):
            scores.values[0, random.permutation(6)[2:], t] = np.nan
        found = assessor_bias(scores, NEURAL, "llm")
        held.append(found.low[0] <= 0 <= found.high[0])
        assert 2 <= found.df[0] <= 5
    assert least <= np.mean(held) <= most


@pytest.mark.parametrize(
    ("n", "taste", "least"),
    [(80, 0.03, 0.89), *(pytest.param(400, taste, 0.93, marks=pytest.mark.nightly) for taste in (0.0, 0.03))],
)
def test_of_ten_who_share_out_the_topics_of_the_model_another_one_is_inside(n, taste, least):
    random = np.random.default_rng(11)
    held = []
    for _ in range(n):
        scores = drawn(random, 10, 100, taste)
        for t in range(100):
            scores.values[0, random.permutation(10)[random.integers(1, 4) :], t] = np.nan
        found = assessor_bias(scores, NEURAL, "llm")
        held.append(found.low[0] <= 0 <= found.high[0])
        assert 2 <= found.df[0] <= 9
    assert np.mean(held) >= least


def test_fewer_than_three_people_and_pairs_who_only_judged_with_each_other_bring_no_verdict():
    values = np.random.default_rng(2).random((5, 6, 5))
    for humans, df in (("ann", 0), (["ann", "bob"], 1), (["ann", "bob", "cyd"], 2)):
        found = assessor_bias(named(values), NEURAL, "llm", assessors=humans)
        assert found.df.tolist() == [df]
        assert np.isnan([found.low[0], found.high[0], found.p[0]]).all() == (df < 2)
        assert not np.isnan(found.bias[0])
    values[:2, :3] = np.nan
    values[2:4, 3:] = np.nan
    assert assessor_bias(named(values), NEURAL, "llm").df.tolist() == [2]  # two pairs, apart


def test_a_model_that_judged_other_topics_than_the_people_is_refused_with_the_reason():
    values = np.full((4, 6, 2), np.nan)
    values[:3, :3], values[3, 2:] = 0.5, 0.5
    scores = Scores.from_array(values, assessors=["a", "b", "c", "m"], systems=["x", "y"])
    with pytest.raises(NoOverlapError, match=r"scores on 1 topics together.*the minimal coverage"):
        assessor_bias(scores, {"g": "x"}, "m")


def test_a_row_for_every_group_and_judge():
    frame = assessor_bias(named(np.random.default_rng(3).random((5, 6, 5))), NEURAL, "llm").to_frame()
    assert frame["assessor"].tolist() == ["llm", "ann", "bob", "cyd", "dan"]
    assert frame["n_systems"].tolist() == [2] * 5
    assert frame["low"].isna().tolist() == [False, True, True, True, True]


ONES = np.ones((5, 3, 5))
BAD = {
    "all systems": (ONES, ({"all": "*"}, "llm"), {}, ["'all' holds all 5 systems"]),
    "no system": (ONES, ({"none": lambda name: False}, "llm"), {}, ["'none' holds no system"]),
    "a pattern of nothing": (ONES, ({"x": "zzz*"}, "llm"), {}, ["no system matches 'zzz*'"]),
    "no group": (ONES, ({}, "llm"), {}, ["groups", "neural_*"]),
    "an unknown model": (ONES, (NEURAL, "lm"), {}, ["'lm'", "'llm'"]),
    "nobody else": (ONES, (NEURAL, "llm"), {"assessors": "llm"}, ["none but the model"]),
    "a confidence": (ONES, (NEURAL, "llm"), {"confidence": 95}, ["confidence=95"]),
    "expected scores of other systems": (
        ONES, (NEURAL, "llm"), {"expected": named(ONES, systems=tuple("abcde"))}, ["expected", "expected_scores"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line_with_the_next_step(what):
    values, arguments, options, parts = BAD[what]
    with pytest.raises(ArgumentError) as caught:
        assessor_bias(named(values), *arguments, **options)
    assert "\n" not in str(caught.value)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.nightly
def test_on_dl19_a_judge_who_seems_to_disfavour_neural_systems_is_mostly_noisier_than_people(dl19):
    people = read_judgments([dl19 / "humans" / "main.tsv"])
    runs = runs_of(dl19)
    plain, adjusted = {}, {}
    for name in ("umbrela-gpt4o", "umbrela-llama32"):
        judge = read_judgments([dl19 / "judges" / f"{name}.qrels.gz"])
        judgments = concatenate_judgments([people, judge])
        scores = evaluate(runs, judgments, "nDCG@10").to_xarray()
        expected = expected_scores(runs, judgments, "nDCG@10", name, rng=1)
        for told, given_expected in ((plain, None), (adjusted, expected)):
            found = assessor_bias(scores, {"neural": "neural_*"}, name, expected=given_expected)
            assert (found.n_systems.tolist(), found.n_systems_in_all) == ([24], 61)
            assert found.df.tolist() == [4]  # eight people, in four pairs who judged with each other alone
            told[name] = [float(x[0]) for x in (found.bias, found.low, found.high)]
    assert plain["umbrela-gpt4o"] == approx([-0.006, -0.035, 0.023], abs=6e-4)
    assert plain["umbrela-llama32"] == approx([-0.112, -0.141, -0.083], abs=6e-4)
    assert adjusted["umbrela-gpt4o"] == approx([0.012, -0.040, 0.063], abs=0.01)
    assert adjusted["umbrela-llama32"] == approx([-0.037, -0.090, 0.015], abs=0.01)
