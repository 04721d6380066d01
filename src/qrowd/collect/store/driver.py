"""A connection to PostgreSQL that gives other threads no turn while it hands over statements.

Before psycopg sends a statement of a pipeline, it asks the operating system whether the socket takes it, and another
thread may run meanwhile: with a dozen statements and several threads, half of all changes between threads.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import psycopg
from psycopg.waiting import Ready, Wait

AT_ONCE = 4  # steps of sending without asking; a statement and its preparation are three


class Driver(psycopg.Connection[Any]):
    """As psycopg's connection."""

    def wait(self, gen: Generator[Any, Any, Any], *arguments: Any, **options: Any) -> Any:
        """Go through one of psycopg's generators.

        What it wants to send is sent; libpq keeps what the socket does not take. What waits for something to read, or
        goes on sending, waits as ever.
        """
        try:
            wanted = next(gen)
            for _ in range(AT_ONCE):
                if wanted != Wait.RW:
                    break
                wanted = gen.send(Ready.W)
        except StopIteration as done:
            return done.value
        return super().wait(_rest(gen, wanted), *arguments, **options)


def _rest(gen: Generator[Any, Any, Any], wanted: Any) -> Generator[Any, Any, Any]:
    """What follows in a generator that has asked for `wanted`."""
    while True:
        ready = yield wanted
        try:
            wanted = gen.send(ready)
        except StopIteration as done:
            return done.value
