"""Options for what a command writes, and how a result is delivered: to a file and on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from qrowd.cli.options import option

if TYPE_CHECKING:
    from qrowd.reports.document import Document


def check_output(output: str | None) -> str | None:
    """Refuse a file that could not be written in the end, before any work is done."""
    from qrowd.reports.document import check_ending

    if output is not None:
        check_ending(output)
    return output


def output_file(help: str, **settings: Any) -> Any:
    """The option for the file that is written."""
    return option("-o", "--output", help=help, panel="Output", metavar="FILE", **settings)


Output = Annotated[
    str | None,
    output_file(
        "File for the result: all numbers as .csv, .parquet or .json, or the tables as .md or .tex.",
        callback=check_output,
    ),
]
Qrels = Annotated[
    str | None, option(help="File for the resulting judgments, in qrels format.", panel="Output", metavar="FILE")
]


def deliver(document: Document, output: str | None) -> None:
    """Write the file, if one is asked for, and show the document."""
    from qrowd import files
    from qrowd.cli.show import show
    from qrowd.reports.document import render

    if output is not None:
        files.write_whole(output, render(document, output))
    show(document)
