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


@dataclass(frozen=True)
class EvaluationInputs(RunsAndJudgments):
    """Runs and judgments, or a partitioned collection; and the record of a model whose answers the judgments are."""

    SUPPLIES: ClassVar[frozenset[str]] = frozenset({"runs", "judgments", "unanswered"})
    judge_record: reading.JudgeRecord = None

    def arguments(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values with what is read; the judgments of a partitioned collection are taken as they are."""
        paths = [self.files[0], self.files[-1]] if self.files else [*(self.judgments or []), *(self.runs or [])]
        plain = Data(judgments=self.judgments) == Data(
            **{name: getattr(self, name) for name in Data.__dataclass_fields__}
        )
        if len(paths) == 2 and paths[0] == paths[1] and plain and not values.get("methods"):
            from qrowd.partitions import is_partitioned, open_partitioned

            if is_partitioned(paths[0]):
                collection = open_partitioned(paths[0])
                return {**values, "runs": collection.runs, "judgments": collection.judgments}
        arguments = super().arguments(values)
        if self.judge_record is not None:
            from qrowd.reports.unanswered import read_unanswered

            arguments["unanswered"] = read_unanswered(self.judge_record, arguments["runs"], rng=values["rng"])
        return arguments


def _judgments(data: Data, values: dict[str, Any]) -> dict[str, Any]:
    if "gold" not in values:
        return {"judgments": data.read()}
    judgments, names = data.read_with(gold=values["gold"])
    return {"judgments": judgments, "gold": names["gold"]}
