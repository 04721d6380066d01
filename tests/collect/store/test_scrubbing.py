"""Nothing of deleted rows is left in a SQLite file: its bytes are searched, whatever was written and deleted before."""

import re
import sqlite3
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from qrowd.collect.store import erasing, scrubbing
from qrowd.collect.store.base import Store
from qrowd.collect.store.scrubbing import LayoutError, scrub

MARK = re.compile(rb"m\d{6}")  # of a row; a row consists of nothing else


def _connect(path: Path, *, page: int, secure: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"pragma page_size = {page}")
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = off")
    connection.execute(f"pragma secure_delete = {'on' if secure else 'off'}")
    connection.execute("create table row (id integer primary key, name text unique, content text)")
    connection.execute("create table other (name text, content text, primary key (name, content)) without rowid")
    return connection


def _work(connection: sqlite3.Connection, rng: Random, steps: int, longest: int) -> None:
    """Insert, change and delete rows, so that pages split, shrink, are joined and are given back."""
    connection.execute("begin")
    for step in range(steps):
        mark, where = f"m{step:06}", rng.randrange(10**6)
        content = mark * rng.choice([1, 3, 20, rng.randrange(1, longest)])
        match rng.choice("iiiiucd"):
            case "i":
                connection.execute("insert into row values (?, ?, ?)", (where * 1000 + step, mark, content))
                connection.execute("insert into other values (?, ?)", (mark, content))
            case "u":
                few = "select id from row where id > ? order by id limit 2"
                connection.execute(f"update row set content = ? where id in ({few})", (content, where * 1000))
            case "c":
                few = "select name from other where name > ? limit 2"
                changed = "content = substr(content, 1, 7 * ?)"
                connection.execute(f"update other set {changed} where name in ({few})", (rng.randrange(1, 9), mark))
            case "d":
                until = where * 1000 + rng.choice([10**7, 10**8])
                connection.execute("delete from row where id between ? and ?", (where * 1000, until))
                connection.execute("delete from other where name in (select name from other limit ?)", (step % 7,))
    connection.execute("commit")
    assert connection.execute("pragma wal_checkpoint(truncate)").fetchone()[0] == 0


def _rows(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
        tables = [connection.execute(f"select * from {name} order by 1, 2").fetchall() for name in ("row", "other")]
    return [row for table in tables for row in table]


def _marks(rows: list[tuple[object, ...]]) -> Counter[bytes]:
    """How often each mark is in the rows, and once more for the index of names."""
    marks = Counter(mark for row in rows for cell in row for mark in MARK.findall(str(cell).encode()))
    return marks + Counter(str(row[1]).encode() for row in rows if len(row) == 3)


@given(
    seed=st.integers(0, 2**32), page=st.sampled_from([512, 1024, 4096]), secure=st.booleans(), steps=st.integers(1, 300)
)
def test_after_scrubbing_a_file_holds_its_rows_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, seed: int, page: int, secure: bool, steps: int
) -> None:
    path = tmp_path_factory.mktemp("scrub") / "rows.db"
    with closing(_connect(path, page=page, secure=secure)) as connection:
        _work(connection, Random(seed), steps, longest=page // 2)
    before = _rows(path)
    scrub(path)
    assert _rows(path) == before
    found, held = Counter(MARK.findall(path.read_bytes())), _marks(before)
    # A mark that lies on two pages is not found, hence less; a copy in unused space would be one more.
    assert {mark: n for mark, n in found.items() if n > held[mark]} == {}
    assert scrub(path) == 0
    with closing(sqlite3.connect(path)) as connection, connection:  # and it can be written to
        connection.executemany("insert into row values (?, ?, ?)", [(-n, f"n{n}", "x" * 99 * n) for n in range(1, 21)])
    assert len(_rows(path)) == len(before) + 20


@pytest.mark.parametrize("secure", [True, False])
def test_sqlite_leaves_copies_of_deleted_rows_which_are_then_gone(tmp_path: Path, secure: bool) -> None:
    path, n_left = tmp_path / "rows.db", 0
    for seed in range(8):
        path.unlink(missing_ok=True)
        with closing(_connect(path, page=1024, secure=secure)) as connection:
            _work(connection, Random(seed), 600, longest=60)
        held = _marks(_rows(path))
        n_left += sum(mark not in held for mark in set(MARK.findall(path.read_bytes())))
        scrub(path)
        assert set(MARK.findall(path.read_bytes())) <= set(held)
    assert n_left > 0, "the rows of this test leave nothing, so it shows nothing"


def test_a_file_of_another_layout_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "rows.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma auto_vacuum = full")
        connection.execute("create table t (content text)")
    cases = {"pointers": path.read_bytes(), "no SQLite": b"something else" * 100, "no SQLite file": b""}
    with closing(sqlite3.connect(tmp_path / "plain.db")) as connection:
        connection.execute("create table t (content text)")
    plain = (tmp_path / "plain.db").read_bytes()
    cases |= {"another length": plain + b"more", "overlap": plain[:105] + struct.pack(">H", 1) + plain[107:]}
    for problem, content in cases.items():
        path.write_bytes(content)
        with pytest.raises(LayoutError, match=problem):
            scrub(path)
        assert path.read_bytes() == content
    command = [sys.executable, "-m", scrubbing.__name__, str(path)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1


# ---- beside a store


def _filled(store: Store, n: int = 400) -> None:
    """A table of the test's own, half of whose rows are deleted."""
    store.write(lambda c: c.execute(text("create table if not exists row (id integer primary key, content text)")))
    rows = [{"id": i * 7919 % 100_003, "content": f"m{i:06}" * 30} for i in range(n)]
    store.write(lambda c: c.execute(text("insert into row values (:id, :content)"), rows))
    store.write(lambda c: c.execute(text("delete from row where id % 2")))


def _left_in(folder: Path) -> set[bytes]:
    """Marks of deleted rows that are anywhere in the files."""
    with closing(sqlite3.connect(folder / "judgments.db")) as connection:
        held = {row[0][:7].encode() for row in connection.execute("select content from row")}
    found = {mark for path in folder.glob("judgments.db*") for mark in MARK.findall(path.read_bytes())}
    return found - held


def test_what_a_connection_has_in_memory_does_not_come_back(tmp_path: Path, opened: Callable[..., Store]) -> None:
    store = opened(tmp_path / "judgments.db")
    _filled(store)
    assert store.erase_deleted() is True
    assert _left_in(tmp_path) == set()
    # The store's own connection writes to pages that it had in memory before.
    store.write(lambda c: c.execute(text("update row set content = content || 'x'")))
    assert _left_in(tmp_path) == set()
    store.close()
    assert _left_in(tmp_path) == set()


def test_the_file_is_written_anew_where_it_cannot_be_scrubbed(
    tmp_path: Path, opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(tmp_path / "judgments.db")
    _filled(store)
    monkeypatch.setattr(erasing, "_scrub", lambda *_: False)
    assert store.erase_deleted() is True
    assert _left_in(tmp_path) == set()
    assert store.read(lambda c: c.execute(text("pragma freelist_count")).scalar_one()) == 0


def test_while_somebody_reads_the_file_is_written_anew_and_the_log_is_not_empty(
    tmp_path: Path, opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(tmp_path / "judgments.db")
    _filled(store)
    monkeypatch.setattr("qrowd.collect.store.sqlite.WAIT", 0.05)
    with store.reading() as connection:
        before = connection.execute(text("select count(*) from row")).scalar_one()
        store.write(lambda c: c.execute(text("insert into row values (-1, 'm999999')")))
        assert store.erase_deleted() is False
        assert connection.execute(text("select count(*) from row")).scalar_one() == before
    assert store.erase_deleted() is True
    assert _left_in(tmp_path) == set()
