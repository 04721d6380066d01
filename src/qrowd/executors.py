"""Independent tasks in the workers of any executor: processes here, or a cluster.

A task is small: what all tasks share reaches each worker once, as a file. Workers that die are replaced where the
executor can be made again, and the tasks that they had begun are done again.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import Any, TypeVar

from qrowd.errors import ArgumentError, QrowdError

Task = TypeVar("Task")
Result = TypeVar("Result")
AnyExecutor = Any  # an Executor, a Dask client, a function that makes an Executor, or None
SIGNALS = {signal.SIGINT, signal.SIGTERM}
finishing = Lock()  # held by a worker while it writes a file: one that is to end waits for it
ATTEMPTS = 3  # rounds without a task done, after which workers that die are given up


def processes(n: int) -> Callable[[], Executor]:
    """A function that makes an executor of n processes, which end on Ctrl-C and multiply matrices in one thread."""
    return partial(_process_pool, n)


@contextmanager
def kept(executor: AnyExecutor) -> Iterator[AnyExecutor]:
    """The executor, for several calls: one that a function makes is made once, and again only where workers died."""
    if executor is None or _is_made(executor):
        yield executor
        return
    one = _Kept(executor)
    try:
        yield one
    finally:
        one.end(complete=True)


@dataclass(frozen=True)
class Messages:
    """What is said where workers die, and where a scheduler is lost.

    noun : of a task. less_memory, restart : what helps where workers die again and again, and where none can be
    replaced. named : whether a task on which several Dask workers died is named by its label instead.
    """

    noun: str = "task"
    less_memory: str = "use fewer at a time, which need less memory"
    restart: str = "give a function that makes an executor, which is called again"
    named: bool = False

    def died(self, n: int, makes: bool) -> str:
        """Workers died with n tasks left. makes : whether they were replaced."""
        left = f"1 {self.noun} left" if n == 1 else f"{n:,} {self.noun}s left"
        if makes:
            return f"workers died {ATTEMPTS} times in a row, with {left}; {self.less_memory}"
        return f"a worker died, with {left}; {self.restart}"

    def killed(self, task: object) -> str:
        """Every Dask worker that got this task died."""
        return f"each Dask worker that got {self.noun} {task} died; {self.less_memory}"

    def closed(self) -> str:
        """The scheduler was lost, or its client closed."""
        return f"the scheduler or its client was closed before all {self.noun}s were done"


def in_executor(
    work: Callable[..., Result], tasks: Sequence[Task], executor: AnyExecutor, *, shared: object = None
) -> Iterator[Result]:
    """work(task) for every task, in the order of the tasks; see `as_done`."""
    early: dict[int, Result] = {}
    following = 0
    for number, result in as_done(work, tasks, executor, shared=shared):
        early[number] = result
        while following in early:
            yield early.pop(following)
            following += 1


def as_done(
    work: Callable[..., Result],
    tasks: Sequence[Task],
    executor: AnyExecutor,
    *,
    shared: object = None,
    messages: Messages = Messages(),
) -> Iterator[tuple[int, Result]]:
    """(number of the task, work(task)), each as soon as it is there. Closing the iterator cancels what has not begun,
    and waits for threads and processes of this machine that have: afterwards nobody writes files any more.

    Parameters
    ----------
    work : a function at the top of a module, which any worker can import. A task may be done twice.
    executor : any `concurrent.futures.Executor`, a Dask client, or a function that makes an executor, which is called
        again where workers die, and whose executors are shut down. None: this process, one task after the other.
    shared : what all tasks need, for work(shared, task). Workers of other processes read it from a file, once.
    messages : what is said where workers die.

    Raises
    ------
    ArgumentError
        What is shared cannot be sent to other processes.
    QrowdError
        Workers died and cannot be replaced, or cannot read the file.
    """
    if executor is None:
        for number, task in enumerate(tasks):
            yield number, work(task) if shared is None else work(shared, task)
        return
    makes = not _is_made(executor)
    waiting, rounds = set(range(len(tasks))), 0
    with _Shared(shared) as reference:
        while waiting:
            before, complete = len(waiting), False
            pool = executor() if makes else executor
            try:
                reference.write_for(pool)
                left = {n: tasks[n] for n in sorted(waiting)}
                for number, result in _in_pool(pool, work, reference, left, messages, makes):
                    waiting.discard(number)
                    yield number, result
                complete = True
            except BrokenExecutor:
                rounds = 0 if len(waiting) < before else rounds + 1
                if not makes or rounds == ATTEMPTS:
                    raise QrowdError(messages.died(len(waiting), makes)) from None
            finally:
                if makes:
                    getattr(executor, "end_of_call", _end)(pool, complete)


def _is_made(executor: AnyExecutor) -> bool:
    """Whether it is an executor, or a client that has one; else it is a function that makes one."""
    return not isinstance(executor, type) and (hasattr(executor, "submit") or hasattr(executor, "get_executor"))


class _Kept:
    """A function that makes an executor, and gives the same again while its workers live."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._pool: Any = None

    def __call__(self) -> Any:
        if self._pool is None:
            self._pool = self._make()
        return self._pool

    def end_of_call(self, _: Any, complete: bool) -> None:
        """After a call; the executor stays where all tasks of the call are done."""
        if not complete:
            self.end(complete=False)

    def end(self, *, complete: bool) -> None:
        """Shut the executor down, if there is one."""
        pool, self._pool = self._pool, None
        if pool is not None:
            _end(pool, complete)


class _Shared:
    """What all tasks share, as workers are told of it: the name of a file, which threads of this process need not read.

    While it is open, this process and those forked from it hold the content under that name.
    """

    def __init__(self, content: object) -> None:
        self._content, self._folder = content, None if content is None else TemporaryDirectory(prefix="qrowd-")
        self.path = None if self._folder is None else str(Path(self._folder.name) / "shared.pickle")
        self._written = False

    def __enter__(self) -> _Shared:
        if self.path is not None:
            _held[self.path] = self._content
        return self

    def __exit__(self, *_: object) -> None:
        if self.path is not None and self._folder is not None:
            _held.pop(self.path, None)
            self._folder.cleanup()

    def write_for(self, pool: object) -> None:
        """Write the file, unless the workers are threads of this process."""
        if self.path is None or self._written or isinstance(pool, ThreadPoolExecutor):
            return
        try:
            content = pickle.dumps(self._content, pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ArgumentError(
                f"executor: the arguments cannot be sent to other processes ({error}); a function must stand at the "
                "top of a module"
            ) from None
        Path(self.path).write_bytes(content)
        self._written = True


_held: dict[str, object] = {}  # by the name of the file
_read: dict[str, object] = {}  # by a worker: the last one alone
_reading = Lock()


def _content(path: str) -> object:
    """What is shared under a name; a worker reads it once."""
    if path in _held:
        return _held[path]
    with _reading:
        if path not in _read:
            try:
                content = pickle.loads(Path(path).read_bytes())
            except OSError:
                raise QrowdError(
                    f"a worker cannot read {path}; set TMPDIR to a folder that all workers and this process share"
                ) from None
            _read.clear()
            _read[path] = content
        return _read[path]


def _with_shared(work: Callable[..., Result], path: str, task: Task) -> Result:
    """The result of a task, in a worker."""
    return work(_content(path), task)


def _in_pool(
    pool: Any,
    work: Callable[..., Result],
    reference: _Shared,
    tasks: dict[int, Task],
    messages: Messages,
    ends: bool,
) -> Iterator[tuple[int, Result]]:
    """(number, result) as they come back from an executor, or from the executor of a Dask client.

    ends : whether the executor is shut down where not all is done.
    """
    submit = (pool.get_executor(pure=False) if hasattr(pool, "get_executor") else pool).submit
    number_of: dict[Future[Result], int] = {}
    broken: BaseException | None = None
    try:
        for number, task in tasks.items():
            arguments = (work, task) if reference.path is None else (_with_shared, work, reference.path, task)
            number_of[submit(*arguments)] = number
        for future in as_completed(number_of):
            number = number_of.pop(future)
            try:
                result = future.result()
            except CancelledError:
                raise QrowdError(messages.closed()) from None
            except Exception as error:
                if not _is_death(error):
                    raise
                if messages.named and not isinstance(error, BrokenExecutor):
                    raise QrowdError(messages.killed(tasks[number])) from None
                broken = error  # what others have finished is still taken
                continue
            del future  # results that were taken are not kept
            yield number, result
    except BrokenExecutor as error:
        broken = error
    finally:
        # Processes that are ended fail what they have not done; Python 3.11 stumbles where that is cancelled as well.
        if not (ends and isinstance(pool, ProcessPoolExecutor)):
            running = [future for future in number_of if not future.cancel()]
            if isinstance(pool, (ThreadPoolExecutor, ProcessPoolExecutor)):
                wait(running)
    if broken is not None:
        raise BrokenExecutor(str(broken))


def _is_death(error: Exception) -> bool:
    """Whether a worker died; Dask has its own error, once a task took several workers with it."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"


class _Processes(ProcessPoolExecutor):
    """Processes that leave Ctrl-C to the one that started them, and end with it, however it ends."""

    def submit(self, work: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """As any executor; a process that this starts inherits that both signals wait, also while it imports."""
        if not hasattr(signal, "pthread_sigmask"):
            return super().submit(work, *args, **kwargs)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            return super().submit(work, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _process_pool(n: int) -> ProcessPoolExecutor:
    return _Processes(n, mp_context=get_context("spawn"), initializer=_begin_worker)


def _begin_worker() -> None:
    """Before a worker process imports NumPy: also wait for the end of its parent, and for the signal to end.

    Threads of matrix products, which NumPy starts for all processors in each process, would only wait for each other.
    """
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(signal, "sigwait"):
        Thread(target=_end_by_signal, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        _end_worker()


def _end_by_signal() -> None:
    signal.sigwait({signal.SIGTERM})
    _end_worker()


def _end_worker() -> None:
    """End this process, once the file that is being written, if any, is complete."""
    finishing.acquire()
    os._exit(1)


def _end(pool: Any, complete: bool) -> None:
    """Shut an executor down. complete : whether all its tasks are done; else its processes are ended."""
    running: Collection[Any] = () if complete else list((getattr(pool, "_processes", None) or {}).values())
    for process in running:
        process.terminate()
    pool.shutdown(wait=complete or bool(running))
