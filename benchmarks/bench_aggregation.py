"""Dawid-Skene on the crowd of rf10 (98,453 labels, 766 workers, 3 grades, pooled, from vote shares), and crowd-kit."""

from __future__ import annotations

import warnings

import numpy as np
from side_by_side import data, finish, promise, seconds, times

import qrowd
from qrowd.aggregation import dawid_skene
from qrowd.aggregation.aggregate import coded

try:
    from crowdkit.aggregation import DawidSkene
except ImportError:
    print("skipped: no crowd-kit here; pip install 'qrowd[bench]'")
    raise SystemExit(0) from None

labels = qrowd.read_judgments(data("trec-rf10") / "trec-rf10-data.txt.gz").recode({-2: 0})
single = labels.single()
frame = single.to_frame().rename(columns={"assessor": "worker", "value": "label"})
frame["task"] = frame["topic"] + "\t" + frame["document"]
rows = coded(single, "first")


def likelihood(model: DawidSkene) -> float:
    """Log-likelihood of all labels under crowd-kit's prior and confusions, floored as ours are."""
    prior = np.maximum(model.priors_.reindex(rows.grades).fillna(0).to_numpy(), 1e-10)
    logs = np.log(prior)[None].repeat(rows.n_pairs, axis=0)
    cells = np.zeros((len(rows.assessors), rows.grades.size, rows.grades.size))  # assessor, said, true
    number = {name: i for i, name in enumerate(rows.assessors)}
    for (worker, said), share in model.errors_.iterrows():
        cells[number[worker], int(np.searchsorted(rows.grades, said))] = share.reindex(rows.grades).fillna(0)
    np.add.at(logs, rows.pair, np.log(np.maximum(cells, 1e-10))[rows.assessor, rows.code])
    highest = logs.max(axis=1)
    return float((highest + np.log(np.exp(logs - highest[:, None]).sum(axis=1))).sum())


def ours(iterations: int) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = dawid_skene(single, start="shares", per="all", tol=1e-12, max_iterations=iterations)
    return float(result.log_likelihood or 0.0)


model = DawidSkene(n_iter=1000)
took = seconds(lambda: model.fit(frame))
reached = likelihood(model)
needed = next(k for k in range(1, 1000) if ours(k) >= reached)
own = float(np.median([seconds(lambda: ours(needed)) for _ in range(7)]))
print(f"crowd-kit: {took:.2f} s, log-likelihood {reached:.1f}; ours reach it in {needed} iterations, {own:.3f} s")
promise(
    "Dawid-Skene, times as fast as crowd-kit to the same log-likelihood",
    took / own,
    at_least=4,
    beside=times("crowd-kit", took, own) + f", {needed} iterations",
    limit="instructions: a logarithm and an exponential for each document, grade and iteration; coding of labels",
)
highest = ours(1000)
promise(
    "log-likelihood where ours stops, above crowd-kit's",
    highest - reached,
    at_least=0,
    beside=f"crowd-kit {reached:,.1f}, qrowd {highest:,.1f}",
    limit="the same model and data",
)
finish()
