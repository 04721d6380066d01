"""What the simulations share: progress through a grid of designs, and the rows of a data frame as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from qrowd.executors import AnyExecutor, in_executor
from qrowd.reports.document import Table
from qrowd.reports.phrases import number

Progress = Callable[[str, int, int], None]
"""Called with what is computed, steps done, and steps in all."""
Cell = TypeVar("Cell")
Result = TypeVar("Result")


def each(cells: Iterable[Cell], what: str, progress: Progress | None) -> Iterator[Cell]:
    """The cells of a grid in turn, reporting each that is done."""
    cells = list(cells)
    for done, cell in enumerate(cells, 1):
        yield cell
        if progress is not None:
            progress(what, done, len(cells))


def each_result(
    work: Callable[..., Result],
    cells: Iterable[Any],
    what: str,
    progress: Progress | None,
    executor: AnyExecutor = None,
    *,
    shared: object,
) -> Iterator[Result]:
    """work(shared, cell) of each cell of a grid in turn, in the workers of an executor if there is one."""
    cells = list(cells)
    for done, result in enumerate(in_executor(work, cells, executor, shared=shared), 1):
        if progress is not None:
            progress(what, done, len(cells))
        yield result


def binomial_error(share: Any, n: Any) -> Any:
    """Standard error of a share of n simulations."""
    return np.sqrt(share * (1 - share) / n)


def table_of(title: str, rows: Iterable[Any], columns: Sequence[tuple[str, str, int | str]]) -> Table:
    """A table of attributes of rows.

    columns : (header, attribute, format); a format is a number of digits, or a specification as of `format`.
    """

    def cell(value: Any, how: int | str) -> str:
        return number(float(value), how) if isinstance(how, int) else format(value, how)

    cells = [[cell(getattr(row, name), how) for _, name, how in columns] for row in rows]
    return Table(title, [header for header, _, _ in columns], cells)
