"""A process that computes looks, so that the server's threads are free for answers.

It reads requests from its standard input, one JSON object a line, reads the store by itself, and writes one JSON
object a line. It ends with its input, also where the server was killed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from sqlalchemy import URL

from qrowd.collect.campaigns.drawn import LookOutcome
from qrowd.collect.store.base import StoreError

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # one each: the server needs the others
NICE = 10  # it gives way to the server


class LookProcess:
    """A process that looks at the questions of a store; started when it is first asked."""

    def __init__(self, url: URL) -> None:
        self._url = url.render_as_string(hide_password=False)
        self._process: subprocess.Popen[str] | None = None
        self._gate, self._over = threading.Lock(), False

    def look(self, campaign_id: int) -> LookOutcome | None:
        """A look now; None where the process was closed meanwhile.

        Raises
        ------
        StoreError
            The process ended, or could not read the store; the next request starts another one.
        """
        answer = self._ask({"what": "look", "campaign": campaign_id})
        if answer is None:
            return None
        sizes = None if answer["sizes"] is None else np.array(answer["sizes"], np.float64)
        return LookOutcome(
            answer["newest"], answer["seen"], answer["n_judged"], answer["sentence"], answer["table"], sizes
        )

    def expected(self, campaign_id: int) -> tuple[int, tuple[int, int, int]] | None:
        """Judged documents, and what is expected to go: low, median and high; None and errors as for `look`."""
        answer = self._ask({"what": "expected", "campaign": campaign_id})
        if answer is None:
            return None
        low, median, high = answer["to_go"]
        return answer["n_judged"], (low, median, high)

    def close(self) -> None:
        """End the process, whatever it does."""
        with self._gate:
            self._over = True
            self._end()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any] | None:
        with self._gate:
            if self._over:
                return None
            if self._process is None or self._process.poll() is not None:
                self._end()
                self._process = self._start()
            process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):
            line = ""
        if self._closed():
            return None
        if not line:
            raise StoreError("the process that looks at questions ended; the next answer starts another one")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise StoreError(answer["error"])
        return answer

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdout, process.stdin):
            if pipe is not None:
                with suppress(OSError):  # what could not be sent any more
                    pipe.close()
        process.wait()

    def _closed(self) -> bool:
        return self._over

    def _start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
        command = [sys.executable, "-c", "from qrowd.collect.campaigns.look_process import main; main()"]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environment,
            start_new_session=True,  # Ctrl-C is for the server, which ends this process
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps({"url": self._url}) + "\n")  # no argument: it may hold a password
        return process


def main() -> None:
    """Answer requests until the input ends."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    requests = map(json.loads, sys.stdin)
    url = next(requests, None)
    if url is None:
        return
    from qrowd.collect.campaigns.looking import Looker
    from qrowd.collect.store.engine import open_store

    looker = Looker()
    with open_store(url["url"], read_only=True) as store:
        for request in requests:
            try:
                answer = store.read(partial(_answer, looker, request))
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def _answer(looker: Any, request: dict[str, Any], connection: Any) -> dict[str, Any]:
    if request["what"] == "expected":
        n_judged, to_go = looker.expected(connection, request["campaign"])
        return {"n_judged": n_judged, "to_go": to_go}
    outcome = looker.outcome(connection, request["campaign"])
    sizes = None if outcome.sizes is None else outcome.sizes.tolist()
    return {**vars(outcome), "sizes": sizes}
