"""The commands that are functions of the library: which data they read, the function, and how the result is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

from qrowd.cli.inputs import (
    EvaluationInputs,
    JudgmentInputs,
    JudgmentsAndMaybeRuns,
    OpinionInputs,
    RunsAndJudgments,
)
from qrowd.cli.library import command
from qrowd.cli.output import GatedOutput, PredictionOutput, QrelsOutput, ResultOutput, SystemsOutput, TableOutput


@dataclass(frozen=True)
class LibraryCommand:
    """A command of the library; the fields are the arguments of `command`, the module of the function apart."""

    module: str
    function: str
    inputs: type
    output: type
    work: str = "computing"
    conventions: tuple[str, ...] | None = None

    def load(self, name: str) -> Callable[..., None]:
        """The command as a function; its module is imported now, since it may take long."""
        function = getattr(import_module(f"qrowd.reports.{self.module}"), self.function)
        return command(function, self.inputs, self.output, name=name, work=self.work, conventions=self.conventions)


RANDOM = "comparing with random assessors"
AWARE = ("ties", "score_dtype", "unjudged", "missing", "min_coverage", "repeats", "grades", "duplicates")
COMMANDS: Mapping[str, LibraryCommand] = {
    "evaluate": LibraryCommand("evaluation", "evaluation_of", EvaluationInputs, SystemsOutput, "scoring"),
    "compare": LibraryCommand("comparison", "compare", RunsAndJudgments, GatedOutput, "scoring"),
    "table": LibraryCommand("paper_table", "systems_table", RunsAndJudgments, TableOutput, "scoring"),
    "aware": LibraryCommand("aware", "aware_of", RunsAndJudgments, SystemsOutput, RANDOM, AWARE),
    "predict": LibraryCommand(
        "prediction",
        "predict_relevance",
        JudgmentsAndMaybeRuns,
        PredictionOutput,
        conventions=("unjudged", "duplicates"),
    ),
    "agree": LibraryCommand("agreement_tables", "agree", OpinionInputs, ResultOutput),
    "assessors": LibraryCommand("agreement_tables", "assessors", OpinionInputs, ResultOutput),
    "aggregate": LibraryCommand("aggregation", "aggregate", JudgmentInputs, QrelsOutput),
    "plan": LibraryCommand("design_tables", "plan", RunsAndJudgments, SystemsOutput, "scoring"),
}
