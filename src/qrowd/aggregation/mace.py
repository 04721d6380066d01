"""MACE: who knows and who guesses.

Hovy, Berg-Kirkpatrick, Vaswani & Hovy (2013), Learning Whom to Trust with MACE. NAACL-HLT, 1120-1130.
"""

from __future__ import annotations

import warnings

import numpy as np

from qrowd.aggregation.aggregate import Aggregate, aggregate_of
from qrowd.aggregation.coded import Coded, Floats, coded, need_whole_grades
from qrowd.aggregation.dawid_skene import most_probable
from qrowd.errors import ArgumentError
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments, Repeats


def mace(
    judgments: Judgments,
    *,
    restarts: int = 10,
    max_iterations: int = 1000,
    tol: float = 1e-3,
    knowing: float = 0.5,
    guessing: float = 10.0,
    rng: Rng = None,
    repeats: Repeats = "first",
) -> Aggregate:
    """The most probable grades when each assessor, at each judgment, either knows the true grade or guesses.

    An assessor a knows with probability competence[a] and says the true grade; else says any grade by a preference of
    his or her own, whatever is true. Both are estimated by variational Bayes, topics pooled.

    Parameters
    ----------
    restarts : starts by chance; the one of the highest likelihood counts.
    max_iterations, tol : of each start: stop when no probability changes by tol, or after so many iterations.
    knowing : both parameters of the Beta prior of knowing; guessing : the parameter of the Dirichlet prior of what is
        guessed (.5 and 10, as the authors' program has them; it stops after 50 iterations, converged or not).
    rng : for the starts.

    Raises
    ------
    ScaleError
        Fractions or magnitudes; scales that cannot be one.
    """
    if restarts < 1 or max_iterations < 1 or tol <= 0 or knowing <= 0 or guessing <= 0:
        raise ArgumentError("restarts and max_iterations must be 1 or more, tol, knowing and guessing above 0")
    data = coded(judgments, repeats)
    need_whole_grades(data, "mace")
    chance = Chance.of(rng)
    fits = [
        Fit(data, chance.stream("mace", number), max_iterations, tol, knowing, guessing) for number in range(restarts)
    ]
    best = max(fits, key=lambda one: one.log_likelihood)
    if not best.converged:
        warnings.warn(
            f"mace did not converge within {max_iterations} iterations; raise max_iterations or tol", stacklevel=2
        )
    options = f"restarts={restarts}, max_iterations={max_iterations}, knowing={knowing:g}, guessing={guessing:g}"
    return aggregate_of(
        data,
        "mace",
        f"mace({options})",
        data.grades[most_probable(best.posterior)],
        best.posterior,
        competence=best.competence,
        iterations=best.iterations,
        converged=best.converged,
        log_likelihood=best.log_likelihood,
    )


class Fit:
    """One start of MACE by variational Bayes.

    posterior : (pairs, grades); competence : (assessors,) expected probability of knowing.
    """

    def __init__(
        self,
        data: Coded,
        random: np.random.Generator,
        max_iterations: int,
        tol: float,
        knowing: float,
        guessing: float,
    ) -> None:
        from scipy.special import digamma

        from qrowd.kernels.confusion import expect_knowing

        n_assessors, n_grades = len(data.assessors), data.grades.size
        cells = data.assessor.astype(np.int64) * n_grades + data.said
        said = np.bincount(cells, minlength=n_assessors * n_grades).reshape(n_assessors, n_grades).astype(np.float64)
        knew = said * random.random((n_assessors, n_grades))
        self.posterior: Floats = np.full((data.n_pairs, n_grades), 1 / n_grades)
        self.converged, self.iterations = False, 0
        while self.iterations < max_iterations and not self.converged:
            guessed = said - knew
            known, unknown = knowing + knew.sum(axis=1), knowing + guessed.sum(axis=1)
            total = digamma(known + unknown)
            preference = digamma(guessing + guessed) - digamma((guessing + guessed).sum(axis=1, keepdims=True))
            knows = np.exp(digamma(known) - total)
            guesses = np.exp((digamma(unknown) - total)[:, None] + preference)
            self.log_likelihood, change = expect_knowing(
                data.starts, data.assessor, data.said, knows, guesses, self.posterior, knew
            )
            self.iterations += 1
            self.converged = bool(change < tol)
        self.competence: Floats = (knowing + knew.sum(axis=1)) / (2 * knowing + said.sum(axis=1))
