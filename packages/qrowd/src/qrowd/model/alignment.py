"""Runs laid over a pool: for every topic, which pooled document stands at which rank of which system."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from qrowd.errors import NoOverlapError
from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.model.labels import first_of
from qrowd.model.panel import Pool
from qrowd.model.runs import Rankings, Runs, ScoreDtype


@dataclass(frozen=True, eq=False)
class RankedTopic:
    """One topic's rankings over its pool.

    rows : (systems, depth) int32, place of the document in the topic's pool; -1 outside it and beyond the list's end,
        and for a duplicate of a document further up.
    tied : (systems, depth) bool, the document has the score of the one above.
    lengths : (systems,) how many documents each system returned.
    later : (systems, depth) bool, the duplicates of a document further up; None where no document has duplicates.
    """

    rows: Codes
    tied: Bools
    lengths: Ints
    later: Bools | None = None


@dataclass(frozen=True, eq=False)
class PooledLists:
    """The pooled documents of ranked lists: topic by topic, one list of each system, best document first.

    starts : (topics x systems + 1,) int64; list l has the entries starts[l]:starts[l + 1].
    rank : (entries,) int32, from 0. row : (entries,) int32, place of the document among those of these topics.
    documents : (topics + 1,) int64; topic t has the documents documents[t]:documents[t + 1].
    n_systems : how many lists a topic has.
    first, last : (entries,) int32, first and last rank of the documents that share the score; default: the rank.
    weight : (entries,) of units of answers; criterion : (entries,) which of `criteria` each unit is of.
    """

    starts: Ints
    rank: Codes
    row: Codes
    documents: Ints
    n_systems: int
    first: Codes | None = None
    last: Codes | None = None
    weight: Floats | None = None
    criterion: Codes | None = None
    criteria: tuple[str, ...] = ()

    @property
    def n_topics(self) -> int:
        return self.documents.size - 1

    @cached_property
    def _ends(self) -> dict[int, Ints]:
        return {}

    def ends(self, cutoff: int | None) -> Ints:
        """(lists,) where the entries of each list with a rank up to the cut-off end."""
        if cutoff is None or not self.rank.size:
            return self.starts[1:]
        if cutoff not in self._ends:
            n_before = np.append(0, np.cumsum(self.rank < cutoff))[self.starts]
            self._ends[cutoff] = self.starts[:-1] + np.diff(n_before)
        return self._ends[cutoff]

    @cached_property
    def _memo(self) -> dict[object, Floats]:
        return {}

    def remember(self, key: object, make: Callable[[], Floats]) -> Floats:
        """make() the first time; the weights of ranks are the same for all assessors."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]

    def of_topics(self, begin: int, end: int) -> PooledLists:
        """Those of some topics."""
        lists = self.starts[begin * self.n_systems : end * self.n_systems + 1]
        entries = slice(int(lists[0]), int(lists[-1]))
        documents = self.documents[begin : end + 1]
        of_entries: Any = {name: getattr(self, name) for name in ("first", "last", "weight", "criterion")}
        return PooledLists(
            lists - lists[0],
            self.rank[entries],
            self.row[entries] - np.int32(documents[0]),
            documents - documents[0],
            self.n_systems,
            **{name: None if column is None else column[entries] for name, column in of_entries.items()},
            criteria=self.criteria,
        )


@dataclass(frozen=True)
class Facts:
    """Facts that a reader of scores must know of the runs: counts over the lists of judged topics.

    retrieved_and_judged : {cutoff: (documents among the first `cutoff` of each list, those of them that are judged)};
        None: whole lists.
    lists, tied_lists : lists, and those with equal scores. missing_lists : (system, topic) without a list.
    unjudged_topics : topics of the runs that nobody judged. later_duplicates : retrieved duplicates of a document
        further up. rank_contradictions : lists whose stated ranks contradict their scores.
    """

    retrieved_and_judged: Mapping[int | None, tuple[int, int]]
    lists: int
    tied_lists: int
    missing_lists: int
    unjudged_topics: int
    later_duplicates: int
    rank_contradictions: int

    def attributes(self) -> dict[str, Any]:
        """As `Scores.attributes` name them; the share of unjudged documents for each cut-off."""
        shares = {
            cutoff: 1 - judged / retrieved if retrieved else 0.0
            for cutoff, (retrieved, judged) in self.retrieved_and_judged.items()
        }
        counts = {one.name: getattr(self, one.name) for one in fields(self)[1:]}
        return {"unjudged_shares": shares, **counts}


def total_facts(parts: Sequence[Facts]) -> Facts:
    """The facts of all parts together, which have no list in common."""
    cuts = {
        cutoff: (
            sum(part.retrieved_and_judged[cutoff][0] for part in parts),
            sum(part.retrieved_and_judged[cutoff][1] for part in parts),
        )
        for cutoff in parts[0].retrieved_and_judged
    }
    return Facts(cuts, *(sum(getattr(part, one.name) for part in parts) for one in fields(Facts)[1:]))


@dataclass(frozen=True, eq=False)
class Alignment:
    """Rankings of all systems over the topics of a pool.

    lists : the pooled documents of every list.
    missing : (topics, systems) bool, the system has no list for the topic.
    n_unjudged_topics : topics of the runs that nobody judged; they count for nothing.
    n_tied_lists, n_lists : among the lists of judged topics; units of answers are in no order, so none are tied.
    """

    pool: Pool
    lists: PooledLists
    missing: Bools
    n_unjudged_topics: int
    n_tied_lists: int
    n_lists: int
    _rankings: Rankings
    _number: Ints  # (topics,) of the pool among those of the runs; -1 where the runs lack it
    _later: tuple[Ints, Codes]  # list and rank of each duplicate of a document further up

    @cached_property
    def topics(self) -> tuple[RankedTopic, ...]:
        """One per pool topic, in the pool's order, with all ranks."""
        return tuple(map(self._topic, range(self.missing.shape[0])))

    def _topic(self, topic: int) -> RankedTopic:
        n_systems = self.lists.n_systems
        number = int(self._number[topic])
        entries = self.lists
        starts = self._rankings.starts[:, number]
        lengths = self._rankings.lengths[:, number]
        if number < 0:
            starts = lengths = np.zeros(n_systems, np.int64)
        depth = max(int(lengths.max(initial=0)), 1)
        inside = np.arange(depth) < lengths[:, None]
        at = np.where(inside, starts[:, None] + np.arange(depth), 0)
        rows = np.full((n_systems, depth), -1, np.int32)
        bounds = entries.starts[topic * n_systems : (topic + 1) * n_systems + 1]
        here = slice(int(bounds[0]), int(bounds[-1]))
        system = np.repeat(np.arange(n_systems), np.diff(bounds))
        rows[system, entries.rank[here]] = entries.row[here] - entries.documents[topic]
        later = None
        if topic in self.pool.duplicates:
            later = np.zeros(rows.shape, bool)
            mine = self._later[0] // n_systems == topic
            later[self._later[0][mine] % n_systems, self._later[1][mine]] = True
        tied = inside & self._rankings.tied[at] if inside.any() else inside
        return RankedTopic(rows, tied, lengths, later)

    @cached_property
    def tied_lists(self) -> PooledLists:
        """The lists, with the first and last rank of each entry's group of equal scores."""
        lists, rankings = self.lists, self._rankings
        starts = np.where(self._number[:, None] >= 0, rankings.starts.T[self._number], 0).ravel()
        begins = np.repeat(starts, np.diff(lists.starts))
        heads = np.append(np.flatnonzero(~rankings.tied), rankings.tied.size)
        group = np.cumsum(~rankings.tied)[begins + lists.rank] - 1
        first = heads[group] - begins
        last = heads[group + 1] - 1 - begins
        return replace(lists, first=first.astype(np.int32), last=last.astype(np.int32))

    def facts(self, runs: Runs, cuts: Iterable[int | None]) -> Facts:
        """What a reader of scores with these cut-offs must know of the runs; the smallest cut-off is first."""
        lengths = self._rankings.lengths[:, self._number[self._number >= 0]]
        later = self._later[1]
        counts: dict[int | None, tuple[int, int]] = {}
        for cutoff in sorted(set(cuts), key=lambda cutoff: (cutoff is None, cutoff or 0)):
            retrieved = lengths if cutoff is None else np.minimum(lengths, cutoff)
            judged = (self.lists.ends(cutoff) - self.lists.starts[:-1]).sum()
            judged += later.size if cutoff is None else (later < cutoff).sum()
            counts[cutoff] = int(retrieved.sum()), int(judged)
        return Facts(
            counts,
            self.n_lists,
            self.n_tied_lists,
            int(self.missing.sum()),
            self.n_unjudged_topics,
            later.size,
            runs.rank_contradictions,
        )


def align(runs: Runs, pool: Pool, score_dtype: ScoreDtype = "float64") -> Alignment:
    """Rank every list and find the pooled documents in it.

    Raises
    ------
    NoOverlapError
        No topic is in both.
    """
    topic_number = {label: i for i, label in enumerate(runs.topics)}
    number = np.array([topic_number.get(label, -1) for label in pool.topics], np.int64)
    if (number < 0).all():
        raise NoOverlapError(no_shared_topic(runs.topics, pool.topics))
    rankings = runs.ranked(score_dtype=score_dtype)
    n_systems = len(runs.systems)
    in_both = (number >= 0)[:, None]
    list_starts = np.where(in_both, rankings.starts.T[number], 0)
    lengths = np.where(in_both, rankings.lengths.T[number], 0)
    number_in_runs = [runs.document_number.get(label, -1) for label in pool.documents]
    label_in_runs = np.array(number_in_runs, np.int32)
    pool_starts = pool.starts
    pool_document = label_in_runs[pool.document]
    pair = None
    if pool.duplicates:
        pool_starts, pool_document, pair = _with_duplicates(pool, pool_document, runs)
    place = np.full(len(runs.documents), -1, np.int32)
    entries = []
    for t in range(len(pool.topics)):
        pooled = pool_document[pool_starts[t] : pool_starts[t + 1]]
        in_runs = np.flatnonzero(pooled >= 0)
        place[pooled[in_runs]] = pool_starts[t] + in_runs
        entries.append(_pooled_entries(list_starts[t], lengths[t], rankings.document, place))
        place[pooled[in_runs]] = -1
    counts, rank, row = map(np.concatenate, zip(*entries, strict=True))
    starts = np.append(0, np.cumsum(counts))
    later = np.empty(0, np.int64), np.empty(0, np.int32)
    if pair is not None:
        starts, rank, row, later = _without_later(starts, rank, pair[row])
    ties = rankings.tied_lists().T[number] & in_both
    missing = lengths == 0
    lists = PooledLists(starts, rank, row, pool.starts, n_systems)
    if runs.criterion is not None:
        rows = rankings.row[np.repeat(list_starts.ravel(), np.diff(starts)) + rank]
        lists = replace(lists, weight=runs.score[rows], criterion=runs.criterion[rows], criteria=runs.criteria)
    return Alignment(
        pool,
        lists,
        missing,
        n_unjudged_topics=len(runs.topics) - int((number >= 0).sum()),
        n_tied_lists=int(ties.sum()) if runs.criterion is None else 0,
        n_lists=int((~missing).sum()),
        _rankings=rankings,
        _number=number,
        _later=later,
    )


def _pooled_entries(list_starts: Ints, lengths: Ints, document: Codes, place: Codes) -> tuple[Ints, Codes, Codes]:
    """How many pooled documents each of a topic's lists has; rank and pair of each of them, list by list.

    list_starts, lengths : (systems,) into `document`, best first. place : (documents,) the pair of each, -1 for none.
    """
    system = np.repeat(np.arange(lengths.size), lengths)
    rank = np.arange(system.size) - (np.cumsum(lengths) - lengths)[system]
    pair = place[document[list_starts[system] + rank]]
    is_pooled = pair >= 0
    counts = np.bincount(system[is_pooled], minlength=lengths.size)
    return counts, rank[is_pooled].astype(np.int32), pair[is_pooled]


def no_shared_topic(of_runs: Sequence[str], of_judgments: Sequence[str]) -> str:
    """The message where runs and judgments have no topic in common."""
    return (
        f"runs and judgments share no topic: runs have {first_of(of_runs, 3)}, judgments {first_of(of_judgments, 3)}; "
        "check that both are of the same collection"
    )


def _with_duplicates(pool: Pool, pool_document: Codes, runs: Runs) -> tuple[Ints, Codes, Codes]:
    """The pool's starts and documents with every duplicate added, and the pair of the pool that each counts as."""
    starts = [0]
    documents = []
    pairs = []
    for t in range(len(pool.topics)):
        rows = pool.rows(t)
        groups = pool.duplicates.get(t, {})
        others = {runs.document_number[label]: row for label, row in groups.items() if label in runs.document_number}
        own = pool_document[rows]
        stays = ~np.isin(own, list(others))
        documents += [own[stays], np.array(list(others), np.int32)]
        pairs += [np.flatnonzero(stays) + rows.start, np.array(list(others.values()), np.int64) + rows.start]
        starts.append(starts[-1] + int(stays.sum()) + len(others))
    return np.array(starts, np.int64), np.concatenate(documents), np.concatenate(pairs).astype(np.int32)


def _without_later(starts: Ints, rank: Codes, row: Codes) -> tuple[Ints, Codes, Codes, tuple[Ints, Codes]]:
    """The entries without those of a pair that is further up in the list; and list and rank of these."""
    number = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    _, firsts = np.unique(number * (int(row.max(initial=0)) + 1) + row, return_index=True)
    stays = np.zeros(row.size, bool)
    stays[firsts] = True
    n_before = np.append(0, np.cumsum(stays))
    return n_before[starts], rank[stays], row[stays], (number[~stays], rank[~stays])
