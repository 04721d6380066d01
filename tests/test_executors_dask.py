"""Tasks in the workers of a Dask cluster: the results of this process, also where a worker is killed."""

import pytest

from dask_cluster import dask_cluster
from pools import kill, kill_once, refuse, scaled
from qrowd.aware import similarity_to_random
from qrowd.errors import ArgumentError, QrowdError
from qrowd.executors import in_executor
from qrowd.simulation import simulate_demo

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    with dask_cluster() as cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


def test_a_client_and_its_executor_do_tasks_in_order(client):
    for executor in (client, client.get_executor(pure=False)):
        assert list(in_executor(scaled, range(9), executor, shared={"factor": 3})) == [3 * x for x in range(9)]


@pytest.mark.nightly
def test_tasks_of_a_worker_that_is_killed_are_done_by_others(client, tmp_path):
    marker = tmp_path / "marker"
    marker.write_text("")
    assert list(in_executor(kill_once, range(9), client, shared=str(marker))) == [x * x for x in range(9)]
    assert not marker.exists()


def test_an_error_of_a_task_is_raised_as_it_is(client):
    with pytest.raises(ArgumentError, match=r"^task 7: cannot be done$"):
        list(in_executor(refuse, [7], client, shared=None))


@pytest.mark.nightly
def test_similarities_to_random_assessors_are_those_of_this_process(client):
    runs, judgments, _ = simulate_demo()
    judgments = judgments.select(topics=judgments.topics[:6], assessors=judgments.assessors[:2])
    alone, together = (
        similarity_to_random(runs, judgments, "AP", n_resamples=520, rng=1, executor=one) for one in (None, client)
    )
    assert together.single.tobytes() == alone.single.tobytes()
    assert together.by_topic.tobytes() == alone.by_topic.tobytes()


@pytest.mark.nightly
def test_a_task_that_kills_every_worker_is_given_up(client, monkeypatch):
    """After the first one, as the scheduler may be told to do."""
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(QrowdError, match=r"^a worker died, with 1 task left"):
        list(in_executor(kill, [1], client, shared=None))
