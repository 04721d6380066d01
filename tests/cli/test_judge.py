"""`qrowd judge`: judgments of models in files that the other commands read."""

import json
import shlex
import subprocess
import sys

import pytest

from judge.model_server import ModelServer, completion, output_line, problem
from qrowd.cli.commands import examples
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


@pytest.mark.usefixtures("ctrl_c")
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
    assert {row[1:3] for row in preferences.to_rows()} == {("d1", "d2"), ("d2", "d1")}
    assert preferences.first.tolist() == [1, 1]


def test_what_is_no_answer_makes_no_judgment_and_may_be_asked_again(qrowd, few):
    command = (*ASK, "--runs", "runs", "-o", "judges", "--model")
    outcome = qrowd(*command, "assessor.py:silent")
    assert "0 of 4 questions have an answer" in outcome.out
    assert outcome.status == 1
    assert list((few / "judges").iterdir()) == []
    (few / "assessor.py").write_text("def silent(request):\n    return '1'\n")
    assert "3 of 4 questions have an answer" in qrowd(*command, "assessor.py:silent", "--again", "unparsable").out


def test_a_budget_stops_the_job_and_the_same_command_goes_on(qrowd, few):
    price = '[[prices]]\nendpoint = "*"\nmodel = "*"\ninput = 1.0\noutput = 1.0\n'
    (few / "prices.toml").write_text('currency = "EUR"\n' + price)
    command = (*ASK, "--runs", "runs", "--model", "assessor.py:grade", "--prices", "prices.toml", "--concurrency", "1")
    outcome = qrowd(*command, "--budget", "0.0005")
    assert outcome.status == 1, outcome.err
    assert "stopped: budget" in outcome.out
    assert "not asked: " in outcome.out
    assert "3 of 4 questions have an answer" in qrowd(*command).out


def test_a_dry_run_prices_the_job_and_asks_nothing(qrowd, few):
    outcome = qrowd(*ASK, "--runs", "runs", "--model", "assessor.py:grade", "--dry-run")
    assert outcome.out.startswith("3 requests, about ")
    assert "cost unknown" in outcome.out
    assert not (few / "judge.sqlite").exists()
    qrowd(*ASK, "--runs", "runs", "--model", "assessor.py:grade")
    assert qrowd(*ASK, "--runs", "runs", "--model", "assessor.py:grade", "--dry-run").out.startswith("0 requests, ")


def test_equal_texts_are_asked_and_priced_once_with_and_without_a_record(qrowd, few):
    (few / "documents.tsv").write_text("d1\ttea\nd2\ttea\nd3\tcake\n")
    command = (*ASK, "--runs", "runs", "--model", "assessor.py:grade")
    assert qrowd(*command, "--dry-run").out.startswith("2 requests, about ")
    (few / "empty.tsv").write_text("d3\tpie\n")
    qrowd(*command[:4], "--documents", "empty.tsv", *command[6:])  # another job
    assert qrowd(*command, "--dry-run").out.startswith("2 requests, about ")
    assert "3 of 4 questions have an answer" in qrowd(*command).out


def test_a_dry_run_says_what_is_not_installed(qrowd, few, monkeypatch):
    monkeypatch.setattr("qrowd.judge.chat.find_spec", lambda name: None)
    outcome = qrowd(*ASK, "--runs", "runs", "--model", "http://localhost:1/v1#small", "--dry-run")
    assert outcome.status == 2
    assert "pip install 'qrowd[judge]'" in outcome.err


def test_however_many_questions_have_no_answer_the_job_ends_with_its_judgments_and_status_1(qrowd, few):
    """30 questions are too long for the model, which more than end a job at the beginning of the next one."""
    (few / "documents.tsv").write_text("".join(f"d{i}\t{'short' if i % 3 else 'long'} text {i}\n" for i in range(90)))
    (few / "pool.csv").write_text("topic,document,assessor,value\n" + "".join(f"1,d{i},a,1\n" for i in range(90)))

    def grade(number, body):
        return problem(400, "too long") if "long text" in body["messages"][-1]["content"] else completion("1")

    with ModelServer(grade) as server:
        command = (*ASK, "--pool", "pool.csv", "--model", f"{server.url}#small", "-o", "judges")
        for n in (90, 30, 30):
            before = len(server.bodies)
            outcome = qrowd(*command)
            assert (outcome.status, len(server.bodies) - before) == (1, n)
            assert "60 of 90 questions have an answer" in outcome.out
            assert "stopped" not in outcome.out
            assert len(read_judgments("judges")) == 60


def test_a_server_that_refuses_all_is_one_line_until_there_are_answers_to_write(qrowd, few, monkeypatch):
    replies = iter([problem(401)] * 2 + [completion("1"), problem(401)])
    with ModelServer(lambda number, body: next(replies)) as server:
        options = ("--concurrency", "1", "-o", "judges")
        command = (*ASK, "--runs", "runs", "--model", f"{server.url}#small", *options)
        for _ in range(2):
            outcome = qrowd(*command)
            assert (outcome.status, outcome.out) == (2, "")
            assert "check the key" in outcome.err
        outcome = qrowd(*command)
    assert outcome.status == 1
    assert "stopped: small at http://127.0.0.1" in outcome.out
    assert "check the key" in outcome.out
    assert len(read_judgments("judges")) == 1


def test_the_judgments_of_a_record_are_written_at_any_time(qrowd, few):
    command = (*ASK, "--runs", "runs", "--model", "assessor.py:grade")
    qrowd(*command, "-o", "judges")
    outcome = qrowd("judge", "status", "judge.sqlite", "-o", "later")
    assert outcome.status == 0
    assert outcome.out.startswith("3 of 4 questions have an answer.\n")
    (first, second) = (few / name / "grade+graded.csv" for name in ("judges", "later"))
    assert first.read_bytes() == second.read_bytes()
    assert "there is no such record" in qrowd("judge", "status", "none.sqlite", "-o", "later").err


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


def test_batch_files_give_the_files_of_asking(qrowd, few):
    def grade(number, body):
        return completion('{"grade": 3}') if "coffee" in body["messages"][-1]["content"] else completion("no idea")

    with ModelServer(grade) as server:
        questions = (*ASK[2:], "--runs", "runs", "--model", f"{server.url}#small")
        outcome = qrowd("judge", "batch", "write", "batches", *questions)
        assert outcome.status == 0, outcome.err
        assert "3 requests in 1 file; nothing was asked." in outcome.out
        assert "not asked: 3 questions" in qrowd("judge", "status", "judge.sqlite").out
        lines = [json.loads(line) for line in (few / "batches" / "small.jsonl").read_text().splitlines()]
        answers = [output_line(line["custom_id"], grade(0, line["body"])) for line in lines]
        (few / "answers.jsonl").write_bytes(b"\n".join([*answers, b"{", output_line("1", completion("3"))]))
        outcome = qrowd("judge", "batch", "read", "answers.jsonl")
        assert "3 answers came into the record." in outcome.out
        assert "lines: 1 of other jobs\nlines: 1 broken" in outcome.out
        outcome = qrowd("judge", "ask", *questions, "-o", "judges")
        assert "1 of 4 questions has an answer" in outcome.out
        assert server.bodies == []
        qrowd("judge", "ask", *questions, "-o", "asked", "--record", "other.sqlite")
    batched, asked = (read_judgments(folder).to_frame().drop(columns="seconds") for folder in ("judges", "asked"))
    assert batched.equals(asked)


def test_a_dry_run_of_batch_files_has_their_price(qrowd, few):
    price = '[[prices]]\nendpoint = "*"\nmodel = "*"\ninput = 1000.0\noutput = 0.0\nbatch = 0.25\n'
    (few / "prices.toml").write_text('currency = "EUR"\n' + price)
    options = ("--runs", "runs", "--model", "http://localhost:1/v1#small", "--prices", "prices.toml", "--dry-run")
    costs = [float(qrowd("judge", *command, *ASK[2:], *options).out.split("about ")[-1].split()[0])
             for command in (("ask",), ("batch", "write", "b"))]  # fmt: skip
    assert costs[1] == pytest.approx(costs[0] / 4)
    assert not (few / "b").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("read", "none.jsonl"), "there is no such record"),
        (("write", "b", *ASK[2:], "--runs", "runs", "--model", "assessor.py:grade"), "only models of a server"),
    ],
)
def test_a_mistake_with_batch_files_is_one_line(qrowd, few, arguments, message):
    outcome = qrowd("judge", "batch", *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


def test_the_key_is_in_no_help_text(qrowd, monkeypatch):
    key = "sk-very-secret-0123456789"
    for name in ("OPENAI_API_KEY", "MY_KEY", "QROWD_KEY_LOCALHOST"):
        monkeypatch.setenv(name, key)
    for command in (("ask",), ("batch", "write"), ("batch", "read"), ("status",), ("prompts",)):
        outcome = qrowd("judge", *command, "--help")
        assert outcome.out
        assert key not in outcome.out + outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "assessor.py:grade"), "nothing to judge"),
        (("--runs", "runs", "--model", "gpt"), "expected URL#NAME"),
        (("--runs", "runs", "--model", "ftp://a/v1#m"), "expected URL#NAME"),
        (("--runs", "runs", "--model", "none.py:grade"), "there is no such file"),
        (("--runs", "runs", "--model", "assessor.py:none"), "there is no function 'none'"),
        (("--runs", "runs", "--model", "assessor.py:grade", "--as", "best"), "choose one of"),
        (("--runs", "runs", "--model", "assessor.py:grade", "--again", "ok"), "--again ok"),
        (("--runs", "runs", "--model", "assessor.py:grade", "--parameter", "cold"), "expected NAME=VALUE"),
        (
            ("--runs", "runs", "--model", "http://a/v1#m", "http://b/v1#m", "--key-from", "KEY"),
            "there are 2 servers; set QROWD_KEY_HOST for each",
        ),
        (("--runs", "runs", "--model", "assessor.py:grade", "--key-from", "KEY"), "there are 0 servers"),
        (("--runs", "runs", "--pool", "q.txt", "--model", "assessor.py:grade"), "no effect beside --runs"),
        (("--runs", "runs", "--model", "assessor.py:grade", "--as", "magnitude"), "give checks or gold"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(qrowd, few, arguments, message):
    outcome = qrowd(*ASK, *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


@pytest.mark.slow
def test_the_examples_run_one_after_the_other(qrowd, texts):
    lines = [line for command, lines in examples().items() if command.startswith("judge") for line in lines]
    with ModelServer() as server:
        for line in lines:
            if line == "qrowd judge batch read answers.jsonl":  # the provider has answered one request
                request = next((texts / "batches").glob("*.jsonl")).read_text().splitlines()[0]
                (texts / "answers.jsonl").write_bytes(output_line(json.loads(request)["custom_id"], completion("3")))
            outcome = qrowd(*shlex.split(line.replace("http://localhost:8000/v1", server.url))[1:])
            assert outcome.status == 0, f"{line}\n{outcome.err}"
            assert outcome.out


@pytest.fixture
def answers(tmp_path):
    """Answers of three systems, of which one gave none, nuggets, and a model."""
    (tmp_path / "topics.tsv").write_text("1\tgreen tea\n2\tcake\n")
    (tmp_path / "answers.csv").write_text("topic,system,text\n1,a,hot\n1,b,a plant\n1,c,\n2,a,oven\n2,b,sweet\n")
    (tmp_path / "nuggets.csv").write_text(
        "topic,item,criterion,weight\n1,hot,vital,1\n1,plant,okay,.5\n2,oven,vital,1\n"
    )
    (tmp_path / "model.py").write_text(
        "import json\n\n"
        "def judge(request):\n"
        "    keys = request.schema['required']\n"
        "    document = request.messages[-1].content.split('</document')[0]\n"
        "    return json.dumps({key: 'B' if key == 'winner' else float('hot' in document) for key in keys})\n"
    )
    return (
        "judge",
        "ask",
        "--topics",
        "topics.tsv",
        "--answers",
        "answers.csv",
        "--model",
        "model.py:judge",
        "-o",
        "judges",
    )


def test_nuggets_of_answers_are_written_as_evaluate_reads_them_and_again_from_the_record(qrowd, answers, tmp_path):
    asked = qrowd(*answers, "--as", "answer_nuggets", "--items", "nuggets.csv")
    assert asked.status == 0, asked.err
    assert asked.out.startswith(
        "4 of 5 questions have an answer; 0.0 % of the questions on answers of a have none, and"
    )
    assert "b  " in qrowd("evaluate", "judges").out
    assert qrowd("judge", "status", "judge.sqlite", "-o", "again").status == 0
    name = "judge+answer_nuggets.csv"
    assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "judges" / name).read_bytes()


def test_a_record_of_several_prompts_on_answers_says_all_of_them(qrowd, answers, tmp_path):
    """Units with criteria, whole answers and battles: their files have other columns."""
    for more in (("answer_nuggets", "--items", "nuggets.csv"), ("binary",), ("battle",)):
        qrowd(*answers, "--as", *more)
    status = qrowd("judge", "status", "judge.sqlite", "-o", "again")
    assert status.status == 0, status.err
    names = sorted(path.name for path in (tmp_path / "judges").iterdir())
    assert names == ["judge+answer_nuggets.csv", "judge+battle.csv"]  # the model said no yes and no no
    for name in names:
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "judges" / name).read_bytes()


def test_sentences_and_what_they_cite_are_read_by_the_usual_names(qrowd, answers, tmp_path):
    """Of two citations of one sentence each is a unit; the sentence without one is not asked."""
    (tmp_path / "answers.csv").write_text(
        "qid,run_id,sentence,text,sentence_id\n1,a,Tea is hot,hot,s1/d1\n1,a,Tea is hot,warm,s1/d2\n"
        "1,b,Tea is green,,s1\n"
    )
    asked = qrowd(*answers, "--as", "support")
    assert "2 of 3 questions have an answer" in asked.out, asked.err
    rows = (tmp_path / "judges" / "judge+support.csv").read_text().splitlines()
    assert [row.split(",")[3:6] for row in rows[1:]] == [["a", "s1/d1", "1.0"], ["a", "s1/d2", "1.0"]]
    assert qrowd("evaluate", "judges").status == 0


def test_battles_of_answers_are_a_table_of_an_arena(qrowd, answers, tmp_path):
    asked = qrowd(*answers, "--as", "battle")
    assert asked.status == 0, asked.err
    lines = (tmp_path / "judges" / "judge+battle.csv").read_text().splitlines()
    assert len(lines) == 1 + 4
    row = dict(zip(lines[0].split(","), lines[1].split(","), strict=False))
    assert [row[name] for name in ("topic", "model_a", "model_b", "winner", "judge")] == [
        "1",
        "a",
        "b",
        "model_b",
        "judge+battle",
    ]
    ranked = qrowd("prefer", "bradley-terry", "--preferences", "judges/judge+battle.csv", "--across-topics")
    assert ranked.out.startswith("4 battles (0 ties, 0 of them both bad) of 2 systems by 1 assessor on 2 topics"), (
        ranked.err
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--documents", "topics.tsv"), "give --documents, or --answers without --runs, --pool"),
        (("--as", "rating"), "items: the prompt rating asks about items, such as nuggets or criteria; give them"),
        (("--answers", "nuggets.csv"), "nuggets.csv: there is no column 'system' among topic, item, criterion, weight"),
        (("--as", "answer_nuggets", "--items", "answers.csv"), "answers.csv: there is no column 'item' among"),
    ],
)
def test_what_is_no_table_of_answers_is_one_line(qrowd, answers, more, message):
    without = answers[:4] + answers[6:] if "--answers" in more else answers
    outcome = qrowd(*without, *more)
    assert outcome.status == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
