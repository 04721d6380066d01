"""A real model judges: a hopeless one, so that failures are there to be counted. About 30 requests, temperature 0.

What it answers differs between processors, so the tests say what holds of any answer.
"""

import os
import signal
import subprocess
import sys
import time

import pytest

from models.conftest import command
from qrowd.files import read_judgments, read_preferences, read_runs
from qrowd.judge import Record
from qrowd.judge.asking import answers_in
from qrowd.judge.outcome import Statuses

pytestmark = pytest.mark.model
GREEDY = ("--parameter", "temperature=0")
POOL = "1 0 kettle1 1\n2 0 leaves1 1\n"


@pytest.fixture(scope="module")
def graded(ask, collection):
    """The documents of the runs, graded with a schema and by a prompt that has none."""
    tokens = ("max_tokens=40",)
    ask("graded", "--runs", "runs", "--depth", "2", "--as", "graded", "free.toml", *GREEDY, *tokens, "-o", "graded")
    return collection


@pytest.fixture(scope="module")
def cut_off(ask, collection):
    """Answers that may have eight tokens, by a prompt that needs more."""
    (collection / "pool.qrels").write_text(POOL)
    ask("cut_off", "--pool", "pool.qrels", "--as", "free.toml", *GREEDY, "max_tokens=8", "-o", "cut_off")
    return collection


@pytest.fixture(scope="module")
def magnitudes(ask, collection):
    """A unit of each topic, with a high and a low check document."""
    (collection / "checks.csv").write_text("topic,H,N\n1,kettle1,kettle3\n2,leaves1,leaves3\n")
    form = ("--as", "magnitude", "--checks", "checks.csv", "--unit-size", "3", *GREEDY, "max_tokens=48")
    ask("magnitudes", "--runs", "runs", "--depth", "2", *form, "-o", "magnitudes")
    return collection


@pytest.fixture(scope="module")
def preferences(ask, collection):
    """Two pairs, each in both orders."""
    (collection / "pairs.csv").write_text("topic,a,b\n1,kettle1,kettle3\n2,leaves1,leaves2\n")
    form = ("--as", "preference", *GREEDY, "max_tokens=24")
    ask("preferences", "--pairs", "pairs.csv", *form, "-o", "preferences")
    return collection


@pytest.mark.parametrize("job", ["graded", "cut_off", "magnitudes", "preferences"])
def test_every_question_has_one_status_and_only_ok_makes_judgments(job, request):
    folder = request.getfixturevalue(job)
    asked = answers_in(folder / f"{job}.sqlite")
    outcomes = asked.outcomes
    assert not asked.n_unasked
    shares = Statuses(outcomes).to_frame().drop(columns=["model", "prompt", "questions"])
    assert shares.sum(axis=1).tolist() == pytest.approx([1] * len(shares))
    values = [value for outcome in outcomes if outcome.status == "ok" for value in outcome.values]
    assert all(not outcome.values for outcome in outcomes if outcome.status != "ok")
    if job == "preferences":
        assert len(read_preferences(folder / job)) == len(values)
        return
    files = list((folder / job).iterdir())
    assert bool(files) == bool(values)
    if files:
        assert sorted(read_judgments(files).to_frame()["value"]) == sorted(values)


def test_a_hopeless_assessor_fails_where_no_schema_holds_it(graded, cut_off):
    shares = Statuses(answers_in(graded / "graded.sqlite").outcomes).to_frame().set_index("prompt")
    assert shares.loc["free", "ok"] < shares.loc["graded", "ok"]
    assert shares["text_missing"].tolist() == [0.25, 0.25]
    assert {outcome.status for outcome in answers_in(cut_off / "cut_off.sqlite").outcomes} == {"cut_off"}


def test_the_record_says_whether_the_schema_was_sent(graded):
    with Record(graded / "graded.sqlite", read_only=True) as record:
        sent = {(attempt.request.schema is not None, attempt.reply.schema_sent) for attempt in record.attempts()}
        replies = [attempt.reply for attempt in record.attempts()]
    assert sent == {(True, True), (False, False)}
    assert {reply.model for reply in replies} == {"smollm2"}
    assert all(reply.http_status == 200 and reply.tokens_in and reply.tokens_out for reply in replies)


def test_units_of_magnitudes_hold_both_check_documents(magnitudes):
    outcomes = [outcome for outcome in answers_in(magnitudes / "magnitudes.sqlite").outcomes if outcome.question.unit]
    assert [len(outcome.question.documents) for outcome in outcomes] == [3, 3]
    for outcome, checks in zip(outcomes, ({"kettle1", "kettle3"}, {"leaves1", "leaves3"}), strict=True):
        assert checks < set(outcome.question.documents)
    assert all(value > 0 for outcome in outcomes for value in outcome.values)


def test_pairs_are_asked_in_both_orders(preferences):
    asked = [outcome.question.documents for outcome in answers_in(preferences / "preferences.sqlite").outcomes]
    pairs = {("kettle1", "kettle3"), ("leaves1", "leaves2")}
    assert sorted(asked) == sorted(pairs | {(two, one) for one, two in pairs})


def test_after_a_kill_the_same_command_asks_only_what_was_not_answered(served, ask, collection):
    (collection / "pool.qrels").write_text(POOL)
    words = ("--pool", "pool.qrels", "--samples", "3", "--parameter", "temperature=1", "max_tokens=24", "-o", "samples")
    path = collection / "samples.sqlite"
    with subprocess.Popen(command(served, "samples", *words), cwd=collection, stdout=subprocess.DEVNULL) as job:
        while job.poll() is None and len(attempts_in(path)) < 2:
            time.sleep(0.01)
        os.kill(job.pid, signal.SIGKILL)
    before = attempts_in(path)
    ask("samples", *words)
    after = attempts_in(path)
    assert 2 <= len(before) < 6
    assert after[: len(before)] == before
    assert len(after) == len({key for key, _ in after}) == 6
    outcomes = answers_in(path).outcomes
    assert sorted(outcome.sample for outcome in outcomes) == [1, 1, 2, 2, 3, 3]
    assert len(read_judgments(collection / "samples")) == sum(outcome.status == "ok" for outcome in outcomes)


def attempts_in(path):
    """(key, time) of each attempt."""
    try:
        with Record(path, read_only=True) as record:
            return [(attempt.request.key, attempt.time) for attempt in record.attempts()]
    except Exception:  # the job has not made the file yet
        return []


def test_evaluate_and_the_report_name_the_share_without_an_answer_of_each_system(graded):
    data = ("--runs", "runs", "--judgments", "graded", "--record", "graded.sqlite", "-m", "nDCG@2")
    evaluated = qrowd("evaluate", *data, cwd=graded)
    table = evaluated.partition("questions to models on the documents of each system")[2].splitlines()
    shares = {line.split()[0]: line.split()[2:4] for line in table[2:5]}
    runs, outcomes = read_runs(graded / "runs"), answers_in(graded / "graded.sqlite").outcomes
    lists = runs.to_dict()
    for system in runs.systems:
        of_system = [o for o in outcomes if o.question.documents[0] in lists[system][o.question.topic]]
        unanswered = sum(o.status != "ok" for o in of_system) / len(of_system)
        assert shares[system] == [f"{100 * unanswered:.1f}", "%"]
    qrowd("report", *data, "--random-assessors", "2", "--n-resamples", "200", "-o", "page.html", cwd=graded)
    page = (graded / "page.html").read_text("utf-8")
    section = page.partition('<section id="unanswered">')[2].partition("</section>")[0]
    for system, (share, _) in shares.items():
        assert f'<th scope="row">{system}</th>' in section
        assert f">{share} %</td>" in section


def test_magnitudes_and_preferences_of_the_model_are_evaluated(magnitudes, preferences):
    data = ("--runs", "runs", "--judgments", "magnitudes", "--record", "magnitudes.sqlite", "-m", "nDCG@2")
    assert "questions to models on the documents of each system" in qrowd("evaluate", *data, cwd=magnitudes)
    assert "smollm2+preference" in qrowd("prefer", "agree", "--preferences", "preferences", cwd=preferences)


def qrowd(*words, cwd):
    done = subprocess.run([sys.executable, "-m", "qrowd", *words], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
