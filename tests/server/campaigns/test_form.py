"""The short form of a new campaign: its fields and files are a folder."""

import pytest

from qrowd.errors import ArgumentError, FileError
from qrowd_server.campaigns.plan.form import SentFile, plan_from_form

DOCUMENTS = SentFile("documents", "texts.csv", b"docid,title,text\nd1,One,One.\nd2,Two,Two.\nd3,Three,Three.\n")
VALUES = {"title": "Which pages help?", "topics": "ducks\n\n geese \n", "protocol": "grades", "redundancy": "2"}


def test_without_runs_every_document_is_judged_for_every_topic():
    plan = plan_from_form(VALUES, [DOCUMENTS])
    assert (plan.name, plan.title, plan.in_short) == ("which-pages-help", "Which pages help?", "grades")
    assert [(topic.title, topic.pool) for topic in plan.topics] == [
        ("ducks", ("d1", "d2", "d3")),
        ("geese", ("d1", "d2", "d3")),
    ]
    assert plan.arms[""].redundancy == 2


def test_runs_choose_what_is_judged_and_their_topics_are_those_of_the_file():
    topics = SentFile("topics", "queries.tsv", b"q7\tducks\n")
    runs = [SentFile("runs", f"{name}.run", f"q7 Q0 {document} 1 2 {name}\n".encode()) for name, document in
            (("a", "d1"), ("b", "d3"))]  # fmt: skip
    plan = plan_from_form(VALUES | {"topics": ""}, [topics, DOCUMENTS, *runs])
    assert [(topic.label, topic.pool) for topic in plan.topics] == [("q7", ("d1", "d3"))]


def test_a_gold_file_holds_gold_questions_and_of_magnitudes_the_check_documents():
    gold = SentFile("gold", "gold.csv", b"topic,document,grade\nt1,d1,3\n")
    plan = plan_from_form(VALUES, [DOCUMENTS, gold])
    assert plan.topics[0].gold[0].document == "d1"
    assert plan.topics[0].pool == ("d2", "d3")
    checks = SentFile("gold", "checks.txt", b"t1 d1 d2\n")
    many = b"docid,text\n" + b"".join(f"d{i},Text.\n".encode() for i in range(1, 9))
    magnitude = VALUES | {"protocol": "magnitude", "topics": "ducks"}
    plan = plan_from_form(magnitude, [SentFile("documents", "d.csv", many), checks])
    assert plan.topics[0].checks == ("d1", "d2")


@pytest.mark.parametrize(
    ("values", "files", "message"),
    [
        ({"title": " "}, [DOCUMENTS], "title: write a title"),
        ({"topics": ""}, [DOCUMENTS], "topics: write a title on each line, or choose a file"),
        ({}, [], "documents: choose a file"),
        ({"protocol": "guess"}, [DOCUMENTS], "protocol='guess': choose one of grades, magnitude, preference"),
        ({"redundancy": "many"}, [DOCUMENTS], "people per document: write a whole number"),
    ],
)
def test_what_is_missing_is_said(values, files, message):
    with pytest.raises(ArgumentError, match=message):
        plan_from_form(VALUES | values, files)


def test_a_file_that_cannot_be_read_is_named_with_its_line():
    wrong = SentFile("gold", "gold.csv", b"topic,document,grade\nt9,d1,3\n")
    with pytest.raises(FileError, match=r"gold.csv, line 2: .*t9"):
        plan_from_form(VALUES, [DOCUMENTS, wrong])
