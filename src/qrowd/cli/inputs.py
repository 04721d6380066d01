"""Groups of options for the data of a command, and how they become the arguments of a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from qrowd.cli import options, reading
from qrowd.cli.options import Data
from qrowd.cli.reading import System, data_option


@dataclass(frozen=True)
class JudgmentInputs(Data):
    """Judgments, from files by position or by option, or of a campaign."""

    SUPPLIES: ClassVar[frozenset[str]] = frozenset({"judgments"})
    files: reading.JudgmentFiles = None

    def arguments(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values with the judgments, and with the name of the assessor where gold judgments are in a file."""
        data = options.judgments_by_position(self.files, self)
        return {**values, **_judgments(data, values)}


@dataclass(frozen=True)
class RunsAndJudgments(Data):
    """Runs and judgments, from files by position or by option."""

    SUPPLIES: ClassVar[frozenset[str]] = frozenset({"runs", "judgments"})
    runs: Annotated[list[str] | None, data_option("--runs", **reading.RUNS)] = None
    system: System = "file"
    files: reading.Files = None

    def arguments(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values with the runs and the judgments, and with the name of the assessor where gold is a file."""
        runs, data = options.by_position(self.files, reading.MaybeRuns(self.runs, self.system), self)
        return {**values, **_judgments(data, values), "runs": runs.read(data)}


def _judgments(data: Data, values: dict[str, Any]) -> dict[str, Any]:
    if "gold" not in values:
        return {"judgments": data.read()}
    judgments, names = data.read_with(gold=values["gold"])
    return {"judgments": judgments, "gold": names["gold"]}
