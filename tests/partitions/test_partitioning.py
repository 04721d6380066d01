"""Files become a collection in pieces of any size: the same as reading them whole, with the same messages."""

import gzip

import numpy as np
import pandas
import pytest

import qrowd
from equal_scores import equal
from qrowd.errors import FileError
from qrowd.partitioning import partition, pieces
from qrowd.partitions import open_partitioned
from qrowd.simulation import simulate_demo
from qrowd.trec import format_qrels, format_run

MEASURES = ["nDCG@10", "AP", "ERR@10"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs and judgments in every format that is read in pieces."""
    runs, judgments, _ = simulate_demo()
    root = tmp_path_factory.mktemp("files")
    (root / "runs").mkdir()
    (root / "judges").mkdir()
    for i, system in enumerate(runs.systems):
        own = runs.select(systems=[system])
        path = root / "runs" / f"{system}.run"
        if i == 0:
            own.to_frame().to_parquet(path.with_suffix(".parquet"))
        elif i == 1:
            path.with_suffix(".run.gz").write_bytes(gzip.compress(format_run(own, system).encode()))
        elif i == 2:
            own.to_frame().to_csv(path.with_suffix(".csv"), index=False)
        else:
            path.write_text(format_run(own, system))
    for i, name in enumerate(judgments.assessors):
        own = judgments.select(assessors=[name])
        path = root / "judges" / f"{name}.qrels"
        if i == 0:
            own.to_frame().assign(comment='two\nlines, and a "quote"').to_csv(path.with_suffix(".csv"), index=False)
        elif i == 1:
            own.to_frame().to_json(path.with_suffix(".jsonl"), orient="records", lines=True)
        elif i == 2:
            own.to_frame().to_parquet(path.with_suffix(".parquet"))
        else:
            path.write_text(format_qrels(own))
    return root


@pytest.mark.parametrize("piece", [997, 20_000, 1 << 20])
def test_files_in_pieces_are_the_files_read_whole(folder, tmp_path, monkeypatch, piece):
    monkeypatch.setattr(pieces, "PIECE", piece)
    monkeypatch.setattr(pieces, "ROWS", piece)
    progress = []
    collection = partition(
        str(folder / "runs"), str(folder / "judges"), tmp_path / "c", n_parts=5, progress=lambda *n: progress.append(n)
    )
    runs, judgments = qrowd.read_runs(str(folder / "runs")), qrowd.read_judgments(str(folder / "judges"))
    whole = qrowd.evaluate(runs, judgments, MEASURES)
    assert equal(qrowd.evaluate(collection.runs, collection.judgments, MEASURES), whole)
    assert collection.scales == judgments.scales
    assert len(collection.runs) == len(runs)
    assert len(collection.judgments) == len(judgments)
    assert progress[-1][0] == progress[-1][1]
    assert sorted(filter(None, collection.judgments.comment.tolist())) == sorted(
        filter(None, judgments.comment.tolist())
    )


def test_a_mistake_far_down_is_named_with_its_line_and_nothing_is_left(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 500)
    lines = (folder / "judges").glob("*.qrels").__next__().read_text().splitlines()
    lines[777] = "q01 0 d1 many"
    bad = tmp_path / "bad.qrels"
    bad.write_text("\n".join(lines) + "\n")
    with pytest.raises(FileError) as whole:
        qrowd.read_judgments(bad)
    with pytest.raises(FileError) as parts:
        partition(str(folder / "runs"), str(bad), tmp_path / "c")
    assert str(parts.value) == str(whole.value)
    assert "line 778" in str(parts.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.qrels"]


def test_a_row_of_parquet_is_named_as_it_stands_in_the_file(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "ROWS", 10)
    frame = pandas.DataFrame({"topic": "t", "document": [f"d{i}" for i in range(40)], "value": 1.0})
    frame.loc[31, "value"] = np.nan
    frame.to_parquet(tmp_path / "bad.parquet")
    with pytest.raises(FileError, match=r"bad\.parquet: row 32: "):
        partition(str(folder / "runs"), str(tmp_path / "bad.parquet"), tmp_path / "c")


def test_a_document_twice_in_a_list_is_found_where_its_lines_are_far_apart(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 400)
    lines = [f"q01 Q0 d{i} {i} {100 - i} tag" for i in range(60)]
    (tmp_path / "twice.run").write_text("\n".join([*lines, "q01 Q0 d3 61 1 tag"]) + "\n")
    collection = partition(str(tmp_path / "twice.run"), str(folder / "judges"), tmp_path / "c")
    with pytest.raises(
        FileError, match=r"part-\d+\.parquet: system twice, topic q01, document d3: the document is in the list twice"
    ):
        qrowd.evaluate(collection.runs, collection.judgments, "AP")


def test_a_folder_that_exists_is_refused(folder, tmp_path):
    with pytest.raises(FileError, match="exists already; name another folder"):
        partition(str(folder / "runs"), str(folder / "judges"), tmp_path)


def test_a_collection_that_is_not_complete_is_refused(folder, tmp_path):
    with pytest.raises(FileError, match=r"holds no survey\.json"):
        open_partitioned(tmp_path)
    collection = partition(str(folder / "runs"), str(folder / "judges"), tmp_path / "c", n_parts=2)
    collection.paths("runs", 1)[0].unlink()
    with pytest.raises(FileError, match="there is no such file; the collection is not complete"):
        qrowd.evaluate(collection.runs, collection.judgments, "AP")
    collection.paths("judgments", 0)[0].write_bytes(b"PAR1 and nothing else")
    with pytest.raises(FileError, match=r"part-00000\.parquet: cannot be read"):
        qrowd.evaluate(collection.runs, collection.judgments, "AP")
    (tmp_path / "c" / "survey.json").write_text('{"format": 99}')
    with pytest.raises(FileError, match="is not of format 4"):
        open_partitioned(tmp_path / "c")
