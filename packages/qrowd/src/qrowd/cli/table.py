"""`qrowd table`: the table for a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qrowd.cli.inputs import RunsAndJudgments
from qrowd.cli.library import command
from qrowd.cli.output import Output, is_standard_output, name_with_ending, write_output
from qrowd.reports.paper_table import systems_table

if TYPE_CHECKING:
    from qrowd.reports.paper_table import PaperTable


@dataclass(frozen=True)
class TableOutput:
    """Where the table is written."""

    output: Output = None

    def deliver(self, result: PaperTable, arguments: Mapping[str, Any]) -> None:
        """Write the table, and show it unless standard output has the file; in LaTeX the file names the label."""
        from qrowd.cli.show import show

        standard = self.output is not None and is_standard_output(self.output)
        if self.output is not None:
            name = Path(name_with_ending(self.output))
            label = "tab:systems" if standard else f"tab:{name.stem}"
            latex = name.suffix.lower() == ".tex"
            write_output(self.output, result.to_latex(label=label) if latex else result.content(name))
        if not standard:
            show(result.to_document())


table = command(systems_table, RunsAndJudgments, TableOutput, work="scoring")
table.__name__ = "table"
