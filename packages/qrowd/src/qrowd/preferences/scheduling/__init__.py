"""Which pair next, and may we stop? Pure functions of the judgments so far.

State, Systems : the judgments of a topic and what they imply, and the rankings to compare.
expected_utility : what a judgment of each pair is expected to tell.
Order, make_order : which pair is judged next.
difference_bounds, may_stop : what no later judgment can change.
"""

from qrowd.preferences.scheduling.bounds import (
    difference_bounds,
    may_stop,
)
from qrowd.preferences.scheduling.orders import ORDERS, Order, make_order
from qrowd.preferences.scheduling.state import State
from qrowd.preferences.scheduling.utility import Systems, expected_utility

__all__ = [
    "ORDERS",
    "Order",
    "State",
    "Systems",
    "difference_bounds",
    "expected_utility",
    "make_order",
    "may_stop",
]
