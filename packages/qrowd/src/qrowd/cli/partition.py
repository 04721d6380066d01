"""`qrowd partition`: files of runs and judgments as a partitioned collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from qrowd.cli import input_files as reading
from qrowd.cli import options
from qrowd.cli.input_files import columns_named
from qrowd.cli.options import option
from qrowd.errors import ArgumentError


@dataclass(frozen=True)
class JudgmentFiles:
    """Files of judgments, and how they are read."""

    judgments: options.JudgmentsOption = None
    assessor: options.Assessor = "file"
    scale: reading.Scale = None
    columns: reading.Columns = None
    labels: reading.Labels = None
    incomplete_rows: reading.IncompleteRows = "refuse"
    identical_rows: reading.IdenticalRows = "keep"


def partition(
    runs: options.Runs,
    data: JudgmentFiles,
    n_parts: Annotated[
        int | None,
        option(
            help="Number of parts over which the topics are spread; a worker holds one in memory.",
            min=1,
            show_default="1 for each 64 MB of files, from 8 to 512",
        ),
    ] = None,
    output: Annotated[
        str,
        option("-o", "--output", help="Folder of the partitioned collection, which must not exist.", metavar="FOLDER"),
    ] = "partitioned",
) -> None:
    """Write runs and judgments that do not fit into memory in parts, for qrowd evaluate."""
    from qrowd.cli.progress import progress
    from qrowd.partitioning import partition as partition_files

    if not data.judgments:
        raise ArgumentError("missing option '--judgments': give the files of judgments; see --help")
    with progress("partitioning") as advance:
        collection = partition_files(
            runs.needed(None),
            data.judgments,
            output,
            n_parts=n_parts,
            system=runs.system,
            assessor=data.assessor,
            scales=dict(map(options.pattern_and_scale, data.scale or [])),
            columns=columns_named(data.columns),
            labels=data.labels,
            incomplete_rows=data.incomplete_rows,
            identical_rows=data.identical_rows,
            progress=advance,
        )
    reading.show_notes((*collection.notes, *collection.run_notes))
    typer.echo(f"wrote {output}: {collection.sizes}")
    typer.echo(f"next: qrowd evaluate --runs {output} --judgments {output} --processes 2")
