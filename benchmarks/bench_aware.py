"""AWARE: accuracies of dl21's judges by all estimators, and the study at the paper's full scale.

The peer of the first is the same in NumPy, SciPy and pytrec_eval, one random assessor after the other, timed on a few.
"""

from __future__ import annotations

import resource
import sys
import time
from collections import defaultdict

import numpy as np
import pytrec_eval
from scipy.stats import kendalltau
from side_by_side import data, finish, promise, seconds

import qrowd
from qrowd.aware import similarity_to_random
from qrowd.aware.random_assessors import LEVELS
from qrowd_papers.aware import study as aware
from qrowd_papers.aware.study import aware_study
from qrowd_papers.panels import crowdsourcing_tracks

MEASURES = ("AP", "nDCG@20", "ERR@20")


def peer(runs: qrowd.Runs, judgments: qrowd.Judgments, n: int) -> None:
    """Score n even random assessors by map and ndcg_cut_20, and compare one assessor with each by tau and rmse."""
    random = np.random.default_rng(1)
    lists: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in runs.to_frame().itertuples():
        lists[row.system][row.topic][row.document] = row.score
    crowd = judgments.to_frame()
    pool = [(t, d) for t, d in zip(crowd.topic, crowd.document, strict=True)]
    started = time.perf_counter()
    for _ in range(n):
        qrels: dict[str, dict[str, int]] = defaultdict(dict)
        for (topic, document), relevant in zip(pool, random.integers(0, 2, len(pool)).tolist(), strict=True):
            qrels[topic][document] = relevant
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut_20"})
        scores = [evaluator.evaluate(lists[system]) for system in runs.systems]
        for measure in ("map", "ndcg_cut_20"):
            for topic in qrels:
                row = [score.get(topic, {}).get(measure, 0.0) for score in scores]
                kendalltau(row, row[::-1])
    print(f"a peer's loop: {(time.perf_counter() - started) / n:.2f} s per random assessor, two measures, one gap")


runs = qrowd.read_runs([str(data("dl21", "runs"))])
judges = qrowd.read_judgments([str(data("dl21", "judges"))])
similarity_to_random(runs, judges, list(MEASURES), n_resamples=2, rng=1)  # loads what the first call needs
took = seconds(lambda: similarity_to_random(runs, judges, list(MEASURES), n_resamples=1000, rng=1))
each = 3 * 1000 * len(judges.assessors)
print(f"dl21: {len(judges.assessors)} judges, {len(LEVELS)} x 1,000 random assessors: {1e3 * took / each:.2f} ms each")
promise("dl21, 30 estimators x 3 measures, H = 1,000, seconds", took, at_most=60)
peer(runs, judges.select(assessors=[judges.assessors[0]]), 3)

sets, crowd, gold = crowdsourcing_tracks(rng=1)
runs = sets["T@8"]
spent: dict[str, float] = defaultdict(float)


def timed(name: str) -> None:
    """Count what a method of the study's world takes (wall clock; its threads are inside)."""
    method = getattr(aware._World, name)

    def counted(*arguments: object) -> object:
        begun = time.thread_time()
        try:
            return method(*arguments)
        finally:
            spent[name] += time.thread_time() - begun

    setattr(aware._World, name, counted)


for part in ("_averaged", "_against_gold"):
    timed(part)
sizes = None if "--full" in sys.argv else [2, 9, 16, 23, 30]
processor = time.process_time()
took = seconds(lambda: aware_study(runs, crowd, gold, MEASURES, sizes=sizes, rng=1))
processor = time.process_time() - processor
n_sizes = 29 if sizes is None else len(sizes)
whole = took if sizes is None else took * 29 / n_sizes
print(f"study of {n_sizes} sizes: {took:.0f} s, {processor:.0f} s of processor; without --full the 29 are extrapolated")
print(f"of it weighted means {spent['_averaged']:.0f} s, comparison with the gold {spent['_against_gold']:.0f} s, the")
print("rest mostly merging labels and scoring 3 x 1,000 merged assessors per size")
promise("31 assessors, 129 runs, 29 x 1,000 tuples, 34 methods, 3 measures, minutes", whole / 60, at_most=10)
promise("peak memory, GB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, at_most=2)
finish()
