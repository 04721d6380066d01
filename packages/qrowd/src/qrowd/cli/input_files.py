"""How commands read files: options for tables and names, and runs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from qrowd.errors import ArgumentError, QrowdError

if TYPE_CHECKING:
    from qrowd.model import runs as model
    from qrowd.model.headers import Kind
    from qrowd.model.judgments import Judgments
    from qrowd.model.preferences import Preferences
    from qrowd.model.scores import Scores


T = TypeVar("T", "Judgments", "Scores")
J = TypeVar("J", "Judgments", "Preferences")
CAMPAIGNS = "qrowd.campaigns"  # entry points that read what a campaign has collected


def data_option(*names: str, **settings: Any) -> Any:
    """An option about the data that is read."""
    return typer.Option(*names, rich_help_panel="Data", **settings)


def _checked_columns(texts: list[str] | None) -> list[str] | None:
    columns_named(texts)
    return texts


def _checked_labels(text: str | None) -> str | None:
    from qrowd.model.cells import ordered_labels

    return None if text is None else "<".join(ordered_labels(text))


Columns = Annotated[
    list[str] | None,
    data_option(
        "--column",
        help="Column of a table for topic, document, assessor, value, system, score or rank, as in 'assessor=Rater'.",
        metavar="ROLE=HEADER",
        show_default="usual names",
        callback=_checked_columns,
    ),
]
Labels = Annotated[
    str | None,
    data_option(
        help="Word labels from the lowest to the highest, as in 'Irrelevant<Complement<Exact'; they become 0, 1, 2.",
        metavar="WORDS",
        callback=_checked_labels,
    ),
]
Format = Annotated[
    Literal["auto", "pairs", "winner", "prefs", "qrels_prefs"], data_option(help="Format of files of preferences.")
]
Normalise = Annotated[
    Literal["geometric-mean", "median", "extremes", "checks"] | None,
    data_option(
        help="Bring magnitudes of several assessors onto one scale, unit by unit, by this centre of a unit.",
        show_default="as written; qrowd magnitude: geometric-mean",
    ),
]
Clusters = Annotated[
    str | None,
    data_option(
        help="Clusters of topics, such as conversations, that intervals and tests are over: a column of judgments, "
        "a pattern whose first group is the cluster of a topic, as in '^(.*)-', or a table (topic, cluster).",
        metavar="COLUMN|PATTERN|FILE",
    ),
]
Exclude = Annotated[
    list[str] | None,
    data_option(help="Assessors to leave out, by name or pattern, as in 'crowd-*'.", metavar="ASSESSORS"),
]
Scale = Annotated[
    list[str] | None,
    data_option(
        help="Scale of the assessors whose names match a pattern, as in 'umbrela-*=0-3'.",
        metavar="PATTERN=SCALE",
        show_default="inferred",
    ),
]
Related = Annotated[
    list[str] | None,
    data_option(
        help="Assessors related to systems, by patterns, as in 'qwen*=dual*'; each system is also scored without them.",
        metavar="ASSESSORS=SYSTEMS",
    ),
]
JudgeRecord = Annotated[
    str | None,
    data_option(
        help="Record of qrowd judge ask; for each system, the share of questions without an answer is shown.",
        metavar="FILE",
    ),
]
IncompleteRows = Annotated[
    Literal["refuse", "drop"], data_option(help="Rows of a table in which a required cell is missing.")
]
IdenticalRows = Annotated[
    Literal["keep", "drop"],
    data_option(help="Rows of a table that repeat an earlier row in all columns; keep: they are repeated judgments."),
]


def columns_named(texts: Iterable[str] | None) -> dict[str, tuple[str, ...]]:
    """{role: headers} of ROLE=HEADER; a role may stand several times."""
    from qrowd.model.headers import COLUMNS

    roles = list(dict.fromkeys(role for columns in COLUMNS.values() for role in columns))
    headers: dict[str, tuple[str, ...]] = {}
    for text in texts or ():
        role, equals, header = text.partition("=")
        if not equals or not header:
            raise ArgumentError(f"--column {text}: expected ROLE=HEADER, as in assessor=Rater")
        if role not in roles:
            raise ArgumentError(f"--column {text}: there is no role {role!r}; choose from {', '.join(roles)}")
        headers[role] = (*headers.get(role, ()), header)
    return headers


def table_settings(data: object, kind: Kind) -> dict[str, Any]:
    """The options for tables of a data class, as the function that reads this kind takes them."""
    from qrowd.model.headers import roles_in

    columns = columns_named(getattr(data, "columns", None))
    if (clusters := getattr(data, "clusters", None)) and not is_pattern_or_file(clusters):
        columns["cluster"] = (clusters,)
    names = ("labels", "identical_rows") if kind == "judgments" else ()
    settings = {name: getattr(data, name) for name in ("incomplete_rows", *names) if hasattr(data, name)}
    return {"columns": {role: named for role, named in columns.items() if role in roles_in(kind)}, **settings}


def is_pattern_or_file(clusters: str) -> bool:
    """Whether clusters are not those of a column."""
    return "(" in clusters or Path(clusters).exists()


def in_clusters(data: T, clusters: str | None) -> T:
    """Judgments or scores with the clusters of topics that a pattern or a file gives; a column was read with them."""
    from qrowd.files import read_clusters

    if clusters is None or getattr(data, "clusters", None):
        return data
    if not is_pattern_or_file(clusters):
        raise ArgumentError("neither a file, a pattern with a group, nor a column of a table", "clusters", clusters)
    of_topics: Any = clusters if "(" in clusters else read_clusters(clusters)
    return data.with_clusters(of_topics)


def hold_answers(paths: list[str], data: object) -> bool:
    """Whether each of these files is a table of answers."""
    from qrowd import files

    return files.hold_answers(paths, columns_named(getattr(data, "columns", None)))


def without(judgments: J, assessors: list[str] | None) -> J:
    """The judgments, or preferences, of all assessors but these, given by name or pattern."""
    from qrowd.model.labels import matching

    if not assessors:
        return judgments
    try:
        excluded = matching(judgments.assessors, assessors, "assessor")
    except ArgumentError as error:
        raise ArgumentError(f"--exclude: {error}") from None
    if excluded.all():
        raise ArgumentError(f"--exclude {' '.join(assessors)}: no assessor is left")
    names = [name for name, out in zip(judgments.assessors, excluded, strict=True) if not out]
    show_notes([f"excluded: {', '.join(name for name in judgments.assessors if name not in names)}"])
    return judgments.select(assessors=lambda assessor: assessor in names)


def same_rows(first: Judgments, second: Judgments) -> bool:
    """Whether these are the same judgments, in any order."""
    columns = ["topic", "document", "value"]
    tables = [one.to_frame()[columns].sort_values(columns, ignore_index=True) for one in (first, second)]
    return len(first) == len(second) and tables[0].equals(tables[1])


def show_notes(notes: Iterable[str]) -> None:
    """What was left out while files were read, on standard error."""
    from qrowd.model.frames import HowRead

    for note in notes:
        if not isinstance(note, HowRead):
            typer.echo(f"note: {note}", err=True)


RunFiles = Annotated[
    list[str] | None,
    data_option(
        "--runs", help="Run files: paths, patterns, folders, NAME=PATH, or - for standard input.", metavar="FILES"
    ),
]
System = Annotated[
    Literal["file", "column"],
    data_option(help="Name of the system of a TREC run: the name of the file, or the tag, its last column."),
]


@dataclass(frozen=True)
class Runs:
    """Where runs come from, if there are any."""

    runs: RunFiles = None
    system: System = "file"

    def read(self, data: Any) -> model.Runs | None:
        """The runs of files, else those that a campaign keeps; None where there are none.

        data : judgments or preferences, with their options for tables.
        """
        from qrowd import files
        from qrowd.cli.progress import progress

        paths = self.of(data)
        runs: model.Runs | None = None
        if paths:
            with progress("reading runs") as advance:
                runs = files.read_runs(paths, system=self.system, progress=advance, **table_settings(data, "runs"))
        elif (campaign := getattr(data, "campaign", None)) is not None:
            runs = of_campaigns("answers", campaign)(data.database, campaign, "runs")
        if runs is not None and paths != getattr(data, "judgments", None):  # whose notes are the same
            show_notes(runs.notes)
        return runs

    def read_needed(self, data: Any) -> model.Runs:
        """The runs, which a command cannot do without."""
        self.needed(data)
        runs = self.read(data)
        if runs is None:
            raise ArgumentError(f"campaign {data.campaign}: it keeps no runs; give their files by --runs")
        return runs

    def needed(self, data: object) -> list[str]:
        """The files, which a command cannot do without; none where a campaign keeps runs."""
        paths = self.of(data)
        if not paths and getattr(data, "campaign", None) is None:
            text = shlex.join(getattr(data, "judgments", None) or ["FILES"])
            raise ArgumentError(
                f"missing option '--runs': give the files of runs (see --help); qrowd check {text} says what needs none"
            )
        return paths

    def of(self, data: object) -> list[str]:
        """The files of runs; without any, those of judgments if they are judged answers."""
        if self.runs:
            return self.runs
        judged = getattr(data, "judgments", None) or []
        return judged if judged and hold_answers(judged, data) else []


NO_RUNS = Runs()


def of_campaigns(what: str, campaign: str) -> Callable[..., Any]:
    """The function of the judging server that reads this of a campaign: its answers or runs, its arms, or its design.

    Raises
    ------
    QrowdError
        The server is not installed.
    """
    from importlib.metadata import entry_points

    for point in entry_points(group=CAMPAIGNS, name=what):
        function: Callable[..., Any] = point.load()
        return function
    raise QrowdError(f"--campaign {campaign}: campaigns are read by the judging server; pip install qrowd-server")


def _further_values(ctx: typer.Context, incomplete: str) -> list[str]:
    """Further values of the option that takes several and stands last; files are left to the shell."""
    return [item.value for item in ctx.command.shell_complete(ctx, incomplete)]


Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[QRELS RUN ...]",
        help="One file of judgments and the runs, instead of --judgments and --runs.",
        show_default=False,
        autocompletion=_further_values,
    ),
]

JudgmentFiles = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILES]",
        help="Judgment files, instead of --judgments.",
        show_default=False,
        autocompletion=_further_values,
    ),
]
