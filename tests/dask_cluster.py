"""A Dask cluster on this machine."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def dask_cluster(n_workers: int = 2) -> Iterator[Any]:
    """The cluster. Its scheduler serves HTTP on a free port, so that several tests can have one at a time."""
    import distributed

    with distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    ) as cluster:
        yield cluster
        # Workers that a test killed are started again; a cluster that is closed meanwhile stumbles over them.
        with distributed.Client(cluster, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=60)
