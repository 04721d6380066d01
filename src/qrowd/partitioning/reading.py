"""Files that become rows of a partitioned collection: read here one after the other, or by the workers of an executor.

A file is a task, and a large text file several. Workers write the rows to files beside the collection and say what the
survey needs to know, which is put together here in the order of the files: the collection is the same, whoever reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from qrowd.errors import FileError, QrowdError
from qrowd.executors import AnyExecutor, Messages, as_done
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.partitioning.pieces import FileOptions, Task, pieces_of
from qrowd.partitions import PartitionWriter
from qrowd.partitions.rows import FilesOfRows, Layout, RowStore
from qrowd.partitions.survey import PieceSurvey

ROWS_HELD = 1_000_000  # by a worker, before they are written
MESSAGES = Messages("file", less_memory="use fewer at a time, which need less memory")

Progress = Callable[[int, int, int], object] | None


@dataclass(frozen=True, eq=False)
class Shared:
    """What all tasks have in common. rows : folder for files of rows. version : of qrowd that asks."""

    options: FileOptions
    layout: Layout
    rows: str
    version: str


@dataclass(frozen=True, eq=False)
class RowsOfTask:
    """What a worker has read. error : why it stopped, where it did."""

    surveys: tuple[PieceSurvey, ...] = ()
    files: dict[str, FilesOfRows] = field(default_factory=dict)
    error: QrowdError | None = None


def read_task(shared: Shared, task: Task) -> RowsOfTask:
    """Read a task, and write its rows to files; a task may be read twice, or by two workers at once.

    Raises
    ------
    QrowdError
        A worker with another version of qrowd, or one that does not see the folder.
    """
    if shared.version != version("qrowd"):
        raise QrowdError(
            f"a worker has qrowd {version('qrowd')}, but this process has {shared.version}; install the same on both"
        )
    folder = Path(shared.rows)
    if not folder.is_dir():
        problem = "a worker does not see this folder; workers on several machines need a shared file system"
        raise FileError(folder.parent.parent, problem)
    store = RowStore(shared.layout, folder, most=ROWS_HELD)
    try:
        surveys = tuple(_taken(store, task, piece) for piece in pieces_of(task, shared.options, _not_shown))
    except QrowdError as error:
        return RowsOfTask(error=error)
    store.spill()
    return RowsOfTask(surveys, store.files())


def _taken(store: RowStore, task: Task, piece: Judgments | Runs) -> PieceSurvey:
    if isinstance(piece, Runs):
        return store.add_runs(piece)
    return store.add_judgments(piece, table=task.number)


def _not_shown(n_bytes: int) -> None:
    """Workers do not show how far they are."""


def read_tasks(
    writer: PartitionWriter, tasks: Sequence[Task], options: FileOptions, executor: AnyExecutor, progress: Progress
) -> None:
    """Give the rows of all tasks to the writer.

    Raises
    ------
    QrowdError
        What is wrong with a file; of several files, the first in the order of the tasks.
    """
    done = n_rows = 0
    total = sum(task.size for task in tasks)

    def advance(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes
        if progress is not None:
            progress(min(done, total), total, n_rows)

    if executor is None:
        for task in tasks:
            for piece in pieces_of(task, options, advance):
                if isinstance(piece, Runs):
                    writer.add_runs(piece)
                else:
                    writer.add_judgments(piece, table=task.number)
                n_rows += len(piece)
        return
    shared = Shared(options, writer.layout, str(writer.rows), version("qrowd"))
    for_workers = [i for i, task in enumerate(tasks) if task.is_for_any_process]
    read = {i: read_task(shared, task) for i, task in enumerate(tasks) if not task.is_for_any_process}
    following = _take_all(writer, read, 0)
    each: Any = as_done(read_task, [tasks[i] for i in for_workers], executor, shared=shared, messages=MESSAGES)
    with closing(each):
        for number, rows in each:
            read[for_workers[number]] = rows
            following = _take_all(writer, read, following)
            n_rows += sum(survey.n_rows for survey in rows.surveys)
            advance(tasks[for_workers[number]].size)


def _take_all(writer: PartitionWriter, read: dict[int, RowsOfTask], following: int) -> int:
    """Give the writer what is there up to the first task that is not; the number of this task."""
    while following in read:
        rows = read.pop(following)
        if rows.error is not None:
            raise rows.error
        writer.take(rows.surveys, rows.files)
        following += 1
    return following
