"""Work done side by side in threads: kernels and unpacking hold no lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import Context, ContextVar
from itertools import islice
from os import cpu_count
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]
AHEAD = 4  # items begun for each thread
_bar: ContextVar[Callable[[], AbstractContextManager[Progress]]] = ContextVar("bar")


@contextmanager
def watched(bar: Callable[[], AbstractContextManager[Progress]]) -> Iterator[None]:
    """While it is open, `in_threads` enters `bar()` and calls what that gives with the numbers of items, done and all.

    Only the thread that opens it is watched, so work within work is not.
    """
    token = _bar.set(bar)
    try:
        yield
    finally:
        _bar.reset(token)


def in_threads(work: Callable[[Item], Result], items: Sequence[Item], threads: int | None = None) -> Iterator[Result]:
    """work(item) for every item, in order, each as soon as it is there.

    Only so many items are begun that the threads stay busy: results that nobody has taken yet need memory.
    Where something goes wrong, or on Ctrl-C, what has not begun is cancelled and what has is not waited for: a thread
    may be reading from a pipe that never ends.
    """
    n_threads = max(1, min(threads or cpu_count() or 1, len(items)))
    if n_threads == 1:  # starting a thread takes longer than many a piece of work
        with _bar.get(_no_bar)() as advance:
            for done, item in enumerate(items, start=1):
                result = Context().run(work, item)  # as in a thread, nothing of this one's context is seen
                advance(done, len(items))
                yield result
        return
    pool = ThreadPoolExecutor(n_threads)
    todo = iter(items)
    begun = deque(pool.submit(work, item) for item in islice(todo, AHEAD * n_threads))
    try:
        with _bar.get(_no_bar)() as advance:
            done = 0
            while begun:
                result = begun.popleft().result()
                begun.extend(pool.submit(work, item) for item in islice(todo, 1))
                done += 1
                advance(done, len(items))
                yield result
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _no_bar() -> AbstractContextManager[Progress]:
    return nullcontext(lambda done, total: None)
