"""A million judgments: how fast they are written out, in how much memory, and how soon a server with them is ready.

python bench_export.py [JUDGMENTS]

The peer is Python's sqlite3 and csv modules: the rows of one table as they are stored, without joins and names.
"""

from __future__ import annotations

import csv
import hashlib
import io
import multiprocessing
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import pyarrow.parquet  # noqa: F401 - what a cache takes when it is loaded is not what an export takes
from side_by_side import finish, promise, seconds
from soak.store import judged, memory
from sqlalchemy import update

from qrowd_server.campaigns.results.exports import export_rows
from qrowd_server.store import schema
from qrowd_server.store.engine import open_store
from webserver import ServerProcess

WRITERS = {
    "jsonl": "instructions: json encodes each row",
    "csv": "instructions: a row of Python for each judgment",
    "qrels": "instructions: a row of Python for each judgment, each label is checked",
    "parquet": "instructions: rows of Python become columns",
}


def written(url: str, form: str) -> tuple[float, float, str]:
    """Seconds, megabytes more than before, and a digest of the bytes."""
    with open_store(url, read_only=True) as store:
        before, start, digest = memory(), time.perf_counter(), hashlib.sha256()
        for piece in store.stream(lambda connection: export_rows(connection, "c", "judgments", form)):
            digest.update(piece)
        return time.perf_counter() - start, memory() - before, digest.hexdigest()


def peer(path: Path) -> None:
    """The table of judgments by sqlite3 and csv, a thousand rows at a time."""
    connection = sqlite3.connect(path)
    rows, digest = connection.execute("SELECT * FROM judgment ORDER BY assignment_id, position"), hashlib.sha256()
    while piece := list(islice(rows, 1000)):
        text = io.StringIO(newline="")
        csv.writer(text).writerows(piece)
        digest.update(text.getvalue().encode())
    connection.close()


n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "judgments.db")
    url = f"sqlite:///{path}"
    with ServerProcess(url, log=Path(folder) / "log", fresh=True):
        pass  # makes the tables

    def fill() -> None:
        with open_store(url) as store:
            store.write(lambda connection: judged(connection, n))
            arms = {"arms": [{"name": "", "protocol": "magnitude"}]}
            store.write(lambda connection: connection.execute(update(schema.campaign).values(settings=arms)))

    filling = multiprocessing.get_context("fork").Process(target=fill)  # its memory is not ours
    filling.start()
    filling.join()
    size = path.stat().st_size / 2**20
    print(f"{n} judgments, {size:.0f} MB")
    theirs = n / seconds(lambda: peer(path))
    for form, limit in WRITERS.items():
        took, extra, digest = written(url, form)
        beside = f"sqlite3 and csv, the bare table {theirs:,.0f} rows a second"
        promise(f"{form}: rows per second", n / took, at_least=50_000, beside=beside, limit=limit)
        promise(
            f"{form}: megabytes more than before",
            extra,
            at_most=64,
            beside=f"the database has {size:.0f} MB",
            limit="bytes: 1,000 rows at a time, 50,000 in a group of Parquet",
        )
        promise(
            f"{form}: differs when repeated",
            float(written(url, form)[2] != digest),
            at_most=0,
            beside="the first export",
            limit="equal bytes for equal data",
        )
    bare = seconds(lambda: subprocess.run([sys.executable, "-c", "import starlette, sqlalchemy, uvicorn"], check=True))
    with ServerProcess(url, log=Path(folder) / "log", fresh=True) as server:
        for how, by in (("asked to end", signal.SIGTERM), ("killed", signal.SIGKILL)):
            server.kill(how=by)
            start = time.perf_counter()
            server.start()
            server.wait_ready()
            promise(
                f"seconds until ready after being {how}",
                time.perf_counter() - start,
                at_most=3,
                beside=f"import starlette, sqlalchemy, uvicorn {bare:.2f} s",
                limit="instructions: imports; the log of writes is replayed by SQLite",
            )
        print(f"memory of the server: {server.memory():.0f} MB")
finish()
