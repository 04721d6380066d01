"""A campaign, or one of its arms, by the name that somebody gives."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.running.state import protocols_of
from qrowd_server.store import materials
from qrowd_server.store.materials import CampaignRow


class NotFoundError(ArgumentError):
    """No such campaign, or no such assessor in it."""


def find(connection: Connection, campaign: str) -> CampaignRow:
    """A campaign by its name.

    Raises
    ------
    NotFoundError
        There is none.
    """
    row = materials.find_campaign(connection, campaign)
    if row is None:
        names = ", ".join(one.name for one in materials.campaigns(connection))
        others = f"{'are' if ',' in names else 'is'} {names or 'none yet'}"
        raise NotFoundError(f"there is no campaign {campaign!r}; there {others}")
    return row


def find_arms(connection: Connection, name: str) -> tuple[CampaignRow, dict[str, str]]:
    """A campaign by its name, with {arm: protocol}; by CAMPAIGN/ARM, with that arm alone.

    Raises
    ------
    NotFoundError
        There is no such campaign, or no such arm of it.
    """
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
    """The arm that is meant: the only one.

    Raises
    ------
    ArgumentError
        There are several.
    """
    if len(arms) > 1:
        choices = ", ".join(f"{campaign}/{arm}" for arm in arms)
        raise ArgumentError(f"{campaign} has several arms; choose one of {choices}")
    return next(iter(arms))
