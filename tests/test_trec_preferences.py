"""The text formats of preferences: what they say, round trips, and every mistake by its line."""

import gzip
from pathlib import Path

import pytest

from qrowd.errors import ArgumentError, FileError
from qrowd.files import read_preferences
from qrowd.model.preferences import Preferences
from qrowd.trec import PREFERENCES, format_preferences, mistakes, parse, preference_format, preferences_from


def read(text, format="auto", **options):
    raw = text if isinstance(text, bytes) else text.encode()
    return preferences_from([("x", parse(raw, "x.txt", preference_format(raw, "x.txt", format)))], **options)


def pairs(preferences):
    return [row[:4] for row in preferences.to_rows()]


# ---- what the formats say


def test_three_fields_are_topic_preferred_other():
    preferences = read("# a comment\nt a b\n\n t\tb c \r\n")
    assert pairs(preferences) == [("t", "a", "b", "x"), ("t", "b", "c", "x")]
    assert preferences.first is None
    assert preferences.bad == ()


def test_four_fields_are_topic_and_two_documents_in_the_order_shown_and_the_preferred_one():
    preferences = read("t a b b\nt a c a\n")
    assert pairs(preferences) == [("t", "b", "a", "x"), ("t", "a", "c", "x")]
    assert preferences.first.tolist() == [0, 1]


EXAMPLES_OF_TREC_EVAL = [
    # (lines of the comment in get_prefs.c, how many preferences it says they express)
    ("q u s d1 3\nq u s d2 2\nq u s d3 0\nq u s d4 6\nq u s d5 0\nq u s d6 2\n", 13),
    ("q u s d1 3\nq u s d2 2\nq u s d3 1\nq u v d1 2\nq u v d2 1\nq u v d4 3\n", 6),
    ("q u s d1 3\nq u s d2 2\nq v s d1 0\nq v s d3 6\nq v s d4 2\nq v w d1 0\nq v w d2 8\n", 5),
]


@pytest.mark.parametrize(("text", "n"), EXAMPLES_OF_TREC_EVAL)
def test_five_fields_are_trec_evals_levels_within_a_subgroup(text, n):
    preferences = read(text)
    assert len(preferences) == n  # the second: 5 and a repeat, which is kept
    zeros = {line.split()[3] for line in text.splitlines() if line.endswith(" 0")}
    assert {document for _, document, _ in preferences.bad} == zeros


def test_levels_by_group_are_read_when_asked_for():
    preferences = read("q 0 d1 2\nq 0 d2 1.5\nq 0 d3 0\nq 1 d1 0\nq 1 d2 1\n", "qrels_prefs")
    assert pairs(preferences) == [
        ("q", "d1", "d2", "x"), ("q", "d1", "d3", "x"), ("q", "d2", "d3", "x"), ("q", "d2", "d1", "x"),
    ]  # fmt: skip
    assert preferences.bad == (("q", "d3", "x"), ("q", "d1", "x"))


def test_a_judgment_group_may_be_an_assessor():
    preferences = read("q ann 0 d1 2\nq ann 0 d2 0\nq bob 0 d2 1\nq bob 0 d1 0\n", assessor_in_column=True)
    assert pairs(preferences) == [("q", "d1", "d2", "ann"), ("q", "d2", "d1", "bob")]
    assert preferences.bad == (("q", "d2", "ann"), ("q", "d1", "bob"))


# ---- writing


def test_several_assessors_are_trec_evals_groups():
    preferences = Preferences.from_rows([("t", "a", "b", "ann"), ("t", "c", "b", "bob")], bad=[("t", "b", "bob")])
    text = format_preferences(preferences)
    assert text == "t ann 1 a 2\nt ann 1 b 1\nt bob 2 c 2\nt bob 2 b 0\nt bob 3 b 0\n"
    assert pairs(read(text, assessor_in_column=True)) == pairs(preferences)


@pytest.mark.parametrize(
    ("rows", "bad", "message"),
    [
        ([("t", "a", "b", "ann", 2)], [], r"cannot hold strong preferences \(strength 2\)"),
        ([("t", "a b", "b", "ann")], [], "label 'a b' holds a blank"),
        ([("t", "a", "b", "ann")], [("t", "a", "ann")], "cannot hold a preference for a document marked as Bad"),
    ],
)
def test_what_prefs_cannot_hold_is_refused(rows, bad, message):
    with pytest.raises(ArgumentError, match=message):
        format_preferences(Preferences.from_rows(rows, bad=bad))


# ---- mistakes

MISTAKES = [
    ("pairs", "t a b\nt a a\n", 2, "document a cannot be preferred to itself"),
    ("pairs", "t a b\nt a b b\n", 2, "expected 'topic preferred other', found 4 fields, like 'topic a b preferred'; choose with format=..."),  # noqa: E501
    ("winner", "t a b c\n", 1, "the preferred document 'c' is neither 'a' nor 'b'; levels by group are read with format='qrels_prefs'"),  # noqa: E501
    ("winner", "t a b a\nt a a a\n", 2, "document a cannot be preferred to itself"),
    ("winner", "t a b a\nt a\n", 2, "expected 'topic a b preferred', found 2 fields"),
    ("prefs", "t g 1 a 2\nt g 1 b x\n", 2, "expected a finite number as level, found 'x'"),
    ("prefs", "t g 1 a 2\nt g 1 b -1\n", 2, "expected a level of 0 or more, found '-1'"),
    ("prefs", "t g 1 a 2\nt g 2 a 1\nt g 1 a 3\n", 3, "document a has level 3 here and 2 in line 1, of the same topic and group"),  # noqa: E501
    ("prefs", "t g 1 a 2\nt h 1 a 0\nt g 2 a 0\n", 3, "document a has level 0 here and 2 in line 1; level 0, which means Bad, holds in a whole group or not at all"),  # noqa: E501
    ("qrels_prefs", "t g a 2\nt g b 1\nt g a 1\n", 3, "document a has level 1 here and 2 in line 1, of the same topic and group"),  # noqa: E501
]  # fmt: skip


@pytest.mark.parametrize(("format", "text", "line", "message"), MISTAKES)
def test_a_mistake_is_named_by_its_line(format, text, line, message):
    with pytest.raises(FileError) as error:
        read(text, format)
    assert str(error.value) == f"x.txt, line {line}: {message}"
    assert [str(found) for found in mistakes(text.encode(), "x.txt", PREFERENCES[format])] == [str(error.value)]


def test_labels_that_differ_far_from_their_beginning_are_different():
    long = "d" * 80
    assert pairs(read(f"t {long}1 {long}2\n")) == [("t", long + "1", long + "2", "x")]
    with pytest.raises(FileError, match="is neither"):
        read(f"t {long}1 {long}2 {long}3\n")


def test_a_file_of_something_else_is_refused_by_its_first_line():
    with pytest.raises(FileError, match=r"x.txt, line 2: expected a line of preferences \(.*\), found 6 fields"):
        read("# runs\nt Q0 d 1 2.5 tag\n")
    with pytest.raises(ArgumentError, match="format='qrels': choose one of auto, pairs, winner, prefs, qrels_prefs"):
        read("t a b\n", "qrels")


# ---- files


def test_files_become_assessors_packed_or_not_text_or_table(tmp_path):
    (tmp_path / "ann.prefs.gz").write_bytes(gzip.compress(b"t a b\n"))
    (tmp_path / "bob.txt").write_text("t a b b\n")
    (tmp_path / "rest.csv").write_text("topic,preferred,other,assessor,strength\nt,b,c,cy,2\nt,,d,cy,\n")
    preferences = read_preferences([tmp_path / "ann.prefs.gz", tmp_path / "bob.txt", tmp_path / "rest.csv"])
    assert pairs(preferences) == [("t", "a", "b", "ann"), ("t", "b", "a", "bob"), ("t", "b", "c", "cy")]
    assert preferences.strength.tolist() == [1, 1, 2]
    assert preferences.bad == (("t", "d", "cy"),)


TABLES = {
    "x.csv": "topic,preferred,other\nt,a,b\nt,b,c\n",
    "x.tsv": "query_id\tleft\tright\twinner\nt\ta\tb\ta\nt\tc\tb\tb\n",
    "x.jsonl": '{"topic": "t", "preferred": "a", "other": "b"}\n{"topic": "t", "preferred": "b", "other": "c"}\n',
    "x.txt": "topic preferred other\nt a b\nt b c\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_known_by_their_columns(tmp_path, name):
    (tmp_path / name).write_text(TABLES[name])
    assert pairs(read_preferences(tmp_path / name)) == [("t", "a", "b", "x"), ("t", "b", "c", "x")]


def test_parquet_and_json_hold_everything(tmp_path):
    preferences = Preferences.from_rows([("t", "a", "b", "ann", 2)], bad=[("t", "c", "bob")])
    frame = preferences.to_frame()
    frame.to_parquet(tmp_path / "x.parquet")
    frame.to_json(tmp_path / "x.jsonl", orient="records", lines=True)
    frame.to_csv(tmp_path / "x.csv", index=False)
    for name in ("x.parquet", "x.jsonl", "x.csv"):
        again = read_preferences(tmp_path / name)
        assert again.to_rows() == preferences.to_rows()
        assert again.bad == preferences.bad


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "topic,preferred,other\nt,a,b\nt,b,b\n",
            "line 3: assessor x, topic t, b over b: a document cannot be preferred",
        ),
        ("topic,preferred,other\nt,a,\n", "line 2: other is missing"),
        ("topic,a,b,preferred\nt,a,b,c\n", "line 2: the preferred document 'c' is neither 'a' nor 'b'"),
        ("topic,preferred,other,strength\nt,a,b,3\n", "the strength must be 1, or 2"),
        ("topic,preferred,other,strength\nt,a,b,much\n", "line 2: expected a finite number as strength, found 'much'"),
    ],
)
def test_mistakes_in_tables_are_named_by_their_line(tmp_path, text, message):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(FileError) as error:
        read_preferences(tmp_path / "x.csv")
    assert message in str(error.value)


def test_an_unknown_home_of_assessors_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="assessor='row': choose one of file, column"):
        read_preferences(tmp_path, assessor="row")


def test_two_files_of_one_name_are_refused_but_share_judgment_groups(tmp_path):
    for folder in ("a", "b"):
        Path(tmp_path / folder).mkdir()
        (tmp_path / folder / "x.prefs").write_text(f"t ann {folder} d1 2\nt ann {folder} d2 1\n")
    with pytest.raises(FileError, match="is assessor 'x'"):
        read_preferences(str(tmp_path / "*" / "x.prefs"))
    together = read_preferences(str(tmp_path / "*" / "x.prefs"), assessor="column")
    assert together.assessors == ("ann",)
    assert len(together) == 2
