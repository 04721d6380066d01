"""Measures of how far a ranking follows preferences, and the view of one topic they read, from preferences or grades.

A document that a system did not rank stands one below its last; so does, under a cut-off, every document below the
cut-off. A pair of which neither document is ranked is not looked at.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR.
Clarke, Vtyurina & Smucker (2021), Assessing Top-k Preferences. ACM TOIS 39(3), 33.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

import numpy as np

from qrowd.kernels import preference
from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.kernels.gains import discounts
from qrowd.kernels.ranking import condensed
from qrowd.model.measure import Definition, Measure, Parameter, number, one_of
from qrowd.model.preferences import TopicPreferences
from qrowd.preferences.inferred import levels_of

Ranks = Codes
WITHOUT_LIMIT = np.iinfo(np.int32).max - 1
Made = TypeVar("Made")


@dataclass(eq=False)
class PairView:
    """One topic as preference measures read it.

    rows : (systems, depth) int32, place in the topic's pool of the document at each rank; -1 outside the pool and
        beyond the list's end.
    tied : (systems, depth) bool, the document has the score of the one above.
    lengths : (systems,) how many documents each system returned.
    source : what the assessors said, in places of the pool; or their grades, (documents, assessors), nan where not
        judged, from which preferences are inferred.
    """

    rows: Ranks
    tied: Bools
    lengths: Ints
    source: TopicPreferences | Floats
    _memo: dict[object, object] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """Systems and assessors."""
        n_assessors = self.source.shape[1] if isinstance(self.source, np.ndarray) else self.source.n_assessors
        return int(self.rows.shape[0]), int(n_assessors)

    @property
    def n_documents(self) -> int:
        """In the topic's pool."""
        return int(self.source.shape[0]) if isinstance(self.source, np.ndarray) else self.source.n_documents

    @property
    def grades(self) -> Floats | None:
        """The grades behind the preferences, where they were inferred."""
        return self.source if isinstance(self.source, np.ndarray) else None

    @property
    def said(self) -> TopicPreferences:
        """The preferences; inferred from grades only when they are asked for, being many."""
        source = self.source
        return self.remember("said", lambda: pairs_of_grades(source)) if isinstance(source, np.ndarray) else source

    def remember(self, key: object, make: Callable[[], Made]) -> Made:
        """make() the first time; measures of one evaluation share what they read."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]  # type: ignore[return-value]

    def ranks(self, *, last: int | None = None, ascending: bool = False) -> tuple[Ranks, Ranks]:
        """(systems, documents) ranks and (systems,) limits, the rank of documents that are not ranked.

        last : cut-off, below which documents are not ranked.
        ascending : equal scores are broken by document id, lowest first, where a measure is defined so.
        """

        def make() -> Ranks:
            ranks = np.empty((self.rows.shape[0], self.n_documents), np.int32)
            preference.document_ranks(self.rows, self.tied, ascending, ranks)
            return ranks

        def capped() -> tuple[Ranks, Ranks]:
            end = np.minimum(self.lengths, WITHOUT_LIMIT if last is None else last).astype(np.int32)
            ranks = self.remember(("ranks", ascending), make)
            return np.where((ranks > 0) & (ranks <= end[:, None]), ranks, end[:, None] + 1).astype(np.int32), end + 1

        return self.remember(("capped", ascending, last), capped)

    def weights(self, strong: float) -> Floats:
        """(rows,) weight of each preference, `strong` times as much where it was strong."""
        return np.asarray(self.said.weight * np.where(self.said.strength == 2, strong, 1.0))

    def judged(self) -> Floats:
        """(documents, assessors) 1 where the assessor compared or marked the document, else 0."""
        grades = self.grades
        return self.remember(
            "judged", lambda: (self.said.judged() if grades is None else ~np.isnan(grades)).astype(np.float64)
        )

    def condensed(self, assessor: int) -> PairView:
        """One assessor's view with the documents he or she has not judged taken out of every ranking (Sakai 2007)."""
        judged = self.judged()[:, assessor] > 0
        rows, tied = condensed(self.rows, self.tied, judged)
        alone = self.said.of(assessor) if self.grades is None else self.grades[:, [assessor]]
        return PairView(rows, tied, (rows >= 0).sum(axis=1), alone)


def pairs_of_grades(grades: Floats) -> TopicPreferences:
    """Every document is preferred to those that the same assessor graded lower; those graded 0 or less are Bad.

    grades : (documents, assessors), nan where not judged.
    """
    judged = ~np.isnan(grades.T)
    assessor, document = np.nonzero(judged)
    starts = np.append(0, np.cumsum(judged.sum(axis=1))).astype(np.int64)
    value = grades.T[assessor, document]
    pairs, ends = preference.pairs_by_value(starts, value)
    marks = value <= 0
    return TopicPreferences(
        grades.shape[0],
        ends,
        document.astype(np.int32)[pairs],
        np.ones(pairs.shape[0]),
        np.ones(pairs.shape[0], np.int64),
        np.append(0, np.cumsum(np.bincount(assessor[marks], minlength=grades.shape[1]))).astype(np.int64),
        document[marks].astype(np.int32),
        np.empty(0, np.int64),
    )


class PreferenceMeasure(Definition):
    """A measure of how far a ranking follows preferences."""

    @abstractmethod
    def score(self, measure: Measure, view: PairView, out: Floats) -> None:
        """Write the (systems, assessors) scores of one topic into out."""

    def n_relevant(self, measure: Measure, view: PairView) -> Floats:
        """(assessors,) how many preferences the measure could have rewarded; where 0, the score says nothing."""
        return np.diff(view.said.starts).astype(np.float64)


def share(part: Floats, whole: Floats) -> Floats:
    """part / whole, 0 where the whole is 0."""
    return np.asarray(part / np.where(whole > 0, whole, np.inf))


def pair_discounts(form: str, deepest: int) -> Floats:
    """(deepest + 1,) what a pair weighs by the rank that decides, rank 0 unused.

    form : "lower" and "upper" (of the two ranks) 1 / log2(r + 1), "upper-log2" 1 / (1 + log2(r)), anything else 1.
    """
    ranks = np.arange(1, deepest + 1, dtype=np.float64)
    weights = np.ones(deepest + 1)
    if form in ("lower", "upper"):
        weights[1:] = discounts(deepest)
    elif form == "upper-log2":
        weights[1:] = 1 / (1 + np.log2(ranks))
    return weights


STRONG = Parameter("strong", 1, "weight of a strong preference, if an ordinary one weighs 1", number(0))


def weighed(measure: Measure, view: PairView, cutoff: int | None) -> tuple[Floats, Floats]:
    """(systems, assessors) weight of pairs in the preferred order, and of all pairs that the system ordered."""
    form = measure.values.get("weight", "none")

    def make() -> tuple[Floats, Floats]:
        ranks, limits = view.ranks(last=cutoff)
        discount = pair_discounts(str(form), int(limits.max(initial=1)))
        correct = np.empty(view.shape)
        ordered = np.empty(view.shape)
        weight = view.weights(float(measure["strong"]))  # type: ignore[arg-type]
        upper = str(form).startswith("upper")
        preference.ordered_pairs(
            ranks, limits, view.said.starts, view.said.pairs, weight, discount, upper, correct, ordered
        )
        return correct, ordered

    return view.remember(("weighed", form, str(measure["strong"]), cutoff), make)


class PPref(PreferenceMeasure):
    """Precision of preferences: the share of pairs in the preferred order among the pairs that the system ordered.

        ppref@k = |{(i, j) : i preferred to j, rank_i < rank_j}| / |{(i, j) : rank_i <= k or rank_j <= k}|

    Documents that are not ranked, or below the cut-off, stand below all that are; a pair of two such is not counted.
    Every row counts, so that of two contradictory preferences one is always met.

    Source: Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR,
    section 4; the cut-off: Carterette & Bennett (2008), Evaluation Measures for Preference Judgments. SIGIR.
    """

    name = "ppref"
    parameters: ClassVar[tuple[Parameter, ...]] = (STRONG,)

    def score(self, measure: Measure, view: PairView, out: Floats) -> None:
        out[:] = share(*weighed(measure, view, measure.cutoff))


class WPref(PPref):
    """Weighted precision of preferences: ppref in which pairs near the top of the ranking weigh more.

        wpref@k = sum of w_ij over pairs in the preferred order / sum of w_ij over ordered pairs,   w = 1 / log2(r + 1)

    r is the lower of the two ranks; of an unranked document it is one more than the number of documents ranked.

    Source: Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR,
    section 4 (lower), section 5.3 (upper); elsewhere nwpref.
    """

    name = "wpref"
    aliases = ("nwpref",)
    parameters = (
        Parameter(
            "weight",
            "lower",
            "rank that weighs a pair: the 'lower' of its two (section 4), the 'upper' (section 5.3), or 'upper-log2', "
            "the upper with 1 / (1 + log2(r))",
            one_of("lower", "upper", "upper-log2"),
        ),
        STRONG,
    )


class RPref(PreferenceMeasure):
    """Recall of preferences: the share of all preferences whose pair the system put in the preferred order.

        rpref@k = |{(i, j) : i preferred to j, rank_i < rank_j, rank_i <= k}| / |{(i, j) : i preferred to j}|

    Source: Carterette & Bennett (2008), Evaluation Measures for Preference Judgments. SIGIR.
    """

    name = "rpref"
    parameters = (STRONG,)

    def score(self, measure: Measure, view: PairView, out: Floats) -> None:
        correct, _ = weighed(measure, view, measure.cutoff)
        cumulated = np.append(0.0, np.cumsum(view.weights(float(measure["strong"]))))  # type: ignore[arg-type]
        starts = view.said.starts
        out[:] = share(correct, cumulated[starts[1:]] - cumulated[starts[:-1]])


class APPref(PreferenceMeasure):
    """Average precision of preferences: the mean of ppref@k over the ranks k at which rpref@k rises.

        APpref = mean of ppref@k over {k : rpref@k > rpref@(k - 1)}

    Preferred documents that are not ranked reduce rpref, but not APpref.

    Source: Carterette & Bennett (2008), Evaluation Measures for Preference Judgments. SIGIR; Carterette, Bennett &
    Chapelle (2008), A Test Collection of Preference Judgments. SIGIR workshop Beyond Binary Relevance.
    """

    name = "APpref"
    parameters = (STRONG,)

    def score(self, measure: Measure, view: PairView, out: Floats) -> None:
        ranks, limits = view.ranks()
        weight = view.weights(float(measure["strong"]))  # type: ignore[arg-type]
        cutoff = measure.cutoff or WITHOUT_LIMIT
        preference.average_share(ranks, limits, view.said.starts, view.said.pairs, weight, cutoff, out)


class NPPref(PreferenceMeasure):
    """Precision of preferences divided by an upper bound that accounts for contradictory preferences.

        nppref@k = weight of pairs in the preferred order / sum over ordered pairs {i, j} of max(w_ij, w_ji)

    w_ij is the weight of all preferences for i over j. Without contradictions it is ppref. If majorities form a
    cycle, no ranking reaches 1.

    Source: Carterette, Bennett & Chapelle (2008), A Test Collection of Preference Judgments. SIGIR workshop Beyond
    Binary Relevance, for the name; the bound is qrowd's.
    """

    name = "nppref"
    parameters = (STRONG,)

    def score(self, measure: Measure, view: PairView, out: Floats) -> None:
        correct, _ = weighed(measure, view, measure.cutoff)
        weight = view.weights(float(measure["strong"]))  # type: ignore[arg-type]
        within = view.remember(("within reach", str(measure["strong"])), lambda: within_reach(view, weight))
        ranks, limits = view.ranks(last=measure.cutoff)
        flat = np.ones(int(limits.max(initial=1)) + 1)
        unused, best = np.empty(view.shape), np.empty(view.shape)
        preference.ordered_pairs(ranks, limits, view.said.starts, view.said.pairs, within, flat, False, unused, best)
        out[:] = share(correct, best)


def within_reach(view: PairView, weight: Floats) -> Floats:
    """(rows,) the greater weight of a pair's two directions, at the first row of each pair of an assessor; else 0."""
    pairs = view.said.pairs.astype(np.int64)
    n = max(view.said.n_documents, 1)
    assessor = np.repeat(np.arange(view.said.n_assessors), np.diff(view.said.starts))
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    _, first, which = np.unique((assessor * n + low) * n + high, return_index=True, return_inverse=True)
    upward = pairs[:, 0] < pairs[:, 1]
    sums = [np.bincount(which, weight * side, minlength=first.size) for side in (upward, ~upward)]
    within = np.zeros(weight.size)
    within[first] = np.maximum(*sums)
    return within


DEPTH = 1000  # of the authors' program


class Compatibility(PreferenceMeasure):
    """Rank-biased overlap with an ideal ranking, divided by the overlap of the ideal ranking with itself.

        compatibility = RBO(ranking, ideal) / RBO(ideal, ideal),   RBO = sum_{i <= k} p^(i-1) |first i of both| / i

    The ideal ranking sorts documents by grade, or by level where preferences were given (`to_grades`); documents of
    level 0 are not in it. Ties in it are broken in the ranking's favour. k is the cut-off, 1000 if there is none. Equal
    scores of the ranking are broken by document id, lowest first.

    Source: Clarke, Vtyurina & Smucker (2021), Assessing Top-k Preferences. ACM TOIS 39(3), 33; ties of scores as in the
    authors' program.
    """

    name = "compatibility"
    aliases = ("compat",)
    parameters = (
        Parameter("p", 0.95, "persistence: probability of going on to the next rank", number(0, 1, open_ends=True)),
    )

    def score(self, measure: Measure, view: PairView, out: Floats) -> None:
        p, depth = float(measure["p"]), measure.cutoff or DEPTH  # type: ignore[arg-type]
        level, n_levels = self.levels(view)
        ranks, limits = view.ranks(ascending=True)
        depths = np.arange(1, depth + 1, dtype=np.float64)
        terms = p ** (depths - 1) / depths
        tail = np.append(0.0, np.cumsum(terms[::-1])[::-1])
        preference.similarity_to_ideal(ranks, limits, level, n_levels, tail, out)

    def n_relevant(self, measure: Measure, view: PairView) -> Floats:
        return np.asarray((self.levels(view)[0] > 0).sum(axis=1), np.float64)

    def levels(self, view: PairView) -> tuple[Ranks, int]:
        """(assessors, documents) levels as whole numbers, 0 outside the ideal ranking, and the highest of them."""

        def make() -> tuple[Ranks, int]:
            value = np.fmax(levels_of(view.said) if view.grades is None else view.grades.T, 0.0)
            used, level = np.unique(np.append(0.0, value), return_inverse=True)
            return level[1:].reshape(value.shape).astype(np.int32), used.size - 1

        return view.remember("levels", make)
