"""Failures by system: shares over all models, and whether they differ by more than chance."""

from itertools import permutations, product
from math import isnan

import numpy as np
import pytest

from qrowd.judge.exchange import Status
from qrowd.judge.outcome import Outcome, Statuses, system_failures
from qrowd.judge.questions import Question
from qrowd.model.runs import Runs

LISTS = {
    "a": {"1": ["d1", "d2"], "2": ["e1", "e2"]},
    "b": {"1": ["d3", "d4"], "2": ["e3", "e4"]},
    "c": {"1": ["d1", "d4"], "2": ["e1", "e3"]},
}
RUNS = Runs.from_dict(
    {system: {topic: {ds[0]: 2, ds[1]: 1} for topic, ds in lists.items()} for system, lists in LISTS.items()}
)
DOCUMENTS = {"1": ("d1", "d2", "d3", "d4"), "2": ("e1", "e2", "e3", "e4")}


def outcome(topic: str, document: str, failed: bool, sample: int = 1, status: Status = "refused") -> Outcome:
    question = Question(topic, (document,))
    return Outcome(question, "http://here/v1", "m", "graded", "0" * 64, sample, status if failed else "ok", (1.0,))


def statuses(*failed: str, samples: int = 1) -> Statuses:
    asked = [(topic, d, s) for topic, ds in DOCUMENTS.items() for d in ds for s in range(1, samples + 1)]
    return Statuses(tuple(outcome(topic, d, d in failed, s) for topic, d, s in asked), RUNS)


def exact_p(*failed: str) -> float:
    """The share of all orders of the failures within topics whose shares of systems differ as much, in loops."""

    def statistic(bad: set[str]) -> float:
        shares = [sum(d in bad for ds in lists.values() for d in ds) / 4 for lists in LISTS.values()]
        return sum(4 * (share - sum(shares) / len(shares)) ** 2 for share in shares)

    observed, values = statistic(set(failed)), []
    for first, second in product(permutations(DOCUMENTS["1"]), permutations(DOCUMENTS["2"])):
        moved = dict(zip((*DOCUMENTS["1"], *DOCUMENTS["2"]), (*first, *second), strict=True))
        values.append(statistic({moved[d] for d in failed}))
    return float(np.mean([value >= observed - 1e-12 for value in values]))


@pytest.mark.parametrize("failed", [("d1", "d2", "e1", "e2"), ("d1", "e4"), ("d3", "d4", "e2"), ("d2",)])
def test_p_is_the_share_of_all_orders_within_topics_that_differ_as_much(failed):
    assert system_failures(statuses(*failed), n_resamples=4000, rng=1).p == pytest.approx(exact_p(*failed), abs=0.03)


def test_samples_of_one_question_move_together():
    once, often = (system_failures(statuses("d1", "e1", samples=n), rng=1) for n in (1, 5))
    assert once.p == often.p
    assert once.shares == often.shares == {"a": 0.5, "b": 0, "c": 0.5}


def test_shares_count_each_status_of_all_models_together():
    frame = system_failures(statuses("d1", "d2", "e1"), n_resamples=0).to_frame().set_index("system")
    assert frame["unanswered"].to_dict() == {"a": 0.75, "b": 0, "c": 0.5}
    assert frame["refused"].tolist() == frame["unanswered"].tolist()
    assert frame["questions"].tolist() == [4, 4, 4]


@pytest.mark.parametrize("failed", [(), sum(DOCUMENTS.values(), ())])
def test_where_nothing_or_everything_failed_there_is_no_p(failed):
    assert isnan(system_failures(statuses(*failed), rng=1).p)


def test_a_system_without_a_question_is_left_out():
    other = Runs.from_dict({"a": {"1": {"d1": 1}}, "elsewhere": {"9": {"x": 1}}})
    result = system_failures(Statuses(statuses("d1").outcomes, other), rng=1)
    assert list(result.counts) == ["a"]
    assert isnan(result.p)
