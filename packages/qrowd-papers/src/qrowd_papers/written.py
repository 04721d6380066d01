"""What a study writes: its page, its tables and its figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from qrowd import files
from qrowd.cli.options import option
from qrowd.cli.output import Output, deliver
from qrowd.reports.document import Document
from qrowd.reports.plots.style import Figure, render
from qrowd_papers.tables import write_tables


@dataclass(frozen=True)
class Written:
    """What is written beside the page."""

    figures: Annotated[
        str | None, option(help="Folder for the figures with their data.", panel="Output", metavar="FOLDER")
    ] = None
    format: Annotated[Literal["svg", "pdf", "png"], option(help="Format of the figures.", panel="Output")] = "svg"
    tables: Annotated[
        str | None, option(help="Folder for the tables as CSV files.", panel="Output", metavar="FOLDER")
    ] = None
    output: Output = None

    def deliver(self, document: Document, figures: Sequence[Figure] = ()) -> None:
        """Show the document, and write what is asked for."""
        deliver(document, self.output)
        if self.tables is not None:
            typer.echo(f"{len(write_tables(document.tables, self.tables))} files of tables in {self.tables}")
        if self.figures is not None:
            write_figures(figures, self.figures, format=self.format)
            typer.echo(f"{len(figures)} figures with their data in {self.figures}")


def write_figures(drawings: Sequence[Figure], folder: str, *, format: str = "svg") -> None:
    """Write figures into a folder, each with its data as CSV beside it."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for drawing in drawings:
        files.write_whole(Path(folder) / f"{drawing.name}.{format}", render(drawing, format))
        files.write_whole(
            Path(folder) / f"{drawing.name}.csv", drawing.frame().to_csv(index=False, lineterminator="\n")
        )
