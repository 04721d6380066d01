"""How far assessors agree.

krippendorff_alpha      one figure, for all or by group, with an interval; alpha_by_gold, by the true grade
cohen_kappa, fleiss_kappa, pairwise_agreement, overlap      pairs of assessors, and all at once
label_table, same_agreement                                 what one says, given what the other said
order_agreement, spread, scale_conflicts                    where scales differ: orders, ratios, contradictions
ease_against_agreement, topic_removal                       topics: what agreement has to do with scores
assessor_profiles       one row an assessor, the outlying ones marked
"""

from qrowd.agreement.alpha import Alpha, AlphaBy, krippendorff_alpha
from qrowd.agreement.assessors import AssessorProfiles, assessor_profiles
from qrowd.agreement.by_topic import EaseAgreement, TopicRemoval, ease_against_agreement, topic_removal
from qrowd.agreement.conflicts import Conflicts, scale_conflicts
from qrowd.agreement.gold import AlphaByGold, MatchedSize, alpha_by_gold, alpha_of_matched_subsets
from qrowd.agreement.kappa import FleissKappa, Kappa, cohen_kappa, fleiss_kappa
from qrowd.agreement.order import OrderAgreement, order_agreement
from qrowd.agreement.overlap import Overlap, overlap
from qrowd.agreement.pairwise import (
    AgreementTest,
    LabelTable,
    PairwiseAgreement,
    label_table,
    pairwise_agreement,
    same_agreement,
)
from qrowd.agreement.spread import Spread, spread

__all__ = [
    "AgreementTest",
    "Alpha",
    "AlphaBy",
    "AlphaByGold",
    "AssessorProfiles",
    "Conflicts",
    "EaseAgreement",
    "FleissKappa",
    "Kappa",
    "LabelTable",
    "MatchedSize",
    "OrderAgreement",
    "Overlap",
    "PairwiseAgreement",
    "Spread",
    "TopicRemoval",
    "alpha_by_gold",
    "alpha_of_matched_subsets",
    "assessor_profiles",
    "cohen_kappa",
    "ease_against_agreement",
    "fleiss_kappa",
    "krippendorff_alpha",
    "label_table",
    "order_agreement",
    "overlap",
    "pairwise_agreement",
    "same_agreement",
    "scale_conflicts",
    "spread",
    "topic_removal",
]
