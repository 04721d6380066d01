"""A copy of a SQLite store while it is in use."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from qrowd_server.store.base import Store, StoreError, StoreFullError


def backup(store: Store, path: str | Path) -> None:
    """Copy a SQLite store into a new file, with everything acknowledged before; writing goes on meanwhile.

    The file appears whole or not at all, and holds nothing of what was deleted before.

    Raises
    ------
    StoreError
        There is such a file already; the store is in PostgreSQL, which has pg_dump for this.
    """
    target = Path(path).absolute()
    if store.dialect != "sqlite":
        raise StoreError(f"{store.url!r}: copy a PostgreSQL store with pg_dump")
    if target.exists():
        raise StoreError(f"{target}: is there already; name a new file")
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(str(store.url.database), isolation_level=None)) as connection:
            connection.execute("vacuum into ?", (str(unfinished),))
        with open(unfinished, "rb+") as file:
            os.fsync(file.fileno())
        os.link(unfinished, target)  # unlike a rename, never over another file
    except FileExistsError:
        raise StoreError(f"{target}: is there already; name a new file") from None
    except (OSError, sqlite3.Error) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise StoreFullError(f"{target}: {reason}; no copy was made") from error
    finally:
        unfinished.unlink(missing_ok=True)
