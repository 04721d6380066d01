"""Magnitude estimation: free numbers above 0, normalised to one scale and compared with gold grades.

    judgments in units ---> normalise             one scale for all; then aggregate, then evaluate
    with check documents -> unit_checks
    with gold ------------> level_tests, gain_profile
    before judging -------> assessors_needed, assessors_needed_for_ratio, units_needed

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3). The other analyses of the paper: `qrowd study magnitude`, of qrowd-papers.
"""

from qrowd.magnitude.checks import UnitChecks, check_documents, unit_checks
from qrowd.magnitude.gain_profiles import GainProfile, gain_profile
from qrowd.magnitude.levels import LevelTests, level_tests
from qrowd.magnitude.normalisation import normalise, normalise_magnitudes
from qrowd.magnitude.planning import assessors_needed, assessors_needed_for_ratio, units_needed
from qrowd.magnitude.units import Units, units_of

__all__ = [
    "GainProfile",
    "LevelTests",
    "UnitChecks",
    "Units",
    "assessors_needed",
    "assessors_needed_for_ratio",
    "check_documents",
    "gain_profile",
    "level_tests",
    "normalise",
    "normalise_magnitudes",
    "unit_checks",
    "units_needed",
    "units_of",
]
