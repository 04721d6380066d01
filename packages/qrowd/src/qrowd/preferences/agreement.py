"""Do assessors prefer the same documents? What one holds of a pair, given what another does; and what grades say.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.result import Result
from qrowd.preferences.closure import BAD, CHAIN, closure
from qrowd.preferences.decided import decided

STATES = ("A << B", "A < B", "A = B", "A, B bad", "A > B", "A >> B")
FAR_LESS, LESS, TIED, BOTH_BAD, MORE, FAR_MORE = range(6)


@dataclass(frozen=True, eq=False)
class PreferenceTable(Result):
    """How often one assessor says the column's of a pair of documents of which another says the row's.

    states : of rows and columns, A being the document whose id comes first: "A < B" where B is preferred, "A << B"
        where strongly, "A, B bad" where both are marked, "A = B" where both have the same grade.
    counts : (states, states), symmetric: every two assessors of a pair stand in both directions, as in the paper.
    n_pairs : of documents that at least two assessors hold something of.
    """

    states: tuple[str, ...]
    counts: Floats
    n_pairs: int

    @property
    def total(self) -> Floats:
        """(states,) of the rows."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def probability(self) -> Floats:
        """(states, states) of the column's given the row's; rows sum to 1."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.counts / self.total[:, None])

    @property
    def agreement(self) -> float:
        """Share of the judgments of two assessors that agree."""
        return float(self.counts.trace() / self.counts.sum())

    def pooled(self) -> PreferenceTable:
        """Strong preferences counted as ordinary ones."""
        return self._merged({"A << B": "A < B", "A >> B": "A > B"})

    def redistributed(self, *, rate: float = 0.5) -> PreferenceTable:
        """Equal grades taken for a preference that agrees with the other assessor's at this rate.

        At .5 it is decided by the toss of a coin, in expectation: the paper's Table 2(b). Two equal grades become two
        preferences that agree at the same rate. A pair of Bad documents stays one.
        """
        if not 0 <= rate <= 1:
            raise ArgumentError("expected a share, from 0 to 1", "rate", rate)
        if "A = B" not in self.states:
            return self
        if "A < B" not in self.states or "A > B" not in self.states:
            raise ArgumentError("redistributed() needs the states 'A < B' and 'A > B'; take pooled() first")
        tie, less, more = (self.states.index(state) for state in ("A = B", "A < B", "A > B"))
        counts = self.counts.copy()
        both = counts[tie, tie]
        for one, other in ((less, more), (more, less)):
            for i, j in ((one, tie), (tie, one)):
                n = counts[i, j]
                counts[one, one] += rate * n
                counts[(one, other) if j == tie else (other, one)] += (1 - rate) * n
            counts[one, one] += rate * both / 2
            counts[one, other] += (1 - rate) * both / 2
        for state in range(len(self.states)):
            if state not in (tie, less, more):  # neither way can agree
                for way in (less, more):
                    counts[state, way] += self.counts[state, tie] / 2
                    counts[way, state] += self.counts[tie, state] / 2
        others = [i for i in range(len(self.states)) if i != tie]
        return PreferenceTable(tuple(self.states[i] for i in others), counts[np.ix_(others, others)], self.n_pairs)

    def _columns(self) -> dict[str, Any]:
        """One row per state: the row-normalised table, and the row's total."""
        return {"says": self.states, **dict(zip(self.states, self.probability.T, strict=True)), "total": self.total}

    def _merged(self, into: dict[str, str]) -> PreferenceTable:
        names = [into.get(state, state) for state in self.states]
        states = tuple(state for state in STATES if state in names)
        fold = np.array([[float(name == state) for name in names] for state in states])
        return PreferenceTable(states, fold @ self.counts @ fold.T, self.n_pairs)


@dataclass(frozen=True, eq=False)
class Held:
    """What each assessor holds of pairs of documents: one row per pair and assessor.

    pair : (rows,) number; assessor : (rows,); state : (rows,) index into `STATES`.
    """

    pair: Ints
    assessor: Ints
    state: Ints
    n_assessors: int

    def table(self) -> PreferenceTable:
        """Every two assessors of a pair, in both directions."""
        _, pair = np.unique(self.pair, return_inverse=True)
        counts = np.zeros((int(pair.max(initial=-1)) + 1, len(STATES)))
        np.add.at(counts, (pair, self.state), 1.0)
        shared = counts[counts.sum(axis=1) > 1]
        if not shared.size:
            raise NoOverlapError("no two assessors judged a pair of documents in common, so agreement cannot be told")
        both = shared.T @ shared
        both[np.diag_indices(len(STATES))] -= shared.sum(axis=0)
        used = [i for i in range(len(STATES)) if both[i].any() or i in (LESS, MORE)]
        return PreferenceTable(tuple(STATES[i] for i in used), both[np.ix_(used, used)], shared.shape[0])


def preference_table(
    preferences: Preferences,
    *,
    separate_strong: bool = False,
    chains: bool = False,
) -> PreferenceTable:
    """Given what one assessor holds of two documents, what does another? Normalised by row, as Tables 2 and 3.

    Taken over pairs that both judged: compared, or marked at least one of the documents as Bad while comparing or
    marking the other.

    separate_strong : count strong preferences apart from others (Table 3); default: pool them (Table 2(a)).
    chains : also count preferences that only follow over chains (see `closure`).

    Raises
    ------
    NoOverlapError
        No pair was judged by two assessors.
    """
    table = _held(preferences, chains).table()
    return table if separate_strong else table.pooled()


def _held(preferences: Preferences, chains: bool) -> Held:
    """What follows from what was said, and pairs of two Bad documents."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # preferences for Bad documents stand, as everywhere
        closed = closure(preferences)
    rows = np.flatnonzero(closed.source != CHAIN) if not chains else np.arange(len(closed.preferences))
    implied = closed.preferences
    rank = _by_name(preferences.documents)
    one, two = rank[implied.preferred[rows]], rank[implied.other[rows]]
    strong = (implied.strength[rows] == 2) & (closed.source[rows] != BAD)
    state = np.where(one < two, np.where(strong, FAR_MORE, MORE), np.where(strong, FAR_LESS, LESS))
    n, n_assessors = max(len(preferences.documents), 1), max(len(preferences.assessors), 1)
    topic, assessor = implied.topic[rows].astype(np.int64), implied.assessor[rows].astype(np.int64)
    low, high = np.minimum(one, two), np.maximum(one, two)

    cell = preferences.bad_topic.astype(np.int64) * n_assessors + preferences.bad_assessor
    marks = np.unique(cell * n + rank[preferences.bad_document])
    first, second = _pairs_within(marks // n)
    bad = np.stack([marks[first] // n, marks[first] % n, marks[second] % n])
    decided_too = np.isin(
        _key(bad[0] // n_assessors, bad[1], bad[2], n) * n_assessors + bad[0] % n_assessors,
        _key(topic, low, high, n) * n_assessors + assessor,
    )
    bad = bad[:, ~decided_too]
    return Held(
        np.concatenate([_key(topic, low, high, n), _key(bad[0] // n_assessors, bad[1], bad[2], n)]),
        np.concatenate([assessor, bad[0] % n_assessors]),
        np.concatenate([state, np.full(bad.shape[1], BOTH_BAD)]),
        n_assessors,
    )


def _key(topic: Ints, low: Ints, high: Ints, n: int) -> Ints:
    return (topic * n + low) * n + high


def _by_name(documents: tuple[str, ...]) -> Ints:
    """(documents,) place of each label among all of them, sorted."""
    place = np.empty(len(documents), np.int64)
    place[sorted(range(len(documents)), key=documents.__getitem__)] = np.arange(len(documents))
    return place


def _pairs_within(group: Ints) -> tuple[Ints, Ints]:
    """All two rows of the same group, groups being sorted."""
    _, starts, sizes = np.unique(group, return_index=True, return_counts=True)
    pairs = [start + np.array(np.triu_indices(size, 1)) for start, size in zip(starts, sizes, strict=True)]
    both = np.concatenate(pairs, axis=1) if pairs else np.empty((2, 0), np.int64)
    return both[0], both[1]


def inferred_table(judgments: Judgments, *, bad: float | None = 0.0) -> PreferenceTable:
    """The same table for the preferences that grades imply, equal grades apart as "A = B".

    `redistributed` then deals the equal ones out, by a coin as in Table 2(b) or at any rate.

    bad : documents with this grade or a lower one count as marked; None: two of those are equal like others.
    """
    one = judgments.single()
    rows = np.flatnonzero(one.value >= 0)
    n, n_assessors = max(len(one.documents), 1), max(len(one.assessors), 1)
    rank = _by_name(one.documents)
    cell = one.topic[rows].astype(np.int64) * n_assessors + one.assessor[rows]
    order = np.lexsort((rank[one.document[rows]], cell))
    cell, place, value = cell[order], rank[one.document[rows][order]], one.value[rows][order]
    first, second = _pairs_within(cell)
    gap = value[first] - value[second]
    marked = value <= (-np.inf if bad is None else bad)
    state = np.where(gap > 0, MORE, np.where(gap < 0, LESS, TIED))
    state = np.where(marked[first] & marked[second], BOTH_BAD, state)
    pair = _key(cell[first] // n_assessors, place[first], place[second], n)
    return Held(pair, cell[first] % n_assessors, state, n_assessors).table()


@dataclass(frozen=True)
class AgreementDifference(Result):
    """Do two tables agree equally? chi-square of agreed and disagreed judgments, with one degree of freedom."""

    chi_square: float
    p: float
    agreement: tuple[float, float]
    n: tuple[float, float]

    def _columns(self) -> dict[str, Any]:
        """One row per table."""
        return {"agreement": self.agreement, "n": self.n, "chi_square": self.chi_square, "p": self.p}


def agreement_difference(first: PreferenceTable, second: PreferenceTable) -> AgreementDifference:
    """Test whether the shares of agreeing judgments in two tables differ (section 3.2).

    chi-square = sum (observed - expected)^2 / expected over the four counts, without continuity correction. Each pair
    of assessors counts once; the paper's tables count it in both directions, which doubles chi-square. Judgments of
    pairs that share a document are not independent, so p is too small.
    """
    from scipy.special import chdtrc

    observed = np.array([[t.counts.trace(), t.counts.sum() - t.counts.trace()] for t in (first, second)]) / 2
    n = observed.sum(axis=1)
    expected = np.outer(n, observed.sum(axis=0)) / n.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        chi_square = float(np.nansum((observed - expected) ** 2 / expected))  # where none is expected, none counts
    return AgreementDifference(
        chi_square, float(chdtrc(1, chi_square)), (first.agreement, second.agreement), (float(n[0]), float(n[1]))
    )


# ------------------------------------------------------------------ two by two


@dataclass(frozen=True, eq=False)
class PairwisePreferences(Result):
    """Agreement of any two assessors on the pairs of documents that both ordered.

    n : (assessors, assessors) pairs both ordered. agreement : share of them ordered alike; nan without any.
    """

    assessors: tuple[str, ...]
    n: Ints
    agreement: Floats

    @property
    def mean_agreement(self) -> float:
        """Share ordered alike over all two assessors; every pair of judgments counts once."""
        upper = np.triu_indices(len(self.assessors), 1)
        n, shared = self.n[upper], self.n[upper] > 0
        return float(np.average(self.agreement[upper][shared], weights=n[shared])) if shared.any() else np.nan

    def _columns(self) -> dict[str, Any]:
        """One row per pair of assessors who ordered a pair in common."""
        i, j = np.nonzero(np.triu(self.n, 1))
        names = np.array(self.assessors, object)
        return {"first": names[i], "second": names[j], "n_pairs": self.n[i, j], "agreement": self.agreement[i, j]}


def pairwise_preferences(preferences: Preferences, *, chains: bool = False) -> PairwisePreferences:
    """How often any two assessors order two documents alike, of those both ordered. Options as of `preference_table`.

    Pairs that an assessor ordered by marking one document as Bad count; pairs of two Bad documents do not.
    """
    from scipy.sparse import csr_array

    if len(preferences.assessors) < 2:
        raise NoOverlapError("agreement needs at least two assessors")
    answers = _held(preferences, chains)
    ordering = answers.state != BOTH_BAD
    _, pair = np.unique(answers.pair[ordering], return_inverse=True)
    way = np.where(answers.state[ordering] >= MORE, 1.0, -1.0)
    shape = (int(pair.max(initial=-1)) + 1, len(preferences.assessors))
    signs = csr_array((way, (pair, answers.assessor[ordering])), shape=shape)
    ordered = csr_array((np.abs(way), (pair, answers.assessor[ordering])), shape=shape)
    n = np.rint((ordered.T @ ordered).toarray()).astype(np.int64)
    if not np.triu(n, 1).any():
        raise NoOverlapError("no two assessors ordered a pair of documents in common, so agreement cannot be told")
    with np.errstate(invalid="ignore"):
        agreement = np.where(n > 0, 0.5 + 0.5 * (signs.T @ signs).toarray() / n, np.nan)
    return PairwisePreferences(preferences.assessors, n, agreement)


# ------------------------------------------------------------------ preferences beside grades


@dataclass(frozen=True, eq=False)
class GradeAgreement(Result):
    """How preferences compare with grades, one row per assessor of either, and difference of the two grades.

    assessors, graders : labels; assessor, grader : (rows,) numbers into them.
    difference : (rows,) of the grades, 0 or above. n : (rows,) pairs ordered by the one and graded by the other.
    concordant : (rows,) those of them where the document preferred has the higher grade; nan at difference 0.
    """

    assessors: tuple[str, ...]
    graders: tuple[str, ...]
    assessor: Ints
    grader: Ints
    difference: Floats
    n: Ints
    concordant: Floats

    @property
    def agreement(self) -> float:
        """concordant / n over everything that grades order; nan without any."""
        unequal = self.difference > 0
        n = self.n[unequal].sum()
        return float(self.concordant[unequal].sum() / n) if n else np.nan

    @property
    def tied(self) -> float:
        """Share of pairs to which the grades are equal."""
        return float(self.n[self.difference == 0].sum() / self.n.sum())

    def _columns(self) -> dict[str, Any]:
        """One row per assessor, grader and difference."""
        return {
            "assessor": np.array(self.assessors, object)[self.assessor],
            "grader": np.array(self.graders, object)[self.grader],
            "difference": self.difference,
            "n_pairs": self.n,
            "agreement": self.concordant / self.n,
        }


def agreement_with_grades(preferences: Preferences, judgments: Judgments) -> GradeAgreement:
    """How often the document that is preferred has the higher grade, by how far the grades lie apart.

    Only what was judged directly counts; of an assessor's several judgments of a document the first.

    Raises
    ------
    NoOverlapError
        No pair of documents was both ordered and graded.
    """
    decisions, one = decided(preferences), judgments.single()
    topics = {name: i for i, name in enumerate(one.topics)}
    documents = {name: i for i, name in enumerate(one.documents)}
    topic = np.array([topics.get(name, -1) for name in preferences.topics], np.int64)[decisions.topic]
    sides = [
        np.array([documents.get(name, -1) for name in preferences.documents], np.int64)[side]
        for side in (decisions.preferred, decisions.other)
    ]
    n_topics = max(len(one.topics), 1)
    there = (topic >= 0) & (sides[0] >= 0) & (sides[1] >= 0)
    rows: list[tuple[Ints, Ints, Floats]] = []
    for grader in range(len(one.assessors)):
        own = np.flatnonzero((one.assessor == grader) & (one.value >= 0))
        key = one.document[own].astype(np.int64) * n_topics + one.topic[own]
        order = np.argsort(key)
        key, value = np.append(key[order], -1), np.append(one.value[own][order], np.nan)
        sought = [side * n_topics + topic for side in sides]
        at = [np.searchsorted(key[:-1], one_key) for one_key in sought]
        grades = [np.where(there & (key[a] == w), value[a], np.nan) for a, w in zip(at, sought, strict=True)]
        gap = grades[0] - grades[1]
        both = np.flatnonzero(~np.isnan(gap))
        rows.append((decisions.assessor[both].astype(np.int64), np.full(both.size, grader), gap[both]))
    assessor, who, gap = (np.concatenate(column) for column in zip(*rows, strict=True))
    if not gap.size:
        raise NoOverlapError(
            "no pair of documents was both ordered and graded; check that topic and document ids match"
        )
    size = np.round(np.abs(gap), 12)
    kinds, which = np.unique(np.stack([assessor, who, size]), axis=1, return_inverse=True)
    which = which.reshape(-1)
    n = np.bincount(which)
    concordant = np.bincount(which, gap > 0).astype(np.float64)
    return GradeAgreement(
        preferences.assessors,
        one.assessors,
        kinds[0].astype(np.int64),
        kinds[1].astype(np.int64),
        kinds[2],
        n,
        np.where(kinds[2] == 0, np.nan, concordant),
    )
