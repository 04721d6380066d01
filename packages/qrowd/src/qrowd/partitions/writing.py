"""Writing a partitioned collection: pieces of runs and judgments come in a stream, and PyArrow divides their rows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from qrowd.errors import ArgumentError, FileError
from qrowd.kernels.arrays import Codes, Ints
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.partitions.collection import (
    SURVEY,
    PartitionedCollection,
    need_pyarrow,
    open_partitioned,
    part_of,
    schemas,
    survey_text,
)

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
        pieces = [judgments] if isinstance(judgments, Judgments) else judgments
        _write(arrow, temporary, "judgments", survey.batches_of_judgments(arrow, pieces), n_parts)
        _write(
            arrow,
            temporary,
            "runs",
            survey.batches_of_runs(arrow, [runs] if isinstance(runs, Runs) else runs),
            n_parts,
        )
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
    value, assessor = judgments.value[judged], judgments.assessor[judged]
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
