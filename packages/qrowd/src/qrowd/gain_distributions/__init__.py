"""Gain distributions: evaluation that keeps what assessors disagree about.

    Judgments ---> gain_distributions           what each document gains, as a distribution
                       |---> interval_dcg       the least and the most a list gains
                       |---> uncertain_dcg      mean and s.d. of what it gains
                       |---> agreement_aware_ndcg    against the ideal ranking

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, section 6.
"""

from qrowd.gain_distributions.cumulated import IntervalDCG, UncertainDCG, interval_dcg, uncertain_dcg
from qrowd.gain_distributions.distributions import GainDistributions, gain_distributions
from qrowd.gain_distributions.normalised import AgreementAware, agreement_aware_ndcg

__all__ = [
    "AgreementAware",
    "GainDistributions",
    "IntervalDCG",
    "UncertainDCG",
    "agreement_aware_ndcg",
    "gain_distributions",
    "interval_dcg",
    "uncertain_dcg",
]
