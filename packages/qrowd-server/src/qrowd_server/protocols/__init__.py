"""How judgments are collected: who is shown what next, and when it is enough. Pure decisions, no database, no page.

PROTOCOLS                          magnitude, grades, preference: one value each, by name
Protocol, Task, Material, Question, Rows      what every protocol is, and what it works on
MagnitudeSettings, GradesSettings, PreferenceSettings, JourneySettings      their choices, with defaults
settings_of, journey_of, to_table  choices from and to plain tables
Event, Refusal                     what happened, and why something cannot
units_of_topic, slots_of           how a pool is cut into units, and how many assessors each of them needs
Board                              what several assessors know of one topic together

What an assessor can ask for stands in `events`, what they may see in `views`, the way before and between units in
`journey`.
"""

from qrowd_server.protocols.assembly import slots_of, units_of_topic
from qrowd_server.protocols.board import Board
from qrowd_server.protocols.events import Event, Refusal
from qrowd_server.protocols.protocol import Material, Protocol, Question, Rows, Task
from qrowd_server.protocols.registry import PROTOCOLS
from qrowd_server.protocols.settings import (
    GradesSettings,
    JourneySettings,
    MagnitudeSettings,
    PreferenceSettings,
    journey_of,
    settings_of,
    to_table,
)

__all__ = [
    "PROTOCOLS",
    "Board",
    "Event",
    "GradesSettings",
    "JourneySettings",
    "MagnitudeSettings",
    "Material",
    "PreferenceSettings",
    "Protocol",
    "Question",
    "Refusal",
    "Rows",
    "Task",
    "journey_of",
    "settings_of",
    "slots_of",
    "to_table",
    "units_of_topic",
]
