"""The report as one HTML page that needs no network, no other file and no script.

Style and script are part of the page; a content security policy forbids it to load anything.
"""

from __future__ import annotations

import csv
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from importlib.util import find_spec
from io import StringIO
from math import isnan
from typing import Any

from qrowd.errors import QrowdError
from qrowd.reports import report_charts as charts
from qrowd.reports import report_text as text
from qrowd.reports.phrases import interval, number, percent, probability, signed, with_minus_signs
from qrowd.reports.report_assessors import AssessorRow, Grade, SplitRow
from qrowd.reports.report_content import ReportContent
from qrowd.reports.systems import COLUMNS, SystemRow, system_records

LEADERS = 12  # systems on the first screen
ASSESSORS_DRAWN = 24
SYSTEMS_DRAWN = 100


@dataclass(frozen=True)
class Cell:
    """What is shown, and what it is sorted by: a number, or the text itself where None."""

    text: str
    key: float | None = None


@dataclass(frozen=True)
class TableColumn:
    """A column of a table: its name, what it means, the text of a row, and the number it is sorted by, if any."""

    name: str
    meaning: str
    text: Callable[[Any], str]
    key: Callable[[Any], float | None] = lambda row: None


@dataclass(frozen=True)
class Grid:
    """A table. The first column names the row. data : a link with the numbers in full, called `file`."""

    caption: str
    columns: Sequence[TableColumn]
    rows: Sequence[Sequence[Cell]]
    file: str
    data: str


def report_page(report: ReportContent) -> str:
    """The page.

    Raises
    ------
    QrowdError
        Jinja2 is not installed.
    """
    check_jinja()
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("qrowd.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    folder = resources.files("qrowd.reports") / "templates"
    style, script = (Markup((folder / name).read_text("utf-8")) for name in ("report.css", "report.js"))
    return environment.get_template("report.html").render(
        report=report,
        style=style,
        script=script,
        charts={name: Markup(svg) for name, svg in _charts(report).items()},
        grids=_grids(report),
        text=text,
        key_numbers=text.key_numbers(report),
        n_extremes=ASSESSORS_DRAWN if len(report.assessors.rows) > ASSESSORS_DRAWN else 0,
        grades=_grades,
        splits=_splits(report),
    )


def check_jinja() -> None:
    """Say how to install what draws the page, before any work is done.

    Raises
    ------
    QrowdError
        Jinja2 is not installed.
    """
    if find_spec("jinja2") is None:
        raise QrowdError("the page needs Jinja2; pip install 'qrowd[report]'")


def _charts(report: ReportContent) -> dict[str, str]:
    rows = report.systems
    leaders = list(rows[:LEADERS])
    if all(row.system != report.compared_with for row in leaders):
        leaders[-1:] = [row for row in rows if row.system == report.compared_with]
    assessors = sorted(report.assessors.rows, key=lambda row: (isnan(row.agreement), -row.agreement))
    if len(assessors) > ASSESSORS_DRAWN:
        assessors = assessors[: ASSESSORS_DRAWN // 2] + assessors[-ASSESSORS_DRAWN // 2 :]
    return {
        "leaders": charts.systems_chart(leaders, report.compared_with, report.measure, width=600),
        "systems": charts.systems_chart(rows[:SYSTEMS_DRAWN], report.compared_with, report.measure),
        "pairs": charts.pairs_chart(report.pairs) if report.pairs else "",
        "assessors": charts.assessors_chart(assessors),
        "topics": charts.topics_chart(report.topics),
        "methods": charts.methods_chart(report.methods) if len(report.methods.rankings) > 1 else "",
    }


# ---------------------------------------------------------------------- tables


def _grids(report: ReportContent) -> dict[str, Grid]:
    return {
        "systems": _grid("Systems, best first", _systems(report), report.systems, "systems", system_records),
        "pairs": _grid("Each pair of the leading systems", _pairs(report), report.pairs, "pairs"),
        "assessors": _grid("Assessors", _assessors(report), report.assessors.rows, "assessors"),
        "topics": _grid("Topics", TOPICS, report.topics.rows, "topics"),
        "methods": _grid(
            "Ranks by each method that combines the assessors",
            _methods(report),
            range(len(report.methods.systems)),
            "rankings",
            lambda _: report.methods.records(),
        ),
    }


def _records(rows: Sequence[Any]) -> list[dict[str, Any]]:
    return [asdict(row) for row in rows]


def _grid(
    caption: str,
    columns: Sequence[TableColumn],
    rows: Sequence[Any],
    file: str,
    records: Callable[[Any], list[dict[str, Any]]] = _records,
) -> Grid:
    cells = [[Cell(with_minus_signs(column.text(row)), column.key(row)) for column in columns] for row in rows]
    return Grid(caption, columns, cells, f"{file}.csv", _link(records(rows)))


def _systems(report: ReportContent) -> list[TableColumn]:
    level = percent(report.answer.confidence)
    over = "over topics" if report.answer.method == "topics" else "over topics and assessors"

    def column(
        name: str, meaning: str, key: Callable[[SystemRow], float | None] = lambda row: None, title: str = ""
    ) -> TableColumn:
        return TableColumn(title or name, meaning, COLUMNS[name], key)

    return [
        column("system", "best mean first"),
        column("mean", "mean over topics of the panel's mean", lambda row: row.mean, report.measure),
        column("interval", f"{level}, over topics and assessors; it ends where the measure does", lambda row: row.low),
        column("difference", f"mean minus that of {report.compared_with}", lambda row: row.difference),
        column(
            "interval of difference",
            f"{level} for all pairs of systems together, {over}",
            lambda row: row.difference_low,
        ),
        column("p", "of the difference, adjusted for all pairs of systems", lambda row: row.p),
        column(
            "rank interval",
            f"ranks that the system may hold, {level} for all systems together",
            lambda row: row.rank_low,
        ),
        column("may be the best", "no other system is significantly better"),
        column("first for", "number of assessors by whose judgments the system is first", lambda row: row.first_for),
    ]


def _pairs(report: ReportContent) -> list[TableColumn]:
    return [
        TableColumn("system", "", lambda row: row.first),
        TableColumn("ahead of", "", lambda row: row.second),
        TableColumn(
            "difference", f"of mean {report.measure}", lambda row: signed(row.difference), lambda row: row.difference
        ),
        TableColumn(
            "interval",
            "over topics and assessors, for all pairs of systems together",
            lambda row: interval(row.low, row.high),
            lambda row: row.low,
        ),
        TableColumn("p", "adjusted for all pairs of systems", lambda row: probability(row.p), lambda row: row.p),
        TableColumn(
            "significant",
            f"p below {1 - report.answer.confidence:.3g}",
            lambda row: "yes" if row.significant else "no",
        ),
        TableColumn(
            "assessors who agree",
            "who see the same system ahead",
            lambda row: f"{row.ahead_for} of {row.n_ranking}",
            lambda row: row.ahead_for,
        ),
        TableColumn(
            "another panel",
            "probability that as many other assessors see the same system ahead on these topics",
            lambda row: number(row.another_panel, 2),
            lambda row: row.another_panel,
        ),
    ]


def _assessors(report: ReportContent) -> list[TableColumn]:
    rows = report.assessors.rows
    others = report.reference or "the other assessors together"
    columns = [
        TableColumn("assessor", "", lambda row: row.assessor),
        TableColumn("judgments", "repeats included", lambda row: f"{row.n_judgments:,}", lambda row: row.n_judgments),
        TableColumn("topics", "with any judgment", lambda row: str(row.n_topics), lambda row: row.n_topics),
        TableColumn(
            "coverage",
            "mean share of a topic's pool",
            lambda row: percent(row.coverage, 0),
            lambda row: row.coverage,
        ),
        _number("agreement", "with the others, beyond chance: 1 is perfect, 0 chance", "agreement", 3),
        TableColumn(
            "severity",
            "above 0: gives lower grades than the others, in shares of the scale (magnitudes: in logarithms)",
            lambda row: signed(row.severity, 3),
            lambda row: row.severity,
        ),
        _number("tau-b", f"of the ranking of systems with that of {others}", "tau_b", 3),
        TableColumn("best system", "by this assessor alone", lambda row: row.best or "-"),
        TableColumn(
            "AWARE",
            "mean share of the weight that AWARE gives, on the topics judged",
            lambda row: percent(row.accuracy, 1),
            lambda row: row.accuracy,
        ),
        _number("same again", "share of repeated documents with the same value", "consistency", 2),
        _number("seconds", "median of a judgment", "seconds", 1),
        TableColumn("stands out", "", lambda row: row.outlying),
    ]
    optional: dict[str, Callable[[AssessorRow], bool]] = {
        "AWARE": lambda row: not isnan(row.accuracy),
        "same again": lambda row: row.n_repeated > 0,
        "seconds": lambda row: not isnan(row.seconds),
        "stands out": lambda row: bool(row.outlying),
    }
    return [column for column in columns if column.name not in optional or any(map(optional[column.name], rows))]


def _number(name: str, meaning: str, field: str, digits: int) -> TableColumn:
    return TableColumn(name, meaning, lambda row: number(getattr(row, field), digits), lambda row: getattr(row, field))


TOPICS = [
    TableColumn("topic", "", lambda row: row.topic),
    _number("alpha", "Krippendorff's alpha of the topic's judgments", "alpha", 3),
    _number("mean score", "of all systems", "ease", 3),
    TableColumn("documents", "in the pool", lambda row: str(row.n_documents), lambda row: row.n_documents),
    TableColumn("assessors", "", lambda row: str(row.n_assessors), lambda row: row.n_assessors),
]


def _methods(report: ReportContent) -> list[TableColumn]:
    """The ranks by each method; a row is the number of a system."""
    systems = report.methods.systems

    def column(name: str, method: str, ranks: tuple[int, ...]) -> TableColumn:
        return TableColumn(name, method, lambda s: str(ranks[s] or "-"), lambda s: ranks[s] or len(systems) + 1)

    rankings = [column(one.name, one.method, one.ranks) for one in report.methods.rankings]
    return [TableColumn("system", "", lambda s: systems[s]), *rankings]


def _splits(report: ReportContent) -> str:
    return _link(
        {"topic": row.topic, "document": row.document, "sd": row.sd, "retrieved": row.retrieved, **asdict(grade)}
        for row in report.topics.splits
        for grade in row.grades
    )


# ---------------------------------------------------------------------- parts


def _grades(row: SplitRow) -> list[tuple[str, str]]:
    """(grade, assessors) of a document, highest first: values as given, or shares of the scale where scales differ."""
    groups: dict[float, list[Grade]] = {}
    for grade in row.grades:
        groups.setdefault(grade.value if isnan(grade.share) else round(grade.share, 6), []).append(grade)
    listed = []
    for share, members in groups.items():
        same = len({grade.value for grade in members}) == 1
        value = _value(members[0]) if same else "highest" if share == 1 else percent(share)
        listed.append((value, ", ".join(grade.assessor for grade in members)))
    return listed


def _value(grade: Grade) -> str:
    """The value and, where it is not 0 and the scale does not end at 1, the scale's maximum."""
    if isnan(grade.share) or grade.value in (0, grade.share):
        return f"{grade.value:g}"
    return f"{grade.value:g} of {grade.value / grade.share:g}"


def _link(records: Iterable[dict[str, Any]]) -> str:
    """A CSV file as the address of a link; cells of numbers that are not known are empty."""
    rows = list(records)
    out = StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: "" if isinstance(v, float) and isnan(v) else v for k, v in row.items()})
    return "data:text/csv;charset=utf-8;base64," + b64encode(out.getvalue().encode()).decode()
