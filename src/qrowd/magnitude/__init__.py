"""Magnitude estimation: free numbers above 0, normalised to one scale and compared with gold grades.

    judgments in units ---> normalise             one scale for all; then aggregate, then evaluate
            |-------------> distribution          the log-normal fit
            |-------------> round_numbers         the values that assessors write
            |-------------> ratio_digits          whether assessors judged by ratio
            |-------------> topic_units, assessor_units, unit_checks, fit_power_law, answer_times
    with check documents -> unit_widths           narrow and wide units
    with gold ------------> gain_profile, level_ratios, level_tests, select_units_by_agreement
    before judging -------> assessors_needed, assessors_needed_for_ratio, units_needed, judging_cost

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3).
"""

from qrowd.magnitude.checks import check_documents
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
from qrowd.magnitude.digits import RatioDigits, RoundNumbers, ratio_digits, round_numbers, significant_digits
from qrowd.magnitude.gains import FIGURE_15, GainProfile, LevelPair, LevelRatios, gain_profile, level_ratios
from qrowd.magnitude.levels import LevelTests, level_tests
from qrowd.magnitude.lognormal import Distribution, distribution
from qrowd.magnitude.normalisation import normalise, normalise_magnitudes
from qrowd.magnitude.participation import AnswerTimes, PowerLaw, answer_times, fit_power_law
from qrowd.magnitude.planning import Cost, assessors_needed, assessors_needed_for_ratio, judging_cost, units_needed
from qrowd.magnitude.selection import UnitSelection, select_units_by_agreement
from qrowd.magnitude.units import Units, units_of

__all__ = [
    "FIGURE_15",
    "AnswerTimes",
    "AssessorUnits",
    "Cost",
    "Distribution",
    "GainProfile",
    "LevelPair",
    "LevelRatios",
    "LevelTests",
    "PowerLaw",
    "RatioDigits",
    "RoundNumbers",
    "TopicUnits",
    "UnitChecks",
    "UnitSelection",
    "UnitWidths",
    "Units",
    "answer_times",
    "assessor_units",
    "assessors_needed",
    "assessors_needed_for_ratio",
    "check_documents",
    "distribution",
    "fit_power_law",
    "gain_profile",
    "judging_cost",
    "level_ratios",
    "level_tests",
    "normalise",
    "normalise_magnitudes",
    "ratio_digits",
    "round_numbers",
    "select_units_by_agreement",
    "significant_digits",
    "topic_units",
    "unit_checks",
    "unit_widths",
    "units_needed",
    "units_of",
]
