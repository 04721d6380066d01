"""What all studies read is read once."""

from collections.abc import Iterator

import pytest

import real_runs


@pytest.fixture(scope="module", autouse=True)
def real_runs_are_read_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("qrowd.files.read_runs", real_runs.read_runs)
        yield
