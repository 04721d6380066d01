"""What the shells ask when Tab is pressed, and what they are answered."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BASH, COMMAND = shutil.which("bash"), Path(sys.executable).with_name("qrowd")


@pytest.fixture
def complete(qrowd, monkeypatch):
    """What completes a line, in the protocol of bash: the last word is the one at the cursor."""

    def answers(line):
        words = line.split(" ")
        monkeypatch.setenv("_QROWD_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", "\n".join(words))
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        return qrowd().out.split()

    return answers


def test_commands_and_options_are_completed(complete):
    assert complete("qrowd ev") == ["evaluate"]
    assert complete("qrowd campaign inv") == ["invite"]
    assert complete("qrowd compare --base") == ["--baseline"]


def test_choices_measures_methods_and_plots_are_completed(complete):
    assert complete("qrowd evaluate --ties ") == ["document", "expected"]
    assert complete("qrowd evaluate --measure nD") == ["nDCG"]
    assert complete("qrowd evaluate --method mac") == ["mace"]
    assert complete("qrowd plot bum") == ["bump"]
    assert complete("qrowd measures nD") == ["nDCG"]


def test_further_values_of_an_option_that_takes_several_are_completed(complete):
    assert complete("qrowd evaluate -m AP nD") == ["nDCG"]
    assert "--output" in complete("qrowd evaluate -m AP --o")


def test_files_are_left_to_the_shell(complete):
    assert complete("qrowd evaluate --runs pan") == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_answered_in_their_own_way(qrowd, monkeypatch, shell):
    monkeypatch.setenv("_QROWD_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "qrowd evaluate --ties ")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    out = qrowd().out
    assert "document" in out
    assert "expected" in out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(qrowd, monkeypatch, shell):
    monkeypatch.setenv("_QROWD_COMPLETE", f"source_{shell}")
    assert f"complete_{shell}" in qrowd().out


def test_bash_completes_with_the_script():
    script = (
        'eval "$(_QROWD_COMPLETE=source_bash qrowd)"\n'
        "COMP_WORDS=(qrowd evaluate --unjudged c) COMP_CWORD=3\n"
        '_qrowd_completion qrowd\necho "${COMPREPLY[@]}"'
    )
    path = f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"
    outcome = subprocess.run(
        [BASH, "--norc", "-c", script], capture_output=True, text=True, check=True, env={**os.environ, "PATH": path}
    )
    assert outcome.stdout == "condensed\n"
