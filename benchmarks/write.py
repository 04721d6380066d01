"""Run the benchmarks one after the other and write what they measured to docs/benchmarks.csv.

python benchmarks/write.py [NAME ...]      all but `load` by default; with names (evaluate, ...) only theirs

The file is written anew after each, so that Ctrl-C loses only the one that is running. The exit status is 1 if a
promise was broken or a benchmark ended early.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from calibration import calibration
from side_by_side import FIGURES, Figure

HERE = Path(__file__).parent
TABLE = HERE.parent / "docs" / "benchmarks.csv"
LONG = ("load",)  # which has a target of its own
COLUMNS = ("benchmark", "what", "measured", "promised", "kept", "beside", "limited by", "machine")


def measured(script: Path, log: Path) -> tuple[list[Figure], int]:
    """The figures of one script and its exit status; its output is shown as it comes."""
    log.write_text("")
    status = subprocess.run(
        [sys.executable, str(script)], env={**os.environ, FIGURES: str(log)}, check=False
    ).returncode
    return [Figure(**json.loads(line)) for line in log.read_text().splitlines()], status


def row(name: str, figure: Figure, machine: str) -> list[str]:
    kept = "yes" if figure.kept else "no"
    return [name, figure.what, f"{figure.value:.3g}", figure.bound, kept, figure.beside, figure.limit, machine]


def read() -> list[list[str]]:
    """The rows that the table has, without its header."""
    if not TABLE.exists():
        return []
    with TABLE.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def write(rows: Sequence[Sequence[str]]) -> None:
    """Replace the table."""
    replacement = TABLE.with_suffix(".new")
    with replacement.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    replacement.replace(TABLE)


def main(names: Sequence[str]) -> int:
    scripts = {path.stem.removeprefix("bench_"): path for path in sorted(HERE.glob("bench_*.py"))}
    chosen = [name for name in scripts if (name in names if names else name not in LONG)]
    if not chosen:
        print(f"no such benchmark: {', '.join(names)}; there are {', '.join(scripts)}", file=sys.stderr)
        return 2
    rows, broken = read(), []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            machine = calibration().sentence()
            print(f"== {name}\n{machine}", flush=True)
            try:
                figures, status = measured(scripts[name], Path(folder) / "figures")
            except KeyboardInterrupt:
                print(f"\nstopped in {name}; {TABLE} has the benchmarks before it", file=sys.stderr)
                return 130
            broken += [name] if status else []
            if figures:
                rows = [line for line in rows if line[0] != name]
                rows += [row(name, figure, machine) for figure in figures]
            write(sorted((line for line in rows if line[0] in scripts), key=lambda line: line[0]))
    print(f"wrote {TABLE}" + (f"; promises not kept, or ended early: {', '.join(broken)}" if broken else ""))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
