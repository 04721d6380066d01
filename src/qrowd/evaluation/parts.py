"""Scores of a partitioned collection: part after part, here or by the workers of any executor.

A topic is scored by itself, so that scores of parts are those of the whole, once names and scales are those of the
whole. What is not about one topic is added as counts, and interpolated scores are filled in at the end. Tasks carry the
folder and the number of a part, never rows.
"""

from __future__ import annotations

import os
import zipfile
from ast import literal_eval
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import FileError, NoOverlapError, QrowdError
from qrowd.evaluation.facts import Facts, total
from qrowd.evaluation.plan import Plan, Progress, fill_missing, parsed_measures
from qrowd.kernels.arrays import Floats
from qrowd.model.alignment import no_shared_topic
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.measure import Measure
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.partitions import SURVEY, PartitionedCollection, PartitionedRuns, open_partitioned, write_partitioned
from qrowd.paths import PathLike

AnyExecutor = Any  # an Executor, a Dask client, a function that makes an Executor, or None
ATTEMPTS = 3  # rounds without a part done, after which workers that die are given up
ARRAYS = ("values", "relevant", "coverage", "missing", "unscored")


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


@dataclass(frozen=True)
class Task:
    """What all parts have in common: names, which reach any worker. results : folder for scores of parts, or None."""

    folder: str
    measures: tuple[str, ...]
    conventions: Conventions
    threads: int | None
    results: str | None

    def score(self, number: int) -> PartScores:
        """The scores of a part: read where they are written already, else computed, and written."""
        collection = _opened(self.folder, (Path(self.folder) / SURVEY).stat().st_mtime_ns)
        path = None if self.results is None else self.path(collection, number)
        if path is not None and path.exists():
            return read_part_scores(path)
        parsed = parsed_measures(list(self.measures), self.conventions)
        scores = scores_of_part(collection, number, parsed, self.conventions, self.threads)
        if path is not None:
            write_part_scores(path, scores)
        return scores

    def path(self, collection: PartitionedCollection, number: int) -> Path:
        """The file of the scores of a part, named after everything that they depend on."""
        part = collection.parts[number]
        about = (
            part.digest,
            collection.systems,
            tuple(zip(collection.assessors, map(vars, collection.scales), strict=True)),
            self.measures,
            self.conventions,
            version("qrowd"),
        )
        assert self.results is not None
        return Path(self.results) / f"{part.name}-{sha256(repr(about).encode()).hexdigest()[:32]}.npz"


@lru_cache(maxsize=1)
def _opened(folder: str, changed: int) -> PartitionedCollection:
    """The collection, whose survey a worker reads once. changed : when it was written."""
    return open_partitioned(folder)


def scores_of_part(
    collection: PartitionedCollection,
    number: int,
    measures: tuple[Measure, ...],
    conventions: Conventions,
    threads: int | None,
) -> PartScores:
    """Scores of a part of an open collection."""
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


def write_part_scores(path: Path, scores: PartScores) -> None:
    """Write the scores of a part, whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    arrays = {name: getattr(scores, name) for name in ARRAYS}
    facts = np.array(repr((vars(scores.facts), scores.n_repeats)))
    try:
        with beside.open("wb") as file:
            np.savez(file, facts=facts, **arrays)
        beside.replace(path)
    except OSError as error:
        raise FileError(path, f"cannot be written: {(error.strerror or str(error)).lower()}") from None
    finally:
        beside.unlink(missing_ok=True)


def read_part_scores(path: Path) -> PartScores:
    """The scores of a part that were written."""
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            facts, n_repeats = literal_eval(str(arrays["facts"]))
            values, relevant, coverage, missing, unscored = (arrays[name] for name in ARRAYS)
            return PartScores(values, relevant, coverage, missing, unscored, Facts(**facts), n_repeats)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise FileError(path, f"is damaged ({error}); remove it, and its part is scored again") from None


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
    task = _task(collection, parsed, conventions, executor, results, threads)
    # A part in which nobody judged anything has no scores.
    numbers = [number for number, (judged, _) in enumerate(collection.topics_by_part) if judged]
    for number, part in _scored(task, numbers, executor):
        at = [place[topic] for topic in collection.topics_by_part[number][0]]
        values[:, at], relevant[:, :, at], coverage[:, at] = part.values, part.relevant, part.coverage
        missing[at], unscored[:, at] = part.missing, part.unscored
        facts[number] = part.facts
        n_repeats += part.n_repeats
        done += len(at)
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


def _task(
    collection: PartitionedCollection,
    measures: tuple[Measure, ...],
    conventions: Conventions,
    executor: AnyExecutor,
    results: PathLike | None,
    threads: int | None,
) -> Task:
    """What workers are told; the folder for results is made."""
    folder = None if results is None else Path(results).resolve()
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(folder, f"cannot be made: {(error.strerror or str(error)).lower()}") from None
    n_threads = threads if executor is None else threads or 1
    texts = tuple(map(str, measures))
    return Task(
        str(collection.folder.resolve()), texts, conventions, n_threads, None if folder is None else str(folder)
    )


def _scored(task: Task, numbers: Sequence[int], executor: AnyExecutor) -> Iterator[tuple[int, PartScores]]:
    """(number of the part, its scores), in any order."""
    if executor is None:
        for number in numbers:
            yield number, task.score(number)
        return
    makes = not hasattr(executor, "submit") and not hasattr(executor, "get_executor")
    waiting, rounds = set(numbers), 0
    while waiting:
        before = len(waiting)
        pool = executor() if makes else executor
        try:
            for number, scores in _in_pool(pool, task, sorted(waiting)):
                waiting.discard(number)
                yield number, scores
        except BrokenExecutor:
            rounds = 0 if len(waiting) < before else rounds + 1
            if not makes or rounds == ATTEMPTS:
                raise QrowdError(_died(len(waiting), makes, task.results)) from None
        finally:
            if makes:
                pool.shutdown(wait=False, cancel_futures=True)


def _died(n: int, makes: bool, results: str | None) -> str:
    """The message where workers died with n parts left."""
    left = "1 part left" if n == 1 else f"{n:,} parts left"
    if makes:
        return f"workers died {ATTEMPTS} times in a row, with {left}; parts of fewer topics (n_parts) need less memory"
    if results is not None:
        return f"a worker died, with {left}; run it again: what {results} holds is not scored again"
    return f"a worker died, with {left}; give results=FOLDER, which keeps what is done, or a function as executor"


def _in_pool(pool: Any, task: Task, numbers: Sequence[int]) -> Iterator[tuple[int, PartScores]]:
    """Parts as they come back from an executor, or from the executor of a Dask client."""
    submit = (pool.get_executor() if hasattr(pool, "get_executor") else pool).submit
    number_of: dict[Future[PartScores], int] = {}
    broken: BrokenExecutor | None = None
    try:
        for number in numbers:
            number_of[submit(task.score, number)] = number
        for future in as_completed(number_of):
            try:
                scores = future.result()
            except BrokenExecutor as error:
                broken = error  # what others have finished is still taken
                continue
            yield number_of[future], scores
    except BrokenExecutor as error:
        broken = error
    finally:
        for future in number_of:
            future.cancel()
    if broken is not None:
        raise broken
