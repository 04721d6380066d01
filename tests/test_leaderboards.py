"""Leaderboards of TREC AutoJudge: five formats, read as scores."""

import json

import numpy as np
import pytest

from qrowd.errors import ArgumentError, FileError
from qrowd.files import read_scores

ROWS = [("bm25", "t1", "GRADE", 2.0), ("bm25", "t2", "GRADE", 1.0), ("dense", "t1", "GRADE", 0.5)]
MEANS = [("bm25", "all", "GRADE", 1.5), ("dense", "all", "GRADE", 0.5)]
TEXTS = {
    "tot": "".join(f"{s}\t{m}\t{t}\t{v}\n" for s, t, m, v in ROWS + MEANS),
    "ir_measures": "".join(f"{s} {t} {m} {v}\n" for s, t, m, v in ROWS + MEANS),
    "ranking": "".join(f"{t} Q0 {s} 0 {v} {m}\n" for s, t, m, v in ROWS),
    "jsonl": "".join(json.dumps({"run_id": s, "topic_id": t, "measure": m, "value": v}) + "\n" for s, t, m, v in ROWS),
}
BM25 = "runid                 \tall\tbm25\nGRADE\tt1\t2.0\nGRADE\tt2\t1.0\nGRADE\tall\t1.5\n"
VALUES = np.array([[[[2.0, 0.5], [1.0, np.nan]]]])
LABELS = (("GRADE",), ("gpt",), ("t1", "t2"), ("bm25", "dense"))


def labels(scores):
    return scores.measures, scores.assessors, scores.topics, scores.systems


@pytest.mark.parametrize("format", TEXTS)
def test_each_format_is_read_and_summaries_are_left_out(tmp_path, format):
    (tmp_path / "gpt.txt").write_text(TEXTS[format])
    scores = read_scores(tmp_path / "gpt.txt", format=format if format in ("tot", "ir_measures") else "auto")
    assert labels(scores) == LABELS
    np.testing.assert_array_equal(scores.values, VALUES)


def test_in_trec_evals_format_a_file_is_a_system_and_a_folder_may_name_the_assessor(tmp_path):
    (tmp_path / "gpt").mkdir()
    (tmp_path / "gpt" / "bm25").write_text(BM25)
    (tmp_path / "gpt" / "dense").write_text("GRADE\tt1\t0.5\n")
    scores = read_scores({"gpt": tmp_path / "gpt"})
    assert labels(scores) == LABELS
    np.testing.assert_array_equal(scores.values, VALUES)
    assert read_scores(tmp_path / "gpt").assessors == ("scores",)


def test_each_file_is_an_assessor(tmp_path):
    for name in ("gpt", "nist"):
        (tmp_path / f"{name}.eval.jsonl").write_text(TEXTS["jsonl"])
    assert read_scores([f"human={tmp_path}/nist.eval.jsonl", tmp_path / "gpt.eval.jsonl"]).assessors == (
        "human",
        "gpt",
    )


def test_summaries_alone_are_the_topic_all(tmp_path):
    (tmp_path / "gpt.txt").write_text("bm25 GRADE all 1.5\ndense GRADE all 0.5\n")
    scores = read_scores(tmp_path / "gpt.txt", format="tot")
    assert (scores.topics, scores.values.ravel().tolist()) == (("all",), [1.5, 0.5])


def test_a_format_of_four_fields_must_be_named(tmp_path):
    (tmp_path / "gpt.txt").write_text("bm25 GRADE t1 1.5\n")
    with pytest.raises(FileError, match=r"gpt.txt: four fields may be tot .* say which with format='tot'"):
        read_scores(tmp_path / "gpt.txt")
    assert read_scores(tmp_path / "gpt.txt", format="tot").measures == ("GRADE",)


@pytest.mark.parametrize(("name", "line"), [
    ("gpt.tot", "bm25 GRADE t1 1.5"), ("a.txt", "bm25 nDCG@10 t1 1.5"), ("b.txt", "bm25 t1 ndcg_cut_10 1.5"),
    ("c.txt", "bm25 t1 AP(rel=2) 1.5"),
])  # fmt: skip
def test_a_format_of_four_fields_is_told_by_the_name_of_the_file_or_of_the_measure(tmp_path, name, line):
    (tmp_path / name).write_text(f"{line}\n")
    scores = read_scores(tmp_path / name)
    assert (scores.systems, scores.topics, scores.values.ravel().tolist()) == (("bm25",), ("t1",), [1.5])
    (tmp_path / "bytes.txt").write_bytes(b"map q\xe4 0.5\n")
    assert read_scores(tmp_path / "bytes.txt").topics == ("q\udce4",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("GRADE all high\n", "line 1: expected a number as value, found 'high'"),
        ("GRADE all 1\nbm25 GRADE t1 2\n", "line 2: expected 'measure topic value', found 4 fields"),
        ("a b\n", "expected 3, 4 or 6 fields, or JSON, found 2 fields"),
        ('{"run_id": "bm25"}\n', "line 1: expected a JSON object with run_id, topic_id, measure, value"),
        ("# only a comment\n", "holds no score"),
    ],
)
def test_a_broken_leaderboard_is_refused_with_its_line(tmp_path, text, problem):
    (tmp_path / "gpt.txt").write_text(text)
    with pytest.raises(FileError, match=problem):
        read_scores(tmp_path / "gpt.txt")


def test_a_score_that_stands_twice_is_refused(tmp_path):
    (tmp_path / "gpt.txt").write_text(TEXTS["jsonl"] + TEXTS["jsonl"])
    with pytest.raises(ArgumentError, match="GRADE of bm25 on topic t1 by gpt stands twice"):
        read_scores(tmp_path / "gpt.txt")
