"""How many judgments does an order need? Orders and stops, replayed against answers that are known beforehand.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, Figure 2.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import NoOverlapError
from qrowd.kernels.arrays import Bools, Floats
from qrowd.model.chance import Chance, Rng
from qrowd.model.preferences import Preferences, TopicPreferences
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.preferences.scheduling.bounds import EQUAL, Decision, may_stop
from qrowd.preferences.scheduling.orders import Order, make_order
from qrowd.preferences.scheduling.state import Pair, State
from qrowd.preferences.scheduling.utility import Systems


@dataclass(frozen=True, eq=False)
class Answers:
    """What would be said of every pair of a topic.

    wins : (n, n) bool, whether the row's document would be preferred; for every pair exactly one of the two.
    bad : (n,) bool, documents that are marked as Bad as soon as they are shown.
    coverage : share of pairs that somebody was really asked about; the others were filled in.
    """

    wins: Bools
    bad: Bools
    coverage: float = 1.0

    @classmethod
    def of_order(cls, order: Sequence[int], bad: Collection[int] = ()) -> Answers:
        """From a true order, best document first, and the Bad ones among them.

        >>> Answers.of_order([2, 0, 1], bad=[1]).wins[2].tolist()
        [True, True, False]
        """
        n = len(order)
        place = np.empty(n, np.int64)
        place[list(order)] = np.arange(n)
        return cls(place[:, None] < place[None, :], np.isin(np.arange(n), list(bad)))

    @classmethod
    def of_preferences(cls, said: TopicPreferences, *, rng: Rng = None) -> Answers:
        """From real preferences of a topic, all assessors taken as one.

        A pair goes as the greater weight has it. Of a pair that nobody was asked about, or that is even, the document
        that won the greater share of its other pairs is preferred; a coin decides where that is even too.
        """
        n = said.n_documents
        balance = np.zeros((n, n))
        np.add.at(balance, (said.pairs[:, 0], said.pairs[:, 1]), said.weight)
        compared = balance + balance.T > 0
        won, total = balance.sum(axis=1), (balance + balance.T).sum(axis=1)
        share = won / np.where(total > 0, total, np.inf)
        coin = Chance.of(rng).stream("answers").permutation(n)
        place = np.empty(n, np.int64)
        place[np.lexsort((coin, -share))] = np.arange(n)
        decided = balance != balance.T
        wins = np.where(decided, balance > balance.T, place[:, None] < place[None, :])
        np.fill_diagonal(wins, False)
        coverage = float(compared[np.triu_indices(n, k=1)].mean()) if n > 1 else 1.0
        return cls(wins, State.of(said).bad, coverage)

    @property
    def n_documents(self) -> int:
        return int(self.bad.size)

    def without_bad(self) -> Answers:
        """The same answers without a Bad button: Bad documents are compared like any other."""
        return replace(self, bad=np.zeros_like(self.bad))

    def full(self) -> State:
        """The state once every pair was judged, nothing being left to chains."""
        good = ~self.bad
        direct = self.wins & good[:, None] & good[None, :]
        pairs = int(np.triu(direct | direct.T).sum())
        return State(direct, direct, self.bad, np.ones_like(self.bad), pairs, int(self.bad.sum()), transitive=False)


@dataclass(frozen=True, eq=False)
class Topic:
    """A topic to replay: who would answer what, and the rankings to compare."""

    answers: Answers
    systems: Systems


def simulate_topic(
    *,
    n_systems: int = 3,
    depth: int = 5,
    n_candidates: int = 30,
    noise: float = 1.0,
    bad_share: float = 0.2,
    rng: Rng = None,
) -> Topic:
    """A topic made like the paper's: documents are what any system returned, and answers follow one true order.

    Candidates have true worths drawn from a normal distribution; a system ranks them by worth plus an error of its
    own, and returns its first `depth`. The more noise, the less the systems have in common, and the more documents.

    depth, n_candidates : how many documents each system returns, and of how many.
    noise : standard deviation of a system's errors; worths have 1. bad_share : of the documents, the worst.
    """
    chance = Chance.of(rng)
    worth = chance.stream("worths").normal(size=n_candidates)
    scores = worth + noise * chance.stream("errors").normal(size=(n_systems, n_candidates))
    returned = np.argsort(-scores, axis=1)[:, :depth]
    documents, place = np.unique(returned, return_inverse=True)
    lists: list[list[int]] = np.asarray(place).reshape(n_systems, depth).tolist()
    order = np.argsort(-worth[documents])
    n_bad = round(bad_share * documents.size)
    return Topic(
        Answers.of_order(order.tolist(), order[documents.size - n_bad :].tolist()),
        Systems.of(lists, documents.size),
    )


def real_topics(
    preferences: Preferences,
    runs: Runs,
    *,
    systems: Sequence[str],
    depth: int = 5,
    rng: Rng = None,
) -> Iterator[Topic]:
    """Every topic with at least three documents that were compared and that a system ranks among its first `depth`.

    preferences : all assessors are taken as one; what nobody was asked is filled in (see `Answers.of_preferences`).
    systems : which to compare.

    Raises
    ------
    NoOverlapError
        No topic has as many such documents.
    """
    chance, n_topics = Chance.of(rng), 0
    for number, topic in enumerate(preferences.topics):
        lists = _first_documents(runs, systems, topic, depth)
        pooled = dict.fromkeys(document for documents in lists for document in documents)
        own = preferences.select(topics=[topic], documents=[d for d in preferences.documents if d in pooled])
        if not len(own):
            continue
        view = own.pooled().topic_view(0)
        if view.n_documents < LEAST:
            continue
        place = {own.documents[d]: i for i, d in enumerate(own.pool.document.tolist())}
        rankings = [[place[d] for d in documents if d in place] for documents in lists]
        answers = Answers.of_preferences(view, rng=chance.stream("answers", number))
        n_topics += 1
        yield Topic(answers, Systems.of(rankings, view.n_documents, names=list(systems)))
    if not n_topics:
        raise NoOverlapError(
            f"preferences: no topic has {LEAST} documents that were compared and stand among the first {depth} of a run"
        )


def _first_documents(runs: Runs, names: Sequence[str], topic: str, depth: int) -> list[list[str]]:
    """For each system its first documents; none of them has any where the runs do not have the topic."""
    if topic not in runs.topics:
        return [[] for _ in names]
    ranked, t = runs.ranked(), runs.topics.index(topic)
    lists = []
    for name in names:
        s = runs.systems.index(name)
        start, length = int(ranked.starts[s, t]), min(int(ranked.lengths[s, t]), depth)
        lists.append([runs.documents[d] for d in ranked.document[start : start + length]])
    return lists


LEAST = 3  # documents of a topic that is replayed
PROVEN: Mapping[str, Any] = {"later_bad": "unseen"}  # options of `may_stop`: the order of the systems is proven


@dataclass(frozen=True)
class Replay:
    """What happened when an order met an assessor.

    shown : (m, 2) the pairs in the order they were shown; preferred : (m,) the preferred document, -1 where a
        document was marked as Bad instead.
    state : what was known at the end. n_judged : judgments it took, preferences and marks.
    error : share of pairs of systems whose order at the end is not that of full judgments; nan without systems.
    regret : by how much the system chosen at the end falls short of the best one, by full judgments.
    """

    shown: NDArray[np.int64]
    preferred: NDArray[np.int64]
    state: State
    error: float
    regret: float

    @property
    def n_judged(self) -> int:
        return self.state.n_judged


def replay(
    order: Order | str,
    answers: Answers,
    systems: Systems | None = None,
    *,
    stop: Mapping[str, Any] | None = None,
    transitive: bool = True,
    limit: int | None = None,
    rng: Rng = None,
) -> Replay:
    """Ask what the order asks, take the answers, and stop when it may be.

    A Bad document is marked when it is shown first; each mark is a judgment. Of a pair with a Bad document no
    preference is given.

    order : an `Order`, or the name of one (`make_order`).
    stop : the options of `may_stop`; None: judging ends when nothing is left to ask.
    transitive : whether chains count; without, every pair of documents that are not Bad is shown.
    limit : most judgments.

    >>> answers = Answers.of_order([3, 1, 0, 2])
    >>> replay("all", answers, transitive=False, rng=1).n_judged, replay("merge", answers, rng=1).n_judged
    (6, 5)
    """
    chance = Chance.of(rng)
    if isinstance(order, str):
        order = make_order(order, answers.n_documents, systems, rng=chance.stream("order"))
    state = State.new(answers.n_documents, transitive=transitive)
    decision = None
    shown: list[Pair] = []
    preferred: list[int] = []
    while True:
        if stop is not None and systems is not None:
            decision = may_stop(state, systems, **stop, rng=chance.stream("stop", len(shown)))
            if decision.stop:
                break
        pair = order.next(state)
        if pair is None or (limit is not None and state.n_judged >= limit):
            break
        a, b = pair
        marked = [d for d in pair if answers.bad[d]]
        winner = -1 if marked else a if answers.wins[a, b] else b
        state = state.mark_bad(*marked) if marked else state.judge(a, b, winner)
        shown.append(pair)
        preferred.append(winner)
    error = regret = np.nan
    if systems is not None:
        error, regret = error_and_regret(systems.scores(state), systems.scores(answers.full()), decision)
    pairs = np.array(shown, np.int64).reshape(-1, 2)
    return Replay(pairs, np.array(preferred, np.int64), state, error, regret)


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
    stop: Mapping[str, Any] | None = None


#: The curves of Figure 2: all pairs; sorting; sorting with Bad marks; utility with Bad marks and stopping.
FIGURE_2 = (
    Condition("all pairs", "all", transitive=False, bad=False),
    Condition("sorting", "merge", bad=False),
    Condition("sorting, Bad", "merge"),
    Condition("utility, Bad, stop", "utility", stop=PROVEN),
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

    @property
    def per_document(self) -> Floats:
        return self.judgments / self.documents

    _COLUMNS = ("condition", "documents", "topics", "judgments", "per_document", "error", "regret")


def judgments_needed(topics: Iterable[Topic], conditions: Sequence[Condition] = FIGURE_2, *, rng: Rng = None) -> Curves:
    """Replay every condition on every topic: how the number of judgments grows with the number of documents.

    Source: Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR,
    Figure 2.
    """
    chance = Chance.of(rng)
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
                rng=chance.stream("topic", number),
            )
            cell = results.setdefault((condition.name, answers.n_documents), [])
            cell.append((one.n_judged, one.error, one.regret))
    names = [condition.name for condition in conditions]
    cells = sorted(results, key=lambda cell: (names.index(cell[0]), cell[1]))
    means = np.array([np.mean(results[cell], axis=0) for cell in cells]).reshape(-1, 3)
    return Curves(
        np.array([name for name, _ in cells], object),
        np.array([n for _, n in cells], np.int64),
        np.array([len(results[cell]) for cell in cells], np.int64),
        means[:, 0],
        means[:, 1],
        means[:, 2],
    )
