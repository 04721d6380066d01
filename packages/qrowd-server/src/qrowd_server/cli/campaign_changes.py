"""`qrowd campaign change`, `import` and `delete`: commands that write whole campaigns."""

from __future__ import annotations

import os
import time
from shlex import quote
from typing import Annotated

import typer

from qrowd.cli import options
from qrowd.cli.options import option
from qrowd_server.cli.database import open_campaigns

Name = Annotated[str, typer.Argument(help="Name of the campaign.")]


def change(
    folder: Annotated[str, typer.Argument(help="Folder with campaign.toml as it shall be, or that file.")],
    database: options.Database = options.DATABASE,
    check: Annotated[bool, option("--check", help="Only report what would change.")] = False,
) -> None:
    """Change a campaign after its start: further topics, documents and assessors, corrected texts; server or not."""
    from qrowd_server.campaigns.plan.folder import read_folder
    from qrowd_server.campaigns.running.changes import change_campaign, planned_changes

    plan = read_folder(folder)
    with open_campaigns(database) as store:
        lines = store.read(lambda connection: planned_changes(connection, plan)).lines
    typer.echo("\n".join(lines or [f"{plan.name}: nothing would change"]))
    if check or not lines:
        return
    with open_campaigns(database, write=True, beside_server=True, create=False) as store:
        store.write(lambda connection: change_campaign(connection, plan, time.time()))
    typer.echo(f"{plan.name} is changed")


def import_(
    archive: Annotated[str, typer.Argument(help="Archive that was exported from a campaign.")],
    database: options.Database = options.DATABASE,
) -> None:
    """Import a campaign and its event log from an archive."""
    from pathlib import Path

    from qrowd.errors import FileError, RowError
    from qrowd_server.campaigns.results.archive import read_archive

    try:
        lines = Path(archive).read_bytes().splitlines()
    except OSError as error:
        raise FileError(archive, f"cannot be read: {(error.strerror or str(error)).lower()}") from None
    with open_campaigns(database, write=True, beside_server=True) as store:
        try:
            name = store.write(lambda connection: read_archive(connection, lines))
        except RowError as error:
            raise FileError(archive, error.problem, error.row) from None
    typer.echo(f"{name} is in {database}")


def delete(
    name: Name,
    archive: Annotated[
        str | None,
        option(help="New file for all that the campaign holds.", metavar="FILE", show_default="NAME-DATE.archive"),
    ] = None,
    database: options.Database = options.DATABASE,
    names: options.Names = False,
) -> None:
    """Delete a stopped campaign, after an archive of it is written; qrowd campaign import brings it back."""
    from qrowd import files
    from qrowd.errors import FileError
    from qrowd_server.campaigns.results.exports import export_rows, note_names
    from qrowd_server.campaigns.running.campaign_settings import find
    from qrowd_server.campaigns.running.creation import check_stopped, delete_campaign, newest_event

    with open_campaigns(database, write=True, beside_server=True, create=False) as store:
        store.read(lambda connection: check_stopped(connection, name))
        if names:
            store.write(lambda connection: note_names(connection, name, "archive", "archive", time.time()))
        with store.reading() as connection:
            file = archive or f"{name}-{time.strftime('%Y-%m-%d')}.archive"
            if os.path.exists(file):
                raise FileError(file, "exists; name a new file: --archive FILE")
            newest = newest_event(connection, find(connection, name).id)
            files.write_whole(file, export_rows(connection, name, "archive", "jsonl", names=names))
        store.write(lambda connection: delete_campaign(connection, name, newest=newest))
    typer.echo(f"wrote {file}; {name} is deleted from {database}")
    typer.echo(f"qrowd campaign import {quote(file)} brings it back")
