"""What a paper prints beside what we compute: claims of five papers in one shape, with one verdict and one frame."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.reports.document import Table
from qrowd.reports.phrases import number
from qrowd_papers.frames import frame_of

if TYPE_CHECKING:
    import pandas

MATCH = "match"
NOT_PUBLIC = "not reachable: the data is not public"

Cell = str | float | tuple[float, float]
"""Text, a number, or a number with its standard error (nan if there is none)."""


@dataclass(frozen=True)
class Claim:
    """One printed number or statement, or one row of a printed table.

    where : the section, table or figure. what : the quantity, or the cells of several columns that name it.
    printed, ours : its value there and here, a cell or one for each column. verdict : MATCH, NOT_PUBLIC, or
    "differs: ..." with the reason; of rows that show ours alone, on which data it was computed.
    """

    where: str
    what: str | Sequence[str]
    printed: Cell | Sequence[Cell]
    ours: Cell | Sequence[Cell] = ()
    verdict: str = NOT_PUBLIC

    @property
    def cells(self) -> list[Cell]:
        """Those printed, then ours."""
        sides = (self.printed, self.ours)
        return [cell for side in sides for cell in ([side] if isinstance(side, str | float) else side)]


@dataclass(frozen=True, eq=False)
class Claims:
    """A table of the paper beside ours: claims of the same columns.

    columns : the headers of what names a claim, of the printed cells, and of ours; "where" first if it is shown.
    digits : of numbers.
    """

    title: str
    columns: Sequence[str]
    claims: Sequence[Claim]
    digits: int = 2

    def table(self) -> Table:
        rows = [[*self._labels(one), *map(self._text, one.cells), one.verdict] for one in self.claims]
        return Table(self.title, [*self.columns, "verdict"], rows)

    def _labels(self, claim: Claim) -> list[str]:
        what = [claim.what] if isinstance(claim.what, str) else claim.what
        return [*([claim.where] if self.columns[0] == "where" else []), *what]

    def _text(self, cell: Cell) -> str:
        if isinstance(cell, str):
            return cell
        value, error = cell if isinstance(cell, tuple) else (cell, nan)
        text = number(float(value), self.digits)
        return text if isnan(error) else f"{text} ± {number(float(error), self.digits)}"

    def records(self) -> Iterator[dict[str, Any]]:
        """One for every cell."""
        name, _, _ = self.title.partition(":")
        for one in self.claims:
            labels = self._labels(one)
            for column, cell in zip(self.columns[len(labels) :], one.cells, strict=True):
                value, error = cell if isinstance(cell, tuple) else (cell, nan)
                yield {
                    "table": name, "row": ", ".join(labels), "column": column, "value": value, "error": error,
                    "verdict": one.verdict,
                }  # fmt: skip


def printed_numbers(paper: str) -> dict[str, Any]:
    """The tables that a paper prints: the file printed.toml in its folder.

    paper : the name of the folder.
    """
    return tomllib.loads((Path(__file__).parent / paper / "printed.toml").read_text(encoding="utf-8"))


def claims_frame(tables: Iterable[Claims]) -> pandas.DataFrame:
    """Every cell of the tables, one row each."""
    return frame_of(record for claims in tables for record in claims.records())


def verdict(agrees: object, reason: str) -> str:
    """MATCH, or that it differs and why."""
    return MATCH if agrees else f"differs: {reason}"


def agree(printed: float, ours: float, digits: int = 2) -> bool:
    """Whether a printed number is ours, rounded to so many digits; nan is printed for what there is not."""
    return (isnan(printed) and isnan(ours)) or abs(printed - ours) <= 0.5 * 10**-digits + 1e-9


def with_errors(values: Iterable[float], errors: Iterable[float] | None = None) -> list[Cell]:
    """Cells of numbers, with their standard errors where there are any."""
    values = [float(value) for value in values]
    return list(zip(values, [nan] * len(values) if errors is None else map(float, errors), strict=True))


def beside(columns: Iterable[Iterable[float]]) -> Iterator[list[Cell]]:
    """The rows of several columns of numbers."""
    for row in np.array([list(column) for column in columns], np.float64).T:
        yield row.tolist()
