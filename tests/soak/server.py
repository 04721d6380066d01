"""Server processes that can be killed and are back at once.

One process loads the program and serves nothing; each server is its child. So a restart costs no imports, and a hundred
of them fit into a test. `Servers(..., fresh=True)` starts each by a command of its own instead, as a user does.

python server.py load                   reads lines `SERVING AS JSON` or `wait PID`, prints numbers of processes
python server.py serve SERVING          serves until it is killed
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from qrowd.collect.web.serving import Serving, serve

HOST = "127.0.0.1"
READY = 30.0  # seconds


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        port: int = listener.getsockname()[1]
        return port


class Servers:
    """Some server processes over one store, each at its own port for as long as this lives.

    per_minute : judgments of one assessor. log : where the servers' words go.
    """

    def __init__(self, database: str, n: int = 1, *, log: Path, per_minute: int = 10**6, fresh: bool = False) -> None:
        self.addresses = [(HOST, free_port()) for _ in range(n)]
        self._told = [
            asdict(
                Serving(database, HOST, port, f"http://{HOST}:{port}", per_minute=per_minute, secret="%064x" % (7**70))
            )
            for _, port in self.addresses
        ]
        self._log = log.open("ab")
        self._loader: subprocess.Popen[bytes] | None = None
        if not fresh:
            self._loader = self._popen("load", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._children: list[subprocess.Popen[bytes] | None] = [None] * n
        self.pids = [0] * n
        self.kills = 0

    def _popen(self, *arguments: str, **streams: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, __file__, *arguments]
        return subprocess.Popen(command, stderr=self._log, **streams)  # type: ignore[call-overload, no-any-return]

    def start(self, which: int = 0) -> None:
        """Start one; it may take a while until it answers."""
        told = json.dumps(self._told[which])
        if self._loader is None:
            child = self._children[which] = self._popen("serve", told)
            self.pids[which] = child.pid
        else:
            self.pids[which] = self._ask(told)

    def _ask(self, line: str) -> int:
        assert self._loader is not None
        assert self._loader.stdin is not None
        assert self._loader.stdout is not None
        self._loader.stdin.write(line.encode() + b"\n")
        self._loader.stdin.flush()
        return int(self._loader.stdout.readline())

    def kill(self, which: int = 0, how: signal.Signals = signal.SIGKILL) -> None:
        """End one, and wait until it is gone."""
        os.kill(self.pids[which], how)
        self.kills += how == signal.SIGKILL
        if self._loader is None:
            child = self._children[which]
            assert child is not None
            child.wait(READY)
        else:
            self._ask(f"wait {self.pids[which]}")
        self.pids[which] = 0

    def wait_ready(self, which: int = 0) -> float:
        """Seconds until the server says that it is well."""
        start = time.perf_counter()
        while time.perf_counter() < start + READY:
            with contextlib.suppress(URLError, OSError), urlopen(self.url(which) + "/health", timeout=READY) as answer:
                if answer.status == 200:
                    return time.perf_counter() - start
            if "Z" in Path(f"/proc/{self.pids[which]}/stat").read_text().rpartition(")")[2]:
                raise RuntimeError(f"the server ended: {Path(self._log.name).read_text()[-2000:]}")
            time.sleep(0.01)
        raise TimeoutError(f"no answer from {self.url(which)} for {READY:.0f} seconds; see {self._log.name}")

    def url(self, which: int = 0) -> str:
        return "http://{}:{}".format(*self.addresses[which])

    def cpu(self, which: int = 0) -> float:
        """Seconds of processor time that a server has used."""
        fields = Path(f"/proc/{self.pids[which]}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self, which: int = 0) -> float:
        """Megabytes a server has in memory."""
        return int(Path(f"/proc/{self.pids[which]}/statm").read_text().split()[1]) * resource.getpagesize() / 2**20

    def __enter__(self) -> Servers:
        for which in range(len(self.addresses)):
            self.start(which)
        for which in range(len(self.addresses)):
            self.wait_ready(which)
        return self

    def __exit__(self, *_: object) -> None:
        for which, pid in enumerate(self.pids):
            if pid:
                self.kill(which)
        if self._loader is not None:
            self._loader.communicate(timeout=READY)
        self._log.close()


# ---- inside the processes


def run(told: str) -> None:
    serving = Serving(**{name: tuple(v) if isinstance(v, list) else v for name, v in json.loads(told).items()})
    serve(serving, serving.open())


def load() -> None:
    """Have everything ready; then a child for every line."""

    while line := sys.stdin.readline():
        if line.startswith("wait "):
            pid, _ = os.waitpid(int(line.split()[1]), 0)
        elif (pid := os.fork()) == 0:
            os.close(0)
            os.dup2(2, 1)
            run(line)
            os._exit(0)
        os.write(1, f"{pid}\n".encode())


if __name__ == "__main__":
    load() if sys.argv[1] == "load" else run(sys.argv[2])
