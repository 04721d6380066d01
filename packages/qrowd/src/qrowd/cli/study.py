"""`qrowd study`: papers recomputed, and their analyses of one's own files, as installed distributions declare them.

A distribution declares a command for each study in its `pyproject.toml`: `[project.entry-points."qrowd.studies"]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from qrowd import plugins
from qrowd.cli.commands import CommandGroup, command_of
from qrowd.errors import ArgumentError, QrowdError
from qrowd.model.labels import closest

GROUP = "qrowd.studies"


def studies() -> dict[str, Any]:
    """{name: function that is the command} of all studies.

    Raises
    ------
    QrowdError
        No distribution that is installed has any.
    """
    functions = plugins.load(GROUP)
    if not functions:
        raise QrowdError(
            "the studies are a distribution of their own, which is not installed; pip install qrowd-papers"
        )
    return functions


class Studies(CommandGroup):
    """The studies, which are looked up when one is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(studies())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        functions = studies()
        if cmd_name not in functions:
            raise ArgumentError(f"study {cmd_name!r}: {closest(cmd_name, tuple(functions), 'study')}")
        return command_of(functions[cmd_name])

    def sentences(self) -> Mapping[str, Mapping[str, str]]:
        return {"Studies": {name: (one.__doc__ or "").split("\n")[0] for name, one in studies().items()}}


study = typer.Typer(
    cls=Studies,
    help="Recompute a paper, or apply its analyses to files.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)


@study.callback()
def common() -> None:
    """Recompute a paper, or apply its analyses to files."""
