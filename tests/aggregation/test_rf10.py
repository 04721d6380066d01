"""On the crowd of the TREC 2010 Relevance Feedback track."""

import gzip

import numpy as np
import pytest

import qrowd
from qrowd.aggregation import dawid_skene, majority_vote

CROWD_KIT = -64_682.4  # log-likelihood of what crowd-kit 1.4.2 ends with; benchmarks/bench_aggregation.py computes it


@pytest.fixture(scope="module")
def labels(rf10):
    return qrowd.read_judgments(rf10 / "trec-rf10-data.txt.gz").recode({-2: 0})


@pytest.fixture(scope="module")
def gold(rf10):
    with gzip.open(rf10 / "trec-rf10-data.txt.gz", "rt") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    return {(topic, document): int(grade) for topic, _, document, grade, _ in rows if int(grade) >= 0}


def accuracy(aggregate, gold):
    merged = aggregate.judgments
    pairs = zip(merged.topic.tolist(), merged.document.tolist(), merged.value.tolist(), strict=True)
    right = [gold[key] == value for t, d, value in pairs if (key := (merged.topics[t], merged.documents[d])) in gold]
    return float(np.mean(right))


@pytest.mark.nightly
def test_the_majority_of_yes_or_no_is_right_as_often_as_it_was_found_to_be(labels, gold):
    """.649 counts every row, repeats by the same worker too; one judgment a worker gives .655."""
    binary = labels.recode({2: 1})
    yes_or_no = {pair: min(grade, 1) for pair, grade in gold.items()}
    assert accuracy(majority_vote(binary.slots(100), ties="lowest"), yes_or_no) == pytest.approx(0.649, abs=0.0005)
    assert accuracy(majority_vote(binary, ties="lowest"), yes_or_no) == pytest.approx(0.655, abs=0.0005)


@pytest.mark.nightly
def test_dawid_skene_is_more_often_right_than_the_vote(labels, gold):
    assert accuracy(dawid_skene(labels, rng=1), gold) > accuracy(majority_vote(labels, ties="lowest"), gold)


@pytest.mark.nightly
def test_from_the_same_start_the_likelihood_is_not_worse_than_crowd_kits(labels):
    with pytest.warns(UserWarning, match="did not converge"):
        found = dawid_skene(labels, start="shares", per="all", max_iterations=100)
    assert found.log_likelihood >= CROWD_KIT
