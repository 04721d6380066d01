"""trec_eval's other measures: sets, recall levels, samples of pools, and experiments with gain.

They read one ranked list at a time, in plain NumPy: a panel of hundreds of assessors takes its time.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from math import inf
from typing import ClassVar, Literal

import numpy as np

from qrowd.kernels import ranked_list
from qrowd.kernels.arrays import Floats
from qrowd.kernels.ranked_list import RankedList, gains_of, gains_to_one, ideal_of
from qrowd.measures.gain import GAINS, mapped
from qrowd.measures.scoring import JUDGED_ONLY, REL, Scored, TopicView
from qrowd.model.measure import Measure, Parameter, number

ELEVEN_POINTS = tuple(i / 10 for i in range(11))
P = Parameter("p", 0.9, "probability of going on to the next rank", number(0, 1, open_ends=True))


class OnLists(Scored):
    """A measure of one ranked list."""

    cutoff: ClassVar[Literal["required", "optional", "none"]] = "none"
    parameters: ClassVar[tuple[Parameter, ...]] = (REL, JUDGED_ONLY)

    @abstractmethod
    def of(self, measure: Measure, ranked: RankedList) -> float:
        """The score of one system by one assessor."""

    def score(self, measure: Measure, view: TopicView, out: Floats) -> None:
        rel = view.lowest_relevant(measure) if "rel" in measure.values else np.full(view.values.shape[1], np.nan)
        for s in range(out.shape[0]):
            rows = view.rows[s, : view.length(s)]
            for a in range(out.shape[1]):
                given = view.values[:, a]
                grades = np.where(rows < 0, np.nan, given[rows])
                out[s, a] = self.of(measure, RankedList(grades, rows >= 0, given[~np.isnan(given)], float(rel[a])))

    def n_relevant(self, measure: Measure, view: TopicView) -> Floats:
        if "rel" in measure.values:
            return view.n_relevant(measure)
        rewarded = mapped(view.values, measure["gains"]) > 0 if "gains" in measure.values else view.judged() > 0
        return np.asarray(rewarded.sum(axis=0), np.float64)


def gain_map_of(measure: Measure) -> Mapping[float, float]:
    """The gains that were given for grades."""
    gains = measure["gains"]
    return gains if isinstance(gains, dict) else {}


class _Number(OnLists):
    """What counts share."""

    def highest(self, measure: Measure) -> float:
        return inf


class NumRet(_Number):
    """Number of documents retrieved.

        num_ret = |{r}|

    Source: trec_eval 10.0 (num_ret).
    """

    name, aliases, parameters = "num_ret", ("NumRet",), (JUDGED_ONLY,)

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked.n_retrieved


class NumRel(_Number):
    """Number of relevant documents of the topic, retrieved or not.

        num_rel = R

    Source: trec_eval 10.0 (num_rel).
    """

    name, aliases, parameters = "num_rel", ("NumRel",), (REL,)

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked.n_relevant


class NumRelRet(_Number):
    """Number of relevant documents retrieved.

        num_rel_ret = |{r : g_r >= rel}|

    Source: trec_eval 10.0 (num_rel_ret).
    """

    name, aliases, parameters = "num_rel_ret", ("NumRelRet",), (REL,)

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked.n_relevant_retrieved


class NumNonrelJudgedRet(_Number):
    """Number of documents retrieved that were judged nonrelevant.

        num_nonrel_judged_ret = |{r : judged, g_r < rel}|

    Source: trec_eval 10.0 (num_nonrel_judged_ret).
    """

    name, parameters = "num_nonrel_judged_ret", (REL,)

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked_list.num_nonrel_judged_ret(ranked)


class SetP(OnLists):
    """Precision of the whole list, whatever its order.

        set_P = |{r : g_r >= rel}| / |{r}|

    Source: trec_eval 10.0 (set_P).
    """

    name, aliases = "set_P", ("SetP",)

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked_list.set_p(ranked)


class SetRelativeP(OnLists):
    """Precision of the whole list, divided by the highest that a list of this length can have.

        set_relative_P = |{r : g_r >= rel}| / min(|{r}|, R)

    Source: trec_eval 10.0 (set_relative_P).
    """

    name, aliases = "set_relative_P", ("SetRelP",)

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked_list.set_relative_p(ranked)


class SetMap(OnLists):
    """Average precision of a list without order: precision times recall of the whole list.

        set_map = |{r : g_r >= rel}|^2 / (|{r}| R)

    Source: trec_eval 10.0 (set_map).
    """

    name, aliases = "set_map", ("SetAP",)

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked_list.set_map(ranked)


class SetF(OnLists):
    """F: the weighted harmonic mean of precision and recall of the whole list.

        set_F = (x + 1) P R / (x P + R)

    P is set_P and R is recall of the whole list. x is the weight of recall, the square of beta in other notations.

    Source: trec_eval 10.0 (set_F); van Rijsbergen (1979), Information Retrieval. Butterworths.
    """

    name, aliases, numbered = "set_F", ("set_F_",), "x"
    parameters = (Parameter("x", 1, "weight of recall, if precision weighs 1", number(0)), REL, JUDGED_ONLY)

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked_list.set_f(ranked, float(measure["x"]))  # type: ignore[arg-type]


WORTH = ("retrieved_relevant", "retrieved_nonrelevant", "missed_relevant", "missed_nonrelevant")


class Utility(OnLists):
    """Utility of the whole list: what documents are worth that are retrieved, and that are not.

        utility = a |rel. retrieved| + b |nonrel. retrieved| + c |rel. missed| + d |nonrel. missed|

    a, b, c, d are the parameters in this order. d needs the number of documents in the collection, n_collection.

    Source: trec_eval 10.0 (utility).
    """

    name = "utility"
    parameters = (
        *(
            Parameter(name, worth, f"worth of a document that is {name.replace('_', ' and ')}", number(-inf))
            for name, worth in zip(WORTH, (1, -1, 0, 0), strict=True)
        ),
        Parameter("n_collection", 0, "number of documents in the collection", number(0)),
        REL,
        JUDGED_ONLY,
    )

    def lowest(self, measure: Measure) -> float:
        return -inf

    def highest(self, measure: Measure) -> float:
        return inf

    def of(self, measure: Measure, ranked: RankedList) -> float:
        worth = [float(measure[name]) for name in WORTH]  # type: ignore[arg-type]
        return ranked_list.utility(ranked, worth, int(measure["n_collection"]))  # type: ignore[arg-type]


class RelativeP(OnLists):
    """Precision in the first k ranks, divided by the highest that it can be.

        relative_P@k = |{r <= k : g_r >= rel}| / min(k, R)

    Source: trec_eval 10.0 (relative_P_k).
    """

    name, aliases, cutoff = "relative_P", ("relative_P_",), "required"

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked_list.relative_precision_at(ranked, measure.cutoff or 1)


class Unjudged(OnLists):
    """Share of the first k ranks that the assessor did not judge; ranks below the list count as judged.

        unj@k = |{r <= k : not judged}| / k

    Source: trec_eval 10.0 (unj_k).
    """

    name, aliases, cutoff, parameters = "unj", ("unj_",), "required", ()

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked_list.unjudged_at(ranked, measure.cutoff or 1)


class InterpolatedPrecision(OnLists):
    """Interpolated precision at a level of recall: the highest precision at any rank from there on.

        iprec_at_recall(recall) = max{P@r : r >= rank of relevant document number floor(recall R + 0.9)}

    Source: trec_eval 10.0 (iprec_at_recall_x).
    """

    name, aliases, numbered = "iprec_at_recall", ("iprec_at_recall_", "IPrec"), "recall"
    parameters = (Parameter("recall", 0, "level of recall, from 0 to 1", number(0, 1)), REL, JUDGED_ONLY)

    def of(self, measure: Measure, ranked: RankedList) -> float:
        recall = float(measure["recall"])  # type: ignore[arg-type]
        return ranked_list.interpolated_precisions(ranked, [recall])[0] if ranked.n_retrieved else 0.0


class ElevenPoints(OnLists):
    """Mean of the interpolated precision at recall 0, 0.1, ..., 1.

        11pt_avg = (1 / 11) sum over recall of iprec_at_recall(recall)

    Source: trec_eval 10.0 (11pt_avg).
    """

    name = "11pt_avg"

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked_list.interpolated_average(ranked, ELEVEN_POINTS) if ranked.n_retrieved else 0.0


class RprecMultiple(OnLists):
    """Precision at a multiple of the assessor's number of relevant documents R.

        Rprec_mult(multiple) = P@k,   k = floor(multiple R + 0.9)

    Source: trec_eval 10.0 (Rprec_mult_x).
    """

    name, aliases, numbered = "Rprec_mult", ("Rprec_mult_",), "multiple"
    parameters = (
        Parameter("multiple", 1, "how many times R the cut-off is", number(0, open_ends=True)),
        REL,
        JUDGED_ONLY,
    )

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked_list.precision_at_multiple(ranked, float(measure["multiple"]))  # type: ignore[arg-type]


class InfAP(OnLists):
    """Inferred average precision, where a random part of the pool was judged.

        infAP = (1 / R) sum over retrieved relevant of 1 / r + ((r - 1) / r) (n / (r - 1)) (R_d + e) / (R_d + N_d + 2 e)

    n documents above rank r are in the pool, R_d and N_d of them were judged relevant and nonrelevant; e = 0.00001. The
    pool holds what any assessor judged, and what has a negative grade.

    Source: trec_eval 10.0 (infAP); Yilmaz & Aslam (2006), Estimating Average Precision with Incomplete and Imperfect
    Judgments. CIKM.
    """

    name, parameters = "infAP", (REL,)

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked_list.inferred_ap(ranked)


class Yaap(OnLists):
    """Yet another average precision: the log odds of average precision, smoothed.

        yaap = log((1 + s) / (1 + R - s)),   s = sum of precisions at the ranks of relevant documents

    Source: trec_eval 10.0 (yaap); Robertson (2012), On Smoothing Average Precision. ECIR.
    """

    name = "yaap"

    def lowest(self, measure: Measure) -> float:
        return -inf

    def highest(self, measure: Measure) -> float:
        return inf

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked_list.yaap(ranked)


class BinaryG(OnLists):
    """Mean over relevant documents of a discount by the number of nonrelevant documents above.

        binG = (1 / R) sum over retrieved relevant of 1 / log2(2 + nonrelevant above)

    Source: trec_eval 10.0 (binG).
    """

    name = "binG"

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked_list.binary_gain(ranked)


class _Gained(OnLists):
    """What measures of gain share."""

    parameters = (GAINS, JUDGED_ONLY)

    def of(self, measure: Measure, ranked: RankedList) -> float:
        gains = gain_map_of(measure)
        return self.from_gains(gains_of(ranked.grades, gains), ideal_of(ranked.judged, gains))

    @abstractmethod
    def from_gains(self, gains: Floats, ideal: Floats) -> float:
        """The score, from the gain at each rank and all positive gains, highest first."""


class IdealDCG(_Gained):
    """The highest DCG that a list can have, by which nDCG divides.

        ideal_dcg = sum_r gain_r / log2(r + 1),   documents sorted by gain

    Source: trec_eval 10.0 (ideal_dcg).
    """

    name = "ideal_dcg"

    def highest(self, measure: Measure) -> float:
        return inf

    def from_gains(self, gains: Floats, ideal: Floats) -> float:
        return float(ranked_list.discounted(ideal)[-1])


class NDCGByRelevant(_Gained):
    """Mean of nDCG over the ranks of documents with a gain; missed ones count with the DCG at the end of the list.

        ndcg_rel = (1 / R) (sum over retrieved with gain > 0 of nDCG@r + missed DCG / ideal DCG)

    Source: trec_eval 10.0 (ndcg_rel).
    """

    name = "ndcg_rel"

    def from_gains(self, gains: Floats, ideal: Floats) -> float:
        return ranked_list.normalised_by_relevant(gains, ideal)


class NDCGByLevel(_Gained):
    """Mean of nDCG over the ranks at which the gain of the ideal ranking falls to the next level.

        Rndcg = mean of DCG@r / ideal DCG@r over those ranks r

    The end of a list that goes on below the last of them is one more point.

    Source: trec_eval 10.0 (Rndcg).
    """

    name = "Rndcg"

    def from_gains(self, gains: Floats, ideal: Floats) -> float:
        return ranked_list.normalised_by_level(gains, ideal) if ideal.size else 0.0


class NormalisedGain(_Gained):
    """Gain discounted by what the documents up to its rank could have gained and did not.

        G = (1 / sum of gains) sum_r gain_r / log2(2 + cost_r - gain of ranks up to r)

    cost_r is the sum of the ideal ranking's gains up to r, each taken as at least 1.

    Source: trec_eval 10.0 (G).
    """

    name = "G"

    def from_gains(self, gains: Floats, ideal: Floats) -> float:
        return ranked_list.normalised_gain(gains, ideal)


class Rbp(OnLists):
    """Rank-biased precision as trec_eval computes it: with p = 0.9, and the topic's highest grade as the maximum.

        rbp = (1 - p) sum_r p^(r - 1) gain_r

    Gains above 1 or below 0 are brought to 0 to 1 by the lowest and highest gain of the topic's levels. `RBP` takes the
    maximum of the scale instead. The program leaves two variables unset here; this is what its text says.

    Source: trec_eval 10.0 (rbp); Moffat & Zobel (2008), Rank-Biased Precision for Measurement of Retrieval
    Effectiveness. ACM TOIS 27(1).
    """

    name, parameters = "rbp", (P, GAINS, JUDGED_ONLY)

    def of(self, measure: Measure, ranked: RankedList) -> float:
        gains = gains_to_one(ranked.grades, ranked.judged, gain_map_of(measure))
        return ranked_list.rank_biased_precision(gains, float(measure["p"]))  # type: ignore[arg-type]


class RbpResidual(OnLists):
    """The residual of rbp: what unjudged documents and the ranks below the list could add; 0 where all are judged.

        rbp_resid = p^n + (1 - p) sum over unjudged of p^(r - 1),   n documents retrieved

    Source: trec_eval 10.0 (rbp_resid).
    """

    name, parameters = "rbp_resid", (P,)

    def of(self, measure: Measure, ranked: RankedList) -> float:
        return ranked_list.rank_biased_residual(ranked, float(measure["p"]))  # type: ignore[arg-type]


DEFINITIONS: tuple[Scored, ...] = (
    *(NumRet(), NumRel(), NumRelRet(), NumNonrelJudgedRet(), Unjudged()),
    *(SetP(), SetRelativeP(), SetMap(), SetF(), Utility()),
    *(RelativeP(), RprecMultiple(), InterpolatedPrecision(), ElevenPoints(), InfAP(), Yaap()),
    *(IdealDCG(), NDCGByRelevant(), NDCGByLevel(), BinaryG(), NormalisedGain(), Rbp(), RbpResidual()),
)
"""Measures of trec_eval that have no name of their own elsewhere, in the order tables list them."""
