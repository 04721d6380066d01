"""The report as one HTML page that needs no network and no other file, and is complete without its script.

Style and script are part of the page; a content security policy forbids it to load anything.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import asdict, replace
from importlib import resources
from importlib.util import find_spec

from qrowd.errors import QrowdError
from qrowd.reports import report_charts as charts
from qrowd.reports import report_text as text
from qrowd.reports.phrases import sentence_case, with_minus_signs
from qrowd.reports.report_content import ReportContent
from qrowd.reports.report_documents import start_of
from qrowd.reports.report_tables import tables_of
from qrowd.reports.table import Table

SCRIPTS = ("tables", "elements", "data", "statistics", "pictures", "choices", "systems", "pair", "topic", "main")
"""The script of the page, in this order."""
LEADERS = 12  # systems on the first screen
SYSTEMS_DRAWN = 100
LONG_NAME = 18  # letters


def pieces_of_names(text: str) -> list[str]:
    """The text in pieces that a line may end between: after the separators in long names.

    >>> pieces_of_names("colbert_rankgpt4o_msmarco is ahead of bm_25.")
    ['colbert_', 'rankgpt4o_', 'msmarco is ahead of bm_25.']
    """
    parts = (re.sub(r"(?<=[_./…-])(?=\w)", "\0", word) if len(word) > LONG_NAME else word for word in text.split(" "))
    return " ".join(parts).split("\0")


def report_page(report: ReportContent) -> str:
    """The page.

    Raises
    ------
    QrowdError
        Jinja2 is not installed.
    """
    check_jinja()
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    environment = Environment(
        loader=PackageLoader("qrowd.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Every text of the page has minus signs; what a program reads is marked as such and keeps its hyphens.
        finalize=lambda value: with_minus_signs(value) if type(value) is str else value,
    )
    environment.filters |= {
        "ascii": escape,
        "breakable": lambda text: Markup("<wbr>").join(map(escape, pieces_of_names(with_minus_signs(text)))),
        "capital": sentence_case,
    }
    folder = resources.files("qrowd.reports") / "templates"
    scripts = [(folder / "scripts" / f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    header, payload = report.data.encoded()
    page = environment.get_template("report.html").render(
        report=report,
        style=Markup((folder / "report.css").read_text("utf-8")),
        script=Markup("\n".join(scripts)),
        header=Markup(header),
        payload=Markup(payload),
        charts={name: Markup(svg) for name, svg in _charts(report).items()},
        tables={**tables_of(report), "splits": _splits(report)},
        text=text,
        csv_link=csv_link,
        start_of=start_of,
    )
    return page.encode("utf-8", "replace").decode()


def check_jinja() -> None:
    """Say how to install what draws the page, before any work is done.

    Raises
    ------
    QrowdError
        Jinja2 is not installed.
    """
    if find_spec("jinja2") is None:
        raise QrowdError("the page needs Jinja2; pip install 'qrowd[report]'")


def csv_link(table: Table) -> str:
    """The address of a link to the rows of a table as a CSV file."""
    return "data:text/csv;charset=utf-8;base64," + b64encode(table.csv().encode("utf-8", "replace")).decode()


def _charts(report: ReportContent) -> dict[str, str]:
    rows = report.systems
    leaders = list(rows[:LEADERS])
    if all(row.system != report.compared_with for row in leaders):
        leaders[-1:] = [row for row in rows if row.system == report.compared_with]
    return {
        "leaders": charts.systems_chart(leaders, report.compared_with, report.measure, width=440),
        "systems": charts.systems_chart(rows[:SYSTEMS_DRAWN], report.compared_with, report.measure),
    }


def _splits(report: ReportContent) -> Table:
    """The grades of the documents with the largest disagreement, for a file."""
    records = [
        {"topic": row.topic, "document": row.document, "sd": row.sd, "retrieved": row.retrieved, **asdict(grade)}
        for row in report.topics.splits
        for grade in row.grades
    ]
    return replace(Table("Documents with the largest disagreement", [], []), records=records)
