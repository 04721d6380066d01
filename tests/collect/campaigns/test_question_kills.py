"""Servers of a campaign with a question are killed while people judge; `make soak` does it a hundred times."""

from soak.questions import run


def test_killed_servers_lose_no_answer_and_design_log_and_statement_agree(tmp_path):
    outcome = run(f"sqlite:///{tmp_path / 'judgments.db'}", tmp_path, kills=3, clients=20, answers=200, postgres=None)
    assert outcome.wrong == []
    assert outcome.kills == 3
    assert len(outcome.log.acknowledged) >= 200
