"""How judgments are collected: who is shown what next, and when it is enough. Pure decisions, no database, no page.

PROTOCOLS                  magnitude, grades, preference: one value each, by name
Protocol, Task, Material   what every protocol is
Event                      what happened
MagnitudeSettings         choices of the magnitude protocol; those of the others stand in `settings`

protocol   also Question and Rows, which protocols work on    settings   choices from and to tables, presets
events     what an assessor can ask for, and Refusal          views      what they may see
assembly   how a pool is cut into units, and for how many assessors       board      what several know of one topic
journey    the way before and between units
"""

from __future__ import annotations

from typing import Any

from qrowd_server.protocols.events import Event
from qrowd_server.protocols.grades import GradesProtocol
from qrowd_server.protocols.magnitude_protocol import MagnitudeProtocol
from qrowd_server.protocols.preference_protocol import PreferenceProtocol
from qrowd_server.protocols.protocol import Material, Protocol, Task
from qrowd_server.protocols.settings import MagnitudeSettings

__all__ = ["PROTOCOLS", "Event", "MagnitudeSettings", "Material", "Protocol", "Task"]


PROTOCOLS: dict[str, Protocol[Any]] = {
    protocol.name: protocol for protocol in (MagnitudeProtocol(), GradesProtocol(), PreferenceProtocol())
}
PREFERENCE = PreferenceProtocol.name
