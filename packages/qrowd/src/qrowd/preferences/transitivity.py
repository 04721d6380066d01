"""Are preferences transitive, and where do they go round in a circle?

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.kernels import preference
from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.model.preferences import Preferences
from qrowd.model.result import Result
from qrowd.preferences.decided import Decided, decided


@dataclass(frozen=True, eq=False)
class Transitivity(Result):
    """Chains and cycles of three documents, one row per topic and assessor who ordered anything.

    topics, assessors : labels; topic, assessor : (rows,) numbers into them.
    chains : (rows,) how many i > j > k there are of which i and k were compared too.
    kept : (rows,) those of them with i > k.
    triples : (rows,) sets of three documents compared with one another. cyclic : those of them that hold a cycle.
    tested : (rows,) chains i > j > k whose pair i, k was first judged after the other two, so that the answer could
        break the chain; tested_kept : those of them with i > k. None for both where no order of judging is known.
        Chance alone keeps 1/2 of them, however the pairs were chosen.
    n_pairs : (rows,) ordered. implied : (rows,) pairs that were not, but follow from chains of those.
    n_repeats, n_contradictions, n_undecided : as of `Decided`.
    """

    topics: tuple[str, ...]
    assessors: tuple[str, ...]
    topic: Ints
    assessor: Ints
    chains: Ints
    kept: Ints
    triples: Ints
    cyclic: Ints
    n_pairs: Ints
    implied: Ints
    n_repeats: int
    n_contradictions: int
    n_undecided: int
    tested: Ints | None = None
    tested_kept: Ints | None = None

    @property
    def rate(self) -> float:
        """kept / chains over everything, the paper's figure; nan without a chain.

        Chance alone gives 1/2 where pairs were chosen whatever was answered before. A schedule that leaves out pairs
        which chains imply keeps every chain by construction: see `consistency`.
        """
        return _share(self.kept.sum(), self.chains.sum())

    @property
    def consistency(self) -> float:
        """Share kept of the chains that an answer could break; chance alone gives 1/2. nan where there is none.

        These are all chains (`rate`) if every pair that chains imply was judged too; otherwise the `tested` ones.
        Without an order of judging it is `rate`, which is too high if implied pairs were left out on purpose.
        """
        return self._consistency(np.ones(self.assessor.size, bool))

    @property
    def consistency_by_assessor(self) -> dict[str, float]:
        """`consistency` of every assessor, topics together."""
        return {name: self._consistency(self.assessor == a) for a, name in enumerate(self.assessors)}

    @property
    def tested_only(self) -> bool:
        """Whether `consistency` counts the tested chains alone."""
        return self._counts_tested(np.ones(self.assessor.size, bool))

    def _counts_tested(self, rows: Bools) -> bool:
        return self.tested is not None and bool(self.implied[rows].any() or not self.tested[rows].any())

    def _consistency(self, rows: Bools) -> float:
        if self.tested is not None and self.tested_kept is not None and self._counts_tested(rows):
            return _share(self.tested_kept[rows].sum(), self.tested[rows].sum())
        return _share(self.kept[rows].sum(), self.chains[rows].sum())

    @property
    def by_assessor(self) -> dict[str, float]:
        """kept / chains of every assessor, topics together."""
        n = len(self.assessors)
        kept, chains = (np.bincount(self.assessor, c, minlength=n) for c in (self.kept, self.chains))
        return {name: _share(kept[a], chains[a]) for a, name in enumerate(self.assessors)}

    def _columns(self) -> dict[str, Any]:
        """One row per topic and assessor."""
        with np.errstate(invalid="ignore"):
            rate = self.kept / self.chains
        return {
            "topic": np.array(self.topics, object)[self.topic],
            "assessor": np.array(self.assessors, object)[self.assessor],
            "n_pairs": self.n_pairs,
            "implied": self.implied,
            "chains": self.chains,
            "kept": self.kept,
            "rate": rate,
            "triples": self.triples,
            "cyclic": self.cyclic,
        }


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else np.nan


def transitivity(preferences: Preferences) -> Transitivity:
    """How often i > k is said where the same assessor says i > j and j > k.

    rate = #{(i, j, k): i > j, j > k, i > k} / #{(i, j, k): i > j, j > k, and i and k were compared}

    Every three documents compared with one another make one chain if they are in order, and three, all broken, if they
    go round. So 1 - rate is about three times the share of triples with a cycle; both are given. Bad marks are not
    looked at.

    Source: section 5.1 of the paper, which iterates over triplets i, j, k; there every pair was judged.

    >>> said = [("q", "a", "b", "ann"), ("q", "b", "c", "ann"), ("q", "a", "c", "ann"), ("q", "c", "d", "ann")]
    >>> transitivity(Preferences.from_rows(said)).rate
    1.0
    """
    decisions = decided(preferences)
    n_documents = max(len(preferences.documents), 1)
    chains, kept, triples, cyclic = chain_counts(decisions.starts, decisions.pairs).T
    _, closed_starts = preference.closed_pairs(n_documents, decisions.starts, decisions.pairs)
    n = max(len(preferences.assessors), 1)
    tested, tested_kept = (
        (None, None) if preferences.order is None else _tested(preferences, preferences.order, decisions)
    )
    return Transitivity(
        preferences.topics,
        preferences.assessors,
        decisions.cell // n,
        decisions.cell % n,
        chains,
        kept,
        triples,
        cyclic,
        np.diff(decisions.starts),
        np.diff(closed_starts) - np.diff(decisions.starts),
        decisions.n_repeats,
        decisions.n_contradictions,
        decisions.n_undecided,
        tested,
        tested_kept,
    )


def chain_counts(starts: Ints, pairs: Codes) -> Ints:
    """(groups, 4) counts of chains of three documents and of triples.

    Chains i > j > k of which i and k were compared, those of them with i > k; triples compared with one another, and
    those of them that hold a cycle.

    starts, pairs : (groups + 1,), (rows, 2) the pairs of group g are the rows starts[g]:starts[g + 1], the preferred
        document first; no pair in both orders.
    """
    from scipy.sparse import csr_array

    counts = np.zeros((starts.size - 1, 4), np.int64)
    for g in np.flatnonzero(np.diff(starts) >= 3):
        documents, place = np.unique(pairs[starts[g] : starts[g + 1]], return_inverse=True)
        ones = np.ones(starts[g + 1] - starts[g])
        shape = (documents.size, documents.size)
        over = csr_array((ones, tuple(place.reshape(-1, 2).T)), shape=shape)
        chains = over @ over
        n_kept, n_cycles = (chains * over).sum(), (chains * over.T).sum() / 3  # a cycle is met from each document
        counts[g] = n_kept + 3 * n_cycles, n_kept, n_kept + n_cycles, n_cycles
    return counts


def _tested(preferences: Preferences, order: Floats, decisions: Decided) -> tuple[Ints, Ints]:
    """(cells,) chains whose first and last document were first compared after the two other pairs; those kept."""
    first = _first_judged(preferences, order, decisions)
    out = np.zeros((2, decisions.cell.size), np.int64)
    for c in range(decisions.cell.size):
        rows = slice(decisions.starts[c], decisions.starts[c + 1])
        members, place = np.unique(decisions.pairs[rows], return_inverse=True)
        i, k = place.reshape(-1, 2).T
        over = np.zeros((members.size, members.size), bool)
        over[i, k] = True
        at = np.full(over.shape, -np.inf)  # when a pair was first judged; pairs that nobody judged close no chain
        at[i, k] = at[k, i] = first[rows]
        for j in range(members.size):
            above = np.flatnonzero(over[:, j])
            below = np.flatnonzero(over[j])
            ends = np.ix_(above, below)
            closing = at[ends] > np.maximum(at[above, j][:, None], at[j, below][None])
            out[:, c] += closing.sum(), (closing & over[ends]).sum()
    return out[0], out[1]


def _first_judged(preferences: Preferences, order: Floats, decisions: Decided) -> Floats:
    """(held rows,) the least `order` at which the assessor judged the pair, either way."""
    width = len(preferences.documents)
    n = len(preferences.assessors)

    def keys(topic: Any, assessor: Any, one: Any, two: Any) -> Ints:
        cell = topic.astype(np.int64) * n + assessor
        return np.asarray((cell * width + np.minimum(one, two)) * width + np.maximum(one, two))

    pairs = keys(preferences.topic, preferences.assessor, preferences.preferred, preferences.other)
    distinct, pair = np.unique(pairs, return_inverse=True)
    first = np.full(distinct.size, np.inf)
    np.minimum.at(first, pair, order)
    return first[
        np.searchsorted(distinct, keys(decisions.topic, decisions.assessor, decisions.preferred, decisions.other))
    ]


@dataclass(frozen=True)
class Cycle:
    """Documents of which each is preferred, over some chain, to every other and so to itself.

    documents : all of them, by name. shortest : a shortest way round, each preferred to the next and the last to the
    first. n_pairs : pairs among the documents that were ordered.
    """

    topic: str
    assessor: str
    documents: tuple[str, ...]
    shortest: tuple[str, ...]
    n_pairs: int

    def __str__(self) -> str:
        way = " > ".join((*self.shortest, self.shortest[0]))
        return f"topic {self.topic}, assessor {self.assessor}, {len(self.documents)} documents: {way}"


def cycles(preferences: Preferences) -> tuple[Cycle, ...]:
    """Every set of documents that an assessor's preferences lead round, with a shortest cycle as evidence.

    These are the strongly connected components of more than one document, by topic and assessor, largest first within
    each.

    >>> said = [("q", "a", "b", "ann"), ("q", "b", "c", "ann"), ("q", "c", "a", "ann"), ("q", "c", "d", "ann")]
    >>> print(*cycles(Preferences.from_rows(said)))
    topic q, assessor ann, 3 documents: a > b > c > a
    """
    return cycles_in(preferences, decided(preferences))


def cycles_in(preferences: Preferences, decisions: Decided) -> tuple[Cycle, ...]:
    """`cycles` of what was decided."""
    if not decisions.preferred.size:
        return ()
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    # One node per topic, assessor and document; groups are not joined, so one search serves all of them.
    width = len(preferences.documents)
    n_rows = decisions.preferred.size
    group = np.repeat(np.arange(decisions.cell.size), np.diff(decisions.starts))
    both = np.concatenate([group * width + decisions.preferred, group * width + decisions.other])
    nodes, row = np.unique(both, return_inverse=True)
    tail, head = row[:n_rows], row[n_rows:]
    graph = csr_array((np.ones(n_rows), (tail, head)), shape=(nodes.size, nodes.size))
    _, component = connected_components(graph, connection="strong")
    sizes = np.bincount(component)
    inside = np.flatnonzero((component[tail] == component[head]) & (sizes[component[tail]] > 1))
    of = component[tail[inside]]
    result = []
    for number in np.unique(of):
        edges = inside[of == number]
        members, place = np.unique(np.concatenate([tail[edges], head[edges]]), return_inverse=True)
        labels = [preferences.documents[node % width] for node in nodes[members].tolist()]
        by_name = np.argsort(np.argsort(labels))  # whatever the order of rows
        start = by_name[place[: edges.size]]
        end = by_name[place[edges.size :]]
        labels.sort()
        way = shortest_cycle(start, end)
        first = int(edges[0])
        result.append(
            Cycle(
                preferences.topics[decisions.topic[first]],
                preferences.assessors[decisions.assessor[first]],
                tuple(labels),
                tuple(labels[node] for node in way.tolist()),
                int(np.unique(np.sort(np.stack([start, end]), axis=0), axis=1).shape[1]),
            )
        )
    place_of = {name: i for i, name in enumerate(preferences.topics)}
    who = {name: i for i, name in enumerate(preferences.assessors)}
    result.sort(key=lambda one: (place_of[one.topic], who[one.assessor], -len(one.documents), one.documents))
    return tuple(result)


def shortest_cycle(start: Ints, end: Ints) -> Ints:
    """The nodes of a shortest cycle, in order, of a graph in which every node leads back to itself.

    start, end : (edges,) numbers of nodes. Of several, one through the first node that is on any.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    n = int(start.max()) + 1
    graph = csr_array((np.ones(start.size), (start, end)), shape=(n, n))
    steps, before = shortest_path(graph, unweighted=True, return_predecessors=True)
    back = steps[end, start]  # from the end of each edge to its start
    shortest = np.flatnonzero(back == back.min())
    edge = shortest[np.lexsort((start[shortest], end[shortest]))[0]]
    way = [int(start[edge])]
    while way[-1] != end[edge]:
        way.append(int(before[end[edge], way[-1]]))
    return np.array(way[::-1])
