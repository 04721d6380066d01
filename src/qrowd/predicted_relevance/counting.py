"""How often a second assessor finds relevant what a first one graded i: equations 4 and 5, and their replicates.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19, section 5.2. Equation 5 adds both directions of every pair, which is the coincidence matrix of Krippendorff (2011),
Computing Krippendorff's Alpha-Reliability, step 2, summed over the relevant grades of each row and divided by the row.
So it holds for any number of judgments of a document, each judgment counting once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.counts import coincidences
from qrowd.kernels.resample import resampled
from qrowd.model.labels import closest
from qrowd.predicted_relevance.doubles import Bools, Floats, Graded, Ints

Method = Literal["symmetric", "one-sided"]
First = str | Sequence[str] | None

CELLS_AT_ONCE = 2_000_000  # of a block of replicates


@dataclass(frozen=True, eq=False)
class Observed:
    """What was said of each document, ready to be added up in any weighting.

    count : (documents, grades) how much each document says of what follows a grade; under equation 5 the number of its
        judgments of that grade, under equation 4 one for the first assessor's.
    given : (documents, grades) the same times the document's weight.
    found : (documents, grades) how much of that was found relevant by another assessor.
    matrix : (grades, grades) sum over documents: grade given, grade given by another.
    topic, band : (documents,) numbers of topics, and of bands, of which there are n_bands.
    alike, multiplicity : (kinds,) one document of every kind that says the same in the same band with the same weight,
        and how many of each there are.
    kept : of the documents judged twice, those with a judgment by a first assessor: all others are left out.
    """

    count: Floats
    given: Floats
    found: Floats
    matrix: Floats
    topic: Ints
    band: Ints
    n_bands: int
    alike: Ints
    multiplicity: Ints
    kept: Bools

    @property
    def squares(self) -> Floats:
        """(documents, grades) count times the square of the weight."""
        return np.divide(self.given**2, self.count, out=np.zeros(self.given.shape), where=self.count > 0)

    def by_band(self, part: Floats) -> Floats:
        """(bands, grades) sums of (documents, grades)."""
        sums = np.zeros((self.n_bands, part.shape[1]))
        np.add.at(sums, self.band, part)
        return sums


def observed(
    doubles: Graded,
    relevant: Bools,
    method: Method = "symmetric",
    first: First = None,
    bands: tuple[Ints, Floats] | None = None,
    n_bands: int = 1,
) -> Observed:
    """Count by equation 5 ("symmetric") or 4 ("one-sided").

    relevant : (grades,) which satisfy a user.
    first : of equation 4, whose judgment is the one that predicts: an assessor's name; several, the first of them who
        judged a document; None, whoever judged it first (by the order column, else by place). All others of the
        document are users, sharing its weight.
    bands : (documents,) bands and weights; by default one band, in which every document weighs the same.

    Raises
    ------
    ArgumentError
        An unknown method or name; `first` where it means nothing.
    NoOverlapError
        No document judged twice was judged by the first assessor.
    """
    if method not in get_args(Method):
        raise ArgumentError(f"method={method!r}: choose one of {', '.join(get_args(Method))}")
    counts = doubles.counts
    n = counts.shape[0]
    band, weight = (np.zeros(n, np.int64), np.ones(n)) if bands is None else bands
    placed = np.column_stack([band, weight])
    if method == "symmetric":
        if first is not None:
            raise ArgumentError(f"first={first!r}: only method='one-sided' (equation 4) tells a first assessor apart")
        # What another said of the document, on average over the others: the judgment itself is not among them.
        others = (counts @ relevant)[:, None] - relevant
        given = counts * weight[:, None]
        found = given * others / (doubles.size - 1)[:, None]
        matrix = coincidences(counts, weight / (doubles.size - 1))
        kinds = _alike(np.hstack([counts, placed]))
        return Observed(counts, given, found, matrix, doubles.topic, band, n_bands, *kinds, np.ones(n, bool))
    at = _first_rows(doubles, first)
    kept = at >= 0
    if not kept.any():
        raise NoOverlapError(f"first={first!r} judged no document that another assessor judged too; choose another")
    count = np.eye(doubles.grades.size)[doubles.said[at[kept]]]
    others = counts[kept] - count
    share = others / others.sum(axis=1, keepdims=True)
    given = count * weight[kept, None]
    found = given * (share @ relevant)[:, None]
    kinds = _alike(np.hstack([count, others, placed[kept]]))
    return Observed(count, given, found, given.T @ share, doubles.topic[kept], band[kept], n_bands, *kinds, kept)


def _first_rows(doubles: Graded, first: First) -> Ints:
    """(documents,) the row of the judgment that predicts; -1 where nobody named judged the document."""
    if first is None:
        return doubles.starts[:-1]
    names = [first] if isinstance(first, str) else list(first)
    for name in names:
        if name not in doubles.assessors:
            raise ArgumentError(f"first={name!r} is no assessor; {closest(name, doubles.assessors, 'assessor')}")
    turn = np.full(len(doubles.assessors), len(names))
    for place, name in reversed(list(enumerate(names))):
        turn[doubles.assessors.index(name)] = place
    of_row = turn[doubles.assessor]
    by_turn = np.lexsort((of_row, doubles.of_rows()))
    rows = by_turn[doubles.starts[:-1]]
    return np.where(of_row[rows] < len(names), rows, -1)


def _alike(said: Floats) -> tuple[Ints, Ints]:
    """(kinds,) a document of every kind, and how many there are of each; said : (documents, ...) whole numbers.

    Where what is said is too wide for one 64-bit number, every document is of a kind of its own.
    """
    base = int(said.max(initial=0)) + 1
    if base ** said.shape[1] >= 2**63:
        return np.arange(said.shape[0]), np.ones(said.shape[0], np.int64)
    place = np.array([base**i for i in range(said.shape[1])], np.int64)
    _, kinds, multiplicity = np.unique(said.astype(np.int64) @ place, return_index=True, return_counts=True)
    return kinds, multiplicity.astype(np.int64)


def estimate(found: Floats, given: Floats, smoothing: float) -> Floats:
    """(..., grades) p(R|i) = (found + smoothing * overall) / (given + smoothing); nan where nothing was given.

    overall : the share of all judgments by others that are relevant, whatever the first one said.
    """
    whole = given.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        overall = found.sum(axis=-1, keepdims=True) / whole
        return np.asarray((found + smoothing * overall) / (given + smoothing)) if smoothing else found / given


def resampled_documents(
    seen: Observed, replicates: int, random: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """(rows, bands, grades) found and given of documents drawn with replacement, block by block."""
    kind = np.arange(seen.alike.size)
    return _blocks(seen, seen.alike, kind, seen.multiplicity, replicates, random)


def resampled_topics(seen: Observed, replicates: int, random: np.random.Generator) -> Iterator[tuple[Floats, Floats]]:
    """(rows, bands, grades) found and given of topics drawn with replacement, each with all its documents."""
    topics, topic = np.unique(seen.topic, return_inverse=True)
    return _blocks(seen, np.arange(seen.topic.size), topic, np.ones(topics.size, np.int64), replicates, random)


def _blocks(
    seen: Observed, documents: Ints, unit: Ints, multiplicity: Ints, replicates: int, random: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """unit : of each of these documents, what is drawn with it; multiplicity : (units,) how many there are of each."""
    shape = (multiplicity.size, seen.n_bands, seen.given.shape[1])
    parts = []
    for part in (seen.found, seen.given):
        cells = np.zeros(shape)
        np.add.at(cells, (unit, seen.band[documents]), part[documents])
        parts.append(cells.reshape(shape[0], -1))
    for weights in resampled(multiplicity, replicates, max(1, CELLS_AT_ONCE // max(shape)), random):
        found, given = ((weights @ part).reshape(-1, *shape[1:]) for part in parts)
        yield found, given
