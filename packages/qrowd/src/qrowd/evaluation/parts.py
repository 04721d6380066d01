"""Scores of a partitioned collection: part after part, here or by the workers of an executor, concatenated by topic.

A topic is scored by itself, so that scores of parts are those of the whole. What is not about one topic is added as
counts, and interpolated scores are filled in at the end.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError, FileError, NoOverlapError
from qrowd.evaluation.scoring_plan import Plan, Progress, fill_missing, parsed_measures, unscored_cells
from qrowd.executors import AnyExecutor, in_executor
from qrowd.kernels.arrays import Floats
from qrowd.model.alignment import Facts, no_shared_topic, total_facts
from qrowd.model.conventions import Conventions
from qrowd.model.measure import Measure
from qrowd.model.objects import as_judgments, as_runs
from qrowd.model.panel import Blocks, Panel
from qrowd.model.preferences import Preferences
from qrowd.model.scores import Scores
from qrowd.model.signature import version
from qrowd.partitions import (
    PartitionedCollection,
    PartitionedJudgments,
    PartitionedRuns,
    open_partitioned,
    write_partitioned,
)
from qrowd.paths import PathLike


@dataclass(frozen=True, eq=False)
class PartScores:
    """Scores of one part: arrays as in `Scores`, and the counts behind `Scores.attributes`."""

    values: Floats
    relevant: Floats
    coverage: Floats
    facts: Facts
    n_repeats: int


@dataclass(frozen=True)
class _Task:
    """What workers are told: folders and names that reach any process, never rows."""

    folder: str
    key: str
    measures: tuple[str, ...]
    conventions: Conventions
    threads: int | None
    results: str | None


def evaluate_in_parts(
    runs: Any,
    judgments: Any,
    measures: object | Sequence[object],
    *,
    conventions: Conventions,
    executor: AnyExecutor,
    results: PathLike | None,
    threads: int | None,
    progress: Progress,
) -> Scores:
    """`evaluate` part after part; what is in memory is written to a temporary folder first. Arguments as there.

    Raises
    ------
    ArgumentError
        Preferences or panels; runs and judgments of which only some are partitioned, or of two collections.
    """
    parsed = parsed_measures(measures, conventions)
    if isinstance(runs, PartitionedRuns) and isinstance(judgments, PartitionedJudgments):
        if runs.collection.key != judgments.collection.key:
            raise ArgumentError("runs and judgments are of two partitioned collections; write one of both")
        return _evaluate(runs.collection, parsed, conventions, executor, results, threads, progress)
    if isinstance(runs, PartitionedRuns) or isinstance(judgments, PartitionedJudgments):
        raise ArgumentError("runs and judgments: give both of a partitioned collection, or .load() what is partitioned")
    if results is not None:
        raise ArgumentError("results: keeps the scores of a partitioned collection; qrowd partition writes one")
    if isinstance(judgments, Preferences | Panel | Blocks):
        raise ArgumentError("processes and an executor are for judgments; leave them out for preferences and panels")
    runs, judgments = as_runs(runs), as_judgments(judgments)
    if not len(judgments):
        raise ArgumentError("judgments: there are none")
    with TemporaryDirectory(prefix="qrowd-") as folder:
        collection = write_partitioned(Path(folder) / "collection", runs, judgments)
        return _evaluate(collection, parsed, conventions, executor, None, threads, progress)


def _evaluate(
    collection: PartitionedCollection,
    measures: tuple[Measure, ...],
    conventions: Conventions,
    executor: AnyExecutor,
    results: PathLike | None,
    threads: int | None,
    progress: Progress,
) -> Scores:
    """Score every part with judgments, and concatenate the scores by topic."""
    if not set(collection.judged_topics) & set(collection.run_topics):
        raise NoOverlapError(no_shared_topic(collection.run_topics, collection.judged_topics))
    topics_by_part = collection.topics_by_part()
    numbers = [number for number, (judged, _) in enumerate(topics_by_part) if judged]
    n_threads = threads if executor is None else threads or 1
    texts = tuple(map(str, measures))
    kept = None if results is None else _folder_of(results)
    task = _Task(str(collection.folder.resolve()), collection.key, texts, conventions, n_threads, kept)
    n_rows = np.array(collection.run_rows) + np.array(collection.judgment_rows)
    parts: dict[int, PartScores] = {}
    results_of_parts = in_executor(_scores_of_part, numbers, executor, shared=task, noun="part")
    for number, scores in zip(numbers, results_of_parts, strict=True):
        parts[number] = scores
        if progress:
            progress(int(n_rows[list(parts)].sum()), int(n_rows[numbers].sum()))
    return _concatenated(collection, texts, conventions, [parts[number] for number in numbers])


def _concatenated(
    collection: PartitionedCollection, measures: tuple[str, ...], conventions: Conventions, parts: Sequence[PartScores]
) -> Scores:
    """The scores of all parts, with topics in the order of the collection."""
    topics = collection.judged_topics
    read = [topic for judged, _ in collection.topics_by_part() for topic in judged]
    place = {topic: t for t, topic in enumerate(read)}
    order = [place[topic] for topic in topics]
    values = np.concatenate([part.values for part in parts], axis=2)[:, :, order]
    relevant = np.concatenate([part.relevant for part in parts], axis=2)[:, :, order]
    coverage = np.concatenate([part.coverage for part in parts], axis=1)[:, order]
    if conventions.missing == "interpolate":
        missing = np.isnan(values).all(axis=(0, 1))
        unscored = unscored_cells(conventions, relevant, coverage)
        fill_missing(values.transpose(0, 2, 3, 1), missing, unscored)
    n_unjudged = len(set(collection.run_topics) - set(topics))
    facts = replace(total_facts([part.facts for part in parts]), unjudged_topics=n_unjudged)
    attributes = {
        "conventions": conventions.as_dict(),
        "scales": dict(zip(collection.assessors, collection.scales, strict=True)),
        "repeated_judgments": sum(part.n_repeats for part in parts),
        **facts.attributes(),
    }
    return Scores(measures, collection.assessors, topics, collection.systems, values, relevant, coverage, attributes)


def _scores_of_part(task: _Task, number: int) -> PartScores:
    """The scores of a part: read where they are written already, else computed, and written.

    Raises
    ------
    FileError
        A collection that was written again, or that a worker does not see.
    """
    path = None if task.results is None else Path(task.results) / f"part-{number}-{_fingerprint(task)}.npz"
    if path is not None and (written := _read_scores(path)) is not None:
        return written
    collection = _opened(task.folder, task.key)
    judged, others = collection.topics_by_part()[number]
    runs = collection.read_runs((*judged, *others), number)
    judgments = collection.read_judgments(judged, number)
    # What is interpolated depends on all topics: it is filled in when they are there.
    conventions = task.conventions
    conventions = replace(conventions, missing="skip") if conventions.missing == "interpolate" else conventions
    plan = Plan(runs, parsed_measures(list(task.measures), conventions), conventions, task.threads)
    scores = plan.gather(judgments.assessors, [conventions.graded(judgments).panel(repeats=conventions.repeats)])
    part = PartScores(scores.values, scores.relevant, scores.coverage, plan.facts(), judgments.n_repeats())
    if path is not None:
        _write_scores(path, part)
    return part


@lru_cache(maxsize=1)
def _opened(folder: str, key: str) -> PartitionedCollection:
    """The collection, whose survey a worker reads once."""
    collection = open_partitioned(folder)
    if collection.key != key:
        raise FileError(folder, "was written again after it was opened; open it again (qrowd.open_partitioned)")
    return collection


def _fingerprint(task: _Task) -> str:
    """What differs as soon as the scores of a part may."""
    about = (task.key, task.measures, task.conventions, version())
    return sha256(repr(about).encode()).hexdigest()[:32]


def _folder_of(results: PathLike) -> str:
    """The folder for scores of parts, which is made."""
    folder = Path(results).resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(folder, f"cannot be made: {(error.strerror or str(error)).lower()}") from None
    return str(folder)


def _write_scores(path: Path, part: PartScores) -> None:
    """Write the scores of a part, whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    counts = {**vars(part.facts), "retrieved_and_judged": list(part.facts.retrieved_and_judged.items())}
    about: Any = {path.name: json.dumps({"facts": counts, "n_repeats": part.n_repeats})}
    try:
        with beside.open("wb") as file:
            np.savez(file, values=part.values, relevant=part.relevant, coverage=part.coverage, **about)
        beside.replace(path)
    except OSError as error:
        raise FileError(path, f"cannot be written: {(error.strerror or str(error)).lower()}") from None
    finally:
        beside.unlink(missing_ok=True)


def _read_scores(path: Path) -> PartScores | None:
    """The scores of a part that were written; None where there are none, or the file is damaged or another part's."""
    with suppress(Exception), path.open("rb") as file, np.load(file) as arrays:  # else the part is scored again
        about = json.loads(str(arrays[path.name]))  # which another part's file does not hold
        cuts = {cutoff: tuple(counts) for cutoff, counts in about["facts"]["retrieved_and_judged"]}
        facts = Facts(**{**about["facts"], "retrieved_and_judged": cuts})
        return PartScores(arrays["values"], arrays["relevant"], arrays["coverage"], facts, about["n_repeats"])
    return None
