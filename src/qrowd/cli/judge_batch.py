"""Batches of `qrowd judge`: files of requests are sent, and their answers collected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli import judge_options
from qrowd.cli.output import Output, deliver

if TYPE_CHECKING:
    from qrowd.judge import BatchStates, WrittenBatches
    from qrowd.reports.document import Document, Note


def send(
    file: Annotated[
        list[str],
        typer.Argument(metavar="FILES", help="Files of requests that qrowd judge ask wrote, or their folder."),
    ],
    key_from: judge_options.KeyFrom = None,
    timeout: judge_options.Timeout = 120.0,
    record: judge_options.Record = "judge.sqlite",
    output: Output = None,
) -> None:
    """Send files of requests to the servers of their models, as batches. A file that was sent is not sent again."""
    from qrowd.errors import FileError
    from qrowd.judge.batch import batch_hosts, send_batches
    from qrowd.reports.phrases import count

    paths = []
    for one in file:
        paths += sorted(Path(one).glob("*.jsonl")) if Path(one).is_dir() else [Path(one)]
    if not paths:
        raise FileError(file[0], "holds no file of requests; qrowd judge ask --batch writes them")
    keys = judge_options.key_variables(batch_hosts(record), key_from or [])
    result = send_batches(paths, record=record, keys=keys, timeout=timeout)
    n = sum(one.status == "sent" for one in result.states)
    sentence = f"{count(n, 'file was', 'files were')} sent."
    if n < len(paths):
        sentence = f"{sentence[:-1]}; {count(len(paths) - n, 'file')} had been sent before."
    deliver(_document(sentence, result, record, ("file", "batch", "model", "status", "requests")), output)


def collect(
    file: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILES]", help="Files of answers, instead of the batches that were sent."),
    ] = None,
    prices: judge_options.PricesFile = None,
    key_from: judge_options.KeyFrom = None,
    timeout: judge_options.Timeout = 120.0,
    record: judge_options.Record = "judge.sqlite",
    output: Output = None,
) -> None:
    """Put the answers of batches that have ended into the record. Afterwards qrowd judge ask writes the judgments."""
    from qrowd.judge import Prices
    from qrowd.judge.batch import ENDED, batch_hosts, collect_batches
    from qrowd.reports.phrases import count

    keys = judge_options.key_variables(batch_hosts(record), key_from or [])
    price_list = None if prices is None else Prices.read(prices)
    result = collect_batches(record, files=file or (), prices=price_list, keys=keys, timeout=timeout)
    n_answers = sum(one.answers for one in result.states)
    n_open = sum(one.batch != "" and one.status not in ENDED for one in result.states)
    sentence = f"{count(n_answers, 'answer')} came into the record."
    if not result.states:
        sentence = "No batch is waiting to be collected."
    elif n_open:
        sentence = (
            f"{sentence[:-1]}; {count(n_open, 'batch', 'batches')} {'is' if n_open == 1 else 'are'} not finished."
        )
    columns = ("file", "batch", "model", "status", "requests", "finished", "answers", "failures", "ignored")
    deliver(_document(sentence, result, record, columns), output)


def show_written(written: WrittenBatches, folder: str, record: str) -> None:
    """Say which files `qrowd judge ask --batch` wrote, and what to do with them."""
    from qrowd.reports.document import Document, Note, Table
    from qrowd.reports.phrases import count

    n = sum(one.n_requests for one in written.files)
    notes = [Note("record", record)]
    if written.n_pending:
        notes.append(Note("in batches", f"{count(written.n_pending, 'request')} that were sent and not collected yet"))
    if written.n_over_budget:
        notes.append(Note("stopped", f"budget: {count(written.n_over_budget, 'request')} would exceed it"))
    if written.files:
        notes.append(Note("next", f"qrowd judge send {folder}, later qrowd judge collect; or the server's own tool"))
    columns = written._columns()
    tables = (Table.of("files", {**columns, "requests": [f"{one:,}" for one in columns["requests"]]}),)
    sentence = f"{count(n, 'request')} in {count(len(written.files), 'file')}; nothing was asked."
    deliver(Document(sentence, tables if written.files else (), tuple(notes), written.to_frame), None)


def _document(sentence: str, result: BatchStates, record: str, names: tuple[str, ...]) -> Document:
    from qrowd.reports.document import Document, Note, Table

    columns = result._columns()
    shown = {
        name: [f"{one:,}" if isinstance(one, int) else one or "-" for one in columns[name]]
        for name in names
        if name not in ("failures", "ignored") or any(columns[name])
    }
    notes: list[Note] = [Note(one.batch or one.file, one.detail) for one in result.states if one.detail]
    tables = (Table.of("batches", shown),) if result.states else ()
    return Document(sentence, tables, (*notes, Note("record", record)), result.to_frame)
