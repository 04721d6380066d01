"""`qrowd explore`: one page on which assessors, topics, measures and methods are chosen."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from qrowd.cli import options
from qrowd.cli.commands import as_options
from qrowd.cli.judged import PreferenceFiles, judgments_or_preferences, run_files
from qrowd.cli.options import measures, methods, option
from qrowd.cli.output import ShortNames, is_standard_output, output_file, write_output
from qrowd.cli.processes import Workers
from qrowd.cli.reading import OPTIONS
from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions

OUTPUT = "explore.html"
LARGE = 20_000_000  # letters of a page, from which on a note says how to make it smaller


def check_page(output: str | None) -> str | None:
    """Refuse a name that is not that of a page, before any work is done."""
    if output is not None and output != "-":
        from qrowd.reports.explorer import check_page_name

        try:
            check_page_name(output)
        except ArgumentError as error:
            raise ArgumentError(f"--{error}") from None
    return output


@dataclass(frozen=True)
class Server:
    """Whether the page is also served, and where."""

    serve: Annotated[
        bool,
        option(
            "--serve",
            help="Serve the page to browsers of this machine until Ctrl-C; a file is written only with --output.",
            panel="Output",
        ),
    ] = False
    port: Annotated[int, option(help="Port; 0 for any free port.", min=0, max=65535)] = 8000


def explore(
    runs: options.MaybeRuns,
    data: options.Data,
    files: options.Files = None,
    preferences: PreferenceFiles = None,
    format: options.Format = "auto",
    measure: Annotated[list[str] | None, measures(show_default="nDCG@10 AP P@10")] = None,
    rel: Annotated[
        list[float] | None,
        option(
            help="Thresholds, as in 1 2 3: a measure such as AP is on the page once for each lowest relevant grade.",
            metavar="GRADES",
            show_default="as the measure is written",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        methods(
            "Methods that put the assessors together, beside the mean over assessors: majority, sgl_rmse_md and "
            "others; default: majority, where assessors grade on one scale."
        ),
    ] = None,
    topics: Annotated[
        str | None,
        option(help="Texts of the topics, to show: a table, TREC topics, or irds:ID.", panel="Data", metavar="FILE"),
    ] = None,
    documents: Annotated[
        list[str] | None,
        option(
            help="Texts of the documents, to show: tables, TREC documents, or irds:ID.", panel="Data", metavar="FILES"
        ),
    ] = None,
    depth: Annotated[
        int, option(help="Number of top documents of each system that can be looked at; 0: none.", min=0)
    ] = 10,
    conventions: options.Scoring = Conventions(),
    combine_scales: options.CombineScales = "auto",
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 1,
    workers: Workers = Workers(),
    short_names: ShortNames = False,
    title: Annotated[str, option(help="Title of the page.", panel="Output", metavar="TITLE")] = "",
    server: Server = Server(),
    output: Annotated[
        str | None,
        output_file(
            "File for the page (.html); - for standard output.",
            callback=check_page,
            show_default=f"{OUTPUT}; with --serve none",
        ),
    ] = None,
) -> None:
    """Write one page: choose assessors, topics and measure, and see which system is ahead, and by which documents."""
    from qrowd.cli.show import progress
    from qrowd.judge.questions import read_document_texts, read_topic_texts
    from qrowd.reports.explorer import explore as explored
    from qrowd.reports.explorer_documents import top_documents

    if documents and not depth:
        raise ArgumentError("--documents: --depth 0 shows no document; leave one of them out")
    if server.serve and output is not None and is_standard_output(output):
        raise ArgumentError("--serve: standard output has the page already; leave out --output -")
    runs_read, data = run_files(files, runs, data, preferences)
    judgments = judgments_or_preferences(data, preferences, format)
    rankings = runs_read.read(data)
    of_topics = read_topic_texts(topics) if topics else None
    of_documents = None
    if documents:
        labels = top_documents(rankings, depth, score_dtype=conventions.score_dtype)
        of_documents = read_document_texts(documents, labels=labels)
    with workers.executor() as executor, progress("scoring") as advance:
        page = explored(
            rankings,
            judgments,
            measure or None,
            rel=rel or None,
            methods=method or None,
            topics=of_topics,
            documents=of_documents,
            depth=depth,
            conventions=conventions,
            combine_scales=combine_scales,
            confidence=confidence,
            rng=seed,
            short_names=short_names,
            title=title,
            command=shlex.join(["qrowd", *sys.argv[1:]]),
            executor=executor,
            progress=advance,
        )
    page = replace(page, data=replace(page.data, notes=tuple(as_options(note, OPTIONS) for note in page.data.notes)))
    content = page.to_html()
    if len(content) > LARGE:
        size = f"{len(content) / 1e6:,.0f} MB"
        typer.echo(f"note: the page has {size}; fewer measures or thresholds, or --depth 0, make it smaller", err=True)
    if output is not None or not server.serve:
        write_output(output or OUTPUT, content)
        typer.echo(page.sentence, err=is_standard_output(output or OUTPUT))
    if server.serve:
        _serve(content, server.port)


def _serve(page: str, port: int) -> None:
    """Serve the page until Ctrl-C."""
    from qrowd.cli.page_server import page_server

    with page_server(page.encode("utf-8", "surrogateescape"), port) as server:
        try:
            typer.echo(f"http://{server.server_name}:{server.server_port}/ shows the page; Ctrl-C stops.")
            sys.stdout.flush()
            server.serve_forever()
        except KeyboardInterrupt:  # the usual end
            typer.echo("Stopped.")
