"""Dawid-Skene and MACE against slow loops, and on assessors whose truth is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merging import by_pair, judgments_of, panels, posterior_by_pair
from oracles import aggregation as oracle
from qrowd.aggregation import dawid_skene, mace, majority_vote
from qrowd.aggregation.coded import coded
from qrowd.errors import ArgumentError
from qrowd.kernels.confusion import expect_knowing
from qrowd.simulation import Confused, Random, Spammer, simulate_judgments, simulate_pool

STARTS = ["majority", "shares", "honest"]


@given(panels(), st.sampled_from(STARTS), st.sampled_from([0.0, 0.1]))
@settings(max_examples=60)
def test_pooled_dawid_skene_is_what_its_definition_says(labels, start, smoothing):
    found = dawid_skene(judgments_of(labels), start=start, per="all", ties="lowest", smoothing=smoothing)
    grades = found.grades.tolist()
    posterior, objectives, likelihood = oracle.dawid_skene(labels, grades, start, smoothing)
    assert found.iterations == len(objectives)
    assert found.objective == pytest.approx(objectives, abs=1e-6)
    assert found.log_likelihood == pytest.approx(likelihood, abs=1e-6)
    for pair, probabilities in posterior_by_pair(found).items():
        assert probabilities == {g: pytest.approx(p, abs=1e-6) for g, p in posterior[pair].items()}


@given(panels(), st.sampled_from(STARTS))
@settings(max_examples=40)
def test_topics_alone_are_fitted_as_if_there_were_no_others(labels, start):
    together = posterior_by_pair(dawid_skene(judgments_of(labels), start=start, ties="lowest"))
    grades = sorted({grade for said in labels.values() for grade in said.values()})
    for topic in {topic for topic, _ in labels}:
        own = {pair: said for pair, said in labels.items() if pair[0] == topic}
        posterior, _, _ = oracle.dawid_skene(own, [float(g) for g in grades], start)
        for pair in own:
            assert together[pair] == {g: pytest.approx(p, abs=1e-6) for g, p in posterior[pair].items()}


@given(panels(most_documents=10), st.sampled_from(STARTS), st.sampled_from([0.0, 0.5]))
def test_the_objective_of_em_never_falls(labels, start, smoothing):
    found = dawid_skene(judgments_of(labels), start=start, per="all", ties="lowest", smoothing=smoothing)
    # A grade nobody supports is floored, which may cost the likelihood what the floor weighs.
    assert (np.diff(found.objective) >= -1e-6).all()


def test_dawid_skene_finds_the_truth_and_the_confusions_where_the_vote_is_misled():
    truth = simulate_pool(1, 600, grades=2, rng=1)
    crowd = {f"good-{i}": Confused.of_accuracy(0.9) for i in range(3)}
    crowd |= {f"coin-{i}": Random(0.5) for i in range(4)}
    judgments = simulate_judgments(truth, crowd, rng=1)
    found = dawid_skene(judgments, rng=1)
    right = (found.judgments.value == truth.grade).mean()
    assert right > (majority_vote(judgments, rng=1).judgments.value == truth.grade).mean() + 0.03
    assert right > 0.95
    pooled = dawid_skene(judgments, per="all", rng=1)
    for a, name in enumerate(pooled.assessors):
        expected = 0.9 if name.startswith("good") else 0.5
        assert np.diag(pooled.confusion[a]) == pytest.approx(expected, abs=0.08)


def test_an_even_chance_is_not_relevant():
    found = dawid_skene(judgments_of({("t", "d"): {"a": 0, "b": 1}}), start="shares")
    assert found.posterior[0].tolist() == [0.5, 0.5]
    assert by_pair(found) == {("t", "d"): 0}


def test_what_did_not_converge_says_so():
    labels = {("t", f"d{i}"): {"a": i % 2, "b": i % 3 == 0, "c": i % 5 < 2} for i in range(30)}
    with pytest.warns(UserWarning, match="did not converge within 1 iterations"):
        found = dawid_skene(judgments_of(labels), tol=1e-12, max_iterations=1)
    assert found.converged is False


@given(panels(), st.integers(0, 5))
@settings(max_examples=60)
def test_a_pass_of_mace_is_what_its_definition_says(labels, seed):
    data = coded(judgments_of(labels), "first")
    grades, n = data.grades.tolist(), (len(data.assessors), data.grades.size)
    said = np.zeros(n)
    np.add.at(said, (data.assessor, data.said), 1)
    knew = said * np.random.default_rng(seed).random(n)
    start = {(a, g): knew[i, j] for i, a in enumerate(data.assessors) for j, g in enumerate(grades)}
    posterior, after = oracle.mace_pass(labels, grades, start, 0.5, 10.0)
    from scipy.special import digamma

    guessed = said - knew
    known, unknown = 0.5 + knew.sum(axis=1), 0.5 + guessed.sum(axis=1)
    preference = digamma(10 + guessed) - digamma((10 + guessed).sum(axis=1, keepdims=True))
    knows = np.exp(digamma(known) - digamma(known + unknown))
    guesses = np.exp((digamma(unknown) - digamma(known + unknown))[:, None] + preference)
    ours, knowing = np.empty((data.n_pairs, len(grades))), np.empty(n)
    expect_knowing(data.starts, data.assessor, data.said, knows, guesses, ours, knowing)
    for (topic, document), row in zip(by_pair(majority_vote(judgments_of(labels), "lowest")), ours, strict=True):
        assert row.tolist() == [pytest.approx(posterior[topic, document][g]) for g in grades]
    for i, a in enumerate(data.assessors):
        assert knowing[i].tolist() == [pytest.approx(after[a, g]) for g in grades]


def test_mace_tells_spammers_from_those_who_know():
    truth = simulate_pool(2, 200, grades=3, rng=2)
    crowd = {f"good-{i}": Confused.of_accuracy(0.85, grades=3) for i in range(3)}
    crowd |= {f"spam-{i}": Spammer() for i in range(3)} | {"always-0": Spammer(0)}
    judgments = simulate_judgments(truth, crowd, rng=2)
    found = mace(judgments, rng=1, max_iterations=500)
    competence = dict(zip(found.assessors, found.competence, strict=True))
    assert min(competence[name] for name in crowd if name.startswith("good")) > 0.6
    assert max(competence[name] for name in crowd if not name.startswith("good")) < 0.4
    assert (found.judgments.value == truth.grade).mean() > (
        majority_vote(judgments, rng=1).judgments.value == truth.grade
    ).mean()


@pytest.mark.parametrize(
    "call",
    [
        lambda j: dawid_skene(j, start="random"),
        lambda j: dawid_skene(j, per="assessor"),
        lambda j: dawid_skene(j, tol=0),
        lambda j: mace(j, restarts=0),
    ],
)
def test_arguments_out_of_range_are_refused(call):
    with pytest.raises(ArgumentError):
        call(judgments_of({("t", "d"): {"a": 1}}))
