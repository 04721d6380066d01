"""Judging by magnitude estimation: any number above 0, and checks on the whole unit after its last document.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 3.2.2 to 3.2.5.
"""

from __future__ import annotations

from qrowd_server.protocols.numbers import parse_magnitude
from qrowd_server.protocols.protocol import CheckResult, Task
from qrowd_server.protocols.sequence import Sequence, SequenceState
from qrowd_server.protocols.settings import MagnitudeSettings


class MagnitudeProtocol(Sequence):
    """Magnitudes of a unit's documents. They count once H stands above N and no document was rushed (checks c and d).

    A unit that fails may be looked at again and submitted once more, or as often as the settings say.
    """

    name = "magnitude"
    checked = True

    def value(self, task: Task, text: str) -> float:
        return parse_magnitude(text)

    def check(self, task: Task, state: SequenceState) -> CheckResult:
        settings: MagnitudeSettings = task.settings
        material = task.material
        ordered = True
        if material.high is not None and material.low is not None:
            high, low = (
                state.places[task.documents.index(document)].value or 0.0 for document in (material.high, material.low)
            )
            ordered = high > low or (high == low and settings.equal == "passes")
        active = settings.clock == "active"
        least = min((place.attentive if active else place.seconds) for place in state.places)
        return CheckResult(ordered, least >= settings.min_seconds)

    def revisions(self, task: Task) -> int:
        settings: MagnitudeSettings = task.settings
        return settings.revisions
