"""Do prediction-powered intervals hold the truth as often as they say? Real judges, real systems, known means.

A few topics of a fully judged collection are given to people (the collection's own judgments), the others to the model
alone; the truth is every system's mean over all topics by the collection's judgments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.labels import closest
from qrowd.model.runs import Runs
from qrowd.uncertainty.prediction_powered_sums import Rule

Draw = Literal["with replacement", "split"]
Quantity = Literal["means", "differences"]
#: The methods compared: our defaults, then lam tuned on the very topics it is used with, then all as published.
METHODS = {
    "classical": {"method": "classical"},
    "ppi": {"method": "ppi"},
    "ppi++": {"method": "ppi++"},
    "ppi++, folds=1": {"method": "ppi++", "folds": 1},
    "ppi++, published": {"method": "ppi++", "folds": 1, "quantile": "normal", "variance": "population"},
}


@dataclass(frozen=True, eq=False)
class PpiCoverage:
    """One row per judge, number of human topics and method; every array is (rows,).

    coverage : share of intervals that hold the truth, over repeats and systems.
    width : mean width of an interval. lam : mean lam. gained : median effective number of human topics gained.
    """

    judge: tuple[str, ...]
    n_human: NDArray[np.int64]
    method: tuple[str, ...]
    coverage: Floats
    width: Floats
    lam: Floats
    gained: Floats
    measure: str
    n_topics: int
    n_systems: int
    repeats: int
    draw: Draw
    quantity: Quantity
    confidence: float
    seed: Seed

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per judge, number of human topics and method."""
        return make_frame(
            {
                "judge": np.array(self.judge, object),
                "n_human": self.n_human,
                "method": np.array(self.method, object),
                "coverage": self.coverage,
                "width": self.width,
                "lam": self.lam,
                "gained": self.gained,
            },
            backend,
        )


def ppi_coverage(
    runs: Runs,
    truth: Judgments,
    judges: Judgments,
    measure: object = "nDCG@10",
    *,
    n_human: Sequence[int] = (10, 25),
    repeats: int = 200,
    draw: Draw = "with replacement",
    quantity: Quantity = "means",
    confidence: float = 0.95,
    rng: Rng = None,
) -> PpiCoverage:
    """How often intervals from few human topics hold what all topics would have said.

    truth : judgments of one assessor, who plays the people. judges : the models, each tried on its own.
    draw : "with replacement" draws as many topics as there are, and the first n are the people's: the collection is
        all topics there could be, intervals are for new topics. "split" gives n of the topics to people and the
        others to the model alone: intervals are for these topics.
    quantity : "means" of systems, or their "differences" from the system that is best in truth.

    Raises
    ------
    ArgumentError
        Several assessors as truth, an n that leaves fewer than two topics to either side, an option nobody knows.
    """
    for name, value, choices in (("draw", draw, Draw), ("quantity", quantity, Quantity)):
        if value not in get_args(choices):
            raise ArgumentError(f"{name}={value!r}: choose from {', '.join(get_args(choices))}")
    if repeats < 1:
        raise ArgumentError(f"repeats={repeats!r}: 1 or more were expected")
    if len(truth.assessors) != 1:
        raise ArgumentError(f"truth: judgments of {len(truth.assessors)} assessors; those of one were expected")
    if truth.assessors[0] in judges.assessors:
        raise ArgumentError(f"judges: {truth.assessors[0]!r} is the truth; {closest('', judges.assessors, 'judge')}")
    scores = evaluate(runs, concatenate_judgments([truth, judges]), measure)
    values = scores.values[0]
    values = values[:, ~np.isnan(values).any(axis=(0, 2))]
    if quantity == "differences":
        best = int(values[0].mean(axis=0).argmax())
        values = np.delete(values - values[:, :, [best]], best, axis=2)
    n_judges, n_topics, n_systems = values.shape
    if not n_topics:
        raise NoOverlapError("no topic is scored by the truth and every judge; leave out judges that judged little")
    for n in n_human:
        if not 2 <= n <= n_topics - 2:
            raise ArgumentError(f"n_human={n}: from 2 to {n_topics - 2} of the {n_topics} topics were expected")
    chance = Chance.of(seed := seed_of(rng))
    expected = values[0].mean(axis=0)
    found: list[tuple[str, int, str, float, float, float, float]] = []
    for n in n_human:
        drawn = [_topics(chance.stream(f"topics of {n}", r), n_topics, draw) for r in range(repeats)]
        topics = np.array(drawn).T  # (topics, repeats)
        y = values[0][topics[:n]].reshape(n, -1)
        for a in range(1, n_judges):
            f = values[a][topics].reshape(n_topics, -1)
            for name, options in METHODS.items():
                target = "new topics" if draw == "with replacement" else "these topics"
                fit = Rule(**options, target=target, confidence=confidence).fit(y, f[:n], f[n:])  # type: ignore[arg-type]
                held = (fit.low <= np.tile(expected, repeats)) & (np.tile(expected, repeats) <= fit.high)
                with np.errstate(divide="ignore", invalid="ignore"):
                    gained = np.nanmedian(n * (fit.classical_standard_error / fit.standard_error) ** 2 - n)
                width = float((fit.high - fit.low).mean())
                row = (scores.assessors[a], n, name, float(held.mean()), width, float(fit.lam.mean()), float(gained))
                found.append(row)
    judge, n_of, method, coverage, widths, lam, gains = zip(*found, strict=True)
    return PpiCoverage(
        judge, np.array(n_of, np.int64), method, np.array(coverage), np.array(widths), np.array(lam), np.array(gains),
        scores.measures[0], n_topics, n_systems, repeats, draw, quantity, confidence, seed,
    )  # fmt: skip


def _topics(random: np.random.Generator, n: int, draw: Draw) -> NDArray[np.int64]:
    return random.integers(n, size=n) if draw == "with replacement" else random.permutation(n)
