"""What the commands say of a campaign that carries a question."""

import asyncio
import re
from contextlib import chdir
from random import Random
from shutil import copytree

import pytest

from command_line import status_of
from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.campaigns.running.question_batches import look_again
from qrowd_server.store.engine import open_store
from questions import answer, make_world, write_world

NEXT = ("next", "--runs", "f/runs", "--question", "sys0 > sys1", "--model", "f/llm.qrels")


@pytest.fixture(autouse=True)
def few_simulations(monkeypatch):
    """How many judgments are to come is simulated for each look; no test of this file asks how well."""
    monkeypatch.setattr("qrowd.sequential.expectation.N_PATHS", 10)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A campaign in which ann judged 20 documents, and its exports."""
    folder, world = tmp_path_factory.mktemp("live"), make_world(topics=6, documents=20)
    write_world(folder / "f", world, k=20)
    with chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setattr("qrowd.sequential.expectation.N_PATHS", 10)
        assert status_of("campaign", "create", "f") == 0
        with open_store("judgments.db") as store:
            service = JudgingService(store)
            ann = asyncio.run(service.arrive("live", "link", "ann"))
            for _ in range(4):
                asyncio.run(answer(service, world, ann, Random(1), answers=5))
                look_again(store, 1.0)
        for what, file in (("judgments", "live.csv"), ("design", "live.json")):
            assert status_of("campaign", "export", "live", "--what", what, "-o", file) == 0
    return folder


@pytest.fixture
def live(qrowd, capsys, made, tmp_path):
    """A copy of it where commands run."""
    copytree(made, tmp_path, dirs_exist_ok=True)
    capsys.readouterr()


def test_qrowd_next_states_of_a_campaign_what_it_states_of_its_exports(qrowd, live):
    of_exports = qrowd(*NEXT, "--judgments", "live.csv", "--design", "live.json")
    of_campaign = qrowd(*NEXT, "--campaign", "live")
    assert of_campaign.status == 0, of_campaign.err
    assert of_campaign.out == of_exports.out
    assert "(20 of " in of_campaign.out
    assert of_campaign.err == ""


def test_a_campaign_supplies_the_runs_and_all_of_its_question(qrowd, live, tmp_path):
    of_campaign = qrowd("next", "--campaign", "live", "--statement", "said.html")
    assert of_campaign.status == 0, of_campaign.err
    assert of_campaign.out == qrowd(*NEXT, "--campaign", "live").out
    assert "<h1>sys0 &gt; sys1</h1>" in (tmp_path / "said.html").read_text()
    assert "confidence: 0.9 that" in qrowd("next", "--campaign", "live", "--confidence", ".9").out
    other = qrowd("next", "--campaign", "live", "--question", "sys1 > sys0")
    assert other.status == 2
    assert other.err.startswith(
        "qrowd: design: that of next.json or of --design is for the question 'sys0 > sys1', not for 'sys1 > sys0'; "
    )


def test_the_settings_of_a_question_are_those_of_the_campaign(qrowd, tmp_path):
    settings = 'measure = "P(rel=2)@5"\nconfidence = 0.8\ntolerance = 0.01\nbatch = 10\n'
    write_world(tmp_path / "f", make_world(topics=4, documents=10), k=10, settings=settings)
    assert qrowd("campaign", "create", "f").status == 0
    out = qrowd("next", "--campaign", "live").out
    for words in (" by P(rel=2)@5 ", "confidence: 0.8 that", "tolerance: 0.01:"):
        assert words in out


def test_without_a_question_next_asks_for_one(qrowd, live):
    outcome = qrowd("next", "--runs", "f/runs", "--judgments", "live.csv")
    assert outcome.status == 2
    assert outcome.err == "qrowd: missing option '--question': what is asked, such as 'A > B'; see --help\n"


def test_the_status_says_what_can_be_said_and_what_is_expected(qrowd, live):
    outcome = qrowd("campaign", "status", "live")
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith("live is running. Open: sys0 - sys1 is ")
    assert "Question: sys0 > sys1, confidence 0.95, these topics." in outcome.out
    assert re.search(r"Expected to go: about \d+ documents? \(80 % interval ", outcome.out)
    assert "Labels by llm help to predict grades." in outcome.out


def test_nobody_is_advised_to_ask_a_second_assessor(qrowd, live):
    out = qrowd("campaign", "status", "live", "--per-assessor").out
    assert out.endswith("\nAgreement cannot be computed: agreement needs at least two assessors.\n")


def test_a_campaign_with_a_question_hands_out_its_documents_itself(qrowd, live, tmp_path):
    outcome = qrowd(*NEXT, "--campaign", "live", "-o", "batch.csv")
    assert outcome.status == 2
    assert "--campaign live: it carries a question and hands out documents itself; leave out -o" in outcome.err
    assert not (tmp_path / "batch.csv").exists()


def test_a_design_that_is_not_there_is_one_without_draws_and_that_is_said(qrowd, live):
    outcome = qrowd(*NEXT, "--judgments", "live.csv", "--design", "no.json")
    assert outcome.status == 0
    assert outcome.err == "note: --design no.json: there is no such file, so nothing was drawn for this question\n"
    assert "no interval" in outcome.out


def test_scores_by_documents_that_were_drawn_for_a_question_are_called_biased(qrowd, live):
    outcome = qrowd("evaluate", "--runs", "f/runs", "--campaign", "live", "--min-coverage", "0")
    assert "note: campaign live: its documents were drawn for its question, which qrowd next " in outcome.err


def test_files_of_a_question_that_are_not_there_are_named_with_their_key(qrowd, tmp_path):
    write_world(tmp_path / "f", make_world())
    (tmp_path / "f" / "llm.qrels").unlink()
    outcome = qrowd("campaign", "create", "f")
    assert outcome.status == 2
    assert "question.models: llm.qrels: there is no such file" in outcome.err
