"""The measure of answers: lists of units, such as nuggets, citations, criteria, or the answer itself."""

from __future__ import annotations

from math import inf

import numpy as np

from qrowd.errors import MeasureError
from qrowd.kernels import gains as kernels
from qrowd.kernels.arrays import Floats
from qrowd.measures.measure_kinds import ByGain, Scored, TopicView
from qrowd.measures.topic_views import Gains, Part
from qrowd.model.alignment import PooledLists
from qrowd.model.labels import first_of
from qrowd.model.measure import Measure, Parameter, Value, number
from qrowd.model.runs import Runs


def _criterion(value: object) -> Value:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError("the name of a criterion")


class Mean(ByGain):
    """Mean gain of the units of an answer that the assessor judged, weighted by their weights.

        Mean = sum_u w_u g_u / sum_u max(w_u, 0)

    The gain is the value itself; with rel it is 1 from that value on, else 0. A system has no score where the assessor
    judged none of its units.

    Source: nuggets: Pradeep, Thakur, Upadhyay, Campos, Craswell & Lin (2024), Initial Nugget Evaluation Results for the
    TREC 2024 RAG Track with the AutoNuggetizer Framework. arXiv 2411.09607; citations: Thakur, Pradeep, Upadhyay,
    Campos, Craswell & Lin (2025), Support Evaluation for the TREC 2024 RAG Track. arXiv 2504.15205.
    """

    name = "Mean"
    cutoff = "none"
    of_units = True
    parameters = (
        Parameter("criterion", None, "only units of this criterion, as criterion=vital; default: all", _criterion),
        Parameter(
            "rel",
            None,
            "lowest value that gains 1 where others gain 0, as in strict scores; default: the value is the gain",
            number(0, open_ends=True),
        ),
    )

    def lowest(self, measure: Measure) -> float:
        return -inf

    def highest(self, measure: Measure) -> float:
        return 1.0 if measure["rel"] is not None else inf

    def gains(self, measure: Measure, view: TopicView) -> Floats:
        return view.grades() if measure["rel"] is None else view.relevant(measure)

    def rewarded(self, measure: Measure, part: Part) -> Floats:
        return part.gains(TopicView.judged).totals

    def score_part(self, measure: Measure, part: Part, out: Floats, begin: int) -> None:
        assert part.lists.weight is not None
        weight = weights_of(measure, part.lists, part.lists.weight)
        total = np.empty((out.shape[0], part.n_assessors))
        _add_up(part, weight, self.gains_of(measure, part), begin, out)
        _add_up(part, np.maximum(weight, 0.0), part.gains(TopicView.judged), 0, total)
        own = out[:, begin : begin + part.n_assessors]
        np.divide(own, np.where(total > 0, total, np.nan), out=own)


def _add_up(part: Part, weight: Floats, gains: Gains, begin: int, out: Floats) -> None:
    """Write the weighted sums of gains of each list into out (lists, assessors), from column `begin` on."""
    lists = part.lists
    kernels.weighted_sums(lists.starts, lists.starts[1:], lists.row, weight * gains.unit, gains.in_units, begin, out)


def weights_of(measure: Measure, units: PooledLists | Runs, weight: Floats) -> Floats:
    """(entries,) of the units; 0 for those of other criteria.

    Raises
    ------
    MeasureError
        A criterion that no unit has.
    """
    wanted = measure["criterion"]
    if wanted is None:
        return weight
    if wanted not in units.criteria:
        there_are = first_of(units.criteria, 5) if any(units.criteria) else "none"
        raise MeasureError(f"{measure}: no unit is of this criterion; criteria: {there_are}")
    return np.where(units.criterion == units.criteria.index(str(wanted)), weight, 0.0)


MEASURES: tuple[Scored, ...] = (Mean(),)
