"""`qrowd report`: one page for those who decide."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from qrowd.cli import options, reading
from qrowd.cli.commands import as_options
from qrowd.cli.judged import PreferenceFiles, judgments_or_preferences, run_files
from qrowd.cli.options import measures, option
from qrowd.cli.output import ShortNames, check_output, is_standard_output, name_with_ending, output_file, write_output
from qrowd.cli.reading import OPTIONS
from qrowd.cli.values import related_of, renamed_systems
from qrowd.model.conventions import Conventions

FULL_NAMES = (".csv", ".parquet", ".xlsx", ".json", ".html", ".htm")  # data; a page shortens names by itself


def check_page(output: str) -> str:
    """Refuse a page that could not be drawn, or a file that could not be written, before any work is done."""
    from qrowd.reports.report_page import check_jinja

    if output.lower().endswith((".html", ".htm", "-")):
        check_jinja()
    else:
        check_output(output)
    return output


def report(
    runs: options.MaybeRuns,
    data: options.Data,
    files: options.Files = None,
    preferences: PreferenceFiles = None,
    format: options.Format = "auto",
    measure: Annotated[list[str] | None, measures(show_default="nDCG@10, of preferences ppref@10")] = None,
    baseline: options.Baseline = None,
    reference: Annotated[
        str | None,
        option(
            help="Assessor that is left out of the panel and with whom all others are compared.", metavar="ASSESSOR"
        ),
    ] = None,
    related: reading.Related = None,
    judge_record: reading.JudgeRecord = None,
    topics: Annotated[
        str | None,
        option(help="Texts of the topics, to show: a table, TREC topics, or irds:ID.", panel="Data", metavar="FILE"),
    ] = None,
    documents: Annotated[
        list[str] | None,
        option(
            help="Texts of the documents, to show: tables, TREC documents, or irds:ID.",
            panel="Data",
            metavar="FILES",
        ),
    ] = None,
    conventions: options.Scoring = Conventions(),
    sampling: options.Sampling = options.Sampling(10_000),
    random_assessors: Annotated[
        int, option(help="Number of random assessors of each kind, for AWARE.", panel="Sampling", min=1)
    ] = 64,
    short_names: ShortNames = False,
    title: Annotated[str, option(help="Title of the page.", panel="Output", metavar="TITLE")] = "",
    output: Annotated[
        str,
        output_file(
            "File for the page (.html), or for its tables (.csv, .parquet, .xlsx, .json, .txt, .md or .tex); - for "
            "standard output, -.json for another format there.",
            callback=check_page,
        ),
    ] = "report.html",
) -> None:
    """Write one page: which system is better, how certain that is, and on what the assessors disagree."""
    import shlex
    from dataclasses import replace
    from datetime import UTC, datetime

    from qrowd.cli.show import progress
    from qrowd.judge import Statuses, read_document_texts, read_topic_texts
    from qrowd.judge.asked import outcomes_in
    from qrowd.reports.report import input_files
    from qrowd.reports.report import report as report_on
    from qrowd.reports.report_content import Provenance
    from qrowd.reports.report_texts import texts_of
    from qrowd.reports.short_names import short_names as without_common_words

    relatives = related_of(related)
    runs_read, data = run_files(files, runs, data, preferences)
    judgments = judgments_or_preferences(data, preferences, format)
    inputs = (
        *input_files("runs", runs_read.runs),
        *input_files("judgments", data.judgments or []),
        *input_files("preferences", preferences or []),
        *input_files("recoding", [data.recode] if data.recode else []),
        *input_files("texts", [path for path in (topics, *(documents or [])) if path and not path.startswith("irds:")]),
        *input_files("record of questions to models", [judge_record] if judge_record else []),
    )
    rankings = runs_read.read(data)
    if short_names and not name_with_ending(output, ".html").lower().endswith(FULL_NAMES):
        labels = dict(zip(rankings.systems, without_common_words(rankings.systems), strict=True))
        relatives = renamed_systems(relatives, labels)
        rankings, baseline = replace(rankings, systems=tuple(labels.values())), labels.get(baseline or "", baseline)
    statuses = None if judge_record is None else Statuses(tuple(outcomes_in(judge_record)[0]))
    with progress("comparing with random assessors") as advance:
        page = report_on(
            rankings,
            judgments,
            measure or None,
            conventions=conventions,
            baseline=baseline,
            reference=reference,
            related=relatives,
            statuses=statuses,
            topics=read_topic_texts(topics) if topics else None,
            random_assessors=random_assessors,
            **sampling.arguments,
            title=title,
            provenance=Provenance(shlex.join(["qrowd", *sys.argv[1:]]), inputs, f"{datetime.now(UTC):%Y-%m-%d}"),
            progress=advance,
        )
    if documents:
        wanted = {document for _, document in page.documents_shown}
        shown = texts_of(None, read_document_texts(documents, labels=wanted), None, page.documents_shown)
        page = replace(page, texts=replace(page.texts, documents=shown.documents))
    page = replace(page, notes=tuple(replace(note, text=as_options(note.text, OPTIONS)) for note in page.notes))
    write_output(output, page.content(name_with_ending(output, ".html")))
    typer.echo(page.sentence, err=is_standard_output(output))
