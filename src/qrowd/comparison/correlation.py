"""How alike two rankings of the systems are."""

from __future__ import annotations

import numpy as np

from qrowd.kernels.pairs import tau_b
from qrowd.model.scores import Floats, known_mean


def kendall_tau_b(x: Floats, y: Floats) -> float:
    """Kendall's tau-b of two score vectors: (concordant - discordant) / sqrt(pairs untied in x * pairs untied in y).

    nan where one of them ties everything. Kendall (1945), The Treatment of Ties in Ranking Problems. Biometrika 33(3).

    >>> kendall_tau_b(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]))
    0.3333333333333333
    """
    first, second = (np.ascontiguousarray(v, np.float64) for v in (x, y))
    return float(tau_b(first, second[None])[0])


def leave_one_out(scores: Floats) -> Floats:
    """(assessors,) tau-b of each assessor's ranking of the systems with that of the panel without him or her.

    scores : (assessor, topic, system) of one measure. Both sides are means over the topics where the assessor has a
    score, so that topics do not stand in for people. nan where nobody else judged those topics.
    """
    agreement = np.full(scores.shape[0], np.nan)
    for a in range(scores.shape[0]):
        own = scores[a]
        others = known_mean(np.delete(scores, a, axis=0), axis=0) if scores.shape[0] > 1 else np.full_like(own, np.nan)
        shared = ~np.isnan(own) & ~np.isnan(others)
        topics = shared.any(axis=1)
        systems = shared[topics].all(axis=0) if topics.any() else np.zeros(own.shape[1], bool)
        if systems.sum() > 1:
            agreement[a] = kendall_tau_b(own[topics][:, systems].mean(axis=0), others[topics][:, systems].mean(axis=0))
    return agreement
