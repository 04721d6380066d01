"""The option `--processes`: work that is shared among processes."""

from __future__ import annotations

from typing import Annotated, Any

from qrowd.cli.options import option

Processes = Annotated[
    int | None,
    option(
        help="Number of processes that share the work; the result does not depend on it.",
        panel="Sampling",
        min=1,
        show_default="none: threads of this one",
    ),
]


def executor_of(processes: int | None) -> Any:
    """The option as functions of the library take it."""
    from qrowd.executors import processes as pool_of

    return None if processes is None else pool_of(processes)
