"""Simulated preferences."""

import numpy as np

from qrowd.simulation import simulate_pool, simulate_preferences
from simulated import near


def test_without_taste_and_noise_every_preference_is_true_and_every_pair_is_judged_once() -> None:
    truth = simulate_pool(10, 12, rng=1)
    given = simulate_preferences(truth, 3, taste=0, noise=0, strong_margin=0.7, rng=1)
    relevance = dict(zip(truth.pool.documents, truth.relevance, strict=True))
    assert len(given) == len(given.to_rows()) == 10 * 3 * 66
    assert len({(frozenset((a, b)), who) for _, a, b, who, _ in given.to_rows()}) == len(given)
    for topic, preferred, other, _, strength in given.to_rows():
        assert preferred.startswith(topic)
        assert relevance[preferred] > relevance[other]
        assert strength == 1 + (relevance[preferred] - relevance[other] >= 0.7)


def cycles(rows: list[tuple[str, str, str, str, int]]) -> int:
    """How many triples go round in a circle."""
    better = {(who, a, b) for _, a, b, who, _ in rows}
    beaten: dict[tuple[str, str], list[str]] = {}
    for who, a, b in better:
        beaten.setdefault((who, a), []).append(b)
    return sum((who, c, a) in better for who, a, b in better for c in beaten.get((who, b), ())) // 3


def test_taste_makes_no_cycles_but_noise_does() -> None:
    truth = simulate_pool(10, 12, rng=1)
    assert cycles(simulate_preferences(truth, 3, taste=2, noise=0, rng=1).to_rows()) == 0
    assert cycles(simulate_preferences(truth, 3, taste=0, noise=2, rng=1).to_rows()) > 50


def test_taste_is_what_an_assessor_sees_in_a_document_every_time() -> None:
    truth = simulate_pool(10, 12, rng=1)
    ranked = {taste: simulate_preferences(truth, 2, taste=taste, noise=0, rng=1).to_rows() for taste in (0, 1)}
    wins = {
        taste: {
            who: [sum(row[1] == label and row[3] == who for row in rows) for label in truth.pool.documents]
            for who in ("assessor-1", "assessor-2")
        }
        for taste, rows in ranked.items()
    }
    assert wins[0]["assessor-1"] == wins[0]["assessor-2"]
    agreement = np.corrcoef(wins[1]["assessor-1"], wins[1]["assessor-2"])[0, 1]
    assert 0.25 < agreement < 0.75  # relevance and taste weigh alike


def test_a_pool_of_one_document_leaves_nothing_to_prefer() -> None:
    assert simulate_preferences(simulate_pool(2, 1, rng=1), 2, rng=1).to_rows() == []


def test_an_adversary_prefers_the_worse_and_an_indifferent_assessor_neither() -> None:
    truth = simulate_pool(40, 12, rng=1)
    given = simulate_preferences(truth, 3, taste=0, noise=0.1, assessor_weights=(1, -1, 0), rng=1)
    relevance = dict(zip(truth.pool.documents, truth.relevance, strict=True))
    right: dict[str, list[bool]] = {}
    for _, preferred, other, who, _ in given.to_rows():
        right.setdefault(who, []).append(relevance[preferred] > relevance[other])
    assert np.mean(right["assessor-1"]) > 0.95
    assert np.mean(right["assessor-2"]) < 0.05
    assert near(float(np.mean(right["assessor-3"])), 0.5, 40 * 66)


def test_bad_documents_are_the_worst_and_stand_in_no_preference() -> None:
    truth = simulate_pool(10, 10, rng=1)
    given = simulate_preferences(truth, 2, taste=0, bad_share=0.2, rng=1)
    grades = truth.relevance.reshape(10, 10)
    worst = {truth.pool.documents[10 * t + i] for t in range(10) for i in np.argsort(grades[t])[:2]}
    assert len(given.bad) == 10 * 2 * 2
    assert {document for _, document, _ in given.bad} == worst
    assert {a for row in given.to_rows() for a in row[1:3]}.isdisjoint(worst)
    assert len(given) == 10 * 2 * 28


def test_each_assessor_judges_the_share_of_pairs_given_and_either_side_may_win() -> None:
    given = simulate_preferences(simulate_pool(10, 10, rng=1), 2, coverage=0.4, rng=1)
    assert len(given) == 2 * 10 * 18
    assert len({(row[3], frozenset(row[1:3])) for row in given.to_rows()}) == len(given)
