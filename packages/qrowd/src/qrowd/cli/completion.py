"""Values that the shell completes: measures, methods, and the names of the files on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path

import typer

ARGUMENTS = "qrowd.arguments"
"""Key of `Context.meta`: the words of a command that the shell completes."""


def measure_names() -> list[str]:
    """Each measure as one would first write it."""
    from qrowd.evaluation import definitions
    from qrowd.reports.measure_reference import example

    return [example(definition) for definition in definitions()]


def trec_eval_measures() -> list[str]:
    """trec_eval's measures and groups of them."""
    from qrowd.reports.trec_eval import GROUPS, MEASURES

    return [*GROUPS, *MEASURES]


def method_names() -> list[str]:
    """Methods that put the assessors together."""
    from qrowd.methods import DEFINITIONS

    return [method.name for method in DEFINITIONS]


def plot_names() -> list[str]:
    """All plots."""
    from qrowd.reports.plots.registry import PLOTS

    return list(PLOTS)


def systems_of_runs(ctx: typer.Context) -> list[str]:
    """The names of the runs on the command line."""
    return sorted(set(_names(ctx.meta.get(ARGUMENTS, ()), ("--runs",))))


def assessors_of_files(ctx: typer.Context) -> list[str]:
    """The names of the files of judgments or preferences on the command line."""
    return sorted(set(_names(ctx.meta.get(ARGUMENTS, ()), ("--judgments", "--preferences"))))


def _names(arguments: Sequence[str], options: Sequence[str]) -> Iterator[str]:
    """The names of the files after one of these options; files are not opened."""
    from qrowd.files import without_endings

    after = False
    for argument in arguments:
        if argument.startswith("-"):
            after = argument in options
        elif after:
            name, equals, path = argument.rpartition("=")
            if equals:
                yield name
                continue
            for match in map(Path, glob(path)):
                files = match.iterdir() if match.is_dir() else [match]
                yield from (without_endings(file) for file in files if not file.name.startswith("."))
