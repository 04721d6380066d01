"""Reading the 63 gzip runs and the NIST qrels of dl21 beside pytrec_eval's readers; `qrowd check`; memory."""

from __future__ import annotations

import gzip
import subprocess
import sys
from importlib.util import find_spec

import pytrec_eval
from side_by_side import cpu_seconds, data, finish, median_ratio, promise

import qrowd
from qrowd.files import read_bytes
from qrowd.reports.inspection import Settings, inspect

dl21 = data("dl21")
paths = sorted((dl21 / "runs").glob("*.gz"))
qrels = dl21 / "qrels.nist.txt"


def theirs() -> None:
    for path in paths:
        with gzip.open(path, "rt") as file:
            pytrec_eval.parse_run(file)
    with qrels.open() as file:
        pytrec_eval.parse_qrel(file)


def ours() -> None:
    qrowd.read_runs(paths)
    qrowd.read_judgments(qrels)


def check() -> None:
    inspection = inspect([*map(str, paths), str(qrels)], Settings())
    list(inspection.contents())
    inspection.remarks()


# One process for each reading, since memory that was used once stays with its process. The first read loads kernels.
MEMORY = """
import gc, sys
from pathlib import Path
import qrowd

def status(name):
    line = next(line for line in open("/proc/self/status") if line.startswith(name))
    return int(line.split()[1]) * 1024

paths = sorted(Path(sys.argv[1]).glob("*"))
qrowd.read_runs(paths[:2])
gc.collect()
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
runs = qrowd.read_runs(paths)
labels = sum(sys.getsizeof(label) + 8 for label in runs.documents)
columns = (runs.system, runs.topic, runs.document, runs.score, runs.rank)
print(len(runs), sum(column.nbytes for column in columns), status("VmHWM") - before - labels)
"""

unpacking = median_ratio(ours, lambda: [read_bytes(path) for path in paths], clock=cpu_seconds)[2]
unpacker = "zlib-ng" if find_spec("zlib_ng") else "zlib"
limit = (
    f"unpacking with {unpacker}: {100 / unpacking:.0f} % of the processor time; then memory, where words are looked up"
)
peer, own, ratio = median_ratio(theirs, ours, clock=cpu_seconds)
beside = f"processor time {peer:.3f} s and {own:.3f} s, {ratio:.1f} times less"
peer, own, ratio = median_ratio(theirs, ours)
beside = f"pytrec_eval {peer:.3f} s, qrowd {own:.3f} s; {beside}"
promise("reading, times as fast as pytrec_eval", ratio, at_least=6, beside=beside, limit=limit)
checked, own, ratio = median_ratio(check, ours, clock=cpu_seconds)
beside = f"check {checked:.3f} s, reading {own:.3f} s"
promise("qrowd check, processor time in those of reading", ratio, at_most=1.3, beside=beside)
if sys.platform == "linux":
    command = [sys.executable, "-c", MEMORY, str(data("dl19") / "runs")]
    rows, size, peak = map(int, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    beside = f"{peak / rows:.0f} at the peak of reading {rows:,} rows, beyond labels"
    promise("bytes of a run row", size / rows, at_most=40, beside=beside)
finish()
