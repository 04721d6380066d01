"""How long a decision takes while a topic is judged, and how long whole sessions take to replay."""

from __future__ import annotations

import time

import numpy as np
from side_by_side import finish, promise, seconds

from qrowd.preferences.scheduling import (
    FIGURE_2,
    Answers,
    ByUtility,
    State,
    StopRule,
    Systems,
    judgments_needed,
    may_stop,
    replay,
    simulate_topic,
)
from qrowd.preferences.scheduling.utility import from_known


def made(n_documents: int, n_systems: int, weight: str = "lower") -> tuple[Answers, Systems]:
    """A topic all of whose documents every system ranks, some better and some worse; a fifth are Bad."""
    rng = np.random.default_rng(n_documents + n_systems)
    worth = np.sort(rng.normal(size=n_documents))[::-1]
    rankings = [
        np.argsort(-worth - rng.uniform(0.3, 2) * rng.normal(size=n_documents)).tolist() for _ in range(n_systems)
    ]
    bad = range(n_documents - n_documents // 5, n_documents)
    return Answers.of_order(range(n_documents), bad), Systems.of(rankings, n_documents, weight=weight)


def decisions(n_documents: int, n_systems: int, utility: str, probes: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Milliseconds of the next pair and of may_stop, at probes spread over a session by insertion sort."""
    answers, systems = made(n_documents, n_systems)
    order = ByUtility(systems, utility, learn=from_known)
    session = replay("insertion", answers, rng=1)
    at = set(np.linspace(0, session.n_judged - 2, probes).astype(int).tolist())
    state, took = State.new(n_documents), []
    order.next(state), may_stop(state, systems)
    for pair, winner in zip(session.shown.tolist(), session.preferred.tolist(), strict=True):
        if state.n_judged in at:
            fresh = State(state.direct, state.closed, state.bad, state.seen)  # nothing remembered
            started = time.perf_counter()
            order.next(fresh)
            between = time.perf_counter()
            may_stop(fresh, systems, later_bad="unseen")
            took.append((between - started, time.perf_counter() - between))
        marked = [d for d in pair if answers.bad[d]]
        state = state.mark_bad(*marked) if marked else state.judge(*pair, winner)
    return tuple(1000 * np.array(took).T)


for n_documents, n_systems, limit in ((100, 2, 10), (100, 20, 100), (200, 63, 50)):
    for utility in ("change", "settled"):
        pair, stop = decisions(n_documents, n_systems, utility)
        what = f"{n_documents} documents, {n_systems} systems, wpref, {utility}"
        print(f"{what}: next pair median {np.median(pair):.1f} ms, may_stop median {np.median(stop):.1f} ms")
        promise(f"{what}: next pair, p99, ms", float(np.quantile(pair, 0.99)), at_most=limit)
        promise(f"{what}: may_stop, p99, ms", float(np.quantile(stop, 0.99)), at_most=limit)

for n_systems in (2, 20):
    answers, systems = made(50, n_systems)
    replay("utility", answers, systems, stop=StopRule(), limit=3, rng=1)
    found = {}
    took = seconds(lambda: found.update(r=replay("utility", answers, systems, stop=StopRule(), rng=1)))  # noqa: B023
    print(f"50 documents, {n_systems} systems: {found['r'].n_judged} judgments, stopped {found['r'].stopped}")
    promise(f"replay of 50 documents and {n_systems} systems with a decision for every judgment, s", took, at_most=1)

topics = [simulate_topic(noise=0.1 + 0.029 * i, rng=i) for i in range(100)]
promise(
    "the curves of Figure 2 on 100 topics, s", seconds(lambda: judgments_needed(topics, FIGURE_2, rng=1)), at_most=10
)
finish()
