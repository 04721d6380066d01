"""How results look on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from rich.console import Console
from rich.text import Text

from qrowd.reports.document import Document, Table

COMPILING = "qrowd: compiling for this machine, once; later runs start at once"


def console() -> Console:
    """Standard output; as wide as it needs to be where nobody watches, so that nothing is cut off."""
    out = Console(highlight=False, soft_wrap=False)
    return out if out.is_terminal else Console(highlight=False, width=240, no_color=True)


def show(document: Document) -> None:
    """The sentence, the tables, the notes."""
    out = console()
    out.print(document.sentence, style="bold", markup=False, soft_wrap=not out.is_terminal)
    out.print()
    for table in document.tables:
        show_table(table)
    for note in document.notes:
        out.print(str(note), markup=False, soft_wrap=not out.is_terminal)


def show_table(table: Table) -> None:
    """A plain table, its title and header in bold; on a terminal without the columns that do not fit.

    Laid out by the table itself: rich would take longer over the tables of 60 systems than scoring them does.
    """
    out = console()
    left_out: list[str] = []
    if out.is_terminal:
        table, left_out = table.fitted(out.width)
    header, *rows = table.lines()
    out.print(Text(f"{table.title}\n{header}", style="bold"), soft_wrap=True)
    if left_out:
        rows.append(f"not shown for want of room: {', '.join(left_out)}; a wider terminal, a pipe or -o FILE shows all")
    out.out("\n".join(rows) + "\n", highlight=False)


@cache
def announce_compiling() -> None:
    """From now on, say once on standard error that kernels are compiled, when the first one is."""
    from numba.core import event

    class Announcement(event.Listener):
        """Speaks at the first compilation; a kernel from the cache is not compiled."""

        spoken = False

        def on_start(self, event: object) -> None:
            if not self.spoken:
                print(COMPILING, file=sys.stderr, flush=True)
            self.spoken = True

        def on_end(self, event: object) -> None: ...

    event.register("numba:compile", Announcement())  # type: ignore[no-untyped-call]


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, shown once the work has taken a second."""
    started = time.monotonic()
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    announce_compiling()
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, visible=False)

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, visible=time.monotonic() - started > 1)

        yield advance
