"""Tables: every format gives the same judgments and runs, and every mistake is named by its line."""

import json
from io import BytesIO

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd import evaluate
from qrowd.errors import FileError
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.tables import from_table, is_table, read_table, table_kind
from strategies import few


def as_parquet(frame):
    into = BytesIO()
    frame.to_parquet(into, index=False)
    return into.getvalue()


WRITERS = {
    "csv": lambda frame: frame.to_csv(index=False).encode(),
    "tsv": lambda frame: frame.to_csv(index=False, sep="\t").encode(),
    "jsonl": lambda frame: "".join(json.dumps(row) + "\n" for row in frame.to_dict("records")).encode(),
    "parquet": as_parquet,
}


def judged(judgments):
    """(topic, document, assessor, value) of every row."""
    labels = zip(judgments.topic, judgments.document, judgments.assessor, judgments.value.tolist(), strict=True)
    return [(judgments.topics[t], judgments.documents[d], judgments.assessors[a], v) for t, d, a, v in labels]


def retrieved(runs):
    """(system, topic, document, score) of every row."""
    labels = zip(runs.system, runs.topic, runs.document, runs.score.tolist(), strict=True)
    return [(runs.systems[s], runs.topics[t], runs.documents[d], v) for s, t, d, v in labels]


def rows_of(table):
    """The cells of a text table, row by row."""
    return list(zip(*table.columns.values(), strict=True))


# ---- round trips

labels = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=5).filter(str.strip)
rows = st.lists(
    st.tuples(labels, labels, labels, st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=8
)


@pytest.mark.parametrize("ending", WRITERS)
@few
@given(rows=rows)
def test_judgments_come_back_from_every_format_to_the_last_digit(ending, rows):
    frame = Judgments.from_rows(rows).to_frame()
    assert judged(from_table(Judgments, WRITERS[ending](frame), f"x.{ending}")) == rows


@pytest.mark.parametrize("ending", WRITERS)
def test_runs_come_back_from_every_format(ending):
    frame = pd.DataFrame(
        {"run": ["A", "B"], "qid": ["007", "7"], "docno": ["d", "d"], "score": [0.1, 1 / 3], "rank": [1, 1]}
    )
    runs = from_table(Runs, WRITERS[ending](frame), f"x.{ending}", system="x")
    assert retrieved(runs) == [("A", "007", "d", 0.1), ("B", "7", "d", 1 / 3)]
    assert runs.rank.tolist() == [1, 1]


@pytest.mark.parametrize("ending", WRITERS)
def test_what_else_was_recorded_comes_back_and_empty_cells_are_missing(ending):
    frame = pd.DataFrame(
        {
            "topic": ["01", "01"], "document": ["d", "e"], "assessor": ["a", "a"], "value": [1.5, 0.0], "order": [2, 1],
            "seconds": [0.5, 12.25], "comment": ['she said "no",\nthen\tyes', ""],
        }
    )  # fmt: skip
    judgments = from_table(Judgments, WRITERS[ending](frame), f"x.{ending}")
    assert judgments.order.tolist() == [2, 1]
    assert judgments.seconds.tolist() == [0.5, 12.25]
    assert judgments.comment[0] == 'she said "no",\nthen\tyes'
    assert not judgments.comment[1]


def test_frames_of_other_libraries_write_files_that_are_read():
    columns = {"qid": ["01"], "docno": ["d"], "worker": ["w"], "label": [2]}
    into = BytesIO()
    pl.DataFrame(columns).write_parquet(into)
    assert judged(from_table(Judgments, into.getvalue(), "x.parquet")) == [("01", "d", "w", 2)]
    assert judged(from_table(Judgments, pl.DataFrame(columns).write_csv().encode(), "x.csv")) == [("01", "d", "w", 2)]
    assert judged(from_table(Judgments, pl.DataFrame(columns).write_ndjson().encode(), "x.ndjson")) == [
        ("01", "d", "w", 2)
    ]


def test_names_that_pandas_keeps_in_the_index_are_found_in_parquet():
    frame = pd.DataFrame({"qid": ["1"], "docno": ["d"], "label": [2]}).set_index(["qid", "docno"])
    into = BytesIO()
    frame.to_parquet(into)
    assert judged(from_table(Judgments, into.getvalue(), "x.parquet", assessor="nist")) == [("1", "d", "nist", 2)]


# ---- text tables


def test_cells_stay_text_and_empty_ones_are_none():
    table = read_table(b"topic,document,value\n0012,NA,1\n,nan,1e3\n", "x.csv")
    assert rows_of(table) == [("0012", "NA", "1"), (None, "nan", "1e3")]
    assert table.lines is not None
    assert list(table.lines) == [2, 3]


@pytest.mark.parametrize(
    "text",
    [
        b"topic,document,assessor,value\nt,d,a,1\nt,e,a,0\n",
        b"\xef\xbb\xbftopic,document,assessor,value\r\nt,d,a,1\r\nt,e,a,0",
        b'"topic","document","assessor","value"\n"t","d","a","1"\n\n"t","e","a","0"\n\n',
        b"\n\ntopic\tdocument\tassessor\tvalue\nt\td\ta\t1\nt\te\ta\t0\n",
        b"topic document   assessor value \nt  d a\t1\n\nt e a 0",
        b" topic , document,assessor,value\nt,d,a,1\n,,,\nt,e,a,0\n",
        b'{"topic": "t", "document": "d", "assessor": "a", "value": 1}\n\n{"value": 0, "topic": "t", "document": "e", '
        b'"assessor": "a"}',
    ],
    ids=["plain", "byte order mark", "quotes", "tabs", "blanks", "untidy header", "JSON"],
)
@pytest.mark.parametrize("name", ["x.csv.gz", "standard input"])
def test_the_separator_is_seen_in_the_file_and_not_in_its_name(text, name):
    if not (name == "x.csv.gz" and text.startswith(b"{")):
        assert is_table(text, name)
        assert judged(from_table(Judgments, text, name)) == [("t", "d", "a", 1), ("t", "e", "a", 0)]


def test_a_quoted_cell_may_go_over_several_lines_and_lines_are_still_counted_right():
    text = b'topic,document,assessor,value,comment\nt,d,a,1,"one\ntwo\n\nthree"\n\nt,e,a,x,fine\n'
    assert rows_of(read_table(text, "x.csv"))[0][-1] == "one\ntwo\n\nthree"
    with pytest.raises(FileError, match=r"^x.csv, line 7: expected a finite number as value, found 'x'$"):
        from_table(Judgments, text, "x.csv")


def test_whole_numbers_in_json_are_labels_and_doubles_are_read_to_the_last_digit():
    text = b'{"qid": 12, "docno": "007", "score": 0.30000000000000004}\n{"qid": 12, "docno": 7, "score": 1e-7}\n'
    runs = from_table(Runs, text, "x.jsonl", system="A")
    assert retrieved(runs) == [("A", "12", "007", 0.30000000000000004), ("A", "12", "7", 1e-7)]


def test_labels_that_are_no_utf8_survive():
    judgments = from_table(Judgments, b"topic,document,value\ncaf\xe9,d,1\n", "x.csv", assessor="a")
    assert judgments.topics[0].encode("utf-8", "surrogateescape") == b"caf\xe9"


def test_the_file_names_the_assessor_or_system_only_where_no_column_does():
    assert from_table(Judgments, b"topic,document,value\nt,d,1\n", "x.csv", assessor="x").assessors == ("x",)
    assert from_table(Judgments, b"topic,document,judge,value\nt,d,j,1\n", "x.csv", assessor="x").assessors == ("j",)
    assert from_table(Runs, b"topic,document,score\nt,d,1\n", "x.csv", system="x").systems == ("x",)
    assert from_table(Runs, b"topic,document,tag,score\nt,d,A,1\n", "x.csv", system="x").systems == ("A",)


def test_declared_scales_come_along():
    text = b"topic,document,assessor,value\nt,d,ann,1\n"
    assert str(from_table(Judgments, text, "x.csv", scales={"a*": "0-3"}).scales[0]) == "0-3"


# ---- what is a table, and of what


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.qrels", b"q1 0 d1 1\n"),
        ("x.tsv", b"q1\t0\td1\t1\n"),
        ("x.txt", b"# topic iteration document grade\nq1 0 d1 1\n"),
        ("x.txt", b"task 0 d1 1\n"),
        ("x.txt", b"topic 0 d1 1\n"),
        ("x.txt", b"#\n"),
    ],
)
def test_lines_of_trec_are_no_table(name, text):
    assert not is_table(text, name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.CSV", b"a,b\n"),
        ("x.jsonl.gz", b""),
        ("x.parquet", b""),
        ("x", b"PAR1..."),
        ("x", b'{"topic": 1}'),
        ("x.txt", b"topicID\tworkerID\tdocID\tgold\tlabel\n"),
        ("-", b"qid,docno,label\n"),
    ],
)
def test_a_table_is_told_by_its_ending_or_its_beginning(name, text):
    assert is_table(text, name)


@pytest.mark.parametrize(
    ("header", "runs"),
    [
        ("system,topic,document,score", True),
        ("qid,docno,rank,score", True),
        ("q_id,doc_id,score", True),
        ("query,q0,docid,rank,score,system", True),
        ("qid,docno,label", False),
        ("query_id,doc_id,relevance,iteration", False),
        ("task,worker,label", False),
        ("topic,document,assessor,score", False),
    ],
)
def test_runs_are_told_from_judgments_by_their_columns(header, runs):
    text = f"{header}\n{','.join('1' for _ in header.split(','))}\n".encode()
    assert (table_kind(text, "x.csv") == "runs") is runs


# ---- mistakes

NUMBER = "expected a finite number as value, found"
CELLS = "expected 3 cells, as many as columns, found"
HEADER = b"topic,document,value\n"
JSON = b'{"topic": "t", "document": "d", "value": 1}\n'
MISTAKES = [
    ("x.csv", b"topic,document\nt,d\n", ": no value column (one of value, grade, relevance, label, "),
    ("x.csv", b"topic,value\nt,1\n", ": no document column (one of document, doc_id, corpus-id, docno, "),
    ("x.csv", b"q1 0 d1 1\nq1 0 d2 1\n", ": no topic column "),
    ("x.csv", HEADER + b"t,d,1\nt,e,high\n", f", line 3: {NUMBER} 'high'"),
    ("x.csv", HEADER + b"t,d,1_0\n", f", line 2: {NUMBER} '1_0'"),
    ("x.csv", HEADER + b"t,d,nan\n", ", line 2: value is missing (1 such row); "),
    ("x.csv", HEADER + b"\nt,d,\n", ", line 3: value is missing (1 such row); "),
    ("x.csv", HEADER + b"t,,1\n", ", line 2: document is missing"),
    ("x.csv", HEADER + b"t,d\n", f", line 2: {CELLS} 2"),
    ("x.csv", HEADER + b"t,d,1,x\n", f", line 2: {CELLS} 4"),
    ("x.csv", HEADER + b't,d,1\nt,"d,1\n', ", line 3: not a readable row, perhaps a quotation mark is not closed: "),
    ("x.csv", HEADER + b"\n", ": names columns but holds no row"),
    ("x.csv", b"topic,document,topic\nt,d,t\n", ", line 1: two columns are called 'topic'; rename or remove one"),
    ("x.tsv", HEADER.replace(b",", b"\t") + b"t\td\t1\nt d 1\n", f", line 3: {CELLS} 1"),
    ("x.jsonl", JSON + b'{"topic": \n', ", line 2: not JSON: "),
    ("x.jsonl", b"\n[1, 2]\n", ", line 2: expected one JSON object a line, found '[1, 2]'"),
    ("x.jsonl", JSON + b'\n{"topic": "t", "value": 1}\n', ", line 3: document is missing"),
    ("x.jsonl", JSON.replace(b"1", b"NaN"), ", line 1: value is missing (1 such row); "),
    ("x.jsonl", JSON.replace(b'"t"', b"1.5"), ", line 1: topic is 1.5; give labels as text or whole numbers"),
    ("x.parquet", b"PAR1 and then garbage", ": not readable as Parquet: "),
    ("x.parquet", bytes(range(256)), ": not readable as Parquet: "),
    ("x.parquet", b"", ": not readable as Parquet: "),
]


@pytest.mark.parametrize(("name", "text", "message"), MISTAKES)
def test_a_mistake_is_one_line_with_file_and_line(name, text, message):
    with pytest.raises(FileError) as error:
        from_table(Judgments, text, name, assessor="a")
    assert str(error.value).startswith(name + message)
    assert "\n" not in str(error.value)


def test_a_document_twice_in_a_list_is_named_with_its_line():
    text = b"topic,document,score\n\nt,d,1\nt,e,1\nt,d,2\n"
    expected = "^x.csv, line 5: system A, topic t, document d: the document is in the list twice$"
    with pytest.raises(FileError, match=expected):
        from_table(Runs, text, "x.csv", system="A")


def test_judgments_given_as_runs_are_refused():
    with pytest.raises(FileError, match=r"^x.csv: the columns topic, document, label are those of judgments;"):
        from_table(Runs, b"topic,document,label\nt,d,1\n", "x.csv", system="A")


def test_parquet_has_rows_instead_of_lines():
    frame = pd.DataFrame({"topic": ["t", None], "document": ["d", "e"], "value": [1, 2]})
    with pytest.raises(FileError, match=r"^x.parquet: row 2: topic is missing \(1 such row\)"):
        from_table(Judgments, as_parquet(frame), "x.parquet", assessor="a")
    with pytest.raises(FileError, match=r"^x.parquet: names columns but holds no row$"):
        from_table(Judgments, as_parquet(frame[:0]), "x.parquet", assessor="a")


@pytest.mark.parametrize("cut", [4, 40, -9])
def test_a_truncated_parquet_file_is_refused(cut):
    whole = as_parquet(pd.DataFrame({"topic": ["t"], "document": ["d"], "value": [1]}))
    with pytest.raises(FileError, match=r"^x.parquet: not readable as Parquet: "):
        from_table(Judgments, whole[:cut], "x.parquet", assessor="a")


def test_parquet_keeps_categories_and_whole_numbers_as_labels():
    table = pa.table({"qid": pa.array(["x", "y"]).dictionary_encode(), "docno": [7, 8], "label": np.float32([0.5, 1])})
    into = BytesIO()
    pyarrow.parquet.write_table(table, into)
    assert judged(from_table(Judgments, into.getvalue(), "x.parquet", assessor="a")) == [
        ("x", "7", "a", 0.5),
        ("y", "8", "a", 1),
    ]


# ---- declared scales

SCALES = st.sampled_from(
    ["binary", "0-3", "0-12", "0-1000000", "0..1", "0..2.5", "magnitude", "magnitude normalised by geometric-mean"]
)


@pytest.mark.parametrize("ending", WRITERS)
@few
@given(data=st.data())
def test_a_table_brings_the_declared_scale_of_each_assessor_and_of_no_other(ending, data):
    scales = data.draw(st.dictionaries(labels, st.none() | SCALES, min_size=1, max_size=4))
    judgments = Judgments.from_rows([(topic, "d", name, 1) for topic in ("t", "u") for name in scales])
    stated = {name: scale for name, scale in scales.items() if scale}
    judgments = judgments.with_scales(stated) if stated else judgments
    frame = judgments.to_frame()
    assert ("scale" in frame) == bool(stated)
    again = from_table(Judgments, WRITERS[ending](frame), f"x.{ending}")
    assert [str(s) if s.declared else None for s in again.scales] == [scales[name] for name in again.assessors]
    assert Judgments.from_frame(frame).scales == again.scales


HEAD = "topic,document,assessor,value,scale\n"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "t,d,a,1,0-3\nt,e,a,1,\nt,d,b,1,binary\nt,f,a,1,0-2\n",
            "line 5: assessor a is on scale 0-2 here and on 0-3 in an earlier row; give every assessor one scale, "
            "or two names",
        ),
        ("t,d,a,1,0-3\nt,d,b,4,0-3\n", "line 3: assessor b: value 4 is above the scale's maximum 3 (scale 0-3)"),
        ("t,d,a,4,\nt,d,b,4,binary\n", "line 3: assessor b: value 4 is above the scale's maximum 1 (scale binary)"),
        ("t,d,a,0,magnitude\n", "line 2: assessor a: a magnitude must be above 0 (scale magnitude)"),
        (
            "t,d,a,1,0-3\nt,d,b,1,high\n",
            "line 3: scale 'high' is not understood; write binary, 0-3, 0..1, magnitude or magnitude normalised",
        ),
    ],
)
def test_a_scale_that_cannot_be_is_one_line_with_file_and_line(rows, message):
    with pytest.raises(FileError) as caught:
        from_table(Judgments, (HEAD + rows).encode(), "x.csv")
    assert str(caught.value) == f"x.csv, {message}"


def test_two_spellings_of_a_scale_are_one_and_empty_cells_state_none():
    text = HEAD + "t,d,a,1,0-1\nt,e,a,1, Binary\nt,f,a,1,NaN\nt,d,b,-1,0-3\n"
    assert [str(scale) for scale in from_table(Judgments, text.encode(), "x.csv").scales] == ["binary", "0-3"]


def test_scales_of_the_caller_count_more_than_those_of_the_table():
    text = (HEAD + "t,d,a,1,0-3\nt,d,b,1,0-2\n").encode()
    assert [str(s) for s in from_table(Judgments, text, "x.csv", scales={"a": "0-5"}).scales] == ["0-5", "0-2"]
    assert [str(s) for s in from_table(Judgments, text, "x.csv", scales={"*": "0-5"}).scales] == ["0-5", "0-5"]


def test_the_column_of_scales_has_any_name_that_the_caller_gives_it():
    (scale,) = from_table(
        Judgments, b"topic,document,value,graded on\nt,d,1,0-3\n", "x.csv", columns={"scale": "graded on"}
    ).scales
    assert str(scale) == "0-3"


def test_scales_in_categories_are_read_as_those_in_text():
    frame = pd.DataFrame({"topic": "t", "document": ["d", "e"], "assessor": ["a", "b"], "value": 1})
    scales = ["0-3", "binary"]
    read = [Judgments.from_frame(frame.assign(scale=column)).scales for column in (scales, pd.Categorical(scales))]
    assert read[0] == read[1]
    assert [str(scale) for scale in read[0]] == scales


def test_err_of_a_table_that_states_its_scale_does_not_depend_on_the_highest_grade_in_it():
    text = "topic,document,assessor,value,scale\nt,d,a,2,0-3\nt,e,a,1,0-3\n"
    runs = {"run": {"t": {"d": 2.0, "e": 1.0}}}
    stated, silent = (
        float(evaluate(runs, from_table(Judgments, one.encode(), "x.csv"), "ERR@10").values.squeeze())
        for one in (text, text.replace(",scale", ",").replace(",0-3", ","))
    )
    assert stated == 3 / 8 + 5 / 8 * 1 / 8 / 2  # chances to stop: (2^grade - 1) / 2^3
    assert silent == 3 / 4 + 1 / 4 * 1 / 4 / 2  # as if 2 were the highest grade of the scale
