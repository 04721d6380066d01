"""Exports of judged answers: the units of each format, the scores that their definitions give, and damaged samples."""

import json

import numpy as np
import pytest

import qrowd
from qrowd.errors import FileError
from qrowd.files import read_judgments, read_runs
from qrowd.readers import READERS, reader_for


def lines(*records):
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


def nugget(text, importance, assignment):
    return {"text": text, "importance": importance, "assignment": assignment}


def sentence(*support):
    return {"text": "s", "citations": [{"reference": f"d{i}", "support": grade} for i, grade in enumerate(support)]}


NUGGETS = {
    "qid": "q1",
    "run_id": "run",
    "nuggets": [
        nugget("first", "vital", "support"),
        nugget("second", "vital", "partial_support"),
        nugget("third", "vital", "not_support"),
        nugget("fourth", "okay", "support"),
        nugget("fifth", "vital", "failed"),
    ],
}
SUPPORT = {
    "topic_id": "q1",
    "run_id": "run",
    "sentences": [sentence("1", "2"), sentence(2), sentence(), sentence("-1", "2")],
}
RUBRIC = {
    "qid": "q1",
    "run_id": "run",
    "criteria": [
        {"text": "names a dish", "weight": 5, "tier": "mandatory", "type": "explicit", "verdict": "Satisfied"},
        {"text": "names a cook", "weight": 2, "type": "implicit", "verdict": "partially_satisfied"},
        {"text": "names a year", "weight": 3, "type": "explicit", "verdict": "not_satisfied"},
        {"text": "makes dishes up", "weight": -4, "type": "explicit", "verdict": "partially_satisfied"},
    ],
}
GRADES = [{"value": "no", "numeric_value": 1}, {"value": "yes", "numeric_value": 4}]
EVALUATIONS = {
    "name": "sample",
    "models": [{"model_id": "run"}],
    "metrics": [
        {"name": "faithfulness", "author": "human", "values": GRADES},
        {"name": "length", "author": "human"},
        {"name": "rouge", "author": "algorithm"},
    ],
    "tasks": [{"task_id": "q1"}],
    "evaluations": [
        {
            "task_id": "q1",
            "model_id": "run",
            "annotations": {
                "faithfulness": {"ann": {"value": "yes", "duration": 7.0, "timestamp": 10.0}, "bob": {"value": "no"}},
                "length": {"ann": {"value": 2.5}, "bob": {"value": None}},
                "rouge": {"system": {"value": 0.5}},
            },
        }
    ],
}
SECOND_VERSION = {
    **{key: EVALUATIONS[key] for key in ("models", "metrics", "tasks")},
    "schema_version": 2,
    "results": [
        {"task_id": each["task_id"], "model_id": each["model_id"], "scores": each["annotations"]}
        for each in EVALUATIONS["evaluations"]
    ],
}
RATING = {"topic_id": "q1", "run_id": "run", "username": "ann", "rating": "Mostly Good", "comment": "c", "spans": []}
OF_A_DOCUMENT = {"topic_id": "q1", "docid": "d", "username": "ann", "rating": "Bad"}
OF_A_CITATION = {"topic_id": "q1", "username": "ann", "rating": "Bad", "citation": {"docid": "d"}}
RATINGS = (
    RATING,
    RATING | {"username": "bob", "rating": "So-so", "comment": ""},
    RATING | {"username": "cem", "rating": "Not rated"},
    OF_A_DOCUMENT,
    OF_A_CITATION,
)
SAMPLES = {
    "nuggetizer": lines(NUGGETS),
    "support": lines(SUPPORT),
    "rubrics": lines(RUBRIC),
    "inspector-raget": json.dumps(EVALUATIONS).encode(),
    "autojudge-annotate": lines(*RATINGS),
}


@pytest.mark.parametrize("tool", SAMPLES)
def test_an_export_is_recognised_by_its_reader_alone(tool):
    from qrowd.readers.tool_exports import first_record

    record = first_record(SAMPLES[tool])
    assert [name for name, reader in READERS.items() if reader.recognises(record)] == [tool]


def scores_of(folder, contents, *measures):
    """{measure: score} of the only answer, for the first assessor."""
    paths = []
    for name, content in contents.items():
        paths.append(folder / f"{name}.json")
        paths[-1].write_bytes(content)
    scores = qrowd.evaluate(read_runs(paths), read_judgments(paths), list(measures))
    assert scores.values.shape[2:] == (1, 1)
    return scores.values[:, :, 0, 0]


def test_nuggets_have_the_scores_of_their_definition(tmp_path):
    """V_strict, A_strict, V and A of Pradeep et al. (2024), arXiv 2411.09607; the failed nugget counts for nothing."""
    measures = ("Mean(criterion=vital,rel=1)", "Mean(rel=1)", "Mean(criterion=vital)", "Mean")
    scores = scores_of(tmp_path, {"nist": SAMPLES["nuggetizer"]}, *measures)
    np.testing.assert_allclose(scores[:, 0], [1 / 3, 2 / 4, 1.5 / 3, 2.5 / 4])


def test_a_nugget_is_the_same_for_each_judge_wherever_it_stands_in_the_list(tmp_path):
    other = NUGGETS | {"nuggets": [nugget("second", "vital", "support"), nugget("first", "vital", "not_support")]}
    scores = scores_of(tmp_path, {"nist": lines(NUGGETS), "gpt": lines(other)}, "Mean")
    np.testing.assert_allclose(scores, [[2.5 / 4, 1 / 2]])
    judgments = read_judgments([tmp_path / "nist.json", tmp_path / "gpt.json"])
    assert judgments.documents == tuple(
        f"run/{criterion}/{text}"
        for criterion, text in (("vital", "first"), ("vital", "second"), ("vital", "third"), ("okay", "fourth"))
    )


def test_support_has_the_precision_and_recall_of_the_worked_example(tmp_path):
    """Thakur et al. (2025), arXiv 2504.15205, section 3.4: one partial, one full, one sentence without citations.

    Weighted precision (.5 + 1) / 2 and recall (.5 + 1) / 3; hard 1/2 and 1/3. The citation with -1 was not judged, and
    of two citations the first counts.
    """
    measures = ("Mean(criterion=cited)", "Mean", "Mean(criterion=cited,rel=1)", "Mean(rel=1)")
    scores = scores_of(tmp_path, {"nist": SAMPLES["support"]}, *measures)
    np.testing.assert_allclose(scores[:, 0], [1.5 / 2, 1.5 / 3, 1 / 2, 1 / 3])


def test_a_rubric_with_a_negative_weight_has_the_score_of_its_definition(tmp_path):
    """Sum of weight times verdict over the sum of the positive weights; strict: partly satisfied is not satisfied."""
    scores = scores_of(tmp_path, {"gpt": SAMPLES["rubrics"]}, "Mean", "Mean(rel=1)", "Mean(criterion=implicit)")
    np.testing.assert_allclose(scores[:, 0], [(5 + 2 * 0.5 - 4 * 0.5) / 10, 5 / 10, 0.5])


@pytest.mark.parametrize("content", [EVALUATIONS, SECOND_VERSION])
def test_each_annotator_and_criterion_of_inspector_raget_is_a_judgment_and_programs_are_passed_over(tmp_path, content):
    text = json.dumps(content).encode()
    scores = scores_of(tmp_path, {"e": text}, "Mean(criterion=faithfulness)", "Mean(criterion=length)")
    np.testing.assert_allclose(scores, [[4, 1], [2.5, np.nan]])
    judgments = read_judgments(tmp_path / "e.json")
    assert judgments.assessors == ("ann", "bob")
    assert judgments.seconds[0] == 7
    said = ["1 annotation had no answer and made no judgment", "1 row passed over: what a program measured"]
    assert [note.split(": ", 1)[1] for note in judgments.notes] == said


def test_a_rating_of_autojudge_annotate_is_a_grade_and_those_of_documents_are_passed_over(tmp_path):
    np.testing.assert_allclose(scores_of(tmp_path, {"a": SAMPLES["autojudge-annotate"]}, "Mean"), [[2, 1]])
    judgments = read_judgments(tmp_path / "a.json")
    assert judgments.assessors == ("ann", "bob")
    assert [note.split(": ", 1)[1] for note in judgments.notes] == [
        "1 rating had no answer and made no judgment",
        "2 rows passed over: ratings of documents and citations",
    ]


def changed(record, path, value):
    """The record with another value at a path of keys; without the key where it is None."""
    copy = json.loads(json.dumps(record))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return copy


ANNOTATED = ("evaluations", 0, "annotations", "faithfulness", "ann")
DAMAGED = [
    (NUGGETS, ["run_id"], None, "no system, such as run_id or model_id; add it"),
    (NUGGETS, ["qid"], "", "no topic, such as topic_id or task_id; add it"),
    (NUGGETS, ["nuggets", 0], "first", "nuggets, number 1, is 'first'; write a JSON object"),
    (
        NUGGETS,
        ["nuggets", 1, "assignment"], "supported",
        "nuggets, number 2: assignment is 'supported'; write support, partial_support, not_support or failed",
    ),
    (NUGGETS, ["nuggets", 1, "importance"], 3, "nuggets, number 2: importance is 3; write vital or okay"),
    (NUGGETS, ["nuggets", 2, "text"], None, "nuggets, number 3: text is None; write a text, the same"),
    (SUPPORT, ["sentences", 1, "citations"], "d", "citations is 'd'; write a list"),
    (
        SUPPORT,
        ["sentences", 1, "citations", 0, "support"], 3,
        "sentences, number 2: support is 3; write 2, 1, 0 or failed",
    ),
    (RUBRIC, ["criteria", 0, "weight"], "high", "criteria, number 1: weight is 'high'; write a number"),
    (RUBRIC, ["criteria", 3, "weight"], None, "criteria, number 4: weight is None; write a number"),
    (RUBRIC, ["criteria", 0, "verdict"], "maybe", "criteria, number 1: verdict is 'maybe'; write satisfied"),
    (EVALUATIONS, ["evaluations"], None, "evaluations is None; write a list"),
    (EVALUATIONS, ["evaluations", 0, "model_id"], None, "evaluations, number 1: no system, such as run_id or model_id"),
    (
        EVALUATIONS,
        ANNOTATED, 4,
        "evaluations, number 1: faithfulness: ann is 4; write a JSON object",
    ),
    (
        EVALUATIONS,
        [*ANNOTATED, "value"], "perhaps",
        "evaluations, number 1: faithfulness: value of ann is 'perhaps'; write a number",
    ),
    (RATING, ["rating"], "Superb", "rating is 'Superb'; write bad, so-so, mostly_good, perfect or failed"),
    (RATING, ["username"], " ", "username is ' '; write"),
]  # fmt: skip


@pytest.mark.parametrize(("sample", "path", "value", "problem"), DAMAGED, ids=[each[-1] for each in DAMAGED])
def test_a_mistake_is_one_line_with_the_record_and_the_next_step(qrowd, tmp_path, sample, path, value, problem):
    records = [changed(sample, path, value)] if sample is EVALUATIONS else [sample, changed(sample, path, value)]
    (tmp_path / "answers.jsonl").write_bytes(lines(*records))
    outcome = qrowd("evaluate", "answers.jsonl")
    assert outcome.status == 2
    (line,) = outcome.err.splitlines()
    assert line.startswith(f"qrowd: answers.jsonl: record {len(records)}: ")
    assert problem in line


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (lines(NUGGETS | {"nuggets": []}), "no nugget was assigned"),
        (lines(SUPPORT | {"sentences": [sentence(-1)]}), "no sentence was judged"),
        (lines(RUBRIC | {"criteria": []}), "no criterion has a verdict"),
        (lines(OF_A_DOCUMENT), "holds no rating of a report"),
        (json.dumps(EVALUATIONS | {"evaluations": []}).encode(), "holds no annotation"),
    ],
)
def test_a_file_without_a_judgment_is_refused(content, problem):
    with pytest.raises(FileError, match=problem):
        reader_for(content, "file").read(content, "file")
