"""Random users: drawn from predicted relevance, several at once, and by the older user disagreement model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Bools, Floats
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import CombineScales
from qrowd.model.panel import Panel
from qrowd.model.result import Result
from qrowd.model.scales import BINARY, Scale
from qrowd.predicted_relevance.doubles import Repeated, double_judgments, is_relevant

PROBABILITY = Scale("fractions", 1.0)


def on_fractions(judgments: Judgments, value: Floats) -> Judgments:
    """The same judgments with probabilities as values; negative values stay "not judged"."""
    return replace(judgments, value=value, scales=(PROBABILITY,) * len(judgments.assessors))


class SampledUsers:
    """Users who find each document relevant or not, independently; a `Blocks` that gives the same each time.

    A user's judgments depend on `rng` and the user's number, not on the number of users.
    """

    BLOCK = 512

    def __init__(self, predicted: Judgments, n_users: int, rng: Rng = None) -> None:
        """predicted : probabilities of relevance, one per document, as `PredictedRelevance.judgments` gives them."""
        if n_users < 1:
            raise ArgumentError(f"n_users={n_users}: a whole number from 1 was expected")
        if len(predicted.assessors) != 1:
            raise ArgumentError(
                f"users are drawn from the judgments of one assessor, and these are of {len(predicted.assessors)}; use "
                "judgments.select(assessors=...), or posterior_relevance, which combines all"
            )
        if (predicted.value > 1).any():
            raise ArgumentError("users are drawn from probabilities, and some value is above 1; use model.judgments()")
        self.assessors = tuple(f"user {i}" for i in range(1, n_users + 1))
        self._panel = predicted.panel()
        self._chance = Chance.of(rng)

    def __len__(self) -> int:
        return len(self.assessors)

    def __iter__(self) -> Iterator[Panel]:
        p = self._panel.values[:, 0]
        unjudged = np.isnan(p)
        for begin in range(0, len(self), self.BLOCK):
            names = self.assessors[begin : begin + self.BLOCK]
            random = self._chance.stream("users", begin // self.BLOCK)
            uniform = random.random((len(names), p.size)).T  # user by user
            relevant = np.where(unjudged[:, None], np.nan, uniform < p[:, None])
            yield Panel(self._panel.pool, names, (BINARY,) * len(names), relevant)


def at_least_of(probability: Floats, m: int, n: int) -> Floats:
    """P(Binomial(n, p) >= m); nan where p is."""
    from scipy.special import bdtrc

    _check_numbers(m, n)
    return np.asarray(bdtrc(m - 1, n, probability) if m else np.where(np.isnan(probability), np.nan, 1.0))


def disagreement_weights(probability: Floats, relevant: Bools, grades: Floats, m: int, n: int, zero: bool) -> Floats:
    """Weights of the user disagreement model: at least m of n, the assessor being one of them."""
    _check_numbers(m, n)
    if n < 2 or m < 1:
        raise ArgumentError(f"m={m}, n={n}: n counts the assessor and at least one user (n=2), and m is 1 or more")
    beside = at_least_of(probability, m, n - 1) if m < n else np.where(np.isnan(probability), np.nan, 0.0)
    weights = np.where(relevant, at_least_of(probability, m - 1, n - 1), beside)
    return np.where(grades == grades.min(), 0.0, weights) if zero else weights


def expected_utility(coincidences: Floats, grades: Floats, grade_utility: Mapping[float, float] | None) -> Floats:
    """(grades,) mean utility of the grades that others gave; nan for a grade without a pair of judgments."""
    if grade_utility is None:
        utility = grades / grades.max() if grades.max() > 0 else np.zeros(grades.size)
    else:
        missing = [grade for grade in grades.tolist() if grade not in grade_utility]
        if missing:
            raise ArgumentError(
                f"grade_utility: grade {missing[0]:g} has no utility; name every grade, as in 0=0,1=0.5"
            )
        utility = np.array([float(grade_utility[grade]) for grade in grades.tolist()])
    if not ((utility >= 0) & (utility <= 1)).all():
        raise ArgumentError("grade_utility: utilities from 0 to 1 were expected, which are shares of the best result's")
    total = coincidences.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(coincidences @ utility / total)


def _check_numbers(m: int, n: int) -> None:
    if n < 1 or not 0 <= m <= n:
        raise ArgumentError(f"m={m}, n={n}: n must be 1 or more, and m from 0 to n")


@dataclass(frozen=True, eq=False)
class RelevanceToAtLeast(Result):
    """How often at least m of n others find relevant what one assessor graded i; arrays are (grades,).

    probability : over all judgments of the grade; nan without any.
    n_judgments : of the grade, of documents judged more than n times. n_documents : number of these documents.
    """

    grades: Floats
    probability: Floats
    n_judgments: NDArray[np.int64]
    n_documents: int
    m: int
    n: int

    def _columns(self) -> dict[str, Any]:
        """One row per grade."""
        return {"grade": self.grades, "probability": self.probability, "n_judgments": self.n_judgments}


def relevance_to_at_least(
    judgments: Judgments,
    m: int,
    n: int,
    *,
    rel: float | None = None,
    relevant_grades: Collection[float] | None = None,
    repeats: Repeated = "first",
    combine_scales: CombineScales = "auto",
) -> RelevanceToAtLeast:
    """`PredictedRelevance.relevance_to_at_least`, counted in documents judged more than n times.

    For each judgment: the probability that of n others of the document, drawn without replacement, at least m find it
    relevant (hypergeometric), averaged over all judgments of a grade. The binomial form takes all documents of a grade
    for equal; this does not, and where they differ it is further from the middle.

    rel, relevant_grades, repeats, combine_scales : as of `predicted_relevance`.

    Raises
    ------
    NoOverlapError
        No document was judged more than n times.
    """
    from scipy.special import comb

    _check_numbers(m, n)
    doubles = double_judgments(judgments, repeats, combine_scales)
    relevant, _ = is_relevant(doubles.grades, doubles.scale, rel, relevant_grades)
    enough = doubles.size > n
    if not enough.any():
        raise NoOverlapError(
            f"n={n}: no document was judged by more than {n} assessors (at most {doubles.size.max()}); ask for fewer"
        )
    counts, size = doubles.counts[enough], doubles.size[enough][:, None] - 1
    others = (counts @ relevant)[:, None] - relevant
    chance = np.zeros(counts.shape)
    for k in range(m, n + 1):
        chance += comb(others, k) * comb(size - others, n - k) / comb(size, n)
    n_judgments = counts.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        probability = (counts * chance).sum(axis=0) / n_judgments
    return RelevanceToAtLeast(doubles.grades, probability, n_judgments.astype(np.int64), int(enough.sum()), m, n)
