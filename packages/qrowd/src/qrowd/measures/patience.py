"""Measures of a user who may stop: expected reciprocal rank, rank-biased precision."""

from __future__ import annotations

import numpy as np

from qrowd.kernels import gains as kernels
from qrowd.kernels.arrays import Floats
from qrowd.measures.gain import GAINS, mapped
from qrowd.measures.measure_kinds import JUDGED_ONLY, MAX_REL, REL, ByGain, Linear, Scored, TopicView, reach
from qrowd.measures.topic_views import Part
from qrowd.model.measure import Measure, Parameter, number, one_of


class ERR(ByGain):
    """Expected reciprocal rank of the document at which a user stops, who stops with probability R at each rank.

        ERR@k = sum_{r <= k} (R_r / r) prod_{j < r} (1 - R_j),   R = 2^(g - max) - 2^(-max)

    max is the maximum of the assessor's scale or max_rel (gdeval: max_rel=4); a grade above it is an error. Magnitudes
    have no maximum: max_rel='topic' takes the assessor's highest in the topic. With stop='given' the values are the
    probabilities R themselves.

    Source: Chapelle, Metzler, Zhang & Grinspan (2009), Expected Reciprocal Rank for Graded Relevance. CIKM, equation 5.
    """

    name = "ERR"
    aliases = ("err_",)
    parameters = (
        MAX_REL,
        GAINS,
        Parameter("stop", "grade", "'grade': R from the grade; 'given': values are R", one_of("grade", "given")),
        JUDGED_ONLY,
    )

    def score_part(self, measure: Measure, part: Part, out: Floats, begin: int) -> None:
        lists = part.lists
        stopping = self.gains_of(measure, part)
        ends = lists.ends(measure.cutoff)
        kernels.cascade(lists.starts, ends, lists.row, lists.rank, stopping.in_units, stopping.unit, begin, out)

    def gains(self, measure: Measure, view: TopicView) -> Floats:
        """(documents, assessors) probability that the user is satisfied and stops."""

        def make() -> Floats:
            grades = mapped(view.values, measure["gains"])
            if measure["stop"] == "given":
                return view.checked_probabilities(measure, grades, of="stopping", option="stop")
            maximum = view.maximum(measure, grades)
            return np.exp2(grades - maximum) - np.exp2(-maximum)

        return view.remember(("stopping", str(measure["max_rel"]), str(measure["gains"]), measure["stop"]), make)


class RBP(Linear):
    """Rank-biased precision: the gain per examined rank of a user who goes on to the next with probability p.

        RBP = (1 - p) sum_r p^(r - 1) gain_r

    The gain is the grade divided by the scale's maximum; with rel, 1 for relevant documents. With residual=True the
    score is the most that unjudged documents and the ranks below the list or the cut-off could add.

    Source: Moffat & Zobel (2008), Rank-Biased Precision for Measurement of Retrieval Effectiveness. ACM TOIS 27(1).
    """

    name = "RBP"
    parameters = (
        Parameter("p", 0.8, "probability of going on to the next rank", number(0, 1, open_ends=True)),
        REL,
        MAX_REL,
        Parameter("residual", False, "the residual instead of the score", one_of(False, True)),
        JUDGED_ONLY,
    )

    def coefficients(self, measure: Measure, depth: int) -> Floats:
        p = float(measure["p"])  # type: ignore[arg-type]
        return np.asarray((1 - p) * p ** np.arange(min(depth, reach(measure))))

    def gains(self, measure: Measure, view: TopicView) -> Floats:
        if measure["residual"]:
            return view.judged()
        if measure["rel"] is not None:
            return view.relevant(measure)
        grades = view.grades()
        return view.remember(
            ("share", str(measure["max_rel"])), lambda: np.asarray(grades / view.maximum(measure, grades))
        )

    def score_part(self, measure: Measure, part: Part, out: Floats, begin: int) -> None:
        super().score_part(measure, part, out, begin)
        if measure["residual"]:
            own = out[:, begin : begin + part.n_assessors]
            np.subtract(1.0, own, out=own)


def residual_of(measure: Measure) -> Measure | None:
    """The measure of a score's uncertainty, for measures that have one."""
    if "residual" not in measure.values:
        return None
    return Measure(measure.definition, {**measure.values, "residual": True}, measure.cutoff)


MEASURES: tuple[Scored, ...] = (ERR(), RBP())
