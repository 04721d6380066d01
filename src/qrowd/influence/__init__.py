"""What a result depends on: which judgments carry a difference between systems.

fragility       the least number of judgments that would have to change for a difference to reverse its sign
"""

from qrowd.influence.fragility import Fragility, FragilityChanges, fragility
from qrowd.model.arguments import accept_objects

__all__ = ["Fragility", "FragilityChanges", "fragility"]

accept_objects(globals())
