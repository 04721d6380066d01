"""Workers and clients that are killed: the result is the same to the bit, and what was done is not done again."""

import pickle
import signal
import subprocess
import sys

import pytest

import qrowd
from equal_scores import equal
from qrowd.errors import FileError
from qrowd.partitions import open_partitioned, write_partitioned
from qrowd.simulation import simulate_demo

MEASURES = ["nDCG@10", "AP"]


@pytest.fixture
def collection(tmp_path):
    runs, judgments, _ = simulate_demo()
    return write_partitioned(tmp_path / "collection", runs, judgments, n_parts=6)


POOLS = """
import os, signal, sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import qrowd
from qrowd.errors import QrowdError
from qrowd.partitions import open_partitioned

folder, results, marker, makes = sys.argv[1:]


def work(task, number):
    if number == 3 and Path(marker).exists():
        Path(marker).unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return task(number)


class Deadly(ProcessPoolExecutor):
    def submit(self, task, number):
        return super().submit(work, task, number)


def pool():
    print("made a pool")
    return Deadly(1, mp_context=get_context("spawn"))


if __name__ == "__main__":
    collection = open_partitioned(folder)
    try:
        scores = qrowd.evaluate(
            collection.runs, collection.judgments, ["nDCG@10", "AP"], results=results or None,
            executor=pool if makes == "yes" else pool(),
        )
        whole = qrowd.evaluate(collection.runs, collection.judgments, ["nDCG@10", "AP"])
        print("same", scores.values.tobytes() == whole.values.tobytes(), scores.attributes == whole.attributes)
    except QrowdError as error:
        print(error)
"""


def said(folder, collection, *, results="", makes):
    """What the script prints in which the worker of part 3 is killed once."""
    (folder / "marker").write_text("")
    (folder / "script.py").write_text(POOLS)
    command = [sys.executable, "script.py", str(collection.folder), str(results), "marker", makes]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=True)
    assert not (folder / "marker").exists()
    return done.stdout.splitlines()


def test_an_evaluation_goes_on_when_a_worker_is_killed(collection, tmp_path):
    assert said(tmp_path, collection, makes="yes") == ["made a pool", "made a pool", "same True True"]


def test_with_results_nothing_that_was_done_before_a_worker_died_is_done_again(collection, tmp_path):
    results = tmp_path / "results"
    lines = said(tmp_path, collection, results=results, makes="no")
    assert lines[-1].startswith("a worker died, with ")
    assert lines[-1].endswith(f"parts left; run it again: what {results} holds is not scored again")
    done = {path: path.stat().st_mtime_ns for path in results.iterdir()}
    assert 1 <= len(done) < 6
    scores = qrowd.evaluate(collection.runs, collection.judgments, MEASURES, results=results)
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert len(list(results.iterdir())) == sum(bool(judged) for judged, _ in collection.topics_by_part)
    assert equal(scores, qrowd.evaluate(collection.runs, collection.judgments, MEASURES))


CLIENT = """
import os, signal, sys
import qrowd
from qrowd.partitions import open_partitioned
collection = open_partitioned(sys.argv[1])
def die(done, total):
    if done * 2 >= total:
        os.kill(os.getpid(), signal.SIGKILL)
qrowd.evaluate(collection.runs, collection.judgments, ["nDCG@10", "AP"], results=sys.argv[2], progress=die)
"""


def test_a_client_that_was_killed_goes_on_with_what_is_written(collection, tmp_path):
    results = tmp_path / "results"
    died = subprocess.run(
        [sys.executable, "-c", CLIENT, str(collection.folder), str(results)], timeout=300, check=False
    )
    assert died.returncode == -signal.SIGKILL
    done = {path: path.stat().st_mtime_ns for path in results.iterdir()}
    assert done
    scores = qrowd.evaluate(collection.runs, collection.judgments, MEASURES, results=results)
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert equal(scores, qrowd.evaluate(collection.runs, collection.judgments, MEASURES))


def test_other_measures_and_conventions_have_results_of_their_own(collection, tmp_path):
    options = {"results": tmp_path / "results"}
    qrowd.evaluate(collection.runs, collection.judgments, ["AP"], **options)
    n = len(list((tmp_path / "results").iterdir()))
    other = qrowd.Conventions(min_coverage=0.5)
    for measures, conventions in ((["P@5"], qrowd.Conventions()), (["AP"], other)):
        before = {"measures": measures, "conventions": conventions}
        scores = qrowd.evaluate(collection.runs, collection.judgments, **before, **options)
        assert equal(scores, qrowd.evaluate(collection.runs, collection.judgments, **before))
    assert len(list((tmp_path / "results").iterdir())) == 3 * n


def test_a_damaged_result_is_named(collection, tmp_path):
    results = tmp_path / "results"
    qrowd.evaluate(collection.runs, collection.judgments, ["AP"], results=results)
    damaged = sorted(results.iterdir())[0]
    damaged.write_bytes(damaged.read_bytes()[:100])
    with pytest.raises(FileError, match=rf"{damaged.name}: is damaged .* remove it, and its part is scored again"):
        qrowd.evaluate(collection.runs, collection.judgments, ["AP"], results=results)


def test_the_runs_of_a_collection_reach_another_process_as_its_folder(collection):
    assert len(pickle.dumps(collection.runs)) < 500
    assert pickle.loads(pickle.dumps(collection.judgments)).topics == open_partitioned(collection.folder).judged_topics
