"""A PostgreSQL server of the tests' own, in a temporary folder, reached by a Unix socket only."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

USERS = ("postgres", "nobody")  # initdb refuses root, so then one of these


class PostgresServer:
    """A running cluster; `database()` makes an empty one in it."""

    def __init__(self, folder: Path, binaries: Path, *, fsync: bool, settings: dict[str, str] | None = None) -> None:
        self.folder, self.binaries, self.data = folder, binaries, folder / "data"
        self.settings = {"fsync": "on" if fsync else "off", "listen_addresses": "", "max_connections": "120"}
        self.settings |= settings or {}
        self.who: dict[str, Any] = {}
        if (user := _unprivileged()) is not None:
            shutil.chown(folder, user)
            self.who = {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}
        self._run("initdb", "-D", str(self.data), "-U", "qrowd", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.start()

    def start(self) -> None:
        options = " ".join(f"-c {name}={value!r}" for name, value in self.settings.items())
        options += f" -c unix_socket_directories='{self.folder}'"
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.data), "-w", "-t", "60", "-l", log, "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", str(self.data), "-w", "-m", mode, "stop", check=False)

    def kill(self) -> None:
        """SIGKILL for the server; its children notice and end."""
        os.kill(int((self.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://qrowd@/{database}?host={self.folder}"

    def database(self, options: str = "") -> str:
        """The address of a new, empty database. options : of `create database`."""
        import psycopg

        name = f"t{uuid4().hex[:16]}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"create database {name} template template0 {options}")
        return self.url(name)

    def drop(self, url: str) -> None:
        import psycopg

        name = url.split("@/")[-1].split("?")[0]
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"drop database {name} with (force)")

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        command = [str(self.binaries / program), *arguments]
        # Its output goes into a file: the server would keep a pipe open for ever.
        with tempfile.TemporaryFile() as output:
            streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
            done = subprocess.run(command, cwd=self.folder, check=False, **streams, **self.who)
            output.seek(0)
            if check and done.returncode:
                raise RuntimeError(f"{' '.join(command)}: {output.read().decode(errors='replace')}")


@contextmanager
def postgres_server(*, fsync: bool = False, settings: dict[str, str] | None = None) -> Iterator[PostgresServer]:
    """A server for as long as the block runs. Skips the test where PostgreSQL is not installed; in CI it fails."""
    binaries = find_binaries()
    if binaries is None:
        why = "needs PostgreSQL's initdb and pg_ctl, on PATH or in /usr/lib/postgresql/*/bin"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(why)
    folder = Path(tempfile.mkdtemp(prefix="qpg", dir="/tmp"))  # short: a socket's path has 107 bytes at most
    server = None
    try:
        server = PostgresServer(folder, binaries, fsync=fsync, settings=settings)
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def find_binaries() -> Path | None:
    """The folder with initdb and pg_ctl; the newest version, where there are several."""
    if (found := shutil.which("initdb")) and shutil.which("pg_ctl"):
        return Path(found).parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: _number(folder.parent.name))
    return next((folder for folder in reversed(folders) if (folder / "initdb").exists()), None)


def _number(name: str) -> float:
    try:
        return float(name)
    except ValueError:
        return -1


def _unprivileged() -> str | None:
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(user for user in USERS if user in known)
