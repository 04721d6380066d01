"""`qrowd judge`: language models as assessors."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from qrowd.cli import judge_options, options
from qrowd.cli.commands import command_group
from qrowd.cli.judge_batch import collect, send, show_written
from qrowd.cli.judge_probe import probe
from qrowd.cli.judge_prompts import prompts
from qrowd.cli.magnitude import CHECKS
from qrowd.cli.options import option
from qrowd.cli.output import Output, ShortNames, Top, deliver
from qrowd.errors import ArgumentError, FileError

if TYPE_CHECKING:
    from qrowd.judge import ModelAnswers
    from qrowd.reports.document import Note


def ask(
    topics: judge_options.Topics,
    documents: judge_options.Documents,
    model: judge_options.Models,
    runs: options.MaybeRuns = options.NO_RUNS,
    depth: judge_options.Depth = 10,
    pool: judge_options.PoolFile = None,
    pairs: Annotated[
        str | None,
        option(
            help="Table of the pairs of documents that preferences compare, with the columns topic, a and b.",
            panel="Data",
            metavar="FILE",
            show_default="each pair of a topic's pool",
        ),
    ] = None,
    checks: Annotated[str | None, CHECKS] = None,
    gold: Annotated[
        str | None,
        option(help="True judgments, from which check documents are drawn.", panel="Data", metavar="FILE"),
    ] = None,
    items: judge_options.Items = None,
    prompt: judge_options.Prompts = None,
    parameter: judge_options.Parameters = None,
    key_from: judge_options.KeyFrom = None,
    timeout: judge_options.Timeout = 120.0,
    samples: judge_options.Samples = 1,
    unit_size: Annotated[int, option(help="Documents of a unit, check documents included.", min=1)] = 8,
    again: judge_options.Again = None,
    concurrency: judge_options.Concurrency = 8,
    budget: judge_options.Budget = None,
    prices: judge_options.PricesFile = None,
    dry_run: judge_options.DryRun = False,
    batch: Annotated[
        str | None,
        option(
            help="Folder for files of requests, which qrowd judge send sends as batches; nothing is asked now.",
            panel="Output",
            metavar="DIR",
        ),
    ] = None,
    seed: options.Seed = 1,
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
    from qrowd import files
    from qrowd.judge import Prices, plan_job, read_document_texts, read_topic_texts, write_batches
    from qrowd.judge.questions import pool_from
    from qrowd.model.runs import Runs
    from qrowd.reports.judging import JudgingReport

    named_pairs = None if pairs is None else _pairs(pairs)
    source = judge_options.pool_of(runs, pool, named_pairs)
    pooled = pool_from(source, depth=depth)
    named_checks = None if checks is None else files.read_checks(checks)
    labels = set(chain(*pooled.values(), *(named_checks or {}).values()))
    job = plan_job(
        read_topic_texts(topics),
        read_document_texts(documents, labels=labels),
        pooled,
        judge_options.models_of(model, key_from or [], timeout),
        prompt or ["graded"],
        n_samples=samples,
        depth=depth,
        pairs=named_pairs,
        checks=named_checks,
        gold=None if gold is None else files.read_judgments([gold]),
        unit_size=unit_size,
        items=None if items is None else judge_options.items_of(items),
        parameters=judge_options.parameters_of(parameter),
        runs=source if isinstance(source, Runs) else None,
        rng=seed,
    )
    price_list = None if prices is None else Prices.read(prices)
    statuses = cast(Any, again or ())
    if dry_run:
        judge_options.show_estimate(job, price_list or Prices.read(), record, again=statuses, batch=batch is not None)
        return
    if batch is not None:
        if output is not None:
            raise ArgumentError("--output: with --batch nothing is answered yet; give it without --batch in the end")
        show_written(
            write_batches(job, batch, record=record, again=statuses, budget=budget, prices=price_list), batch, record
        )
        return
    currency = price_list.currency if price_list else ""
    with judge_options.asking(record, price_list) as progress:
        answers = job.ask(
            record, concurrency=concurrency, budget=budget, prices=price_list, again=statuses, progress=progress
        )
    if output is not None:
        _write(answers, output)
    n_unasked = answers.n_unasked - answers.n_in_batches
    report = JudgingReport(answers.statuses, n_unasked, tuple(_notes(answers, record, currency)))
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
    from qrowd.judge import Record as RecordFile
    from qrowd.judge import Statuses
    from qrowd.judge.asked import outcomes_in
    from qrowd.judge.batch_log import pending_keys
    from qrowd.reports.judging import JudgingReport

    outcomes, unasked = outcomes_in(record)
    with RecordFile(record, read_only=True) as written:
        pending = pending_keys(written)
    n_pending = sum(asking.key in pending for asking in unasked)
    notes = (_in_batches(n_pending),) if n_pending else ()
    report = JudgingReport(Statuses(tuple(outcomes), runs.read(None), depth), len(unasked) - n_pending, notes)
    deliver(report.to_document().shown(report.systems, top=top, short_names=short_names), output)


# ---- what is read


def _pairs(path: str) -> list[tuple[str, str, str]]:
    from qrowd import files

    return list(zip(*files.read_labels(path, "topic", "a", "b"), strict=True))


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


def _notes(answers: ModelAnswers, record: str, currency: str) -> Any:
    from qrowd.reports.document import Note

    if answers.stopped:
        yield Note("stopped", answers.stopped)
    if answers.n_in_batches:
        yield _in_batches(answers.n_in_batches)
    if answers.cost is not None:
        yield Note("cost", f"{answers.cost:.4g} {currency}")
    yield from judge_options.notes_on_servers(answers.servers)
    if answers.statuses.n_failed:
        yield Note(
            "failures", "make no judgment; errors and timeouts are asked again by the same command, others by --again"
        )
    yield Note("record", record)


def _in_batches(n: int) -> Note:
    from qrowd.reports.document import Note
    from qrowd.reports.phrases import count

    return Note("in batches", f"{count(n, 'question')}; qrowd judge collect puts the answers into the record")


judge = command_group(
    "Ask language models to judge, and show what became of each question.", ask, status, prompts, probe, send, collect
)
