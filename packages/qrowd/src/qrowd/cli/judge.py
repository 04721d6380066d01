"""`qrowd judge`: language models as assessors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli import judge_options, options
from qrowd.cli.commands import command_group
from qrowd.cli.judge_prompts import prompts
from qrowd.cli.options import option
from qrowd.cli.output import Output, ShortNames, Top, deliver
from qrowd.errors import FileError

if TYPE_CHECKING:
    from qrowd.judge.asking import ModelAnswers
    from qrowd.reports.document import Note


def ask(
    questions: judge_options.Questions,
    runs: options.MaybeRuns = options.NO_RUNS,
    depth: judge_options.Depth = 10,
    again: judge_options.Again = None,
    concurrency: judge_options.Concurrency = 8,
    budget: judge_options.Budget = None,
    prices: judge_options.PricesFile = None,
    dry_run: judge_options.DryRun = False,
    top: Top = None,
    short_names: ShortNames = False,
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
    """Ask language models to judge documents. Only an answer becomes a judgment."""
    from qrowd.reports.judging import JudgingReport

    job = questions.plan(runs, depth)
    asked = judge_options.ask_options(concurrency, budget, prices, again)
    if dry_run:
        judge_options.show_estimate(job, asked, record)
        return
    with judge_options.asking(record, asked) as progress:
        answers = job.ask(record, options=asked, progress=progress)
    if output is not None:
        _write(answers, output)
    currency = asked.prices.currency if asked.prices else ""
    report = JudgingReport(answers.statuses, answers.n_unasked, tuple(_notes(answers, record, currency)))
    deliver(report.to_document().shown(report.systems, top=top, short_names=short_names), None)


def status(
    record: Annotated[str, typer.Argument(metavar="RECORD", help="Record of qrowd judge ask.")],
    runs: options.MaybeRuns = options.NO_RUNS,
    depth: judge_options.Depth = 10,
    top: Top = None,
    short_names: ShortNames = False,
    output: Output = None,
) -> None:
    """Show the shares of questions without an answer, by model, by topic and by system."""
    from qrowd.judge.asked import outcomes_in
    from qrowd.judge.outcome import Statuses
    from qrowd.reports.judging import JudgingReport

    outcomes, unasked = outcomes_in(record)
    report = JudgingReport(Statuses(tuple(outcomes), runs.read(None), depth), len(unasked))
    deliver(report.to_document().shown(report.systems, top=top, short_names=short_names), output)


def write(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Folder for the files.")],
    questions: judge_options.Questions,
    runs: options.MaybeRuns = options.NO_RUNS,
    depth: judge_options.Depth = 10,
    again: judge_options.Again = None,
    budget: judge_options.Budget = None,
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
    asked = judge_options.ask_options(budget=budget, prices=prices, again=again)
    if dry_run:
        judge_options.show_estimate(job, asked, record, batch=True)
        return
    written = write_batches(job, folder, record=record, options=asked)
    notes = [Note("record", record), Note("next", "send the files; then qrowd judge batch read FILES, and judge ask")]
    if written.n_over_budget:
        notes.insert(0, Note("stopped", f"budget: {count(written.n_over_budget, 'request')} would exceed it"))
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
    from qrowd.judge.prices import Prices
    from qrowd.reports.document import Document, Note
    from qrowd.reports.phrases import count

    result = read_batches(file, record=record, prices=None if prices is None else Prices.read(prices))
    left_out = {"failures": "failed, and may be asked again", "known": "there already",
                "foreign": "of other jobs", "broken": "broken"}  # fmt: skip
    counts = {words: getattr(result, name) for name, words in left_out.items()}
    notes = [Note("lines", f"{n} {words}") for words, n in counts.items() if n]
    sentence = f"{count(result.answers, 'answer')} came into the record."
    deliver(Document(sentence, (), (*notes, Note("record", record)), result.to_frame), output)


# ---- what is written


def _write(answers: ModelAnswers, folder: str) -> None:
    """One table per assessor; a file of the same name is replaced."""
    from qrowd.cli.output import write_output
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
        yield Note(
            "failures", "make no judgment; errors and timeouts are asked again by the same command, others by --again"
        )
    yield Note("record", record)


judge = command_group("Ask language models to judge, and show what became of each question.", ask, status, prompts)
judge.add_typer(command_group("Write batch files of requests, and read the answers.", write, read), name="batch")
