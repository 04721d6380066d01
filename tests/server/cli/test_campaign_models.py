"""`qrowd campaign ask`: a panel of people and language models, collected in one place."""

import asyncio
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from random import Random

import pandas as pd
import pytest

from judge.model_server import ModelServer, completion
from judging import Clock, created, seeded, small_plan, work
from qrowd.cli.main import INTERRUPTED
from qrowd.judge import Record
from qrowd_server.store.engine import open_store

FUNCTIONS = """
def mild(request):
    return '{"grade": 3}'

def strict(request):
    return '{"grade": 0}' if "d1." in request.messages[-1].content else '{"grade": 1}'

def vague(request):
    return "somewhat relevant"
"""


@pytest.fixture
def pilot(qrowd, tmp_path):
    """A campaign of two topics that two people have judged; a run; functions that answer."""
    with open_store(tmp_path / "judgments.db") as store:
        created(store, small_plan("grades", k=4, topics=2, redundancy=4, cannot_tell=False))
        service = seeded(store, clock=Clock(step=30.0))

        async def judge():
            for i in range(2):
                await work(service, await service.arrive("pilot", "link", f"person-{i}"), Random(i))

        asyncio.run(judge())
    (tmp_path / "runs").mkdir()
    lines = [f"t{t} Q0 t{t}d{d} {d + 1} {4 - d} bm25\n" for t in range(2) for d in range(4)]
    (tmp_path / "runs" / "bm25.run").write_text("".join(lines))
    (tmp_path / "models.py").write_text(FUNCTIONS)
    return tmp_path


def test_a_panel_of_people_and_models_is_collected_and_evaluated_in_one_place(qrowd, pilot):
    outcome = qrowd("campaign", "ask", "pilot", "--model", "models.py:mild", "models.py:strict")
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith("2 models gave 16 answers in pilot.\n")
    outcome = qrowd("evaluate", "--campaign", "pilot", "--runs", "runs", "-o", "scores.csv")
    assert outcome.status == 0, outcome.err
    assert set(pd.read_csv("scores.csv")["assessor"]) >= {"a1", "a2", "mild+campaign", "strict+campaign"}
    assert "Models: 2 finished." in qrowd("campaign", "status", "pilot").out
    people = qrowd("campaign", "status", "pilot", "--per-assessor").out
    kinds = {line.split()[0]: line.split()[1] for line in people.splitlines() if " finished " in line}
    assert kinds == {
        "mild+campaign": "model",
        "a1": "person",
        "a2": "person",
        "strict+campaign": "model",
    }
    rows = map(json.loads, qrowd("campaign", "export", "pilot").out.splitlines())
    assert {(row["assessor"], row["kind"]) for row in rows} == {
        ("a1", "person"),
        ("a2", "person"),
        ("mild+campaign", "model"),
        ("strict+campaign", "model"),
    }


@pytest.mark.parametrize("status", ["paused", "stopped"])
def test_who_asks_in_a_campaign_that_does_not_run_is_told_how_it_goes_on(qrowd, pilot, status):
    qrowd("campaign", "status", "pilot", "--set", status)
    outcome = qrowd("campaign", "ask", "pilot", "--model", "models.py:mild")
    assert outcome.status == 1, "the same command would ask more once it runs"
    line = f"stopped: the campaign is {status}; qrowd campaign status pilot --set running lets it go on"
    assert line in outcome.out


def test_failures_are_counted_and_the_record_says_what_became_of_each_question(qrowd, pilot):
    outcome = qrowd("campaign", "ask", "pilot", "--model", "models.py:vague", "models.py:mild")
    assert outcome.status == 1, outcome.err  # the same command would ask more
    assert "2 models gave 8 answers in pilot." in outcome.out
    unanswered = "vague+campaign: replies without an answer: 2 (2 unparsable)"
    assert unanswered in outcome.out
    notes = qrowd("assessors", "--campaign", "pilot").err
    assert f"note: campaign pilot: {unanswered}" in notes
    assert "note: campaign pilot: assessors that are models: mild+campaign\n" in notes  # the other has no judgment
    people = qrowd("campaign", "status", "pilot", "--per-assessor").out
    assert unanswered.partition(": ")[2] in " ".join(people.split())
    status = qrowd("judge", "status", "judge.sqlite")
    assert status.status == 0, status.err
    assert "8 of 16 questions have an answer" in status.out
    assert "counts all questions, also those that a unit given back never came to" in " ".join(outcome.out.split())
    assert qrowd("campaign", "ask", "pilot", "--model", "models.py:mild").status == 0  # nothing is left to ask


def test_answers_of_units_that_all_failed_are_no_success_and_counted_as_by_the_status(qrowd, tmp_path):
    with open_store(tmp_path / "judgments.db") as store:
        created(store, small_plan("magnitude", k=4, topics=3, redundancy=1, revisions=1))
    (tmp_path / "models.py").write_text('def same(request):\n    return \'{"reason": "so", "1": 5}\'\n')
    outcome = qrowd("campaign", "ask", "pilot", "--model", "models.py:same")
    assert outcome.out.startswith("1 model gave 12 answers in pilot.\n")
    assert outcome.status == 1, outcome.err
    status = qrowd("campaign", "status", "pilot", "--per-assessor").out
    (row,) = (line for line in status.splitlines() if line.startswith("same+"))
    assert row.split()[-6:-3] == ["3", "0", "12"], row  # failed, lost, answers
    assert qrowd("campaign", "ask", "pilot", "--model", "models.py:same").status == 0  # nothing is left to ask


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere", "--model", "models.py:mild"), "there is no campaign 'nowhere'; there is pilot"),
        pytest.param(
            ("pilot", "--model", "models.py:mild", "models.py:mild"), "is there twice", marks=pytest.mark.nightly
        ),
        (("pilot", "--model", "models.py:mild", "--budget", "1"), "has no price; add it to the file of prices"),
    ],
)
def test_a_mistake_is_one_line_and_nobody_arrives(qrowd, pilot, arguments, message):
    outcome = qrowd("campaign", "ask", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert "model" not in qrowd("campaign", "status", "pilot").out


@pytest.mark.nightly
@pytest.mark.usefixtures("ctrl_c")
def test_killed_or_interrupted_the_same_command_goes_on_and_pays_for_nothing_twice(qrowd, pilot):
    command = [sys.executable, "-m", "qrowd", "campaign", "ask", "pilot", "--model"]
    with ModelServer(lambda n, body: dataclasses.replace(completion('{"grade": 2}'), delay=0.05)) as served:
        command.append(f"{served.url}#small")
        for end in (signal.SIGKILL, signal.SIGINT):
            start = len(served.bodies)
            with subprocess.Popen(command, cwd=pilot, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as job:
                deadline = time.monotonic() + 30
                while len(served.bodies) == start and job.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.002)
                os.kill(job.pid, end)
            assert job.returncode in (-signal.SIGKILL, INTERRUPTED)
            with Record(pilot / "judge.sqlite") as record:
                answered = {attempt.request.messages[-1].content for attempt in record.attempts()}
            start = len(served.bodies)
        end = qrowd(*command[3:])
        assert end.status == 0, end.err
        assert end.out.startswith("1 model gave ")
        assert answered.isdisjoint(served.contents[start:])
    with Record(pilot / "judge.sqlite", read_only=True) as record:
        contents = [attempt.request.messages[-1].content for attempt in record.attempts()]
    assert len(contents) == len(set(contents)) == 8
