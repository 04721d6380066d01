"""Use an installed qrowd without and with its extras: `python -P release/probe.py EXTRA ...`.

What needs an extra that is named must work; what needs another one must end with one line that names what to install.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

PANEL = ("--runs", "panel/runs", "--judgments", "panel/judges", "-m", "AP")
MODEL = ("--documents", "documents.csv", "--model", "https://api.openai.com/v1#none")
ALWAYS: tuple[tuple[str, ...], ...] = (
    ("demo",),
    ("simulate", "panel"),
    ("check", "panel/runs", "panel/judges"),
    ("evaluate", *PANEL, "-o", "scores.csv"),
    ("compare", *PANEL),
    ("agree", "--judgments", "panel/judges"),
    ("assessors", "--judgments", "panel/judges"),
    ("measures",),
)
#: What needs an extra, and the exit status with it: 2 where the names that follow are refused.
FEATURES: dict[str, tuple[tuple[str, ...], int]] = {
    "dask": (("evaluate", *PANEL, "--dask", "tcp://127.0.0.1:9"), 2),  # nobody answers
    "excel": (("evaluate", *PANEL, "-o", "scores.xlsx"), 0),
    "irds": (("evaluate", "--runs", "panel/runs", "--judgments", "irds:no-such-set"), 2),
    "judge": (("judge", "ask", "--runs", "panel/runs", "--depth", "1", "--topics", "topics.csv", *MODEL), 2),  # no key
    "plots": (("plot", "ranks", *PANEL, "-o", "ranks.svg"), 0),
    "report": (("report", *PANEL, "-o", "report.html"), 0),
    "tables": (("evaluate", *PANEL, "-o", "scores.parquet"), 0),
}


def outcome(words: Sequence[str]) -> tuple[int, str]:
    """Exit status and standard error of a command."""
    from qrowd.cli.main import run

    sys.argv = ["qrowd", *words]
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        try:
            run()
        except SystemExit as end:
            return int(end.code or 0), errors.getvalue()
    return 0, errors.getvalue()


def faults(extras: Sequence[str]) -> list[str]:
    """What differs from the promise, in the current folder; empty when it is kept."""
    wrong = []
    for words in ALWAYS:
        status, text = outcome(words)
        if status:
            wrong.append(f"qrowd {' '.join(words)}: exit status {status}: {text}")
    topic, _, document, *_ = Path("panel/runs/bm25.run").read_text(encoding="utf-8").split(maxsplit=3)
    Path("topics.csv").write_text(f"topic,text\n{topic},what it is\n", encoding="utf-8")
    Path("documents.csv").write_text(f"document,text\n{document},it is this\n", encoding="utf-8")
    working = {*extras, *(["report"] if "dask" in extras else [])}  # Jinja2 is in both
    for extra, (words, expected) in FEATURES.items():
        status, text = outcome(words)
        lines = text.strip().splitlines()
        if extra in working:
            kept = status == expected and "pip install" not in text
        else:
            kept = status == 2 and len(lines) == 1 and f"pip install 'qrowd[{extra}]'" in lines[0]
        if not kept:
            wrong.append(f"{extra}: qrowd {' '.join(words)}: exit status {status}: {text}")
    return wrong


if __name__ == "__main__":
    os.environ["COLUMNS"] = "200"
    os.environ.pop("OPENAI_API_KEY", None)
    extras = sys.argv[1:]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, contextlib.chdir(folder):
        wrong = faults(extras)
    print("\n".join(wrong) or f"works with: {', '.join(extras) or 'no extra'}")
    sys.exit(bool(wrong))
