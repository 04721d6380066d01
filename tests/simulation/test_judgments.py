"""Judgments of simulated panels."""

from collections import Counter

import numpy as np
import pytest

from qrowd.model.judgments import Judgments
from qrowd.simulation import Lenient, Random, Truth, simulate_judgments, simulate_pool
from simulated import rows, values_of


@pytest.mark.parametrize("coverage", [0.0, 0.001, 0.25, 1.0])
def test_an_assessor_covers_the_share_given_of_every_pool_and_at_least_one_document(coverage: float) -> None:
    truth = simulate_pool(6, (40, 40, 40, 7, 7, 1), rng=1)
    judgments = simulate_judgments(truth, {"ann": Lenient(), "all": Lenient()}, coverage={"ann": coverage}, rng=1)
    per_topic = Counter(topic for topic, _, who, *_ in rows(judgments) if who == "ann")
    expected = [max(round(coverage * size), 1) if coverage else 0 for size in (40, 40, 40, 7, 7, 1)]
    assert [per_topic[topic] for topic in truth.pool.topics] == expected
    assert sum(who == "all" for _, _, who, *_ in rows(judgments)) == 135


def test_coverage_changes_what_is_judged_and_not_how(truth: Truth) -> None:
    part = simulate_judgments(truth, {"ann": Random(0.5)}, coverage=0.3, rng=5)
    whole = dict(zip(truth.pool.documents, values_of(truth, Random(0.5)), strict=True))
    assert len(part) == 1500
    assert all(whole[document] == value for _, document, _, value in rows(part))


def test_labels_of_documents_that_nobody_judged_are_left_out(truth: Truth) -> None:
    part = simulate_judgments(truth, {"ann": Lenient()}, coverage=0.3, rng=5)
    assert len(part.documents) == 1500


def test_nothing_is_recorded_unless_asked_and_asking_changes_no_judgment(truth: Truth) -> None:
    plain = simulate_judgments(truth, {"ann": Random()}, rng=5)
    full = simulate_judgments(truth, {"ann": Random()}, record=("order", "seconds"), rng=5)
    assert all(getattr(plain, name) is None for name in Judgments.OPTIONAL)
    assert [row[:4] for row in rows(full)] == rows(plain)


def test_order_is_that_of_the_work_and_goes_topic_after_topic(truth: Truth) -> None:
    judgments = simulate_judgments(truth, {"ann": Lenient(), "bob": Lenient()}, record=("order",), rng=5)
    assert judgments.order is not None
    assert sorted(judgments.order) == list(range(1, len(judgments) + 1))
    bob = np.flatnonzero(judgments.assessor == 1)
    assert (np.diff(judgments.order[bob]) > 0).all()
    # Topic after topic, not in the order of their numbers.
    visits = judgments.topic[bob][np.append(True, np.diff(judgments.topic[bob]) != 0)]
    assert len(visits) == 50
    assert not (np.diff(visits) > 0).all()
