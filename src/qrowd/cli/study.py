"""`qrowd study`: a paper, recomputed."""

from __future__ import annotations

from typing import Annotated

import typer

from qrowd.cli.options import Output, check_output, deliver

STUDIES = ("aware", "preferences", "coverage")


def study(
    name: Annotated[str, typer.Argument(help="aware | preferences | coverage")],
    data: Annotated[
        str | None, typer.Option(help="Folder of the real panels (dl19, dl21); without: a simulated one alone.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A minute's version.")] = False,
    tuples: Annotated[int, typer.Option(help="Tuples of assessors of every size.")] = 1000,
    replicates: Annotated[int, typer.Option("-n", help="Random assessors of each level.")] = 1000,
    folder: Annotated[
        str | None, typer.Option(help="Keep what is finished here, and go on from it when run again.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same number, the same page.")] = 1,
    output: Output = None,
) -> None:
    """A paper's tables and figures, recomputed on real data and on simulated panels of its size."""
    from qrowd.cli.show import progress
    from qrowd.errors import ArgumentError

    check_output(output)
    if name not in STUDIES:
        raise ArgumentError(f"study {name!r}: choose one of {', '.join(STUDIES)}")
    with progress(f"study {name}") as advance:

        def told(_: str, done: int, total: int) -> None:
            advance(done, total)

        if name == "preferences":
            from qrowd.studies.preferences import preferences_page

            document = preferences_page(data, quick=quick, rng=seed, progress=told)
        elif name == "coverage":
            from qrowd.studies.coverage import coverage_page

            document = coverage_page(quick=quick, rng=seed, progress=told)
        else:
            from qrowd.studies.aware_page import aware_page

            document = aware_page(
                data, quick=quick, n_tuples=tuples, n=replicates, folder=folder, rng=seed, progress=told
            )
    deliver(document, output)
