"""`qrowd campaign`: judgments under way, without a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli.options import DATABASE, open_campaigns, server_extra

campaign = typer.Typer(
    help="Collect judgments: create, watch, export and keep campaigns (qrowd serve is where they are judged).",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Database = Annotated[
    str, typer.Option("--database", help="A SQLite file, or postgresql://...", envvar="QROWD_DATABASE")
]
Name = Annotated[str, typer.Argument(help="The campaign.")]


@campaign.command()
def create(
    folder: Annotated[str, typer.Argument(help="A folder with campaign.toml, or one such file.")],
    database: Database = DATABASE,
    check: Annotated[bool, typer.Option("--check", help="Only read the folder and say what is in it.")] = False,
) -> None:
    """Create a campaign from a folder: topics, documents, pools from runs, check documents, questions."""
    import time

    with server_extra():
        from qrowd.collect.campaigns.creation import create_campaign
        from qrowd.collect.campaigns.folder import read_folder
    plan = read_folder(folder)
    if check:
        typer.echo(f"{plan.name} ({plan.protocol}: {plan.counted}) can be created")
        return
    with open_campaigns(database, write=True) as store:
        store.write(lambda connection: create_campaign(connection, plan, time.time()))
    told = f"{plan.name} ({plan.protocol}: {plan.counted})"
    typer.echo(f"{told} is in {database}; next: qrowd campaign invite {plan.name} NAME ... and qrowd serve")


@campaign.command("import")
def import_(
    archive: Annotated[str, typer.Argument(help="A file that was exported as an archive.")],
    database: Database = DATABASE,
) -> None:
    """Read a whole campaign, with everything that happened in it, from an archive."""
    from pathlib import Path

    from qrowd.errors import FileError, RowError

    with server_extra():
        from qrowd.collect.campaigns.archive import read_archive
    try:
        lines = Path(archive).read_bytes().splitlines()
    except OSError as error:
        raise FileError(archive, f"cannot be read: {(error.strerror or str(error)).lower()}") from None
    with open_campaigns(database, write=True) as store:
        try:
            name = store.write(lambda connection: read_archive(connection, lines))
        except RowError as error:
            raise FileError(archive, error.problem, error.row) from None
    typer.echo(f"{name} is in {database}")


@campaign.command()
def export(
    name: Name,
    database: Database = DATABASE,
    what: Annotated[
        str | None,
        typer.Option(help="judgments | preferences | duplicates | revisions | archive; without: what was asked for."),
    ] = None,
    form: Annotated[str, typer.Option(help="jsonl | csv | spreadsheet | parquet | qrels | prefs")] = "jsonl",
    everything: Annotated[
        bool, typer.Option("--everything", help="Also what does not count: failed, lost, unfinished, excluded.")
    ] = False,
    output: Annotated[str, typer.Option("-o", "--output", help="The file; - for standard output.")] = "-",
) -> None:
    """Write what was collected to a file that the library reads."""
    import sys

    from qrowd import files

    with server_extra():
        from qrowd.collect.campaigns.admin import find
        from qrowd.collect.campaigns.exports import export_rows, kinds_of
    with open_campaigns(database) as store, store.reading() as connection:
        kind = what or kinds_of(find(connection, name).protocol)[0]
        pieces = export_rows(connection, name, kind, form, everything=everything)
        if output == "-":
            for piece in pieces:
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
        else:
            files.write_whole(output, pieces)


@campaign.command()
def status(
    name: Annotated[str | None, typer.Argument(help="The campaign; without: all of them.")] = None,
    database: Database = DATABASE,
    assessors: Annotated[
        bool, typer.Option("--assessors", help="Also every assessor, and how well they agree.")
    ] = False,
) -> None:
    """How far campaigns are."""
    import time

    from qrowd.cli.campaign_tables import all_campaigns, one_campaign
    from qrowd.cli.show import show

    with server_extra():
        from qrowd.collect.campaigns.progress import progress
        from qrowd.collect.campaigns.quality import quality
        from qrowd.collect.store.materials import campaigns
    with open_campaigns(database) as store, store.reading() as connection:
        if name is None:
            document = all_campaigns([progress(connection, row.name, time.time()) for row in campaigns(connection)])
        else:
            found = progress(connection, name, time.time())
            document = one_campaign(found, quality(connection, name) if assessors else None)
    show(document)


@campaign.command()
def owner(
    name: Annotated[str, typer.Argument(help="What the account is called.")],
    database: Database = DATABASE,
) -> None:
    """Make an account that runs campaigns in the browser; the password is asked for."""
    import time

    with server_extra():
        from qrowd.collect.store.accounts import add_account, hash_password
    with open_campaigns(database, write=True) as store:
        password = hash_password(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
        store.write(lambda connection: add_account(connection, name, password, time.time()))
    typer.echo(f"{name} can log in at /owner/login")


@campaign.command()
def invite(
    name: Name,
    assessors: Annotated[list[str], typer.Argument(help="What assessors are called, one link each.")],
    database: Database = DATABASE,
    base_url: Annotated[str, typer.Option(help="The server's address.")] = "http://127.0.0.1:8000",
) -> None:
    """Make links for assessors; each is shown once, and replaces an earlier one."""
    import time

    with server_extra():
        from qrowd.collect.campaigns.admin import find
        from qrowd.collect.store.accounts import invite as make_link
    with open_campaigns(database, write=True) as store:
        tokens = store.write(
            lambda connection: [
                make_link(connection, find(connection, name).id, assessor, time.time()) for assessor in assessors
            ]
        )
    for assessor, token in zip(assessors, tokens, strict=True):
        typer.echo(f"{assessor}\t{base_url.rstrip('/')}/join/{token}")


@campaign.command("set-status")
def set_status(
    name: Name,
    status: Annotated[str, typer.Argument(help="running | paused | stopped")],
    database: Database = DATABASE,
) -> None:
    """Let a campaign run, pause or stop."""
    import asyncio

    with server_extra():
        from qrowd.collect.campaigns.admin import CampaignAdmin
    with open_campaigns(database, write=True) as store:
        typer.echo(f"{name} is {asyncio.run(CampaignAdmin(store).set_status(name, status))}")


@campaign.command()
def rebuild(name: Name, database: Database = DATABASE) -> None:
    """Work the tables of a campaign out again from its events, which are the truth."""
    with server_extra():
        from qrowd.collect.campaigns.rebuild import rebuild as again
    with open_campaigns(database, write=True) as store:
        n = store.write(lambda connection: again(connection, name))
    typer.echo(f"{name}: {n} events")


@campaign.command()
def backup(
    path: Annotated[str, typer.Argument(help="The copy; a new file.")],
    database: Database = DATABASE,
) -> None:
    """Copy a SQLite database, also while it is served."""
    with server_extra():
        from qrowd.collect.store.backup import backup as copy
    with open_campaigns(database) as store:
        copy(store, path)
    typer.echo(f"{path} is a copy of {database}")
