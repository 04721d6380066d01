"""Batches: requests in files, which a server answers within a day and for less than it takes for single requests.

`write_batches` writes the requests that a record does not answer, `send_batches` sends the files, and `collect_batches`
puts the answers into the record. The format is OpenAI's (https://platform.openai.com/docs/guides/batch); other
providers take the same files, and so does vLLM's `run-batch`, without a server.

What a sent batch holds is not asked until the batch has been collected, so nothing is paid for twice, whenever the
process ends.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any
from urllib.parse import quote

from qrowd.errors import ArgumentError, FileError
from qrowd.files import write_whole
from qrowd.judge.asking import Job
from qrowd.judge.batch_log import (
    Batch,
    add_batch,
    batches,
    is_answered,
    note,
    note_requests,
    noted_request,
    pending_keys,
)
from qrowd.judge.batch_wire import BatchServer, Refusal
from qrowd.judge.chat import ChatModel, body, read_body
from qrowd.judge.exchange import Reply, Request, Status
from qrowd.judge.prices import Prices, expected_tokens, tokens_of
from qrowd.judge.record import Record, is_complete
from qrowd.judge.servers import SeveralServers
from qrowd.judge.wire import PATH, Server
from qrowd.model.result import Result
from qrowd.paths import PathLike

MOST_REQUESTS = 50_000  # of a file, and MOST_BYTES: OpenAI's limits
MOST_BYTES = 200 * 10**6
URL = "/v1" + PATH
ENDED = ("completed", "succeeded", "failed", "expired", "cancelled", "canceled")

Keys = Mapping[str, str]
"""{host: environment variable that holds its key}."""


@dataclass(frozen=True)
class BatchFile:
    """A file of requests to one model. n_requests : its lines."""

    path: Path
    endpoint: str
    model: str
    n_requests: int


@dataclass(frozen=True, eq=False)
class WrittenBatches(Result):
    """The files that were written.

    n_over_budget : requests left out because the budget does not allow them. n_pending : requests left out because a
    batch that was sent holds them.
    """

    files: tuple[BatchFile, ...]
    n_over_budget: int = 0
    n_pending: int = 0

    def _columns(self) -> dict[str, Any]:
        return {
            "file": [str(one.path) for one in self.files],
            "model": [one.model for one in self.files],
            "endpoint": [one.endpoint for one in self.files],
            "requests": [one.n_requests for one in self.files],
        }


@dataclass(frozen=True)
class BatchState:
    """What is known of a batch, or of a file of answers.

    batch : its id at the server; empty for a file. status : as the server calls it; "sent before", "answered" where
    a file was not sent again. finished : requests that the server is done with. answers, failures : lines that came
    into the record now. ignored : lines that did not, since they are of another job, are there already or are broken.
    """

    file: str
    batch: str
    endpoint: str
    model: str
    status: str
    requests: int
    finished: int = 0
    answers: int = 0
    failures: int = 0
    ignored: int = 0
    detail: str = ""


@dataclass(frozen=True, eq=False)
class BatchStates(Result):
    """The batches of a record, or the files that were sent."""

    states: tuple[BatchState, ...]

    def _columns(self) -> dict[str, Any]:
        names = (
            "file",
            "batch",
            "endpoint",
            "model",
            "status",
            "requests",
            "finished",
            "answers",
            "failures",
            "ignored",
        )
        return {name: [getattr(one, name) for one in self.states] for name in (*names, "detail")}


# ---- write


def write_batches(
    job: Job,
    folder: PathLike,
    *,
    record: PathLike,
    again: Collection[Status] = (),
    budget: float | None = None,
    prices: Prices | None = None,
) -> WrittenBatches:
    """Write the requests of a job that the record does not answer into JSON Lines, one file or more per model.

    again, budget, prices : as of `ask_models`; the files hold what the budget allows.

    Raises
    ------
    ArgumentError
        A model that is a function or has several servers; a budget without prices.
    FileError
        The folder holds a file of requests that were not sent and that this call does not replace.
    """
    for model in job.models:
        if isinstance(model, SeveralServers):
            raise ArgumentError(f"models: {model.name} is at several servers; a batch is sent to one: name one URL")
        if not isinstance(model, ChatModel):
            raise ArgumentError(f"models: {model.name} is a function; only models of a server, URL#NAME, have batches")
    with Record(record) as attempts:
        job.note(attempts)
        requests, pending = job.open_requests(attempts, again=again)
        pending_requests = [one for key in pending_keys(attempts) if (one := noted_request(attempts, key))]
        n = len(requests)
        if budget is not None:
            requests = _affordable(requests, budget - attempts.spent(), pending_requests, prices)
        note_requests(attempts, requests)
        parts = _parts(Path(folder), requests)
        _check_folder(Path(folder), parts, attempts)
        Path(folder).mkdir(parents=True, exist_ok=True)
        for path, (_, lines) in parts.items():
            write_whole(path, lines)
    files = (BatchFile(path, one.endpoint, one.model, len(lines)) for path, (one, lines) in parts.items())
    return WrittenBatches(tuple(files), n - len(requests), len(pending))


def _affordable(requests: list[Request], budget: float, pending: list[Request], prices: Prices | None) -> list[Request]:
    """The first requests that a budget allows, besides those that are pending."""
    left, affordable = budget, []
    for request in (*pending, *requests):
        cost = None if prices is None else prices.cost(request, expected_tokens(request), batch=True)
        if cost is None:
            raise ArgumentError(
                f"budget: {request.model!r} at {request.endpoint!r} has no price; add it to the file of prices"
            )
        left -= cost
        affordable.append(left >= 0)
    return [request for request, fits in zip(requests, affordable[len(pending) :], strict=True) if fits]


def _parts(folder: Path, requests: Iterable[Request]) -> dict[Path, tuple[Request, list[bytes]]]:
    """{path: (a request, lines)}; one model per file, and no file beyond the limits."""
    parts: dict[Path, tuple[Request, list[bytes]]] = {}
    current: dict[tuple[str, str], Path] = {}
    sizes: Counter[Path] = Counter()
    for request in requests:
        line = _line(request)
        path = current.get((request.endpoint, request.model))
        if path is None or len(parts[path][1]) >= MOST_REQUESTS or sizes[path] + len(line) > MOST_BYTES:
            name = quote(request.model, safe=" ")
            names = (folder / f"{name}{suffix}.jsonl" for suffix in chain([""], (f"-{n}" for n in count(2))))
            path = next(one for one in names if one not in parts)
            parts[path] = request, []
            current[request.endpoint, request.model] = path
        parts[path][1].append(line)
        sizes[path] += len(line)
    return parts


def _line(request: Request) -> bytes:
    content = {
        "custom_id": request.key,
        "method": "POST",
        "url": URL,
        "body": body(request, request.schema is not None),
    }
    return json.dumps(content).encode() + b"\n"


def _check_folder(folder: Path, parts: Collection[Path], record: Record) -> None:
    """Refuse a folder with further requests that nobody has sent: they would be sent with the new ones."""
    pending = pending_keys(record)
    for path in sorted(folder.glob("*.jsonl")) if folder.is_dir() else ():
        if path not in parts:
            try:
                keys = [request.key for request in _requests_of(path, record)]
            except FileError:
                keys = []  # not ours
            if any(key not in pending and not is_answered(record, key) for key in keys):
                raise FileError(path, "holds requests that have not been sent; send or remove it first")


# ---- send


def send_batches(
    paths: Sequence[PathLike], *, record: PathLike, keys: Keys | None = None, timeout: float = 120.0
) -> BatchStates:
    """Send files of `write_batches` to the servers of their models. A file that was sent is not sent again.

    keys : {host: environment variable that holds its key}; default: the variables of `ChatModel`.

    Raises
    ------
    FileError
        A file that is not as it was written, or that holds requests that have been answered in the meantime.
    QrowdError
        A server that refuses; the same call goes on.
    """
    states = []
    with Record(record) as attempts:
        for path in paths:
            requests = _requests_of(path, attempts)
            one = requests[0]
            about = str(path), one.endpoint, one.model
            server = BatchServer(_server(one.endpoint, keys), timeout)
            states.append(_send(attempts, server, Path(path), about, [request.key for request in requests]))
    return BatchStates(tuple(states))


def _send(record: Record, server: BatchServer, path: Path, about: tuple[str, str, str], keys: list[str]) -> BatchState:
    file, endpoint, model = about
    batch = next((one for one in batches(record) if one.keys == tuple(keys) and one.state != "ended"), None)
    if batch is None or batch.state == "uploaded":
        pending = pending_keys(record)
        n_done = sum(key in pending or is_answered(record, key) for key in keys)
        if n_done == len(keys):
            return BatchState(file, "", endpoint, model, "answered", len(keys))
        if n_done:
            raise FileError(
                path,
                f"{n_done:,} of its {len(keys):,} requests have been answered or sent since it was written; write the "
                "batches again",
            )
    if batch is None:
        batch = add_batch(record, file, endpoint, model, keys, server.upload(path))
    if batch.state == "created":
        return BatchState(file, batch.batch_id, endpoint, model, "sent before", len(keys))
    batch_id = server.batch_of(batch.file_id) if batch.state == "creating" else None
    if batch_id is None:
        batch_id = _create(record, server, batch)
    with record.transaction() as database:
        note(database, batch.number, "created", batch_id)
    return BatchState(file, batch_id, endpoint, model, "sent", len(keys))


def _create(record: Record, server: BatchServer, batch: Batch) -> str:
    """Let the server make a batch; its id."""
    with record.transaction() as database:
        note(database, batch.number, "creating")
    try:
        return server.create(batch.file_id, URL)
    except Refusal as refusal:
        with record.transaction() as database:
            note(database, batch.number, "ended", f"refused: {refusal}")
        raise


def _requests_of(path: PathLike, record: Record) -> list[Request]:
    """The requests of a file that this record wrote, as they were written."""
    requests: list[Request] = []
    for n, line in enumerate(_lines(path), 1):
        try:
            content = json.loads(line)
            key = content["custom_id"]
        except (ValueError, TypeError, KeyError):
            raise FileError(path, "expected a request of a batch; qrowd judge ask --batch writes them", n) from None
        request = noted_request(record, key) if isinstance(key, str) else None
        if request is None:
            raise FileError(path, f"{record.path} does not hold this request; name the record of this file", n)
        if content != json.loads(_line(request)):
            raise FileError(path, "this request was changed; write the batches again", n)
        if requests and (request.endpoint, request.model) != (requests[0].endpoint, requests[0].model):
            raise FileError(path, f"a batch has one model: {requests[0].model!r}, not {request.model!r}", n)
        requests.append(request)
    if not requests:
        raise FileError(path, "holds no request")
    if len({request.key for request in requests}) < len(requests):
        raise FileError(path, "holds a request twice; write the batches again")
    return requests


def batch_hosts(record: PathLike) -> set[str]:
    """The hosts of the requests that a record has written into files, as `Keys` has them."""
    with Record(record, read_only=True) as written:
        rows = written.rows("SELECT DISTINCT json_extract(request, '$.endpoint') FROM batch_requests")
    return {Server(endpoint).host for (endpoint,) in rows}


# ---- collect


def collect_batches(
    record: PathLike,
    *,
    files: Sequence[PathLike] = (),
    prices: Prices | None = None,
    keys: Keys | None = None,
    timeout: float = 120.0,
) -> BatchStates:
    """Put the answers of batches into the record: of all that were sent and have ended, or of files of answers.

    Collecting again adds nothing. A request that has no answer when its batch ends may be asked again.

    files : answers as a provider's pages or vLLM's `run-batch` give them. prices : of the tokens, for the cost in the
    record. keys : as of `send_batches`.

    Raises
    ------
    FileError
        A file that cannot be read, or a record that has no batches.
    QrowdError
        A server that refuses, or whose answer ends early; nothing of that batch is in the record then.
    """
    if not Path(record).exists():
        raise FileError(record, "there is no such record")
    states = []
    with Record(record) as attempts:
        for path in files:
            with attempts.transaction():
                counts = _enter(attempts, _lines(path), None, prices)
                if counts.total() == counts["foreign"] + counts["broken"]:
                    raise FileError(path, f"none of its {counts.total():,} lines answers a request of {record}")
            state = BatchState(str(path), "", "", "", "read", counts.total())
            states.append(_with_counts(state, counts))
        for batch in batches(attempts) if not files else ():
            if batch.state in ("creating", "created"):
                server = BatchServer(_server(batch.endpoint, keys), timeout)
                states.append(_collect(attempts, server, batch, prices))
    return BatchStates(tuple(states))


def _collect(record: Record, server: BatchServer, batch: Batch, prices: Prices | None) -> BatchState:
    n = len(batch.keys)
    state = BatchState(batch.file, batch.batch_id, batch.endpoint, batch.model, "", n)
    if batch.state == "creating":  # whatever asked for it ended before the answer came
        batch_id = server.batch_of(batch.file_id)
        with record.transaction() as database:
            if batch_id:
                note(database, batch.number, "created", batch_id)
            else:
                note(database, batch.number, "ended", "not created")
        if batch_id is None:
            return replace(state, status="not created")
        state = replace(state, batch=batch_id)
    try:
        content = server.batch(state.batch)
    except Refusal as refusal:
        if refusal.status != 404:
            raise
        content = {"status": "failed", "errors": {"data": [{"message": "the server knows it no more"}]}}
    status = str(content.get("status", "")).lower()
    progress = content.get("request_counts")
    finished = sum(_count(progress, name) for name in ("completed", "failed"))
    state = replace(state, status=status, finished=finished, detail=_problem(content))
    if status not in ENDED:
        return state
    with record.transaction() as database:
        counts: Counter[str] = Counter()
        for name in ("output_file_id", "error_file_id"):
            if isinstance(file_id := content.get(name), str) and file_id:
                counts += _enter(record, server.lines(file_id), frozenset(batch.keys), prices)
        note(database, batch.number, "ended", status)
    return _with_counts(state, counts)


def _with_counts(state: BatchState, counts: Counter[str]) -> BatchState:
    ignored = counts["foreign"] + counts["repeated"] + counts["broken"]
    reasons = {"foreign": "of other jobs", "repeated": "there already", "broken": "broken"}
    details = [f"{counts[name]} {words}" for name, words in reasons.items() if counts[name]]
    detail = "; ".join([*([state.detail] if state.detail else []), *details])
    return replace(state, answers=counts["answers"], failures=counts["failures"], ignored=ignored, detail=detail)


def _enter(record: Record, lines: Iterable[bytes], keys: Collection[str] | None, prices: Prices | None) -> Counter[str]:
    """Add the answers of these lines to the record. keys : of the requests that they may answer; None: all in files."""
    counts: Counter[str] = Counter()
    for line in lines:
        try:
            content = json.loads(line)
            key = content["custom_id"]
        except (ValueError, TypeError, KeyError, RecursionError):
            counts["broken"] += 1
            continue
        request = noted_request(record, key) if isinstance(key, str) and (keys is None or key in keys) else None
        if request is None:
            counts["foreign"] += 1
            continue
        reply = replace(_reply(content), schema_sent=request.schema is not None)
        if record.has(request, reply):
            counts["repeated"] += 1
            continue
        cost = None if prices is None else prices.cost(request, tokens_of(request, reply), batch=True)
        record.add(request, reply, cost=cost)
        counts["answers" if is_complete(reply) else "failures"] += 1
    return counts


def _reply(line: Mapping[str, Any]) -> Reply:
    """The reply in a line of answers: as a server's, or the error that stands in its place."""
    content, error = line.get("response"), line.get("error")
    response = content if isinstance(content, dict) else {}
    status = response.get("status_code")
    if not isinstance(status, int):
        status = None
    if isinstance(response.get("body"), dict):
        return read_body(json.dumps(response["body"]), 200 if status is None else status)
    if status is not None and error:
        return read_body(json.dumps({"error": error}), status)
    details = error if isinstance(error, dict) else {"message": error or "the line holds no answer"}
    words = ": ".join(" ".join(str(details[name]).split()) for name in ("code", "message") if details.get(name))
    return Reply(error=words[:300], tokens_in=0, tokens_out=0, raw=json.dumps(line.get("error")))


def _problem(batch: Mapping[str, Any]) -> str:
    """What a server says is wrong with a batch; empty where it says nothing."""
    errors = batch.get("errors")
    data = errors.get("data") if isinstance(errors, dict) else errors
    messages = [
        f"line {one['line']}: {one.get('message')}" if one.get("line") else str(one.get("message"))
        for one in (data if isinstance(data, list) else ())
        if isinstance(one, dict)
    ]
    more = f"; {len(messages) - 1} more" if len(messages) > 1 else ""
    return " ".join(messages[0].split())[:300] + more if messages else ""


def _count(progress: object, name: str) -> int:
    value = progress.get(name) if isinstance(progress, dict) else None
    return value if isinstance(value, int) else 0


def _server(endpoint: str, keys: Keys | None) -> Server:
    host = Server(endpoint).host
    return Server(endpoint, key_from_environment=(keys or {}).get(host))


def _lines(path: PathLike) -> Iterator[bytes]:
    """The lines of a file that are not empty."""
    try:
        with open(path, "rb") as file:
            for line in file:
                if line.strip():
                    yield line
    except OSError as error:
        raise FileError(path, f"cannot be read ({error.strerror})") from None
