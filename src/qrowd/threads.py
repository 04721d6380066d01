"""Work done side by side in threads: kernels and unpacking hold no lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(work: Callable[[Item], Result], items: Sequence[Item], threads: int | None = None) -> Iterator[Result]:
    """work(item) for every item, in order, each as soon as it is there.

    Where something goes wrong, or on Ctrl-C, what has not begun is cancelled and what has is not waited for: a thread
    may be reading from a pipe that never ends.
    """
    pool = ThreadPoolExecutor(max(1, min(threads or cpu_count() or 1, len(items))))
    try:
        yield from pool.map(work, items)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
