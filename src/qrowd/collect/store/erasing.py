"""Erasing what was deleted from the files of a SQLite store, while nobody writes and others read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TRIES = 3  # to empty the write-ahead log; each waits for readers
NEEDED = ("PATH", "PYTHONPATH", "SYSTEMROOT", "LD_LIBRARY_PATH")  # of the environment, which also holds secrets


def erase(driver: Any, path: Path) -> bool:
    """Leave nothing of deleted rows in the file and its log; whether the log, too, holds nothing of them.

    driver : a new connection in no transaction, which has no page of the file in memory.

    The log is emptied into the file; then the unused space of the file is zeroed by a process of its own. Whoever reads
    for long keeps the log: then, and where the file has a layout that is not known, the file is written anew.
    """
    if not (_empty_log(driver) and _scrub(driver, path)):
        driver.execute("vacuum")
    return _empty_log(driver)


def _empty_log(driver: Any) -> bool:
    for _ in range(TRIES):
        busy, _, _ = driver.execute("pragma wal_checkpoint(truncate)").fetchone()
        if not busy:
            return True
    return False


def _scrub(driver: Any, path: Path) -> bool:
    """Zero unused space, as long as others cannot write; whether that was done."""
    driver.execute("begin immediate")
    try:
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:  # somebody wrote since it was emptied
            return False
        environment = {name: os.environ[name] for name in NEEDED if name in os.environ}
        command = [sys.executable, "-P", "-m", "qrowd.collect.store.scrubbing", str(path)]
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.run(command, env=environment, check=False, **streams).returncode == 0
    finally:
        # A commit, so that every connection forgets the pages it has in memory, whose unused space is as it was.
        (version,) = driver.execute("pragma user_version").fetchone()
        driver.execute(f"pragma user_version = {version}")
        driver.execute("commit")
