"""A bar for work that takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

_owner: list[object] = []  # of the one bar that may be shown: work that is not done yet


class Advance(Protocol):
    """Moves a bar. note : what stands behind the name of the work, such as the cost so far."""

    def __call__(self, done: int, total: int, note: str = "") -> None: ...


@contextmanager
def progress(what: str) -> Iterator[Advance]:
    """A bar on standard error, shown once the work has taken a second, and until all is done.

    One bar is shown at a time: within work that has a bar, parts of it have none.
    """
    started = time.monotonic()
    me = object()
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
