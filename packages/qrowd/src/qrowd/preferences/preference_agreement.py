"""Do assessors prefer the same documents? What one holds of a pair, given what another does; and what grades say.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.errors import NoOverlapError
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
    rank = by_name(preferences.documents)
    one = rank[implied.preferred[rows]]
    two = rank[implied.other[rows]]
    strong = (implied.strength[rows] == 2) & (closed.source[rows] != BAD)
    state = np.where(one < two, np.where(strong, FAR_MORE, MORE), np.where(strong, FAR_LESS, LESS))
    n = max(len(preferences.documents), 1)
    n_assessors = max(len(preferences.assessors), 1)
    topic = implied.topic[rows].astype(np.int64)
    assessor = implied.assessor[rows].astype(np.int64)
    low, high = np.minimum(one, two), np.maximum(one, two)

    cell = preferences.bad_topic.astype(np.int64) * n_assessors + preferences.bad_assessor
    marks = np.unique(cell * n + rank[preferences.bad_document])
    first, second = pairs_within(marks // n)
    bad_cell = marks[first] // n
    bad_assessor = bad_cell % n_assessors
    bad_pair = pair_key(bad_cell // n_assessors, marks[first] % n, marks[second] % n, n)
    pair = pair_key(topic, low, high, n)
    undecided = ~np.isin(bad_pair * n_assessors + bad_assessor, pair * n_assessors + assessor)
    return Held(
        np.concatenate([pair, bad_pair[undecided]]),
        np.concatenate([assessor, bad_assessor[undecided]]),
        np.concatenate([state, np.full(np.count_nonzero(undecided), BOTH_BAD)]),
    )


def pair_key(topic: Ints, low: Ints, high: Ints, n: int) -> Ints:
    """(rows,) a number for each topic and pair of documents. n : documents in all."""
    return (topic * n + low) * n + high


def by_name(documents: tuple[str, ...]) -> Ints:
    """(documents,) place of each label among all of them, sorted."""
    place = np.empty(len(documents), np.int64)
    place[sorted(range(len(documents)), key=documents.__getitem__)] = np.arange(len(documents))
    return place


def pairs_within(group: Ints) -> tuple[Ints, Ints]:
    """All two rows of the same group, groups being sorted."""
    _, starts, sizes = np.unique(group, return_index=True, return_counts=True)
    pairs = [start + np.array(np.triu_indices(size, 1)) for start, size in zip(starts, sizes, strict=True)]
    both = np.concatenate(pairs, axis=1) if pairs else np.empty((2, 0), np.int64)
    return both[0], both[1]


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
        n = self.n[upper]
        shared = self.n[upper] > 0
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
    import pandas as pd

    decisions = decided(preferences)
    once = judgments.single()
    topics = np.array(preferences.topics, object)
    documents = np.array(preferences.documents, object)
    said = pd.DataFrame(
        {
            "topic": topics[decisions.topic],
            "preferred": documents[decisions.preferred],
            "other": documents[decisions.other],
            "assessor": decisions.assessor.astype(np.int64),
        }
    )
    graded = once.value >= 0
    grades = pd.DataFrame(
        {
            "topic": np.array(once.topics, object)[once.topic[graded]],
            "document": np.array(once.documents, object)[once.document[graded]],
            "grader": once.assessor[graded].astype(np.int64),
            "grade": once.value[graded],
        }
    )
    of_preferred = grades.rename(columns={"document": "preferred", "grade": "grade_of_preferred"})
    of_other = grades.rename(columns={"document": "other", "grade": "grade_of_other"})
    both = said.merge(of_preferred, on=["topic", "preferred"]).merge(of_other, on=["topic", "other", "grader"])
    if both.empty:
        raise NoOverlapError(
            "no pair of documents was both ordered and graded; check that topic and document ids match"
        )
    gap = both["grade_of_preferred"] - both["grade_of_other"]
    by_kind = (gap > 0).groupby([both["assessor"], both["grader"], gap.abs().round(12).rename("difference")])
    counts = by_kind.agg(["size", "sum"]).reset_index()
    difference = counts["difference"].to_numpy()
    return GradeAgreement(
        preferences.assessors,
        once.assessors,
        counts["assessor"].to_numpy(),
        counts["grader"].to_numpy(),
        difference,
        counts["size"].to_numpy(),
        np.where(difference == 0, np.nan, counts["sum"].to_numpy(np.float64)),
    )
