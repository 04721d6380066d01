"""Compacting a partitioned collection: the files of each part, one for each addition, become one again.

The rows of a part stay as they are, and so does what scores of it are kept under. Files that were compacted are removed
once the new survey is in force: until then the folder holds the old collection, whatever happens.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from qrowd.errors import FileError
from qrowd.executors import AnyExecutor, as_done
from qrowd.partitions.collection import Part, PartitionedCollection, open_partitioned
from qrowd.partitions.parquet import need_pyarrow, schema_of
from qrowd.partitions.rows import COLUMNS, WrittenFile, write_parquet
from qrowd.partitions.survey_files import SURVEY, newest_survey, put_in_force
from qrowd.partitions.writing import MESSAGES, Progress

ROWS_AT_ONCE = 1 << 18


def compact_partitioned(
    folder: str | os.PathLike[str], *, executor: AnyExecutor = None, progress: Progress = None
) -> PartitionedCollection:
    """Write each part of a partitioned collection that has several files of runs, or of judgments, as one.

    Rows, scores and what `results` of `evaluate` holds stay as they are. While files are written, others may read the
    collection and add to it; an addition that ends meanwhile is kept, and the compaction is refused. Nothing is done
    where each part has one file.

    executor : whose workers write the files: any `concurrent.futures.Executor`, a Dask client, or a function that makes
    an executor. They must see the folder. progress : called with the files that are written, and all files.

    Raises
    ------
    FileError
        A folder that holds no partitioned collection; a file that is missing or damaged; another process has changed
        the collection meanwhile.

    >>> compacted = compact_partitioned("collection")  # doctest: +SKIP
    """
    number, _ = newest_survey(open_partitioned(folder).folder)
    before = open_partitioned(folder)  # of this number, or a later one
    need_pyarrow()
    tasks = [
        _Task(i, kind, tuple(str(path.absolute()) for path in before.paths(kind, i)))
        for i, part in enumerate(before.parts)
        for kind in COLUMNS
        if len(part.files(kind)) > 1
    ]
    if not tasks:
        return before
    temporary = Path(folder).absolute() / f".compacted.{uuid4().hex}"
    try:
        temporary.mkdir()
        written = _written(tasks, temporary, executor, progress)
        parts = list(before.parts)
        for task in tasks:
            parts[task.number] = _compacted(parts[task.number], task.kind)
        after = replace(before, parts=tuple(parts))
        survey = temporary / SURVEY
        survey.write_text(after.to_json(), "utf-8")
        for task, file in zip(tasks, written, strict=True):
            Path(file.path).replace(after.paths(task.kind, task.number)[0])
        if not put_in_force(survey, Path(folder), number + 1):
            raise FileError(folder, "was changed by another process meanwhile; nothing was compacted, try again")
    except OSError as error:
        raise FileError(folder, f"cannot be written: {(error.strerror or str(error)).lower()}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    for task in tasks:
        for path in task.paths:
            Path(path).unlink(missing_ok=True)
    return open_partitioned(folder)


@dataclass(frozen=True)
class _Task:
    """The files of a part that become one. kind : "runs" or "judgments"."""

    number: int
    kind: str
    paths: tuple[str, ...]


def _compacted(part: Part, kind: str) -> Part:
    """The part with one file of this kind."""
    if kind == "runs":
        return replace(part, compacted_runs=len(part.added_runs))
    return replace(part, compacted_judgments=len(part.added_judgments))


def _written(tasks: list[_Task], folder: Path, executor: AnyExecutor, progress: Progress) -> list[WrittenFile]:
    """(tasks,) the file of each, in a folder."""
    written: dict[int, WrittenFile] = {}
    done: Any = as_done(_write, tasks, executor, shared=str(folder), messages=MESSAGES)
    with closing(done):
        for i, file in done:
            written[i] = file
            if progress is not None:
                progress(len(written), len(tasks))
    return [written[i] for i in range(len(tasks))]


def _write(folder: str, task: _Task) -> WrittenFile:
    """Write the rows of several files to one."""
    path = Path(folder) / f"{task.kind}-{task.number}.parquet"
    return write_parquet(path, schema_of(COLUMNS[task.kind]), _rows(task.paths), Path(folder))


def _rows(paths: tuple[str, ...]) -> Iterator[Any]:
    """The rows of files, some at a time.

    Raises
    ------
    FileError
        A file that is missing or damaged.
    """
    arrow = need_pyarrow()
    from pyarrow import parquet

    for path in paths:
        try:
            with parquet.ParquetFile(path) as file:
                for batch in file.iter_batches(ROWS_AT_ONCE):
                    yield arrow.Table.from_batches([batch])
        except FileNotFoundError:
            raise FileError(path, "there is no such file; the collection was changed, or is not complete") from None
        except (arrow.ArrowException, OSError) as error:
            raise FileError(path, f"cannot be read: {str(error).splitlines()[0]}; write the collection again") from None
