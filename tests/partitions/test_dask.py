"""Dask and loky score the parts of a partitioned collection: the scores of one process, also where one is killed."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import qrowd
from dask_cluster import dask_cluster
from dying import dying_always, dying_once
from equal_scores import equal
from qrowd.cli.processes import Workers
from qrowd.errors import ArgumentError, FileError, QrowdError
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.partitions import open_partitioned, survey_state, write_partitioned
from qrowd.simulation import simulate_demo

distributed = pytest.importorskip("distributed")
MEASURES = ["nDCG@10", "AP"]


@pytest.fixture(scope="module")
def cluster():
    with dask_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Six parts, and the scores of the whole."""
    runs, judgments, _ = simulate_demo()
    collection = write_partitioned(tmp_path_factory.mktemp("demo") / "collection", runs, judgments, n_parts=6)
    return collection, qrowd.evaluate(runs, judgments, MEASURES)


@pytest.fixture(scope="module")
def large():
    """63 runs of 20 documents for each of 477 topics, and three assessors: the shape of SynDL."""
    rng = np.random.default_rng(1)
    n_systems, n_topics, depth, pool = 63, 477, 20, 60
    systems, topics = (tuple(f"{letter}{i:03}" for i in range(n)) for letter, n in (("s", n_systems), ("t", n_topics)))
    documents = tuple(f"d{i:05}" for i in range(n_topics * pool))
    lists = np.argsort(rng.random((n_systems, n_topics, pool)), axis=2)[:, :, :depth]
    system, topic, _ = np.indices(lists.shape, np.int32)
    document = (lists + pool * topic).astype(np.int32)
    score = rng.integers(0, 1000, lists.size).astype(float)  # with ties
    runs = Runs(systems, topics, documents, system.ravel(), topic.ravel(), document.ravel(), score)
    assessor, judged = np.indices((3, len(documents)), np.int32).reshape(2, -1)
    kept = rng.random(judged.size) < 0.7
    assessor, judged = assessor[kept], judged[kept]
    value = rng.integers(0, 4, judged.size).astype(float)
    names = ("ann", "bob", "llm")
    codes = (judged // pool, judged, assessor)
    return runs, Judgments(topics, documents, names, *codes, value, (Scale("graded", 3.0),) * 3)


@pytest.mark.parametrize("kind", ["client", "executor"])
def test_dask_gives_the_scores_of_one_process(client, demo, kind):
    collection, whole = demo
    rows = []
    scores = qrowd.evaluate(
        collection.runs,
        collection.judgments,
        MEASURES,
        executor=client if kind == "client" else client.get_executor(),
        progress=lambda *counts: rows.append(counts),
    )
    assert equal(scores, whole)
    assert rows[-1] == (len(collection.runs) + len(collection.judgments),) * 2


@pytest.mark.slow
def test_dask_gives_the_scores_of_one_process_of_477_topics(client, large, tmp_path):
    runs, judgments = large
    collection = write_partitioned(tmp_path / "collection", runs, judgments, n_parts=16)
    scores = qrowd.evaluate(collection.runs, collection.judgments, MEASURES, executor=client)
    assert scores.values.shape == (2, 3, 477, 63)
    assert equal(scores, qrowd.evaluate(runs, judgments, MEASURES))


class Killing:
    """Hands tasks to Dask's executor as work that a kill can hit."""

    def __init__(self, client, dying):
        self.executor, self.dying = client.get_executor(pure=False), dying

    def submit(self, work, number):
        return self.executor.submit(self.dying, work, number)


def test_the_scores_are_the_same_when_a_worker_of_dask_is_killed(client, demo, tmp_path):
    collection, whole = demo
    marker = tmp_path / "marker"
    marker.touch()
    executor = Killing(client, partial(dying_once, str(marker), 3))
    scores = qrowd.evaluate(collection.runs, collection.judgments, MEASURES, executor=executor)
    assert not marker.exists()
    assert equal(scores, whole)


def test_a_part_that_kills_each_worker_is_named(client, demo):
    collection, _ = demo
    executor = Killing(client, partial(dying_always, 3))
    with pytest.raises(QrowdError, match="each Dask worker that got part 3 died; parts of fewer topics") as caught:
        qrowd.evaluate(collection.runs, collection.judgments, MEASURES, executor=executor)
    assert "\n" not in str(caught.value)


def test_an_error_in_a_worker_of_dask_reads_as_it_does_here(client, tmp_path):
    runs, judgments, _ = simulate_demo()
    collection = write_partitioned(tmp_path / "collection", runs, judgments, n_parts=2)
    (tmp_path / "collection" / "runs" / "part-00001.parquet").write_bytes(b"PAR1 and nothing else")
    messages = []
    for executor in (None, client):
        with pytest.raises(FileError) as caught:
            qrowd.evaluate(collection.runs, collection.judgments, MEASURES, executor=executor)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert "part-00001.parquet: cannot be read" in messages[0]


def test_results_that_workers_of_dask_wrote_are_read_here(client, demo, tmp_path):
    collection, whole = demo
    options = {"measures": MEASURES, "results": tmp_path / "results"}
    assert equal(qrowd.evaluate(collection.runs, collection.judgments, executor=client, **options), whole)
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "results").iterdir()}
    assert len(written) == 6
    assert equal(qrowd.evaluate(collection.runs, collection.judgments, **options), whole)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "results").iterdir()} == written


def test_a_collection_written_anew_into_its_folder_is_not_answered_from_memory(client, tmp_path):
    runs, judgments, _ = simulate_demo()
    folder = tmp_path / "collection"
    write_partitioned(folder, runs, judgments, n_parts=2)
    opened = open_partitioned(folder)
    qrowd.evaluate(opened.runs, opened.judgments, "AP", executor=client)
    folder.rename(tmp_path / "before")
    fewer = judgments.select(assessors=["ann", "bob"])
    opened = write_partitioned(folder, runs, fewer, n_parts=2)
    assert equal(
        qrowd.evaluate(opened.runs, opened.judgments, "AP", executor=client), qrowd.evaluate(runs, fewer, "AP")
    )


def test_loky_gives_the_scores_of_one_process(demo):
    loky = pytest.importorskip("joblib.externals.loky")
    collection, whole = demo
    executors = []

    def workers():
        executors.append(loky.get_reusable_executor(max_workers=1))
        return executors[-1]

    scores = qrowd.evaluate(collection.runs, collection.judgments, MEASURES, executor=workers)
    assert len(executors) == 1
    assert equal(scores, whole)


def test_a_worker_that_does_not_see_the_folder_or_has_another_version_is_named(demo, monkeypatch, tmp_path):
    collection, _ = demo
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(
            "qrowd.evaluation.part_tasks.survey_state", lambda folder: survey_state(folder / "elsewhere")
        )
        with pytest.raises(FileError, match="a worker does not see this folder; workers on several machines need a "):
            qrowd.evaluate(collection.runs, collection.judgments, "AP", executor=pool)
        monkeypatch.setattr("qrowd.evaluation.part_tasks.version", lambda name: "0.0.9")
        with pytest.raises(QrowdError, match=r"a worker has qrowd 0\.0\.9, but this process has .*; install the same"):
            qrowd.evaluate(collection.runs, collection.judgments, "AP", executor=pool)


def test_the_command_takes_the_address_of_a_scheduler(cluster, demo, tmp_path):
    collection, _ = demo
    words = [sys.executable, "-m", "qrowd", "evaluate", "--runs", collection.folder, "--judgments", collection.folder]
    done = [
        subprocess.run([*words, "-m", "AP", *options], cwd=tmp_path, capture_output=True, text=True, check=False)
        for options in ([], ["--dask", cluster.scheduler_address, "--results", "results"])
    ]
    assert [(one.returncode, one.stderr) for one in done] == [(0, ""), (0, "")]
    assert done[0].stdout == done[1].stdout
    assert len(list((tmp_path / "results").iterdir())) == 6


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://127.0.0.1:9", "--dask tcp://127.0.0.1:9: no Dask scheduler answered within 0.3 seconds"),
        ("127.0.0.1", "--dask 127.0.0.1: missing port number in address '127.0.0.1'"),
    ],
)
def test_a_scheduler_that_does_not_answer_is_named_in_one_line(monkeypatch, address, message):
    monkeypatch.setattr("qrowd.cli.processes.SECONDS", 0.3)
    with pytest.raises(QrowdError) as caught, Workers(dask=address).executor():
        pytest.fail("nobody is there")
    assert str(caught.value) == message


def test_without_dask_the_extra_is_named_and_processes_are_refused_beside_it(monkeypatch):
    with pytest.raises(ArgumentError, match="--processes and --dask: give one of them"):
        Workers(processes=2, dask="tcp://127.0.0.1:9").executor().__enter__()
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(QrowdError, match=r"--dask: Dask is not installed; pip install 'qrowd\[dask\]'"):
        Workers(dask="tcp://127.0.0.1:9").executor().__enter__()
