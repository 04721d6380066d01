"""What the commands say of a campaign that carries a question."""

import asyncio
from dataclasses import replace
from random import Random

import pytest

from qrowd.cli.campaign_tables import one_campaign
from qrowd.collect.campaigns.judging import JudgingService
from qrowd.collect.campaigns.live import LiveQuestions
from qrowd.collect.campaigns.progress import Progress
from qrowd.collect.campaigns.question_progress import QuestionProgress
from qrowd.collect.store.engine import open_store
from questions import answer, make_world, write_world

DECISION = "A is better than B by nDCG@10 on these topics, with confidence 0.95 (98 of 331 documents judged)."
OPEN = "Open: A - B is +0.060 [-0.001, +0.121] by nDCG@10 (100 of 331 documents judged)."
QUESTION = QuestionProgress(
    text="A > B",
    measure="nDCG@10",
    confidence=0.95,
    tolerance=0.0,
    target="these topics",
    stop=True,
    sentence=OPEN,
    answer="",
    n_judged=100,
    n_drawn=100,
    n_documents=331,
    n_counting=100,
    to_go=(5, 10, 20),
    differences=(),
    looks=(),
    decision=DECISION,
    n_at_decision=98,
)
COUNTS = dict.fromkeys(
    ("slots", "completed", "open", "free", "failed", "screened_out", "expired", "withdrawn", "answers", "uncounted"), 0
)
PROGRESS = Progress(
    campaign="live",
    title="",
    protocol="grades",
    status="decided",
    created=0.0,
    at=0.0,
    topics=(),
    assessors={},
    by_hour=(),
    last=None,
    ends=None,
    question=QUESTION,
    **COUNTS,
)


def test_a_decision_stands_though_later_answers_alone_would_leave_the_question_open():
    document = one_campaign(PROGRESS, ())
    assert document.sentence == f"live is decided. {DECISION}"
    notes = "\n".join(map(str, document.notes))
    assert f"With the answers that came after the decision: {OPEN} The decision stands" in notes
    assert "Expected to go" not in notes


def test_a_campaign_that_goes_on_after_the_decision_says_what_can_be_said_now():
    document = one_campaign(replace(PROGRESS, status="running"), ())
    assert document.sentence == f"live is running. {OPEN}"
    notes = "\n".join(map(str, document.notes))
    assert f"It stopped after 98 documents: {DECISION}" in notes
    assert "Expected to go: about 10 judgments" in notes


NEXT = ("next", "--runs", "f/runs", "--question", "sys0 > sys1", "--model", "f/llm.qrels")


@pytest.fixture
def live(qrowd, tmp_path):
    """A campaign in which ann judged 20 documents, and its exports."""
    world = make_world()
    write_world(tmp_path / "f", world, k=20)
    assert qrowd("campaign", "create", "f").status == 0
    with open_store("judgments.db") as store:
        service = JudgingService(store)
        questions = LiveQuestions(store, service.cache.new_sizes)
        ann = asyncio.run(service.arrive("live", "link", "ann"))
        for _ in range(4):
            asyncio.run(answer(service, world, ann, Random(1), answers=5))
            questions.look(1)
    for what, file in (("judgments", "live.csv"), ("design", "live.json")):
        assert qrowd("campaign", "export", "live", "--what", what, "-o", file).status == 0


def test_qrowd_next_states_of_a_campaign_what_it_states_of_its_exports(qrowd, live):
    of_exports = qrowd(*NEXT, "--judgments", "live.csv", "--design", "live.json")
    of_campaign = qrowd(*NEXT, "--campaign", "live")
    assert of_campaign.status == 0, of_campaign.err
    assert of_campaign.out == of_exports.out
    assert "(20 of " in of_campaign.out
    assert of_campaign.err == ""


def test_the_page_of_a_campaign_shows_how_its_interval_closed(qrowd, live, tmp_path):
    page = tmp_path / "now.html"
    assert qrowd(*NEXT, "--campaign", "live", "--statement", page).status == 0
    content = page.read_text()
    assert content.count("<svg ") == content.count("<polygon ") == 1
    assert " after 20 documents, from " in content
    assert "confidence 0.95 at all times together.</figcaption>" in content
    for other in (["--confidence", "0.9"], ["--tolerance", "0.01"], ["--new-topics"]):  # the log is of other settings
        assert qrowd(*NEXT, "--campaign", "live", "--statement", page, *other).status == 0
        assert "<svg " not in page.read_text()
    assert qrowd(*NEXT, "--judgments", "live.csv", "--design", "live.json", "--statement", page).status == 0
    assert "<svg " not in page.read_text()


def test_a_campaign_with_a_question_hands_out_its_documents_itself(qrowd, live, tmp_path):
    outcome = qrowd(*NEXT, "--campaign", "live", "-o", "batch.csv")
    assert outcome.status == 2
    assert "--campaign live: it carries a question and hands out documents itself; leave out -o" in outcome.err
    assert not (tmp_path / "batch.csv").exists()


def test_a_design_that_is_not_there_is_no_empty_design(qrowd, live):
    outcome = qrowd(*NEXT, "--judgments", "live.csv", "--design", "no.json")
    assert outcome.status == 2
    assert outcome.err == "qrowd: --design no.json: there is no such file; -o makes one\n"


def test_scores_by_documents_that_were_drawn_for_a_question_are_called_biased(qrowd, live):
    outcome = qrowd("evaluate", "--runs", "f/runs", "--campaign", "live", "--min-coverage", "0")
    assert "note: campaign live: its documents were drawn for its question, which qrowd next " in outcome.err


def test_files_of_a_question_that_are_not_there_are_named_with_their_key(qrowd, tmp_path):
    write_world(tmp_path / "f", make_world())
    (tmp_path / "f" / "llm.qrels").unlink()
    outcome = qrowd("campaign", "create", "f")
    assert outcome.status == 2
    assert "question.models: llm.qrels: there is no such file" in outcome.err


def test_the_units_of_a_campaign_with_a_question_are_shown_without_a_power_law(qrowd, live):
    outcome = qrowd("campaign", "units", "live")
    assert outcome.status == 0, outcome.err
    assert "20 completed units" in outcome.out
    assert "power law" not in outcome.out.lower()
