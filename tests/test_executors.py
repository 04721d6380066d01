"""Tasks in the workers of an executor: the results of a loop, whoever computes them and whoever dies."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from pools import Backwards, kill, kill_once, refuse, scaled, spawned, square
from qrowd.errors import ArgumentError, QrowdError
from qrowd.executors import as_done, in_executor, kept, processes


@pytest.mark.parametrize("executor", [None, lambda: ThreadPoolExecutor(3), processes(2), Backwards(20)])
def test_results_come_in_the_order_of_the_tasks(executor):
    assert list(in_executor(square, range(20), executor)) == [x * x for x in range(20)]


def test_as_done_names_the_task_of_each_result():
    executor = Backwards(20)
    assert sorted(as_done(square, range(20), executor)) == [(x, x * x) for x in range(20)]


@pytest.mark.parametrize("executor", [None, lambda: ThreadPoolExecutor(3), processes(2), Backwards(6)])
def test_what_tasks_share_is_the_first_argument_of_each(executor):
    found = list(in_executor(scaled, range(6), executor, shared={"factor": 5}))
    assert found == [0, 5, 10, 15, 20, 25]


def test_no_task_carries_what_all_of_them_share():
    executor = Backwards(4)
    list(in_executor(scaled, range(4), executor, shared={"factor": 2, "data": bytes(10**6)}))
    assert max(executor.sizes) < 500


def test_without_tasks_there_are_no_results():
    assert list(in_executor(square, [], processes(2))) == []


def test_an_executor_that_was_given_is_not_shut_down():
    with ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            assert list(in_executor(square, [1, 2], pool)) == [1, 4]


def test_where_workers_die_the_executor_is_made_again_and_only_what_is_missing_is_done_again(tmp_path):
    marker = tmp_path / "marker"
    marker.write_text("")
    made = []

    def pool():
        made.append(spawned())
        return made[-1]

    assert list(in_executor(kill_once, range(6), pool, shared=str(marker))) == [x * x for x in range(6)]
    assert len(made) == 2
    assert not marker.exists()


def test_workers_that_die_again_and_again_are_given_up():
    message = "workers died 3 times in a row, with 2 tasks left; use fewer at a time, which need less memory"
    with pytest.raises(QrowdError, match=message):
        list(in_executor(kill, [1, 2], spawned))


def test_an_executor_that_cannot_be_made_again_says_what_would_help():
    with spawned() as pool, pytest.raises(QrowdError, match=r"a worker died, with 1 task left; give a function that"):
        list(in_executor(kill, [1], pool))


@pytest.mark.parametrize("executor", [None, lambda: ThreadPoolExecutor(2), processes(1)])
def test_an_error_of_a_task_is_raised_as_it_is(executor):
    with pytest.raises(ArgumentError, match=r"^task 7: cannot be done$"):
        list(in_executor(refuse, [7], executor))


def test_after_an_error_no_thread_goes_on_with_what_it_had_begun():
    begun, longer, ended = Event(), Event(), Event()

    def work(task):
        if task == 0:
            begun.wait(30)
            raise QrowdError("the first is refused")
        begun.set()
        longer.wait(0.5)  # nobody sets it: the first has failed long before
        ended.set()

    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(QrowdError, match="the first is refused"):
            list(as_done(work, [0, 1], pool))
        assert ended.is_set()


def test_what_cannot_be_sent_to_other_processes_is_refused_in_one_line():
    with pytest.raises(ArgumentError, match=r"^executor: the arguments cannot be sent to other processes .* a module$"):
        list(in_executor(scaled, [1], processes(1), shared=lambda: 1))
    assert list(in_executor(scaled, [1], lambda: ThreadPoolExecutor(1), shared={"factor": 2, "f": lambda: 1})) == [2]


def test_a_worker_that_cannot_read_what_is_shared_says_how_it_could(tmp_path):
    class Elsewhere(Backwards):
        """A worker that does not see the folder of temporary files."""

        def submit(self, work, *args):
            moved = [str(tmp_path / "gone.pickle") if str(arg).endswith("shared.pickle") else arg for arg in args]
            return super().submit(work, *moved)

    with pytest.raises(QrowdError, match=r"a worker cannot read .*gone.pickle; set TMPDIR to a folder that all"):
        list(in_executor(scaled, [1], Elsewhere(1), shared={"factor": 2}))


def test_what_is_shared_is_removed_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = in_executor(scaled, [1, 2], Backwards(2), shared={"factor": 2})
    assert next(found) == 2
    assert len(list(tmp_path.glob("*/shared.pickle"))) == 1
    found.close()
    assert list(tmp_path.iterdir()) == []


INTERRUPTED = """
import os, signal, sys, time
from qrowd.executors import in_executor, processes

def wait(x):
    if x:
        time.sleep(3600)
    return os.getpid()

if __name__ == "__main__":
    try:
        for n, pid in enumerate(in_executor(wait, range(9), processes(2))):
            print(pid, flush=True)
            os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.parametrize(("number", "status"), [("SIGINT", 130), ("SIGKILL", -9)])
def test_ctrl_c_and_a_kill_end_the_workers_and_nothing_waits_for_their_tasks(tmp_path, number, status):
    (tmp_path / "script.py").write_text(INTERRUPTED.replace("SIGINT", number))
    done = subprocess.run(  # until every process that holds its standard output has ended
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == status, done.stderr
    assert number == "SIGKILL" or not done.stderr
    assert int(done.stdout) > 0  # of the task that was done


def test_an_executor_that_is_kept_is_made_once_for_several_calls_and_shut_down_at_the_end():
    made = []

    def pool():
        made.append(ThreadPoolExecutor(2))
        return made[-1]

    with kept(pool) as executor:
        for n in range(3):
            assert list(in_executor(scaled, range(3), executor, shared={"factor": n})) == [0, n, 2 * n]
    assert len(made) == 1
    with pytest.raises(RuntimeError, match="shutdown"):
        made[0].submit(square, 1)


def test_an_executor_that_is_kept_is_made_again_where_workers_die(tmp_path):
    marker = tmp_path / "marker"
    made = []

    def pool():
        made.append(spawned())
        return made[-1]

    with kept(pool) as executor:
        for _ in range(2):
            assert list(in_executor(kill_once, range(5), executor, shared=str(marker))) == [0, 1, 4, 9, 16]
            marker.write_text("")
    assert len(made) == 2


def test_an_executor_that_was_given_and_none_are_kept_as_they_are():
    with ThreadPoolExecutor(1) as pool, kept(pool) as executor, kept(None) as nothing:
        assert executor is pool
        assert nothing is None
    with kept(ThreadPoolExecutor) as executor:  # a class makes executors
        assert list(in_executor(square, [3], executor)) == [9]
