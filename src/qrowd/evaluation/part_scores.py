"""Scores of one part of a partitioned collection, and the file that keeps them.

A topic is scored by itself, so that scores of parts are those of the whole, once names and scales are those of the
whole. What is not about one topic is kept as counts, which can be added.
"""

from __future__ import annotations

import os
import zipfile
from ast import literal_eval
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import FileError
from qrowd.evaluation.facts import Facts
from qrowd.evaluation.plan import Plan, Progress
from qrowd.executors import finishing
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.measure import Measure
from qrowd.model.runs import Runs
from qrowd.partitions import PartitionedCollection

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


def scores_of_part(
    collection: PartitionedCollection,
    number: int,
    measures: tuple[Measure, ...],
    conventions: Conventions,
    threads: int | None,
) -> PartScores:
    """Scores of a part of an open collection."""
    return part_scores(*collection.read(number), measures, conventions, threads)


def part_scores(
    runs: Runs,
    judgments: Judgments,
    measures: tuple[Measure, ...],
    conventions: Conventions,
    threads: int | None,
    progress: Progress = None,
) -> PartScores:
    """Scores of some topics."""
    # What is interpolated depends on all topics: it is filled in when they are there.
    own = replace(conventions, missing="skip") if conventions.missing == "interpolate" else conventions
    plan = Plan(runs, measures, own, threads, progress)
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
    with finishing:
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
