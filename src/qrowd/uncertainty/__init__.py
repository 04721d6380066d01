"""Simulated runs and single assessors of the magnitude paper.

simulate_single_assessor        the ranking by one judgment per document, compared with a reference
merged_runs, complete_lists     simulated runs from lists that were judged completely
"""

from qrowd.uncertainty.merged_runs import CompleteLists, complete_lists, merged_runs
from qrowd.uncertainty.single_assessor import SingleAssessorSimulation, simulate_single_assessor

__all__ = ["CompleteLists", "SingleAssessorSimulation", "complete_lists", "merged_runs", "simulate_single_assessor"]
