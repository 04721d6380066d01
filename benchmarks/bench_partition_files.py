"""`qrowd.partition` of text files: rows a second in one process and in two, processor time and memory.

Generated: run files with 100 documents for each topic, and half as many files of judgments with 200 documents each.

python benchmarks/bench_partition_files.py [MILLIONS]    millions of rows of runs, and as many judgments; default: 5
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from bench_partitions import Memory
from side_by_side import finish, promise, seconds

import qrowd
from qrowd.executors import processes

N_SYSTEMS, DEPTH, POOL = 12, 100, 200


def write(folder: Path, millions: float) -> None:
    """TREC files of runs and judgments."""
    random = np.random.default_rng(1)
    n_topics = round(millions * 1e6 / N_SYSTEMS / DEPTH)
    for name in ("runs", "judges"):
        (folder / name).mkdir(parents=True)
    documents = [[f"msmarco_passage_{t % 70:02d}_{t * POOL + d:09d}" for d in range(POOL)] for t in range(n_topics)]
    for s in range(N_SYSTEMS):
        with (folder / "runs" / f"system-{s}.run").open("w") as file:
            for t, own in enumerate(documents):
                order = random.permutation(POOL)[:DEPTH]
                file.write("".join(f"topic-{t} Q0 {own[d]} {i + 1} {DEPTH - i}.5 tag\n" for i, d in enumerate(order)))
    for a in range(N_SYSTEMS // 2):
        with (folder / "judges" / f"assessor-{a}.qrels").open("w") as file:
            for t, own in enumerate(documents):
                grades = random.integers(0, 4, POOL)
                file.write("".join(f"topic-{t} 0 {one} {grade}\n" for one, grade in zip(own, grades, strict=True)))


def processor_seconds() -> float:
    """Of this process and of its children that have ended."""
    return sum(os.times()[:4])


def main() -> None:
    millions = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    rows = 2 * millions
    elapsed: dict[int, float] = {}
    used: dict[int, float] = {}
    memory: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as name:
        files = Path(name) / "files"
        write(files, millions)
        for n in (0, 1, 2):
            executor = processes(n) if n else None
            arguments = str(files / "runs"), str(files / "judges"), Path(name) / f"of-{n}"
            before = processor_seconds()
            with Memory() as watched:
                elapsed[n] = seconds(lambda a=arguments, e=executor: qrowd.partition(*a, executor=e))  # type: ignore[misc]
            used[n], memory[n] = processor_seconds() - before, watched.most
            print(
                f"{f'{n} processes' if n else 'no workers'}: {elapsed[n]:.1f} s, {rows / elapsed[n]:.2f} M rows/s, "
                f"{used[n]:.1f} s of processors, {memory[n] / 1e9:.2f} GB",
                flush=True,
            )
    promise(
        f"two processes beside one, {rows:g} M rows of text, times as fast",
        elapsed[1] / elapsed[2],
        at_least=1.7,
        beside=f"one {elapsed[1]:.3g} s, two {elapsed[2]:.3g} s",
    )
    promise(
        "processor time of two processes beside one",
        used[2] / used[1],
        at_most=1.15,
        beside=f"one {used[1]:.3g} s, two {used[2]:.3g} s",
    )


if __name__ == "__main__":
    main()
    finish()
