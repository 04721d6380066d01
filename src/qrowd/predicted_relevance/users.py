"""Random users: drawn from predicted relevance, several at once, and as the older model weighs them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.chance import Chance, Rng
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments
from qrowd.model.panel import Panel
from qrowd.model.scales import BINARY, Scale
from qrowd.predicted_relevance.doubles import Bools, Floats, Repeated, double_judgments, is_relevant

PROBABILITY = Scale("fractions", 1.0)


def on_fractions(judgments: Judgments, value: Floats) -> Judgments:
    """The same judgments with probabilities for values; negative ones stay "not judged"."""
    return replace(judgments, value=value, scales=(PROBABILITY,) * len(judgments.assessors))


class SampledUsers:
    """Users who find each document relevant or not, each document for itself; a `Blocks`, again and again the same.

    What a user finds depends on `rng` and the user's number, not on how many there are.
    """

    BLOCK = 512

    def __init__(self, predicted: Judgments, n: int, rng: Rng) -> None:
        """predicted : probabilities of relevance, one per document, as `PredictedRelevance.judgments` gives them."""
        if n < 1:
            raise ArgumentError(f"n={n}: at least one user is needed")
        if len(predicted.assessors) != 1:
            raise ArgumentError(
                f"users are drawn from the judgments of one assessor, and here are {len(predicted.assessors)}; "
                "judgments.select(assessors=...) takes one, posterior_relevance joins all"
            )
        if (predicted.value > 1).any():
            raise ArgumentError("users are drawn from probabilities, and some value is above 1; use model.judgments()")
        self.assessors = tuple(f"user {i}" for i in range(1, n + 1))
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
            lots = random.random((len(names), p.size)).T  # one user's after the other's
            found = np.where(unjudged[:, None], np.nan, lots < p[:, None])
            yield Panel(self._panel.pool, names, (BINARY,) * len(names), found)


def at_least_of(probability: Floats, m: int, n: int) -> Floats:
    """P(Binomial(n, p) >= m); nan where p is."""
    from scipy.special import bdtrc

    _check_numbers(m, n)
    return np.asarray(bdtrc(m - 1, n, probability) if m else np.where(np.isnan(probability), np.nan, 1.0))


def disagreement_weights(probability: Floats, relevant: Bools, grades: Floats, m: int, n: int, zero: bool) -> Floats:
    """Of the user disagreement model: at least m of n, the assessor being one of them."""
    _check_numbers(m, n)
    if n < 2 or m < 1:
        raise ArgumentError(f"m={m}, n={n}: of the assessor and at least one user (n=2), at least one (m=1) must agree")
    beside = at_least_of(probability, m, n - 1) if m < n else np.where(np.isnan(probability), np.nan, 0.0)
    weights = np.where(relevant, at_least_of(probability, m - 1, n - 1), beside)
    return np.where(grades == grades.min(), 0.0, weights) if zero else weights


def _check_numbers(m: int, n: int) -> None:
    if n < 1 or not 0 <= m <= n:
        raise ArgumentError(f"m={m}, n={n}: m of n users are from 0 to n, and n is 1 or more")


@dataclass(frozen=True, eq=False)
class AtLeast:
    """How often at least m of n others find relevant what one assessor gave grade i; arrays are (grades,).

    probability : over all judgments of the grade; nan where none is.
    n_judgments : of that grade, of documents judged more than n times. n_documents : those documents in all.
    """

    grades: Floats
    probability: Floats
    n_judgments: NDArray[np.int64]
    n_documents: int
    m: int
    n: int

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per grade."""
        columns = {"grade": self.grades, "probability": self.probability, "n_judgments": self.n_judgments}
        return make_frame(columns, backend)


def observed_at_least(
    judgments: Judgments,
    m: int,
    n: int,
    theta: float | None = None,
    *,
    relevant: set[float] | None = None,
    repeats: Repeated = "first",
) -> AtLeast:
    """The same as `PredictedRelevance.at_least`, counted from documents judged more than n times.

    For each judgment: the probability that of n others of the document, drawn without replacement, at least m find it
    relevant (hypergeometric), averaged over all judgments of a grade. The binomial form takes all documents of a grade
    to be alike; this does not, and where they differ it is farther from the middle.

    Raises
    ------
    NoOverlapError
        No document was judged more than n times.
    """
    from scipy.special import comb

    _check_numbers(m, n)
    doubles = double_judgments(judgments, repeats)
    satisfying, _ = is_relevant(doubles.grades, doubles.scale, theta, relevant)
    enough = doubles.size > n
    if not enough.any():
        raise NoOverlapError(
            f"n={n}: no document was judged by more than {n} assessors (at most {doubles.size.max()}); ask for fewer"
        )
    counts, size = doubles.counts[enough], doubles.size[enough][:, None] - 1
    others = (counts @ satisfying)[:, None] - satisfying
    chance = np.zeros(counts.shape)
    for k in range(m, n + 1):
        chance += comb(others, k) * comb(size - others, n - k) / comb(size, n)
    given = counts.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        probability = (counts * chance).sum(axis=0) / given
    return AtLeast(doubles.grades, probability, given.astype(np.int64), int(enough.sum()), m, n)
