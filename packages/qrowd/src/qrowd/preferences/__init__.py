"""Preferences between documents: how far rankings follow them, and what lies between them and grades."""

from __future__ import annotations

from qrowd.preferences.bradley_terry import BradleyTerry, bradley_terry
from qrowd.preferences.closure import Closure, closure
from qrowd.preferences.inferred import from_grades, to_grades
from qrowd.preferences.position import PositionBias, position_bias
from qrowd.preferences.preference_agreement import (
    GradeAgreement,
    PairwisePreferences,
    PreferenceTable,
    agreement_with_grades,
    pairwise_preferences,
    preference_table,
)
from qrowd.preferences.preference_measures import (
    APPref,
    Compatibility,
    NPPref,
    PairView,
    PPref,
    PreferenceMeasure,
    RPref,
    WPref,
    pairs_of_grades,
)
from qrowd.preferences.system_worths import SystemWorths, system_worths
from qrowd.preferences.transitivity import Cycle, Transitivity, cycles, transitivity

#: Every preference measure, in the order tables list them.
DEFINITIONS: tuple[PreferenceMeasure, ...] = (PPref(), WPref(), RPref(), APPref(), NPPref(), Compatibility())

__all__ = [
    "DEFINITIONS",
    "BradleyTerry",
    "Closure",
    "Cycle",
    "GradeAgreement",
    "PairView",
    "PairwisePreferences",
    "PositionBias",
    "PreferenceMeasure",
    "PreferenceTable",
    "SystemWorths",
    "Transitivity",
    "agreement_with_grades",
    "bradley_terry",
    "closure",
    "cycles",
    "from_grades",
    "pairs_of_grades",
    "pairwise_preferences",
    "position_bias",
    "preference_table",
    "system_worths",
    "to_grades",
    "transitivity",
]
