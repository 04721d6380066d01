"""`qrowd campaign`: campaigns of judging, without a browser."""

from __future__ import annotations

import os
import time
from pathlib import Path
from shlex import quote
from typing import Annotated, Literal

import typer

from qrowd.cli import options
from qrowd.cli.commands import command_group
from qrowd.cli.input_files import show_notes
from qrowd.cli.options import option
from qrowd.cli.output import Output, deliver, output_file, write_output
from qrowd_server.cli.database import open_campaigns, server_address
from qrowd_server.cli.judge_campaign import ask

Name = Annotated[str, typer.Argument(help="Name of the campaign.")]
NameOrArm = Annotated[str, typer.Argument(help="Name of the campaign, or CAMPAIGN/ARM for one of its arms.")]


def init(
    folder: Annotated[str, typer.Argument(help="New or empty folder.")] = "my-campaign",
    protocol: Annotated[
        Literal["grades", "magnitude", "preference"], option(help="What assessors do: the table of settings.")
    ] = "grades",
) -> None:
    """Write a folder with an example campaign, to be changed into your own."""
    from qrowd_server.campaigns.plan.template import write_template

    typer.echo(f"wrote {', '.join(f'{folder}/{name}' for name in write_template(folder, protocol))}")
    typer.echo(f"change them, then: qrowd campaign create {quote(folder)} --check")


def create(
    folder: Annotated[str, typer.Argument(help="Folder with campaign.toml, that file, or an exported archive.")],
    database: options.Database = options.DATABASE,
    check: Annotated[bool, option("--check", help="Only check the folder and report what it holds.")] = False,
) -> None:
    """Create a campaign from a folder: topics, documents, pools of runs, check documents and questions.

    An archive that was exported from a campaign brings it back with its event log.
    """
    from qrowd_server.campaigns.plan.folder import read_folder
    from qrowd_server.campaigns.plan.plan_notes import plan_notes
    from qrowd_server.campaigns.running.creation import create_campaign

    if Path(folder).is_file() and Path(folder).suffix != ".toml":
        import_archive(folder, database)
        return
    plan = read_folder(folder)
    summary = f"{plan.name} ({plan.in_short}: {plan.counted})"
    for note in plan_notes(plan):
        typer.echo(f"note: {note}")
    if check:
        typer.echo(f"{summary} can be created")
        return
    with open_campaigns(database, write=True) as store:
        store.write(lambda connection: create_campaign(connection, plan, time.time()))
    typer.echo(f"{summary} is in {store.database.name}; next: qrowd campaign invite {plan.name} NAME ..., qrowd serve")


Exported = Literal["judgments", "preferences", "duplicates", "units", "gold", "payment", "design", "archive"]


def export(
    name: NameOrArm,
    database: options.Database = options.DATABASE,
    what: Annotated[Exported | None, option(help="What is exported.", show_default="judgments or preferences")] = None,
    everything: Annotated[
        bool,
        option(
            "--everything",
            help="Also export answers that do not count, with the reason: failed, excluded, settled, unranked, ...",
        ),
    ] = False,
    names: options.Names = False,
    format: Annotated[
        Literal["jsonl", "csv", "spreadsheet", "parquet", "qrels"] | None,
        option(help="Format of the file.", panel="Output", show_default="by its ending, else jsonl"),
    ] = None,
    output: Annotated[str, output_file("Export file (.jsonl, .csv, .parquet, .qrels); - for standard output.")] = "-",
) -> None:
    """Export what a campaign has collected."""
    from qrowd_server.campaigns.results.exports import export_rows, format_of, kinds_of, note_names
    from qrowd_server.campaigns.running.campaign_settings import find_arms
    from qrowd_server.campaigns.running.collected import collected

    with open_campaigns(database, write=names, create=False) as store:
        kind: str = what or store.read(lambda connection: kinds_of(find_arms(connection, name)[1].values())[0])
        chosen = format or format_of(output, kind)
        if names:  # which the log of the campaign keeps
            store.write(lambda connection: note_names(connection, name, kind, chosen, time.time()))
        with store.reading() as connection:
            rows = export_rows(connection, name, kind, chosen, everything=everything, names=names, at=time.time())
            write_output(output, rows)
            row, arms = find_arms(connection, name)
            for arm in arms if kind == "judgments" else ():
                show_notes(collected(connection, f"{row.name}/{arm}".rstrip("/")).notes)


def status(
    name: Annotated[str | None, typer.Argument(help="Name of the campaign; default: list all campaigns.")] = None,
    database: options.Database = options.DATABASE,
    new: Annotated[
        Literal["running", "paused", "stopped"] | None,
        option("--set", help="Give the campaign this status, also while the server runs."),
    ] = None,
    per_assessor: Annotated[
        bool, option("--per-assessor", help="Also print the results of each assessor, and their agreement.")
    ] = False,
    names: options.Names = False,
    output: Output = None,
) -> None:
    """Show the progress of all campaigns, or of one; --set pauses it, stops it or lets it go on."""
    from qrowd_server.campaigns.results.campaign_progress import progress
    from qrowd_server.campaigns.results.quality import quality
    from qrowd_server.campaigns.running.admin import CampaignAdmin
    from qrowd_server.cli.campaign_tables import all_campaigns, one_campaign
    from qrowd_server.store.materials import campaigns

    if name is None:
        with open_campaigns(database) as store, store.reading() as connection:
            rows = [progress(connection, row.name, time.time()) for row in campaigns(connection)]
        deliver(all_campaigns(rows), output)
        return
    if new is not None:
        import asyncio

        with open_campaigns(database, write=True, create=False) as store:
            asyncio.run(CampaignAdmin(store).set_status(name, new))
    with open_campaigns(database) as store, store.reading() as connection:
        counts = progress(connection, name, time.time())
        arms = [f"{name}/{arm}" for arm in counts.arms] or [name]
        qualities = [quality(connection, arm, time.time(), names=names) for arm in arms] if per_assessor else []
        document = one_campaign(counts, qualities)
    deliver(document, output)


def invite(
    name: Name,
    assessors: Annotated[list[str], typer.Argument(help="Names of the assessors, who get one link each.")],
    database: options.Database = options.DATABASE,
    further: Annotated[
        bool, option("--further", help="Also make a further link for assessors who have one, which stays valid.")
    ] = False,
    base_url: Annotated[
        str | None,
        option(
            help="Address of the server, as browsers see it.",
            metavar="URL",
            show_default="that of the last qrowd serve, else http://127.0.0.1:8000",
        ),
    ] = None,
) -> None:
    """Create login links for assessors, also while the server runs. A link is shown once."""
    from qrowd_server.campaigns.running.campaign_settings import find
    from qrowd_server.store.invitation_links import invite_all

    remedy = "leave the name out, or make a further link with --further"
    with open_campaigns(database, write=True, create=False) as store:
        links = store.write(
            lambda connection: invite_all(
                connection, find(connection, name).id, assessors, time.time(), again=further, remedy=remedy
            )
        )
        address = base_url or server_address(store)
    for assessor, token in links:
        typer.echo(f"{assessor}\t{address.rstrip('/')}/join/{token}")


def backup(
    path: Annotated[str, typer.Argument(help="New file for the copy.")], database: options.Database = options.DATABASE
) -> None:
    """Copy a SQLite database, also while a server uses it."""
    from qrowd_server.store.sqlite import backup as copy

    with open_campaigns(database) as store:
        copy(store, path)
    typer.echo(f"{path} is a copy of {database}")


# ---- commands that write whole campaigns


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
    with open_campaigns(database, write=True, create=False) as store:
        store.write(lambda connection: change_campaign(connection, plan, time.time()))
    typer.echo(f"{plan.name} is changed")


def import_archive(archive: str, database: str) -> None:
    """Import a campaign and its event log from an archive."""
    from qrowd.errors import FileError, RowError
    from qrowd.files import read_bytes
    from qrowd_server.campaigns.results.archive import read_archive

    lines = read_bytes(Path(archive)).splitlines()
    with open_campaigns(database, write=True) as store:
        try:
            name = store.write(lambda connection: read_archive(connection, lines))
        except RowError as error:
            raise FileError(archive, error.problem, error.row) from None
    typer.echo(f"{name} is in {store.database.name}")


def delete(
    name: Name,
    database: options.Database = options.DATABASE,
    names: options.Names = False,
    output: Annotated[
        str | None, output_file("New file for all that the campaign holds.", show_default="NAME-DATE.archive")
    ] = None,
) -> None:
    """Delete a stopped campaign, after an archive of it is written; qrowd campaign create brings it back."""
    from qrowd import files
    from qrowd.errors import FileError
    from qrowd_server.campaigns.results.exports import export_rows, note_names
    from qrowd_server.campaigns.running.campaign_settings import find
    from qrowd_server.campaigns.running.creation import check_stopped, delete_campaign, newest_event

    with open_campaigns(database, write=True, create=False) as store:
        store.read(lambda connection: check_stopped(connection, name))
        if names:
            store.write(lambda connection: note_names(connection, name, "archive", "archive", time.time()))
        with store.reading() as connection:
            file = output or f"{name}-{time.strftime('%Y-%m-%d')}.archive"
            if os.path.exists(file):
                raise FileError(file, "exists; name a new file: --output FILE")
            newest = newest_event(connection, find(connection, name).id)
            files.write_whole(file, export_rows(connection, name, "archive", "jsonl", names=names))
        store.write(lambda connection: delete_campaign(connection, name, newest=newest))
    typer.echo(f"wrote {file}; {name} is deleted from {store.database.name}")
    typer.echo(f"qrowd campaign create {quote(file)} brings it back")


campaign = command_group(
    "Create, watch and export campaigns of judging.", init, create, change, export, status, invite, ask, backup, delete
)
