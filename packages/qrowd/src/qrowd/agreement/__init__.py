"""Agreement of assessors.

krippendorff_alpha      all assessors, for all documents or by group
cohen_kappa, fleiss_kappa, pairwise_agreement      two assessors, many, each pair
intraclass_correlation, document_dispersion     share of variance between documents; variance and entropy of each
label_table     one assessor's value given another's
ease_correlation        agreement by topic, compared with the ease of topics for systems
assessor_profiles       statistics of each assessor; outlying assessors are marked
"""

from qrowd.agreement.alpha import Alpha, krippendorff_alpha
from qrowd.agreement.assessor_profiles import assessor_profiles
from qrowd.agreement.by_topic import ease_correlation
from qrowd.agreement.dispersion import document_dispersion
from qrowd.agreement.icc import intraclass_correlation
from qrowd.agreement.kappa import cohen_kappa, fleiss_kappa
from qrowd.agreement.pairwise import label_table, pairwise_agreement

__all__ = [
    "Alpha",
    "assessor_profiles",
    "cohen_kappa",
    "document_dispersion",
    "ease_correlation",
    "fleiss_kappa",
    "intraclass_correlation",
    "krippendorff_alpha",
    "label_table",
    "pairwise_agreement",
]
