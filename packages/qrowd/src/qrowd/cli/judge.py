"""`qrowd judge`: language models as assessors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli import judge_options, options
from qrowd.cli.commands import command_group
from qrowd.cli.options import Top, option
from qrowd.cli.output import Output, ShortNames, deliver, is_folder, output_file, write_output
from qrowd.errors import FileError

if TYPE_CHECKING:
    from qrowd.judge import Prompt
    from qrowd.judge.asking import ModelAnswers
    from qrowd.reports.document import Document, Note

RecordFile = Annotated[str, typer.Argument(metavar="RECORD", help="Record of qrowd judge ask.")]
Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="Folder for the files.")]
EXAMPLE = {"topic": "[topic]", "description": "[description of the topic]", "narrative": "[narrative of the topic]"}


def ask(
    questions: judge_options.Questions,
    runs: options.Runs = options.NO_RUNS,
    depth: judge_options.Depth = 10,
    again: judge_options.Again = None,
    concurrency: judge_options.Concurrency = 8,
    budget: judge_options.Budget = None,
    prices: judge_options.PricesFile = None,
    dry_run: judge_options.DryRun = False,
    record: judge_options.Record = "judge.sqlite",
    output: Annotated[
        str | None,
        option(
            "-o",
            "--output",
            help="Folder for the judgments, one file for each assessor.",
            panel="Output",
            metavar="DIR",
        ),
    ] = None,
) -> None:
    """Ask language models to judge documents, or answers of systems. Only an answer becomes a judgment.

    The exit status is 1 where the same command would ask more, or where no answer is a judgment.
    """
    from qrowd.reports.judge_tables import JudgingReport

    job = questions.plan(runs, depth)
    asked = judge_options.ask_options(concurrency, budget, prices, again)
    if dry_run:
        judge_options.show_estimate(job, asked, record)
        return
    with judge_options.asking(record, asked) as progress:
        answers = job.ask(record, options=asked, progress=progress)
    if output is not None:
        _write(answers, output)
    report = JudgingReport(answers.statuses, answers.n_unasked, tuple(_notes(answers, record, asked.currency)))
    deliver(report.to_document(), None)
    if not answers.is_complete:
        raise typer.Exit(1)


def status(
    record: RecordFile,
    runs: options.Runs = options.NO_RUNS,
    depth: judge_options.Depth = 10,
    top: Top = None,
    short_names: ShortNames = False,
    output: Annotated[
        str | None,
        output_file(
            "File for the result, as .csv, .parquet, .xlsx, .json, .txt, .md, .html or .tex; or, without ending, a "
            "folder for the judgments that the record holds, as qrowd judge ask -o writes them.",
        ),
    ] = None,
) -> None:
    """Show the shares of questions without an answer, by model, by topic and by system; or write the judgments.

    It may be called while the record is written.
    """
    from qrowd.judge.asking import answers_in
    from qrowd.reports.judge_tables import JudgingReport

    answers = answers_in(record, runs=runs.read(None), depth=depth)
    report = JudgingReport(answers.statuses, answers.n_unasked)
    folder = is_folder(output)
    if folder and output is not None:
        _write(answers, output)
    deliver(
        report.to_document().shown(answers.statuses.systems, top=top, short_names=short_names),
        None if folder else output,
    )


def prompts(
    prompt: Annotated[
        str | None,
        typer.Argument(
            metavar="PROMPT", help="Name or TOML file of one that is shown as it is sent.", show_default="all"
        ),
    ] = None,
    output: Output = None,
) -> None:
    """List the prompts, or show the messages that one of them sends and the answer that it takes."""
    from qrowd.judge import prompt as prompt_of

    deliver(listed() if prompt is None else as_sent(prompt_of(prompt)), output)


def write(
    folder: Folder,
    questions: judge_options.Questions,
    runs: options.Runs = options.NO_RUNS,
    depth: judge_options.Depth = 10,
    again: judge_options.Again = None,
    prices: judge_options.PricesFile = None,
    dry_run: judge_options.DryRun = False,
    record: judge_options.Record = "judge.sqlite",
    output: Output = None,
) -> None:
    """Write what qrowd judge ask would ask into batch files, which the provider's tool sends. Nothing is asked."""
    from qrowd.judge import write_batches
    from qrowd.reports.document import Document, Note, Table
    from qrowd.reports.phrases import count

    job = questions.plan(runs, depth)
    asked = judge_options.ask_options(prices=prices, again=again)
    if dry_run:
        judge_options.show_estimate(job, asked, record, batch=True)
        return
    written = write_batches(job, folder, record=record, again=asked.again)
    notes = [Note("record", record), Note("next", "send the files; then qrowd judge batch read FILES, and judge ask")]
    columns = {**written._columns(), "n_requests": [f"{n:,}" for n in written.n_requests]}
    tables = (Table.of("files", columns),) if written.files else ()
    sentence = f"{count(sum(written.n_requests), 'request')} in {count(len(written.files), 'file')}; nothing was asked."
    deliver(Document(sentence, tables, tuple(notes), written.to_frame), output)


def read(
    file: Annotated[list[str], typer.Argument(metavar="FILES", help="Files of answers, as the provider gives them.")],
    prices: judge_options.PricesFile = None,
    record: judge_options.Record = "judge.sqlite",
    output: Output = None,
) -> None:
    """Put the answers of batch files into the record. Afterwards qrowd judge ask writes the judgments."""
    from qrowd.judge import read_batches
    from qrowd.judge.exchange import Prices
    from qrowd.reports.document import Document, Note
    from qrowd.reports.phrases import count

    result = read_batches(file, record=record, prices=None if prices is None else Prices.read(prices))
    left_out = {"failures": "failed, and may be asked again", "known": "there already",
                "foreign": "of other jobs", "broken": "broken", "waiting": "still to come"}  # fmt: skip
    notes = [Note("lines", f"{n} {words}") for name, words in left_out.items() if (n := getattr(result, name))]
    sentence = f"{count(result.answers, 'answer')} came into the record."
    deliver(Document(sentence, (), (*notes, Note("record", record)), result.to_frame), output)


# ---- what is written


def _write(answers: ModelAnswers, folder: str) -> None:
    """One table per assessor; a file of the same name is replaced."""
    from qrowd.paths import file_name

    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(folder, f"cannot be made: {error.strerror}") from None
    for assessor, frame in answers.frames().items():
        write_output(str(Path(folder) / file_name(assessor, ".csv")), frame.to_csv(index=False))


def _notes(answers: ModelAnswers, record: str, currency: str) -> Iterator[Note]:
    from qrowd.reports.document import Note

    if answers.stopped:
        yield Note("stopped", answers.stopped)
    if answers.cost is not None:
        yield Note("cost", f"{answers.cost:.4g} {currency}")
    if answers.statuses.n_failed:
        yield Note("failures", "errors and timeouts are asked again by the same command, others by --again")
    yield Note("record", record)


# ---- prompts


def listed() -> Document:
    """All prompts with their form, scale, licence and hash."""
    from pandas import DataFrame

    from qrowd.judge import built_in_prompts
    from qrowd.reports.document import Document, Table

    rows = [
        (
            one.id,
            one.version,
            one.form,
            f"{one.scale[0]:g}-{one.scale[-1]:g}" if one.scale else "-",
            one.source,
            one.licence,
            one.sha256[:12],
        )
        for one in built_in_prompts()
    ]
    frame = DataFrame(rows, columns=["prompt", "version", "form", "scale", "source", "licence", "hash"])
    sentence = f"{len(rows)} prompts; --as PATH.toml reads another."
    return Document(sentence, (Table.of("prompts", dict(frame)),), (), lambda: frame)


def as_sent(prompt: Prompt) -> Document:
    """The messages about an example, and the answer that is expected."""
    from pandas import DataFrame

    from qrowd.judge.prompts import ITEMIZED
    from qrowd.reports.document import Document, Note

    n_documents = {"preference": 2, "magnitude": 3}.get(prompt.form, 1)
    items = ["[first item]", "[second item]"] if prompt.form in ITEMIZED else []
    documents = [f"[text of document {number}]" for number in range(1, n_documents + 1)]
    messages = prompt.messages(EXAMPLE, documents, items=items)
    rows = {"role": [one.role for one in messages], "content": [one.content for one in messages]}
    parts = [f"--- {one.role}\n{one.content}\n" for one in messages]
    notes = [Note("answer", answer_of(prompt)), Note("source", f"{prompt.source}; licence {prompt.licence}")]
    if prompt.notice:
        notes.append(Note("notice", prompt.notice))
    if not prompt.delimiters:
        notes.append(Note("delimiters", "none: the model cannot tell what a document says from what it is asked"))
    sentence = "\n".join((f"Prompt {prompt.id}, version {prompt.version}, SHA-256 {prompt.sha256}\n", *parts)).rstrip()
    return Document(sentence, (), tuple(notes), lambda: DataFrame(rows))


def answer_of(prompt: Prompt) -> str:
    """The form of the answer that is asked for, in words."""
    from qrowd.judge.prompts import CHOICES

    answer = prompt.answer
    grades = ", ".join(f"{grade:g}" for grade in prompt.scale)
    value = (
        " or ".join(CHOICES.get(answer.format, ()))
        or {
            "number": "a number above 0 for each document",
            "grades": f"grades of {grades}",
            "grade": f"a grade of {grades}",
        }[answer.format]
    )
    keys = prompt.keys(n_values=2)
    place = f", after {answer.marker!r} on the last line" if answer.marker else ""
    if keys:
        more = ", ..." if len(keys) > 1 and not answer.items else ""
        place += (
            f"{' or' if place else ''} in a JSON object with the key{'s' * (len(keys) > 1)} {', '.join(keys)}{more}"
        )
    return value + place + (f"; the judgment is {answer.judgment}" if answer.judgment else "")


HELP = "Ask language models to judge, and show what became of each question."
judge = command_group(HELP, ask, status, prompts)
judge.add_typer(command_group("Write batch files of requests, and read the answers.", write, read), name="batch")
