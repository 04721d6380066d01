"""The demonstration's collection."""

import numpy as np
from numpy.typing import NDArray

from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.simulation import simulate_demo
from simulated import rows


def gains(judgments: Judgments) -> dict[tuple[str, str], float]:
    return {(who, document): value for _, document, who, value in rows(judgments)}


def ndcg(runs: Runs, judgments: Judgments) -> dict[str, NDArray[np.float64]]:
    """{assessor: (systems,) mean nDCG@10}, in obvious loops."""
    found, ranked, discount = gains(judgments), runs.ranked(), 1 / np.log2(np.arange(2, 12))
    means: dict[str, NDArray[np.float64]] = {}
    for who in judgments.assessors:
        scores = np.zeros(ranked.starts.shape)
        given = [[v for (a, d), v in found.items() if a == who and d.startswith(f"{t}-")] for t in runs.topics]
        for s, t in np.ndindex(scores.shape):
            listed = ranked.document[ranked.starts[s, t] :][: ranked.lengths[s, t]][:10]
            ideal = np.sort(given[t])[::-1][:10] @ discount
            got = np.array([found.get((who, runs.documents[d]), 0.0) for d in listed]) @ discount
            scores[s, t] = got / ideal if ideal else 0.0
        means[who] = scores.mean(axis=1)
    return means


def test_in_the_demo_the_two_best_systems_change_places_with_the_assessor() -> None:
    runs, judgments, truth = simulate_demo()
    by_assessor = {who: [runs.systems[s] for s in np.argsort(-m)[:2]] for who, m in ndcg(runs, judgments).items()}
    (gold,) = ndcg(runs, truth.judgments()).values()
    assert [runs.systems[s] for s in np.argsort(-gold)[:2]] == ["rerank-large", "rerank-llm"]
    assert by_assessor["llm-a"] == by_assessor["lena"] == ["rerank-llm", "rerank-large"]
    assert by_assessor["bob"] == by_assessor["sven"] == ["rerank-large", "rerank-llm"]
    assert by_assessor["ann"][0] == by_assessor["crowd-1"][0] == "rerank-large"


def test_the_demo_is_twelve_systems_25_topics_and_eight_assessors_on_scales_of_three_kinds() -> None:
    runs, judgments, truth = simulate_demo()
    assert (len(runs.systems), len(runs.topics), len(judgments.assessors)) == (12, 25, 8)
    assert {str(scale) for scale in judgments.scales} == {"0-3", "binary", "0..1"}
    assert truth.pool.topics == runs.topics == judgments.topics
