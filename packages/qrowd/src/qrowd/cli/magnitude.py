"""`qrowd magnitude`: free numbers above 0 instead of grades."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from qrowd.cli import options
from qrowd.cli.input_files import data_option
from qrowd.cli.output import Output, deliver
from qrowd.errors import ArgumentError

Checks = Annotated[
    str | None,
    data_option(
        help="Table of the check documents of each topic, with the columns topic, H and N.",
        metavar="FILE",
        show_default="those that gold implies",
    ),
]


def magnitude(data: options.Data, gold: options.Gold = None, checks: Checks = None, output: Output = None) -> None:
    """Analyse magnitudes, free numbers above 0: units, gold levels, gains, effort; and write them on one scale."""
    from qrowd.reports.magnitude_tables import magnitude_document

    deliver(magnitude_document(read_magnitudes(data, gold, checks)), output)


def read_magnitudes(data: options.Data, gold: str | None, checks: str | None, kind: Any = None, **others: Any) -> Any:
    """The magnitudes as written, and what they are compared with. kind : the class, default `Magnitudes`."""
    from qrowd import files
    from qrowd.reports.magnitude_tables import Magnitudes

    if data.slots is not None:
        raise ArgumentError(f"--slots {data.slots}: slots have no units, which magnitudes need; leave it out")
    return (kind or Magnitudes).of(
        *replace(data, normalise=None).read_with_gold(gold),
        checks=None if checks is None else files.read_checks(checks),
        scheme=data.normalise or "geometric-mean",
        **others,
    )
