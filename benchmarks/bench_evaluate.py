"""Scoring in memory: one qrels file, and thousands of random assessors, beside pytrec_eval (dl21: 63 runs, 53 topics).

pytrec_eval uses one processor and qrowd all there are, so that ratios of processor time are printed, too; judgments of
1,000 assessors from a data frame are scored by one thread, with the vector units that are printed. With --all,
30,000 assessors, whose scores take 3.2 GB.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytrec_eval
from calibration import vector_units
from side_by_side import cpu_seconds, data, finish, median_ratio, promise, seconds, times

import qrowd
from qrowd.model.panel import Coded, Panel
from qrowd.simulation import RandomAssessors

MEASURES = ["nDCG@10", "AP", "P@10", "ERR@20"]
THEIRS = {"ndcg_cut_10", "map", "P_10"}  # it has no ERR
N = 3000

dl21 = data("dl21")
runs = qrowd.read_runs(str(dl21 / "runs" / "*.gz"))
nist = qrowd.read_judgments(dl21 / "qrels.nist.txt")
as_dicts = runs.to_dict()
grades = nist.to_frame()
as_qrel = {
    topic: dict(zip(part["document"], part["value"].astype(int), strict=True))
    for topic, part in grades.groupby("topic")
}


def theirs() -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(as_qrel, THEIRS)
    for run in as_dicts.values():
        evaluator.evaluate(run)


def ours_from_scratch() -> None:
    """Runs remember their ranking once made; a new value has to rank first, as pytrec_eval does at every call."""
    qrowd.evaluate(replace(runs), nist, MEASURES)


def frame_of(panels: list[Panel], n_assessors: int) -> pd.DataFrame:
    """The judgments of some assessors, one after the other, as categories and whole numbers."""
    pool = panels[0].pool
    topic = pd.Categorical.from_codes(np.repeat(np.arange(len(pool.topics)), np.diff(pool.starts)), pool.topics)
    document = pd.Categorical.from_codes(pool.document, pool.documents)
    names = [name for panel in panels for name in panel.assessors][:n_assessors]
    values = np.concatenate([panel.values for panel in panels], axis=1)[:, :n_assessors]
    everyone = np.repeat(np.arange(n_assessors), pool.document.size)
    return pd.DataFrame(
        {
            "topic": np.tile(topic, n_assessors),
            "document": np.tile(document, n_assessors),
            "assessor": pd.Categorical.from_codes(everyone, names),
            "value": values.T.ravel().astype(np.int64),
        }
    )


def kilobytes(field: str) -> int:
    """A line of Linux' status of this process, such as VmHWM, the peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def least(work: Callable[[], object], rounds: int) -> tuple[float, float]:
    """The least seconds and the least processor seconds."""
    times = []
    for _ in range(rounds):
        processor = time.process_time()
        times.append((seconds(work), time.process_time() - processor))
    wall, processors = zip(*times, strict=True)
    return min(wall), min(processors)


for what, ours in (
    ("ranked anew", ours_from_scratch),
    ("ranked before", lambda: qrowd.evaluate(runs, nist, MEASURES)),
):
    peer, own, ratio = median_ratio(theirs, ours)
    print(f"one qrels file, {what}: pytrec_eval {peer:.3f} s (3 measures), qrowd {own:.3f} s (4 measures)")
    promise(f"one qrels file, {what}, times as fast as pytrec_eval", ratio, at_least=3)

pool = nist.panel().pool
made = RandomAssessors(pool, N, rng=1)
qrowd.evaluate(runs, RandomAssessors(pool, 64, rng=1), MEASURES)  # loads what the first call needs
Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from what is in memory now
before = kilobytes("VmHWM")
scores = qrowd.evaluate(runs, made, MEASURES)
beyond = (kilobytes("VmHWM") - before) / 1024 - scores.values.nbytes / 2**20
promise(f"peak memory beyond the result, {N} assessors generated, MB", beyond, at_most=100)
del scores

blocks = list(made)
codes = np.concatenate([block.stored.codes for block in blocks if isinstance(block.stored, Coded)], axis=1)
panel = Panel(pool, made.assessors, (made.scale,) * N, Coded(codes, np.array([0.0, 1.0])))
per_assessor, processor = least(theirs, 9)
for what, judgments in (("generated", made), ("in memory, in blocks", blocks), ("in memory, one panel", panel)):
    took, processors = least(lambda judgments=judgments: qrowd.evaluate(runs, judgments, MEASURES), 7)  # type: ignore[misc]
    print(f"{N} assessors {what}: {took:.2f} s; pytrec_eval would take {N * per_assessor:.0f} s")
    promise(
        f"{N} assessors {what}, times as fast as pytrec_eval per assessor",
        N * per_assessor / took,
        at_least=1000,
        beside=f"processor time: {1e3 * processors / N:.3f} ms each, {N * processor / processors:.0f} times as fast",
        limit="instructions: AP a third, all kernels 60 % of the processor time; a sixth is new memory for the result",
    )

del blocks, codes, panel
frame = frame_of(list(RandomAssessors(pool, 1000, rng=1)), 1000)
peers, ours = [], []
for _ in range(7):
    judged = qrowd.Judgments.from_frame(frame)  # anew, since judgments remember what was computed from them
    ours.append(cpu_seconds(lambda judged=judged: qrowd.evaluate(runs, judged, MEASURES, threads=1)))  # type: ignore[misc]
    peers.append(cpu_seconds(theirs))
promise(
    "1000 assessors from a data frame, one thread, times as fast as pytrec_eval per assessor",
    float(np.median(1000 * np.array(peers) / ours)),
    at_least=300,
    beside=times("pytrec_eval", min(peers), min(ours) / 1000)
    + f" of processor time each; a machine with {vector_units()}",
    limit="instructions: kernels 60 %; labels of a row become a cell of the table, a grade a byte",
)
del frame, judged

if "--all" in sys.argv:
    each = {}
    for n in (1000, 30_000):
        many = RandomAssessors(pool, n, rng=1)
        wall, processors = least(lambda many=many: qrowd.evaluate(runs, many, MEASURES), 7 if n == 1000 else 2)  # type: ignore[misc]
        each[n] = processors / n
        print(f"{n} assessors: {1e3 * wall / n:.3f} ms each, {1e3 * processors / n:.3f} ms of processor")
    promise(
        "processor time of each of 30,000 assessors to that of each of 1,000", each[30_000] / each[1000], at_most=1.15
    )
finish()
