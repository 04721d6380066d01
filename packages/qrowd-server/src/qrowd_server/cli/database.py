"""The database of campaigns, for the commands of the server and for `--campaign` in those of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from qrowd.errors import ArgumentError

if TYPE_CHECKING:
    import pandas
    from sqlalchemy import Connection

    from qrowd.model.judgments import Judgments
    from qrowd.model.preferences import Preferences
    from qrowd.model.runs import Runs
    from qrowd_server.store.base import Store


def read_campaign(
    database: str, name: str, wanted: Literal["judgments", "preferences", "runs"], **options: bool
) -> Judgments | Preferences | Runs | None:
    """What a campaign, or CAMPAIGN/ARM, has collected, or its runs. options : names and final, as in `judgments`."""
    from qrowd_server.campaigns.running.collected import collected, kept_runs

    with open_campaigns(database) as store:
        if wanted == "runs":
            return store.read(lambda connection: kept_runs(connection, name))
        return store.read(lambda connection: collected(connection, name, wanted=wanted, **options))


def read_arms(database: str, name: str) -> tuple[dict[str, Judgments | Preferences], pandas.DataFrame]:
    """What was collected in each arm of a campaign, and its units."""
    from qrowd_server.campaigns.running.campaign_settings import find_arms
    from qrowd_server.campaigns.running.collected import collected

    with open_campaigns(database) as store, store.reading() as connection:
        row, arms = find_arms(connection, name)
        if len(arms) < 2:
            raise ArgumentError(f"--campaign {name}: it has one arm, so there is nothing to compare")
        return {arm: collected(connection, f"{row.name}/{arm}") for arm in arms}, unit_frame(connection, name)


def unit_frame(connection: Connection, name: str) -> pandas.DataFrame:
    """The units of a campaign as a data frame."""
    import pandas

    from qrowd_server.campaigns.results.exports import UNITS, unit_rows

    units = pandas.DataFrame(unit_rows(connection, name), columns=UNITS)
    return units.astype(dict.fromkeys(("seconds", "started", "ended", "confidence", "understanding"), float))


def read_design(database: str, name: str) -> dict[str, Any] | None:
    """The question of a campaign and what was drawn for it, as options of `next_judgments`; None without a question."""
    from qrowd_server.campaigns.running.campaign_settings import find_arms
    from qrowd_server.campaigns.running.question_batches import design_of, question_of

    def read(connection: Connection) -> dict[str, Any] | None:
        row = find_arms(connection, name)[0]
        question = question_of(connection, row)
        return None if question is None else question.options(design=design_of(connection, row))

    with open_campaigns(database) as store:
        return store.read(read)


def open_campaigns(database: str, *, write: bool = False, create: bool = True) -> Store:
    """The store, to read or to write it also while a server writes to it."""
    from qrowd_server.store.engine import open_store

    return open_store(database, create=create, read_only=not write, beside_server=True)


def server_address(store: Store) -> str:
    """The address of the last server of a database."""
    from qrowd_server.store.sessions import BASE_URL, get_setting

    return store.read(lambda connection: get_setting(connection, BASE_URL)) or "http://127.0.0.1:8000"
