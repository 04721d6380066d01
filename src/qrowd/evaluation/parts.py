"""Scores of a partitioned collection: part after part, here or by the workers of any executor, put together.

What is not about one topic is added as counts, and interpolated scores are filled in at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from qrowd.errors import FileError, NoOverlapError
from qrowd.evaluation.facts import Facts, total
from qrowd.evaluation.part_tasks import Task, fingerprint_of
from qrowd.evaluation.plan import Progress, fill_missing, parsed_measures
from qrowd.executors import AnyExecutor, Messages, as_done
from qrowd.model.alignment import no_shared_topic
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.measure import Measure
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.partitions import PartitionedCollection, PartitionedRuns, write_partitioned
from qrowd.paths import PathLike, is_address


def evaluate_in_parts(
    runs: Runs,
    judgments: Judgments,
    measures: object | Sequence[object],
    *,
    conventions: Conventions,
    executor: AnyExecutor,
    results: PathLike | None,
    threads: int | None,
    progress: Progress,
) -> Scores:
    """`evaluate` part after part; what is not partitioned yet is written to a temporary folder first."""
    if isinstance(runs, PartitionedRuns) and runs.collection.is_same(getattr(judgments, "collection", None)):
        return evaluate_collection(runs.collection, measures, conventions, executor, results, threads, progress)
    with TemporaryDirectory(prefix="qrowd-") as folder:
        collection = write_partitioned(Path(folder) / "collection", runs, judgments)
        return evaluate_collection(collection, measures, conventions, executor, results, threads, progress)


def evaluate_collection(
    collection: PartitionedCollection,
    measures: object | Sequence[object],
    conventions: Conventions,
    executor: AnyExecutor,
    results: PathLike | None,
    threads: int | None,
    progress: Progress,
) -> Scores:
    """Score every part of a collection, and put the scores together."""
    parsed = checked_measures(collection, measures, conventions)
    topics = collection.judged_topics
    place = {topic: t for t, topic in enumerate(topics)}
    n_systems, n_assessors = len(collection.systems), len(collection.assessors)
    # As for those who judged nothing in a part.
    values = np.full((len(parsed), len(topics), n_systems, n_assessors), np.nan)
    relevant = np.zeros((len(parsed), n_assessors, len(topics)))
    coverage = np.zeros((n_assessors, len(topics)))
    missing = np.zeros((len(topics), n_systems), bool)
    unscored = np.ones((len(parsed), len(topics), n_assessors), bool)
    facts: dict[int, Facts] = {}
    n_repeats = done = 0
    task = task_of(collection, parsed, conventions, executor, results, threads)
    numbers = judged_parts(collection)
    n_rows = [part.n_run_rows + part.n_judgments for part in collection.parts]
    for i, part in as_done(task.score, numbers, executor, messages=messages_of(task.results)):
        number = numbers[i]
        at = [place[topic] for topic in collection.topics_by_part[number][0]]
        who, every, systems = collection.parts[number].assessors, range(len(parsed)), range(n_systems)
        values[np.ix_(every, at, systems, who)], relevant[np.ix_(every, who, at)] = part.values, part.relevant
        coverage[np.ix_(who, at)], missing[at] = part.coverage, part.missing
        unscored[np.ix_(every, at, who)] = part.unscored
        facts[number] = part.facts
        n_repeats += part.n_repeats
        done += n_rows[number]
        if progress:
            progress(done, sum(n_rows[each] for each in numbers))
    if conventions.missing == "interpolate" and missing.any():
        fill_missing(values, missing, unscored)
    return Scores(
        tuple(map(str, parsed)),
        collection.assessors,
        topics,
        collection.systems,
        values.transpose(0, 3, 1, 2),
        relevant,
        coverage,
        attributes_of(collection, conventions, [facts[number] for number in sorted(facts)], n_repeats),
    )


def checked_measures(
    collection: PartitionedCollection, measures: object | Sequence[object], conventions: Conventions
) -> tuple[Measure, ...]:
    """The measures; a collection that has changed, or has no topic of both runs and judgments, is refused."""
    collection.refuse_changed()
    parsed = parsed_measures(measures, conventions)
    in_runs = set(collection.run_topics)
    if not any(topic in in_runs for topic in collection.judged_topics):
        raise NoOverlapError(no_shared_topic(collection.run_topics, collection.judged_topics))
    return parsed


def judged_parts(collection: PartitionedCollection) -> list[int]:
    """Numbers of the parts that have scores: those in which anybody judged anything."""
    return [number for number, (judged, _) in enumerate(collection.topics_by_part) if judged]


def attributes_of(
    collection: PartitionedCollection, conventions: Conventions, facts: Sequence[Facts], n_repeats: int
) -> dict[str, object]:
    """As `Scores.attributes`. facts : of each part that has scores."""
    judged = set(collection.judged_topics)
    n_unjudged = sum(topic not in judged for topic in collection.run_topics)
    return {
        "conventions": conventions.as_dict(),
        "scales": dict(zip(collection.assessors, collection.scales, strict=True)),
        "stopping_short": collection.stopping_short(),
        "repeated_judgments": n_repeats,
        **replace(total(facts), unjudged_topics=n_unjudged).attributes(),
    }


def task_of(
    collection: PartitionedCollection,
    measures: tuple[Measure, ...],
    conventions: Conventions,
    executor: AnyExecutor,
    results: PathLike | None,
    threads: int | None,
) -> Task:
    """What workers are told; the folder for results is made."""
    if results is not None and is_address(results):
        raise FileError(results, "is an address; scores of parts are kept in a folder, which workers may share")
    folder = None if results is None else Path(results).resolve()
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(folder, f"cannot be made: {(error.strerror or str(error)).lower()}") from None
    n_threads = threads if executor is None else threads or 1
    texts = tuple(map(str, measures))
    kept = None if folder is None else str(folder)
    shown = str(collection.folder.resolve())
    return Task(shown, texts, conventions, n_threads, kept, version("qrowd"), fingerprint_of(collection))


def messages_of(results: str | None) -> Messages:
    """What is said where workers die. results : folder in which workers keep scores, or None."""
    keeps = "give results=FOLDER, which keeps what is done, or a function as executor"
    again = f"run it again: what {results} holds is not scored again"
    less_memory = "parts of fewer topics (n_parts) need less memory"
    return Messages("part", less_memory, keeps if results is None else again, named=True)
