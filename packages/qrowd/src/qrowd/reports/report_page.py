"""The report as one HTML page that needs no network, no other file and no script.

Style and script are part of the page; a content security policy forbids it to load anything.
"""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from importlib import resources
from importlib.util import find_spec
from math import isnan

from qrowd.errors import QrowdError
from qrowd.reports import report_charts as charts
from qrowd.reports import report_text as text
from qrowd.reports.phrases import percent, with_minus_signs
from qrowd.reports.report_assessors import Grade, SplitRow
from qrowd.reports.report_content import ReportContent
from qrowd.reports.report_names import Labels, with_labels
from qrowd.reports.report_tables import csv_link, grids_of
from qrowd.reports.report_texts import start_of

LEADERS = 12  # systems on the first screen
ASSESSORS_DRAWN = 24
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
    labels = Labels([row.system for row in report.systems])
    report, full = with_labels(report, labels), report
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    full_grids = grids_of(full)
    environment = Environment(
        loader=PackageLoader("qrowd.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Every text of the page has minus signs; what a program reads is marked as such and keeps its hyphens.
        finalize=lambda value: with_minus_signs(value) if type(value) is str else value,
    )
    environment.filters["ascii"] = escape
    environment.filters["breakable"] = lambda text: Markup("<wbr>").join(
        map(escape, pieces_of_names(with_minus_signs(text)))
    )
    folder = resources.files("qrowd.reports") / "templates"
    style, script = (Markup((folder / name).read_text("utf-8")) for name in ("report.css", "report.js"))
    return environment.get_template("report.html").render(
        report=report,
        style=style,
        script=script,
        charts={name: Markup(svg) for name, svg in _charts(report).items()},
        grids={name: replace(grid, records=full_grids[name].records) for name, grid in grids_of(report).items()},
        labels=labels,
        full_names={label: name for name, label in labels.names.items()},
        text=text,
        key_numbers=text.key_numbers(report),
        n_extremes=ASSESSORS_DRAWN if len(report.assessors.rows) > ASSESSORS_DRAWN else 0,
        grades=_grades,
        start_of=start_of,
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
        "leaders": charts.systems_chart(leaders, report.compared_with, report.measure, width=440),
        "systems": charts.systems_chart(rows[:SYSTEMS_DRAWN], report.compared_with, report.measure),
        "systems_on_phones": charts.systems_chart(
            rows[:SYSTEMS_DRAWN], report.compared_with, report.measure, width=440
        ),
        "pairs": charts.pairs_chart(report.pairs) if report.pairs else "",
        "assessors": charts.assessors_chart(assessors),
        "topics": charts.topics_chart(report.topics),
        "methods": charts.methods_chart(report.methods) if len(report.methods.rankings) > 1 else "",
    }


# ---------------------------------------------------------------------- parts


def _splits(report: ReportContent) -> str:
    return csv_link(
        {"topic": row.topic, "document": row.document, "sd": row.sd, "retrieved": row.retrieved, **asdict(grade)}
        for row in report.topics.splits
        for grade in row.grades
    )


def _grades(row: SplitRow) -> list[tuple[str, str]]:
    """(grade, assessors) of a document, highest first: values as given, or shares of the scale where scales differ."""
    groups: dict[float, list[Grade]] = {}
    for grade in row.grades:
        groups.setdefault(grade.value if isnan(grade.share) else round(grade.share, 6), []).append(grade)
    values = []
    for share, members in groups.items():
        same = len({grade.value for grade in members}) == 1
        value = _value(members[0]) if same else "highest" if share == 1 else percent(share)
        values.append((value, ", ".join(grade.assessor for grade in members)))
    return values


def _value(grade: Grade) -> str:
    """The value and, where it is not 0 and the scale does not end at 1, the scale's maximum."""
    if isnan(grade.share) or grade.value in (0, grade.share):
        return f"{grade.value:g}"
    return f"{grade.value:g} of {grade.value / grade.share:g}"
