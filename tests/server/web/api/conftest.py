"""The server that these tests ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from server.web.api.worlds import World, world


@pytest.fixture
def served(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made
