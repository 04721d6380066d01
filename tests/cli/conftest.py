"""The command as a user runs it: arguments in, exit status and two streams out."""

import sys
from dataclasses import dataclass

import pytest

from qrowd.cli.main import run


@dataclass
class Outcome:
    status: int
    out: str
    err: str


@pytest.fixture
def qrowd(monkeypatch, capsys, tmp_path):
    """Run the command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["qrowd", *map(str, arguments)])
        status = 0
        try:
            run()
        except SystemExit as end:
            status = end.code or 0
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call


@pytest.fixture
def folder(qrowd, tmp_path):
    """A simulated panel as files."""
    assert qrowd("simulate", "panel").status == 0
    return tmp_path / "panel"
