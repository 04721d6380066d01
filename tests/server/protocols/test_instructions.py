"""The instructions that a campaign of magnitudes has without being told: they say what is asked, and nothing else."""

import pytest

from qrowd_server.protocols.instructions import PRACTICE, magnitude_instructions
from qrowd_server.protocols.settings import JourneySettings, MagnitudeSettings


def instructions(*, question=True, checks=True, practice=True, **settings):
    journey = JourneySettings(practice=practice)
    return magnitude_instructions(MagnitudeSettings(**settings), journey, question=question, checks=checks)


APPENDIX_A = {  # content of the appendix: words by which ours say it
    "what magnitude estimation is": "the stronger your impression of something, the higher the number",
    "its name": "magnitude estimation",
    "three lines, one after another": "three lines, which you see one after another",
    "no unit of length": "do not think of centimetres",
    "relative to the line before": "Compare each line with the line before it",
    "fractions and decimals": "whole numbers, fractions or decimals",
    "no zero, no negative number": "Every number must be above zero",
    "numbers do not run out": "There is no top and no bottom",
}


@pytest.mark.parametrize("content", APPENDIX_A)
def test_the_instructions_for_the_practice_have_the_content_of_appendix_a(content):
    assert APPENDIX_A[content] in PRACTICE


APPENDIX_A_MAIN = {
    "a topic is read, and a question is asked about it": "A question shows whether the topic is clear to you",
    "eight documents, one at a time": "8 documents that search systems returned for it, one at a time",
    "the task is relevance": "How relevant is this document to the topic?",
    "imagine three documents": "imagine three documents: one that is highly relevant",
    "imagine three numbers": "think of three numbers: a large one, a small one, and one in between",
    "numbers match relevance": "the number is as large as your impression is strong",
    "ratios": "a document half as relevant gets half the number",
    "fractions and decimals": "whole numbers, fractions or decimals",
    "numbers do not run out": "There is no top and no bottom",
    "relative to the document before": "in comparison with the one before it",
    "no particular order": "The documents come in no particular order",
    "do not anticipate": "Do not guess what comes next",
    "judge when it is presented": "Decide while the document is in front of you",
    "back is for mistakes": "Go back only to fix a mistake",
    "checks": "Only a set of documents that passes these checks is used",
}


@pytest.mark.parametrize("content", APPENDIX_A_MAIN)
def test_the_instructions_for_the_documents_have_the_content_of_appendix_a(content):
    assert APPENDIX_A_MAIN[content] in instructions()


@pytest.mark.parametrize(
    ("settings", "absent"),
    [
        ({"question": False}, "question"),
        ({"practice": False}, "the practice"),
        ({"checks": False}, "fit the topic"),
        ({"min_seconds": 0}, "took time"),
        ({"revisions": 0}, "change them"),
        ({"reason": "optional"}, "sentence"),
        ({"ask": "How new is this document?"}, "relevant"),
        ({"question": False, "practice": False, "checks": False, "min_seconds": 0}, "quality"),
    ],
)
def test_they_speak_of_no_check_that_the_campaign_does_not_have(settings, absent):
    assert absent in instructions()
    assert absent not in instructions(**settings)


def test_another_question_is_quoted_in_place_of_relevance():
    text = instructions(ask="How satisfied would you be?", k=5)
    assert 'Of each document you are asked: "How satisfied would you be?"' in text
    assert "5 documents" in text


def test_they_do_not_say_how_to_get_round_a_check():
    assert not any(word in instructions() for word in ("20", "seconds", "best", "worst", "known"))
