"""One writer for each SQLite file: whoever holds its lock."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import BinaryIO

from qrowd_server.store.base import StoreError


def hold(path: Path) -> BinaryIO:
    """Hold the lock of a database until the file returned is closed; the system lets go of it when its holder dies.

    It is on a file of its own, since closing a second descriptor of the database would drop SQLite's own locks on it.

    Raises
    ------
    StoreError
        Somebody else holds it.
    """
    file = open(path.with_name(path.name + ".lock"), "a+b")  # noqa: SIM115 - it stays open
    try:
        _lock(file)
    except OSError:
        file.close()
        raise StoreError(
            f"{path}: another qrowd serves this file; stop the server with Ctrl-C, run this command again, then start "
            "it again; assessors' answers are kept on their pages meanwhile"
        ) from None
    os.set_inheritable(file.fileno(), False)
    return file


if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
