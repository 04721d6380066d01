"""How long a decision takes while a topic is judged, and how long whole sessions take to replay.

No other tool does this. The peer is the definition of the utility as loops of Python (the one that the tests compare
with), at a state with ten judgments. Milliseconds and seconds are of processor time."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from side_by_side import cpu_seconds, finish, promise, times

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from oracles import scheduling as loops
from qrowd.preferences.scheduling import State, Systems, may_stop
from qrowd.preferences.scheduling.orders import ByUtility
from qrowd.preferences.scheduling.utility import expected_utility, from_known
from qrowd_papers.preferences.replays import FIGURE_2, PROVEN, Answers, judgments_needed, replay, simulate_topic


def made(n_documents: int, n_systems: int) -> tuple[Answers, list[list[int]]]:
    """A topic all of whose documents every system ranks, some better and some worse; a fifth are Bad."""
    rng = np.random.default_rng(n_documents + n_systems)
    worth = np.sort(rng.normal(size=n_documents))[::-1]
    rankings = [
        np.argsort(-worth - rng.uniform(0.3, 2) * rng.normal(size=n_documents)).tolist() for _ in range(n_systems)
    ]
    bad = range(n_documents - n_documents // 5, n_documents)
    return Answers.of_order(range(n_documents), bad), rankings


def decisions(n_documents: int, n_systems: int, utility: str, probes: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Processor milliseconds of the next pair and of may_stop, at probes spread over a session by insertion sort."""
    answers, rankings = made(n_documents, n_systems)
    systems = Systems.of(rankings, n_documents, weight="lower")
    order = ByUtility(systems, utility, learn=from_known)
    session = replay("insertion", answers, rng=1)
    at = set(np.linspace(0, session.n_judged - 2, probes).astype(int).tolist())
    state, took = State.new(n_documents), []
    order.next(state), may_stop(state, systems)
    for pair, winner in zip(session.shown.tolist(), session.preferred.tolist(), strict=True):
        if state.n_judged in at:
            fresh = State(state.direct, state.closed, state.bad, state.seen)  # nothing remembered
            started = time.process_time()
            order.next(fresh)
            between = time.process_time()
            may_stop(fresh, systems, later_bad="unseen")
            took.append((between - started, time.process_time() - between))
        marked = [d for d in pair if answers.bad[d]]
        state = state.mark_bad(*marked) if marked else state.judge(*pair, winner)
    return tuple(1000 * np.array(took).T)


def in_loops(n_documents: int, utility: str) -> str:
    """Seconds of the expected utility of the open pairs by its definition, and ours, in words."""
    answers, rankings = made(n_documents, 2)
    systems = Systems.of(rankings, n_documents, weight="lower")
    session = replay("insertion", answers, rng=1)
    state, said = State.new(n_documents), set()
    for pair, winner in zip(session.shown[:10].tolist(), session.preferred[:10].tolist(), strict=True):
        if not answers.bad[pair].any():
            state = state.judge(*pair, winner)
            said.add((winner, pair[0] + pair[1] - winner))
    loop = cpu_seconds(lambda: loops.utility(n_documents, said, set(), rankings, utility, lambda a, b: 0.5, "lower"))
    own = min(cpu_seconds(lambda: expected_utility(state, systems, utility=utility)) for _ in range(5))  # type: ignore[arg-type]
    return f"of 2 systems, {times('loops of Python', loop, own)}"


for n_documents, n_systems, most in ((100, 2, 10), (100, 20, 100), (200, 63, 50)):
    for utility in ("change", "settled"):
        beside = in_loops(n_documents, utility)
        pair, stop = decisions(n_documents, n_systems, utility)
        what = f"{n_documents} documents, {n_systems} systems, wpref, {utility}"
        print(f"{what}: next pair median {np.median(pair):.1f} ms, may_stop median {np.median(stop):.1f} ms")
        promise(
            f"{what}: next pair, p99, ms",
            float(np.quantile(pair, 0.99)),
            at_most=most,
            beside=beside,
            limit="instructions: for each open pair the pairs that it would imply, in bits",
        )
        promise(
            f"{what}: may_stop, p99, ms",
            float(np.quantile(stop, 0.99)),
            at_most=most,
            beside=f"next pair, median {np.median(pair):.1f} ms",
            limit="instructions: bounds of each pair of systems over the open pairs",
        )

for n_systems in (2, 20):
    answers, rankings = made(50, n_systems)
    systems = Systems.of(rankings, 50, weight="lower")
    replay("utility", answers, systems, stop=PROVEN, limit=3, rng=1)
    started = time.process_time()
    session = replay("utility", answers, systems, stop=PROVEN, rng=1)
    took = time.process_time() - started
    promise(
        f"replay of 50 documents and {n_systems} systems with a decision for every judgment, s",
        took,
        at_most=1,
        beside=f"{session.n_judged} judgments, {1000 * took / session.n_judged:.1f} ms each; stopped {session.stopped}",
        limit="instructions: as the next pair and may_stop",
    )

topics = [simulate_topic(noise=0.1 + 0.029 * i, rng=i) for i in range(100)]
took = cpu_seconds(lambda: judgments_needed(topics, FIGURE_2, rng=1))
promise(
    "the curves of Figure 2 on 100 topics, s",
    took,
    at_most=10,
    beside=f"{1000 * took / (len(topics) * len(FIGURE_2)):.1f} ms for each topic and curve",
    limit="instructions: as the next pair",
)
finish()
