"""Every protocol, by the name that campaigns call it."""

from __future__ import annotations

from typing import Any

from qrowd.collect.protocols.grades import GradesProtocol
from qrowd.collect.protocols.magnitude import MagnitudeProtocol
from qrowd.collect.protocols.preference import PreferenceProtocol
from qrowd.collect.protocols.protocol import Protocol

PROTOCOLS: dict[str, Protocol[Any]] = {
    protocol.name: protocol for protocol in (MagnitudeProtocol(), GradesProtocol(), PreferenceProtocol())
}
PREFERENCE = PreferenceProtocol.name
