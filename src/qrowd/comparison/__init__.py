"""Systems against systems, from scores alone.

standings, against_baseline     where every system stands, and how far from a baseline
kendall_tau_a, kendall_tau_b, ap_correlation, sampled_ap_correlation, pearson, rmse      two rankings of systems
row_correlations, correlations, leave_one_out                   many pairs of rankings; all assessors of a measure
sign_agreement          do two assessors see the same system ahead, topic by topic
top_set, top_set_overlap        the systems that topics do not tell from the best
head_to_head            two systems, by every assessor
anova, omega_squared, main_effects, interaction_effects         what makes scores vary
tukey_hsd, tukey_of_means, systems_anova                        which levels, and which systems, differ
"""

from qrowd.comparison.baseline import AgainstBaseline, against_baseline, holm
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
from qrowd.comparison.factors import (
    Anova,
    InteractionEffects,
    MainEffects,
    anova,
    interaction_effects,
    main_effects,
    omega_squared,
)
from qrowd.comparison.head_to_head import HeadToHead, head_to_head
from qrowd.comparison.rankings import Correlations, correlations
from qrowd.comparison.signs import SignAgreement, sign_agreement
from qrowd.comparison.standings import Standings, ranks, standings
from qrowd.comparison.top_set import TopSet, TopSetOverlap, top_set, top_set_overlap
from qrowd.comparison.tukey import SystemsAnova, Tukey, systems_anova, tukey_hsd, tukey_of_means

__all__ = [
    "AgainstBaseline",
    "Anova",
    "Correlations",
    "HeadToHead",
    "InteractionEffects",
    "MainEffects",
    "SampledCorrelation",
    "SignAgreement",
    "Standings",
    "SystemsAnova",
    "TopSet",
    "TopSetOverlap",
    "Tukey",
    "against_baseline",
    "anova",
    "ap_correlation",
    "correlations",
    "head_to_head",
    "holm",
    "interaction_effects",
    "kendall_tau_a",
    "kendall_tau_b",
    "leave_one_out",
    "main_effects",
    "omega_squared",
    "pearson",
    "ranks",
    "rmse",
    "row_correlations",
    "sampled_ap_correlation",
    "sign_agreement",
    "standings",
    "systems_anova",
    "top_set",
    "top_set_overlap",
    "tukey_hsd",
    "tukey_of_means",
]
