"""Whether a judge favours a group of systems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from oracles import replacement as oracle
from qrowd.certainty import favours
from qrowd.comparison.labelled import Named
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.files import read_judgments, read_runs
from qrowd.model.judgments import concatenate_judgments

approx = pytest.approx
WHO, SYSTEMS = ("ann", "bob", "cyd", "llm"), ("n1", "n2", "b1", "b2", "b3")
NEURAL = {"neural": "n*"}
VALUES = arrays(float, (4, 5, 5), elements=st.sampled_from([np.nan, 0.0, 0.1, 0.25, 0.5, 0.7, 1.0]))
WHOLE = arrays(float, (4, 5, 5), elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 1.0]))


def named(values, who=WHO, systems=SYSTEMS):
    topics = tuple(f"q{t}" for t in range(values.shape[1]))
    return Named(values, {"assessor": who, "topic": topics, "system": systems})


def listed(table):
    return [[None if np.isnan(x) else float(x) for x in row] for row in table]


@settings(max_examples=100)
@given(VALUES, st.sampled_from([0.8, 0.95]))
def test_everything_is_what_the_definition_says(values, confidence):
    people = [listed(values[a]) for a in range(3)]
    wanted = oracle.favour(listed(values[3]), people, {0, 1}, confidence)
    if wanted[-1] < 2:
        with pytest.raises(NoOverlapError, match="an interval needs 2"):
            favours(named(values), NEURAL, None, "llm", confidence=confidence)
        return
    found = favours(named(values), NEURAL, None, "llm", confidence=confidence)
    got = found.value[0], found.low[0], found.high[0], found.p[0], found.n_topics[0]
    assert got[:3] + got[4:] == approx(wanted[:3] + wanted[4:], abs=1e-9)
    if wanted[2] - wanted[1] > 1e-9:
        assert got[3] == approx(wanted[3], abs=1e-9)
    for j in range(3):
        mean, low, high, _, n = oracle.favour(
            people[j], [p for i, p in enumerate(people) if i != j], {0, 1}, confidence
        )
        own = found.people_value[0, j], found.people_low[0, j], found.people_high[0, j]
        assert own == approx((mean, low, high), abs=1e-9, nan_ok=True)
        assert found.people_n_topics[0, j] == n


@given(WHOLE, arrays(float, (4, 5, 1), elements=st.floats(-1, 1)))
def test_leniency_is_no_favour(values, shift):
    found, other = (favours(named(x), NEURAL, None, "llm") for x in (values, values + shift))
    assert other.value == approx(found.value, abs=1e-9)
    assert other.people_value == approx(found.people_value, abs=1e-9)


@given(WHOLE)
def test_what_a_group_gains_the_others_lose(values):
    found = favours(named(values), {"neural": "n*", "base": ["b1", "b*"]}, None, "llm")
    assert found.value[1] == approx(-found.value[0], abs=1e-12)
    assert found.n_systems.tolist() == [2, 3]


@given(WHOLE, st.permutations(range(3)))
def test_the_order_of_people_does_not_matter(values, order):
    found = favours(named(values), NEURAL, None, "llm")
    moved = favours(
        named(values[[*order, 3]], who=(*(WHO[i] for i in order), "llm")), NEURAL, ["ann", "bob", "cyd"], "llm"
    )
    assert moved.value == approx(found.value, abs=1e-12)
    assert moved.people_value[0] == approx(found.people_value[0, list(order)], abs=1e-12)


def test_a_model_that_adds_to_a_group_favours_it_by_that_much():
    rng = np.random.default_rng(1)
    values = np.repeat(rng.random((1, 40, 5)), 4, axis=0) + 0.02 * rng.standard_normal((4, 40, 5))
    fair = favours(named(values), NEURAL, None, "llm")
    assert abs(fair.value[0]) < 0.01
    values[3, :, :2] += 0.1
    found = favours(named(values), NEURAL, None, "llm")
    assert found.value[0] == approx(fair.value[0] + 0.1)
    assert found.low[0] > 0.05
    assert found.p[0] < 1e-6
    assert found.beyond_people.tolist() == [True]


@given(st.integers(0, 1000), st.floats(0.2, 5))
def test_standardised_a_judge_who_spreads_systems_further_apart_favours_nobody(seed, factor):
    values = np.random.default_rng(seed).random((4, 5, 5))
    stretched = values.copy()
    stretched[3] *= factor
    found, other = (favours(named(x), NEURAL, None, "llm", standardise=True) for x in (values, stretched))
    assert other.value == approx(found.value, abs=1e-9)
    same = np.repeat(values[:1], 4, axis=0) * np.array([1, 1, 1, factor])[:, None, None]
    assert favours(named(same), NEURAL, None, "llm", standardise=True).value == approx([0], abs=1e-9)


def test_one_person_has_nobody_to_be_compared_with():
    values = np.random.default_rng(2).random((4, 6, 5))
    found = favours(named(values), NEURAL, "ann", "llm")
    assert found.people == ("ann",)
    assert np.isnan(found.people_value).all()
    assert found.people_n_topics.tolist() == [[0]]
    assert not found.beyond_people.any()


def test_a_row_for_every_group_and_judge():
    frame = favours(named(np.random.default_rng(3).random((4, 6, 5))), NEURAL, None, "llm").to_frame()
    assert frame["judge"].tolist() == ["llm", "ann", "bob", "cyd"]
    assert frame["systems"].tolist() == [2] * 4


ONES = np.ones((4, 3, 5))
BAD = {
    "all systems": (ONES, ({"all": "*"}, None, "llm"), {}, ["'all' holds all 5 systems"]),
    "no system": (ONES, ({"none": lambda name: False}, None, "llm"), {}, ["'none' holds no system"]),
    "a pattern of nothing": (ONES, ({"x": "zzz*"}, None, "llm"), {}, ["no system matches 'zzz*'"]),
    "no group": (ONES, ({}, None, "llm"), {}, ["groups", "neural_*"]),
    "an unknown model": (ONES, (NEURAL, None, "lm"), {}, ["'lm'", "'llm'"]),
    "nobody else": (ONES, (NEURAL, "llm", "llm"), {}, ["nobody but the model"]),
    "a confidence": (ONES, (NEURAL, None, "llm"), {"confidence": 95}, ["confidence=95"]),
    "several measures": (np.ones((1, 4, 3, 5)), (NEURAL, None, "llm"), {}, ["shape"]),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line_with_the_next_step(what):
    values, arguments, options, parts = BAD[what]
    with pytest.raises(ArgumentError) as caught:
        favours(named(values) if values.ndim == 3 else values, *arguments, **options)
    assert "\n" not in str(caught.value)
    for part in parts:
        assert part in str(caught.value)


def test_on_dl19_the_judges_disfavour_rather_than_favour_neural_systems(dl19):
    people = read_judgments([dl19 / "humans" / "main.tsv"])
    runs = read_runs(dl19 / "runs")
    found = {}
    for name in ("umbrela-gpt4o", "umbrela-llama32"):
        judge = read_judgments([dl19 / "judges" / f"{name}.qrels.gz"])
        scores = evaluate(runs, concatenate_judgments([people, judge]), "nDCG@10")
        told = favours(scores, {"neural": "neural_*"}, None, name)
        assert (told.n_systems.tolist(), told.n_systems_in_all) == ([24], 61)
        found[name] = [round(float(x[0]), 3) for x in (told.value, told.low, told.high)]
    assert found == {"umbrela-gpt4o": [-0.006, -0.022, 0.011], "umbrela-llama32": [-0.112, -0.136, -0.089]}
