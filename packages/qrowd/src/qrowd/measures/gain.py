"""Measures of graded gain: DCG and its normalised form, Q, graded average precision."""

from __future__ import annotations

from math import inf

import numpy as np

from qrowd.errors import MeasureError
from qrowd.kernels import ranking
from qrowd.kernels.arrays import Floats
from qrowd.kernels.gains import discounts
from qrowd.measures.measure_kinds import JUDGED_ONLY, REL, Linear, Scored, TopicView, divided, reach
from qrowd.measures.topic_views import Part
from qrowd.model.measure import Measure, Parameter, Value, gain_map, number, one_of

DCG_FORM = Parameter(
    "dcg",
    "log2",
    "gain and discount: 'log2' (gain g, discount log2(r + 1)), 'exp-log2' (gain 2^g - 1), and both with the original "
    "discount, none at rank 1 and log2(r) from rank 2: 'original', 'exp-original'; or with discount r: 'zipf', "
    "'exp-zipf'",
    one_of("log2", "exp-log2", "original", "exp-original", "zipf", "exp-zipf"),
)


GAINS = Parameter("gains", None, "gain of each grade, as {1: 1, 2: 3}; a grade not named keeps its own value", gain_map)


def mapped(grades: Floats, gains: Value) -> Floats:
    """Grades replaced by their gains in the map; those it does not name stay, and unjudged documents stay at 0.

    `grades` holds nan where not judged.
    """
    result = np.fmax(grades, 0.0)
    if isinstance(gains, dict):
        for grade, gain in gains.items():
            result[grades == grade] = gain
    return result


class DCG(Linear):
    """Discounted cumulative gain: the sum of the gains, each discounted by its rank.

        DCG@k = sum_{r <= k} gain(g_r) / log2(r + 1)

    The gain is the grade itself (magnitudes too), 2^g - 1, or a map; 0 for documents the assessor has not judged.

    Source: trec_eval 10.0 (ndcg before normalising); Järvelin & Kekäläinen (2002), Cumulated Gain-Based Evaluation of
    IR Techniques. ACM TOIS 20(4); the exponential gain: Burges, Shaked, Renshaw,
    Lazier, Deeds, Hamilton & Hullender (2005), Learning to Rank using Gradient Descent. ICML.
    """

    name = "DCG"
    parameters = (DCG_FORM, GAINS, JUDGED_ONLY)

    def highest(self, measure: Measure) -> float:
        return inf

    def coefficients(self, measure: Measure, depth: int) -> Floats:
        return discounts(min(depth, reach(measure)), str(measure["dcg"]).removeprefix("exp-"))

    def gains(self, measure: Measure, view: TopicView) -> Floats:
        form = str(measure["dcg"])
        gains = measure["gains"]
        if gains is None and not form.startswith("exp"):
            return view.grades()

        def make() -> Floats:
            linear = mapped(view.values, gains)
            if not form.startswith("exp"):
                return linear
            with np.errstate(over="ignore"):
                exponential = np.exp2(linear) - 1
            if not np.isfinite(exponential).all():
                raise MeasureError(f"{measure}: 2^g overflows for values as large as {linear.max():g}; use dcg='log2'")
            return np.asarray(exponential)

        return view.remember(("gains", str(gains), form.startswith("exp")), make)


class NDCG(DCG):
    """DCG relative to the best ranking of the documents the assessor judged.

        nDCG@k = DCG@k / (DCG@k of all judged documents, sorted by gain)

    Source: trec_eval 10.0 (ndcg, ndcg_cut_k); Järvelin & Kekäläinen (2002), Cumulated Gain-Based Evaluation of IR
    Techniques. ACM TOIS 20(4).
    """

    name = "nDCG"
    aliases = ("ndcg", "ndcg_cut_")

    def highest(self, measure: Measure) -> float:
        return 1.0

    def normaliser(self, measure: Measure, part: Part) -> Floats:
        lists = part.lists
        most = int(np.diff(lists.documents).max(initial=0))
        coefficients = lists.remember(("ideal", measure), lambda: self.coefficients(measure, most))
        return self.gains_of(measure, part).ideal(coefficients)


class Q(Scored):
    """Q-measure: average precision in which cumulative gain is added to each precision.

        Q@k = (1 / R) sum_{r <= k} [g_r >= rel] (found(r) + beta cg(r)) / (r + beta cg*(r))

    found(r) relevant documents and gain cg(r) by rank r, cg*(r) by the ideal ranking; documents below rel gain nothing.

    Source: Sakai (2004), New Performance Metrics Based on Multigrade Relevance. NTCIR-4; Sakai (2014), Metrics,
    Statistics, Tests. Springer LNCS 8173.
    """

    name = "Q"
    parameters = (
        Parameter("beta", 1, "weight of the gain against the count; 0 gives average precision", number(0)),
        REL,
        JUDGED_ONLY,
    )

    def score(self, measure: Measure, view: TopicView, out: Floats) -> None:
        relevant = view.relevant(measure)
        gains = view.grades() * relevant
        ordered = np.ascontiguousarray(np.sort(gains, axis=0)[::-1])
        beta = float(measure["beta"])  # type: ignore[arg-type]
        ranking.blended_ratio_sum(view.rows, relevant, gains, ordered, beta, reach(measure), out)
        divided(out, self.n_relevant(measure, view))


class GAP(Scored):
    """Graded average precision: expected average precision over users with different thresholds of relevance.

        GAP = sum_n (1/n) sum_{m <= n} min(w_m, w_n) / sum over judged d of w_d,   w_d = P(threshold <= g_d)

    Thresholds are equally likely at every level of the scale; for fractions, at every value the assessor used in the
    topic. It equals the mean of AP at each threshold, weighted by the number of documents relevant there. With
    relevance='given' the values are the w themselves: the probability that a user finds the document relevant.

    Source: Robertson, Kanoulas & Yilmaz (2010), Extending Average Precision to Graded Relevance Judgments. SIGIR.
    """

    name = "GAP"
    parameters = (
        Parameter(
            "relevance",
            "threshold",
            "'threshold': w from thresholds at the scale's levels; 'given': values are w, probabilities of relevance",
            one_of("threshold", "given"),
        ),
        JUDGED_ONLY,
    )

    def score(self, measure: Measure, view: TopicView, out: Floats) -> None:
        worth = self._worth(measure, view)
        ranking.shared_precision_sum(view.rows, worth, reach(measure), out)
        divided(out, worth.sum(axis=0))

    def n_relevant(self, measure: Measure, view: TopicView) -> Floats:
        return np.asarray((self._worth(measure, view) > 0).sum(axis=0), np.float64)

    def _worth(self, measure: Measure, view: TopicView) -> Floats:
        """(documents, assessors) share of thresholds that the value reaches."""
        if measure["relevance"] == "given":
            return view.probabilities(measure)

        def make() -> Floats:
            grades = view.grades()
            worth = np.empty_like(grades)
            for a, scale in enumerate(view.panel.scales):
                values = grades[:, a]
                if scale.kind in ("binary", "graded"):
                    worth[:, a] = np.floor(values) / scale.maximum
                else:
                    used = np.unique(values[values > 0])
                    worth[:, a] = np.searchsorted(used, values, side="right") / max(used.size, 1)
            return worth

        return view.remember("worth", make)


MEASURES: tuple[Scored, ...] = (DCG(), NDCG(), Q(), GAP())
