"""What has been collected so far, as the library reads it: `Judgments` or `Preferences`, while the campaign runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

from sqlalchemy import Connection

from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd_server.campaigns.running.campaign_settings import find_arms, only_arm, read_settings
from qrowd_server.protocols import PREFERENCE
from qrowd_server.protocols.settings import GradesSettings, Settings
from qrowd_server.store import export
from qrowd_server.store.materials import CampaignRow

DRAWN = (
    "campaign {0}: its documents were drawn for its question, which qrowd next --campaign {0} answers; scores by these "
    "judgments alone are biased"
)


def collected(
    connection: Connection, name: str, *, wanted: Literal["judgments", "preferences"] | None = None, names: bool = False
) -> Judgments | Preferences:
    """What a campaign collects, whichever it is, as it stands.

    name : of the campaign, or CAMPAIGN/ARM for one arm. wanted : which arms are meant where some have judgments and
        others preferences. names : people by name, not by pseudonym.
    """
    row, arms = find_arms(connection, name)
    if wanted is not None:
        arms = {arm: one for arm, one in arms.items() if (one == PREFERENCE) == (wanted == "preferences")} or arms
    arm = only_arm(row.name, arms)
    read = preferences if arms[arm] == PREFERENCE else judgments
    return read(connection, f"{row.name}/{arm}" if arm else name, names=names)


def collected_by_arm(connection: Connection, name: str) -> dict[str, Judgments | Preferences]:
    """{arm: what has been collected in it} of a campaign with several arms; empty for one without."""
    row, arms = find_arms(connection, name)
    several = len(arms) > 1
    return {arm: collected(connection, f"{row.name}/{arm}") for arm in arms} if several else {}


def judgments(connection: Connection, name: str, *, everything: bool = False, names: bool = False) -> Judgments:
    """The judgments of a campaign as they stand, with order, unit, seconds, time and comment.

    name : of the campaign, or CAMPAIGN/ARM for one of several arms with judgments.
    everything : also those that do not count: units that failed, were lost or not finished, and excluded assessors.
    names : people by name, not by pseudonym.
    """
    row, arm = _find_arm(connection, name, pairs=False)
    settings = read_settings(row).arms[arm].settings
    rows = export.judgments(connection, row.id, arms=[arm] if arm else None, everything=everything, names=names)
    columns = _columns(rows, export.JUDGMENTS)
    scale = {"*": scale_of(settings)}
    table = Judgments.from_frame(columns, scales=scale) if columns["assessor"] else Judgments.from_rows([])
    if row.settings.get("question") is None:
        return table
    return replace(table, notes=(*table.notes, DRAWN.format(row.name)))


def scale_of(settings: Settings) -> str:
    """The scale of the judgments of an arm."""
    return settings.scale if isinstance(settings, GradesSettings) else "magnitude"


def preferences(connection: Connection, name: str, *, everything: bool = False, names: bool = False) -> Preferences:
    """The preferences and Bad marks of a campaign as they stand; `everything`, `names` as in `judgments`."""
    row, arm = _find_arm(connection, name, pairs=True)
    rows = export.preferences(connection, row.id, arms=[arm] if arm else None, everything=everything, names=names)
    columns = _columns(rows, export.PREFERENCES)
    return Preferences.from_frame(columns) if columns["assessor"] else Preferences.from_rows([])


def _find_arm(connection: Connection, name: str, *, pairs: bool) -> tuple[CampaignRow, str]:
    """The campaign, and its only arm with preferences, or with judgments."""
    row, arms = find_arms(connection, name)
    of_kind = {arm: protocol for arm, protocol in arms.items() if (protocol == PREFERENCE) == pairs}
    if not of_kind:
        reader = "judgments" if pairs else "preferences"
        raise ArgumentError(f"{name}: this campaign collects {', '.join(arms.values())}; read them with {reader}()")
    return row, only_arm(row.name, of_kind)


def _columns(rows: Iterable[Sequence[Any]], names: tuple[str, ...]) -> dict[str, list[Any]]:
    cells = list(rows)
    return {name: [row[i] for row in cells] for i, name in enumerate(names)}
