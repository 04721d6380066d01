"""The tables of the report, for the page, documents and CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan

from qrowd.reports.kinship import kinship_table
from qrowd.reports.phrases import number, percent
from qrowd.reports.report_content import ReportContent
from qrowd.reports.report_influence import DocumentRow, grades_text
from qrowd.reports.report_methods import SystemRankings
from qrowd.reports.table import Table, table_of

SYSTEMS = ("system", "mean", "low", "difference", "difference_low", "p", "rank_low", "may_be_best", "first_for")
DOCUMENTS = ("topic", "document", "part", "rank_first", "rank_second", "grades")
DISAGREEMENTS = (*DOCUMENTS[:-1], "sd", "difference_lowest", "difference_highest", "grades")


def tables_of(report: ReportContent) -> dict[str, Table]:
    """Systems, pairs, assessors, topics, ranks by method, and those that only some reports have."""
    influence = report.influence
    of = f"the difference of {influence.first} and {influence.second}"
    tables = {
        "systems": _systems(report),
        "pairs": _pairs(report),
        "assessors": _assessors(report),
        "topics": table_of("Topics", report.topics.rows, TOPICS if report.preferences is None else WITHOUT_ALPHA),
        "methods": _ranks(report.methods),
    }
    if report.by_measure is not None:
        tables["measures"] = _by_measure(report.by_measure)
    parts = f"Documents with the largest parts of {of}"
    tables["documents"] = _documents(parts, influence.documents, DOCUMENTS, report)
    disagreements = f"Documents on which assessors disagree and that change {of}"
    tables["disagreements"] = _documents(disagreements, influence.disagreements, DISAGREEMENTS, report)
    tables["changes"] = table_of(f"Judgments that, each moved by one grade, reverse {of}", influence.changes)
    if report.related is not None:
        tables["kinship"] = kinship_table("Systems with related assessors, and those whose rank they change",
                                          report.related)  # fmt: skip
    return {name: table for name, table in tables.items() if table.rows or name == "pairs"}


TOPICS = ("topic", "text", "alpha", "ease", "n_documents", "n_assessors")
WITHOUT_ALPHA = tuple(name for name in TOPICS if name != "alpha")


def _systems(report: ReportContent) -> Table:
    level = percent(report.answer.confidence)
    over = "over topics" if report.answer.method == "topics" else "over topics and assessors"
    return table_of(
        f"Systems by mean {report.measure}, compared with {report.compared_with}",
        report.systems,
        SYSTEMS,
        headings={"mean": report.measure},
        meanings={
            "low": f"{level}, over topics and assessors; it ends where the measure does",
            "difference": f"mean minus that of {report.compared_with}",
            "difference_low": f"{level} for all pairs of systems together, {over}",
            "rank_low": f"ranks that the system may hold, {level} for all systems together",
        },
    )


def _pairs(report: ReportContent) -> Table:
    meanings = {"difference": f"of mean {report.measure}", "significant": f"p below {1 - report.answer.confidence:.3g}"}
    return table_of("Each pair of the leading systems", report.pairs, meanings=meanings)


def _assessors(report: ReportContent) -> Table:
    """Of what is not known of any assessor, only agreement and severity are shown, of grades."""
    rows = report.assessors.rows
    unknown = {name for name in OPTIONAL if all(isnan(getattr(row, name)) for row in rows)}
    if report.preferences is None:
        unknown -= {"agreement", "severity"}
    if not any(row.n_repeated for row in rows):
        unknown.add("consistency")
    if not any(row.outlying for row in rows):
        unknown.add("outlying")
    names = [name for name in ASSESSORS if name not in unknown]
    others = report.reference or "the other assessors together"
    return table_of("Assessors", rows, names, meanings={"tau_b": f"of the ranking of systems with that of {others}"})


ASSESSORS = (
    *("assessor", "outlying", "n_judgments", "n_topics", "coverage", "agreement", "severity", "tau_b", "best"),
    *("accuracy", "consistency", "seconds"),
)
OPTIONAL = ("agreement", "severity", "accuracy", "consistency", "seconds")


def _documents(title: str, rows: Sequence[DocumentRow], names: Sequence[str], report: ReportContent) -> Table:
    """Documents of the difference of two systems, with the grades in words."""
    first, second = report.influence.first, report.influence.second
    meanings = {
        "part": f"what its judgments add to {first} minus {second}",
        "rank_first": f"its rank in {first}",
        "rank_second": f"its rank in {second}",
    }
    table = table_of(title, rows, names, meanings=meanings)
    return replace(table, records=[{**vars(row), "grades": grades_text(row.grades)} for row in rows])


def _ranks(methods: SystemRankings) -> Table:
    """The ranks by each method."""
    columns = {one.name: [str(rank or "-") for rank in one.ranks] for one in methods.rankings}
    return replace(
        Table.of("Ranks by each method that combines the assessors", {"system": methods.systems, **columns}),
        meanings={one.name: one.method for one in methods.rankings},
        keys={one.name: [rank or len(methods.systems) + 1 for rank in one.ranks] for one in methods.rankings},
        records=methods.records("name", "method"),
    )


def _by_measure(measures: SystemRankings) -> Table:
    """Means and ranks by each measure."""
    first, *others = measures.rankings
    columns = {
        one.name: [f"{number(mean)} ({rank or '-'})" for mean, rank in zip(one.means, one.ranks, strict=True)]
        for one in measures.rankings
    }
    tau = {one.name: f"tau-b of the ranking with that by {first.name}: {number(one.tau_b, 3)}" for one in others}
    return replace(
        Table.of("Means and ranks by each measure", {"system": measures.systems, **columns}),
        meanings={first.name: "mean over topics of the panel's mean, and the rank by it in parentheses", **tau},
        keys={one.name: one.means for one in measures.rankings},
        records=measures.records("measure"),
    )
