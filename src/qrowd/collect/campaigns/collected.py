"""What has been collected so far, as the library reads it: `Judgments` or `Preferences`, while the campaign runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection

from qrowd.collect.campaigns.state import find, read_settings
from qrowd.collect.protocols.registry import PREFERENCE
from qrowd.collect.protocols.settings import GradesSettings, PreferenceSettings
from qrowd.collect.store import export
from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences


def collected(connection: Connection, name: str) -> Judgments | Preferences:
    """What a campaign collects, whichever it is, as it stands.

    Raises
    ------
    ArgumentError
        There is no such campaign.
    """
    read = preferences if find(connection, name).protocol == PREFERENCE else judgments
    return read(connection, name)


def judgments(connection: Connection, name: str, *, everything: bool = False) -> Judgments:
    """The judgments of a campaign as they stand, with order, unit, seconds, time and comment.

    everything : also those that do not count: units that failed, were lost or not finished, and excluded assessors.

    Raises
    ------
    ArgumentError
        There is no such campaign, or it collects preferences.
    """
    row = find(connection, name)
    settings = read_settings(row).settings
    if isinstance(settings, PreferenceSettings):
        raise ArgumentError(f"{name}: this campaign collects preferences; read them with preferences()")
    columns = _columns(export.judgments(connection, row.id, everything=everything), export.JUDGMENTS)
    scale = settings.scale if isinstance(settings, GradesSettings) else "magnitude"
    return Judgments.from_frame(columns, scales={"*": scale} if columns["assessor"] else None)


def preferences(connection: Connection, name: str, *, everything: bool = False) -> Preferences:
    """The preferences and Bad marks of a campaign as they stand; `everything` as in `judgments`.

    Raises
    ------
    ArgumentError
        There is no such campaign, or it collects judgments.
    """
    row = find(connection, name)
    if not isinstance(read_settings(row).settings, PreferenceSettings):
        raise ArgumentError(f"{name}: this campaign collects {row.protocol}; read them with judgments()")
    columns = _columns(export.preferences(connection, row.id, everything=everything), export.PREFERENCES)
    return Preferences.from_frame(columns)


def _columns(rows: Iterable[Sequence[Any]], names: tuple[str, ...]) -> dict[str, list[Any]]:
    cells = list(rows)
    return {name: [row[i] for row in cells] for i, name in enumerate(names)}
