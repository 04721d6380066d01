"""Files read by workers: the collection is that of one process to the bit, and mistakes are named as there."""

import gzip
import os
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import active_children, get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrowd
from dying import dying_once
from equal_scores import equal
from qrowd.errors import FileError, QrowdError
from qrowd.executors import processes
from qrowd.model.judgments import concatenate_judgments
from qrowd.partitioning import pieces, reading
from qrowd.partitions import compact_partitioned
from qrowd.simulation import simulate_demo
from qrowd.trec import format_qrels, format_run

MEASURES = ["nDCG@10", "AP"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs and judgments in several formats; later files are added."""
    runs, judgments, _ = simulate_demo()
    root = tmp_path_factory.mktemp("files")
    for name in ("runs", "judges", "later"):
        (root / name).mkdir()
    for i, system in enumerate(runs.systems):
        own = runs.select(systems=[system])
        path = root / "runs" / f"{system}.run"
        if i == 0:
            own.to_frame().to_parquet(path.with_suffix(".parquet"))
        elif i == 1:
            path.with_suffix(".run.gz").write_bytes(gzip.compress(format_run(own, system).encode()))
        else:
            path.write_text(format_run(own, system))
    for i, name in enumerate(judgments.assessors):
        own, path = judgments.select(assessors=[name]), root / "judges" / f"{name}.qrels"
        if i == 0:
            own.to_frame().assign(comment='two\nlines, "quoted"').to_csv(path.with_suffix(".csv"), index=False)
        elif i == 1:
            own.to_frame().to_json(path.with_suffix(".jsonl"), orient="records", lines=True)
        elif i == 2:
            frame = own.to_frame().drop(columns="scale")
            frame["value"] = frame["value"] / 8 + 0.1 * (frame["value"] > 1)  # fractions
            frame.to_csv(path.with_suffix(".csv"), index=False)
        else:
            path.write_text(format_qrels(own))
    (root / "later" / "late.qrels").write_text(format_qrels(judgments.select(assessors="bob")))
    return root


def contents(folder):
    """Every file of a collection and what it holds."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class AnyOrder(Executor):
    """Does the tasks when the last of `n` was handed in, or at once after that, in the order that is drawn."""

    def __init__(self, orders):
        self.orders, self.waiting = orders, []

    def submit(self, work, /, *arguments, **named):
        future = Future()
        self.waiting.append((future, partial(work, *arguments, **named)))
        if len(self.waiting) == self.orders[0]:
            n, draw = self.orders
            for i in draw(st.permutations(range(n))):
                one, task = self.waiting[i]
                one.set_result(task())
        elif len(self.waiting) > self.orders[0]:
            future.set_result(self.waiting[-1][1]())
        return future


@given(data=st.data(), piece=st.sampled_from([3_000, 40_000]))
def test_files_read_by_workers_in_any_order_are_the_collection_of_one_process_to_the_bit(folder, data, piece):
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as name:
        patch.setattr(pieces, "PIECE", piece)
        patch.setattr(reading, "ROWS_HELD", data.draw(st.sampled_from([500, 1_000_000])))
        root = Path(name)
        given_files = str(folder / "runs"), str(folder / "judges")
        options = pieces.FileOptions("file", "file", None, qrowd.model.frames.TableOptions())
        n_tasks = len(pieces.tasks_of(given_files[1], given_files[0], options))
        alone = qrowd.partition(*given_files, root / "alone", n_parts=3)
        progress = []
        qrowd.partition(
            *given_files,
            root / "together",
            n_parts=3,
            executor=AnyOrder((n_tasks, data.draw)),
            progress=lambda *counts: progress.append(counts),
        )
        assert contents(root / "together") == contents(root / "alone")
        size = sum(path.stat().st_size for one in given_files for path in Path(one).iterdir())
        assert progress[-1] == (size, size, len(alone.runs) + len(alone.judgments))
        assert progress == sorted(progress)


def test_processes_write_add_and_compact_what_one_process_does(folder, tmp_path, monkeypatch):
    whole = concatenate_judgments([qrowd.read_judgments(str(folder / name)) for name in ("judges", "later")])
    runs = qrowd.read_runs(str(folder / "runs"))
    for name, executor in (("alone", None), ("together", processes(2))):
        qrowd.partition(str(folder / "runs"), str(folder / "judges"), tmp_path / name, n_parts=3, executor=executor)
        parts = []
        qrowd.extend_partitioned(
            tmp_path / name,
            judgments=str(folder / "later"),
            executor=executor,
            progress_of_parts=lambda *counts, parts=parts: parts.append(counts),
        )
        assert parts[-1] == (3, 3)
        compact_partitioned(tmp_path / name, executor=executor)
    assert contents(tmp_path / "together") == contents(tmp_path / "alone")
    opened = qrowd.open_partitioned(tmp_path / "together")
    assert equal(qrowd.evaluate(opened.runs, opened.judgments, MEASURES), qrowd.evaluate(runs, whole, MEASURES))


def test_of_several_mistakes_the_first_in_the_order_of_files_is_named_with_its_line(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 700)
    lines = next((folder / "judges").glob("*.qrels")).read_text().splitlines()
    for name, line in (("a.qrels", 901), ("b.qrels", 3)):
        bad = list(lines)
        bad[line - 1] = "q01 0 d1 many"
        (tmp_path / name).write_text("\n".join(bad) + "\n")
    given_files = [str(tmp_path / "a.qrels"), str(tmp_path / "b.qrels")]
    with pytest.raises(FileError) as whole:
        qrowd.read_judgments(given_files[0])
    with ThreadPoolExecutor(2) as pool:
        for executor in (None, pool):
            with pytest.raises(FileError) as caught:
                qrowd.partition(str(folder / "runs"), given_files, tmp_path / "c", executor=executor)
            assert str(caught.value) == str(whole.value)
            assert "a.qrels, line 901" in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.qrels", "b.qrels"]


class Deadly(ProcessPoolExecutor):
    """One process, which dies at the file of a system while the marker is there."""

    def __init__(self, marker):
        super().__init__(1, mp_context=get_context("spawn"))
        self.marker = marker

    def submit(self, work, /, *arguments):
        *shared, task = arguments
        victim = task if getattr(task, "source", None) and task.source.name == "hybrid" else None
        return super().submit(dying_once, self.marker, victim, partial(work, *shared), task)


def test_a_file_whose_reader_was_killed_is_read_again(folder, tmp_path):
    (tmp_path / "marker").touch()
    given_files = str(folder / "runs"), str(folder / "judges")
    pools = []

    def pool():
        pools.append(Deadly(str(tmp_path / "marker")))
        return pools[-1]

    qrowd.partition(*given_files, tmp_path / "together", n_parts=3, executor=pool)
    assert not (tmp_path / "marker").exists()
    assert len(pools) == 2
    qrowd.partition(*given_files, tmp_path / "alone", n_parts=3)
    assert contents(tmp_path / "together") == contents(tmp_path / "alone")
    (tmp_path / "marker").touch()
    with (
        Deadly(str(tmp_path / "marker")) as one,
        pytest.raises(QrowdError, match=r"a worker died, with \d+ files left; give a function that makes an executor"),
    ):
        qrowd.partition(*given_files, tmp_path / "c", n_parts=3, executor=one)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alone", "together"]


@pytest.mark.parametrize("phase", ["progress", "progress_of_parts"])
def test_ctrl_c_ends_the_workers_and_leaves_nothing(folder, tmp_path, phase):
    def interrupt(*counts):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        qrowd.partition(
            str(folder / "runs"), str(folder / "judges"), tmp_path / "c", executor=processes(2), **{phase: interrupt}
        )
    assert active_children() == []
    assert list(tmp_path.iterdir()) == []


SIGNALLED = """
import os, signal, sys
import qrowd
from qrowd.executors import processes

def interrupt(*counts):
    os.killpg(0, signal.SIGINT)

if __name__ == "__main__":
    qrowd.partition(*sys.argv[1:3], "c", executor=processes(2), progress=interrupt)
"""


def test_ctrl_c_of_a_terminal_reaches_all_processes_and_leaves_nothing(folder, tmp_path):
    (tmp_path / "script.py").write_text(SIGNALLED)
    command = [sys.executable, "script.py", str(folder / "runs"), str(folder / "judges")]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False, start_new_session=True
    )
    assert done.returncode == -signal.SIGINT
    assert done.stderr.splitlines()[-1] == "KeyboardInterrupt"
    assert done.stderr.count("Traceback") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["script.py"]


def test_a_pipe_is_read_here_and_files_by_workers(folder, tmp_path):
    judges = f"one=<(cat {next((folder / 'judges').glob('*.qrels'))}) {folder}/judges/*.jsonl"
    for name, options in (("alone", ""), ("together", "--processes 2")):
        command = f"{sys.executable} -m qrowd partition --runs {folder}/runs --judgments {judges} -o {name} {options}"
        subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True, capture_output=True)
    assert contents(tmp_path / "together") == contents(tmp_path / "alone")


def test_a_worker_that_does_not_see_the_folder_or_has_another_version_is_named(folder, tmp_path, monkeypatch):
    given_files = str(folder / "runs"), str(folder / "judges"), tmp_path / "c"
    with ThreadPoolExecutor(1) as pool:
        with monkeypatch.context() as patch:
            patch.setattr(Path, "is_dir", lambda path: "rows" not in path.name and os.path.isdir(path))
            with pytest.raises(FileError, match="a worker does not see this folder; workers on several machines need"):
                qrowd.partition(*given_files, executor=pool)
        versions = iter(["asks", "works"])
        monkeypatch.setattr(reading, "version", lambda name: next(versions, "works"))
        with pytest.raises(QrowdError, match="a worker has qrowd works, but this process has asks; install the same"):
            qrowd.partition(*given_files, executor=pool)
    assert list(tmp_path.iterdir()) == []
