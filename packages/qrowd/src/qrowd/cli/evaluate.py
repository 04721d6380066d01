"""`qrowd evaluate`: every run, by every assessor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from qrowd.cli.inputs import EvaluationInputs
from qrowd.cli.library import command
from qrowd.cli.options import PerTopic, option
from qrowd.cli.output import SystemsOutput, deliver, is_standard_output
from qrowd.reports.evaluation import evaluation_of


@dataclass(frozen=True)
class EvaluationOutput(SystemsOutput):
    """Which tables of an evaluation are shown."""

    per_measure: Annotated[
        bool,
        option(
            "--per-measure",
            help="Print a table of each measure with standard errors, ranges over assessors and ranks, and the "
            "agreement of assessors; so do one measure, --baseline and --method.",
            panel="Output",
        ),
    ] = False
    per_topic: PerTopic = False

    def deliver(self, result: Any, arguments: Mapping[str, Any]) -> None:
        """Show the tables that are asked for; a file has them all."""
        from qrowd.cli.show import show_table
        from qrowd.reports.evaluation import topic_table
        from qrowd.reports.short_names import short_names as without_common_words

        systems = result.scores.systems
        documents = result.to_document(), result.to_document() if self.per_measure else result.overview()
        whole, shown = (part.shown(systems, top=self.top, short_names=self.short_names) for part in documents)
        deliver(whole, self.output, shown=shown)
        if self.per_topic and not (self.output and is_standard_output(self.output)):
            labels = dict(zip(systems, without_common_words(systems), strict=True)) if self.short_names else {}
            show_table(topic_table(result.scores).renamed(labels))


evaluate = command(evaluation_of, EvaluationInputs, EvaluationOutput, work="scoring")
evaluate.__name__ = "evaluate"
