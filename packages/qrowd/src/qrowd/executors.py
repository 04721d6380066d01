"""Independent tasks, one after the other here, or in the workers of an executor: processes, or a cluster."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from threading import Thread
from typing import Any, TypeVar

from qrowd.errors import ArgumentError, QrowdError

Task = TypeVar("Task")
Result = TypeVar("Result")
AnyExecutor = Any  # Processes, a concurrent.futures.Executor, a Dask client, or None

_shared: Any = None  # in a worker of Processes: what all tasks need


@dataclass(frozen=True)
class Processes:
    """So many processes of this machine, started for each call and ended after it."""

    n: int


def in_executor(
    work: Callable[[Any, Task], Result],
    tasks: Sequence[Task],
    executor: AnyExecutor,
    *,
    shared: object,
    noun: str = "task",
) -> Iterator[Result]:
    """work(shared, task) for every task, in the order of the tasks. Closing the iterator cancels what has not begun.

    Parameters
    ----------
    work : a function at the top of a module, which any worker can import.
    executor : `Processes`, any `concurrent.futures.Executor`, or a Dask client. None: this process, one task after the
        other.
    shared : what all tasks need. It reaches each of `Processes` once, and workers of other executors with every task.
    noun : what messages call a task.

    Raises
    ------
    ArgumentError
        What is shared cannot be sent to other processes.
    QrowdError
        A worker died.
    """
    if executor is None:
        for task in tasks:
            yield work(shared, task)
    elif isinstance(executor, Processes):
        try:
            content = pickle.dumps(shared, pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ArgumentError(
                f"executor: the arguments cannot be sent to other processes ({error}); a function must stand at the "
                "top of a module"
            ) from None
        others = set(active_children())
        complete = False
        pool = ProcessPoolExecutor(executor.n, get_context("spawn"), initializer=_begin_worker, initargs=(content,))
        try:
            yield from _results(pool.submit, partial(_with_shared, work), tasks, noun, [])
            complete = True
        finally:
            for process in [] if complete else set(active_children()) - others:
                process.terminate()
            pool.shutdown()
    else:
        pool = executor.get_executor(pure=False) if hasattr(executor, "get_executor") else executor
        futures: list[Future[Result]] = []
        try:
            yield from _results(pool.submit, partial(work, shared), tasks, noun, futures)
        finally:
            for future in futures:
                future.cancel()


def _results(
    submit: Callable[..., Future[Result]],
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    noun: str,
    futures: list[Future[Result]],
) -> Iterator[Result]:
    """The results in order. futures : filled with those that are not there yet."""
    try:
        futures += [submit(work, task) for task in tasks]
        while futures:
            result = futures[0].result()
            del futures[0]  # results that were taken are not kept
            yield result
    except CancelledError:
        raise QrowdError(f"the executor was closed before all {noun}s were done") from None
    except Exception as error:
        if not _is_death(error):
            raise
        n_left = len(futures)
        left = f"1 {noun} left" if n_left == 1 else f"{n_left:,} {noun}s left"
        raise QrowdError(f"a worker died, with {left}; fewer workers at a time need less memory") from None


def _is_death(error: Exception) -> bool:
    """Whether a worker died; Dask has its own error, once a task took several workers with it."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"


def _begin_worker(content: bytes) -> None:
    """Prepare a worker of `Processes`, and read what all tasks need.

    Threads of matrix products, which NumPy starts for all processors in each process, would only wait for each other.
    """
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends a worker without a word
    Thread(target=_end_with_parent, daemon=True).start()
    global _shared
    _shared = pickle.loads(content)


def _end_with_parent() -> None:
    """End this worker when the process that started it ends, however it ends."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _with_shared(work: Callable[[Any, Task], Result], task: Task) -> Result:
    """The result of a task, in a worker of `Processes`."""
    return work(_shared, task)
