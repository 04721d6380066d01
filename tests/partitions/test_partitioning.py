"""Files become a collection one after the other: the same as reading them all, with the same messages."""

import gzip
import itertools
from contextlib import contextmanager

import pytest

import qrowd
from equal_scores import equal
from qrowd.errors import ArgumentError, FileError
from qrowd.partitioning import partition
from qrowd.partitions import open_partitioned, write_partitioned
from qrowd.simulation import simulate_demo
from qrowd.trec import format_qrels, format_run

MEASURES = ["nDCG@10", "AP", "ERR@10"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs and judgments in several formats."""
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


def test_a_collection_of_files_has_the_scores_and_scales_of_the_files(folder, tmp_path):
    progress = []
    collection = partition(
        str(folder / "runs"), str(folder / "judges"), tmp_path / "c", n_parts=5, progress=lambda *n: progress.append(n)
    )
    runs, judgments = qrowd.read_runs(str(folder / "runs")), qrowd.read_judgments(str(folder / "judges"))
    whole = qrowd.evaluate(runs, judgments, MEASURES)
    assert equal(qrowd.evaluate(collection.runs, collection.judgments, MEASURES), whole)
    assert collection.scales == judgments.scales
    assert collection.notes == judgments.notes
    loaded = collection.judgments.load()
    assert progress[-1] == (len(runs.systems) + len(judgments.assessors),) * 2
    for name in ("comment", "value"):
        cells = [sorted(str(cell) for cell in getattr(each, name)) for each in (loaded, judgments)]
        assert cells[0] == cells[1]


def test_declared_scales_are_those_of_the_whole(folder, tmp_path):
    scales = {"ann": "0-9", "b*": "0-7"}
    collection = partition(str(folder / "runs"), str(folder / "judges"), tmp_path / "c", n_parts=2, scales=scales)
    assert collection.scales == qrowd.read_judgments(str(folder / "judges"), scales=scales).scales


def test_a_mistake_is_named_with_its_line_and_nothing_is_left(folder, tmp_path):
    lines = (folder / "judges").glob("*.qrels").__next__().read_text().splitlines()
    lines[777] = "q01 0 d1 many"
    bad = tmp_path / "bad.qrels"
    bad.write_text("\n".join(lines) + "\n")
    with pytest.raises(FileError) as whole:
        qrowd.read_judgments(bad)
    with pytest.raises(FileError) as parts:
        partition(str(folder / "runs"), [str(folder / "judges"), str(bad)], tmp_path / "c")
    assert str(parts.value) == str(whole.value)
    assert "line 778" in str(parts.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.qrels"]


def test_a_document_twice_in_a_list_of_two_files_is_found(folder, tmp_path):
    for i in (1, 2):
        (tmp_path / f"{i}.run").write_text("q01 Q0 d3 1 1 tag\n")
    files = [tmp_path / "1.run", tmp_path / "2.run"]
    collection = partition(files, str(folder / "judges"), tmp_path / "c", system="column")
    with pytest.raises(FileError, match=r"system tag, topic q01, document d3: the document is in the list twice"):
        qrowd.evaluate(collection.runs, collection.judgments, "AP")


def test_a_folder_that_exists_is_refused(folder, tmp_path):
    with pytest.raises(FileError, match="exists already; name another folder"):
        partition(str(folder / "runs"), str(folder / "judges"), tmp_path)


def test_of_several_who_write_one_folder_at_once_one_wins_and_the_others_say_so_in_a_line(tmp_path):
    runs = qrowd.Runs.from_dict({"s": {"t": {"d": 1.0}}})
    target = tmp_path / "c"

    def judgments():
        write_partitioned(target, runs, [mine], n_parts=1)  # another program, meanwhile
        yield mine

    mine = qrowd.Judgments.from_rows([("t", "d", "ann", 1)])
    with as_several_programs(), pytest.raises(FileError, match=r"^.*c: cannot be written: [a-z ]+$"):
        write_partitioned(target, runs, judgments(), n_parts=1)
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


@contextmanager
def as_several_programs():
    """Whoever asks next has another number of a process."""
    with pytest.MonkeyPatch.context() as patch:
        numbers = itertools.count(1)
        patch.setattr("os.getpid", lambda: next(numbers))
        yield


def test_no_judgments_and_no_parts_are_refused(tmp_path):
    runs = qrowd.Runs.from_dict({"s": {"t": {"d": 1.0}}})
    with pytest.raises(ArgumentError, match="judgments: there are none"):
        write_partitioned(tmp_path / "c", runs, [])
    with pytest.raises(ArgumentError, match="n_parts=0: at least 1 was expected"):
        write_partitioned(tmp_path / "c", runs, [], n_parts=0)
    assert list(tmp_path.iterdir()) == []


def test_a_collection_that_is_not_complete_is_refused(folder, tmp_path):
    with pytest.raises(FileError, match=r"holds no survey\.json"):
        open_partitioned(tmp_path)
    collection = partition(str(folder / "runs"), str(folder / "judges"), tmp_path / "c", n_parts=2)
    (runs,) = (tmp_path / "c/runs/part=1").iterdir()
    runs.unlink()
    with pytest.raises(FileError, match=r"part=1: holds 0 of .* rows of runs; write the collection again"):
        qrowd.evaluate(collection.runs, collection.judgments, "AP")
    (judgments,) = (tmp_path / "c/judgments/part=0").iterdir()
    judgments.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(FileError, match=r"part=0: cannot be read"):
        qrowd.evaluate(collection.runs, collection.judgments, "AP")
    (tmp_path / "c" / "survey.json").write_text('{"format": 99}')
    with pytest.raises(FileError, match="is not of format 6"):
        open_partitioned(tmp_path / "c")
