"""The command from start to end, on dl21, in processor time of its process: help, evaluate, compare, report.

Beside each stands what it is compared with, run in turn with it, so that a slow moment of the machine hits both.
"""

from __future__ import annotations

import compileall
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from side_by_side import data, finish, promise

import qrowd

dl21 = data("dl21")
MAIN = "from qrowd.cli.main import run; run()"
FILES = ("--runs", str(dl21 / "runs" / "*.gz"), "--judgments", str(dl21 / "judges" / "*.gz"))

# A user's Python keeps what it compiled.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def processor_seconds(code: str, *arguments: str, **environment: str) -> float:
    """User and system time of a Python of its own that runs the code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", code, *arguments]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(command, check=True, env={**ENVIRONMENT, **environment}, **quiet)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def beside(
    what: str, peer: str, ours: tuple[str, ...], theirs: tuple[str, ...], *, at_most: float, rounds: int = 7
) -> None:
    """The median ratio of the command to its peer. theirs : code, or MAIN with arguments."""
    pairs = [(processor_seconds(*theirs), processor_seconds(MAIN, *ours)) for _ in range(rounds)]
    medians = [statistics.median(times) for times in zip(*pairs, strict=True)]
    promise(
        f"{what}, times {peer}",
        statistics.median(own / other for other, own in pairs),
        at_most=at_most,
        beside=f"{peer} {medians[0]:.3f} s, qrowd {medians[1]:.3f} s of processor time",
        limit="instructions: imports, and the work itself",
    )


typer, frames = ("import typer",), ("import numpy, pandas",)
beside("qrowd --help", "import typer", ("--help",), typer, at_most=1.5)
beside("qrowd", "import typer", (), typer, at_most=1.6)
beside("qrowd evaluate --help", "import typer", ("evaluate", "--help"), typer, at_most=2)
promise("import qrowd, s", statistics.median(processor_seconds("import qrowd") for _ in range(5)), at_most=0.1)

with tempfile.TemporaryDirectory() as folder:
    page = str(Path(folder, "report.html"))
    # A new copy of the package, its modules compiled to bytecode as pip does when it installs; uv leaves that to the
    # first run.
    copy = Path(folder, "new", "qrowd")
    shutil.copytree(Path(qrowd.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    by_uv = processor_seconds(MAIN, "evaluate", *FILES, PYTHONPATH=str(copy.parent))
    shutil.copytree(copy, Path(folder, "pip", "qrowd"), ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(Path(folder, "pip"), quiet=1)
    first = processor_seconds(MAIN, "evaluate", *FILES, PYTHONPATH=str(Path(folder, "pip")))
    later = [processor_seconds(MAIN, "evaluate", *FILES, PYTHONPATH=str(Path(folder, "pip"))) for _ in range(5)]
    second = statistics.median(later)
    times = f"first {first:.2f} s (installed by uv {by_uv:.2f} s), later {second:.2f} s of processor time"
    promise("evaluate, the first time, times later", first / second, at_most=1.3, beside=times)
    beside("evaluate, 63 runs by 18 assessors", "import numpy, pandas", ("evaluate", *FILES), frames, at_most=2)
    evaluate, compare, report = (("evaluate", *FILES), ("compare", *FILES), ("report", *FILES, "-o", page))
    beside("compare", "qrowd evaluate", compare, (MAIN, *evaluate), at_most=3)
    beside("report", "qrowd compare", report, (MAIN, *compare), at_most=2, rounds=5)
finish()
