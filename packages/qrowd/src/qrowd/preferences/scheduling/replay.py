"""How many judgments does an order need? Orders and stops, replayed against answers that are known beforehand.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, Figure 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.result import Result
from qrowd.preferences.scheduling.answers import Answers, Topic
from qrowd.preferences.scheduling.bounds import EQUAL, Decision, Goal, may_stop
from qrowd.preferences.scheduling.orders import AtRandom, ByUtility, InOrder, KeepPreferred, Order, Sort, Tournament
from qrowd.preferences.scheduling.state import LaterBad, Pair, State
from qrowd.preferences.scheduling.systems import Systems
from qrowd.preferences.scheduling.utility import ESTIMATES, Estimate, Probability, Utility

ORDERS = ("all", "kept", "random", "merge", "insertion", "heap", "utility", "settled", "printed", "top")


@dataclass(frozen=True)
class StopRule:
    """When to stop; every field is the option of `may_stop` of that name, but for `rng`, which `replay` hands on."""

    goal: Goal = "ranking"
    n_best: int = 1
    later_bad: LaterBad = "unseen"
    stop_probability: float = 1.0
    probability: Probability = None
    chance_bad: float | Floats = 0.0
    n_completions: int = 400

    def decide(self, state: State, systems: Systems, rng: Rng = None) -> Decision:
        """`may_stop` with these options."""
        return may_stop(state, systems, **vars(self), rng=rng)


@dataclass(frozen=True, eq=False)
class Replay(Result):
    """What happened when an order met an assessor.

    shown : (m, 2) the pairs in the order they were shown; preferred : (m,) the preferred document, -1 where a
        document was marked as Bad instead.
    state : what was known at the end. n_judged : judgments it took, preferences and marks.
    stopped : whether it ended because of the stop rule, rather than because nothing was left to ask.
    scores, full : (systems,) over what was known at the end, and over full judgments; None without systems.
    error : share of pairs of systems whose order at the end is not that of full judgments; nan without systems.
    regret : by how much the system chosen at the end falls short of the best one, by full judgments.
    seed : of what was left to chance.
    """

    shown: NDArray[np.int64]
    preferred: NDArray[np.int64]
    state: State
    stopped: bool
    scores: Floats | None
    full: Floats | None
    error: float
    regret: float
    seed: Any

    @property
    def n_judged(self) -> int:
        return self.state.n_judged

    def _columns(self) -> dict[str, Any]:
        """One row per pair shown, in order."""
        first, second = self.shown.T
        return {"first": first, "second": second, "preferred": self.preferred}


def make_order(
    name: str,
    n_documents: int,
    systems: Systems | None = None,
    *,
    k: int = 5,
    probability: Estimate = "odds",
    rng: Rng = None,
) -> Order:
    """An order by its name, along a random sequence of the documents.

    "all": every pair in turn; "kept": the preferred document stays; "random": any open pair; "merge", "insertion",
    "heap": sorts; "utility", "settled", "printed": what tells most about the systems, by the utilities "change",
    "settled" and "printed" of `expected_utility`; "top": the tournament for the best k.

    probability : what the utilities take for P(a > b): "half", "odds" (`from_known`) or "regression"
        (`from_regression`).
    """
    check_choice("probability", probability, Estimate)
    chance = Chance.of(rng)
    sequence = chance.stream("sequence").permutation(n_documents).tolist()
    if name in ("utility", "settled", "printed"):
        if systems is None:
            raise ArgumentError(f"order {name!r} needs systems to compare; {', '.join(ORDERS[:6])} do without")
        kind: Utility = "change" if name == "utility" else "settled" if name == "settled" else "printed"
        return ByUtility(systems, kind, None, ESTIMATES[probability], sequence)
    if name in ("merge", "insertion", "heap"):
        return Sort(name, sequence)
    if name == "top":
        return Tournament(k, rng=chance.stream("tournament"))
    if name == "random":
        return AtRandom(chance.stream("random"))
    if name not in ORDERS:
        raise ArgumentError(f"order {name!r}: choose one of {', '.join(ORDERS)}")
    return KeepPreferred(sequence) if name == "kept" else InOrder(sequence)


def replay(
    order: Order | str,
    answers: Answers,
    systems: Systems | None = None,
    *,
    stop: StopRule | None = None,
    transitive: bool = True,
    limit: int | None = None,
    k: int = 5,
    probability: Estimate = "odds",
    rng: Rng = None,
) -> Replay:
    """Ask what the order asks, take the answers, and stop when it may be.

    A Bad document is marked when it is shown first; each mark is a judgment. Of a pair with a Bad document no
    preference is given.

    order : an `Order`, or the name of one (`make_order`, with k, probability and rng).
    stop : when to stop; None: when nothing is left to ask.
    transitive : whether chains count; without, every pair of documents that are not Bad is shown.
    limit : most judgments.

    >>> answers = Answers.of_order([3, 1, 0, 2])
    >>> replay("all", answers, transitive=False, rng=1).n_judged, replay("merge", answers, rng=1).n_judged
    (6, 5)
    """
    seed = seed_of(rng)
    if systems is None and stop is not None:
        raise ArgumentError("stop: without systems there is nothing to be sure of; give systems, or no stop")
    chance = Chance.of(seed)
    if isinstance(order, str):
        order = make_order(
            order, answers.n_documents, systems, k=k, probability=probability, rng=chance.stream("order")
        )
    state = State.new(answers.n_documents, transitive=transitive)
    pairs: list[Pair] = []
    preferred: list[int] = []
    stopped, decision = False, None
    while True:
        if stop is not None and systems is not None:
            decision = stop.decide(state, systems, chance.stream("stop", len(pairs)))
            if decision.stop:
                stopped = True
                break
        pair = order.next(state)
        if pair is None or (limit is not None and state.n_judged >= limit):
            break
        a, b = pair
        marked = [d for d in pair if answers.bad[d]]
        winner = -1 if marked else a if answers.wins[a, b] else b
        state = state.mark_bad(*marked) if marked else state.judge(a, b, winner)
        pairs.append(pair)
        preferred.append(winner)
    scores = full = None
    error = regret = np.nan
    if systems is not None:
        scores, full = systems.scores(state), systems.scores(answers.full())
        error, regret = error_and_regret(scores, full, decision)
    return Replay(
        np.array(pairs, np.int64).reshape(-1, 2),
        np.array(preferred, np.int64),
        state,
        stopped,
        scores,
        full,
        error,
        regret,
        seed,
    )


def error_and_regret(scores: Floats, full: Floats, decision: Decision | None) -> tuple[float, float]:
    """`Replay.error` and `Replay.regret` of scores at the end, and of a decision by then, beside full judgments."""
    sign = _sign(scores)
    if decision is not None:
        guess = sign if decision.expected is None else _sign(decision.expected)
        sign = np.where(np.isnan(decision.sign), guess, decision.sign)
    upper = np.triu_indices(scores.size, k=1)
    best = int(np.argmax((sign > 0).sum(axis=1) - (sign < 0).sum(axis=1)))
    return float((sign[upper] != _sign(full)[upper]).mean()), float(full.max() - full[best])


def _sign(scores: Floats) -> Floats:
    gap = np.subtract.outer(scores, scores)
    return np.where(np.abs(gap) <= EQUAL, 0.0, np.sign(gap))


@dataclass(frozen=True)
class Condition:
    """One curve of judgments against documents: an order, with or without chains, Bad marks and a stop."""

    name: str
    order: str
    transitive: bool = True
    bad: bool = True
    stop: StopRule | None = None


#: The curves of Figure 2: all pairs; sorting; sorting with Bad marks; utility with Bad marks and stopping.
FIGURE_2 = (
    Condition("all pairs", "all", transitive=False, bad=False),
    Condition("sorting", "merge", bad=False),
    Condition("sorting, Bad", "merge"),
    Condition("utility, Bad, stop", "utility", stop=StopRule()),
)


@dataclass(frozen=True, eq=False)
class Curves(Result):
    """Judgments needed, one row per condition and number of documents; every array is (rows,).

    judgments : mean over topics. per_document : judgments / documents. error, regret : means, as in `Replay`.
    """

    condition: NDArray[np.object_]
    documents: NDArray[np.int64]
    topics: NDArray[np.int64]
    judgments: Floats
    error: Floats
    regret: Floats
    seed: Any

    @property
    def per_document(self) -> Floats:
        return self.judgments / self.documents

    _COLUMNS = ("condition", "documents", "topics", "judgments", "per_document", "error", "regret")


def judgments_needed(
    topics: Iterable[Topic],
    conditions: Sequence[Condition] = FIGURE_2,
    *,
    k: int = 5,
    probability: Estimate = "odds",
    rng: Rng = None,
) -> Curves:
    """Replay every condition on every topic: how the number of judgments grows with the number of documents.

    k, probability : as in `make_order`.

    Source: Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR,
    Figure 2.
    """
    seed = seed_of(rng)
    chance = Chance.of(seed)
    results: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
    for number, topic in enumerate(topics):
        for condition in conditions:
            answers = topic.answers if condition.bad else topic.answers.without_bad()
            one = replay(
                condition.order,
                answers,
                topic.systems,
                stop=condition.stop,
                transitive=condition.transitive,
                k=k,
                probability=probability,
                rng=chance.stream("topic", number),
            )
            cell = results.setdefault((condition.name, answers.n_documents), [])
            cell.append((one.n_judged, one.error, one.regret))
    return curves_of(results, [condition.name for condition in conditions], seed)


def curves_of(
    results: Mapping[tuple[str, int], Sequence[tuple[float, float, float]]], names: Sequence[str], seed: Any
) -> Curves:
    """Means of {(condition, documents): [(judgments, error, regret) of a topic, ...]}, conditions in that order."""
    cells = sorted(results, key=lambda cell: (names.index(cell[0]), cell[1]))
    means = np.array([np.mean(results[cell], axis=0) for cell in cells]).reshape(-1, 3)
    return Curves(
        np.array([name for name, _ in cells], object),
        np.array([n for _, n in cells], np.int64),
        np.array([len(results[cell]) for cell in cells], np.int64),
        means[:, 0],
        means[:, 1],
        means[:, 2],
        seed,
    )
