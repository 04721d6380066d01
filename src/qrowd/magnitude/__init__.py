"""Magnitude estimation: everyone's free numbers onto one scale, and what they say about relevance.

    Judgments in units ---> normalise             one scale for all; then aggregate, then evaluate
            |-------------> distribution          the log-normal fit
            |-------------> round_numbers         which values people write
            |-------------> ratio_figures         whether they judged by ratio
            |-------------> topic_units, assessor_units, unit_checks
    with check documents -> unit_widths           narrow and wide units
    with gold ------------> gain_profile, level_ratios, level_tests, agreeing_units
    before judging -------> workers_needed, workers_needed_for_ratio, units_needed, judging_cost

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3).
"""

from qrowd.magnitude.agreeing import AgreeingUnits, agreeing_units
from qrowd.magnitude.collection import (
    AssessorUnits,
    TopicUnits,
    UnitChecks,
    UnitWidths,
    assessor_units,
    topic_units,
    unit_checks,
    unit_widths,
)
from qrowd.magnitude.figures import RatioFigures, RoundNumbers, ratio_figures, round_numbers, significant_figures
from qrowd.magnitude.gains import FIGURE_15, GainProfile, LevelPair, LevelRatios, gain_profile, level_ratios
from qrowd.magnitude.gold import check_documents
from qrowd.magnitude.levels import LevelTests, level_tests
from qrowd.magnitude.lognormal import Distribution, distribution
from qrowd.magnitude.normalisation import normalise
from qrowd.magnitude.planning import Cost, judging_cost, units_needed, workers_needed, workers_needed_for_ratio
from qrowd.magnitude.units import Units, units_of

__all__ = [
    "FIGURE_15",
    "AgreeingUnits",
    "AssessorUnits",
    "Cost",
    "Distribution",
    "GainProfile",
    "LevelPair",
    "LevelRatios",
    "LevelTests",
    "RatioFigures",
    "RoundNumbers",
    "TopicUnits",
    "UnitChecks",
    "UnitWidths",
    "Units",
    "agreeing_units",
    "assessor_units",
    "check_documents",
    "distribution",
    "gain_profile",
    "judging_cost",
    "level_ratios",
    "level_tests",
    "normalise",
    "ratio_figures",
    "round_numbers",
    "significant_figures",
    "topic_units",
    "unit_checks",
    "unit_widths",
    "units_needed",
    "units_of",
    "workers_needed",
    "workers_needed_for_ratio",
]
