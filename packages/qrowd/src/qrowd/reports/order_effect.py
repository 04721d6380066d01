"""What the order in which two documents are shown does to preferences, as a table."""

from __future__ import annotations

import numpy as np

from qrowd.model.preferences import Preferences
from qrowd.preferences.position import PositionBias, position_bias
from qrowd.reports.document import Note, Table
from qrowd.reports.phrases import cells, interval, percent

SHOWN = 30  # assessors, those with most preferences


def order_effects(preferences: Preferences | None, *, confidence: float = 0.95) -> PositionBias | None:
    """The order effect of each assessor; None where nobody recorded what was shown first.

    confidence : of all intervals together (Bonferroni).
    """
    if preferences is None or preferences.first is None or np.isnan(preferences.first).all():
        return None
    return position_bias(preferences, confidence=1 - (1 - confidence) / len(preferences.assessors))


def order_table(effects: PositionBias) -> Table:
    """One row per assessor: how often the document shown first was preferred, and whether the orders contradict."""
    order = np.argsort(-effects.n, kind="stable")[:SHOWN]
    columns = {
        "assessor": [effects.assessors[a] for a in order],
        "preferences": cells("{:,}".format, effects.n[order]),
        "first preferred": cells(percent, effects.share[order], digits=1),
        "interval": cells(interval, effects.low[order], effects.high[order]),
        "favours": [effects.favours[a] or "-" for a in order],
        "pairs in both orders": cells("{:,}".format, effects.n_both[order]),
        "contradictory": cells(percent, 1 - effects.same[order], digits=1),
    }
    return Table.of("order effect", columns)


def order_notes(confidence: float = 0.95) -> list[Note]:
    """What the columns of the table mean."""
    return [
        Note(
            "order effect",
            "first preferred: share of preferences for the document shown first; contradictory: share of the pairs in "
            "both orders with different documents preferred, which are no ties; all intervals hold together with "
            f"confidence {percent(confidence)}, topics are the clusters",
        )
    ]
