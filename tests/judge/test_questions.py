"""Questions: which documents are put to a model, in which order, and with which others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_sets import registered
from qrowd.errors import ArgumentError, FileError
from qrowd.judge.questions import (
    Question,
    magnitude_questions,
    pool_from,
    preference_questions,
    read_document_texts,
    read_topic_texts,
    single_questions,
    texts_missing,
)
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs

RUNS = Runs.from_dict({"a": {"1": {"d1": 3, "d2": 2, "d3": 1}}, "b": {"1": {"d4": 2, "d1": 1}, "2": {"d9": 1}}})
POOLS = st.dictionaries(st.sampled_from("123"), st.sets(st.sampled_from("abcdefghijklmnop"), min_size=2), min_size=1)


def test_the_pool_of_runs_is_the_first_documents_of_each():
    assert pool_from(RUNS, depth=1) == {"1": ("d1", "d4"), "2": ("d9",)}
    assert pool_from(RUNS, depth=2) == {"1": ("d1", "d2", "d4"), "2": ("d9",)}


def test_the_pool_of_judgments_and_preferences_is_all_that_was_judged():
    judgments = Judgments.from_rows([("1", "d2", "ann", 1), ("1", "d1", "bob", 0), ("2", "d1", "bob", 0)])
    assert pool_from(judgments) == {"1": ("d1", "d2"), "2": ("d1",)}
    preferences = Preferences.from_frame({"topic": ["1"], "preferred": ["x"], "other": ["a"]})
    assert pool_from(preferences) == {"1": ("a", "x")}


def test_each_document_is_one_question():
    questions = single_questions({"1": ("d1", "d2")})
    assert questions == [Question("1", ("d1",)), Question("1", ("d2",))]


@given(POOLS)
def test_each_pair_is_asked_in_both_orders(pool):
    questions = preference_questions({topic: sorted(documents) for topic, documents in pool.items()})
    assert {(q.topic, q.documents[::-1]) for q in questions} == {(q.topic, q.documents) for q in questions}
    assert len(questions) == len(set(questions)) == sum(len(d) * (len(d) - 1) for d in pool.values())


def test_named_pairs_alone_are_asked_and_no_document_is_compared_with_itself():
    with pytest.raises(ArgumentError, match="topic 1: a cannot be compared with itself"):
        preference_questions({}, [("1", "a", "a")])


@given(POOLS, st.integers(3, 9), st.integers(0, 99))
def test_each_document_is_in_one_unit_and_each_unit_holds_both_check_documents(pool, size, seed):
    checks = {topic: (min(documents), max(documents)) for topic, documents in pool.items()}
    questions = magnitude_questions({t: sorted(d) for t, d in pool.items()}, checks, size=size, rng=seed)
    for topic, documents in pool.items():
        units = [question.documents for question in questions if question.topic == topic]
        others = sorted(document for unit in units for document in unit if document not in checks[topic])
        assert others == sorted(documents - set(checks[topic]))
        assert all(set(checks[topic]) <= set(unit) and len(unit) <= size for unit in units)
        assert max(map(len, units)) - min(map(len, units)) <= 1
    assert questions == magnitude_questions({t: sorted(d) for t, d in pool.items()}, checks, size=size, rng=seed)


def test_a_topic_without_check_documents_is_refused():
    with pytest.raises(ArgumentError, match="topic 1 has no check documents"):
        magnitude_questions({"1": ("a", "b")}, {})


def test_a_question_says_which_text_is_missing():
    question = Question("1", ("a", "b"))
    assert texts_missing(question, {"1"}, {"a", "b"}) == ""
    assert texts_missing(question, {"1"}, {"a"}) == "document b"
    assert texts_missing(question, {}, {"a"}) == "topic 1"


@pytest.mark.parametrize("name", ["documents.tsv", "documents.jsonl", "documents.parquet"])
def test_documents_are_read_from_tables_and_those_without_text_are_missing(tmp_path, name):
    import pandas

    frame = pandas.DataFrame({"docid": ["d1", "d2", "d3"], "text": ["green tea", "", "cake"]})
    write = {
        ".tsv": lambda path: frame.to_csv(path, sep="\t", index=False),
        ".jsonl": lambda path: frame.to_json(path, orient="records", lines=True),
        ".parquet": frame.to_parquet,
    }
    write[(tmp_path / name).suffix](tmp_path / name)
    texts = read_document_texts([tmp_path / name])
    assert {label: row["text"] for label, row in texts.items()} == {"d1": "green tea", "d3": "cake"}
    assert list(read_document_texts([tmp_path / name], labels={"d3"})) == ["d3"]


def test_texts_are_read_from_data_sets(tmp_path):
    with registered(tmp_path / "data") as name:
        assert read_topic_texts(f"irds:{name}")["q1"]["title"] == "red lobster"
        assert read_document_texts([f"irds:{name}"], labels={"d2"})["d2"]["text"] == "train times"


def test_topics_are_read_with_all_their_texts_and_each_once(tmp_path):
    path = tmp_path / "topics.tsv"
    path.write_text("topic\tquery\tnarrative\n1\ttea\tOnly green tea.\n")
    assert read_topic_texts(path)["1"]["narrative"] == "Only green tea."
    path.write_text("1\ttea\n1\tcake\n")
    with pytest.raises(FileError, match="line 2: topic 1 is there already, with another text; remove one"):
        read_topic_texts(path)
    path.write_text("1\ttea\n1\ttea\n")
    assert list(read_topic_texts(path)) == ["1"]


def test_a_text_without_header_may_hold_tabs_and_stand_there_twice(tmp_path):
    path = tmp_path / "collection.tsv"
    path.write_text("d1\tgreen tea\nd2\ta table:\t1\t2\nd1\tgreen tea\n")
    assert {label: row["text"] for label, row in read_document_texts([path]).items()} == {
        "d1": "green tea",
        "d2": "a table:\t1\t2",
    }
    path.write_text("d1\tgreen tea\nd1\tblack tea\n")
    with pytest.raises(FileError, match="line 2: document d1 is there already, with another text; remove one"):
        read_document_texts([path])
