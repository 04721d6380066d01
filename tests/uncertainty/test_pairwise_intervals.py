"""Agreement of pairs of assessors, and tau-b of their rankings, with intervals over topics."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from oracles.calibration import jackknife
from qrowd import Scores
from qrowd.agreement import cohen_kappa, krippendorff_alpha
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.model.judgments import Judgments
from qrowd.simulation import simulate_demo
from qrowd.uncertainty import pairwise_intervals, tau_interval


def test_agreement_is_that_of_its_own_functions_and_its_interval_leaves_out_topics():
    judgments = simulate_demo()[1].select(assessors=["ann", "sven", "lena"], topics=lambda name: name < "t08")
    result = pairwise_intervals(judgments, weights="quadratic", rng=1)
    n_topics = len(judgments.topics)
    quantile = scipy.stats.t.ppf(0.975, n_topics - 1)  # topics of equal size
    rows = [(topic,) for topic in judgments.topics]

    def of_topics(weights):
        def statistic(some):
            part = judgments.select(topics=[topic for (topic,) in some])
            kappa = cohen_kappa(part, first, second, weights=weights)
            return kappa.value if weights else kappa.observed

        return statistic

    for i, (first, second) in enumerate(zip(result.first, result.second, strict=True)):
        two = judgments.select(assessors=[first, second])
        kappa = cohen_kappa(two, first, second, weights="quadratic")
        assert result.kappa[i] == pytest.approx(kappa.value)
        assert result.agreement[i] == pytest.approx(cohen_kappa(two, first, second).observed)
        alpha = krippendorff_alpha(two, n_resamples=1000, rng=1).item()
        assert (result.alpha[i], result.alpha_low[i], result.alpha_high[i]) == (alpha.value, alpha.low, alpha.high)
        half = jackknife(of_topics("quadratic"), rows, quantile)
        assert result.kappa_high[i] - result.kappa_low[i] == pytest.approx(2 * half)
        half = jackknife(of_topics(None), rows, quantile)
        assert result.agreement_high[i] - result.agreement_low[i] == pytest.approx(2 * half)
    assert result.n_documents.tolist() == [kappa.n_documents] * 3


def test_a_reference_stands_second_in_each_pair_and_pairs_without_documents_are_left_out():
    rows = [("q1", "a", "ann", 1), ("q1", "a", "bob", 1), ("q2", "b", "bob", 0), ("q2", "b", "cyd", 1)]
    judgments = Judgments.from_rows(rows, scales=dict.fromkeys(("ann", "bob", "cyd"), "0-3"))
    of_bob = pairwise_intervals(judgments, reference="bob", n_resamples=10)
    assert list(zip(of_bob.first, of_bob.second, strict=True)) == [("ann", "bob"), ("cyd", "bob")]
    assert np.isnan(of_bob.agreement_low).all()  # one topic
    with pytest.raises(NoOverlapError, match="no pair"):
        pairwise_intervals(judgments.select(assessors=["ann", "cyd"]))
    with pytest.raises(ArgumentError, match="bop"):
        pairwise_intervals(judgments, reference="bop")


def test_fractions_have_alpha_and_no_kappa():
    rows = [(f"q{t}", f"d{d}", who, (t + d + k) % 5 / 5) for t in range(3) for d in range(4)
            for k, who in enumerate(("ann", "bob"))]  # fmt: skip
    result = pairwise_intervals(Judgments.from_rows(rows), n_resamples=10, rng=1)
    assert np.isnan([result.kappa[0], result.agreement[0]]).all()
    assert np.isfinite([result.alpha[0], result.alpha_low[0]]).all()


TABLE = st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), min_size=2, max_size=6)


@given(TABLE, TABLE)
def test_tau_is_scipys_and_its_interval_holds_it(one, other):
    n = min(len(one), len(other))
    values = np.array([one[:n], other[:n]], float)
    found = tau_interval(Scores.from_array(values, assessors=["gpt", "ann"]), "gpt", "ann", n_resamples=50, rng=1)
    expected = scipy.stats.kendalltau(values[0].sum(axis=0), values[1].sum(axis=0)).statistic
    assert found.tau_b == pytest.approx(expected, nan_ok=True)
    assert np.isnan(found.low) or -1 <= found.low <= found.tau_b <= found.high <= 1


@given(TABLE)
def test_the_same_scores_rank_alike_in_each_resample(table):
    values = np.array([table, table], float) + np.arange(4) / 7
    found = tau_interval(Scores.from_array(values, assessors=["gpt", "ann"]), "gpt", "ann", n_resamples=20, rng=1)
    assert (found.tau_b, found.low, found.high) == pytest.approx((1, 1, 1))


def test_an_interval_of_tau_reflects_the_quantiles_of_resamples_at_tau():
    runs, judgments, _ = simulate_demo()
    scores = evaluate(runs, judgments.select(assessors=["ann", "llm-a"]), "nDCG@10")
    found = tau_interval(scores, "llm-a", "ann", rng=3)
    a, b = (scores.sel(assessor=name).values[0, 0] for name in ("ann", "llm-a"))
    random = np.random.default_rng(1)
    taus = []
    for _ in range(1000):
        topics = random.integers(25, size=25)
        taus.append(scipy.stats.kendalltau(a[topics].mean(axis=0), b[topics].mean(axis=0)).statistic)
    assert 2 * found.tau_b - found.low == pytest.approx(np.quantile(taus, 0.983), abs=0.03)
    assert found.high == pytest.approx(min(1, 2 * found.tau_b - np.quantile(taus, 0.017)), abs=0.03)
    with pytest.raises(ArgumentError, match="at least 2"):
        tau_interval(scores, "llm-a", "ann", n_resamples=1)
