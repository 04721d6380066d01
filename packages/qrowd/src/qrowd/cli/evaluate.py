"""`qrowd evaluate`: every run, by every assessor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qrowd.cli.inputs import EvaluationInputs
from qrowd.cli.library import command
from qrowd.cli.options import PerTopic
from qrowd.cli.output import SystemsOutput, is_standard_output
from qrowd.reports.evaluation import evaluation_of


@dataclass(frozen=True)
class EvaluationOutput(SystemsOutput):
    """Which tables of an evaluation are shown."""

    per_topic: PerTopic = False

    def deliver(self, result: Any, arguments: Mapping[str, Any]) -> None:
        """Show the result and, where that is asked for, each topic; and write it."""
        from qrowd.cli.show import show_table
        from qrowd.reports.evaluation import topic_table
        from qrowd.reports.short_names import short_names as without_common_words

        super().deliver(result, arguments)
        if self.per_topic and not (self.output and is_standard_output(self.output)):
            labels = (
                dict(zip(result.scores.systems, without_common_words(result.scores.systems), strict=True))
                if self.short_names
                else {}
            )
            show_table(topic_table(result.scores).renamed(labels))


evaluate = command(evaluation_of, EvaluationInputs, EvaluationOutput, work="scoring")
evaluate.__name__ = "evaluate"
