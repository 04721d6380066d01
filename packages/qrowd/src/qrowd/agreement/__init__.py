"""Agreement of assessors.

krippendorff_alpha, alpha_by_gold       all assessors, for all documents, by group, or by gold grade
cohen_kappa, fleiss_kappa, pairwise_agreement, overlap      two assessors, many, each pair
intraclass_correlation, document_dispersion     share of variance between documents; variance and entropy of each
label_table, equal_agreement_test       one assessor's value given another's
ease_correlation, topic_removal         agreement by topic, compared with scores of systems
assessor_profiles       statistics of each assessor; outlying assessors are marked
"""

from qrowd.agreement.alpha import Alpha, Alphas, krippendorff_alpha
from qrowd.agreement.assessors import AssessorProfiles, assessor_profiles
from qrowd.agreement.by_topic import EaseCorrelation, TopicRemoval, ease_correlation, topic_removal
from qrowd.agreement.dispersion import DocumentDispersion, TopicDispersion, document_dispersion
from qrowd.agreement.gold import AlphaByGold, MatchedSize, alpha_by_gold, alpha_of_matched_subsets
from qrowd.agreement.icc import IntraclassCorrelation, intraclass_correlation
from qrowd.agreement.kappa import FleissKappa, Kappa, cohen_kappa, fleiss_kappa
from qrowd.agreement.overlap import Overlap, overlap
from qrowd.agreement.pairwise import (
    AgreementTest,
    LabelTable,
    PairwiseAgreement,
    equal_agreement_test,
    label_table,
    pairwise_agreement,
)

__all__ = [
    "AgreementTest",
    "Alpha",
    "AlphaByGold",
    "Alphas",
    "AssessorProfiles",
    "DocumentDispersion",
    "EaseCorrelation",
    "FleissKappa",
    "IntraclassCorrelation",
    "Kappa",
    "LabelTable",
    "MatchedSize",
    "Overlap",
    "PairwiseAgreement",
    "TopicDispersion",
    "TopicRemoval",
    "alpha_by_gold",
    "alpha_of_matched_subsets",
    "assessor_profiles",
    "cohen_kappa",
    "document_dispersion",
    "ease_correlation",
    "equal_agreement_test",
    "fleiss_kappa",
    "intraclass_correlation",
    "krippendorff_alpha",
    "label_table",
    "overlap",
    "pairwise_agreement",
    "topic_removal",
]
