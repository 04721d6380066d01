"""`qrowd judge probe`: a table of what words without content change, and no judgment."""

import json

import pytest

from qrowd.files import read_judgments

FUNCTIONS = '''
def claim(request):
    """Obeys a claim of relevance."""
    return "3" if "perfectly relevant" in request.messages[-1].content else "0"

def steady(request):
    return "1"

def refuses(request):
    return "I cannot." if "perfectly relevant" in request.messages[-1].content else "0"

def chooses(request):
    return "A"
'''
PROBE = ("judge", "probe", "--topics", "topics.tsv", "--documents", "documents.tsv", "--runs", "runs", "--model")


@pytest.fixture
def texts(qrowd, tmp_path):
    """Twenty topics with two documents each."""
    numbers = range(1, 21)
    (tmp_path / "topics.tsv").write_text("".join(f"{n}\tquery {n}\n" for n in numbers))
    (tmp_path / "documents.tsv").write_text("".join(f"d{n}\ttext {n}\ne{n}\tother {n}\n" for n in numbers))
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.run").write_text("".join(f"{n} Q0 d{n} 1 2 a\n{n} Q0 e{n} 2 1 a\n" for n in numbers))
    (tmp_path / "assessor.py").write_text(FUNCTIONS)
    return tmp_path


def test_a_model_that_obeys_a_claim_is_named_with_the_interval(qrowd, texts):
    outcome = qrowd(*PROBE, "assessor.py:claim", "assessor.py:steady", "-n", "30", "-o", "probes.json")
    assert outcome.status == 0, outcome.err
    assert "1 of 6 probes changes the judgments of a model significantly, most of all claim those of" in outcome.out
    assert "claim+graded, by +3.00 [" in outcome.out
    rows = {(row["model"], row["probe"]): row for row in json.loads((texts / "probes.json").read_text())["rows"]}
    assert rows["claim", "claim"]["change"] == 3
    assert rows["steady", "claim"]["change"] == 0
    assert rows["claim", "unaltered"]["n_answered"] == rows["claim", "claim"]["n_pairs"] == 30


def test_where_nothing_changes_the_sentence_says_what_the_intervals_allow(qrowd, texts):
    outcome = qrowd(*PROBE, "assessor.py:steady", "-n", "20", "--probe", "claim", "query-first")
    assert outcome.out.startswith("None of 2 probes changes the judgments of a model significantly; the intervals")
    assert "rise by up to 0." in outcome.out
    assert "query-words" not in outcome.out


def test_a_model_that_fails_on_altered_texts_is_not_gullible_but_fails(qrowd, texts):
    outcome = qrowd(*PROBE, "assessor.py:refuses", "-n", "20")
    assert "None of 2 probes changes" in outcome.out
    assert "unparsable" in outcome.out
    assert "100.0 %" in outcome.out
    assert "failures: are no change of a judgment" in outcome.out


def test_preferences_say_what_their_change_means(qrowd, texts):
    outcome = qrowd(*PROBE, "assessor.py:chooses", "--as", "preference", "-n", "20")
    assert "share of answers that prefer the altered text" in outcome.out
    assert "unaltered" not in outcome.out.split("probes:")[0]


def test_the_record_of_a_job_keeps_its_questions_and_judgments(qrowd, texts):
    ask = ("judge", "ask", *PROBE[2:], "assessor.py:claim", "-o", "judges")
    qrowd(*ask)
    before, judgments = qrowd("judge", "status", "judge.sqlite").out, read_judgments("judges").to_dict()
    qrowd(*PROBE, "assessor.py:claim")
    assert qrowd("judge", "status", "judge.sqlite").out == before
    qrowd(*ask)
    assert read_judgments("judges").to_dict() == judgments


def test_a_dry_run_and_a_budget_say_what_is_asked(qrowd, texts):
    outcome = qrowd(*PROBE, "assessor.py:steady", "-n", "20", "--dry-run")
    assert outcome.out.startswith("80 requests, about ")
    assert not (texts / "judge.sqlite").exists()
    price = '[[prices]]\nendpoint = "*"\nmodel = "*"\ninput = 1.0\noutput = 1.0\n'
    (texts / "prices.toml").write_text('currency = "EUR"\n' + price)
    costly = ("--prices", "prices.toml", "--budget", "0.002", "--concurrency", "1")
    outcome = qrowd(*PROBE, "assessor.py:steady", "-n", "20", *costly)
    assert "stopped: budget" in outcome.out
    assert "not asked: " in outcome.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--as", "magnitude"), "magnitude asks for magnitudes"),
        (("--probe", "shout"), "choose one of query-words, query-first, claim"),
        (("--pool", "qrels.txt"), "give --runs or --pool"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(qrowd, texts, arguments, message):
    outcome = qrowd(*PROBE, "assessor.py:steady", *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


def test_the_order_effect_of_a_model_is_in_the_answers_of_ask_status_and_prefer_agree(qrowd, texts):
    ask = ("judge", "ask", *PROBE[2:], "assessor.py:chooses", "--as", "preference", "-o", "preferences")
    outcome = qrowd(*ask)
    assert outcome.status == 0, outcome.err
    for shown in (outcome, qrowd("judge", "status", "judge.sqlite", "-o", "status.json")):
        row = next(line for line in shown.out.splitlines() if line.startswith("chooses+preference"))
        assert row.split()[:3] == ["chooses+preference", "40", "100.0"]
        assert row.split()[-4:] == ["first", "20", "100.0", "%"]
    rows = json.loads((texts / "status.json").read_text())["order"]
    assert [(row["share"], row["n_both"], row["same"]) for row in rows] == [(1, 20, 0)]
    outcome = qrowd("prefer", "agree", "--preferences", "preferences")
    assert "order effect" in outcome.out
    assert "shown first: preferred in 100.0 % [" in outcome.out
    assert "which are no ties" in outcome.out


def test_grades_have_no_order_effect(qrowd, texts):
    assert "order effect" not in qrowd("judge", "ask", *PROBE[2:], "assessor.py:steady").out
