"""How many judgments carry each difference of dl21's 63 systems: all 1,953 pairs, by NIST and by two judges; and by AP.

The peer finds the same upper bound by scoring the two systems again with qrowd.evaluate after each change; it is timed
on a few and multiplied.
"""

from __future__ import annotations

import numpy as np
from side_by_side import data, finish, promise, seconds, times

import qrowd

FEW = 5
runs = qrowd.read_runs([str(data("dl21", "runs"))])
nist = qrowd.read_judgments([str(data("dl21", "qrels.nist.txt"))])
judges = qrowd.read_judgments([str(data("dl21", "judges") / f"umbrela-{name}.qrels.gz") for name in ("gpt4", "gpt4o")])
qrowd.fragility(runs, nist, systems=runs.systems[:3])  # loads what the first call needs
whole = seconds(lambda: qrowd.evaluate(runs, nist, "nDCG@10"))

for name, judgments, limit in (("NIST", nist, 2), ("two judges", judges, 5)):
    results = []
    own = seconds(lambda judgments=judgments, results=results: results.append(qrowd.fragility(runs, judgments)))
    two = runs.select(systems=list(runs.systems[:2]))
    once = seconds(lambda two=two, judgments=judgments: [qrowd.evaluate(two, judgments, "nDCG@10") for _ in range(FEW)])
    number = results[0].n_changes_high
    peer = once / FEW * float(number[np.isfinite(number)].sum())
    promise(
        f"fragility of 1,953 differences, nDCG@10, {name}, s",
        own,
        at_most=limit,
        beside=f"{times('evaluate after each change', peer, own)}; scoring all runs once {whole:.3g} s",
        limit="instructions: some sixty NumPy calls for each pair",
    )
# A pair by AP, beside scoring the two systems again after each change of a single judgment.
PAIR = ("pash_f3", "NLE_P_v1")
two = runs.select(systems=list(PAIR))
qrowd.fragility(two, nist, "AP(rel=2)")
found = []
own = seconds(lambda: found.append(qrowd.fragility(two, nist, "AP(rel=2)")))
once = seconds(lambda: [qrowd.evaluate(two, nist, "AP(rel=2)") for _ in range(FEW)])
promise(
    "fragility of one difference, AP(rel=2), NIST, s",
    own,
    at_most=2,
    beside=times("evaluate after each single change", once / FEW * 3 * found[0].n_judgments, own),
    limit="instructions: every change of a judgment is scored",
)
finish()
