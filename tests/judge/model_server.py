"""A server of the OpenAI-compatible wire that does what a script says, in a thread, on a free port of this machine."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Response:
    """What the server does with one request.

    delay : seconds before it answers. hang : it never answers. reset : it resets the connection, after `part` of the
    bytes. pace : seconds between any two of ten pieces of the body.
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    delay: float = 0.0
    hang: bool = False
    reset: bool = False
    part: float = 0.0
    pace: float = 0.0


def completion(text: str | None = "2", *, usage: bool = True, finish: str | None = "stop", **message: Any) -> Response:
    """An answer as servers give it; `message` holds further fields of the message."""
    content: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "small-1",
        "system_fingerprint": "fp_1",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        ],
    }
    if usage:
        content["usage"] = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    return Response(json.dumps(content).encode())


def problem(status: int, message: str = "no", code: str | None = None, **headers: str) -> Response:
    """An error as servers give it; underscores in names of headers become hyphens."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": code}}).encode()
    lines = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(body, status, {"content-type": "application/json", **lines})


def changed(response: Response, **fields: Any) -> Response:
    """A completion whose JSON has other top-level fields."""
    return replace(response, body=json.dumps(json.loads(response.body) | fields).encode())


ANSWER = completion()
HTML = Response(b"<!doctype html><title>Sign in</title>", headers={"content-type": "text/html"})
TRUNCATED = replace(completion(), body=completion().body[:80])
EMPTY_CHOICES = changed(completion(), choices=[])
REFUSAL = completion(None, refusal="I cannot help with that.")
CONTENT_FILTER = completion(None, finish="content_filter")
CUT_OFF = completion("The passage is", finish="length")
NULL = completion(None)
OTHER_MODEL = changed(completion(), model="large-7-2026-01-01")
NO_USAGE = completion(usage=False)
RESET = Response(reset=True)
HALF = replace(completion(), reset=True, part=0.5)
HANG = Response(hang=True)

Script = Callable[[int, dict[str, Any]], Response]


def output_line(custom_id: str, response: Response) -> bytes:
    """A line of answers or of errors."""
    body = json.loads(response.body)
    answer = {"status_code": response.status, "request_id": "r", "body": body}
    return json.dumps(
        {"id": f"batch_req_{custom_id}", "custom_id": custom_id, "response": answer, "error": None}
    ).encode()


def expired_line(custom_id: str) -> bytes:
    """A line of a request that was not run in time."""
    error = {"code": "batch_expired", "message": "This request was not executed before the window expired."}
    return json.dumps({"id": "batch_req_0", "custom_id": custom_id, "response": None, "error": error}).encode()


class ModelServer:
    """Answers `POST .../chat/completions`; the nth request gets what the script says.

    script : responses in turn, the last one for ever after, or a function of (n from 0, body). bodies, headers : of the
    requests so far, in order of arrival. most : requests that were open at once. sent : how many responses were written
    whole.
    """

    def __init__(self, script: Iterable[Response] | Script = (ANSWER,)) -> None:
        self.script = script if callable(script) else _in_turn(list(script))
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.most = self.open = self.sent = 0

    def __enter__(self) -> ModelServer:
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self._serve, args=(ready,), daemon=True)
        self.thread.start()
        ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.stopped.set)
        self.thread.join()
        self.loop.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def contents(self) -> list[str]:
        """The last message of each request."""
        return [body["messages"][-1]["content"] for body in self.bodies]

    def _serve(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._main(ready))

    async def _main(self, ready: threading.Event) -> None:
        self.stopped, self.connections = asyncio.Event(), set[asyncio.Task[None]]()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, backlog=500)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self.stopped.wait()
        server.close()
        for task in self.connections:
            task.cancel()
        await asyncio.gather(*self.connections, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.connections.add(task)
        try:
            while (head := await reader.readuntil(b"\r\n\r\n")) and await self._exchange(head, reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self.connections.discard(task)
            writer.close()

    async def _exchange(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection stays."""
        lines = head.decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)
        }
        content = await reader.readexactly(int(headers.get("content-length", 0)))
        if lines[0].split(" ")[1] != "/v1/chat/completions":
            return await self._write(writer, problem(404, "no such thing"))
        body = json.loads(content)
        number = len(self.bodies)
        self.bodies.append(body)
        self.headers.append(headers)
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            response = self.script(number, body)
            await asyncio.sleep(response.delay)
            if response.hang:
                await self.stopped.wait()
                return False
            stays = await self._write(writer, response)
        finally:
            self.open -= 1
        self.sent += stays
        return stays

    async def _write(self, writer: asyncio.StreamWriter, response: Response) -> bool:
        """Whether the connection stays."""
        status = {"content-length": str(len(response.body)), **response.headers}
        text = f"HTTP/1.1 {response.status} X\r\n" + "".join(f"{k}: {v}\r\n" for k, v in status.items()) + "\r\n"
        whole = text.encode("latin-1") + response.body
        if response.pace:
            for start in range(0, len(whole), size := len(whole) // 10 + 1):
                writer.write(whole[start : start + size])
                await writer.drain()
                await asyncio.sleep(response.pace)
            return True
        writer.write(whole[: int(len(whole) * response.part)] if response.reset else whole)
        await writer.drain()
        if response.reset:
            linger = struct.pack("ii", 1, 0)  # close with a reset
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
        return not response.reset


def _in_turn(responses: list[Response]) -> Script:
    return lambda number, body: responses[min(number, len(responses) - 1)]
