"""Files added to a partitioned collection: new judgments, runs of new systems or of new topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from qrowd.errors import ArgumentError
from qrowd.executors import AnyExecutor, kept
from qrowd.files import NameFrom, PathLike, Paths
from qrowd.model.cells import IdenticalRows, IncompleteRows, WordLabels
from qrowd.model.frames import TableOptions
from qrowd.model.headers import Names
from qrowd.model.scales import Scale
from qrowd.partitioning.pieces import FileOptions, tasks_of
from qrowd.partitioning.reading import read_tasks
from qrowd.partitions import PartitionedCollection, PartitionExtender, open_partitioned


def extend_partitioned(
    folder: PathLike,
    *,
    runs: Paths | None = None,
    judgments: Paths | None = None,
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
    """Add files of runs and judgments to a partitioned collection, which keeps the files of parts without new rows.

    Files are read in pieces, as `qrowd.partition` reads them. New judgments are added to those of the same assessors;
    scales are those of all judgments. Until everything is written the folder holds the old collection.

    Parameters
    ----------
    folder : of the partitioned collection.
    runs : of new systems, or of topics that no run has yet. judgments : of new or known assessors, topics and
        documents. Either may be left out.
    system, assessor, scales, columns, labels, incomplete_rows, identical_rows, executor, progress, progress_of_parts :
        as in `partition`.

    Raises
    ------
    FileError
        A folder that holds no partitioned collection; a file that is missing, truncated, empty or malformed.
    ArgumentError
        Lists of a system and a topic that the collection has; rows that were added before.
    ScaleError
        An assessor whose new judgments declare another scale.

    >>> grown = extend_partitioned("collection", judgments="new/*.qrels")  # doctest: +SKIP
    """
    if runs is None and judgments is None:
        raise ArgumentError("runs, judgments: there are none to add; give files of one of them, or of both")
    options = FileOptions(system, assessor, scales, TableOptions(columns, labels, incomplete_rows, identical_rows))
    tasks = tasks_of(judgments, runs, options)
    with PartitionExtender(open_partitioned(folder)) as extender, kept(executor) as workers:
        read_tasks(extender, tasks, options, workers, progress)
        return extender.finish(executor=workers, progress=progress_of_parts)
