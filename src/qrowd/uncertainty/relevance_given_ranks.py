"""Which documents are relevant, given what assessors say and where the runs rank them: draws from the posterior.

A posterior from labels alone forgets that a document at the top of good runs is likelier to be relevant than its labels
say. Here the prior probability of relevance depends on the ranks, by a probit regression that is learnt together with
the assessors' rates of error. Gibbs sampling: Albert & Chib (1993), Bayesian Analysis of Binary and Polychotomous
Response Data. JASA 88(422); errors of assessors as Dawid & Skene (1979), Appl. Stat. 28(1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.kernels.arrays import Bools, Floats
from qrowd.model.alignment import align
from qrowd.model.chance import Rng, Seed, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.panel import Panel, Pool
from qrowd.model.result import Result
from qrowd.model.runs import Runs, ScoreDtype
from qrowd.model.scales import parse_scale
from qrowd.uncertainty.label_samples import whole

CONVENTIONS = Conventions()
WARM_UP = 400  # iterations before the first draw
THINNING = 2  # iterations per draw
ALIKE = 0.05  # p of independent errors below which assessors are reported to err alike


@dataclass(frozen=True, eq=False)
class RelevanceGivenRanks(Result):
    """Draws of which pooled documents are relevant.

    relevant : (pairs, n_resamples) bool, a column per draw. probability : (pairs,) share of the draws in which it is
        relevant.
    sensitivity, specificity : (assessors,) posterior means: the share of relevant documents an assessor calls relevant,
        and of others that they do not.
    weight : (systems,) posterior mean of how much a system's ranks say of relevance, the others' given.
    p_independent : posterior predictive p-value of assessors' errors being independent given relevance; where it is
        small, they err alike and everything drawn is too sure. nan with one assessor.
    """

    pool: Pool
    assessors: tuple[str, ...]
    systems: tuple[str, ...]
    relevant: Bools
    probability: Floats
    sensitivity: Floats
    specificity: Floats
    weight: Floats
    p_independent: float
    n_resamples: int
    seed: Seed

    @property
    def independent(self) -> bool:
        """Whether assessors may err independently; if not, the draws hold few true scores."""
        return not self.p_independent < ALIKE

    def panel(self) -> Panel:
        """The draws as so many assessors who say yes or no."""
        names = tuple(f"draw {i}" for i in range(1, self.n_resamples + 1))
        return Panel(self.pool, names, (parse_scale("binary"),) * self.n_resamples, self.relevant.astype(np.float64))

    def _tables(self) -> dict[str, Any]:
        return {"documents": self._documents, "assessors": self._assessors, "systems": self._systems}

    def _documents(self) -> dict[str, Any]:
        topic = np.repeat(np.arange(len(self.pool.topics)), np.diff(self.pool.starts))
        return {
            "topic": np.array(self.pool.topics, object)[topic],
            "document": np.array(self.pool.documents, object)[self.pool.document],
            "probability": self.probability,
        }

    def _assessors(self) -> dict[str, Any]:
        return {"assessor": self.assessors, "sensitivity": self.sensitivity, "specificity": self.specificity}

    def _systems(self) -> dict[str, Any]:
        return {"system": self.systems, "weight": self.weight}


def relevance_given_ranks(
    runs: Runs,
    judgments: Judgments,
    *,
    n_resamples: int = 1000,
    conventions: Conventions = CONVENTIONS,
    rng: Rng = None,
) -> RelevanceGivenRanks:
    """Draw relevance (yes or no) of the pooled documents from its posterior given labels and ranks.

    Document d of topic t is relevant if x_d b + a_t + e_d > 0, e_d standard normal: x_d holds, for each system, the
    normal score of the document's rank among the topic's pooled documents (those not retrieved share the mean of what
    is left), b ~ N(0, 1) each, with more than six systems 6 / systems; a_t ~ N(0, v) with v inverse gamma. Assessor j
    calls a relevant document relevant with probability s_j ~ Beta(2, 1), another with f_j ~ Beta(1, 2), independently
    of the ranks and of other assessors. 400 iterations are thrown away, then every second is a draw.

    What it rests on: assessors whose errors are independent given relevance. Those who all err where a document is hard
    make it too sure; `p_independent` checks that, by how often errors of replicated labels go together as much as those
    of the labels. Nothing checks whether all are lenient or severe alike. What nobody judged is not relevant.

    judgments : every assessor's own scale says what is relevant. n_resamples : draws.
    conventions : its `repeats` and `score_dtype` are used.

    Raises
    ------
    ScaleError
        A scale that does not say what is relevant (magnitudes).
    NoOverlapError
        Runs and judgments share no topic.
    """
    n = whole("n_resamples", n_resamples)
    panel = judgments.panel(repeats=conventions.repeats)
    if np.isnan(panel.values).all():
        raise ArgumentError("judgments: no document was judged")
    for name, lowest in zip(panel.assessors, panel.rel, strict=True):
        if np.isnan(lowest):
            raise ScaleError(f"assessor {name}: the scale does not say what is relevant; recode the values to 0 and 1")
    seed = seed_of(rng)
    labels = np.where(np.isnan(panel.values), np.nan, panel.values >= panel.rel).T
    topic = np.repeat(np.arange(len(panel.pool.topics)), np.diff(panel.pool.starts))
    relevant, rates, weights, p_independent = _draws(
        labels, _normal_scores(runs, panel.pool, conventions.score_dtype), topic, n, np.random.default_rng(seed)
    )
    return RelevanceGivenRanks(
        panel.pool,
        panel.assessors,
        runs.systems,
        relevant,
        relevant.mean(axis=1),
        rates[0],
        1 - rates[1],
        weights,
        p_independent,
        n,
        seed,
    )


def _normal_scores(runs: Runs, pool: Pool, score_dtype: ScoreDtype) -> Floats:
    """(pairs, systems) the normal score of each document's rank among the pooled ones; 0 on topics without a run."""
    from scipy.special import ndtri

    if not set(runs.topics) & set(pool.topics):
        raise NoOverlapError(f"runs and judgments share no topic: {runs.topics[:3]} and {pool.topics[:3]}")
    scores = np.zeros((pool.document.size, len(runs.systems)))
    for t, alignment_of_topic in enumerate(align(runs, pool, score_dtype).topics):
        here = pool.rows(t)
        size = here.stop - here.start
        normal = ndtri(1 - (np.arange(size) + 0.5) / size)
        for s, row in enumerate(alignment_of_topic.rows):
            known = row[row >= 0]
            if known.size:
                scores[here, s] = normal[known.size :].mean() if known.size < size else 0.0
                scores[here.start + known, s] = normal[: known.size]
    return scores


def _draws(
    labels: Floats, scores: Floats, topic: NDArray[np.int64], n: int, random: np.random.Generator
) -> tuple[Bools, Floats, Floats, float]:
    """Draws of relevance, (2, assessors) rates of "relevant" among relevant and others, (systems,) weights, p-value."""
    from scipy.special import ndtr

    known = ~np.isnan(labels)
    yes, no = (np.where(known, labels, 0.0), np.where(known, 1.0 - labels, 0.0))
    design = np.column_stack([np.ones(scores.shape[0]), scores])
    precision = np.append(0.1, np.full(scores.shape[1], max(1.0, scores.shape[1] / 6)))
    covariance = np.linalg.inv(design.T @ design + np.diag(precision))
    root = np.linalg.cholesky(covariance)
    sizes = np.bincount(topic).astype(np.float64)
    relevant = yes.sum(axis=0) > no.sum(axis=0)
    weights, effects, variance = np.zeros(precision.size), np.zeros(sizes.size), 0.1
    draws = np.empty((topic.size, n), bool)
    rates, mean_weights, more_alike = np.zeros((2, len(labels))), np.zeros(precision.size), 0.0
    for iteration in range(WARM_UP + THINNING * n):
        hit = random.beta(2 + yes @ relevant, 1 + no @ relevant)
        false = random.beta(1 + yes @ ~relevant, 2 + no @ ~relevant)
        centre = design @ weights + effects[topic]
        prior = ndtr(centre)
        odds = np.log(hit / false) @ yes + np.log((1 - hit) / (1 - false)) @ no
        relevant = random.random(topic.size) * (prior + (1 - prior) * np.exp(-np.clip(odds, -500, 500))) < prior
        latent = _truncated_normal(centre, relevant, random)
        mean = covariance @ (design.T @ (latent - effects[topic]))
        weights = mean + root @ random.standard_normal(mean.size)
        rest = np.bincount(topic, latent - design @ weights)
        shrunk = 1 / (sizes + 1 / variance)
        effects = shrunk * rest + np.sqrt(shrunk) * random.standard_normal(sizes.size)
        variance = 1 / random.gamma((sizes.size + 1) / 2, 2 / (float((effects**2).sum()) + 0.1))
        number, odd = divmod(iteration - WARM_UP, THINNING)
        if number >= 0 and not odd:
            draws[:, number] = relevant
            rates += np.stack([hit, false]) / n
            mean_weights += weights / n
            expected = np.where(relevant, hit[:, None], false[:, None])
            replicate = (random.random(expected.shape) < expected).astype(np.float64)
            more_alike += (_alike(replicate - expected, known) >= _alike(yes - expected, known)) / n
    return draws, rates, mean_weights[1:], more_alike if (known.sum(axis=0) > 1).any() else np.nan


def _alike(errors: Floats, known: Bools) -> float:
    """Sum over documents and pairs of assessors of the products of their (assessors, pairs) errors, twice."""
    errors_or_zero = np.where(known, errors, 0.0)
    return float((errors_or_zero.sum(axis=0) ** 2).sum() - (errors_or_zero**2).sum())


def _truncated_normal(centre: Floats, positive: Bools, random: np.random.Generator) -> Floats:
    """Normal numbers of s.d. 1 about the centres, above 0 where `positive` and below elsewhere."""
    from scipy.special import ndtr, ndtri

    below = ndtr(-centre)
    share = random.random(centre.size)
    quantile = np.where(positive, below + share * (1 - below), share * below)
    return np.asarray(centre + ndtri(np.clip(quantile, 1e-12, 1 - 1e-12)))
