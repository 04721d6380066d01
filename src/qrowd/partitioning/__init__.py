"""Runs and judgments of any size as a partitioned collection: read in pieces, in bounded memory.

What is written, and what reads it: `qrowd.partitions`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from qrowd.errors import FileError
from qrowd.files import NameFrom, PathLike, Paths
from qrowd.model.arguments import converting
from qrowd.model.cells import IdenticalRows, IncompleteRows, WordLabels
from qrowd.model.frames import TableOptions
from qrowd.model.headers import Names
from qrowd.model.scales import Scale
from qrowd.partitioning.pieces import judgments_in_pieces, n_bytes_of, runs_in_pieces
from qrowd.partitions import PartitionedCollection, PartitionWriter
from qrowd.paths import is_address

BYTES_OF_A_PART = 64 << 20  # of the files that are read
FEWEST_PARTS, MOST_PARTS = 8, 1024


@converting
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
    progress: Callable[[int, int, int], object] | None = None,
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
    progress : called with the bytes of files read, the bytes of all files, and the rows so far.

    Raises
    ------
    FileError
        A file that is missing, truncated, empty or malformed, with the line; a folder that exists.
    QrowdError
        An address, where fsspec is not installed.

    >>> collection = partition("runs/*.gz", "judges/*.qrels", "collection")  # doctest: +SKIP
    >>> qrowd.evaluate(collection.runs, collection.judgments, "nDCG@10")  # doctest: +SKIP
    """
    if is_address(folder):
        raise FileError(folder, "is an address; a partitioned collection lies in a folder, which workers may share")
    total = n_bytes_of(judgments) + n_bytes_of(runs)
    chosen = min(max(total // BYTES_OF_A_PART, FEWEST_PARTS), MOST_PARTS) if n_parts is None else n_parts
    done = n_rows = 0

    def advance(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes
        if progress is not None:
            progress(min(done, total), total, n_rows)

    options = TableOptions(columns, labels, incomplete_rows, identical_rows)
    with PartitionWriter(folder, n_parts=chosen) as writer:
        for table, piece in judgments_in_pieces(judgments, assessor, options, advance):
            writer.add_judgments(piece.with_scales(scales) if scales else piece, table=table)
            n_rows += len(piece)
        for run_piece in runs_in_pieces(runs, system, options, advance):
            writer.add_runs(run_piece)
            n_rows += len(run_piece)
        return writer.finish()
