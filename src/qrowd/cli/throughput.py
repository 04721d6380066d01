"""What stands beside the bar of work over many rows: parts, rows, and rows per second; the bar shows the time left."""

from __future__ import annotations

import time
from collections.abc import Callable

from qrowd.cli.show import Advance


def rows_note(n_rows: int, seconds: float) -> str:
    """Rows so far and their rate.

    >>> rows_note(31_400_000, 25.0)
    '31 M rows, 1.3 M rows/s'
    """
    return f"{short_number(n_rows)} rows, {short_number(n_rows / seconds if seconds > 0 else n_rows)} rows/s"


def short_number(number: float) -> str:
    """A number with two digits or more and a unit.

    >>> [short_number(n) for n in (7, 950, 1_240, 31_400_000, 2_000_000_000)]
    ['7', '950', '1.2 k', '31 M', '2.0 G']
    """
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= 0.9995 * size:  # which is written as 1.0, and not as 1000 of the unit below
            value = number / size
            return f"{value:.1f}{unit}" if value < 9.95 else f"{value:.0f}{unit}"
    return f"{number:.0f}"


def showing_rows(advance: Advance) -> Callable[[int, int, int], None]:
    """For work that is told (done, in all, rows so far)."""
    started = time.monotonic()

    def move(done: int, total: int, n_rows: int) -> None:
        advance(done, total, rows_note(n_rows, time.monotonic() - started))

    return move


def showing_parts(advance: Advance, n_parts: int | None) -> Callable[[int, int], None]:
    """For work that is told (rows done, rows in all) after each part. n_parts : None where it is not known."""
    started, parts = time.monotonic(), 0

    def move(done: int, total: int) -> None:
        nonlocal parts
        parts += 1
        of = f"{parts:,}" if n_parts is None else f"{parts:,} of {n_parts:,}"
        advance(done, total, f"parts {of}, {rows_note(done, time.monotonic() - started)}")

    return move
