"""Tables as people have them: headers in any spelling, words as grades, cells that are missing, rows that repeat."""

import csv
import io
import random
from itertools import combinations

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.errors import ArgumentError, FileError, RowError
from qrowd.model.cells import ordered_labels
from qrowd.model.headers import COLUMNS, JUDGMENT_COLUMNS, RUN_COLUMNS, header_key, kind_of
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.tables import from_table, table_kind
from strategies import few

HEADER = ("topic", "document", "assessor", "value")
WORDS = ("Irrelevant", "Complement", "Substitute", "Exact")


def judged(judgments):
    """(topic, document, assessor, value) of every row."""
    labels = zip(judgments.topic, judgments.document, judgments.assessor, judgments.value.tolist(), strict=True)
    return [(judgments.topics[t], judgments.documents[d], judgments.assessors[a], v) for t, d, a, v in labels]


def text_of(rows, header, separator, lineterminator="\n"):
    into = io.StringIO()
    csv.writer(into, delimiter=separator, lineterminator=lineterminator).writerows([header, *rows])
    return into.getvalue().encode()


# ---- headers


@st.composite
def spelled(draw, name):
    """A header as people write it: another case, other separators of its words."""
    words = name.replace("-", "_").split("_")
    words = [draw(st.sampled_from([word.lower(), word.upper(), word.capitalize()])) for word in words]
    return draw(st.sampled_from(["", " ", "_", "-", "."])).join(words)


labels = st.text("abcdeäßx0123456789 .;,_-", max_size=6).map(str.strip).filter(bool)
rows_of = st.lists(
    st.tuples(labels, labels, labels, st.integers(0, 9).map(str)),
    min_size=1,
    max_size=8,
    unique_by=lambda row: row[:3],
)


@few
@given(rows_of, st.data())
def test_any_order_spelling_and_separator_of_columns_reads_the_same_judgments(rows, data):
    expected = [(*row[:3], float(row[3])) for row in rows]
    names = [data.draw(st.sampled_from(JUDGMENT_COLUMNS[role]).flatmap(spelled)) for role in HEADER]
    order = data.draw(st.permutations(range(4)))
    separator = data.draw(st.sampled_from([",", ";", "\t"]))
    lines = data.draw(st.sampled_from(["\n", "\r\n"]))
    shuffled = [[row[i] for i in order] for row in rows]
    text = text_of(shuffled, [names[i] for i in order], separator, lines)
    assert judged(from_table(Judgments, text, "x.csv")) == expected


@few
@given(rows_of)
def test_what_is_written_as_a_table_is_read_again_as_it_was(rows):
    judgments = Judgments.from_rows([(*row[:3], float(row[3])) for row in rows])
    again = Judgments.from_frame(judgments.to_frame())
    assert judged(again) == judged(judgments)
    text = judgments.to_frame().to_csv(index=False, sep=";").encode()
    assert judged(from_table(Judgments, text, "x.csv")) == judged(judgments)


@pytest.mark.parametrize("kind", COLUMNS)
def test_no_usual_name_stands_for_two_roles_of_one_kind(kind):
    for one, other in combinations(COLUMNS[kind].values(), 2):
        assert not set(map(header_key, one)) & set(map(header_key, other))


def test_two_columns_for_one_role_are_refused_with_what_says_which():
    frame = {"topic": ["t"], "document": ["d"], "label": [2], "relevance": [1]}
    expected = r"two columns may be the value: 'label' and 'relevance'; name the column, as in value=label"
    with pytest.raises(ArgumentError, match=f"^{expected}$"):
        Judgments.from_frame(frame)
    assert Judgments.from_frame(frame, columns={"value": "relevance"}).value.tolist() == [1]
    with pytest.raises(ArgumentError, match="two columns may be the topic: 'topic' and 'TOPIC'"):
        Judgments.from_frame({**frame, "TOPIC": ["u"]})


@pytest.mark.parametrize(
    ("header", "role", "column"),
    [
        (("qid", "query", "docno", "label"), "topic", "qid"),
        (("qid", "docid", "docno", "label"), "document", "docno"),
        (("qid", "docno", "score", "label"), "value", "label"),
        (("qid", "docno", "label", "model", "rater"), "assessor", "rater"),
    ],
)
def test_a_column_that_is_usually_something_else_gives_way(header, role, column):
    read = Judgments.from_frame({name: [str(i)] for i, name in enumerate(header, start=1)})
    labels = {"topic": read.topics, "document": read.documents, "assessor": read.assessors}
    content = labels[role][0] if role in labels else f"{read.value[0]:g}"
    assert content == str(header.index(column) + 1)


def test_a_role_may_have_several_headers_of_which_a_table_has_one():
    columns = {"topic": ("Frage", "question")}
    for header in ("Frage", "question", "FRAGE"):
        assert Judgments.from_frame({header: ["t"], "doc": ["d"], "rel": [1]}, columns=columns).topics == ("t",)


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        (("Topic ID", "Doc", "Ranker", "Score"), "runs"),
        (("query", "product_id", "rank"), "runs"),
        (("ranker", "query", "product", "rank"), "runs"),
        (("query_id", "doc_id", "model", "relevance"), "judgments"),
        (("query_id", "doc_id", "model", "score"), "runs"),
        (("Topic", "Winner", "Loser"), "preferences"),
        (("qid", "docno", "Annotator", "score"), "judgments"),
    ],
)
def test_the_kind_of_a_table_is_told_by_its_headers(header, kind):
    assert kind_of(header) == kind
    assert table_kind(text_of([["1"] * len(header)], header, ","), "x.csv") == kind


# ---- words as grades


def frame_of_words(words):
    n = len(words)
    return {"qid": ["1"] * n, "docno": [f"d{i}" for i in range(n)], "annotator": ["ann"] * n, "label": list(words)}


@few
@given(st.lists(st.sampled_from(WORDS), min_size=1), st.permutations(WORDS))
def test_words_are_grades_in_the_order_that_is_stated(words, order):
    by_position = {word: float(grade) for grade, word in enumerate(order)}
    for labels in (order, "<".join(order), " < ".join(word.upper() for word in order)):
        judgments = Judgments.from_frame(frame_of_words(words), labels=labels)
        assert judgments.value.tolist() == [by_position[word] for word in words]
        assert [str(scale) for scale in judgments.scales] == ["0-3"]
        assert judgments.scales[0].declared


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(frame_of_words(WORDS[:2])).assign(label=pd.Categorical(WORDS[:2], WORDS, ordered=True)),
        pl.DataFrame(frame_of_words(WORDS[:2])).with_columns(pl.col("label").cast(pl.Enum(WORDS))),
    ],
    ids=["pandas", "polars"],
)
def test_ordered_categories_need_no_option(frame):
    judgments = Judgments.from_frame(frame)
    assert judgments.value.tolist() == [0, 1]
    assert str(judgments.scales[0]) == "0-3"
    assert judgments.notes == ("labels are read as grades: Irrelevant = 0, Complement = 1, Substitute = 2, Exact = 3",)


def test_ordered_categories_of_numbers_are_numbers():
    frame = pd.DataFrame(frame_of_words("12")).assign(label=pd.Categorical([1, 3], [1, 2, 3], ordered=True))
    assert Judgments.from_frame(frame).value.tolist() == [1, 3]


@pytest.mark.parametrize("ordered", [False, None])
def test_words_without_an_order_are_listed_with_an_example(ordered):
    frame = pd.DataFrame(frame_of_words(["Exact", "Irrelevant", "Exact"]))
    if ordered is not None:
        frame["label"] = frame["label"].astype("category")
    with pytest.raises(
        RowError, match=r"words \(exact, irrelevant\), .* as in --labels 'exact<irrelevant' \(the order in"
    ):
        Judgments.from_frame(frame)


def test_a_word_outside_the_order_is_named_with_its_row():
    with pytest.raises(RowError, match=r"^row 2: value 'Good' is not among the labels Bad<Exact$"):
        Judgments.from_frame(frame_of_words(["Bad", "Good"]), labels="Bad<Exact")


def test_words_in_several_letter_cases_are_suggested_once():
    words = ["Exact", "exact", "IRRELEVANT", "irrelevant"]
    with pytest.raises(RowError, match=r"words \(exact, irrelevant\), .* as in --labels 'exact<irrelevant' \("):
        Judgments.from_frame(frame_of_words(words))
    graded = Judgments.from_frame(frame_of_words(words), labels="IRRELEVANT<Exact")
    assert graded.value.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("labels", ["one", "a<", "a<A", [], ["x"]])
def test_an_order_of_fewer_than_two_words_or_with_one_twice_is_refused(labels):
    with pytest.raises(ArgumentError, match=r"^labels='"):
        ordered_labels(labels)


def test_numbers_stay_numbers_beside_an_order_of_words_and_declared_scales_count():
    judgments = Judgments.from_frame(frame_of_words(["0", "5"]), labels="no<yes")
    assert judgments.value.tolist() == [0, 5]
    both = Judgments.from_frame(frame_of_words(["no", "yes"]), labels="no<yes", scales={"ann": "0-3"})
    assert str(both.scales[0]) == "0-3"


# ---- missing cells and identical rows


@few
@given(st.lists(st.sampled_from(["topic", "document", "assessor", "value", None]), min_size=1, max_size=12))
def test_rows_with_a_missing_cell_are_left_out_and_counted_or_all_named(missing):
    rows = [[f"t{i}", f"d{i}", "ann", "1"] for i in range(len(missing))]
    for row, name in zip(rows, missing, strict=True):
        if name is not None:
            row[HEADER.index(name)] = ""
    text, n = text_of(rows, HEADER, ","), sum(name is not None for name in missing)
    whole = [row for row, name in zip(rows, missing, strict=True) if name is None]
    if n:
        with pytest.raises(FileError) as refused:
            from_table(Judgments, text, "x.csv")
        lines = [refused.value.line, *(error.line for error in refused.value.more)]
        assert lines == [i for i, name in enumerate(missing, start=2) if name is not None]
    if whole:
        judgments = Judgments.from_frame(pd.read_csv(io.BytesIO(text)), incomplete_rows="drop")
        assert judged(judgments) == [(*row[:3], 1.0) for row in whole]
        assert [note.split(" ")[0] for note in judgments.notes] == [str(n)] * bool(n)


@pytest.mark.parametrize("cells", [[True, False, True, False], ["True", "False", "true", "false"]])
def test_rows_that_do_not_count_by_an_export_of_a_campaign_are_left_out_and_counted(cells):
    frame = {"topic": ["q1"] * 4, "document": list("abcd"), "assessor": ["ann"] * 4, "value": [0, 1, 2, 3]}
    judgments = Judgments.from_frame({**frame, "counted": cells})
    assert [judgments.documents[d] for d in judgments.document] == ["a", "c"]
    assert judgments.notes == ("2 rows that the column counted says do not count were left out",)
    assert len(Judgments.from_frame({**frame, "counted": [3, 1, 2, 5]})) == 4, "numbers are something else"
    with pytest.raises(RowError, match="row 3"):
        Judgments.from_frame({**frame, "value": [0, 1, "?", 3], "counted": cells})
    pairs = {"topic": ["q1"] * 4, "preferred": list("abcd"), "other": list("bcde"), "assessor": ["ann"] * 4}
    assert len(Preferences.from_frame({**pairs, "counted": cells})) == 2


def test_a_frame_of_which_no_row_is_complete_is_refused_also_when_dropping():
    with pytest.raises(ArgumentError, match="no row is complete: value is missing"):
        Judgments.from_frame(frame_of_words([None, np.nan]), incomplete_rows="drop")


@pytest.mark.parametrize("make", [Judgments, Runs, Preferences])
def test_a_frame_without_rows_is_refused(make):
    names = ("topic", "document", "value", "score", "preferred", "other")
    for frame in (pd.DataFrame(columns=list(names)), {name: [] for name in names}):
        with pytest.raises(ArgumentError, match="holds no row"):
            make.from_frame(frame, columns={"value": "value"} if make is Judgments else None)


@few
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("01")), min_size=1, max_size=12))
def test_identical_rows_are_kept_or_dropped_and_counted(pairs):
    rows = [("t", document, "ann", value) for document, value in pairs]
    n = len(rows) - len(set(rows))
    frame = pd.DataFrame(rows, columns=list(HEADER))
    kept, dropped = (Judgments.from_frame(frame, identical_rows=how) for how in ("keep", "drop"))
    assert len(kept) == len(rows)
    assert judged(dropped) == [(*row[:3], float(row[3])) for row in dict.fromkeys(rows)]
    for judgments in (kept, dropped):
        assert [note.split(" ")[0] for note in judgments.notes] == [str(n)] * bool(n)


def test_rows_of_unnamed_assessors_and_rows_told_by_their_time_are_not_identical():
    unnamed = {"topic": ["t", "t"], "document": ["d", "d"], "value": [1, 1]}
    assert Judgments.from_frame(unnamed).notes == ()
    timed = {**unnamed, "assessor": ["a", "a"], "time": ["10:00", "10:05"]}
    assert Judgments.from_frame(timed, identical_rows="drop").n_repeats() == 1


def test_a_row_number_counts_the_rows_that_were_left_out():
    frame = {"topic": ["t", None, "t", "t"], "document": ["d", "x", "e", "d"], "score": [3, 2, 1, 0]}
    with pytest.raises(RowError, match=r"^row 4: .* the document is in the list twice"):
        Runs.from_frame(frame, incomplete_rows="drop")


# ---- numbers


def test_whole_floats_are_labels_as_whole_numbers():
    frame = pd.DataFrame({"qid": [1.0, np.nan, 2.0], "docno": [7, 8, 9], "label": [1.0, 2.0, 0.0]})
    judgments = Judgments.from_frame(frame, incomplete_rows="drop")
    assert (judgments.topics, judgments.value.tolist()) == (("1", "2"), [1, 0])


@pytest.mark.parametrize("cells", [["1,234"], ["1,5", "2.5"], ["12,000", "1"]])
def test_a_decimal_comma_is_refused(cells):
    text = text_of([("t", f"d{i}", "ann", cell) for i, cell in enumerate(cells)], HEADER, ";")
    with pytest.raises(FileError, match=r"expected a finite number as value, found .*decimals stand after a point"):
        from_table(Judgments, text, "x.csv")


def test_the_rank_gives_the_order_where_there_is_no_score():
    rows = [(f"d{i}", i) for i in range(1, 6)]
    random.Random(1).shuffle(rows)
    frame = {"qid": ["1"] * 5, "docno": [document for document, _ in rows], "rank": [rank for _, rank in rows]}
    ranked = Runs.from_frame(frame)
    assert [ranked.documents[d] for d in ranked.ranked().document] == ["d1", "d2", "d3", "d4", "d5"]
    assert ranked.notes == ("there is no score column, so the rank gives the order",)


@pytest.mark.parametrize("header", RUN_COLUMNS["system"])
def test_every_name_of_a_system_column_is_understood(header):
    runs = from_table(
        Runs, text_of([("t", "d", "1", "A")], ("topic", "doc", "score", header), ","), "x.csv", system="x"
    )
    assert runs.systems == ("A",)


# ---- files


def test_all_mistakes_of_a_table_come_in_the_order_of_lines():
    text = b"topic,document,assessor,value\nt,d,a,1\nt,,a,2\nt,e,a,x\nt,f,a\nt,g,a,y\n"
    with pytest.raises(FileError) as error:
        from_table(Judgments, text, "x.csv")
    assert [error.value.line, *(one.line for one in error.value.more)] == [3, 4, 5, 6]


def test_the_first_sheet_of_a_workbook_is_a_table():
    book = openpyxl.Workbook()
    for row in ([], ["Topic ID", "Doc ID", "Annotator", "Label"], [1, "d 1", "ann", 2], [None] * 4):
        book.active.append(row)
    content = io.BytesIO()
    book.save(content)
    text = content.getvalue()
    assert judged(from_table(Judgments, text, "x.xlsx")) == [("1", "d 1", "ann", 2)]
    with pytest.raises(FileError, match=r"^x.xlsx: not readable as an Excel workbook"):
        from_table(Judgments, text[:100], "x.xlsx")


def test_all_columns_that_are_not_there_are_named_at_once():
    with pytest.raises(ArgumentError, match=r"^no topic column .* and no document column .* among t, d, value; rename"):
        Judgments.from_frame({"t": ["1"], "d": ["a"], "value": [1]}, assessor="ann")
    with pytest.raises(
        ArgumentError, match=r"name the column by --column, where it is an option: score=HEADER, or rank=HEADER$"
    ):
        Runs.from_frame({"topic": ["1"], "document": ["a"], "place": [1]}, system="bm25")


def test_a_position_is_a_rank_in_runs_and_an_order_in_judgments():
    table = {"Search Query": ["röd", "röd"], "Product ID": ["SKU 1", "SKU 2"], "Position": [2, 1]}
    runs = Runs.from_frame(table | {"Ranker": ["bm25"] * 2})
    assert runs.score.tolist() == [-2, -1]
    judgments = Judgments.from_frame(table | {"Label": [0, 3], "Annotator": ["ann"] * 2})
    assert judgments.order is not None
    assert judgments.order.tolist() == [2, 1]
