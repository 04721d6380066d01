"""The options `--processes` and `--dask`: work that is shared among processes, here or on a cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from qrowd.cli.options import option
from qrowd.errors import QrowdError

SECONDS = 5  # for a scheduler to answer

Processes = Annotated[
    int | None,
    option(
        help="Number of processes that share the work; the result does not depend on it.",
        panel="Workers",
        min=1,
        show_default="none: threads of this one",
    ),
]
Dask = Annotated[
    str | None,
    option(
        help="Address of a Dask scheduler (tcp://HOST:8786), whose workers share the work instead.",
        panel="Workers",
        metavar="ADDRESS",
    ),
]


@dataclass(frozen=True)
class Workers:
    """Who shares the work."""

    processes: Processes = None
    dask: Dask = None

    @contextmanager
    def executor(self) -> Iterator[Any]:
        """As functions of the library take it; None: this process.

        Raises
        ------
        QrowdError
            Dask is not installed, or nobody answers.
        """
        if self.dask is not None:
            with _client(self.dask) as client:
                yield client
        elif self.processes is not None:
            from qrowd import executors

            yield executors.Processes(self.processes)
        else:
            yield None


@contextmanager
def _client(address: str) -> Iterator[Any]:
    """A client of the scheduler at an address."""
    try:
        from distributed import Client
    except ImportError:
        raise QrowdError("--dask: Dask is not installed; pip install 'qrowd[dask]'") from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # a lost scheduler is one line of ours
    try:
        client = Client(address, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        problem = f"no Dask scheduler answered within {SECONDS} seconds" if isinstance(error, OSError) else str(error)
        raise QrowdError(f"--dask {address}: {problem}") from None
    with client:
        if not client.scheduler_info()["workers"]:
            typer.echo(f"qrowd: the scheduler at {address} has no worker yet; waiting for one", err=True)
        yield client
