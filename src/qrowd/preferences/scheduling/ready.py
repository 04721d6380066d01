"""Kernels compiled before somebody waits for them."""

from __future__ import annotations

from qrowd.preferences.scheduling.bounds import may_stop
from qrowd.preferences.scheduling.replay import make_order
from qrowd.preferences.scheduling.state import State
from qrowd.preferences.scheduling.systems import Systems


def compile_kernels() -> None:
    """Compile what the order by utility and its stop need: seconds on a new machine, where it is kept on disk.

    Otherwise the first assessor of preferences would wait for it.
    """
    systems = Systems.of([[0, 1, 2], [2, 1, 0]], 3, weight="lower")
    for probability in ("odds", "regression"):
        order, state = make_order("utility", 3, systems, probability=probability, rng=0), State.new(3)
        while (pair := order.next(state.beside([], -1))) is not None:
            may_stop(state, systems, later_bad="any", stop_probability=0.9, rng=0)
            state = state.judge(*pair, pair[0])
    for pairs in ([], [(0, 1)], [(0, 1), (1, 2)]):
        may_stop(State.after(3, pairs), systems, later_bad="any")
