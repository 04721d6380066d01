"""Runs and judgments of any size as a partitioned collection: read in pieces, in bounded memory.

What is written, and what reads it: `qrowd.partitions`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from qrowd.errors import FileError
from qrowd.executors import AnyExecutor, kept
from qrowd.files import NameFrom, PathLike, Paths
from qrowd.model.cells import IdenticalRows, IncompleteRows, WordLabels
from qrowd.model.frames import TableOptions
from qrowd.model.headers import Names
from qrowd.model.scales import Scale
from qrowd.partitioning.pieces import FileOptions, tasks_of
from qrowd.partitioning.reading import read_tasks
from qrowd.partitions import PartitionedCollection, PartitionWriter
from qrowd.paths import is_address

BYTES_OF_A_PART = 64 << 20  # of the files that are read
FEWEST_PARTS, MOST_PARTS = 8, 1024


def partition(
    runs: Paths,
    judgments: Paths,
    folder: PathLike,
    *,
    n_parts: int | None = None,
    system: NameFrom = "file",
    assessor: NameFrom = "file",
    scales: Mapping[str, Scale | str] | None = None,
    columns: Names | None = None,
    labels: WordLabels | None = None,
    incomplete_rows: IncompleteRows = "refuse",
    identical_rows: IdenticalRows = "keep",
    executor: AnyExecutor = None,
    progress: Callable[[int, int, int], object] | None = None,
    progress_of_parts: Callable[[int, int], object] | None = None,
) -> PartitionedCollection:
    """Turn files of runs and judgments into a partitioned collection, which `evaluate` scores part after part.

    Text files (TREC, CSV, TSV, JSON Lines), plain or packed, and Parquet files are read in pieces, others and standard
    input whole.

    Parameters
    ----------
    runs, judgments : as `read_runs` and `read_judgments` take them; or addresses that fsspec opens, also patterns and
        folders of them (`s3://bucket/runs/*.run.gz`), whose files are read as streams.
    folder : of the partitioned collection, on this machine or a file system that workers share; it must not exist, and
        appears when it is complete.
    n_parts : topics are spread over so many parts, by their names; default: one for each 64 MB of the files, from 8 to
        1,024. A worker holds one part in memory.
    system, assessor, scales, columns, labels, incomplete_rows, identical_rows : as in `read_runs` and
        `read_judgments`; identical rows are looked for within a piece.
    executor : whose workers read the files and write the parts: any `concurrent.futures.Executor`, a Dask client, or a
        function that makes an executor. They must see the files and the folder; the collection does not depend on
        them. None: this process.
    progress : called with the bytes of files read, the bytes of all files, and the rows so far. progress_of_parts :
        called with the parts that are written then, and all parts.

    Raises
    ------
    FileError
        A file that is missing, truncated, empty or malformed, with the line; a folder that exists.
    QrowdError
        An address, where fsspec is not installed; workers that died and cannot be replaced.

    >>> collection = partition("runs/*.gz", "judges/*.qrels", "collection")  # doctest: +SKIP
    >>> qrowd.evaluate(collection.runs, collection.judgments, "nDCG@10")  # doctest: +SKIP
    """
    if is_address(folder):
        raise FileError(folder, "is an address; a partitioned collection lies in a folder, which workers may share")
    options = FileOptions(system, assessor, scales, TableOptions(columns, labels, incomplete_rows, identical_rows))
    tasks = tasks_of(judgments, runs, options)
    total = sum(task.size for task in tasks)
    chosen = min(max(total // BYTES_OF_A_PART, FEWEST_PARTS), MOST_PARTS) if n_parts is None else n_parts
    with PartitionWriter(folder, n_parts=chosen) as writer, kept(executor) as workers:
        read_tasks(writer, tasks, options, workers, progress)
        return writer.finish(executor=workers, progress=progress_of_parts)
