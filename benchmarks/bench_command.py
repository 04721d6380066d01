"""The command from start to end: help, import, the first evaluate with nothing compiled, and later ones, on dl21."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

from side_by_side import data, finish, promise, seconds

dl21 = data("dl21")
MAIN = "from qrowd.cli.main import run; run()"
EVALUATE = ["evaluate", "--runs", str(dl21 / "runs" / "*.gz"), "--judgments", str(dl21 / "judges" / "*.gz")]


def run(code: str, *arguments: str, cache: str | None = None) -> float:
    environment = {**os.environ, **({"NUMBA_CACHE_DIR": cache} if cache else {})}
    command = [sys.executable, "-c", code, *arguments]
    return seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment))


promise("qrowd --help, s", statistics.median(run(MAIN, "--help") for _ in range(5)), at_most=0.3)
promise("import qrowd, s", statistics.median(run("import qrowd") for _ in range(5)), at_most=0.2)
with tempfile.TemporaryDirectory() as cache:
    promise("first evaluate, nothing compiled, s", run(MAIN, *EVALUATE, cache=cache), at_most=6)
    later = [run(MAIN, *EVALUATE, cache=cache) for _ in range(5)]
promise("later evaluate of 63 runs by 18 assessors, s", statistics.median(later), at_most=1.5)
finish()
