"""`qrowd check`: what is in these files."""

from __future__ import annotations

from typing import Annotated

import typer


def check(
    paths: Annotated[list[str], typer.Argument(metavar="FILES", help="Runs and judgments in any mixture.")],
    assessor: Annotated[str, typer.Option(help="Who judged: the 'file', or 'column' 2 of the qrels.")] = "file",
) -> None:
    """What is in these files: topics, documents, assessors, scales, ties, repeats, gaps, mistakes."""
    from qrowd.cli.show import console, show_table
    from qrowd.reports.document import Table
    from qrowd.reports.inspection import inspect

    found = inspect(paths, assessor)
    out = console()
    if rows := found.run_rows():
        show_table(out, Table("runs", ["system", "topics", "documents", "list length", "lists with ties"], rows))
    if rows := found.judgment_rows():
        header = ["assessor", "scale", "judgments", "topics", "of the pool", "repeats", "values"]
        show_table(out, Table("judgments", header, rows))
    for remark in found.remarks():
        out.print(remark, markup=False)
    for mistake in found.mistakes:
        out.print(f"mistake: {mistake}", markup=False, style="red", soft_wrap=True)
    if found.mistakes:
        raise typer.Exit(2)
    out.print("no mistakes found")
