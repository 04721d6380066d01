"""A campaign by its name or that of an arm, and how it is run, as its row says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.plan.panel_links import PanelTable
from qrowd_server.protocols.instructions import as_written
from qrowd_server.protocols.setting_fields import read
from qrowd_server.protocols.settings import (
    GoldSettings,
    JourneySettings,
    MagnitudeSettings,
    PreferenceSettings,
    Settings,
    journey_of,
    settings_of,
)
from qrowd_server.store import materials
from qrowd_server.store.materials import CampaignRow


@dataclass(frozen=True)
class Arm:
    """One arm of a campaign: how it collects judgments.

    name : "" in a campaign without arms. protocol : its name.
    together : whether all assessors of a topic work on one order of its documents.
    seats : before how many assessors the same pair of one order may be at once.
    instructions : shown with its units where the campaign has none of its own.
    """

    name: str
    protocol: str
    settings: Settings
    together: bool
    seats: int
    instructions: str


@dataclass(frozen=True)
class CampaignSettings:
    """What a campaign's row says of how it is run.

    name, title : of the campaign. arms : by name, in order; a campaign without arms has one, called "".
    lease_seconds : how long a unit is kept for somebody who does nothing.
    question : the settings of the campaign's question, if it has one. gold : how gold questions are used; None without.
    language : of the interface; "" for the one that the browser asks for. guidelines : Markdown. pictures : the digests
    of its pictures, by name. effort : documents of a unit, and about how many minutes it takes.
    """

    name: str
    title: str
    arms: Mapping[str, Arm]
    journey: JourneySettings
    lease_seconds: float
    consent: str
    instructions: str
    practice_instructions: str
    panel: PanelTable | None
    question: Mapping[str, Any] | None
    gold: GoldSettings | None
    language: str
    guidelines: str
    pictures: Mapping[str, str]
    effort: tuple[int, int]
    retention_days: float | None

    @property
    def protocol(self) -> str:
        """The protocol of the only arm; "" where several arms have different ones."""
        return the_protocol({name: arm.protocol for name, arm in self.arms.items()})

    @property
    def lines(self) -> bool:
        """Whether the practice with lines is needed."""
        return any(isinstance(arm.settings, MagnitudeSettings) for arm in self.arms.values())


def read_settings(row: CampaignRow) -> CampaignSettings:
    """How a campaign is run, from its row."""
    table = row.settings
    way, arms = journey_of(table["journey"]), {one["name"]: _arm(one) for one in table["arms"]}
    texts = {key: table[key] for key in ("instructions", "practice_instructions")}
    for name, arm in arms.items():
        if isinstance(arm.settings, MagnitudeSettings):
            texts = {key: as_written(text, arm.settings, way) for key, text in texts.items()}
            arms[name] = replace(arm, instructions=as_written(arm.instructions, arm.settings, way))
    return CampaignSettings(
        name=row.name,
        title=row.title,
        arms=arms,
        journey=way,
        lease_seconds=60.0 * table["lease_minutes"],
        panel=None if table["panel"] is None else read(PanelTable, table["panel"]),
        gold=None if table["gold"] is None else read(GoldSettings, table["gold"]),
        **texts,
        **{key: table[key] for key in ("consent", "question", "language", "guidelines", "pictures")},
        effort=tuple(table["effort"]),
        retention_days=table["retention_days"],
    )


def _arm(table: Mapping[str, Any]) -> Arm:
    settings = settings_of(table["protocol"], table["settings"])
    together = isinstance(settings, PreferenceSettings) and settings.sharing == "shared"
    seats = settings.pair_redundancy if isinstance(settings, PreferenceSettings) and together else 1
    return Arm(table["name"], table["protocol"], settings, together, seats, table["instructions"])


def protocols_of(row: CampaignRow) -> dict[str, str]:
    """{arm: protocol} of a campaign, in order."""
    return {one["name"]: one["protocol"] for one in row.settings["arms"]}


def the_protocol(arms: Mapping[str, str]) -> str:
    """The protocol of the only arm, or of all; "" where they have different ones.

    >>> the_protocol({"": "grades"}), the_protocol({"absolute": "grades", "degrees": "preference"})
    ('grades', '')
    """
    protocols = set(arms.values())
    return protocols.pop() if len(protocols) == 1 else ""


# ---- by name


class NotFoundError(ArgumentError):
    """No such campaign, or no such assessor in it."""


def find(connection: Connection, campaign: str) -> CampaignRow:
    """A campaign by its name."""
    row = materials.find_campaign(connection, campaign)
    if row is None:
        names = ", ".join(one.name for one in materials.campaigns(connection))
        verb = "are" if "," in names else "is"
        raise NotFoundError(f"there is no campaign {campaign!r}; there {verb} {names or 'none yet'}")
    return row


def find_arms(connection: Connection, name: str) -> tuple[CampaignRow, dict[str, str]]:
    """A campaign by its name, with {arm: protocol}; by CAMPAIGN/ARM, with that arm alone."""
    campaign, slash, arm = name.partition("/")
    row = find(connection, campaign)
    arms = protocols_of(row)
    if not slash:
        return row, arms
    if arm not in arms or not arm:
        choices = f"it has {', '.join(arms)}" if "" not in arms else "it has none"
        raise NotFoundError(f"{campaign}: there is no arm {arm!r}; {choices}")
    return row, {arm: arms[arm]}


def only_arm(campaign: str, arms: Mapping[str, str]) -> str:
    """The arm that is meant: the only one."""
    if len(arms) > 1:
        choices = ", ".join(f"{campaign}/{arm}" for arm in arms)
        raise ArgumentError(f"{campaign} has several arms; choose one of {choices}")
    return next(iter(arms))
