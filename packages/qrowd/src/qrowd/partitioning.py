"""Files of runs and judgments as a partitioned collection: one file after the other is read and divided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from qrowd.files import NameFrom, PathLike, Paths, read_judgments, read_runs
from qrowd.model.cells import IdenticalRows, IncompleteRows, WordLabels
from qrowd.model.headers import Names
from qrowd.model.scales import Scale
from qrowd.partitions import PartitionedCollection, write_partitioned
from qrowd.paths import named_files, on_disk
from qrowd.threads import Progress

BYTES_OF_A_PART = 64 << 20  # of the files that are read
FEWEST_PARTS, MOST_PARTS = 8, 512


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
    progress: Progress | None = None,
) -> PartitionedCollection:
    """Turn files of runs and judgments into a partitioned collection, which `evaluate` scores part after part.

    Parameters
    ----------
    runs, judgments : as `read_runs` and `read_judgments` take them. The largest file has to fit into memory.
    folder : of the partitioned collection; it must not exist, and appears when it is complete.
    n_parts : topics are spread over so many parts, by their names; default: one for each 64 MB of the files, from 8 to
        512. A worker holds one part in memory.
    system, assessor, scales, columns, labels, incomplete_rows, identical_rows : as in `read_runs` and
        `read_judgments`; identical rows are looked for within a file.
    progress : called with the numbers of files read and of all files.

    Raises
    ------
    FileError
        A file that is missing, truncated, empty or malformed, with the line; a folder that exists.

    >>> collection = partition("runs/*.gz", "judges/*.qrels", "collection")  # doctest: +SKIP
    >>> qrowd.evaluate(collection.runs, collection.judgments, "nDCG@10")  # doctest: +SKIP
    """
    tables: dict[str, Any] = {"columns": columns, "incomplete_rows": incomplete_rows}
    of_judgments: dict[str, Any] = {"assessor": assessor, "labels": labels, "identical_rows": identical_rows}
    judged = named_files(judgments, "assessor", unique=assessor == "file").named
    retrieved = named_files(runs, "system", unique=system == "file").named
    n_files = len(judged) + len(retrieved)
    done = 0

    def each(named: Any, read: Any) -> Iterator[Any]:
        nonlocal done
        for name, path in named:
            yield read({name: path})
            done += 1
            if progress is not None:
                progress(done, n_files)

    if n_parts is None:
        size = sum(_size(path) for _, path in (*judged, *retrieved))
        n_parts = min(max(size // BYTES_OF_A_PART, FEWEST_PARTS), MOST_PARTS)
    return write_partitioned(
        folder,
        each(retrieved, lambda file: read_runs(file, system=system, **tables)),
        each(judged, lambda file: read_judgments(file, **of_judgments, **tables)),
        n_parts=n_parts,
        scales=scales,
    )


def _size(path: Path) -> int:
    """Bytes of a file; 0 for what is none, such as a data set."""
    file = on_disk(path)
    return file.stat().st_size if file.is_file() else 0
