"""Statistics from sums beside all scores in the client: its memory, and time, as topics grow ten times.

Generated: 20 systems with 10 documents for each topic, of which 5 assessors judged 40 each; nDCG@10. Another process
scores the parts, so that the memory of this one is that of the scores, or of the sums. Times are processor time of all.

python benchmarks/bench_score_sums.py [TOPICS]    default: 20,000
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import bench_partitions
from side_by_side import finish, promise

import qrowd
from qrowd.comparison import all_differences

bench_partitions.N_ASSESSORS, bench_partitions.DEPTH, bench_partitions.POOL = 5, 10, 40
bench_partitions.ROWS_OF_A_TOPIC = bench_partitions.N_SYSTEMS * bench_partitions.DEPTH
CASES: dict[str, Callable[..., Any]] = {
    "scores": lambda runs, judgments, pool: all_differences(qrowd.evaluate(runs, judgments, "nDCG@10", executor=pool)),
    "sums": lambda runs, judgments, pool: qrowd.score_sums(runs, judgments, "nDCG@10", executor=pool).all_differences(),
    "sums with 1,000 replicates": lambda runs, judgments, pool: qrowd.score_sums(
        runs, judgments, "nDCG@10", n_resamples=1000, rng=1, executor=pool
    ).all_differences(method="pigeonhole"),
}


def highest() -> float:
    """The most bytes that this process has had in memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def measured(case: str, folder: str, small: str) -> tuple[float, float]:
    """Processor seconds, and bytes by which the memory of a fresh process grew at most."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        opened = qrowd.open_partitioned(small)
        CASES[case](opened.runs, opened.judgments, pool)
        before, (*_, start) = highest(), bench_partitions.busy_seconds()
        opened = qrowd.open_partitioned(folder)
        CASES[case](opened.runs, opened.judgments, pool)
        *_, end = bench_partitions.busy_seconds()
        return end - start, highest() - before


def main() -> None:
    n_topics = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    rows = bench_partitions.ROWS_OF_A_TOPIC / 1e6
    table = {}
    with tempfile.TemporaryDirectory() as name:
        folders = {n: f"{name}/{n}" for n in (100, n_topics // 10, n_topics)}
        for n, folder in folders.items():
            bench_partitions.write(Path(folder), n * rows)
        for case in CASES:
            for n in (n_topics // 10, n_topics):
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
                    taken, memory = fresh.submit(measured, case, folders[n], folders[100]).result()
                table[case, n] = taken, memory
                print(f"{case}, {n:,} topics: {taken:.3g} s, {memory / 1e6:.0f} MB more than for 100 topics")
    scores, sums, replicates = (table[case, n_topics] for case in CASES)
    promise(
        f"memory of the client, sums beside scores, {n_topics:,} topics",
        sums[1] / scores[1],
        at_most=0.5,
        beside=f"{sums[1] / 1e6:.0f} and {scores[1] / 1e6:.0f} MB",
        limit="the names of the topics",
    )
    promise(
        f"processor seconds, sums beside scores, {n_topics:,} topics",
        sums[0] / scores[0],
        at_most=2,
        beside=f"{sums[0]:.3g} and {scores[0]:.3g} s; with 1,000 replicates {replicates[0]:.3g} s",
    )


if __name__ == "__main__":
    main()
    finish()
