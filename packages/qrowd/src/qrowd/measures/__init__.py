"""What each measure is: its coefficients by rank where it is linear in gains, else its kernel.

A module lists its measures in `MEASURES`, so that a new one is written and listed in one place.
"""

from __future__ import annotations

from qrowd.measures import effort, gain, patience, precision, units
from qrowd.measures.measure_kinds import Linear, Scored, TopicView
from qrowd.measures.patience import residual_of

#: Every measure, in the order tables list them.
DEFINITIONS: tuple[Scored, ...] = (
    *precision.MEASURES,
    *gain.MEASURES,
    *patience.MEASURES,
    *effort.MEASURES,
    *units.MEASURES,
)

__all__ = ["DEFINITIONS", "Linear", "Scored", "TopicView", "residual_of"]
