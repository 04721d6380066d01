"""Data frames at the door: the column names of the field, any library's frames, and what is refused."""

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from qrowd import read_judgments
from qrowd.errors import ArgumentError, RowError
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table, "plain columns": dict}


@pytest.fixture(params=LIBRARIES)
def frame_of(request):
    """Makes a frame from columns, with one library after the other."""
    return LIBRARIES[request.param]


def judged(judgments):
    """(topic, document, assessor, value) of every row."""
    labels = zip(judgments.topic, judgments.document, judgments.assessor, judgments.value.tolist(), strict=True)
    return [(judgments.topics[t], judgments.documents[d], judgments.assessors[a], v) for t, d, a, v in labels]


def retrieved(runs):
    """(system, topic, document, score) of every row."""
    labels = zip(runs.system, runs.topic, runs.document, runs.score.tolist(), strict=True)
    return [(runs.systems[s], runs.topics[t], runs.documents[d], v) for s, t, d, v in labels]


# ---- names

JUDGMENT_FRAMES = {
    "qrowd": {"topic": ["q1", "q2"], "document": ["d1", "d2"], "assessor": ["ann", "ann"], "value": [2, 0]},
    "ir_measures": {"query_id": ["q1", "q2"], "doc_id": ["d1", "d2"], "relevance": [2, 0], "iteration": ["0", "0"]},
    "PyTerrier": {"qid": ["q1", "q2"], "docno": ["d1", "d2"], "label": [2, 0]},
    "ranx": {"q_id": ["q1", "q2"], "doc_id": ["d1", "d2"], "score": [2, 0]},
    "trectools": {"query": ["q1", "q2"], "q0": ["0", "0"], "docid": ["d1", "d2"], "rel": [2, 0]},
    "rf10": {
        "topicID": ["q1", "q2"],
        "workerID": ["ann", "ann"],
        "docID": ["d1", "d2"],
        "gold": [-1, 1],
        "label": [2, 0],
    },
}
RUN_FRAMES = {
    "qrowd": {"system": ["A", "A"], "topic": ["q1", "q2"], "document": ["d1", "d2"], "score": [2.5, 0.5]},
    "ir_measures": {"query_id": ["q1", "q2"], "doc_id": ["d1", "d2"], "score": [2.5, 0.5]},
    "PyTerrier": {
        "qid": ["q1", "q2"], "query": ["what is", "who was"], "docid": [11, 12], "docno": ["d1", "d2"],
        "rank": [0, 0], "score": [2.5, 0.5],
    },
    "ranx": {"q_id": ["q1", "q2"], "doc_id": ["d1", "d2"], "score": [2.5, 0.5]},
    "trectools": {
        "query": ["q1", "q2"], "q0": ["Q0", "Q0"], "docid": ["d1", "d2"], "rank": [1, 1], "score": [2.5, 0.5],
        "system": ["A", "A"],
    },
}  # fmt: skip


@pytest.mark.parametrize("package", JUDGMENT_FRAMES)
def test_the_names_of_every_package_are_understood_for_judgments(package, frame_of):
    judgments = Judgments.from_frame(frame_of(JUDGMENT_FRAMES[package]), assessor="ann")
    assert judged(judgments) == [("q1", "d1", "ann", 2), ("q2", "d2", "ann", 0)]


@pytest.mark.parametrize("package", RUN_FRAMES)
def test_the_names_of_every_package_are_understood_for_runs(package, frame_of):
    runs = Runs.from_frame(frame_of(RUN_FRAMES[package]), system="A")
    assert retrieved(runs) == [("A", "q1", "d1", 2.5), ("A", "q2", "d2", 0.5)]


def test_what_ir_measures_makes_is_read_as_it_is():
    qrels = pd.DataFrame([ir_measures.Qrel("q1", "d1", 2), ir_measures.Qrel("q1", "d2", 0)])
    run = pd.DataFrame([ir_measures.ScoredDoc("q1", "d1", 2.5)])
    assert judged(Judgments.from_frame(qrels, assessor="nist")) == [("q1", "d1", "nist", 2), ("q1", "d2", "nist", 0)]
    assert retrieved(Runs.from_frame(run, system="bm25")) == [("bm25", "q1", "d1", 2.5)]


def test_other_names_can_be_given_and_go_before_the_usual_ones():
    frame = {"topic": ["t"], "query": ["q"], "document": ["d"], "who": ["ann"], "grade": [1], "second look": [2]}
    names = {"topic": "query", "assessor": "who", "value": "second look"}
    assert judged(Judgments.from_frame(frame, columns=names)) == [("q", "d", "ann", 2)]


def test_a_column_given_for_one_thing_is_not_taken_for_another():
    frame = {"topic": ["t"], "document": ["d"], "label": ["ann"], "rel": [2]}
    assert judged(Judgments.from_frame(frame, columns={"assessor": "label"})) == [("t", "d", "ann", 2)]


def test_the_one_assessor_or_system_named_stands_in_only_where_there_is_no_column():
    judgments = {"topic": ["t"], "document": ["d"], "assessor": ["bob"], "value": [1]}
    runs = {"topic": ["t"], "document": ["d"], "system": ["B"], "score": [1]}
    assert Judgments.from_frame(judgments, assessor="ann").assessors == ("bob",)
    assert Runs.from_frame(runs, system="A").systems == ("B",)


def test_optional_columns_come_along_and_missing_ones_are_none(frame_of):
    frame = frame_of(
        {
            "topic": ["t", "t"], "document": ["d", "e"], "assessor": ["a", "a"], "value": [1, 0], "order": [2, None],
            "seconds": [1.5, None], "unit": ["u1", None], "timestamp": ["2020-01-01", None], "comment": ["why", None],
        }
    )  # fmt: skip
    judgments = Judgments.from_frame(frame)
    np.testing.assert_array_equal(judgments.order, [2, np.nan])
    np.testing.assert_array_equal(judgments.seconds, [1.5, np.nan])
    assert judgments.unit.tolist() == ["u1", None]
    assert judgments.time.tolist() == ["2020-01-01", None]
    assert judgments.comment.tolist() == ["why", None]
    bare = Judgments.from_frame(frame_of({"topic": ["t"], "document": ["d"], "assessor": ["a"], "value": [1]}))
    assert [getattr(bare, name) for name in Judgments.OPTIONAL] == [None] * len(Judgments.OPTIONAL)


# ---- labels and numbers


def test_labels_stay_text_and_whole_numbers_become_text(frame_of):
    frame = frame_of({"topic": ["0012", "12"], "document": [7, 12345678901234567], "value": [1, 1]})
    judgments = Judgments.from_frame(frame, assessor="a")
    assert judgments.topics == ("0012", "12")
    assert judgments.documents == ("7", "12345678901234567")


def test_an_empty_label_is_a_missing_one(frame_of):
    with pytest.raises(RowError, match=r"^row 2: assessor is missing \(1 such row\)"):
        Judgments.from_frame(frame_of({**GOOD, "assessor": ["x", ""]}))


@pytest.mark.parametrize(
    "topic",
    [pd.Categorical(["x", "y"]), pd.array(["x", "y"], "string"), np.array(["x", "y"]), pd.array([1, 2], "Int64")],
    ids=["categories", "strings", "objects", "integers that may be missing"],
)
def test_labels_of_any_pandas_kind_are_read(topic):
    frame = pd.DataFrame({"topic": topic, "document": ["d", "d"], "value": [1, 0]})
    assert Judgments.from_frame(frame, assessor="a").topics == tuple(map(str, topic))


MISSING = {
    "pandas": lambda name: pd.DataFrame({**GOOD, name: [GOOD[name][0], None]}),
    "pandas Int64": lambda name: pd.DataFrame({**GOOD, name: pd.array([1, None], "Int64")}),
    "pandas string": lambda name: pd.DataFrame({**GOOD, name: pd.array(["1", None], "string")}),
    "polars": lambda name: pl.DataFrame({**GOOD, name: [GOOD[name][0], None]}),
    "pyarrow": lambda name: pa.table({**GOOD, name: [GOOD[name][0], None]}),
    "plain columns": lambda name: {**GOOD, name: [GOOD[name][0], None]},
}
GOOD = {"topic": ["t", "t"], "document": ["d", "e"], "assessor": ["a", "a"], "value": [1, 0]}


@pytest.mark.parametrize("library", MISSING)
@pytest.mark.parametrize("name", ["topic", "document", "assessor"])
def test_a_missing_label_is_an_error_with_its_row(library, name):
    with pytest.raises(RowError, match=f"^row 2: {name} is missing ") as error:
        Judgments.from_frame(MISSING[library](name))
    hint = (
        "--incomplete-rows drop leaves them out; in Python incomplete_rows='drop' does, of read_judgments, or of "
        "Judgments.from_frame for a data frame"
    )
    assert (error.value.row, error.value.problem) == (2, f"{name} is missing (1 such row); {hint}")


def test_what_is_advised_for_a_missing_cell_works(tmp_path):
    frame = pd.DataFrame({**GOOD, "value": ["low", " "]})
    frame.to_csv(tmp_path / "holes.csv", index=False)
    read = read_judgments(tmp_path / "holes.csv", labels="low<high", incomplete_rows="drop")
    of_frame = Judgments.from_frame(frame, labels="low<high", incomplete_rows="drop")
    assert read.to_dict() == of_frame.to_dict() == {"a": {"t": {"d": 0}}}


@pytest.mark.parametrize("library", MISSING)
def test_a_missing_value_is_an_error_with_its_row(library):
    with pytest.raises(RowError, match=r"^row 2: value is missing \(1 such row\)"):
        Judgments.from_frame(MISSING[library]("value"))


@pytest.mark.parametrize("label", [12.5, 2.0**60, b"t"])
def test_labels_that_could_be_written_in_several_ways_are_refused(label, frame_of):
    with pytest.raises(RowError, match=r"row 1: topic is .*; give labels as text or whole numbers"):
        Judgments.from_frame(frame_of({**GOOD, "topic": [label, label]}))


@pytest.mark.parametrize("value", ["x", "1_0", "inf", "٣"])
def test_text_that_is_no_finite_number_is_refused_with_its_row(value, frame_of):
    with pytest.raises(RowError, match=f"^row 2: expected a finite number as value, found {value!r}$"):
        Judgments.from_frame(frame_of({**GOOD, "value": ["1.5", value]}))
    with pytest.raises(RowError, match=r"^row 2: expected a finite number as score"):
        Runs.from_frame(frame_of({"topic": ["t", "t"], "document": ["d", "e"], "score": ["1", value]}), system="A")


def test_a_value_that_is_not_finite_is_refused_with_its_row(frame_of):
    with pytest.raises(RowError, match=r"^row 2: expected a finite number as value"):
        Judgments.from_frame(frame_of({**GOOD, "value": [1.0, float("inf")]}))


@pytest.mark.parametrize("value", ["nan", "", " ", "NaN", "null", "n/a"])
def test_text_that_says_there_is_no_value_is_a_missing_one(value, frame_of):
    with pytest.raises(RowError, match=r"^row 2: value is missing"):
        Judgments.from_frame(frame_of({**GOOD, "value": ["1.5", value]}))


def test_an_order_or_rank_may_be_missing_but_not_be_something_else(frame_of):
    assert np.isnan(Judgments.from_frame(frame_of({**GOOD, "order": [1.0, float("nan")]})).order[1])
    with pytest.raises(RowError, match=r"^row 1: expected a finite number as order, found 'first'$"):
        Judgments.from_frame(frame_of({**GOOD, "order": ["first", "second"]}))
    run = {"topic": ["t", "t"], "document": ["d", "e"], "score": [1, 2], "rank": ["1", "x"]}
    with pytest.raises(RowError, match=r"^row 2: expected a finite number as rank, found 'x'$"):
        Runs.from_frame(frame_of(run), system="A")


# ---- what is missing or unknown


@pytest.mark.parametrize("name", ["topic", "document", "value"])
def test_a_missing_column_is_named_with_what_is_there_and_how_to_name_it(name, frame_of):
    frame = frame_of({column: cells for column, cells in GOOD.items() if column != name})
    there = ", ".join(column for column in GOOD if column != name)
    remedy = f"rename it, or name the column by --column, where it is an option: {name}=HEADER"
    expected = rf"no {name} column \(one of {name}, .*\) among {there}; {remedy}"
    with pytest.raises(ArgumentError, match=expected):
        Judgments.from_frame(frame)


@pytest.mark.parametrize(
    ("read", "columns"),
    [(Judgments, ["ranker", "query", "Product ID", "position"]), (Runs, ["query", "product", "annotator", "label"])],
)
def test_a_table_of_the_other_kind_is_met_by_the_question_whether_both_were_swapped(read, columns):
    with pytest.raises(
        ArgumentError, match=f"the columns {', '.join(columns)} are those of .*; were runs and judgments "
    ):
        read.from_frame(pd.DataFrame({column: ["1"] for column in columns}))


def test_names_that_are_unknown_or_not_there_are_refused():
    with pytest.raises(
        ArgumentError, match=r"columns: there is no role 'grade'; choose from topic, document, assessor, value"
    ):
        Judgments.from_frame(GOOD, columns={"grade": "value"})
    with pytest.raises(ArgumentError, match=r"column value=g: the columns are topic, document, "):
        Judgments.from_frame(GOOD, columns={"value": "g"})


def test_a_library_that_is_unknown_or_not_there_is_refused():
    judgments = Judgments.from_frame(GOOD)
    with pytest.raises(ArgumentError, match="backend='spark': choose pandas, polars or pyarrow"):
        judgments.to_frame("spark")
    with pytest.raises(ArgumentError, match="backend='modin' is not installed here"):
        judgments.to_frame("modin")


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_a_frame_comes_in_the_kind_asked_for_and_with_everything_recorded(backend, kind):
    columns = {**GOOD, "order": [2.0, 1.0], "comment": ["why", None]}
    frame = Judgments.from_frame(columns).to_frame(backend)
    assert isinstance(frame, kind)
    again = Judgments.from_frame(frame)
    assert judged(again) == [("t", "d", "a", 1), ("t", "e", "a", 0)]
    assert again.order.tolist() == [2, 1]
    assert again.comment.tolist() == ["why", None]


def test_reading_a_frame_does_not_change_it():
    frame = pd.DataFrame({**GOOD, "order": [2, 1]})
    before = frame.copy(deep=True)
    Judgments.from_frame(frame).recode({1: 2})
    pd.testing.assert_frame_equal(frame, before)
