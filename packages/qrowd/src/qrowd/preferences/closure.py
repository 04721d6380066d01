"""What preferences and Bad marks imply: which judgments need not be made.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, sections 5.1
and 5.2.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels import preference
from qrowd.kernels.arrays import Bools, Codes, Ints
from qrowd.model.preferences import Preferences
from qrowd.model.result import Result, Tables
from qrowd.preferences.decided import decided
from qrowd.preferences.transitivity import Cycle, cycles_in

JUDGED, CHAIN, BAD = 0, 1, 2
SOURCES = ("judged", "chain", "bad")


@dataclass(frozen=True, eq=False)
class Closure(Result):
    """Each assessor's preferences, and those that they imply.

    `to_frame` has one row per preference; what="counts" has one per topic and assessor.

    preferences : judged and implied ones, each once, by topic and assessor; the marks stay.
    source : (preferences,) int8, index into `SOURCES`: judged; implied by a chain of preferences; by a Bad mark.
    cycles : within them chains imply nothing.
    topic, assessor : (cells,) of the assessors who judged; n_documents : compared or marked; n_bad : marked.
    judged, by_chain, by_bad : (cells,) pairs. open : undecided pairs of these documents, of which at least one document
        is not Bad.
    n_repeats, n_contradictions, n_undecided : as of `Decided`. n_against_marks : pairs in which a document marked as
        Bad is preferred, by judgment or chain, to one that is not; they stand.
    """

    preferences: Preferences
    source: NDArray[np.int8]
    cycles: tuple[Cycle, ...]
    topic: Ints
    assessor: Ints
    n_documents: Ints
    n_bad: Ints
    judged: Ints
    by_chain: Ints
    by_bad: Ints
    open: Ints
    n_repeats: int
    n_contradictions: int
    n_undecided: int
    n_against_marks: int

    @property
    def saved(self) -> int:
        """How many judgments need not be made, since they are implied."""
        return int(self.by_chain.sum() + self.by_bad.sum())

    @property
    def implied_share(self) -> float:
        """Share of all pairs, judged and implied, that are implied; nan where there is none."""
        judged = int(self.judged.sum())
        return self.saved / (judged + self.saved) if judged + self.saved else np.nan

    def _tables(self) -> Tables:
        return {"preferences": self._of_preferences, "counts": self._counts}

    def _counts(self) -> dict[str, Any]:
        """One row per topic and assessor: documents, and pairs judged, implied and open."""
        names = ("n_documents", "n_bad", "judged", "by_chain", "by_bad", "open")
        return {
            "topic": np.array(self.preferences.topics, object)[self.topic],
            "assessor": np.array(self.preferences.assessors, object)[self.assessor],
            **{name: getattr(self, name) for name in names},
        }

    def _of_preferences(self) -> dict[str, Any]:
        """One row per preference."""
        rows = self.preferences
        return {
            "topic": np.array(rows.topics, object)[rows.topic],
            "preferred": np.array(rows.documents, object)[rows.preferred],
            "other": np.array(rows.documents, object)[rows.other],
            "assessor": np.array(rows.assessors, object)[rows.assessor],
            "strength": rows.strength,
            "source": np.array(SOURCES, object)[self.source],
        }


def closure(preferences: Preferences) -> Closure:
    """All preferences that follow from each assessor's judgments of a topic: over chains, and from Bad marks.

    Chains count between strongly connected components of the preferences (see `cycles`); within a component only direct
    judgments count. So no implied preference contradicts a judged one.

    A document that was compared and is not Bad beats each Bad one where nothing else decides. Nothing follows for two
    Bad documents, and no chain uses what marks imply. A preference for a document that is marked as Bad stands, with a
    warning. Of a pair that the assessor ordered both ways, the greater weight decides.

    >>> said = Preferences.from_rows([("q", "a", "b", "ann"), ("q", "b", "c", "ann")], bad=[("q", "d", "ann")])
    >>> closed = closure(said)
    >>> [(better, worse) for _, better, worse, _, _ in closed.preferences.to_rows()], closed.saved
    ([('a', 'b'), ('b', 'c'), ('a', 'c'), ('a', 'd'), ('b', 'd'), ('c', 'd')], 4)
    """
    decisions = decided(preferences)
    n = max(len(preferences.documents), 1)
    n_assessors = max(len(preferences.assessors), 1)
    cell_of = preferences.topic.astype(np.int64) * n_assessors + preferences.assessor
    mark_cell = preferences.bad_topic.astype(np.int64) * n_assessors + preferences.bad_assessor
    compared = [cell_of * n + preferences.preferred, cell_of * n + preferences.other]
    bad_documents = mark_cell * n + preferences.bad_document
    documents = np.unique(np.concatenate([*compared, bad_documents]))
    marked = np.isin(documents, bad_documents)
    cells, seen_starts = np.unique(documents // n, return_index=True)
    seen_starts = np.append(seen_starts, documents.size).astype(np.int64)
    n_cells = cells.size
    judged = np.zeros(n_cells, np.int64)
    judged[np.searchsorted(cells, decisions.cell)] = np.diff(decisions.starts)
    starts = np.append(0, np.cumsum(judged)).astype(np.int64)

    closed, closed_starts = preference.closed_pairs(n, starts, decisions.pairs)
    added, added_starts, both_bad = marked_pairs(
        n, closed_starts, closed, seen_starts, (documents % n).astype(np.int32), marked
    )
    every_cell = np.arange(n_cells)
    of_closed = np.repeat(every_cell, np.diff(closed_starts))
    of_added = np.repeat(every_cell, np.diff(added_starts))
    cell_of_pair = np.repeat(every_cell, judged)
    direct = (cell_of_pair * n + decisions.preferred) * n + decisions.other
    chained = ~np.isin((of_closed * n + closed[:, 0]) * n + closed[:, 1], direct)

    better, worse = (np.isin(cells[of_closed] * n + closed[:, side], documents[marked]) for side in (0, 1))
    against = int((better & ~worse).sum())
    if against:
        warnings.warn(
            f"{against} preference{' is' if against == 1 else 's are'} for a document that the same assessor marked "
            "as Bad over one not marked; direct preferences stand, and the marks decide other pairs only",
            stacklevel=2,
        )
    cell = np.concatenate([cell_of_pair, of_closed[chained], of_added])
    source = np.repeat(np.array([JUDGED, CHAIN, BAD], np.int8), [cell_of_pair.size, int(chained.sum()), of_added.size])
    pairs = np.concatenate([decisions.pairs, closed[chained], added])
    strength = np.concatenate([decisions.strength, np.ones(source.size - cell_of_pair.size, np.int64)])
    rows = np.argsort(cell, kind="stable")
    by_chain = np.bincount(of_closed[chained], minlength=n_cells)
    by_bad = np.bincount(of_added, minlength=n_cells)
    n_documents = np.diff(seen_starts)
    return Closure(
        Preferences(
            preferences.topics,
            preferences.documents,
            preferences.assessors,
            (cells[cell[rows]] // n_assessors).astype(np.int32),
            pairs[rows, 0],
            pairs[rows, 1],
            (cells[cell[rows]] % n_assessors).astype(np.int32),
            strength[rows],
            preferences.bad_topic,
            preferences.bad_document,
            preferences.bad_assessor,
        ),
        source[rows],
        cycles_in(preferences, decisions),
        cells // n_assessors,
        cells % n_assessors,
        n_documents,
        np.add.reduceat(marked, seen_starts[:-1], dtype=np.int64) if cells.size else both_bad,
        judged,
        by_chain,
        by_bad,
        n_documents * (n_documents - 1) // 2 - judged - by_chain - by_bad - both_bad,
        decisions.n_repeats,
        decisions.n_contradictions,
        decisions.n_undecided,
        against,
    )


def marked_pairs(
    n: int, starts: Ints, pairs: Codes, seen_starts: Ints, seen: Codes, is_bad: Bools
) -> tuple[Codes, Ints, Ints]:
    """The pairs that Bad marks add: whoever is compared and not Bad over whoever is Bad, unless it is decided already.

    starts, pairs : the closed pairs of each group. seen_starts, seen : (groups + 1,), (documents,) the documents that
        each group compared or marked; is_bad : (documents,) which of them are marked.

    Returns the pairs, (groups + 1,) where each group starts, and (groups,) pairs of two Bad documents that nothing
    decides.
    """
    sizes = np.diff(seen_starts)
    group_of_bad = np.repeat(np.arange(sizes.size), sizes)[is_bad]
    # Every Bad document beside each document of its group.
    beside = sizes[group_of_bad]
    group = np.repeat(group_of_bad, beside)
    bad = np.repeat(np.flatnonzero(is_bad), beside)
    begin = np.append(0, np.cumsum(beside))[:-1]
    other = np.arange(bad.size) + np.repeat(seen_starts[group_of_bad] - begin, beside)
    of_pair = np.repeat(np.arange(sizes.size), np.diff(starts))
    decided = [(of_pair * n + one) * n + two for one, two in (pairs.T, pairs.T[::-1])]
    undecided = ~np.isin((group * n + seen[other]) * n + seen[bad], np.concatenate(decided))
    added = undecided & ~is_bad[other]
    both_bad = np.bincount(group[undecided & is_bad[other] & (other < bad)], minlength=sizes.size)
    ends = np.append(0, np.cumsum(np.bincount(group[added], minlength=sizes.size)))
    return np.stack([seen[other], seen[bad]], axis=1)[added], ends, both_bad
