"""`qrowd partition`: files of any size as a partitioned collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from qrowd.cli import options, reading
from qrowd.cli.options import option
from qrowd.cli.processes import Workers
from qrowd.cli.reading import columns_named
from qrowd.errors import ArgumentError


@dataclass(frozen=True)
class JudgmentFiles:
    """Files of judgments, and how they are read."""

    judgments: Annotated[
        list[str] | None,
        option(
            help="Judgment files: one assessor per file, or tables with a column of assessors.",
            panel="Data",
            metavar="FILES",
        ),
    ] = None
    assessor: options.Assessor = "file"
    scale: reading.Scale = None
    columns: reading.Columns = None
    labels: reading.Labels = None
    incomplete_rows: reading.IncompleteRows = "refuse"
    identical_rows: reading.IdenticalRows = "keep"


def partition(
    runs: options.MaybeRuns,
    data: JudgmentFiles,
    n_parts: Annotated[
        int | None,
        option(
            help="Number of parts over which the topics are spread; a worker holds one in memory.",
            min=1,
            show_default="1 for each 64 MB of files, from 8 to 1,024",
        ),
    ] = None,
    output: Annotated[
        str,
        option(
            "-o",
            "--output",
            help="Folder of the partitioned collection, which must not exist, or exist with --add and --compact.",
            metavar="FOLDER",
        ),
    ] = "partitioned",
    add: Annotated[
        bool,
        option("--add", help="Add runs, judgments or both to the partitioned collection in the folder."),
    ] = False,
    compact: Annotated[
        bool,
        option("--compact", help="Write the files that additions have made of each part in the folder as one."),
    ] = False,
    workers: Workers = Workers(),
) -> None:
    """Turn runs and judgments of any size into a partitioned collection, for qrowd evaluate."""
    from qrowd.cli.show import progress
    from qrowd.cli.throughput import showing_rows
    from qrowd.partitioning import partition as partition_files
    from qrowd.partitioning.extending import extend_partitioned

    if compact:
        if add or runs.runs or data.judgments or n_parts is not None:
            raise ArgumentError("--compact: it adds nothing and keeps the parts; leave out all but -o and the workers")
        _compact(output, workers)
        return
    for name, files in (("runs", runs.runs), ("judgments", data.judgments)):
        if not files and not add:
            raise ArgumentError(f"missing option '--{name}': give the files of {name}; see --help")
    if add and n_parts is not None:
        raise ArgumentError("--n-parts: the number of parts stays as it is with --add; leave it out")
    how: dict[str, Any] = {
        "system": runs.system,
        "assessor": data.assessor,
        "scales": dict(map(options.pattern_and_scale, data.scale or [])),
        "columns": columns_named(data.columns),
        "labels": data.labels,
        "incomplete_rows": data.incomplete_rows,
        "identical_rows": data.identical_rows,
    }
    with workers.executor() as executor, progress("partitioning") as advance:
        how["executor"], how["progress"] = executor, showing_rows(advance)
        how["progress_of_parts"] = lambda done, total: advance(done, total, "writing parts")
        if add:
            collection = extend_partitioned(output, runs=runs.runs or None, judgments=data.judgments or None, **how)
        else:
            collection = partition_files(runs.runs or [], data.judgments or [], output, n_parts=n_parts, **how)
    reading.show_notes((*collection.notes, *collection.run_notes))
    typer.echo(f"{'added to' if add else 'wrote'} {output}: {collection.sizes}")
    typer.echo(f"next: qrowd evaluate --runs {output} --judgments {output} --processes 2")


def _compact(folder: str, workers: Workers) -> None:
    """Compact the files of each part, and say what was done."""
    from qrowd.cli.show import progress
    from qrowd.partitions import compact_partitioned, open_partitioned

    before = open_partitioned(folder)
    with workers.executor() as executor, progress("compacting files") as advance:
        collection = compact_partitioned(folder, executor=executor, progress=advance)
    if collection.parts == before.parts:
        typer.echo(f"{folder}: each part has one file of runs and one of judgments; nothing to compact")
    else:
        typer.echo(f"compacted {folder}: {collection.sizes}")
