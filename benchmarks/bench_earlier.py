"""Import, small evaluations and the command by this version, beside another version of the source code.

Each round starts a Python for either version and one more for this version, in an order that is drawn. The second of
this version beside its first shows how much the machine alone varies. All times are processor times.

python benchmarks/bench_earlier.py FOLDER [ROUNDS]    FOLDER: src of another version, with its kernels; default: 60

The folder, for a version whose kernels (packages/qrowd/src/qrowd/kernels) are those of this one:

    git worktree add --detach ../earlier COMMIT
    cp -r packages/qrowd/src/qrowd/kernels/native ../earlier/src/qrowd/kernels/
    python benchmarks/bench_earlier.py ../earlier/src
"""

from __future__ import annotations

import compileall
import json
import math
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from side_by_side import finish, promise

import qrowd

WORK = """
import json, resource, sys, time
start = time.process_time()
import qrowd
figures = {"import qrowd, ms": (time.process_time() - start) * 1e3}
figures["import qrowd, modules"] = len(sys.modules)
from qrowd.simulation import simulate_demo
runs, judgments, truth = simulate_demo()

def evaluate():
    start = time.process_time()
    scores = qrowd.evaluate(runs, judgments, ["nDCG@10", "AP"])
    taken.append((time.process_time() - start) * 1e3)
    return scores

taken = []
scores = evaluate()
figures["first evaluate with its imports, ms"] = taken[0]
figures["first evaluate, modules"] = len(sys.modules)
taken.clear()
for _ in range(30):
    evaluate()
figures["later evaluate, ms"] = sorted(taken)[len(taken) // 2]
usage = resource.getrusage(resource.RUSAGE_SELF)
figures["the whole process, ms"] = (usage.ru_utime + usage.ru_stime) * 1e3
print(json.dumps({"file": qrowd.__file__, "scores": scores.values.tobytes().hex(), "figures": figures}))
"""
COMMAND = "from qrowd.cli.main import run; run()"
FILES = ("--runs", "panel/runs", "--judgments", "panel/judges")
BOUNDS = {"first evaluate with its imports, ms": 1.2}  # its modules are in more files than they were
Figures = dict[str, float]


def output(folder: Path, panel: Path, *arguments: str) -> bytes:
    """What a Python of its own prints that imports qrowd from a folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command, environment["PYTHONPATH"] = [sys.executable, "-c", *arguments], str(folder)
    return subprocess.run(command, env=environment, cwd=panel, check=True, capture_output=True).stdout


def figures_of(folder: Path, panel: Path, scores: set[str]) -> Figures:
    """The figures of one version, from two processes; its scores are added."""
    printed = json.loads(output(folder, panel, WORK))
    if not Path(printed["file"]).is_relative_to(folder):
        raise SystemExit(f"{folder}: qrowd was imported from {printed['file']} instead; give the folder src")
    scores.add(printed["scores"])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output(folder, panel, COMMAND, "evaluate", *FILES)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {**printed["figures"], "qrowd evaluate, 12 systems and 8 assessors, ms": taken * 1e3}


def median_interval(values: list[float]) -> tuple[float, float, float]:
    """The median and its 95 % interval by order statistics: no assumption on the distribution."""
    ordered, n = sorted(values), len(values)
    tail, rank = 0.0, 0
    while tail + math.comb(n, rank) / 2**n <= 0.025:
        tail += math.comb(n, rank) / 2**n
        rank += 1
    rank = max(rank, 1)
    return statistics.median(ordered), ordered[rank - 1], ordered[n - rank]


def main() -> None:
    if len(sys.argv) < 2:
        print("skipped: give the folder src of another version, with its kernels; see the top of this file")
        raise SystemExit(0)
    other, own = Path(sys.argv[1]).resolve(), Path(qrowd.__file__).resolve().parents[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    folders = {"other": other, "this": own, "again": own}
    for folder in (other, own):
        compileall.compile_dir(folder, quiet=1)
    scores: set[str] = set()
    series: dict[str, list[Figures]] = {name: [] for name in folders}
    with tempfile.TemporaryDirectory() as name:
        output(own, Path(name), COMMAND, "simulate", "panel")
        for number in range(rounds + 1):
            for which in random.Random(number).sample(list(folders), len(folders)):
                figures = figures_of(folders[which], Path(name), scores)
                if number:  # the first round reads files from the disk
                    series[which].append(figures)
            if sys.stderr.isatty():
                print(f"\r{number} of {rounds} rounds", end="", file=sys.stderr, flush=True)
    print(f"{rounds} rounds; scores {'the same to the bit' if len(scores) == 1 else 'DIFFER'}")
    for what in series["this"][0]:
        values = {name: [one[what] for one in series[name]] for name in folders}
        medians = {name: statistics.median(values[name]) for name in folders}
        if what.endswith("modules"):
            promise(
                what, medians["this"], at_most=medians["other"] + 8, beside=f"the other version {medians['other']:g}"
            )
            continue
        ratio, low, high = median_interval([a / b for a, b in zip(values["this"], values["other"], strict=True)])
        _, least, most = median_interval([a / b for a, b in zip(values["again"], values["this"], strict=True)])
        promise(
            f"{what}: ratio to the other version",
            ratio,
            at_most=BOUNDS.get(what, 1.1),
            beside=f"interval {low:.3f} to {high:.3f}; {medians['other']:.3g} and {medians['this']:.3g}; "
            f"this version beside itself {least:.3f} to {most:.3f}",
        )


if __name__ == "__main__":
    main()
    finish()
