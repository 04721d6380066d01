"""Shares of the weight, agreement by weight, and assessors with a large weight that they may not deserve."""

import numpy as np
import pytest

from qrowd.aware import assessor_weights, doubtful_weights, similarity_to_random
from qrowd.aware.weights import AssessorWeights, reasons_to_doubt
from qrowd.comparison.rankings import kendall_tau_b
from qrowd.model.judgments import Judgments
from qrowd.simulation import (
    Lazy,
    Lenient,
    Spammer,
    simulate_judgments,
    simulate_pool,
    simulate_runs,
)

TRUTH = simulate_pool(15, 40, n_grades=4, prevalence=0.3, rng=1)
RUNS = simulate_runs(TRUTH, 12, depth=30, unjudged_share=0.2, rng=1)
CAREFUL = {f"a{i}": Lenient(0.1 * i - 0.3, 0.6, 0.1) for i in range(8)}
CARELESS = {"always 3": Spammer(3), "lazy": Lazy(), "by lot": Spammer()}


@pytest.fixture(scope="module")
def judgments():
    return simulate_judgments(TRUTH, CAREFUL | CARELESS, rng=1)


@pytest.fixture(scope="module")
def similarities(judgments):
    return similarity_to_random(RUNS, judgments, ["AP", "nDCG@10"], n_resamples=30, rng=1)


def test_shares_add_up_to_1_and_equal_weights_give_everybody_the_same(similarities):
    weights = assessor_weights(similarities, "sgl_rmse_md")
    assert weights.share.shape == (2, 11)
    assert weights.share.sum(axis=1) == pytest.approx([1, 1])
    assert weights.equal == pytest.approx(1 / 11)
    assert assessor_weights(similarities, "uniform").share == pytest.approx(weights.equal)


def test_agreement_is_with_the_mean_of_the_others_and_its_mean_is_weighted(similarities):
    weights = assessor_weights(similarities, "sgl_rmse_md")
    means = similarities.scores.values[0].mean(axis=1)
    expected = [kendall_tau_b(means[a], np.delete(means, a, axis=0).mean(axis=0)) for a in range(11)]
    assert weights.agreement[0] == pytest.approx(expected)
    by_weight, equal = weights.mean_agreement
    assert by_weight[0] == pytest.approx(sum(s * t for s, t in zip(weights.share[0], expected, strict=True)))
    assert equal[0] == pytest.approx(np.mean(expected))


def test_who_gives_one_grade_throughout_or_hardly_any_relevant_or_grades_by_lot_is_found_and_the_careful_are_not(
    judgments,
):
    reasons = reasons_to_doubt(judgments)
    assert set(reasons) == set(CARELESS)
    assert any("always grade" in reason for reason in reasons["always 3"])
    assert "calls 2.5% of 600 documents relevant, the others 43.8%" in reasons["lazy"]
    assert reasons_to_doubt(judgments.select(assessors=list(CAREFUL))) == {}


def test_a_spammer_with_the_largest_weight_is_named_and_one_with_little_weight_is_not(judgments, similarities):
    weights = assessor_weights(similarities, "sgl_rmse_md")
    found = {(one.assessor, one.measure): one for one in doubtful_weights(weights, reasons_to_doubt(judgments))}
    spammer = found["always 3", "nDCG@10"]
    assert spammer.largest
    assert spammer.share > 2 * spammer.equal
    assert ("always 3", "AP") not in found  # far below an equal share there
    assert not any(name == "by lot" for name, _ in found)


def test_only_more_than_a_tenth_above_an_equal_share_counts_and_the_largest_comes_first():
    share = np.array([[0.37, 0.27, 0.27, 0.09]])
    weights = AssessorWeights("sgl_rmse_md", ("AP",), tuple("abcd"), share, np.full((1, 4), 0.25), share)
    reasons = dict.fromkeys("bcd", ("stands out",))
    assert doubtful_weights(weights, reasons) == ()
    assert [one.assessor for one in doubtful_weights(weights, reasons | {"a": ("stands out",)})] == ["a"]
    more = AssessorWeights("x", ("AP",), tuple("abcd"), np.array([[0.3, 0.4, 0.2, 0.1]]), weights.equal, share)
    found = doubtful_weights(more, reasons | {"a": ("fast",)})
    assert [(one.assessor, one.largest) for one in found] == [("b", True), ("a", False)]


@pytest.mark.parametrize(("n_relevant", "named"), [(8, False), (12, True)])
def test_who_calls_too_few_relevant_is_named_only_where_the_others_call_ten_or_more_so(n_relevant, named):
    rows = [("q", f"d{d}", who, int(d < n_relevant)) for d in range(60) for who in ("a", "b")]
    rows += [("q", f"d{d}", "lazy", int(d == 0)) for d in range(60)]
    reasons = reasons_to_doubt(Judgments.from_rows(rows)).get("lazy", ())
    assert any(reason.startswith("calls 1.7% of 60 documents relevant") for reason in reasons) == named
