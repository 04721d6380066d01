"""How results look on a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import typer

if TYPE_CHECKING:
    from qrowd.reports.document import Document, Table

_owner: list[object] = []  # of the one bar that may be shown: work that is not done yet


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


class Advance(Protocol):
    """Moves a bar. note : what stands behind the name of the work, such as the cost so far."""

    def __call__(self, done: int, total: int, note: str = "") -> None: ...


@contextmanager
def progress(what: str) -> Iterator[Advance]:
    """A bar on standard error, shown once the work has taken a second, and until all is done.

    One bar is shown at a time: within work that has a bar, parts of it have none.
    """
    started, me = time.monotonic(), object()
    if not sys.stderr.isatty() or _owner:
        yield lambda done, total, note="": None
        return
    bar: Any = None
    task: Any = None

    def advance(done: int, total: int, note: str = "") -> None:
        nonlocal bar, task
        if done >= total:
            return close()
        description = f"{what}, {note}" if note else what
        if not _owner:
            _owner.append(me)
        if bar is None and _owner == [me] and time.monotonic() - started > 1:
            from rich.console import Console
            from rich.progress import Progress

            bar = Progress(console=Console(stderr=True), transient=True)
            task = bar.add_task(description)
            bar.start()
        if bar is not None:
            bar.update(task, completed=done, total=total, description=description)

    def close() -> None:
        nonlocal bar
        if bar is not None:
            bar.stop()
            bar = None
        if _owner == [me]:
            _owner.clear()

    _owner.append(me)
    try:
        yield advance
    finally:
        close()
