"""The arms of a study, from files or from a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from qrowd.cli.options import DATABASE, open_campaigns, option, refuse_campaign, server_extra
from qrowd.errors import ArgumentError

if TYPE_CHECKING:
    from qrowd.model.judgments import Judgments
    from qrowd.model.preferences import Preferences
    from qrowd.reports.arms import ArmsReport

Arms = Annotated[
    list[str] | None,
    option(
        "--arm",
        help="Arms of a study that are compared: tables of preferences or of judgments.",
        panel="Data",
        metavar="NAME=FILE",
    ),
]
Units = Annotated[
    str | None,
    option(help="Table of the units of these arms, as a campaign exports it.", panel="Data", metavar="FILE"),
]


def read_arms(campaign: str, database: str) -> tuple[dict[str, Judgments | Preferences], Any]:
    """What was collected in each arm of a campaign, and its units; nothing for a campaign with one arm."""
    with server_extra():
        from qrowd.collect.campaigns.collected import collected_by_arm
        from qrowd.collect.campaigns.units import campaign_units

    with open_campaigns(database) as store:
        arms = store.read(lambda connection: collected_by_arm(connection, campaign))
        return arms, store.read(lambda connection: campaign_units(connection, campaign)).to_frame() if arms else None


def compared_arms(
    arm: list[str] | None,
    units: str | None,
    campaign: str | None = None,
    database: str = DATABASE,
    **settings: Any,
) -> ArmsReport:
    """The arms of the files, or of a campaign, compared. settings : of `compare_arms`."""
    from qrowd import files
    from qrowd.reports.arms import compare_arms

    if campaign is not None and not arm:
        arms, columns = read_arms(campaign, database)
        return compare_arms(arms, columns, **settings)
    refuse_campaign(campaign)
    arms = {}
    for text in arm or ():
        name, equals, path = text.partition("=")
        if not equals or not name or not path:
            raise ArgumentError(f"--arm {text}: expected NAME=FILE, as in absolute=grades.csv")
        if name in arms:
            raise ArgumentError(f"--arm {text}: there are two arms of this name; rename one")
        arms[name] = files.read_answers(path)
    return compare_arms(arms, None if units is None else files.read_columns(units), **settings)
