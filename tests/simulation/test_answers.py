"""Simulated answers: the systems stand by their quality, and the model favours its own kind."""

import numpy as np
import pytest

import qrowd
from qrowd.simulation.simulated_answers import SEVERITY, SYSTEMS, simulate_answers


@pytest.fixture(scope="module")
def scores():
    frame = simulate_answers(n_conversations=40, rng=1)
    return qrowd.evaluate(qrowd.Runs.from_frame(frame), qrowd.Judgments.from_frame(frame), "Mean")


def test_people_rank_the_systems_by_quality_and_the_model_prefers_its_own_kind(scores):
    means = scores.to_frame().groupby(["assessor", "system"])["score"].mean().unstack()
    for who in ("ann", "bob", "eve"):
        assert means.loc[who].idxmax() == "rag-large"
        assert means.loc[who].idxmin() == "no-retrieval"
    assert means.loc["llm-self"].idxmax() == "rag-self"
    assert means.loc["bob"].mean() < means.loc["ann"].mean() < means.loc["eve"].mean()
    assert np.isfinite(scores.values).all()
    assert (scores.assessors, scores.systems) == (tuple(SEVERITY), tuple(SYSTEMS))


def test_the_same_number_gives_the_same_answers():
    assert simulate_answers(n_conversations=2, rng=3) == simulate_answers(n_conversations=2, rng=3)
    assert simulate_answers(n_conversations=2, rng=3) != simulate_answers(n_conversations=2, rng=4)


def test_questions_of_a_conversation_share_its_name_and_have_vital_and_okay_nuggets():
    frame = simulate_answers(n_conversations=12)
    conversations = {topic.partition("::")[0] for topic in frame["topic"]}
    assert len(conversations) == 12
    assert 24 <= len(set(frame["topic"])) <= 60
    assert set(frame["criterion"]) == {"vital", "okay"}
    assert set(frame["value"]) == {0, 0.5, 1}
