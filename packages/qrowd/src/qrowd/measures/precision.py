"""Measures of relevant or not: precision, recall and what is built on them."""

from __future__ import annotations

from math import inf

import numpy as np

from qrowd.errors import MeasureError
from qrowd.kernels import gains as kernels
from qrowd.kernels import ranking
from qrowd.kernels.arrays import Floats
from qrowd.measures.measure_kinds import (
    JUDGED_ONLY,
    RECALL_BASE,
    REL,
    RELEVANCE,
    ByGain,
    Linear,
    Scored,
    TopicView,
    divided,
    reach,
    recall_base,
)
from qrowd.measures.topic_views import Part
from qrowd.model.measure import Measure


def _highest_over(measure: Measure) -> float:
    """Of a sum over its recall base, which as a number may be less than what there is to find."""
    return 1.0 if isinstance(measure["recall_base"], str) else inf


class _Counted(Linear):
    """What measures share that count relevant documents, or expect as many."""

    def gains(self, measure: Measure, view: TopicView) -> Floats:
        return view.probabilities(measure) if measure["relevance"] == "given" else view.relevant(measure)


class P(_Counted):
    """Precision: the share of relevant documents in the first k ranks.

        P@k = |{r <= k : g_r >= rel}| / k

    A list shorter than k is still divided by k. With relevance='given' the values are probabilities of relevance, and
    the numerator is their sum.

    Source: trec_eval 10.0 (P_k).
    """

    name = "P"
    cutoff = "required"
    aliases = ("P_", "precision")
    parameters = (REL, RELEVANCE, JUDGED_ONLY)

    def coefficients(self, measure: Measure, depth: int) -> Floats:
        return np.full(min(depth, reach(measure)), 1 / reach(measure))


class R(_Counted):
    """Recall: the share of all relevant documents that are in the first k ranks, or in the whole list.

        R@k = |{r <= k : g_r >= rel}| / base

    With relevance='given' numerator and denominator are sums of probabilities of relevance.

    Source: trec_eval 10.0 (recall_k, set_recall).
    """

    name = "R"
    aliases = ("recall_", "recall", "set_recall")
    parameters = (REL, RECALL_BASE, RELEVANCE, JUDGED_ONLY)

    def highest(self, measure: Measure) -> float:
        return _highest_over(measure)

    def coefficients(self, measure: Measure, depth: int) -> Floats:
        return np.ones(min(depth, reach(measure)))

    def normaliser(self, measure: Measure, part: Part) -> Floats:
        if measure["relevance"] == "threshold":
            return recall_base(measure, part)
        base = measure["recall_base"]
        if base == "union":
            raise MeasureError(f"{measure}: probabilities have no union; write recall_base='own' or a number")
        expected = self.gains_of(measure, part).totals
        return np.asarray(expected if base == "own" else np.full(expected.shape, base))


class Rprec(Scored):
    """R-precision: precision at the rank that equals the assessor's number of relevant documents R.

        Rprec = |{r <= R : g_r >= rel}| / R

    Source: trec_eval 10.0 (Rprec).
    """

    name = "Rprec"
    cutoff = "none"
    parameters = (REL, JUDGED_ONLY)

    def score(self, measure: Measure, view: TopicView, out: Floats) -> None:
        base = self.n_relevant(measure, view)
        ranking.found_by_own_cut(view.rows, view.relevant(measure), base, out)
        divided(out, base)


class _Relevant(ByGain):
    """What measures share to which a document is relevant or not."""

    def gains(self, measure: Measure, view: TopicView) -> Floats:
        return view.relevant(measure)


class _FirstRelevant(_Relevant):
    """1 / rank of the first relevant document."""

    parameters = (REL, JUDGED_ONLY)

    def score_part(self, measure: Measure, part: Part, out: Floats, begin: int) -> None:
        lists = part.lists
        relevant = self.gains_of(measure, part).matrix
        kernels.first_relevant(lists.starts, lists.ends(measure.cutoff), lists.row, lists.rank, relevant, begin, out)


class RR(_FirstRelevant):
    """Reciprocal rank of the first relevant document; 0 where there is none in the first k ranks.

        RR@k = 1 / min{r <= k : g_r >= rel}

    Source: trec_eval 10.0 (recip_rank); Kantor & Voorhees (2000), The TREC-5 Confusion Track. Inf. Retr. 2, 165-176.
    """

    name = "RR"
    aliases = ("recip_rank", "recip_rank_", "MRR")


class Success(_FirstRelevant):
    """Success: 1 if there is a relevant document in the first k ranks, else 0.

        Success@k = [min{r : g_r >= rel} <= k]

    Source: trec_eval 10.0 (success_k).
    """

    name = "Success"
    cutoff = "required"
    aliases = ("success_",)

    def score_part(self, measure: Measure, part: Part, out: Floats, begin: int) -> None:
        super().score_part(measure, part, out, begin)
        own = out[:, begin : begin + part.n_assessors]
        np.greater(own, 0.0, out=own)


class AP(_Relevant):
    """Average precision: the mean, over all relevant documents, of precision at their rank (0 where not retrieved).

        AP@k = (1 / base) sum_{r <= k} [g_r >= rel] P@r

    The base counts every relevant document, also where a cut-off is given.

    Source: trec_eval 10.0 (map, map_cut_k); Buckley & Voorhees (2005), Retrieval System Evaluation, in TREC, MIT Press.
    """

    name = "AP"
    aliases = ("map", "map_cut_")
    parameters = (REL, RECALL_BASE, JUDGED_ONLY)

    def highest(self, measure: Measure) -> float:
        return _highest_over(measure)

    def score_part(self, measure: Measure, part: Part, out: Floats, begin: int) -> None:
        lists = part.lists
        relevant = self.gains_of(measure, part).matrix
        kernels.precision_sums(lists.starts, lists.ends(measure.cutoff), lists.row, lists.rank, relevant, begin, out)
        kernels.divide(out, begin, np.ascontiguousarray(recall_base(measure, part)))


class Bpref(Scored):
    """Binary preference: how rarely judged nonrelevant documents are ranked above relevant ones.

        bpref = (1 / R) sum over retrieved relevant d of 1 - min(N_d, R) / min(N, R)

    R relevant and N nonrelevant judged documents, N_d of the latter ranked above d; a d with none above counts 1.

    Source: trec_eval 10.0 (bpref); Buckley & Voorhees (2004), Retrieval Evaluation with Incomplete Information. SIGIR.
    """

    name = "Bpref"
    cutoff = "none"
    parameters = (REL,)

    def score(self, measure: Measure, view: TopicView, out: Floats) -> None:
        relevant = view.relevant(measure)
        judged = view.judged()
        base = self.n_relevant(measure, view)
        ranking.binary_preference(view.rows, relevant, judged, base, judged.sum(axis=0) - base, out)
        divided(out, base)


class Judged(Linear):
    """Judged: the share of the first k ranks that the assessor judged.

        Judged@k = |{r <= k : judged}| / k

    A list shorter than k is still divided by k, as in P@k; ir_measures divides by the length of the list.

    Source: ir_measures (Judged@k); MacAvaney, Macdonald & Ounis (2022), Streamlining Evaluation with ir-measures. ECIR.
    """

    name = "Judged"
    cutoff = "required"

    def coefficients(self, measure: Measure, depth: int) -> Floats:
        return np.full(min(depth, reach(measure)), 1 / reach(measure))

    def gains(self, measure: Measure, view: TopicView) -> Floats:
        return view.judged()


MEASURES: tuple[Scored, ...] = (P(), R(), Rprec(), RR(), Success(), AP(), Bpref(), Judged())
