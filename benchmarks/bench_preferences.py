"""Preferences of dl21: measures, compatibility and Bradley-Terry with assessor weights and a bootstrap."""

from __future__ import annotations

import time

import numpy as np
from side_by_side import data, finish, promise, seconds

import qrowd
from qrowd.preferences import DEFINITIONS, bradley_terry

runs = qrowd.read_runs([str(data("dl21", "runs"))])
said = qrowd.read_preferences([str(data("dl21", "preferences"))])
judges = qrowd.read_judgments([str(data("dl21", "judges"))])
names = [f"{d.name}@10" if d.cut == "required" else d.name for d in DEFINITIONS]

qrowd.evaluate(runs, said, names)  # loads what the first call needs
took = float(np.median([seconds(lambda: qrowd.evaluate(runs, said, names)) for _ in range(5)]))
promise(f"{len(names)} measures of {len(said):,} preferences for {len(runs.systems)} runs, seconds", took, at_most=5)
qrowd.evaluate(runs, judges, "compatibility")
took = float(np.median([seconds(lambda: qrowd.evaluate(runs, judges, "compatibility")) for _ in range(3)]))
promise("compatibility of 63 runs x 53 topics x 18 assessors, seconds", took, at_most=2)

gpt = said.select(assessors=["gpt4o"])
bradley_terry(gpt, assessor_weights=True, n_resamples=2, rng=1)
started = time.perf_counter()
fitted = bradley_terry(gpt, assessor_weights=True, n_resamples=1000, rng=1)
promise(
    f"Bradley-Terry with assessor weights, 1,000 replicates, {len(fitted.pool.topics)} topics, seconds",
    time.perf_counter() - started,
    at_most=30,
)
finish()
