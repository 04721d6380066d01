"""`qrowd judge`: judgments of models in files that the other commands read."""

import json
import shlex

import pytest

from judge.model_server import ModelServer, completion
from qrowd.cli.examples import EXAMPLES
from qrowd.files import read_judgments, read_preferences, read_runs
from qrowd.judge import prompt

FUNCTIONS = """
def grade(request):
    return "2" if "a" in request.messages[-1].content[-40:] else "no idea"

def first(request):
    return "A"

def silent(request):
    return ""
"""
ASK = ("judge", "ask", "--topics", "topics.tsv", "--documents", "documents.tsv")


@pytest.fixture
def texts(folder, tmp_path):
    """Texts of the topics and of most documents of the simulated panel, and functions that answer."""
    runs = read_runs("panel/runs")
    (tmp_path / "topics.tsv").write_text("".join(f"{topic}\tquery {topic}\n" for topic in runs.topics))
    (tmp_path / "documents.tsv").write_text("".join(f"{d}\ttext of {d}\n" for d in runs.documents[1:]))
    (tmp_path / "assessor.py").write_text(FUNCTIONS)
    return tmp_path


@pytest.fixture
def few(qrowd, tmp_path):
    """Two topics, two systems, and one document without text."""
    (tmp_path / "topics.tsv").write_text("1\tgreen tea\n2\tcake\n")
    (tmp_path / "documents.tsv").write_text("d1\ttea\nd2\tcoffee\nd3\tcake\n")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.run").write_text("1 Q0 d1 1 2 a\n1 Q0 d2 2 1 a\n2 Q0 d3 1 1 a\n")
    (tmp_path / "runs" / "b.run").write_text("1 Q0 d2 1 2 b\n2 Q0 absent 1 1 b\n")
    (tmp_path / "assessor.py").write_text(
        'def grade(request):\n    return "2"\n' + FUNCTIONS[FUNCTIONS.index("\ndef first") :]
    )
    return tmp_path


def test_the_judgments_of_a_model_are_evaluated(qrowd, few):
    outcome = qrowd(*ASK, "--runs", "runs", "--model", "assessor.py:grade", "-o", "judges")
    assert outcome.status == 0, outcome.err
    assert "3 of 4 questions have an answer" in outcome.out
    assert "; 0.0 % of the questions on documents of a have none, and 50.0 % of those on documents of b." in outcome.out
    judgments = read_judgments("judges")
    assert judgments.assessors == ("grade+graded",)
    assert len(judgments) == 3
    assert "--scale 'grade+graded=0-3'" in outcome.out
    assert prompt("graded").sha256 in (few / "judges" / "grade+graded.csv").read_text()
    outcome = qrowd("evaluate", "--runs", "runs", "--judgments", "judges", "-m", "P@1")
    assert outcome.status == 0, outcome.err
    assert "grade+graded" in outcome.out


def test_status_reads_the_record_alone(qrowd, few):
    qrowd(*ASK, "--runs", "runs", "--model", "assessor.py:grade", "-o", "judges")
    outcome = qrowd("judge", "status", "judge.sqlite", "--runs", "runs", "-o", "status.json")
    assert outcome.status == 0, outcome.err
    by_system = {row["system"]: row["text_missing"] for row in json.loads((few / "status.json").read_text())["system"]}
    assert by_system == {"a": 0, "b": 0.5}


def test_the_same_command_asks_nothing_again(qrowd, few):
    command = (*ASK, "--runs", "runs", "--model", "assessor.py:grade", "-o", "judges")
    qrowd(*command)
    content = (few / "judges" / "grade+graded.csv").read_bytes()
    (few / "assessor.py").write_text("def grade(request):\n    return '0'\n")
    assert qrowd(*command).status == 0
    assert (few / "judges" / "grade+graded.csv").read_bytes() == content


def test_preferences_are_written_in_both_orders(qrowd, few):
    (few / "pairs.csv").write_text("topic,a,b\n1,d1,d2\n")
    outcome = qrowd(*ASK, "--pairs", "pairs.csv", "--model", "assessor.py:first", "--as", "preference", "-o", "prefs")
    assert outcome.status == 0, outcome.err
    preferences = read_preferences("prefs")
    assert (len(preferences), preferences.n_contradictions()) == (2, 1)
    assert preferences.first.tolist() == [1, 1]


def test_what_is_no_answer_makes_no_judgment_and_may_be_asked_again(qrowd, few):
    command = (*ASK, "--runs", "runs", "-o", "judges", "--model")
    outcome = qrowd(*command, "assessor.py:silent")
    assert "0 of 4 questions have an answer" in outcome.out
    assert list((few / "judges").iterdir()) == []
    (few / "assessor.py").write_text("def silent(request):\n    return '1'\n")
    assert "3 of 4 questions have an answer" in qrowd(*command, "assessor.py:silent", "--again", "unparsable").out


def test_a_budget_stops_the_job_and_the_same_command_goes_on(qrowd, few):
    price = '[[prices]]\nendpoint = "*"\nmodel = "*"\ninput = 1.0\noutput = 1.0\n'
    (few / "prices.toml").write_text('currency = "EUR"\n' + price)
    command = (*ASK, "--runs", "runs", "--model", "assessor.py:grade", "--prices", "prices.toml", "--concurrency", "1")
    outcome = qrowd(*command, "--budget", "0.0005")
    assert outcome.status == 0, outcome.err
    assert "stopped: budget" in outcome.out
    assert "not asked: " in outcome.out
    assert "3 of 4 questions have an answer" in qrowd(*command).out


def test_a_dry_run_prices_the_job_and_asks_nothing(qrowd, few):
    outcome = qrowd(*ASK, "--runs", "runs", "--model", "assessor.py:grade", "--dry-run")
    assert outcome.out.startswith("3 requests, about ")
    assert outcome.out.rstrip().endswith("cost about 0 USD")
    assert not (few / "judge.sqlite").exists()


def test_a_server_is_asked_and_its_key_is_nowhere(qrowd, few, monkeypatch):
    key = "sk-very-secret-0123456789"
    monkeypatch.setenv("MY_KEY", key)
    with ModelServer([completion('{"grade": 3}')] * 2 + [completion(None, refusal="No.")]) as server:
        model = f"{server.url}#small"
        outcome = qrowd(*ASK, "--runs", "runs", "--model", model, "--key-from", "MY_KEY", "-o", "judges")
    assert outcome.status == 0, outcome.err
    assert "2 of 4 questions have an answer" in outcome.out
    assert read_judgments("judges").assessors == ("small-1+graded",)  # as it names itself
    outputs = [path.read_bytes() for path in few.rglob("*") if path.is_file()]
    assert all(key.encode() not in output for output in (*outputs, outcome.out.encode(), outcome.err.encode()))
    assert "refused" in qrowd("judge", "status", "judge.sqlite").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "assessor.py:grade"), "nothing to judge"),
        (("--runs", "runs", "--model", "gpt"), "expected URL#NAME"),
        (("--runs", "runs", "--model", "none.py:grade"), "there is no such file"),
        (("--runs", "runs", "--model", "assessor.py:none"), "there is no function 'none'"),
        (("--runs", "runs", "--model", "assessor.py:grade", "--as", "best"), "choose one of"),
        (("--runs", "runs", "--model", "assessor.py:grade", "--again", "ok"), "--again ok"),
        (("--runs", "runs", "--model", "assessor.py:grade", "--parameter", "cold"), "expected NAME=VALUE"),
        (
            ("--runs", "runs", "--model", "http://a/v1#m", "http://b/v1#m", "--key-from", "KEY"),
            "say which: HOST=VARIABLE",
        ),
        (("--runs", "runs", "--model", "http://a/v1#m", "--key-from", "b=KEY"), "no model is at this host"),
        (("--runs", "runs", "--pool", "q.txt", "--model", "assessor.py:grade"), "give --runs or --pool"),
        (("--runs", "runs", "--model", "assessor.py:grade", "--as", "magnitude"), "give checks or gold"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(qrowd, few, arguments, message):
    outcome = qrowd(*ASK, *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


def test_the_prompts_are_listed(qrowd):
    outcome = qrowd("judge", "prompts")
    assert outcome.status == 0, outcome.err
    assert all(name in outcome.out for name in ("graded", "magnitude", "preference", "Apache-2.0"))


@pytest.mark.slow
def test_the_examples_run_one_after_the_other(qrowd, texts):
    for line in (line for command, lines in EXAMPLES.items() if command.startswith("judge") for line in lines):
        outcome = qrowd(*shlex.split(line)[1:])
        assert outcome.status == 0, f"{line}\n{outcome.err}"
        assert outcome.out
