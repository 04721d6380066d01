"""Do systems stand in the same order for other assessors? With binary, predicted, linear and exponential gains.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19, sections 7.2 (Table 6: one half of the assessors against the other) and 7.3 (Table 7: predicted gains against
others).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.evaluation import evaluate, with_probabilities
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.correlation import tau_a, tau_b
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments
from qrowd.model.labels import Selection, matching
from qrowd.model.runs import Runs
from qrowd.model.scores import known_mean
from qrowd.predicted_relevance import PredictedRelevance, predicted_relevance

Tau = Literal["b", "a"]
GAINS = ("binary", "predicted", "linear", "exponential")


@dataclass(frozen=True, eq=False)
class Robustness:
    """Kendall's tau of system rankings.

    between_halves : (measures, gains, splits) of one half of the assessors with the other, as Table 6; nan where a half
        has no ranking.
    with_predicted : (measures, gains) of the whole panel's ranking by predicted gains with that by others, as Table 7.
    gains : binary (1 for grades that satisfy), predicted (p(R|i)), linear (g / max), exponential
        ((2^g - 1) / (2^max - 1)).
    n_topics : (splits,) topics that both halves judged.
    model : p(R|i), learnt from everyone. tau : "b" or "a". seed : give it as `rng` to see the same halves again.
    """

    measures: tuple[str, ...]
    gains: tuple[str, ...]
    between_halves: Floats
    with_predicted: Floats
    n_topics: Floats
    model: PredictedRelevance
    tau: Tau
    seed: Seed | None

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per measure and gains: mean tau between halves, its standard deviation over splits, and Table 7's."""
        known = ~np.isnan(self.between_halves)
        mean = known_mean(self.between_halves, axis=2)
        squares = np.where(known, (self.between_halves - mean[..., None]) ** 2, 0.0).sum(axis=2)
        n = known.sum(axis=2)
        deviation = np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)
        return make_frame(
            {
                "measure": np.repeat(np.array(self.measures, object), len(self.gains)),
                "gains": np.tile(np.array(self.gains, object), len(self.measures)),
                "tau": mean.ravel(),
                "deviation": deviation.ravel(),
                "n_splits": n.ravel(),
                "tau_with_predicted": self.with_predicted.ravel(),
            },
            backend,
        )


def robustness(
    runs: Runs,
    judgments: Judgments,
    measures: object | Sequence[object] = "nDCG@10",
    *,
    rel: float | None = None,
    relevant_grades: Collection[float] | None = None,
    halves: Literal["random"] | tuple[Selection, Selection] = "random",
    n_resamples: int = 100,
    tau: Tau = "b",
    min_coverage: float = 0.1,
    rng: Rng = None,
) -> Robustness:
    """Rank the systems by each of two halves of the assessors, with four kinds of gains.

    halves : "random" draws `n_resamples` divisions of the assessors; or two selections of them, by name or pattern. A
        crowd where nobody judged a whole pool: `judgments.slots(2)`, and its two slots.
    tau : "b" allows for ties, and the printed tables imply it; "a" does not.

    Each half scores by the means of its assessors, over topics that both halves judged. p(R|i) is learnt from everyone,
    and is the same for both halves, as in the paper.

    Raises
    ------
    ArgumentError
        Fewer than two assessors; halves that share one.
    NoOverlapError
        No topic that both halves of any split judged.
    """
    if tau not in get_args(Tau):
        raise ArgumentError(f"choose one of {', '.join(get_args(Tau))}", "tau", tau)
    sides, seed = _sides(judgments.assessors, halves, n_resamples, rng)
    model = predicted_relevance(judgments, rel=rel, relevant_grades=relevant_grades, n_resamples=0)
    listed = measures if isinstance(measures, list | tuple) else [measures]
    texts = tuple(with_probabilities(text) for text in listed)
    conventions = Conventions(min_coverage=min_coverage)
    values = [
        evaluate(runs, model.with_gains(judgments, grade_gains=gain), texts, conventions=conventions).values
        for gain in gains_of_grades(model).values()
    ]
    between = np.full((len(texts), len(GAINS), len(sides)), np.nan)
    n_topics = np.zeros(len(sides))
    for s, (left, right) in enumerate(sides):
        for g, scores in enumerate(values):
            for m in range(len(texts)):
                means = [known_mean(scores[m][side], axis=0) for side in (left, right)]
                both = ~np.isnan(means[0]).any(axis=1) & ~np.isnan(means[1]).any(axis=1)
                n_topics[s] = both.sum()
                if both.any():
                    between[m, g, s] = _tau(means[0][both].mean(axis=0), means[1][both].mean(axis=0), tau)
    if not n_topics.any():
        raise NoOverlapError("halves: no topic was judged by assessors of both; use judgments.slots(2) for a crowd")
    whole = [[known_mean(known_mean(part, axis=0), axis=0) for part in scores] for scores in values]
    against = [[_tau(whole[1][m], whole[g][m], tau) for g in range(len(GAINS))] for m in range(len(texts))]
    return Robustness(tuple(map(str, texts)), GAINS, between, np.array(against), n_topics, model, tau, seed)


def gains_of_grades(model: PredictedRelevance) -> dict[str, Floats]:
    """{gains: (grades,)}, those of `GAINS`."""
    top = float(model.grades.max()) or 1.0
    given = (
        model.relevant.astype(np.float64),
        model.probability,
        model.grades / top,
        (2**model.grades - 1) / (2**top - 1),
    )
    return dict(zip(GAINS, given, strict=True))


def means_by_gains(runs: Runs, judgments: Judgments, model: PredictedRelevance, measure: object) -> dict[str, Floats]:
    """{gains: (systems,)} mean over topics of the mean over assessors, as the rankings of Table 7."""
    text = with_probabilities(measure)
    results = {}
    for name, gain in gains_of_grades(model).items():
        (values,) = evaluate(runs, model.with_gains(judgments, grade_gains=gain), (text,)).values
        results[name] = known_mean(known_mean(values, axis=0), axis=0)
    return results


def _sides(
    assessors: tuple[str, ...], halves: object, n_resamples: int, rng: Rng
) -> tuple[list[tuple[Ints, Ints]], Seed | None]:
    """Two lists of assessors' numbers for each split, and the seed they were drawn with."""
    n = len(assessors)
    if n < 2:
        raise ArgumentError(f"halves: {n} assessor cannot be divided; two or more are needed")
    if isinstance(halves, tuple) and len(halves) == 2:
        left, right = (matching(assessors, wanted, "assessor") for wanted in halves)
        if (left & right).any():
            raise ArgumentError(
                f"halves: assessor {assessors[int((left & right).argmax())]} is in both; name each once"
            )
        return [(np.flatnonzero(left), np.flatnonzero(right))], None
    if halves != "random" or n_resamples < 1:
        raise ArgumentError(
            f"halves={halves!r}, n_resamples={n_resamples}: 'random' and 1 or more, or two selections of assessors"
        )
    seed = seed_of(rng)
    random = Chance.of(seed).stream("halves")
    orders = [random.permutation(n) for _ in range(n_resamples)]
    return [(order[: n // 2], order[n // 2 :]) for order in orders], seed


def _tau(x: Floats, y: Floats, kind: Tau) -> float:
    """Kendall's tau of two score vectors; nan for fewer than two systems, and tau-b where one ties them all."""
    correlate = tau_b if kind == "b" else tau_a
    return float(correlate(np.ascontiguousarray(y)[None], np.ascontiguousarray(x)[None])[0])
