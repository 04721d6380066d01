"""The report as plain data, and as one HTML page that needs no network and is complete without its script.

Style and script are part of the page; a content security policy forbids it to load anything. The chart of the leading
systems is an SVG picture with the colours of the page; its numbers are in the table of systems.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from html import escape
from importlib import resources
from importlib.util import find_spec
from math import ceil, floor, isnan, log10
from pathlib import Path
from typing import Any

from qrowd.errors import QrowdError
from qrowd.evaluation import bounds_of
from qrowd.model.result import Tables
from qrowd.reports.document import Document, Reported, Section, columns_of
from qrowd.reports.phrases import interval, mean_of, number, sentence_case, signed, with_minus_signs
from qrowd.reports.report_data import PageData
from qrowd.reports.report_systems import Answer
from qrowd.reports.short_names import fitted_names
from qrowd.reports.system_tables import SystemRow
from qrowd.reports.table import Table

SCRIPTS = ("tables", "elements", "data", "statistics", "pictures", "choices", "systems", "pair", "topic", "main")
"""The script of the page, in this order."""
LEADERS = 12  # systems on the first screen
LONG_NAME = 18  # letters
LETTER = 8.5  # width of a letter of a label
LONGEST = 30  # letters of a label
TICKS = 6  # about so many
ROW, TOP, WIDTH = 24, 8, 440  # height of a row, place of the first, width of the chart


@dataclass(frozen=True)
class InputFile:
    """A file that was read. role : runs, judgments ...; sha256 : of its bytes as they lie on disk."""

    role: str
    path: str
    n_bytes: int
    sha256: str


@dataclass(frozen=True)
class Provenance:
    """How to make the same page again. command : as typed; empty where a program asked. date : of the page, if any."""

    command: str = ""
    files: tuple[InputFile, ...] = ()
    date: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Report(Reported):
    """The answer of `qrowd report`: `write("report.html")` writes the page, `to_frame(what=...)` gives its tables.

    measures : the verdict is by the first. compared_with : the system that all others are compared with, the baseline
    or the leader. systems : best first.
    settings : the conventions and choices in force. data : what the page computes with when a reader chooses.
    """

    measures: tuple[str, ...]
    compared_with: str
    answer: Answer
    systems: tuple[SystemRow, ...]
    sections: tuple[Section, ...]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    provenance: Provenance
    data: PageData

    @property
    def sentence(self) -> str:
        """The answer in short."""
        headlines = (section.headline for section in self.sections)
        return " ".join(
            filter(None, (f"{self.answer.verdict}.", self.answer.sentence, self.answer.caution, *headlines))
        )

    @property
    def tables(self) -> dict[str, Table]:
        """The tables of the page and of files, by name; a table of text alone has its cells as records."""
        tables = {name: table for section in self.sections for name, table in section.tables.items()}
        for name, table in tables.items():
            if not table.records:
                records = [dict(zip(table.header, row, strict=True)) for row in table.rows]
                tables[name] = replace(table, records=records)
        return tables

    def section(self, name: str) -> Section:
        """The section of this name."""
        return next(section for section in self.sections if section.name == name)

    def _tables(self) -> Tables:
        """The rows of the tables of all sections."""
        return {name: partial(columns_of, table.records) for name, table in self.tables.items()}

    def to_dict(self) -> dict[str, Any]:
        """All of it as dictionaries, tuples and numbers, without the scores behind it."""
        sections = {
            section.name: {"sentence": section.sentence, "notes": section.notes, **section.values}
            for section in self.sections
        }
        names = ("compared_with", "settings", "versions")
        return {
            "answer": asdict(self.answer),
            "sections": sections,
            "tables": {name: table.records for name, table in self.tables.items()},
            "provenance": asdict(self.provenance),
            **{name: getattr(self, name) for name in names},
        }

    def content(self, path: str | Path) -> bytes:
        """The page (.html), or its tables (.csv, .parquet, .xlsx, .json, .txt, .md, .tex), by the file's ending."""
        if str(path).lower().endswith((".html", ".htm")):
            return report_page(self).encode("utf-8", "replace")
        return super().content(path)

    def _document(self) -> Document:
        """The tables for papers and programs: .csv holds one row per system, .json everything."""
        notes = tuple(note for section in self.sections for note in section.notes)
        return Document(self.sentence, tuple(self.tables.values()), notes, self.to_frame, self.to_dict)


def pieces_of_names(text: str) -> list[str]:
    """The text in pieces that a line may end between: after the separators in long names.

    >>> pieces_of_names("colbert_rankgpt4o_msmarco is ahead of bm_25.")
    ['colbert_', 'rankgpt4o_', 'msmarco is ahead of bm_25.']
    """
    parts = (re.sub(r"(?<=[_./…-])(?=\w)", "\0", word) if len(word) > LONG_NAME else word for word in text.split(" "))
    return " ".join(parts).split("\0")


def report_page(report: Report) -> str:
    """The page.

    Raises
    ------
    QrowdError
        Jinja2 is not installed.
    """
    check_jinja()
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
    from markupsafe import escape as marked

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
        "ascii": marked,
        "breakable": lambda text: Markup("<wbr>").join(map(marked, pieces_of_names(with_minus_signs(str(text))))),
        "capital": lambda text: sentence_case(str(text)),
    }
    folder = resources.files("qrowd.reports") / "templates"
    scripts = [(folder / "scripts" / f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    page = environment.get_template("report.html").render(
        report=report,
        answer=report.answer,
        style=Markup((folder / "report.css").read_text("utf-8")),
        script=Markup("\n".join(scripts)),
        payload=Markup(report.data.encoded()),
        leaders=Markup(_leaders(report)),
        csv_link=csv_link,
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


# ---------------------------------------------------------------------- the chart


def _leaders(report: Report) -> str:
    rows = list(report.systems[:LEADERS])
    if all(row.system != report.compared_with for row in rows):
        rows[-1:] = [row for row in report.systems if row.system == report.compared_with]
    return systems_chart(rows, report.compared_with, report.answer.measure)


def systems_chart(rows: Sequence[SystemRow], compared_with: str, measure: str) -> str:
    """A dot at each system's mean, and the interval of its difference to the system all are compared with.

    The interval is drawn from the mean of that system, and ends where the measure does. Filled: significantly different
    from it. Each row has a tooltip.
    """
    mean = next((row.mean for row in rows if row.system == compared_with), rows[0].mean)
    lowest, highest = bounds_of(measure)
    bars = [
        (max(mean + (row.difference_low or 0), lowest), min(mean + (row.difference_high or 0), highest)) for row in rows
    ]
    ends = [value for row, bar in zip(rows, bars, strict=True) for value in (row.mean, *bar) if not isnan(value)]
    labels = fitted_names([row.system for row in rows], LONGEST)
    left = max(60.0, 26 + LETTER * max(map(len, labels)))
    x, ticks = _axis(min(ends), max(ends), left, WIDTH - 16)
    bottom = TOP + ROW * len(rows)
    parts = [_line(x(tick), x(tick), TOP, bottom, "grid") + _text(x(tick), bottom + 13, f"{tick:g}") for tick in ticks]
    parts.append(_text((x(ticks[0]) + x(ticks[-1])) / 2, bottom + 31, mean_of(measure)))
    parts.append(_line(x(mean), x(mean), TOP, bottom, "comparison"))
    for i, (row, label, (low, high)) in enumerate(zip(rows, labels, bars, strict=True)):
        y = TOP + ROW * (i + 0.5)
        bar, kind = "", "compared"
        if row.system != compared_with:
            bar = "" if isnan(low) else _line(x(low), x(high), y, y, "bar")
            kind = "dot" if row.significant else "dot open"
        dot = f'<circle cx="{x(row.mean):.1f}" cy="{y:.1f}" r="4.5" class="{kind}"/>'
        name = _text(left - 10, y, label, anchor="end", kind="label")
        tip = escape(with_minus_signs(_tip(row, compared_with, measure)))
        parts.append(f'<g class="mark"><title>{tip}</title>{name}{bar}{dot}</g>')
    return (
        f'<svg role="img" aria-label="Systems by {escape(mean_of(measure))}, with intervals, as in the table" '
        f'viewBox="0 0 {WIDTH} {bottom + 40}" style="max-width:{1.15 * WIDTH:.0f}px">{"".join(parts)}</svg>'
    )


def _tip(row: SystemRow, compared_with: str, measure: str) -> str:
    text = f"{row.system}: {mean_of(measure)} {number(row.mean)}"
    if row.system == compared_with:
        return f"{text}; the others are compared with it"
    difference = f"{signed(row.difference or 0, 3)} {interval(row.difference_low or 0, row.difference_high or 0)}"
    verdict = "significantly different" if row.significant else "not significantly different"
    return f"{text}; {difference} compared with {compared_with}: {verdict}"


def _axis(low: float, high: float, start: float, end: float) -> tuple[Callable[[float], float], list[float]]:
    """Where a value stands between two places, and round values along the way."""
    if high - low < 1e-9:
        low = low - 0.05
        high = high + 0.05
    margin = 0.04 * (high - low)
    low = low - margin
    high = high + margin
    width = high - low
    raw = width / TICKS
    power = 10 ** floor(log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw)
    ticks = [round(k * step, 10) for k in range(ceil(low / step), floor(high / step) + 1)]
    return lambda value: start + (end - start) * (value - low) / width, ticks


def _line(x1: float, x2: float, y1: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _text(x: float, y: float, text: str, *, anchor: str = "middle", kind: str = "tick") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" dy=".35em" text-anchor="{anchor}"'
    return f'<text {place} class="{kind}">{escape(with_minus_signs(text))}</text>'
