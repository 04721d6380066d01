"""Intervals over topics: how often they hold what they estimate."""

from dataclasses import replace

import numpy as np
import pytest

import qrowd
from qrowd import Scores
from qrowd.uncertainty import calibration, pairwise_intervals, tau_interval
from qrowd.uncertainty.topic_jackknife import jackknife_mean


def test_the_interval_of_a_mean_over_documents_holds_it_95_times_of_100_whatever_the_sizes_of_topics():
    """2,000 collections of 12 topics with 1 to 60 documents, which are alike within a topic."""
    random = np.random.default_rng(1)
    n = random.integers(1, 61, size=(2000, 12)).astype(float)
    total = n * random.normal(1.0, 0.5, size=n.shape) + np.sqrt(n) * random.normal(size=n.shape)
    mean, low, high = jackknife_mean(total, n, 0.95)
    assert np.mean((low <= 1.0) & (high >= 1.0)) == pytest.approx(0.95, abs=0.015)
    assert mean.mean() == pytest.approx(1.0, abs=0.01)


def test_where_one_topic_is_all_there_is_no_interval():
    mean, low, high = jackknife_mean(np.array([3.0, 0.0]), np.array([4.0, 0.0]), 0.95)
    assert mean == 0.75
    assert np.isnan([low, high]).all()


@pytest.mark.slow
def test_intervals_of_calibration_agreement_and_rankings_hold_those_of_all_topics_of_dl21(dl21):
    """25 topics drawn with replacement, 60 times; docs/replacement.md has the figures of 400 draws."""
    name = "umbrela-gpt4o"
    files = {"nist": dl21 / "qrels.nist.txt", name: dl21 / "judges" / f"{name}.qrels.gz"}
    judgments = qrowd.read_judgments(files).with_scales({"*": "0-3"}).single()
    scores = qrowd.evaluate(qrowd.read_runs(dl21 / "runs"), judgments, "nDCG@10")
    truth, agreement = calibration(judgments, name), pairwise_intervals(judgments, n_resamples=0)
    tau = tau_interval(scores, name, "nist", n_resamples=2).tau_b
    random = np.random.default_rng(1)
    inside = []
    for _ in range(60):
        topics = random.integers(len(judgments.topics), size=25)
        some = of_topics(judgments, topics)
        one, both = calibration(some, name), pairwise_intervals(some, n_resamples=100, rng=1)
        drawn = Scores.from_array(scores.values[0][:, topics], assessors=scores.assessors)
        ranked = tau_interval(drawn, name, "nist", n_resamples=200, rng=1)
        inside.append(
            [
                one.difference_low <= truth.difference <= one.difference_high,
                *((one.low <= truth.mean) & (truth.mean <= one.high)),
                both.kappa_low[0] <= agreement.kappa[0] <= both.kappa_high[0],
                both.alpha_low[0] <= agreement.alpha[0] <= both.alpha_high[0],
                ranked.low <= tau <= ranked.high,
            ]
        )
    assert (np.mean(inside, axis=0) > 0.85).all()
    assert np.mean(inside) == pytest.approx(0.95, abs=0.03)


def of_topics(judgments, topics):
    """The judgments of these topics, a topic that is drawn twice standing for two."""
    rows = [np.flatnonzero(judgments.topic == t) for t in topics]
    number = np.repeat(np.arange(len(topics)), [each.size for each in rows]).astype(np.int32)
    kept = np.concatenate(rows)
    columns = {each: getattr(judgments, each)[kept] for each in ("document", "assessor", "value")}
    names = tuple(f"topic {i}" for i in range(len(topics)))
    plain = dict.fromkeys(judgments.OPTIONAL)
    return replace(judgments, topics=names, topic=number, **columns, **plain)
