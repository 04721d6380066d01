"""`qrowd next`: what people should judge next to answer a question about systems, and what can be said now."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qrowd.cli import options
from qrowd.cli.commands import Interrupted
from qrowd.cli.input_files import data_option, of_campaigns
from qrowd.cli.options import option
from qrowd.cli.output import ShortNames, check_output, is_standard_output, name_with_ending, output_file, write_output
from qrowd.errors import ArgumentError

if TYPE_CHECKING:
    from qrowd.model.judgments import Judgments
    from qrowd.reports.document import Note
    from qrowd.sequential.next_judgments import NextJudgments

DESIGN = "next.json"
DEFAULTS = {"n_documents": 20, "confidence": 0.95, "tolerance": 0.0, "target": "these topics"}  # None for others


@dataclass(frozen=True)
class People(options.Data):
    """Where the people's judgments come from; there may be none yet."""

    scale: Annotated[
        list[str] | None,
        data_option(
            help="Scale of the people, as in 0-3, which the first call needs; PATTERN=SCALE of models, as elsewhere.",
            metavar="SCALE",
            show_default="that of the design",
        ),
    ] = None

    @staticmethod
    def _show_notes(notes: Iterable[str]) -> None:
        """Nothing: the note of a campaign says that it has a question, which is being asked."""


def next(
    data: People,
    question: Annotated[
        str | None,
        option(
            help="Question: 'A > B', 'best', 'best of A, B*', 'C among best 3' or 'ranking of A, B*'.",
            metavar="TEXT",
            show_default="that of the campaign",
        ),
    ] = None,
    runs: options.Runs = options.NO_RUNS,
    model: Annotated[
        list[str] | None,
        data_option(
            help="Cheap judgments: files, or assessors of the judgments who are models.",
            metavar="NAMES|FILES",
        ),
    ] = None,
    measure: options.Measure = None,
    tolerance: Annotated[float, option(help="Differences of up to this much count as none.", min=0)] = 0.0,
    design: Annotated[
        str,
        data_option(
            help="File with what was drawn before, and with what probabilities; it is made or continued with -o. A "
            "campaign that carries a question has its own.",
            metavar="FILE",
        ),
    ] = DESIGN,
    topics: Annotated[
        str | None,
        data_option(help="Texts of the topics, for the batch: a table, TREC topics, or irds:ID.", metavar="FILE"),
    ] = None,
    documents: Annotated[
        list[str] | None,
        data_option(
            help="Texts of the documents, for the batch: tables, TREC documents, or irds:ID.",
            metavar="FILES",
        ),
    ] = None,
    n_documents: Annotated[int, option("-n", "--n-documents", help="Number of documents of the batch.", min=1)] = 20,
    new_topics: Annotated[
        bool, option("--new-topics", help="Ask about all topics of which those of the runs are a sample.")
    ] = False,
    unjudgeable: Annotated[
        str | None,
        data_option(
            help="Documents that nobody can judge, such as broken ones, which then count as not relevant: a table of "
            "topic and document.",
            metavar="FILE",
        ),
    ] = None,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 1,
    short_names: ShortNames = False,
    statement: Annotated[
        str | None,
        option(
            help="File for what can be said now: the differences as .csv, .parquet, .xlsx or .json, or all that is "
            "shown as .txt, .md, .html or .tex.",
            panel="Output",
            metavar="FILE",
            callback=check_output,
        ),
    ] = None,
    output: Annotated[
        str | None,
        output_file(
            "File for the next batch: a table as .csv or .jsonl, tasks for Label Studio as .json, or a new folder for "
            "qrowd campaign create, which needs --topics and --documents.",
        ),
    ] = None,
) -> None:
    """Show what can be said of a question now, and write the documents that people should judge next."""
    from qrowd.cli.output import show
    from qrowd.reports.document import render
    from qrowd.reports.next_judgment_tables import NextJudgmentsReport
    from qrowd.sequential.batches import check_batch_file
    from qrowd.sequential.design import write_design
    from qrowd.sequential.next_judgments import next_judgments

    _check_files(statement, output, design)
    if output is not None:
        name = name_with_ending(output)
        check_batch_file(name, topics=topics is not None, documents=bool(documents))
    rankings = runs.read_needed(data)
    people, models, scale = people_and_models(data, model or [])
    settings = {
        "question": question,
        "models": models,
        "measure": measure,
        "n_documents": n_documents,
        "confidence": confidence,
        "tolerance": tolerance,
        "target": "new topics" if new_topics else "these topics",
    }
    asked = _asked(settings, design, data, output)
    stored = asked["design"]
    asked["measure"] = options.measure_for(rankings, asked["measure"])
    result = next_judgments(rankings, people, scale=scale, unjudgeable=read_pairs(unjudgeable), rng=seed, **asked)
    by_people = () if people is None else people.assessor[people.value >= 0].tolist()
    report = NextJudgmentsReport(result, n_judgments=len(by_people), n_assessors=len(set(by_people)))
    of_units = rankings.criterion is not None
    document = report.to_document().shown(rankings.systems, short_names=short_names, units=of_units)
    drawn = output and result.topics
    if drawn:
        if stored is None:
            typer.echo(f"wrote {design}: what was drawn, for the next call; another question needs --design", err=True)
        write_design(design, result.design)
    try:
        if output is not None:
            _write(output, result, topics, documents)
        if statement is not None:
            page = replace(
                document,
                frame=result.statement.to_frame,
                title=asked["question"],
                notes=(*document.notes, *_origin()),
            )
            write_output(statement, render(page, name_with_ending(statement)))
        if not any(map(is_standard_output, (output, statement))):
            show(document)
    except KeyboardInterrupt:
        if not drawn:
            raise
        raise Interrupted(f"the design was written to {design}; the same call writes the same batch") from None


def _origin() -> Iterator[Note]:
    """How a statement was made, for those who want to check it."""
    import shlex
    from datetime import UTC, datetime

    from qrowd.reports.document import Note

    yield Note("command", shlex.join(["qrowd", *sys.argv[1:]]))
    yield Note("made", f"{datetime.now(UTC):%Y-%m-%d}")


def _asked(settings: dict[str, Any], design: str, data: People, output: str | None) -> dict[str, Any]:
    """The settings and the design; where settings are the defaults, those of a campaign's question count."""
    from qrowd.sequential.design import read_design

    name = data.campaign
    own = of_campaigns("design", name)(data.database, name) if name is not None and design == DESIGN else None
    if own is not None:
        if output is not None:
            raise ArgumentError(
                f"--campaign {name}: it carries a question and hands out documents itself; leave out -o"
            )
        return {**own, **{key: value for key, value in settings.items() if value != DEFAULTS.get(key)}}
    if settings["question"] is None:
        raise ArgumentError("missing option '--question': what is asked, such as 'A > B'; see --help")
    if Path(design).exists():
        return settings | {"design": read_design(design)}
    if output is None and design != DESIGN:
        typer.echo(f"note: --design {design}: there is no such file, so nothing was drawn for this question", err=True)
    return settings | {"design": None}


def _check_files(statement: str | None, output: str | None, design: str) -> None:
    """Refuse files of which one would replace another, before any work is done."""
    if statement and is_standard_output(statement) and is_standard_output(output):
        raise ArgumentError(f"--statement {statement}: standard output takes the batch; name a file for one of them")
    files = {"--statement": statement, "-o": output, "--design": design}
    for (name, path), (other_name, other) in combinations(files.items(), 2):
        if path and other and Path(path).absolute() == Path(other).absolute():
            raise ArgumentError(f"{name} {path}: this is the file of {other_name}; name another")


def _write(output: str, result: NextJudgments, topics: str | None, documents: list[str] | None) -> None:
    """Write the batch, with the texts where there are files of texts."""
    from qrowd.judge import read_document_texts, read_topic_texts
    from qrowd.sequential.batches import batch_content, write_batch

    texts = {
        "topics": None if topics is None else read_topic_texts(topics),
        "documents": None if not documents else read_document_texts(documents, labels=set(result.documents)),
    }
    ending = Path(name_with_ending(output)).suffix.lower()
    if ending:
        write_output(name_with_ending(output), batch_content(result, ending, **texts))
    elif result.topics:
        write_batch(output, result, **texts)
        typer.echo(f"wrote {output}; next: qrowd campaign create {output}", err=True)
    else:
        typer.echo(f"nothing is left to judge: {output} is not written", err=True)


def read_pairs(path: str | None) -> tuple[tuple[str, str], ...]:
    """The pairs of --unjudgeable."""
    from qrowd import files

    if path is None:
        return ()
    topics, documents = files.read_labels(path, "topic", "document")
    return tuple(zip(topics, documents, strict=True))


def people_and_models(data: People, model: list[str]) -> tuple[Judgments | None, Judgments | None, str | None]:
    """The judgments of people and of models, None where there are none, and the scale of the people."""
    own = [text for text in data.scale or () if "=" not in text]
    if len(own) > 1:
        raise ArgumentError(f"--scale {' '.join(own)}: people judge on one scale; give one")
    scale = own[0] if own else None
    data = replace(data, scale=[text for text in data.scale or () if "=" in text])
    if not data.judgments and data.campaign is None:
        return None, replace(data, judgments=model).read() if model else None, scale
    judgments, models = data.read_with("model", model)
    people = [name for name in judgments.assessors if name not in models]
    return (
        judgments.select(assessors=people) if people else None,
        judgments.select(assessors=list(models)) if models else None,
        scale,
    )
