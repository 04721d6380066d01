"""How similar assessors are to random ones, of which thousands are drawn and scored block by block.

Ferrante, Ferro, Maistro (2017), AWARE: Exploiting Evaluation Measures to Combine Multiple Assessors. ACM TOIS 36(2),
sections 4.2-4.4; equations are numbered as there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import unwrap
from itertools import product
from math import isfinite
from threading import local
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from qrowd.aware.estimators import GAPS, Gap
from qrowd.aware.similarity import Parts, Similarities, SimilarityOptions, refuse_high
from qrowd.errors import ArgumentError, ScaleError
from qrowd.evaluation import evaluate
from qrowd.evaluation.scoring_plan import Plan, parsed_measures
from qrowd.executors import AnyExecutor, in_executor
from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.panel import Coded, Panel, Pool
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.model.scores import Scores
from qrowd.simulation import RandomAssessors
from qrowd.threads import Progress, in_threads

LEVELS: Mapping[str, float] = {"under": 0.05, "even": 0.5, "over": 0.95}
"""The probability that each of the paper's kinds of random assessors calls a document relevant."""
CONVENTIONS = Conventions(empty="nan")
BLOCK = 512  # random assessors who are scored at a time
Draw = Callable[[float, Scale], Sequence[float] | Floats]
"""The probability of each of a scale's grades 0, 1, 2 ..., given the probability of calling a document relevant."""


def even_grades(p: float, scale: Scale) -> Floats:
    """(grades,) probabilities: p shared equally among the relevant grades of a scale, 1 - p among the others."""
    relevant = np.arange(scale.maximum + 1) >= (scale.rel or 0.0)
    if relevant.all() or not relevant.any():
        raise ScaleError(f"scale {scale} has no grade below or none from rel={scale.rel:g} on; declare another")
    return np.asarray(np.where(relevant, p / relevant.sum(), (1 - p) / (~relevant).sum()))


def similarity_to_random(
    runs: Runs,
    judgments: Judgments,
    measures: object | Sequence[object],
    *,
    n_resamples: int = 1000,
    levels: Mapping[str, float] = LEVELS,
    draw: Draw = even_grades,
    gaps: Sequence[Gap] = GAPS,
    by_topic: bool = True,
    conventions: Conventions = CONVENTIONS,
    rng: Rng = 1,
    executor: AnyExecutor = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Similarities:
    """Compare every assessor with random assessors of each level, by every gap.

    A random assessor judges the documents that the assessor it is compared with judged, on the same scale.

    Parameters
    ----------
    measures : with scores from 0 to 1; texts or ir_measures objects.
    n_resamples : random assessors of each level.
    levels : {name: probability that a random assessor calls a document relevant}.
    draw : how that probability is shared among the grades of a scale; default: equally among the relevant grades.
        Fractions are drawn from those the assessor used.
    gaps : those that are computed; an estimator needs its own alone.
    by_topic : whether each topic is compared by itself too, for estimators with one accuracy for each topic ("tpc").
    conventions : of the scores; default: a topic in which an assessor found nothing relevant is left out.
    rng : as in all functions.
    executor : whose workers draw and score random assessors, 512 at a time: any `concurrent.futures.Executor`, a Dask
        client, or `qrowd.executors.Processes(n)`. Default: this process.
        The result is the same to the bit.
    threads : number of threads; default: all processors, and 1 for each worker of an executor.
    progress : called with the number of comparisons done and their total.

    Raises
    ------
    ArgumentError
        A single assessor, assessors who all judged alike, fewer than two systems, or an option out of range.
    MeasureError
        A measure with scores above 1.
    ScaleError
        Magnitudes, which have no grades to draw.
    """
    _check(n_resamples, levels, conventions)
    seed = seed_of(rng)
    panel = _panel(judgments, conventions)
    scores = evaluate(runs, judgments, measures, conventions=conventions, threads=threads)
    if len(scores.systems) < 2:
        raise ArgumentError("runs: AWARE compares how assessors score systems; give two systems or more")
    options = SimilarityOptions("random", tuple(gaps)).checked(scores)
    n_measures = len(scores.measures)
    n_topics = len(scores.topics)
    n_assessors = len(scores.assessors)
    single = np.full((len(options.gaps), n_measures, len(levels), n_assessors), np.nan)
    of_topics = np.full((*single.shape, n_topics if by_topic else 0), np.nan)
    # Those of the same pool in a row: the runs are aligned with each pool once.
    groups = sorted(_groups(panel, scores), key=lambda group: group.pool.topics)
    for group in groups:
        single[..., group.assessors], of_topics[..., group.assessors, :] = 0.0, 0.0
    comparison = _Comparison(
        runs,
        scores,
        tuple(groups),
        dict(levels),
        n_resamples,
        unwrap(draw),
        options,
        by_topic,
        # A random assessor who finds nothing relevant scores every system 0.
        replace(conventions, empty="zero"),
        Chance.of(seed),
        threads if executor is None else threads or 1,
    )
    comparison.plan().refuse_union()
    tasks = list(product(range(len(groups)), range(len(levels)), range(-(-n_resamples // BLOCK))))
    parts = in_executor(_Comparison.block, tasks, executor, shared=comparison)
    for done, ((g, at, _), (overall, each_topic)) in enumerate(zip(tasks, parts, strict=True), start=1):
        single[:, :, at, groups[g].assessors] += overall
        of_topics[:, :, at, groups[g].assessors] += each_topic
        if progress:
            progress(done, len(tasks))
    attributes = {
        "n_resamples": n_resamples,
        "levels": dict(levels),
        "seed": seed,
        "conventions": conventions.as_dict(),
    }
    return Similarities(scores, "random", dict(levels), single, of_topics, attributes, options.gaps)


@dataclass(frozen=True, eq=False)
class _Group:
    """Assessors who are compared with the same random ones: they judged the same documents on the same scale.

    pool : of the topics where any measure has a score for them; topics : (topics of the pool,) their numbers.
    like : (pairs,) nan where they have not judged. known : (measures, topics of the pool).
    values : the grades to draw; None where grades are 0, 1, 2, ...
    """

    assessors: NDArray[np.intp]
    topics: NDArray[np.intp]
    pool: Pool
    like: Floats
    scale: Scale
    known: Bools
    values: Floats | None


def _groups(panel: Panel, scores: Scores) -> Iterator[_Group]:
    """The assessors who have a score, in groups.

    Their pools are sorted by label, so that random assessors do not depend on the order of the files.
    """
    known = scores.known
    labels = panel.pool.documents
    rank = np.empty(len(labels), np.int64)
    rank[sorted(range(len(labels)), key=labels.__getitem__)] = np.arange(len(labels))
    members: dict[tuple[object, ...], list[int]] = {}
    pools: dict[tuple[int, ...], tuple[Ints, Pool]] = {}
    unjudged = np.isnan(panel.values)
    for a in range(len(panel.assessors)):
        if known[:, a].any():
            scale = panel.scales[a]
            used = panel.values[:, a].tobytes() if scale.kind == "fractions" else b""
            key = (unjudged[:, a].tobytes(), known[:, a].tobytes(), scale.kind, scale.maximum, scale.rel, used)
            members.setdefault(key, []).append(a)
    for assessors in members.values():
        first = assessors[0]
        scale = panel.scales[first]
        if not isfinite(scale.maximum):
            raise ScaleError(
                f"assessor {panel.assessors[first]} gave magnitudes, which random assessors cannot draw; "
                "recode them into grades"
            )
        scored = np.flatnonzero(known[:, first].any(axis=0)).tolist()
        topics = np.array(sorted(scored, key=panel.pool.topics.__getitem__), np.intp)
        if tuple(topics) not in pools:
            pools[tuple(topics)] = _sorted_pool(panel.pool, topics, rank)
        rows, pool = pools[tuple(topics)]
        grades = panel.values[:, first]
        values = np.unique(grades[~np.isnan(grades)]) if scale.kind == "fractions" else None
        yield _Group(np.array(assessors), topics, pool, grades[rows], scale, known[:, first][:, topics], values)


def _sorted_pool(pool: Pool, topics: NDArray[np.intp], rank: Ints) -> tuple[Ints, Pool]:
    """The rows of these topics, documents by their rank among all, and the pool that they are."""
    rows = np.concatenate(
        [pool.starts[t] + np.argsort(rank[pool.document[pool.rows(t)]], kind="stable") for t in topics.tolist()]
    )
    names = tuple(pool.topics[t] for t in topics)
    starts = np.concatenate([[0], np.cumsum(np.diff(pool.starts)[topics])])
    return rows, Pool(names, pool.documents, starts, pool.document[rows])


class _RandomAssessors:
    """n random assessors for a group, who call a document relevant with probability p."""

    def __init__(
        self, group: _Group, n: int, p: float, draw: Draw, rng: np.random.Generator, threads: int | None
    ) -> None:
        self._values, self._scale = group.values, group.scale
        shares = _shares(group, p, draw)
        if shares.size == 1:  # fractions of one value: nothing to draw
            shares = np.append(shares, 0.0)
            self._values = np.repeat(group.values if group.values is not None else [0.0], 2)
        self._drawn = RandomAssessors(
            group.pool,
            n,
            distribution=shares,
            like=group.like,
            block=BLOCK,
            rng=rng,
            threads=threads,
        )

    def panel(self, block: int) -> Panel:
        """The random assessors of one block."""
        panel = self._drawn.panel(block)
        stored = panel.stored
        if self._values is not None:
            values = np.append(self._values, np.nan)
            if isinstance(stored, Coded):
                stored = Coded(stored.codes, values[: stored.levels.size])
            else:
                stored = values[np.where(np.isnan(stored), -1, stored).astype(np.intp)]
        return replace(panel, scales=(self._scale,) * len(panel.assessors), stored=stored)


def _shares(group: _Group, p: float, draw: Draw) -> Floats:
    """(grades or values,) the probability of each, for a random assessor who calls a document relevant with p."""
    if group.values is None:
        return np.asarray(draw(p, group.scale), np.float64)
    relevant = group.values >= (group.scale.rel or 0.0)
    sides = relevant.sum(), (~relevant).sum()
    shares = np.where(relevant, p / max(sides[0], 1), (1 - p) / max(sides[1], 1))
    return np.asarray(shares / shares.sum())


class _Plans(local):
    """What a thread keeps from block to block: a plan of scoring, which holds the runs aligned with the last pool."""

    def __init__(self) -> None:
        self.by_comparison: WeakKeyDictionary[_Comparison, Plan] = WeakKeyDictionary()


_plans = _Plans()


@dataclass(frozen=True, eq=False)
class _Comparison:
    """What all blocks of random assessors have in common. conventions : of the random assessors' scores."""

    runs: Runs
    scores: Scores
    groups: tuple[_Group, ...]
    levels: Mapping[str, float]
    n_resamples: int
    draw: Draw
    options: SimilarityOptions
    by_topic: bool
    conventions: Conventions
    chance: Chance
    threads: int | None

    def plan(self) -> Plan:
        """The plan of this thread."""
        plan = _plans.by_comparison.get(self)
        if plan is None:
            measures = parsed_measures(list(self.scores.measures), self.conventions)
            plan = _plans.by_comparison[self] = Plan(self.runs, measures, self.conventions, self.threads)
        return plan

    def block(self, task: tuple[int, int, int]) -> tuple[Floats, Floats]:
        """What one block adds to the mean similarities of one group to one level.

        task : numbers of the group, the level and the block. Chance depends on the level's name and the block alone.

        Returns (gaps, measures, assessors of the group), and (gaps, measures, assessors of the group, topics).
        """
        group = self.groups[task[0]]
        name, p = list(self.levels.items())[task[1]]
        drawn = _RandomAssessors(group, self.n_resamples, p, self.draw, self.chance.stream(name), self.threads)
        panel = drawn.panel(task[2])  # the same whoever else is in the panel
        return self._similarities(self.plan().gather(panel.assessors, [panel]), group)

    def _similarities(self, block: Scores, group: _Group) -> tuple[Floats, Floats]:
        """Sums over a block's random assessors, divided by the number of all of a level."""
        refuse_high(block)
        scores = self.scores
        options = self.options
        n = self.n_resamples
        n_measures = len(scores.measures)
        n_assessors = group.assessors.size
        jobs = [(m, t) for m in range(n_measures) for t in np.flatnonzero(group.known[m]).tolist()]
        unknown = np.ones((n_measures, len(scores.topics)), bool)
        unknown[:, group.topics] = ~group.known
        single = np.zeros((len(options.gaps), n_measures, n_assessors))
        by_topic = np.zeros((*single.shape, len(scores.topics) if self.by_topic else 0))
        others = np.moveaxis(block.values, 1, 3)  # (measures, topics, systems, random assessors), contiguous

        def compare(job: tuple[int, int]) -> tuple[Floats | None, Parts]:
            m, t = job
            own = scores.values[m, group.assessors, group.topics[t]]
            random = np.ascontiguousarray(others[m, t])
            return options.on_topic(own, random) if self.by_topic else (None, options.parts(own, random))

        measures = [m for m in range(n_measures) if group.known[m].any()]
        sums = dict.fromkeys(measures, options.no_parts(n_assessors, len(block.assessors)))
        needed = jobs if self.by_topic or options.adds_up else []
        for (m, t), (similarity, parts) in zip(needed, in_threads(compare, needed, self.threads), strict=True):
            if similarity is not None:
                by_topic[:, m, :, group.topics[t]] += similarity.sum(axis=2) / n
            sums[m] += parts
        for m, parts in sums.items():
            topics = np.flatnonzero(group.known[m])
            own = scores.values[m][np.ix_(group.assessors, group.topics[topics])]
            single[:, m] += options.overall(own, others[m, topics].mean(axis=0), parts).sum(axis=2) / n
        if self.by_topic:
            by_topic[np.broadcast_to(unknown[None, :, None], by_topic.shape)] = np.nan
        single[:, unknown.all(axis=1)] = np.nan
        return single, by_topic


def _panel(judgments: Judgments, conventions: Conventions) -> Panel:
    """The judgments as they will be scored; refused where there is nothing to weight."""
    if len(judgments.assessors) < 2:
        raise ArgumentError(
            f"judgments: AWARE weights several assessors, and there is one ({judgments.assessors[0]}); evaluate with it"
            if len(judgments)
            else "judgments: there are none"
        )
    panel = conventions.graded(judgments).panel(repeats=conventions.repeats)
    first = panel.values[:, :1]
    if bool(((panel.values == first) | (np.isnan(panel.values) & np.isnan(first))).all()):
        raise ArgumentError(
            f"judgments: the {len(panel.assessors)} assessors gave the same judgments, so there is nothing to weight; "
            "evaluate with any one of them"
        )
    return panel


def _check(n_resamples: int, levels: Mapping[str, float], conventions: Conventions) -> None:
    if not n_resamples >= 1 or n_resamples % 1:
        raise ArgumentError("a whole number from 1 was expected; the paper uses 1000", "n_resamples", n_resamples)
    if not levels:
        raise ArgumentError("levels: name at least one; the paper's are {'under': .05, 'even': .5, 'over': .95}")
    for name, p in levels.items():
        if not 0 <= p <= 1:
            raise ArgumentError(f"levels: {name!r} is {p!r}; a probability from 0 to 1 was expected")
    if conventions.missing == "skip":
        raise ArgumentError(
            "AWARE needs a score of every system on every topic; use zero or interpolate", "missing", "skip"
        )
