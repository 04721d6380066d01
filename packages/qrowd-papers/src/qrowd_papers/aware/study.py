"""AWARE, recomputed: which way of putting a few assessors together comes closest to a gold assessor?

Ferrante, Ferro, Maistro (2017), AWARE: Exploiting Evaluation Measures to Combine Multiple Assessors. ACM TOIS 36(2),
sections 5-7. For every number k of assessors, many k-tuples are drawn from a panel; each method makes one score per
system of a tuple; and the systems' mean scores are compared with the gold's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, combinations, product
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.aggregation.dawid_skene import FLOOR, HONEST
from qrowd.aware import NAMES, similarity_to_random
from qrowd.aware.estimators import UNIFORM, estimator
from qrowd.aware.similarity import Polarity, Similarities
from qrowd.comparison.rankings import row_correlations
from qrowd.errors import NoOverlapError, QrowdError
from qrowd.evaluation import evaluate, evaluate_blocks
from qrowd.executors import AnyExecutor, in_executor
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments
from qrowd.model.panel import Panel, Pool
from qrowd.model.runs import Runs
from qrowd.model.scales import BINARY
from qrowd.model.scores import Scores, rankable
from qrowd.threads import in_threads
from qrowd_papers.aware.tuples import dawid_skene, vote

if TYPE_CHECKING:
    import pandas

Members = NDArray[np.int64]

BASELINES = ("mv", "emmv", "emneu")
METHODS = (*BASELINES, UNIFORM, *NAMES)
"""The vote, Dawid-Skene from the vote and from honest assessors, AWARE with equal weights, the thirty estimators."""
PRINTED = ":printed"  # after an estimator's name: weights as equations 25-27 have them
FIGURES = ("ap_correlation", "tau", "rmse")
TUPLES_AT_ONCE = 100
TOL, MAX_ITERATIONS = 1e-3, 1000  # of Dawid-Skene, section 5.5


@dataclass(frozen=True, eq=False)
class AwareStudy:
    """How close each method comes to the gold, means over tuples.

    ap_correlation, tau, rmse : (system sets, measures, methods, sizes). AP correlation of the method's ranking of
        the systems with the gold's as reference; tau-a; root mean squared error of the systems' mean scores.
    tuples : (sizes,) how many were drawn of each size; all of them, where there are no more.
    attributes : every option, the seed, and what the panel was.
    """

    system_sets: tuple[str, ...]
    measures: tuple[str, ...]
    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    ap_correlation: Floats
    tau: Floats
    rmse: Floats
    tuples: NDArray[np.int64]
    attributes: Mapping[str, Any]

    @property
    def relative_rmse(self) -> Floats:
        """(system sets, measures, methods, sizes) RMSE divided by the highest of its measure (section 6.1).

        The highest is over the methods that enter the analyses of variance: estimators whose weights are as printed
        (`PRINTED`) are divided by the same number, but do not determine it, and may exceed 1.
        """
        analysed = [not method.endswith(PRINTED) for method in self.methods]
        rmse = self.rmse[:, :, analysed] if any(analysed) else self.rmse
        return np.asarray(self.rmse / np.nanmax(rmse, axis=(0, 2, 3), keepdims=True))

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per system set, measure, method and size; estimators also by granularity, gap and weight."""
        labels = (self.system_sets, self.measures, self.methods, self.sizes)
        codes = np.indices(self.rmse.shape).reshape(4, -1)
        names = ("systems", "measure", "method", "size")
        columns: dict[str, Any] = {
            name: np.array(values)[code] for name, values, code in zip(names, labels, codes, strict=True)
        }
        parts = [_parts(method) for method in self.methods]
        for place, name in enumerate(("granularity", "gap", "weight")):
            columns[name] = np.array([part[place] for part in parts])[codes[2]]
        for name in FIGURES:
            columns[name] = getattr(self, name).ravel()
        columns["relative_rmse"] = self.relative_rmse.ravel()
        return make_frame(columns, backend)

    def methods_with(self, polarity: Polarity = "dissimilarity") -> pandas.DataFrame:
        """The rows of the baselines, and of the thirty estimators with the weights of this polarity."""
        frame: pandas.DataFrame = self.to_frame()
        printed = frame["method"].str.endswith(PRINTED)
        return frame[(frame["gap"] == "") | (printed == (polarity == "printed"))].reset_index(drop=True)


def aware_study(
    runs: Runs | Mapping[str, Runs],
    judgments: Judgments,
    gold: Judgments,
    measures: Sequence[str] = ("AP", "nDCG@20", "ERR@20"),
    *,
    methods: Sequence[str] = METHODS,
    sizes: Sequence[int] | None = None,
    n_tuples: int = 1000,
    n_resamples: int = 1000,
    rng: Rng = None,
    folder: str | None = None,
    executor: AnyExecutor = None,
    threads: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> AwareStudy:
    """Every method on tuples of every size, against a gold assessor.

    Parameters
    ----------
    runs : all systems, or several sets of them by name, each of which is a study of its own.
    judgments : yes or no, by three assessors or more. gold : of one assessor; topics in which it has no relevant
        document have no part.
    methods : of `METHODS`; an estimator's name followed by ":printed" weighs as equations 25-27 have it.
    sizes : numbers of assessors to put together; by default from 2 to one less than there are.
    n_tuples : tuples of every size, drawn without repeating any; all where there are no more.
    n_resamples : random assessors of each level.
    folder : where finished sizes are kept, so that a study that was interrupted goes on where it stopped.
    executor : whose workers compare random assessors, and 100 tuples at a time with the gold. threads : of each worker
        1 by default.
    progress : called with (what is done, steps done, steps in all).

    A merged assessor who finds nothing relevant in a topic scores 0 there, as in trec_eval; an assessor of a tuple who
    does is left out of AWARE's mean there. Means go over the topics where the gold and the tuple have a score.

    Raises
    ------
    NoOverlapError
        The gold shares no topic with the panel.
    """
    sets = runs if isinstance(runs, Mapping) else {"all": runs}
    all_sizes = tuple(range(2, len(judgments.assessors)) if sizes is None else sizes)
    seed = seed_of(rng)
    chance = Chance.of(seed)
    panel = judgments.panel()
    drawn = {k: _tuples(len(panel.assessors), k, n_tuples, chance.stream("tuples", k)) for k in all_sizes}
    figures = np.full((len(sets), 3, len(measures), len(methods), len(all_sizes)), np.nan)
    about = {
        "n_resamples": n_resamples,
        "n_tuples": n_tuples,
        "seed": seed,
        "assessors": panel.assessors,
        "gold": gold.assessors[0],
    }
    steps, done = len(sets) * (len(all_sizes) + 1), 0
    for s, (name, systems) in enumerate(sets.items()):
        stored = _Stored(folder, name, (systems, panel, gold, measures, tuple(methods), about))
        missing = [k for k in all_sizes if stored.get(k) is None]
        computed: Iterator[tuple[int, Floats]] = iter(())
        if missing:
            options = {"executor": executor, "threads": threads}
            world = _World.of(systems, judgments, panel, gold, measures, methods, n_resamples, chance, **options)
            of_sizes = _Sizes(world, drawn, tuple(methods), chance, threads if executor is None else threads or 1)
            computed = of_sizes.figures(missing, executor)
        kept_ones = [k for k in all_sizes if k not in missing]
        for k in chain(kept_ones, (_put(stored, size, value) for size, value in computed)):
            figures[s, ..., all_sizes.index(k)] = stored.get(k)
            done += 1
            if progress:
                progress(f"{name}: {k} assessors", done + s + 1, steps)
    return AwareStudy(
        tuple(sets),
        tuple(map(str, measures)),
        tuple(methods),
        all_sizes,
        figures[:, 0],
        figures[:, 1],
        figures[:, 2],
        np.array([len(drawn[k]) for k in all_sizes]),
        about,
    )


def anova_tables(
    study: AwareStudy, figure: str = "ap_correlation", polarity: Polarity = "dissimilarity"
) -> tuple[Any, Any]:
    """The two analyses of variance of one figure: methods (equation 28) and the parts of estimators (equation 31).

    figure : "ap_correlation", "tau", or "relative_rmse". polarity : of the estimators' weights. Sizes are the subjects;
    the system set is a factor where there are several. Tables 1 and 3 for AP correlation, 2 and 4 for RMSE.
    """
    from qrowd_papers.analysis_of_variance import anova

    several = ["systems"] if len(study.system_sets) > 1 else []
    frame = study.methods_with(polarity)
    crossed = [("method", "measure"), *([("method", "systems"), ("measure", "systems")] if several else [])]
    whole = anova(frame, figure, ["size", "method", "measure", *several], interactions=crossed)
    inner = [("granularity", "gap"), ("granularity", "weight"), ("gap", "weight")]
    factors = ["size", "granularity", "gap", "weight", "measure", *several]
    return whole, anova(frame[frame["gap"] != ""], figure, factors, interactions=inner)


# ---------------------------------------------------------------------- one system set


@dataclass(frozen=True, eq=False)
class _World:
    """What does not change from tuple to tuple.

    scores : of the panel; gold : (measures, topics, systems), nan where it has no score.
    accuracy : (measures, assessors, topics) of every method of AWARE.
    """

    runs: Runs
    panel: Panel
    scores: Scores
    gold: Floats
    accuracy: Mapping[str, Floats]

    @classmethod
    def of(
        cls,
        runs: Runs,
        judgments: Judgments,
        panel: Panel,
        gold: Judgments,
        measures: Sequence[str],
        methods: Sequence[str],
        n_resamples: int,
        chance: Chance,
        executor: AnyExecutor,
        threads: int | None,
    ) -> _World:
        weighing = [name for name in methods if name not in BASELINES]
        leaving = Conventions(empty="nan")
        if any(estimator(name.removesuffix(PRINTED)) for name in weighing):
            similarities = similarity_to_random(
                runs, judgments, list(measures), n_resamples=n_resamples, rng=chance.stream("random"),
                executor=executor, threads=threads,
            )  # fmt: skip
        else:
            scores = evaluate(runs, judgments, list(measures), conventions=leaving, threads=threads)
            similarities = Similarities(scores, "random", {}, np.empty(0), np.empty(0))
        true = evaluate(runs, gold, list(measures), conventions=leaving, threads=threads)
        place = {topic: t for t, topic in enumerate(true.topics)}
        shared = [place.get(topic, -1) for topic in similarities.scores.topics]
        values = np.where(np.array(shared)[None, :, None] >= 0, true.values[:, 0, shared], np.nan)
        if np.isnan(values).all():
            raise NoOverlapError("gold: it has a relevant document in none of the panel's topics")
        accuracy = {
            name: similarities.accuracy(
                name.removesuffix(PRINTED), polarity="printed" if name.endswith(PRINTED) else "dissimilarity"
            )
            for name in weighing
        }
        return cls(runs, panel, similarities.scores, values, accuracy)

    def sums(self, members: Members, methods: Sequence[str], coins: np.random.Generator, threads: int | None) -> Floats:
        """(3, measures, methods) sums over tuples of AP correlation, tau and RMSE."""
        names = [name for name in BASELINES if name in methods]
        merged = dict(zip(names, self._merged(names, members, coins, threads), strict=True)) if names else {}
        jobs = list(product(range(len(self.scores.measures)), range(len(methods))))

        def compare(job: tuple[int, int]) -> Floats:
            m, name = job[0], methods[job[1]]
            return self._against_gold(merged[name][m] if name in merged else self._averaged(name, m, members), m)

        sums = np.array(list(in_threads(compare, jobs, threads)))
        return sums.reshape(len(self.scores.measures), len(methods), 3).transpose(2, 0, 1)

    def _averaged(self, name: str, m: int, members: Members) -> Floats:
        """(topics, tuples, systems) AWARE scores, nan where no member has one."""
        n_assessors = len(self.panel.assessors)
        inside = np.zeros((len(members), n_assessors))
        np.put_along_axis(inside, members, 1.0, axis=1)
        known = self.scores.known[m].astype(np.float64)
        values = np.nan_to_num(self.scores.values[m])
        accuracy = np.nan_to_num(self.accuracy[name][m])
        out = np.empty((values.shape[1], len(members), values.shape[2]))
        for t in range(values.shape[1]):
            weights = inside * accuracy[:, t]
            sums = weights.sum(axis=1)
            if (sums == 0).any():  # nobody is worth more than nothing: all count alike
                weights = np.where(sums[:, None] > 0, weights, inside * known[:, t])
                sums = weights.sum(axis=1)
            with np.errstate(invalid="ignore"):
                out[t] = weights @ values[:, t] / sums[:, None]
        return out

    def _against_gold(self, values: Floats, m: int) -> Floats:
        """(3,) sums over tuples of (topics, tuples, systems) values' figures."""
        known = ~np.isnan(values[:, :, 0]) & ~np.isnan(self.gold[m]).any(axis=1)[:, None]
        count = known.sum(axis=0)
        if not count.all():
            raise NoOverlapError("judgments: a tuple shares no topic with the gold; leave out who judged few topics")
        mean = np.where(known[..., None], values, 0.0).sum(axis=0) / count[:, None]
        gold = known.T @ np.nan_to_num(self.gold[m]) / count[:, None]
        ranked = rankable(mean), rankable(gold)
        return np.array(
            [
                row_correlations(*ranked, kind="ap", threads=1).sum(),
                row_correlations(*ranked, kind="tau_a", threads=1).sum(),
                np.sqrt(((mean - gold) ** 2).mean(axis=1)).sum(),
            ]
        )

    def _merged(
        self, names: Sequence[str], members: Members, coins: np.random.Generator, threads: int | None
    ) -> Iterator[Floats]:
        """(measures, topics, tuples, systems) scores of every baseline."""
        pool = self.panel.pool
        judgments = np.where(np.isnan(self.panel.values), -1, self.panel.values).astype(np.int8)
        judgments = np.ascontiguousarray(judgments)
        blocks = _Merged(pool, judgments, names, members, coins, threads)
        for block in evaluate_blocks(self.runs, blocks, self.scores.measures, threads=threads):
            yield np.ascontiguousarray(np.swapaxes(block.values, 1, 2))


@dataclass(frozen=True, eq=False)
class _Sizes:
    """What all sizes have in common. drawn : the tuples of each size."""

    world: _World
    drawn: Mapping[int, Members]
    methods: tuple[str, ...]
    chance: Chance
    threads: int | None

    def figures(self, sizes: Sequence[int], executor: AnyExecutor) -> Iterator[tuple[int, Floats]]:
        """(size, its figures), each as soon as all its tuples are there."""
        tasks = [(size, part) for size in sizes for part in range(-(-len(self.drawn[size]) // TUPLES_AT_ONCE))]
        parts: dict[int, dict[int, Floats]] = {size: {} for size in sizes}
        left = Counter(size for size, _ in tasks)
        for number, sums in enumerate(in_executor(_Sizes.part, tasks, executor, shared=self)):
            size, part = tasks[number]
            parts[size][part] = sums
            left[size] -= 1
            if not left[size]:  # added in their order, so that sums do not depend on which came first
                total = np.zeros_like(sums)
                for _, one in sorted(parts.pop(size).items(), key=lambda item: item[0]):
                    total += one
                yield size, total / len(self.drawn[size])

    def part(self, task: tuple[int, int]) -> Floats:
        """Sums over some tuples of a size. task : the size, and the number of the part.

        The coins of all parts of a size are one stream, of which those of earlier parts are thrown away.
        """
        size, number = task
        coins, drawn = self.chance.stream("coins", size), self.drawn[size]
        first = number * TUPLES_AT_ONCE
        for _ in range(number):
            _coins(coins, self.world.panel.pool, TUPLES_AT_ONCE)
        return self.world.sums(drawn[first : first + TUPLES_AT_ONCE], self.methods, coins, self.threads)


def _coins(coins: np.random.Generator, pool: Pool, n_tuples: int) -> NDArray[np.uint8]:
    """(pairs, tuples) what decides between grades given equally often."""
    return coins.integers(0, 2, (pool.document.size, n_tuples), np.uint8)


class _Merged:
    """Merged labels of tuples, a panel for each baseline; a `Blocks` (qrowd.model.panel)."""

    def __init__(
        self,
        pool: Pool,
        judgments: NDArray[np.int8],
        names: Sequence[str],
        members: Members,
        coins: np.random.Generator,
        threads: int | None,
    ) -> None:
        self.pool, self.said, self.names, self.members, self.coins, self.threads = (
            pool, judgments, names, members, coins, threads,
        )  # fmt: skip
        self.assessors = tuple(f"{name} {i}" for name in names for i in range(len(members)))

    def __iter__(self) -> Iterator[Panel]:
        labels = self._labels(self.members, _coins(self.coins, self.pool, len(self.members)))
        for name in self.names:
            values = labels[name].astype(np.float64)
            values[values < 0] = np.nan
            assessors = tuple(f"{name} {i}" for i in range(len(self.members)))
            yield Panel(self.pool, assessors, (BINARY,) * len(self.members), values)

    def _labels(self, members: Members, tossed: NDArray[np.uint8]) -> dict[str, NDArray[np.int8]]:
        """Topic by topic, side by side."""

        def merge(topic: int) -> dict[str, NDArray[np.int8]]:
            rows = self.pool.rows(topic)
            judgments = self.said[rows]
            voted = vote(judgments, members, tossed[rows])
            results = {"mv": voted}
            for name, start in (("emmv", voted), ("emneu", np.empty((0, 0), np.int8))):
                if name in self.names:
                    results[name] = dawid_skene(judgments, members, start, HONEST, FLOOR, TOL, MAX_ITERATIONS)
            return results

        topics = list(in_threads(merge, range(len(self.pool.topics)), self.threads))
        return {name: np.concatenate([topic[name] for topic in topics]) for name in self.names}


class _Stored:
    """Finished sizes, in a file each where there is a folder."""

    def __init__(self, folder: str | None, name: str, about: tuple[Any, ...]) -> None:
        self._found: dict[int, Floats] = {}
        self._folder = None if folder is None else Path(folder)
        self._name = "".join(c if c.isalnum() else "-" for c in name)
        if self._folder is not None:
            self._mark = _fingerprint(about)
            for path in sorted(self._folder.glob(f"{self._name}-*.npz")):
                with np.load(path) as parts:
                    if str(parts["mark"]) != self._mark:
                        raise QrowdError(
                            f"{path}: it was made from other data or options; give another folder, or delete it"
                        )
                    self._found[int(parts["size"])] = parts["figures"]

    def get(self, size: int) -> Floats | None:
        return self._found.get(size)

    def put(self, size: int, figures: Floats) -> None:
        self._found[size] = figures
        if self._folder is not None:
            from io import BytesIO

            from qrowd.files import write_whole

            self._folder.mkdir(parents=True, exist_ok=True)
            content = BytesIO()
            np.savez(content, mark=self._mark, size=size, figures=figures)
            write_whole(str(self._folder / f"{self._name}-{size:02}.npz"), content.getvalue())


def _put(stored: _Stored, size: int, figures: Floats) -> int:
    """The size, once its figures are stored."""
    stored.put(size, figures)
    return size


def _fingerprint(about: tuple[Any, ...]) -> str:
    """Of the runs, the panel, the gold and every option."""
    systems, panel, gold, *options = about
    ranked = systems.ranked(score_dtype="float64")
    known = blake2b(digest_size=16)
    for array in (ranked.document, ranked.starts, panel.values, panel.pool.document, gold.value, gold.document):
        known.update(np.ascontiguousarray(array).tobytes())
    known.update(repr((systems.systems, panel.pool.topics, options)).encode("utf-8", "surrogateescape"))
    return known.hexdigest()


def _tuples(n_assessors: int, size: int, n: int, random: np.random.Generator) -> Members:
    """(tuples, size) different sets of assessors."""
    if comb(n_assessors, size) <= n:
        return np.array(list(combinations(range(n_assessors), size)))
    results: dict[tuple[int, ...], None] = {}
    while len(results) < n:
        results[tuple(sorted(random.permutation(n_assessors)[:size].tolist()))] = None
    return np.array(list(results))


def _parts(method: str) -> tuple[str, str, str]:
    """Granularity, gap and weight of an estimator; empty for a baseline."""
    if method in BASELINES:
        return "", "", ""
    results = estimator(method.removesuffix(PRINTED))
    return ("", "", "") if results is None else (results.granularity, results.gap, results.weight)
