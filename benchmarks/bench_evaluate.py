"""Scoring in memory: one qrels file, and 3,000 random assessors, beside pytrec_eval on dl21 (63 runs, 53 topics)."""

from __future__ import annotations

import resource
from dataclasses import replace

import numpy as np
import pytrec_eval
from side_by_side import data, finish, median_ratio, promise, seconds

import qrowd
from qrowd.model.panel import Panel
from qrowd.simulation import RandomAssessors

MEASURES = ["nDCG@10", "AP", "P@10", "ERR@20"]
THEIRS = {"ndcg_cut_10", "map", "P_10"}  # it has no ERR
N = 3000

dl21 = data("dl21")
runs = qrowd.read_runs(str(dl21 / "runs" / "*.gz"))
nist = qrowd.read_judgments(dl21 / "qrels.nist.txt")
frame = runs.to_frame()
as_dicts = {
    system: {topic: dict(zip(part["document"], part["score"], strict=True)) for topic, part in own.groupby("topic")}
    for system, own in frame.groupby("system")
}
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


for what, ours in (
    ("ranked anew", ours_from_scratch),
    ("ranked before", lambda: qrowd.evaluate(runs, nist, MEASURES)),
):
    peer, own, ratio = median_ratio(theirs, ours)
    print(f"one qrels file, {what}: pytrec_eval {peer:.3f} s (3 measures), qrowd {own:.3f} s (4 measures)")
    promise(f"one qrels file, {what}, times as fast as pytrec_eval", ratio, at_least=3)

pool = nist.panel().pool
made = RandomAssessors(pool, N, rng=1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
scores = qrowd.evaluate(runs, made, MEASURES)
beyond = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 - scores.values.nbytes / 2**20
promise(f"peak memory beyond the result, {N} assessors generated, MB", beyond, at_most=100)
del scores

generated = [seconds(lambda: qrowd.evaluate(runs, made, MEASURES)) for _ in range(5)]
blocks = list(made)
panel = Panel(pool, made.assessors, (made.scale,) * N, np.concatenate([block.values for block in blocks], axis=1))
in_memory = [seconds(lambda: qrowd.evaluate(runs, blocks, MEASURES)) for _ in range(5)]
one_panel = [seconds(lambda: qrowd.evaluate(runs, panel, MEASURES)) for _ in range(5)]
per_assessor = seconds(theirs)
for what, times in (("generated", generated), ("in memory, in blocks", in_memory), ("in memory, one panel", one_panel)):
    took = float(np.median(times))
    print(f"{N} assessors {what}: {took:.2f} s; pytrec_eval would take {N * per_assessor:.0f} s")
    promise(f"{N} assessors {what}, times as fast as pytrec_eval per assessor", N * per_assessor / took, at_least=300)
finish()
