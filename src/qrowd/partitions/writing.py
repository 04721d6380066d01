"""Writing a partitioned collection: rows come in a stream, in any order, and memory stays bounded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from qrowd.errors import ArgumentError, FileError
from qrowd.executors import AnyExecutor, Messages, as_done
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.partitions.collection import Part, PartitionedCollection, open_partitioned
from qrowd.partitions.parquet import need_pyarrow
from qrowd.partitions.rows import (
    COLUMNS,
    FilesOfRows,
    Layout,
    PartSources,
    RowStore,
    WrittenFile,
    part_name,
    write_part,
)
from qrowd.partitions.survey import AssessorSurvey, JudgmentsSurvey, PieceSurvey, RunsSurvey
from qrowd.partitions.survey_files import SURVEY

PARTS = 64
MESSAGES = Messages("part")

Progress = Callable[[int, int], object] | None
Written = dict[int, dict[str, WrittenFile]]


def write_partitioned(
    folder: str | os.PathLike[str],
    runs: Runs,
    judgments: Judgments,
    *,
    n_parts: int = PARTS,
    part_of: Mapping[str, int] | None = None,
) -> PartitionedCollection:
    """Write runs and judgments that are in memory as a partitioned collection.

    part_of : {topic: number of its part, from 0}; default: topics are spread over `n_parts` parts by their names.

    Raises
    ------
    FileError
        A folder that exists already.
    """
    with PartitionWriter(folder, n_parts=n_parts, part_of=part_of) as writer:
        writer.add_judgments(judgments)
        writer.add_runs(runs)
        return writer.finish(scales=judgments.scales)


class PartitionWriter:
    """Writes a partitioned collection in a stream: `add_runs` and `add_judgments` any number of times, then `finish`.

    Used as a context manager; without `finish` nothing is left behind. The folder appears when it is complete.

    layout : by which any process writes rows to files in the folder `rows`, which `take` takes in.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, n_parts: int = PARTS, part_of: Mapping[str, int] | None = None
    ) -> None:
        if n_parts < 1:
            raise ArgumentError(f"n_parts={n_parts}: at least 1 was expected")
        self.folder = Path(folder)
        if self.folder.exists():
            raise FileError(folder, "exists already; name another folder")
        n = n_parts if part_of is None else max(part_of.values(), default=0) + 1
        self._begin(self.folder.with_name(f".{self.folder.name}.{os.getpid()}"), Layout(n, part_of or {}))

    def _begin(self, temporary: Path, layout: Layout) -> None:
        """Make the temporary folder, with nothing in it yet."""
        need_pyarrow()
        self.layout = layout
        self._temporary = temporary.absolute()
        self.rows = self._temporary / "rows"
        try:
            for name in (*COLUMNS, "rows"):
                (self._temporary / name).mkdir(parents=True)
        except OSError as error:
            raise FileError(self.folder, f"cannot be made: {(error.strerror or str(error)).lower()}") from None
        self._store = RowStore(layout, self.rows)
        self._systems: dict[str, int] = {}
        self._judged_topics: dict[str, None] = {}
        self._run_topics: dict[str, None] = {}
        self._assessors = AssessorSurvey()
        self._assessors_of: list[set[str]] = [set() for _ in range(layout.n_parts)]
        self._columns: dict[str, None] = {}
        self._has_ranks = False
        self._run_notes: dict[str, None] = {}
        self._notes: dict[str, None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self._temporary, ignore_errors=True)

    def add_runs(self, runs: Runs) -> None:
        """Write the rows of these runs to their parts; a system and a topic may come in several pieces."""
        self._survey(self._store.add_runs(runs))

    def add_judgments(self, judgments: Judgments, *, table: object = None) -> None:
        """Write the rows of these judgments to their parts.

        table : key of the file they are of: a table may come in several pieces, whose assessors share an inferred
        scale as `judgments.sources` says.
        """
        self._survey(self._store.add_judgments(judgments, table=table))

    def take(self, surveys: Sequence[PieceSurvey], files: Mapping[str, FilesOfRows]) -> None:
        """Take in pieces whose rows another process has written to files of rows, by the same layout."""
        for survey in surveys:
            self._survey(survey)
        self._store.take(files)

    def _survey(self, survey: PieceSurvey) -> None:
        if isinstance(survey, RunsSurvey):
            for name in survey.systems:
                self._systems.setdefault(name, len(self._systems))
            self._run_topics.update(dict.fromkeys(survey.topics))
            self._run_notes.update(dict.fromkeys(survey.notes))
            self._has_ranks |= survey.has_ranks
        if isinstance(survey, JudgmentsSurvey):
            self._assessors.add(survey)
            self._judged_topics.update(dict.fromkeys(survey.topics))
            self._notes.update(dict.fromkeys(survey.notes))
            self._columns.update(dict.fromkeys(survey.columns))
            names = survey.assessors
            for pair in survey.pairs.tolist():
                self._assessors_of[pair // len(names)].add(names[pair % len(names)])

    def finish(
        self, *, scales: tuple[Scale, ...] | None = None, executor: AnyExecutor = None, progress: Progress = None
    ) -> PartitionedCollection:
        """Write the parts and the survey, and put the folder in its place.

        scales : of the assessors; default: those that were declared, and inferred ones. executor : whose workers write
        the parts; they must see the folder. progress : called with the parts that are written, and all parts.

        Raises
        ------
        ArgumentError
            No runs or no judgments were added.
        """
        for what, names in (("runs", self._systems), ("judgments", self._judged_topics)):
            if not names:
                raise ArgumentError(f"{what}: there are none")
        written = self._write(range(self.layout.n_parts), executor, progress, empty=True)
        topics = dict.fromkeys((*self._judged_topics, *self._run_topics))
        survey = PartitionedCollection(
            self.folder,
            tuple(self._systems),
            self._assessors.assessors,
            scales or self._assessors.scales(),
            tuple(tuple(summary.tolist()) for summary in self._assessors.summaries()),
            self._assessors.sources(),
            tuple(self._judged_topics),
            tuple(self._run_topics),
            {topic: self.layout.part(topic) for topic in topics},
            tuple(self._part(number, files) for number, files in sorted(written.items())),
            tuple(name for name in Judgments.OPTIONAL if name in self._columns),
            self._has_ranks,
            tuple(self._run_notes),
            tuple(self._notes),
        )
        (self._temporary / SURVEY).write_text(survey.to_json(), "utf-8")
        shutil.rmtree(self.rows)
        self._temporary.rename(self.folder)
        return open_partitioned(self.folder)

    def _part(self, number: int, files: Mapping[str, WrittenFile]) -> Part:
        runs, judgments = files["runs"], files["judgments"]
        digest = sha256(f"{runs.digest} {judgments.digest}".encode()).hexdigest()
        names = self._assessors_of[number]
        assessors = tuple(a for a, name in enumerate(self._assessors.assessors) if name in names)
        return Part(part_name(number), runs.n_rows, judgments.n_rows, digest, assessors)

    def _write(self, numbers: Sequence[int], executor: AnyExecutor, progress: Progress, *, empty: bool) -> Written:
        """Write the files of these parts to the temporary folder. empty : whether one without rows gets a file."""
        if executor is not None:
            self._store.spill()
        sources = PartSources(self.layout, str(self.rows), str(self._temporary), self._store.files(), empty)
        written: Written = {}
        done: Any
        if executor is None:
            done = ((i, write_part(sources, number, self._store)) for i, number in enumerate(numbers))
        else:
            done = as_done(write_part, numbers, executor, shared=sources, messages=MESSAGES)
        with closing(done):
            for i, files in done:
                written[numbers[i]] = files
                if progress is not None:
                    progress(len(written), len(numbers))
        return written
