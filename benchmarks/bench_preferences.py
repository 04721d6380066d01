"""Preferences of dl21: measures, compatibility and Bradley-Terry with assessor weights and a bootstrap.

No other tool computes these measures for many assessors; the peers are their definitions as loops of Python (those that
the tests compare with), on one run, and choix, which fits one assessor without weights.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import choix
import numpy as np
from side_by_side import data, finish, median_ratio, promise, seconds, times

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import qrowd
from oracles import preferences as loops
from qrowd.preferences import DEFINITIONS, bradley_terry

CUTOFF = 10

runs = qrowd.read_runs([str(data("dl21", "runs"))])
preferences = qrowd.read_preferences([str(data("dl21", "preferences"))])
judges = qrowd.read_judgments([str(data("dl21", "judges"))])
names = [f"{d.name}@{CUTOFF}" if d.cutoff == "required" else d.name for d in DEFINITIONS]

rows: dict[tuple[str, str], list[tuple[str, str, float, None]]] = defaultdict(list)
for row in preferences.to_frame().itertuples():
    rows[row.topic, row.assessor].append((row.preferred, row.other, 1.0, None))
levels: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
for row in judges.to_frame().itertuples():
    levels[row.topic, row.assessor][row.document] = row.value
system = runs.systems[0]
one_run = runs.select(systems=[system])
rankings = {topic: loops.rank_ascending(scores) for topic, scores in runs.to_dict()[system].items()}
few = [f"{name}@{CUTOFF}" for name in ("ppref", "wpref", "rpref", "appref")]


def measures_in_loops() -> None:
    for (topic, _), said in rows.items():
        if topic in rankings:
            for measure in (loops.ppref, loops.wpref, loops.rpref, loops.appref):
                measure(rankings[topic], said, CUTOFF)


def compatibility_in_loops() -> None:
    for topic, assessor in list(levels)[::20]:
        if topic in rankings:
            loops.compatibility(rankings[topic], levels[topic, assessor])


peer, own, ratio = median_ratio(measures_in_loops, lambda: qrowd.evaluate(one_run, preferences, few), rounds=3)
promise(
    "ppref, wpref, rpref and appref of one run, times as fast as their definitions in loops",
    ratio,
    at_least=10,
    beside=times("loops of Python", peer, own),
    limit="instructions: closing the pairs of every topic and assessor, which one run does not repay",
)
qrowd.evaluate(runs, preferences, names)  # loads what the first call needs
took = float(np.median([seconds(lambda: qrowd.evaluate(runs, preferences, names)) for _ in range(5)]))
promise(
    f"{len(names)} measures of {len(preferences):,} preferences for {len(runs.systems)} runs, s",
    took,
    at_most=5,
    beside=f"four of them for all runs in loops of Python {len(runs.systems) * peer:.0f} s",
    limit="instructions: for each run, each pair with a ranked document",
)
qrowd.evaluate(runs, judges, "compatibility")
took = float(np.median([seconds(lambda: qrowd.evaluate(runs, judges, "compatibility")) for _ in range(3)]))
peer = 20 * len(runs.systems) * seconds(compatibility_in_loops)
promise(
    "compatibility of 63 runs x 53 topics x 18 assessors, s",
    took,
    at_most=2,
    beside=f"loops of Python {peer:.0f} s (from one run and every twentieth list)",
    limit="instructions: overlaps at each rank",
)

gpt = preferences.select(assessors=["gpt4o"])
topics = [gpt.topic_view(t) for t in range(len(gpt.topics))]


def choix_of_all() -> None:
    for view in topics[::10]:
        choix.opt_pairwise(view.n_documents, [tuple(pair) for pair in view.pairs.tolist()], alpha=0.1)


bradley_terry(gpt, assessor_weights=True, n_resamples=2, rng=1)
once = seconds(lambda: bradley_terry(gpt))
fits = 10 * seconds(choix_of_all)
took = seconds(lambda: bradley_terry(gpt, assessor_weights=True, n_resamples=1000, rng=1))
promise(
    f"Bradley-Terry with assessor weights, 1,000 replicates, {len(topics)} topics, s",
    took,
    at_most=30,
    beside=f"one fit without weights: {times('choix', fits, once)} (choix from every tenth topic)",
    limit="instructions: conjugate gradients over all comparisons, for each replicate",
)
finish()
