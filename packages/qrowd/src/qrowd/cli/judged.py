"""Judgments or preferences, for commands that take both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qrowd.cli import options
from qrowd.cli.options import option
from qrowd.errors import ArgumentError

if TYPE_CHECKING:
    from qrowd.model.judgments import Judgments
    from qrowd.model.preferences import Preferences

PreferenceFiles = Annotated[
    list[str] | None,
    option(
        help="Preference files: lines `topic preferred other`, trec_eval's formats, or tables.",
        panel="Data",
        metavar="FILES",
    ),
]


def run_files(
    files: list[str] | None, runs: options.MaybeRuns, data: options.Data, preferences: list[str] | None
) -> tuple[options.Runs, options.Data]:
    """Where runs and judgments come from, by position or by option; preferences need runs by option."""
    if not preferences:
        return options.by_position(files, runs, data)
    if files:
        raise ArgumentError(f"unexpected extra argument {' '.join(files)}: with --preferences give --runs")
    if not runs.runs:
        raise ArgumentError("missing option '--runs': give the files of runs; see --help")
    return options.Runs(runs.runs, runs.system), data


def judgments_or_preferences(
    data: options.Data, preferences: list[str] | None, format: options.Format
) -> Judgments | Preferences:
    """The judgments, or the preferences, of files or of a campaign."""
    from qrowd.model.preferences import Preferences

    if preferences:
        if data.judgments:
            raise ArgumentError("--preferences: give either judgments or preferences")
        return options.PreferenceData(
            preferences,
            data.campaign,
            data.database,
            data.names,
            format,
            data.assessor,
            data.columns,
            data.incomplete_rows,
        ).read()
    if data.campaign and not data.judgments:
        collected = options.read_campaign(data.campaign, data.database, "--judgments", names=data.names)
        if isinstance(collected, Preferences):
            return collected
    return data.read()
