"""Groups of options for the data of a command, and how they become the arguments of a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from qrowd.cli import input_files as reading
from qrowd.cli import options
from qrowd.cli.input_files import System, data_option
from qrowd.cli.options import Data, PreferenceData, PreferenceFiles
from qrowd.errors import ArgumentError

if TYPE_CHECKING:
    from qrowd.model.judgments import Judgments
    from qrowd.model.preferences import Preferences

#: Options of judgments that preferences heed as well.
OF_PREFERENCES = {"campaign", "database", "names", "assessor", "columns", "incomplete_rows", "exclude"}


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
class OpinionInputs(JudgmentInputs):
    """Judgments as the assessors gave them: of a campaign, without the final answers of owners."""

    FINAL = False


@dataclass(frozen=True)
class JudgmentsAndMaybeRuns(Data):
    """Judgments, and runs where there are some."""

    SUPPLIES: ClassVar[frozenset[str]] = frozenset({"runs", "judgments"})
    runs: reading.RunFiles = None
    system: System = "file"

    def arguments(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values with what is read."""
        return {**values, "judgments": self.read(), "runs": options.Runs(self.runs, self.system).read(self)}


@dataclass(frozen=True)
class RunsAndJudgments(JudgmentsAndMaybeRuns):
    """Runs and judgments, from files by position or by option."""

    files: reading.Files = None

    def arguments(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values with the runs and the judgments, and with the name of the assessor where gold is a file."""
        runs, data = options.by_position(self.files, options.Runs(self.runs, self.system), self)
        return {**values, **_judgments(data, values), "runs": runs.read_needed(data)}


@dataclass(frozen=True)
class RunsAndAnswers(RunsAndJudgments):
    """Runs with judgments or preferences."""

    preferences: PreferenceFiles = None
    format: reading.Format = "auto"

    def sources(self) -> tuple[options.Runs, options.Data]:
        """Where runs and judgments come from, by position or by option; preferences need runs by option."""
        runs = options.Runs(self.runs, self.system)
        if not self.preferences:
            return options.by_position(self.files, runs, self)
        if self.files:
            raise ArgumentError(f"unexpected extra argument {' '.join(self.files)}: with --preferences give --runs")
        return runs, self

    def answers(self, data: options.Data) -> Judgments | Preferences:
        """The judgments, or the preferences, of files or of a campaign."""
        from qrowd.model.preferences import Preferences

        collected: Judgments | Preferences | None = None
        if self.preferences:
            collected = PreferenceData(
                **{name: getattr(self, name) for name in PreferenceData.__dataclass_fields__}
            ).read()
        elif data.campaign and not data.judgments:
            collected = options.read_campaign(data.campaign, data.database, "--judgments", names=data.names)
        if not isinstance(collected, Preferences):
            return data.read()
        if of_judgments := sorted(data.given() - OF_PREFERENCES):
            problem = "it is for judgments, and these are preferences; leave it out"
            raise ArgumentError(problem, of_judgments[0], getattr(data, of_judgments[0]))
        return reading.without(collected, data.exclude)


@dataclass(frozen=True)
class EvaluationInputs(RunsAndAnswers):
    """Runs and judgments, or a partitioned collection; and the record of a model whose answers the judgments are."""

    SUPPLIES: ClassVar[frozenset[str]] = frozenset({"runs", "judgments", "unanswered"})
    record: reading.JudgeRecord = None

    def arguments(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values with what is read; the judgments of a partitioned collection are taken as they are."""
        paths = [self.files[0], self.files[-1]] if self.files else [*(self.judgments or []), *(self.runs or [])]
        plain = self.given() <= {"judgments"} and not values.get("methods")
        if len(paths) == 2 and paths[0] == paths[1] and plain:
            from qrowd.partitions import is_partitioned, open_partitioned

            if is_partitioned(paths[0]):
                collection = open_partitioned(paths[0])
                return {**values, "runs": collection.runs, "judgments": collection.judgments}
        from qrowd.evaluation import DEFAULT_PREFERENCE_MEASURES
        from qrowd.model.preferences import Preferences

        runs, data = self.sources()
        arguments = {**values, "judgments": self.answers(data), "runs": runs.read_needed(data)}
        if isinstance(arguments["judgments"], Preferences):
            arguments.setdefault("measures", DEFAULT_PREFERENCE_MEASURES)
        if self.record is not None:
            from qrowd.reports.unanswered import read_unanswered

            arguments["unanswered"] = read_unanswered(self.record, arguments["runs"], rng=values["rng"])
        return arguments


@dataclass(frozen=True)
class PreferenceInputs(PreferenceData):
    """Preferences, and judgments to compare them with."""

    SUPPLIES: ClassVar[frozenset[str]] = frozenset({"preferences", "judgments"})
    judgments: Annotated[
        list[str] | None,
        data_option(help="Judgment files whose grades are compared with the preferences.", metavar="FILES"),
    ] = None

    def arguments(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values with what is read."""
        from qrowd import files

        settings = reading.table_settings(self, "judgments")
        grades = files.read_judgments(self.judgments, **settings) if self.judgments else None
        return {**values, "preferences": self.read(), "judgments": grades}


def _judgments(data: Data, values: dict[str, Any]) -> dict[str, Any]:
    if "gold" not in values:
        return {"judgments": data.read()}
    judgments, gold = data.read_with_gold(values["gold"])
    return {"judgments": judgments, "gold": gold}
