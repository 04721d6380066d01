"""Magnitudes go into nDCG and ERR as gains: collected, normalised, merged, evaluated."""

import numpy as np
import pytest

from oracles import measures as oracle
from qrowd.errors import MeasureError
from qrowd.evaluation import evaluate
from qrowd.magnitude import normalise
from qrowd.model.judgments import Judgments
from qrowd.simulation import simulate_magnitudes, simulate_pool, simulate_runs

approx = pytest.approx

MAGNITUDE = {"*": "magnitude"}


@pytest.fixture(scope="module")
def world():
    truth = simulate_pool(12, 40, rng=5)
    runs = simulate_runs(truth, 20, rng=5)
    crowd = simulate_magnitudes(truth, 200, rng=5)
    return truth, runs, crowd


def merged(judgments):
    """One magnitude per document: the geometric mean of all there are."""
    frame = judgments.to_frame()
    means = np.exp(np.log(frame["value"]).groupby([frame["topic"], frame["document"]]).mean())
    rows = [(topic, document, "crowd", value) for (topic, document), value in means.items()]
    return Judgments.from_rows(rows, scales=MAGNITUDE)


def test_ndcg_and_err_score_normalised_magnitudes_as_the_oracle_does(world):
    _, runs, crowd = world
    gains = merged(normalise(crowd))
    highest = float(np.ceil(gains.value.max()))
    measures = ["nDCG@10", "nDCG(dcg='original')@10", f"ERR(max_rel={highest:g})@10"]
    scores = evaluate(runs, gains, measures).to_xarray()
    frame, ranked = gains.to_frame(), runs.to_frame()
    for topic in gains.topics:
        here = frame[frame["topic"] == topic]
        grades = dict(zip(here["document"], here["value"], strict=True))
        for system in runs.systems[::7]:
            rows = ranked[(ranked["system"] == system) & (ranked["topic"] == topic)]
            ranking = oracle.rank(dict(zip(rows["document"], rows["score"], strict=True)))
            cell = scores.sel(assessor="crowd", topic=topic, system=system).values
            assert cell == approx(
                [
                    oracle.ndcg(ranking, grades, 10),
                    sum_original(ranking, grades) / sum_original(sorted(grades, key=grades.get, reverse=True), grades),
                    oracle.err(ranking, grades, 10, max_rel=highest),
                ]
            )


def sum_original(ranking, grades):
    """Section 7.1: no discount at rank 1, log2(i) from rank 2."""
    gains = [grades.get(document, 0.0) for document in ranking[:10]]
    return gains[0] + sum(gain / np.log2(rank) for rank, gain in enumerate(gains[1:], start=2))


def test_a_constant_factor_moves_no_ndcg(world):
    _, runs, crowd = world
    gains = merged(normalise(crowd))
    tenfold = Judgments.from_codes(
        gains.topics, gains.documents, gains.assessors, gains.topic, gains.document, gains.assessor, 10 * gains.value,
        scales=MAGNITUDE,
    )  # fmt: skip
    assert evaluate(runs, tenfold, "nDCG@10").values == approx(evaluate(runs, gains, "nDCG@10").values)


def test_normalised_magnitudes_order_the_systems_as_the_truth_does(world):
    """Simulated systems stand from worst to best."""
    _, runs, crowd = world
    scores = evaluate(runs, merged(normalise(crowd)), "nDCG@10").to_xarray().mean("topic").values.ravel()
    place = np.argsort(np.argsort(scores))
    assert np.corrcoef(place, np.arange(place.size))[0, 1] > 0.9


def test_err_wants_to_know_where_magnitudes_end(world):
    _, runs, crowd = world
    with pytest.raises(
        MeasureError,
        match=r"ERR@10: assessor crowd .*write ERR\(max_rel=topic\), ERR\(max_rel=\.\.\.\)",
    ):
        evaluate(runs, merged(crowd), "ERR@10")


def test_a_crowd_is_evaluated_slot_by_slot_as_well(world):
    _, runs, crowd = world
    scores = evaluate(runs, normalise(crowd).slots(10), "nDCG@10").to_xarray()
    assert scores.sizes["assessor"] == 10
    assert not np.isnan(scores.values).any()
