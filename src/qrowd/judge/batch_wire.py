"""The calls of OpenAI's batches: files, and batches of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from qrowd.errors import QrowdError
from qrowd.judge.chat import read_body
from qrowd.judge.wire import LONGEST_BODY, Server, authorization, missing_package, without_key

if TYPE_CHECKING:
    import httpx2

NEXT = {401: "check the key", 403: "check the key", 404: "the server has no batches, or the URL is wrong"}
PAGE = 100  # batches that a server lists at once


class Refusal(QrowdError):
    """A server refused a call (HTTP 4xx) or was not reached: it did nothing. status : HTTP's, or 0."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class BatchServer:
    """The batches of a server. timeout : seconds in which something must come or go."""

    def __init__(self, server: Server, timeout: float) -> None:
        self.server, self.timeout = server, timeout

    def upload(self, path: Path) -> str:
        """Upload a file of requests; its id."""
        with open(path, "rb") as file:
            content = self._json(
                "POST", "/files", files={"file": (path.name, file, "application/jsonl")}, data={"purpose": "batch"}
            )
        return self._id(content)

    def create(self, file_id: str, url: str) -> str:
        """Have a batch made of an uploaded file; its id."""
        content = {"input_file_id": file_id, "endpoint": url, "completion_window": "24h"}
        return self._id(self._json("POST", "/batches", json=content))

    def batch(self, batch_id: str) -> dict[str, Any]:
        """What the server says of a batch."""
        return self._json("GET", f"/batches/{quote(batch_id, safe='')}")

    def batch_of(self, file_id: str) -> str | None:
        """The id of the batch that was made of a file; None where there is none."""
        parameters: dict[str, Any] = {"limit": PAGE}
        while True:
            content = self._json("GET", "/batches", params=parameters)
            listed = [one for one in content.get("data") or () if isinstance(one, dict)]
            for one in listed:
                if one.get("input_file_id") == file_id:
                    return self._id(one)
            if not listed or not content.get("has_more"):
                return None
            parameters["after"] = self._id(listed[-1])

    def lines(self, file_id: str) -> Iterator[bytes]:
        """The lines of a file that are not empty, without the key."""
        with self._call("GET", f"/files/{quote(file_id, safe='')}/content") as (response, key):
            rest = b""
            for part in response.iter_bytes():
                *lines, rest = (rest + part).split(b"\n")
                if len(rest) > LONGEST_BODY:
                    raise QrowdError(f"{self.server.endpoint}: a line of {file_id} is longer than 16 MiB")
                yield from (without_key(line.decode(errors="replace"), key).encode() for line in lines if line.strip())
            if rest.strip():
                yield without_key(rest.decode(errors="replace"), key).encode()

    def _json(self, method: str, path: str, **content: Any) -> dict[str, Any]:
        with self._call(method, path, **content) as (response, key):
            raw = without_key(response.read().decode(errors="replace"), key)
        try:
            value = json.loads(raw)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise QrowdError(f"{self.server.endpoint}{path}: the answer is no JSON object; is the URL right?")
        return value

    @contextmanager
    def _call(self, method: str, path: str, **content: Any) -> Iterator[tuple[httpx2.Response, str]]:
        """(a response that is not an error, the key)."""
        try:
            import httpx2
        except ModuleNotFoundError:
            raise missing_package() from None
        key, where = self.server.key(), f"{self.server.endpoint}{path}"
        try:
            with (
                httpx2.Client(timeout=self.timeout, follow_redirects=False) as client,
                client.stream(method, where, headers=authorization(key), **content) as response,
            ):
                if not 200 <= response.status_code < 300:
                    raise self._problem(where, response, key)
                yield response, key
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise Refusal(f"{type(error).__name__} at {where}; does the server run, and is the URL right?", 0) from None
        except httpx2.HTTPError as error:  # its text may hold headers, so only its name is kept
            raise QrowdError(f"{type(error).__name__} at {where}; run the same command again") from None

    def _problem(self, where: str, response: httpx2.Response, key: str) -> QrowdError:
        status = response.status_code
        words = read_body(without_key(response.read().decode(errors="replace"), key), status).error
        if status >= 500 or status in (408, 425) or status < 400:
            return QrowdError(f"{where}: {words}; run the same command again")
        hint = NEXT.get(status, "run the same command later" if status == 429 else "")
        if status == 401 and not key:
            hint = f"{self.server.key_from_environment} holds no key"
        return Refusal(f"{where}: {words}" + (f"; {hint}" if hint else ""), status)

    def _id(self, content: dict[str, Any]) -> str:
        value = content.get("id")
        if not isinstance(value, str) or not value:
            raise QrowdError(f"{self.server.endpoint}: the server gave no id")
        return value
