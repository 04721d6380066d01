"""Panels for the papers' studies: simulated ones of a paper's size, and real ones cut to what a paper needs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from qrowd.errors import ScaleError
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import BINARY
from qrowd.simulation import Lenient, Truth, simulate_judgments, simulate_pool, simulate_runs


def crowdsourcing_tracks(
    n_assessors: int = 31,
    n_systems: tuple[int, int] = (129, 110),
    n_topics: int = 10,
    n_documents: int = 1500,
    *,
    depth: int = 1000,
    prevalence: float = 0.07,
    rng: Rng,
) -> tuple[dict[str, Runs], Judgments, Judgments]:
    """Runs, yes-or-no judgments of a crowd, and the truth, simulated in the size of the TREC 2012 Crowdsourcing track.

    The track's task had 31 assessors that could be used, 10 topics with pools of about 1,500 documents, and 129 runs
    (Ferrante, Ferro & Maistro 2017, sections 5.1 and 5.4). Assessors are severe or lenient, see relevance through
    noise, and some take for relevant what merely appeals, so that they err together where a document is hard to judge.

    The paper has two sets of systems, T@8 and T13, on the same topics. The 110 of the second set, which its Robust
    track had, are of closer quality, so that they are harder to rank.
    """
    chance = Chance.of(rng)
    truth = simulate_pool(n_topics, n_documents, n_grades=2, prevalence=prevalence, rng=chance.stream("pool"))
    first, second = n_systems
    sets = {
        "T@8": simulate_runs(truth, first, depth=depth, quality=(0.2, 2.0), rng=chance.stream("runs")),
        "T13": simulate_runs(truth, second, depth=depth, quality=(0.4, 1.4), rng=chance.stream("robust")),
    }
    return sets, _crowd(truth, n_assessors, chance), truth.judgments()


def _crowd(truth: Truth, n_assessors: int, chance: Chance) -> Judgments:
    random = chance.stream("assessors")
    crowd = {}
    for number in range(1, n_assessors + 1):
        shift, noise, appeal = random.uniform(-0.6, 0.6), random.uniform(0.2, 1.5), random.uniform(0.0, 0.6)
        crowd[f"assessor-{number:02}"] = Lenient(shift, noise, appeal)
    return simulate_judgments(truth, crowd, rng=chance.stream("judgments"))


def relevant_from(judgments: Judgments, share: float = 0.5) -> Judgments:
    """Yes or no: whether a value is at least `share` of its scale's maximum.

    Raises
    ------
    ScaleError
        Magnitudes, which have no maximum.
    """
    maxima = np.array([scale.maximum for scale in judgments.scales])
    if not np.isfinite(maxima).all():
        raise ScaleError("magnitudes have no maximum to take a share of; recode them")
    least = share * maxima[judgments.assessor]
    value = np.where(judgments.value < 0, judgments.value, judgments.value >= least)
    return replace(judgments, value=value, scales=(BINARY,) * len(maxima))
