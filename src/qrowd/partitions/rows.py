"""Rows on their way to the files of parts: held in memory or in files of rows, from which a part is read by itself.

Any process can write files of rows, and any can write the files of a part from them. What a part's file holds depends
on its rows and their order alone, not on who read them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import uuid4
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.partitions.parquet import JUDGMENT_COLUMNS, RUN_COLUMNS, need_pyarrow, schema_of
from qrowd.partitions.survey import JudgmentsSurvey, RunsSurvey, summaries_of

COLUMNS = {"runs": RUN_COLUMNS, "judgments": JUDGMENT_COLUMNS}
ROWS_HELD = 4_000_000  # in memory, of all parts together, before they are written
ROWS_OF_A_GROUP = 1 << 20  # of a Parquet file

Labels = Mapping[str, tuple[Sequence[str], NDArray[np.integer]]]
Cells = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Layout:
    """Which part a topic is of, and which lists are there already.

    part_of : {topic: number of its part}; the part of any other topic follows from its name. name : of the collection,
    for messages. systems, run_topics : of which no list may be added.
    """

    n_parts: int
    part_of: Mapping[str, int] = field(default_factory=dict)
    name: str = ""
    systems: frozenset[str] = frozenset()
    run_topics: frozenset[str] = frozenset()

    def part(self, topic: str) -> int:
        """The number of the part of a topic."""
        number = self.part_of.get(topic)
        return crc32(topic.encode()) % self.n_parts if number is None else number

    def parts(self, topics: Sequence[str]) -> NDArray[np.int64]:
        """(topics,) number of the part of each."""
        return np.array([self.part(topic) for topic in topics], np.int64)

    def refuse_known(self, runs: Runs) -> None:
        """Raise ArgumentError for a list of a system and a topic that the collection has."""
        if not self.systems:
            return
        old_system = np.array([name in self.systems for name in runs.systems], bool)[runs.system]
        old_topic = np.array([topic in self.run_topics for topic in runs.topics], bool)[runs.topic]
        known = np.flatnonzero(old_system & old_topic)
        if known.size:
            system, topic = runs.systems[runs.system[known[0]]], runs.topics[runs.topic[known[0]]]
            raise ArgumentError(
                f"runs: system {system} and topic {topic} are in {self.name} already; add new systems or new "
                "topics, or write the collection again"
            )


@dataclass(frozen=True, eq=False)
class FilesOfRows:
    """Files of rows of one kind, in the order of the rows. n_rows : (parts,) rows of each in all files."""

    paths: tuple[str, ...]
    n_rows: NDArray[np.int64]


class RowStore:
    """Rows of runs and judgments by part, held in memory until there are too many; then they are written to a file.

    folder : of the files of rows.
    """

    def __init__(self, layout: Layout, folder: Path, *, most: int = ROWS_HELD) -> None:
        self.layout, self.folder, self.most = layout, folder, most
        self._kinds = {kind: _Held(layout.n_parts, schema_of(columns)) for kind, columns in COLUMNS.items()}

    def add_runs(self, runs: Runs) -> RunsSurvey:
        """Take in the rows of these runs; what the survey needs to know of them."""
        self.layout.refuse_known(runs)
        labels = {name: (getattr(runs, f"{name}s"), getattr(runs, name)) for name in ("system", "topic", "document")}
        rank = np.full(len(runs), np.nan) if runs.rank is None else runs.rank.astype(np.float64)
        self._add("runs", self.layout.parts(runs.topics)[runs.topic], labels, {"score": runs.score, "rank": rank})
        return RunsSurvey(len(runs), runs.topics, runs.notes, runs.systems, runs.rank is not None)

    def add_judgments(self, judgments: Judgments, *, table: object = None) -> JudgmentsSurvey:
        """Take in the rows of these judgments; what the survey needs to know of them. table : key of their file."""
        names, sources = judgments.assessors, judgments.sources
        columns = tuple(name for name in Judgments.OPTIONAL if getattr(judgments, name) is not None)
        part = self.layout.parts(judgments.topics)[judgments.topic]
        labels = {
            name: (getattr(judgments, f"{name}s"), getattr(judgments, name))
            for name in ("topic", "document", "assessor")
        }
        cells = {"value": judgments.value, **{name: getattr(judgments, name) for name in columns}}
        self._add("judgments", part, labels, cells)
        return JudgmentsSurvey(
            len(judgments), judgments.topics, judgments.notes, names,
            summaries_of(judgments.value, judgments.assessor, len(names)), judgments.scales,
            tuple((table, name if sources is None else sources[a]) for a, name in enumerate(names)), columns,
            np.unique(part * max(len(names), 1) + judgments.assessor),
        )  # fmt: skip

    def _add(self, kind: str, part: NDArray[np.int64], labels: Labels, cells: Cells) -> None:
        self._kinds[kind].add(part, labels, cells)
        if sum(held.n_held for held in self._kinds.values()) >= self.most:
            self.spill()

    def take(self, files: Mapping[str, FilesOfRows]) -> None:
        """Take in the rows of files of rows."""
        for kind, one in files.items():
            held = self._kinds[kind]
            held.spill(self.folder)
            held.paths += one.paths
            held.n_rows += one.n_rows

    def spill(self) -> None:
        """Write all rows that are held to files."""
        for held in self._kinds.values():
            held.spill(self.folder)

    def files(self) -> dict[str, FilesOfRows]:
        """The files of rows that were written or taken in, of each kind."""
        return {kind: FilesOfRows(tuple(held.paths), held.n_rows) for kind, held in self._kinds.items()}

    def held(self, kind: str, number: int) -> list[Any]:
        """The rows of a part that are held."""
        return self._kinds[kind].tables[number]


class _Held:
    """Rows of one kind, by part. n_rows : (parts,) rows of each, here and in files. paths : of the files."""

    def __init__(self, n_parts: int, schema: Any) -> None:
        self.schema = schema
        self.tables: list[list[Any]] = [[] for _ in range(n_parts)]
        self.n_rows = np.zeros(n_parts, np.int64)
        self.n_held = 0
        self.paths: list[str] = []

    def add(self, part: NDArray[np.int64], labels: Labels, cells: Cells) -> None:
        """Hold rows. part : (rows,); labels : {column: (texts, (rows,) numbers into them)}; cells : other columns."""
        arrow = need_pyarrow()
        order = np.argsort(part, kind="stable")
        counts = np.bincount(part, minlength=self.n_rows.size)
        columns = [self._column(name, order, labels, cells) for name in self.schema.names]
        table = arrow.Table.from_arrays(columns, schema=self.schema)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        for number in np.flatnonzero(counts).tolist():
            self.tables[number].append(table.slice(bounds[number], counts[number]))
        self.n_rows += counts
        self.n_held += part.size

    def _column(self, name: str, rows: NDArray[np.int64], labels: Labels, cells: Cells) -> Any:
        arrow = need_pyarrow()
        kind = self.schema.field(name).type
        if name in labels:
            texts, codes = labels[name]
            return arrow.array(texts, arrow.string()).take(arrow.array(codes[rows]))
        if name not in cells:
            return arrow.nulls(rows.size, kind)
        own = cells[name][rows]
        if kind == arrow.string():
            return arrow.array([None if cell is None else str(cell) for cell in own], kind)
        return arrow.array(own.astype(np.float64), kind)

    def spill(self, folder: Path) -> None:
        """Write what is held to a file: a batch of rows for each part, and last the place of each batch."""
        if not self.n_held:
            return
        arrow = need_pyarrow()
        path = folder / f"{uuid4().hex}.rows"
        places = []
        with arrow.OSFile(str(path), "wb") as sink:
            with arrow.ipc.new_stream(sink, self.schema) as stream:
                for tables in self.tables:
                    places.append(sink.tell())
                    if tables:
                        stream.write_table(arrow.concat_tables(tables).combine_chunks())
                places.append(sink.tell())
            sink.write(np.array(places, np.int64).tobytes())
        self.paths.append(str(path))
        self.tables = [[] for _ in self.tables]
        self.n_held = 0


def _rows_of_part(path: str, number: int, n_parts: int, schema: Any) -> Iterator[Any]:
    """The rows of a part in a file of rows."""
    arrow = need_pyarrow()
    with Path(path).open("rb") as file:
        file.seek(8 * (number - n_parts - 1), 2)
        start, end = np.frombuffer(file.read(16), np.int64).tolist()
        file.seek(start)
        with arrow.BufferReader(file.read(end - start)) as content:
            while content.tell() < end - start:
                message = arrow.ipc.read_message(content)
                if message.type != "schema":  # with which the file begins
                    yield arrow.Table.from_batches([arrow.ipc.read_record_batch(message, schema)])


@dataclass(frozen=True, eq=False)
class PartSources:
    """From what the files of parts are written, by any process. folder : for unfinished files. parts : where to."""

    layout: Layout
    folder: str
    parts: str
    files: Mapping[str, FilesOfRows]
    empty: bool  # whether a part without rows gets an empty file


@dataclass(frozen=True)
class WrittenFile:
    """A Parquet file of a part. digest : SHA-256 of what it holds."""

    path: str
    n_rows: int
    digest: str


def write_part(sources: PartSources, number: int, store: RowStore | None = None) -> dict[str, WrittenFile]:
    """Write the files of a part, of each kind. store : where there are rows beside those in files."""
    written = {}
    for kind, files in sources.files.items():
        if not (files.n_rows[number] or sources.empty):
            continue
        schema = schema_of(COLUMNS[kind])
        path = Path(sources.parts) / kind / f"{part_name(number)}.parquet"
        in_files = (_rows_of_part(file, number, sources.layout.n_parts, schema) for file in files.paths)
        held = [] if store is None else store.held(kind, number)
        tables = chain(chain.from_iterable(in_files), held)
        written[kind] = write_parquet(path, schema, tables, Path(sources.folder))
    return written


def part_name(number: int) -> str:
    """The name of the files of a part."""
    return f"part-{number:05d}"


def write_parquet(path: Path, schema: Any, tables: Iterable[Any], folder: Path) -> WrittenFile:
    """Write a Parquet file, whole or not at all; what it holds depends on the rows alone, not on how they come.

    folder : for the file while it is not complete.
    """
    from pyarrow import parquet

    beside = folder / f"{uuid4().hex}.parquet"
    n_rows = 0
    with parquet.ParquetWriter(beside, schema, compression="zstd") as writer:
        for group in _in_groups(tables):
            writer.write_table(group, row_group_size=ROWS_OF_A_GROUP)
            n_rows += group.num_rows
    digest = digest_of(beside)
    beside.replace(path)
    return WrittenFile(str(path), n_rows, digest)


def _in_groups(tables: Iterable[Any]) -> Iterator[Any]:
    """The same rows as tables of `ROWS_OF_A_GROUP` rows each, but for the last."""
    arrow = need_pyarrow()
    held: list[Any] = []
    n_held = 0
    for table in tables:
        held.append(table)
        n_held += table.num_rows
        while n_held >= ROWS_OF_A_GROUP:
            whole = arrow.concat_tables(held)
            yield whole.slice(0, ROWS_OF_A_GROUP).combine_chunks()
            held = [whole.slice(ROWS_OF_A_GROUP)]
            n_held -= ROWS_OF_A_GROUP
    if n_held:
        yield arrow.concat_tables(held).combine_chunks()


def digest_of(path: Path) -> str:
    """SHA-256 of what a file holds."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
