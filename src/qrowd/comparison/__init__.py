"""Systems against systems, from scores alone.

rank_systems, against_baseline     where every system stands, and how far from a baseline
kendall_tau_a, kendall_tau_b, ap_correlation, sampled_ap_correlation, pearson, rmse      two rankings of systems
row_correlations, correlations, leave_one_out                   many pairs of rankings; all assessors of a measure
sign_agreement          do two assessors see the same system ahead, topic by topic
top_set, top_set_overlap        the systems that topics do not tell from the best
head_to_head            two systems, by every assessor
anova, omega_squared, main_effects, interaction_effects         what makes scores vary
tukey_hsd, tukey_of_means, systems_anova                        which levels, and which systems, differ
variance_components, d_study, best_design, marginal_gain               whether to trust a mean, and what to judge next
difference, all_differences     how sure a difference is, over topics and assessors
equal_cost              more topics or one more assessor for the same money
power_of_difference, detectable_difference, topics_needed       what a design finds, and what a difference takes
rank_intervals, randomised_tukey, benjamini_hochberg            many systems at once: ranks, pairs
"""

from qrowd.comparison.baseline import AgainstBaseline, against_baseline
from qrowd.comparison.corrections import benjamini_hochberg, holm
from qrowd.comparison.correlation import (
    SampledCorrelation,
    ap_correlation,
    kendall_tau_a,
    kendall_tau_b,
    leave_one_out,
    pearson,
    rmse,
    row_correlations,
    sampled_ap_correlation,
)
from qrowd.comparison.designs import BestDesign, DesignStudy, MarginalGain, best_design, d_study, marginal_gain
from qrowd.comparison.differences import AllDifferences, Difference, all_differences, difference
from qrowd.comparison.effort import EqualCost, equal_cost, topics_for_an_assessor
from qrowd.comparison.factors import (
    Anova,
    InteractionEffects,
    MainEffects,
    anova,
    interaction_effects,
    main_effects,
    omega_squared,
)
from qrowd.comparison.generalizability import VarianceComponents, variance_components
from qrowd.comparison.head_to_head import HeadToHead, head_to_head
from qrowd.comparison.power import DifferenceComponents, detectable_difference, power_of_difference, topics_needed
from qrowd.comparison.randomised import RandomisedTukey, randomised_tukey
from qrowd.comparison.rank_intervals import RankIntervals, rank_intervals
from qrowd.comparison.rankings import Correlations, correlations
from qrowd.comparison.signs import SignAgreement, sign_agreement
from qrowd.comparison.system_ranking import SystemRanking, rank_systems, ranks
from qrowd.comparison.top_set import TopSet, TopSetOverlap, top_set, top_set_overlap
from qrowd.comparison.tukey import SystemsAnova, Tukey, systems_anova, tukey_hsd, tukey_of_means

__all__ = [
    "AgainstBaseline",
    "AllDifferences",
    "Anova",
    "BestDesign",
    "Correlations",
    "DesignStudy",
    "Difference",
    "DifferenceComponents",
    "EqualCost",
    "HeadToHead",
    "InteractionEffects",
    "MainEffects",
    "MarginalGain",
    "RandomisedTukey",
    "RankIntervals",
    "SampledCorrelation",
    "SignAgreement",
    "SystemRanking",
    "SystemsAnova",
    "TopSet",
    "TopSetOverlap",
    "Tukey",
    "VarianceComponents",
    "against_baseline",
    "all_differences",
    "anova",
    "ap_correlation",
    "benjamini_hochberg",
    "best_design",
    "correlations",
    "d_study",
    "detectable_difference",
    "difference",
    "equal_cost",
    "head_to_head",
    "holm",
    "interaction_effects",
    "kendall_tau_a",
    "kendall_tau_b",
    "leave_one_out",
    "main_effects",
    "marginal_gain",
    "omega_squared",
    "pearson",
    "power_of_difference",
    "randomised_tukey",
    "rank_intervals",
    "rank_systems",
    "ranks",
    "rmse",
    "row_correlations",
    "sampled_ap_correlation",
    "sign_agreement",
    "systems_anova",
    "top_set",
    "top_set_overlap",
    "topics_for_an_assessor",
    "topics_needed",
    "tukey_hsd",
    "tukey_of_means",
    "variance_components",
]
