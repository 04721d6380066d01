"""Shares of preferences that a ranking follows: ppref, wpref and what is built on them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from qrowd.kernels import preference
from qrowd.kernels.arrays import Floats
from qrowd.model.measure import Measure, Parameter, number, one_of
from qrowd.preferences.scoring import WITHOUT_LIMIT, PairView, PreferenceMeasure, pair_discounts, share

STRONG = Parameter("strong", 1, "weight of a strong preference, if an ordinary one weighs 1", number(0))


def weighed(measure: Measure, view: PairView, cutoff: int | None) -> tuple[Floats, Floats]:
    """(systems, assessors) weight of pairs in the preferred order, and of all pairs that the system ordered."""
    form = measure.values.get("weight", "none")

    def make() -> tuple[Floats, Floats]:
        ranks, limits = view.ranks(last=cutoff)
        discount = pair_discounts(str(form), int(limits.max(initial=1)))
        correct, ordered = np.empty(view.shape), np.empty(view.shape)
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

    name, aliases = "wpref", ("nwpref",)
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

    name, parameters = "rpref", (STRONG,)

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

    name, parameters = "APpref", (STRONG,)

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

    name, parameters = "nppref", (STRONG,)

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
    pairs, n = view.said.pairs.astype(np.int64), max(view.said.n_documents, 1)
    assessor = np.repeat(np.arange(view.said.n_assessors), np.diff(view.said.starts))
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    _, first, which = np.unique((assessor * n + low) * n + high, return_index=True, return_inverse=True)
    upward = pairs[:, 0] < pairs[:, 1]
    sums = [np.bincount(which, weight * side, minlength=first.size) for side in (upward, ~upward)]
    within = np.zeros(weight.size)
    within[first] = np.maximum(*sums)
    return within
