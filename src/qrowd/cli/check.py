"""`qrowd check`: what files contain."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli.options import Assessor


def check(
    paths: Annotated[list[str], typer.Argument(metavar="FILES", help="Files of runs and judgments, in any order.")],
    assessor: Assessor = "file",
) -> None:
    """Show what files of runs and judgments contain, and the mistakes in them."""
    from qrowd.cli.show import console, show_table
    from qrowd.reports.inspection import inspect

    inspection = inspect(paths, assessor)
    for table in inspection.tables():
        show_table(table)
    out = console()
    for remark in inspection.remarks():
        out.print(remark, markup=False)
    for mistake in inspection.mistakes:
        out.print(f"mistake: {mistake}", markup=False, style="red", soft_wrap=True)
    if inspection.mistakes:
        raise typer.Exit(2)
    out.print("no mistakes found")
