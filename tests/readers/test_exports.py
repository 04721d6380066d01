"""Exports of annotation tools: what a file of each looks like, and the rows that it becomes."""

import json

import pytest

from qrowd import readers
from qrowd.errors import FileError
from qrowd.model.preferences import Preferences
from qrowd.readers import READERS
from qrowd.readers.tool_exports import first_record, single
from qrowd.tables import from_table

TASK = {"query_id": "q1", "doc_id": "d1", "text": "lobster"}


def annotation(who, region, **more):
    return {"completed_by": who, "result": [region], "lead_time": 4.5, "created_at": "2026-01-02", **more}


def choice(*labels, question="relevance"):
    return {"from_name": question, "type": "choices", "value": {"choices": list(labels)}}


LABEL_STUDIO = json.dumps(
    [
        {
            "id": 7,
            "data": TASK,
            "annotations": [
                annotation(3, choice("Relevant")),
                annotation({"id": 4, "email": "bob@example.org"}, choice("Irrelevant")),
                annotation(5, choice("Relevant"), was_cancelled=True),
            ],
            "predictions": [{"model_version": "m", "result": [choice("Relevant")]}],
        }
    ]
).encode()
LABEL_STUDIO_MIN = json.dumps(
    [
        {"id": 7, **TASK, "relevance": "Relevant", "annotator": 3, "annotation_id": 11, "lead_time": 4.5},
        {
            "id": 8,
            **TASK,
            "relevance": {"choices": ["Irrelevant"]},
            "annotator": 4,
            "annotation_id": 12,
            "lead_time": 1,
        },
        {"id": 9, **TASK, "stars": [{"rating": 2}], "annotator": 5, "annotation_id": 13, "lead_time": 1},
    ]
).encode()
ARGILLA = json.dumps(
    [
        {
            "id": "r1",
            "status": "completed",
            "fields": {"text": "lobster"},
            "metadata": {"query_id": "q1", "doc_id": "d1"},
            "suggestions": {"relevance": {"value": "yes", "score": 0.9, "agent": "gpt"}},
            "responses": {
                "relevance": [{"value": "yes", "user_id": "u1"}, {"value": "no", "user_id": "u2"}],
                "why": [{"value": "It names every dish that the question asks for.", "user_id": "u1"}],
            },
        },
        {"id": "r2", "fields": {"text": "x"}, "metadata": {}, "suggestions": {}, "responses": {}},
    ]
).encode()
ARGILLA_FLAT = json.dumps(
    [
        {
            "id": "r1", "query_id": "q1", "doc_id": "d1",
            "relevance.responses": [2, 0, 1],
            "relevance.responses.users": ["u1", "u2", "u3"],
            "relevance.responses.status": ["submitted", "submitted", "discarded"],
            "relevance.suggestion": 2,
        }
    ]
).encode()  # fmt: skip
TREC_RAG = b"# comment\n2024-1 Q0 seg#1 3 0.9 umbrela\n2024-1 Q0 seg#2 0 0.4 nist\n"


def umbrela_record(document, grade, status=1, **more):
    return {"query": "flea", "passage": "lives", "judgment": grade, "result_status": status, "docid": document} | more


UMBRELA = "\n".join(
    json.dumps(record)
    for record in (
        umbrela_record("d1", 3, qid="q1", model="gpt-4.1-mini", prompt="Judge", prediction="##final score: 3"),
        umbrela_record("d2", 0, 0, qid="q1", model="gpt-4.1-mini", prompt="Judge", prediction="I cannot say"),
        umbrela_record("d3", 0, query={"qid": "q1", "text": "flea"}, model="gpt-4.1-mini", reasoning="Off topic."),
    )
).encode()


COMPACT = "\n".join(
    json.dumps({"query": "flea", "passage": "lives", "judgment": grade, "qid": "q1", "docid": document})
    for document, grade in (("d1", 3), ("d2", 0), ("d3", 0))
).encode()
PRINTED = json.dumps(
    {
        "schema_version": "castorini.cli.v1",
        "repo": "umbrela",
        "command": "judge",
        "artifacts": [{"name": "judgments", "kind": "data", "data": list(map(json.loads, COMPACT.splitlines()))}],
    },
    indent=2,
).encode()


def ragelo_record(**fields):
    return json.dumps({"qid": "q1", "evaluator_name": "rdnam", "exception": None, "answer": None, **fields})


RAGELO = "\n".join(
    (
        ragelo_record(agent="bm25", answer={"answer_format": "answer_quality", "score": 2, "reasoning": "Full."}),
        ragelo_record(did="d1", answer={"answer_format": "retrieval_relevance", "score": 1.5, "reasoning": "Partly."}),
        ragelo_record(did="d2", exception="RateLimitError"),
        ragelo_record(agent_a="bm25", agent_b="dense", answer={"answer_format": "pairwise", "winner": "A"}),
        ragelo_record(did="d3", answer={"answer_format": "retrieval_relevance", "score": 0, "reasoning": "No."}),
    )
).encode()


def wrapped(kind, **fields):
    return json.dumps({kind: {"qid": "q1", "raw_answer": "...", "exception": None, **fields}})


RAGELO_WRAPPED = "\n".join(
    (
        wrapped("answer", agent_a="bm25", agent_b="dense", answer={"winner": "B"}),
        wrapped("retrieval", did="d1", answer={"overall": 2, "intent_match": 1, "trustworthiness": 2}),
        wrapped("retrieval", did="d2", answer=None, raw_answer=None, exception="TimeoutError"),
        wrapped("elo_tournament", agents=["bm25", "dense"]),
    )
).encode()
GAMES = "\n".join(
    wrapped("answer", agent_a="bm25", agent_b="dense", answer={"winner": winner}) for winner in "ABC"
).encode()
RAGDOLL = "\n".join(
    json.dumps(
        {
            "task_id": "arena:r1:r2:14", "qid": "14", "query": "q", "pair": ["r1", "r2"], "assistant_a_run_id": a,
            "assistant_b_run_id": b, "judge_verdict": verdict, "model": "m", "elapsed_seconds": 2.5, "usage": {},
        }
    )
    for a, b, verdict in (("r1", "r2", "A"), ("r2", "r1", "Tie"), ("r1", "r2", None))
).encode()  # fmt: skip


def rows(columns, *names):
    return list(zip(*(columns[name] for name in names), strict=True))


@pytest.mark.parametrize(
    ("text", "reader"),
    [
        (LABEL_STUDIO, "label-studio"),
        (LABEL_STUDIO_MIN, "label-studio"),
        (ARGILLA, "argilla"),
        (ARGILLA_FLAT, "argilla"),
        (UMBRELA, "umbrela"),
        (RAGELO, "ragelo"),
        (RAGELO_WRAPPED, "ragelo"),
        (GAMES, "ragelo"),
        (COMPACT, "umbrela"),
        (PRINTED, "umbrela"),
    ],
)
def test_an_export_is_recognised_by_what_it_holds_and_by_no_other_reader(text, reader):
    assert [name for name, each in READERS.items() if each.recognises(first_record(text))] == [reader]


@pytest.mark.parametrize(
    "text",
    [b"q1 0 d1 1\n", b"query,docid,label\nq,d,1\n", b'{"qid": "q", "docno": "d", "label": 1}\n', b"[1, 2]", b"{broken"],
)
def test_other_files_are_recognised_by_none(text):
    assert readers.reader_for(text, "file") is None


def test_an_annotation_of_label_studio_is_a_row_unless_it_was_cancelled():
    columns = READERS["label-studio"].read(LABEL_STUDIO, "export.json")
    assert rows(columns, "query_id", "doc_id", "assessor", "value", "seconds") == [
        ("q1", "d1", "3", "Relevant", 4.5),
        ("q1", "d1", "bob@example.org", "Irrelevant", 4.5),
    ]


def test_two_questions_of_label_studio_are_two_columns():
    regions = {"completed_by": 1, "result": [choice("yes"), choice("low", question="quality")]}
    text = json.dumps([{"data": TASK, "annotations": [regions]}]).encode()
    assert rows(READERS["label-studio"].read(text, "f"), "relevance", "quality") == [("yes", "low")]


def test_a_pairwise_comparison_of_label_studio_names_the_preferred_document():
    data = {"query_id": "q1", "left_id": "d1", "right_id": "d2"}
    region = {"from_name": "which", "type": "pairwise", "value": {"selected": "right"}}
    text = json.dumps([{"data": data, "annotations": [annotation(1, region)]}]).encode()
    assert rows(READERS["label-studio"].read(text, "f"), "a", "b", "preferred") == [("d1", "d2", "d2")]


def test_json_min_holds_data_and_answers_side_by_side():
    columns = READERS["label-studio"].read(LABEL_STUDIO_MIN, "export.json")
    assert rows(columns, "query_id", "doc_id", "assessor", "relevance", "stars") == [
        ("q1", "d1", 3, "Relevant", None),
        ("q1", "d1", 4, "Irrelevant", None),
        ("q1", "d1", 5, None, 2),
    ]
    assert "id" not in columns  # of the task, which is no document


def test_a_list_of_one_choice_is_the_choice_and_several_are_a_text():
    assert [single(choice) for choice in ([2], ["yes", "no"], "yes")] == [2, "yes, no", "yes"]


def test_a_response_of_argilla_is_a_row_and_long_text_is_a_comment():
    columns = READERS["argilla"].read(ARGILLA, "export.json")
    assert rows(columns, "query_id", "doc_id", "assessor", "value") == [
        ("q1", "d1", "u1", "yes"),
        ("q1", "d1", "u2", "no"),
    ]
    assert columns["comment"] == ["It names every dish that the question asks for.", None]


def test_flattened_records_of_argilla_leave_out_what_was_not_submitted():
    columns = READERS["argilla"].read(ARGILLA_FLAT, "export.json")
    assert rows(columns, "query_id", "assessor", "value") == [("q1", "u1", 2), ("q1", "u2", 0)]


def test_the_run_that_judged_is_the_assessor_in_six_columns_of_trec_rag():
    columns = READERS["trec-rag"].read(TREC_RAG, "f")
    assert rows(columns, "topic", "document", "value", "assessor") == [
        ("2024-1", "seg#1", "3", "umbrela"),
        ("2024-1", "seg#2", "0", "nist"),
    ]


def test_what_umbrela_did_not_understand_is_no_judgment():
    columns = READERS["umbrela"].read(UMBRELA, "f")
    assert rows(columns, "topic", "document", "value", "assessor", "comment") == [
        ("q1", "d1", 3, "gpt-4.1-mini", None),
        ("q1", "d3", 0, "gpt-4.1-mini", "Off topic."),
    ]


def test_failures_of_umbrela_are_counted():
    note = "1 record had no answer and made no judgment"
    assert READERS["umbrela"].read(UMBRELA, "f").notes == (note,)


@pytest.mark.parametrize("text", [COMPACT, PRINTED])
def test_compact_records_of_umbrela_are_read_and_their_zeros_are_said_to_be_doubtful(text):
    export = READERS["umbrela"].read(text, "f")
    assert rows(export, "topic", "document", "value") == [("q1", "d1", 3), ("q1", "d2", 0), ("q1", "d3", 0)]
    (note,) = export.notes
    assert note.startswith("2 judgments of 0 may be an answer that was not understood")


def test_a_table_of_texts_and_judgments_of_assessors_is_not_umbrelas():
    record = {"query": "flea", "passage": "lives", "judgment": 1, "docid": "d"}
    for other in ({"qid": "q", "assessor": "ann"}, {}):
        assert not READERS["umbrela"].recognises(record | other)


def test_the_aspects_of_ragelo_have_an_overall_score_and_failures_and_games_are_counted():
    export = READERS["ragelo"].read(RAGELO_WRAPPED, "f")
    assert rows(export, "topic", "document", "value") == [("q1", "d1", 2)]
    assert export.notes == (
        "1 record had no answer and made no judgment",
        "1 comparison of two documents passed over",
    )


def test_the_annotators_that_ragelo_asks_for_in_one_answer_are_assessors():
    answer = {f"annotator_{i}": {"overall": grade} for i, grade in ((1, 2), (2, 0))}
    export = READERS["ragelo"].read(wrapped("retrieval", did="d1", answer=answer).encode(), "f")
    assert rows(export, "assessor", "value") == [("annotator_1", 2), ("annotator_2", 0)]


def test_games_of_ragelo_alone_are_preferences_between_the_answers_of_agents():
    export = READERS["ragelo"].read(GAMES, "f")
    assert rows(export, "topic", "a", "b", "preferred") == [
        ("q1", "bm25", "dense", "bm25"),
        ("q1", "bm25", "dense", "dense"),
        ("q1", "bm25", "dense", "tie"),
    ]
    assert export.notes == ()


def test_battles_of_ragdoll_are_a_table_whose_failures_are_refused_or_left_out():
    with pytest.raises(FileError, match=r"judge.jsonl, line 3: preferred is missing .*; --incomplete-rows drop"):
        from_table(Preferences, RAGDOLL, "judge.jsonl")
    preferences = from_table(Preferences, RAGDOLL, "judge.jsonl", incomplete_rows="drop")
    assert preferences.to_rows()[0] == ("14", "r1", "r2", "m", 1)
    assert preferences.weight.tolist() == [1, 0.5, 0.5]
    assert preferences.seconds.tolist() == [2.5, 2.5, 2.5]
    assert preferences.first.tolist() == [1, 1, 0]


def test_a_document_that_ragelo_judged_is_a_row_and_exceptions_answers_and_pairs_are_left_out():
    columns = READERS["ragelo"].read(RAGELO, "f")
    assert rows(columns, "topic", "document", "value", "comment") == [
        ("q1", "d1", 1.5, "Partly."),
        ("q1", "d3", 0, "No."),
    ]
    assert "assessor" not in columns


def test_several_evaluators_of_ragelo_are_assessors():
    other = ragelo_record(did="d1", evaluator_name="reasoner", answer={"score": 0, "reasoning": "No."}).encode()
    columns = READERS["ragelo"].read(RAGELO + b"\n" + other, "f")
    assert rows(columns, "document", "assessor") == [("d1", "rdnam"), ("d3", "rdnam"), ("d1", "reasoner")]


@pytest.mark.parametrize(
    ("read", "text", "problem"),
    [
        (READERS["label-studio"].read, b'[{"data": {}, "annotations": []}]', "no task has an annotation"),
        (READERS["argilla"].read, b'[{"fields": {}, "responses": {}}]', "no record has a submitted response"),
        (READERS["argilla"].read, b"[1]", "record 1: expected a JSON object, found 1"),
        (
            READERS["trec-rag"].read,
            b"q Q0 d 1\n",
            "line 1: expected 'topic Q0 segment judgment confidence run_id', found 4",
        ),
        (READERS["umbrela"].read, json.dumps(umbrela_record("d", 1)).encode(), "record 1: no qid, only texts"),
        (
            READERS["umbrela"].read,
            json.dumps(umbrela_record("d", 0, 0, qid="q")).encode(),
            "holds no judgment of umbrela judge",
        ),
        (
            READERS["ragelo"].read,
            ragelo_record(agent="a", answer={"score": 1}).encode(),
            "holds no judgment of a document and no",
        ),
        (
            READERS["ragelo"].read,
            wrapped("answer", agent_a="a", agent_b="b", answer="D").encode(),
            "record 1: the winner of two",
        ),
        (READERS["umbrela"].read, PRINTED.replace(b'"data": [', b'"text": ['), "holds no judgment of umbrela judge"),
        (
            READERS["ragelo"].read,
            ragelo_record(did="d", answer={"x": 1}).encode(),
            "record 1: the answer of rdnam has no score",
        ),
    ],
)
def test_an_export_without_answers_or_with_broken_rows_is_refused(read, text, problem):
    with pytest.raises(FileError, match=rf"^file, ?.*{problem}|^file: {problem}"):
        read(text, "file")
