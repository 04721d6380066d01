"""What related assessors change in the ranking of systems, in words and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np

from qrowd.comparison.kinship import Kinship
from qrowd.reports.document import Note, Table
from qrowd.reports.phrases import count, interval, lead, listed, number, or_dash, percent, signed
from qrowd.reports.system_tables import system_order
from qrowd.reports.table import Column, table_of


def _difference(value: float, n_relatives: int) -> str:
    return signed(value) if n_relatives else "-"


@dataclass(frozen=True)
class KinshipRow:
    """A system with and without the scores by its relatives, as in `Kinship`."""

    system: Annotated[str, Column("system")]
    n_relatives: Annotated[int, Column("relatives", meaning="assessors declared to be related to the system")]
    mean: Annotated[float, Column("mean", number)]
    mean_of_others: float
    without_relatives: Annotated[
        float,
        Column(
            "without relatives",
            number,
            "mean without them, with the severity of the other assessors taken into account",
        ),
    ]
    difference: Annotated[
        float,
        Column(
            "difference",
            _difference,
            "of the two means: above 0, relatives score the system higher than the others do",
            also=("n_relatives",),
        ),
    ]
    low: Annotated[
        float,
        Column(
            "interval of difference",
            partial(interval, digits=4),
            "over topics, for each system by itself",
            also=("high",),
        ),
    ]
    high: float
    rank: Annotated[int, Column("rank", or_dash)]
    rank_without: Annotated[int, Column("rank without relatives", or_dash)]


def kinship_rows(kinship: Kinship) -> list[KinshipRow]:
    """The rows of all systems, best first."""
    columns = kinship.to_frame().to_dict("records")
    return [KinshipRow(**columns[s]) for s in system_order(kinship.mean)]


def kinship_sentence(kinship: Kinship) -> str:
    """Which system is first without relatives, and where it stands with them."""
    first, without = kinship.first, kinship.first_without
    if not without:
        return "No system has a score without its relatives."
    if first == without:
        return f"Without relatives, too, {lead(without)}."
    ranks = listed([str(kinship.rank[kinship.systems.index(name)]) for name in without])
    return f"Without relatives, {lead(without)} (rank {ranks} with them) instead of {listed(first)}."


def kinship_table(title: str, kinship: Kinship) -> Table:
    """The systems with relatives, and those whose ranks these change."""
    return table_of(title, [row for row in kinship_rows(kinship) if row.n_relatives or row.rank != row.rank_without])


def kinship_notes(kinship: Kinship) -> Iterator[Note]:
    """How scores without relatives are computed, and what they do not say."""
    yield Note(
        "related",
        f"without relatives: least squares over the assessors that are not related, on "
        f"{count(kinship.n_topics, 'topic')}, so that their severity does not count; "
        f"{percent(kinship.confidence)} intervals by paired t over topics, each by itself; a difference above 0 says "
        "that relatives score the system higher than the others do, and assessors who are no relatives may differ as "
        "much: `qrowd replace --group` tests that",
    )
    alone = np.flatnonzero(np.isnan(kinship.without_relatives))
    if alone.size:
        names = listed([kinship.systems[s] for s in alone])
        yield Note("related", f"{names}: no score by an assessor that is not related")
