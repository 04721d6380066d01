"""The command as a user runs it: arguments in, exit status and two streams out."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from qrowd.cli.main import Commands, run
from qrowd.comparison import power


@dataclass
class Outcome:
    status: int
    out: str
    err: str


_command = cache(Commands().__getitem__)


def status_of(*arguments) -> int:
    """The exit status of the command with these arguments, whose options are made once and not for each run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Commands, "__getitem__", lambda commands, name: _command(name))
        patch.setattr(sys, "argv", ["qrowd", *map(str, arguments)])
        try:
            run()
        except SystemExit as end:
            return end.code or 0
    return 0


@pytest.fixture(scope="session")
def exit_status():
    """`status_of`, for fixtures that outlive a test."""
    return status_of


@pytest.fixture
def qrowd(monkeypatch, capsys, tmp_path):
    """Run the command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments) -> Outcome:
        status = status_of(*arguments)
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call


@pytest.fixture
def coarse(monkeypatch):
    """What is expected is rough, and soon there: the chance that a design finds a difference is an average over a few
    mean squares, and the judgments until a question is decided are those of five simulations.
    """
    monkeypatch.setattr(power, "NODES", (3, 3, 2))
    monkeypatch.setattr("qrowd.sequential.expectation.N_PATHS", 5)


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """A simulated panel, written once."""
    folder = tmp_path_factory.mktemp("simulated") / "panel"
    assert status_of("simulate", folder) == 0
    return folder


@pytest.fixture(scope="session")
def eight_topics(whole, tmp_path_factory):
    """The same with runs and judgments of eight topics, a third, in which everybody gives the highest grade, too."""
    folder = Path(shutil.copytree(whole, tmp_path_factory.mktemp("eight") / "panel"))
    for file in (*(folder / "runs").iterdir(), *(folder / "judges").iterdir()):
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(line for line in lines if "q07" <= line < "q15"))
    return folder


@pytest.fixture(scope="session")
def simulated(whole):
    """What `folder` is a copy of; a module whose tests quote no number of it may take `eight_topics` instead."""
    return whole


@pytest.fixture
def folder(qrowd, simulated, tmp_path):
    """A copy of the simulated panel in the folder where commands run."""
    return Path(shutil.copytree(simulated, tmp_path / "panel", copy_function=shutil.copyfile))


MODULES = """
import atexit, sys
from qrowd.cli.main import run
from qrowd.comparison import power
atexit.register(lambda: sys.stderr.write("\\n" + " ".join(sys.modules)))
run()
"""


@pytest.fixture
def loaded_modules(tmp_path):
    """The names of all modules that a process of its own has loaded when the command ends."""

    def names(*arguments) -> set[str]:
        command = [sys.executable, "-c", MODULES, *map(str, arguments)]
        outcome = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        modules = set(outcome.stderr.rpartition("\n")[2].split())
        assert "qrowd.cli.main" in modules
        return modules

    return names
