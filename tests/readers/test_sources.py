"""Exports, data sets of ir_datasets, run folders of TIRA and readers of other distributions, read as files are."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from ir_datasets.formats import TsvQueries

from command_line import status_of
from data_sets import RUN, local, registered
from qrowd import read_judgments, read_preferences, read_runs
from qrowd.errors import FileError
from qrowd.files import find_files
from qrowd.paths import without_endings


@pytest.fixture
def data_set(tmp_path):
    with registered(tmp_path / "small") as name:
        yield name


# ---- ir_datasets


def test_judgments_of_a_data_set_are_of_one_assessor_whatever_the_iteration(data_set):
    judgments = read_judgments(f"irds:{data_set}")
    assert judgments.to_dict() == {data_set: {"q1": {"d1": 2, "d2": 0}}}


def test_a_data_set_is_renamed_and_stands_beside_files(data_set, tmp_path):
    (tmp_path / "ann.qrels").write_text("q1 0 d1 1\n")
    judgments = read_judgments([f"nist=irds:{data_set}", tmp_path / "ann.qrels"])
    assert judgments.assessors == ("nist", "ann")


def test_the_scored_documents_of_a_data_set_are_a_run(data_set):
    assert read_runs(f"bm25=irds:{data_set}").to_dict() == {"bm25": {"q1": {"d1": 3.5, "d2": 1.5}}}


def test_a_data_set_that_there_is_not_is_refused_with_the_nearest_name(data_set):
    with pytest.raises(FileError, match=rf"^irds:{data_set}s: .*no such data set; did you mean irds:{data_set}\?"):
        read_judgments(f"irds:{data_set}s")


def test_a_data_set_without_judgments_is_refused_with_what_it_has(tmp_path):
    queries = TsvQueries(local(tmp_path / "q.tsv", "q1\tred\n"))
    problem = "this data set has no judgments; it has topics"
    with registered(tmp_path, queries) as name, pytest.raises(FileError, match=problem):
        read_judgments(f"irds:{name}")


def test_without_ir_datasets_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(FileError, match=r"^irds:x: this needs ir_datasets; pip install 'qrowd\[irds\]'"):
        read_judgments("irds:x")


def test_preferences_are_not_read_of_a_data_set():
    with pytest.raises(FileError, match="is a data set and no file"):
        read_preferences("irds:x")


# ---- exports


def test_an_export_is_read_by_what_it_holds_and_word_labels_have_an_order(tmp_path):
    record = {"fields": {}, "metadata": {"query_id": "q", "doc_id": "d"}}
    answers = {"relevance": [{"value": "no", "user_id": "u1"}, {"value": "yes", "user_id": "u2"}]}
    (tmp_path / "export.json").write_text(json.dumps([record | {"responses": answers}]))
    judgments = read_judgments(tmp_path / "export.json", labels="no<yes")
    assert judgments.to_dict() == {"u1": {"q": {"d": 0}}, "u2": {"q": {"d": 1}}}


def test_pairs_of_label_studio_are_preferences(tmp_path):
    region = {"from_name": "which", "type": "pairwise", "value": {"selected": "left"}}
    data = {"query_id": "q", "left_id": "d1", "right_id": "d2"}
    task = {"data": data, "annotations": [{"completed_by": 7, "result": [region]}]}
    (tmp_path / "export.json").write_text(json.dumps([task]))
    assert read_preferences(tmp_path / "export.json").to_rows() == [("q", "d1", "d2", "7", 1)]


def test_a_file_may_name_its_reader(tmp_path):
    (tmp_path / "judged.txt").write_text("q Q0 d 3 0.9 umbrela\nq Q0 e 0 0.4 nist\n")
    judgments = read_judgments(f"trec-rag:{tmp_path}/*.txt")
    assert judgments.to_dict() == {"umbrela": {"q": {"d": 3}}, "nist": {"q": {"e": 0}}}
    assert without_endings(find_files(f"trec-rag:{tmp_path}/judged.txt")[0]) == "judged"


def test_names_of_models_keep_their_dots_in_file_names_and_in_files(tmp_path):
    names = ["gpt-5.5", "qwen3.5-9b-v1", "qwen3.5-9b-v2"]
    for name in names:
        (tmp_path / name).write_text("q 0 d 1\n")
    assert read_judgments(tmp_path).assessors == tuple(names)
    (tmp_path / "rag.tsv").write_text("".join(f"q Q0 d 1 0.9 {name}\n" for name in names))
    assert read_judgments(f"trec-rag:{tmp_path}/rag.tsv").assessors == tuple(names)
    record = {"qid": "q", "docid": "d", "query": "flea", "passage": "lives", "judgment": 1, "result_status": 1}
    (tmp_path / "u.jsonl").write_text("".join(json.dumps(record | {"model": name}) + "\n" for name in names))
    assert read_judgments(tmp_path / "u.jsonl").assessors == tuple(names)


def test_judgments_in_six_columns_without_their_reader_are_refused_with_its_name(tmp_path):
    (tmp_path / "judged.txt").write_text("q Q0 d 3 0.9 umbrela\n")
    with pytest.raises(FileError, match=r"like a run; .*trec-rag:FILE"):
        read_judgments(tmp_path / "judged.txt")


def test_the_mistakes_of_an_export_name_its_file_and_row(tmp_path):
    record = {
        "data": {"qid": "q", "docid": "d"},
        "annotations": [{"completed_by": 1, "result": [{"type": "rating", "value": {"rating": "high"}}]}],
    }
    (tmp_path / "export.json").write_text(json.dumps([record]))
    with pytest.raises(FileError, match=r"export.json: row 1: values are words \(high\)"):
        read_judgments(tmp_path / "export.json")


def test_an_array_of_json_is_a_table(tmp_path):
    (tmp_path / "rows.json").write_text('[{"Topic ID": 1, "docno": "d", "label": 2}]')
    assert read_judgments(tmp_path / "rows.json").to_dict() == {"rows": {"1": {"d": 2}}}


# ---- TIRA


def tira(folder: Path, metadata: str, name: str = "run.txt") -> Path:
    folder.mkdir(parents=True)
    content = RUN.encode()
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    (folder / "ir-metadata.yml").write_text(metadata)
    return folder


def test_a_run_folder_of_tira_is_a_run_called_by_its_tag_or_its_folder(tmp_path):
    tira(tmp_path / "out" / "2024-01-02", "platform:\n  cpu: x\ntag: 'my system' # final\n")
    tira(tmp_path / "out" / "bm25", "actor:\n  tag: other\n", "run.txt.gz")
    assert read_runs(tmp_path / "out").systems == ("my system", "bm25")
    assert read_runs(str(tmp_path / "out" / "*")).systems == ("my system", "bm25")
    assert read_runs(tmp_path / "out" / "bm25").systems == ("bm25",)
    assert read_runs(tmp_path / "out" / "bm25" / "run.txt.gz").systems == ("bm25",)


def test_a_run_without_metadata_is_called_as_its_file(tmp_path):
    (tmp_path / "run.txt").write_text(RUN)
    assert read_runs(tmp_path / "run.txt").systems == ("run",)


def test_the_command_line_reads_data_sets_exports_and_run_folders(tmp_path):
    tira(tmp_path / "runs" / "bm25", "tag: bm25\n")
    (tmp_path / "book.csv").write_text("query,docid,rating\nq1,d1,2\nq1,d2,0\n")
    command = [sys.executable, "-m", "qrowd", "evaluate", "--runs", "runs", "--judgments", "book.csv", "-m", "P@1"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "bm25" in result.stdout


def test_five_language_models_of_a_folder_score_runs_under_their_full_names(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    tira(tmp_path / "runs" / "bm25", "tag: bm25\n")
    names = [f"umbrela-{model}-{version}" for model in ("qwen3.5-9b", "ministral-3-14b") for version in ("v1", "v2")]
    names.append("umbrela-codex-gpt5.5-medium-reasoning-v1")
    (tmp_path / "judges").mkdir()
    for name in names:
        (tmp_path / "judges" / f"{name}.qrels").write_text("q1 0 d1 3\nq1 0 d2 0\n")
    (tmp_path / "judges" / "README.md").write_text("# Judgments of models\n")
    arguments = ["evaluate", "--runs", "runs", "--judgments", "judges", "-m", "P@1", "-o", "scores.csv"]
    assert status_of(*arguments) == 0, capsys.readouterr().err
    assert set(names) <= set((tmp_path / "scores.csv").read_text().replace("\n", ",").split(","))


def test_what_an_export_does_not_hold_is_noted_with_its_file(tmp_path):
    record = {"qid": "q", "query": "flea", "passage": "lives", "judgment": 0, "docid": "d"}
    lines = (json.dumps(record | {"docid": f"d{status}", "result_status": status}) for status in (0, 1))
    (tmp_path / "u.jsonl").write_text("\n".join(lines))
    judgments = read_judgments(tmp_path / "u.jsonl")
    assert judgments.to_dict() == {"u": {"q": {"d1": 0}}}
    assert judgments.notes == (f"{tmp_path}/u.jsonl: 1 record had no answer and made no judgment",)


def test_comparisons_of_answers_are_preferences_and_no_judgments(tmp_path):
    game = {"qid": "q", "raw_answer": "...", "agent_a": "bm25", "agent_b": "dense", "answer": {"winner": "B"}}
    (tmp_path / "games.jsonl").write_text(json.dumps({"answer": game}))
    preferences = read_preferences(tmp_path / "games.jsonl")
    assert [preferences.documents[i] for i in (preferences.preferred[0], preferences.other[0])] == ["dense", "bm25"]
    with pytest.raises(FileError, match=r"games.jsonl: holds preferences, no judgments; qrowd check says"):
        read_judgments(tmp_path / "games.jsonl")
