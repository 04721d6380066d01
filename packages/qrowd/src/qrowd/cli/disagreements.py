"""`qrowd disagreements`: on which documents assessors disagree, and where that changes which system is ahead."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli import options
from qrowd.cli.input_files import data_option
from qrowd.cli.options import option, pair_of
from qrowd.cli.output import ShortNames, deliver, is_folder, output_file
from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions


def disagreements(
    data: options.Data,
    runs: options.Runs = options.NO_RUNS,
    measure: options.Measure = None,
    systems: options.Systems = None,
    topics: Annotated[
        str | None,
        data_option(
            help="Texts of the topics, for the file and for adjudication: a table, TREC topics, or irds:ID.",
            metavar="FILE",
        ),
    ] = None,
    documents: Annotated[
        list[str] | None,
        data_option(
            help="Texts of the documents, for the file and for adjudication: tables, TREC documents, or irds:ID.",
            metavar="FILES",
        ),
    ] = None,
    n_documents: Annotated[
        int, option("-n", "--n-documents", help="Number of documents that are shown, or adjudicated.", min=1)
    ] = 20,
    conventions: Annotated[
        Conventions, options.conventions_named("score_dtype", "min_coverage", "repeats")
    ] = Conventions(),
    short_names: ShortNames = False,
    output: Annotated[
        str | None,
        output_file(
            "File for the result: all numbers as .json, the main table as .csv, .parquet or .xlsx, or the tables as "
            ".txt, .md, .html or .tex; or, without ending, a new folder for qrowd campaign create, for adjudication, "
            "which needs --topics and --documents.",
        ),
    ] = None,
) -> None:
    """Show on which documents assessors disagree, ordered by what that changes in differences of systems."""
    from qrowd.influence.disputed_documents import disagreements as disagreements_of
    from qrowd.influence.disputed_documents import write_adjudication
    from qrowd.judge import read_document_texts, read_topic_texts
    from qrowd.reports.disagreement_tables import DisagreementsReport, on_shared_scale

    folder = is_folder(output)
    if folder and not (topics and documents):
        raise ArgumentError(
            f"output {output}: a name without ending is the folder of a campaign, whose pages show texts; give "
            "--topics and --documents, or a name that ends in .csv"
        )
    pair = pair_of(systems)
    judgments = data.read()
    conventions = on_shared_scale(conventions, judgments)
    rankings = runs.read_needed(data)
    measure = options.measure_for(rankings, measure)
    result = disagreements_of(rankings, judgments, measure, systems=pair, conventions=conventions)
    of_topics = read_topic_texts(topics) if topics else {}
    of_documents = read_document_texts(documents, labels=set(result.documents)) if documents else {}
    report = DisagreementsReport(result, of_topics, of_documents, n_documents)
    document = report.to_document().shown(result.systems, short_names=short_names, units=rankings.criterion is not None)
    if folder and output is not None:
        write_adjudication(output, result, topics=of_topics, documents=of_documents, n_documents=n_documents)
        typer.echo(f"wrote {output}; next: qrowd campaign create {output}", err=True)
    deliver(document, None if folder else output)
