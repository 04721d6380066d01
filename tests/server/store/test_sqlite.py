"""One file, one writer: groups, full disks, second processes."""

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection, Pool, event, insert, select

from qrowd_server.store import schema
from qrowd_server.store.base import GROUP, Store, StoreBusyError, StoreError, StoreFullError
from qrowd_server.store.engine import open_store
from stores import do_not_wait


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "judgments.db"


def put(name: str, size: int = 1) -> Callable[[Connection], None]:
    return lambda connection: connection.execute(insert(schema.setting), {"name": name, "value": "v" * size}) and None


def names(connection: Connection) -> set[str]:
    return set(connection.scalars(select(schema.setting.c.name)))


def handed_in_together(store: Store, works: list[Callable[[Connection], object]]) -> list[BaseException | None]:
    """What became of works that all wait while the writer is held up."""
    go, held = threading.Event(), threading.Event()

    def hold(_: Connection) -> None:
        held.set()
        go.wait(10)

    outcome: list[BaseException | None] = [None] * len(works)

    def send(i: int) -> None:
        try:
            store.write(works[i])
        except Exception as error:
            outcome[i] = error

    threads = [threading.Thread(target=store.write, args=(hold,))]
    threads[0].start()
    held.wait(10)
    threads += [threading.Thread(target=send, args=(i,)) for i in range(len(works))]
    for thread in threads[1:]:
        thread.start()
    while store._writer._queue.qsize() < len(works):  # all have handed theirs in
        os.sched_yield()
    go.set()
    for thread in threads:
        thread.join()
    return outcome


def test_works_that_wait_are_committed_together(file: Path) -> None:
    with open_store(file) as store:
        commits = []
        event.listen(store._writer._engine, "commit", commits.append)
        assert handed_in_together(store, [put(f"{n}") for n in range(GROUP + 44)]) == [None] * (GROUP + 44)
        assert len(commits) == 3  # who held it up, a full group, the rest
        assert len(store.read(names)) == GROUP + 44


def test_every_connection_is_as_safe_as_promised(file: Path, request: pytest.FixtureRequest) -> None:
    event.remove(Pool, "connect", do_not_wait)
    request.addfinalizer(lambda: event.listen(Pool, "connect", do_not_wait))

    def pragma(name: str) -> Callable[[Connection], object]:
        return lambda connection: connection.exec_driver_sql(f"pragma {name}").scalar()

    with open_store(file) as store:
        names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        assert [store.write(pragma(name)) for name in names] == ["wal", 2, 1, 1]
        assert store.write(pragma("busy_timeout")) == store.read(pragma("busy_timeout")) == 5000
        assert store.read(pragma("query_only")) == 1


def test_the_file_is_nobody_else_s_to_read(file: Path) -> None:
    with open_store(file) as store:
        store.write(put("a"))
        for path in (file, file.with_name("judgments.db-wal"), file.with_name("judgments.db-shm")):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_full_file_acknowledges_nothing_more_until_there_is_space(file: Path) -> None:
    with open_store(file) as store:
        store.write(put("before"))
        n_pages = store.write(lambda c: c.exec_driver_sql("pragma page_count").scalar())
        store.write(lambda c: c.exec_driver_sql(f"pragma max_page_count = {n_pages + 50}") and None)
        outcome = handed_in_together(store, [put(f"{n}", 20_000) for n in range(40)])
        kept = {f"{n}" for n, error in enumerate(outcome) if error is None}
        assert all(isinstance(error, StoreFullError) for error in outcome if error is not None)
        assert len(kept) < 40
        assert store.read(names) == kept | {"before"}
        store.write(lambda c: c.exec_driver_sql("pragma max_page_count = 1") and None)
        with pytest.raises(StoreFullError, match="make space"):
            store.write(put("more", 10_000_000))
        store.write(lambda c: c.exec_driver_sql("pragma max_page_count = 1000000") and None)
        store.write(put("after", 20_000))
        assert store.read(names) == kept | {"before", "after"}


def test_a_work_that_breaks_the_transaction_and_hides_it_does_not_pass_its_error_on(file: Path) -> None:
    def hide(connection: Connection) -> None:
        connection.exec_driver_sql("rollback")
        raise LookupError("mine")

    with open_store(file) as store:
        outcome = handed_in_together(store, [put("a"), hide])
        assert [type(error) for error in outcome] == [StoreBusyError, LookupError]
        assert store.read(names) == set()
        store.write(put("b"))


FULL_DISK = """
import resource, signal, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from sqlalchemy import insert, select
from qrowd_server.store import schema
from qrowd_server.store.base import StoreFullError
from qrowd_server.store.engine import open_store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
put = lambda n: lambda c: c.execute(insert(schema.setting), {"name": f"{n:03}", "value": "v" * 20_000}) and None
with open_store(sys.argv[1]) as store:
    size = Path(sys.argv[1]).stat().st_size
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 500_000, hard))
    kept, refused = [], 0
    for n in range(60):
        try:
            store.write(put(n))
            kept.append(f"{n:03}")
        except StoreFullError:
            refused += 1
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    store.write(put(999))
    found = store.read(lambda c: list(c.scalars(select(schema.setting.c.name).order_by("name"))))
    assert found == [*kept, "999"], (found, kept)
    assert kept and refused, (kept, refused)
    print("kept", len(kept), "refused", refused)
"""


def test_a_disk_that_takes_no_more_bytes_loses_nothing_acknowledged(file: Path) -> None:
    command = [sys.executable, "-c", FULL_DISK, str(file), "src"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("kept"), done.stderr


def test_a_second_server_is_refused_in_one_line_and_looking_is_allowed(file: Path) -> None:
    with open_store(file) as store:
        store.write(put("a"))
        code = f"from qrowd_server.store.engine import open_store; open_store({str(file)!r})"
        second = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert "another qrowd serves this file; stop the server with Ctrl-C" in second.stderr.splitlines()[-1]
        with open_store(file, read_only=True) as reader:
            assert reader.read(names) == {"a"}
    with open_store(file) as store:
        assert store.read(names) == {"a"}


def test_a_copy_in_a_folder_that_cannot_be_written_can_be_looked_at(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(file) as store:
        store.write(put("a"))
    monkeypatch.setattr("qrowd_server.store.sqlite.os.access", lambda *_: False)
    with open_store(file, read_only=True) as reader:
        assert reader.read(names) == {"a"}
    assert not file.with_name("judgments.db-shm").exists()


def test_another_program_that_holds_the_file_is_waited_for_and_then_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite3

    monkeypatch.setattr("qrowd_server.store.sqlite.WAIT", 0.05)
    with open_store(file) as store:
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("begin immediate")
        with pytest.raises(StoreBusyError, match="another program"):
            store.write(put("a"))
        other.execute("rollback")
        other.close()
        store.write(put("b"))
        assert store.read(names) == {"b"}


def test_a_work_cannot_hand_in_another(file: Path) -> None:
    with open_store(file) as store, pytest.raises(StoreError, match="cannot hand in another"):
        store.write(lambda connection: store.write(names))


@pytest.mark.parametrize("content", [b"no database" * 100, b""])
def test_a_file_that_is_no_database_is_left_as_it_is_unless_empty(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    if not content:
        with open_store(file) as store:
            assert store.read(names) == set()
        return
    with pytest.raises(StoreError, match="not a database"):
        open_store(file)
    assert file.read_bytes() == content


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no folder"):
        open_store(tmp_path / "none" / "x.db")


def test_what_was_handed_in_before_close_is_stored(file: Path) -> None:
    store = open_store(file)
    threads = [threading.Thread(target=store.write, args=(put(f"{n}"),)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    with open_store(file, read_only=True) as reader:
        assert len(reader.read(names)) == 20
