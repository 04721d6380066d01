"""Every protocol, by the name that campaigns call it."""

from __future__ import annotations

from typing import Any

from qrowd_server.protocols.grades import GradesProtocol
from qrowd_server.protocols.magnitude import MagnitudeProtocol
from qrowd_server.protocols.preference import PreferenceProtocol
from qrowd_server.protocols.protocol import Protocol

PROTOCOLS: dict[str, Protocol[Any]] = {
    protocol.name: protocol for protocol in (MagnitudeProtocol(), GradesProtocol(), PreferenceProtocol())
}
PREFERENCE = PreferenceProtocol.name
