"""`qrowd table`: the table for a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from qrowd.cli.inputs import RunsAndJudgments
from qrowd.cli.library import command
from qrowd.cli.options import option
from qrowd.cli.output import Output, is_standard_output, name_with_ending, write_output
from qrowd.reports.paper_table import systems_table

if TYPE_CHECKING:
    from qrowd.reports.paper_table import PaperTable


@dataclass(frozen=True)
class TableOutput:
    """Where the table is written, and how in LaTeX."""

    label: Annotated[
        str,
        option(
            help="Label of the table in LaTeX.",
            panel="Output",
            metavar="LABEL",
            show_default="tab: and the name of the file, or tab:systems",
        ),
    ] = ""
    full_width: Annotated[
        bool, option("--full-width", help="In LaTeX, use the full width of a page with two columns.", panel="Output")
    ] = False
    output: Output = None

    def deliver(self, result: PaperTable, arguments: Mapping[str, Any]) -> None:
        """Write the table, and show it unless standard output has the file."""
        from qrowd.cli.show import show

        standard = self.output is not None and is_standard_output(self.output)
        if self.output is not None:
            name = name_with_ending(self.output)
            if name.lower().endswith(".tex"):
                label = self.label or ("tab:systems" if standard else f"tab:{Path(name).stem}")
                write_output(self.output, result.to_latex(label=label, full_width=self.full_width))
            else:
                write_output(self.output, result.content(name))
        if not standard:
            show(result.to_document())


table = command(systems_table, RunsAndJudgments, TableOutput, work="scoring")
table.__name__ = "table"
