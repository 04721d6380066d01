"""200 workers race for places that are too few; time flies, the owner interferes: what must never be never is."""

from pathlib import Path

import pytest

from server.soak import races

HAPPENS = {  # else the race proves nothing; what is rarer is seen in `make soak`
    "taken", "refused: stale", "assigned", "lease_expired", "assignment_withdrawn",
    "excluded", "preferred", "judged", "completed",
}  # fmt: skip


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_two_hundred_racing_workers_never_break_what_the_tables_promise(
    dialect: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if dialect == "sqlite":
        seen, wrong = races.run(f"sqlite:///{tmp_path / 'judgments.db'}", workers=200, actions=12)
    else:
        server = request.getfixturevalue("postgres")
        seen, wrong = races.run(server.database(), workers=200, actions=9)
    assert wrong == []
    assert set(seen) >= HAPPENS
