"""`qrowd next`: what people should judge next to answer a question about systems, and what can be said now."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli import options
from qrowd.cli.options import option
from qrowd.cli.output import ShortNames, is_standard_output, name_with_ending, output_file, write_output
from qrowd.cli.plan import cost
from qrowd.errors import ArgumentError

if TYPE_CHECKING:
    from qrowd.model.judgments import Judgments
    from qrowd.sequential.next_judgments import NextJudgments

DESIGN = "next.json"


@dataclass(frozen=True)
class People(options.Data):
    """Where the people's judgments come from; there may be none yet."""

    scale: Annotated[
        list[str] | None,
        option(
            help="Scale of the people, as in 0-3, which the first call needs; PATTERN=SCALE of models, as elsewhere.",
            panel="Data",
            metavar="SCALE",
            show_default="that of the design",
        ),
    ] = None


def next(
    data: People,
    question: Annotated[
        str,
        option(
            help="Question: 'A > B', 'best', 'best of A, B*', 'C among best 3' or 'ranking of A, B*'.",
            metavar="TEXT",
        ),
    ],
    runs: options.MaybeRuns = options.NO_RUNS,
    model: Annotated[
        list[str] | None,
        option(
            help="Cheap judgments: files, or assessors of the judgments who are models.",
            panel="Data",
            metavar="NAMES|FILES",
        ),
    ] = None,
    measure: options.Measure = "nDCG@10",
    tolerance: Annotated[float, option(help="Differences of up to this much count as none.", min=0)] = 0.0,
    design: Annotated[
        str,
        option(
            help="File with what was drawn before, and with what probabilities; it is made or continued with -o.",
            panel="Data",
            metavar="FILE",
        ),
    ] = DESIGN,
    topics: Annotated[
        str | None,
        option(
            help="Texts of the topics, for the batch: a table, TREC topics, or irds:ID.", panel="Data", metavar="FILE"
        ),
    ] = None,
    documents: Annotated[
        list[str] | None,
        option(
            help="Texts of the documents, for the batch: tables, TREC documents, or irds:ID.",
            panel="Data",
            metavar="FILES",
        ),
    ] = None,
    n_documents: Annotated[int, option("-n", "--n-documents", help="Number of documents of the batch.", min=1)] = 20,
    new_topics: Annotated[
        bool, option("--new-topics", help="Ask about all topics of which those of the runs are a sample.")
    ] = False,
    disagreement: Annotated[
        bool,
        option(
            "--disagreement",
            help="Take the gain of a document as the mean of all people like those who judged; their variance counts.",
        ),
    ] = False,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 1,
    judgment_cost: Annotated[float, cost(help="Cost of one judgment.")] = 0.0,
    short_names: ShortNames = False,
    output: Annotated[
        str | None,
        output_file(
            "File for the next batch: a table as .csv or .jsonl, tasks for Label Studio as .json, or a new folder for "
            "qrowd campaign create, which needs --topics and --documents.",
        ),
    ] = None,
) -> None:
    """Show what can be said of a question now, and write the documents that people should judge next."""
    from qrowd.cli.show import show
    from qrowd.reports.next_judgments import NextJudgmentsReport
    from qrowd.sequential.batches import check_batch_file
    from qrowd.sequential.next_judgments import next_judgments
    from qrowd.sequential.stored import read_design, write_design

    if output is not None:
        name = name_with_ending(output)
        check_batch_file(name, topics=topics is not None, documents=bool(documents))
    if not runs.runs:
        raise ArgumentError("missing option '--runs': give the files of runs; see --help")
    rankings = options.Runs(runs.runs, runs.system).read(data)
    people, models, scale = _judgments(data, model or [])
    stored = read_design(design) if Path(design).exists() else None
    result = next_judgments(
        rankings,
        people,
        question=question,
        models=models,
        measure=measure,
        scale=scale,
        design=stored,
        n_documents=n_documents,
        confidence=confidence,
        tolerance=tolerance,
        target="new topics" if new_topics else "these topics",
        disagreement=disagreement,
        rng=seed,
    )
    report = NextJudgmentsReport(result, judgment_cost)
    document = report.to_document().shown(rankings.systems, short_names=short_names)
    if output is None:
        show(document)
        return
    if result.topics:
        write_design(design, result.design)
        _write(output, result, topics, documents)
    if not is_standard_output(output):
        show(document)


def _write(output: str, result: NextJudgments, topics: str | None, documents: list[str] | None) -> None:
    """Write the batch, with the texts where there are files of texts."""
    from qrowd.judge import read_document_texts, read_topic_texts
    from qrowd.sequential.batches import batch_content, write_batch

    texts = {
        "topics": None if topics is None else read_topic_texts(topics),
        "documents": None if not documents else read_document_texts(documents, labels=set(result.documents)),
    }
    ending = Path(name_with_ending(output)).suffix.lower()
    if is_standard_output(output):
        ending = name_with_ending(output).removeprefix("-")
    if ending:
        write_output(name_with_ending(output), batch_content(result, ending, **texts))
        return
    write_batch(output, result, **texts)
    typer.echo(f"wrote {output}; next: qrowd campaign create {output}", err=True)


def _judgments(data: People, model: list[str]) -> tuple[Judgments | None, Judgments | None, str | None]:
    """The judgments of people and of models, None where there are none, and the scale of the people."""
    from qrowd import files
    from qrowd.cli.reading import show_notes, table_settings
    from qrowd.model.judgments import concatenate_judgments
    from qrowd.model.labels import closest

    own = [text for text in data.scale or () if "=" not in text]
    if len(own) > 1:
        raise ArgumentError(f"--scale {' '.join(own)}: people judge on one scale; give one")
    patterns = [text for text in data.scale or () if "=" in text]
    collected = None
    if data.judgments or data.campaign is not None:
        collected = replace(data, scale=patterns).read()
    names = () if collected is None else collected.assessors
    of_panel, paths = [name for name in model if name in names], [name for name in model if name not in names]
    parts = [] if collected is None or not of_panel else [collected.select(assessors=of_panel)]
    for path in paths:
        where = path.rpartition("=")[2]
        if where != "-" and not any(letter in where for letter in "*?[:") and not Path(where).exists():
            near = f"; {closest(path, names, 'assessor')}" if names else ""
            raise ArgumentError(f"--model {path}: neither an assessor of the judgments nor a file{near}")
    if paths:
        labels = files.read_judgments(paths, assessor=data.assessor, **table_settings(data, "judgments"))
        show_notes(labels.notes)
        scaled = labels.with_scales(dict(map(options.pattern_and_scale, patterns))) if patterns else labels
        parts.append(scaled)
    models = concatenate_judgments(parts) if parts else None
    people = collected
    if collected is not None and of_panel:
        others = [name for name in names if name not in of_panel]
        people = collected.select(assessors=others) if others else None
    return people, models, own[0] if own else None
