"""The tables of the report, described once for the page, documents and CSV files."""

from __future__ import annotations

import csv
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from math import isnan
from typing import TYPE_CHECKING, Any

from qrowd.reports.columns import cell, columns_of_tables, records_of
from qrowd.reports.document import Table
from qrowd.reports.kinship import CELLS, RelatedAssessors
from qrowd.reports.phrases import interval, number, percent, probability, signed
from qrowd.reports.report_influence import DocumentRow, Influence, grades_text, influence_records
from qrowd.reports.report_measures import ByMeasure, MeasureRanking
from qrowd.reports.systems import SystemRow
from qrowd.reports.unanswered import Row, Unanswered, cells_of, title_of

if TYPE_CHECKING:
    from qrowd.reports.report_content import ReportContent


@dataclass(frozen=True)
class TableColumn:
    """A column of a table: its name, what it means, the text of a row, and the number it is sorted by, if any."""

    name: str
    meaning: str
    text: Callable[[Any], str]
    key: Callable[[Any], float | None] = lambda row: None


@dataclass(frozen=True)
class Grid:
    """A table of rows, of which the first column is the name. file : its name as a file, which holds the records."""

    caption: str
    columns: Sequence[TableColumn]
    rows: Sequence[Any]
    file: str
    records: Sequence[dict[str, Any]]

    @property
    def data(self) -> str:
        """The address of a link to the file."""
        return csv_link(self.records)

    def to_table(self) -> Table:
        """The same as text."""
        return Table.of(self.caption, {column.name: map(column.text, self.rows) for column in self.columns})


def grids_of(report: ReportContent) -> dict[str, Grid]:
    """Systems, pairs, assessors, topics, ranks by method, and those that only some reports have."""
    systems, pairs, methods = report.systems, report.pairs, report.methods
    assessors, topics = report.assessors.rows, report.topics.rows
    compared = f"Systems by mean {report.measure}, compared with {report.compared_with}"
    by_method = "Ranks by each method that combines the assessors"
    return {
        "systems": Grid(compared, _systems(report), systems, "systems.csv", records_of(systems)),
        "pairs": Grid("Each pair of the leading systems", _pairs(report), pairs, "pairs.csv", _records(pairs)),
        "assessors": Grid("Assessors", _assessors(report), assessors, "assessors.csv", _records(assessors)),
        "topics": Grid("Topics", _topics(report), topics, "topics.csv", _records(topics)),
        "methods": Grid(by_method, _methods(report), range(len(systems)), "rankings.csv", methods.records()),
        **({} if report.by_measure is None else {"measures": _by_measure(report.by_measure)}),
        **_influence(report.influence),
        **({} if report.related is None else {"kinship": _kinship(report.related)}),
        **({} if report.unanswered is None else _unanswered(report.unanswered)),
    }


def _by_measure(one: ByMeasure) -> Grid:
    """Means and ranks by each measure; a row is the number of a system."""

    def column(ranking: MeasureRanking, meaning: str) -> TableColumn:
        def text(s: int) -> str:
            return f"{number(ranking.means[s])} ({ranking.ranks[s] or '-'})"

        return TableColumn(ranking.measure, meaning, text, lambda s: ranking.means[s])

    meanings = ["mean over topics of the panel's mean, and the rank by it in parentheses"]
    meanings += [
        f"tau-b of the ranking with that by {one.rankings[0].measure}: {number(r.tau_b, 3)}" for r in one.rankings[1:]
    ]
    columns = [TableColumn("system", "", lambda s: one.systems[s]), *map(column, one.rankings, meanings)]
    return Grid("Means and ranks by each measure", columns, range(len(one.systems)), "measures.csv", one.records())


def _influence(one: Influence | None) -> dict[str, Grid]:
    """Documents that carry the difference, those on which assessors disagree, and judgments that reverse it."""
    if one is None:
        return {}
    records = influence_records(one)
    of = f"the difference of {one.first} and {one.second}"
    tables = {
        "documents": (f"Documents with the largest parts of {of}", _documents(one, DISAGREEMENT), one.documents),
        "disagreements": (
            f"Documents on which assessors disagree and that change {of}",
            _documents(one, ()),
            one.disagreements,
        ),
        "changes": (f"Judgments that, each moved by one grade, reverse {of}", CHANGES, one.changes),
    }
    return {
        name: Grid(caption, columns, rows, f"{name}.csv", records[name])
        for name, (caption, columns, rows) in tables.items()
        if rows
    }


PREFERENCES = "preferences"  # in place of a scale
DISAGREEMENT = ("sd", "lowest", "highest")


def _documents(one: Influence, left_out: Sequence[str]) -> list[TableColumn]:
    def rank(field: str) -> Callable[[DocumentRow], str]:
        return lambda row: str(getattr(row, field) or "-")

    columns = [
        TableColumn("topic", "", lambda row: row.topic),
        TableColumn("document", "", lambda row: row.document),
        _column("part", f"what its judgments add to {one.first} minus {one.second}", "part", signed),
        TableColumn("rank by first", f"its rank in {one.first}", rank("rank_first"), lambda row: row.rank_first),
        TableColumn("rank by second", f"its rank in {one.second}", rank("rank_second"), lambda row: row.rank_second),
        _column("sd", "standard deviation of the gains of its judgments", "sd", number, 2),
        _column("lowest", "difference if all assessors gave its lowest grade", "difference_lowest", signed),
        _column("highest", "difference if all gave its highest", "difference_highest", signed),
        TableColumn("grades", "", lambda row: grades_text(row.grades)),
    ]
    return [column for column in columns if column.name not in left_out]


def _unanswered(unanswered: Unanswered) -> dict[str, Grid]:
    """Questions without an answer by model, by system and by topic."""
    n = len(unanswered.failed_topics)
    worst = f"By topic, the {n} with the largest share" if n < len(unanswered.topics) else "By topic"
    parts = {
        "unanswered_models": ("Questions by model", unanswered.models, unanswered.models),
        "unanswered_systems": (
            "Questions on documents of each system, all models together",
            unanswered.systems,
            unanswered.systems,
        ),
        "unanswered_topics": (worst, unanswered.failed_topics, unanswered.topics),
    }
    return {name: _shares(caption, rows, records, name) for name, (caption, rows, records) in parts.items() if rows}


SHARE = ("unanswered", "unanswered_systems")  # the column that is explained, once


def _shares(caption: str, rows: Sequence[Row], records: Sequence[Row], name: str) -> Grid:
    def column(field: str, text: Callable[[Any], str]) -> TableColumn:
        meaning = "share of the questions; the other shares add up to it" if (field, name) == SHARE else ""
        return TableColumn(
            title_of(field), meaning, text, lambda row: None if isinstance(row[field], str) else row[field]
        )

    columns = [column(field, text) for field, text in cells_of(rows).items()]
    return Grid(caption, columns, rows, f"{name}.csv", records)


def _kinship(related: RelatedAssessors) -> Grid:
    caption = "Systems with related assessors, and those whose rank they change"

    def column(name: str) -> TableColumn:
        meaning, field = KINSHIP.get(name, ("", name))
        return TableColumn(name, meaning, CELLS[name], lambda row: None if name == "system" else row[field])

    columns = [column(name) for name in CELLS]
    return Grid(caption, columns, related.shown, "kinship.csv", related.rows)


KINSHIP = {
    "relatives": ("assessors declared to be related to the system", "n_relatives"),
    "without relatives": (
        "mean without them, with the severity of the other assessors taken into account",
        "without_relatives",
    ),
    "difference": ("of the two means: above 0, relatives score the system higher than the others do", "difference"),
    "interval of difference": ("over topics, for each system by itself", "low"),
    "rank without relatives": ("", "rank_without"),
}
"""Meaning of each column, and the number that it is sorted by."""


def _records(rows: Sequence[Any]) -> list[dict[str, Any]]:
    return [asdict(row) for row in rows]


def _systems(report: ReportContent) -> list[TableColumn]:
    level = percent(report.answer.confidence)
    over = "over topics" if report.answer.method == "topics" else "over topics and assessors"

    declared = columns_of_tables(SystemRow)

    def column(name: str, meaning: str = "", title: str = "") -> TableColumn:
        shown = declared[name]

        def key(row: SystemRow) -> Any:
            return None if name in UNSORTED else getattr(row, name)

        return TableColumn(title or shown.heading, meaning or shown.meaning, lambda row: cell(row, name, shown), key)

    return [
        column("system"),
        column("mean", title=report.measure),
        column("low", f"{level}, over topics and assessors; it ends where the measure does"),
        column("difference", f"mean minus that of {report.compared_with}"),
        column("difference_low", f"{level} for all pairs of systems together, {over}"),
        column("p"),
        column("rank_low", f"ranks that the system may hold, {level} for all systems together"),
        column("may_be_best"),
        column("first_for"),
    ]


UNSORTED = ("system", "may_be_best")


def _pairs(report: ReportContent) -> list[TableColumn]:
    return [
        TableColumn("system", "", lambda row: row.first),
        TableColumn("ahead of", "", lambda row: row.second),
        _column("difference", f"of mean {report.measure}", "difference", signed),
        TableColumn(
            "interval",
            "over topics and assessors, for all pairs of systems together",
            lambda row: interval(row.low, row.high),
            lambda row: row.low,
        ),
        _column("p", "adjusted for all pairs of systems", "p", probability),
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
        _column(
            "another panel",
            "probability that as many other assessors see the same system ahead on these topics",
            "another_panel",
            number,
            2,
        ),
    ]


def _assessors(report: ReportContent) -> list[TableColumn]:
    rows = report.assessors.rows
    others = report.reference or "the other assessors together"
    columns = [
        TableColumn("assessor", "", lambda row: row.assessor),
        TableColumn("stands out", "why: below the table", lambda row: "yes" if row.outlying else ""),
        _column("judgments", "repeats included", "n_judgments", "{:,}".format),
        _column("topics", "with any judgment", "n_topics", str),
        _column("coverage", "mean share of a topic's pool", "coverage", percent, 0),
        _column("agreement", "with the others, beyond chance: 1 is perfect, 0 chance", "agreement", number, 3),
        _column(
            "severity",
            "above 0: gives lower grades than the others, in shares of the scale (magnitudes: in logarithms)",
            "severity",
            signed,
            3,
        ),
        _column("tau-b", f"of the ranking of systems with that of {others}", "tau_b", number, 3),
        TableColumn("best system", "by this assessor alone", lambda row: row.best or "-"),
        _column("AWARE", "mean share of the weight that AWARE gives, on the topics judged", "accuracy", percent, 1),
        _column("same again", "share of repeated documents with the same value", "consistency", number, 2),
        _column("seconds", "median of a judgment", "seconds", number, 1),
    ]
    optional: dict[str, Callable[[Any], bool]] = {
        "agreement": lambda row: not isnan(row.agreement) or row.scale != PREFERENCES,
        "severity": lambda row: not isnan(row.severity) or row.scale != PREFERENCES,
        "AWARE": lambda row: not isnan(row.accuracy),
        "same again": lambda row: row.n_repeated > 0,
        "seconds": lambda row: not isnan(row.seconds),
        "stands out": lambda row: bool(row.outlying),
    }
    return [column for column in columns if column.name not in optional or any(map(optional[column.name], rows))]


def _column(name: str, meaning: str, field: str, text_of: Callable[..., str], *digits: int) -> TableColumn:
    """A number of the row, written in this form and sorted by."""
    return TableColumn(
        name, meaning, lambda row: text_of(getattr(row, field), *digits), lambda row: getattr(row, field)
    )


def _topics(report: ReportContent) -> list[TableColumn]:
    """With their texts, where there are any; alpha is of grades."""
    texts = report.texts.topics
    columns = [column for column in TOPICS[1:] if column.name != "alpha" or report.preferences is None]
    text = TableColumn("text", "", lambda row: texts.get(row.topic, ""))
    return [TOPICS[0], *([text] if texts else []), *columns]


CHANGES = [
    TableColumn("topic", "", lambda row: row.topic),
    TableColumn("document", "", lambda row: row.document),
    TableColumn("assessor", "", lambda row: row.assessor),
    TableColumn("grade", "", lambda row: f"{row.before:g}", lambda row: row.before),
    TableColumn("moved to", "", lambda row: f"{row.after:g}", lambda row: row.after),
    _column("difference", "after this change and those above it, scored again", "difference", signed),
]

TOPICS = [
    TableColumn("topic", "", lambda row: row.topic),
    _column("alpha", "Krippendorff's alpha of the topic's judgments", "alpha", number, 3),
    _column("mean score", "of all systems", "ease", number, 3),
    _column("documents", "in the pool", "n_documents", str),
    _column("assessors", "", "n_assessors", str),
]


def _methods(report: ReportContent) -> list[TableColumn]:
    """The ranks by each method; a row is the number of a system."""
    systems = report.methods.systems

    def column(name: str, method: str, ranks: tuple[int, ...]) -> TableColumn:
        return TableColumn(name, method, lambda s: str(ranks[s] or "-"), lambda s: ranks[s] or len(systems) + 1)

    rankings = [column(one.name, one.method, one.ranks) for one in report.methods.rankings]
    return [TableColumn("system", "", lambda s: systems[s]), *rankings]


def csv_link(records: Iterable[dict[str, Any]]) -> str:
    """A CSV file as the address of a link; cells of numbers that are not known are empty."""
    rows = [{k: "" if isinstance(v, float) and isnan(v) else v for k, v in row.items()} for row in records]
    out = StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return "data:text/csv;charset=utf-8;base64," + b64encode(out.getvalue().encode()).decode()
