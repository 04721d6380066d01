"""Ctrl-C, and a kill, while a partitioned collection is written or scored: workers end, and nothing is half-written."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ENDS = {  # how the command ends: signal, whether all processes of the terminal get it, status, what it says
    "Ctrl-C on a terminal": (signal.SIGINT, True, 130, "qrowd: interrupted; no output was written\n"),
    "Ctrl-C for the command alone": (signal.SIGINT, False, 130, "qrowd: interrupted; no output was written\n"),
    "a kill": (signal.SIGKILL, False, -signal.SIGKILL, ""),  # Python itself may warn of semaphores
}


def interrupted(pipe, kind, *arguments):
    """(status, standard error) of a command, ended once it or a worker of it reads the pipe; waits for all workers."""
    number, all_processes, *_ = ENDS[kind]
    process = subprocess.Popen(
        [sys.executable, "-m", "qrowd", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )

    def read_when_it_ends():  # a command that fails before it reads would leave the test waiting
        process.wait()
        os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))

    guard = threading.Thread(target=read_when_it_ends)
    guard.start()
    with Path(pipe).open("wb"):  # waits for a reader
        if process.returncode is None:
            (os.killpg if all_processes else os.kill)(process.pid, number)
        _, err = process.communicate(timeout=60)  # until every process that holds standard error has ended
        guard.join()
    return process.returncode, "" if number == signal.SIGKILL and "resource_tracker" in err else err


@pytest.mark.parametrize("kind", ENDS)
def test_workers_end_with_the_command_and_leave_no_half_written_file(qrowd, folder, kind):
    made = qrowd("partition", "--runs", "panel/runs", "--judgments", "panel/judges", "-o", "parts", "--n-parts", "3")
    assert made.status == 0
    options = ("evaluate", "--runs", "parts", "--judgments", "parts", "-m", "AP", "--results", "results")
    assert qrowd(*options).status == 0
    first, *others = sorted(Path("results").iterdir())
    first.unlink()
    others[0].unlink()
    os.mkfifo(first)
    assert interrupted(first, kind, *options, "--processes", "2", "-o", "scores.csv") == ENDS[kind][2:]
    assert not Path("scores.csv").exists()
    first.unlink()
    assert {path.name for path in Path("results").iterdir()} <= {path.name for path in others}
    assert qrowd(*options, "-o", "scores.csv").status == 0
    assert sorted(Path("results").iterdir()) == [first, *others]


def test_ctrl_c_while_files_are_read_leaves_no_collection(qrowd, folder):
    os.mkfifo("endless.run")
    before = sorted(Path().iterdir())
    arguments = ("partition", "--runs", "endless.run", "--judgments", "panel/judges", "-o", "parts")
    kind = "Ctrl-C on a terminal"
    assert interrupted("endless.run", kind, *arguments) == ENDS[kind][2:]
    assert sorted(Path().iterdir()) == before
