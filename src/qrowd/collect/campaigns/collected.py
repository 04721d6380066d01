"""What has been collected so far, as the library reads it: `Judgments` or `Preferences`, while the campaign runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlalchemy import Connection

from qrowd.collect.campaigns.state import find, read_settings
from qrowd.collect.protocols.registry import PREFERENCE
from qrowd.collect.protocols.settings import GradesSettings, PreferenceSettings
from qrowd.collect.store import export
from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.labels import factorize
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
    (topic, topics), (document, documents), (who, assessors) = (
        factorize(columns[label]) for label in ("topic", "document", "assessor")
    )
    scale = settings.scale if isinstance(settings, GradesSettings) else "magnitude"
    return Judgments.from_codes(
        topics,
        documents,
        assessors,
        topic,
        document,
        who,
        np.array(columns["value"], np.float64),
        scales={"*": scale} if assessors else None,
        order=np.array(columns["order"], np.float64),
        unit=np.array(columns["unit"], object),
        seconds=np.array(columns["seconds"], np.float64),
        time=np.array(columns["time"], object),
        comment=np.array(columns["comment"], object),
    )


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


def _columns(rows: Any, names: tuple[str, ...]) -> dict[str, list[Any]]:
    listed = list(rows)
    return {name: [row[i] for row in listed] for i, name in enumerate(names)}
