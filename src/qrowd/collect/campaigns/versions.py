"""The versions of a campaign, as the log has them: 1 when it is created, one more with every event `changed`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from qrowd.collect.store import events, materials
from qrowd.collect.store.materials import CampaignRow

CHANGED = "changed"


def history_of(changes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the settings of a campaign keep of its earlier versions, from the data of its events `changed`.

    lease_minutes : of each version, from the first. consent : the version in which its text became what it is.

    >>> history_of([{"version": 2, "lease_minutes": [60.0, 30.0], "reworded": ["campaign.consent"]}])
    {'lease_minutes': [60.0, 30.0], 'consent': 2}
    """
    if not changes:
        return {}
    leases = [changes[0]["lease_minutes"][0], *(one["lease_minutes"][1] for one in changes)]
    consent = max((one["version"] for one in changes if "campaign.consent" in one["reworded"]), default=1)
    return {"lease_minutes": leases, "consent": consent}


def restore_versions(connection: Connection, row: CampaignRow) -> None:
    """Write the version of a campaign, and what its settings keep of earlier ones, as the log has them."""
    changes = [one.data for one in events.of_kind(connection, row.id, CHANGED)]
    settings = {key: value for key, value in row.settings.items() if key != "history"}
    if changes:
        settings["history"] = history_of(changes)
    if settings != row.settings or row.version != 1 + len(changes):
        materials.change_campaign(connection, row.id, {"settings": settings, "version": 1 + len(changes)})
