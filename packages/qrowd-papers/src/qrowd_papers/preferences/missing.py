"""Are ppref and wpref robust to missing preferences? A simulation of the question that section 6 leaves open.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qrowd.comparison.rankings import kendall_tau_b
from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng
from qrowd.model.preferences import Preferences
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.preferences import closure
from qrowd.simulation import simulate_pool, simulate_preferences, simulate_runs
from qrowd_papers.preferences.claims import retrieved

MEASURES = ("ppref@10", "wpref@10")
SHARES = (0.25, 0.5, 0.75, 0.9, 0.95)


@dataclass(frozen=True, eq=False)
class Missing(Result):
    """Scores and order of systems where a share of the pairs has no preference; every array is (rows,).

    inferred : whether chains of the preferences that are left were counted too. bias : mean over systems of the score
    minus that by all preferences, and over replicates. sd : standard deviation of one system's mean score over
    replicates. tau, low, high : Kendall's tau-b of the order of the systems with that by all preferences, its mean and
    the 2.5 and 97.5 % quantiles over replicates.
    """

    measure: tuple[str, ...]
    missing: Floats
    inferred: tuple[bool, ...]
    bias: Floats
    sd: Floats
    tau: Floats
    low: Floats
    high: Floats
    n_topics: int
    n_systems: int
    n_resamples: int

    _COLUMNS = ("measure", "missing", "inferred", "bias", "sd", "tau", "low", "high")


def missing_preferences(
    *, n_topics: int = 50, n_systems: int = 20, n_resamples: int = 20, shares: Sequence[float] = SHARES, rng: Rng = None
) -> Missing:
    """Pairs are taken away at random from one assessor's preferences between all pairs of each topic's documents.

    Each of `n_systems` returns ten documents a topic; the assessor's preferences have few cycles.
    """
    chance = Chance.of(rng)
    runs, preferences = _panel(n_topics, n_systems, chance)
    complete = _means(runs, preferences)
    rows: list[tuple[Any, ...]] = []
    for share in shares:
        parts = [_without(preferences, share, chance.stream("missing", i).random) for i in range(n_resamples)]
        for inferred in (False, True):
            means = np.stack([_means(runs, closure(part).preferences if inferred else part) for part in parts])
            for m, name in enumerate(MEASURES):
                taus = [kendall_tau_b(one, complete[m]) for one in means[:, m]]
                bias, sd = (means[:, m] - complete[m]).mean(), means[:, m].std(axis=0, ddof=1).mean()
                rows.append((name, share, inferred, bias, sd, np.mean(taus), *np.quantile(taus, (0.025, 0.975))))
    measure, missing, inferred_column, *numbers = zip(*rows, strict=True)
    bias, sd, tau, low, high = (np.array(column, np.float64) for column in numbers)
    return Missing(
        measure, np.array(missing), inferred_column, bias, sd, tau, low, high, n_topics, n_systems, n_resamples
    )


def _panel(n_topics: int, n_systems: int, chance: Chance) -> tuple[Runs, Preferences]:
    whole = simulate_pool(n_topics, 60, n_grades=5, rng=chance.stream("pool"))
    runs = simulate_runs(whole, n_systems, depth=10, quality=(0.5, 0.9), rng=chance.stream("runs"))
    return runs, simulate_preferences(retrieved(whole, runs), 1, rng=chance.stream("preferences"))


def _without(preferences: Preferences, share: float, uniform: Any) -> Preferences:
    """What is left; `share` of the pairs is missing."""
    left = np.flatnonzero(uniform(len(preferences)) >= share)
    names = ("topic", "preferred", "other", "assessor", "strength")
    return replace(preferences, first=None, **{name: getattr(preferences, name)[left] for name in names})


def _means(runs: Runs, preferences: Preferences) -> Floats:
    """(measures, systems) means over topics."""
    return np.asarray(np.nanmean(evaluate(runs, preferences, list(MEASURES)).values[:, 0], axis=1))
