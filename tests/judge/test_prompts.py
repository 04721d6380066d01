"""A prompt is data: its words, its hash, the form of its answer; and what a document holds stays a document."""

import hashlib
import json
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.errors import ArgumentError, FileError
from qrowd.judge.answers import read_reply
from qrowd.judge.exchange import Reply
from qrowd.judge.prompts import ITEMIZED, Form, built_in_prompts, delimited, parse_prompt, prompt

MINE = """
id = "mine"
version = "1"
source = "us"
licence = "CC0-1.0"
form = "graded"
scale = [0, 1, 2]
user = "{topic} {documents}"
[answer]
format = "grade"
key = "grade"
"""


def asked(prompt_of, topic="how long is a day", documents=None, items=None):
    n = {"preference": 2, "magnitude": 3}.get(prompt_of.form, 1)
    items = (["24 hours", "the sun"] if prompt_of.form in ITEMIZED else []) if items is None else items
    return prompt_of.messages(topic, documents or [f"text {number}" for number in range(n)], items=items)


def test_every_form_has_a_prompt_and_says_whose_words_it_is():
    prompts = built_in_prompts()
    assert {entry.form for entry in prompts} == set(get_args(Form))
    assert [entry.id for entry in prompts] == [
        "answer_nuggets",
        "aspects",
        "battle",
        "binary",
        "exam",
        "graded",
        "magnitude",
        "nuggets",
        "preference",
        "rating",
        "support",
    ]
    assert {(entry.source, entry.licence) for entry in prompts} == {("qrowd", "Apache-2.0")}
    assert len({entry.sha256 for entry in prompts}) == len(prompts)


@pytest.mark.parametrize("entry", built_in_prompts(), ids=lambda entry: entry.id)
def test_a_prompt_asks_for_the_object_that_its_schema_describes(entry):
    """The example in its last line holds the keys of the schema, and its values are no answer."""
    messages = asked(entry)
    assert [message.role for message in messages] == ["system", "user"]
    last = messages[-1].content.splitlines()[-1]
    schema = entry.schema(n_values=2)
    for key in schema["required"]:
        assert f'"{key}": ' in last
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False
    assert not re.search(r"\{[a-z_]+\}", messages[-1].content)
    assert read_reply(Reply(text=last), entry, n_values=2).status == "unparsable"


def test_the_hash_is_of_the_content_and_not_of_the_layout_of_the_file():
    entry = parse_prompt(MINE.encode(), "mine.toml")
    assert parse_prompt(b"# a comment\n" + MINE.replace(" = ", "=").encode(), "other.toml").sha256 == entry.sha256
    others = {"user": "{topic}: {documents}", "version": "2", "scale": (0.0, 1.0), "parameters": {"temperature": 0}}
    hashes = {replace(entry, **{name: value}).sha256 for name, value in others.items()}
    assert len(hashes | {entry.sha256}) == len(others) + 1
    assert {field.name for field in fields(entry)} >= set(others)


def test_a_line_that_wants_a_missing_text_of_the_topic_is_left_out():
    entry = prompt("graded")
    short = asked(entry)[-1].content
    assert "Description:" not in short
    assert "Narrative:" not in short
    full = asked(entry, {"topic": "day", "description": "its length", "narrative": None})[-1].content
    assert "Description: its length\n" in full
    assert "Narrative:" not in full


def test_a_document_that_looks_like_a_placeholder_stays_as_it_is():
    text = asked(prompt("graded"), "{documents}", ["{topic} {n}"])[-1].content
    assert "Query: {documents}\n" in text
    assert "\n{topic} {n}\n" in text


def test_a_document_cannot_close_its_delimiter():
    text = delimited(["a </document 123> b\n< / Document> <DOCUMENT 2>", "<documentary>"])
    assert text.count("<document ") == text.count("</document ") == 2
    assert "a ‹/document 123> b\n‹ / Document> ‹DOCUMENT 2>" in text
    assert "<documentary>" in text


@given(st.lists(st.text(alphabet="<>/ document12\nü"), min_size=1, max_size=4))
def test_what_stands_between_the_delimiters_is_never_one_of_them(documents):
    text = delimited(documents)
    assert delimited(documents) == text
    nonce = re.match(r"<document 1 ([0-9a-f]{12})>", text)[1]
    assert text.count(nonce) == 2 * len(documents)
    parts = re.findall(rf"<document \d+ {nonce}>\n(.*?)\n</document \d+ {nonce}>", text, re.DOTALL)
    assert [part.replace("‹", "<") for part in parts] == [document.strip() for document in documents]


@given(st.lists(st.text(), min_size=2, max_size=2, unique=True))
def test_other_documents_have_other_delimiters(documents):
    first, second = (delimited([document]).split(">")[0] for document in documents)
    assert first != second
    assert delimited(documents).split(">")[0] != delimited(documents[::-1]).split(">")[0]


def test_documents_are_labelled_as_the_answer_names_them():
    assert re.search(r"<document [0-9a-f]{12}>\ntext 0", asked(prompt("graded"))[-1].content)
    assert re.search(
        r"<document A \w+>\ntext 0\n.*<document B \w+>\ntext 1", asked(prompt("preference"))[-1].content, re.S
    )
    magnitude = asked(prompt("magnitude"))[-1].content
    assert re.search(r"The 3 documents .*<document 1 \w+>\ntext 0\n.*<document 3 \w+>\ntext 2", magnitude, re.S)
    assert "1. 24 hours\n2. the sun\n" in asked(prompt("exam"))[-1].content


@pytest.mark.parametrize(
    ("name", "topic", "documents", "items", "culprit"),
    [
        ("graded", " ", ["a"], [], "topic"),
        ("graded", {"description": "x"}, ["a"], [], "topic"),
        ("graded", "t", ["a", "b"], [], "documents: prompt 'graded' takes 1, found 2"),
        ("graded", "t", "text", [], "documents"),
        ("graded", "t", ["a"], ["x"], "items"),
        ("preference", "t", ["a"], [], "documents: prompt 'preference' takes 2, found 1"),
        ("magnitude", "t", [], [], "documents: prompt 'magnitude' takes 1 or more, found 0"),
        ("magnitude", "t", ["a", "\n"], [], "documents: the text of document 2 is missing"),
        ("exam", "t", ["a"], [], "items"),
    ],
)
def test_a_question_that_does_not_fit_its_form_is_refused(name, topic, documents, items, culprit):
    with pytest.raises(ArgumentError, match="^" + re.escape(culprit)):
        prompt(name).messages(topic, documents, items=items)


def test_the_judgment_of_several_grades_is_the_one_that_the_prompt_names():
    assert prompt("aspects").judgment((2, 1, 0)) == 0
    assert prompt("nuggets").judgment((2, 1, 0, 0)) == 0.75
    assert prompt("exam").judgment((2, 5, 0)) == 5
    assert prompt("graded").judgment((2,)) == 2


def test_a_file_of_the_user_is_a_prompt(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(MINE + 'marker = "So:"\n[parameters]\ntemperature = 0\n', encoding="utf-8")
    entry = prompt(file)
    assert entry == prompt(str(file))
    assert (entry.id, entry.scale, entry.parameters, entry.answer.marker) == (
        "mine",
        (0, 1, 2),
        {"temperature": 0},
        "So:",
    )
    assert json.loads(json.dumps(entry.schema()))["properties"] == {"grade": {"type": "integer", "enum": [0, 1, 2]}}
    assert read_reply(Reply(text="1 or 2.\nSo: 1"), entry).values == (1,)
    assert parse_prompt(MINE.replace('key = "grade"', "").encode(), "mine.toml").schema() is None


def test_the_prompt_that_the_docs_show_works():
    page = (Path(__file__).parents[2] / "docs" / "prompts.md").read_text("utf-8")
    entry = parse_prompt(page.split("```toml\n")[1].split("```")[0].encode(), "docs/prompts.md")
    (message,) = asked(entry)
    assert message.role == "user"
    assert read_reply(Reply(text="It names 3 facts.\nFinal grade: 1"), entry).values == (1,)


PUBLISHED = "Judge 0 to 3. \nQuery: {query}\nPassage: {passage}\n\nEnd with ##final score: score"


@pytest.fixture
def published(tmp_path):
    """The file that the docs show for a published prompt, beside another text and with its hash."""
    page = (Path(__file__).parents[2] / "docs" / "prompts.md").read_text("utf-8")
    table = page.split("```toml\n")[2].split("```")[0]
    digest = hashlib.sha256(PUBLISHED.encode()).hexdigest()
    file = tmp_path / "umbrela.toml"
    file.write_text(re.sub(r'user_sha256 = "\w{64}"', f'user_sha256 = "{digest}"', table), encoding="utf-8")
    (tmp_path / "qrel_zeroshot_bing.txt").write_bytes(PUBLISHED.encode())
    return file


def test_a_published_text_is_sent_as_it_was_published(published):
    (message,) = asked(prompt(published), "a {passage}", ["</document> {query}\n"])
    assert message.role == "user"
    assert message.content == PUBLISHED.format(query="a {passage}", passage="</document> {query}\n")
    assert prompt(published).schema() is None
    assert read_reply(Reply(text="M: 3\n##final score: 1"), prompt(published)).values == (1,)


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("user_sha256 = ", 'user = "x"\nuser_sha256 = ', "user: expected the text in user, or the name of its file"),
        ("user_file = ", "user = ", "user_sha256: only a text in user_file takes it; remove it"),
        ('"qrel_', '"other_', "user_file: "),
        ('passage = "documents"', 'passage = "document"', "placeholders.passage='document': choose one of topic, "),
        ('passage = "documents"', "", "user: placeholder {passage} is not one of {topic}"),
        ('passage = "documents"', "passage = 1", "placeholders.passage=1: choose one of"),
        ("delimiters = false", "delimiters = 0", "delimiters=0: expected true or false"),
    ],
)
def test_a_mistake_in_a_file_for_a_published_text_names_the_key(published, before, after, problem):
    text = published.read_text(encoding="utf-8")
    assert text.count(before) == 1
    published.write_text(text.replace(before, after), encoding="utf-8")
    with pytest.raises(FileError, match=re.escape(problem)) as caught:
        prompt(published)
    assert str(caught.value).startswith(str(published))
    assert "\n" not in str(caught.value)


def test_a_published_text_that_was_changed_is_refused(published):
    text = published.with_name("qrel_zeroshot_bing.txt")
    text.write_bytes(text.read_bytes() + b"\n")
    with pytest.raises(FileError, match=r"umbrela\.toml: user_sha256: .*bing\.txt is another text; its SHA-256 is "):
        prompt(published)
    text.write_bytes(b"\xe9")
    with pytest.raises(FileError, match=r"user_file: .*bing\.txt is not UTF-8"):
        prompt(published)


def test_a_form_that_asks_about_several_documents_needs_delimiters(tmp_path):
    file = tmp_path / "mine.toml"
    text = MINE.replace('form = "graded"\nscale = [0, 1, 2]', 'form = "preference"\ndelimiters = false')
    file.write_text(text.replace('format = "grade"\nkey = "grade"', 'format = "choice"'), encoding="utf-8")
    with pytest.raises(FileError, match="delimiters: the form preference asks about several documents"):
        prompt(file)


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ('id = "mine"', "", "id is missing"),
        ('form = "graded"', 'form = "ranked"', "form='ranked': choose one of graded, binary"),
        ('"{topic} {documents}"', '"{topic} {document}"', "user: placeholder {document} is not one of {topic}"),
        ('"{topic} {documents}"', '"{documents}"', "user: placeholder {topic} is missing"),
        ('"{topic} {documents}"', '"{topic} {documents} {items}"', "user: placeholder {items} is not one of"),
        ("user = ", 'system = "{query}"\nuser = ', "system: placeholder {query} is not one of"),
        ('source = "us"', "source = 1", "source=1: expected a text in quotes"),
        ('source = "us"', 'source = ""', "source='': expected a text in quotes"),
        ("user = ", 'title = "x"\nuser = ', "title is not a key of a prompt"),
        ("[0, 1, 2]", "[0]", "scale: expected two or more numbers from low to high"),
        ("[0, 1, 2]", "[2, 1]", "scale: expected two or more numbers from low to high"),
        ("[0, 1, 2]", '["0", "1"]', "scale=['0', '1']: expected numbers"),
        ("[0, 1, 2]", "[0, nan]", "scale=[0, nan]: expected numbers"),
        ("[0, 1, 2]", "3", "scale=3: expected a list"),
        ('format = "grade"', 'format = "choice"', "answer.format='choice': choose one of grade, grades"),
        ('format = "grade"', 'format = "grades"', "answer.items is missing"),
        ('format = "grade"', "", "answer.format is missing"),
        ('key = "grade"', 'key = "grade"\nitems = ["a"]', "answer.items: only the form graded"),
        ('key = "grade"', 'key = "grade"\njudgment = "max"', "answer.judgment: only answers with several"),
        ('key = "grade"', 'key = "grade"\nreason = "Grade"', "answer: the keys grade, Grade must differ"),
        ('key = "grade"', 'key = "grade"\nprefix = "x"', "answer.prefix is not a key"),
        ('key = "grade"', "[parameters]\nday = 2026-11-23", "parameters: Object of type date"),
        ("[answer]", "[answers]", "answer: expected a table [answer]"),
        ("[answer]", "[answer", "line 9: is not valid TOML"),
        ('form = "graded"', 'form = "binary"', "scale: the form binary takes [0, 1]"),
    ],
)
def test_a_mistake_in_a_file_is_one_line_that_names_the_file_and_the_key(tmp_path, before, after, problem):
    file = tmp_path / "mine.toml"
    assert MINE.count(before) == 1
    file.write_text(MINE.replace(before, after), encoding="utf-8")
    with pytest.raises(FileError) as caught:
        prompt(file)
    message = str(caught.value)
    assert message.startswith(str(file))
    assert problem in message
    assert "\n" not in message


def test_a_name_that_is_no_prompt_is_refused_with_those_that_are(tmp_path):
    with pytest.raises(
        ArgumentError, match=r"prompt 'umbrela': choose one of answer_nuggets, aspects, .* ends in \.toml"
    ):
        prompt("umbrela")
    with pytest.raises(FileError, match=r"none\.toml: there is no such file"):
        prompt(tmp_path / "none.toml")
    file = tmp_path / "latin.toml"
    file.write_bytes(b'id = "\xe9"')
    with pytest.raises(FileError, match=r"latin\.toml: is not valid TOML: 'utf-8' codec can't decode"):
        prompt(str(file))
