"""Gain distributions: evaluation that keeps what assessors disagree about.

    Judgments ---> gain_distributions           what each document gains, as a distribution
                       |---> interval_dcg       the least and the most a list gains
                       |---> uncertain_dcg      mean and s.d. of what it gains
                       |---> sampled_dcg        draws of it, for all systems at once
                       |---> agreement_aware_ndcg    against the ideal ranking
                       |---> density            one list's gain, ready to plot
    two arrays of scores ---> scatter           one measure against another

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, section 6.
"""

from qrowd.gain_distributions.cumulated import (
    IntervalDCG,
    SampledDCG,
    UncertainDCG,
    interval_dcg,
    sampled_dcg,
    uncertain_dcg,
)
from qrowd.gain_distributions.densities import GainDensity, density
from qrowd.gain_distributions.distributions import GainDistributions, gain_distributions
from qrowd.gain_distributions.normalised import AgreementAware, agreement_aware_ndcg
from qrowd.gain_distributions.scatter import Scatter, scatter

__all__ = [
    "AgreementAware",
    "GainDensity",
    "GainDistributions",
    "IntervalDCG",
    "SampledDCG",
    "Scatter",
    "UncertainDCG",
    "agreement_aware_ndcg",
    "density",
    "gain_distributions",
    "interval_dcg",
    "sampled_dcg",
    "scatter",
    "uncertain_dcg",
]
