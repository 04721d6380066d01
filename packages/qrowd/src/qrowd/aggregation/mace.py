"""MACE: true grades, and each assessor's probability of knowing rather than guessing.

Hovy, Berg-Kirkpatrick, Vaswani & Hovy (2013), Learning Whom to Trust with MACE. NAACL-HLT, 1120-1130; variational Bayes
(section 3), with grades that may be unequally frequent.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np

from qrowd.aggregation.aggregate import Aggregate, Coded, Repeated, aggregate_of, coded_grades
from qrowd.aggregation.dawid_skene import most_probable
from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import CombineScales

Prior = Literal["fitted", "uniform"]
"""Frequencies of true grades: estimated from the judgments, or all equal (as in the paper)."""
GUESSING = {"fitted": 1.0, "uniform": 10.0}
FREQUENCY = 1.0  # parameter of the uniform Dirichlet prior of grade frequencies


def mace(
    judgments: Judgments,
    *,
    prior: Prior = "fitted",
    restarts: int = 10,
    knowing: float = 0.5,
    guessing: float | None = None,
    tol: float = 1e-3,
    max_iterations: int = 1000,
    rng: Rng = 1,
    repeats: Repeated = "first",
    combine_scales: CombineScales = "auto",
) -> Aggregate:
    """The most probable grades when each assessor, at each judgment, either knows the true grade or guesses.

    Assessor a knows the true grade with probability competence[a] and gives it; otherwise a grade is drawn from the
    assessor's own distribution of guesses. Competence, guesses and the frequencies of the true grades are estimated by
    variational Bayes, with topics pooled.

    Parameters
    ----------
    prior : "fitted" estimates the frequencies of the true grades with a uniform Dirichlet prior; "uniform" assumes that
        all grades are equally frequent, as the paper does. If 9 documents in 10 have the same grade, "uniform" recovers
        fewer true grades than a majority vote.
    restarts : number of starts; the one with the highest objective is used. The first start assumes that half of each
        assessor's judgments were known; the others are random.
    knowing : both parameters of the Beta prior of knowing (.5 in the authors' program).
    guessing : parameter of the Dirichlet prior of guesses (default: 1 with fitted frequencies, 10 with uniform ones, as
        in the authors' program). With 10, guesses are expected to be nearly uniform, so an assessor who always gives
        the most frequent grade may be estimated to know.
    tol, max_iterations : of each start: stop when no probability changes by tol, or after so many iterations (with a
        warning). The authors' program always runs 50.
    rng : source of chance for the starts. repeats, combine_scales : as of `majority_vote`.

    The objective is the lower bound of the log-evidence that variational Bayes maximises: the log-likelihood under
    exp E log of the parameters, minus the divergences of their posteriors from their priors. `log_likelihood` is that
    of the judgments at the posterior means of the parameters; `competence` is the posterior mean of knowing, `prior`
    that of the frequencies.

    Raises
    ------
    ScaleError
        Fractions or magnitudes on one scale; magnitudes beside another; "as-is" of scales that cannot be one.
    """
    check_choice("prior", prior, Prior)
    guessing = GUESSING[prior] if guessing is None else guessing
    if not (restarts >= 1 and max_iterations >= 1 and tol > 0 and knowing > 0 and guessing > 0):
        raise ArgumentError(
            f"restarts={restarts}, max_iterations={max_iterations}, tol={tol}, knowing={knowing}, guessing={guessing}: "
            "expected 1 or more, 1 or more, and numbers above 0"
        )
    data = coded_grades(judgments, repeats, combine_scales, "mace")
    seed = seed_of(rng) if restarts > 1 else None
    counts = judgments_by_grade(data)
    fits = [fit(data, counts, counts / 2, prior, knowing, guessing, tol, max_iterations)]
    if seed is not None:
        chance = Chance.of(seed)
        by_label = np.argsort(np.argsort(data.assessors))
        for number in range(1, restarts):
            share = chance.stream("mace", number).random(counts.shape)[by_label]  # independent of the order of rows
            fits.append(fit(data, counts, counts * share, prior, knowing, guessing, tol, max_iterations))
    best = max(fits, key=lambda one: float(one.objective[-1]))
    if not best.converged:
        warnings.warn(
            f"mace did not converge within {max_iterations} iterations; raise max_iterations or tol", stacklevel=2
        )
    options = f"prior={prior!r}, restarts={restarts}, knowing={knowing:g}, guessing={guessing:g}, tol={tol:g}"
    grade, n_ties = most_probable(best.posterior)
    return aggregate_of(
        data,
        "mace",
        f"mace({options}, max_iterations={max_iterations}, repeats={repeats!r})",
        data.grades[grade],
        best.posterior,
        n_ties=n_ties,
        competence=best.competence,
        prior=best.prior,
        iterations=len(best.objective),
        converged=best.converged,
        log_likelihood=best.log_likelihood,
        objective=best.objective,
        seed=seed,
    )


def judgments_by_grade(data: Coded) -> Floats:
    """(assessors, grades) number of judgments of each assessor with each grade."""
    n_assessors = len(data.assessors)
    n_grades = data.grades.size
    cells = data.assessor.astype(np.int64) * n_grades + data.code
    counts = np.bincount(cells, minlength=n_assessors * n_grades)
    return counts.reshape(n_assessors, n_grades).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of one start; fields as in `Aggregate`."""

    posterior: Floats
    competence: Floats
    prior: Floats
    converged: bool
    log_likelihood: float
    objective: Floats


def fit(
    data: Coded,
    counts: Floats,
    knew: Floats,
    prior: Prior,
    knowing: float,
    guessing: float,
    tol: float,
    max_iterations: int,
) -> Fit:
    """Alternate between estimates of competences, guesses and frequencies and of true grades and known judgments.

    counts, knew : (assessors, grades) number of judgments, and the expected number of those that were known; knew is
        overwritten.

    The factors of the variational posterior are a Beta of each assessor's knowing, a Dirichlet of each assessor's
    guesses, a Dirichlet of the frequencies, and the joint distribution of true grades and known judgments. Each pass
    sets the first three to the optimum given the last (priors plus expected counts), and the last to its optimum given
    them (the posterior under exp E log of the parameters). So the bound never falls.
    """
    from qrowd.kernels.confusion import Rows, expect_knowing

    rows = Rows(data.starts, data.assessor, data.code)
    n_grades = data.grades.size
    posterior = np.full((data.n_pairs, n_grades), 1 / n_grades)
    log_prior = np.full(n_grades, -np.log(n_grades))
    objective: list[float] = []
    change = np.inf
    while len(objective) < max_iterations and not change < tol:
        skill, preference = _beliefs(counts, knew, knowing, guessing)
        weight, share = (np.exp(_expected_log(belief)) for belief in (skill, preference))
        divergence = _divergence(skill, knowing) + _divergence(preference, guessing)
        if prior == "fitted":
            frequency = _frequency(posterior)
            log_prior = _expected_log(frequency)[0]
            divergence += _divergence(frequency, FREQUENCY)
        knows = weight[:, 0].copy()
        guesses = weight[:, 1:] * share
        evidence, change = expect_knowing(*rows, log_prior, knows, guesses, posterior, knew)
        objective.append(evidence - divergence)
    skill, preference = (b / b.sum(axis=1, keepdims=True) for b in _beliefs(counts, knew, knowing, guessing))
    frequency = _frequency(posterior) if prior == "fitted" else np.ones((1, n_grades))
    frequencies = frequency[0] / frequency.sum()
    knows = skill[:, 0].copy()
    guesses = skill[:, 1:] * preference
    unused = np.empty_like(posterior), np.empty_like(knew)
    log_likelihood, _ = expect_knowing(*rows, np.log(frequencies), knows, guesses, *unused)
    return Fit(posterior, skill[:, 0], frequencies, bool(change < tol), log_likelihood, np.array(objective))


def _frequency(posterior: Floats) -> Floats:
    """(1, grades) parameters of the Dirichlet of the frequencies of grades."""
    return np.asarray(FREQUENCY + posterior.sum(axis=0, keepdims=True))


def _beliefs(counts: Floats, knew: Floats, knowing: float, guessing: float) -> tuple[Floats, Floats]:
    """(assessors, 2) parameters of the Beta of knowing, and (assessors, grades) of the Dirichlet of guesses."""
    guessed = counts - knew
    return knowing + np.stack([knew.sum(axis=1), guessed.sum(axis=1)], axis=1), guessing + guessed


def _expected_log(dirichlet: Floats) -> Floats:
    """(rows, cells) expected logarithm of each probability: digamma(a) - digamma(sum of a)."""
    from scipy.special import digamma

    return np.asarray(digamma(dirichlet) - digamma(dirichlet.sum(axis=1, keepdims=True)))


def _divergence(dirichlet: Floats, prior: float) -> float:
    """Kullback-Leibler divergence of Dirichlets, one a row, from the one whose parameters are all `prior`; summed."""
    from scipy.special import gammaln

    n_rows, n_cells = dirichlet.shape
    normaliser = gammaln(dirichlet.sum(axis=1)).sum() - gammaln(dirichlet).sum()
    of_prior = n_rows * (gammaln(n_cells * prior) - n_cells * gammaln(prior))
    return float(normaliser - of_prior + ((dirichlet - prior) * _expected_log(dirichlet)).sum())
