"""Bands of ranks: documents by where the evaluated systems retrieve them, and how good those systems are.

What an assessor graded i is relevant to another assessor the more often the better the results around it are (section
6.1 of Demeester et al. 2016, Inf. Retr. J. 19, where search engines are ordered by how many relevant results they
return). So documents in the first `depth` ranks of some system are divided by the mean number of relevant results that
the systems which retrieve them there have in those ranks; documents further down by their best rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.runs import Runs
from qrowd.predicted_relevance.doubles import Bools, Floats, Graded, Ints
from qrowd.predicted_relevance.retrieved import Retrieved, retrieved

Ranks = Literal["bands", "pool"]

TOP_BANDS = 5  # of the first ranks, at most
LEAST_DOCUMENTS = 50  # judged twice, of a band
LEAST_JUDGMENTS = 50  # of a grade in a band; with fewer, neighbouring bands share an estimate
FURTHER = (2, 5)  # times depth: where bands of further ranks end


@dataclass(frozen=True, eq=False)
class Bands:
    """Bands of the documents of all topics, from the results of the best systems to documents not retrieved.

    labels : (bands,) in words; n_top : so many of them hold the first `depth` ranks.
    band : (pairs + 1,) of each pair that is retrieved, and of all others; weight : (pairs + 1,) systems that have the
        pair in the first `depth` ranks, 1 for documents further down.
    """

    labels: tuple[str, ...]
    n_top: int
    depth: int
    n_systems: int
    retrieved: Retrieved
    band: Ints
    weight: Floats

    def of(
        self,
        topics: tuple[str, ...],
        topic: NDArray[np.integer],
        documents: tuple[str, ...],
        document: NDArray[np.integer],
    ) -> Ints:
        """(...,) the band of each (topic, document), by its numbers among these labels."""
        return self.band[self.retrieved.rows_of(topics, topic, documents, document)]

    def placed(self, data: Graded) -> tuple[Ints, Floats]:
        """(documents,) band and weight of each judged document."""
        row = self.retrieved.of(data)
        return self.band[row], self.weight[row]


def bands_of(data: Graded, runs: Runs, satisfying: Bools, depth: int) -> Bands:
    """Bands with enough double judgments each.

    data : all judgments, from which systems' relevant results are counted (the mean over who judged a document).

    Raises
    ------
    NoOverlapError
        No document judged twice is in the first `depth` ranks of any system.
    """
    if depth < 1:
        raise ArgumentError(f"depth={depth}: at least one rank must be looked at")
    results = retrieved(runs)
    row = results.of(data)
    n = results.pair.size
    relevance = np.zeros(n)
    relevance[row[row >= 0]] = ((data.counts @ satisfying) / data.size)[row >= 0]
    first = results.rank <= depth
    of_system = np.bincount(results.system[first], relevance[results.row[first]], len(runs.systems))
    n_systems = np.bincount(results.row[first], minlength=n).astype(np.float64)
    total = np.bincount(results.row[first], of_system[results.system[first]], n)
    quality = np.divide(total, n_systems, out=np.zeros(n), where=n_systems > 0)
    twice = row[(data.size > 1) & (row >= 0)]
    top = twice[n_systems[twice] > 0]
    if not top.size:
        raise NoOverlapError(
            f"none of the documents judged twice is in the first {depth} ranks of any run; let a second assessor judge "
            "some of those results, or use ranks='pool' (--ranks pool)"
        )
    wanted = min(TOP_BANDS, max(1, top.size // LEAST_DOCUMENTS))
    edges = np.unique(np.quantile(quality[top], np.arange(1, wanted) / wanted))
    edges = edges[edges > quality[top].min()]
    n_top = edges.size + 1
    n_double = int(np.count_nonzero(data.size > 1)) - top.size
    further, names = _further(results.best[twice[n_systems[twice] == 0]], n_double, depth)
    band = np.where(
        n_systems > 0,
        edges.size - np.searchsorted(edges, quality, side="right"),
        n_top + np.searchsorted(further, results.best, side="left"),
    )
    labels = [f"ranks 1-{depth}" + ("" if n_top == 1 else f", band {b + 1} of {n_top}") for b in range(n_top)]
    return Bands(
        (*labels, *names),
        n_top,
        depth,
        len(runs.systems),
        results,
        np.append(band, n_top + further.size).astype(np.int64),
        np.append(np.maximum(n_systems, 1.0), 1.0),
    )


def _further(best: Floats, n_double: int, depth: int) -> tuple[Floats, list[str]]:
    """Last ranks of bands below `depth`, each with enough documents judged twice; and the names of all such bands.

    best : best ranks of documents judged twice that are retrieved, but not in the first ranks; n_double : how many
        documents judged twice are not in the first ranks.
    """
    ends: list[float] = []
    for end in (factor * depth for factor in FURTHER):
        begin = ends[-1] if ends else depth
        here = np.count_nonzero((best > begin) & (best <= end))
        if here >= LEAST_DOCUMENTS and n_double - np.count_nonzero(best <= end) >= LEAST_DOCUMENTS:
            ends.append(end)
    begins = [depth, *ends]
    names = [f"ranks {begin + 1:g}-{end:g}" for begin, end in zip(begins, ends, strict=False)]
    return np.array(ends, np.float64), [*names, f"after rank {begins[-1]:g}, or not retrieved"]


def sharing(judgments: Floats, n_top: int) -> Bools:
    """(grades, bands, bands) from which bands the estimate of each is taken; judgments : (bands, grades) their number.

    Of each grade, neighbouring bands are joined until there are enough judgments: those of the first ranks, of which
    there are n_top, among themselves, and those of further ranks. So what is learnt of the first ranks rests on them
    alone, unless all of them together have too few judgments; further ranks with too few take the last of the first
    ranks in, too.
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
    """(bands,) groups of neighbours with enough judgments each; what is left at the end joins the last."""
    group = np.zeros(column.size, np.int64)
    held, number = 0.0, 0
    for band, n in enumerate(column):
        if held >= LEAST_JUDGMENTS:
            held, number = 0.0, number + 1
        group[band] = number
        held += n
    return np.where(group == number, number - 1, group) if held < LEAST_JUDGMENTS and number > 0 else group


def shared(cells: Floats, same: Bools) -> Floats:
    """(..., bands, grades) sums over the bands from which each estimate is taken."""
    return np.asarray(np.einsum("gbc,...cg->...bg", same.astype(np.float64), cells))
