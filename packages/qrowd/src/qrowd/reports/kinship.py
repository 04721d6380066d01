"""What related assessors change in the ranking of systems, in words and as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.comparison.kinship import Kinship
from qrowd.reports.document import Note, Table
from qrowd.reports.phrases import count, interval, listed, number, percent, signed
from qrowd.reports.systems import system_order


@dataclass(frozen=True)
class RelatedAssessors:
    """What related assessors change, as plain data. tau : tau-b of the rankings with and without them.

    rows : of all systems, best first, as `Kinship.to_frame` names the columns.
    """

    sentence: str
    tau: float
    rows: tuple[dict[str, Any], ...]

    @property
    def shown(self) -> tuple[dict[str, Any], ...]:
        """The systems with relatives, and those whose rank these change."""
        return tuple(row for row in self.rows if row["n_relatives"] or row["rank"] != row["rank_without"])


def related_assessors(one: Kinship | None) -> RelatedAssessors | None:
    """The plain data of a result; None where no assessors were declared as related."""
    return None if one is None else RelatedAssessors(kinship_sentence(one), one.tau, tuple(kinship_rows(one)))


CELLS: dict[str, Callable[[dict[str, Any]], str]] = {
    "system": lambda row: row["system"],
    "relatives": lambda row: str(row["n_relatives"]),
    "mean": lambda row: number(row["mean"]),
    "without relatives": lambda row: number(row["without_relatives"]),
    "difference": lambda row: signed(row["difference"]) if row["n_relatives"] else "-",
    "interval of difference": lambda row: interval(row["low"], row["high"], 4),
    "rank": lambda row: str(row["rank"] or "-"),
    "rank without relatives": lambda row: str(row["rank_without"] or "-"),
}
"""Columns of the table of related assessors, and the text of a row in each."""


def kinship_sentence(one: Kinship) -> str:
    """Which system is first without relatives, and where it stands with them."""
    first, without = one.first, one.first_without
    if not without:
        return "No system has a score without its relatives."
    if first == without:
        return f"Without relatives, {listed(without)} still {_has(without)} the highest mean."
    ranks = listed([str(one.rank[one.systems.index(name)]) for name in without])
    return (
        f"Without relatives, {listed(without)} {_has(without)} the highest mean "
        f"(rank {ranks} with them) instead of {listed(first)}."
    )


def kinship_rows(one: Kinship) -> list[dict[str, Any]]:
    """One row per system, best first with all assessors."""
    columns = {name: cells if isinstance(cells, tuple) else cells.tolist() for name, cells in one._columns().items()}
    return [{name: columns[name][s] for name in columns} for s in system_order(one.mean)]


def kinship_table(measure: str, one: Kinship) -> Table:
    """The systems with relatives, and those whose ranks these change."""
    shown = RelatedAssessors("", one.tau, tuple(kinship_rows(one))).shown
    title = (
        f"{measure}: systems with related assessors, and those whose rank they change; tau-b of the rankings with and "
        f"without relatives {number(one.tau, 3)}"
    )
    return Table.of(title, {name: map(text, shown) for name, text in CELLS.items()})


def kinship_notes(one: Kinship) -> Iterator[Note]:
    """How scores without relatives are computed, and what they do not say."""
    yield Note(
        "related",
        f"without relatives: least squares over the assessors that are not related, on {count(one.n_topics, 'topic')}, "
        "so that their severity does not count; "
        f"{percent(one.confidence)} intervals by paired t over topics, each by itself; a difference above 0 says that "
        "relatives score the system higher than the others do, and assessors who are no relatives may differ as much: "
        "`qrowd replace --group` tests that",
    )
    alone = np.flatnonzero(np.isnan(one.without_relatives))
    if alone.size:
        names = listed([one.systems[s] for s in alone])
        yield Note("related", f"{names}: no score by an assessor that is not related")


def _has(names: tuple[str, ...]) -> str:
    return "has" if len(names) == 1 else "have"
