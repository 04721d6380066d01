"""Bands of ranks: documents by where the evaluated systems retrieve them, and how good those systems are.

A document graded i is relevant to another assessor more often in good results (section 6.1 of Demeester et al. 2016,
Inf. Retr. J. 19, where search engines are ordered by the number of relevant results they return). So documents in the
first `cutoff` ranks of some system are divided by the mean number of relevant results in those ranks of the systems
that retrieve them there; documents further down are divided by their best rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.model.runs import Runs
from qrowd.predicted_relevance.doubles import Graded, Pairs

Ranks = Literal["bands", "pool"]

TOP_BANDS = 5  # largest number of bands of the first ranks
LEAST_DOCUMENTS = 50  # judged twice, in a band
LEAST_JUDGMENTS = 50  # of a grade in a band; with fewer, neighbouring bands share an estimate
FURTHER = (2, 5)  # times the cut-off: where bands of further ranks end


@dataclass(frozen=True, eq=False)
class Retrieved:
    """The results of runs as (topic, document) pairs.

    pair : (pairs,) topic * number of documents + document, rising, each once.
    row : (results,) which pair each result is; rank : (results,) from 1; system : (results,) numbers.
    """

    runs: Runs
    pair: Ints
    row: Ints
    rank: Ints
    system: Ints

    @cached_property
    def best(self) -> Floats:
        """(pairs,) best rank that any system gave."""
        best = np.full(self.pair.size, np.inf)
        np.minimum.at(best, self.row, self.rank)
        return best

    def rows_of(self, pairs: Pairs) -> Ints:
        """(...,) the number of each pair among those retrieved; -1 where no run has it."""
        number = {label: i for i, label in enumerate(self.runs.topics)}
        topic = np.array([number.get(label, -1) for label in pairs.topics], np.int64)[pairs.topic]
        places = [self.runs.document_number.get(label, -1) for label in pairs.documents]
        document = np.array(places, np.int64)[pairs.document]
        key = np.where((topic >= 0) & (document >= 0), topic * len(self.runs.documents) + document, -1)
        row = np.minimum(np.searchsorted(self.pair, key), max(self.pair.size - 1, 0))
        return np.where(self.pair[row] == key, row, -1) if self.pair.size else np.full(key.shape, -1)


def retrieved(runs: Runs) -> Retrieved:
    """All results of all runs, ties broken as everywhere."""
    rankings = runs.ranked()
    lengths, starts = rankings.lengths.ravel(), rankings.starts.ravel()
    n_topics = len(runs.topics)
    lists = np.repeat(np.arange(lengths.size), lengths)  # system by system, each with all topics
    pair, row = np.unique(lists % n_topics * len(runs.documents) + rankings.document, return_inverse=True)
    rank = np.arange(rankings.document.size) - np.repeat(starts, lengths) + 1
    return Retrieved(runs, pair, row, rank, lists // n_topics)


@dataclass(frozen=True, eq=False)
class Bands:
    """Bands of the documents of all topics, from the results of the best systems to documents not retrieved.

    labels : (bands,) in words; n_top : number of bands that hold the first `cutoff` ranks.
    band : (pairs + 1,) of each retrieved pair, and of all others; weight : (pairs + 1,) number of systems that have the
        pair in the first `cutoff` ranks, 1 for documents further down.
    """

    labels: tuple[str, ...]
    n_top: int
    cutoff: int
    n_systems: int
    retrieved: Retrieved
    band: Ints
    weight: Floats

    def of(self, pairs: Pairs) -> tuple[Ints, Floats]:
        """(...,) the band of each pair, and its weight."""
        row = self.retrieved.rows_of(pairs)
        return self.band[row], self.weight[row]


def bands_of(data: Graded, runs: Runs, relevant: Bools, cutoff: int) -> Bands:
    """Bands with enough double judgments each.

    data : all judgments, from which relevant results are counted; a document's relevance is the mean over assessors.
    relevant : (grades,) which grades are.

    Raises
    ------
    NoOverlapError
        No document judged twice is in the first `cutoff` ranks of any system.
    """
    if cutoff < 1:
        raise ArgumentError(f"cutoff={cutoff}: a rank from 1 was expected")
    results = retrieved(runs)
    row = results.rows_of(data.pairs)
    n = results.pair.size
    relevance = np.zeros(n)
    relevance[row[row >= 0]] = ((data.counts @ relevant) / data.size)[row >= 0]
    first = results.rank <= cutoff
    of_system = np.bincount(results.system[first], relevance[results.row[first]], len(runs.systems))
    n_systems = np.bincount(results.row[first], minlength=n).astype(np.float64)
    total = np.bincount(results.row[first], of_system[results.system[first]], n)
    quality = np.divide(total, n_systems, out=np.zeros(n), where=n_systems > 0)
    twice = row[(data.size > 1) & (row >= 0)]
    top = twice[n_systems[twice] > 0]
    if not top.size:
        raise NoOverlapError(
            f"none of the documents judged twice is in the first {cutoff} ranks of any run; let a second assessor "
            "judge some of those results, or use ranks='pool' (--ranks pool)"
        )
    n_bands = min(TOP_BANDS, max(1, top.size // LEAST_DOCUMENTS))
    edges = np.unique(np.quantile(quality[top], np.arange(1, n_bands) / n_bands))
    edges = edges[edges > quality[top].min()]
    n_top = edges.size + 1
    n_double = int(np.count_nonzero(data.size > 1)) - top.size
    further, names = _further(results.best[twice[n_systems[twice] == 0]], n_double, cutoff)
    band = np.where(
        n_systems > 0,
        edges.size - np.searchsorted(edges, quality, side="right"),
        n_top + np.searchsorted(further, results.best, side="left"),
    )
    labels = [f"ranks 1-{cutoff}" + ("" if n_top == 1 else f", band {b + 1} of {n_top}") for b in range(n_top)]
    return Bands(
        (*labels, *names),
        n_top,
        cutoff,
        len(runs.systems),
        results,
        np.append(band, n_top + further.size).astype(np.int64),
        np.append(np.maximum(n_systems, 1.0), 1.0),
    )


def _further(best: Floats, n_double: int, cutoff: int) -> tuple[Floats, list[str]]:
    """Last ranks of bands below the cut-off, each with enough documents judged twice; and the names of these bands.

    best : best ranks of documents judged twice that are retrieved, but not in the first ranks; n_double : number of
        documents judged twice that are not in the first ranks.
    """
    ends: list[float] = []
    for end in (factor * cutoff for factor in FURTHER):
        begin = ends[-1] if ends else cutoff
        here = np.count_nonzero((best > begin) & (best <= end))
        if here >= LEAST_DOCUMENTS and n_double - np.count_nonzero(best <= end) >= LEAST_DOCUMENTS:
            ends.append(end)
    begins = [cutoff, *ends]
    names = [f"ranks {begin + 1:g}-{end:g}" for begin, end in zip(begins, ends, strict=False)]
    return np.array(ends, np.float64), [*names, f"after rank {begins[-1]:g}, or not retrieved"]


def sharing(judgments: Floats, n_top: int) -> Bools:
    """(grades, bands, bands) whether two bands share an estimate; judgments : (bands, grades) their number.

    For each grade, neighbouring bands are joined until there are enough judgments: the n_top bands of the first ranks
    among themselves, and those of further ranks. So estimates of the first ranks rest on these alone, unless all of
    them together have too few judgments; further ranks with too few also use the last of the first ranks.
    """
    n_bands, n_grades = judgments.shape
    same = np.zeros((n_grades, n_bands, n_bands), bool)
    for grade, column in enumerate(judgments.T):
        if column[:n_top].sum() < LEAST_JUDGMENTS:
            same[grade] = True
            continue
        first, further = _joined(column[:n_top]), _joined(column[n_top:])
        same[grade, :n_top, :n_top] = first[:, None] == first
        same[grade, n_top:, n_top:] = further[:, None] == further
        if column[n_top:].sum() < LEAST_JUDGMENTS:
            same[grade, n_top:, :n_top] = first == first[-1]
    return same


def _joined(column: Floats) -> Ints:
    """(bands,) groups of neighbours with enough judgments each; a rest at the end joins the last group."""
    group = np.zeros(column.size, np.int64)
    total, number = 0.0, 0
    for band, n in enumerate(column):
        if total >= LEAST_JUDGMENTS:
            total, number = 0.0, number + 1
        group[band] = number
        total += n
    return np.where(group == number, number - 1, group) if total < LEAST_JUDGMENTS and number > 0 else group


def shared(cells: Floats, same: Bools) -> Floats:
    """(..., bands, grades) sums over the bands from which each estimate is taken."""
    return np.asarray(np.einsum("gbc,...cg->...bg", same.astype(np.float64), cells))
