"""Dask scores the parts of a partitioned collection: the scores of one process."""

import subprocess
import sys

import pytest

import qrowd
from command_line import status_of
from dask_cluster import dask_cluster
from equal_scores import equal
from qrowd.cli.processes import Workers
from qrowd.errors import QrowdError
from qrowd.partitions import write_partitioned
from qrowd.simulation import simulate_demo

distributed = pytest.importorskip("distributed")
MEASURES = ["nDCG@10", "AP"]


@pytest.fixture(scope="module")
def cluster():
    with dask_cluster(n_workers=1) as cluster:
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


@pytest.mark.nightly
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
    assert rows[-1] == (sum(collection.run_rows) + sum(collection.judgment_rows),) * 2


@pytest.mark.nightly
def test_results_that_workers_of_dask_wrote_are_read_here(client, demo, tmp_path):
    collection, whole = demo
    options = {"measures": MEASURES, "results": tmp_path / "results"}
    assert equal(qrowd.evaluate(collection.runs, collection.judgments, executor=client, **options), whole)
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "results").iterdir()}
    assert len(written) == 6
    assert equal(qrowd.evaluate(collection.runs, collection.judgments, **options), whole)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "results").iterdir()} == written


@pytest.mark.nightly
def test_the_command_takes_the_address_of_a_scheduler(cluster, demo, tmp_path, capsys):
    collection, _ = demo
    words = ["evaluate", "--runs", collection.folder, "--judgments", collection.folder, "-m", "AP"]
    assert status_of(*words) == 0
    here = capsys.readouterr()
    words += ["--dask", cluster.scheduler_address, "--results", "results"]
    there = subprocess.run([sys.executable, "-m", "qrowd", *words], cwd=tmp_path, capture_output=True, text=True)
    assert (here.err, there.returncode, there.stderr) == ("", 0, "")
    assert here.out == there.stdout
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


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(QrowdError, match=r"--dask: Dask is not installed; pip install 'qrowd\[dask\]'"):
        Workers(dask="tcp://127.0.0.1:9").executor().__enter__()
