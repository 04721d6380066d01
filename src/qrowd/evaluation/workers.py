"""Numbered tasks done by the workers of any executor: results as they come, and workers that die are replaced."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from typing import Any, TypeVar

from qrowd.errors import QrowdError
from qrowd.evaluation.part_scores import writing

Result = TypeVar("Result")
AnyExecutor = Any  # an Executor, a Dask client, a function that makes an Executor, or None
ATTEMPTS = 3  # rounds without a task done, after which workers that die are given up


def completed(
    work: Callable[[int], Result], numbers: Sequence[int], executor: AnyExecutor, results: str | None
) -> Iterator[tuple[int, Result]]:
    """(number, work(number)), in any order. results : folder in which workers keep them, for messages.

    Raises
    ------
    QrowdError
        Workers that died where none can be replaced, or that die again and again.
    """
    if executor is None:
        for number in numbers:
            yield number, work(number)
        return
    makes = not hasattr(executor, "submit") and not hasattr(executor, "get_executor")
    waiting, rounds = set(numbers), 0
    while waiting:
        before = len(waiting)
        pool = executor() if makes else executor
        try:
            for number, result in _in_pool(pool, work, sorted(waiting)):
                waiting.discard(number)
                yield number, result
        except (KeyboardInterrupt, GeneratorExit):
            if isinstance(pool, Processes):
                pool.end()
            raise
        except BrokenExecutor:
            rounds = 0 if len(waiting) < before else rounds + 1
            if not makes or rounds == ATTEMPTS:
                raise QrowdError(_died(len(waiting), makes, results)) from None
        finally:
            if makes:
                pool.shutdown(wait=False)  # what has not begun is cancelled already


def _died(n: int, makes: bool, results: str | None) -> str:
    """The message where workers died with n parts left."""
    left = "1 part left" if n == 1 else f"{n:,} parts left"
    if makes:
        return f"workers died {ATTEMPTS} times in a row, with {left}; parts of fewer topics (n_parts) need less memory"
    if results is not None:
        return f"a worker died, with {left}; run it again: what {results} holds is not scored again"
    return f"a worker died, with {left}; give results=FOLDER, which keeps what is done, or a function as executor"


def _in_pool(pool: Any, work: Callable[[int], Result], numbers: Sequence[int]) -> Iterator[tuple[int, Result]]:
    """Results as they come back from an executor, or from the executor of a Dask client."""
    # Dask would answer a task that it calls pure with an older result of the same name.
    submit = (pool.get_executor(pure=False) if hasattr(pool, "get_executor") else pool).submit
    number_of: dict[Future[Result], int] = {}
    broken: BrokenExecutor | None = None
    try:
        for number in numbers:
            number_of[submit(work, number)] = number
        for future in as_completed(number_of):
            number = number_of.pop(future)  # nobody holds the result once it is taken
            try:
                result = future.result()
            except BrokenExecutor as error:
                broken = error  # what others have finished is still taken
                continue
            except CancelledError:
                raise QrowdError("the scheduler or its client was closed before all parts were scored") from None
            except Exception as error:
                if type(error).__name__ != "KilledWorker":  # of Dask, which has replaced several workers by then
                    raise
                raise QrowdError(
                    f"each Dask worker that got part {number} died; parts of fewer topics (n_parts) need less memory"
                ) from None
            yield number, result
    except BrokenExecutor as error:
        broken = error
    finally:
        for future in number_of:
            future.cancel()
    if broken is not None:
        raise broken


# ------------------------------------------------------------------------------------------ processes of a command

SIGNALS = {signal.SIGINT, signal.SIGTERM}


class Processes(ProcessPoolExecutor):
    """Processes that leave Ctrl-C to the process that started them, and end with it, however it ends."""

    def __init__(self, n_processes: int) -> None:
        super().__init__(n_processes, mp_context=get_context("spawn"), initializer=_watch)

    def submit(self, work: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """As any executor; a process that this starts inherits that both signals wait."""
        if not hasattr(signal, "pthread_sigmask"):
            return super().submit(work, *args, **kwargs)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            return super().submit(work, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def end(self) -> None:
        """End the processes now, whatever they do."""
        for process in list((self._processes or {}).values()):
            process.terminate()
        self.shutdown(cancel_futures=True)


def _watch() -> None:
    """In a new process: wait for the end of its parent, and for the signal to end."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(signal, "sigwait"):
        threading.Thread(target=_end_by_signal, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    _end()


def _end_by_signal() -> None:
    signal.sigwait({signal.SIGTERM})
    _end()


def _end() -> None:
    """End this process, once the file that is being written, if any, is complete."""
    writing.acquire()
    os._exit(1)
