"""`qrowd magnitude`: free numbers above 0 instead of grades."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from qrowd.cli import options
from qrowd.cli.commands import command_group
from qrowd.cli.options import option
from qrowd.cli.output import Output, deliver

CHECKS = option(
    help="Table of the check documents of each topic, with the columns topic, H and N.",
    panel="Data",
    metavar="FILE",
    show_default="those that gold implies",
)


@dataclass(frozen=True)
class Units:
    """What magnitudes are compared with, and what a unit is."""

    gold: options.Gold = None
    checks: Annotated[str | None, CHECKS] = None
    by: Annotated[
        Literal["unit", "assessor"] | None,
        options.convention(
            help="What a unit is: the unit column, or all judgments of an assessor for a topic.",
            show_default="unit where there is such a column",
        ),
    ] = None

    def magnitudes(self, data: options.Data, kind: Any = None, **others: Any) -> Any:
        """The magnitudes as written, and what they are compared with. kind : the class, default `Magnitudes`."""
        from qrowd import files
        from qrowd.reports.magnitude import Magnitudes

        # As written, and not in slots, which have no units.
        judgments, names = replace(data, slots=None).read_with(gold=self.gold, normalise=False)
        return (kind or Magnitudes).of(
            judgments,
            names.get("gold"),
            checks=None if self.checks is None else files.read_checks(self.checks),
            scheme=data.normalise or "geometric-mean",
            by=self.by,
            **others,
        )


def units(
    data: options.Data,
    compared: Units = Units(),
    min_seconds: Annotated[
        float | None,
        options.convention(help="Least time per document of a unit that passes.", show_default="none"),
    ] = None,
    output: Output = None,
) -> None:
    """Count units by topic; show which pass the checks."""
    from qrowd.reports.magnitude import units_document

    deliver(units_document(compared.magnitudes(data), min_seconds=min_seconds), output)


def levels(data: options.Data, compared: Units = Units(), output: Output = None) -> None:
    """Test whether documents of higher gold levels have higher magnitudes."""
    from qrowd.reports.magnitude import levels_document

    deliver(levels_document(compared.magnitudes(data)), output)


def gains(data: options.Data, compared: Units = Units(), output: Output = None) -> None:
    """Show the gain of each gold level by the magnitudes."""
    from qrowd.reports.magnitude import gains_document

    deliver(gains_document(compared.magnitudes(data)), output)


def effort(
    data: options.Data,
    compared: Units = Units(),
    confidence: options.Confidence = 0.95,
    output: Output = None,
) -> None:
    """Show how many assessors the documents need."""
    from qrowd.reports.magnitude import effort_document

    deliver(effort_document(compared.magnitudes(data), confidence=confidence), output)


def normalise(data: options.Data, compared: Units = Units(), output: Output = None) -> None:
    """Bring the magnitudes of all assessors onto one scale, and write them for other tools."""
    from qrowd.reports.magnitude import normalised_document

    deliver(normalised_document(compared.magnitudes(data)), output)


magnitude = command_group(
    "Analyse magnitudes: free numbers above 0 instead of grades.", units, levels, gains, effort, normalise
)
