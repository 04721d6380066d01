"""Run the benchmarks one after the other and write what they measured to docs/benchmarks.md.

python benchmarks/write.py [NAME ...]      all but `load` by default; with names (evaluate, ...) only theirs

The page is written anew after each, so that Ctrl-C loses only the one that is running. The exit status is 1 if a
promise was broken or a benchmark ended early.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from calibration import calibration
from side_by_side import BROKEN, FIGURES, Figure

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
LONG = ("load",)  # which has a target of its own
INTRODUCTION = """# Benchmarks

Written by `make bench`; the section of `make load`, which takes longer, by that. A figure is a ratio
to a peer in the same run, or stands beside one: machines differ fourfold in speed, so compare seconds only with the two
calibration figures of the same section."""


def measured(script: Path, log: Path) -> tuple[list[Figure], int]:
    """The figures of one script and its exit status; its output is shown as it comes."""
    log.write_text("")
    status = subprocess.run(
        [sys.executable, str(script)], env={**os.environ, FIGURES: str(log)}, check=False
    ).returncode
    return [Figure(**json.loads(line)) for line in log.read_text().splitlines()], status


def table(figures: Sequence[Figure]) -> str:
    rows = ["| what | measured | promised | beside | limited by |", "| --- | --- | --- | --- | --- |"]
    for one in figures:
        mark = "" if one.kept else " **not kept**"
        rows.append(f"| {one.what} | {one.value:.3g} | {one.bound}{mark} | {one.beside} | {one.limit} |")
    return "\n".join(rows)


def sections() -> dict[str, str]:
    """The sections that the page has, by title."""
    if not PAGE.exists():
        return {}
    parts = PAGE.read_text().split("\n## ")[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2].strip() for part in parts}


def title(script: Path) -> str:
    """The first sentence of what the script says about itself."""
    return script.read_text().split('"""')[1].strip().splitlines()[0].rstrip(".")


def section(script: Path, log: Path) -> tuple[str, int]:
    """The text of one benchmark, empty where it measured nothing, and its exit status."""
    machine = calibration().sentence()
    print(f"== {script.name}\n{machine}", flush=True)
    started = time.perf_counter()
    figures, status = measured(script, log)
    took = f"The benchmark took {time.perf_counter() - started:.0f} s."
    print(took, flush=True)
    end = "" if status in (0, BROKEN) else f"\n\n**It ended early** (exit status {status})."
    return (f"{machine} {took}\n\n{table(figures)}{end}" if figures else ""), status


def write(texts: dict[str, str], titles: Sequence[str]) -> None:
    """Replace the page by one with these sections, those without a benchmark left out."""
    ordered = [f"## {one}\n\n{texts[one]}" for one in titles if one in texts]
    made = PAGE.with_suffix(".new")
    made.write_text("\n\n".join([INTRODUCTION, *ordered]) + "\n")
    made.replace(PAGE)


def main(names: Sequence[str]) -> int:
    scripts = sorted(HERE.glob("bench_*.py"))
    named = {one.stem.removeprefix("bench_"): one for one in scripts}
    chosen = [one for name, one in named.items() if (name in names if names else name not in LONG)]
    if not chosen:
        print(f"no such benchmark: {', '.join(names)}; there are {', '.join(named)}", file=sys.stderr)
        return 2
    texts, broken = sections(), []
    with tempfile.TemporaryDirectory() as folder:
        for script in chosen:
            try:
                text, status = section(script, Path(folder) / "figures")
            except KeyboardInterrupt:
                print(f"\nstopped in {script.name}; {PAGE} has the benchmarks before it", file=sys.stderr)
                return 130
            broken += [script.name] if status else []
            if text:
                texts[title(script)] = text
            write(texts, [title(one) for one in scripts])
    print(f"wrote {PAGE}" + (f"; promises not kept, or ended early: {', '.join(broken)}" if broken else ""))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
