"""Tasks in the workers of an executor: the results of a loop, whoever computes them."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from pools import Backwards, kill, refuse, scaled, spawned
from qrowd.errors import ArgumentError, QrowdError
from qrowd.executors import Processes, in_executor

FIVE = {"factor": 5}


@pytest.mark.parametrize("executor", [None, Processes(2), Backwards(20)])
def test_results_come_in_the_order_of_the_tasks(executor):
    assert list(in_executor(scaled, range(20), executor, shared=FIVE)) == [5 * x for x in range(20)]


def test_without_tasks_there_are_no_results():
    assert list(in_executor(scaled, [], Processes(2), shared=FIVE)) == []


def test_an_executor_that_was_given_is_not_shut_down():
    with ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            assert list(in_executor(scaled, [1, 2], pool, shared=FIVE)) == [5, 10]


def test_a_worker_that_dies_is_named_with_what_is_left():
    message = "^a worker died, with 1 task left; fewer workers at a time need less memory$"
    with spawned() as pool, pytest.raises(QrowdError, match=message):
        list(in_executor(kill, [1], pool, shared=None))
    with pytest.raises(QrowdError, match=r"^a worker died, with 2 parts left"):
        list(in_executor(kill, [1, 2], Processes(1), shared=None, noun="part"))


@pytest.mark.parametrize("executor", [None, Backwards(1), Processes(1)])
def test_an_error_of_a_task_is_raised_as_it_is(executor):
    with pytest.raises(ArgumentError, match=r"^task 7: cannot be done$"):
        list(in_executor(refuse, [7], executor, shared=None))


def test_what_cannot_be_sent_to_other_processes_is_refused_in_one_line():
    with pytest.raises(ArgumentError, match=r"^executor: the arguments cannot be sent to other processes .* a module$"):
        list(in_executor(scaled, [1], Processes(1), shared=lambda: 1))
    with ThreadPoolExecutor(1) as pool:
        assert list(in_executor(scaled, [1], pool, shared={"factor": 2, "f": lambda: 1})) == [2]


INTERRUPTED = """
import os, signal, sys, time
from qrowd.executors import Processes, in_executor

def wait(shared, x):
    if x:
        time.sleep(3600)
    return os.getpid()

if __name__ == "__main__":
    try:
        for n, pid in enumerate(in_executor(wait, range(9), Processes(2), shared=None)):
            print(pid, flush=True)
            os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(("number", "status"), [("SIGINT", 130), ("SIGKILL", -9)])
def test_ctrl_c_and_a_kill_end_the_workers_and_nothing_waits_for_their_tasks(tmp_path, number, status):
    (tmp_path / "script.py").write_text(INTERRUPTED.replace("SIGINT", number))
    done = subprocess.run(  # until every process that holds its standard output has ended
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == status, done.stderr
    assert number == "SIGKILL" or not done.stderr
    assert int(done.stdout) > 0  # of the task that was done
