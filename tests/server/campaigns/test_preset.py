"""The preset of Maddalena et al. (2017) in a campaign's folder: what is in force, what is refused, what is noted."""

import json

import pytest

from qrowd.errors import FileError
from qrowd_server.campaigns.plan.folder import read_folder
from qrowd_server.campaigns.plan.plan_notes import plan_notes
from qrowd_server.campaigns.plan.plan_tables import plan_from_table, table_from_plan
from qrowd_server.protocols.instructions import PRACTICE

HEAD = '[campaign]\nname = "pilot"\nseed = 3\npreset = "maddalena2017"\n'
QUESTION = {"text": "What is looked for?", "options": ["tea", "salt", "rain", "bees"], "correct": 0}


def folder_of(tmp_path, toml=HEAD, *, questions=("t1", "t2"), n=10):
    (tmp_path / "campaign.toml").write_text(toml)
    (tmp_path / "topics.tsv").write_text("t1\ttea\nt2\tsalt\n")
    (tmp_path / "documents.jsonl").write_text(
        "".join(json.dumps({"docid": f"d{i}", "text": f"words {i}"}) + "\n" for i in range(n))
    )
    (tmp_path / "pool.txt").write_text("".join(f"t{t} d{i}\n" for t in (1, 2) for i in range(n)))
    (tmp_path / "checks.txt").write_text("t1 d0 d1\nt2 d4 d5\n")
    if questions:
        lines = (json.dumps({"topic": topic, **QUESTION}) + "\n" for topic in questions)
        (tmp_path / "questions.jsonl").write_text("".join(lines))
    return tmp_path


def test_one_line_makes_the_campaign_of_the_paper(tmp_path):
    plan = read_folder(folder_of(tmp_path))
    assert plan_notes(plan) == ("Preset maddalena2017: all 20 settings are in force.",)
    assert (plan.in_short, plan.settings.k, plan.settings.revisions, plan.journey.max_units) == ("magnitude", 8, -1, 18)
    assert "imagine three documents" in plan.instructions
    assert plan.practice_instructions == PRACTICE
    assert plan_from_table(table_from_plan(plan)) == plan


def test_what_a_campaign_changes_is_said(tmp_path):
    toml = HEAD + "questions = false\n[magnitude]\nmin_seconds = 5\n[journey]\npractice = false\n"
    plan = read_folder(folder_of(tmp_path, toml))
    first, second = plan_notes(plan)
    assert first == (
        "Preset maddalena2017: 17 of 20 settings are in force; changed: journey.practice = false (preset: true), "
        "campaign.questions = false (preset: true), "
        "magnitude.min_seconds = 5 (preset: 20)."
    )
    assert second == (
        "Quality checks that are not used: there is no practice (practice = false); no topic has a question."
    )


def test_a_topic_without_a_question_is_refused_by_its_name(tmp_path):
    with pytest.raises(FileError) as refused:
        read_folder(folder_of(tmp_path, questions=("t1",)))
    assert str(refused.value) == (
        "topics.tsv, line 2: question: topic 't2' has none; add one, or write questions = false in [campaign]"
    )


def test_with_questions_false_the_file_of_questions_is_not_read_and_a_question_is_refused(tmp_path):
    plan = read_folder(folder_of(tmp_path, HEAD + "questions = false\n"))
    assert [topic.question for topic in plan.topics] == [None, None]
    table = table_from_plan(plan)
    table["topics"][1]["question"] = QUESTION
    with pytest.raises(ValueError, match=r"topics\[1\].question: topic 't2' has one, but questions = false; remove it"):
        plan_from_table(table)


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        (
            HEAD.replace("maddalena2017", "x"),
            "campaign.toml, line 4: campaign.preset: 'x' cannot be used; choose one of",
        ),
        (HEAD + 'protocol = "grades"\n', "magnitude: is the table of another protocol than grades; remove it"),
    ],
)
def test_a_preset_that_does_not_fit_is_refused(tmp_path, toml, message):
    with pytest.raises(FileError) as refused:
        read_folder(folder_of(tmp_path, toml))
    assert message in str(refused.value)


PLAIN = '[campaign]\nname = "pilot"\n'


@pytest.mark.parametrize(
    ("toml", "questions", "note"),
    [
        (PLAIN + "[magnitude]\n", ("t1", "t2"), None),
        (PLAIN + "[magnitude]\n", (), "no topic has a question"),
        (PLAIN + "[magnitude]\n", ("t2",), "1 of 2 topics have no question, 't1' first"),
        (PLAIN + "checks = false\n[magnitude]\n", ("t1", "t2"), "there are no check documents (checks = false)"),
        (PLAIN + "[magnitude]\nmin_seconds = 0\n", ("t1", "t2"), "no time is required on a document (min_seconds = 0)"),
        (PLAIN + "[magnitude]\n[journey]\npractice = false\n", ("t1", "t2"), "there is no practice (practice = false)"),
        (PLAIN + "[grades]\n", ("t1", "t2"), None),
        (PLAIN + "[grades]\n", (), "no topic has a question"),
    ],
)
def test_quality_checks_that_a_campaign_lacks_are_noted_with_a_preset_or_without(tmp_path, toml, questions, note):
    folder = folder_of(tmp_path, toml, questions=questions)
    if "[grades]" in toml:
        (folder / "checks.txt").unlink()
    expected = () if note is None else (f"Quality checks that are not used: {note}.",)
    assert plan_notes(read_folder(folder)) == expected


@pytest.mark.parametrize(("k", "n"), [(4, 9), (5, 6), (10, None)])
def test_a_topic_of_several_units_needs_more_assessors_than_its_documents_have_judgments(tmp_path, k, n):
    folder = folder_of(tmp_path, PLAIN + f"[grades]\nk = {k}\nredundancy = 3\n")
    (folder / "checks.txt").unlink()
    notes = [note for note in plan_notes(read_folder(folder)) if "assessors are needed" in note]
    assert [note.split(":")[0] for note in notes] == ([] if n is None else [f"At least {n} assessors are needed"])
    assert all("k = 10 in [grades], 3 are enough" in note for note in notes)


def test_a_campaign_of_magnitudes_has_our_instructions_unless_it_has_its_own(tmp_path):
    plan = read_folder(folder_of(tmp_path, PLAIN + "[magnitude]\nk = 4\n"))
    assert "4 documents" in plan.instructions
    own = PLAIN + 'instructions = "Judge."\npractice_instructions = "Lines first."\n[magnitude]\n'
    plan = read_folder(folder_of(tmp_path, own))
    assert (plan.instructions, plan.practice_instructions) == ("Judge.", "Lines first.")


ARMS = HEAD + 'instructions = "Judge."\n[arms.numbers.magnitude]\nmin_seconds = 5\n[arms.grades.grades]\nk = 10\n'


def test_in_a_campaign_with_arms_those_of_its_protocol_follow_the_preset(tmp_path):
    plan = read_folder(folder_of(tmp_path, ARMS))
    numbers = plan.arms["numbers"]
    assert (numbers.revisions, numbers.attempts, numbers.min_seconds) == (-1, 1, 5.0)
    assert (plan.journey.max_units, plan.arms["grades"].attempts, plan.questions) == (18, 2, True)
    assert plan_notes(plan) == (
        "Arm numbers: Preset maddalena2017: 19 of 20 settings are in force; changed: magnitude.min_seconds = 5 "
        "(preset: 20).",
    )
    assert plan_from_table(table_from_plan(plan)) == plan


def test_a_campaign_with_arms_and_without_instructions_is_noted(tmp_path):
    plan = read_folder(folder_of(tmp_path, ARMS.replace('instructions = "Judge."\n', "")))
    assert plan_notes(plan)[1] == (
        "There are no instructions; write some, because a campaign with arms has none of ours."
    )


def test_a_preset_is_refused_where_no_arm_is_of_its_protocol(tmp_path):
    toml = ARMS.replace("[arms.numbers.magnitude]\nmin_seconds = 5", "[arms.numbers.preference]")
    (folder_of(tmp_path, toml) / "checks.txt").unlink()
    with pytest.raises(FileError, match="'maddalena2017' is for magnitude, not for"):
        read_folder(tmp_path)
