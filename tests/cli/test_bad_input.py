"""Bad input: one line that names the culprit and the next step, exit status 2, nothing half-written."""

import gzip
import os
import subprocess
import sys

import pytest

RUN = "q1 Q0 d1 1 2.5 A\nq1 Q0 d2 2 1.5 A\n"
QRELS = "q1 0 d1 1\nq1 0 d2 0\n"


@pytest.fixture(scope="module")
def simulated(eight_topics):
    return eight_topics


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "ann.qrels").write_text(QRELS)
    return tmp_path


CASES = {
    "a short line": ({"a.run": "q1 Q0 d1 1 2.5 A\nq1 Q0 d2 2\n"}, [], ["a.run, line 2", "found 4 fields"]),
    "a score that is no number": ({"a.run": "q1 Q0 d1 1 high A\n"}, [], ["a.run, line 1", "'high'"]),
    "a score that is nan": ({"a.run": RUN + "q1 Q0 d3 3 nan A\n"}, [], ["a.run, line 3", "'nan'"]),
    "a score that is infinite": ({"a.run": "q1 Q0 d1 1 inf A\n"}, [], ["a.run, line 1", "'inf'"]),
    "a grade that is no number": ({"ann.qrels": "q1 0 d1 yes\n"}, [], ["ann.qrels, line 1", "'yes'"]),
    "a document twice": ({"a.run": RUN + "q1 Q0 d1 3 0.5 A\n"}, [], ["a.run, line 3", "d1", "twice"]),
    "an empty file": ({"a.run": ""}, [], ["a.run", "empty"]),
    "an unknown measure": ({}, ["-m", "nDGC@10"], ["'nDGC@10'", "did you mean 'nDCG@10'"]),
    "a cut-off of 0": ({}, ["-m", "P@0"], ["'P@0'", "from 1"]),
    "an unknown parameter": ({}, ["-m", "AP(k=3)"], ["AP(k=3)", "'k'", "rel"]),
    "no common topic": ({"ann.qrels": "x9 0 d1 1\n"}, [], ["share no topic", "q1", "x9"]),
    "a grade above ERR's maximum": (
        {"ann.qrels": "q1 0 d1 5\n"}, ["-m", "ERR(max_rel=4)@20"], ["ann", "5", "maximum 4", "max_rel=5"],
    ),
    "a binary measure on magnitudes": (
        {"ann.qrels": "q1 0 d1 250\nq1 0 d2 12.5\n"}, ["-m", "AP"], ["ann", "AP(rel=...), or take nDCG@10"],
    ),
    "a missing file": ({}, ["--judgments", "nobody.qrels"], ["nobody.qrels", "no such file"]),
    "a pattern without files": ({}, ["--runs", "*.gz"], ["*.gz", "no file"]),
    "a truncated gzip": ({"ann.qrels": gzip.compress(QRELS.encode() * 50)[:40]}, [], ["ann.qrels", "truncated"]),
    "an unknown ending": ({}, ["--output", "scores.xls"], ["scores.xls", ".csv"]),
    "a folder that is not there": ({}, ["--output", "nowhere/scores.csv"], ["nowhere/scores.csv", "cannot be written"]),
    "an unknown baseline": ({}, ["--baseline", "b"], ["'b'", "a"]),
    "an unknown convention": ({}, ["--ties", "random"], ["'--ties': 'random'", "'document', 'expected'"]),
    "expected ties of a measure that is not linear": ({}, ["--ties", "expected"], ["AP", "linear"]),
    "a scale without its sign": ({}, ["--scale", "ann"], ["--scale ann", "PATTERN=SCALE"]),
    "a scale nobody has": ({}, ["--scale", "bob=0-3"], ["'bob'"]),
    "a value above its scale": ({"ann.qrels": "q1 0 d1 4\n"}, ["--scale", "ann=0-3"], ["ann", "4", "maximum 3"]),
    "a recode file that is no TOML": ({"r.toml": "a =\nb = 2"}, ["--recode", "r.toml"], ["r.toml", "line 1", "TOML"]),
    "runs and judgments swapped": ({"a.run": QRELS, "ann.qrels": RUN}, [], ["line 1", "fields"]),
    "repeats that may not be": ({"ann.qrels": QRELS + QRELS}, ["--repeats", "error"], ["ann", "more than once"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_one_line_with_the_culprit_and_exit_status_2(qrowd, files, case):
    contents, extra, expected = CASES[case]
    for name, content in contents.items():
        (files / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    defaults = [] if "--runs" in extra else ["--runs", "a.run"]
    defaults += [] if "--judgments" in extra else ["--judgments", "ann.qrels"]
    defaults += [] if "--output" in extra else ["--output", "scores.csv"]
    outcome = qrowd("evaluate", *defaults, *extra)
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith("qrowd: ")
    assert outcome.err.count("\n") == 1, outcome.err
    assert "Traceback" not in outcome.err
    for part in expected:
        assert part in outcome.err
    assert not list(files.glob("scores*"))
    assert not list(files.glob(".scores*"))


def test_an_old_output_survives_a_mistake(qrowd, files):
    (files / "scores.csv").write_text("old")
    (files / "a.run").write_text("q1 Q0 d1\n")
    assert qrowd("evaluate", "--runs", "a.run", "--judgments", "ann.qrels", "--output", "scores.csv").status == 2
    assert (files / "scores.csv").read_text() == "old"


def test_a_missing_option_is_a_usage_error(qrowd):
    outcome = qrowd("evaluate", "--runs", "a.run")
    assert outcome.status == 2
    assert "--judgments" in outcome.err


OPTIONS = {
    "a number below its limit": (["compare", "--n-resamples", "1"], "--n-resamples 1: at least 2 were expected"),
    "a share": (["compare", "--confidence", "1.5"], "--confidence 1.5: a number between 0 and 1 was expected"),
    "options that go together": (
        ["plan", "--budget", "9"],
        "--budget 9: give the cost of a topic, of a judgment, or both",
    ),
    "an option that is missing": (["predict"], "the lowest relevant grade is needed, as in --rel 2 (in Python rel=2)"),
    "a parameter of a measure": (["evaluate", "-m", "AP(rel=0)"], "measure 'AP(rel=0)'"),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_an_error_of_the_library_names_the_option_as_it_stands_on_the_command_line(qrowd, files, case):
    (command, *options), message = OPTIONS[case]
    data = ["--judgments", "ann.qrels", *([] if command == "predict" else ["--runs", "a.run"])]
    outcome = qrowd(command, *data, *options)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith(f"qrowd: {message}")


@pytest.mark.parametrize("command", ["compare", pytest.param("compare --help", marks=pytest.mark.nightly)])
def test_a_reader_that_goes_away_ends_a_command_quietly(files, command):
    (files / "b.run").write_text(RUN.replace("A", "B"))
    data = ["--runs", "a.run", "b.run", "--judgments", "ann.qrels"] if command == "compare" else []
    reader, writer = os.pipe()
    os.close(reader)  # as `head` does once it has its lines
    arguments = [sys.executable, "-c", "from qrowd.cli.main import run; run()", *command.split(), *data]
    ended = subprocess.run(arguments, cwd=files, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, b"")


INTERRUPTED = """
import os, signal, sys
import {module} as module
original = module.{name}
def interrupted(*arguments, **named):
    if {condition}:
        os.kill(os.getpid(), signal.SIGINT)
    return original(*arguments, **named)
module.{name} = interrupted
from qrowd.cli.main import run
run()
"""
MIDDLES = {
    "scoring": ("qrowd.evaluation.scoring_plan", "in_threads", "True"),
    "reading a pipe that never ends": ("qrowd.files", "read_bytes", "str(arguments[0]) == '-'"),
}


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(
    "middle", ["reading a pipe that never ends", pytest.param("scoring", marks=pytest.mark.nightly)]
)
def test_ctrl_c_in_the_middle_ends_with_one_line_and_writes_nothing(files, middle):
    module, name, condition = MIDDLES[middle]
    judgments = "-" if "pipe" in middle else "ann.qrels"
    code = INTERRUPTED.format(module=module, name=name, condition=condition)
    arguments = ["evaluate", "--runs", "a.run", "--judgments", judgments, "--output", "scores.csv"]
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=files, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        status = process.wait(timeout=60)  # while its standard input stays open
        err = process.stderr.read()
    assert status == 130
    assert err.strip() == "qrowd: interrupted; no output was written"
    assert not list(files.glob("*scores*"))
