"""Commands about the people of a campaign: what is held about one, deletion, and the end of the retention time."""

from __future__ import annotations

import time
from typing import Annotated, Literal

import typer

from qrowd.cli import options
from qrowd.cli.options import option
from qrowd.cli.output import output_file, write_output
from qrowd.reports.phrases import count
from qrowd_server.cli.database import open_campaigns

Campaign = Annotated[str, typer.Argument(help="Name of the campaign.")]
Person = Annotated[str, typer.Argument(help="Name or pseudonym of the assessor.")]


def person(
    campaign: Campaign,
    name: Person,
    database: options.Database = options.DATABASE,
    delete: Annotated[
        Literal["keep", "withdraw"] | None,
        option(
            help="Delete the person instead: names, platform ids and texts leave tables and log. The answers are kept "
            "under the pseudonym, or withdrawn. With SQLite stop the server first.",
            show_default="nothing is deleted",
        ),
    ] = None,
    output: Annotated[str, output_file("File for the data; - for standard output.")] = "-",
) -> None:
    """Export everything that a campaign holds about a person, as JSON, or delete the person."""
    from qrowd_server.campaigns.running.campaign_settings import find
    from qrowd_server.campaigns.running.privacy import delete_person, find_person, person_json

    if delete is None:
        with open_campaigns(database) as store, store.reading() as connection:
            row = find_person(connection, find(connection, campaign).id, name)
            write_output(output, iter([person_json(connection, row, for_owner=True)]))
        return
    with open_campaigns(database, write=True, create=False) as store:
        row = store.read(lambda connection: find_person(connection, find(connection, campaign).id, name))
        done = store.write(lambda connection: delete_person(connection, campaign, row.id, time.time(), answers=delete))
    texts = count(done.n_texts, "text")
    typer.echo(f"{done.pseudonym} of {campaign} is deleted: {count(done.n_events, 'event')} changed, {texts} removed")
    typer.echo("copies and exports made earlier still hold the person; delete these, too")
    typer.echo("so may unused parts of the database's files until VACUUM: see docs/privacy.md")


def retention(database: options.Database = options.DATABASE, retention_days: options.RetentionDays = None) -> None:
    """Take names and platform ids out of campaigns whose retention time is over, as the server does every day."""
    from qrowd_server.campaigns.running.privacy import apply_retention

    with open_campaigns(database, write=True, create=False) as store:
        done = apply_retention(store, time.time(), default=retention_days)
    for campaign, n in done.items():
        typer.echo(f"{campaign}: {count(n, 'person', 'people')} pseudonymised")
    if not done:
        typer.echo("no campaign is due")
