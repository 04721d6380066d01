"""What `qrowd campaign status` says of a campaign that carries a question."""

from dataclasses import replace

from qrowd.cli.campaign_tables import one_campaign
from qrowd.collect.campaigns.progress import Progress
from qrowd.collect.campaigns.question_progress import QuestionProgress

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
