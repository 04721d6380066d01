"""Options for what a command writes, and how a result is delivered: to a file, to standard output, on the terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qrowd.cli.options import Top, option
from qrowd.errors import ArgumentError

if TYPE_CHECKING:
    from qrowd.model.judgments import Judgments
    from qrowd.reports.document import Document, Reported, Table


def is_standard_output(output: str | None) -> bool:
    """Whether a file name means standard output: `-`, or `-.json` for a format."""
    return output == "-" or str(output).startswith("-.")


def name_with_ending(output: str, ending: str = ".csv") -> str:
    """The name whose ending is the format: `-` alone means the format of `ending`."""
    return f"-{ending}" if output == "-" else output


def check_output(output: str | None) -> str | None:
    """Refuse a file that could not be written in the end, before any work is done."""
    from qrowd.reports.document import check_ending

    if output is not None:
        check_ending(name_with_ending(output))
    return output


def is_folder(output: str | None) -> bool:
    """Whether the name is that of a folder; a file must have an ending that stands for a format."""
    if output is None or is_standard_output(output) or Path(name_with_ending(output)).suffix:
        check_output(output)
        return False
    return True


def output_file(help: str, **settings: Any) -> Any:
    """The option for the file that is written."""
    return option("-o", "--output", help=help, panel="Output", metavar="FILE", **settings)


Output = Annotated[
    str | None,
    output_file(
        "File for the result: all numbers as .json, the main table as .csv, .parquet or .xlsx, or the tables as .txt, "
        ".md, .html or .tex; - for standard output, -.json for another format than CSV there.",
        callback=check_output,
    ),
]
Qrels = Annotated[
    str | None, option(help="File for the resulting judgments, in qrels format.", panel="Output", metavar="FILE")
]

ShortNames = Annotated[
    bool,
    option(
        "--short-names",
        help="In what is shown, leave out words that all systems begin or end with, and last words that many share.",
        panel="Output",
    ),
]


def write_qrels(output: str | None, judgments: Judgments, *, assessor_in_column: bool = False) -> None:
    """Write judgments, where that is asked for, in the format of qrels, which cannot hold every label."""
    from qrowd.trec import format_qrels

    if output is None:
        return
    try:
        text = format_qrels(judgments, assessor_in_column=assessor_in_column)
    except ArgumentError as error:
        problem = str(error).removesuffix("; write a table instead")
        raise ArgumentError(
            f"--qrels {output}: {problem}; leave it out and write a table, as with --output merged.csv"
        ) from None
    write_output(output, text)


def write_output(output: str, content: str | bytes | Iterable[bytes]) -> None:
    """Write to the file or to standard output; standard error says which file was written."""
    from qrowd import files

    whole = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    pieces = [whole] if isinstance(whole, bytes) else whole
    if is_standard_output(output):
        sys.stdout.flush()
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    existed = Path(output).is_file()
    files.write_whole(output, pieces)
    typer.echo(f"{'replaced' if existed else 'wrote'} {output}", err=True)


def deliver(document: Document, output: str | None) -> None:
    """Write the file, if one is asked for, and show the document, unless standard output has the file."""
    from qrowd.reports.document import render

    if output is not None:
        write_output(output, render(document, name_with_ending(output)))
        if is_standard_output(output):
            return
    show(document)


# ---- on the terminal


def line_width() -> int | None:
    """Letters in a line of the terminal; None where standard output is a file or a pipe, which cuts nothing off."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def say(text: str, **style: object) -> None:
    """A paragraph; on a terminal in lines that end between words. style : as `typer.style` takes it."""
    width = line_width()
    if width is not None:
        lines = text.splitlines() or [""]
        wrapped = (textwrap.wrap(line, width, break_on_hyphens=False, break_long_words=False) for line in lines)
        text = "\n".join("\n".join(line) for line in wrapped)
    typer.secho(text, **style)  # type: ignore[arg-type]


def show(document: Document) -> None:
    """The sentence, the tables, the notes."""
    say(document.sentence, bold=True)
    typer.echo()
    for table in document.tables:
        show_table(table)
    for note in document.notes:
        say(str(note))
    if document.signature:
        typer.echo(document.signature)  # one line, for pasting


def show_table(table: Table) -> None:
    """A plain table, its title and header in bold; on a terminal, cells are folded where the table is too wide."""
    header, *rows = table.lines()
    width = line_width()
    typer.secho(table.title, bold=True)
    if width is None or max(map(len, [header, *rows])) <= width:
        typer.secho(header, bold=True)
        typer.echo("\n".join(rows) + "\n")
        return
    from rich.console import Console
    from rich.table import Table as Folded

    folded = Folded(box=None, pad_edge=False)
    for j, name in enumerate(table.header):
        folded.add_column(name, justify="left" if table.holds_text(j) else "right", overflow="fold")
    for cells in zip(*map(table.plain_cells, range(len(table.header))), strict=True):
        folded.add_row(*cells)
    Console(width=width, markup=False, highlight=False).print(folded, table.note, sep="\n")


# ---- groups of options


def document_of(result: Reported | Document) -> Document:
    """The document that a result is shown as."""
    from qrowd.reports.document import Document

    return result if isinstance(result, Document) else result.to_document()


@dataclass(frozen=True)
class ResultOutput:
    """Where a result is written."""

    output: Output = None

    def deliver(self, result: Reported | Document, arguments: Mapping[str, Any]) -> None:
        """Show the result, and write it."""
        deliver(document_of(result), self.output)


@dataclass(frozen=True)
class QrelsOutput:
    """Where a result is written, and the judgments in it."""

    qrels: Qrels = None
    output: Output = None

    def deliver(self, result: Any, arguments: Mapping[str, Any]) -> None:
        """Write the judgments, show the result, and write it."""
        write_qrels(self.qrels, result.judgments)
        deliver(document_of(result), self.output)


@dataclass(frozen=True)
class SystemsOutput:
    """How many systems are shown and by which names, and where the result is written."""

    top: Top = None
    short_names: ShortNames = False
    output: Output = None

    def deliver(self, result: Reported | Document, arguments: Mapping[str, Any]) -> None:
        """Show the result, and write it."""
        scores = getattr(result, "scores", None)
        named = arguments["runs"] if scores is None else scores  # a collection in parts has no list of systems
        systems = getattr(named, "systems", ())
        deliver(document_of(result).shown(systems, top=self.top, short_names=self.short_names), self.output)


@dataclass(frozen=True)
class GatedOutput(SystemsOutput):
    """Where a result is written; a condition that holds becomes exit status 1, even if nobody reads the output."""

    def deliver(self, result: Any, arguments: Mapping[str, Any]) -> None:
        """Show the result, write it, and end with status 1 if its condition holds."""
        try:
            super().deliver(result, arguments)
            if result.gate and is_standard_output(self.output):
                typer.echo(result.gate.sentence, err=True)
        finally:
            if result.gate and result.gate.holds_by:
                raise typer.Exit(1)


@dataclass(frozen=True)
class PredictionOutput(SystemsOutput):
    """Where the judgments with predicted relevance are written, and how systems are shown."""

    qrels: Qrels = None

    def deliver(self, result: Any, arguments: Mapping[str, Any]) -> None:
        """Write the judgments, show the result, and write it."""
        write_qrels(self.qrels, result.gains, assessor_in_column=len(result.gains.assessors) > 1)
        super().deliver(result, arguments)


@dataclass(frozen=True)
class TableOutput:
    """By which names systems stand in the table for a paper, and where it is written."""

    short_names: ShortNames = False
    output: Output = None

    def deliver(self, result: Any, arguments: Mapping[str, Any]) -> None:
        """Write the table, and show it unless standard output has the file."""
        shown = result.to_document().shown(arguments["runs"].systems, short_names=self.short_names)
        named = replace(result, sentence=shown.sentence, table=shown.tables[0])
        object.__setattr__(named, "signature", result.signature)
        standard = is_standard_output(self.output)
        if self.output is not None:
            name = Path(name_with_ending(self.output))
            label = "tab:systems" if standard else f"tab:{name.stem}"
            latex = name.suffix.lower() == ".tex"
            write_output(self.output, named.to_latex(label=label) if latex else named.content(name))
        if not standard:
            show(shown)
