"""Only what is the answer is read. `answers.jsonl` holds difficult answers, each with the reading it must get."""

import json
import re
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from qrowd.judge.answers import read_reply
from qrowd.judge.exchange import Reply
from qrowd.judge.prompts import built_in_prompts

PROMPTS = {entry.id: entry for entry in built_in_prompts()}
PROMPTS["marker"] = replace(
    PROMPTS["graded"], id="marker", answer=replace(PROMPTS["graded"].answer, key=None, marker="Final grade:")
)
PROMPTS["score"] = replace(
    PROMPTS["graded"], id="score", answer=replace(PROMPTS["graded"].answer, key=None, marker="##final score:")
)
PROMPTS["reason"] = replace(
    PROMPTS["graded"], id="reason", answer=replace(PROMPTS["graded"].answer, key="grade", reason="reason")
)
ROWS = [json.loads(line) for line in Path(__file__).with_name("answers.jsonl").read_text("utf-8").splitlines()]
NAMES = {field.name for field in fields(Reply)}
PAGE = (Path(__file__).parents[2] / "docs" / "prompts.md").read_text("utf-8")


def reading_of(row):
    fields = {key: value for key, value in row.items() if key in NAMES}
    return read_reply(Reply(**fields), PROMPTS[row["prompt"]], n_values=row.get("n", 1))


def test_no_difficult_answer_is_read_wrongly():
    wrong = [
        (row, reading)
        for row in ROWS
        if (reading := reading_of(row)) and (row["status"], tuple(row["values"])) != (reading.status, reading.values)
    ]
    assert not wrong


def test_the_difficult_answers_are_many_differ_and_cover_every_prompt_and_status():
    assert len(ROWS) >= 200
    assert len({json.dumps(row, sort_keys=True) for row in ROWS}) == len(ROWS)
    assert {row["prompt"] for row in ROWS} == set(PROMPTS)
    counts = Counter(row["status"] for row in ROWS)
    assert set(counts) == {"ok", "refused", "cut_off", "unparsable", "out_of_scale", "error", "timeout"}


def test_a_reading_that_is_not_ok_has_no_values_and_says_why():
    readings = [reading_of(row) for row in ROWS]
    assert all(bool(reading.values) == (reading.status == "ok") for reading in readings)
    assert all(bool(reading.detail) == (reading.status != "ok") for reading in readings)
    assert all("\n" not in reading.detail for reading in readings)


def test_the_table_of_the_docs_is_true():
    lines = PAGE.split("| answer | reading |")[1].split("\n\n")[0].splitlines()[2:]
    table = [(re.findall(r"`([^`]+)`", cells[1]), cells[2].strip()) for line in lines if (cells := line.split("|"))]
    assert sum(len(answers) for answers, _ in table) >= 18
    for answers, expected in table:
        for text in answers:
            reading = read_reply(Reply(text=text), PROMPTS["graded"])
            assert (f"{reading.values[0]:g}" if reading.values else reading.status) == expected, text


# ---- laws

fragments = st.sampled_from(
    [
        '{"grade": ',
        "2",
        "3",
        "}",
        '"',
        "grade: ",
        "**",
        "`",
        "\n",
        " ",
        "-",
        ".",
        "e",
        "1",
        "0",
        "and",
        "/",
        "```json\n",
    ]
)
texts = st.one_of(st.text(), st.lists(fragments, max_size=8).map("".join))


@given(texts)
def test_no_text_without_a_digit_of_the_scale_is_a_grade(text):
    """A slow reading: whatever is ok must hold its grade as a digit, and no other digits beside zeros."""
    reading = read_reply(Reply(text=text), PROMPTS["graded"])
    if reading.status == "ok":
        assert reading.values[0] in (0, 1, 2, 3)
        if "e" not in text.replace("grade", "").lower():  # 20e-1 is 2
            assert {character for character in text if character.isdigit()} - {"0"} <= {f"{reading.values[0]:g}"}
            assert f"{reading.values[0]:g}" in text
    else:
        assert reading.values == ()


@given(st.sampled_from(sorted(PROMPTS)), texts, st.integers(1, 4))
def test_every_value_that_is_read_is_one_of_the_form(name, text, n):
    prompt_of = PROMPTS[name]
    reading = read_reply(Reply(text=text), prompt_of, n_values=n)
    if reading.status != "ok":
        assert reading.values == ()
        return
    several = prompt_of.answer.format in ("grades", "number")
    assert len(reading.values) == (len(prompt_of.answer.items) or n if several else 1)
    allowed = {"number": None, "choice": (1, 2), "outcome": (1, 2, 3, 4), "yes_no": (0, 1)}.get(
        prompt_of.answer.format, prompt_of.scale
    )
    assert all(value > 0 if allowed is None else value in allowed for value in reading.values)


@st.composite
def right_answers(draw):
    """A prompt, n, values, and the answer in one of the forms that are asked for."""
    prompt_of = PROMPTS[draw(st.sampled_from(sorted(PROMPTS)))]
    n = draw(st.integers(1, 5))
    keys = prompt_of.keys(n_values=n)
    outcomes = {"yes_no": {0: "no", 1: "yes"}, "choice": {1: "A", 2: "B"}, "outcome": {1: "A", 3: "tie", 4: "both bad"}}
    words = outcomes.get(prompt_of.answer.format, {})
    value = (
        st.floats(1e-300, 1e300, allow_subnormal=False)
        if prompt_of.answer.format == "number"
        else st.sampled_from(sorted(words) or prompt_of.scale)
    )
    values = draw(st.lists(value, min_size=max(1, len(keys)), max_size=max(1, len(keys))))
    written = [words.get(entry, entry) for entry in values]
    if keys and draw(st.booleans()):
        pairs = draw(st.permutations(list(zip(keys, written, strict=True))))
        text = json.dumps(dict(pairs), indent=draw(st.sampled_from([None, 2])))
        text = draw(st.sampled_from(["{}", "```json\n{}\n```", "\n{} ", "<think>1 or 2?</think>{}"])).replace(
            "{}", text
        )
    elif len(values) > 1 or (keys and draw(st.booleans())):
        text = "\n".join(f"{key}: {entry}" for key, entry in zip(keys, written, strict=True))
    elif prompt_of.answer.marker:
        text = f"There are 3 facts.\n{prompt_of.answer.marker} {written[0]}"
    else:
        text = f"{draw(st.sampled_from(['', '**', '`']))}"
        text = f"{text}{written[0]}{text}"
    return prompt_of, n, tuple(values), text


@given(right_answers())
def test_a_right_answer_is_read_back(answer):
    prompt_of, n, values, text = answer
    reading = read_reply(Reply(text=text), prompt_of, n_values=n)
    assert read_reply(Reply(text=text, finish_reason="stop"), prompt_of, n_values=n) == reading
    assert (reading.status, reading.values) == ("ok", values)


pieces = ["grade", "Score", "not", "relevant", "is", ":", "=", "-", "(", ")", "**", "{", "}", ".", '"', "\n", " "]
words = st.lists(st.sampled_from(pieces), max_size=5).map("".join)


@given(st.sampled_from([0, 1, 2, 3]), st.sampled_from(["{}", '{{"grade": {}}}', "Grade: {}"]), words, words)
def test_words_around_a_grade_never_make_another_of_it(grade, form, before, after):
    reading = read_reply(Reply(text=before + form.format(grade) + after), PROMPTS["graded"])
    assert reading.values in ((), (grade,))


@given(right_answers(), st.text(alphabet="0123xyz {}:,\n", min_size=1).filter(str.strip), st.booleans())
def test_a_reasoning_never_changes_what_is_read(answer, reasoning, empty):
    prompt_of, n, _, text = answer
    text = "" if empty else text
    plain = read_reply(Reply(text=text), prompt_of, n_values=n)
    assert read_reply(Reply(text=text, reasoning=reasoning), prompt_of, n_values=n) == plain


@given(right_answers(), st.sampled_from(["length", "content_filter", "error", "tool_calls"]))
def test_a_right_answer_that_did_not_end_by_itself_gives_no_judgment(answer, finish_reason):
    prompt_of, n, _, text = answer
    reading = read_reply(Reply(text=text, finish_reason=finish_reason), prompt_of, n_values=n)
    assert reading.status != "ok"
    assert reading.values == ()


# ---- expected grades
