"""Each example of a help text is a command that works on the files it names."""

import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from qrowd.cli.commands import examples, examples_of
from qrowd.cli.main import app

LINES = [(command, line) for command, lines in examples().items() for line in lines]
CAMPAIGN = [line for command, line in LINES if command.startswith("campaign")]
IN_A_BROWSER_OR_LONG = ("serve",)
OTHER_FILES = ("account", "campaign", "judge", "leaderboards", "study")  # tests of their own
RUN = [line for command, line in LINES if not command.startswith((*IN_A_BROWSER_OR_LONG, *OTHER_FILES))]


@pytest.fixture(scope="module")
def simulated(eight_topics):
    return eight_topics


def commands(group, before=""):
    """Each command by its words."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


COMMANDS = dict(commands(get_command(app)))


def test_every_command_has_an_example_and_every_example_a_command():
    assert set(examples()) == set(COMMANDS)


@pytest.mark.parametrize(("command", "line"), LINES)
def test_an_example_is_parsed_and_names_files_that_are_there(monkeypatch, simulated, command, line):
    monkeypatch.chdir(simulated.parent)
    words = shlex.split(line)
    n = len(command.split())
    assert words[: n + 1] == ["qrowd", *command.split()]
    context = COMMANDS[command].make_context(command, words[n + 1 :])
    assert not context.args
    assert [word for word in words if word.startswith("panel/") and not Path(word).exists()] == []


def test_the_examples_stand_below_the_help_text(qrowd):
    out = qrowd("compare", "--help").out
    assert out.rstrip().endswith(examples_of("compare").rstrip())
    assert "qrowd simulate panel writes the files" in out


@pytest.mark.slow
@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("line", RUN)
def test_an_example_runs(qrowd, folder, line):
    """Of the preferences those on a single topic."""
    preferences = folder / "preferences.csv"
    head, *rows = preferences.read_text().splitlines(keepends=True)
    preferences.write_text("".join([head, *(row for row in rows if row.startswith("q07"))]))
    outcome = qrowd(*shlex.split(line)[1:])
    assert outcome.status == 0, outcome.err
    assert outcome.out


@pytest.mark.slow
def test_the_examples_of_campaigns_run_one_after_the_other(qrowd, folder):
    Path("assessor.py").write_text("def grade(request):\n    return '1'\n")
    for line in CAMPAIGN:
        assert qrowd(*shlex.split(line)[1:]).status == 0, line
