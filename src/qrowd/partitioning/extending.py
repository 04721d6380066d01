"""Files added to a partitioned collection: new judgments, runs of new systems or of new topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from qrowd.errors import ArgumentError
from qrowd.files import NameFrom, PathLike, Paths
from qrowd.model.arguments import converting
from qrowd.model.cells import IdenticalRows, IncompleteRows, WordLabels
from qrowd.model.frames import TableOptions
from qrowd.model.headers import Names
from qrowd.model.scales import Scale
from qrowd.partitioning.pieces import judgments_in_pieces, n_bytes_of, runs_in_pieces
from qrowd.partitions import PartitionedCollection, PartitionExtender, open_partitioned


@converting
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
    progress: Callable[[int, int, int], object] | None = None,
) -> PartitionedCollection:
    """Add files of runs and judgments to a partitioned collection, which keeps the files of parts without new rows.

    Files are read in pieces, as `qrowd.partition` reads them. New judgments are added to those of the same assessors;
    scales are those of all judgments. Until everything is written the folder holds the old collection.

    Parameters
    ----------
    folder : of the partitioned collection.
    runs : of new systems, or of topics that no run has yet. judgments : of new or known assessors, topics and
        documents. Either may be left out.
    system, assessor, scales, columns, labels, incomplete_rows, identical_rows : as in `partition`.
    progress : called with the bytes of files read, the bytes of all files, and the rows so far.

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
    total = sum(n_bytes_of(paths) for paths in (judgments, runs) if paths is not None)
    done = n_rows = 0

    def advance(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes
        if progress is not None:
            progress(min(done, total), total, n_rows)

    options = TableOptions(columns, labels, incomplete_rows, identical_rows)
    with PartitionExtender(open_partitioned(folder)) as extender:
        if judgments is not None:
            for table, piece in judgments_in_pieces(judgments, assessor, options, advance):
                extender.add_judgments(piece.with_scales(scales) if scales else piece, table=table)
                n_rows += len(piece)
        if runs is not None:
            for run_piece in runs_in_pieces(runs, system, options, advance):
                extender.add_runs(run_piece)
                n_rows += len(run_piece)
        return extender.finish()
