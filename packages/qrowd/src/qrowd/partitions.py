"""A partitioned collection: runs and judgments in Parquet files, each with the rows of some topics.

The folder holds `survey.json`, and the files of each part: `runs/part=0/`, `judgments/part=0/` and so on, as PyArrow
writes a partitioned dataset, with labels as text. Names, scales and topics stand in the survey, so that a part is read
as what it is of the whole: a grade that occurs in another part counts for the scale.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any
from uuid import uuid4
from zlib import crc32

import numpy as np

from qrowd.errors import ArgumentError, FileError, QrowdError, RowError
from qrowd.kernels.arrays import Codes, Floats, Ints
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.labels import plural
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale

SURVEY = "survey.json"
FORMAT = 6
NUMBERS = ("order", "seconds")  # columns of judgments that are numbers; other optional ones are texts


@dataclass(frozen=True, eq=False)
class PartitionedCollection:
    """What is known of a partitioned collection without reading its parts.

    key : differs whenever a collection is written. systems, assessors : names. scales, sources : of the assessors, as
    in `Judgments`. judged_topics, run_topics : in the order in which they were read. run_rows, judgment_rows : of each
    part. columns : optional ones of judgments that were recorded. has_ranks : whether runs state ranks.
    run_notes, notes : what was noticed while files were read.
    """

    folder: Path
    key: str
    systems: tuple[str, ...]
    assessors: tuple[str, ...]
    scales: tuple[Scale, ...]
    sources: tuple[int, ...]
    judged_topics: tuple[str, ...] = field(repr=False)
    run_topics: tuple[str, ...] = field(repr=False)
    run_rows: tuple[int, ...]
    judgment_rows: tuple[int, ...]
    columns: tuple[str, ...]
    has_ranks: bool
    run_notes: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return len(self.run_rows)

    @property
    def sizes(self) -> str:
        """How many parts, systems, topics, assessors and rows, in words."""
        counts = (
            (len(self.systems), "system"),
            (len(self.judged_topics), "judged topic"),
            (len(self.assessors), "assessor"),
            (sum(self.run_rows), "retrieved document"),
            (sum(self.judgment_rows), "judgment"),
        )
        return f"{plural(self.n_parts, 'part')}: {', '.join(plural(n, noun) for n, noun in counts)}"

    def __repr__(self) -> str:
        return f"PartitionedCollection({self.sizes})"

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per part: part, n_topics that are judged, n_run_rows, n_judgments."""
        columns = {
            "part": np.arange(self.n_parts),
            "n_topics": np.array([len(judged) for judged, _ in self.topics_by_part()], np.int64),
            "n_run_rows": np.array(self.run_rows, np.int64),
            "n_judgments": np.array(self.judgment_rows, np.int64),
        }
        return make_frame(columns, backend)

    @property
    def runs(self) -> PartitionedRuns:
        """The runs, for `qrowd.evaluate`."""
        return PartitionedRuns(self)

    @property
    def judgments(self) -> PartitionedJudgments:
        """The judgments, for `qrowd.evaluate`."""
        return PartitionedJudgments(self)

    def topics_by_part(self) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Of each part the judged topics, and those that are only in runs."""
        judged = dict.fromkeys(self.judged_topics)
        parts: list[tuple[list[str], list[str]]] = [([], []) for _ in range(self.n_parts)]
        for topic in (*judged, *(topic for topic in self.run_topics if topic not in judged)):
            parts[part_of(topic, self.n_parts)][topic not in judged].append(topic)
        return [(tuple(first), tuple(others)) for first, others in parts]

    def read_runs(self, topics: Sequence[str], part: int | None = None) -> Runs:
        """The runs of a part, or of all, as those of these topics.

        Raises
        ------
        FileError
            A file that is missing or damaged.
        """
        table = self._table("runs", part, self.run_rows)
        documents, document = _words(table, "document")
        try:
            return Runs(
                self.systems,
                tuple(topics),
                documents,
                self._codes(table, "system", self.systems),
                self._codes(table, "topic", topics),
                document,
                _numbers(table, "score"),
                _numbers(table, "rank") if self.has_ranks else None,
                self.run_notes,
            )
        except RowError as error:  # a document twice in a list, where the list comes from several files
            raise FileError(self.folder, error.problem) from None

    def read_judgments(self, topics: Sequence[str], part: int | None = None) -> Judgments:
        """The judgments of a part, or of all, as those of these topics; errors as in `read_runs`."""
        table = self._table("judgments", part, self.judgment_rows)
        documents, document = _words(table, "document")
        optional: dict[str, Any] = {
            name: _numbers(table, name) if name in NUMBERS else np.array(table.column(name).to_pylist(), object)
            for name in self.columns
        }
        return Judgments(
            tuple(topics),
            documents,
            self.assessors,
            self._codes(table, "topic", topics),
            document,
            self._codes(table, "assessor", self.assessors),
            _numbers(table, "value"),
            self.scales,
            self.sources,
            **optional,
            notes=self.notes,
        )

    def _table(self, kind: str, part: int | None, n_rows: Sequence[int]) -> Any:
        """The rows of a part, or of all parts, as a table of Arrow."""
        arrow = need_pyarrow()
        from pyarrow import parquet

        tables = []
        for number in range(self.n_parts) if part is None else [part]:
            folder = self.folder / kind / f"part={number}"
            try:
                paths = sorted(folder.glob("*.parquet"), key=lambda path: (len(path.name), path.name))
                tables += [parquet.read_table(path, schema=schemas(arrow)[kind], partitioning=None) for path in paths]
            except (arrow.ArrowException, OSError) as error:
                problem = str(error).splitlines()[0]
                raise FileError(folder, f"cannot be read: {problem}; write the collection again") from None
        table = arrow.concat_tables([schemas(arrow)[kind].empty_table(), *tables])
        expected = sum(n_rows) if part is None else n_rows[part]
        if table.num_rows != expected:
            problem = f"holds {table.num_rows:,} of {expected:,} rows of {kind}; write the collection again"
            raise FileError(self.folder if part is None else folder, problem)
        return table

    def _codes(self, table: Any, name: str, labels: Sequence[str]) -> Codes:
        """(rows,) numbers into these labels, which hold all texts of the column."""
        words, codes = _words(table, name)
        place = {label: i for i, label in enumerate(labels)}
        unknown = next((word for word in words if word not in place), None)
        if unknown is not None:
            raise FileError(self.folder, f"{name} {unknown!r} is not in {SURVEY}; write the collection again")
        numbers: Codes = np.array([place[word] for word in words], np.int32)[codes]
        return numbers


@dataclass(frozen=True)
class PartitionedRuns:
    """The runs of a partitioned collection, which `qrowd.evaluate` reads part after part."""

    collection: PartitionedCollection

    def load(self) -> Runs:
        """All of them in memory, for other functions."""
        return self.collection.read_runs(self.collection.run_topics)


@dataclass(frozen=True)
class PartitionedJudgments:
    """The judgments of a partitioned collection, which `qrowd.evaluate` reads part after part."""

    collection: PartitionedCollection

    def load(self) -> Judgments:
        """All of them in memory, for other functions."""
        return self.collection.read_judgments(self.collection.judged_topics)


def part_of(topic: str, n_parts: int) -> int:
    """The number of the part of a topic."""
    return crc32(topic.encode("utf-8", "surrogatepass")) % n_parts


def is_partitioned(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder is a partitioned collection."""
    return (Path(folder) / SURVEY).is_file()


def open_partitioned(folder: str | os.PathLike[str]) -> PartitionedCollection:
    """Open the collection that `qrowd partition` or `write_partitioned` wrote; no part of it is read.

    Raises
    ------
    FileError
        A folder without a survey, or one of another version.
    """
    if not isinstance(folder, str | os.PathLike):
        raise ArgumentError(f"folder: the path of a partitioned collection was expected, not {type(folder).__name__}")
    path = Path(folder) / SURVEY
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        problem = f"holds no {SURVEY}, so it is no partitioned collection; qrowd partition writes one"
        raise FileError(folder, problem) from None
    except (OSError, ValueError) as error:
        raise FileError(path, f"cannot be read: {error}; write the collection again") from None
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise FileError(path, f"is not of format {FORMAT}, which this version reads; write the collection again")
    lists = {name: tuple(value) for name, value in content.items() if isinstance(value, list)}
    lists["scales"] = tuple(map(_scale, content["scales"]))
    return PartitionedCollection(**{"folder": Path(folder), **content, **lists})


def survey_text(collection: PartitionedCollection) -> str:
    """What the file of the survey holds."""
    content = {"format": FORMAT, **vars(collection)}
    del content["folder"]
    content["scales"] = [_written(scale) for scale in collection.scales]
    return json.dumps(content, ensure_ascii=False)


def need_pyarrow() -> Any:
    """PyArrow, or what to install."""
    try:
        import pyarrow
    except ImportError:
        raise QrowdError("partitioned collections need PyArrow; pip install 'qrowd[tables]'") from None
    return pyarrow


def schemas(arrow: Any) -> dict[str, Any]:
    """The columns of runs and of judgments."""
    text, number = arrow.string(), arrow.float64()
    runs = {"system": text, "topic": text, "document": text, "score": number, "rank": number}
    judgments = {"topic": text, "document": text, "assessor": text, "value": number}
    judgments |= {name: number if name in NUMBERS else text for name in Judgments.OPTIONAL}
    return {"runs": arrow.schema(list(runs.items())), "judgments": arrow.schema(list(judgments.items()))}


def _words(table: Any, name: str) -> tuple[tuple[str, ...], Codes]:
    """The distinct texts of a column, and the number of each row's."""
    column = table.column(name).dictionary_encode().combine_chunks()
    codes: Codes = column.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return tuple(column.dictionary.to_pylist()), codes


def _numbers(table: Any, name: str) -> Floats:
    """A column of numbers, nan where empty."""
    return np.array(table.column(name).to_numpy(), np.float64)


def _written(scale: Scale) -> dict[str, Any]:
    return {**vars(scale), "maximum": None if scale.maximum == inf else scale.maximum}


def _scale(content: dict[str, Any]) -> Scale:
    return Scale(**{**content, "maximum": inf if content["maximum"] is None else content["maximum"]})


# ---------------------------------------------------------------------- writing

PARTS = 64
ROWS_AT_ONCE = 1 << 18


def write_partitioned(
    folder: str | os.PathLike[str],
    runs: Runs | Iterable[Runs],
    judgments: Judgments | Iterable[Judgments],
    *,
    n_parts: int = PARTS,
    scales: Mapping[str, Scale | str] | None = None,
) -> PartitionedCollection:
    """Write runs and judgments as a partitioned collection. The folder appears when it is complete.

    runs, judgments : whole, or in pieces, such as one of each file; a system, a topic and an assessor may come in
        several. n_parts : over which topics are spread by their names. scales : declared, as `read_judgments` takes
        them.

    Raises
    ------
    FileError
        A folder that exists already.
    ArgumentError
        No runs or no judgments.
    """
    if n_parts < 1:
        raise ArgumentError("at least 1 was expected", "n_parts", n_parts)
    target = Path(folder)
    if target.exists():
        raise FileError(folder, "exists already; name another folder")
    arrow = need_pyarrow()
    temporary = target.with_name(f".{target.name}.{os.getpid()}").absolute()
    survey = _Survey(n_parts, np.zeros(n_parts, np.int64), np.zeros(n_parts, np.int64))
    try:
        temporary.mkdir(parents=True)
        retrieved = [runs] if isinstance(runs, Runs) else runs
        _write(arrow, temporary, "runs", survey.batches_of_runs(arrow, retrieved), n_parts)
        pieces = [judgments] if isinstance(judgments, Judgments) else judgments
        _write(arrow, temporary, "judgments", survey.batches_of_judgments(arrow, pieces), n_parts)
        (temporary / SURVEY).write_text(survey_text(survey.collection(target, scales)), "utf-8")
        temporary.rename(target)
    except OSError as error:
        raise FileError(folder, f"cannot be written: {(error.strerror or str(error)).lower()}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return open_partitioned(target)


def _write(arrow: Any, folder: Path, kind: str, batches: Iterator[Any], n_parts: int) -> None:
    """Write batches with a column "part" as a dataset with a folder for each part."""
    from pyarrow import dataset

    part = arrow.field("part", arrow.int32())
    dataset.write_dataset(
        batches,
        folder / kind,
        format="parquet",
        schema=schemas(arrow)[kind].append(part),
        partitioning=dataset.partitioning(arrow.schema([part]), flavor="hive"),
        basename_template="rows-{i}.parquet",
        file_options=dataset.ParquetFileFormat().make_write_options(compression="zstd"),
        max_partitions=n_parts,
        use_threads=False,  # rows stay in their order
    )


@dataclass(eq=False)
class _Survey:
    """What is said of the whole, collected while pieces pass. Dictionaries are ordered sets of labels."""

    n_parts: int
    run_rows: Ints
    judgment_rows: Ints
    systems: dict[str, None] = field(default_factory=dict)
    run_topics: dict[str, None] = field(default_factory=dict)
    judged_topics: dict[str, None] = field(default_factory=dict)
    columns: dict[str, None] = field(default_factory=dict)
    run_notes: dict[str, None] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    extremes: list[Judgments] = field(default_factory=list)
    has_ranks: bool = False

    def batches_of_runs(self, arrow: Any, pieces: Iterable[Runs]) -> Iterator[Any]:
        """Batches of rows, with the part of each."""
        for piece in pieces:
            if piece.criterion is not None:
                raise ArgumentError("answers are not cut into parts; evaluate their files whole, without processes")
            self.systems |= dict.fromkeys(piece.systems)
            self.run_topics |= dict.fromkeys(piece.topics)
            self.run_notes |= dict.fromkeys(piece.notes)
            self.has_ranks |= piece.rank is not None
            columns = {"score": piece.score, "rank": piece.rank, "part": self._parts(piece, self.run_rows)}
            yield from _batches(arrow, "runs", piece, columns)

    def batches_of_judgments(self, arrow: Any, pieces: Iterable[Judgments]) -> Iterator[Any]:
        """Batches of rows, with the part of each."""
        for piece in pieces:
            self.judged_topics |= dict.fromkeys(piece.topics)
            self.notes |= dict.fromkeys(piece.notes)
            self.extremes.append(extreme_values(piece))
            optional = {name: getattr(piece, name) for name in Judgments.OPTIONAL}
            self.columns |= dict.fromkeys(name for name, column in optional.items() if column is not None)
            columns = {"value": piece.value, "part": self._parts(piece, self.judgment_rows), **optional}
            yield from _batches(arrow, "judgments", piece, columns)

    def _parts(self, piece: Runs | Judgments, n_rows: Ints) -> Codes:
        """(rows,) number of the part, which are counted."""
        of_topic = np.array([part_of(topic, self.n_parts) for topic in piece.topics], np.int32)
        parts: Codes = of_topic[piece.topic]
        n_rows += np.bincount(parts, minlength=self.n_parts)
        return parts

    def collection(self, folder: Path, scales: Mapping[str, Scale | str] | None) -> PartitionedCollection:
        """The survey of all pieces.

        Raises
        ------
        ArgumentError
            No runs or no judgments.
        """
        for what, names in (("runs", self.systems), ("judgments", self.judged_topics)):
            if not names:
                raise ArgumentError(f"{what}: there are none")
        judgments = concatenate_judgments(self.extremes)
        judgments = judgments.with_scales(scales) if scales else judgments
        return PartitionedCollection(
            folder,
            uuid4().hex,
            tuple(self.systems),
            judgments.assessors,
            judgments.scales,
            judgments.sources or tuple(range(len(judgments.assessors))),
            tuple(self.judged_topics),
            tuple(self.run_topics),
            tuple(self.run_rows.tolist()),
            tuple(self.judgment_rows.tolist()),
            tuple(self.columns),
            self.has_ranks,
            tuple(self.run_notes),
            tuple(self.notes),
        )


def _batches(arrow: Any, kind: str, piece: Runs | Judgments, columns: Mapping[str, Any]) -> Iterator[Any]:
    """The rows of a piece as batches of Arrow; labels become text."""
    schema = schemas(arrow)[kind].append(arrow.field("part", arrow.int32()))
    arrays = []
    for name, kind_of_column in zip(schema.names, schema.types, strict=True):
        if name in columns:
            column = columns[name]
            if column is None:
                arrays.append(arrow.nulls(len(piece), kind_of_column))
            else:
                arrays.append(arrow.array(column, kind_of_column, from_pandas=True))
        else:
            words = arrow.array(getattr(piece, f"{name}s"), arrow.string())
            codes = arrow.array(getattr(piece, name))
            arrays.append(arrow.DictionaryArray.from_arrays(codes, words).dictionary_decode())
    yield from arrow.Table.from_arrays(arrays, schema=schema).to_batches(ROWS_AT_ONCE)


def extreme_values(judgments: Judgments) -> Judgments:
    """The rows on which the scale of each assessor depends: the lowest value, the highest, and one with a fraction.

    Negative values mean "not judged" and say nothing.
    """
    judged = np.flatnonzero(judgments.value >= 0)
    value = judgments.value[judged]
    assessor = judgments.assessor[judged]
    order = np.lexsort((value, assessor))
    starts = np.flatnonzero(np.diff(assessor[order], prepend=-1))
    ends = np.append(starts[1:], order.size)[: starts.size] - 1
    fractions = np.flatnonzero(value % 1 != 0)
    _, first = np.unique(assessor[fractions], return_index=True)
    rows = judged[np.unique(np.concatenate([order[starts], order[ends], fractions[first]]))]
    nothing = np.zeros(rows.size, np.int32)
    return Judgments(
        ("all",),
        ("all",),
        judgments.assessors,
        nothing,
        nothing,
        judgments.assessor[rows],
        judgments.value[rows],
        judgments.scales,
        judgments.sources,
    )
