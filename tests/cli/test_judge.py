"""`qrowd judge`: judgments of models in files that the other commands read."""

import json
import shlex
import subprocess
import sys

import pytest

from judge.model_server import ModelServer, Response, answer_all, completion, output_line, problem
from qrowd.cli.examples import EXAMPLES
from qrowd.files import read_judgments, read_preferences, read_runs
from qrowd.judge import prompt
from qrowd.model.scales import Scale

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


def test_after_an_interruption_the_answers_so_far_count_and_the_same_command_asks_the_rest(qrowd, few):
    (few / "assessor.py").write_text(
        "import os, signal\nfrom pathlib import Path\n\n"
        "def grade(request):\n"
        '    if not Path("before").exists():\n'
        '        Path("before").touch()\n'
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        '    return "2"\n'
    )
    call = [*ASK, "--runs", "runs", "--model", "assessor.py:grade", "--concurrency", "1", "-o", "judges"]
    command = [sys.executable, "-m", "qrowd", *call]
    end = subprocess.run(command, cwd=few, capture_output=True, text=True, check=False)
    assert end.returncode == 130
    assert "interrupted; the answers so far are in judge.sqlite; the same command asks the rest" in end.stderr
    assert not (few / "judges").exists()
    assert "3 of 4 questions have an answer" in qrowd(*call).out


def test_the_judgments_of_a_model_are_evaluated(qrowd, few):
    outcome = qrowd(*ASK, "--runs", "runs", "--model", "assessor.py:grade", "-o", "judges")
    assert outcome.status == 0, outcome.err
    assert "3 of 4 questions have an answer" in outcome.out
    assert "; 0.0 % of the questions on documents of a have none, and 50.0 % of those on documents of b." in outcome.out
    judgments = read_judgments("judges")
    assert judgments.assessors == ("grade+graded",)
    assert len(judgments) == 3
    assert judgments.scales == (Scale("graded", 3.0),)  # though no model gave a 3
    assert prompt("graded").sha256 in (few / "judges" / "grade+graded.csv").read_text()
    outcome = qrowd("evaluate", "--runs", "runs", "--judgments", "judges", "-m", "P@1")
    assert outcome.status == 0, outcome.err
    assert "the only assessor" in outcome.out


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


def grades(number, body):
    """A grade that depends on the document alone."""
    return completion(json.dumps({"grade": len(body["messages"][-1]["content"]) % 4}))


@pytest.fixture
def many(qrowd, tmp_path):
    """Forty documents of one topic, retrieved by one system."""
    (tmp_path / "topics.tsv").write_text("1\tgreen tea\n")
    (tmp_path / "documents.tsv").write_text("".join(f"d{n}\t{'tea ' * n}\n" for n in range(1, 41)))
    (tmp_path / "a.run").write_text("".join(f"1 Q0 d{n} {n} {100 - n} a\n" for n in range(1, 41)))
    return tmp_path, (*ASK, "--runs", "a.run", "--depth", "40", "--concurrency", "2")


def judged(folder):
    return read_judgments(folder).to_frame().drop(columns="seconds")


def test_a_server_that_dies_in_the_middle_changes_no_judgment_and_other_servers_go_on(qrowd, many):
    folder, command = many
    with ModelServer(grades) as one:
        qrowd(*command, "--model", f"{one.url}#small", "--record", "one.sqlite", "-o", "one")

    def dies(number, body):
        return grades(number, body) if number < 8 else Response(reset=True)

    with ModelServer(dies) as first, ModelServer(grades) as second:
        outcome = qrowd(*command, "--model", f"{first.url},{second.url}#small", "-o", "several")
        assert outcome.status == 0, outcome.err
        assert "40 of 40 questions have an answer" in outcome.out
        assert f"servers of small: {first.url} 8 answers, " in outcome.out
        assert f"{second.url} 32 answers" in outcome.out
        answered = first.contents[:8] + second.contents
        assert len(answered) == len(set(answered)) == 40
    assert judged("one").equals(judged("several"))
    with ModelServer(grades) as third:
        (folder / "servers.txt").write_text(f"# what is left\n{third.url}\n")
        again = qrowd(*command, "--model", "servers.txt#small", "-o", "again")
        assert again.status == 0, again.err
        assert third.bodies == []
        back = qrowd(*command, "--model", f"{first.url}#small", "-o", "back")  # one of the servers of the first job
        assert "40 of 40 questions have an answer" in back.out
        strange = qrowd(*command, "--model", "http://127.0.0.1:1/v1#small", "--dry-run")
        assert "put a comma after its URL, as in http://127.0.0.1:1/v1,#small; for another model" in strange.err
        assert (strange.status, len(strange.err.strip().splitlines())) == (2, 1)
    assert judged("again").equals(judged("several"))
    assert judged("back").equals(judged("several"))
    assert "40 of 40 questions have an answer" in qrowd("judge", "status", "judge.sqlite").out


def test_a_record_of_one_server_goes_on_with_several(qrowd, many):
    _, command = many
    with ModelServer(grades) as first, ModelServer(grades) as second:
        qrowd(*command, "--model", f"{first.url}#small")
        dry = qrowd(*command, "--model", f"{first.url},{second.url}#small", "--dry-run")
        assert dry.out.startswith("0 requests, ")
        outcome = qrowd(*command, "--model", f"{first.url},{second.url}#small", "-o", "judges")
        assert "40 of 40 questions have an answer" in outcome.out
        assert (len(first.bodies), len(second.bodies)) == (40, 0)
    assert "40 of 40 questions have an answer" in qrowd("judge", "status", "judge.sqlite").out


def test_once_all_servers_are_down_the_job_ends_in_one_line_and_goes_on_with_others(qrowd, many):
    _, command = many

    def dies(number, body):
        return grades(number, body) if number < 5 else problem(404, "no such model")

    with ModelServer(dies) as first, ModelServer(dies) as second:
        outcome = qrowd(*command, "--model", f"{first.url},{second.url}#small", "-o", "judges")
        line = (
            f"small: none of its servers answers: {first.url} (HTTP 404: no such model; check URL and model), "
            f"{second.url} (HTTP 404: no such model; check URL and model); the answers so far are kept"
        )
        assert (outcome.status, line in outcome.err, len(outcome.err.strip().splitlines())) == (2, True, 1)
    with ModelServer(grades) as third:
        outcome = qrowd(*command, "--model", f"{third.url},#small", "-o", "judges")
        assert "40 of 40 questions have an answer" in outcome.out
        assert len(third.bodies) == 30


def test_several_servers_share_a_key_and_a_budget(qrowd, many, monkeypatch):
    folder, command = many
    monkeypatch.setenv("MY_KEY", "sk-very-secret-0123456789")
    (folder / "prices.toml").write_text(
        'currency = "EUR"\n[[prices]]\nendpoint = "*"\nmodel = "*"\ninput = 0\noutput = 100.0\n'
    )
    with ModelServer(grades) as first, ModelServer(grades) as second:
        command = (*command, "--model", f"{first.url},{second.url.replace('127.0.0.1', 'localhost')}#small")
        command = (*command, "--key-from", "MY_KEY", "--prices", "prices.toml", "--parameter", "max_tokens=2")
        assert qrowd(*command, "--dry-run").out.rstrip().endswith("cost about 0.008 EUR")
        outcome = qrowd(*command, "--budget", "0.003")
        assert "stopped: budget" in outcome.out, outcome.err
        asked = len(first.bodies) + len(second.bodies)
        assert 10 <= asked <= 15  # 2 tokens of 0.0001 EUR each
        assert "40 of 40 questions have an answer" in qrowd(*command, "--budget", "0.0081").out
        keys = {headers["authorization"] for headers in (*first.headers, *second.headers)}
        assert keys == {"Bearer sk-very-secret-0123456789"}
        assert len(first.bodies) + len(second.bodies) == 40


def test_a_batch_of_one_server_is_not_asked_by_several(qrowd, few):
    def run(served, batch):
        answer_all(served, batch)

    with ModelServer(grades, run) as first, ModelServer(grades) as second:
        command = (*ASK, "--runs", "runs", "--model")
        several = f"{first.url},{second.url}#small"
        refused = qrowd(*command, several, "--batch", "batches")
        assert (refused.status, "a batch is sent to one: name one URL" in refused.err) == (2, True)
        qrowd(*command, f"{first.url}#small", "--batch", "batches")
        qrowd("judge", "send", "batches")
        assert "in batches: 3 questions" in qrowd(*command, several).out
        qrowd("judge", "collect")
        assert "3 of 4 questions have an answer" in qrowd(*command, several, "-o", "judges").out
        assert first.bodies == second.bodies == []


def test_batches_give_the_files_of_asking(qrowd, few):
    def grade(number, body):
        return completion('{"grade": 3}') if "coffee" in body["messages"][-1]["content"] else completion("no idea")

    def run(served, batch):
        answer_all(served, batch)
        batch.polls = 2

    with ModelServer(grade, run) as server:
        command = (*ASK, "--runs", "runs", "--model", f"{server.url}#small")
        outcome = qrowd(*command, "--batch", "batches")
        assert outcome.status == 0, outcome.err
        assert "3 requests in 1 file; nothing was asked." in outcome.out
        outcome = qrowd("judge", "send", "batches")
        assert "1 file was sent." in outcome.out
        assert "0 files were sent; 1 file had been sent before." in qrowd("judge", "send", "batches/small.jsonl").out
        assert "in batches: 3 questions" in qrowd(*command, "-o", "judges").out
        assert "in batches: 3 questions" in qrowd("judge", "status", "judge.sqlite").out
        assert "0 answers came into the record; 1 batch is not finished." in qrowd("judge", "collect").out
        outcome = qrowd("judge", "collect", "-o", "batches.json")
        assert "3 answers came into the record." in outcome.out
        assert '"answers": 3' in (few / "batches.json").read_text()
        assert "No batch is waiting" in qrowd("judge", "collect").out
        outcome = qrowd(*command, "-o", "judges")
        assert "1 of 4 questions has an answer" in outcome.out
        assert server.bodies == []
        qrowd(*command, "-o", "asked", "--record", "other.sqlite")
    batched, asked = (read_judgments(folder).to_frame().drop(columns="seconds") for folder in ("judges", "asked"))
    assert batched.equals(asked)


def test_answers_of_another_tool_are_read_from_a_file(qrowd, few):
    qrowd(*ASK, "--runs", "runs", "--model", "http://localhost:1/v1#small", "--batch", "batches")
    lines = [json.loads(line) for line in (few / "batches" / "small.jsonl").read_text().splitlines()]
    answers = [output_line(line["custom_id"], completion('{"grade": 1}')) for line in lines]
    (few / "answers.jsonl").write_bytes(b"\n".join([*answers, b"{", output_line("1", completion("3"))]))
    outcome = qrowd("judge", "collect", "answers.jsonl")
    assert "3 answers came into the record." in outcome.out
    assert "answers.jsonl: 1 of other jobs; 1 broken" in outcome.out


def test_a_dry_run_of_batches_has_their_price(qrowd, few):
    price = '[[prices]]\nendpoint = "*"\nmodel = "*"\ninput = 1000.0\noutput = 0.0\nbatch = 0.25\n'
    (few / "prices.toml").write_text('currency = "EUR"\n' + price)
    command = (*ASK, "--runs", "runs", "--model", "http://localhost:1/v1#small", "--prices", "prices.toml", "--dry-run")
    costs = [float(qrowd(*command, *more).out.split("about ")[-1].split()[0]) for more in ((), ("--batch", "b"))]
    assert costs[1] == pytest.approx(costs[0] / 4)
    assert not (few / "b").exists()


def test_the_key_of_batches_goes_to_their_server_and_is_nowhere(qrowd, few, monkeypatch):
    key = "sk-very-secret-0123456789"
    monkeypatch.setenv("MY_KEY", key)
    with ModelServer([problem(401, key)]) as server:
        qrowd(*ASK, "--runs", "runs", "--model", f"{server.url}#small", "--batch", "batches")
        outcomes = [
            qrowd("judge", "send", "batches", "--key-from", "MY_KEY"),
            qrowd("judge", "collect", "--key-from", "127.0.0.1=MY_KEY"),
            qrowd("judge", "collect", "--key-from", "example.com=MY_KEY"),
        ]
    assert [outcome.status for outcome in outcomes] == [0, 0, 2]
    assert "no model is at this host" in outcomes[2].err
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {key}"}
    files = [path.read_bytes() for path in few.rglob("*") if path.is_file()]
    assert all(key.encode() not in one for one in (*files, *(f"{o.out}{o.err}".encode() for o in outcomes)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("send", "none.jsonl"), "there is no such record"),
        (("collect",), "there is no such record"),
    ],
)
def test_a_mistake_with_batches_is_one_line(qrowd, few, arguments, message):
    outcome = qrowd("judge", *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


def test_the_key_is_in_no_help_text(qrowd, monkeypatch):
    key = "sk-very-secret-0123456789"
    for name in ("OPENAI_API_KEY", "MY_KEY", "QROWD_KEY_LOCALHOST"):
        monkeypatch.setenv(name, key)
    for command in ("ask", "send", "collect", "status", "prompts"):
        outcome = qrowd("judge", command, "--help")
        assert outcome.out
        assert key not in outcome.out + outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "assessor.py:grade"), "nothing to judge"),
        (("--runs", "runs", "--model", "gpt"), "expected URL#NAME"),
        (("--runs", "runs", "--model", "ftp://a/v1#m"), "expected URL#NAME"),
        (("--runs", "runs", "--model", "none.txt#m"), "there is no such file; several servers are URL,URL#NAME"),
        (("--runs", "runs", "--model", "topics.tsv#m"), "topics.tsv, line 1: expected the URL of a server"),
        (("--runs", "runs", "--model", "http://a/v1,http://a/v1/#m"), "http://a/v1 is there twice"),
        (
            ("--runs", "runs", "--model", "http://a/v1,http://b/v1#m", "http://b/v1#m"),
            "m at http://b/v1 is there twice, once as one of several servers",
        ),
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
        (("--runs", "runs", "--model", "assessor.py:grade", "--batch", "b"), "only models of a server"),
        (("--runs", "runs", "--model", "http://a/v1#m", "--batch", "b", "-o", "judges"), "give it without --batch"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(qrowd, few, arguments, message):
    outcome = qrowd(*ASK, *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


@pytest.mark.slow
def test_the_examples_run_one_after_the_other(qrowd, texts):
    lines = [line for command, lines in EXAMPLES.items() if command.startswith("judge") for line in lines]
    with ModelServer() as server:
        for line in lines:
            outcome = qrowd(*shlex.split(line.replace("http://localhost:8000/v1", server.url))[1:])
            assert outcome.status == 0, f"{line}\n{outcome.err}"
            assert outcome.out
