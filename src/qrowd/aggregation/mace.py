"""MACE: who knows and who guesses.

Hovy, Berg-Kirkpatrick, Vaswani & Hovy (2013), Learning Whom to Trust with MACE. NAACL-HLT, 1120-1130; variational Bayes
(section 3), with grades that may be unequally frequent.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from qrowd.aggregation.aggregate import Aggregate, aggregate_of
from qrowd.aggregation.coded import Coded, Floats, Repeated, coded_grades
from qrowd.aggregation.dawid_skene import most_probable
from qrowd.errors import ArgumentError
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import CombineScales

Prior = Literal["fitted", "uniform"]
"""How frequent grades are before anyone judges: estimated from the judgments, or all the same (the paper)."""
GUESSING = {"fitted": 1.0, "uniform": 10.0}
FREQUENCY = 1.0  # parameter of the Dirichlet prior of grade frequencies: every set of frequencies equally likely


def mace(
    judgments: Judgments,
    *,
    prior: Prior = "fitted",
    restarts: int = 10,
    knowing: float = 0.5,
    guessing: float | None = None,
    tol: float = 1e-3,
    max_iterations: int = 1000,
    rng: Rng = None,
    repeats: Repeated = "first",
    combine_scales: CombineScales = "auto",
) -> Aggregate:
    """The most probable grades when each assessor, at each judgment, either knows the true grade or guesses.

    An assessor a knows with probability competence[a] and says the true grade; else says any grade by a preference of
    his or her own, whatever is true. Both are estimated by variational Bayes, topics pooled, and so is how frequent
    each true grade is.

    Parameters
    ----------
    prior : "fitted", the frequencies of the true grades are estimated, from a uniform Dirichlet prior; "uniform", all
        grades are equally frequent, as in the paper. Where 9 documents in 10 have the same grade, the latter recovers
        fewer true grades than a majority vote.
    restarts : how many starts are made; the one of the highest objective counts. The first takes half of every
        assessor's judgments for known; chance deals out the others.
    knowing : both parameters of the Beta prior of knowing, .5 as in the authors' program.
    guessing : the parameter of the Dirichlet prior of what is guessed. By default 1 with fitted frequencies, and 10
        with uniform ones, as in the authors' program. 10 takes guesses for nearly even; then somebody who says the same
        grade throughout may be taken for one who knows, as soon as that grade may be the frequent one.
    tol, max_iterations : of each start: stop when no probability changes by tol, or after so many iterations (with a
        warning). The authors' program always does 50.
    rng : for the starts.
    repeats : which of an assessor's repeated judgments counts: "first", "last", "all" of them, or "error".
    combine_scales : what becomes of unlike scales: "auto" counts each judgment as relevant or not, by its assessor's
        own scale; "as-is", "unit" and "relevant" do one of these in any case.

    The objective is the lower bound of the log-evidence that variational Bayes raises: the log-likelihood under
    exp E log of the parameters, less the divergences of their posteriors from their priors. `log_likelihood` is that of
    the judgments at the parameters' posterior means; `competence` is the posterior mean of knowing, `prior` that of the
    frequencies.

    Raises
    ------
    ScaleError
        Fractions or magnitudes on one scale; magnitudes beside another; "as-is" of scales that cannot be one.
    """
    if prior not in get_args(Prior):
        raise ArgumentError(f"prior={prior!r}: choose one of {', '.join(get_args(Prior))}")
    guessing = GUESSING[prior] if guessing is None else guessing
    if not (restarts >= 1 and max_iterations >= 1 and tol > 0 and knowing > 0 and guessing > 0):
        raise ArgumentError(
            f"restarts={restarts}, max_iterations={max_iterations}, tol={tol}, knowing={knowing}, guessing={guessing}: "
            "1 or more, 1 or more, and numbers above 0 were expected"
        )
    data = coded_grades(judgments, repeats, combine_scales, "mace")
    seed = seed_of(rng) if restarts > 1 else None
    said = judgments_by_grade(data)
    fits = [fit(data, said, said / 2, prior, knowing, guessing, tol, max_iterations)]
    if seed is not None:
        chance, by_label = Chance.of(seed), np.argsort(np.argsort(data.assessors))
        for number in range(1, restarts):
            known = chance.stream("mace", number).random(said.shape)[by_label]  # whatever the order of rows
            fits.append(fit(data, said, said * known, prior, knowing, guessing, tol, max_iterations))
    best = max(fits, key=lambda one: float(one.objective[-1]))
    if not best.converged:
        warnings.warn(
            f"mace did not converge within {max_iterations} iterations; raise max_iterations or tol", stacklevel=2
        )
    options = f"prior={prior!r}, restarts={restarts}, knowing={knowing:g}, guessing={guessing:g}, tol={tol:g}"
    chosen, n_ties = most_probable(best.posterior)
    return aggregate_of(
        data,
        "mace",
        f"mace({options}, max_iterations={max_iterations}, repeats={repeats!r})",
        data.grades[chosen],
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
    """(assessors, grades) how often each assessor gave each grade."""
    n_assessors, n_grades = len(data.assessors), data.grades.size
    cells = data.assessor.astype(np.int64) * n_grades + data.said
    counted = np.bincount(cells, minlength=n_assessors * n_grades)
    return counted.reshape(n_assessors, n_grades).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Fit:
    """Where one start has led to; posterior, competence, prior and the rest as of `Aggregate`."""

    posterior: Floats
    competence: Floats
    prior: Floats
    converged: bool
    log_likelihood: float
    objective: Floats


def fit(
    data: Coded,
    said: Floats,
    knew: Floats,
    prior: Prior,
    knowing: float,
    guessing: float,
    tol: float,
    max_iterations: int,
) -> Fit:
    """Estimate in turn who knows, what is true and how frequent that is, from how many judgments everyone knew.

    said, knew : (assessors, grades) judgments made, and those of them that were known; knew is overwritten.

    The factors of the variational posterior are a Beta of each assessor's knowing, a Dirichlet of what each guesses, a
    Dirichlet of the frequencies, and jointly what is true and who knew it. Each pass sets the first three to their best
    for the last, whose expected counts they add to their priors, and the last to its best for them: the posterior under
    exp E log of the parameters. So the bound never falls.
    """
    from qrowd.kernels.confusion import expect_knowing

    n_grades = data.grades.size
    posterior = np.full((data.n_pairs, n_grades), 1 / n_grades)
    log_prior = np.full(n_grades, -np.log(n_grades))
    objective: list[float] = []
    change = np.inf
    while len(objective) < max_iterations and not change < tol:
        skill, preference = _beliefs(said, knew, knowing, guessing)
        weight, share = (np.exp(_expected_log(belief)) for belief in (skill, preference))
        divergence = _divergence(skill, knowing) + _divergence(preference, guessing)
        if prior == "fitted":
            frequency = _frequency(posterior)
            log_prior = _expected_log(frequency)[0]
            divergence += _divergence(frequency, FREQUENCY)
        evidence, change = expect_knowing(
            data.starts,
            data.assessor,
            data.said,
            log_prior,
            weight[:, 0].copy(),
            weight[:, 1:] * share,
            posterior,
            knew,
        )
        objective.append(evidence - divergence)
    skill, preference = (b / b.sum(axis=1, keepdims=True) for b in _beliefs(said, knew, knowing, guessing))
    frequency = _frequency(posterior) if prior == "fitted" else np.ones((1, n_grades))
    frequencies = frequency[0] / frequency.sum()
    log_likelihood, _ = expect_knowing(
        data.starts,
        data.assessor,
        data.said,
        np.log(frequencies),
        skill[:, 0].copy(),
        skill[:, 1:] * preference,
        np.empty_like(posterior),
        np.empty_like(knew),
    )
    return Fit(posterior, skill[:, 0], frequencies, bool(change < tol), log_likelihood, np.array(objective))


def _frequency(posterior: Floats) -> Floats:
    """(1, grades) parameters of the Dirichlet of how frequent the grades are."""
    return np.asarray(FREQUENCY + posterior.sum(axis=0, keepdims=True))


def _beliefs(said: Floats, knew: Floats, knowing: float, guessing: float) -> tuple[Floats, Floats]:
    """(assessors, 2) parameters of the Beta of knowing, and (assessors, grades) of the Dirichlet of what is guessed."""
    guessed = said - knew
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
