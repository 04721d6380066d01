"""Comparing systems by their scores.

Functions take `qrowd.Scores` (or an xarray.DataArray) of one measure; systems and assessors are named.

rank_systems, against_baseline, rank_changes    means and ranks; differences from a baseline; ranks by several methods
system_intervals, judged_share          means with intervals; the share of a system's documents that was judged
kendall_tau_a, kendall_tau_b, ap_correlation, ap_correlation_b, pearson, rmse       two rankings, as arrays
row_correlations, correlations, ranking_agreement       many pairs of rankings; assessors with a reference; each pair
sign_agreement          the share of differences for which two assessors agree on the sign
top_set, top_set_overlap        the best system and those not significantly different from it
head_to_head            two systems, by each assessor
kinship                 scores of systems without the assessors that are related to them
variance_components, d_study, best_design        generalizability, and which design to judge next
difference, all_differences     differences of systems with intervals over topics and assessors
equal_cost, topics_for_an_assessor      more topics or one more assessor at the same cost
power_of_difference, detectable_difference, topics_needed       power, and the topics that a difference needs
mean_ranks              mean ranks over topics, and the systems that do not differ by Nemenyi's test
rank_intervals          simultaneous intervals of ranks, and the systems that may be the best
holm, benjamini_hochberg        corrections for multiple tests
"""

from qrowd.comparison.differences import all_differences, difference
from qrowd.comparison.generalizability import best_design, d_study, variance_components
from qrowd.comparison.head_to_head import head_to_head
from qrowd.comparison.judged_share import judged_share
from qrowd.comparison.kinship import kinship
from qrowd.comparison.mean_ranks import mean_ranks
from qrowd.comparison.p_values import benjamini_hochberg, holm
from qrowd.comparison.power import (
    DifferenceComponents,
    detectable_difference,
    equal_cost,
    power_of_difference,
    topics_for_an_assessor,
    topics_needed,
)
from qrowd.comparison.rank_intervals import rank_intervals
from qrowd.comparison.rankings import (
    ap_correlation,
    ap_correlation_b,
    correlations,
    kendall_tau_a,
    kendall_tau_b,
    pearson,
    ranking_agreement,
    rmse,
    row_correlations,
    sign_agreement,
)
from qrowd.comparison.system_ranking import against_baseline, rank_changes, rank_systems, ranks, system_intervals
from qrowd.comparison.top_set import top_set, top_set_overlap

__all__ = [
    "DifferenceComponents",
    "against_baseline",
    "all_differences",
    "ap_correlation",
    "ap_correlation_b",
    "benjamini_hochberg",
    "best_design",
    "correlations",
    "d_study",
    "detectable_difference",
    "difference",
    "equal_cost",
    "head_to_head",
    "holm",
    "judged_share",
    "kendall_tau_a",
    "kendall_tau_b",
    "kinship",
    "mean_ranks",
    "pearson",
    "power_of_difference",
    "rank_changes",
    "rank_intervals",
    "rank_systems",
    "ranking_agreement",
    "ranks",
    "rmse",
    "row_correlations",
    "sign_agreement",
    "system_intervals",
    "top_set",
    "top_set_overlap",
    "topics_for_an_assessor",
    "topics_needed",
    "variance_components",
]
