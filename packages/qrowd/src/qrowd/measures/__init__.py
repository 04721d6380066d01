"""What each measure is: its coefficients by rank where it is linear in gains, else its kernel."""

from __future__ import annotations

from qrowd.measures.effort import Twist
from qrowd.measures.gain import DCG, GAP, NDCG, Q
from qrowd.measures.measure_kinds import Linear, Scored, TopicView
from qrowd.measures.patience import ERR, RBP, residual_of
from qrowd.measures.precision import AP, RR, Bpref, Judged, P, R, Rprec, Success

#: Every measure, in the order tables list them.
DEFINITIONS: tuple[Scored, ...] = (
    P(), R(), Rprec(), RR(), Success(), AP(), Bpref(), DCG(), NDCG(), ERR(), RBP(), Q(), GAP(), Twist(), Judged(),
)  # fmt: skip

__all__ = ["DEFINITIONS", "Linear", "Scored", "TopicView", "residual_of"]
