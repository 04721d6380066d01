"""A million judgments: how fast they are written out, in how much memory, and how soon a server with them is ready.

python bench_export.py [JUDGMENTS]
"""

from __future__ import annotations

import hashlib
import multiprocessing
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import pyarrow.parquet  # noqa: F401 - what a cache takes when it is loaded is not what an export takes
from side_by_side import finish, promise

from qrowd.collect.campaigns.exports import export_rows
from qrowd.collect.store.engine import open_store
from soak.store import judged, memory
from webserver import Servers


def written(url: str, form: str) -> tuple[float, float, str]:
    """Seconds, megabytes more than before, and what the bytes were."""
    with open_store(url, read_only=True) as store:
        before, start, seen = memory(), time.perf_counter(), hashlib.sha256()
        for piece in store.stream(lambda connection: export_rows(connection, "c", "judgments", form)):
            seen.update(piece)
        return time.perf_counter() - start, memory() - before, seen.hexdigest()


n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
with tempfile.TemporaryDirectory() as folder:
    url = f"sqlite:///{folder}/judgments.db"
    with Servers(url, log=Path(folder) / "log", fresh=True):
        pass  # makes the tables

    def fill() -> None:
        with open_store(url) as store:
            store.write(lambda connection: judged(connection, n))

    filling = multiprocessing.get_context("fork").Process(target=fill)  # its memory is not ours
    filling.start()
    filling.join()
    size = Path(folder, "judgments.db").stat().st_size / 2**20
    print(f"{n} judgments, {size:.0f} MB")
    for form in ("jsonl", "csv", "qrels", "parquet"):
        seconds, extra, digest = written(url, form)
        promise(f"{form}: rows per second", n / seconds, at_least=50_000)
        promise(f"{form}: megabytes more than before", extra, at_most=64)
        promise(f"{form}: differs when repeated", float(written(url, form)[2] != digest), at_most=0)
    with Servers(url, log=Path(folder) / "log", fresh=True) as servers:
        for how, by in (("asked to end", signal.SIGTERM), ("killed", signal.SIGKILL)):
            servers.kill(how=by)
            start = time.perf_counter()
            servers.start()
            servers.wait_ready()
            promise(f"seconds until ready after being {how}", time.perf_counter() - start, at_most=3)
        print(f"memory of the server: {servers.memory():.0f} MB")
finish()
