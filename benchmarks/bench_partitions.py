"""Partitioned collections: rows a second in one process and in two, memory, and growth with the number of rows.

Generated: 20 systems with 100 documents for each topic, of which 10 assessors judged 200 each; nDCG@10 and AP.

python benchmarks/bench_partitions.py [MILLIONS]    millions of run rows, and as many judgments; default: 10
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from side_by_side import finish, promise, seconds

import qrowd
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.partitions import PartitionWriter

N_SYSTEMS, DEPTH, N_ASSESSORS, POOL = 20, 100, 10, 200
ROWS_OF_A_TOPIC = N_SYSTEMS * DEPTH  # and as many judgments
TOPICS_AT_ONCE = 500
ROWS_OF_A_PART = 800_000
MEASURES = ["nDCG@10", "AP"]


def write(folder: Path, millions: float, n_parts: int | None = None) -> qrowd.partitions.PartitionedCollection:
    """Generate a partitioned collection, some topics at a time."""
    random = np.random.default_rng(1)
    n_topics = round(millions * 1e6 / ROWS_OF_A_TOPIC)
    systems = tuple(f"system-{s + 1}" for s in range(N_SYSTEMS))
    assessors = tuple(f"assessor-{a + 1}" for a in range(N_ASSESSORS))
    scales = (Scale("graded", 3.0),) * N_ASSESSORS
    with PartitionWriter(folder, n_parts=n_parts or max(8, round(millions * 1e6 / ROWS_OF_A_PART))) as writer:
        for first in range(0, n_topics, TOPICS_AT_ONCE):
            n = min(TOPICS_AT_ONCE, n_topics - first)
            topics = tuple(f"topic-{first + t}" for t in range(n))
            documents = tuple(f"{topic}-{d:03d}" for topic in topics for d in range(POOL))
            order = random.random((n, N_SYSTEMS, POOL)).argsort(axis=2)[..., :DEPTH]
            topic, system, _ = (index.ravel().astype(np.int32) for index in np.indices(order.shape))
            document = (order.ravel() + topic * POOL).astype(np.int32)
            score = np.tile(np.arange(DEPTH, 0, -1.0), n * N_SYSTEMS)
            writer.add_runs(Runs(systems, topics, documents, system, topic, document, score))
            truth = random.choice(4, (n, 1, POOL), p=[0.7, 0.15, 0.1, 0.05])
            grade = np.clip(truth + random.choice([-1, 0, 0, 0, 1], (n, N_ASSESSORS, POOL)), 0, 3).astype(np.float64)
            topic, assessor, place = (index.ravel().astype(np.int32) for index in np.indices(grade.shape))
            document = (place + topic * POOL).astype(np.int32)
            writer.add_judgments(
                Judgments(topics, documents, assessors, topic, document, assessor, grade.ravel(), scales)
            )
        return writer.finish()


class Memory:
    """The most memory that this process and its children took together, each page counted once."""

    def __enter__(self) -> Memory:
        self.most, self._over = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.2):
            self.most = max(self.most, sum(map(proportional, [os.getpid(), *children(os.getpid())])))


def children(process: int) -> list[int]:
    """The children of a process, and theirs."""
    try:
        own = [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []
    return own + [other for one in own for other in children(one)]


def proportional(process: int) -> float:
    """Bytes of a process, of which shared pages count in parts."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


@dataclass(frozen=True)
class Evaluation:
    """What one evaluation took. processor_seconds : of all processes. others : processors that other programs used."""

    seconds: float
    processor_seconds: float
    bytes: float
    others: float
    scores: qrowd.Scores


def evaluated(folder: Path, small: Path, n_processes: int) -> Evaluation:
    """An evaluation by processes that have scored a small collection before."""
    with ProcessPoolExecutor(n_processes, mp_context=get_context("spawn")) as pool, Memory() as memory:
        first, opened = qrowd.open_partitioned(small), qrowd.open_partitioned(folder)
        for _ in range(2):
            qrowd.evaluate(first.runs, first.judgments, MEASURES, executor=pool)
        before = busy_seconds()
        scores = qrowd.evaluate(opened.runs, opened.judgments, MEASURES, executor=pool)
        passed, all_programs, own = (after - earlier for after, earlier in zip(busy_seconds(), before, strict=True))
    return Evaluation(passed, own, memory.most, max((all_programs - own) / passed, 0.0), scores)


def busy_seconds() -> tuple[float, float, float]:
    """The time, the processor time of all programs, and that of this process with its children."""
    tick = os.sysconf("SC_CLK_TCK")
    user, nice, system, _, _, interrupts, soft, stolen = map(int, Path("/proc/stat").read_text().split()[1:9])
    own = 0
    for process in (os.getpid(), *children(os.getpid())):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        own += int(fields[11]) + int(fields[12])
    return time.perf_counter(), (user + nice + system + interrupts + soft + stolen) / tick, own / tick


def main() -> None:
    millions = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    with tempfile.TemporaryDirectory() as name:
        small, tenth, whole = Path(name) / "small", Path(name) / "tenth", Path(name) / "whole"
        write(small, 0.1)
        n_parts = max(80, round(millions * 1e6 / ROWS_OF_A_PART))  # of one size in both
        write(tenth, millions / 10, n_parts // 10)
        with Memory() as writing:
            taken = seconds(lambda: write(whole, millions, n_parts))
        size = sum(file.stat().st_size for file in whole.rglob("*.parquet"))
        rows = 2 * millions
        print(
            f"written: {rows:g} M rows, {size / 1e9:.2f} GB, {rows / taken:.2f} M rows/s, {writing.most / 1e9:.2f} GB"
        )
        one, two, largest = evaluated(tenth, small, 1), evaluated(tenth, small, 2), evaluated(whole, small, 2)
    here = f"{rows / 10 / one.seconds:.2f} M rows/s"
    busy = f"other programs kept {max(one.others, two.others, largest.others):.1f} processors busy"
    promise(
        f"two processes beside one, {rows / 10:g} M rows, times as fast",
        one.seconds / two.seconds,
        at_least=1.7,
        beside=f"one {one.seconds:.3g} s ({here}), two {two.seconds:.3g} s; {busy}",
    )
    promise(
        f"seconds a row, {rows:g} M rows beside {rows / 10:g} M, two processes",
        largest.seconds / two.seconds / 10,
        at_most=1.15,
        beside=f"{largest.seconds:.3g} s ({rows / largest.seconds:.2f} M rows/s) and {two.seconds:.3g} s; {busy}",
        limit="reading Parquet and numbering labels",
    )
    promise(
        f"processor time a row, {rows:g} M rows beside {rows / 10:g} M, two processes",
        largest.processor_seconds / two.processor_seconds / 10,
        at_most=1.15,
        beside=f"{largest.processor_seconds:.3g} s and {two.processor_seconds:.3g} s",
        limit="reading Parquet and numbering labels",
    )
    promise(
        f"memory of all processes, {rows:g} M rows, GB",
        largest.bytes / 1e9,
        at_most=4,
        beside=f"scores {largest.scores.values.nbytes / 1e9:.2f} GB",
    )


if __name__ == "__main__":
    main()
    finish()
