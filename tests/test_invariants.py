"""Workers race for places that are too few; time flies, the owner interferes: what must never be never is."""

from itertools import product
from pathlib import Path

import pytest

from server.soak import races

HAPPENS = {  # else the race proves nothing; what is rarer is seen in `make soak`
    "taken", "refused: stale", "assigned", "lease_expired", "assignment_withdrawn",
    "excluded", "preferred", "judged", "completed",
}  # fmt: skip


@pytest.mark.parametrize(
    ("dialect", "workers", "actions"),
    [
        ("sqlite", 60, 8),
        pytest.param("postgresql", 60, 8, marks=pytest.mark.nightly),
        *(pytest.param(*case, marks=pytest.mark.nightly) for case in product(["sqlite", "postgresql"], [200], [12])),
    ],
)
def test_racing_workers_never_break_what_the_tables_promise(
    dialect: str, workers: int, actions: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if dialect == "sqlite":
        url = f"sqlite:///{tmp_path / 'judgments.db'}"
    else:
        url = request.getfixturevalue("postgres").database()
    seen, wrong = races.run(url, workers=workers, actions=actions)
    assert wrong == []
    assert set(seen) >= HAPPENS
