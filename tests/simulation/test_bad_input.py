"""What cannot be simulated is refused."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from qrowd.errors import ArgumentError
from qrowd.simulation import (
    Confused,
    Lenient,
    Random,
    RandomAssessors,
    Spammer,
    simulate_judgments,
    simulate_magnitudes,
    simulate_pool,
    simulate_preferences,
    simulate_runs,
)
from simulated import values_of

TRUTH = simulate_pool(3, 20, rng=1)
REFUSED: dict[str, Callable[[], object]] = {
    "n_topics=0": lambda: simulate_pool(0, 20, rng=1),
    "n_grades=1": lambda: simulate_pool(3, 20, n_grades=1, rng=1),
    "n_documents=0": lambda: simulate_pool(3, 0, rng=1),
    "n_documents=(4, 5)": lambda: simulate_pool(3, (4, 5), rng=1),
    "prevalence=1.2": lambda: simulate_pool(3, 20, prevalence=1.2, rng=1),
    "prevalence=(0.5, 0.5)": lambda: simulate_pool(3, 20, prevalence=(0.5, 0.5), rng=1),
    "topic_variance=-1": lambda: simulate_pool(3, 20, topic_variance=-1, rng=1),
    "n_systems=0": lambda: simulate_runs(TRUTH, 0, rng=1),
    "depth=0": lambda: simulate_runs(TRUTH, 2, depth=0, rng=1),
    "quality=(1, 2, 3)": lambda: simulate_runs(TRUTH, 2, quality=(1, 2, 3), rng=1),
    "appeal=(1, 2, 3)": lambda: simulate_runs(TRUTH, 2, appeal=(1, 2, 3), rng=1),
    "names=('a', 'a')": lambda: simulate_runs(TRUTH, 2, names=("a", "a"), rng=1),
    "unjudged_share=2": lambda: simulate_runs(TRUTH, 2, unjudged_share=2, rng=1),
    "tie_share=nan": lambda: simulate_runs(TRUTH, 2, tie_share=float("nan"), rng=1),
    "confusion=((0.5, 0.4),)": lambda: Confused(((0.5, 0.4),)),
    "a confusion of 3 rows": lambda: values_of(TRUTH, Confused(((1, 0), (1, 0), (0, 1)))),
    "accuracy=2": lambda: Confused.of_accuracy(2),
    "p=1.5": lambda: Random(1.5),
    "Spammer(4)": lambda: values_of(TRUTH, Spammer(4)),
    "assessors={}": lambda: simulate_judgments(TRUTH, {}, rng=1),
    "coverage={'bob'": lambda: values_of(TRUTH, Lenient(), coverage={"bob": 0.5}),
    "record='unit'": lambda: values_of(TRUTH, Lenient(), record=("unit",)),
    "topic q1 has 30 units": lambda: simulate_magnitudes(TRUTH, 29, rng=1),
    "unit_size=2": lambda: simulate_magnitudes(TRUTH, 50, unit_size=2, rng=1),
    "do not fill a unit": lambda: simulate_magnitudes(TRUTH, 50, unit_size=21, rng=1),
    "there is no pair to check by": lambda: simulate_magnitudes(replace(TRUTH, cuts=np.full(3, np.inf)), 50, rng=1),
    "assessor_weights=(1,)": lambda: simulate_preferences(TRUTH, 2, assessor_weights=(1,), rng=1),
    "n=0": lambda: RandomAssessors(TRUTH.pool, 0, rng=1),
    "p=-1": lambda: RandomAssessors(TRUTH.pool, 5, -1, rng=1),
    "block=0": lambda: RandomAssessors(TRUTH.pool, 5, block=0, rng=1),
    "distribution=(0.5, 0.4)": lambda: RandomAssessors(TRUTH.pool, 5, distribution=(0.5, 0.4), rng=1),
    "like: 60 values": lambda: RandomAssessors(TRUTH.pool, 5, like=np.ones(3), rng=1),
}


@pytest.mark.parametrize("culprit", REFUSED)
def test_what_cannot_be_simulated_is_refused_by_name(culprit: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        REFUSED[culprit]()
    assert culprit in str(refused.value)
    assert "\n" not in str(refused.value)
