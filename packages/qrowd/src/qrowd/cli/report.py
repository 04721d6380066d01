"""`qrowd report`: one page for those who decide."""

from __future__ import annotations

import hashlib
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from qrowd.cli.input_files import data_option
from qrowd.cli.inputs import RunsAndAnswers
from qrowd.cli.library import command
from qrowd.cli.output import ShortNames, check_output, is_standard_output, name_with_ending, output_file, write_output
from qrowd.paths import given_files
from qrowd.reports.report_document import report as report_on
from qrowd.reports.report_page import InputFile, Provenance

if TYPE_CHECKING:
    from qrowd.reports.report_page import Report


@dataclass(frozen=True)
class ReportInputs(RunsAndAnswers):
    """Runs with judgments or preferences, and texts to show."""

    SUPPLIES: ClassVar[frozenset[str]] = frozenset({"runs", "judgments", "topics", "documents", "provenance"})
    topics: Annotated[
        str | None,
        data_option(help="Texts of the topics, to show: a table, TREC topics, or irds:ID.", metavar="FILE"),
    ] = None
    documents: Annotated[
        list[str] | None,
        data_option(help="Texts of the documents, to show: tables, TREC documents, or irds:ID.", metavar="FILES"),
    ] = None
    short_names: ShortNames = False

    def arguments(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values with what is read, and with the command and the files that were read."""
        from qrowd.judge import read_document_texts, read_topic_texts
        from qrowd.model.judgments import Judgments
        from qrowd.reports.report_data import top_documents
        from qrowd.reports.short_names import short_names

        runs, data = self.sources()
        judgments = self.answers(data)
        rankings = runs.read_needed(data)
        documents = None
        if self.documents:
            judged = judgments.documents if isinstance(judgments, Judgments) else ()
            wanted = {*judged, *top_documents(rankings, score_dtype=values["conventions"].score_dtype)}
            documents = read_document_texts(self.documents, labels=wanted)
        if self.short_names:
            labels: dict[Any, str] = dict(zip(rankings.systems, short_names(rankings.systems), strict=True))
            rankings = replace(rankings, systems=tuple(labels.values()))
            baseline = values.get("baseline")
            values["baseline"] = labels.get(baseline, baseline)
        texts = read_topic_texts(self.topics) if self.topics else None
        listed = (
            *input_files("runs", runs.runs or []),
            *input_files("judgments", data.judgments or []),
            *input_files("preferences", self.preferences or []),
            *input_files("recoding", [data.recode] if data.recode else []),
            *input_files("texts", filter(None, (self.topics, *(self.documents or [])))),
        )
        return {
            **values,
            "runs": rankings,
            "judgments": judgments,
            "topics": texts,
            "documents": documents,
            "provenance": Provenance(shlex.join(["qrowd", *sys.argv[1:]]), listed, f"{datetime.now(UTC):%Y-%m-%d}"),
        }


def input_files(role: str, paths: Iterable[str]) -> tuple[InputFile, ...]:
    """Files that were read, with what tells whether they are the same ones. Pipes are left out.

    paths : as `read_runs` takes them: paths, patterns, folders, NAME=PATH.
    """
    listed = []
    for _, path in given_files(paths):
        if path.is_file():
            content = path.read_bytes()
            listed.append(InputFile(role, str(path), len(content), hashlib.sha256(content).hexdigest()))
    return tuple(listed)


def check_page(output: str) -> str:
    """Refuse a page that could not be drawn, or a file that could not be written, before any work is done."""
    from qrowd.reports.report_page import check_jinja

    if output.lower().endswith((".html", ".htm", "-")):
        check_jinja()
    else:
        check_output(output)
    return output


@dataclass(frozen=True)
class PageOutput:
    """The file for the page."""

    output: Annotated[
        str,
        output_file(
            "File for the page (.html), or for its tables (.csv, .parquet, .xlsx, .json, .txt, .md or .tex); - for "
            "standard output, -.json for another format there.",
            callback=check_page,
        ),
    ] = "report.html"

    def deliver(self, result: Report, arguments: Mapping[str, Any]) -> None:
        """Write the page, and say the answer."""
        content = result.content(name_with_ending(self.output, ".html"))
        write_output(self.output, content)
        typer.echo(f"{result.sentence}\n{result.signature}", err=is_standard_output(self.output))


report = command(report_on, ReportInputs, PageOutput, name="report", work="comparing with random assessors")
