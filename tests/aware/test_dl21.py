"""The estimators on real runs: 63 systems of TREC 2021 Deep Learning, judged by NIST and by 18 programs."""

import numpy as np
import pytest

from qrowd.aware import NAMES, aware, similarity_to_random
from qrowd.evaluation import evaluate
from qrowd.files import read_judgments
from qrowd.kernels.correlation import tau_b
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.scores import known_mean
from real_runs import runs_of


@pytest.fixture(scope="module")
def runs(dl21):
    return runs_of(dl21)


@pytest.fixture(scope="module")
def nist(dl21):
    return read_judgments(str(dl21 / "qrels.nist.txt"))


@pytest.fixture(scope="module")
def judges(dl21):
    """Everyone in yes and no: half of the scale's maximum and above is yes."""
    read = read_judgments(str(dl21 / "judges" / "*.qrels.gz"))
    halves = {name: scale.maximum / 2 for name, scale in zip(read.assessors, read.scales, strict=True)}
    return read.recode(halves)


@pytest.fixture(scope="module")
def similarities(runs, judges):
    return similarity_to_random(runs, judges, "AP", n_resamples=20, rng=1)


@pytest.fixture(scope="module")
def truth(runs, nist):
    return evaluate(runs, nist, "AP(rel=2)").to_xarray().isel(measure=0, assessor=0).mean("topic").values


def against(truth, means):
    return np.sqrt(np.mean((means - truth) ** 2)), tau_b(means[None], truth[None])[0]


@pytest.mark.nightly
def test_every_judge_has_an_accuracy_wherever_they_have_a_score(similarities):
    found = similarities.accuracies()
    assert found.shape == (31, 1, 18, 53)
    known = np.broadcast_to(similarities.scores.known, found.shape)
    assert np.isfinite(found.values[known]).all()
    assert np.isnan(found.values[~known]).all()
    assert (found.values[known] >= 0).all()
    assert 0 < (~similarities.scores.known).sum() < 200  # topics in which a judge finds nothing relevant, or lacks


@pytest.mark.nightly
def test_closer_to_nist_than_the_plain_mean_and_than_the_printed_polarity(similarities, truth):
    """n = 100 gives RMSE .021, .028 and .033; tau-b .879, .845 and .845."""

    def result(name, polarity="dissimilarity"):
        return against(truth, known_mean(similarities.average(name, polarity=polarity).values[0, 0], 0))

    (error, tau), (error_uniform, tau_uniform) = result("sgl_rmse_msd"), result("uniform")
    error_printed, tau_printed = result("sgl_rmse_msd", "printed")
    assert error < 0.8 * error_uniform < error_printed
    assert tau > tau_uniform + 0.02
    assert tau > tau_printed + 0.02


@pytest.mark.nightly
def test_the_weakest_model_weighs_least_and_the_strongest_most(similarities):
    accuracy = known_mean(similarities.accuracy("sgl_rmse_msd")[0], 1)
    weights = dict(zip(similarities.scores.assessors, accuracy, strict=True))
    in_order = sorted(weights, key=weights.get)
    assert in_order[0] == "umbrela-llama32"
    assert in_order[-2:] == ["umbrela-gpt4", "umbrela-gpt4o"]
    assert weights["umbrela-llama32"] < 0.1 * weights["umbrela-gpt4o"]


@pytest.mark.nightly
def test_the_average_by_xarray_is_the_same(runs, judges, similarities):
    scores = evaluate(runs, judges, "AP", conventions=Conventions(empty="nan"))
    expected = similarities.average("tpc_tau_md").values
    for form in (scores, scores.to_xarray()):
        assert aware(form, similarities.accuracies(estimators=["tpc_tau_md"])).values == pytest.approx(expected)


def test_under_symmetric_noise_weights_follow_accuracy(runs, nist):
    """NIST's judgments, each turned round with a probability from .45 to .05."""
    said = nist.recode(2)
    shares = [0.55 + 0.05 * i for i in range(9)]
    random = np.random.default_rng(1)
    right = random.random((said.value.size, 9)) < shares
    value = np.where(right, said.value[:, None], 1 - said.value[:, None])
    judgments = Judgments.from_codes(
        said.topics,
        said.documents,
        tuple(f"{share:.2f}" for share in shares),
        np.repeat(said.topic, 9),
        np.repeat(said.document, 9),
        np.tile(np.arange(9, dtype=np.int32), said.value.size),
        value.ravel(),
    )
    similarities = similarity_to_random(runs, judgments, "AP", n_resamples=20, rng=1)
    for name in NAMES:
        if name.split("_")[1] in ("fro", "rmse", "tau") and name != "tpc_tau_med":  # which has .88
            weights = known_mean(similarities.accuracy(name)[0], 1)
            ranks = np.argsort(np.argsort(weights))
            assert np.corrcoef(ranks, range(9))[0, 1] >= 0.9, name
