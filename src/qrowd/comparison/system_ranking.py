"""Where every system stands, for the panel and for each assessor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.model.scores import Floats, known_error, known_mean


@dataclass(frozen=True, eq=False)
class SystemRanking:
    """Means and ranks of systems; every array is (systems,) unless said otherwise.

    mean : over topics of the panel's mean per topic.
    standard_error : of that mean, over topics; nan for a single topic.
    by_assessor : (assessors, systems) mean over the assessor's topics; nan for an assessor without any score.
    rank : 1 is best; systems with equal means, rounding aside, share the better rank.
    rank_by_assessor : (assessors, systems), 0 for an assessor without a ranking: without any score, or to whom all of
        several systems are equal (nothing was relevant to that assessor, so everything scored 0).
    n_topics : topics with a score.
    """

    mean: Floats
    standard_error: Floats
    by_assessor: Floats
    rank: NDArray[np.int64]
    rank_by_assessor: NDArray[np.int64]
    n_topics: NDArray[np.int64]

    @property
    def has_ranking(self) -> NDArray[np.bool_]:
        """(assessors,) who has a ranking."""
        return np.asarray(self.rank_by_assessor.any(axis=1))

    def leads(self) -> NDArray[np.int64]:
        """For how many assessors each system is first, alone or tied."""
        return np.asarray((self.rank_by_assessor == 1).sum(axis=0))

    def above(self, first: int, second: int) -> int:
        """For how many assessors the first system has the higher mean."""
        return int((self.by_assessor[:, first] > self.by_assessor[:, second]).sum())


def rank_systems(scores: Floats) -> SystemRanking:
    """Standings from the (assessor, topic, system) scores of one measure."""
    by_topic = known_mean(scores, axis=0)
    mean = known_mean(by_topic, axis=0)
    n_topics = (~np.isnan(by_topic)).sum(axis=0)
    standard_error = known_error(by_topic, axis=0)
    by_assessor = np.array([settled(means) for means in known_mean(scores, axis=1)]).reshape(scores.shape[::2])
    mean = settled(mean)
    rank_by_assessor = ranks(by_assessor)
    if mean.size > 1:
        rank_by_assessor[(rank_by_assessor <= 1).all(axis=1)] = 0
    return SystemRanking(mean, standard_error, by_assessor, ranks(mean), rank_by_assessor, n_topics)


def ranks(means: Floats) -> NDArray[np.int64]:
    """(..., systems) 1 + the number of systems with a higher mean; 0 for nan."""
    higher = (means[..., None, :] > means[..., :, None]).sum(axis=-1)
    return np.asarray(np.where(np.isnan(means), 0, higher + 1))


def settled(means: Floats) -> Floats:
    """(systems,) the same means, those equal but for rounding (1e-12 of the largest) made equal; nan stays nan."""
    order = np.argsort(means, kind="stable")
    ascending = means[order]
    new = np.diff(ascending, prepend=-np.inf) > 1e-12 * np.nanmax(np.abs(means), initial=0.0)
    new |= np.isnan(ascending)
    out = np.empty_like(means)
    out[order] = ascending[np.maximum.accumulate(np.where(new, np.arange(means.size), 0))]
    return out
