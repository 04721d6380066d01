"""`qrowd check`: what files contain."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli import input_files as reading
from qrowd.cli import options
from qrowd.cli.input_files import columns_named
from qrowd.cli.output import Output, is_standard_output, name_with_ending, write_output


def check(
    paths: Annotated[
        list[str], typer.Argument(metavar="FILES", help="Files of runs, judgments and preferences, in any order.")
    ],
    assessor: options.Assessor = "file",
    system: options.System = "file",
    format: options.Format = "auto",
    columns: reading.Columns = None,
    labels: reading.Labels = None,
    incomplete_rows: reading.IncompleteRows = "refuse",
    identical_rows: reading.IdenticalRows = "keep",
    output: Output = None,
) -> None:
    """Show what files contain, how they are read, and the mistakes in them."""
    from qrowd.cli.output import say, show_table
    from qrowd.cli.progress import progress
    from qrowd.reports.document import render
    from qrowd.reports.inspection import inspect

    with progress("reading files") as advance:
        inspection = inspect(
            paths,
            assessor=assessor,
            system=system,
            format=format,
            columns=columns_named(columns),
            labels=labels,
            incomplete_rows=incomplete_rows,
            identical_rows=identical_rows,
            progress=advance,
        )
    if output is not None:
        write_output(output, render(inspection.to_document(), name_with_ending(output)))
        if is_standard_output(output):
            raise typer.Exit(2 if inspection.mistakes else 0)
    for table in inspection.tables():
        show_table(table)
    for remark in inspection.remarks():
        say(remark)
    for mistake in inspection.mistakes:
        say(f"mistake: {mistake}", fg="red")
    if inspection.mistakes:
        raise typer.Exit(2)
    say("no mistakes found")
