"""Do prediction-powered intervals hold the truth as often as they say? Real assessors, real systems, known means.

A few topics of a fully judged collection are given to people (the collection's own judgments), the others to the model
alone; the truth is every system's mean over all topics by the collection's judgments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, check_choice
from qrowd.evaluation import evaluate
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.runs import Runs
from qrowd.replacement.prediction_powered import Rule

if TYPE_CHECKING:
    import pandas

Draw = Literal["with replacement", "split"]
Quantity = Literal["means", "differences"]
#: The methods compared: our defaults, then lam tuned on the very topics it is used with, then all as published.
METHODS = {
    "classical": {"method": "classical"},
    "ppi": {"method": "ppi"},
    "ppi++": {"method": "ppi++"},
    "ppi++, not cross-fitted": {"method": "ppi++", "cross_fit": False},
    "ppi++, published": {"method": "ppi++", "cross_fit": False, "published": True},
}


def ppi_coverage(
    runs: Runs,
    truth: Judgments,
    models: Judgments,
    measure: object = "nDCG@10",
    *,
    n_human: Sequence[int] = (10, 25),
    n_resamples: int = 200,
    draw: Draw = "with replacement",
    quantity: Quantity = "means",
    rng: Rng = None,
) -> pandas.DataFrame:
    """How often intervals from few human topics hold what all topics would have said.

    One row per assessor, number of human topics and method. Columns `coverage`: share of intervals that hold the truth,
    over repetitions and systems; `width`: mean width of an interval; `lam`: mean lam; `gained`: median effective number
    of human topics gained. `attrs` hold the options, the measure, and the numbers of topics and systems.

    truth : judgments of one assessor, who plays the people. models : each tried on its own.
    draw : "with replacement" draws as many topics as there are, and the first n are the people's: the collection is
        all topics there could be, intervals are for new topics. "split" gives n of the topics to people and the
        others to the model alone: intervals are for these topics.
    quantity : "means" of systems, or their "differences" from the system that is best in truth.

    Raises
    ------
    ArgumentError
        An n that leaves fewer than two topics to either side, or an unknown option.
    """
    import pandas as pd

    for name, value, choices in (("draw", draw, Draw), ("quantity", quantity, Quantity)):
        check_choice(name, value, choices)
    scores = evaluate(runs, concatenate_judgments([truth, models]), measure)
    values = scores.values[0]
    values = values[:, ~np.isnan(values).any(axis=(0, 2))]
    if quantity == "differences":
        best = int(values[0].mean(axis=0).argmax())
        values = np.delete(values - values[:, :, [best]], best, axis=2)
    n_models, n_topics, n_systems = values.shape
    for n in n_human:
        if not 2 <= n <= n_topics - 2:
            raise ArgumentError(f"from 2 to {n_topics - 2} of the {n_topics} topics were expected", "n_human", n)
    chance = Chance.of(seed := seed_of(rng))
    truths = np.tile(values[0].mean(axis=0), n_resamples)
    rows: list[tuple[object, ...]] = []
    for n in n_human:
        drawn = [_topics(chance.stream(f"topics of {n}", r), n_topics, draw) for r in range(n_resamples)]
        topics = np.array(drawn).T  # (topics, repetitions)
        y = values[0][topics[:n]].reshape(n, -1)
        for a in range(1, n_models):
            f = values[a][topics].reshape(n_topics, -1)
            for name, options in METHODS.items():
                target = "new topics" if draw == "with replacement" else "these topics"
                fit = Rule(**options, target=target).fit(y, f[:n], f[n:])  # type: ignore[arg-type]
                covers = (fit.low <= truths) & (truths <= fit.high)
                with np.errstate(divide="ignore", invalid="ignore"):
                    gained = np.nanmedian(n * (fit.classical_standard_error / fit.standard_error) ** 2 - n)
                means = (float(column.mean()) for column in (covers, fit.high - fit.low, fit.lam))
                rows.append((scores.assessors[a], n, name, *means, float(gained)))
    frame = pd.DataFrame(rows, columns=["assessor", "n_human", "method", "coverage", "width", "lam", "gained"])
    frame.attrs = {
        "measure": scores.measures[0], "n_topics": n_topics, "n_systems": n_systems, "n_resamples": n_resamples,
        "draw": draw, "quantity": quantity, "seed": seed,
    }  # fmt: skip
    return frame


def _topics(random: np.random.Generator, n: int, draw: Draw) -> NDArray[np.int64]:
    return random.integers(n, size=n) if draw == "with replacement" else random.permutation(n)
