"""Servers of a campaign with a question are killed while people judge; `make soak` does it a hundred times."""

from contextlib import ExitStack

import pytest

from servers import postgres_server
from soak.questions import run


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_killed_servers_lose_no_answer_and_design_log_and_statement_agree(dialect, tmp_path):
    with ExitStack() as stack:
        postgres = stack.enter_context(postgres_server()) if dialect == "postgresql" else None
        url = f"sqlite:///{tmp_path / 'judgments.db'}" if postgres is None else postgres.database()
        outcome = run(url, tmp_path, kills=3, clients=20, answers=200, postgres=postgres)
    assert outcome.wrong == []
    assert outcome.kills == 3
    assert len(outcome.log.acknowledged) >= 200
