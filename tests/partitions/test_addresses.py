"""Files at addresses become a partitioned collection as files on disk do; what is wrong is said in one line."""

import builtins
import gzip
import subprocess
import sys

import pandas
import pytest

import qrowd
from equal_scores import equal
from qrowd.errors import FileError, QrowdError
from qrowd.partitioning import partition, pieces
from qrowd.simulation import simulate_demo
from qrowd.trec import format_qrels, format_run

fsspec = pytest.importorskip("fsspec")
MEASURES = ["nDCG@10", "AP"]


@pytest.fixture
def store(tmp_path):
    """The address of a folder of the demo in each format, by protocol, and its path on disk."""
    runs, judgments, _ = simulate_demo()
    disk = tmp_path / "files"
    for folder in ("runs", "judges"):
        (disk / folder).mkdir(parents=True)
        (disk / folder / "README.md").write_text("about the data")
        (disk / folder / ".hidden").write_text("of a system")
    for i, system in enumerate(runs.systems):
        own = runs.select(systems=[system])
        if i == 0:
            own.to_frame().to_parquet(disk / "runs" / f"{system}.run.parquet")
        elif i == 1:
            own.to_frame().to_csv(disk / "runs" / f"{system}.run.csv", index=False)
        elif i == 2:
            own.to_frame().to_json(disk / "runs" / f"{system}.run.json", orient="records")  # read whole
        else:
            (disk / "runs" / f"{system}.run.gz").write_bytes(gzip.compress(format_run(own, system).encode()))
    for name in judgments.assessors:
        (disk / "judges" / f"{name}.qrels").write_text(format_qrels(judgments.select(assessors=[name])))
    memory = fsspec.filesystem("memory")
    memory.put(str(disk), "/bucket", recursive=True)
    yield {"memory": "memory://bucket", "file": disk.as_uri()}, disk
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]


@pytest.mark.parametrize("piece", [4_000, 1 << 20])
@pytest.mark.parametrize("protocol", ["memory", "file"])
def test_files_at_addresses_are_the_files_on_disk(store, tmp_path, monkeypatch, protocol, piece):
    addresses, disk = store
    monkeypatch.setattr(pieces, "PIECE", piece)
    monkeypatch.setattr(pieces, "ROWS", piece // 10)
    address, progress = addresses[protocol], []
    collection = partition(
        f"{address}/runs/*.run*",
        f"{address}/judges",
        tmp_path / "collection",
        n_parts=3,
        progress=lambda *counts: progress.append(counts),
    )
    runs, judgments = qrowd.read_runs(str(disk / "runs")), qrowd.read_judgments(str(disk / "judges"))
    assert collection.systems == runs.systems
    assert collection.assessors == judgments.assessors
    whole = qrowd.evaluate(runs, judgments, MEASURES)
    assert equal(qrowd.evaluate(collection.runs, collection.judgments, MEASURES), whole)
    size = sum(path.stat().st_size for path in disk.rglob("*.*") if path.name[0] not in ".R" and path.is_file())
    assert progress[-1] == (size, size, len(runs) + len(judgments))
    assert progress == sorted(progress)


def test_addresses_stand_beside_paths_and_have_names(store, tmp_path):
    addresses, disk = store
    address = addresses["memory"]
    collection = partition(
        [f"baseline={address}/runs/splade.run.gz", str(disk / "runs" / "hybrid.run.gz")],
        {"one=": f"{address}/judges/ann.qrels", "two": disk / "judges" / "bob.qrels"},
        tmp_path / "collection",
        n_parts=2,
    )
    assert collection.systems == ("baseline", "hybrid")
    assert collection.assessors == ("one=", "two")


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ("{}/runs/none.run", "{}/runs/none.run: there is no such file"),
        ("{}/runs/*.none", "{}/runs/*.none: no file matches this pattern"),
        ("nowhere://bucket/a.run", "nowhere://bucket/a.run: cannot be read: Protocol not known: nowhere"),
        (["{}/runs/hybrid.run.gz", "{}/more/hybrid.run"], "/more/hybrid.run: is system 'hybrid', as is {}/runs/"),
        ("{}/wrong.run", "{}/wrong.run, line 2: "),
        ("{}/half.run.gz", "{}/half.run.gz: damaged or truncated gzip ("),
        ("{}/half.parquet", "{}/half.parquet: not readable as Parquet: "),
        ("{}/empty.run", "{}/empty.run: is empty"),
    ],
)
def test_what_is_wrong_at_an_address_is_said_in_one_line_and_nothing_is_left(store, tmp_path, runs, message):
    addresses, _ = store
    memory, address = fsspec.filesystem("memory"), addresses["memory"]
    memory.pipe("/bucket/more/hybrid.run", b"q01 Q0 d 1 1 t\n")
    memory.pipe("/bucket/wrong.run", b"q01 Q0 d 1 1 t\nq01 Q0\n")
    memory.pipe("/bucket/half.run.gz", gzip.compress(b"q01 Q0 d 1 1 t\n" * 1000)[:60])
    memory.pipe("/bucket/half.parquet", b"PAR1 and nothing else")
    memory.pipe("/bucket/empty.run", b"")
    given = [runs.format(address)] if isinstance(runs, str) else [one.format(address) for one in runs]
    with pytest.raises(FileError) as caught:
        partition(given, f"{address}/judges", tmp_path / "collection")
    said = str(caught.value).replace("memory:///", "memory://")
    assert message.format(*[address] * message.count("{}")) in said
    assert "\n" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["files"]


def test_a_store_that_refuses_names_the_credentials(store, tmp_path, monkeypatch):
    def refuse(*arguments, **named):
        raise PermissionError("Access Denied")

    addresses, _ = store
    address = f"{addresses['memory']}/runs/hybrid.run.gz"
    for method in ("info", "_open"):
        with monkeypatch.context() as patch:
            patch.setattr(type(fsspec.filesystem("memory")), method, refuse)
            with pytest.raises(FileError) as caught:
                partition(address, f"{addresses['file']}/judges", tmp_path / "c")
        assert str(caught.value) == f"{address}: cannot be read: Access Denied; set the credentials of the store"


def test_without_fsspec_the_extra_is_named(tmp_path, monkeypatch):
    original = builtins.__import__

    def absent(name, *rest, **named):
        if name.startswith("fsspec"):
            raise ImportError(name)
        return original(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(QrowdError) as caught:
        partition("s3://bucket/a.run", "s3://bucket/a.qrels", tmp_path / "collection")
    assert str(caught.value) == "s3://bucket/a.qrels: addresses are read with fsspec; pip install 'qrowd[remote]'"


def test_only_partition_reads_addresses_and_none_is_written_to(store, tmp_path, monkeypatch):
    _, disk = store
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match="is an address, which only qrowd partition reads; fetch the file"):
        qrowd.read_runs("s3://bucket/runs/*.run")
    with pytest.raises(FileError, match=r"s3://bucket/c: is an address; a partitioned collection lies in a folder"):
        partition(str(disk / "runs"), str(disk / "judges"), "s3://bucket/c")
    collection = partition(str(disk / "runs"), str(disk / "judges"), "collection", n_parts=2)
    with pytest.raises(FileError, match=r"s3://bucket/r: is an address; scores of parts are kept in a folder"):
        qrowd.evaluate(collection.runs, collection.judgments, "AP", results="s3://bucket/r")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["collection", "files"]


def test_a_pipe_is_read_once_and_whole(store, tmp_path):
    _, disk = store
    files = f"one=<(cat {disk}/judges/ann.qrels) two=<(gzip -c {disk}/judges/bob.qrels)"
    command = f"{sys.executable} -m qrowd partition --runs {disk}/runs --judgments {files} -o collection --n-parts 2"
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True, capture_output=True)
    judgments = qrowd.read_judgments({"one": disk / "judges" / "ann.qrels", "two": disk / "judges" / "bob.qrels"})
    opened = qrowd.open_partitioned(tmp_path / "collection").judgments
    assert opened.assessors == ("one", "two")
    assert sorted(map(tuple, opened.to_frame().values.tolist())) == sorted(
        map(tuple, judgments.to_frame().values.tolist())
    )


def test_progress_is_by_packed_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 10_000)
    frame = pandas.DataFrame({"topic": "t", "document": [f"d{i:06}" for i in range(200_000)], "value": 1})
    (tmp_path / "ann.csv.gz").write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    (tmp_path / "a.run").write_text("t Q0 d000001 1 1 tag\n")
    shares = []
    partition(
        tmp_path / "a.run",
        tmp_path / "ann.csv.gz",
        tmp_path / "c",
        progress=lambda done, total, rows: shares.append((done / total, rows / 200_001)),
    )
    assert len(shares) > 100
    assert max(abs(done - rows) for done, rows in shares) < 0.1
