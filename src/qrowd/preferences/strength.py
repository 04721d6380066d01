"""How strong each document is, from who was preferred to whom; how far each assessor is to be trusted; and how sure.

Bradley & Terry (1952), Rank Analysis of Incomplete Block Designs. Biometrika 39(3/4), 324-345.
Davidson (1970), On Extending the Bradley-Terry Model to Accommodate Ties. JASA 65(329), 317-328.
Chen, Bennett, Collins-Thompson & Horvitz (2013), Pairwise Ranking Aggregation in a Crowdsourced Setting. WSDM, 193-202.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels import strength as kernels
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.frames import make_frame
from qrowd.model.panel import Pool
from qrowd.model.preferences import Preferences
from qrowd.preferences.comparisons import Comparisons, Ties, comparisons, components, need_chains
from qrowd.preferences.topic_strengths import TopicStrengths, inverse
from qrowd.threads import in_threads

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Over = Literal["pairs", "assessors", "both"]
REPLICATE_TOL = 1e-4  # of the fits of a bootstrap, whose own spread is far wider
CHUNK = 25  # replicates that one thread does in a row


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """Strengths of the documents of every topic, each topic's adding up to 0.

    method : the call with every option.
    pool : the documents of every topic; strengths are in its order.
    strength : (documents,) in log-odds: an assessor of reliability 1 prefers i to j with probability
        sigmoid(s_i - s_j). nan for documents that were marked, never compared.
    low, high : (documents,) ends of the interval; nan without a bootstrap.
    component : (documents,) which documents of the topic are linked by comparisons, from 0; -1 where never compared.
        Between components strengths compare by the ridge alone.
    assessors, reliability, reliability_low, reliability_high : (assessors,) below 0 for an adversary; all 1 where they
        were not asked for.
    intercept : (assessors,) log-odds in favour of what is shown first; 0 where none was asked for.
    nu : how likely ties are; 0 where they were not modelled.
    log_likelihood, objective : of the preferences; and with the penalties, negative, as minimised.
    iterations, converged, steepest : steps (of strengths alone: the most that a topic took), whether every derivative
        came down to tol, and the largest.
    n_comparisons : weight of all preferences. n_replicates, over, confidence, seed : of the bootstrap; give `seed` as
        `rng` to see the same intervals again.
    """

    method: str
    pool: Pool
    strength: Floats
    low: Floats
    high: Floats
    component: Ints
    assessors: tuple[str, ...]
    reliability: Floats
    reliability_low: Floats
    reliability_high: Floats
    intercept: Floats
    nu: float
    ridge: float
    log_likelihood: float
    objective: float
    iterations: int
    converged: bool
    steepest: float
    n_comparisons: float
    counted: Comparisons = field(repr=False)
    n_replicates: int = 0
    over: Over | None = None
    confidence: float = 0.95
    seed: Seed | None = None

    def topic(self, topic: str) -> TopicStrengths:
        """The strengths of one topic, documents being places in its part of the pool, ready to be updated."""
        if topic not in self.pool.topics:
            raise ArgumentError(f"no topic is called {topic!r}; there are {len(self.pool.topics)}")
        number = self.pool.topics.index(topic)
        rows, all_of = self.pool.rows(number), self.counted
        here = slice(int(all_of.starts[number]), int(all_of.starts[number + 1]))
        who = all_of.assessor[here]
        scale, shift = self.reliability[who], self.intercept[who] * all_of.side[here]
        first, second = (np.asarray(side[here] - np.int32(rows.start)) for side in (all_of.first, all_of.second))
        strength = np.nan_to_num(self.strength[rows])
        curvature = kernels.curvature(first, second, scale, shift, all_of.total[here], self.nu, self.ridge, strength)
        return TopicStrengths(
            strength,
            inverse(curvature, self.ridge),
            first,
            second,
            scale,
            shift,
            all_of.won[here],
            all_of.lost[here],
            all_of.tied[here],
            self.ridge,
            self.nu,
        )

    def updated(self, topic: str, preferred: str, other: str, *, assessor: str | None = None) -> TopicStrengths:
        """The strengths of a topic after one more preference, without fitting anew; see `TopicStrengths.updated`.

        assessor : who said it, for the reliability; None for someone of reliability 1.
        """
        rows = self.pool.rows(self.pool.topics.index(topic)) if topic in self.pool.topics else slice(0)
        before = self.topic(topic)
        labels = [self.pool.documents[d] for d in self.pool.document[rows].tolist()]
        for document in (preferred, other):
            if document not in labels:
                raise ArgumentError(f"document {document!r} was not compared on topic {topic}")
        if assessor is not None and assessor not in self.assessors:
            raise ArgumentError(f"no assessor is called {assessor!r}; leave it out for someone of reliability 1")
        trust = 1.0 if assessor is None else float(self.reliability[self.assessors.index(assessor)])
        return before.updated(labels.index(preferred), labels.index(other), reliability=trust)

    def probability(self, topic: str, preferred: str, other: str) -> float:
        """That an assessor of reliability 1, who decides, prefers the one document to the other."""
        labels = self.documents_of(topic)
        for document in (preferred, other):
            if document not in labels:
                raise ArgumentError(f"document {document!r} was not compared on topic {topic}")
        here = self.strength[self.pool.rows(self.pool.topics.index(topic))]
        return float(0.5 * (1 + np.tanh((here[labels.index(preferred)] - here[labels.index(other)]) / 2)))

    def documents_of(self, topic: str) -> list[str]:
        """The labels of a topic's documents, in the order of the pool."""
        if topic not in self.pool.topics:
            raise ArgumentError(f"no topic is called {topic!r}; there are {len(self.pool.topics)}")
        rows = self.pool.rows(self.pool.topics.index(topic))
        return [self.pool.documents[d] for d in self.pool.document[rows].tolist()]

    @cached_property
    def standard_error(self) -> Floats:
        """(documents,) of each strength, from the second derivatives of the objective; reliabilities being given.

        Only the place within the topic is in doubt: strengths add up to 0, so what the ridge leaves open about all of
        them together does not count.
        """
        found = np.full(self.strength.size, np.nan)
        for number, topic in enumerate(self.pool.topics):
            rows = self.pool.rows(number)
            together = 1 / (2 * self.ridge * max(int((self.component[rows] >= 0).sum()), 1)) if self.ridge else 0.0
            found[rows] = np.sqrt(np.maximum(np.diag(self.topic(topic).covariance) - together, 0.0))
        return np.where(np.isnan(self.strength), np.nan, found)

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per topic and document, best first within a topic."""
        topic = np.repeat(np.arange(len(self.pool.topics)), np.diff(self.pool.starts))
        rows = np.lexsort((-self.strength, topic))
        columns = {
            "topic": np.array(self.pool.topics, object)[topic[rows]],
            "document": np.array(self.pool.documents, object)[self.pool.document[rows]],
            "strength": self.strength[rows],
            "standard_error": self.standard_error[rows],
            "component": self.component[rows],
        }
        if self.n_replicates:
            columns |= {"low": self.low[rows], "high": self.high[rows]}
        return make_frame(columns, backend)

    def assessors_frame(self, backend: str = "pandas") -> Any:
        """One row per assessor: reliability, its interval, intercept, and weight of preferences."""
        weight = np.bincount(self.counted.assessor, self.counted.total, minlength=len(self.assessors))
        return make_frame(
            {
                "assessor": np.array(self.assessors, object),
                "reliability": self.reliability,
                "low": self.reliability_low,
                "high": self.reliability_high,
                "intercept": self.intercept,
                "n_comparisons": weight,
            },
            backend,
        )


def bradley_terry(
    preferences: Preferences,
    *,
    ridge: float = 0.1,
    reliability: bool = False,
    pull: float = 1.0,
    ties: Ties = "half",
    definite: float = 1.0,
    position: bool = False,
    tol: float = 1e-8,
    max_iterations: int = 1000,
    bootstrap: int = 0,
    over: Over = "pairs",
    confidence: float = 0.95,
    rng: Rng = None,
    threads: int | None = None,
) -> BradleyTerry:
    """The most probable strengths of every topic's documents, all its assessors together.

    P(assessor a prefers i to j) = sigmoid(r_a (s_i - s_j) + c_a x),   x = 1 if i was shown first, -1 if j was

    Every row of the preferences counts: repeats, contradictions and cycles are what the model is for.

    Parameters
    ----------
    ridge : ridge * sum s^2 is subtracted from the log-likelihood, as if s were Gaussian with variance 1 / (2 ridge)
        (choix calls it alpha). 0: maximum likelihood, which exists only where every document of a topic beats, over
        some chain, every other one.
    reliability : estimate r_a, one for every assessor over all topics: below 1 for who is less sure than most, about 0
        for who answers by chance, below 0 for who prefers the worse. Their mean square is held at 1, since (s, r) and
        (c s, r / c) predict the same; and pull * sum (r_a - 1)^2 is subtracted, so most assessors are presumed honest,
        which decides between (s, r) and (-s, -r). Without it all r_a are 1.
    ties : half a preference each way counts as such ("half"), or as one tie, with P(i) : P(j) : P(tie) =
        exp(eta / 2) : exp(-eta / 2) : nu ("davidson"); ridge * log(nu)^2 is subtracted.
    definite : how much a preference of strength 2 weighs.
    position : estimate c_a, how far an assessor favours what is shown first; ridge * sum c_a^2 is subtracted.
    tol, max_iterations : stop when no derivative exceeds tol, or after so many steps (with a warning). With
        reliabilities the objective may have several minima; the start is everyone's reliability at 1, then strengths
        and reliabilities in turn, then all together.
    bootstrap : number of replicates for percentile intervals; 0 for none.
    over : what is drawn with replacement: "pairs" of documents within each topic, with all that was said of them;
        "assessors", with all that they said; or "both", independently, weights multiplied. An assessor drawn twice is
        two assessors alike. Who is honest is decided by everybody: each replicate starts from the fit, so that one with
        more adversaries than others is not turned round.
    rng : for the bootstrap. threads : as many as there are processors by default.

    Raises
    ------
    NoOverlapError
        Not a single preference; `over="assessors"` with a single assessor.
    ArgumentError
        An option outside its range; ridge=0 where strengths are not determined.
    """
    _check(ridge, pull, ties, definite, tol, max_iterations, bootstrap, over, confidence)
    if not len(preferences):
        raise NoOverlapError("there is no preference, so there are no strengths to tell")
    if position and (preferences.first is None or np.isnan(preferences.first).all()):
        raise ArgumentError("position=True: the preferences do not say which document was shown first")
    if bootstrap and over != "pairs" and len(preferences.assessors) < 2:
        raise NoOverlapError(f"over={over!r} draws assessors, and there is only one; choose over='pairs'")
    data = comparisons(preferences, ties=ties, definite=definite, sides=position)
    if ridge == 0:
        if reliability or position or ties == "davidson":
            raise ArgumentError("ridge=0 gives strengths alone; take a ridge above 0 for anything else")
        need_chains(data)
    davidson = ties == "davidson" and bool((data.tied > 0).any())
    seed = seed_of(rng) if bootstrap else None
    plan = _Plan(ridge, pull, reliability, position, davidson, max_iterations)
    start = _Parameters.at_start(data.pool.document.size, len(preferences.assessors), davidson)
    found = plan.fit(data, np.ones(len(preferences.assessors)), tol, start, cold=True)
    if not found.steepest <= tol:
        warnings.warn(
            f"bradley_terry did not converge: after {found.iterations} steps a derivative is {found.steepest:.2g}; "
            "raise max_iterations, tol or ridge",
            stacklevel=2,
        )
    component, compared = components(data)
    found.centre(data, compared)
    low, high = np.full((2, found.strength.size), np.nan)
    reliability_low, reliability_high = np.full((2, found.reliability.size), np.nan)
    if seed is not None:
        drawn = _replicates(plan, data, found, bootstrap, over, seed, threads, compared)
        ends = [(1 - confidence) / 2, (1 + confidence) / 2]
        low, high = np.quantile(drawn[0], ends, axis=0)
        if reliability:
            reliability_low, reliability_high = _quantiles(drawn[1], ends)
    options = (
        f"ridge={ridge:g}, reliability={reliability}, pull={pull:g}, ties={ties!r}, definite={definite:g}, "
        f"position={position}, tol={tol:g}, max_iterations={max_iterations}"
    )
    return BradleyTerry(
        f"bradley_terry({options})",
        data.pool,
        np.where(compared, found.strength, np.nan),
        np.where(compared, low, np.nan),
        np.where(compared, high, np.nan),
        component,
        preferences.assessors,
        found.reliability,
        reliability_low,
        reliability_high,
        found.intercept,
        float(np.exp(found.theta[0])),
        ridge,
        kernels.log_likelihood(*data.arrays, found.strength, found.reliability, found.intercept, found.theta),
        found.objective,
        found.iterations,
        bool(found.steepest <= tol),
        found.steepest,
        float(data.total.sum()),
        data,
        bootstrap,
        over if bootstrap else None,
        confidence,
        seed,
    )


def _check(
    ridge: float,
    pull: float,
    ties: str,
    definite: float,
    tol: float,
    max_iterations: int,
    bootstrap: int,
    over: str,
    confidence: float,
) -> None:
    if ties not in get_args(Ties):
        raise ArgumentError(f"ties={ties!r}: choose one of {', '.join(get_args(Ties))}")
    if over not in get_args(Over):
        raise ArgumentError(f"over={over!r}: choose one of {', '.join(get_args(Over))}")
    if not (0 <= ridge < np.inf and 0 < pull < np.inf and 0 < definite < np.inf):
        raise ArgumentError(
            f"ridge={ridge}, pull={pull}, definite={definite}: 0 or more, and numbers above 0, expected"
        )
    if not (tol > 0 and max_iterations >= 1 and bootstrap >= 0 and 0 < confidence < 1):
        raise ArgumentError(
            f"tol={tol}, max_iterations={max_iterations}, bootstrap={bootstrap}, confidence={confidence}: above 0, 1 "
            "or more, 0 or more, and between 0 and 1 were expected"
        )


@dataclass(eq=False)
class _Parameters:
    """What is fitted, as arrays that a fit overwrites; and how it went."""

    strength: Floats
    reliability: Floats
    intercept: Floats
    theta: Floats
    iterations: int = 0
    objective: float = np.nan
    steepest: float = np.inf

    @classmethod
    def at_start(cls, n_documents: int, n_assessors: int, davidson: bool) -> _Parameters:
        theta = np.array([0.0 if davidson else -np.inf])
        return cls(np.zeros(n_documents), np.ones(n_assessors), np.zeros(n_assessors), theta)

    def copy(self) -> _Parameters:
        return _Parameters(self.strength.copy(), self.reliability.copy(), self.intercept.copy(), self.theta.copy())

    def centre(self, data: Comparisons, compared: NDArray[np.bool_]) -> None:
        """Make every topic's strengths add up to 0, which the ridge has done up to rounding."""
        topic = np.repeat(np.arange(len(data.pool.topics)), np.diff(data.pool.starts))
        n = np.maximum(np.bincount(topic, compared, minlength=len(data.pool.topics)), 1)
        mean = np.bincount(topic, np.where(compared, self.strength, 0.0), minlength=n.size) / n
        self.strength -= np.where(compared, mean[topic], self.strength)


@dataclass(frozen=True)
class _Plan:
    """What is fitted, and under which penalties."""

    ridge: float
    pull: float
    reliability: bool
    position: bool
    davidson: bool
    max_iterations: int

    def fit(self, data: Comparisons, times: Floats, tol: float, at: _Parameters, *, cold: bool) -> _Parameters:
        """The minimum that is reached from `at`, which is overwritten.

        times : (assessors,) how many assessors each stands for. cold : the start says nothing yet.
        """
        jointly = self.reliability or self.position or self.davidson
        if cold or not jointly:
            steps = np.zeros(len(data.pool.topics), np.int64)
            steepest = np.zeros(len(data.pool.topics))
            kernels.fit_topics(
                data.starts,
                data.pool.starts,
                *data.arrays,
                self.ridge,
                tol,
                self.max_iterations,
                at.strength,
                at.reliability,
                at.intercept,
                at.theta,
                steps,
                steepest,
            )
            at.iterations, at.steepest = int(steps.max(initial=0)), float(steepest.max(initial=0.0))
        if not jointly:
            penalty = self.ridge * float((at.strength**2).sum())
            at.objective = penalty - kernels.log_likelihood(
                *data.arrays, at.strength, at.reliability, at.intercept, at.theta
            )
            return at
        others = (False, self.reliability, self.position, self.davidson)
        if cold:
            for _ in range(5):
                for moving in (others, (True, False, False, False)):
                    at.iterations += self._step(data, times, 1e-3, at, moving)
        everything = (True, *others[1:])
        at.iterations += self._step(data, times, tol, at, everything)
        if cold and self.reliability and float(times @ at.reliability) < 0:  # turned round, the same, and less pull
            at.strength *= -1
            at.reliability *= -1
            at.iterations += self._step(data, times, tol, at, everything)
        return at

    def _step(
        self, data: Comparisons, times: Floats, tol: float, at: _Parameters, moving: tuple[bool, bool, bool, bool]
    ) -> int:
        steps, at.objective, at.steepest = kernels.fit(
            *data.arrays,
            self.ridge,
            self.pull,
            times,
            np.array(moving),
            tol,
            self.max_iterations,
            at.strength,
            at.reliability,
            at.intercept,
            at.theta,
        )
        return int(steps)


def _replicates(
    plan: _Plan,
    data: Comparisons,
    fitted: _Parameters,
    n: int,
    over: Over,
    seed: Seed,
    threads: int | None,
    compared: NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """(n, documents) strengths and (n, assessors) reliabilities of n samples drawn with replacement.

    A document whose every comparison is left out of a sample has strength 0 there, as the ridge says; an assessor who
    is left out has no reliability.
    """
    chance, n_assessors = Chance.of(seed), fitted.reliability.size
    strength, reliability = np.empty((n, fitted.strength.size)), np.full((n, n_assessors), np.nan)
    settled = np.zeros(n, bool)
    by_topic = np.searchsorted(data.pool.starts, data.first[np.unique(data.pair, return_index=True)[1]], side="right")
    _, begin, size = np.unique(by_topic, return_index=True, return_counts=True)

    def draw(random: np.random.Generator) -> tuple[Floats, Floats]:
        often, times = np.ones(data.pair.size), np.ones(n_assessors)
        if over != "pairs":
            times = np.bincount(random.integers(n_assessors, size=n_assessors), minlength=n_assessors).astype(float)
            often = times[data.assessor]
        if over != "assessors":
            drawn = np.repeat(begin, size) + (random.random(by_topic.size) * np.repeat(size, size)).astype(np.int64)
            often = often * np.bincount(drawn, minlength=by_topic.size)[data.pair]
        return often, times

    def some(numbers: range) -> None:
        for number in numbers:
            often, times = draw(chance.stream("strength", number))
            sample = data.times(often)
            one = plan.fit(sample, times, REPLICATE_TOL, fitted.copy(), cold=False)
            one.centre(data, compared)
            strength[number] = one.strength
            reliability[number] = np.where(times > 0, one.reliability, np.nan)
            settled[number] = one.steepest <= REPLICATE_TOL

    for _ in in_threads(some, [range(at, min(at + CHUNK, n)) for at in range(0, n, CHUNK)], threads):
        pass
    if not settled.all():
        warnings.warn(f"{int((~settled).sum())} of {n} replicates did not converge; raise max_iterations", stacklevel=3)
    return strength, reliability


def _quantiles(drawn: Floats, ends: list[float]) -> Floats:
    """(ends, columns) quantiles of each column, replicates without a value aside."""
    known = ~np.isnan(drawn)
    columns = [
        np.quantile(drawn[known[:, k], k], ends) if known[:, k].any() else [np.nan] * 2 for k in range(drawn.shape[1])
    ]
    return np.array(columns).T
