"""Sums over topics of scores, part by part: a worker scores a part and sends back sums, which the client adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from qrowd.comparison.measure_sums import MeasureSums, sums_of_values
from qrowd.comparison.score_sums import ScoreSums, seed_for
from qrowd.errors import ArgumentError
from qrowd.evaluation.facts import Facts
from qrowd.evaluation.named_measures import DEFAULT_MEASURES
from qrowd.evaluation.part_tasks import Task
from qrowd.evaluation.parts import attributes_of, checked_measures, judged_parts, messages_of, task_of
from qrowd.evaluation.plan import Progress
from qrowd.evaluation.scoring import evaluate
from qrowd.executors import as_done
from qrowd.model.chance import Rng, Seed
from qrowd.model.conventions import Conventions
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.partitions import PartitionedCollection, PartitionedRuns, write_partitioned
from qrowd.paths import PathLike

if TYPE_CHECKING:
    from qrowd.executors import AnyExecutor


@dataclass(frozen=True, eq=False)
class PartSums:
    """Sums over the topics of one part, as they come back from a worker; `sums` of each measure."""

    sums: tuple[MeasureSums, ...]
    facts: Facts
    n_repeats: int


@dataclass(frozen=True)
class SumTask:
    """What all parts have in common where only sums come back. n_resamples, seed : of the bootstrap."""

    task: Task
    n_resamples: int
    seed: Seed | None

    def sum(self, number: int) -> PartSums:
        """The sums of the scores of a part; errors as in `Task.score`."""
        scores, collection = self.task.score(number), self.task.collection()
        sums = sums_of_values(
            scores.values.transpose(0, 3, 1, 2),
            collection.parts[number].assessors,
            len(collection.assessors),
            collection.topics_by_part[number][0],
            self.n_resamples,
            self.seed,
        )
        return PartSums(sums, scores.facts, scores.n_repeats)


def score_sums(
    runs: AnyRuns,
    judgments: AnyJudgments,
    measures: object | Sequence[object] = DEFAULT_MEASURES,
    *,
    conventions: Conventions = Conventions(),
    n_resamples: int = 0,
    rng: Rng = None,
    executor: AnyExecutor = None,
    results: PathLike | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> ScoreSums:
    """Sums over topics of what `evaluate` would return, from which means, differences and components follow.

    Of a partitioned collection the scores of all topics are never in memory at once: those of a part are, where it is
    scored. Sums are exact, so that they are the same to the bit whatever the parts, their order and the executor.

    Parameters
    ----------
    runs, judgments, measures, conventions, executor, results, threads, progress
        As in `evaluate`.
    n_resamples
        Replicates of the two-way bootstrap, for method="pigeonhole"; 0 for none. Memory: some 24 bytes for each
        replicate, assessor and system, and each different set of assessors who judged the same topics.
    rng
        Random numbers of the replicates. Those of a topic follow from the seed and the topic's name.

    Raises
    ------
    NoOverlapError, MeasureError
        As `evaluate`.
    ArgumentError
        missing="interpolate", which needs the scores of all topics; an infinite score.

    >>> import qrowd
    >>> from qrowd.simulation import simulate_demo
    >>> runs, judgments, truth = simulate_demo()
    >>> sums = qrowd.score_sums(runs, judgments, "nDCG@10")
    >>> sums.rank_systems().rank.tolist()[:3]
    [12, 10, 11]
    """
    if conventions.missing == "interpolate":
        raise ArgumentError(
            "missing='interpolate': fills gaps from the scores of all topics; use qrowd.evaluate, or another value"
        )
    seed = seed_for(n_resamples, rng)
    runs, judgments = as_runs(runs), as_judgments(judgments)

    def of(collection: PartitionedCollection) -> ScoreSums:
        return _of_collection(
            collection, measures, conventions, n_resamples, seed, executor, results, threads, progress
        )

    if isinstance(runs, PartitionedRuns) and runs.collection.is_same(getattr(judgments, "collection", None)):
        return of(runs.collection)
    if executor is None and results is None:
        scores = evaluate(runs, judgments, measures, conventions=conventions, threads=threads, progress=progress)
        return ScoreSums.of(scores, n_resamples=n_resamples, rng=seed)
    with TemporaryDirectory(prefix="qrowd-") as folder:
        return of(write_partitioned(Path(folder) / "collection", runs, judgments))


def _of_collection(
    collection: PartitionedCollection,
    measures: object | Sequence[object],
    conventions: Conventions,
    n_resamples: int,
    seed: Seed | None,
    executor: AnyExecutor,
    results: PathLike | None,
    threads: int | None,
    progress: Progress,
) -> ScoreSums:
    """The sums of a collection; those of a part are added as soon as they are there."""
    parsed = checked_measures(collection, measures, conventions)
    task = SumTask(task_of(collection, parsed, conventions, executor, results, threads), n_resamples, seed)
    sums = [MeasureSums.zeros(len(collection.assessors), len(collection.systems)) for _ in parsed]
    facts: dict[int, Facts] = {}
    n_repeats = done = 0
    numbers = judged_parts(collection)
    n_rows = {number: collection.parts[number].n_run_rows + collection.parts[number].n_judgments for number in numbers}
    for i, part in as_done(task.sum, numbers, executor, messages=messages_of(task.task.results)):
        number = numbers[i]
        sums = [whole + own for whole, own in zip(sums, part.sums, strict=True)]
        facts[number] = part.facts
        n_repeats += part.n_repeats
        done += n_rows[number]
        if progress:
            progress(done, sum(n_rows.values()))
    attributes = attributes_of(collection, conventions, [facts[number] for number in sorted(facts)], n_repeats)
    labels = (tuple(map(str, parsed)), collection.assessors, collection.systems, collection.judged_topics)
    return ScoreSums(*labels, tuple(sums), n_resamples, seed, attributes)
