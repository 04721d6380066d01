"""`qrowd judge prompts`: the list, and one prompt as it is sent."""

import json

from qrowd.judge import built_in_prompts, prompt

MINE = """
id = "mine"
version = "7"
source = "our group"
licence = "CC0-1.0"
notice = "Written by us."
form = "graded"
scale = [0, 1]
delimiters = false
user = "Q: {topic} D: {documents}"
[answer]
format = "grade"
marker = "Grade:"
"""


def test_the_prompts_are_listed(qrowd):
    outcome = qrowd("judge", "prompts")
    assert outcome.status == 0, outcome.err
    assert all(entry.id in outcome.out and entry.sha256[:12] in outcome.out for entry in built_in_prompts())
    assert "Apache-2.0" in outcome.out


def test_every_prompt_is_shown_with_the_messages_that_it_sends(qrowd, tmp_path):
    for entry in built_in_prompts():
        outcome = qrowd("judge", "prompts", entry.id, "-o", str(tmp_path / "prompt.json"))
        assert outcome.status == 0, outcome.err
        assert entry.sha256 in outcome.out
        assert entry.system.strip() in outcome.out
        assert "[text of document 1]" in outcome.out
        rows = json.loads((tmp_path / "prompt.json").read_text())["rows"]
        assert [row["role"] for row in rows] == ["system", "user"]
        assert all(row["content"] in outcome.out for row in rows)
    assert "answer: grades of 0, 1, 2 in a JSON object with the keys 1, 2, ...; the judgment is mean" in (
        qrowd("judge", "prompts", "nuggets").out
    )
    assert (
        "answer: a grade of 0, 1, 2, 3 in a JSON object with the key grade" in qrowd("judge", "prompts", "graded").out
    )


def test_a_file_of_the_user_is_shown_with_its_notice(qrowd, tmp_path):
    (tmp_path / "mine.toml").write_text(MINE)
    outcome = qrowd("judge", "prompts", "mine.toml")
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith(f"Prompt mine, version 7, SHA-256 {prompt(tmp_path / 'mine.toml').sha256}\n")
    assert "--- user\nQ: [topic] D: [text of document 1]\n" in outcome.out
    assert "answer: a grade of 0, 1, after 'Grade:' on the last line\n" in outcome.out
    assert "source: our group; licence CC0-1.0\nnotice: Written by us.\n" in outcome.out
    assert "delimiters: none" in outcome.out


def test_a_prompt_that_there_is_not_is_one_line(qrowd):
    outcome = qrowd("judge", "prompts", "umbrela")
    assert outcome.status == 2
    assert "prompt 'umbrela': choose one of answer_nuggets, aspects" in outcome.err
