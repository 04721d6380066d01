"""What related assessors change in the ranking of systems, in words and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from qrowd.comparison.kinship import Kinship
from qrowd.reports.document import Note, Table
from qrowd.reports.phrases import count, interval, listed, number, percent, signed
from qrowd.reports.systems import system_order


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
    columns = {name: list(cells) for name, cells in one._columns().items()}
    return [{name: columns[name][s] for name in columns} for s in system_order(one.mean)]


def kinship_table(measure: str, one: Kinship) -> Table:
    """The systems with relatives, and those whose ranks these change."""
    rows = [row for row in kinship_rows(one) if row["n_relatives"] or row["rank"] != row["rank_without"]]
    title = (
        f"{measure}: systems with related assessors, and those whose rank they change; tau-b of the rankings with and "
        f"without relatives {number(one.tau, 3)}"
    )
    columns = {
        "system": [row["system"] for row in rows],
        "relatives": [str(row["n_relatives"]) for row in rows],
        "mean": [number(row["mean"]) for row in rows],
        "without relatives": [number(row["without_relatives"]) for row in rows],
        "difference": [signed(row["difference"]) if row["n_relatives"] else "-" for row in rows],
        "interval of difference": [interval(row["low"], row["high"], 4) for row in rows],
        "rank": [str(row["rank"] or "-") for row in rows],
        "rank without relatives": [str(row["rank_without"] or "-") for row in rows],
    }
    return Table.of(title, columns)


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
