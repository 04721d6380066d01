"""The task of scoring one part, as a worker gets it: a folder and names that reach any process, never rows.

A task may be done twice, or by two workers at once: its file is named after everything that the scores depend on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from qrowd.errors import FileError, QrowdError
from qrowd.evaluation.part_scores import PartScores, read_part_scores, scores_of_part, write_part_scores
from qrowd.evaluation.plan import parsed_measures
from qrowd.model.conventions import Conventions
from qrowd.partitions import PartitionedCollection, open_partitioned, survey_state


@dataclass(frozen=True)
class Task:
    """What all parts have in common.

    results : folder for scores of parts, or None. version : of qrowd that asks. fingerprint : `fingerprint_of` the
    collection whose scores are asked for.
    """

    folder: str
    measures: tuple[str, ...]
    conventions: Conventions
    threads: int | None
    results: str | None
    version: str
    fingerprint: str

    def score(self, number: int) -> PartScores:
        """The scores of a part: read where they are written already, else computed, and written.

        Raises
        ------
        QrowdError
            A worker with another version of qrowd, or one that does not see the folder; a collection that was changed.
        """
        collection = self.collection()
        path = None if self.results is None else self.path(collection, number)
        if path is not None and path.exists():
            return read_part_scores(path)
        parsed = parsed_measures(list(self.measures), self.conventions)
        scores = scores_of_part(collection, number, parsed, self.conventions, self.threads)
        if path is not None:
            write_part_scores(path, scores)
        return scores

    def collection(self) -> PartitionedCollection:
        """The collection; errors as in `score`."""
        if self.version != version("qrowd"):
            raise QrowdError(
                f"a worker has qrowd {version('qrowd')}, but this process has {self.version}; install the same on both"
            )
        try:
            state = survey_state(Path(self.folder))
        except OSError:
            problem = "a worker does not see this folder; workers on several machines need a shared file system"
            raise FileError(self.folder, problem) from None
        collection, fingerprint = _opened(self.folder, state)
        if fingerprint != self.fingerprint:
            raise FileError(self.folder, "was changed while it was evaluated; evaluate it again")
        return collection

    def path(self, collection: PartitionedCollection, number: int) -> Path:
        """The file of the scores of a part, named after everything that they depend on."""
        part = collection.parts[number]
        about = (
            part.digest,
            collection.systems,
            tuple((collection.assessors[a], vars(collection.scales[a])) for a in part.assessors),
            self.measures,
            self.conventions,
            self.version,
        )
        assert self.results is not None
        return Path(self.results) / f"{part.name}-{sha256(repr(about).encode()).hexdigest()[:32]}.npz"


@lru_cache(maxsize=1)
def _opened(folder: str, state: tuple[int, int]) -> tuple[PartitionedCollection, str]:
    """The collection, whose survey a worker reads once, and its fingerprint. state : of the survey."""
    collection = open_partitioned(folder)
    return collection, fingerprint_of(collection)


def fingerprint_of(collection: PartitionedCollection) -> str:
    """What differs as soon as one row does; files that were compacted hold the same rows."""
    about = (
        collection.systems,
        collection.assessors,
        tuple(vars(scale) for scale in collection.scales),
        tuple(part.digest for part in collection.parts),
    )
    return sha256(repr(about).encode()).hexdigest()
