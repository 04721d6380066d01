"""TREC's formats: what plain Python reads, no more and no less, and every mistake by its line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrowd
from qrowd.errors import ArgumentError, FileError
from qrowd.model.judgments import Judgments
from qrowd.model.labels import Words
from qrowd.model.runs import Runs
from qrowd.trec import QRELS, RUN, format_qrels, format_run, judgments_from, mistakes, parse, runs_from
from strategies import few


def judgments_in(text, **options):
    return judgments_from([("x", parse(text, "x.qrels", QRELS))], **options)


def runs_in(text):
    return runs_from([("x", parse(text, "x.run", RUN))])


def judged(judgments):
    """(topic, document, assessor, value) of every row."""
    labels = zip(judgments.topic, judgments.document, judgments.assessor, judgments.value.tolist(), strict=True)
    return [(judgments.topics[t], judgments.documents[d], judgments.assessors[a], v) for t, d, a, v in labels]


def retrieved(runs):
    """(system, topic, document, score) of every row."""
    labels = zip(runs.system, runs.topic, runs.document, runs.score.tolist(), strict=True)
    return [(runs.systems[s], runs.topics[t], runs.documents[d], v) for s, t, d, v in labels]


# ---- what plain Python reads


def plain(text, n_fields):
    """The fields of every line, as one would read them without a care for speed."""
    lines = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    rows = [line.split() for line in lines if line.strip() and not line.startswith(b"#")]
    assert all(len(row) == n_fields for row in rows)
    return [[field.decode("utf-8", "surrogateescape") for field in row] for row in rows]


words = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=6)
labels = st.sampled_from(["1", "2", "é", "#", "#1", "文書", "d-1", "d-10"]) | words
decimals = (
    st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.sampled_from(
        ["0", "-2", "+3", "1.", ".5", "007", "1e3", "1E-7", "-0.0", "9007199254740993", "0.30000000000000004"]
    )
    | st.tuples(st.integers(-(10**19), 10**19), st.integers(-30, 30)).map(lambda pair: "{}e{}".format(*pair))
    | st.decimals(-1000, 1000, places=20).map(str)
)
blanks = st.sampled_from([" ", "\t", "  ", " \t ", "\f", "\v", "\r "])
noise = st.sampled_from(["", "\n", "# a comment\n", "#\n", " \t\n", "\r\n", "#x y z w\r\n"])


@st.composite
def files(draw, line):
    """The bytes of a file whose lines hold the fields that `line` draws, with all the blanks and comments allowed."""
    parts = [draw(st.sampled_from(["", "\ufeff"]))]
    for fields in draw(st.lists(line, min_size=1, max_size=12, unique_by=lambda fields: (fields[0], fields[2]))):
        # A label that starts a line must not start a comment.
        indent = draw(st.sampled_from(["", " ", "\t"])) if not fields[0].startswith("#") else " "
        parts += [
            draw(noise),
            indent,
            draw(blanks).join(fields),
            draw(st.sampled_from(["\n", "\r\n", " \n", "\t\r\n"])),
        ]
    text = "".join(parts).encode()
    return text.rstrip() if draw(st.booleans()) else text


@few
@given(files(st.tuples(labels, labels, labels, decimals)))
def test_qrels_are_read_as_plain_python_reads_them(text):
    assert judged(judgments_in(text)) == [(t, d, "x", float(grade)) for t, _, d, grade in plain(text, 4)]
    by_column = judged(judgments_in(text, assessor_in_column=True))
    assert by_column == [(t, d, who, float(grade)) for t, who, d, grade in plain(text, 4)]


@few
@given(files(st.tuples(labels, labels, labels, decimals | st.just("unknown"), decimals, labels)))
def test_runs_are_read_as_plain_python_reads_them(text):
    runs = runs_in(text)
    rows = plain(text, 6)
    assert retrieved(runs) == [("x", t, d, float(score)) for t, _, d, _, score, _ in rows]
    np.testing.assert_array_equal(runs.rank, [np.nan if row[3] == "unknown" else float(row[3]) for row in rows])


@pytest.mark.parametrize(
    "text",
    [
        b"q1 0 d1 1\nq1 0 d2 0\n",
        b"q1\t0\td1\t1\nq1\t0\td2\t0",
        b"  q1   0 \t d1  1  \r\n\r\nq1 0 d2 0\r\n",
        b"\xef\xbb\xbfq1 0 d1 1\nq1 0 d2 0\n",
        b"# topic iteration document grade\nq1 0 d1 1\n#q1 0 d3 1\n\n \t \nq1 0 d2 0\n#",
        b"\n\n\nq1 0 d1 1.0\nq1 0 d2 0e5",
    ],
    ids=["blanks", "tabs", "carriage returns", "byte order mark", "comments", "empty lines"],
)
def test_whatever_stands_between_them_the_fields_are_the_same(text):
    assert judged(judgments_in(text)) == [("q1", "d1", "x", 1), ("q1", "d2", "x", 0)]


def test_a_hash_is_data_everywhere_but_in_column_1():
    assert judged(judgments_in(b" #q1 # #d1 1\n#q2 0 d2 1\n", assessor_in_column=True)) == [("#q1", "#d1", "#", 1)]


def test_labels_that_are_no_utf8_survive_reading_and_writing():
    text = b"caf\xe9 0 \xff\xfe 1\n"
    judgments = judgments_in(text)
    assert judgments.topics[0].encode("utf-8", "surrogateescape") == b"caf\xe9"
    assert format_qrels(judgments).encode("utf-8", "surrogateescape") == text


def test_several_files_are_one_assessor_or_system_each_over_the_same_labels():
    words = Words()
    parsed = [
        (name, parse(text, name, QRELS, words))
        for name, text in (("ann", b"t 0 d 1\n"), ("bob", b"u 0 d 2\nt 0 e 0\n"))
    ]
    assert judged(judgments_from(parsed)) == [("t", "d", "ann", 1), ("u", "d", "bob", 2), ("t", "e", "bob", 0)]
    assert judgments_from(parsed).documents == ("d", "e")
    lists = [(name, parse(b"t Q0 d 1 2.5 tag\n", name, RUN, words)) for name in ("A", "B")]
    assert retrieved(runs_from(lists)) == [("A", "t", "d", 2.5), ("B", "t", "d", 2.5)]


def test_declared_scales_come_along():
    parsed = [("ann", parse(b"t 0 d 1\n", "ann", QRELS))]
    assert str(judgments_from(parsed, scales={"*": "0-3"}).scales[0]) == "0-3"


# ---- mistakes

RUN_LINE = "expected 'topic Q0 document rank score tag', found"
QRELS_LINE = "expected 'topic iteration document grade', found"
SWAPPED = "were runs and judgments swapped?"
TREC_RAG = "(judgments of TREC RAG: trec-rag:FILE)"
MISTAKES = [
    (RUN, b"q Q0 d 1 2.5 tag\nq Q0 e 2 1.5\n", f"f, line 2: {RUN_LINE} 5 fields"),
    (RUN, b"# x\n\nq Q0 d 1\n", f"f, line 3: {RUN_LINE} 4 fields, like qrels; {SWAPPED}"),
    (RUN, b"q 0 d 1\n", f"f, line 1: {RUN_LINE} 4 fields, like qrels; {SWAPPED}"),
    (RUN, b"one\n", f"f, line 1: {RUN_LINE} 1 field"),
    (QRELS, b"q 0 d 1\nq 0 d\n", f"f, line 2: {QRELS_LINE} 3 fields"),
    (QRELS, b"q Q0 d 1 2.5 tag\n", f"f, line 1: {QRELS_LINE} 6 fields, like a run; {SWAPPED} {TREC_RAG}"),
    (QRELS, b"\xef\xbb\xbf\r\nq 0 d", f"f, line 2: {QRELS_LINE} 3 fields"),
    (RUN, b"q Q0 d 1 high tag\n", "f, line 1: expected a finite number as score, found 'high'"),
    (RUN, b"q Q0 d 1 1 tag\nq Q0 e 1 nan tag\n", "f, line 2: expected a finite number as score, found 'nan'"),
    (RUN, b"q Q0 d 1 -inf tag\n", "f, line 1: expected a finite number as score, found '-inf'"),
    (RUN, b"q Q0 d 1 1e999 tag\n", "f, line 1: expected a finite number as score, found '1e999'"),
    (RUN, b"q Q0 d 1 1_0 tag\n", "f, line 1: expected a finite number as score, found '1_0'"),
    (RUN, b"q Q0 d 1 1,5 tag\n", "f, line 1: expected a finite number as score, found '1,5'"),
    (QRELS, b"q 0 d relevant\n", "f, line 1: expected a finite number as grade, found 'relevant'"),
    (QRELS, b"q 0 d NaN\n", "f, line 1: expected a finite number as grade, found 'NaN'"),
    (QRELS, b"q 0 d Infinity\n", "f, line 1: expected a finite number as grade, found 'Infinity'"),
    (QRELS, b"q 0 d 1_000\n", "f, line 1: expected a finite number as grade, found '1_000'"),
    (QRELS, "q 0 d ٣\n".encode(), "f, line 1: expected a finite number as grade, found '٣'"),
    (QRELS, b"q 0 d \xff\n", "f, line 1: expected a finite number as grade, found '\ufffd'"),
    (QRELS, b"q 0 d " + b"x" * 500, f"f, line 1: expected a finite number as grade, found '{'x' * 60}...'"),
    (QRELS, b"#\n# only comments\n", "f: holds no line of qrels; expected 'topic iteration document grade'"),
    (RUN, b"\n \n", "f: holds no line of a run; expected 'topic Q0 document rank score tag'"),
    (QRELS, "q 0 d 1\n".encode("utf-16"), "f: is not plain text: it holds zero bytes, as UTF-16 and binary files do"),
    (RUN, bytes(range(256)) * 4, "f: is not plain text: it holds zero bytes, as UTF-16 and binary files do"),
]


@pytest.mark.parametrize(("format", "text", "message"), MISTAKES)
def test_a_mistake_is_one_line_with_file_line_and_what_was_expected(format, text, message):
    with pytest.raises(FileError) as error:
        parse(text, "f", format)
    assert str(error.value) == message
    assert "\n" not in message


def test_a_document_twice_in_a_list_is_named_with_both_lines():
    text = b"# x\nq Q0 d 1 3 tag\nq Q0 e 2 2 tag\nr Q0 d 1 1 tag\n\nq Q0 d 3 1 tag\n"
    with pytest.raises(FileError) as error:
        runs_in(text)
    expected = "x.run, line 6: document d is in the list of topic q twice (first in line 2); keep one of them"
    assert (str(error.value), error.value.line) == (expected, 6)


def test_a_document_judged_twice_is_no_mistake():
    assert judged(judgments_in(b"q 0 d 1\nq 0 d 2\n")) == [("q", "d", "x", 1), ("q", "d", "x", 2)]


def test_every_mistake_of_a_file_is_found():
    text = b"q Q0 d 1 2.5 tag\nshort line\nq Q0 e 2 x tag\n# fine\nq Q0 d 3 nan tag\n"
    assert [error.line for error in mistakes(text, "f", RUN)] == [2, 3, 5, 5]
    assert list(mistakes(b"q Q0 d 1 2.5 tag\n", "f", RUN)) == []


# ---- writing

simple = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="#"), min_size=1, max_size=4
)
scores = st.floats(allow_nan=False, allow_infinity=False)


@few
@given(st.lists(st.tuples(simple, simple, simple, scores), min_size=1))
def test_qrels_are_read_back_as_they_were_written(rows):
    judgments = Judgments.from_rows(rows)
    again = judgments_in(format_qrels(judgments, assessor_in_column=True).encode(), assessor_in_column=True)
    assert judged(again) == rows
    assert [row[:2] for row in judged(judgments_in(format_qrels(judgments).encode()))] == [row[:2] for row in rows]


@given(
    st.lists(
        st.tuples(st.sampled_from(["s", "é2"]), st.sampled_from(["t", "10", "9"]), simple, scores),
        min_size=1,
        unique_by=lambda row: row[:3],
    )
)
def test_a_run_is_written_best_first_and_read_back_as_it_was(rows):
    nested = {system: {} for system, *_ in rows}
    for system, topic, document, score in rows:
        nested[system].setdefault(topic, {})[document] = score
    runs = Runs.from_dict(nested)
    for system in runs.systems:
        text = format_run(runs, system)
        again = runs_from([(system, parse(text.encode(), "x", RUN))])
        assert sorted(retrieved(again)) == sorted(row for row in retrieved(runs) if row[0] == system)
        assert again.rank_contradictions == 0
        ranks = {}
        for line in text.splitlines():
            topic, _, _, rank, score, tag = line.split(" ")
            ranks.setdefault(topic, []).append((int(rank), -float(score)))
            assert tag == system
        assert all(found == sorted(found) and found[-1][0] == len(found) for found in ranks.values())


def test_grades_are_written_as_people_write_them():
    assert format_qrels(Judgments.from_rows([("t", "d", "a", 2), ("t", "e", "a", 0.1), ("t", "f", "a", -2)])) == (
        "t 0 d 2\nt 0 e 0.1\nt 0 f -2\n"
    )


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (("t", "two words", "a", 1), "label 'two words' holds a blank"),
        (("t\n", "d", "a", 1), r"label 't\\n' holds a blank"),
        (("#t", "d", "a", 1), "label '#t' starts a comment"),
        (("", "d", "a", 1), "label '' is empty"),
    ],
)
def test_labels_that_trec_cannot_hold_are_refused(row, problem):
    with pytest.raises(ArgumentError, match=f"^{problem}, so TREC's formats cannot hold it; write a table instead$"):
        format_qrels(Judgments.from_rows([row]))
    with pytest.raises(ArgumentError, match=f"^{problem}"):
        format_run(Runs.from_dict({"A": {row[0]: {row[1]: 1.0}}}), "A")


def test_an_unknown_system_is_answered_with_the_nearest():
    with pytest.raises(ArgumentError, match=r"no system is called 'bm52'; did you mean 'bm25'\?"):
        format_run(Runs.from_dict({"bm25": {"t": {"d": 1.0}}}), "bm52")


def test_the_tag_of_a_run_may_hold_blanks_and_names_no_system_then(tmp_path):
    text = b"\xef\xbb\xbf# made by hand\nq1 Q0 d1 1 2.5 my run v2 \n #q Q0 d1 1 2 my run v2\nq1 Q0 d2 2 1.5 a\r\n"
    (tmp_path / "mine.run").write_bytes(text)
    runs = qrowd.read_runs(tmp_path / "mine.run")
    assert (runs.systems, runs.topics, runs.documents) == (("mine",), ("q1", "#q"), ("d1", "d2"))
    assert runs.score.tolist() == [2.5, 2.0, 1.5]
    with pytest.raises(FileError, match=r"line 2: .* found 8 fields; a tag with blanks cannot name a system: join its"):
        qrowd.read_runs(tmp_path / "mine.run", system="column")


def test_mistakes_of_a_run_whose_tags_hold_blanks_name_their_line():
    text = b"q1 Q0 d1 1 2.5 my run v2\nq1 Q0 d1 2 x my run v2\nq1 Q0 d2 2\n"
    with pytest.raises(FileError, match=r"r.run, line 2: expected a finite number as score, found 'x'"):
        parse(text, "r.run", RUN)
    problems = [str(error) for error in mistakes(text, "r.run", RUN)]
    assert [problem.split(":")[0] for problem in problems] == ["r.run, line 2", "r.run, line 2", "r.run, line 3"]
