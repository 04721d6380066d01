"""Executors, and tasks that processes of them can import."""

import os
import pickle
import signal
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from qrowd.errors import ArgumentError
from qrowd_papers.rank_coverage import error_in_families, ranks_held


class Backwards(Executor):
    """Runs what was submitted in reverse order, once the last of n tasks is there."""

    def __init__(self, n):
        self.n, self.waiting, self.n_submitted = n, [], 0

    def submit(self, work, *args):
        future = Future()
        self.n_submitted += 1
        self.waiting.append((future, work, args))
        if len(self.waiting) == self.n:
            for each, function, values in reversed(self.waiting):
                try:
                    each.set_result(function(*values))
                except BaseException as error:
                    each.set_exception(error)
        return future


class Pickled(Executor):
    """Runs each task at once, here, on copies of what was submitted, as a process that another started has them."""

    def submit(self, work, *args):
        future = Future()
        work, args = pickle.loads(pickle.dumps((work, args)))
        try:
            future.set_result(pickle.loads(pickle.dumps(work(*args))))
        except Exception as error:
            future.set_exception(pickle.loads(pickle.dumps(error)))
        return future


def scaled(factors, x):
    return factors["factor"] * x


def kill_once(marker, x):
    """Kills its process at 3, unless the marker is gone."""
    path = Path(marker)
    if x == 3 and path.exists():
        path.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return x * x


def kill(shared, x):
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(shared, x):
    raise ArgumentError(f"task {x}: cannot be done")


def few_in_families(n_assessors, *, n_simulations, rng):
    return error_in_families(n_assessors, n_simulations=2, n_replicates=40, rng=rng)


def few_ranks_held(*cell, n_simulations, rng):
    return ranks_held(*cell, n_simulations=2, n_replicates=40, rng=rng)


def spawned(n=1):
    return ProcessPoolExecutor(n, mp_context=get_context("spawn"))
