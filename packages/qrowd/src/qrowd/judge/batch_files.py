"""Batch files: requests that a provider answers within a day, for less than it takes for single requests.

`write_batches` writes the requests that a record does not answer, and `read_batches` puts the answers into the record.
The files are sent with the provider's tool, or answered by vLLM's `run-batch`. The format is OpenAI's
(https://platform.openai.com/docs/guides/batch), which other providers take, too.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from qrowd.errors import ArgumentError, FileError
from qrowd.files import new_folder, read_bytes, write_whole
from qrowd.judge.asking import Job, write_askings
from qrowd.judge.chat import PATH, ChatModel, body, read_body
from qrowd.judge.exchange import Prices, Reply, Request, Status, tokens_of
from qrowd.judge.record import Record, is_complete, read_request, request_text
from qrowd.model.result import Result
from qrowd.paths import PathLike

MOST_REQUESTS = 50_000  # of a file, and MOST_BYTES: OpenAI's limits
MOST_BYTES = 200 * 10**6
URL = "/v1" + PATH


@dataclass(frozen=True, eq=False)
class WrittenBatches(Result):
    """The files that were written; a file has requests to one model."""

    files: tuple[Path, ...]
    models: tuple[str, ...]
    endpoints: tuple[str, ...]
    n_requests: tuple[int, ...]

    def _columns(self) -> dict[str, Any]:
        return {
            "file": [str(path) for path in self.files],
            "model": self.models,
            "endpoint": self.endpoints,
            "n_requests": self.n_requests,
        }


@dataclass(frozen=True)
class ReadBatches(Result):
    """What became of the lines of files of answers.

    answers : that came into the record. failures : lines that say why a request has no answer; it may be asked again.
    known : lines that the record holds already. foreign : answers to requests that this record did not write. broken :
    lines in another form. waiting : requests of the record's batches of which no line has come yet.
    """

    answers: int = 0
    failures: int = 0
    known: int = 0
    foreign: int = 0
    broken: int = 0
    waiting: int = 0


def write_batches(job: Job, folder: PathLike, *, record: PathLike, again: Collection[Status] = ()) -> WrittenBatches:
    """Write the requests of a job that the record does not answer into JSON Lines, one file or more per model.

    again : statuses of answers that are asked for again.

    Raises
    ------
    ArgumentError
        A model that is a function.
    FileError
        The folder is not empty.
    """
    for model in job.models:
        if not isinstance(model, ChatModel):
            raise ArgumentError(f"models: {model.name} is a function; only models of a server, URL#NAME, have batches")
    folder = new_folder(folder)
    with Record(record) as attempts:
        write_askings(attempts, job.askings)
        requests = job.open_requests(attempts, again=again)
        with attempts.transaction() as database:
            rows = ((request.key, request_text(request)) for request in requests)
            database.executemany("INSERT OR IGNORE INTO batch_requests VALUES (?, ?)", rows)
    parts = _parts(folder, requests)
    for path, (_, lines) in parts.items():
        write_whole(path, lines)
    examples = [request for request, _ in parts.values()]
    return WrittenBatches(
        tuple(parts),
        tuple(request.model for request in examples),
        tuple(request.endpoint for request in examples),
        tuple(len(lines) for _, lines in parts.values()),
    )


def _parts(folder: Path, requests: Iterable[Request]) -> dict[Path, tuple[Request, list[bytes]]]:
    """{path: (one of its requests, lines)}; one model per file, and no file beyond the limits."""
    parts: dict[Path, tuple[Request, list[bytes]]] = {}
    sizes: dict[Path, int] = {}
    current: dict[tuple[str, str], Path] = {}
    for request in requests:
        content = body(request, request.schema is not None)
        line = json.dumps({"custom_id": request.key, "method": "POST", "url": URL, "body": content}).encode() + b"\n"
        about = request.endpoint, request.model
        path = current.get(about)
        if path is None or len(parts[path][1]) >= MOST_REQUESTS or sizes[path] + len(line) > MOST_BYTES:
            path = current[about] = _free_name(folder, request.model, parts)
            parts[path], sizes[path] = (request, []), 0
        parts[path][1].append(line)
        sizes[path] += len(line)
    return parts


def _free_name(folder: Path, model: str, taken: Collection[Path]) -> Path:
    """MODEL.jsonl, or MODEL-2.jsonl and so on."""
    name, number = quote(model, safe=" "), 2
    path = folder / f"{name}.jsonl"
    while path in taken:
        path = folder / f"{name}-{number}.jsonl"
        number += 1
    return path


def read_batches(files: Sequence[PathLike], *, record: PathLike, prices: Prices | None = None) -> ReadBatches:
    """Put the answers of files into the record that the requests were written with; reading again adds nothing.

    files : answers as a provider or vLLM's `run-batch` gives them; also files of errors. prices : of the tokens, for
    the cost in the record.

    Raises
    ------
    FileError
        A file that cannot be read or that answers no request of the record.
    """
    if not Path(record).exists():
        raise FileError(record, "there is no such record")
    counts = dict.fromkeys(("answers", "failures", "known", "foreign", "broken"), 0)
    with Record(record) as attempts:
        for path in files:
            before = counts["foreign"] + counts["broken"]
            lines = [line for line in read_bytes(Path(path)).split(b"\n") if line.strip()]
            with attempts.transaction():
                for line in lines:
                    counts[_enter(attempts, line, prices)] += 1
                if counts["foreign"] + counts["broken"] - before == len(lines):
                    raise FileError(path, f"none of its {len(lines):,} lines answers a request of {record}")
        waiting = attempts.rows("SELECT count(*) FROM batch_requests WHERE key NOT IN (SELECT key FROM attempts)")
    return ReadBatches(**counts, waiting=waiting[0][0])


def _enter(record: Record, line: bytes, prices: Prices | None) -> str:
    """Put a line into the record; as what it counts."""
    try:
        content = json.loads(line)
        key = content["custom_id"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return "broken"
    rows = record.rows("SELECT request FROM batch_requests WHERE key = ?", key) if isinstance(key, str) else []
    if not rows:
        return "foreign"
    request, reply = read_request(rows[0][0]), _reply_of(content)
    reply = replace(reply, schema_sent=request.schema is not None)
    if record.has(request, reply):
        return "known"
    cost = None if prices is None else prices.cost(request, tokens_of(request, reply), batch=True)
    record.add(request, reply, cost=cost)
    return "answers" if is_complete(reply) else "failures"


def _reply_of(line: Mapping[str, Any]) -> Reply:
    """The reply in a line of answers: as a server's, or the error that stands in its place."""
    content, error = line.get("response"), line.get("error")
    response = content if isinstance(content, dict) else {}
    status = response.get("status_code")
    if isinstance(response.get("body"), dict):
        return read_body(json.dumps(response["body"]), status if isinstance(status, int) else 200)
    if isinstance(status, int) and error:
        return read_body(json.dumps({"error": error}), status)
    details = error if isinstance(error, dict) else {"message": error or "the line holds no answer"}
    words = ": ".join(" ".join(str(details[name]).split()) for name in ("code", "message") if details.get(name))
    return Reply(error=words[:300], tokens_in=0, tokens_out=0, raw=json.dumps(error))
