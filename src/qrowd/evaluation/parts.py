"""Scores of a partitioned collection: part after part, here or by the workers of any executor.

A topic is scored by itself, so that scores of parts are those of the whole, once names and scales are those of the
whole. What is not about one topic is added as counts, and interpolated scores are filled in at the end. Tasks carry the
folder and the number of a part, never rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import NoOverlapError
from qrowd.evaluation.facts import Facts, total
from qrowd.evaluation.plan import Plan, Progress, fill_missing, parsed_measures
from qrowd.kernels.arrays import Floats
from qrowd.model.alignment import no_shared_topic
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.measure import Measure
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.partitions import Collection, PartitionedRuns, open_collection, write_collection


@dataclass(frozen=True, eq=False)
class PartScores:
    """Scores of one part, as they come back from a worker.

    values : (measures, topics, systems, assessors). relevant : (measures, assessors, topics). coverage : (assessors,
    topics). missing : (topics, systems) without a list. unscored : (measures or 1, topics, assessors) without a score.
    """

    values: Floats
    relevant: Floats
    coverage: Floats
    missing: NDArray[np.bool_]
    unscored: NDArray[np.bool_]
    facts: Facts
    n_repeats: int


def score_part(
    folder: str, number: int, measures: Sequence[str], conventions: Conventions, threads: int | None
) -> PartScores | None:
    """Score a part of a collection: the task of a worker. None where nobody judged any of its topics."""
    parsed = parsed_measures(list(measures), conventions)
    return scores_of_part(open_collection(folder), number, parsed, conventions, threads)


def scores_of_part(
    collection: Collection, number: int, measures: tuple[Measure, ...], conventions: Conventions, threads: int | None
) -> PartScores | None:
    """Scores of a part of an open collection."""
    if not collection.topics_by_part[number][0]:
        return None
    runs, judgments = collection.read(number)
    # What is interpolated depends on all topics: it is filled in when they are there.
    own = replace(conventions, missing="skip") if conventions.missing == "interpolate" else conventions
    plan = Plan(runs, measures, own, threads)
    scores = plan.gather(judgments.assessors, [own.graded(judgments).panel(repeats=own.repeats)])
    alignment = plan.alignment_made
    return PartScores(
        np.ascontiguousarray(scores.values.transpose(0, 2, 3, 1)),
        scores.relevant,
        scores.coverage,
        alignment.missing,
        plan.unscored(scores.relevant, scores.coverage),
        plan.facts(alignment),
        judgments.n_repeats(),
    )


def evaluate_in_parts(
    runs: Runs,
    judgments: Judgments,
    measures: object | Sequence[object],
    *,
    conventions: Conventions,
    executor: Executor | Any | None,
    threads: int | None,
    progress: Progress,
) -> Scores:
    """`evaluate` part after part; what is not partitioned yet is written to a temporary folder first."""
    if isinstance(runs, PartitionedRuns) and getattr(judgments, "collection", None) is runs.collection:
        return evaluate_collection(runs.collection, measures, conventions, executor, threads, progress)
    with TemporaryDirectory(prefix="qrowd-") as folder:
        collection = write_collection(Path(folder) / "collection", runs, judgments)
        return evaluate_collection(collection, measures, conventions, executor, threads, progress)


def evaluate_collection(
    collection: Collection,
    measures: object | Sequence[object],
    conventions: Conventions,
    executor: Executor | Any | None,
    threads: int | None,
    progress: Progress,
) -> Scores:
    """Score every part of a collection, and put the scores together."""
    parsed = parsed_measures(measures, conventions)
    topics = collection.judged_topics
    in_runs = set(collection.run_topics)
    if not any(topic in in_runs for topic in topics):
        raise NoOverlapError(no_shared_topic(collection.run_topics, topics))
    place = {topic: t for t, topic in enumerate(topics)}
    n_systems, n_assessors = len(collection.systems), len(collection.assessors)
    values = np.empty((len(parsed), len(topics), n_systems, n_assessors))
    relevant = np.empty((len(parsed), n_assessors, len(topics)))
    coverage = np.empty((n_assessors, len(topics)))
    missing = np.zeros((len(topics), n_systems), bool)
    unscored = np.zeros((len(parsed), len(topics), n_assessors), bool)
    facts: dict[int, Facts] = {}
    n_repeats = done = 0
    for number, part in _scored(collection, parsed, conventions, executor, threads):
        own = collection.topics_by_part[number][0]
        at = [place[topic] for topic in own]
        if part is not None:
            values[:, at], relevant[:, :, at], coverage[:, at] = part.values, part.relevant, part.coverage
            missing[at], unscored[:, at] = part.missing, part.unscored
            facts[number] = part.facts
            n_repeats += part.n_repeats
        done += len(own)
        if progress:
            progress(done, len(topics))
    if conventions.missing == "interpolate" and missing.any():
        fill_missing(values, missing, unscored)
    whole = total([facts[number] for number in sorted(facts)])
    judged = set(topics)
    whole = replace(whole, unjudged_topics=sum(topic not in judged for topic in collection.run_topics))
    return Scores(
        tuple(map(str, parsed)),
        collection.assessors,
        topics,
        collection.systems,
        values.transpose(0, 3, 1, 2),
        relevant,
        coverage,
        {
            "conventions": conventions.as_dict(),
            "scales": dict(zip(collection.assessors, collection.scales, strict=True)),
            "stopping_short": collection.stopping_short(),
            "repeated_judgments": n_repeats,
            **whole.attributes(),
        },
    )


def _scored(
    collection: Collection,
    measures: tuple[Measure, ...],
    conventions: Conventions,
    executor: Executor | Any | None,
    threads: int | None,
) -> Iterator[tuple[int, PartScores | None]]:
    """(number of the part, its scores), in any order."""
    numbers = range(len(collection.parts))
    if executor is None:
        for number in numbers:
            yield number, scores_of_part(collection, number, measures, conventions, threads)
        return
    task = (str(collection.folder.resolve()), tuple(map(str, measures)), conventions, threads or 1)
    yield from _in_executor(executor, task, numbers)


def _in_executor(
    executor: Any, task: tuple[str, tuple[str, ...], Conventions, int], numbers: Sequence[int]
) -> Iterator[tuple[int, PartScores | None]]:
    """Parts as they come back from an executor, or from the executor of a Dask client."""
    submit = (executor.get_executor() if hasattr(executor, "get_executor") else executor).submit
    folder, measures, conventions, threads = task
    number_of: dict[Future[PartScores | None], int] = {}
    try:
        for number in numbers:
            number_of[submit(score_part, folder, number, measures, conventions, threads)] = number
        for future in as_completed(number_of):
            yield number_of[future], future.result()
    finally:
        for future in number_of:
            future.cancel()
