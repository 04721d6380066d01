"""`qrowd check`: what files contain, what is wrong, what can be asked of them, and how strong the answers would be."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli import input_files as reading
from qrowd.cli import options
from qrowd.cli.input_files import columns_named
from qrowd.cli.next import DESIGN
from qrowd.cli.output import line_width

if TYPE_CHECKING:
    from qrowd.reports.inspection import Inspection
    from qrowd.reports.questions import Asking

WIDTH = 120  # letters of a line, where no terminal says how wide it is
REMARKS_SHOWN = 5


def check(
    paths: Annotated[list[str], typer.Argument(metavar="FILES", help="Files and folders of any kind, in any order.")],
    assessor: options.Assessor = "file",
    system: reading.System = "file",
    format: reading.Format = "auto",
    columns: reading.Columns = None,
    labels: reading.Labels = None,
    incomplete_rows: reading.IncompleteRows = "refuse",
    identical_rows: reading.IdenticalRows = "keep",
) -> None:
    """Show what files contain, what is wrong with them, and what can be asked of them."""
    from qrowd.cli.progress import progress
    from qrowd.reports.inspection import Settings, inspect
    from qrowd.reports.questions import Asking

    settings = Settings(
        assessor, system, format, columns_named(columns), labels, incomplete_rows, identical_rows,
    )  # fmt: skip
    with progress("reading files") as advance:
        inspection = inspect(paths, settings, advance)
    for line in screen(inspection, Asking(inspection, Path(DESIGN).exists()), min(line_width() or WIDTH, WIDTH)):
        typer.secho(line, bold=not line.startswith(" "))
    if inspection.mistakes:
        raise typer.Exit(2)


def screen(inspection: Inspection, asking: Asking, width: int) -> Iterator[str]:
    """The lines that are shown, of at most so many letters."""
    from qrowd.reports.inspection import MISTAKES_SHOWN

    contents = list(inspection.contents())
    if contents:
        yield "What the files hold"
    for content in contents:
        yield from wrapped(content, width)
    yield "What is wrong" if inspection.mistakes else "No mistakes found"
    remarks = inspection.remarks()
    for lines, most in ((inspection.mistakes, MISTAKES_SHOWN), (remarks, REMARKS_SHOWN)):
        if lines is remarks and remarks and inspection.mistakes:
            yield "Notes, which are no mistakes"
        for line in lines[:most]:
            yield from wrapped(line, width)
        if len(lines) > most:
            yield f"  and {len(lines) - most:,} more"
    for file in inspection.files:
        if file.mistakes and file.how:
            yield "  If these are the columns that are meant, read it by"
            yield pasteable(file.how, width)
    if not contents:
        return
    yield "What can be asked"
    commands, refused = asking.questions()
    for words, command in commands.items():
        if len(words) + len(command) + 4 <= width:
            yield f"  {words}  {command}"
        else:
            yield f"  {words}"
            yield pasteable(command, width)
    for reason, names in refused.items():
        yield from wrapped(f"not: {', '.join(names)}, since {reason}", width)
    if strength := "; ".join(asking.strength()):
        yield "How strong an answer would be"
        yield from wrapped(strength, width)


def wrapped(text: str, width: int) -> list[str]:
    """A paragraph that is indented, its further lines more."""
    return textwrap.wrap(
        text,
        width,
        initial_indent="  ",
        subsequent_indent="    ",
        break_on_hyphens=False,
        max_lines=4,
        placeholder=" ...",
    )


def pasteable(command: str, width: int) -> str:
    """A command in lines that the shell joins; they end between words, which may hold blanks."""
    words = [shlex.quote(word).replace(" ", "\0") for word in shlex.split(command)]
    lines = textwrap.wrap(
        " ".join(words), width - 2, initial_indent="    ", subsequent_indent="      ",
        break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip
    return " \\\n".join(lines).replace("\0", " ")
