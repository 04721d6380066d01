"""What p(R|i) depends on: columns for the paper's three figures."""

import numpy as np
import pytest

from merging import judgments_of
from qrowd.errors import NoOverlapError
from qrowd.model.runs import Runs
from qrowd.predicted_relevance import predicted_relevance
from qrowd_papers.predicted_relevance.sensitivity import (
    sensitivity_to_rank,
    sensitivity_to_sample_size,
    sensitivity_to_topics,
)

RANDOM = np.random.default_rng(3)
LABELS = {
    (f"t{i % 6}", f"d{i}"): dict(zip("abc"[: 2 + i % 2], RANDOM.integers(0, 3, 3).tolist(), strict=False))
    for i in range(90)
}
JUDGMENTS = judgments_of(LABELS, "0-2")
MODEL = predicted_relevance(JUDGMENTS, rel=2, n_resamples=0)


def alone(kept):
    """The model of only these documents."""
    return predicted_relevance(judgments_of({pair: LABELS[pair] for pair in kept}, "0-2"), rel=2, n_resamples=0)


def test_quality_takes_in_documents_rank_by_rank_and_ends_with_all():
    ranks = {pair: 1 + i % 7 for i, pair in enumerate(LABELS)}
    curve = sensitivity_to_rank(JUDGMENTS, ranks, rel=2)
    assert curve.rank.tolist() == [1, 2, 3, 4, 5, 6, 7]
    for k, rank in enumerate(curve.rank):
        model = alone([pair for pair in LABELS if ranks[pair] <= rank])
        assert curve.probability[k] == pytest.approx(model.probability)
        assert curve.n[k] == pytest.approx(model.n)
        assert curve.n_documents[k] == model.data.n_documents
    assert curve.probability[-1] == pytest.approx(MODEL.probability)
    assert len(curve.to_frame()) == 21


def test_quality_by_runs_is_the_best_rank_that_any_system_gave():
    runs = Runs.from_dict(
        {
            "one": {"t0": {"d0": 3, "d6": 2, "x": 1}, "t1": {"d1": 1}},
            "two": {"t0": {"d6": 9, "d12": 8}, "t1": {"d7": 2, "d1": 1}, "t9": {"d0": 1}},
        }
    )
    best = {("t0", "d0"): 1, ("t0", "d6"): 1, ("t0", "d12"): 2, ("t1", "d1"): 1, ("t1", "d7"): 1}
    given, ranked = (sensitivity_to_rank(JUDGMENTS, ranks, rel=2) for ranks in (best, runs))
    assert ranked.rank.tolist() == [1, 2]
    assert ranked.n_documents.tolist() == [4, 5]
    assert np.array_equal(ranked.probability, given.probability, equal_nan=True)


def test_quality_of_documents_without_a_rank_is_refused():
    with pytest.raises(NoOverlapError, match="no document judged twice has a rank"):
        sensitivity_to_rank(JUDGMENTS, {("t0", "d999"): 1}, rel=2)


def test_topics_drawn_spread_as_the_standard_error_over_topics_says():
    drawn = sensitivity_to_topics(JUDGMENTS, rel=2, n_resamples=3000, rng=1)
    model = predicted_relevance(JUDGMENTS, rel=2, resample="topics", n_resamples=3000, rng=1)
    assert drawn.standard_error == pytest.approx(model.standard_error, rel=0.1)
    assert drawn.n_topics == 6
    assert sensitivity_to_topics(JUDGMENTS, rel=2, rng=1).replicates.shape == (300, 3)  # the paper's number
    assert len(drawn.to_frame()) == 9000


def test_with_more_double_judgments_the_sd_falls_as_the_square_root():
    found = sensitivity_to_sample_size(JUDGMENTS, rel=2, sizes=[20, 90, 2000], n_resamples=400, rng=1)
    assert found.mean[-1] == pytest.approx(MODEL.probability, abs=0.01)
    assert found.sd[1] / found.sd[2] == pytest.approx(np.sqrt(2000 / 90), rel=0.2)
    error = predicted_relevance(JUDGMENTS, rel=2, resample="documents", n_resamples=4000, rng=1).standard_error
    assert found.sd[1] == pytest.approx(error, rel=0.15)
    usual = sensitivity_to_sample_size(JUDGMENTS, rel=2, rng=1)
    assert usual.size[-1] == 90
    assert (usual.n_resamples, usual.mean.shape) == (50, (50, 3))
    assert len(usual.to_frame()) == 150


def test_grades_are_well_separated_from_the_size_on_from_which_their_bands_stay_apart():
    curve = sensitivity_to_sample_size(JUDGMENTS, rel=2, sizes=[5, 50, 500, 50_000], n_resamples=60, rng=1)
    for pair, size in enumerate(curve.size_needed):
        apart = [
            bool(abs(mean[pair + 1] - mean[pair]) > sd[pair] + sd[pair + 1])
            for mean, sd in zip(curve.mean, curve.sd, strict=True)
        ]
        stays = [all(apart[i:]) for i in range(4)]
        assert size == (curve.size[stays.index(True)] if any(stays) else pytest.approx(np.nan, nan_ok=True))


def test_grades_that_assessors_cannot_distinguish_are_separated_by_no_number_of_double_judgments():
    """Section 6.3: the uncertainty becomes small, and yet p(2|1) and p(2|0) cannot be distinguished."""
    labels = {}
    for i, pair in enumerate([(0, 0), (0, 2), (1, 1), (1, 2), (2, 2), (2, 2), (0, 1)] * 20):
        labels["q", f"d{i}"] = dict(zip("ab", pair, strict=True))
    curve = sensitivity_to_sample_size(judgments_of(labels, "0-2"), rel=2, rng=1)
    assert np.isnan(curve.size_needed[0])
    assert curve.size_needed[1] <= 140
