"""Writing a partitioned collection: rows come in a stream, in any order, and memory stays bounded."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, FileError
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.partitions.collection import SURVEY, Part, PartitionedCollection, open_partitioned
from qrowd.partitions.parquet import JUDGMENT_COLUMNS, RUN_COLUMNS, need_pyarrow, schema_of
from qrowd.partitions.survey import AssessorSurvey

ROWS_HELD = 4_000_000  # in memory, of all parts together, before they are written
PARTS = 64


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
        self._begin(self.folder.with_name(f".{self.folder.name}.{os.getpid()}"), n, part_of)

    def _begin(self, temporary: Path, n_parts: int, part_of: Mapping[str, int] | None) -> None:
        """Make the temporary folder, with nothing in it yet."""
        need_pyarrow()
        self._temporary = temporary
        try:
            self._temporary.mkdir(parents=True)
        except OSError as error:
            raise FileError(self.folder, f"cannot be made: {(error.strerror or str(error)).lower()}") from None
        self._n_parts = n_parts
        self._given = part_of
        self._part_of: dict[str, int] = {}
        self._systems: dict[str, int] = {}
        self._judged_topics: dict[str, None] = {}
        self._run_topics: dict[str, None] = {}
        self._assessors = AssessorSurvey()
        self._assessors_of: list[set[str]] = [set() for _ in range(n_parts)]
        self._columns: dict[str, None] = {}
        self._has_ranks = False
        self._run_notes: dict[str, None] = {}
        self._notes: dict[str, None] = {}
        self._files = {
            "runs": _Files(self._temporary / "runs", RUN_COLUMNS, self._n_parts),
            "judgments": _Files(self._temporary / "judgments", JUDGMENT_COLUMNS, self._n_parts),
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for files in self._files.values():
            files.close()
        shutil.rmtree(self._temporary, ignore_errors=True)

    def add_runs(self, runs: Runs) -> None:
        """Write the rows of these runs to their parts; a system and a topic may come in several pieces."""
        for name in runs.systems:
            self._systems.setdefault(name, len(self._systems))
        self._run_topics.update(dict.fromkeys(runs.topics))
        self._run_notes.update(dict.fromkeys(runs.notes))
        self._has_ranks |= runs.rank is not None
        part = self._parts(runs.topics)[runs.topic]
        labels = {name: (getattr(runs, f"{name}s"), getattr(runs, name)) for name in ("system", "topic", "document")}
        rank = np.full(len(runs), np.nan) if runs.rank is None else runs.rank.astype(np.float64)
        self._files["runs"].add(part, labels, {"score": runs.score, "rank": rank})
        self._flush_if_full()

    def add_judgments(self, judgments: Judgments, *, table: object = None) -> None:
        """Write the rows of these judgments to their parts.

        table : key of the file they are of: a table may come in several pieces, whose assessors share an inferred
        scale as `judgments.sources` says.
        """
        names, sources = judgments.assessors, judgments.sources
        tables = [(table, name if sources is None else sources[a]) for a, name in enumerate(names)]
        self._assessors.add(names, judgments.value, judgments.assessor, judgments.scales, tables)
        self._judged_topics.update(dict.fromkeys(judgments.topics))
        self._notes.update(dict.fromkeys(judgments.notes))
        recorded = [name for name in Judgments.OPTIONAL if getattr(judgments, name) is not None]
        self._columns.update(dict.fromkeys(recorded))
        part = self._parts(judgments.topics)[judgments.topic]
        for pair in np.unique(part * len(names) + judgments.assessor).tolist():
            self._assessors_of[pair // len(names)].add(names[pair % len(names)])
        labels = {
            name: (getattr(judgments, f"{name}s"), getattr(judgments, name))
            for name in ("topic", "document", "assessor")
        }
        cells = {name: getattr(judgments, name) for name in recorded}
        self._files["judgments"].add(part, labels, {"value": judgments.value, **cells})
        self._flush_if_full()

    def finish(self, *, scales: tuple[Scale, ...] | None = None) -> PartitionedCollection:
        """Write what is left and the survey, and put the folder in its place.

        scales : of the assessors; default: those that were declared, and inferred ones.

        Raises
        ------
        ArgumentError
            No runs or no judgments were added.
        """
        for what, names in (("runs", self._systems), ("judgments", self._judged_topics)):
            if not names:
                raise ArgumentError(f"{what}: there are none")
        for files in self._files.values():
            files.flush()
            files.close()
        survey = PartitionedCollection(
            self.folder,
            tuple(self._systems),
            self._assessors.assessors,
            scales or self._assessors.scales(),
            tuple(tuple(summary.tolist()) for summary in self._assessors.summaries()),
            self._assessors.sources(),
            tuple(self._judged_topics),
            tuple(self._run_topics),
            self._part_of,
            tuple(map(self._part, range(self._n_parts))),
            tuple(name for name in Judgments.OPTIONAL if name in self._columns),
            self._has_ranks,
            tuple(self._run_notes),
            tuple(self._notes),
        )
        (self._temporary / SURVEY).write_text(survey.to_json(), "utf-8")
        self._temporary.rename(self.folder)
        return open_partitioned(self.folder)

    def _part(self, number: int) -> Part:
        runs, judgments = self._files["runs"], self._files["judgments"]
        digest = digest_of(runs.path(number), judgments.path(number))
        names = self._assessors_of[number]
        assessors = tuple(a for a, name in enumerate(self._assessors.assessors) if name in names)
        return Part(runs.path(number).stem, runs.n_rows[number], judgments.n_rows[number], digest, assessors)

    def _parts(self, topics: Sequence[str]) -> NDArray[np.int64]:
        """(topics,) number of the part of each."""
        for topic in topics:
            if topic not in self._part_of:
                given = None if self._given is None else self._given.get(topic)
                self._part_of[topic] = crc32(topic.encode()) % self._n_parts if given is None else given
        return np.array([self._part_of[topic] for topic in topics], np.int64)

    def _flush_if_full(self) -> None:
        if sum(files.n_held for files in self._files.values()) >= ROWS_HELD:
            for files in self._files.values():
                files.flush()


class _Files:
    """One Parquet file for each part. Rows are held until `flush` writes them all."""

    def __init__(self, folder: Path, columns: Mapping[str, str], n_parts: int) -> None:
        folder.mkdir()
        self.folder, self.columns, self.schema = folder, columns, schema_of(columns)
        self.n_rows = [0] * n_parts
        self.n_held = 0
        self._held: list[list[Any]] = [[] for _ in range(n_parts)]
        self._writers: dict[int, Any] = {}

    def add(
        self,
        part: NDArray[np.int64],
        labels: Mapping[str, tuple[Sequence[str], NDArray[np.integer]]],
        cells: Mapping[str, NDArray[Any]],
    ) -> None:
        """Hold rows. part : (rows,); labels : {column: (texts, (rows,) numbers into them)}; cells : other columns."""
        arrow = need_pyarrow()
        words = {name: arrow.array(texts, arrow.string()) for name, (texts, _) in labels.items()}
        order = np.argsort(part, kind="stable")
        bounds = np.searchsorted(part[order], np.arange(len(self.n_rows) + 1))
        for number in np.flatnonzero(np.diff(bounds)):
            rows = order[bounds[number] : bounds[number + 1]]
            columns = [self._column(name, rows, words, labels, cells) for name in self.columns]
            self._held[number].append(arrow.Table.from_arrays(columns, schema=self.schema))
            self.n_rows[number] += rows.size
        self.n_held += part.size

    def _column(
        self,
        name: str,
        rows: NDArray[np.int64],
        words: Mapping[str, Any],
        labels: Mapping[str, tuple[Sequence[str], NDArray[np.integer]]],
        cells: Mapping[str, NDArray[Any]],
    ) -> Any:
        arrow = need_pyarrow()
        kind = self.schema.field(name).type
        if name in words:
            return words[name].take(arrow.array(labels[name][1][rows]))
        if name not in cells:
            return arrow.nulls(rows.size, kind)
        own = cells[name][rows]
        if kind == arrow.string():
            return arrow.array([None if cell is None else str(cell) for cell in own], kind)
        return arrow.array(own.astype(np.float64), kind)

    def path(self, number: int) -> Path:
        """The file of a part."""
        return self.folder / f"part-{number:05d}.parquet"

    def flush(self) -> None:
        """Write what is held, one group of rows for each part."""
        arrow = need_pyarrow()
        for number, tables in enumerate(self._held):
            if tables:
                self._writer(number).write_table(arrow.concat_tables(tables))
        self._held = [[] for _ in self._held]
        self.n_held = 0

    def close(self) -> None:
        """Complete the files; a part without rows gets an empty one."""
        if not self.folder.exists():
            return
        for number in range(len(self.n_rows)):
            self._writer(number).close()

    def close_used(self) -> dict[int, Path]:
        """Complete the files of parts that have rows: {number of the part: file}."""
        for writer in self._writers.values():
            writer.close()
        return {number: self.path(number) for number in sorted(self._writers)}

    def _writer(self, number: int) -> Any:
        from pyarrow import parquet

        if number not in self._writers:
            self._writers[number] = parquet.ParquetWriter(self.path(number), self.schema, compression="zstd")
        return self._writers[number]


def digest_of(*paths: Path) -> str:
    """SHA-256 of what the files hold, one after the other."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
