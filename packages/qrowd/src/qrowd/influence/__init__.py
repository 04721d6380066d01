"""What a result depends on: which judgments carry a difference between systems.

fragility              the least number of judgments that would have to change for a difference to reverse its sign
decompose_difference   a difference as a sum over topics, documents, assessors and judgments, and each of them left out
disagreements          documents on which assessors differ, by what that changes in differences of systems
write_adjudication     these documents as the folder of a campaign, in which one more assessor judges each
"""

from qrowd.influence.decomposition import DecomposedDifference, decompose_difference
from qrowd.influence.disputed_documents import Disagreements, disagreements, write_adjudication
from qrowd.influence.fragility import Fragility, FragilityChanges, fragility

__all__ = [
    "DecomposedDifference",
    "Disagreements",
    "Fragility",
    "FragilityChanges",
    "decompose_difference",
    "disagreements",
    "fragility",
    "write_adjudication",
]
